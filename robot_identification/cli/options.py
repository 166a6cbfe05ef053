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
"""Commands of click from functions: parameters are options, and the docstring is their help."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import inspect
from pathlib import Path
import re
from types import NoneType
from typing import Any, get_args, get_origin

import click

SETTINGS = {'help_option_names': ['--help', '-h']}
ENTRY = re.compile(r'^(\w+)(?: : (.+))?\n((?:    .+\n|\n)+)', re.MULTILINE)
"""A parameter in a docstring: its name, what follows the colon, and the indented text."""


class SharedOptions:
    """
    Options of several commands, which their docstrings need not repeat.

    Parameters
    ----------
    robot : ROBOT
        Name of a shipped robot (see `robots`) or path of a robot YAML.
    as_json : --json
        Print one JSON object.
    force
        Overwrite existing files; inputs are never overwritten.
    window : FIRST LAST
        Part of each recording to use: times after its first stamp, such as 2s 10s or 2.0 10.0, or
        sample indices, such as 200 1000.
    topic
        Topic of the joint states; required if a bag has several.
    sensor_deviation
        Standard deviation of the gains of the torque sensors [-]; by default that of the robot
        file, or 0.02 (see docs/methods.md).

    """


class _Argument(click.Argument):
    """An argument of a command with a description."""

    text = ''


class _Command(click.Command):
    """A command whose help describes its arguments too."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments, then the options."""
        arguments = [(str(each.metavar), each.text) for each in self.params
                     if isinstance(each, _Argument)]
        if arguments:
            with formatter.section('Arguments'):
                formatter.write_dl(arguments)
        super().format_options(ctx, formatter)


def make_command(function: Callable[..., None], name: str) -> click.Command:
    """
    Return the command that calls a function.

    Parameters that may be given by position only are arguments of the command, the others are
    options; a parameter whose type is a dataclass has an option for each field. The help is the
    docstring, in which `output : -o FILE` gives an option a short form and the name of its value,
    `seed : >= 0` the smallest value, `as_json : --json` another name, and `path : existing FOLDER`
    accepts only a folder that exists.

    Parameters
    ----------
    function
        Function without a result. A switch is a `bool`, one with `--no-` if its default is not
        False; an option that may be repeated is a list.
    name
        Name of the command.

    """
    signature = inspect.signature(function, eval_str=True).parameters
    groups: dict[str, Any] = {
        parameter.name: parameter.annotation for parameter in signature.values()
        if dataclasses.is_dataclass(parameter.annotation)}
    text, own = _read_docstring(function)
    described = {**_read_docstring(SharedOptions)[1], **own}
    parameters: list[click.Parameter] = []
    for parameter in signature.values():
        if kind := groups.get(parameter.name):
            texts = {**described, **_read_docstring(kind)[1]}
            parameters += [_make_parameter(each, *texts[each.name]) for each in inspect.signature(
                kind, eval_str=True).parameters.values()]
        else:
            parameters.append(_make_parameter(parameter, *described[parameter.name]))

    def run(**values: Any) -> None:
        """Call the function with instances of the dataclasses."""
        for name, kind in groups.items():
            values[name] = kind(**{
                field.name: values.pop(field.name) for field in dataclasses.fields(kind)})
        function(*[values.pop(each.name) for each in signature.values()
                   if each.kind is each.POSITIONAL_ONLY], **values)

    return _Command(name, params=parameters, callback=run, help=text,
                    context_settings=SETTINGS)


def _read_docstring(target: Any) -> tuple[str, dict[str, tuple[str, str]]]:
    """Return the text before the parameters, and of each what follows its colon and its text."""
    text, _, rest = (inspect.getdoc(target) or '').partition('Parameters\n----------\n')
    entries = ENTRY.findall(re.split(r'\n\w+\n-+\n', rest)[0] + '\n')
    return text, {name: (form, ' '.join(words.split())) for name, form, words in entries}


def _make_parameter(parameter: inspect.Parameter, form: str, text: str) -> click.Parameter:
    """Return the argument or option for a parameter of a function."""
    kind, words = parameter.annotation, form.split()
    if NoneType in (alternatives := get_args(kind)):    # X | None
        kind = alternatives[0]
    repeated = get_origin(kind) is list
    types = get_args(kind) or (kind,)
    lowest = int(words.pop()) if '>=' in words else None
    flags = [word for word in words if word.startswith('-')]
    existing = 'existing' in words
    value = ' '.join(word for word in words if not word.startswith(('-', '>=', 'existing')))
    options: dict[str, Any] = {
        'nargs': 1 if repeated else len(types), 'metavar': value or None, 'type': types[0]}
    if kind is bool:
        options = {'is_flag': True}
    elif lowest is not None:
        options['type'] = (click.FloatRange if kind is float else click.IntRange)(lowest)
    elif types[0] is Path:
        options['type'] = click.Path(path_type=Path, exists=existing, file_okay=not existing)
    default = parameter.default
    if default is parameter.empty:
        options['required'], default = True, None
    elif not repeated:
        options['default'] = default
    if repeated:
        options['callback'] = lambda context, parameter, values: list(values) or default
    if parameter.kind is parameter.POSITIONAL_ONLY:
        argument = _Argument([parameter.name], **{
            'required': False, **options, 'nargs': -1 if repeated else 1,
            'metavar': value or parameter.name.upper()})
        argument.text = text
        return argument
    if not any(flag.startswith('--') for flag in flags):
        long = parameter.name.replace('_', '-')
        flags.insert(0, f'--{long}/--no-{long}' if kind is bool and default is not False else
                     f'--{long}')
    return click.Option([parameter.name, *flags], help=text, multiple=repeated,
                        show_default=default not in (None, False, ''), **options)
