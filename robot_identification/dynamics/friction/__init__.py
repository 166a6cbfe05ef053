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
"""Friction models by name."""

from robot_identification.dynamics.friction.coulomb_viscous import CoulombViscous
from robot_identification.dynamics.friction.friction import FrictionModel
from robot_identification.dynamics.friction.smooth_coulomb import SmoothCoulomb
from robot_identification.errors import UnknownNameError

FRICTION_MODELS: dict[str, type[FrictionModel]] = {
    model.name: model for model in (CoulombViscous, SmoothCoulomb)}


def get_friction(name: str) -> FrictionModel:
    """
    Return the friction model of that name.

    Raises
    ------
    UnknownNameError
        There is none; the text lists those that exist.
    """
    if name not in FRICTION_MODELS:
        raise UnknownNameError('friction model', name, FRICTION_MODELS)
    return FRICTION_MODELS[name]()


__all__ = ['FRICTION_MODELS', 'CoulombViscous', 'FrictionModel', 'SmoothCoulomb', 'get_friction']
