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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any, TYPE_CHECKING

from robot_identification.errors import ConfigurationError
from robot_identification.papers.studies import run_study, STUDIES
from robot_identification.papers.studies.study import Progress
from robot_identification.papers.studies.verdict import judge_seeds, read_claim
from robot_identification.papers.study_report import write_study
from robot_identification.reporting.results_dict import environment

if TYPE_CHECKING:    # Dask
    from robot_identification.cluster import Tasks

STORED = 'study.json'


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

    """

    name: str
    seed: int
    folder: Path
    quick: bool = False
    draws: int | None = None
    tables: bool = True

    @property
    def choice(self) -> dict[str, Any]:
        """Options and environment that must match for a stored study to be reused."""
        return {'quick': self.quick, 'seed': self.seed, 'full': self.tables,
                'draws': self.draws, 'environment': environment()}

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
            tasks: Tasks | None = None, draws: int | None = None) -> dict[str, Any]:
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
    tasks
        Tasks of a cluster, which computes several draws of a study at once. None: this process
        computes all.
    draws
        Number of draws of all claims; None: those that the claims state.

    Raises
    ------
    ConfigurationError
        A file in the folder is not a stored study.

    """
    jobs = [Job(name, seed, (directory / f'seed_{seed}' if k else directory) / name, quick, draws,
                tables=k == 0) for k, seed in enumerate(seeds) for name in STUDIES]
    results: dict[str, list[dict[str, Any]]] = {name: [] for name in STUDIES}
    for index, job in enumerate(jobs):
        def report(text: str, fraction: float, job: Job = job, index: int = index) -> None:
            progress(f'{job.name}, seed {job.seed}: {text}', (index + fraction) / len(jobs))

        results[job.name].append(stored_study(job, report, tasks))
    progress('done', 1.0)
    studies = [pool_seeds(each) for each in results.values()]
    return {**{key: studies[0][key] for key in ('seeds', 'quick', 'draws', 'environment')},
            'studies': studies}


def pool_seeds(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """
    Return the result of the first seed, with claims judged by the draws of all seeds.

    Parameters
    ----------
    results
        Stored results of one study, one for each seed.

    """
    seeds = [[read_claim(claim)[0] for claim in result['claims']] for result in results]
    pooled = judge_seeds(seeds)
    return {**results[0], 'seeds': [result['seed'] for result in results], 'claims': pooled,
            'processor_seconds': sum(result['processor_seconds'] for result in results)}


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
                           tasks=tasks, tables=job.tables, draws=job.draws)
        write_study({**result.contents(), **job.choice}, job.folder)
        stored = json.loads((job.folder / STORED).read_text(encoding='utf-8'))
    return dict(stored)
