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
"""Requests of Identify.srv: their options, the identification, and the response."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.dynamics.identified_model import DELAYED
from robot_identification.errors import ConfigurationError
from robot_identification.estimation.fit_inputs import load_limits, read_settings
from robot_identification.files import check_output_folder
from robot_identification.identification import IdentificationResult, identify
from robot_identification.recording import load_recording
from robot_identification.reporting import RESULTS
from robot_identification.reporting.results_files import MODEL, REPORT, RESULT_FILES, URDF
from robot_identification.ros.execution.data_directory import DataDirectory
from robot_identification.ros.nodes.long_work import Report
from robot_identification.validation import Thresholds, Verdict

DELAYS = {'': None, 'yes': True, 'no': False, **{kind: kind for kind in DELAYED}}


def identification_options(request: Any, arm: Arm, data: DataDirectory) -> dict[str, Any]:
    """
    Return the options of a request as keyword arguments of `identify`.

    Parameters
    ----------
    request
        Request of Identify.srv. Fields that are empty or 0 select the defaults.
    arm
        The arm.
    data
        Data directory, which contains the file with link limits.

    Raises
    ------
    ConfigurationError
        A value is unknown, or the file with link limits does not exist.

    """
    if request.delay not in DELAYS:
        raise ConfigurationError(f"delay must be 'yes', 'no', 'torques', 'positions' or empty, "
                                 f"not '{request.delay}'")
    processing: dict[str, Any] = {name: getattr(request, name) or None
                                  for name in ('cutoff', 'decimation_cutoff', 'period')}
    if request.method:
        processing['method'] = request.method
    if request.average:
        processing['average'] = True
    consistency: dict[str, Any] = {}
    if request.prior:
        consistency['distance'] = request.prior
    if request.prior_deviation:
        consistency['deviation'] = request.prior_deviation
    if request.limits:
        consistency['limits'] = load_limits(data.existing(request.limits, 'limits'), arm)
    return {'settings': read_settings(request.settings), 'delay': DELAYS[request.delay],
            'processing': processing, 'consistency': consistency}


def identify_recordings(request: Any, arm: Arm, recordings: list[Path], held_out: list[Path],
                        options: dict[str, Any], report: Report) -> IdentificationResult:
    """
    Identify the model that a request asks for, and return the result without writing files.

    Parameters
    ----------
    request, arm
        As for `identification_options`.
    recordings, held_out
        Paths of the recordings to fit, and of those to validate on.
    options
        Result of `identification_options`.
    report
        Called with the progress.

    Raises
    ------
    RobotIdentificationError
        The identification failed.

    """
    result = identify(
        arm, [load_recording(path, arm) for path in recordings], request.estimator or 'wls',
        request.friction or None, [load_recording(path, arm) for path in held_out],
        thresholds=requested_thresholds(request), progress=report, **options)
    report('writing the report', 0.9)
    return result


def check_results_folder(folder: Path, inputs: list[Path | None]) -> None:
    """Raise an error if the results would replace an input or the files of another program."""
    if any(source is not None and Path(os.path.realpath(source)) == folder for source in inputs):
        raise ConfigurationError(f"'{folder}' is an input of this request; choose another folder")
    check_output_folder(folder, RESULT_FILES, RESULTS, inputs, hint='')


def response_fields(result: IdentificationResult, folder: Path) -> dict[str, Any]:
    """Return the fields of a response: an identification's result, and the paths of its files."""
    verdict, estimate = result.verdict, result.estimate
    errors = [[held.joints[joint].relative_error for joint in result.arm.joint_names]
              for held in verdict.held_out]
    return {
        **verdict_fields(verdict), 'status': estimate.status,
        'condition_number': float(estimate.condition_number),
        'parameter_names': list(estimate.names), 'parameter_values': estimate.values.tolist(),
        'parameter_deviations': estimate.standard_deviations.tolist(),
        'joint_names': list(result.arm.joint_names),
        'joint_errors': np.fmax.reduce(errors).tolist() if errors else [],
        'model': str(folder / MODEL), 'urdf': str(folder / URDF), 'report': str(folder / REPORT)}


def verdict_fields(verdict: Verdict) -> dict[str, Any]:
    """Return the fields of a verdict that the responses of Identify and Validate share."""
    return {'passed': verdict.passed, 'doubtful': verdict.doubtful,
            'reasons': list(verdict.reasons), 'doubts': list(verdict.doubts),
            'message': verdict.sentence}


def requested_thresholds(request: Any) -> Thresholds:
    """Return the thresholds of a request; fields that are 0 select the defaults."""
    return Thresholds(request.overall_threshold or Thresholds.overall,
                      request.joint_threshold or Thresholds.joint, strict=request.strict)
