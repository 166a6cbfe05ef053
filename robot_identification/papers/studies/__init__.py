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
"""The papers' comparisons, each reproducible with one call."""

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
    map_items,
    MapFunction,
    Plot,
    Progress,
    StudyResult,
    Table,
)
from robot_identification.papers.studies.survey_er20 import survey_er20
from robot_identification.papers.studies.verdict import Claim
from robot_identification.parallel import single_threaded_blas

if TYPE_CHECKING:    # Dask
    from robot_identification.fleet.cluster import Tasks

STUDIES: dict[str, Callable[[bool, int, Progress, MapFunction], StudyResult]] = {
    study.__name__: study for study in (abc_er16, ics_er16, survey_er20, elpidso_2link,
                                        mfs_qj)}


def study_name(name: str) -> str:
    """
    Return the name of the study that a name, or the beginning of one, means.

    Raises
    ------
    UnknownNameError
        There is no such study, or more than one.

    """
    found = [known for known in STUDIES if known == name] or [
        known for known in STUDIES if name and known.startswith(name)]
    if len(found) != 1:
        raise UnknownNameError('study', name, STUDIES)
    return found[0]


def run_study(name: str, *, quick: bool = False, seed: int = 0,
              progress: Progress | None = None, tasks: Tasks | None = None) -> StudyResult:
    """
    Reproduce a paper's comparison.

    Parameters
    ----------
    name
        Key in `STUDIES`, or the beginning of one.
    quick
        Fewer runs and evaluations, to see that it works; its figures mean little.
    seed
        First seed of everything that is drawn.
    progress
        Called with what is being done and the part of it that is done, 0 to 1.
    tasks
        Those of a cluster, for seeds, searches and arms; here, one after the other, when None.
        No digit depends on it.

    Raises
    ------
    UnknownNameError
        There is no such study.

    """
    study = STUDIES[study_name(name)]

    def busy() -> float:
        return time.process_time() + (tasks.processor if tasks else 0.0)

    began, before = time.monotonic(), busy()
    with single_threaded_blas():
        result = study(quick, seed, progress or (lambda text, part: None),
                       map_items if tasks is None else tasks.map_items)
    return dataclasses.replace(result, seconds=time.monotonic() - began,
                               processor_seconds=busy() - before)


__all__ = ['STUDIES', 'Claim', 'Plot', 'StudyResult', 'Table', 'run_study', 'study_name']
