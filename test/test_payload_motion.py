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
"""Motions that show a payload reach the accuracy that they state."""

from loaded_plant import LoadedPlant
import numpy as np
import pytest
from robot_identification import identify, load_arm
from robot_identification.benchmarking.simulated_data import DAY, RandomMotion, RATE
from robot_identification.changes import payload_motion
from robot_identification.changes.payload import identify_payload
from robot_identification.excitation import design_excitation, DesignOptions


def test_payload_states_the_accuracy_that_its_motion_promises():
    arm = load_arm('ur5e')
    plant, rng = LoadedPlant(arm, 40), np.random.default_rng(40)
    model = identify(arm, plant.repeat(RandomMotion(arm, 10.0, rng), 3)).model
    motion = design_excitation(arm, payload_motion.payload_request(model, DesignOptions(
        period=payload_motion.PERIOD, starts=1, harmonics=3, time_budget=4.0)))
    t, q, v, a = motion.sample(rate=RATE)
    empty = plant.record(t, q, v, a, name='empty', day=1 + DAY)
    body, *expected = payload_motion.expected_accuracy(model, motion)
    plant.carry(body.mass, np.array(body.centre))
    loaded = plant.record(t, q, v, a, name='loaded', day=1 + DAY)
    for unloaded, stated in zip((empty, None), expected):
        found = identify_payload(model, loaded, unloaded)
        deviation = np.sqrt(found.covariance[0, 0])
        assert abs(found.free_mass - body.mass) < 3 * deviation
        assert deviation == pytest.approx(stated[0], rel=0.3)
    assert expected[0][0] < expected[1][0]
