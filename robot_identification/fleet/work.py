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
"""What a worker does: identify one robot, and say what came out in a few kilobytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
import json
from pathlib import Path
import platform
import tempfile
import time
from typing import Any

import numpy as np
import robot_identification
from robot_identification.arm import Arm, load_arm
from robot_identification.errors import RobotIdentificationError
from robot_identification.fleet.drift import Drift, drifts
from robot_identification.fleet.plan import Job
from robot_identification.fleet.source import fetched
from robot_identification.identification import IdentificationResult, identify
from robot_identification.parallel import use_cores
from robot_identification.recording import load_recording, Recording
from robot_identification.reporting import save_results
from robot_identification.signals import process
from robot_identification.spilling_list import SpillingList
from robot_identification.validation import HeldOut, Thresholds
import scipy

BROKEN = 'broken'
FITTED, HELD_OUT = 'fitted', 'held out'


@dataclass(frozen=True)
class Parameter:
    """A standard parameter with its 95 % interval, and its deviation in a bootstrap."""

    name: str
    unit: str
    value: float
    deviation: float
    lower: float
    upper: float
    bootstrap: float | None = None


@dataclass(frozen=True)
class Part:
    """What became of one recording: 'fitted', 'held out' or 'broken' with a sentence."""

    source: str
    state: str
    sentence: str = ''
    seconds: float = float('nan')
    rate: float = float('nan')
    error: float = float('nan')


@dataclass(frozen=True)
class Outcome:
    """
    What came out for one robot.

    Parameters
    ----------
    name, arm
        Name of the robot in the fleet, and its arm.
    state
        'passed', 'failed', 'not validated', or 'broken' where there is no model.
    sentence
        The verdict or the error.
    error
        Relative torque error: of the worst held-out recording, else of the worst fitted one.
    parts, parameters, drift
        Recordings with their errors, parameters of the model, and what drifts.
    versions
        Versions of the programs that computed it, as JSON.
    seconds, processor
        Time by the clock and of the processor [s].
    files
        Names and contents of the folder of results.

    """

    name: str
    arm: str
    state: str
    sentence: str
    error: float = float('nan')
    parts: tuple[Part, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    drift: tuple[Drift, ...] = ()
    versions: str = ''
    seconds: float = 0.0
    processor: float = 0.0
    files: dict[str, bytes] = field(default_factory=dict)


def versions() -> str:
    """Return the versions that decide about digits, as JSON."""
    return json.dumps({'robot_identification': robot_identification.__version__,
                       'python': platform.python_version(), 'numpy': np.__version__,
                       'scipy': scipy.__version__, 'machine': platform.machine()})


def identify_robot(job: Job) -> Outcome:
    """
    Identify one robot on one core, as `identify` does.

    A recording that cannot be used is left out and said; so is a robot without any that can. On
    one core sums have one order, so that no digit depends on the machine's load, on who died, or
    on how many workers there are.

    Parameters
    ----------
    job
        The robot's work.

    """
    use_cores(1)
    began, busy = time.perf_counter(), time.process_time()
    try:
        outcome = _identify(job)
    except RobotIdentificationError as error:
        outcome = Outcome(job.name, job.robot, BROKEN, str(error))
    except Exception as error:    # the rest of the fleet goes on
        outcome = Outcome(job.name, job.robot, BROKEN,
                          f'a defect of robot-identification: {type(error).__name__}: {error}')
    return replace(outcome, versions=versions(), seconds=time.perf_counter() - began,
                   processor=time.process_time() - busy)


def _identify(job: Job) -> Outcome:
    arm = load_arm(job.robot)
    options = dict(job.settings)
    options['thresholds'] = Thresholds(**options.get('thresholds', {}))
    fitted, broken = _load(job.recordings, arm)
    held_out, also = _load(job.held_out, arm)
    broken += also
    try:
        result = _of(arm, fitted, held_out, options)
    except RobotIdentificationError as error:
        processing = options.get('processing', {})
        fitted, unusable = _usable(fitted, arm, processing, False)
        held_out, also = _usable(held_out, arm, processing, True)
        broken += unusable + also
        if not unusable + also and fitted.sources:
            return Outcome(job.name, arm.name, BROKEN, str(error), parts=tuple(broken))
        if not fitted.sources:
            return Outcome(job.name, arm.name, BROKEN, 'no recording can be used: '
                           + broken[0].sentence, parts=tuple(broken))
        result = _of(arm, fitted, held_out, options)
    return _outcome(job, arm, result, fitted, held_out, broken)


@dataclass(frozen=True)
class _Loaded:
    """Recordings and where they came from."""

    sources: tuple[str, ...]
    recordings: Sequence[Recording]

    def parts(self, state: str, errors: Sequence[HeldOut]) -> list[Part]:
        """Return what became of each of them."""
        return [Part(source, state, '', recording.duration, recording.rate, error.relative_error)
                for source, recording, error in zip(
                    self.sources, self.recordings, errors, strict=True)]


def _of(arm: Arm, fitted: _Loaded, held_out: _Loaded,
        options: dict[str, Any]) -> IdentificationResult:
    return identify(arm, fitted.recordings, held_out=held_out.recordings, **options)


def _load(sources: tuple[str, ...], arm: Arm) -> tuple[_Loaded, list[Part]]:
    """Return the recordings that can be read, and what is wrong with the others."""
    good, recordings, broken = [], SpillingList(), []
    for source in sources:
        try:
            with fetched(source) as path:
                recording = load_recording(path, arm)
        except (RobotIdentificationError, OSError) as error:
            broken.append(Part(source, BROKEN, str(error)))
            continue
        recordings.append(replace(recording, name=source) if '://' in source else recording)
        good.append(source)
    return _Loaded(tuple(good), recordings), broken


def _usable(loaded: _Loaded, arm: Arm, processing: dict[str, Any],
            still: bool) -> tuple[_Loaded, list[Part]]:
    """Return the recordings that can be processed, and what is wrong with the others."""
    good, recordings, broken = [], SpillingList(), []
    for source, recording in zip(loaded.sources, loaded.recordings, strict=True):
        try:
            process(recording, arm, still_joints=still, **processing)
        except RobotIdentificationError as error:
            broken.append(Part(source, BROKEN, str(error)))
            continue
        recordings.append(recording)
        good.append(source)
    return _Loaded(tuple(good), recordings), broken


def _outcome(job: Job, arm: Arm, result: IdentificationResult, fitted: _Loaded,
             held_out: _Loaded, broken: list[Part]) -> Outcome:
    parts = [*fitted.parts(FITTED, result.fitted),
             *held_out.parts(HELD_OUT, result.verdict.held_out)]
    state = HELD_OUT if held_out.sources else FITTED
    judged = [part.error for part in parts if part.state == state]
    consistent = result.consistent
    deviations = np.sqrt(np.diag(consistent.covariance))
    structure = consistent.structure
    drawn: list[float | None] = ([None] * structure.count if result.bootstrap is None
                                 else result.bootstrap.standard.tolist())
    parameters = tuple(
        Parameter(name, unit, float(value), float(std), float(value - 1.96 * std),
                  float(value + 1.96 * std), each)
        for name, unit, value, std, each in zip(structure.names, structure.units,
                                                consistent.values, deviations, drawn))
    with tempfile.TemporaryDirectory() as folder:
        save_results(result, Path(folder) / job.name)
        files = {path.name: path.read_bytes() for path in (Path(folder) / job.name).iterdir()}
    return Outcome(job.name, arm.name, result.verdict.status, result.verdict.sentence,
                   max(judged, default=float('nan')), (*parts, *broken), parameters,
                   tuple(drifts(result)), files=files)
