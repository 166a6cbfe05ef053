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
"""Friction of resting joints: half of the breakaway torque, in the direction of last motion."""

from __future__ import annotations

from excitation_arms import chain
import numpy as np
import pytest
from robot_identification import IdentifiedModel
from robot_identification.signals import Samples
from robot_identification.validation.metrics import stiction_torque

ARM = chain()
FRICTION = np.array([[2.0, 0.5, 0.3], [4.0, 1.0, -0.2], [1.0, 0.0, 0.0]])


def samples_of(path):
    """Return samples that rest at positions (N,), the same for every joint."""
    q = np.repeat(np.asarray(path, dtype=float)[:, None], 3, axis=1)
    zero = np.zeros_like(q)
    return Samples(np.arange(len(q)) / 100.0, q, zero, zero, zero, 100.0, ARM.joint_names,
                   (slice(0, len(q)),), decimation_cutoff=np.inf)


def model_of(friction='coulomb_viscous', parameters=FRICTION, shape=None):
    return IdentifiedModel(ARM, ARM.inertial_parameters, np.zeros(3), friction, parameters,
                           friction_shape=shape)


@pytest.mark.parametrize(('path', 'direction'), [
    ([0.0, 0.01, 0.01], 1.0), ([0.0, -0.01, -0.01], -1.0), ([0.0, 0.01, 0.0097], -1.0),
    ([0.0, 0.01, 0.0099], 0.0), ([0.5, 0.5, 0.5], 0.0)])
def test_half_of_the_friction_of_creeping_is_held_in_the_direction_of_the_last_travel(
        path, direction):
    held = stiction_torque(model_of(), samples_of(path))[-1]
    np.testing.assert_allclose(held, direction * 0.5 * (FRICTION @ [1.0, 0.01, 0.0]), atol=1e-9)


def test_what_moves_is_not_held_and_memory_speaks_for_itself():
    moving = samples_of([0.0, 0.01, 0.02])
    object.__setattr__(moving, 'v', np.full_like(moving.q, 1.0))
    assert not stiction_torque(model_of(), moving).any()
    remembers = model_of('viscous + slip', np.array([[0.0, 2.0]] * 3), np.full((3, 1), 1e-4))
    rest = samples_of([0.0, 0.01, 0.01])
    assert np.all(stiction_torque(remembers, rest) == 0)
    torque = remembers.torque(rest.q, rest.v, rest.a, remembers.states(rest.q)) - model_of(
        parameters=np.zeros((3, 3))).torque(rest.q, rest.v, rest.a)
    np.testing.assert_allclose(torque[-1], 2.0)
