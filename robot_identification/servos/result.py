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
"""Result of servo identification: the model, its uncertainty and its position errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from robot_identification.recording import Recording
from robot_identification.servos.model import Course, ServoModel, ServoRecording
from robot_identification.servos.parameters import NAMES, PARAMETERS

PLAIN = tuple(parameter.name for parameter in PARAMETERS
              if parameter.absent == 0)
"""Parameters that may be zero, whose deviations are not those of logarithms."""
RATIOS = {'kp/armature': ('1/s^2', '1/s^2'), 'damping/kp': ('s', 's'), 'friction/kp': ('rad', 'm')}
"""Ratios that are often determined better than their terms, with units of both kinds of joints."""
HORIZONS = (1.0, 5.0)
"""Lengths of the runs in which positions are predicted from the commands [s]."""
BETTER = 0.5
"""Limit for a pass: ratio of the position error to that of the best naive prediction."""
FACTOR = 1.1
"""A quantity is determined if its 95 % interval lies within this factor of its value."""


@dataclass(frozen=True, eq=False)
class HorizonError:
    """
    Errors of positions that are predicted from commands in runs of one length.

    Parameters
    ----------
    name
        Name of the recording.
    horizon
        Length of the runs [s], each of which starts at the measured position and velocity.
    model
        Root mean square error of the identified servos, (n,) [rad or m].
    commanded, delayed, nominal
        Root mean square errors of three naive predictions, (n,) [rad or m]: the command, the
        delayed command (with the delay that fits the training recordings best), and the
        simulation of nominal servos (`ServoModel.nominal`).
    moved
        Whether each joint moved, (n,).

    """

    name: str
    horizon: float
    model: Array
    commanded: Array
    delayed: Array
    nominal: Array
    moved: NDArray[np.bool_]

    @classmethod
    def of(cls, model: ServoModel, given: Recording | ServoRecording, naive_delay: Array | float
           ) -> list[HorizonError]:
        """
        Return the errors for runs of 1 s and of 5 s.

        Lengths above that of the recording are left out; one below 1 s is predicted in one run.

        Parameters
        ----------
        model
            Identified servos.
        given
            Recording with commanded positions, or a trial.
        naive_delay
            Delay of the naive prediction `delayed` [s], one or that of each joint, (n,).

        """
        errors, trial = [], ServoRecording.of(given)
        recording, delays = trial.recording, np.broadcast_to(naive_delay, model.arm.n)
        fitting = [h for h in HORIZONS if h <= 1.01 * recording.duration]
        for horizon in fitting or [recording.duration]:
            course = Course.of(model.arm, trial, horizon)
            shifted = np.column_stack([course.held(float(delay))[:, i]
                                       for i, delay in enumerate(delays)])
            predictions = (course.positions(model), course.held(0.0), shifted,
                           course.positions(ServoModel.nominal(model.arm)))
            own, commanded, delayed, nominal = (
                np.full(model.arm.n, np.inf) if q is None
                else np.sqrt(np.mean((q - course.q)[course.usable] ** 2, axis=0))
                for q in predictions)
            errors.append(cls(recording.name, horizon, own, commanded, delayed, nominal,
                              course.moved))
        return errors

    def rms(self, prediction: str, factors: Array) -> float:
        """Return the rms error of a prediction in other units; NaN if no joint moved."""
        errors = (factors * getattr(self, prediction))[self.moved]
        return float(np.sqrt(np.mean(errors ** 2))) if len(errors) else float('nan')

    @property
    def ratio(self) -> float:
        """Error relative to the best naive prediction of each joint, rms over the moved joints."""
        naive = np.minimum(np.minimum(self.commanded, self.delayed), self.nominal)
        joints = self.moved & (naive > 0)
        if not joints.any():
            return float('nan')
        return float(np.sqrt(np.mean((self.model[joints] / naive[joints]) ** 2)))


@dataclass(frozen=True, eq=False)
class ServoResult:
    """
    Result of the identification of servos.

    Parameters
    ----------
    model
        Identified servos.
    deviations
        Standard deviations of the parameters and `RATIOS`, each (n,): of their logarithms, but of
        the values of `PLAIN`. They account for autocorrelated residuals and for effects that the
        model lacks, and are infinite for quantities not estimated.
    delay_deviation
        Standard deviation of the delay [s].
    residual
        Root mean square residual in the fitted recordings, (n,) [rad or m].
    held_out
        Errors on the held-out recordings, or on the fitted ones if no recording was held out.
    validated
        Whether any recording was held out.
    undetermined
        Messages on the quantities that the motion does not determine.
    reached
        Largest torque that each position loop demanded in the fitted recordings, (n,) [N m or N];
        an unknown torque limit lies above it.
    beyond
        Messages on joints without an identified torque limit, for held-out recordings with large
        errors and clearly larger torques than `reached`.
    message
        Reason why the fit failed, with a remedy; empty otherwise.

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
        """Verdict: 'passed', 'failed' or 'not validated'."""
        good = not self.message and all(e.ratio <= BETTER for e in self.held_out)
        return 'failed' if not good else 'passed' if self.validated else 'not validated'

    def values(self, quantity: str) -> Array:
        """Return the values of a parameter or of one of `RATIOS`, (n,), in SI units."""
        if quantity in NAMES:
            value: Array = getattr(self.model, quantity)
            return value
        over, under = quantity.split('/')
        with np.errstate(divide='ignore', invalid='ignore'):    # nominal servos of resting joints
            return self.values(over) / self.values(under)

    def interval(self, quantity: str, deviations: float = 1.96) -> tuple[Array, Array]:
        """
        Return the lower and upper confidence bounds of a quantity or ratio, each (n,).

        Parameters
        ----------
        quantity
            Name of a parameter or one of `RATIOS`.
        deviations
            Half width of the interval in standard deviations; 1.96 for 95 %.

        """
        values = self.values(quantity)
        with np.errstate(over='ignore', invalid='ignore'):
            if quantity in PLAIN:
                width = deviations * self.deviations[quantity]
                return values - width, values + width
            factor = np.exp(deviations * self.deviations[quantity])
            low = np.where(np.isfinite(values), values / factor, 0.0)
            return low, np.where(np.isfinite(values * factor), values * factor, np.inf)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a dictionary with values in SI units."""
        joints = self.model.arm.joint_names
        return {
            'verdict': self.status, 'message': self.message,
            'undetermined': list(self.undetermined), 'beyond': list(self.beyond),
            'reached': dict(zip(joints, self.reached)),
            'tracking': dict(zip(joints, self.model.tracking)),
            'delay': {'value': self.model.delay, 'std': self.delay_deviation},
            'joints': {joint: {name: {'value': self.values(name)[i],
                                      'interval': [end[i] for end in self.interval(name)]}
                               for name in (*NAMES, *RATIOS)}
                       for i, joint in enumerate(joints)},
            'residual': dict(zip(joints, self.residual)),
            'errors': [{'recording': e.name, 'horizon': e.horizon, 'ratio': e.ratio,
                        **{name: dict(zip(joints, getattr(e, name)))
                           for name in ('model', 'commanded', 'delayed', 'nominal')}}
                       for e in self.held_out]}
