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
"""The command `servos`, for arms driven by position servos that measure no torque."""

from collections.abc import Sequence
import json
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification import console, output_folder
from robot_identification.arm import load_arm
from robot_identification.errors import ConfigurationError
from robot_identification.export import export_model, ExportOptions
from robot_identification.files import check_output_folder
from robot_identification.reporting.results_dict import plain
from robot_identification.servos import identify_servos, ServoRecording, ServoResult
from robot_identification.servos.page import PREDICTIONS, servo_page
from robot_identification.servos.parameters import PARAMETERS
from robot_identification.servos.result import BETTER, PLAIN

STYLES = {'passed': 'bold green', 'failed': 'bold red', 'not validated': 'bold black on yellow'}
MODEL, MJCF, RESULT, PAGE = 'model.yaml', 'servos.xml', 'servos.json', 'servos.html'


def servos_command(
    robot: str,
    recordings: list[Path],
    /,
    *,
    output: Path,
    held_out: list[Path] | None = None,
    window: tuple[str, str] | None = None,
    topic: str | None = None,
    force: bool = False,
    as_json: bool = False,
    gain: list[str] | None = None,
    payload: list[str] | None = None,
) -> None:
    """
    Identify position servos without torque measurements.

    Parameters
    ----------
    recordings : RECORDING...
        Recordings with commanded positions (command_JOINT, or `recording: {command: ...}` in the
        robot YAML).
    output : -o
        Output folder.
    held_out
        A recording of another motion to validate on; may be repeated.
    gain : FILE=FACTOR
        Position gain of the servos in a recording, divided by that for which kp is identified; may
        be repeated.
    payload : FILE=MASS[,X,Y,Z]
        Mass [kg] that the last link carried in a recording, and its centre in the frame of the
        last joint [m]; may be repeated.

    """
    arm = load_arm(robot)
    check_output_folder(output, (MODEL, MJCF, RESULT, PAGE), RESULT,
                        (*arm.files, *recordings, *(held_out or ())), force=force)
    settings = _settings([*recordings, *(held_out or ())], gain or (), payload or ())
    load = console.load_recording_verbose
    fitted = [ServoRecording(load(path, arm, window, topic), *settings[path])
              for path in recordings]
    others = [ServoRecording(load(path, arm, None, topic), *settings[path])
              for path in held_out or ()]
    with console.progress(as_json) as report:
        result = identify_servos(arm, fitted, others, report)
    content = save_servos(result, output, others or fitted)
    if as_json:
        console.emit({**content, 'directory': str(output)})
    else:
        _print_servos(result, output)
    raise SystemExit(0 if result.status == 'passed' else 1)


def _settings(paths: Sequence[Path], gains: Sequence[str], payloads: Sequence[str]
              ) -> dict[Path, tuple[float, float, tuple[float, float, float]]]:
    """Return gain, mass and its centre for each recording from the options of the command."""
    def numbers(option: str, texts: Sequence[str], counts: tuple[int, ...]) -> dict[Path, Any]:
        found = {}
        for text in texts:
            name, _, values = text.rpartition('=')
            try:
                found[Path(name)] = [float(value) for value in values.split(',')]
            except ValueError:
                found[Path(name)] = []
            if Path(name) not in paths or len(found[Path(name)]) not in counts:
                raise ConfigurationError(
                    f"{option} takes a recording of this command, '=' and "
                    f"{' or '.join(map(str, counts))} numbers, not '{text}'")
        return found
    factors, masses = numbers('--gain', gains, (1,)), numbers('--payload', payloads, (1, 4))
    return {path: (factors.get(path, [1.0])[0], masses.get(path, [0.0])[0],
                   tuple(masses.get(path, [0.0])[1:]) or (0.0, 0.0, 0.0)) for path in paths}


def save_servos(result: ServoResult, output: Path,
                shown: Sequence[ServoRecording] = ()) -> dict[str, Any]:
    """
    Write model, MuJoCo servos, results and page into a folder; return the content of servos.json.

    Parameters
    ----------
    result
        Identified servos.
    output
        The folder.
    shown
        Recordings whose measured and predicted positions the page shows.

    """
    content, model = result.to_dict(), result.model.to_identified_model()
    exported = export_model(model, 'mjcf', ExportOptions())
    page = servo_page(result, shown)
    with output_folder.replace_files(output) as folder:
        model.save(folder / MODEL)
        (folder / MJCF).write_text(str(next(iter(exported.files.values()))), encoding='utf-8')
        (folder / PAGE).write_text(page, encoding='utf-8')
        content['files'] = {name: output_folder.sha256(folder / name) for name in (MODEL, MJCF)}
        (folder / RESULT).write_text(
            json.dumps(plain(content), indent=1, allow_nan=False) + '\n', encoding='utf-8')
    return content


def _print_servos(result: ServoResult, output: Path) -> None:
    """Print identified servos, what is not determined, their errors and the verdict."""
    arm = result.model.arm
    factors = np.where(arm.prismatic, 1e3, 180 / np.pi)
    shown = ('kp', 'damping', 'armature', 'friction', 'limit', 'speed', 'friction/kp')
    present = [parameter.name for parameter in PARAMETERS[len(shown) - 1:]
               if np.any(result.values(parameter.name) != parameter.absent)]
    for title, names in (('servos', shown), ('further effects', present)):
        if names:
            console.print_table(
                f'{title} (95 % intervals), SI units', ('joint', *names),
                ((joint, *(_interval(result, name, i) for name in names))
                 for i, joint in enumerate(arm.joint_names)))
    console.out.print(f'delay {1e3 * result.model.delay:.1f} ms; the masses of the URDF set the '
                      'scale of all torques', markup=False)
    for reason in result.undetermined:
        console.out.print(f'not determined: {reason}', style='yellow', markup=False)
    console.print_table(
        'rms position errors of the joints that moved, deg or mm',
        ('recording', 'run length', 'identified', 'command', 'delayed command', 'nominal servos'),
        ((e.name, f'{e.horizon:g} s', *(
            f'{e.rms(prediction, factors):.3g}' if e.moved.any() else '-'
            for prediction in PREDICTIONS))
         for e in result.held_out))
    for reason in result.beyond:
        console.out.print(f'beyond the fitted range: {reason}', style='yellow', markup=False)
    console.out.print(result.status.upper(), style=STYLES[result.status])
    worst = max((e.ratio for e in result.held_out), default=float('nan'))
    console.out.print(
        result.message or f'position error: {worst:.1%} of the error of the best prediction '
        f'without identification (limit {BETTER:.0%})'
        + ('' if result.validated else '; computed on the fitted motion: provide another one with '
           '--held-out'), markup=False)
    console.out.print(f'wrote {output}: {MODEL} for `export`, {MJCF} for MuJoCo, {RESULT}, {PAGE}',
                      markup=False)


def _interval(result: ServoResult, name: str, i: int) -> str:
    value, deviation = result.values(name)[i], result.deviations[name][i]
    if np.isfinite(result.model.tracking[i]):
        return 'delayed command'
    if not np.isfinite(value):
        return f'above {result.reached[i]:.2g}' if name == 'limit' else 'unlimited'
    if name in PLAIN and not np.isfinite(deviation):
        return 'none'
    low, high = (end[i] for end in result.interval(name))
    clear = high - low < 2 * max(abs(low), abs(high)) if name in PLAIN else high < 10 * low
    return f'{value:.3g} ({low:.3g} to {high:.3g})' if clear else f'{value:.2g} (?)'
