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
"""Criteria of excitation, by name."""

from __future__ import annotations

from robot_identification.errors import UnknownNameError
from robot_identification.excitation.criteria.condition_number import ConditionNumber
from robot_identification.excitation.criteria.criterion import Criterion
from robot_identification.excitation.criteria.determinant import LogDeterminant
from robot_identification.excitation.criteria.smallest_singular_value import SmallestSingularValue

CRITERIA: dict[str, type[Criterion]] = {
    'cond': ConditionNumber, 'logdet': LogDeterminant, 'sigma_min': SmallestSingularValue}


def get_criterion(name: str) -> Criterion:
    """
    Return a criterion by name.

    Parameters
    ----------
    name
        'cond', 'logdet' or 'sigma_min'.

    Raises
    ------
    UnknownNameError
        No such criterion.
    """
    if name not in CRITERIA:
        raise UnknownNameError('excitation criterion', name, CRITERIA)
    return CRITERIA[name]()


__all__ = ['CRITERIA', 'ConditionNumber', 'Criterion', 'LogDeterminant', 'SmallestSingularValue',
           'get_criterion']
