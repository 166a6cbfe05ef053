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
"""The command identify: fits a model to recordings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

from robot_identification import files, reporting
from robot_identification.arm import Arm, load_arm, robot_files
from robot_identification.cli import console, processing
from robot_identification.cli.robot_template import parse_effort
from robot_identification.errors import ConfigurationError
from robot_identification.estimation.consistent import RELATIVE_DEVIATION
from robot_identification.estimation.link_limits import load_limits
from robot_identification.estimation.settings import read_settings
from robot_identification.excitation import load_excitation
from robot_identification.identification import identify
from robot_identification.recording.bag.bag import is_bag
from robot_identification.recording.bag.bag_description import load_arm_from_bag
from robot_identification.reporting.results_files import RESULT_FILES
from robot_identification.validation import Thresholds
import typer

Delay = Annotated[bool | None, typer.Option(
    '--delay/--no-delay', help='Estimate the delay between positions and torques; auto tries '
                               'both.')]
DelayOf = Annotated[str | None, typer.Option(
    help="What the delays shift: torques (each joint's torque against all positions, the "
         "default) or positions (each joint's position against all torques).")]
Setting = Annotated[list[str] | None, typer.Option(
    metavar='NAME=VALUE', help='Setting of the estimator, for instance objective=absolute, '
    'budget=50000, bounds=estimate or memory=30; may be repeated.')]
Limits = Annotated[Path | None, typer.Option(
    help='YAML with bounds of links: joint: {mass: [low, high], centre: [[x, y, z], [x, y, z]], '
         'ellipsoid: [centre, semi-axes]}.')]
Bootstrap = Annotated[int, typer.Option(
    min=0, help='Number of bootstrap resamples of the recordings (1000 is usual): intervals that '
                'include differences between recordings; needs five recordings or more.')]
Effort = Annotated[str | None, typer.Option(
    metavar='QUANTITY,SIDE,SIGN,GRAVITY',
    help='Meaning of effort in a bag with a URDF alone, as torque,joint,+1,gravity.')]


def identify_command(
    robot: Annotated[str, typer.Argument(
        metavar='ROBOT', help='Name of a shipped robot (see `robots`), path of a robot YAML, or a '
                              'bag with a robot_description, which is then fitted.')],
    output: Annotated[Path, typer.Option('--output', '-o', help='Folder for the results.')],
    recordings: Annotated[list[Path] | None, typer.Argument(
        metavar='[RECORDING]...',
        help='Recordings to fit: CSV, NPZ, MAT, Parquet or rosbag.')] = None,
    estimator: Annotated[str, typer.Option(
        help='See `estimators`; auto chooses by cross-validation.')] = 'wls',
    friction: Annotated[str | None, typer.Option(
        help='See `frictions`; coulomb_viscous by default, the best with auto.')] = None,
    delay: Delay = None,
    delay_of: DelayOf = None,
    setting: Setting = None,
    prior: Annotated[str, typer.Option(
        help="Distance from the URDF's inertias: metric or entropic.")] = 'metric',
    prior_deviation: Annotated[float, typer.Option(
        help="Relative standard deviation of the URDF's inertias.")] = RELATIVE_DEVIATION,
    limits: Limits = None,
    bootstrap: Bootstrap = 0,
    held_out: Annotated[list[Path] | None, typer.Option(
        help='A recording of another motion to validate on; may be repeated.')] = None,
    window: console.Window = None,
    held_out_window: console.Window = None,
    excitation: Annotated[Path | None, typer.Option(
        help='Excitation file that was executed, for the report.')] = None,
    overall: processing.Overall = Thresholds.overall,
    joint: processing.Joint = Thresholds.joint,
    cutoff: processing.Cutoff = None,
    decimation_cutoff: processing.Decimation = None,
    method: processing.Method = 'butterworth',
    period: processing.Period = None,
    harmonics: processing.Harmonics = None,
    basis: processing.Basis = None,
    smoothing_passes: processing.Passes = None,
    average: Annotated[bool, typer.Option(
        '--average', help='Fit the mean over all periods.')] = False,
    topic: console.Topic = None,
    effort: Effort = None,
    force: console.Force = False,
    as_json: console.AsJson = False,
) -> None:
    """Identify a dynamic model; exit code 1 if the verdict fails."""
    if delay_of and delay is False:
        raise ConfigurationError('--delay-of and --no-delay contradict each other')
    if held_out_window is not None and not held_out:
        raise ConfigurationError('--held-out-window needs --held-out; give both, or neither')
    thresholds = Thresholds(overall, joint)
    arm, recordings = _load_robot(robot, recordings or [], effort, topic)
    files.check_output_folder(output, RESULT_FILES, reporting.RESULTS, (
        *arm.files, *recordings, *(held_out or ()), excitation, limits), force=force)
    executed = None if excitation is None else load_excitation(excitation)
    fitted = [console.load_recording_verbose(path, arm, window, topic) for path in recordings]
    others = [console.load_recording_verbose(path, arm, held_out_window, topic)
              for path in held_out or []]
    options = processing.processing_options(cutoff, decimation_cutoff, method, period, harmonics,
                                            basis, smoothing_passes)
    if average:
        options['average'] = True
    consistency: dict[str, Any] = {'distance': prior, 'deviation': prior_deviation}
    if limits is not None:
        consistency['limits'] = load_limits(limits, arm)
    with console.progress(as_json) as report:
        result = identify(
            arm, fitted, estimator, friction, others, settings=read_settings(setting or []),
            thresholds=thresholds, processing=options, delay=delay_of or delay,
            consistency=consistency, bootstrap=bootstrap, progress=report)
        report('writing the report', 0.9)
        reporting.save_results(result, output, excitation=executed)
    if as_json:
        console.emit({**reporting.results_to_dict(result, executed), 'directory': str(output)})
    else:
        console.out.print(reporting.summary(result, output))
    raise typer.Exit(0 if result.verdict.passed else 1)


def _load_robot(robot: str, recordings: list[Path], effort: str | None,
                topic: str | None) -> tuple[Arm, list[Path]]:
    """Return the arm and the recordings; a bag with a robot_description provides both."""
    if robot in robot_files() or not os.path.exists(robot) or not is_bag(Path(robot)):
        if effort is not None:
            raise ConfigurationError('--effort is for a bag with a URDF; a robot YAML defines the '
                                     'meaning of effort')
        arm = load_arm(robot)
        if not recordings:
            raise ConfigurationError(f"name a recording of '{robot}', or a bag that describes its "
                                     'robot')
        return arm, recordings
    arm, remarks = load_arm_from_bag(
        robot, None if effort is None else parse_effort(effort), topic)
    for remark in remarks:
        console.note(remark)
    return arm, [Path(robot), *recordings]
