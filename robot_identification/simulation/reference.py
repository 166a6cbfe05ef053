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
"""The commanded motion of a simulated arm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import SimulationError
from scipy.interpolate import CubicHermiteSpline

RUN_IN = (1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05)  # [s] durations that are tried for the run-in
_LONGEST = 86_400.0    # [s] of motion that is simulated: 90 million samples at 1 kHz
Motion = tuple[Array, Array, Array]


@dataclass(frozen=True)
class Reference:
    """
    A motion of n joints, from the instant at which recording starts.

    Parameters
    ----------
    evaluate
        Maps instants (N,) [s] to q, v, a, (N, n) each.
    duration
        Duration of all passes [s].

    """

    evaluate: Callable[[Array], Motion]
    duration: float

    @classmethod
    def of(cls, motion: Any, arm: Arm, periods: int) -> Reference:
        """
        Make a reference of what an excitation, a trajectory or arrays give.

        Parameters
        ----------
        motion
            An excitation (with `.trajectory`), a trajectory (with `.evaluate(t)`, giving q, v, a
            first, and `.period`), an object with `.sample(rate, periods)`, or arrays (t, q, v, a).
        arm
            The arm that is to move.
        periods
            How often the motion is passed through.

        Raises
        ------
        SimulationError
            The motion is none of these, or is for other joints.

        """
        names = getattr(motion, 'joint_names', None)
        if names is not None and tuple(names) != arm.joint_names:
            raise SimulationError(
                f'the motion is for the joints {", ".join(names)}, the arm has '
                f'{", ".join(arm.joint_names)}')
        if periods < 1:
            raise SimulationError(f'the motion cannot be passed through {periods} times')
        trajectory = getattr(motion, 'trajectory', motion)
        if hasattr(trajectory, 'evaluate') and hasattr(trajectory, 'period'):
            reference = cls(_from_trajectory(trajectory), float(trajectory.period) * periods)
        elif hasattr(motion, 'sample'):
            reference = _from_arrays(motion.sample(1000.0, periods=periods), 'sampled motion')
        elif isinstance(motion, (tuple, list)) and len(motion) == 4:
            if periods != 1:
                raise SimulationError('a motion given as arrays is passed through once; repeat '
                                      'the arrays themselves')
            reference = _from_arrays(motion, 'arrays')
        else:
            raise SimulationError(
                f'a motion cannot be made of {type(motion).__name__}; give an excitation, a '
                'trajectory with evaluate(t) and period, or arrays (t, q, v, a)')
        if not reference.duration <= _LONGEST:
            raise SimulationError(f'a motion of {reference.duration:g} s is longer than the '
                                  f'{_LONGEST:g} s that are simulated; take fewer periods')
        joints = reference.evaluate(np.zeros(1))[0].shape[1]
        if joints != arm.n:
            raise SimulationError(f'the motion is for {joints} joints, the arm has {arm.n}')
        return reference

    def run_in(self, arm: Arm) -> tuple[Array, Array, Array]:
        """
        Plan how to reach the start with its velocity and acceleration from rest.

        Each joint waits, then follows a polynomial whose velocity grows from zero, over the
        longest of a few durations that keeps it within its limits.

        Parameters
        ----------
        arm
            Says the position limits.

        Returns
        -------
        tuple
            Where the joints rest, (n,), durations (n,) [s], and polynomial coefficients of the
            velocity (n, 2) for time squared and cubed.

        Raises
        ------
        SimulationError
            The motion starts at a position limit, coming from beyond it.

        """
        q, v, a = (x[0] for x in self.evaluate(np.zeros(1)))
        rest, seconds, coefficients = np.array(q), np.zeros(arm.n), np.zeros((arm.n, 2))
        for i, joint in enumerate(arm.joint_names):
            for duration in RUN_IN:
                c2 = (3 * v[i] - a[i] * duration) / duration ** 2
                c3 = (a[i] * duration - 2 * v[i]) / duration ** 3
                s = np.linspace(0, duration, 51)
                path = c2 * s ** 3 / 3 + c3 * s ** 4 / 4
                path += q[i] - path[-1]
                slack = 1e-9
                if (path.min() >= min(arm.limits.lower[i], q[i]) - slack
                        and path.max() <= max(arm.limits.upper[i], q[i]) + slack):
                    rest[i], seconds[i], coefficients[i] = path[0], duration, (c2, c3)
                    break
            else:
                raise SimulationError(
                    f'the motion starts at {q[i]:.4g} with {v[i]:.4g} per second at joint '
                    f"'{joint}', "
                    'which cannot be reached from rest within the limits '
                    f'{arm.limits.lower[i]:.4g} and {arm.limits.upper[i]:.4g}')
        return rest, seconds, coefficients


def run_in_motion(plan: tuple[Array, Array, Array], remaining: Array) -> tuple[Array, Array]:
    """
    Return the reference before the start, q and v, (N, n) each.

    Parameters
    ----------
    plan
        What `Reference.run_in` returned.
    remaining
        Times until the start, (N, 1) [s].

    """
    rest, seconds, coefficients = plan
    s = np.maximum(seconds - remaining, 0)
    c2, c3 = coefficients.T
    return rest + c2 * s ** 3 / 3 + c3 * s ** 4 / 4, c2 * s ** 2 + c3 * s ** 3


def _from_trajectory(trajectory: Any) -> Callable[[Array], Motion]:
    def evaluate(t: Array) -> Motion:
        q, v, a = (np.asarray(x, dtype=float) for x in trajectory.evaluate(t)[:3])
        return q, v, a
    return evaluate


def _from_arrays(arrays: Any, name: str) -> Reference:
    t, q, v, a = (np.asarray(x, dtype=float) for x in arrays)
    if t.ndim != 1 or q.ndim != 2 or not q.shape == v.shape == a.shape == (len(t), q.shape[1]):
        raise SimulationError(f'the {name} must be t (N,) and q, v, a (N, n), not '
                              f'{t.shape}, {q.shape}, {v.shape}, {a.shape}')
    if len(t) < 2 or not np.all(np.diff(t) > 0):
        raise SimulationError(f'the instants of the {name} must increase')
    start = t[0]
    position, velocity = CubicHermiteSpline(t - start, q, v), CubicHermiteSpline(t - start, v, a)

    def evaluate(instants: Array) -> Motion:
        return position(instants), velocity(instants), velocity(instants, 1)

    step = float(t[-1] - t[0]) / (len(t) - 1)
    return Reference(evaluate, float(t[-1] - t[0]) + step)
