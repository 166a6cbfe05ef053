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
"""Neighbouring joints whose signals changed places."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import Array, IndexArray
from robot_identification.dynamics import BaseParameters
from robot_identification.regression.reduce import packed_rows
from robot_identification.signals import Samples
from robot_identification.validation import Finding
from robot_identification.validation.checks.case import Case
from robot_identification.validation.checks.check import Check, RECORDINGS
from robot_identification.validation.checks.evidence import Evidence

NAME = 'exchanged joints'
DEVIATIONS = 4.0
BETTER = 0.1
"""Gain of log likelihood for each row of all joints: exchanges that are needed gain 0.6 and more
in training; good recordings lose, or gain 1.1 standard deviations at most."""
LOADED = 0.03
"""Part of the most loaded joint's torque from which a joint is looked at, and"""
UNKNOWN = 0.2
"""part of their torques that the exchange may leave: the last two joints of the LWR4, with 2 and
1 % of the torque, fit better exchanged, though of one of them 28 % is then left."""


@dataclass(frozen=True)
class _Gain:
    """
    What an exchange gains.

    The log likelihood for each row, the same in standard deviations, and the larger part of its
    torque that a joint of the two leaves.
    """

    value: float
    deviations: float
    left: float


def _find(case: Case) -> Finding | None:
    """
    Fit the model with each pair of neighbours exchanged, and compare block by block.

    The test is that of two models of which neither contains the other, on sums over blocks of
    time.

    References
    ----------
    Q. H. Vuong, "Likelihood ratio tests for model selection and non-nested hypotheses",
    Econometrica 57(2), 1989.

    """
    evidence, arm = case.evidence, case.arm
    if evidence is None or case.base is None:
        return None
    loaded = (evidence.level >= LOADED * evidence.level.max()) & np.asarray(arm.measured)
    pairs = [j for j in range(len(loaded) - 1)
             if loaded[j] and loaded[j + 1] and arm.prismatic[j] == arm.prismatic[j + 1]]
    if not pairs:
        return None
    s = evidence.samples
    packed, torque = evidence.packed, evidence.measured
    as_named, found = evidence.refitted(packed, torque), []
    for j in pairs:
        order = np.arange(len(loaded))
        order[[j, j + 1]] = j + 1, j
        q, v, a, tau = (np.ascontiguousarray(x[:, order]) for x in (s.q, s.v, s.a, s.tau))
        exchanged = _packed(case, case.base, replace(s, q=q, v=v, a=a, tau=tau))
        trials = {'positions and efforts': evidence.refitted(
            exchanged, np.column_stack([part[:, -1] for part in exchanged]))}
        if not arm.balancers:    # whose known torque is taken out of the rows
            trials['efforts'] = evidence.refitted(packed, torque[:, order])
        found += [(_gain(evidence, as_named, trial, order), j, what)
                  for what, trial in trials.items()]
    best, j, what = max(found, key=lambda item: (_alarming(item[0]), item[0].value))
    alarm = _alarming(best)
    names = ' and '.join(evidence.joint_names[j:j + 2])
    side = 'better' if best.deviations > 0 else 'worse'
    text = (f'with the {what} of {names} exchanged the model fits {side} by '
            f'{abs(best.deviations):.1f} standard deviations')
    if alarm:
        text += ('; compare the order of the names with that of the signals, and mend the '
                 'recording or the robot YAML')
    return Finding(NAME, case.name, best.deviations, DEVIATIONS, '-', alarm, text,
                   evidence.joint_names[j])


def _alarming(gain: _Gain) -> bool:
    return gain.value > BETTER and gain.deviations > DEVIATIONS and gain.left < UNKNOWN


def _gain(evidence: Evidence, as_named: Array, exchanged: Array, order: IndexArray) -> _Gain:
    """Compare residuals (rows, n) as named and with the torques of joints in another order."""
    floor = 1e-9 * evidence.level.max()
    first, second = (np.maximum(np.sqrt(np.mean(residual ** 2, axis=0)), floor)
                     for residual in (as_named, exchanged))
    gain = np.sum(np.log(first / second) + (as_named / first) ** 2 / 2
                  - (exchanged / second) ** 2 / 2, axis=1)
    sums = np.bincount(evidence.block, gain)
    spread = float(np.std(sums, ddof=1) * np.sqrt(len(sums)))
    moved = order != np.arange(len(order))
    level = np.maximum(evidence.level, floor)    # a joint without a sensor has none
    return _Gain(float(np.mean(gain)), float(sums.sum() / spread) if spread > 0 else 0.0,
                 float(np.max((second / level[order])[moved])))


def _packed(case: Case, base: BaseParameters, samples: Samples) -> list[Array]:
    """Return for each joint the decimated columns and torque, (rows, c_j + 1)."""
    load = (case.model.transmitted_torque(samples.q, samples.v, samples.a)
            if base.structure.friction.needs_load else None)
    return packed_rows(base, samples, load)


CHECK = Check(
    NAME, 'Does every signal belong to the joint whose name it has?',
    f'{DEVIATIONS:g} standard deviations by which the model fits better with neighbours '
    'exchanged: good recordings fit worse, or better by 1.1 at most', RECORDINGS, _find)
