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
"""The command excite: designs a motion that excites all parameters within proven limits."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TYPE_CHECKING

import click
from robot_identification import cli, console, files, output_folder
from robot_identification.errors import ConfigurationError

if TYPE_CHECKING:
    from robot_identification import excitation
    from robot_identification.arm import Arm
    from robot_identification.excitation.design.validation_motions import Designs, Stopwatch

POOR = 100           # condition number above which parameters are poorly identifiable
CSV_RATE = 100.0     # [Hz] of --csv
QUANTITIES = ('position', 'velocity', 'acceleration', 'jerk')


@dataclass(frozen=True)
class DesignArguments:
    """
    Command-line options of a design: its files, and values that override its options.

    Parameters
    ----------
    output : -o
        Excitation file (YAML).
    duration
        Period [s]; 10 by default.
    harmonics
        Number of harmonics; by default those below 0.5 Hz.
    seed
        Seed of the random starts.
    time_budget
        Total time limit [s], from the start of the program to the HTML page.
    good_enough
        Value of the criterion (usually condition number) that ends the search.
    margin
        Fraction of every joint limit to keep free, 0 to less than 1.
    floor
        Height of the floor or table in the base frame [m].
    payload : MASS,X,Y,Z[,LX,LY,LZ]
        Payload: mass [kg], centre of mass in the last joint's frame [m], and edge lengths of a box
        around it for collision checks [m].
    torque
        Limit the torques of the nominal model.
    collisions
        Keep a clearance between links, floor and obstacles.
    guess_inertias
        Replace invalid inertias by those of the collision geometry at a density of 1500 kg/m^3.
    report
        Also write an HTML page with plots and the moving arm.
    csv
        Also write t, q, v, a as CSV at 100 Hz.
    options
        YAML file with all options of the design (`excite --print-options`); those given here
        override it.

    """

    output: Path | None = None
    duration: float | None = None
    harmonics: int | None = None
    seed: int | None = None
    time_budget: float | None = None
    good_enough: float | None = None
    margin: float | None = None
    floor: float | None = None
    payload: str | None = None
    torque: bool | None = None
    collisions: bool | None = None
    guess_inertias: bool = False
    report: Path | None = None
    csv: Path | None = None
    options: Path | None = None
    force: bool = False
    as_json: bool = False

    def read_request(self, **defaults: Any) -> excitation.DesignOptions:
        """Return the options of the design; defaults count without a file of `--options`."""
        from robot_identification import excitation
        from robot_identification.excitation.certificate.requirements import GUESSED_DENSITY

        base = (excitation.DesignOptions(**defaults) if self.options is None
                else read_options(self.options))
        requirements: excitation.Requirements = _replace_given(
            base.requirements, floor=self.floor,
            payload=None if self.payload is None else _parse_payload(self.payload),
            guess_density=GUESSED_DENSITY if self.guess_inertias else None)
        checks: dict[str, Any] = {}
        for name, on in (('torque_margin', self.torque), ('clearance', self.collisions)):
            if on is False or (on and getattr(requirements, name) is None):
                checks[name] = getattr(excitation.DEFAULT_REQUIREMENTS, name) if on else None
        return _replace_given(
            base, period=self.duration, requirements=dataclasses.replace(requirements, **checks),
            **{name: getattr(self, name)
               for name in ('harmonics', 'seed', 'time_budget', 'good_enough', 'margin')})

    def design(self, arm: Arm, request: excitation.DesignOptions, model: Path | None = None,
               validate: bool = False) -> tuple[Designs, Stopwatch, dict[str, Path]]:
        """
        Return the designed motions, the time of each stage, and the file of each motion by name.

        Parameters
        ----------
        arm, request
            The arm, and the options of the design.
        model
            Model file, which is not overwritten either.
        validate
            Whether motions for validation are designed, too.

        Raises
        ------
        ConfigurationError
            A file cannot be written.
        ExcitationError
            No motion within the limits was found.

        """
        from robot_identification import excitation
        from robot_identification.excitation.design.validation_motions import (
            design_motions,
            Stopwatch,
        )
        from robot_identification.excitation.motion.series import check_rate

        output, names = self.output, excitation.VALIDATION_MOTIONS if validate else ()
        if output is None:
            raise ConfigurationError("name the file: '--output' / '-o'")
        paths = {'': output, **{name: output.with_name(f'{output.stem}_{name}.yaml')
                                for name in names}}
        files.check_outputs((*((path, files.EXCITATION_YAML) for path in paths.values()),
                             (self.report, files.HTML_PAGE), (self.csv, files.MOTION_CSV)),
                            (*arm.files, self.options, model), force=self.force)
        if self.csv is not None:
            check_rate(CSV_RATE, request.series.harmonics, request.period)
        watch = Stopwatch(request.time_budget, cli.BEGAN)
        with console.progress(self.as_json) as progress:
            designs = design_motions(arm, request, watch, progress, validate=validate)
        return designs, watch, paths


def excite_command(
    robot: str,
    /,
    *,
    arguments: DesignArguments,
    validate: bool = False,
    print_options: bool = False,
) -> None:
    """
    Design a motion that excites all parameters within proven limits.

    Further options of the design are in a YAML file, see --print-options and docs/excitation.md.
    --payload is a load that the arm carries; `payload-motion` designs a motion to identify
    one.

    Parameters
    ----------
    validate
        Also design motions for validation.
    print_options
        Print all options of the design as a file for --options, and exit.

    """
    from robot_identification import yaml_file
    from robot_identification.arm import load_arm
    import yaml

    arm, request = load_arm(robot), arguments.read_request()
    if print_options:
        click.echo(yaml.safe_dump(yaml_file.to_plain(request), sort_keys=False), nl=False)
        return
    designs, watch, paths = arguments.design(arm, request, validate=validate)
    written = write_motions(arm, designs, paths, watch, arguments.csv, arguments.report)
    motion = designs.motions['']
    if not arguments.as_json:
        _print_summary(designs, watch, written)
        return
    console.emit({
        'excitation': str(arguments.output), 'criterion': motion.criterion, 'value': motion.value,
        'condition_number': motion.condition_number, 'seconds': motion.seconds,
        'status': motion.status, 'notes': motion.notes, 'written': written,
        'not_possible': designs.failures, 'stages': watch.stages, 'time_budget': watch.budget,
        'certificate': yaml_file.to_plain(motion.certificate.claims),
        'usage': {name: dict(zip(motion.joint_names, row))
                  for name, row in zip(QUANTITIES, motion.usage)}})


def write_motions(arm: Arm, designs: Designs, paths: Mapping[str, Path], watch: Stopwatch,
                  csv: Path | None = None, page: Path | None = None) -> list[Path]:
    """
    Write the files of a design, all files of a folder together, and return their paths.

    Parameters
    ----------
    arm, designs
        The arm, and the motions that were designed for it.
    paths
        Excitation files by name of the motion.
    watch
        Stopwatch, to which the duration of each stage is added.
    csv, page
        CSV and HTML page of the excitation; None to write none.

    """
    from robot_identification import excitation

    motion = designs.motions['']
    outputs = [*(path for name, path in paths.items() if name in designs.motions),
               *(path for path in (csv, page) if path is not None)]
    with output_folder.replace_paths(outputs) as temporary:
        for name, each in designs.motions.items():
            excitation.save_excitation(each, temporary[paths[name]])
        if csv is not None:
            excitation.save_motion_csv(motion, temporary[csv], CSV_RATE)
        watch.lap('files')
        if page is not None:
            from robot_identification.reporting.excitation_page import write_excitation_page
            write_excitation_page(arm, motion, temporary[page], designs.scene)
            watch.lap('page')
    return outputs


def read_options(path: Path) -> excitation.DesignOptions:
    """
    Return the options of a design from a file that `--print-options` printed.

    Raises
    ------
    ConfigurationError, ExcitationError
        The file cannot be read, or a value is not valid.

    """
    from robot_identification import excitation, yaml_file

    return yaml_file.read_typed(
        excitation.DesignOptions, yaml_file.read_yaml(path, 'options', ConfigurationError),
        f"the options '{path}'", ConfigurationError)


def _replace_given(base: Any, **values: Any) -> Any:
    """Return a copy of a dataclass with the given values that are not None."""
    return dataclasses.replace(base, **{
        name: value for name, value in values.items() if value is not None})


def _parse_payload(text: str) -> excitation.Payload:
    """Return the payload that the text of the option `--payload` describes."""
    from robot_identification import excitation

    try:
        mass, x, y, z, *size = map(float, text.split(','))
        box: Any = size or None
        return excitation.Payload(mass, (x, y, z), box)
    except ValueError as error:
        raise ConfigurationError(
            '--payload takes 4 numbers (mass and centre) or 7 (and the edges of a box), separated '
            f"by commas, not '{text}'") from error


def _print_summary(designs: Designs, watch: Stopwatch, written: list[Path]) -> None:
    """Print used fractions of the limits, proven claims, warnings and written files."""
    motion = designs.motions['']
    print_design(motion)
    warnings = []
    if motion.condition_number > POOR:
        warnings.append(f'with a condition number above {POOR} some parameters are poorly '
                        'identifiable: give the search more time, the motion a longer duration, '
                        'or the joints more range')
    warnings += [f'note: {note}' for note in motion.notes]
    if motion.requirements.unseen:
        warnings.append(f'{" and ".join(motion.requirements.unseen)} are not checked: watch the '
                        'first run at low speed')
    warnings += [f'not possible: {reason}' for reason in designs.failures.values()]
    console.print_lines(*warnings, *watch.excess(), style='yellow')
    console.print_lines(*(f'wrote {path}' for path in written))


def print_design(motion: excitation.Excitation) -> None:
    """Print the fraction of its limits that each joint uses, and the proven claims of a motion."""
    import numpy as np

    console.print_table(
        f'limits used over one period of {motion.period:g} s', ('joint', *QUANTITIES),
        ((joint, *('-' if not np.isfinite(value) or value == 0 else f'{value:.0%}'
                   for value in values))
         for joint, values in zip(motion.joint_names, np.transpose(motion.usage))),
        right=QUANTITIES)
    console.out.print(f'condition number {motion.condition_number:.2f}, {motion.status}, '
                      f'{motion.seconds:.0f} s')
    console.out.print('proven for all times:')
    for claim in motion.certificate.claims:
        console.out.print(f'  {claim}', markup=False, highlight=False)
