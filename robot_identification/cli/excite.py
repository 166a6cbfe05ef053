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
"""The commands that prepare motion: excite and simulate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.table import Table

from robot_identification.arm import Arm, load_arm
from robot_identification.cli.console import AsJson, Robot, emit, err, out, progress
from robot_identification.errors import ConfigurationError
from robot_identification.excitation import Excitation, Progress, design, load_excitation
from robot_identification.recording import Recording, write_bag

WRITERS: dict[str, Callable[[Recording, Path], None]] = {
    '.csv': Recording.to_csv, '.npz': Recording.to_npz, '': write_bag}
QUANTITIES = ('position', 'velocity', 'acceleration', 'jerk')


def excite(
    robot: Robot,
    output: Annotated[Path, typer.Option('--output', '-o', help='Excitation file (YAML).')],
    kind: Annotated[str, typer.Option(help='ffs (moves at all times) or mfs (starts and ends at '
                                           'rest).')] = 'ffs',
    duration: Annotated[float, typer.Option(help='Period [s].')] = 10.0,
    harmonics: Annotated[int, typer.Option(help='Harmonics of 1/duration.')] = 5,
    criterion: Annotated[str, typer.Option(help='cond, logdet or sigma_min.')] = 'cond',
    starts: Annotated[int, typer.Option(help='Random starts of the search.')] = 8,
    seed: Annotated[int, typer.Option(help='Seed of the starts.')] = 0,
    time_budget: Annotated[float | None, typer.Option(
        help='Take the best motion after so many seconds.')] = None,
    margin: Annotated[float, typer.Option(
        help='Part of every range to keep free, 0 to less than 1.')] = 0.0,
    csv: Annotated[Path | None, typer.Option(help='Also write t, q, v, a as CSV.')] = None,
    rate: Annotated[float, typer.Option(help='Rate of the CSV [Hz].')] = 100.0,
    as_json: AsJson = False,
) -> None:
    """Design a motion that shows all parameters, within the arm's limits."""
    arm = load_arm(robot)
    found = design_with_progress(
        arm, as_json, kind=kind, period=duration, harmonics=harmonics, criterion=criterion,
        starts=starts, seed=seed, time_budget=time_budget, margin=margin)
    found.save(output)
    if csv is not None:
        found.to_csv(csv, rate)
    if as_json:
        emit({'excitation': str(output), 'criterion': criterion, 'value': found.value,
              'condition_number': found.condition_number, 'seconds': found.seconds,
              'status': found.status, 'notes': found.notes,
              'usage': {name: dict(zip(arm.joint_names, row))
                        for name, row in zip(QUANTITIES, found.usage)}})
        return
    out.print(usage_table(found))
    out.print(f'condition number {found.condition_number:.2f}, {found.status}, '
              f'{found.seconds:.0f} s')
    for note in found.notes:
        out.print(f'note: {note}', style='yellow', markup=False)
    out.print('torques and collisions are not checked: watch the first run at low speed',
              style='yellow')
    out.print(f'wrote {output}', markup=False)


def design_with_progress(arm: Arm, as_json: bool, *, title: str = 'designing the excitation',
                         **options: object) -> Excitation:
    """Design an excitation behind a progress bar."""
    with progress(as_json) as tell:
        def show(step: Progress) -> None:
            best = '' if np.isnan(step.best) else f', best so far {step.best:.3g}'
            tell(f'{title}: {step.finished} of {step.starts} starts{best}', step.fraction)
        return design(arm, progress=show, **options)  # type: ignore[arg-type]


def usage_table(excitation: Excitation) -> Table:
    """Return a table of the limits that a motion uses."""
    table = Table(title=f'limits used over one period of {excitation.period:g} s')
    table.add_column('joint')
    for name in QUANTITIES:
        table.add_column(name, justify='right')
    for i, joint in enumerate(excitation.joint_names):
        table.add_row(joint, *('-' if not np.isfinite(row[i]) or row[i] == 0 else f'{row[i]:.0%}'
                               for row in excitation.usage))
    return table


def simulate(
    robot: Robot,
    excitation: Annotated[Path, typer.Argument(help='Excitation file.')],
    output: Annotated[Path, typer.Option(
        '--output', '-o', help='Recording to write: .csv, .npz, or, without suffix, the folder '
                               'of a bag (MCAP).')],
    periods: Annotated[int, typer.Option(help='How often the motion is repeated.')] = 1,
    seed: Annotated[int, typer.Option(help='Draws the plant: one seed, one arm.')] = 0,
    noise_seed: Annotated[int, typer.Option(help='Draws the measurement noise.')] = 0,
    matched: Annotated[bool, typer.Option(
        '--matched',
        help="A plant with the identified model's structure: only torque noise.")] = False,
    as_json: AsJson = False,
) -> None:
    """Move a simulated arm (MuJoCo) that differs from its URDF, and record it."""
    from robot_identification.simulation import Plant, PlantOptions
    from robot_identification.simulation import simulate as run_plant

    if output.suffix not in WRITERS:
        raise ConfigurationError(f"'{output}' must end in .csv or .npz, or, for a bag, have no "
                                 'suffix')
    if output.is_dir():
        raise ConfigurationError(f"the folder '{output}' exists; give the bag another name")
    arm, motion = load_arm(robot), load_excitation(excitation)
    motion.check_arm(arm)
    options = PlantOptions.matched(seed=seed) if matched else PlantOptions(seed=seed)
    if not as_json:
        err.print(f'moving {arm.name} for {periods * motion.period:g} s in MuJoCo', markup=False)
    run = run_plant(Plant(arm, options), motion, rng=np.random.default_rng(noise_seed),
                    periods=periods, name=output.name)
    WRITERS[output.suffix](run.recording, output)
    saturated = {joint: float(part) for joint, part in zip(arm.joint_names, run.saturated) if part}
    if as_json:
        emit({'recording': str(output), 'samples': len(run.recording), 'saturated': saturated,
              'tracking_error': dict(zip(arm.joint_names, run.tracking_error)),
              'end_stops': run.end_stops})
        return
    out.print(f'largest tracking error {np.max(run.tracking_error):.3g} rad or m')
    for joint, part in saturated.items():
        out.print(f'{joint} was at its rated torque for {part:.1%} of the run', style='yellow',
                  markup=False)
    out.print(f'wrote {output}: {len(run.recording)} samples', markup=False)
