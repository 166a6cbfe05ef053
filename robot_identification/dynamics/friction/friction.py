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
"""The shared base of the friction models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from robot_identification.arrays import Array


class FrictionModel(ABC):
    """
    Friction of one joint or drive: torque = columns(v) @ parameters.

    A member supplies the names of its parameters, their units and signs, and `columns`; a new
    model is one file and one line in `FRICTION_MODELS`.

    Attributes
    ----------
    name
        Key in `FRICTION_MODELS`.
    parameters
        Names of the k parameters that enter linearly.
    units
        Their units for a revolute joint.
    passive
        For each parameter whether passivity (friction only dissipates) asks it to be >= 0.
    formula
        The torque, as text for tables and reports.
    """

    name: ClassVar[str]
    parameters: ClassVar[tuple[str, ...]]
    units: ClassVar[tuple[str, ...]]
    passive: ClassVar[tuple[bool, ...]]
    formula: ClassVar[str]

    @abstractmethod
    def columns(self, v: Array) -> Array:
        """
        Return the regressor columns (..., k) at the velocities v (...) [rad/s or m/s].

        Parameters
        ----------
        v
            Velocities of one joint or drive, any shape.
        """

    def torque(self, v: Array, parameters: Array) -> Array:
        """
        Return the friction torque [N m or N], of the shape of v.

        Parameters
        ----------
        v
            Velocities [rad/s or m/s].
        parameters
            (k,) in the order of `parameters`.
        """
        torque: Array = self.columns(np.asarray(v, dtype=float)) @ np.asarray(parameters)
        return torque
