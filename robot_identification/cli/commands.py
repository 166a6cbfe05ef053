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
"""The commands of `robot-identification`, each imported when it is called."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
import sys
from typing import Annotated, Any

import robot_identification
import typer
from typer.core import TyperGroup

COMMANDS = {    # name: module, first line of its help; the help imports none of the modules
    'demo': ('cli.demo', 'Design, simulate, record, identify, validate and report.'),
    'init': ('cli.init', 'Write a robot YAML from a URDF, and mark the values that are missing.'),
    'excite': ('cli.excite', 'Design a motion that excites all parameters within proven limits.'),
    'simulate': ('cli.simulate', 'Record a simulated arm (MuJoCo) that differs from its URDF.'),
    'identify': ('cli.identify', 'Identify a dynamic model; exit code 1 if the verdict fails.'),
    'validate': ('cli.validate', 'Predict recorded torques; exit code 1 if the verdict fails.'),
    'report': ('cli.validate', 'Write the HTML report of an identification again.'),
    'compare': ('cli.compare', 'Compare two identifications of one arm, with significance.'),
    'export': ('cli.export', 'Write a model for a simulator, a controller or a program.'),
    'payload': ('cli.payload', 'Identify the ten inertial parameters of a payload.'),
    'gains': ('cli.payload', 'Identify drive gains from recordings with a known payload.'),
    'servos': ('servos.commands', 'Identify position servos that measure no torque.'),
    'fleet': ('fleet.commands', 'Identify many robots, on all cores or a Dask cluster.'),
    'study': ('papers.commands', "Reproduce a paper's comparison on a simulated arm."),
    'estimators': ('cli.lists', 'List the estimators.'),
    'frictions': ('cli.lists', 'List friction terms and models.'),
    'robots': ('cli.lists', 'List the shipped robots.'),
    'studies': ('papers.commands', 'List the studies.'),
    'ros': ('cli.ros', 'Run the same pipeline on ROS 2.')}
MARKUP: Any = 'markdown'    # keeps units in brackets
VERBOSITY = ('quiet', 'verbose')


class _LazyGroup(TyperGroup):
    """Commands whose modules are imported when they are called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name, the command and its arguments; `--quiet` may follow any command."""
        name, _, rest = super().resolve_command(ctx, args)
        command = load_command(str(name))
        for each in (command, *getattr(command, 'commands', {}).values()):
            known = {option.name for option in each.params}
            each.params += [option for option in self.params
                            if option.name in VERBOSITY and option.name not in known]
        return name, command, rest


@lru_cache
def load_command(name: str) -> Any:
    """Import a command, and return it with its options."""
    found = getattr(import_module(f'robot_identification.{COMMANDS[name][0]}'), f'{name}_command')
    if not isinstance(found, typer.Typer):
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False,
                            rich_markup_mode=MARKUP)
        alone.command(name)(found)
        found = alone
    command = typer.main.get_command(found)
    command.name = name
    return command


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f'robot-identification {robot_identification.__version__}')
        raise typer.Exit


def _set_verbosity(context: typer.Context, parameter: typer.CallbackParam, given: bool) -> None:
    chosen = context.meta.setdefault('verbosity', set())
    if given:
        chosen.add(parameter.name)
    if len(chosen) > 1:
        raise typer.BadParameter('--quiet and --verbose contradict each other')
    if chosen or 'robot_identification.cli.console' in sys.modules:
        from robot_identification.cli import console
        console.verbosity = next(iter(chosen), '')


app = typer.Typer(cls=_LazyGroup, no_args_is_help=True,
                  pretty_exceptions_enable=False, rich_markup_mode=MARKUP,
                  help='From a URDF to a validated dynamic model of a serial arm.')
for _name, (_, _line) in COMMANDS.items():
    app.command(_name, help=_line)(lambda: None)


@app.callback()
def _options(
    version: Annotated[bool, typer.Option(
        '--version', callback=_print_version, is_eager=True,
        help='Print the version and exit.')] = False,
    quiet: Annotated[bool, typer.Option(
        '--quiet', callback=_set_verbosity, expose_value=False,
        help='Print results and errors only.')] = False,
    verbose: Annotated[bool, typer.Option(
        '--verbose', callback=_set_verbosity, expose_value=False,
        help='Print every step with its time.')] = False,
) -> None:
    pass
