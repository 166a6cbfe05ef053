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

import dataclasses
from pathlib import Path
import time
from typing import Annotated, Any

import numpy as np
from rich.table import Table
from robot_identification import cli, excitation, files
from robot_identification.arm import Arm, load_arm
from robot_identification.cli import console
from robot_identification.errors import ConfigurationError, ExcitationError
from robot_identification.excitation.certificate.nominal_torque import nominal_inertial
from robot_identification.excitation.certificate.requirements import GUESSED_DENSITY
from robot_identification.excitation.motion.frequencies import check_rate
from robot_identification.yaml_file import read_typed, read_yaml, to_plain
import typer
import yaml

VALIDATION = 10.0    # [s] time limit of a validation motion without a time budget
CONSTRUCTED = 0.15   # fraction of the remaining time for the point-to-point motion
SEARCHED = 0.75      # fraction for the excitation when the search of a Fourier motion follows
ENDING = 0.3         # time to write files and page, as a fraction of the start of the program
POOR = 100           # condition number above which parameters are poorly identifiable
CSV_RATE = 100.0     # [Hz] of --csv
QUANTITIES = ('position', 'velocity', 'acceleration', 'jerk')

Torque = Annotated[bool | None, typer.Option(
    '--torque/--no-torque', help='Keep the nominal torques within the rated ones.')]
Collisions = Annotated[bool | None, typer.Option(
    '--collisions/--no-collisions', help='Keep a clearance between links and surroundings.')]
Carried = Annotated[str | None, typer.Option(
    '--payload', metavar='MASS,X,Y,Z[,LX,LY,LZ]',
    help='Payload on the last joint [kg, m]: centre of mass in its frame, and edges of the box '
         'around it that must not collide.')]
GuessInertias = Annotated[bool, typer.Option(
    '--guess-inertias', help='Replace invalid inertias by those of the collision geometry filled '
                             f'with {GUESSED_DENSITY:g} kg/m^3.')]


def excite_command(
    robot: console.Robot,
    output: Annotated[Path | None, typer.Option(
        '--output', '-o', help='Excitation file (YAML).')] = None,
    duration: Annotated[float | None, typer.Option(help='Period [s]; 10 by default.')] = None,
    harmonics: Annotated[int | None, typer.Option(
        help='Number of harmonics; by default those below 0.5 Hz.')] = None,
    seed: Annotated[int | None, typer.Option(help='Seed of the random starts.')] = None,
    time_budget: Annotated[float | None, typer.Option(
        help='Total time limit in seconds, from the start of the program to the page.')] = None,
    good_enough: Annotated[float | None, typer.Option(
        help='End the search at this value of the criterion, the condition number.')] = None,
    margin: Annotated[float | None, typer.Option(
        help='Fraction of every joint limit to keep free, 0 to less than 1.')] = None,
    floor: Annotated[float | None, typer.Option(
        help='Height of the floor or table in the base frame [m].')] = None,
    payload: Carried = None,
    torque: Torque = None,
    collisions: Collisions = None,
    guess_inertias: GuessInertias = False,
    validate: Annotated[bool, typer.Option(
        '--validate', help='Also design motions to validate on.')] = False,
    report: Annotated[Path | None, typer.Option(
        help='Also write an HTML page with plots and the moving arm.')] = None,
    csv: Annotated[Path | None, typer.Option(
        help=f'Also write t, q, v, a as CSV at {CSV_RATE:g} Hz.')] = None,
    options: Annotated[Path | None, typer.Option(
        help='YAML file with the other options of the design.')] = None,
    print_options: Annotated[bool, typer.Option(
        '--print-options', help='Print that file for these arguments, and exit.')] = False,
    force: console.Force = False,
    as_json: console.AsJson = False,
) -> None:
    """
    Design a motion that excites all parameters within proven limits.

    The file that --print-options prints holds all options of the design (docs/excitation.md).
    """
    arm = load_arm(robot)
    base = excitation.DesignOptions() if options is None else read_options(options)
    request = _replace_given(
        base, period=duration, harmonics=harmonics, seed=seed, time_budget=time_budget,
        good_enough=good_enough, margin=margin, requirements=_replace_given(
            _switch_checks(base.requirements, torque, collisions), floor=floor,
            payload=None if payload is None else _parse_payload(payload),
            guess_density=GUESSED_DENSITY if guess_inertias else None))
    if print_options:
        typer.echo(yaml.safe_dump(to_plain(request), sort_keys=False), nl=False)
        return
    if output is None:
        raise typer.BadParameter("name the file: '--output' / '-o'")
    paths = {'': output, **({name: output.with_name(f'{output.stem}_{name}.yaml')
                             for name in excitation.VALIDATION_MOTIONS} if validate else {})}
    files.check_outputs((*((path, files.EXCITATION_YAML) for path in paths.values()),
                         (report, files.HTML_PAGE), (csv, files.MOTION_CSV)),
                        (*arm.files, options), force=force)
    if csv is not None:
        check_rate(CSV_RATE, request.series.harmonics, request.period)
    designs = _Designs(arm, request, Stopwatch(request.time_budget), as_json)
    designs.run(validate)
    designs.save(paths, csv, report)
    if as_json:
        console.emit(designs.to_mapping())
    else:
        designs.print_summary()


def read_options(path: Path) -> excitation.DesignOptions:
    """
    Read a file of `--print-options`.

    Raises
    ------
    ConfigurationError, ExcitationError
        The file cannot be read, or a value is not valid.

    """
    options: excitation.DesignOptions = read_typed(
        excitation.DesignOptions, read_yaml(path, 'options', ConfigurationError),
        f"the options '{path}'", ConfigurationError)
    return options


def _replace_given(base: Any, **values: Any) -> Any:
    """Return a dataclass with those values that are not None."""
    return dataclasses.replace(base, **{
        name: value for name, value in values.items() if value is not None})


def _switch_checks(base: excitation.Requirements, torque: bool | None,
                   collisions: bool | None) -> excitation.Requirements:
    """Return requirements with the checks of torques and collisions switched on or off."""
    changes: dict[str, float | None] = {}
    for name, on in (('torque_margin', torque), ('clearance', collisions)):
        if on is False:
            changes[name] = None
        elif on and getattr(base, name) is None:
            changes[name] = getattr(excitation.DEFAULT_REQUIREMENTS, name)
    return dataclasses.replace(base, **changes)    # type: ignore[arg-type]


def _parse_payload(text: str) -> excitation.Payload:
    try:
        mass, *values = (float(value) for value in text.split(','))
        x, y, z, *edges = values
        if not edges:
            return excitation.Payload(mass, (x, y, z))
        lx, ly, lz = edges
        return excitation.Payload(mass, (x, y, z), (lx, ly, lz))
    except ValueError as error:
        raise ConfigurationError(
            '--payload takes 4 numbers (mass and centre) or 7 (and the edges of a box), separated '
            f"by commas, not '{text}'") from error


class Stopwatch:
    """
    Durations of the stages of a command since the program started, and the time left.

    Parameters
    ----------
    budget
        Time limit of the command [s]; None without one.

    """

    def __init__(self, budget: float | None) -> None:
        self.budget = budget
        self.stages: dict[str, float] = {}
        self._began = self._last = cli.BEGAN or time.monotonic()
        self._ending = 0.0

    def lap(self, stage: str) -> None:
        """Add the time since the last call, or the program's start, to a stage."""
        now = time.monotonic()
        self._ending = self._ending or ENDING * (now - self._began)
        self.stages[stage] = self.stages.get(stage, 0.0) + now - self._last
        self._last = now

    @property
    def left(self) -> float:
        """Remaining time without the reserve for writing files and page [s]."""
        if self.budget is None:
            return float('inf')
        return self.budget - self._ending - (time.monotonic() - self._began)

    def exceeded(self) -> str | None:
        """Return a warning with the durations of all stages, None within the budget."""
        total = sum(self.stages.values())
        if self.budget is None or total <= self.budget:
            return None
        stages = ', '.join(f'{stage} {seconds:.1f}' for stage, seconds in sorted(
            self.stages.items(), key=lambda entry: -entry[1]) if seconds >= 0.05)
        return f'took {total:.1f} s; budget was {self.budget:g} s ({stages})'


class _Designs:
    """The excitation and its validation motions: designed in one scene and one time budget."""

    def __init__(self, arm: Arm, request: excitation.DesignOptions, watch: Stopwatch,
                 as_json: bool) -> None:
        self._arm, self._request, self._watch, self._as_json = arm, request, watch, as_json
        self.found: excitation.Excitation
        self.made: dict[str, excitation.Excitation] = {}
        self.failed: dict[str, str] = {}
        self.written: list[Path] = []
        watch.lap('start of the program')
        requirements = request.requirements
        if requirements.torque_margin is not None or requirements.power is not None:
            nominal_inertial(arm, requirements)    # fails before the collision geometry is built
        self._scene = (excitation.build_scene(arm, requirements)
                       if requirements.clearance is not None else None)
        watch.lap('collision geometry')

    def run(self, validate: bool) -> None:
        """
        Design all motions; the searches share the time that the constructed motion leaves.

        Within a time budget the constructed motion comes first: its duration is not known before.
        """
        limited = self._watch.budget is not None
        if validate and limited:
            self._validate('point_to_point', min(VALIDATION, CONSTRUCTED * self._watch.left))
        budget = self._watch.left * (SEARCHED if validate else 1.0)
        request = self._request if not limited else dataclasses.replace(
            self._request, time_budget=max(budget, 0.01))
        self.found = design_with_progress(self._arm, self._as_json, request, scene=self._scene)
        self._watch.lap('excitation')
        for name in excitation.VALIDATION_MOTIONS if validate else ():
            if not (limited and name == 'point_to_point'):
                self._validate(name, min(VALIDATION, self._watch.left))

    def _validate(self, name: str, budget: float) -> None:
        if budget <= 0:
            self.failed[name] = f'no time was left for the validation motion {name}'
            return
        with console.progress(self._as_json) as report:
            report(f'designing the validation motion {name}', 0.0)
            try:
                self.made[name] = excitation.validation_motion(
                    self._arm, name, dataclasses.replace(self._request, time_budget=budget),
                    scene=self._scene)
            except ExcitationError as error:
                self.failed[name] = str(error)
        self._watch.lap(f'validation motion {name}')

    def save(self, paths: dict[str, Path], csv: Path | None, report: Path | None) -> None:
        """Write the excitation (named '') and the validation motions, the CSV and the page."""
        for name, path in paths.items():
            if not name or name in self.made:
                excitation.save_excitation(self.made.get(name, self.found), path)
                self.written.append(path)
        if csv is not None:
            excitation.save_motion_csv(self.found, csv, CSV_RATE)
            self.written.append(csv)
        self._watch.lap('files')
        if report is not None:
            from robot_identification.reporting.excitation_page import write_excitation_page
            self.written.append(
                write_excitation_page(self._arm, self.found, report, self._scene))
            self._watch.lap('page')

    def to_mapping(self) -> dict[str, Any]:
        """Return what --json prints."""
        found = self.found
        return {'excitation': str(self.written[0]), 'criterion': found.criterion,
                'value': found.value, 'condition_number': found.condition_number,
                'seconds': found.seconds, 'status': found.status, 'notes': found.notes,
                'written': [str(path) for path in self.written], 'not_possible': self.failed,
                'stages': self._watch.stages, 'time_budget': self._watch.budget,
                'certificate': to_plain(found.certificate.claims),
                'usage': {name: dict(zip(found.joint_names, row))
                          for name, row in zip(QUANTITIES, found.usage)}}

    def print_summary(self) -> None:
        """Print the limits used, what is proven, warnings and the files written."""
        found, warnings = self.found, []
        console.out.print(usage_table(found))
        console.out.print(f'condition number {found.condition_number:.2f}, {found.status}, '
                          f'{found.seconds:.0f} s')
        print_certificate(found)
        if found.condition_number > POOR:
            warnings.append(f'with a condition number above {POOR} some parameters are poorly '
                            'identifiable: give the search more time, the motion a longer '
                            'duration, or the joints more range')
        warnings += [f'note: {note}' for note in found.notes]
        if found.requirements.unseen:
            warnings.append(f'{" and ".join(found.requirements.unseen)} are not checked: watch '
                            'the first run at low speed')
        warnings += [f'not possible: {reason}' for reason in self.failed.values()]
        for warning in (*warnings, self._watch.exceeded()):
            if warning is not None:
                console.out.print(warning, style='yellow', markup=False)
        for path in self.written:
            console.out.print(f'wrote {path}', markup=False)


def design_with_progress(arm: Arm, as_json: bool, options: excitation.DesignOptions, *,
                         title: str = 'designing the excitation',
                         scene: excitation.Scene | None = None) -> excitation.Excitation:
    """Design an excitation behind a progress bar."""
    with console.progress(as_json) as report:
        def show(step: excitation.SearchProgress) -> None:
            best = '' if np.isnan(step.best) else f', best so far {step.best:.3g}'
            report(f'{title}: {step.finished} of {step.starts} starts{best}', step.fraction)
        return excitation.design(arm, options, progress=show, scene=scene)


def usage_table(found: excitation.Excitation) -> Table:
    """Return a table of the fraction of its limits that each joint uses."""
    table = Table(title=f'limits used over one period of {found.period:g} s')
    table.add_column('joint')
    for name in QUANTITIES:
        table.add_column(name, justify='right')
    for i, joint in enumerate(found.joint_names):
        table.add_row(joint, *('-' if not np.isfinite(row[i]) or row[i] == 0 else f'{row[i]:.0%}'
                               for row in found.usage))
    return table


def print_certificate(found: excitation.Excitation) -> None:
    """Print what is proven about a motion."""
    console.out.print('proven for all times:')
    for claim in found.certificate.claims:
        console.out.print(f'  {claim}', markup=False, highlight=False)
