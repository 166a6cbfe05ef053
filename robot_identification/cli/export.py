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
"""The command that brings a model elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from rich.table import Table
from robot_identification.arm.urdf import read_urdf
from robot_identification.cli.console import AsJson, emit, out
from robot_identification.dynamics import load_model
from robot_identification.export import export_model, ExportOptions, save_export, TARGETS
import typer

TO = ', '.join(TARGETS)


def export_command(
    model: Annotated[Path, typer.Argument(metavar='MODEL', help='Model file.')],
    to: Annotated[str, typer.Option('--to', metavar='FORMAT', help=f'One of {TO}.')],
    output: Annotated[Path, typer.Option(
        '--output', '-o', help='Folder, or the main file itself.')] = Path('.'),
    strict: Annotated[bool, typer.Option(
        '--strict', help='Refuse a format that does not carry all of the model.')] = False,
    friction: Annotated[bool, typer.Option(
        '--friction/--no-friction', help='Whether descriptions carry friction, or inertias '
                                         'alone.')] = True,
    regressor: Annotated[bool, typer.Option(
        '--regressor', help='Write the regressor too (c and python).')] = False,
    urdf: Annotated[Path | None, typer.Option(
        help='Write into this URDF or xacro of the same robot.')] = None,
    name: Annotated[str | None, typer.Option(
        help="Name of the files and functions; the arm's when not given.")] = None,
    force: Annotated[bool, typer.Option(
        '--force', help='Replace files that no export wrote; never the model.')] = False,
    as_json: AsJson = False,
) -> None:
    """
    Write a model for a simulator, a controller or a program.

    Losses of the format are printed with their torque errors.
    """
    text = None if urdf is None else read_urdf(urdf)[0]
    exported = export_model(load_model(model), to, ExportOptions(
        strict=strict, friction=friction, regressor=regressor, urdf=text, name=name))
    inputs = [path for path in (model, urdf) if path is not None]
    paths = save_export(exported, output, inputs, force=force)
    if as_json:
        emit({'files': [str(path) for path in paths], 'notes': list(exported.notes),
              'losses': [{'joint': loss.joint, 'what': loss.what, 'error': loss.error,
                          'unit': loss.unit, 'relative': loss.relative}
                         for loss in exported.losses]})
        return
    for path in paths:
        out.print(f'wrote {path}', markup=False)
    if exported.losses:
        table = Table(title=f"what '{to}' does not carry")
        for head in ('joint', 'what', 'error, rms', 'of the torque'):
            table.add_column(head)
        for loss in exported.losses:
            table.add_row(loss.joint, loss.what, f'{loss.error:.3g} {loss.unit}',
                          f'{loss.relative:.1%}')
        out.print(table)
    for note in exported.notes:
        out.print(note, markup=False)
