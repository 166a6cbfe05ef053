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
"""The commands of `robot-identification`."""

from __future__ import annotations

from typing import Annotated

from robot_identification import __version__
from robot_identification.cli import (
    demo,
    excite,
    export,
    identify,
    init,
    lists,
    payload,
    ros,
    simulate,
)
from robot_identification.papers import commands
import typer

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
                  rich_markup_mode='markdown',    # so that units in brackets stay
                  help='From a URDF to a validated dynamic model of a serial arm.')
for command in (demo.demo, init.init, excite.excite, simulate.simulate, identify.identify,
                identify.validate, identify.report, export.export, payload.payload, payload.gains,
                commands.study, lists.estimators, lists.frictions, lists.robots, commands.studies):
    app.command()(command)
app.add_typer(ros.ros, name='ros')


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f'robot-identification {__version__}')
        raise typer.Exit


@app.callback()
def _options(version: Annotated[bool, typer.Option(
        '--version', callback=_print_version, is_eager=True,
        help='Print the version and exit.')] = False) -> None:
    pass
