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
"""Attempts to break the proofs: random motions at their limits, tampering, another engine."""

from __future__ import annotations

import dataclasses
import json

from click.testing import CliRunner
from contact_geometry import ContactGeometry
from excitation_arms import chain, tree
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.arm import load_arm
from robot_identification.arm.meshes import with_mesh_paths
from robot_identification.cli.commands import app
from robot_identification.errors import ExcitationError
from robot_identification.excitation import (
    build_scene,
    check_certificate,
    design,
    DesignOptions,
    motion_limits,
    Payload,
    Requirements,
    save_excitation,
    TRAJECTORIES,
    Trajectory,
    Workspace,
)
from robot_identification.excitation.certificate.certificate import (
    build_constraints,
    certify,
)
from robot_identification.excitation.certificate.clearance import prove_clearance
from robot_identification.excitation.certificate.joint_limits import prove_peaks
from robot_identification.excitation.certificate.torque import prove_torque
from robot_identification.excitation.certificate.workspace import WorkspaceLimits
from robot_identification.excitation.design.design import (
    best_proven,
    build_problem,
    restore_feasibility,
)
from robot_identification.excitation.design.problem import Minimum
from robot_identification.excitation.motion import get_series
from robot_identification.simulation import Plant, PlantOptions, simulate
from robot_identification.simulation.contacts import find_contacts
from robot_identification.yaml_file import read_typed, to_plain

SAFE = Requirements(torque_margin=0.1, clearance=0.01)
TIMES = 4000


def a_motion(arm, kind, period, harmonics, seed):
    """Return a random motion, and times: random ones, and those next to the ends of the period."""
    rng = np.random.default_rng(seed)
    series = get_series(kind, period, harmonics)
    size = rng.uniform(0.1, 2.0) * rng.normal(size=(series.size, arm.n))
    times = np.concatenate([rng.uniform(0, period, TIMES), period * np.geomspace(1e-9, 1e-2, 50),
                            period * (1 - np.geomspace(1e-9, 1e-2, 50))])
    return Trajectory(series, size), times


def torques(arm, q, v, a, payload):
    """Return Pinocchio's inverse dynamics, with the payload attached in Pinocchio."""
    model = arm.model.copy()
    model.inertias[arm.n] += pin.Inertia(payload.mass, np.array(payload.centre),
                                         np.zeros((3, 3)))
    data = model.createData()
    return np.array([pin.rnea(model, data, *state) for state in zip(q, v, a)])


@settings(max_examples=20)
@given(st.sampled_from(sorted(TRAJECTORIES)), st.floats(0.5, 30.0), st.integers(2, 7),
       st.integers(0, 10_000), st.booleans())
def test_no_time_exceeds_a_bound(kind, period, harmonics, seed, branched):
    arm = tree() if branched else chain()
    trajectory, times = a_motion(arm, kind, period, harmonics, seed)
    payload = Payload(1.0 + seed % 7, (0.05 * (seed % 5), -0.1, 0.2))
    limits = dataclasses.replace(motion_limits(arm, acceleration=8.0)[0],
                                 jerk=np.full(arm.n, 40.0))
    q, v, a, jerk = trajectory.evaluate(times, 3)
    middle, half = (limits.upper + limits.lower) / 2, (limits.upper - limits.lower) / 2
    usage = prove_peaks(trajectory, limits)
    for row, value in zip(usage, (np.abs(q - middle) / half, np.abs(v) / limits.velocity,
                                  np.abs(a) / limits.acceleration, np.abs(jerk) / limits.jerk)):
        assert np.all(value.max(axis=0) <= row)
    requirements = Requirements(torque_margin=0.0, power=1.0, payload=payload)
    bound, power = prove_torque(arm, trajectory, requirements)
    tau = torques(arm, q, v, a, payload)
    assert np.all(np.abs(tau).max(axis=0) / arm.limits.torque <= bound)
    assert np.abs(np.sum(tau * v, axis=1)).max() <= power
    frame, data = ('c' if branched else 'three'), arm.model.createData()
    box = WorkspaceLimits(arm, trajectory.series, Workspace(frame, (-1, -1, -1), (1, 1, 1)))
    room = box.prove(trajectory)[0].bound
    index, points = arm.model.getFrameId(frame), []
    for state in q[::10]:
        pin.framesForwardKinematics(arm.model, data, state)
        points.append(data.oMf[index].translation.copy())
    assert 1.0 - np.abs(points).max() >= room


@pytest.fixture(scope='module')
def panda():
    return load_arm('panda')


@pytest.fixture(scope='module')
def safe(panda):
    return design(panda, kind='mfs', period=6.0, harmonics=3, starts=1, good_enough=12.0,
                  requirements=SAFE)


@pytest.fixture(scope='module')
def scene(panda):
    return build_scene(panda, SAFE)


@pytest.fixture(scope='module')
def meshes(panda, scene):
    """Return Pinocchio's collision geometry of the URDF: meshes, and the relevant pairs."""
    ignored = {frozenset(pair) for pair in scene.excluded}
    geometry = pin.buildGeomFromUrdfString(panda.model, with_mesh_paths(panda),
                                           pin.GeometryType.COLLISION)
    names = [panda.model.frames[item.parentFrame].name for item in geometry.geometryObjects]
    for i, name in enumerate(names):
        for k in range(i):
            one, other = geometry.geometryObjects[i], geometry.geometryObjects[k]
            if frozenset((name, names[k])) not in ignored and one.parentJoint != other.parentJoint:
                geometry.addCollisionPair(pin.CollisionPair(k, i))
    return geometry


def too_near(arm, geometry, states, clearance):
    data, kinematics = geometry.createData(), arm.model.createData()
    for request in data.collisionRequests:
        request.security_margin = clearance
    return sum(pin.computeCollisions(arm.model, kinematics, geometry, data, state, True)
               for state in states)


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.floats(0.0, 0.08), st.sampled_from(['mfs', 'spline', 'ffs']))
def test_meshes_keep_every_clearance_that_is_proven(panda, scene, meshes, seed, clearance, kind):
    rng = np.random.default_rng(seed)
    series = get_series(kind, 6.0, 3)
    limits, _ = motion_limits(panda)
    options = DesignOptions(kind=series.name, period=series.period, harmonics=series.harmonics,
                            requirements=Requirements())
    x = build_problem(panda, options, limits).start(rng)
    x[1:] *= rng.uniform(0.05, 1.0)
    trajectory = Trajectory(series, x)
    proof = prove_clearance(trajectory, scene, clearance)
    states = trajectory.derivative(rng.uniform(0, 6.0, 1000), 0)
    if proof.proven:
        assert too_near(panda, meshes, states, clearance) == 0
    else:    # at the time of the proof; hulls contain the meshes, so they are at least as close
        at = scene.distances(trajectory.derivative([proof.time], 0), 1.0)[0].min()
        assert at < clearance + 0.005


def test_an_engine_that_knows_nothing_of_the_proof_finds_no_contact(panda, safe, scene, meshes):
    plant = Plant(panda, PlantOptions(seed=3))
    run = simulate(plant, safe, rng=np.random.default_rng(3))
    assert np.max(run.tracking_error) < 0.05 and run.end_stops == 0
    contacts = ContactGeometry(panda, ignored=list(scene.excluded))
    assert contacts.find_contacts(run.q[::4]) == ()
    t = np.random.default_rng(4).uniform(0, safe.period, 2000)
    assert too_near(panda, meshes, safe.trajectory.derivative(t, 0), 0.01) == 0


def test_both_judges_see_a_folded_arm(panda, scene, meshes):
    folded = np.array([[0.0, -0.2, 0.0, -3.0, 0.0, 0.5, 0.0], [0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.7],
                       [0.0, -1.7, 0.0, -3.07, 0.0, 0.0, 0.0]])
    ignored = list(scene.excluded)
    contacts = ContactGeometry(panda, ignored=ignored).find_contacts(folded)
    assert {frozenset(pair) for pair in find_contacts(panda, folded, ignored=ignored)} == {
        frozenset(contact.links) for contact in contacts}
    assert find_contacts(panda, folded[1:2], ignored=ignored) == ()
    assert contacts and contacts[0].depth > 0.001
    assert "'panda_" in str(contacts[0]) and 'overlap by' in str(contacts[0])
    assert too_near(panda, meshes, folded[1:2], 0.01) == 0
    assert too_near(panda, meshes, folded, 0.01) >= 1


@pytest.mark.parametrize('name', ['ur10', 'xarm7'])
def test_what_touches_for_another_engine_touches_for_the_proof(name):
    arm = load_arm(name)
    scene = build_scene(arm, SAFE)
    contacts = ContactGeometry(arm, ignored=list(scene.excluded))
    lower, upper = np.maximum(arm.limits.lower, -3.0), np.minimum(arm.limits.upper, 3.0)
    q = np.random.default_rng(8).uniform(lower, upper, size=(300, arm.n))
    touching = np.array([bool(contacts.find_contacts(state[None])) for state in q])
    distances = scene.distances(q, 0.1)[0].min(axis=1)
    assert touching.sum() > 10 and np.all(distances[touching] <= 0)


def test_a_claim_that_is_no_longer_asked_for_is_refused(panda, safe):
    for weaker in (Requirements(clearance=0.01), Requirements(torque_margin=0.1),
                   dataclasses.replace(SAFE, torque_margin=0.05),
                   dataclasses.replace(SAFE, clearance=0.005)):
        with pytest.raises(ExcitationError, match=r'claims a (torque|clearance) within'):
            check_certificate(dataclasses.replace(safe, requirements=weaker), panda)
    with pytest.raises(ExcitationError, match=r'claims a position within 0\.95'):
        check_certificate(dataclasses.replace(safe, margin=-0.5), panda)
    assert check_certificate(safe, panda).holds


@pytest.mark.parametrize('beyond', [1e-4, 0.3])
def test_a_motion_made_larger_is_refused(panda, safe, beyond):
    larger = safe.trajectory.coefficients.copy()
    larger[1:] *= (1.0 + beyond) / safe.usage[1].max()
    with pytest.raises(ExcitationError, match='must not be executed'):
        check_certificate(dataclasses.replace(
            safe, trajectory=Trajectory(safe.trajectory.series, larger)), panda)


def test_a_payload_with_a_size_keeps_its_distance(panda, safe):
    box = Payload(0.5, (0.0, 0.0, 0.25), (0.3, 0.3, 0.3))
    scene = build_scene(panda, dataclasses.replace(SAFE, payload=box))
    without = build_scene(panda, dataclasses.replace(SAFE, payload=Payload(0.5, (0, 0, 0))))
    carried = [shape for shape in scene.shapes if shape.name == 'payload']
    assert len(scene.shapes) == len(without.shapes) + 1 and carried[0].link == panda.n - 1
    np.testing.assert_allclose([carried[0].vertices.min(0), carried[0].vertices.max(0)],
                               [[-0.15, -0.15, 0.1], [0.15, 0.15, 0.4]])
    others = {frozenset(name) for name in ((scene.shapes[a].name, scene.shapes[b].name)
                                           for a, b in scene.pairs) if 'payload' in name}
    assert frozenset(('payload', 'panda_link0')) in others
    huge = dataclasses.replace(SAFE, payload=dataclasses.replace(box, size=(1.5, 1.5, 0.3)))
    found = certify(panda, safe.trajectory, safe.limits, requirements=huge)
    assert 'clearance' in [claim.quantity for claim in found.broken]
    assert 'payload' in found['clearance'].detail


def test_a_payload_without_a_size_is_said_not_to_be_looked_at():
    assert Requirements(payload=Payload(1.0, (0, 0, 0))).notes == ()
    safe = dataclasses.replace(SAFE, floor=0.0)
    note, = dataclasses.replace(safe, payload=Payload(1.0, (0, 0, 0))).notes
    assert 'size of the payload is not given' in note
    boxed = Payload(1.0, (0, 0, 0), size=(0.1, 0.1, 0.1))
    assert dataclasses.replace(safe, payload=boxed).notes == ()
    note, = SAFE.notes
    assert 'floor not checked' in note
    for size in ((0.1, 0.1), (0.1, 0.0, 0.1), (0.1, np.nan, 0.1)):
        with pytest.raises(ExcitationError, match='size'):
            Payload(1.0, (0, 0, 0), size=size)
    known = dataclasses.replace(SAFE, payload=Payload(1.0, (0, 0, 0.1), (0.1, 0.2, 0.3)))
    assert read_typed(Requirements, to_plain(known), 'the file', ExcitationError) == known


@pytest.fixture(scope='module')
def sparse():
    """Return a problem with few torque samples, and a motion that exceeds a limit between them."""
    arm = chain()
    arm = dataclasses.replace(arm, limits=dataclasses.replace(arm.limits, torque=np.full(3, 12.0)))
    limits, _ = motion_limits(arm, acceleration=300.0, velocity=30.0)
    requirements = Requirements(torque_margin=0.0)
    options = DesignOptions(period=2.0, harmonics=3, requirements=requirements,
                            samples_per_period=50)
    problem = build_problem(arm, options, limits)
    joints, torque = problem.constraints
    coarse = torque.refined()
    coarse._look_at(20)
    problem = dataclasses.replace(problem, constraints=(joints, coarse))
    for seed in range(200):
        x = problem.start(np.random.default_rng(seed))
        while problem.most_violated(x) is None:
            x[1:] *= 1.02
        x[1:] /= 1.02
        if problem.most_violated(x) is None and torque.slack(x).min() < -0.01:
            return arm, problem, requirements, x
    raise AssertionError('no motion slips through')


def test_a_motion_whose_proof_fails_is_repaired(sparse):
    arm, problem, requirements, x = sparse
    trajectory = Trajectory(problem.series, x)
    assert not certify(arm, trajectory, problem.limits, 0.0, requirements).holds
    dense = dataclasses.replace(problem, constraints=(
        problem.constraints[0], problem.constraints[1].refined()))
    value = problem.objective.evaluate(x).value
    assert dense.most_violated(x) is not None
    assert dense.most_violated(restore_feasibility(problem, x)) is None
    minimum = Minimum(x, value, True)
    repaired, certificate = best_proven(problem, [minimum])
    assert certificate.holds
    assert problem.objective.evaluate(repaired.coefficients).value < 1.5 * value


def test_a_repair_ends_with_the_time_and_what_cannot_be_repaired_is_an_error(sparse):
    arm, problem, requirements, x = sparse
    hurried = restore_feasibility(problem, x, lambda: True)
    shape = x[1:] / np.linalg.norm(x[1:])
    np.testing.assert_allclose(hurried[1:] / np.linalg.norm(hurried[1:]), shape, atol=1e-9)
    minimum = Minimum(x, 1.0, True)
    impossible = dataclasses.replace(requirements, torque_margin=0.99)
    with pytest.raises(ExcitationError, match='none of the motions found could be proven: torque'):
        best_proven(dataclasses.replace(problem, constraints=build_constraints(
            arm, problem.series, problem.limits, 0.0, impossible)), [minimum])


def test_the_command_simulate_looks_for_contact(panda, tmp_path):
    folded = np.array([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.7])
    for name, requirements in (('safe', SAFE), ('free', Requirements())):
        motion = design(panda, period=2.0, harmonics=2, starts=1, samples_per_period=30,
                        time_budget=1.0, start=folded, requirements=requirements)
        save_excitation(motion, tmp_path / f'{name}.yaml')
    answers = {}
    for name in ('safe', 'free'):
        done = CliRunner().invoke(app, ['simulate', 'panda', str(tmp_path / f'{name}.yaml'), '-o',
                                        str(tmp_path / f'{name}.csv'), '--json'])
        assert done.exit_code == 0, done.output
        answers[name] = json.loads(done.stdout)['contacts']
    assert answers == {'safe': [], 'free': None}
