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
"""The commands validate and report: test a model on recordings, and write its HTML report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from robot_identification import console, files
from robot_identification.cli.expand_options import expand_options
from robot_identification.cli.processing import ProcessingArguments
from robot_identification.errors import ConfigurationError
from robot_identification.output_folder import sha256
import typer


@expand_options
def validate_command(
    model: Annotated[Path, typer.Argument(
        metavar='MODEL', help='Model file, or the folder that identify wrote.')],
    recordings: Annotated[list[Path], typer.Argument(
        metavar='RECORDING...', help='Recordings to predict; the verdict covers all of them.')],
    csv: Annotated[Path | None, typer.Option(
        help='CSV to write for a single recording: t, predicted torques tau_hat_JOINT, and the '
             'ends of their 95 % intervals, tau_low_JOINT and tau_high_JOINT.',
    )] = None,
    window: console.Window = None,
    *,
    processing: ProcessingArguments,
    topic: console.Topic = None,
    force: console.Force = False,
    as_json: console.AsJson = False,
) -> None:
    """
    Predict recorded torques with a model.

    The exit code is 1 if the verdict fails, and 3 if the model is doubtful.
    """
    from robot_identification.dynamics.model_file import find_model, load_model
    from robot_identification.identification import validate
    from robot_identification.recording.inputs import list_files
    from robot_identification.reporting.results_dict import verdict_to_dict
    from robot_identification.reporting.terminal_summary import verdict_summary
    from robot_identification.validation.validate_model import prediction_csv

    model = find_model(model)
    files.check_outputs([(csv, files.PREDICTION_CSV)], (model, *recordings), force=force)
    if csv is not None and len(recordings) > 1:
        raise ConfigurationError('--csv takes one recording at a time')
    thresholds = processing.thresholds
    identified = load_model(model)
    measured = [console.load_recording_verbose(path, identified.arm, window, topic)
                for item in recordings for path in list_files(item)]
    validation = validate(identified, measured, thresholds=thresholds,
                          processing=processing.to_options())
    if csv is not None:
        files.write_text(csv, prediction_csv(validation.t, validation.torque,
                                             identified.arm.joint_names,
                                             validation.half_width))
    if as_json:
        console.emit({**verdict_to_dict(identified.arm, validation.verdict),
                      'model_sha256': sha256(model)})
    else:
        console.out.print(verdict_summary(identified.arm, validation.verdict))
        if csv is not None:
            console.out.print(f'wrote {csv}', markup=False)
    raise typer.Exit(validation.verdict.exit_code)


def report_command(
    directory: Annotated[Path, typer.Argument(metavar='DIR', help='Folder that identify wrote.')],
    force: console.Force = False,
    as_json: console.AsJson = False,
) -> None:
    """Rewrite the HTML report of an identification."""
    from robot_identification.reporting import write_report
    from robot_identification.reporting.report import REPORT
    from robot_identification.reporting.results_files import RESULT_FILES

    results = [directory / name for name in RESULT_FILES if name != REPORT]
    files.check_outputs([(directory / REPORT, files.HTML_PAGE)], results, force=force)
    path = write_report(directory)
    if as_json:
        console.emit({'report': str(path)})
    else:
        console.out.print(f'wrote {path}', markup=False)
