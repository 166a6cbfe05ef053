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

from robot_identification.dynamics.friction.asymmetric import Asymmetric, SUFFIX
from robot_identification.dynamics.friction.atan import Atan
from robot_identification.dynamics.friction.bompos import Bompos
from robot_identification.dynamics.friction.coulomb_viscous import CoulombViscous
from robot_identification.dynamics.friction.cube_root import CubeRoot
from robot_identification.dynamics.friction.friction import FrictionModel
from robot_identification.dynamics.friction.load_dependent import (
    LoadDependent,
    LoadDependentLiteral,
)
from robot_identification.dynamics.friction.sech_tanh import SechTanh
from robot_identification.dynamics.friction.smooth_coulomb import SmoothCoulomb
from robot_identification.dynamics.friction.stribeck import Stribeck
from robot_identification.errors import UnknownNameError

FRICTION_MODELS: dict[str, type[FrictionModel]] = {
    model.name: model for model in (
        CoulombViscous, SmoothCoulomb, Atan, Stribeck, Bompos, SechTanh, CubeRoot, LoadDependent,
        LoadDependentLiteral)}


def get_friction(name: str) -> FrictionModel:
    """
    Return the friction model of that name.

    Parameters
    ----------
    name
        Key in `FRICTION_MODELS`; with '_asymmetric' appended its parameters differ between the
        directions of motion.

    Raises
    ------
    UnknownNameError
        There is none; the text lists those that exist.

    """
    plain = name.removesuffix(SUFFIX)
    if plain not in FRICTION_MODELS:
        raise UnknownNameError('friction model', name, FRICTION_MODELS)
    model = FRICTION_MODELS[plain]()
    return model if plain == name else Asymmetric(model)


__all__ = ['FRICTION_MODELS', 'SUFFIX', 'Asymmetric', 'Atan', 'Bompos', 'CoulombViscous',
           'CubeRoot',
           'FrictionModel', 'LoadDependent', 'LoadDependentLiteral', 'SechTanh', 'SmoothCoulomb',
           'Stribeck', 'get_friction']
