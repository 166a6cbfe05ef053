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
"""The command excite: designs a motion."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
from rich.table import Table
from robot_identification.arm import Arm, load_arm
from robot_identification.console import AsJson, emit, Force, out, progress, Robot
from robot_identification.errors import ConfigurationError, ExcitationError
from robot_identification.excitation import (
    check_harmonics,
    check_rate,
    check_ur_script,
    design,
    EarlierMotion,
    Excitation,
    get_series,
    Payload,
    Progress,
    Requirements,
    SAFE,
    save_excitation,
    save_joint_trajectory,
    save_motion_csv,
    save_ur_script,
    suggested_harmonics,
    validation_motion,
    VALIDATION_MOTIONS,
    Workspace,
)
from robot_identification.files import (
    check_outputs,
    EXCITATION_YAML,
    HTML_PAGE,
    MOTION_CSV,
    TRAJECTORY_YAML,
    UR_SCRIPT,
)
import typer

POOR = 100    # condition number from which on a motion deserves a warning
MOTION, CRITERION, SEARCH = 'Motion', 'What it shall show', 'Search'    # panels of the help
LIMITS, COLLISIONS, OUTPUT = 'Limits', 'Collisions', 'More output'
QUANTITIES = ('position', 'velocity', 'acceleration', 'jerk')


def excite(
    robot: Robot,
    output: Annotated[Path, typer.Option(
        '--output', '-o',
        help='Excitation file (YAML).')],
    kind: Annotated[str, typer.Option(
        rich_help_panel=MOTION,
        help='mfs, ffs_rest or spline (start and end at rest), or ffs (moves at all times).',
        )] = 'mfs',
    duration: Annotated[float, typer.Option(
        rich_help_panel=MOTION,
        help='Period [s].')] = 10.0,
    harmonics: Annotated[int | None, typer.Option(
        rich_help_panel=MOTION,
        help='Harmonics of 1/duration; chosen from the upper frequency when not given.')] = None,
    upper_frequency: Annotated[float, typer.Option(
        rich_help_panel=MOTION,
        help='Highest frequency of the motion [Hz].')] = 0.5,
    first_resonance: Annotated[float | None, typer.Option(
        rich_help_panel=MOTION,
        help='Of the arm [Hz]: the motion stays below a sixth of it.')] = None,
    criterion: Annotated[str, typer.Option(
        rich_help_panel=CRITERION,
        help='cond, logdet, sigma_min, a_optimal, e_optimal or a mixture, '
             "'cond + 0.1 logdet'.")] = 'cond',
    drives: Annotated[str, typer.Option(
        rich_help_panel=CRITERION,
        help='Drive columns that count: none, friction or friction_and_rotor.')] = 'none',
    scaling: Annotated[str, typer.Option(
        rich_help_panel=CRITERION,
        help='Of the columns: none, unit or prior (prior standard deviations).')] = 'none',
    noise: Annotated[str | None, typer.Option(
        rich_help_panel=CRITERION, metavar='N1,N2,...',
        help='Torque noise of the joints that weights them, comma-separated [N m].')] = None,
    starts: Annotated[int, typer.Option(
        rich_help_panel=SEARCH,
        help='Random starts of the search.')] = 4,
    seed: Annotated[int, typer.Option(
        rich_help_panel=SEARCH,
        help='Seed of the starts.')] = 0,
    optimiser: Annotated[str, typer.Option(
        rich_help_panel=SEARCH, hidden=True,
        help='barrier, or a design of the papers.')] = 'barrier',
    time_budget: Annotated[float | None, typer.Option(
        rich_help_panel=SEARCH,
        help='Take the best motion after so many seconds, collision geometry and '
             'proof included.')] = None,
    start: Annotated[str | None, typer.Option(
        rich_help_panel=MOTION, metavar='Q1,Q2,...',
        help='Position of rest to start from and return to, comma-separated, one for '
             'each joint [rad or m]; free when not given.')] = None,
    margin: Annotated[float, typer.Option(
        rich_help_panel=LIMITS,
        help='Part of every range to keep free, 0 to less than 1.')] = 0.0,
    torque: Annotated[bool, typer.Option(
        '--torque/--no-torque', rich_help_panel=LIMITS,
        help='Keep the nominal torques within the rated ones.')] = True,
    torque_margin: Annotated[float, typer.Option(
        rich_help_panel=LIMITS,
        help='Part of the rated torques to keep free, for friction and what the URDF lacks.',
        )] = SAFE.torque_margin or 0.0,
    power: Annotated[float | None, typer.Option(
        rich_help_panel=LIMITS,
        help='Largest power of all joints [W].')] = None,
    payload: Annotated[str | None, typer.Option(
        rich_help_panel=LIMITS, metavar='MASS,X,Y,Z[,LX,LY,LZ]',
        help='Carried by the last joint, centre of mass in its frame, and edges of '
             'the box around it that must not collide [kg, m].')] = None,
    collisions: Annotated[bool, typer.Option(
        '--collisions/--no-collisions', rich_help_panel=COLLISIONS,
        help='Keep links and surroundings apart.')] = True,
    clearance: Annotated[float, typer.Option(
        rich_help_panel=COLLISIONS,
        help='Distance to keep [m].')] = SAFE.clearance or 0.0,
    floor: Annotated[float | None, typer.Option(
        rich_help_panel=COLLISIONS,
        help='Height of the floor or table in the base frame [m].')] = None,
    box: Annotated[list[str] | None, typer.Option(
        rich_help_panel=COLLISIONS, metavar='X0,Y0,Z0,X1,Y1,Z1',
        help='An obstacle in the base frame [m]; repeat it for more.')] = None,
    workspace: Annotated[list[str] | None, typer.Option(
        rich_help_panel=LIMITS, metavar='FRAME,X0,Y0,Z0,X1,Y1,Z1',
        help='Box that a frame must stay in [m].')] = None,
    srdf: Annotated[Path | None, typer.Option(
        rich_help_panel=COLLISIONS,
        help='Collisions that it disables are not looked at.')] = None,
    package_dir: Annotated[list[Path] | None, typer.Option(
        rich_help_panel=COLLISIONS,
        help='Folder that holds packages with meshes; repeat it for more.')] = None,
    extend: Annotated[list[Path] | None, typer.Option(
        rich_help_panel=MOTION,
        help='Recording that the motion shall complete; repeat it for more.')] = None,
    validate: Annotated[bool, typer.Option(
        '--validate', rich_help_panel=MOTION,
        help='Also design motions to validate on, beside the excitation.')] = False,
    report: Annotated[Path | None, typer.Option(
        rich_help_panel=OUTPUT,
        help='Also write an HTML page with plots and the moving arm.')] = None,
    csv: Annotated[Path | None, typer.Option(
        rich_help_panel=OUTPUT,
        help='Also write t, q, v, a as CSV.')] = None,
    trajectory: Annotated[Path | None, typer.Option(
        rich_help_panel=OUTPUT,
        help='Also write a trajectory_msgs/JointTrajectory as YAML.')] = None,
    urscript: Annotated[Path | None, typer.Option(
        rich_help_panel=OUTPUT,
        help='Also write a URScript program.')] = None,
    rate: Annotated[float, typer.Option(
        rich_help_panel=OUTPUT,
        help='Of CSV, JointTrajectory and URScript [Hz].')] = 100.0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Design a motion that shows all parameters and respects every limit at all times."""
    arm = load_arm(robot)
    requirements = Requirements(
        torque_margin=torque_margin if torque else None, power=power,
        payload=None if payload is None else _payload(payload),
        clearance=clearance if collisions else None, floor=floor,
        boxes=tuple(tuple(numbers('--box', text, 6)) for text in box or ()),
        workspace=tuple(_workspace(text) for text in workspace or ()),
        srdf=None if srdf is None else str(srdf),
        package_dirs=tuple(str(folder) for folder in package_dir or ()))
    if harmonics is None:
        harmonics = suggested_harmonics(duration, upper_frequency, first_resonance)
    check_harmonics(harmonics, duration, first_resonance)
    exports = [path for path in (csv, trajectory, urscript) if path is not None]
    check_outputs(((output, EXCITATION_YAML), (report, HTML_PAGE), (csv, MOTION_CSV),
                   (trajectory, TRAJECTORY_YAML), (urscript, UR_SCRIPT),
                   *((path, EXCITATION_YAML) for path in _validation_files(output, validate))),
                  (*arm.files, srdf, *(extend or ())), force=force)
    if exports:
        check_rate(rate, harmonics, duration)
    if urscript is not None:
        check_ur_script(arm.n, get_series(kind, duration, harmonics))
    found = design_with_progress(
        arm, as_json, kind=kind, period=duration, criterion=criterion, starts=starts, seed=seed,
        harmonics=harmonics, time_budget=time_budget, margin=margin, requirements=requirements,
        drives=drives, scaling=scaling, optimiser=optimiser,
        start=None if start is None else numbers('--start', start, arm.n),
        noise=None if noise is None else numbers('--noise', noise, arm.n),
        earlier=[earlier_motion(arm, path) for path in extend or ()])
    save_excitation(found, output)
    written = [output]
    for path, write in ((csv, partial(save_motion_csv, found)),
                        (trajectory, partial(save_joint_trajectory, found)),
                        (urscript, partial(save_ur_script, found))):
        if path is not None:
            write(path, rate)
            written.append(path)
    failed: dict[str, str] = {}
    if validate:
        more, failed = _validation(arm, output, requirements, margin, seed, as_json)
        written += more
    if report is not None:
        from robot_identification.reporting.excitation_page import write_excitation_page
        written.append(write_excitation_page(arm, found, report))
    _tell(arm, found, written, failed, as_json)


def _tell(arm: Arm, found: Excitation, written: list[Path], failed: dict[str, str],
          as_json: bool) -> None:
    if as_json:
        emit({'excitation': str(written[0]), 'criterion': found.criterion, 'value': found.value,
              'condition_number': found.condition_number, 'seconds': found.seconds,
              'status': found.status, 'notes': found.notes,
              'written': [str(path) for path in written], 'not_possible': failed,
              'certificate': found.certificate.to_mapping(),
              'usage': {name: dict(zip(arm.joint_names, row))
                        for name, row in zip(QUANTITIES, found.usage)}})
        return
    out.print(usage_table(found))
    out.print(f'condition number {found.condition_number:.2f}, {found.status}, '
              f'{found.seconds:.0f} s')
    out.print('proven for all times:')
    for claim in found.certificate.claims:
        out.print(f'  {claim}', markup=False, highlight=False)
    if found.condition_number > POOR:
        out.print(f'a condition number above {POOR} shows some parameters badly: give the search '
                  'more time, the motion a longer duration, or the joints more room',
                  style='yellow')
    for note in found.notes:
        out.print(f'note: {note}', style='yellow', markup=False)
    asked = found.requirements
    unseen = [name for name, wanted in (('torques', asked.torque_margin),
                                        ('collisions', asked.clearance)) if wanted is None]
    if unseen:
        out.print(f'{" and ".join(unseen)} are not checked: watch the first run at low speed',
                  style='yellow')
    for reason in failed.values():
        out.print(f'not possible: {reason}', style='yellow', markup=False)
    for path in written:
        out.print(f'wrote {path}', markup=False)


def _validation_files(output: Path, wanted: bool = True) -> list[Path]:
    """Return where the motions to validate on are written, in the order of their names."""
    return [output.with_name(f'{output.stem}_{name}.yaml') for name in VALIDATION_MOTIONS
            if wanted]


def _validation(arm: Arm, output: Path, requirements: Requirements, margin: float, seed: int,
                as_json: bool) -> tuple[list[Path], dict[str, str]]:
    """Write the motions that are possible; return them, and why others are not."""
    written, failed = [], {}
    with progress(as_json) as tell:
        for number, (name, path) in enumerate(zip(VALIDATION_MOTIONS, _validation_files(output))):
            tell(f'designing the validation motion {name}', number / len(VALIDATION_MOTIONS))
            try:
                motion = validation_motion(arm, name, seed=seed, requirements=requirements,
                                           margin=margin)
            except ExcitationError as error:
                failed[name] = str(error)
                continue
            save_excitation(motion, path)
            written.append(path)
    return written, failed


def earlier_motion(arm: Arm, path: Path) -> EarlierMotion:
    """Read a recording and return how the arm moved in it."""
    from robot_identification.recording import load_recording
    from robot_identification.signals import process

    samples = process(load_recording(path, arm), arm)
    return EarlierMotion(samples.q, samples.v, samples.a, samples.rate, str(path))


def numbers(option: str, text: str, count: int) -> list[float]:
    """
    Return the comma-separated numbers of an option.

    Raises
    ------
    ConfigurationError
        It is not so many numbers.

    """
    try:
        values = [float(part) for part in text.split(',')]
    except ValueError:
        values = []
    if len(values) != count:
        raise ConfigurationError(f'{option} takes {count} numbers with commas between them, not '
                                 f"'{text}'")
    return values


def _payload(text: str) -> Payload:
    if text.count(',') == 6:
        mass, x, y, z, *edges = numbers('--payload', text, 7)
        return Payload(mass, (x, y, z), (edges[0], edges[1], edges[2]))
    mass, x, y, z = numbers('--payload', text, 4)
    return Payload(mass, (x, y, z))


def _workspace(text: str) -> Workspace:
    frame, _, rest = text.partition(',')
    x0, y0, z0, x1, y1, z1 = numbers('--workspace', rest, 6)
    return Workspace(frame, (x0, y0, z0), (x1, y1, z1))


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
