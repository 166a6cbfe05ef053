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

from robot_identification.errors import ExcitationError, UnknownNameError
from robot_identification.excitation.design.criteria.alphabet import AOptimality, EOptimality
from robot_identification.excitation.design.criteria.condition_number import ConditionNumber
from robot_identification.excitation.design.criteria.criterion import Criterion
from robot_identification.excitation.design.criteria.determinant import LogDeterminant
from robot_identification.excitation.design.criteria.mixture import Mixture
from robot_identification.excitation.design.criteria.smallest_singular_value import (
    SmallestSingularValue,
)

CRITERIA: dict[str, type[Criterion]] = {
    'cond': ConditionNumber, 'logdet': LogDeterminant, 'sigma_min': SmallestSingularValue,
    'a_optimal': AOptimality, 'e_optimal': EOptimality}


def get_criterion(name: str) -> Criterion:
    """
    Return a criterion by name.

    Parameters
    ----------
    name
        'cond', 'logdet', 'sigma_min', 'a_optimal', 'e_optimal', or a mixture such as
        'cond + 0.1 logdet'.

    Raises
    ------
    UnknownNameError
        No such criterion.
    ExcitationError
        A mixture whose weights are not positive numbers.

    """
    if '+' in name:
        return Mixture([(weight, get_criterion(member)) for weight, member in _terms(name)])
    if name not in CRITERIA:
        raise UnknownNameError('excitation criterion', name, CRITERIA)
    return CRITERIA[name]()


def _terms(text: str) -> list[tuple[float, str]]:
    """Weights and names of 'cond + 0.1 logdet'; a weight of 1 may be left out."""
    terms = []
    for part in text.split('+'):
        *weight, name = part.replace('*', ' ').split() or ['']
        try:
            value = float(weight[0]) if weight else 1.0
        except ValueError:
            value = -1.0
        if len(weight) > 1 or not value > 0:
            raise ExcitationError(f"'{part.strip()}' in the criterion '{text}' is not a positive "
                                  f"weight and a name, such as 'cond + 0.1 logdet'")
        terms.append((value, name))
    return terms


__all__ = ['CRITERIA']
