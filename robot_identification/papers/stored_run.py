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
from dataclasses import dataclass
import functools
import json
from pathlib import Path
import queue
import signal
from typing import Any, TYPE_CHECKING

from robot_identification.errors import ConfigurationError
from robot_identification.helper_process import isolated_workers
from robot_identification.papers.run_environment import environment
from robot_identification.papers.studies import run_study, STUDIES
from robot_identification.papers.studies.study import Further, Progress
from robot_identification.papers.studies.verdict import judge_seeds, read_claim, rows_to_settle
from robot_identification.papers.study_report import write_study

if TYPE_CHECKING:    # Dask
    from robot_identification.cluster import Tasks

LONGEST = ('survey_er20', 'ics_er16', 'elpidso_2link', 'mfs_qj', 'abc_er16')    # start order
STORED = 'study.json'
POLL = 0.2    # [s] longest wait for a message from the processes


@dataclass(frozen=True, eq=False)
class Job:
    """
    A study with one seed, and the folder in which it is stored.

    Parameters
    ----------
    name
        Key in `STUDIES`.
    seed
        Seed of the study.
    folder
        Folder of `study.json`.
    quick, draws
        As for `run_all`.
    tables
        Whether to compute tables and plots, in addition to the claims.
    further
        As for `StudyOptions`.

    """

    name: str
    seed: int
    folder: Path
    quick: bool = False
    draws: int | None = None
    tables: bool = True
    further: Further | None = None

    @property
    def choice(self) -> dict[str, Any]:
        """Options and environment that must match for a stored study to be reused."""
        choice = {'quick': self.quick, 'seed': self.seed, 'full': self.tables,
                  'draws': self.draws, 'environment': environment()}
        if self.further is None:
            return choice
        claims, needed = self.further
        return {**choice, 'further': [[k, index, len(claims[k].rows[index]), look]
                                      for (k, index), look in needed.items()]}

    def stored(self) -> dict[str, Any] | None:
        """Return the stored study; None if its options or environment differ."""
        path = self.folder / STORED
        if not path.is_file():
            return None
        try:
            content = json.loads(path.read_text(encoding='utf-8'))
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"'{path}' is not a stored study; remove it or use another "
                                     f'folder') from error
        if not isinstance(content, Mapping):
            return None
        same = all(content.get(key) == value for key, value in self.choice.items())
        return dict(content) if same else None


def run_all(directory: Path, quick: bool, seeds: Sequence[int], progress: Progress,
            workers: int = 1, tasks: Tasks | None = None,
            draws: int | None = None) -> dict[str, Any]:
    """
    Run the studies that are not yet stored in a folder, and return the results of all studies.

    Tables and plots are those of the first seed; further seeds compute the claims only. Each
    claim is judged by the draws of all seeds, and has the verdict of each seed beside it. A claim
    whose verdict changes without one of the seeds then gets further draws, see `rows_to_settle`.

    Parameters
    ----------
    directory
        Folder with a subfolder for each study, written when the study has finished. The studies of
        further seeds are in subfolders `seed_1` and so on, further draws in subfolders `further_1`
        and so on of these.
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
    folders = {(name, seed): (directory / f'seed_{seed}' if k else directory) / name
               for k, seed in enumerate(seeds) for name in STUDIES}
    jobs = [Job(name, seed, folder, quick, draws, tables=seed == seeds[0])
            for (name, seed), folder in folders.items()]
    several = len(seeds) > 1 and not quick and draws is None
    start, end, number = 0.0, 0.5 if several else 1.0, 0
    done: dict[tuple[str, int], dict[str, Any]] = {}
    while jobs:
        def report(text: str, fraction: float, start: float = start, end: float = end) -> None:
            progress(text, start + (end - start) * fraction)

        for job, result in zip(jobs, _run_jobs(jobs, report, workers, tasks)):
            before = done.get((job.name, job.seed), {})
            done[job.name, job.seed] = {
                **result, **before, 'claims': result['claims'], 'processor_seconds':
                before.get('processor_seconds', 0.0) + result['processor_seconds']}
        start, end, number = end, (1 + end) / 2, number + 1
        jobs = _further_jobs(folders, done, number) if several else []
    progress('done', 1.0)
    return make_run([[done[name, seed] for seed in seeds] for name in STUDIES])


def _further_jobs(folders: Mapping[tuple[str, int], Path],
                  done: Mapping[tuple[str, int], Mapping[str, Any]], number: int) -> list[Job]:
    """Return jobs with the draws that `rows_to_settle` asks for after the results of others."""
    jobs = []
    for name in STUDIES:
        seeds = {seed: [read_claim(claim)[0] for claim in result['claims']]
                 for (study, seed), result in done.items() if study == name}
        needed = rows_to_settle(list(seeds.values()))
        for seed, claims in seeds.items():
            rows = {(k, index): look for (k, index), look in needed.items()
                    if len(claims[k].rows[index]) < look}
            if rows:
                jobs.append(Job(name, seed, folders[name, seed] / f'further_{number}',
                                tables=False, further=(claims, rows)))
    return jobs


def _run_jobs(jobs: Sequence[Job], progress: Progress, workers: int,
              tasks: Tasks | None) -> list[dict[str, Any]]:
    """Return the results of jobs; run and store those that are missing."""
    fractions = [0.0] * len(jobs)

    def report(index: int, text: str, fraction: float) -> None:
        fractions[index] = max(fractions[index], fraction)
        job = jobs[index]
        seed = f', seed {job.seed}' if len({each.seed for each in jobs}) > 1 else ''
        progress(f'{job.name}{seed}: {text}', sum(fractions) / len(fractions))

    if workers > 1:
        with isolated_workers() as context:
            _in_processes(context, jobs, report, workers)
    done = []
    for index, job in enumerate(jobs):
        done.append(stored_study(job, functools.partial(report, index), tasks))
        report(index, 'done', 1.0)
    return done


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


def _in_processes(context: Any, jobs: Sequence[Job], report: Callable[[int, str, float], None],
                  workers: int) -> None:
    """Run and store the missing studies in parallel processes of a multiprocessing context."""
    messages = context.Queue()
    waiting = sorted((index for index, job in enumerate(jobs) if job.stored() is None),
                     key=lambda index: LONGEST.index(jobs[index].name)
                     if jobs[index].name in LONGEST else 0)
    running: dict[int, Any] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                index = waiting.pop(0)
                running[index] = context.Process(
                    target=_in_process, args=(jobs[index], index, messages), daemon=True)
                running[index].start()
            with contextlib.suppress(queue.Empty):
                report(*messages.get(timeout=POLL))
            for index in [k for k, process in running.items() if not process.is_alive()]:
                code = running.pop(index).exitcode
                if code:
                    raise RuntimeError(
                        f'the process of the study {jobs[index].name} ended with {code}')
    finally:
        for process in running.values():
            process.terminate()


def _in_process(job: Job, index: int, messages: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)     # the parent process handles Ctrl-C
    stored_study(job, lambda text, fraction: messages.put((index, text, fraction)))


def stored_study(job: Job, progress: Progress, tasks: Tasks | None = None) -> dict[str, Any]:
    """
    Return a study stored in a folder; run and store it first if it is missing.

    Parameters
    ----------
    job
        The study, its seed and its folder.
    progress, tasks
        As for `run_all`.

    """
    stored = job.stored()
    if stored is None:
        result = run_study(job.name, quick=job.quick, seed=job.seed, progress=progress,
                           tasks=tasks, tables=job.tables, draws=job.draws, further=job.further)
        write_study({**result.contents(), **job.choice}, job.folder)
        stored = json.loads((job.folder / STORED).read_text(encoding='utf-8'))
    return dict(stored)
