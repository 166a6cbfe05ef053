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
"""A run of all studies, stored study by study so that it can be resumed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import contextlib
from importlib.metadata import PackageNotFoundError, version
import json
import multiprocessing
import os
from pathlib import Path
import platform
import queue
import signal
from typing import Any, TYPE_CHECKING

from robot_identification.errors import ConfigurationError
from robot_identification.papers.studies import run_study, STUDIES
from robot_identification.papers.studies.study import Progress
from robot_identification.papers.study_report import write_study
from robot_identification.reporting.results_dict import software_versions

if TYPE_CHECKING:    # Dask
    from robot_identification.fleet.cluster import Tasks

PACKAGES = ('scipy', 'numba', 'mujoco', 'clarabel', 'cma')
LONGEST = ('survey_er20', 'ics_er16', 'elpidso_2link', 'mfs_qj', 'abc_er16')    # first
STORED = 'study.json'
POLL = 0.2    # for messages of the processes [s]


def environment() -> dict[str, str]:
    """Return what the figures of a run may depend on: processor, cores and versions."""
    found = {'processor': _processor(), 'cores': str(os.cpu_count()), **software_versions()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = 'not installed'
    return found


def run_all(directory: Path, quick: bool, seed: int, progress: Progress,
            workers: int = 1, tasks: Tasks | None = None) -> dict[str, Any]:
    """
    Run the studies that a folder does not hold yet, and return all of them.

    Parameters
    ----------
    directory
        Each study writes into a folder of its name in it, as soon as it has ended.
    quick, seed
        As for `run_study`; stored studies of another choice, or of other versions, are run again.
    progress
        Called with what is done and the part of all of it.
    workers
        Processes; each has a study to itself, so results do not depend on their number.
    tasks
        Those of a cluster, which the studies share one after the other.

    Raises
    ------
    ConfigurationError
        The folder holds something else in place of a study.
    RuntimeError
        A process has died.

    """
    parts = dict.fromkeys(STUDIES, 0.0)

    def tell(name: str, text: str, part: float) -> None:
        parts[name] = max(parts[name], part)
        progress(f'{name}: {text}', sum(parts.values()) / len(parts))

    if workers > 1:
        _in_processes(directory, quick, seed, tell, workers)
    done = []
    for name in STUDIES:
        def own(text: str, part: float, name: str = name) -> None:
            tell(name, text, part)

        done.append(stored_study(name, directory, quick, seed, own, tasks))
        tell(name, 'done', 1.0)
    return {'seed': seed, 'quick': quick, 'environment': environment(), 'studies': done}


def _in_processes(directory: Path, quick: bool, seed: int,
                  tell: Callable[[str, str, float], None], workers: int) -> None:
    """Let processes write the studies into the folder; they end when this one does."""
    context = multiprocessing.get_context('spawn')
    messages = context.Queue()
    waiting = sorted(
        (name for name in STUDIES if _stored(directory / name / STORED, quick, seed) is None),
        key=lambda name: LONGEST.index(name) if name in LONGEST else 0)
    running: dict[str, Any] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                name = waiting.pop(0)
                running[name] = context.Process(
                    target=_job, args=(name, directory, quick, seed, messages), daemon=True)
                running[name].start()
            with contextlib.suppress(queue.Empty):
                tell(*messages.get(timeout=POLL))
            for name in [name for name, process in running.items() if not process.is_alive()]:
                code = running.pop(name).exitcode
                if code:
                    raise RuntimeError(f'the process of the study {name} ended with {code}')
    finally:
        for process in running.values():
            process.terminate()


def _job(name: str, directory: Path, quick: bool, seed: int, messages: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)     # the parent is told, and ends this process
    stored_study(name, directory, quick, seed,
                 lambda text, part: messages.put((name, text, part)))


def stored_study(name: str, directory: Path, quick: bool, seed: int,
                 progress: Progress, tasks: Tasks | None = None) -> dict[str, Any]:
    """
    Return a study from a folder of studies; run it where the folder does not hold it.

    Parameters
    ----------
    name
        Key in `STUDIES`.
    directory, quick, seed, progress, tasks
        As for `run_all`.

    """
    path = directory / name / STORED
    stored = _stored(path, quick, seed)
    if stored is None:
        result = run_study(name, quick=quick, seed=seed, progress=progress, tasks=tasks)
        write_study({**result.contents(), **_choice(quick, seed)}, path.parent)
        stored = json.loads(path.read_text(encoding='utf-8'))
    return dict(stored)


def _choice(quick: bool, seed: int) -> dict[str, Any]:
    """Return what a stored study must share with a run to stand for it."""
    return {'quick': quick, 'seed': seed, 'environment': environment()}


def _stored(path: Path, quick: bool, seed: int) -> dict[str, Any] | None:
    """Return the study stored in a file; None if it was run with other options."""
    if not path.is_file():
        return None
    try:
        found = json.loads(path.read_text(encoding='utf-8'))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"'{path}' is no stored study; remove it, or give another "
                                 f'folder') from error
    if not isinstance(found, Mapping):
        return None
    same = all(found.get(key) == value for key, value in _choice(quick, seed).items())
    return dict(found) if same else None


def _processor() -> str:
    try:
        for line in Path('/proc/cpuinfo').read_text(encoding='utf-8').splitlines():
            if line.startswith('model name'):
                return line.split(':', 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
