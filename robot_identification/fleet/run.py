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
"""A fleet on a cluster of Dask: robots whose inputs changed are identified and stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, ExitStack
from dataclasses import dataclass, replace
from datetime import datetime, timezone
import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import uuid4

import robot_identification
from robot_identification.arm import load_arm
from robot_identification.errors import (
    ConfigurationError,
    MissingDependencyError,
    RobotIdentificationError,
)
from robot_identification.files import check_output_folder, check_outputs, FileKind
from robot_identification.fleet.cluster import cluster
from robot_identification.fleet.fleet_file import Fleet, RobotTask
from robot_identification.fleet.identify_robot import identify_robot
from robot_identification.fleet.page import INDEX, write_fleet_page
from robot_identification.fleet.recording_sources import fingerprint
from robot_identification.fleet.robot_result import (
    BROKEN,
    ROBOT_FILE,
    RobotResult,
    SCHEMA,
    TABLE,
    write_table,
)
from robot_identification.parallel import core_count
from robot_identification.reporting import RESULTS
from robot_identification.reporting.results_files import RESULT_FILES

_RESULT = FileKind('a result', '')
_ROBOT_RESULT = FileKind('a result of `fleet`', f'"{SCHEMA}"')
Report = Callable[[str], None]


@dataclass(frozen=True)
class FleetSummary:
    """
    What a run did.

    Parameters
    ----------
    folder
        Folder of all results.
    done, unchanged
        Number of robots that were identified now, and of those whose inputs did not change.
    states
        Number of robots of the fleet in each state.

    """

    folder: Path
    done: int
    unchanged: int
    states: Mapping[str, int]


def run_fleet(fleet: Fleet, folder: str | Path, *, scheduler: str | None = None,
              workers: int | None = None, report: Report = lambda text: None,
              force: bool = False) -> FleetSummary:
    """
    Identify the robots of a fleet whose inputs have changed since the last run.

    Each robot is one task of Dask and is stored when it is done, so an early end loses only the
    robots that were being computed. The robot of a worker that dies is computed by another.

    Parameters
    ----------
    fleet
        From `read_fleet`.
    folder
        Folder for the robots' folders, the table and the page.
    scheduler
        Address of a scheduler of Dask; a cluster on this machine when None.
    workers
        Workers of the cluster on this machine, one core each, and no more than robots; as many as
        cores when None.
    report
        Called with messages on the progress.
    force
        Replace files in the folder that are not of this command.

    Raises
    ------
    MissingDependencyError
        dask.distributed or pyarrow is not installed.
    ConfigurationError
        The folder cannot be used, or the scheduler does not answer or was lost.

    Examples
    --------
    >>> summary = run_fleet(read_fleet('fleet.yaml'), 'results')
    >>> summary.states
    {'passed': 12, 'failed': 1}

    """
    if find_spec('pyarrow') is None:
        raise MissingDependencyError('pyarrow', 'a fleet')
    folder = Path(folder)
    _check_outputs(fleet, folder, force)
    with ExitStack() as stack:
        client = None if scheduler is None else stack.enter_context(cluster(scheduler))
        fingerprints = _fingerprints(client, fleet.tasks)
        keys = _input_digests(fleet.tasks, fingerprints)
        folder.mkdir(parents=True, exist_ok=True)
        results = read_results(folder, report)
        todo = [task for task in fleet.tasks
                if task.name not in results or results[task.name].key != keys[task.name]]
        report(f'{len(todo)} of {len(fleet.tasks)} robots have changed')
        if todo:
            client = client or stack.enter_context(cluster(None, workers, len(todo)))
            report(f'dashboard: {client.dashboard_link}')
        left = [task.name for task in todo]
        with _write_table_and_page(results, folder, left, report):
            for count, (task, result, final) in enumerate(_results(client, todo), start=1):
                results[task.name] = result = replace(
                    result, key=keys[task.name] if final else '',
                    finished=datetime.now(timezone.utc).isoformat(timespec='seconds'),
                    inputs={source: fingerprints[source]
                            for source in (*task.recordings, *task.held_out)})
                result.save(folder / task.name)
                results[task.name] = replace(result, files={})
                left.remove(task.name)
                report(f'{count}/{len(todo)} {task.name}: {result.state}'
                       + (f' ({result.sentence})' if result.state == BROKEN else ''))
    states = Counter(results[task.name].state for task in fleet.tasks)
    return FleetSummary(folder, len(todo), len(fleet.tasks) - len(todo), dict(states))


def read_results(folder: Path, report: Report = lambda text: None) -> dict[str, RobotResult]:
    """
    Return the stored results of the robots in a folder, by name.

    Parameters
    ----------
    folder
        A folder that `run_fleet` wrote.
    report
        Called with the reason for each result that cannot be read and is left out.

    """
    results = {}
    for path in sorted(folder.glob(f'*/{ROBOT_FILE}')):
        try:
            results[path.parent.name] = replace(
                RobotResult.load(path.parent), robot=path.parent.name)
        except ConfigurationError as error:
            report(f'left out: {error}')
    return results


def input_digest(task: RobotTask, fingerprints: Mapping[str, str], arm_digest: str) -> str:
    """
    Return a digest of everything that a robot's result depends on.

    Parameters
    ----------
    task
        The robot's task.
    fingerprints
        Fingerprints of its recordings.
    arm_digest
        Digest of the arm's files.

    """
    parts = [robot_identification.__version__, task.robot, arm_digest, task.settings_text,
             *(f'{source} {fingerprints[source]}' for source in task.recordings), 'held out',
             *(f'{source} {fingerprints[source]}' for source in task.held_out)]
    return hashlib.sha256('\n'.join(parts).encode()).hexdigest()


def _check_outputs(fleet: Fleet, folder: Path, force: bool) -> None:
    inputs = [fleet.path, *(Path(source) for task in fleet.tasks
                            for source in (*task.recordings, *task.held_out)
                            if '://' not in source)]
    folders = [folder / task.name for task in fleet.tasks]
    check_output_folder(folder, (TABLE, INDEX), TABLE, inputs, force=force)
    for robot_folder in folders:
        check_output_folder(robot_folder, RESULT_FILES, RESULTS, (), force=force)
    check_outputs([(robot_folder / name, _RESULT) for robot_folder in folders
                   for name in RESULT_FILES], inputs, force=True)
    check_outputs([(robot_folder / ROBOT_FILE, _ROBOT_RESULT) for robot_folder in folders],
                  inputs, force=force)


@contextmanager
def _write_table_and_page(results: Mapping[str, RobotResult], folder: Path, left: Sequence[str],
                          report: Report) -> Iterator[None]:
    """Write table and page at the end, at an early one with a row for each robot that is left."""
    def write(missing: Mapping[str, str]) -> None:
        ordered = [results[name] for name in sorted(results)]
        write_table(ordered, folder / TABLE, missing)
        write_fleet_page(ordered, folder, missing)

    try:
        yield
    except BaseException as error:
        cause = str(error) if isinstance(error, RobotIdentificationError) else 'it was interrupted'
        try:
            write({name: f'not done, because the run ended early: {cause}' for name in left})
        except (RobotIdentificationError, OSError) as second_error:    # the disk is full
            report(f'table and page are as they were before this run: {second_error}')
        raise
    write({})


def _results(client: Any, tasks: Sequence[RobotTask]
             ) -> Iterator[tuple[RobotTask, RobotResult, bool]]:
    """Yield results in the order in which they arrive, and whether they are reproducible."""
    if not tasks:
        return
    from distributed import as_completed
    futures = {client.submit(identify_robot, task, pure=False, key=f'{task.name}-{uuid4()}'): task
               for task in tasks}
    for future in as_completed(list(futures), loop=client.loop):
        task = futures.pop(future)
        if future.status == 'finished':
            result = future.result()
            yield task, result, not result.sentence.startswith('a defect')
        elif future.status == 'error':
            yield task, RobotResult(
                task.name, task.robot, BROKEN,
                f'the workers died at this robot ({future.exception()}); their memory is perhaps '
                'too small for its recordings'), False
        else:    # cancelled or lost
            raise ConfigurationError(
                f'the scheduler was lost with {len(futures) + 1} of {len(tasks)} robots to do; '
                'the others are stored: start it again and repeat the command')
        future.release()


def _fingerprints(client: Any, tasks: Sequence[RobotTask]) -> dict[str, str]:
    """Return the fingerprint of each recording; workers of a cluster read what is near them."""
    sources = list(dict.fromkeys(
        source for task in tasks for source in (*task.recordings, *task.held_out)))
    if client is not None:
        return dict(zip(sources, client.gather(client.map(fingerprint, sources, pure=False))))
    with ThreadPoolExecutor(core_count()) as pool:
        return dict(zip(sources, pool.map(fingerprint, sources)))


def _input_digests(tasks: Sequence[RobotTask], fingerprints: Mapping[str, str]) -> dict[str, str]:
    digests: dict[str, str] = {}
    for robot in {task.robot for task in tasks}:
        try:
            arm = load_arm(robot)
            parts = [arm.urdf_sha256, *(fingerprint(str(path)) for path in sorted(arm.files))]
        except RobotIdentificationError as error:    # the result of the task states it again
            parts = [str(error)]
        digests[robot] = hashlib.sha256('\n'.join(parts).encode()).hexdigest()
    return {task.name: input_digest(task, fingerprints, digests[task.robot]) for task in tasks}
