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
"""The command `servos`, for arms driven by position servos that measure no torque."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from rich.table import Table
from robot_identification import output_folder
from robot_identification.arm import load_arm
from robot_identification.cli.console import (
    AsJson,
    emit,
    Force,
    load_recording_verbose,
    out,
    progress,
    Robot,
    Topic,
    Window,
)
from robot_identification.export import export_model, ExportOptions
from robot_identification.files import check_output_folder
from robot_identification.reporting.results_dict import plain
from robot_identification.servos import identify_servos, ServoResult
from robot_identification.servos.result import BETTER
import typer

MODEL, MJCF, RESULT = 'model.yaml', 'servos.xml', 'servos.json'
STYLES = {'passed': 'bold green', 'failed': 'bold red', 'not validated': 'bold black on yellow'}


def servos_command(
    robot: Robot,
    recordings: Annotated[list[Path], typer.Argument(
        metavar='RECORDING...', help='Recordings with commanded positions (command_JOINT, or '
                                     '`recording: {command: ...}` in the robot YAML).')],
    output: Annotated[Path, typer.Option('--output', '-o', help='Output folder.')],
    held_out: Annotated[list[Path] | None, typer.Option(
        help='A recording of another motion to validate on; may be repeated.')] = None,
    window: Window = None,
    topic: Topic = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Identify position servos without torque measurements."""
    arm = load_arm(robot)
    check_output_folder(output, (MODEL, MJCF, RESULT), RESULT,
                        (*arm.files, *recordings, *(held_out or ())), force=force)
    fitted = [load_recording_verbose(path, arm, window, topic) for path in recordings]
    others = [load_recording_verbose(path, arm, None, topic) for path in held_out or ()]
    with progress(as_json) as report:
        result = identify_servos(arm, fitted, others, report)
    content = save_servos(result, output)
    if as_json:
        emit({**content, 'directory': str(output)})
    else:
        _print_result(result, output)
    raise typer.Exit(0 if result.status == 'passed' else 1)


def save_servos(result: ServoResult, output: Path) -> dict[str, Any]:
    """Write model, MuJoCo servos and results into a folder; return the content of servos.json."""
    content, model = result.to_dict(), result.model.to_identified_model()
    exported = export_model(model, 'mjcf', ExportOptions())
    with output_folder.replace_files(output) as folder:
        model.save(folder / MODEL)
        (folder / MJCF).write_text(str(next(iter(exported.files.values()))), encoding='utf-8')
        content['files'] = {name: output_folder.sha256(folder / name) for name in (MODEL, MJCF)}
        (folder / RESULT).write_text(
            json.dumps(plain(content), indent=1, allow_nan=False) + '\n', encoding='utf-8')
    return content


def _print_result(result: ServoResult, output: Path) -> None:
    names = ('kp', 'damping', 'armature', 'friction', 'limit', 'speed', 'friction/kp')
    table = Table(title='servos (95 % intervals), SI units')
    for head in ('joint', *names):
        table.add_column(head)
    for i, joint in enumerate(result.model.arm.joint_names):
        table.add_row(joint, *(_interval(result, name, i) for name in names))
    out.print(table)
    out.print(f'delay {1e3 * result.model.delay:.1f} ms; the masses of the URDF set the scale of '
              'all torques', markup=False)
    for reason in result.undetermined:
        out.print(f'not determined: {reason}', style='yellow', markup=False)
    table = Table(title='rms position errors of the joints that moved, deg or mm')
    for head in ('recording', 'run length', 'identified', 'command', 'delayed command',
                 'nominal servos'):
        table.add_column(head)
    for e in result.held_out:
        unit = np.where(result.model.arm.prismatic, 1e3, 180 / np.pi)
        moved = e.moved
        table.add_row(e.name, f'{e.horizon:g} s', *(
            f'{np.sqrt(np.mean((unit * errors)[moved] ** 2)):.3g}' if moved.any() else '-'
            for errors in (e.model, e.commanded, e.delayed, e.nominal)))
    out.print(table)
    for reason in result.beyond:
        out.print(f'beyond the fitted range: {reason}', style='yellow', markup=False)
    out.print(result.status.upper(), style=STYLES[result.status])
    worst = max((e.ratio for e in result.held_out), default=float('nan'))
    out.print(result.message or f'position error: {worst:.1%} of the error of the best prediction '
              f'without identification (limit {BETTER:.0%})'
              + ('' if result.validated else '; computed on the fitted motion: provide another '
                 'one with --held-out'), markup=False)
    out.print(f'wrote {output}: {MODEL} for `export`, {MJCF} for MuJoCo, {RESULT}', markup=False)


def _interval(result: ServoResult, name: str, i: int) -> str:
    value = result.values(name)[i]
    if not np.isfinite(value):
        return f'above {result.reached[i]:.2g}'
    low, high = (end[i] for end in result.interval(name))
    return f'{value:.3g} ({low:.3g} to {high:.3g})' if high < 10 * low else f'{value:.2g} (?)'
