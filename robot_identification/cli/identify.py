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
"""The commands that identify and validate models: identify, validate and report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

from robot_identification.arm import Arm, load_arm, robot_files
from robot_identification.arm.template import parse_effort
from robot_identification.cli.console import (
    AsJson,
    emit,
    Force,
    load_recording_verbose,
    note,
    out,
    progress,
)
from robot_identification.dynamics import load_model
from robot_identification.errors import ConfigurationError, ModelFileError
from robot_identification.estimation.consistent import RELATIVE_DEVIATION
from robot_identification.estimation.link_limits import load_limits
from robot_identification.estimation.settings import read_settings
from robot_identification.excitation import load_excitation
from robot_identification.files import (
    check_output_folder,
    check_outputs,
    HTML_PAGE,
    PREDICTION_CSV,
    write_text,
)
from robot_identification.identification import identify as run_identification
from robot_identification.identification import validate as run_validation
from robot_identification.recording.bag.bag import is_bag
from robot_identification.recording.bag.bag_description import load_arm_from_bag
from robot_identification.reporting import (
    RESULTS,
    results_to_dict,
    save_results,
    summary,
    write_report,
)
from robot_identification.reporting.report import REPORT
from robot_identification.reporting.results_dict import verdict_to_dict
from robot_identification.reporting.results_files import RESULT_FILES
from robot_identification.reporting.summary import verdict_summary
from robot_identification.signals.differentiation import PERIODIC_METHODS
from robot_identification.validation import Thresholds
from robot_identification.validation.predict import prediction_csv
import typer

Window = Annotated[tuple[str, str] | None, typer.Option(
    metavar='FIRST LAST', help='Use only this part of a recording: seconds from its first stamp, '
                               'as 2s 10s or 2.0 10.0; whole numbers are samples.')]
Overall = Annotated[float, typer.Option(
    help='Largest relative torque error of all joints together that passes.')]
Joint = Annotated[float, typer.Option(
    help='Largest relative torque error of a joint that passes.')]
Cutoff = Annotated[float | None, typer.Option(
    help='Cut-off of the position filter [Hz]; chosen from the data when not given.')]
Decimation = Annotated[float | None, typer.Option(
    help='Cut-off of the parallel decimation [Hz]; chosen from the data when not given.')]
Method = Annotated[str, typer.Option(
    help='How velocities are made: butterworth, smoothing, fourier or spectral.')]
Harmonics = Annotated[int | None, typer.Option(
    help='Harmonics of 1/period that the methods fourier and spectral keep; those below the '
    'cut-off when not given.')]
Basis = Annotated[str | None, typer.Option(
    help='Series that the method fourier fits: ffs, or mfs (with a quintic); ffs when not given.')]
Passes = Annotated[int | None, typer.Option(
    '--smoothing-passes', help='Passes of the method smoothing (five-point cubic); from the '
    'cut-off when not given.')]
Period = Annotated[float | None, typer.Option(
    help='Period of the motion [s]; found in the data when not given.')]

Topic = Annotated[str | None, typer.Option(
    help='Topic of the joint states, in bags with several.')]


def identify(
    robot: Annotated[str, typer.Argument(
        metavar='ROBOT', help='Name of a shipped robot (see `robots`), path of a robot YAML, or a '
                              'bag that describes its robot, which is fitted then.')],
    output: Annotated[Path, typer.Option('--output', '-o', help='Folder for the results.')],
    recordings: Annotated[list[Path] | None, typer.Argument(
        metavar='[RECORDING]...',
        help='Recordings to fit: CSV, NPZ, MAT, Parquet or rosbag.')] = None,
    estimator: Annotated[str, typer.Option(
        help='See `estimators`; auto chooses by cross-validation.')] = 'wls',
    friction: Annotated[str | None, typer.Option(
        help='See `frictions`; coulomb_viscous when not given, and with auto the best.')] = None,
    delay: Annotated[bool | None, typer.Option(
        '--delay/--no-delay', help='Estimate how much positions lag torques; with auto both are '
                                   'tried.')] = None,
    delay_of: Annotated[str | None, typer.Option(
        help="What is moved by the delays: torques (each joint's torque against all positions, "
             "the default) or positions (each joint's position against all torques).")] = None,
    setting: Annotated[list[str] | None, typer.Option(
        metavar='NAME=VALUE', help='Setting of the estimator, for instance objective=absolute, '
        'budget=50000, bounds=estimate or memory=30; may be repeated.')] = None,
    prior: Annotated[str, typer.Option(
        help="Distance from the URDF's inertias: metric or entropic.")] = 'metric',
    prior_deviation: Annotated[float, typer.Option(
        help="How far from the URDF's inertias links may be, relative.")] = RELATIVE_DEVIATION,
    limits: Annotated[Path | None, typer.Option(
        help='YAML of what is known of links: joint: {mass: [low, high], centre: [[x, y, z], [x, '
             'y, z]], ellipsoid: [centre, semi-axes]}.')] = None,
    bootstrap: Annotated[int, typer.Option(
        min=0, help='Draw the recordings with replacement and fit them again, so often: intervals '
                    'that know how recordings differ; 1000 are usual, five recordings the '
                    'least.')] = 0,
    held_out: Annotated[list[Path] | None, typer.Option(
        help='A recording of another motion to validate on; may be repeated.')] = None,
    window: Window = None,
    held_out_window: Window = None,
    excitation: Annotated[Path | None, typer.Option(
        help='Excitation file that was executed, for the report.')] = None,
    overall: Overall = Thresholds.overall,
    joint: Joint = Thresholds.joint,
    cutoff: Cutoff = None,
    decimation_cutoff: Decimation = None,
    method: Method = 'butterworth',
    period: Period = None,
    harmonics: Harmonics = None,
    basis: Basis = None,
    smoothing_passes: Passes = None,
    average: Annotated[bool, typer.Option(
        '--average', help='Fit the mean over all periods.')] = False,
    topic: Topic = None,
    effort: Annotated[str | None, typer.Option(
        metavar='QUANTITY,SIDE,SIGN,GRAVITY',
        help='What effort means in a bag with a URDF alone, as torque,joint,+1,gravity.')] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Identify a dynamic model from recordings; exit code 1 when the verdict is negative."""
    if delay_of and delay is False:
        raise ConfigurationError('--delay-of and --no-delay contradict each other')
    if held_out_window is not None and not held_out:
        raise ConfigurationError('--held-out-window is of the recordings that --held-out names; '
                                 'give one, or leave it out')
    thresholds = Thresholds(overall, joint)
    arm, recordings = _described(robot, recordings or [], effort, topic)
    check_output_folder(output, RESULT_FILES, RESULTS, (
        *arm.files, *recordings, *(held_out or ()), excitation, limits), force=force)
    executed = None if excitation is None else load_excitation(excitation)
    fitted = [load_recording_verbose(path, arm, window, topic) for path in recordings]
    others = [load_recording_verbose(path, arm, held_out_window, topic) for path in held_out or []]
    processing = _processing(cutoff, decimation_cutoff, method, period, harmonics, basis,
                             smoothing_passes)
    if average:
        processing['average'] = True
    consistency: dict[str, Any] = {'distance': prior, 'deviation': prior_deviation}
    if limits is not None:
        consistency['limits'] = load_limits(limits, arm)
    with progress(as_json) as tell:
        result = run_identification(
            arm, fitted, estimator, friction, others, settings=read_settings(setting or []),
            thresholds=thresholds, processing=processing, delay=delay_of or delay,
            consistency=consistency, bootstrap=bootstrap, progress=tell)
        tell('writing the report', 0.9)
        save_results(result, output, excitation=executed)
    if as_json:
        emit({**results_to_dict(result, executed), 'directory': str(output)})
    else:
        out.print(summary(result, output))
    raise typer.Exit(0 if result.verdict.passed else 1)


def _described(robot: str, recordings: list[Path], effort: str | None,
               topic: str | None) -> tuple[Arm, list[Path]]:
    """Return the arm and what is fitted: a bag that describes its robot may stand for both."""
    if robot in robot_files() or not os.path.exists(robot) or not is_bag(Path(robot)):
        if effort is not None:
            raise ConfigurationError('--effort is for a bag with a URDF; a robot YAML says itself '
                                     'what effort means')
        arm = load_arm(robot)
        if not recordings:
            raise ConfigurationError(f"name a recording of '{robot}', or a bag that describes its "
                                     'robot')
        return arm, recordings
    arm, remarks = load_arm_from_bag(
        robot, None if effort is None else parse_effort(effort), topic)
    for remark in remarks:
        note(remark)
    return arm, [Path(robot), *recordings]


def validate(
    model: Annotated[Path, typer.Argument(metavar='MODEL', help='Model file.')],
    recordings: Annotated[list[Path], typer.Argument(
        metavar='RECORDING...', help='Recordings; the verdict is over all.')],
    csv: Annotated[Path | None, typer.Option(
        help='Write t and tau_hat_<joint> at the stamps of the one recording.')] = None,
    window: Window = None,
    overall: Overall = Thresholds.overall,
    joint: Joint = Thresholds.joint,
    cutoff: Cutoff = None,
    decimation_cutoff: Decimation = None,
    method: Method = 'butterworth',
    period: Period = None,
    harmonics: Harmonics = None,
    basis: Basis = None,
    smoothing_passes: Passes = None,
    topic: Topic = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Predict the torques of recordings; exit code 1 when the errors exceed the thresholds."""
    thresholds = Thresholds(overall, joint)
    check_outputs([(csv, PREDICTION_CSV)], (model, *recordings), force=force)
    if csv is not None and len(recordings) > 1:
        raise ConfigurationError('--csv is of one recording; give one at a time')
    identified = load_model(model)
    measured = [load_recording_verbose(path, identified.arm, window, topic) for path in recordings]
    validation = run_validation(
        identified, measured, thresholds=thresholds,
        processing=_processing(cutoff, decimation_cutoff, method, period, harmonics, basis,
                               smoothing_passes))
    if csv is not None:
        write_text(csv, prediction_csv(validation.t, validation.torque,
                                       identified.arm.joint_names))
    if as_json:
        emit(verdict_to_dict(identified.arm, validation.verdict))
    else:
        out.print(verdict_summary(identified.arm, validation.verdict))
        if csv is not None:
            out.print(f'wrote {csv}', markup=False)
    raise typer.Exit(0 if validation.verdict.passed else 1)


def report(
    directory: Annotated[Path, typer.Argument(metavar='DIR', help='Folder that identify wrote.')],
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write the HTML report of an identification anew."""
    results = [directory / name for name in RESULT_FILES if name != REPORT]
    check_outputs([(directory / REPORT, HTML_PAGE)], results, force=force)
    try:
        path = write_report(directory)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise ModelFileError(f"the results in '{directory}' are damaged ({error!r}); identify "
                             f'again with -o {directory}') from error
    if as_json:
        emit({'report': str(path)})
    else:
        out.print(f'wrote {path}', markup=False)


def _processing(cutoff: float | None, decimation_cutoff: float | None, method: str,
                period: float | None, harmonics: int | None, basis: str | None,
                passes: int | None) -> dict[str, Any]:
    """Return the options of `process`, and refuse those that its method does not use."""
    for option, value, methods in (('--harmonics', harmonics, PERIODIC_METHODS),
                                   ('--basis', basis, ('fourier',)),
                                   ('--smoothing-passes', passes, ('smoothing',))):
        if value is not None and method not in methods:
            raise ConfigurationError(
                f"{option} is used by the method {' and '.join(methods)}, not by '{method}'; "
                f'add --method {methods[0]}')
        if isinstance(value, int) and value < 1:
            raise ConfigurationError(f'{option} must be 1 or more, not {value}')
    given: dict[str, Any] = {'harmonics': harmonics, 'basis': basis, 'smoothing_passes': passes}
    return {'cutoff': cutoff, 'decimation_cutoff': decimation_cutoff, 'method': method,
            'period': period, **{key: value for key, value in given.items() if value is not None}}
