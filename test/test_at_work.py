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
"""Uses of a model: feed-forward control and contact detection."""

from __future__ import annotations

import dataclasses

from model_benefit import contact_found, evaluate_model_benefit, Task, urdf_model
import numpy as np
import pytest
from robot_identification import Arm, IdentifiedModel, load_arm
from robot_identification.simulation import Plant, PlantOptions, simulate
from simulation_arms import MIXED, two_link


@pytest.fixture(scope='module')
def plant():
    return Plant(two_link(), PlantOptions(seed=1, step=1e-3, rate=500.0))


def known(plant):
    """Return the model of a perfect identification with Coulomb and viscous friction."""
    truth = plant.truth
    friction = np.column_stack([truth.friction.coulomb, truth.friction.viscous,
                                np.zeros(len(truth.rotor_inertia))])
    return IdentifiedModel(plant.arm, truth.inertial, truth.rotor_inertia, 'coulomb_viscous',
                           friction)


def test_the_identified_model_tracks_and_feels_better(plant):
    found = evaluate_model_benefit(known(plant), plant, np.random.default_rng(0))
    none, urdf, ours = (np.sqrt(np.mean(found.tracking[name] ** 2))
                        for name in ('without', 'urdf', 'identified'))
    assert ours < 0.3 * none and ours < 0.5 * urdf
    assert found.contact['identified'].force < 0.7 * found.contact['urdf'].force
    assert found.contact['identified'].alarms == 0
    assert found.seconds == pytest.approx(12.0, abs=0.1)


def test_false_alarms_are_counted_by_seconds(plant):
    """A push counts once per second that it lasts, and sets the force for one alarm an hour."""
    model, rng = known(plant), np.random.default_rng(3)
    task = Task.drawn(plant.arm, rng, period=4.0, harmonics=3, speed=0.5)
    learnt, fresh = (simulate(plant, task.repeated(2), rng=rng).recording for _ in range(2))
    quiet = contact_found(model, learnt, [fresh])
    assert quiet.alarms == 0 and quiet.hours == pytest.approx(7.5 / 3600, rel=0.02)
    push = 1e3 * ((fresh.t > 3.2) & (fresh.t < 5.2))[:, None]
    pushed = dataclasses.replace(fresh, tau=fresh.tau + push)
    found = contact_found(model, learnt, [pushed])
    assert 2 <= found.alarms <= 4
    # limits rise for a moment where the torque steps
    assert found.force == pytest.approx(quiet.force, rel=0.02)
    assert found.force_at_one > quiet.force_at_one


def test_a_task_keeps_its_shares_of_the_limits():
    arm = load_arm('panda')
    task = Task.drawn(arm, np.random.default_rng(0), period=6.0, harmonics=4, speed=0.8)
    limits = arm.limits
    assert np.all(np.abs(task.v) <= 0.8 * limits.velocity + 1e-9)
    assert np.all((task.q > limits.lower) & (task.q < limits.upper))
    step = np.diff(task.q[:, 0]) / 1e-3
    assert np.abs(step - (task.v[1:, 0] + task.v[:-1, 0]) / 2).max() < 1e-3
    t, q, _, _ = task.repeated(2)
    assert len(t) == len(q) == 12_000


def test_the_urdfs_model_knows_rotors_and_no_friction():
    model = urdf_model(Arm.from_urdf(MIXED))
    assert not np.any(model.friction_parameters) and np.all(model.rotor_inertia == 0)
