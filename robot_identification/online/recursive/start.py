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
"""A recursive estimator by its name, to be stepped."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from robot_identification.arm import Arm
from robot_identification.dynamics.friction import get_friction
from robot_identification.errors import ConfigurationError, UnknownNameError
from robot_identification.online.recursive.estimators import (
    ExponentialForgetting,
    ExponentialForgettingNonlinear,
    ExtendedKalman,
    Kalman,
    RecursiveEstimator,
)
from robot_identification.online.recursive.online_estimator import OnlineEstimator

RECURSIVE: dict[str, type[RecursiveEstimator]] = {
    kind.name: kind for kind in (Kalman, ExtendedKalman, ExponentialForgetting,
                                 ExponentialForgettingNonlinear)}
"""Recursive estimators by name."""


def start_online(name: str, arm: Arm, noise: ArrayLike, friction: str, *, memory: float,
                 **options: Any) -> OnlineEstimator:
    """
    Return the recursive estimator of that name, to be stepped.

    Parameters
    ----------
    name
        Key in `RECURSIVE`.
    arm, noise, friction, options
        As for `OnlineEstimator`.
    memory
        Time constant of those that forget [s].

    Raises
    ------
    UnknownNameError
        There is no such estimator.
    ConfigurationError
        A linear one for friction with a shape, or a wrong option.

    """
    if name not in RECURSIVE:
        raise UnknownNameError('recursive estimator', name, RECURSIVE)
    kind = RECURSIVE[name]
    asked = get_friction(friction)
    if asked.shape and not kind.features.nonlinear and not (
            asked.has_state or asked.needs_position):    # no filter follows these
        other = 'exponential_forgetting_nonlinear' if kind.forgets else 'extended_kalman'
        raise ConfigurationError(
            f'the estimator {name} is linear and cannot find the shape of the friction '
            f"'{friction}'; take {other}, or a friction model without a shape")
    return OnlineEstimator(arm, noise, friction, memory=memory if kind.forgets else None,
                           **options)
