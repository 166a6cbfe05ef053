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
"""Resumable run of all studies; each study is stored as soon as it has finished."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import contextlib
from importlib.metadata import PackageNotFoundError, version
import json
import os
from pathlib import Path
import platform
import queue
import signal
from typing import Any, TYPE_CHECKING

from robot_identification.errors import ConfigurationError
from robot_identification.helper_process import isolated_workers
from robot_identification.papers.studies import run_study, STUDIES
from robot_identification.papers.studies.study import Progress
from robot_identification.papers.study_report import write_study
from robot_identification.reporting.results_dict import software_versions

if TYPE_CHECKING:    # Dask
    from robot_identification.fleet.cluster import Tasks

PACKAGES = ('scipy', 'numba', 'mujoco', 'clarabel', 'cma')
LONGEST = ('survey_er20', 'ics_er16', 'elpidso_2link', 'mfs_qj', 'abc_er16')    # start order
STORED = 'study.json'
POLL = 0.2    # [s] longest wait for a message from the processes


def environment() -> dict[str, str]:
    """Return processor, number of cores and package versions, which affect results."""
    machine = {'processor': _processor(), 'cores': str(os.cpu_count()), **software_versions()}
    for package in PACKAGES:
        try:
            machine[package] = version(package)
        except PackageNotFoundError:
            machine[package] = 'not installed'
    return machine


def run_all(directory: Path, quick: bool, seed: int, progress: Progress,
            workers: int = 1, tasks: Tasks | None = None) -> dict[str, Any]:
    """
    Run the studies that are not yet stored in a folder, and return the results of all studies.

    Parameters
    ----------
    directory
        Folder with a subfolder for each study, written when the study has finished.
    quick, seed
        As for `run_study`. Stored studies with other options or package versions are repeated.
    progress
        Called with the current step and the completed fraction of all studies, 0 to 1.
    workers
        Number of processes, each of which runs one study at a time.
    tasks
        Tasks of a cluster, which then computes the studies one after another.

    Raises
    ------
    ConfigurationError
        A file in the folder is not a stored study.
    RuntimeError
        A process died.

    """
    fractions = dict.fromkeys(STUDIES, 0.0)

    def report(name: str, text: str, fraction: float) -> None:
        fractions[name] = max(fractions[name], fraction)
        progress(f'{name}: {text}', sum(fractions.values()) / len(fractions))

    if workers > 1:
        with isolated_workers() as context:
            _in_processes(context, directory, quick, seed, report, workers)
    done = []
    for name in STUDIES:
        def own(text: str, fraction: float, name: str = name) -> None:
            report(name, text, fraction)

        done.append(stored_study(name, directory, quick, seed, own, tasks))
        report(name, 'done', 1.0)
    return {'seed': seed, 'quick': quick, 'environment': environment(), 'studies': done}


def _in_processes(context: Any, directory: Path, quick: bool, seed: int,
                  report: Callable[[str, str, float], None], workers: int) -> None:
    """Run and store the missing studies in parallel processes of a multiprocessing context."""
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
                report(*messages.get(timeout=POLL))
            for name in [name for name, process in running.items() if not process.is_alive()]:
                code = running.pop(name).exitcode
                if code:
                    raise RuntimeError(f'the process of the study {name} ended with {code}')
    finally:
        for process in running.values():
            process.terminate()


def _job(name: str, directory: Path, quick: bool, seed: int, messages: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)     # the parent process handles Ctrl-C
    stored_study(name, directory, quick, seed,
                 lambda text, fraction: messages.put((name, text, fraction)))


def stored_study(name: str, directory: Path, quick: bool, seed: int,
                 progress: Progress, tasks: Tasks | None = None) -> dict[str, Any]:
    """
    Return a study stored in a folder; run and store it first if it is missing.

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
    """Return the options and environment that must match for a stored study to be reused."""
    return {'quick': quick, 'seed': seed, 'environment': environment()}


def _stored(path: Path, quick: bool, seed: int) -> dict[str, Any] | None:
    """Return the study stored in a file; None if its options or environment differ."""
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding='utf-8'))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"'{path}' is not a stored study; remove it or use another "
                                 f'folder') from error
    if not isinstance(content, Mapping):
        return None
    same = all(content.get(key) == value for key, value in _choice(quick, seed).items())
    return dict(content) if same else None


def _processor() -> str:
    try:
        for line in Path('/proc/cpuinfo').read_text(encoding='utf-8').splitlines():
            if line.startswith('model name'):
                return line.split(':', 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
