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

from importlib import import_module
import logging
import sys
from typing import Any

import click
import robot_identification
from robot_identification.cli.options import make_command, SETTINGS
from robot_identification.errors import ConfigurationError, did_you_mean

COMMANDS = {    # name: module, first line of the help; `--help` imports no module
    'demo': ('cli.simulate', 'Design, simulate, record, identify, validate and report.'),
    'init': ('cli.init', 'Write a robot YAML from a URDF, and mark the values that are missing.'),
    'excite': ('cli.excite', 'Design a motion that excites all parameters within proven limits.'),
    'simulate': ('cli.simulate', 'Record a simulated arm (MuJoCo) that differs from its URDF.'),
    'identify': ('cli.identify', 'Identify a dynamic model from recordings.'),
    'validate': ('cli.validate', 'Predict recorded torques with a model.'),
    'report': ('cli.validate', 'Rewrite the HTML report of an identification.'),
    'compare': ('changes.commands', 'Compare two identifications of one arm, with significance.'),
    'export': ('cli.validate', 'Export a model to a simulator, a controller or source code.'),
    'payload': ('changes.commands', 'Identify the ten inertial parameters of a payload.'),
    'payload-motion': ('changes.payload_motion', 'Design a motion for payload identification.'),
    'gains': ('changes.commands', 'Identify drive gains from recordings with a known payload.'),
    'servos': ('servos.commands', 'Identify position servos without torque measurements.'),
    'fleet': ('fleet.commands', 'Identify many robots, on all cores or a Dask cluster.'),
    'study': ('papers.commands', "Reproduce a paper's comparison on a simulated arm."),
    'benchmark': ('benchmarking.commands', 'Compare identification methods on many arms.'),
    'estimators': ('cli.lists', 'List the estimators.'),
    'frictions': ('cli.lists', 'List friction terms and models.'),
    'robots': ('cli.lists', 'List the shipped robots.'),
    'studies': ('papers.commands', 'List the studies.'),
    'ros': ('ros.commands', 'Run the same pipeline on ROS 2.')}
VERBOSITY = ('quiet', 'verbose')


class _LazyGroup(click.Group):
    """A group that imports the module of a command when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:
        """Return a command; None if there is none of this name."""
        return load_command(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names and first lines of the commands, without importing them."""
        with formatter.section('Commands'):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """
        Return the name, the command and its arguments.

        The options in `VERBOSITY` are added to the command, so that they may follow its name.

        Raises
        ------
        ConfigurationError
            An argument contains a NUL character, which no path may.

        """
        for word in args:
            if '\0' in word:
                raise ConfigurationError(f'{word!r} contains a NUL character')
        if not args[0].startswith('-') and args[0] not in COMMANDS:
            ctx.fail(f"No such command '{args[0]}'{did_you_mean(args[0], list(COMMANDS))}.")
        name, command, rest = super().resolve_command(ctx, args)
        for each in (command, *getattr(command, 'commands', {}).values()):
            each.params += [option for option in self.params if option.name in VERBOSITY]
        return name, command, rest


def load_command(name: str) -> click.Command:
    """Import the module of a command, and return the command with its options."""
    module, line = COMMANDS[name]
    program = getattr(import_module(f'robot_identification.{module}'),
                      f'{name.replace("-", "_")}_command')
    if isinstance(program, dict):
        return click.Group(name, help=line, context_settings=SETTINGS, commands={
            each: make_command(function, each) for each, function in program.items()})
    return make_command(program, name)


def _set_verbosity(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Store `--quiet` or `--verbose` in the console, and refuse both together."""
    chosen = context.meta.setdefault('verbosity', set())
    if value:
        chosen.add(parameter.name)
    if len(chosen) > 1:
        raise click.BadParameter('--quiet and --verbose contradict each other')
    if chosen or 'robot_identification.console' in sys.modules:
        from robot_identification import console
        console.verbosity = next(iter(chosen), '')
        logging.getLogger('robot_identification').setLevel(
            logging.ERROR if 'quiet' in chosen else logging.NOTSET)


app = _LazyGroup(
    'robot-identification', no_args_is_help=True, context_settings=SETTINGS,
    help='From a URDF to a validated dynamic model of a serial arm.', params=[
        click.Option(['--quiet'], is_flag=True, expose_value=False, callback=_set_verbosity,
                     help='Print results and errors only.'),
        click.Option(['--verbose'], is_flag=True, expose_value=False, callback=_set_verbosity,
                     help='Print every step with its time.')])
click.version_option(robot_identification.__version__, help='Print the version and exit.',
                     message='robot-identification %(version)s')(app)
