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
"""
The commands of `robot-identification`, each imported when it is called.

A command that lists or helps must not wait for compilers and plots, so the list of commands and
their first lines are read from the source.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
import sys
from typing import Annotated, Any

import robot_identification
from robot_identification.cli.words import in_order
import typer
from typer.core import TyperCommand, TyperGroup

COMMANDS = {    # name: module and function, in the order of the help
    'demo': 'cli.demo', 'init': 'cli.init', 'excite': 'cli.excite', 'simulate': 'cli.simulate',
    'identify': 'cli.identify', 'validate': 'cli.identify', 'report': 'cli.identify',
    'compare': 'cli.compare',
    'export': 'cli.export', 'payload': 'cli.payload', 'gains': 'cli.payload',
    'servos': 'servos.commands',
    'fleet': 'fleet.commands', 'study': 'papers.commands', 'estimators': 'cli.lists',
    'frictions': 'cli.lists', 'robots': 'cli.lists', 'studies': 'papers.commands',
    'ros': 'cli.ros'}


class _Commands(TyperGroup):
    """The group of all commands, which imports one when it is called."""

    _listing = False

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of the command line, put in order."""
        return super().parse_args(ctx, in_order(args))

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; while the help is made one that knows its first line alone."""
        if cmd_name not in COMMANDS:
            return None
        if self._listing:
            return TyperCommand(cmd_name, help=_first_line(cmd_name))
        if cmd_name not in self.commands:
            self.commands[cmd_name] = _load(cmd_name)
        return self.commands[cmd_name]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help without importing any command."""
        self._listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._listing = False

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)


def _first_line(name: str) -> str:
    """Return the first line of a command's docstring, from its source."""
    path = Path(robot_identification.__file__).parent / (COMMANDS[name].replace('.', '/') + '.py')
    module = ast.parse(path.read_text(encoding='utf-8'))
    described = next((node for node in module.body
                      if isinstance(node, ast.FunctionDef) and node.name == name), module)
    return (ast.get_docstring(described) or '').split('\n')[0]    # a group: of its module


def _load(name: str) -> Any:
    found = getattr(import_module(f'robot_identification.{COMMANDS[name]}'), name)
    if not isinstance(found, typer.Typer):
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False,
                            rich_markup_mode=MARKUP)
        alone.command(name)(found)
        found = alone
    command = typer.main.get_command(found)
    command.name = name
    return command


MARKUP: Any = 'markdown'    # so that units in brackets stay
app = typer.Typer(cls=_Commands, no_args_is_help=True,
                  pretty_exceptions_enable=False, rich_markup_mode=MARKUP,
                  help='From a URDF to a validated dynamic model of a serial arm.')


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f'robot-identification {robot_identification.__version__}')
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[bool, typer.Option(
        '--version', callback=_print_version, is_eager=True,
        help='Print the version and exit.')] = False,
    quiet: Annotated[bool, typer.Option(
        '--quiet', help='Say results and errors only, no progress and no notes; anywhere in the '
                        'line.')] = False,
    verbose: Annotated[bool, typer.Option(
        '--verbose', help='Say every step with the time that it began; anywhere in the line.',
    )] = False,
) -> None:
    if quiet and verbose:
        raise typer.BadParameter('--quiet and --verbose: give one of them')
    if quiet or verbose or 'robot_identification.cli.console' in sys.modules:
        from robot_identification.cli import console
        console.loudness = 'quiet' if quiet else 'verbose' if verbose else ''
