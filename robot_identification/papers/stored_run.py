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

from collections.abc import Callable, Mapping, Sequence
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
from robot_identification.papers.studies.verdict import judge_seeds, read_claim
from robot_identification.papers.study_report import write_study
from robot_identification.reporting.results_dict import software_versions

if TYPE_CHECKING:    # Dask
    from robot_identification.fleet.cluster import Tasks

PACKAGES = ('scipy', 'numba', 'mujoco', 'clarabel', 'cma')
LONGEST = ('survey_er20', 'ics_er16', 'elpidso_2link', 'mfs_qj', 'abc_er16')    # start order
STORED = 'study.json'
Job = tuple[str, int]
"""Study and seed."""
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


def run_all(directory: Path, quick: bool, seeds: Sequence[int], progress: Progress,
            workers: int = 1, tasks: Tasks | None = None,
            draws: int | None = None) -> dict[str, Any]:
    """
    Run the studies that are not yet stored in a folder, and return the results of all studies.

    Tables and plots are those of the first seed; further seeds compute the claims only. Each
    claim is judged by the draws of all seeds, and has the verdict of each seed beside it.

    Parameters
    ----------
    directory
        Folder with a subfolder for each study, written when the study has finished. The studies of
        further seeds are in subfolders `seed_1` and so on.
    quick
        As for `run_study`. Stored studies with other options or package versions are repeated.
    seeds
        Seeds, each of which runs all studies.
    progress
        Called with the current step and the completed fraction of all studies, 0 to 1.
    workers
        Number of processes, each of which runs one study at a time.
    tasks
        Tasks of a cluster, which then computes the studies one after another.
    draws
        Number of draws of all claims; None: as many as they need.

    Raises
    ------
    ConfigurationError
        A file in the folder is not a stored study.
    RuntimeError
        A process died.

    """
    jobs = {(name, seed): directory / f'seed_{seed}' if k else directory
            for k, seed in enumerate(seeds) for name in STUDIES}
    fractions = dict.fromkeys(jobs, 0.0)

    def report(job: Job, text: str, fraction: float) -> None:
        fractions[job] = max(fractions[job], fraction)
        seed = f', seed {job[1]}' if len(seeds) > 1 else ''
        progress(f'{job[0]}{seed}: {text}', sum(fractions.values()) / len(fractions))

    if workers > 1:
        with isolated_workers() as context:
            _in_processes(context, jobs, {'quick': quick, 'draws': draws}, report, workers)
    done: dict[Job, dict[str, Any]] = {}
    for job, folder in jobs.items():
        def own(text: str, fraction: float, job: Job = job) -> None:
            report(job, text, fraction)

        done[job] = stored_study(job[0], folder, quick, job[1], own, tasks,
                                 tables=folder == directory, draws=draws)
        report(job, 'done', 1.0)
    return make_run([[done[name, seed] for seed in seeds] for name in STUDIES])


def make_run(results: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """
    Return the run of all studies, with claims judged by the draws of all seeds.

    Parameters
    ----------
    results
        For each study its stored results, one for each seed.

    """
    studies = [pool_seeds(each) for each in results]
    longest = max(studies, key=lambda study: len(study['seeds']))
    return {**{key: longest[key] for key in ('seeds', 'quick', 'draws', 'environment')},
            'studies': studies}


def pool_seeds(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """
    Return the first of several results of a study, with claims judged by the draws of all.

    Parameters
    ----------
    results
        Stored results of one study, one for each seed.

    """
    seeds = [[read_claim(claim)[0] for claim in result['claims']] for result in results]
    pooled = judge_seeds(seeds, fixed=results[0]['draws'] is not None)
    return {**results[0], 'seeds': [result['seed'] for result in results], 'claims': pooled,
            'processor_seconds': sum(
                result['processor_seconds'] for result in results)}


def _in_processes(context: Any, jobs: Mapping[Job, Path], size: Mapping[str, Any],
                  report: Callable[[Job, str, float], None], workers: int) -> None:
    """Run and store the missing studies in parallel processes of a multiprocessing context."""
    messages, first = context.Queue(), next(iter(jobs.values()))
    waiting = sorted(
        (job for job, folder in jobs.items()
         if _stored(folder / job[0] / STORED, _choice(
             seed=job[1], tables=folder == first, **size)) is None),
        key=lambda job: LONGEST.index(job[0]) if job[0] in LONGEST else 0)
    running: dict[Job, Any] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                job = waiting.pop(0)
                running[job] = context.Process(
                    target=_job, args=(job, jobs[job], {
                        **size, 'tables': jobs[job] == first}, messages), daemon=True)
                running[job].start()
            with contextlib.suppress(queue.Empty):
                report(*messages.get(timeout=POLL))
            for job in [job for job, process in running.items() if not process.is_alive()]:
                code = running.pop(job).exitcode
                if code:
                    raise RuntimeError(f'the process of the study {job[0]} ended with {code}')
    finally:
        for process in running.values():
            process.terminate()


def _job(job: Job, directory: Path, options: Mapping[str, Any], messages: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)     # the parent process handles Ctrl-C
    stored_study(job[0], directory, seed=job[1], **options,
                 progress=lambda text, fraction: messages.put((job, text, fraction)))


def stored_study(name: str, directory: Path, quick: bool, seed: int,
                 progress: Progress, tasks: Tasks | None = None, *,
                 tables: bool = True, draws: int | None = None) -> dict[str, Any]:
    """
    Return a study stored in a folder; run and store it first if it is missing.

    Parameters
    ----------
    name
        Key in `STUDIES`.
    directory, quick, progress, tasks, draws
        As for `run_all`.
    seed
        Seed of the study.
    tables
        Whether to compute tables and plots, in addition to the claims.

    """
    path, choice = directory / name / STORED, _choice(
        quick=quick, seed=seed, tables=tables, draws=draws)
    stored = _stored(path, choice)
    if stored is None:
        result = run_study(name, quick=quick, seed=seed, progress=progress, tasks=tasks,
                           tables=tables, draws=draws)
        write_study({**result.contents(), **choice}, path.parent)
        stored = json.loads(path.read_text(encoding='utf-8'))
    return dict(stored)


def _choice(*, quick: bool, seed: int, tables: bool, draws: int | None) -> dict[str, Any]:
    """Return the options and environment that must match for a stored study to be reused."""
    return {'quick': quick, 'seed': seed, 'full': tables, 'draws': draws,
            'environment': environment()}


def _stored(path: Path, choice: Mapping[str, Any]) -> dict[str, Any] | None:
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
    same = all(content.get(key) == value for key, value in choice.items())
    return dict(content) if same else None


def _processor() -> str:
    try:
        for line in Path('/proc/cpuinfo').read_text(encoding='utf-8').splitlines():
            if line.startswith('model name'):
                return line.split(':', 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
