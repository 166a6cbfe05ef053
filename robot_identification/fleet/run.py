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
"""Identification of a fleet on a Dask cluster; robots with unchanged inputs are skipped."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
import time
from typing import Any
from uuid import uuid4

from robot_identification.cluster import cluster
from robot_identification.errors import ConfigurationError, MissingDependencyError
from robot_identification.fleet.fleet_file import Fleet, RobotTask
from robot_identification.fleet.identify_robot import BUG, identify_robot
from robot_identification.fleet.input_digests import compute_fingerprints, compute_input_digests
from robot_identification.fleet.results_folder import (
    check_fleet_outputs,
    iterate_results,
    Report,
)
from robot_identification.fleet.robot_result import BROKEN, RobotResult
from robot_identification.fleet.table_and_page import write_table_and_page


@dataclass(frozen=True)
class FleetSummary:
    """
    Summary of a run of a fleet.

    Parameters
    ----------
    folder
        Output folder of the fleet.
    done, unchanged
        Numbers of robots that this run identified, and that it skipped because their inputs are
        unchanged.
    states
        Number of robots of the fleet in each state.

    """

    folder: Path
    done: int
    unchanged: int
    states: Mapping[str, int]


def run_fleet(fleet: Fleet, folder: str | Path, *, scheduler: str | None = None,
              workers: int | None = None, tls: Path | None = None,
              report: Report = lambda text: None, force: bool = False) -> FleetSummary:
    """
    Identify the robots of a fleet whose inputs have changed since the last run.

    Each robot is one Dask task. Its result is stored as soon as the task has finished, so a run
    that ends early loses only the robots in progress. If a worker dies, another worker repeats its
    task.

    Parameters
    ----------
    fleet
        Fleet from `read_fleet`.
    folder
        Output folder for the robots' folders, the table and the page.
    scheduler
        Address of a running Dask scheduler. None starts a cluster on this machine.
    workers
        Number of workers of the cluster on this machine, one core each; at most one per robot is
        started. None: one per core.
    tls
        Folder of certificates for the scheduler, with `ca.pem`, `cert.pem` and `key.pem`.
    report
        Called with progress messages.
    force
        Overwrite files in the folder that another command wrote.

    Returns
    -------
    FleetSummary
        Numbers of identified and skipped robots, and of robots in each state.

    Raises
    ------
    MissingDependencyError
        dask.distributed or pyarrow is not installed.
    ConfigurationError
        The folder cannot be used, the scheduler does not answer or its connection is lost, or its
        workers see none of the recordings.

    Examples
    --------
    >>> summary = run_fleet(read_fleet('fleet.yaml'), 'results')
    >>> summary.states
    {'passed': 12, 'failed': 1}

    """
    folder = Path(folder)
    check_fleet_outputs(fleet, folder, force)
    with ExitStack() as stack:
        client = None if scheduler is None else stack.enter_context(
            cluster(scheduler, security=_tls_security(tls, scheduler)))
        fingerprints = compute_fingerprints(client, fleet.tasks, report)
        keys = compute_input_digests(fleet.tasks, fingerprints)
        folder.mkdir(parents=True, exist_ok=True)
        stored = {result.robot: (result.state, result.key)
                  for result in iterate_results(folder, report)}
        todo = [task for task in fleet.tasks
                if task.name not in stored or stored[task.name][1] != keys[task.name]]
        report(f'{len(todo)} of {len(fleet.tasks)} robots to identify')
        if todo:
            client = client or stack.enter_context(cluster(None, workers, len(todo)))
            report(f'dashboard: {client.dashboard_link}')
        left = [task.name for task in todo]
        path = fleet.path.resolve()
        name = path.parent.name if path.stem == 'fleet' else path.stem
        with write_table_and_page(folder, left, report, name):
            for count, (task, result, final) in enumerate(_finished_robots(client, todo), start=1):
                result = replace(
                    result, key=keys[task.name] if final else '',
                    finished=time.strftime('%Y-%m-%dT%H:%M:%S+00:00', time.gmtime()),
                    inputs={source: fingerprints[source]
                            for source in (*task.recordings, *task.held_out)})
                result.save(folder / task.name)
                stored[task.name] = result.state, result.key
                left.remove(task.name)
                report(f'{count}/{len(todo)} {task.name}: {result.state}'
                       + (f' ({result.sentence})' if result.state == BROKEN else ''))
    states = Counter(stored[task.name][0] for task in fleet.tasks)
    return FleetSummary(folder, len(todo), len(fleet.tasks) - len(todo), dict(states))


def _finished_robots(client: Any, tasks: Sequence[RobotTask],
                     ) -> Iterator[tuple[RobotTask, RobotResult, bool]]:
    """Yield each finished task with its result and whether the result is reproducible."""
    if not tasks:
        return
    from distributed import as_completed
    futures = {client.submit(identify_robot, task, pure=False, key=f'{task.name}-{uuid4()}'): task
               for task in tasks}
    for future in as_completed(list(futures), loop=client.loop):
        task = futures.pop(future)
        if future.status == 'finished':
            result = future.result()
            yield task, result, not result.sentence.startswith(BUG)
        elif future.status == 'error':
            yield task, RobotResult(
                task.name, task.robot, BROKEN,
                f'workers died at this robot ({future.exception()}); they may have run out of '
                'memory for its recordings'), False
        else:    # cancelled or lost
            raise ConfigurationError(
                f'connection to the scheduler was lost with {len(futures) + 1} of {len(tasks)} '
                'robots left; the others are stored: start it again and repeat the command')
        future.release()


def _tls_security(folder: Path | None, scheduler: str | None) -> Any:
    """
    Return Dask's `Security` with the certificates of a folder; None without a folder.

    Parameters
    ----------
    folder
        Folder with `ca.pem`, `cert.pem` and `key.pem`.
    scheduler
        Address of the scheduler.

    Raises
    ------
    ConfigurationError
        A file is missing, or the scheduler is not at tls://.
    MissingDependencyError
        dask.distributed is not installed.

    """
    if folder is None:
        return None
    if not str(scheduler).startswith('tls://'):
        raise ConfigurationError('--tls is for a scheduler with certificates: --scheduler '
                                 'tls://HOST:PORT')
    try:
        from distributed import Security
    except ImportError as error:
        raise MissingDependencyError('distributed', 'a cluster') from error
    files = [folder / name for name in ('ca.pem', 'cert.pem', 'key.pem')]
    for file in files:
        if not file.is_file():
            raise ConfigurationError(f"there is no '{file}'; --tls needs a folder with ca.pem, "
                                     'cert.pem and key.pem')
    authority, certificate, key = map(str, files)
    return Security(require_encryption=True, tls_ca_file=authority, tls_client_cert=certificate,
                    tls_client_key=key)
