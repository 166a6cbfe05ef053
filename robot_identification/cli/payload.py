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
"""The commands about drives and payload."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import numpy as np
from rich.table import Table
from robot_identification.arm import load_arm
from robot_identification.cli.console import AsJson, emit, load_recording_verbose, out, Robot
from robot_identification.dynamics import INERTIAL_NAMES, load_model
from robot_identification.dynamics.inertial import INERTIAL_UNITS
from robot_identification.estimation.drive_gains import identify_gains
from robot_identification.estimation.payload import identify_payload
import typer


def payload_command(
    model: Annotated[Path, typer.Argument(
        metavar='MODEL', help='Model file of the arm, identified without payload.')],
    loaded: Annotated[Path, typer.Argument(
        metavar='RECORDING', help='CSV or NPZ recording with the payload.')],
    unloaded: Annotated[Path | None, typer.Option(
        help='A recording without it, to take out what the friction of the day adds.')] = None,
    as_json: AsJson = False,
) -> None:
    """Identify the ten inertial parameters of a payload."""
    identified = load_model(model)
    found = identify_payload(
        identified, load_recording_verbose(loaded, identified.arm),
        None if unloaded is None else load_recording_verbose(unloaded, identified.arm))
    deviations = found.covariance.diagonal() ** 0.5
    if as_json:
        emit({'verdict': found.verdict, 'detectable_mass': found.detectable,
              'parameters': dict(zip(INERTIAL_NAMES, found.parameters)),
              'std': dict(zip(INERTIAL_NAMES, deviations)),
              'intervals': dict(zip(INERTIAL_NAMES, found.intervals())), 'mass': found.mass,
              'centre_of_mass': found.centre, 'centre_of_mass_std': found.centre_deviation,
              'relative_error': found.relative_error,
              'smallest_pseudo_inertia_eigenvalue': found.certificate})
    elif found.verdict == 'found':
        low, high = found.intervals()[0]
        _show(f'payload in the frame of {identified.arm.joint_names[-1]}', ('parameter', 'value'),
              zip(INERTIAL_NAMES, found.parameters, deviations, INERTIAL_UNITS))
        out.print(f'verdict: found, {found.mass:.4g} kg (95 %: {low:.4g} to {high:.4g} kg), '
                  f'centre {np.array2string(found.centre, precision=3)} m, +- '
                  f'{np.array2string(found.centre_deviation, precision=2)} m', markup=False)
    elif found.verdict == 'none':
        out.print(f'verdict: none; {found.detectable:.3g} kg would have been found')
    else:
        out.print(f'verdict: undetermined; this motion shows payloads above '
                  f'{found.detectable:.3g} kg only: move the last joints more, or faster')
    raise typer.Exit(1 if found.verdict == 'undetermined' else 0)


def gains_command(
    robot: Robot,
    mass: Annotated[float, typer.Option(help='Mass of the payload [kg].')],
    unloaded: Annotated[list[Path], typer.Option(help='Recording without payload; repeatable.')],
    loaded: Annotated[list[Path], typer.Option(help='Recording with payload; repeatable.')],
    centre: Annotated[tuple[float, float, float] | None, typer.Option(
        metavar='X Y Z', help="Payload's centre of mass in the last joint's frame [m].")] = None,
    friction: Annotated[str, typer.Option(help='See `frictions`.')] = 'coulomb_viscous',
    as_json: AsJson = False,
) -> None:
    """Identify drive gains from recordings with a known payload."""
    arm = load_arm(robot)
    found = identify_gains(
        arm, [load_recording_verbose(path, arm) for path in unloaded],
        [load_recording_verbose(path, arm) for path in loaded], mass, centre=centre,
        friction=friction)
    if as_json:
        emit({'verdict': 'weak' if found.weak.any() else 'determined',
              'gains': dict(zip(arm.joint_names, found.gains)),
              'std': dict(zip(arm.joint_names, found.deviations)),
              'intervals': dict(zip(arm.joint_names, found.intervals()))})
        return
    _show('drive gains at the joint', ('joint', 'gain'),
          zip(arm.joint_names, found.gains, found.deviations, arm.units('N m/A', 'N/A')))
    weak = [joint for joint, word in zip(arm.joint_names, found.weak) if word]
    out.print(f'verdict: weak for {", ".join(weak)} (deviation above 5 %)' if weak
              else 'verdict: all gains are determined to better than 5 %', markup=False)


def _show(title: str, heads: tuple[str, str],
          rows: Iterable[tuple[str, float, float, str]]) -> None:
    """Print a table of values with their standard deviations and units."""
    table = Table(title=title)
    for head in (*heads, '\u00b1', 'unit'):
        table.add_column(head)
    for name, value, deviation, unit in rows:
        table.add_row(name, f'{value:.5g}', f'{deviation:.2g}', unit)
    out.print(table)
