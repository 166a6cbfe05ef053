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
"""What a fit of servos gives: the model, how sure it is of it, and held-out position errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from robot_identification.recording import Recording
from robot_identification.servos.model import Course, ServoModel

QUANTITIES = ('kp', 'damping', 'armature', 'friction', 'limit')
RATIOS = ('kp/armature', 'damping/kp', 'friction/kp')
HORIZONS = (1.0, 5.0)
"""Lengths of the runs over which positions are predicted from commands alone [s]."""
BETTER = 0.5
"""Part of the error of the best naive prediction below which a model passes."""
FACTOR = 2.0
"""By which a quantity may be wrong, within 95 %, and still count as determined."""


@dataclass(frozen=True, eq=False)
class HorizonError:
    """
    Errors of positions that were predicted from commands, over runs of one length.

    Parameters
    ----------
    name
        Name of the recording.
    horizon
        Length of a run, which begins at the measured position and speed [s].
    model
        Root mean square error of the identified servos, (n,) [rad or m].
    commanded, delayed, nominal
        The same of `measured = commanded`, of the command a moment ago (the delay that fits the
        training recordings best), and of nominal servos (`ServoModel.nominal`).
    moved
        Whether a joint moved, (n,).

    """

    name: str
    horizon: float
    model: Array
    commanded: Array
    delayed: Array
    nominal: Array
    moved: NDArray[np.bool_]

    @classmethod
    def of(cls, model: ServoModel, recording: Recording, naive_delay: float
           ) -> list[HorizonError]:
        """
        Return the errors over runs of 1 s and 5 s, or of the whole of a shorter recording.

        Parameters
        ----------
        model
            The servos.
        recording
            With commands.
        naive_delay
            Delay of the prediction `delayed` [s].

        """
        found = []
        fitting = [h for h in HORIZONS if h <= 1.01 * recording.duration]
        for horizon in fitting or [recording.duration]:
            course = Course.of(model.arm, recording, horizon)
            predictions = (course.positions(model), course.held(0.0), course.held(naive_delay),
                           course.positions(ServoModel.nominal(model.arm)))
            own, commanded, delayed, nominal = (
                np.full(model.arm.n, np.inf) if q is None
                else np.sqrt(np.mean((q - course.q)[course.usable] ** 2, axis=0))
                for q in predictions)
            found.append(cls(recording.name, horizon, own, commanded, delayed, nominal,
                             course.moved))
        return found

    @property
    def ratio(self) -> float:
        """Error over that of the best naive prediction, joints pooled by what that leaves."""
        naive = np.minimum(np.minimum(self.commanded, self.delayed), self.nominal)
        joints = self.moved & (naive > 0)
        if not joints.any():
            return float('nan')
        return float(np.sqrt(np.mean((self.model[joints] / naive[joints]) ** 2)))


@dataclass(frozen=True, eq=False)
class ServoResult:
    """
    Identified servos.

    Parameters
    ----------
    model
        The servos.
    deviations
        Standard deviations of the logarithms of `QUANTITIES` and `RATIOS`, each (n,); infinite
        where a quantity was not estimated. Residuals' correlation in time is accounted for.
    delay_deviation
        Standard deviation of the delay [s].
    residual
        Root mean square of what is left in the fitted recordings, (n,) [rad or m].
    held_out
        Errors on recordings that were not fitted, or on the fitted ones where there are none.
    validated
        Whether any was held out.
    undetermined
        Sentences: which quantity of which joint the motion does not determine.
    reached
        Largest torque that each loop asked for in the fitted recordings, (n,) [N m or N]: a limit
        that was not found lies above.
    beyond
        Sentences: which held-out recording asks a loop without a known limit for more than that.
    message
        Empty, or what is wrong with the fit and what to try.

    """

    model: ServoModel
    deviations: Mapping[str, Array]
    delay_deviation: float
    residual: Array
    held_out: tuple[HorizonError, ...]
    validated: bool
    undetermined: tuple[str, ...]
    reached: Array
    beyond: tuple[str, ...] = ()
    message: str = ''

    @property
    def status(self) -> str:
        """'passed', 'failed' or 'not validated', as of a verdict."""
        good = not self.message and all(e.ratio <= BETTER for e in self.held_out)
        return 'failed' if not good else 'passed' if self.validated else 'not validated'

    def values(self, quantity: str) -> Array:
        """Return a quantity or ratio, (n,), in SI units."""
        if quantity in QUANTITIES:
            found: Array = getattr(self.model, quantity)
            return found
        over, under = quantity.split('/')
        return self.values(over) / self.values(under)

    def interval(self, quantity: str, deviations: float = 1.96) -> tuple[Array, Array]:
        """
        Return the bounds of a quantity or ratio, each (n,).

        Parameters
        ----------
        quantity
            One of `QUANTITIES` or `RATIOS`.
        deviations
            Half width, in standard deviations of the logarithm.

        """
        values = self.values(quantity)
        with np.errstate(over='ignore', invalid='ignore'):
            factor = np.exp(deviations * self.deviations[quantity])
            low = np.where(np.isfinite(values), values / factor, 0.0)
            return low, np.where(np.isfinite(values), values * factor, np.inf)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values in SI units."""
        joints = self.model.arm.joint_names
        return {
            'verdict': self.status, 'message': self.message,
            'undetermined': list(self.undetermined), 'beyond': list(self.beyond),
            'reached': dict(zip(joints, self.reached)),
            'delay': {'value': self.model.delay, 'std': self.delay_deviation},
            'joints': {joint: {name: {'value': self.values(name)[i],
                                      'interval': [end[i] for end in self.interval(name)]}
                               for name in (*QUANTITIES, *RATIOS)}
                       for i, joint in enumerate(joints)},
            'residual': dict(zip(joints, self.residual)),
            'errors': [{'recording': e.name, 'horizon': e.horizon, 'ratio': e.ratio,
                        **{name: dict(zip(joints, getattr(e, name)))
                           for name in ('model', 'commanded', 'delayed', 'nominal')}}
                       for e in self.held_out]}
