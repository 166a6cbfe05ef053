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

from robot_identification.errors import UnknownNameError
from robot_identification.papers.studies.abc_er16 import abc_er16
from robot_identification.papers.studies.elpidso_2link import elpidso_2link
from robot_identification.papers.studies.ics_er16 import ics_er16
from robot_identification.papers.studies.mfs_qj import mfs_qj
from robot_identification.papers.studies.study import Claim, Plot, Progress, StudyResult, Table
from robot_identification.papers.studies.survey_er20 import survey_er20

STUDIES: dict[str, Callable[[bool, int, Progress], StudyResult]] = {
    study.__name__: study for study in (abc_er16, ics_er16, survey_er20, elpidso_2link,
                                        mfs_qj)}


def run_study(name: str, *, quick: bool = False, seed: int = 0,
              progress: Progress | None = None) -> StudyResult:
    """
    Reproduce a paper's comparison.

    Parameters
    ----------
    name
        Key in `STUDIES`.
    quick
        Fewer runs and evaluations, to see that it works; its figures mean little.
    seed
        Of everything that is drawn.
    progress
        Called with what is being done and the part of it that is done, 0 to 1.

    Raises
    ------
    UnknownNameError
        There is no such study.

    """
    if name not in STUDIES:
        raise UnknownNameError('study', name, STUDIES)
    began = time.monotonic()
    result = STUDIES[name](quick, seed, progress or (lambda text, part: None))
    return dataclasses.replace(result, seconds=time.monotonic() - began)


__all__ = ['STUDIES', 'Claim', 'Plot', 'StudyResult', 'Table', 'run_study']
