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
"""What held-out residuals still have to do with the motion."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.validation import Finding
from robot_identification.validation.checks.case import Case
from robot_identification.validation.checks.check import Check, Role

NAME = 'residual trace'
EXPLAINED = 0.85
NOTICEABLE = 0.1
"""Size of the residual over that of the torque from which a trace matters."""
LOADED = 0.05
TRACES = {
    'position': 'gravity, a load or a spring differs from the training motion',
    'velocity': 'friction differs: temperature, lubrication, wear',
    'direction': 'friction differs: temperature, lubrication, wear',
    'acceleration': 'inertia or the clock differs',
    'torque': 'gain or unit of the effort differs',
    'time': 'the effort drifts: its sensor or drive warms up, or friction does',
    'change of torque': 'a delay between torques and positions differs'}
"""What a trace of each signal points to."""


def find(case: Case) -> Finding | None:
    """Correlate each joint's residual with position, velocity, acceleration and torque."""
    evidence = case.evidence
    if evidence is None:
        return None
    s = evidence.samples
    signals = {
        'position': evidence.apply(np.hstack([np.sin(s.q), np.cos(s.q)])),
        'velocity': evidence.apply(np.array(s.v)), 'direction': evidence.apply(np.sign(s.v)),
        'acceleration': evidence.apply(np.array(s.a)), 'torque': evidence.predicted,
        'time': evidence.apply(np.repeat(s.t[:, None], s.q.shape[1], axis=1)),
        'change of torque': evidence.slope}
    worst, n = ('position', '', 0.0), len(evidence.joint_names)
    for j, joint in enumerate(evidence.joint_names):
        level, residual = evidence.level[j], evidence.residual[:, j]
        residual = residual - residual.mean()
        if (level < LOADED * evidence.level.max()
                or np.std(residual) < NOTICEABLE * level * evidence.weights[j]):
            continue
        for name, values in signals.items():
            share = max(_share(column, residual) for column in values.T[j::n])
            if share > worst[2]:
                worst = (name, joint, share)
    name, joint, share = worst
    if not joint:
        return Finding(NAME, case.name, 0.0, EXPLAINED, '-', False,
                       f'no joint leaves more than {NOTICEABLE:.0%} of its torque')
    alarm = share > EXPLAINED
    text = f'{share:.0%} of the squared residual of {joint} goes with its {name}'
    if alarm:
        text += f'; {TRACES[name]}'
    return Finding(NAME, case.name, share, EXPLAINED, '-', alarm, text, joint)


def _share(column: Array, residual: Array) -> float:
    """Return the squared correlation of a signal with residuals of zero mean."""
    power = float(np.mean((column - column.mean()) ** 2) * np.mean(residual ** 2))
    return float(np.mean(column * residual)) ** 2 / power if power > 0 else 0.0


CHECK = Check(
    NAME, 'Is what the model leaves of a held-out motion free of the motion?',
    f'one signal that explains {EXPLAINED:.0%} of a residual of {NOTICEABLE:.0%} of the torque or '
    'more: friction that the model lacks explains up to 78 % on clean simulated plants',
    frozenset({Role.HELD_OUT}), find)
