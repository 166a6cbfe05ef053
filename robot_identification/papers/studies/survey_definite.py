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
"""Searches of the survey (Zhang et al. 2018) whose inertia matrices are constrained."""

from collections.abc import Mapping, Sequence

import numpy as np
from robot_identification.arm import load_arm
from robot_identification.arrays import Array
from robot_identification.papers.searches import Bounds
from robot_identification.papers.searches.ranges import RELATIVE
from robot_identification.papers.studies.study import Table
from robot_identification.papers.studies.survey_methods import MethodResult
from robot_identification.papers.studies.survey_parameters import about_centre, principal_moments
from robot_identification.papers.studies.survey_published import PUBLISHED_JOINT


def tabulate_definite(runs: Sequence[Mapping[str, MethodResult]]) -> Table:
    """Return the principal moments of the links by method, as printed and here."""
    nominal, first = about_centre(load_arm('er20_c10').inertial_parameters), next(iter(runs[0]))
    published = np.array([row[1:] for row in PUBLISHED_JOINT.rows[:10]], dtype=float).T
    printed = dict(zip(PUBLISHED_JOINT.heads[1:], principal_moments(published)[:, 0]))
    as_printed = nominal.copy()
    as_printed[2, 4:] = published[0, 4:]
    rows: list[tuple[str | float, ...]] = []
    for method in ('set', *runs[0]):
        standard = np.array([results[first].truth[0] if method == 'set' else
                             results[method].standard for results in runs])
        moments = principal_moments(about_centre(standard[:, :nominal.size].reshape(
            -1, *nominal.shape)))
        rows.append((method, float(printed[method]) if method in printed else '-',
                     float(np.median(moments[:, 2, 0])), *(
                         float(np.mean(np.sum(wrong, axis=1))) for wrong in (
                             moments[..., 0] <= 0,
                             moments[..., 0] + moments[..., 1] < moments[..., 2]))))
    return Table(
        'Searches constrained to positive definite inertias (section 3.4), linear friction, '
        'without noise', (
            'method', 'Table 5: smallest principal moment of joint 3 [kg m^2]',
            'here: smallest principal moment of joint 3 [kg m^2]',
            'links of six that are not positive definite',
            'links of six that are no possible body'), tuple(rows),
        note=f'Median and means over {len(runs)} draws; inertia about the centre of mass; "set": '
             f'the true arm. The survey says that the inertia matrix can be constrained to be '
             f'positive definite. Of its Table 5, the results of the genetic algorithm and of the '
             f'particle filter are; the arm itself is not. Here an infeasible candidate is worse '
             f'than every feasible one. Of random points in the ranges, {_share(nominal):.0%} '
             f'have positive definite inertias, {_share(as_printed):.0%} with the inertia of '
             f'joint 3 as printed; a constraint that never binds does not change the result. The '
             f'largest moment of a possible body is at most the sum of the others. The next table '
             f'has the errors of the constrained searches.')


def _share(nominal: Array) -> float:
    """Return the share of random points around links (n, 10) with positive definite inertias."""
    bounds = Bounds.around(nominal.ravel(), RELATIVE, 1e-6)
    points = bounds.from_unit(np.random.default_rng(0).random((10_000, nominal.size)))
    return float(np.mean(np.all(
        principal_moments(points.reshape(-1, *nominal.shape))[..., 0] > 0, axis=1)))
