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
"""A fleet on a cluster of Dask: what changed is identified, and stored as it comes in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, ExitStack
from dataclasses import dataclass
import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import uuid4

from robot_identification.arm import load_arm
from robot_identification.errors import (
    ConfigurationError,
    MissingDependencyError,
    RobotIdentificationError,
)
from robot_identification.files import check_output_folder, check_outputs, FileKind, written_whole
from robot_identification.fleet.cluster import cluster
from robot_identification.fleet.database import Database, key_of
from robot_identification.fleet.page import INDEX, write_index
from robot_identification.fleet.plan import Fleet, Job
from robot_identification.fleet.source import fingerprint
from robot_identification.fleet.table import TABLE, write_table
from robot_identification.fleet.work import BROKEN, identify_robot, Outcome
from robot_identification.parallel import core_count
from robot_identification.reporting import RESULTS
from robot_identification.reporting.results_files import RESULT_FILES

DATABASE = 'fleet.sqlite'
_RESULT = FileKind('a result', '')
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Summary:
    """
    What a run did.

    Parameters
    ----------
    folder
        Folder of all results.
    done, unchanged
        Robots that were identified now, and those whose inputs are as they were.
    states
        How many robots of the fleet are in each state now.

    """

    folder: Path
    done: int
    unchanged: int
    states: Mapping[str, int]


def run_fleet(fleet: Fleet, folder: str | Path, *, scheduler: str | None = None,
              workers: int | None = None, tell: Tell = lambda text: None,
              force: bool = False) -> Summary:
    """
    Identify the robots of a fleet whose inputs have changed since the last run.

    Every robot is stored when it is done, so whatever ends a run early loses only what was being
    computed. A worker that dies is replaced, and its robot is done again by another.

    Parameters
    ----------
    fleet
        From `read_fleet`.
    folder
        For the folders of the robots, the database, the table and the page.
    scheduler
        Address of a scheduler of Dask; a cluster on this machine when None.
    workers
        Workers of the cluster on this machine, one core each, and no more than robots; as many as
        cores when None.
    tell
        Called with sentences on the progress.
    force
        Replace files in the folder that are not of this command.

    Raises
    ------
    MissingDependencyError
        dask.distributed or pyarrow is not installed.
    ConfigurationError
        The folder cannot be used, or the scheduler does not answer, or no longer.

    """
    if find_spec('pyarrow') is None:
        raise MissingDependencyError('pyarrow', 'a fleet')
    folder = Path(folder)
    inputs = [Path(source) for job in fleet.jobs for source in (*job.recordings, *job.held_out)
              if '://' not in source]
    check_output_folder(folder, (DATABASE, TABLE, INDEX), DATABASE, (fleet.path, *inputs),
                        force=force)
    for job in fleet.jobs:
        check_output_folder(folder / job.name, RESULT_FILES, RESULTS, (), force=force)
    check_outputs([(folder / job.name / name, _RESULT) for job in fleet.jobs
                   for name in RESULT_FILES], (fleet.path, *inputs), force=True)
    with ExitStack() as stack:
        client = None if scheduler is None else stack.enter_context(cluster(scheduler))
        prints = _fingerprints(client, fleet.jobs)
        keys = _keys(fleet.jobs, prints)
        folder.mkdir(parents=True, exist_ok=True)
        database = stack.enter_context(Database(folder / DATABASE, write=True))
        known, before = database.known(), _states(database)
        todo = [job for job in fleet.jobs if known.get(job.name) != keys[job.name]
                or not _stored(folder / job.name, before[job.name])]
        tell(f'{len(todo)} of {len(fleet.jobs)} robots have changed')
        if todo:
            database.begin(fleet.path)
            client = client or stack.enter_context(cluster(None, workers, len(todo)))
            tell(f'dashboard: {client.dashboard_link}')
        left = {job.name: job for job in todo}
        with _shown(database, folder, left, tell):
            for number, (job, outcome, lasting) in enumerate(
                    _outcomes(client, todo), start=1):
                _write(folder / job.name, outcome)
                database.store(job, keys[job.name] if lasting else '', prints, outcome)
                del left[job.name]
                tell(f'{number}/{len(todo)} {job.name}: {outcome.state}'
                     + (f' ({outcome.sentence})' if outcome.state == BROKEN else ''))
        names = {job.name for job in fleet.jobs}
        states = Counter(state for robot, state in _states(database).items() if robot in names)
    return Summary(folder, len(todo), len(fleet.jobs) - len(todo), dict(states))


@contextmanager
def _shown(database: Database, folder: Path, left: Mapping[str, Job],
           tell: Tell) -> Iterator[None]:
    """Write table and page at the end, an early one too: then with a row for what is missing."""
    try:
        yield
    except BaseException as error:
        cause = str(error) if isinstance(error, RobotIdentificationError) else 'it was interrupted'
        try:
            _show(database, folder, {name: f'not done, because the run ended early: {cause}'
                                     for name in left})
        except (RobotIdentificationError, OSError) as also:    # of a disk that is full
            tell(f'table and page are as they were before this run: {also}')
        raise
    _show(database, folder, {})


def _show(database: Database, folder: Path, missing: Mapping[str, str]) -> None:
    write_table(database, folder / TABLE, missing)
    write_index(database, folder, missing)


def _outcomes(client: Any, jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome, bool]]:
    """Yield what comes in, and whether the same would come of the same inputs again."""
    if not jobs:
        return
    from distributed import as_completed
    futures = {client.submit(identify_robot, job, pure=False,
                             key=f'{job.name}-{uuid4()}'): job for job in jobs}
    for future in as_completed(list(futures), loop=client.loop):
        job = futures.pop(future)
        if future.status == 'finished':
            outcome = future.result()
            yield job, outcome, not outcome.sentence.startswith('a defect')
        elif future.status != 'error':    # cancelled or lost: that says nothing about the robot
            raise ConfigurationError(
                f'the scheduler was lost with {len(futures) + 1} of {len(jobs)} robots to do; the '
                'others are stored: start it again and repeat the command')
        else:
            yield job, Outcome(job.name, job.robot, BROKEN,
                               f'the workers died at this robot ({future.exception()}); their '
                               'memory is perhaps too small for its recordings'), False
        future.release()


def _write(folder: Path, outcome: Outcome) -> None:
    """Write the files of a robot, first the one that says whose they are, should it not end."""
    for name, content in sorted(outcome.files.items(), key=lambda item: item[0] != RESULTS):
        with written_whole(folder / name) as path:
            path.write_bytes(content)


def _states(database: Database) -> dict[str, str]:
    """Return the state of each robot's latest identification."""
    return {row['robot']: row['state'] for row in database.rows('SELECT robot, state FROM latest')}


def _stored(folder: Path, state: str) -> bool:
    """Return whether the files of a robot in this state are there, where there should be any."""
    return state == BROKEN or (folder / RESULTS).exists()


def _fingerprints(client: Any, jobs: Sequence[Job]) -> dict[str, str]:
    """Return what changes with each recording; read by workers of a cluster, where it lies."""
    sources = list(dict.fromkeys(
        source for job in jobs for source in (*job.recordings, *job.held_out)))
    if client is not None:
        return dict(zip(sources, _gathered(client, fingerprint, sources)))
    with ThreadPoolExecutor(core_count()) as pool:
        return dict(zip(sources, pool.map(fingerprint, sources)))


def _gathered(client: Any, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """Return a function of each of the items, by the workers."""
    return list(client.gather(client.map(function, items, pure=False)))


def _keys(jobs: Sequence[Job], prints: dict[str, str]) -> dict[str, str]:
    arms: dict[str, str] = {}
    for robot in {job.robot for job in jobs}:
        try:
            arm = load_arm(robot)
            content = [arm.urdf_sha256, *(fingerprint(str(path)) for path in sorted(arm.files))]
        except RobotIdentificationError as error:    # the worker says it once more
            content = [str(error)]
        arms[robot] = hashlib.sha256('\n'.join(content).encode()).hexdigest()
    return {job.name: key_of(job, prints, arms[job.robot]) for job in jobs}
