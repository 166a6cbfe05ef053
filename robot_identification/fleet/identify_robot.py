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
"""Identification of one robot of a fleet, the task of a worker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from html import escape
import json
from pathlib import Path
import platform
import tempfile
import time

import numpy as np
from robot_identification.arm import Arm, load_arm
from robot_identification.errors import RobotIdentificationError
from robot_identification.fleet.drift import estimate_drift
from robot_identification.fleet.fleet_file import RobotTask
from robot_identification.fleet.recording_sources import fetch
from robot_identification.fleet.robot_result import (
    BROKEN,
    FITTED,
    HELD_OUT,
    ParameterResult,
    RecordingResult,
    RobotResult,
)
from robot_identification.parallel import use_cores
from robot_identification.pipeline import Identification, IdentificationOptions, run_identification
from robot_identification.recording import load_recording
from robot_identification.reporting import save_results
from robot_identification.reporting.results_dict import software_versions
from robot_identification.signals import process
from robot_identification.spilling_list import SpillingList
from robot_identification.validation import HeldOut
import scipy

BUG = 'a bug in robot-identification'


@dataclass(frozen=True)
class UsableRecordings:
    """
    Usable recordings of a robot, and the errors of the others.

    Parameters
    ----------
    sources
        Paths or URLs of the usable recordings.
    recordings
        The usable recordings.
    broken
        Results of the recordings that cannot be used, with the reasons.

    """

    sources: list[str]
    recordings: SpillingList
    broken: list[RecordingResult]

    @classmethod
    def load(cls, sources: Sequence[str], arm: Arm) -> UsableRecordings:
        """Load the recordings at paths or URLs and record the errors of unreadable ones."""
        loaded = cls([], SpillingList(), [])
        for source in sources:
            with loaded._record_error(source), fetch(source) as path:
                recording = load_recording(path, arm)
                loaded.recordings.append(
                    replace(recording, name=source) if '://' in source else recording)
                loaded.sources.append(source)
        return loaded

    def processable(self, arm: Arm, options: IdentificationOptions) -> UsableRecordings:
        """
        Return the recordings that pass signal processing; the others are added to `broken`.

        Parameters
        ----------
        arm
            The arm.
        options
            Identification options, which include those of the signal processing.

        """
        usable = UsableRecordings([], SpillingList(), list(self.broken))
        for source, recording in zip(self.sources, self.recordings, strict=True):
            with usable._record_error(source):
                process(recording, arm, **options.processing)
                usable.recordings.append(recording)
                usable.sources.append(source)
        return usable

    @contextmanager
    def _record_error(self, source: str) -> Iterator[None]:
        """Add a recording to `broken` if it raises an error in this block."""
        try:
            yield
        except (RobotIdentificationError, OSError) as error:
            self.broken.append(RecordingResult(source, BROKEN, str(error)))

    def results(self, state: str, errors: Sequence[HeldOut]) -> list[RecordingResult]:
        """Return a result with the given state and torque error for each usable recording."""
        return [RecordingResult(source, state, '', recording.duration, recording.rate,
                                _finite_or_none(error.relative_error))
                for source, recording, error in zip(
                    self.sources, self.recordings, errors, strict=True)]


def identify_robot(task: RobotTask) -> RobotResult:
    """
    Identify one robot and return its results.

    The computation runs on one core, so sums are taken in a fixed order. Results therefore do not
    depend on the number of workers or the load of the machine, and equal those of `identify` on
    one core. Recordings that cannot be used are left out; the result lists them with the reason.
    No error is raised for a robot that cannot be identified; its state is 'broken'.

    Parameters
    ----------
    task
        The robot with its recordings and settings.

    """
    use_cores(1)
    start, processor_start = time.perf_counter(), time.process_time()
    try:
        result = _identify(task)
    except RobotIdentificationError as error:
        result = RobotResult(task.name, task.robot, BROKEN, str(error))
    except Exception as error:    # one robot must not stop the rest of the fleet
        result = RobotResult(task.name, task.robot, BROKEN,
                             f'{BUG}: {type(error).__name__}: {error}')
    versions = {**software_versions(), 'scipy': scipy.__version__, 'machine': platform.machine()}
    return replace(result, versions=json.dumps(versions), settings=task.settings_text,
                   seconds=time.perf_counter() - start,
                   processor_seconds=time.process_time() - processor_start)


def _identify(task: RobotTask) -> RobotResult:
    arm, options = load_arm(task.robot), task.options
    fitted = UsableRecordings.load(task.recordings, arm)
    held_out = UsableRecordings.load(task.held_out, arm)
    try:
        result = run_identification(arm, fitted.recordings, held_out.recordings, options)
    except RobotIdentificationError as error:    # try again without unusable recordings
        known = len(fitted.broken) + len(held_out.broken)
        fitted = fitted.processable(arm, options)
        held_out = held_out.processable(arm, options)
        broken = (*fitted.broken, *held_out.broken)
        if not fitted.sources or len(broken) == known:
            return RobotResult(
                task.name, arm.name, BROKEN, str(error) if fitted.sources else
                f'no recording can be used: {broken[0].sentence}', recordings=broken)
        result = run_identification(arm, fitted.recordings, held_out.recordings, options)
    return _summarise(task, result, fitted, held_out)


def _summarise(task: RobotTask, result: Identification, fitted: UsableRecordings,
               held_out: UsableRecordings) -> RobotResult:
    used = [*fitted.results(FITTED, result.fitted),
            *held_out.results(HELD_OUT, result.verdict.held_out)]
    judged = HELD_OUT if held_out.sources else FITTED
    errors = [each.error for each in used if each.state == judged and each.error is not None]
    with tempfile.TemporaryDirectory() as folder:
        save_results(result, Path(folder) / task.name)
        files = {path.name: path.read_bytes() for path in (Path(folder) / task.name).iterdir()}
    report = files['report.html'].decode()
    files['report.html'] = _in_a_fleet(report, task.name).encode()
    return RobotResult(
        task.name, result.arm.name, result.verdict.status,
        result.verdict.sentence.replace('(--held-out)', '(held_out: in the fleet file)'),
        max(errors, default=None), (*used, *fitted.broken, *held_out.broken),
        _parameters(result), tuple(estimate_drift(result)), files=files)


def _in_a_fleet(report: str, name: str) -> str:
    """Return a report whose title names the robot and that has a link to the page of the fleet."""
    title, navigation = '<title>', '<nav aria-label="Sections">'
    return (report.replace(title, f'{title}{escape(name)}, ', 1)
            .replace(navigation, f'{navigation}<a href="../index.html">\u2190 Fleet</a>', 1)
            .replace('--held-out', 'held_out:'))


def _parameters(result: Identification) -> tuple[ParameterResult, ...]:
    structure, values = result.consistent.structure, result.consistent.values
    deviations = np.sqrt(np.diag(result.consistent.covariance))
    return tuple(
        ParameterResult(name, unit, *map(_finite_or_none, (
            value, std, value - 1.96 * std, value + 1.96 * std)))
        for name, unit, value, std in zip(
            structure.names, structure.units, values, deviations))


def _finite_or_none(value: float | None) -> float | None:
    """Return a finite number as a float; None for other values."""
    return None if value is None or not np.isfinite(value) else float(value)
