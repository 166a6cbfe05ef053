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
"""Tables of identified servos in the terminal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.table import Table
from robot_identification.console import out
from robot_identification.servos.parameters import PARAMETERS
from robot_identification.servos.result import BETTER, PLAIN, ServoResult

STYLES = {'passed': 'bold green', 'failed': 'bold red', 'not validated': 'bold black on yellow'}


def print_servos(result: ServoResult, output: Path, files: tuple[str, str, str, str]) -> None:
    """
    Print identified servos, what is not determined, their errors and the verdict.

    Parameters
    ----------
    result
        Identified servos.
    output
        Output folder.
    files
        Names of the model file, the MuJoCo file, the results and the page in this folder.

    """
    model, mjcf, results, page = files
    shown = ('kp', 'damping', 'armature', 'friction', 'limit', 'speed', 'friction/kp')
    present = [parameter.name for parameter in PARAMETERS[len(shown) - 1:]
               if np.any(result.values(parameter.name) != parameter.absent)]
    for title, names in (('servos (95 % intervals), SI units', shown),
                         ('further effects (95 % intervals), SI units', present)):
        table = Table(title=title)
        for head in ('joint', *names):
            table.add_column(head)
        for i, joint in enumerate(result.model.arm.joint_names):
            table.add_row(joint, *(_interval(result, name, i) for name in names))
        if names:
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
    out.print(f'wrote {output}: {model} for `export`, {mjcf} for MuJoCo, {results}, '
              f'{page}', markup=False)


def _interval(result: ServoResult, name: str, i: int) -> str:
    value, deviation = result.values(name)[i], result.deviations[name][i]
    if np.isfinite(result.model.tracking[i]):
        return 'delayed command'
    if not np.isfinite(value):
        return f'above {result.reached[i]:.2g}' if name == 'limit' else 'unlimited'
    if name in PLAIN and not np.isfinite(deviation):
        return 'none'
    low, high = (end[i] for end in result.interval(name))
    clear = high - low < 2 * max(abs(low), abs(high)) if name in PLAIN else high < 10 * low
    return f'{value:.3g} ({low:.3g} to {high:.3g})' if clear else f'{value:.2g} (?)'
