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
from typing import Any, TYPE_CHECKING

from robot_identification import console, files
from robot_identification.errors import ConfigurationError

if TYPE_CHECKING:
    from robot_identification.arm import Arm


def identify_command(
    robot: str,
    recordings: list[Path] | None = None,
    /,
    *,
    output: Path | None = None,
    estimator: str = 'wls',
    friction: str | None = None,
    delay: bool | None = None,
    delay_of: str | None = None,
    setting: list[str] | None = None,
    prior: str = 'metric',
    prior_deviation: float | None = None,
    limits: Path | None = None,
    residual: str = '',
    held_out: list[Path] | None = None,
    window: tuple[str, str] | None = None,
    held_out_window: tuple[str, str] | None = None,
    excitation: Path | None = None,
    processing: console.ProcessingArguments,
    average: bool = False,
    topic: str | None = None,
    effort: str | None = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """
    Identify a dynamic model from recordings.

    The exit code is 1 if the verdict fails, and 3 if the model is doubtful.

    Parameters
    ----------
    robot : ROBOT
        Name of a shipped robot (see `robots`), path of a robot YAML, or a rosbag with a
        robot_description, which is then also a recording to fit.
    recordings : [RECORDING]...
        Recordings to fit (CSV, NPZ, MAT, Parquet or rosbag), or folders of such files.
    output : -o
        Output folder for the results; without it, they are only printed.
    estimator
        One of `estimators`, your own FILE.py:CLASS, or auto (cross-validation).
    friction
        Friction model (see `frictions`); by default coulomb_viscous, or with auto the one that
        predicts best.
    delay
        Estimate the delay between positions and torques; by default off, or with auto whichever
        predicts better.
    delay_of
        Signal that the delay of a joint shifts: torques (its torque against all positions, the
        default) or positions (its position against all torques).
    setting : NAME=VALUE
        Setting of the estimator, for instance objective=absolute, budget=50000, bounds=estimate or
        memory=30; may be repeated.
    prior
        Distance of the inertias from those of the URDF: metric or entropic.
    prior_deviation
        Relative standard deviation of the URDF's inertias; by default 0.3.
    limits
        YAML file with bounds of links, in the form joint: {mass: [low, high], centre: [[x, y, z],
        [x, y, z]], ellipsoid: [centre, semi-axes]}.
    residual
        Part added to the physics of joints that it helps: gp, a Gaussian process.
    held_out
        A recording of another motion to validate on; may be repeated.
    held_out_window : FIRST LAST
        Part of each held-out recording to use, as --window.
    excitation
        Excitation file of the executed motion, for the report.
    average
        Fit the mean over all periods of the motion.
    effort : EFFORT
        Effort in a bag without robot YAML: quantity, side, sign and gravity, such as
        torque,joint,+1,gravity

    """
    from robot_identification import reporting
    from robot_identification.estimation.fit_inputs import load_limits, read_settings
    from robot_identification.identification import identify
    from robot_identification.recording.inputs import list_files
    from robot_identification.reporting.results_files import RESULT_FILES
    from robot_identification.reporting.terminal_summary import summary

    if delay_of and delay is False:
        raise ConfigurationError('--delay-of and --no-delay contradict each other')
    if held_out_window is not None and not held_out:
        raise ConfigurationError('--held-out-window needs --held-out; give both, or neither')
    arm, recordings = _load_robot(robot, recordings or [], effort, topic)
    if output is not None:
        files.check_output_folder(output, RESULT_FILES, reporting.RESULTS, (
            *arm.files, *recordings, *(held_out or ()), excitation, limits), force=force)
    executed = None
    if excitation is not None:
        from robot_identification.excitation import load_excitation
        executed = load_excitation(excitation)
    fitted, others = ([console.load_recording_verbose(path, arm, part, topic)
                       for item in paths for path in list_files(item)]
                      for paths, part in ((recordings, window), (held_out or [], held_out_window)))
    consistency: dict[str, Any] = {'distance': prior}
    if prior_deviation is not None:
        consistency['deviation'] = prior_deviation
    if limits is not None:
        consistency['limits'] = load_limits(limits, arm)
    with console.progress(as_json) as report:
        result = identify(
            arm, fitted, estimator, friction, others, settings=read_settings(setting or []),
            thresholds=processing.thresholds,
            processing={**processing.to_options(), 'average': average},
            delay=delay_of or delay, consistency=consistency, residual=residual,
            progress=report)
        if output is not None:
            report('writing the report', 0.9)
            reporting.save_results(result, output, excitation=executed)
    if as_json:
        console.emit({**reporting.results_to_dict(result, executed),
                      'directory': output and str(output)})
    else:
        console.out.print(summary(result, output))
    if output is None:
        console.note('nothing was saved: -o FOLDER keeps model, URDF and report')
    raise SystemExit(result.verdict.exit_code)


def _load_robot(robot: str, recordings: list[Path], effort: str | None,
                topic: str | None) -> tuple[Arm, list[Path]]:
    """Return the arm and the recordings; a bag with a robot_description provides both."""
    from robot_identification.arm import load_arm, robot_files
    from robot_identification.arm.robot_template import parse_effort
    from robot_identification.recording.bag.bag import is_bag
    from robot_identification.recording.bag.bag_description import load_arm_from_bag

    if robot in robot_files() or not os.path.exists(robot) or not is_bag(Path(robot)):
        if effort is not None:
            raise ConfigurationError('--effort is for a bag with a URDF; a robot YAML defines the '
                                     'meaning of effort')
        arm = load_arm(robot)
        if not recordings:
            raise ConfigurationError(f"name a recording of '{robot}', or a bag with a "
                                     'robot_description')
        return arm, recordings
    arm, remarks = load_arm_from_bag(
        robot, None if effort is None else parse_effort(effort), topic)
    for remark in remarks:
        console.note(remark)
    return arm, [Path(robot), *recordings]
