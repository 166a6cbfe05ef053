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
"""The way from where an arm rests to where its excitation begins."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from robot_identification.arm import Arm, Limits
from robot_identification.arrays import Array
from robot_identification.errors import ExecutionError
from robot_identification.excitation import Requirements, Trajectory
from robot_identification.excitation.certificate.certificate import scene_for
from robot_identification.excitation.certificate.clearance_proof import prove_clearance
from robot_identification.excitation.motion.fourier import FourierSeries

SHORTEST = 1.0      # [s]


def approach(limits: Limits, q: Array, start: Array,
             speed: float) -> tuple[float, Callable[[Array], tuple[Array, Array, Array]]]:
    """
    Return the slow straight line in joint space, from rest to rest.

    Parameters
    ----------
    limits
        Finite ones.
    q, start
        Both ends, (n,) [rad or m].
    speed
        Part of the velocity and acceleration limits that is used, 0 to 1.

    Returns
    -------
    tuple
        Its duration [s], and the motion at times since its begin.

    """
    distance = start - q
    duration = max(
        SHORTEST, float(np.max(np.abs(distance) * 1.875 / (speed * limits.velocity))),
        float(np.max(np.sqrt(np.abs(distance) * 5.7736 / (speed * limits.acceleration)))))

    def evaluate(t: Array) -> tuple[Array, Array, Array]:
        u = (t / duration)[:, None]
        return (q + distance * u ** 3 * (10 - 15 * u + 6 * u ** 2),
                distance * 30 * u ** 2 * (1 - u) ** 2 / duration,
                distance * 60 * u * (1 - u) * (1 - 2 * u) / duration ** 2)

    return duration, evaluate


def check_approach(arm: Arm, requirements: Requirements, q: Array, start: Array) -> None:
    """
    Prove that the straight line keeps the clearance that the excitation keeps.

    Nothing is looked at where the excitation was designed without regard to collisions.

    Parameters
    ----------
    arm
        The arm.
    requirements
        What the excitation was certified for.
    q, start
        Both ends, (n,) [rad or m].

    Raises
    ------
    ExecutionError
        'approach_collision'.

    """
    if requirements.clearance is None:
        return
    # a cosine goes along the line and back
    half = (start - q) / 2
    series = FourierSeries(period=1.0, harmonics=1)
    line = Trajectory(series, np.stack(
        [q + half, np.zeros_like(half), half * series.angular_frequency]))
    found = prove_clearance(line, scene_for(arm, requirements), requirements.clearance)
    if not found.proven:
        close = ('would touch' if found.smallest <= 0 else
                 f'would come within {1e3 * found.smallest:.1f} mm of each other')
        where = ', '.join(f'{joint} {value:.3g}' for joint, value in zip(arm.joint_names, start))
        raise ExecutionError(
            'approach_collision',
            f'on the straight way from where the arm rests to the start of the excitation '
            f'{found.pair} {close}; {1e3 * requirements.clearance:g} mm are to be kept. Move the '
            f'arm towards the start by its own means first: {where}')
