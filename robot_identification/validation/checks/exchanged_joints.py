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
"""Exchanged signals of neighbouring joints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import Array, IndexArray
from robot_identification.dynamics import BaseParameters
from robot_identification.regression.reduce import packed_rows
from robot_identification.validation.checks.check import Check, CheckInput, RECORDINGS
from robot_identification.validation.checks.residual_regression import ResidualRegression
from robot_identification.validation.finding import Finding

_NAME = 'exchanged joints'
_DEVIATIONS = 4.0
_GAIN = 0.1
"""Gain of log likelihood per row that an exchange must reach: necessary exchanges gain 0.6 and
more in training; good recordings lose, or gain at most 1.1 standard deviations."""
_LOADED = 0.03
"""Joints with less than this fraction of the largest torque are skipped."""
_UNEXPLAINED = 0.2
"""Largest residual of the exchanged joints over their torque: the last two joints of the LWR4,
with 2 and 1 % of the torque, fit better exchanged, but 28 % of one remains unexplained."""


@dataclass(frozen=True)
class _Gain:
    """
    Comparison of a fit with exchanged joints to the fit as named.

    Parameters
    ----------
    value
        Gain of log likelihood per row.
    z_score
        The same in standard deviations.
    residual
        The larger residual of the two joints, as a fraction of their torque.

    """

    value: float
    z_score: float
    residual: float

    @property
    def alarm(self) -> bool:
        return (self.value > _GAIN and self.z_score > _DEVIATIONS
                and self.residual < _UNEXPLAINED)


def check_exchanged_joints(data: CheckInput) -> Finding | None:
    """
    Fit the model with each pair of neighbours exchanged, and compare the likelihoods.

    The test is that of two non-nested models, on sums over blocks of time.

    References
    ----------
    Q. H. Vuong, "Likelihood ratio tests for model selection and non-nested hypotheses",
    Econometrica 57(2), 1989.

    """
    regression, arm = data.regression, data.arm
    if regression is None or data.base is None:
        return None
    loaded = [j for j in regression.loaded_joints(_LOADED) if arm.measured[j]]
    pairs = [j for j in loaded if j + 1 in loaded and arm.prismatic[j] == arm.prismatic[j + 1]]
    if not pairs:
        return None
    as_named = regression.refit(regression.packed, regression.measured)
    trials = [(_compare(regression, as_named, exchanged, order), j, what)
              for j in pairs
              for what, exchanged, order in _exchange(regression, data, data.base, j)]
    best, j, what = max(trials, key=lambda item: (item[0].alarm, item[0].value))
    names = ' and '.join(regression.joint_names[j:j + 2])
    text = (f'with the {what} of {names} exchanged the model fits '
            f'{"better" if best.z_score > 0 else "worse"} by {abs(best.z_score):.1f} standard '
            'deviations')
    if best.alarm:
        text += ('; compare the order of the joint names with that of the signals, and correct '
                 'the recording or the robot YAML')
    return Finding(_NAME, data.name, best.z_score, _DEVIATIONS, '-', best.alarm, text,
                   regression.joint_names[j])


def _exchange(regression: ResidualRegression, data: CheckInput, base: BaseParameters,
              j: int) -> Iterator[tuple[str, Array, IndexArray]]:
    """Yield what is exchanged of j and j + 1, the residuals (rows, n), and the order."""
    samples = regression.samples
    order = np.arange(len(regression.joint_names))
    order[[j, j + 1]] = j + 1, j
    q, v, a, tau = (np.ascontiguousarray(x[:, order])
                    for x in (samples.q, samples.v, samples.a, samples.tau))
    load = (data.model.transmitted_torque(q, v, a)
            if base.structure.friction.needs_load else None)
    packed = packed_rows(base, replace(samples, q=q, v=v, a=a, tau=tau), load)
    yield 'positions and efforts', regression.refit(
        packed, np.column_stack([rows[:, -1] for rows in packed])), order
    if not data.arm.balancers:    # whose known torque has been subtracted from the rows
        yield 'efforts', regression.refit(
            regression.packed, regression.measured[:, order]), order


def _compare(regression: ResidualRegression, as_named: Array, exchanged: Array,
             order: IndexArray) -> _Gain:
    """Return the gain of residuals (rows, n) with the torques in another order of the joints."""
    floor = 1e-9 * regression.level.max()
    first, second = (np.maximum(np.sqrt(np.mean(residual ** 2, axis=0)), floor)
                     for residual in (as_named, exchanged))
    gain = np.sum(np.log(first / second) + (as_named / first) ** 2 / 2
                  - (exchanged / second) ** 2 / 2, axis=1)
    sums = np.bincount(regression.block, gain)
    spread = float(np.std(sums, ddof=1) * np.sqrt(len(sums)))
    moved = order != np.arange(len(order))
    level = np.maximum(regression.level, floor)    # a joint without a sensor has none
    return _Gain(float(np.mean(gain)), float(sums.sum() / spread) if spread > 0 else 0.0,
                 float(np.max((second / level[order])[moved])))


CHECK = Check(
    _NAME, 'Does every signal belong to the joint that it is named after?',
    f'{_DEVIATIONS:g} standard deviations by which the model fits better with neighbours '
    'exchanged; good recordings fit worse, or better by at most 1.1', RECORDINGS,
    check_exchanged_joints)
