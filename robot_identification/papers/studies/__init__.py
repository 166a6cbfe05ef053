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
"""Studies that repeat the comparisons of papers, each with one call."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import time
from typing import TYPE_CHECKING

from robot_identification.errors import UnknownNameError
from robot_identification.papers.studies.abc_er16 import abc_er16
from robot_identification.papers.studies.elpidso_2link import elpidso_2link
from robot_identification.papers.studies.ics_er16 import ics_er16
from robot_identification.papers.studies.mfs_qj import mfs_qj
from robot_identification.papers.studies.study import (
    HERE,
    PAPER,
    Plot,
    Progress,
    StudyOptions,
    StudyResult,
    Table,
)
from robot_identification.papers.studies.survey_er20 import survey_er20
from robot_identification.papers.studies.verdict import Claim, JudgedClaim
from robot_identification.parallel import single_threaded_blas

if TYPE_CHECKING:    # Dask
    from robot_identification.cluster import Tasks

STUDIES: dict[str, Callable[[StudyOptions], StudyResult]] = {
    study.__name__: study for study in (abc_er16, ics_er16, survey_er20, elpidso_2link,
                                        mfs_qj)}


def study_name(name: str) -> str:
    """
    Return the full name of a study.

    Parameters
    ----------
    name
        Name of a study, or an unambiguous prefix.

    Raises
    ------
    UnknownNameError
        No study or several studies match.

    Examples
    --------
    >>> study_name('mfs')
    'mfs_qj'

    """
    matches = [known for known in STUDIES if known == name] or [
        known for known in STUDIES if name and known.startswith(name)]
    if len(matches) != 1:
        raise UnknownNameError('study', name, STUDIES)
    return matches[0]


def run_study(name: str, *, quick: bool = False, seed: int = 0,
              progress: Progress | None = None, tasks: Tasks | None = None,
              tables: bool = True, draws: int | None = None) -> StudyResult:
    """
    Reproduce the comparison of a paper and return its result.

    Parameters
    ----------
    name
        Key in `STUDIES`, or an unambiguous prefix.
    quick
        Fewer runs and evaluations, for a test run; the results are not meaningful.
    seed
        Random seed of all draws.
    progress
        Called with a description of the current work and the completed fraction, 0 to 1.
    tasks
        Cluster tasks, which compute seeds, searches and arms in parallel. None: this process
        computes all. The result is the same.
    tables
        Whether to compute tables and plots, in addition to the claims.
    draws
        Number of draws of all claims. None: those that the claims state.

    Raises
    ------
    UnknownNameError
        No study or several studies match the name.

    Examples
    --------
    >>> run_study('mfs', quick=True).verdicts[0].verdict
    'undecided'

    """
    name = study_name(name)
    options = StudyOptions(quick, seed, count=draws, tables=tables)
    if progress is not None:
        options = dataclasses.replace(options, progress=progress)
    if tasks is not None:
        options = dataclasses.replace(options, map_items=tasks.map_items)

    def processor_seconds() -> float:
        return time.process_time() + (tasks.processor_seconds if tasks else 0.0)

    start, processor_start = time.monotonic(), processor_seconds()
    with single_threaded_blas():
        result = STUDIES[name](options)
    return dataclasses.replace(result, name=name, quick=quick, seconds=time.monotonic() - start,
                               processor_seconds=processor_seconds() - processor_start)


__all__ = [
    'HERE',
    'PAPER',
    'STUDIES',
    'Claim',
    'JudgedClaim',
    'Plot',
    'Progress',
    'StudyOptions',
    'StudyResult',
    'Table',
    'run_study',
    'study_name',
]
