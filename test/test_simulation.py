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
"""The plant: its physics agrees with Pinocchio, and it differs from the URDF's arm."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from robot_identification.arm import Arm, Drives
from robot_identification.arm.inertia_check import check_inertias
from robot_identification.dynamics import joint_torque_regressor
from robot_identification.errors import ConfigurationError, SimulationError, UnknownNameError
from robot_identification.simulation import Plant, PlantOptions, simulate
from robot_identification.simulation.truth import nominal_bodies
from simulation_arms import example, EXAMPLES, LINK, MIXED, slow_motion, two_link


def explained(plant, q, v, a):
    """Return Pinocchio's torque of rigid bodies and rotors, with the plant's parameters."""
    arm = plant.arm
    model = arm.model.copy()
    for i, parameters in enumerate(plant.truth.inertial, start=1):
        model.inertias[i] = pin.Inertia.FromDynamicParameters(parameters)
    data = model.createData()
    torque = np.array([pin.rnea(model, data, *row) for row in zip(q, v, a)])
    rotors = arm.transmission.T @ np.diag(plant.truth.rotor_inertia) @ arm.transmission
    return torque + a @ rotors


def coupled():
    arm = two_link()
    unknown = np.full(2, np.nan)
    return dataclasses.replace(arm, drives=Drives(unknown, np.ones(2), unknown,
                                                  np.array([[1.0, 0.0], [1.0, 1.0]])))


ARMS = {**{name: lambda name=name: example(name) for name in EXAMPLES}, 'two_link': two_link,
        'coupled': coupled, 'mixed': lambda: Arm.from_urdf(MIXED, gravity=(3.0, -2.0, -9.0))}


@pytest.mark.parametrize('name', ARMS)
def test_rigid_torque_and_mass_matrix_are_pinocchios(name):
    plant = Plant(ARMS[name]())
    q, v, a = np.random.default_rng(1).normal(size=(3, 20, plant.arm.n))
    torque = plant.rigid_torque(q, v, a)
    np.testing.assert_allclose(torque, explained(plant, q, v, a), rtol=1e-10, atol=1e-10)
    rest = explained(plant, q, 0 * q, 0 * q)
    columns = np.stack([explained(plant, q, 0 * q, 0 * q + unit) - rest
                        for unit in np.eye(plant.arm.n)], axis=2)
    np.testing.assert_allclose(plant.mass_matrix(q), columns, rtol=1e-9, atol=1e-10)
    np.testing.assert_array_equal(plant.mass_matrix(q[3]), plant.mass_matrix(q)[3])


@pytest.mark.parametrize('name', ['panda', 'ur10', 'coupled', 'mixed'])
def test_clean_torque_of_the_moving_plant_is_explained(name):
    plant = Plant(ARMS[name](), PlantOptions(seed=2))
    run = simulate(plant, slow_motion(plant.arm), rng=np.random.default_rng(0))
    expected = explained(plant, run.q, run.v, run.a) + run.friction
    scale = plant.truth.rated_torque
    assert run.end_stops == 0
    np.testing.assert_allclose(run.torque / scale, expected / scale, atol=1e-10)
    # while all joints slide, friction follows the Stribeck law, except one step per reversal
    sliding = np.all(np.abs(run.v @ plant.arm.transmission.T) > 0.01, axis=1)
    error = np.abs(run.friction - plant.friction_torque(run.v))[sliding] / scale
    assert np.mean(sliding) > 0.5
    assert np.mean(np.max(error, axis=1) > 1e-9) < 0.005


def test_matched_plant_is_the_regressors_to_the_last_digits():
    plant = Plant(example('panda'), PlantOptions.matched(seed=4))
    run = simulate(plant, slow_motion(plant.arm), rng=np.random.default_rng(0))
    truth = plant.truth
    rigid = joint_torque_regressor(plant.arm, run.q, run.v, run.a) @ truth.inertial.ravel()
    expected = (rigid + run.a * truth.rotor_inertia + truth.friction.viscous * run.v
                + truth.friction.coulomb * np.sign(run.v))
    np.testing.assert_allclose(run.torque, expected, atol=1e-10)
    np.testing.assert_array_equal(run.recording.q, run.q)
    np.testing.assert_array_equal(run.q, run.q_ref)
    noise = (run.recording.tau - run.torque) / (0.01 * truth.rated_torque)
    # chi-square of the white noise, five standard deviations
    assert np.all(np.abs(np.mean(noise ** 2, axis=0) - 1) < 5 * np.sqrt(2 / len(noise)))
    assert np.all(np.abs(np.mean(noise[1:] * noise[:-1], axis=0)) < 5 / np.sqrt(len(noise)))


def test_the_plant_is_not_the_urdf_but_a_body_that_can_exist():
    arm = example('panda')
    masses = arm.inertial_parameters[:, 0]
    changes = []
    for seed in range(20):
        truth = Plant(arm, PlantOptions(seed=seed)).truth
        changes.append(truth.inertial[:, 0] / masses - 1)
        for parameters in truth.inertial:
            spread = pin.PseudoInertia.FromDynamicParameters(parameters).toMatrix()
            assert np.linalg.eigvalsh(spread)[0] > 0
    assert np.max(np.abs(changes)) <= 0.2 and np.std(changes) > 0.08
    same = Plant(arm, PlantOptions(inertia_error=0.0)).truth.inertial
    np.testing.assert_allclose(same, arm.inertial_parameters, atol=1e-12)


def test_friction_and_rotors_are_drawn_within_what_the_options_say():
    arm = example('ur10')
    for seed in range(10):
        truth = Plant(arm, PlantOptions(seed=seed)).truth
        friction, rated = truth.friction, arm.limits.torque
        for part in (friction.coulomb / rated, friction.viscous * arm.limits.velocity / rated):
            assert np.all(part >= 0.05) and np.all(part <= 0.10)
        np.testing.assert_allclose(friction.static, 1.3 * friction.coulomb)
        assert np.all(truth.rotor_inertia >= rated / 400)
    given = Plant(arm, PlantOptions(rotor_inertia=(1.0,) * 6)).truth
    np.testing.assert_array_equal(given.rotor_inertia, np.ones(6))


def test_one_seed_is_one_arm():
    arm = two_link()
    first, same, other = (Plant(arm, PlantOptions(seed=seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.truth.inertial, same.truth.inertial)
    assert first.urdf == same.urdf
    assert np.all(first.truth.rotor_inertia != other.truth.rotor_inertia)


def test_a_joint_at_rest_sticks_until_static_friction_is_overcome():
    arm = Arm.from_urdf(MIXED, gravity=(0.0, 0.0, 0.0))
    plant = Plant(arm, PlantOptions(delay=0.0))
    static = plant.truth.friction.static
    for part, moves in ((0.97, False), (1.03, True)):
        plant.reset(plant.home, torque=np.zeros(arm.n))
        for _ in range(400):
            plant.step(np.array([part, 0, 0]) * static)
        assert (abs(plant.q[0] - plant.home[0]) > 1e-4) == moves


def test_a_jammed_joint_stands_still_until_it_is_freed():
    plant = Plant(two_link())
    plant.jam('elbow')
    plant.reset(np.array([0.5, 0.5]))
    for _ in range(200):
        plant.step(np.array([0.0, 20.0]))
    assert abs(plant.q[1] - 0.5) < 1e-5
    plant.jam('elbow', jammed=False)
    for _ in range(200):
        plant.step(np.array([0.0, 20.0]))
    assert abs(plant.q[1] - 0.5) > 0.01
    with pytest.raises(UnknownNameError, match='shoulder'):
        plant.jam('wrist')


def test_disturbance_delay_and_saturation_of_the_actuators():
    arm = two_link()
    plant = Plant(arm, PlantOptions(delay=0.002, step=0.0005))
    plant.reset(plant.home, torque=np.zeros(2))
    applied = []
    for _ in range(6):
        plant.step(np.array([1e3, 1.0]))
        applied.append(plant.last.torque.copy())
    np.testing.assert_array_equal(applied[:4], np.zeros((4, 2)))
    np.testing.assert_array_equal(applied[4:], [[50.0, 1.0]] * 2)
    np.testing.assert_array_equal(plant.saturated, [6, 0])
    before = plant.last.a
    plant.reset(plant.home, torque=np.zeros(2))
    plant.disturbance[:] = (0.0, 30.0)
    plant.step(np.zeros(2))
    assert plant.last.a[1] > before[1] + 1
    np.testing.assert_array_equal(plant.last.torque, np.zeros(2))


@pytest.mark.parametrize('inertial, sentence', [
    ('', "link 'fore' behind joint 'elbow' has no mass"),
    ('<inertial><mass value="1"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/>'
     '</inertial>', "'fore'.*principal moments of inertia 0, 0, 0 kg"),
    (LINK.format('').split('>', 1)[1].replace('0.01', '0.3').replace('</link>', ''),
     r"'fore'.*principal moments of inertia 0\.03, 0\.03, 0\.3.*may exceed the sum"),
])
def test_bodies_that_cannot_exist_are_named(inertial, sentence):
    with pytest.raises(SimulationError, match=sentence):
        Plant(two_link(fore=f'<link name="fore">{inertial}</link>'))


def test_bodies_fixed_to_a_joint_are_folded():
    """A massless link with a heavy flange can be simulated; its body is that of the flange."""
    flange = LINK.format('flange') + (
        '<joint name="mount" type="fixed"><parent link="fore"/><child link="flange"/>'
        '<origin xyz="0.1 0 0.3" rpy="0.4 -0.3 1"/></joint>')
    arm = two_link(fore='<link name="fore"/>' + flange)
    truth = Plant(arm, PlantOptions(inertia_error=0.0)).truth
    np.testing.assert_allclose(truth.inertial, arm.inertial_parameters, atol=1e-14)


def test_limits_that_the_plant_needs():
    arm = two_link(limit='lower="-2" upper="2" effort="0" velocity="3"')
    with pytest.raises(SimulationError, match="torque limit of 'shoulder, elbow' is unknown"):
        Plant(arm)


@pytest.mark.parametrize('changes, sentence', [
    ({'delay': 0.0013}, '`delay` is 0.0013, which is not a whole number'),
    ({'rate': 333.0}, '`rate` is 333'),
    ({'inertia_error': 0.9}, 'inertia_error must be .* at least 0 and at most 0.5, not 0.9'),
    ({'torque_noise': -1.0}, 'torque_noise must be a number of at least 0, not -1.0'),
    ({'coulomb': (0.2, 0.1)}, '`coulomb` must be'),
    ({'stribeck_ratio': 0.5}, 'stribeck_ratio must be a number of at least 1'),
    ({'encoder_bits': 2}, 'encoder_bits must be a whole number of at least 4'),
    ({'tracking': 'perfect'}, "tracking must be one of 'controller', 'ideal', not 'perfect'"),
])
def test_options_that_cannot_be(changes, sentence):
    with pytest.raises(ConfigurationError, match=sentence):
        PlantOptions(**changes)


def test_moments_that_are_rounded_to_two_digits_are_simulated():
    """Moments of an xArm6 exceed the triangle inequality by 0.9 %, within the rounding allowed."""
    moments = 'ixx="0.00306" iyy="0.0236" izz="{}" ixy="0" ixz="0" iyz="0"'
    body = ('<link name="fore"><inertial><origin xyz="0 0.02 0.2"/><mass value="2"/><inertia '
            f'{moments}/></inertial></link>')
    arm = two_link(fore=body.format('0.0269'))
    assert check_inertias(arm) == ()
    pseudo = nominal_bodies(arm)[1]
    assert np.linalg.eigvalsh(pseudo)[0] > 0
    centre = pseudo[:3, 3] / pseudo[3, 3]
    second = pseudo[:3, :3] - pseudo[3, 3] * np.outer(centre, centre)
    assert np.allclose(np.diag(np.trace(second) * np.eye(3) - second), [0.00306, 0.0236, 0.0269],
                       rtol=0, atol=0.01 * 0.0269)
    Plant(arm)
    with pytest.raises(SimulationError, match='init --repair'):
        Plant(two_link(fore=body.format('0.0369')))
