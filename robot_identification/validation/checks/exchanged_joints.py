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

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from robot_identification.arrays import Array, IndexArray
from robot_identification.regression.reduced_regression import packed_rows
from robot_identification.validation.checks.check import Check, CheckInput, Measurement, RECORDINGS
from robot_identification.validation.checks.residual_regression import ResidualRegression

_DEVIATIONS = 4.0
_GAIN = 0.1
"""Smallest gain of log likelihood per row for an alarm. If joints are exchanged in a training
recording, correcting them gains 0.6 or more. In good recordings an exchange loses likelihood or
gains at most 1.1 standard deviations."""
_LOADED = 0.03
"""Joints with less than this fraction of the largest torque are skipped."""
_UNEXPLAINED = 0.2
"""Largest ratio of residual to torque of the exchanged joints for an alarm. The last two joints of
the LWR4 carry 2 and 1 % of the torque and fit better exchanged, but one ratio is then 28 %."""


def measure_exchanged_joints(data: CheckInput) -> Measurement | None:
    """
    Fit the model with each pair of neighbours exchanged, and compare the likelihoods.

    The likelihoods of the two non-nested models are compared with Vuong's test, on sums over
    blocks of time.

    References
    ----------
    Q. H. Vuong, "Likelihood ratio tests for model selection and non-nested hypotheses",
    Econometrica 57(2), 1989.

    """
    regression, arm = data.regression, data.arm
    as_named = regression.refit(regression.packed)
    loaded = [j for j in regression.loaded_joints(_LOADED) if arm.measured[j]]
    trials = []
    for j in loaded:
        if j + 1 in loaded and arm.prismatic[j] == arm.prismatic[j + 1]:
            order = np.arange(arm.n)
            order[[j, j + 1]] = j + 1, j
            for signals, exchanged in _refit_exchanged(regression, data, order):
                gain, z_score, remaining = _compare(regression, as_named, exchanged, order)
                alarm = gain > _GAIN and z_score > _DEVIATIONS and remaining < _UNEXPLAINED
                trials.append((alarm, gain, z_score, j, signals))
    if not trials:
        return None
    alarm, _, z_score, j, signals = max(trials, key=lambda trial: trial[:2])
    names = ' and '.join(regression.joint_names[j:j + 2])
    return Measurement(
        z_score, _DEVIATIONS, '-',
        f'with the {signals} of {names} exchanged the model fits '
        f'{"better" if z_score > 0 else "worse"} by {abs(z_score):.1f} standard deviations',
        '; compare the order of the joint names with that of the signals, and correct the '
        'recording or the robot YAML', regression.joint_names[j], alarm)


def _refit_exchanged(regression: ResidualRegression, data: CheckInput,
                     order: IndexArray) -> Iterator[tuple[str, Array]]:
    """Yield names of exchanged signals, and residuals of the fit to them, (rows, n) [N m or N]."""
    samples, base = regression.samples, regression.base
    q, v, a, tau = (np.ascontiguousarray(x[:, order])
                    for x in (samples.q, samples.v, samples.a, samples.tau))
    load = data.model.transmitted_torque(q, v, a) if base.structure.friction.needs_load else None
    yield 'positions and efforts', regression.refit(
        packed_rows(base, replace(samples, q=q, v=v, a=a, tau=tau), load))
    if not data.arm.balancers:    # their known torque has been subtracted from the efforts
        yield 'efforts', regression.refit([
            np.column_stack([rows[:, :-1], regression.measured[:, j]])
            for rows, j in zip(regression.packed, order)])


def _compare(regression: ResidualRegression, as_named: Array, exchanged: Array,
             order: IndexArray) -> tuple[float, float, float]:
    """
    Compare the residuals of the fits to signals as named and exchanged, (rows, n) [N m or N].

    Returns
    -------
    tuple
        Gain of log likelihood per row, the same in standard deviations, and the larger residual
        of the two joints as a fraction of their torque.

    """
    first, second = (np.maximum(np.sqrt(np.mean(residual ** 2, axis=0)), regression.floor)
                     for residual in (as_named, exchanged))
    gain = np.sum(np.log(first / second) + (as_named / first) ** 2 / 2
                  - (exchanged / second) ** 2 / 2, axis=1)
    sums = np.bincount(regression.block, gain)
    std = float(np.std(sums, ddof=1) * np.sqrt(len(sums)))
    level = np.maximum(regression.level, regression.floor)    # zero for a joint without a sensor
    remaining = (second / level[order])[order != np.arange(len(order))]
    return (float(np.mean(gain)), float(sums.sum() / std) if std > 0 else 0.0,
            float(np.max(remaining)))


CHECK = Check(
    'exchanged joints', 'Does every signal belong to the joint that it is named after?',
    f'{_DEVIATIONS:g} standard deviations by which the model fits better with neighbours '
    'exchanged; good recordings fit worse, or better by at most 1.1', RECORDINGS,
    measure_exchanged_joints)
