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
"""The command export: writes an identified model in another format."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from robot_identification.console import AsJson, emit, out, print_table
import typer


def export_command(
    model: Annotated[Path, typer.Argument(metavar='MODEL', help='Model file.')],
    to: Annotated[str, typer.Option(
        '--to', metavar='FORMAT',
        help='One of urdf, mjcf, sdf, json, ros2_control, c, drake, fmu, isaac, mat, python, '
             'ros2.')],
    output: Annotated[Path, typer.Option(
        '--output', '-o', help='Output folder, or path of the main file.')] = Path('.'),
    strict: Annotated[bool, typer.Option(
        '--strict', help='Refuse a format that cannot express the full model.')] = False,
    friction: Annotated[bool, typer.Option(
        '--friction/--no-friction', help='Include friction in robot descriptions (URDF, SDF, '
                                         'MJCF, ...), or only inertias.')] = True,
    regressor: Annotated[bool, typer.Option(
        '--regressor', help='Include the regressor in generated code (c and python).')] = False,
    derivatives: Annotated[bool, typer.Option(
        '--derivatives', help='Include the derivatives of the torque by q, v and a in generated '
                              'code (c and python).')] = False,
    float32: Annotated[bool, typer.Option(
        '--float32', help='Generate code in single precision (c).')] = False,
    urdf: Annotated[Path | None, typer.Option(
        help='URDF or xacro of the same robot, used in place of the URDF in the model.')] = None,
    name: Annotated[str | None, typer.Option(
        help="Name of the files and of generated functions; by default the arm's name.")] = None,
    force: Annotated[bool, typer.Option(
        '--force', help='Overwrite files that are not exports too, but never an input.')] = False,
    as_json: AsJson = False,
) -> None:
    """
    Export a model to a simulator, a controller or source code.

    The command prints each part of the model that the format cannot express, with the rms torque
    error that results.
    """
    from robot_identification.arm.urdf import read_urdf
    from robot_identification.dynamics.model_file import load_model
    from robot_identification.export import export_model, ExportOptions, save_export

    text = None if urdf is None else read_urdf(urdf)[0]
    exported = export_model(load_model(model), to, ExportOptions(
        strict=strict, friction=friction, regressor=regressor, derivatives=derivatives,
        float32=float32, urdf=text, name=name))
    paths = save_export(exported, output, (model, urdf), force=force)
    if as_json:
        emit({'files': paths, 'notes': exported.notes,
              'losses': [asdict(loss) for loss in exported.losses]})
        return
    for path in paths:
        out.print(f'wrote {path}', markup=False)
    if exported.losses:
        print_table(f"parts of the model that '{to}' cannot express",
                    ('joint', 'part', 'rms error', 'of the torque'),
                    ((loss.joint, loss.what, f'{loss.error:.3g} {loss.unit}',
                      f'{loss.relative:.1%}') for loss in exported.losses))
    for note in exported.notes:
        out.print(note, markup=False)
