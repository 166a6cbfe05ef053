# Copyright 2026 The robot_identification authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""The directive `command-reference`: every command with its options, as the program has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docutils import nodes
from robot_identification.cli.commands import app, load_command
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

PROGRAM = 'robot-identification'


class CommandReference(SphinxDirective):
    """A section for each command."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        return list(self.parse_text_to_nodes('\n'.join(_group(PROGRAM, app)),
                                             allow_section_headings=True))


def _group(path: str, command: Any) -> Iterator[str]:
    for name in command.list_commands(None):
        found = load_command(name) if path == PROGRAM else command.get_command(None, name)
        if getattr(found, 'hidden', False):
            continue
        if hasattr(found, 'list_commands'):
            yield from _group(f'{path} {name}', found)
        else:
            yield from _command(f'{path} {name}', found)


def _command(path: str, command: Any) -> Iterator[str]:
    """Yield the lines of one command in MyST."""
    arguments = [p for p in command.params if p.param_type_name == 'argument']
    options = [p for p in command.params if p.param_type_name == 'option' and not p.hidden]
    shown = ''.join(f' {_argument(p)}' for p in arguments)
    yield from (f'## {path}', '', _plain(command.help), '', '```text',
                f'{path}{shown}{" [OPTIONS]" if options else ""}', '```', '')
    rows = [(f'`{_argument(p)}`', _plain(getattr(p, 'text', ''))) for p in arguments]
    rows += [(', '.join(f'`{name}`' for name in (*p.opts, *p.secondary_opts)), _described(p))
             for p in options]
    if rows:
        yield from ('| argument or option | meaning |', '| --- | --- |')
        yield from (f'| {name} | {meaning} |' for name, meaning in rows)
        yield ''


def _argument(parameter: Any) -> str:
    name = (parameter.metavar or parameter.name.upper()).replace('[', '').replace(']', '')
    name = name.removesuffix('...') + '...' * (parameter.nargs == -1)
    return name if parameter.required else f'[{name}]'


def _described(option: Any) -> str:
    """Return help and default of an option."""
    text = _plain(option.help)
    default = option.default
    if not isinstance(default, (str, int, float)) or default is False or default == '':
        return text
    return f'{text} Default: `{_plain(str(default))}`.'


def _plain(text: str | None) -> str:
    """Return text that a cell of a table can hold."""
    words = ' '.join((text or '').split())
    for mark in ('\\', '|', '*', '_', '<', '['):
        words = words.replace(mark, f'\\{mark}')
    return words


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive('command-reference', CommandReference)
    return {'parallel_read_safe': True}
