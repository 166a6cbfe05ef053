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

from collections.abc import Sequence
import dataclasses
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from rich.table import Table
from robot_identification.arm import Arm, load_arm
from robot_identification.cli.console import (
    AsJson,
    emit,
    Force,
    load_recording_verbose,
    out,
    progress,
    Robot,
)
from robot_identification.cli.stopwatch import Stopwatch
from robot_identification.errors import ConfigurationError, ExcitationError
from robot_identification.excitation import (
    DEFAULT_REQUIREMENTS,
    design,
    DesignOptions,
    Excitation,
    Payload,
    Requirements,
    save_excitation,
    save_joint_trajectory,
    save_motion_csv,
    save_ur_script,
    validation_motion,
    Workspace,
)
from robot_identification.excitation.certificate.certificate import scene_for
from robot_identification.excitation.certificate.geometry.scene import Scene
from robot_identification.excitation.certificate.nominal_torque import nominal_inertial
from robot_identification.excitation.certificate.requirements import GUESSED_DENSITY
from robot_identification.excitation.design.exports import check_ur_script
from robot_identification.excitation.design.regressor import EarlierMotion
from robot_identification.excitation.design.search import SearchProgress
from robot_identification.excitation.design.validation_motions import VALIDATION_MOTIONS
from robot_identification.excitation.motion.frequencies import check_rate
from robot_identification.files import (
    check_outputs,
    EXCITATION_YAML,
    HTML_PAGE,
    MOTION_CSV,
    TRAJECTORY_YAML,
    UR_SCRIPT,
)
from robot_identification.yaml_file import read_typed, read_yaml, to_plain
import typer
import yaml

VALIDATION = 10.0    # [s] for each motion to validate on, where the command has no time budget
CONSTRUCTED = 0.15   # share of what is left for each of these that is not searched for
SEARCHED = 0.75      # share for the excitation when another search follows
FIXED = ('circle', 'point_to_point')    # motions that are constructed, not searched for
POOR = 100    # condition number from which on a motion deserves a warning
QUANTITIES = ('position', 'velocity', 'acceleration', 'jerk')
Hidden = partial(typer.Option, hidden=True)    # works, and stands in the file of the options


def excite(
    robot: Robot,
    output: Annotated[Path | None, typer.Option(
        '--output', '-o', help='Excitation file (YAML).')] = None,
    duration: Annotated[float | None, typer.Option(
        help='Period [s]; 10 when not given.')] = None,
    time_budget: Annotated[float | None, typer.Option(
        help='Be done after so many seconds, start of the program, geometry, search, proof, '
             'validation motions and page included.')] = None,
    good_enough: Annotated[float | None, typer.Option(
        help='End the search at this value of the criterion, the condition number.')] = None,
    margin: Annotated[float | None, typer.Option(
        help='Part of every range to keep free, 0 to less than 1.')] = None,
    floor: Annotated[float | None, typer.Option(
        help='Height of the floor or table in the base frame [m].')] = None,
    payload: Annotated[str | None, typer.Option(
        metavar='MASS,X,Y,Z[,LX,LY,LZ]',
        help='Carried by the last joint: centre of mass in its frame, and edges of the box around '
             'it that must not collide [kg, m].')] = None,
    torque: Annotated[bool | None, typer.Option(
        '--torque/--no-torque', help='Keep the nominal torques within the rated ones.')] = None,
    collisions: Annotated[bool | None, typer.Option(
        '--collisions/--no-collisions', help='Keep links and surroundings apart.')] = None,
    guess_inertias: Annotated[bool, typer.Option(
        '--guess-inertias',
        help=f'Take inertias that no body can have from the geometry, filled with '
             f'{GUESSED_DENSITY:g} kg/m^3.')] = False,
    validate: Annotated[bool, typer.Option(
        '--validate', help='Also design motions to validate on, beside the excitation.')] = False,
    report: Annotated[Path | None, typer.Option(
        help='Also write an HTML page with plots and the moving arm.')] = None,
    csv: Annotated[Path | None, typer.Option(help='Also write t, q, v, a as CSV.')] = None,
    options: Annotated[Path | None, typer.Option(
        help='Read all other options of the design from a YAML file.')] = None,
    print_options: Annotated[bool, typer.Option(
        '--print-options',
        help='Print that file, with what is given here, and design nothing.')] = False,
    kind: Annotated[str | None, Hidden()] = None,
    harmonics: Annotated[int | None, Hidden()] = None,
    upper_frequency: Annotated[float | None, Hidden()] = None,
    first_resonance: Annotated[float | None, Hidden()] = None,
    criterion: Annotated[str | None, Hidden()] = None,
    drives: Annotated[str | None, Hidden()] = None,
    scaling: Annotated[str | None, Hidden()] = None,
    noise: Annotated[str | None, Hidden()] = None,
    starts: Annotated[int | None, Hidden()] = None,
    seed: Annotated[int | None, Hidden()] = None,
    optimiser: Annotated[str | None, Hidden()] = None,
    start: Annotated[str | None, Hidden()] = None,
    torque_margin: Annotated[float | None, Hidden()] = None,
    power: Annotated[float | None, Hidden()] = None,
    clearance: Annotated[float | None, Hidden()] = None,
    box: Annotated[list[str] | None, Hidden()] = None,
    workspace: Annotated[list[str] | None, Hidden()] = None,
    srdf: Annotated[Path | None, Hidden()] = None,
    package_dir: Annotated[list[Path] | None, Hidden()] = None,
    extend: Annotated[list[Path] | None, Hidden()] = None,
    trajectory: Annotated[Path | None, Hidden()] = None,
    urscript: Annotated[Path | None, Hidden()] = None,
    rate: Annotated[float, Hidden()] = 100.0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """
    Design a motion that shows all parameters and respects every limit at all times.

    More options of the design stand in the file that --print-options prints; --trajectory and
    --urscript write other forms of the motion, --rate is theirs and that of --csv, and --extend
    names recordings that the motion completes (docs/excitation.md).
    """
    arm = load_arm(robot)
    base = DesignOptions() if options is None else read_options(options)
    asked = _changed(
        base, _requirements(
            base.requirements, torque, collisions, power=power, floor=floor,
            torque_margin=torque_margin, clearance=clearance,
            payload=None if payload is None else _payload(payload),
            guess_density=GUESSED_DENSITY if guess_inertias else None,
            boxes=tuple(tuple(numbers('--box', text, 6)) for text in box or ()) or None,
            workspace=tuple(_workspace(text) for text in workspace or ()) or None,
            srdf=None if srdf is None else str(srdf),
            package_dirs=tuple(str(folder) for folder in package_dir or ()) or None),
        kind=kind, period=duration, harmonics=harmonics, upper_frequency=upper_frequency,
        first_resonance=first_resonance, criterion=criterion, drives=drives, scaling=scaling,
        noise=None if noise is None else tuple(numbers('--noise', noise, arm.n)), starts=starts,
        seed=seed, optimiser=optimiser, time_budget=time_budget, good_enough=good_enough,
        margin=margin, start=None if start is None else tuple(numbers('--start', start, arm.n)))
    if print_options:
        typer.echo(yaml.safe_dump(to_plain(asked), sort_keys=False), nl=False)
        return
    if output is None:
        raise typer.BadParameter("name the file: '--output' / '-o'")
    check_outputs(((output, EXCITATION_YAML), (report, HTML_PAGE), (csv, MOTION_CSV),
                   (trajectory, TRAJECTORY_YAML), (urscript, UR_SCRIPT),
                   *((path, EXCITATION_YAML) for path in _validation_files(output, validate))),
                  (*arm.files, srdf, options, *(extend or ())), force=force)
    exports = ((csv, save_motion_csv), (trajectory, save_joint_trajectory),
               (urscript, save_ur_script))
    if any(path is not None for path, _ in exports):
        check_rate(rate, asked.series.harmonics, asked.period)
    if urscript is not None:
        check_ur_script(arm.n, asked.series)
    earlier = [_earlier_motion(arm, path) for path in extend or ()]
    watch = Stopwatch(asked.time_budget)
    watch.lap('start of the program')
    wanted = asked.requirements
    if wanted.torque_margin is not None or wanted.power is not None:
        nominal_inertial(arm, wanted)    # refused before anything is waited for
    scene = scene_for(arm, wanted) if wanted.clearance is not None else None
    watch.lap('collision geometry')
    motions = _Motions(arm, asked, scene, watch, as_json)
    found = motions.design(earlier, validate)
    save_excitation(found, output)
    written = [output]
    for path, write in exports:
        if path is not None:
            write(found, path, rate)
            written.append(path)
    for name, path in zip(VALIDATION_MOTIONS, _validation_files(output)):
        if name in motions.made:
            save_excitation(motions.made[name], path)
            written.append(path)
    watch.lap('files')
    if report is not None:
        from robot_identification.reporting.excitation_page import write_excitation_page
        written.append(write_excitation_page(arm, found, report, scene))
        watch.lap('page')
    _tell(arm, found, written, motions.failed, watch, as_json)


def read_options(path: Path) -> DesignOptions:
    """
    Read a file of `--print-options`.

    Raises
    ------
    ConfigurationError, ExcitationError
        It cannot be read, or asks for what makes no sense.

    """
    options: DesignOptions = read_typed(
        DesignOptions, read_yaml(path, 'options', ConfigurationError), f"the options '{path}'",
        ConfigurationError)
    return options


def _changed(base: DesignOptions, requirements: Requirements, **given: Any) -> DesignOptions:
    """Return the options of a file, changed by what the command line gives."""
    changes = {name: value for name, value in given.items() if value is not None}
    if 'upper_frequency' in changes and 'harmonics' not in changes:
        changes['harmonics'] = None
    return dataclasses.replace(base, requirements=requirements, **changes)


def _requirements(base: Requirements, torque: bool | None, collisions: bool | None,
                  **given: Any) -> Requirements:
    changes = {name: value for name, value in given.items() if value is not None}
    if torque is not None:
        margin = changes.get('torque_margin', base.torque_margin)
        changes['torque_margin'] = None if not torque else (
            margin if margin is not None else DEFAULT_REQUIREMENTS.torque_margin)
    if collisions is not None:
        distance = changes.get('clearance', base.clearance)
        changes['clearance'] = None if not collisions else (
            distance if distance is not None else DEFAULT_REQUIREMENTS.clearance)
    return dataclasses.replace(base, **changes)


def _tell(arm: Arm, found: Excitation, written: list[Path], failed: dict[str, str],
          watch: Stopwatch, as_json: bool) -> None:
    if as_json:
        emit({'excitation': str(written[0]), 'criterion': found.criterion, 'value': found.value,
              'condition_number': found.condition_number, 'seconds': found.seconds,
              'status': found.status, 'notes': found.notes,
              'written': [str(path) for path in written], 'not_possible': failed,
              'stages': watch.stages, 'time_budget': watch.budget,
              'certificate': to_plain(found.certificate.claims),
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
    unseen = found.requirements.unseen
    if unseen:
        out.print(f'{" and ".join(unseen)} are not checked: watch the first run at low speed',
                  style='yellow')
    for reason in failed.values():
        out.print(f'not possible: {reason}', style='yellow', markup=False)
    late = watch.exceeded()
    if late is not None:
        out.print(late, style='yellow', markup=False)
    for path in written:
        out.print(f'wrote {path}', markup=False)


def _validation_files(output: Path, wanted: bool = True) -> list[Path]:
    """Return where the motions to validate on are written, in the order of their names."""
    return [output.with_name(f'{output.stem}_{name}.yaml') for name in VALIDATION_MOTIONS
            if wanted]


class _Motions:
    """The excitation and the motions to validate on, within one wait and in one scene."""

    def __init__(self, arm: Arm, asked: DesignOptions, scene: Scene | None, watch: Stopwatch,
                 as_json: bool) -> None:
        self._arm, self._asked, self._scene = arm, asked, scene
        self._watch, self._as_json = watch, as_json
        self.made: dict[str, Excitation] = {}
        self.failed: dict[str, str] = {}

    def design(self, earlier: Sequence[EarlierMotion], validate: bool) -> Excitation:
        """
        Return the excitation; motions to validate on are kept, or why there is none.

        Where the wait has an end, motions that take the time that they take come before the
        searches, which share what is left.
        """
        before = FIXED if self._watch.budget is not None else ()
        names = VALIDATION_MOTIONS if validate else ()
        for name in names:
            if name in before:
                self._validation(name, min(VALIDATION, CONSTRUCTED * self._watch.left))
        budget = self._watch.left * (SEARCHED if validate else 1.0)
        asked = self._asked if self._watch.budget is None else dataclasses.replace(
            self._asked, time_budget=max(budget, 0.01))
        found = design_with_progress(self._arm, self._as_json, asked, earlier=earlier,
                                     scene=self._scene)
        self._watch.lap('excitation')
        for name in names:
            if name not in before:
                self._validation(name, min(VALIDATION, self._watch.left))
        return found

    def _validation(self, name: str, budget: float) -> None:
        if budget <= 0:
            self.failed[name] = f'the time budget is over, no time was left for {name}'
            return
        asked = self._asked
        with progress(self._as_json) as tell:
            tell(f'designing the validation motion {name}', 0.0)
            try:
                self.made[name] = validation_motion(
                    self._arm, name, seed=asked.seed, requirements=asked.requirements,
                    velocity=asked.velocity, acceleration=asked.acceleration,
                    margin=asked.margin, time_budget=budget, scene=self._scene)
            except ExcitationError as error:
                self.failed[name] = str(error)
        self._watch.lap(f'validation motion {name}')


def _earlier_motion(arm: Arm, path: Path) -> EarlierMotion:
    """Read a recording and return how the arm moved in it."""
    from robot_identification.signals import process

    samples = process(load_recording_verbose(path, arm), arm)
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


def design_with_progress(arm: Arm, as_json: bool, options: DesignOptions, *,
                         title: str = 'designing the excitation',
                         earlier: Sequence[EarlierMotion] = (),
                         scene: Scene | None = None) -> Excitation:
    """Design an excitation behind a progress bar."""
    with progress(as_json) as tell:
        def show(step: SearchProgress) -> None:
            best = '' if np.isnan(step.best) else f', best so far {step.best:.3g}'
            tell(f'{title}: {step.finished} of {step.starts} starts{best}', step.fraction)
        return design(arm, options, progress=show, earlier=earlier, scene=scene)


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
