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
"""Parameters of a position servo, in the order in which the simulation takes them."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from robot_identification.arrays import Array


@dataclass(frozen=True)
class ServoParameter:
    """
    A parameter that each joint's servo has.

    Parameters
    ----------
    name
        Name of the field of `ServoModel`.
    scale
        How it is fitted: 'log' by its logarithm, 'friction' in units of a joint's initial
        friction, 'plain' as it is.
    units
        Units for revolute and prismatic joints.
    absent
        Value of a servo without the effect; None if every servo has it.
    lower
        Smallest value in units of the scale.
    prior
        Prior standard deviation in units of the scale.
    start
        First value in units of the scale when the effect is added to a fit without it.

    """

    name: str
    scale: Literal['log', 'friction', 'plain']
    units: tuple[str, str] = ('', '')
    absent: float | None = None
    lower: float = -np.inf
    prior: float = float(np.log(10.0))
    start: float = 0.0


PARAMETERS = (
    ServoParameter('kp', 'log', ('N m/rad', 'N/m')),
    ServoParameter('damping', 'log', ('N m s/rad', 'N s/m')),
    ServoParameter('armature', 'log', ('kg m^2', 'kg')),
    ServoParameter('friction', 'friction', ('N m', 'N'), lower=0.01, prior=100.0),
    ServoParameter('limit', 'log', ('N m', 'N'), np.inf),
    ServoParameter('speed', 'log', ('rad/s', 'm/s'), np.inf),
    ServoParameter('acceleration', 'log', ('rad/s^2', 'm/s^2'), np.inf),
    ServoParameter('droop', 'plain', absent=0.0, lower=-1.0, prior=3.0),
    ServoParameter('stiction', 'friction', ('N m', 'N'), 0.0, lower=0.0, prior=10.0, start=0.2),
    ServoParameter('load_friction', 'plain', absent=0.0, lower=0.0, prior=1.0, start=0.05),
)
"""The kernels number the parameters in this order."""
NAMES = tuple(parameter.name for parameter in PARAMETERS)


def values_of(x: Array, name: str) -> Array:
    """Return the values of one parameter in a parameter vector, with or without delay, (n,)."""
    n = len(x) // len(NAMES)
    return x[NAMES.index(name) * n:][:n]
