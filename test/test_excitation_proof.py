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
"""Proofs, constraints and certificates of excitations."""

from __future__ import annotations

import dataclasses

from excitation_arms import chain, tree
import numpy as np
import pytest
from robot_identification.arm import Arm, load_arm
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import ExcitationError, UnknownNameError
from robot_identification.excitation import (
    build_scene,
    check_certificate,
    design,
    DesignOptions,
    load_excitation,
    motion_limits,
    Payload,
    Requirements,
    save_excitation,
    Trajectory,
    Workspace,
)
from robot_identification.excitation.certificate.certificate import certify
from robot_identification.excitation.certificate.clearance import prove_clearance
from robot_identification.excitation.certificate.geometry.shapes import coarsen, Shape
from robot_identification.excitation.certificate.nominal_torque import nominal_inertial
from robot_identification.excitation.certificate.torque import prove_torque
from robot_identification.excitation.certificate.workspace import WorkspaceLimits
from robot_identification.excitation.design.design import build_problem
from robot_identification.excitation.motion import get_series

SAFE = Requirements(torque_margin=0.1, clearance=0.01)


@pytest.fixture(scope='module')
def panda():
    return load_arm('panda')


@pytest.fixture(scope='module')
def safe(panda):
    return design(panda, kind='mfs', starts=1, good_enough=12.0, requirements=SAFE)


def a_motion(arm, seed, amplitude=0.3):
    series = get_series('mfs', 8.0, 3)
    rng = np.random.default_rng(seed)
    return Trajectory(series, amplitude * rng.normal(size=(series.size, arm.n)))


@pytest.mark.parametrize('arm', [chain(), tree()], ids=['chain', 'tree'])
def test_torque_and_power_bounds_are_true_and_tight(arm):
    rotor = dataclasses.replace(arm.drives, rotor_inertia=np.linspace(0.1, 0.4, arm.n))
    arm = dataclasses.replace(arm, drives=rotor)
    requirements = Requirements(torque_margin=0.0, power=1e9, payload=Payload(2.0, (0.1, 0, 0.2)))
    trajectory = a_motion(arm, 1)
    usage, power = prove_torque(arm, trajectory, requirements)
    t = np.linspace(0, 8, 100_001)
    q, v, a = trajectory.evaluate(t, 2)
    tau = inverse_dynamics(arm, q, v, a, nominal_inertial(arm, requirements))
    tau = tau + a * arm.drives.rotor_inertia
    true = np.abs(tau).max(axis=0) / arm.limits.torque
    assert np.all(usage >= true) and np.all(usage <= true + 3e-3)
    peak = np.abs(np.sum(tau * v, axis=1)).max()
    assert peak <= power <= 1.02 * peak


def test_payload_is_a_point_mass_on_the_last_link():
    import pinocchio as pin
    arm = chain()
    added = pin.Inertia(2.0, np.array([0.1, 0.2, -0.3]), np.zeros((3, 3)))
    expected = (arm.model.inertias[arm.n] + added).toDynamicParameters()
    found = nominal_inertial(arm, Requirements(payload=Payload(2.0, (0.1, 0.2, -0.3))))
    np.testing.assert_allclose(found[-1], expected, atol=1e-12)
    np.testing.assert_array_equal(found[:-1], arm.inertial_parameters[:-1])


def test_distances_are_those_of_coal_with_exact_derivatives(panda):
    scene = build_scene(panda, dataclasses.replace(
        SAFE, floor=-0.1, boxes=((0.4, -0.2, 0.0, 0.6, 0.2, 0.3),)))
    rng = np.random.default_rng(2)
    q = rng.uniform(panda.limits.lower, panda.limits.upper, size=(20, 7))
    distances, gradients = scene.distances(q, 10.0)
    from robot_identification.excitation.certificate.clearance import ClearanceProof
    prover = ClearanceProof(Trajectory(get_series('ffs', 8.0, 2), np.zeros((5, 7))), scene)
    world, origin = prover._frames(q)
    measured = np.array([[prover._measure(p, world[k], origin[k])
                          for p in range(len(scene.pairs))] for k in range(len(q))])
    apart = measured > 1e-4
    assert apart.mean() > 0.9
    grown = np.array([sum(coarsen(scene.shapes[i]).radius for i in pair) for pair in scene.pairs])
    assert np.all((distances <= measured + 1e-5)[apart]) and grown.max() < 0.008
    assert np.all((distances >= measured - grown - 1e-5)[apart])
    assert np.all(distances[measured < -1e-4] <= 0)
    step = rng.normal(size=q.shape)
    h = 1e-6
    change = (scene.distances(q + h * step, 10.0)[0] - scene.distances(q - h * step, 10.0)[0])
    slope = np.einsum('kpn,kn->kp', gradients, step)
    assert np.quantile(np.abs(slope - change / (2 * h))[measured > 1e-3], 0.99) < 1e-5


def test_round_shapes_and_convex_ones_agree_in_both_distances():
    from robot_identification.excitation.certificate.clearance import ClearanceProof
    from robot_identification.excitation.certificate.geometry.scene import Scene
    arm = chain()
    ends = np.array([[0.0, 0.1, -0.2], [0.3, 0.0, 0.2]])
    shapes = (Shape('ball', 0, ends[:1], 0.1), Shape('rod', 2, ends, 0.05),
              Shape('plate', -1, np.array([[1.0, -1, 0], [1, 1, 0], [1, 0, 1], [1.1, 0, 0]])))
    from robot_identification.dynamics.kinematics import Kinematics
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    scene = Scene(Kinematics.of(arm), shapes, pairs, {}, ())
    q = np.random.default_rng(3).uniform(-1, 1, size=(10, 3))
    distances, _ = scene.distances(q, 10.0)
    prover = ClearanceProof(Trajectory(get_series('ffs', 8.0, 2), np.zeros((5, 3))), scene)
    world, origin = prover._frames(q)
    measured = [[prover._measure(p, world[k], origin[k]) for p in range(3)] for k in range(10)]
    apart = np.array(measured) > 0
    np.testing.assert_allclose(distances[apart], np.array(measured)[apart], atol=1e-5)


def test_clearance_is_proven_or_refuted_as_dense_sampling_says(panda):
    scene = build_scene(panda, dataclasses.replace(SAFE, clearance=0.1))
    limits, _ = motion_limits(panda)
    options = DesignOptions(period=8.0, harmonics=3, requirements=Requirements())
    problem = build_problem(panda, options, limits)
    verdicts = set()
    for seed in range(8):
        trajectory = Trajectory(problem.series, problem.start(np.random.default_rng(seed)))
        proof = prove_clearance(trajectory, scene, 0.1)
        distances, _ = scene.distances(trajectory.derivative(np.linspace(0, 8, 2000), 0), 0.5)
        smallest = distances.min()
        assert proof.proven == (smallest >= 0.1), (seed, smallest, proof)
        if proof.proven:
            assert proof.smallest <= smallest + 0.05
        verdicts.add(proof.proven)
    assert verdicts == {True, False}


@pytest.mark.parametrize('arm', [chain(), tree()], ids=['chain', 'tree'])
def test_workspace_bound_is_true(arm):
    trajectory = a_motion(arm, 4)
    frame = 'three' if arm.n == 3 else 'c'
    box = Workspace(frame, (-5.0, -5.0, -np.inf), (5.0, 5.0, 5.0))
    limits = WorkspaceLimits(arm, trajectory.series, box)
    room = limits.prove(trajectory)[0].bound
    point, _, _ = limits.position(
        trajectory.derivative(np.linspace(0, 8, 20_001), 0))
    true = np.minimum(5.0 - point, np.where([True, True, False], point + 5.0, np.inf)).min()
    assert true - 0.02 < room <= true


@pytest.mark.parametrize('requirements', [
    Requirements(torque_margin=0.1), Requirements(power=200.0, payload=Payload(1.0, (0, 0, 0))),
    Requirements(workspace=(Workspace('panda_hand', (-1, -1, 0.0), (1, 1, np.inf)),)),
    Requirements(clearance=0.01, floor=0.0)], ids=['torque', 'power', 'workspace', 'clearance'])
def test_constraints_have_exact_derivatives(panda, requirements):
    limits, _ = motion_limits(panda)
    options = DesignOptions(period=8.0, harmonics=2, requirements=requirements)
    problem = build_problem(panda, options, limits)
    constraint, rng = problem.constraints[-1], np.random.default_rng(5)
    x = problem.start(rng)
    direction = rng.normal(size=x.shape)
    weights = rng.normal(size=constraint.slack(x).shape)
    h = 1e-6
    change = (constraint.slack(x + h * direction) - constraint.slack(x - h * direction)) / (2 * h)
    assert np.sum(constraint.pull_back(x, weights, weights)[0] * direction) == pytest.approx(
        weights @ change, rel=1e-4, abs=1e-4)
    flat, weights = direction.ravel(), np.abs(weights)
    assert flat @ constraint.pull_back(x, weights, weights)[1] @ flat == pytest.approx(
        weights @ change ** 2, rel=1e-3, abs=1e-4)


def test_a_safe_design_is_certified_and_certifies_again(panda, safe, tmp_path):
    assert safe.certificate.holds and safe.condition_number < 60
    assert {c.quantity for c in safe.certificate.claims} == {
        'position', 'velocity', 'acceleration', 'jerk', 'torque', 'clearance'}
    t = np.random.default_rng(6).uniform(0, safe.period, 10_000)
    q, v, a = safe.trajectory.evaluate(t, 2)
    assert np.all(np.abs(inverse_dynamics(panda, q, v, a)) <= 0.9 * panda.limits.torque)
    assert build_scene(panda, SAFE).distances(q, 0.1)[0].min() >= 0.01
    np.testing.assert_allclose(safe.trajectory.evaluate([0.0], 2)[1:], 0.0, atol=1e-9)
    save_excitation(safe, tmp_path / 'e.yaml')
    again = load_excitation(tmp_path / 'e.yaml')
    assert again.requirements == safe.requirements and again.certificate == safe.certificate
    assert check_certificate(again, panda).holds


def test_a_motion_that_was_tampered_with_is_refused(panda, safe):
    faster = dataclasses.replace(safe, trajectory=Trajectory(
        safe.trajectory.series, safe.trajectory.coefficients * 1.1))
    with pytest.raises(ExcitationError, match=r'must not be executed.*velocity is NOT proven'):
        check_certificate(faster, panda)
    weaker = dataclasses.replace(panda, limits=dataclasses.replace(
        panda.limits, velocity=panda.limits.velocity / 2))
    with pytest.raises(ExcitationError, match='velocity is NOT proven'):
        check_certificate(safe, weaker)
    folded = np.array([0.0, -0.2, 0.0, -3.0, 0.0, 0.5, 0.0])
    still = np.zeros_like(safe.trajectory.coefficients)
    still[0] = folded
    found = certify(panda, Trajectory(safe.trajectory.series, still), safe.limits,
                    requirements=dataclasses.replace(SAFE, clearance=0.2))
    assert [claim.quantity for claim in found.broken] == ['clearance']
    assert 'panda' in str(found.broken[0])


@pytest.mark.parametrize(('requirements', 'words'), [
    (Requirements(clearance=0.01, floor=5.0), "clearance between .* and 'floor' is missed by"),
    (Requirements(workspace=(Workspace('panda_hand', (3, 3, 3), (4, 4, 4)),)),
     "bound of frame 'panda_hand' is missed by .* mm.*give a larger `workspace`"),
    (Requirements(torque_margin=0.99, payload=Payload(30.0, (0, 0, 0.1))),
     'torque limit of joint .* is missed by .* N m.*allow a smaller `torque_margin`'),
])
def test_impossible_requests_say_what_cannot_be_met_and_by_how_much(panda, requirements, words):
    with pytest.raises(ExcitationError, match=words):
        design(panda, kind='mfs', starts=1, requirements=requirements)


def arm_with_a_gap(gap):
    """Return an arm with a constant gap [m] between foot and upper arm (not neighbours)."""
    def ball(name, radius):
        return (f'<link name="{name}"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" '
                'izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><sphere '
                f'radius="{radius}"/></geometry></collision></link>')

    links = [('foot', 0.1), ('turret', 0.01), ('upper', 0.1 - gap), ('fore', 0.02)]
    joints = [('0 0 0.105', '0 0 1'), ('0 0 0.095', '0 1 0'), ('0.3 0 0', '0 1 0')]
    return Arm.from_urdf('<robot name="gap">' + ''.join(ball(*link) for link in links) + ''.join(
        f'<joint name="j{k}" type="revolute"><parent link="{links[k][0]}"/><child link='
        f'"{links[k + 1][0]}"/><origin xyz="{origin}"/><axis xyz="{axis}"/><limit lower="-2" '
        'upper="2" velocity="2" effort="50"/></joint>'
        for k, (origin, axis) in enumerate(joints)) + '</robot>')


@pytest.mark.parametrize('gap', [0.0105, 0.013])
def test_links_that_have_little_more_than_the_clearance_are_designed_for(gap):
    safe = design(arm_with_a_gap(gap), period=4.0, harmonics=2, starts=1, acceleration=5.0,
                  requirements=Requirements(clearance=0.01))
    [claim] = [claim for claim in safe.certificate.claims if claim.quantity == 'clearance']
    assert claim.holds and 0.01 <= claim.bound <= gap + 1e-9


@pytest.mark.parametrize('encoding', ['utf-16', 'utf-32', 'utf-32-be', 'utf-32-le', 'latin-1'])
def test_an_srdf_in_another_encoding_is_refused(tmp_path, encoding):
    text = f'<?xml version="1.0" encoding="{encoding}"?><robot name="\xe9"/>'
    (tmp_path / 'x.srdf').write_bytes(text.encode(encoding))
    with pytest.raises(ExcitationError, match=r'the SRDF .*x\.srdf'):
        build_scene(arm_with_a_gap(0.02), Requirements(srdf=str(tmp_path / 'x.srdf')))


def test_links_without_the_clearance_are_a_note_and_other_obstacles_name_a_way_out():
    scene = build_scene(arm_with_a_gap(0.0095), Requirements(clearance=0.01))
    assert ("'foot' and 'upper' are excluded: closer than 10 mm in "
            in ' '.join(scene.notes))
    with pytest.raises(ExcitationError, match=r'init --repair.*--floor.*smaller `clearance`'):
        design(arm_with_a_gap(0.02), acceleration=5.0, starts=1,
               requirements=Requirements(clearance=0.01, floor=1.0))


@pytest.mark.parametrize(('make', 'words'), [
    (lambda: Requirements(torque_margin=1.0),
     'torque_margin must be a number of at least 0 and below 1'),
    (lambda: Requirements(power=0.0), 'power must be a positive number'),
    (lambda: Requirements(clearance=-0.1), 'clearance must be a number of at least 0'),
    (lambda: Requirements(floor=0.0), 'require a clearance'),
    (lambda: Payload(0.0, (0, 0, 0)), 'mass must be a positive number'),
    (lambda: Workspace('tool', (0, 0, 0), (1, 0, 1)), 'lower corner'),
    (lambda: build_scene(chain(), SAFE), 'no collision geometry'),
    (lambda: build_scene(load_arm('panda'), dataclasses.replace(SAFE, boxes=((1.0,) * 6,))),
     'box 1 must be six numbers'),
])
def test_requirements_that_make_no_sense(make, words):
    with pytest.raises(ExcitationError, match=words):
        make()


def test_missing_meshes_are_named_with_the_choice(panda):
    moved = panda.reduced_urdf.replace('package://example-robot-data/', 'package://nowhere/')
    with pytest.raises(ExcitationError, match=r"link0.stl' .* is missing \(and 8 more.*"
                                              r'--package-dir.*--no-collisions'):
        build_scene(dataclasses.replace(panda, reduced_urdf=moved), SAFE)


def test_unknown_frames_are_refused(panda):
    box = Workspace('nose', (-1, -1, -1), (1, 1, 1))
    with pytest.raises(UnknownNameError, match='panda_hand'):
        design(panda, requirements=Requirements(workspace=(box,)))


def test_rated_torques_must_be_known():
    arm = chain()
    bare = dataclasses.replace(arm, limits=dataclasses.replace(
        arm.limits, torque=np.full(3, np.inf)))
    with pytest.raises(ExcitationError, match=r'no joint of .* has a torque limit.*--no-torque'):
        design(bare, acceleration=8.0, requirements=Requirements(torque_margin=0.1))


def test_coarse_shapes_look_at_few_points_and_are_those_of_looking_at_all(monkeypatch):
    points = np.random.default_rng(3).normal(size=(900, 3))
    points *= np.array([0.1, 0.2, 0.3]) / np.linalg.norm(points, axis=1, keepdims=True)
    shape = Shape('egg', 0, points)
    few = coarsen.__wrapped__(shape)
    monkeypatch.setattr('robot_identification.excitation.certificate.geometry.shapes.AT_ONCE',
                        len(points))
    every = coarsen.__wrapped__(shape)
    assert np.array_equal(few.vertices, every.vertices) and few.radius == every.radius
    from robot_identification.excitation.certificate.geometry.kernels import point_distances
    outside = np.empty(len(points))
    point_distances(points, np.ascontiguousarray(few.vertices), outside)
    assert len(few.vertices) == 64 and 0 < outside.max() <= few.radius < 0.02
