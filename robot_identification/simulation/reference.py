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
"""Reference motion of a simulated arm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import SimulationError
from scipy.interpolate import CubicHermiteSpline

RUN_IN = (1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05)  # [s] candidate durations of the run-in
_LONGEST = 86_400.0    # [s] longest motion: 90 million samples at 1 kHz
Motion = tuple[Array, ...]


@dataclass(frozen=True)
class Reference:
    """
    Reference motion of n joints; time zero is the start of the recording.

    Parameters
    ----------
    evaluate
        Function from times (N,) [s] to positions, velocities and accelerations, (N, n) each.
    duration
        Duration of the motion with all repetitions [s].

    """

    evaluate: Callable[[Array], Motion]
    duration: float

    @classmethod
    def of(cls, motion: Any, arm: Arm, periods: int) -> Reference:
        """
        Return the reference of an excitation, a trajectory or arrays.

        Parameters
        ----------
        motion
            An excitation (with `.trajectory`), a trajectory (with `.period` and `.evaluate(t)`,
            whose first three results are q, v and a), or arrays (t, q, v, a).
        arm
            The simulated arm.
        periods
            Number of repetitions of the motion.

        Raises
        ------
        SimulationError
            The motion has another type or other joints, or is too long.

        """
        names = getattr(motion, 'joint_names', None)
        if names is not None and tuple(names) != arm.joint_names:
            raise SimulationError(
                f'the motion is for the joints {", ".join(names)}, the arm has '
                f'{", ".join(arm.joint_names)}')
        if periods < 1:
            raise SimulationError(f'the motion cannot be executed {periods} times')
        trajectory = getattr(motion, 'trajectory', motion)
        if hasattr(trajectory, 'evaluate') and hasattr(trajectory, 'period'):
            reference = cls(lambda t: tuple(np.asarray(trajectory.evaluate(t)[:3], float)),
                            float(trajectory.period) * periods)
        elif isinstance(motion, (tuple, list)) and len(motion) == 4:
            if periods != 1:
                raise SimulationError('a motion given as arrays is executed once; repeat '
                                      'the arrays themselves')
            reference = _from_arrays(motion)
        else:
            raise SimulationError(
                f'a motion cannot be made of {type(motion).__name__}; give an excitation, a '
                'trajectory with evaluate(t) and period, or arrays (t, q, v, a)')
        if not reference.duration <= _LONGEST:
            raise SimulationError(f'a motion of {reference.duration:g} s is longer than the '
                                  f'{_LONGEST:g} s that are simulated; use fewer periods')
        joints = reference.evaluate(np.zeros(1))[0].shape[1]
        if joints != arm.n:
            raise SimulationError(f'the motion is for {joints} joints, the arm has {arm.n}')
        return reference

    def run_in(self, arm: Arm) -> tuple[Array, Array, Array]:
        """
        Return a run-in from rest to the position, velocity and acceleration at the start.

        Each joint waits and then follows a polynomial whose velocity grows from zero. Its duration
        is the longest of `RUN_IN` that keeps the joint within the position limits.

        Parameters
        ----------
        arm
            The arm with its position limits.

        Returns
        -------
        tuple
            Positions at rest (n,), durations (n,) [s], and coefficients c2 and c3 of the velocity
            c2 s^2 + c3 s^3 after s seconds of run-in, (n, 2).

        Raises
        ------
        SimulationError
            Every run-in to the start of the motion violates a position limit.

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
                    f"'{joint}', which cannot be reached from rest within the limits "
                    f'{arm.limits.lower[i]:.4g} and {arm.limits.upper[i]:.4g}')
        return rest, seconds, coefficients


def run_in_motion(plan: tuple[Array, Array, Array], remaining: Array) -> tuple[Array, Array]:
    """
    Return positions and velocities of the run-in, (N, n) each.

    Parameters
    ----------
    plan
        Result of `Reference.run_in`.
    remaining
        Times until the start of the motion, (N, 1) [s].

    """
    rest, seconds, coefficients = plan
    s = np.maximum(seconds - remaining, 0)
    c2, c3 = coefficients.T
    return rest + c2 * s ** 3 / 3 + c3 * s ** 4 / 4, c2 * s ** 2 + c3 * s ** 3


def _from_arrays(arrays: Any) -> Reference:
    t, q, v, a = (np.asarray(x, dtype=float) for x in arrays)
    if t.ndim != 1 or q.ndim != 2 or not q.shape == v.shape == a.shape == (len(t), q.shape[1]):
        raise SimulationError(f'the arrays must be t (N,) and q, v, a (N, n), not '
                              f'{t.shape}, {q.shape}, {v.shape}, {a.shape}')
    if len(t) < 2 or not np.all(np.diff(t) > 0):
        raise SimulationError('the times of the arrays must increase')
    position, velocity = CubicHermiteSpline(t - t[0], q, v), CubicHermiteSpline(t - t[0], v, a)
    length = float(t[-1] - t[0])
    return Reference(lambda instants: (position(instants), velocity(instants),
                                       velocity(instants, 1)), length + length / (len(t) - 1))
