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
"""The commands validate, report and export: predict torques, write the HTML report, convert."""

from dataclasses import asdict
from pathlib import Path

from robot_identification import console, files
from robot_identification.errors import ConfigurationError
from robot_identification.output_folder import sha256


def validate_command(
    model: Path,
    recordings: list[Path],
    /,
    *,
    csv: Path | None = None,
    window: tuple[str, str] | None = None,
    processing: console.ProcessingArguments,
    topic: str | None = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """
    Predict recorded torques with a model.

    The exit code is 1 if the verdict fails, and 3 if the model is doubtful.

    Parameters
    ----------
    model : MODEL
        Model file, or the folder that identify wrote.
    recordings : RECORDING...
        Recordings to predict; the verdict covers all of them.
    csv
        CSV to write for a single recording: t, predicted torques tau_hat_JOINT, and the ends of
        their 95 % intervals, tau_low_JOINT and tau_high_JOINT.

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
        console.print_lines(f'wrote {csv}' if csv else None)
    raise SystemExit(validation.verdict.exit_code)


def report_command(
    directory: Path,
    /,
    *,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """
    Rewrite the HTML report of an identification.

    Parameters
    ----------
    directory : DIR
        Folder that identify wrote.

    """
    from robot_identification.reporting import write_report
    from robot_identification.reporting.results_files import REPORT, RESULT_FILES

    results = [directory / name for name in RESULT_FILES if name != REPORT]
    files.check_outputs([(directory / REPORT, files.HTML_PAGE)], results, force=force)
    path = write_report(directory)
    if as_json:
        console.emit({'report': str(path)})
    else:
        console.print_lines(f'wrote {path}')


def export_command(
    model: Path,
    /,
    *,
    to: str,
    output: Path = Path('.'),
    strict: bool = False,
    friction: bool = True,
    regressor: bool = False,
    derivatives: bool = False,
    float32: bool = False,
    urdf: Path | None = None,
    name: str | None = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """
    Export a model to a simulator, a controller or source code.

    The command prints each part of the model that the format cannot express, with the rms torque
    error that results.

    Parameters
    ----------
    model : MODEL
        Model file.
    to : FORMAT
        One of urdf, mjcf, sdf, json, ros2_control, c, drake, fmu, isaac, mat, python, ros2.
    output : -o
        Output folder, or path of the main file.
    strict
        Refuse a format that cannot express the full model.
    friction
        Include friction in robot descriptions (URDF, SDF, MJCF, ...), or only inertias.
    regressor
        Include the regressor in generated code (c and python).
    derivatives
        Include the derivatives of the torque by q, v and a in generated code (c and python).
    float32
        Generate code in single precision (c).
    urdf
        URDF or xacro of the same robot, used in place of the URDF in the model.
    name
        Name of the files and of generated functions; by default the arm's name.
    force
        Overwrite files that are not exports too, but never an input.

    """
    from robot_identification.arm.urdf import read_urdf
    from robot_identification.dynamics.model_file import load_model
    from robot_identification.export import export_model, ExportOptions, save_export

    text = None if urdf is None else read_urdf(urdf)[0]
    exported = export_model(load_model(model), to, ExportOptions(
        strict=strict, friction=friction, regressor=regressor, derivatives=derivatives,
        float32=float32, urdf=text, name=name))
    paths = save_export(exported, output, (model, urdf), force=force)
    if as_json:
        console.emit({'files': paths, 'notes': exported.notes,
                      'losses': [asdict(loss) for loss in exported.losses]})
        return
    console.print_lines(*(f'wrote {path}' for path in paths))
    if exported.losses:
        console.print_table(f"parts of the model that '{to}' cannot express",
                            ('joint', 'part', 'rms error', 'of the torque'),
                            ((loss.joint, loss.what, f'{loss.error:.3g} {loss.unit}',
                              f'{loss.relative:.1%}') for loss in exported.losses))
    console.print_lines(*exported.notes)
