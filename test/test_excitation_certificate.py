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
"""Certificates: closed formulas, sampled motions against the bounds, figures of one motion."""

from __future__ import annotations

import dataclasses
import re
from types import SimpleNamespace

import coal
from excitation_arms import chain, tree
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.arm import Arm
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.errors import ExcitationError, UnknownNameError
from robot_identification.excitation import (
    build_scene,
    Certificate,
    DesignOptions,
    follow_path,
    motion_limits,
    Payload,
    Requirements,
    Trajectory,
    Workspace,
)
from robot_identification.excitation.certificate.certificate import build_constraints, certify
from robot_identification.excitation.certificate.claim import CertificateClaim
from robot_identification.excitation.certificate.clearance import (
    Clearance,
    ClearanceProof,
    make_coal_body,
    prove_clearance,
)
from robot_identification.excitation.certificate.geometry.kernels import (
    _weights,
    point_distances,
)
from robot_identification.excitation.certificate.geometry.scene import (
    link_shapes,
    Scene,
    without_close_pairs,
)
from robot_identification.excitation.certificate.geometry.shapes import (
    box,
    coarsen,
    convex_shapes,
    merge_shapes,
    Shape,
    solid_inertial,
)
from robot_identification.excitation.certificate.joint_limits import JointLimits, prove_peaks
from robot_identification.excitation.certificate.nominal_torque import (
    nominal_inertial,
    nominal_notes,
    NominalTorque,
    torque_range,
)
from robot_identification.excitation.certificate.segments import instants, joint_reach, Segments
from robot_identification.excitation.certificate.torque import _torque_jets, TorqueLimits
from robot_identification.excitation.certificate.workspace import WorkspaceLimits
from robot_identification.excitation.motion import get_series
from scipy.spatial import ConvexHull

PERIOD = 6.0
GRAVITY = 9.81


def one_joint(kind='revolute', geometry='', more=''):
    """Return an arm of one joint along or about y, with a body of 2 kg below its axis."""
    limit = '<limit lower="-2" upper="2" velocity="3" effort="40"/>'
    return Arm.from_urdf(
        '<robot name="one"><link name="base"/><link name="rod"><inertial><origin xyz="0 0 -0.5"/>'
        '<mass value="2"/><inertia ixx="0.3" iyy="0.4" izz="0.1" ixy="0" ixz="0" iyz="0"/>'
        f'</inertial>{geometry}</link><joint name="swing" type="{kind}"><parent link="base"/>'
        f'<child link="rod"/><axis xyz="0 1 0"/>{limit}</joint>{more}</robot>')


def swing(amplitude=1.0, centre=0.0, n=1):
    """Return the motion q = centre + amplitude sin(w t) of n joints."""
    series = get_series('ffs', PERIOD, 1)
    return Trajectory(series, np.tile([[centre], [amplitude * series.angular_frequency], [0.0]],
                                      (1, n)))


def random_motion(arm, kind='mfs', seed=1, amplitude=0.3):
    series = get_series(kind, PERIOD, 2)
    rng = np.random.default_rng(seed)
    return Trajectory(series, amplitude * rng.normal(size=(series.size, arm.n)))


@pytest.mark.parametrize('kind', ['ffs', 'mfs', 'spline'])
def test_segments_bound_what_happens_in_them_and_hardly_more(kind):
    trajectory = random_motion(tree(), kind)
    segments = Segments.of(trajectory)
    count = 40 * trajectory.series.resolution
    np.testing.assert_allclose(segments.edges, np.linspace(0, PERIOD, count + 1), atol=1e-12)
    assert segments.edges[-1] < PERIOD and segments.bounds.shape == (5, count, 4)
    inside = np.linspace(segments.edges[:-1], segments.edges[1:], 65).T.ravel()
    for order, bound in enumerate(segments.bounds):
        values = np.abs(trajectory.derivative(inside, order)).reshape(count, 65, 4).max(axis=1)
        step = PERIOD / count / 16
        room = step / 2 * trajectory.series.largest(trajectory.coefficients, order + 1)
        assert np.all(values <= bound) and np.all(bound <= values + room + 1e-12)
        assert np.all(bound >= values + room / 2 - 1e-12) or order > 3
    joined = segments.joined(4)
    np.testing.assert_array_equal(joined.edges, segments.edges[::4])
    for s in range(count // 4):
        np.testing.assert_array_equal(joined.bounds[:, s],
                                      segments.bounds[:, 4 * s:4 * s + 4].max(axis=1))


def test_instants_end_just_before_the_period():
    times = instants(2.0, 4)
    np.testing.assert_array_equal(times[:-1], [0.0, 0.5, 1.0, 1.5])
    assert times[-1] == np.nextafter(2.0, 0.0)


def test_maxima_of_segments_include_both_ends():
    np.testing.assert_array_equal(Segments.maxima(np.array([[5.0], [1], [7], [2], [9]]), 2),
                                  [[7.0], [9.0]])


def test_reach_is_the_longest_arm_about_each_axis():
    furthest = np.array([3.0, 3.0, 0.3, 3.0])     # of column, branch, slide, wrist
    first, second = np.hypot(0.3, 0.1), np.hypot(0.2, 0.3)
    np.testing.assert_allclose(joint_reach(Kinematics.of(chain()), 2, 0.5, furthest[:3]),
                               [0.5 + first + second, 0.5 + first, 0.5])
    np.testing.assert_allclose(joint_reach(Kinematics.of(chain()), 0, 0.5, furthest[:3]),
                               [0.5, 0.0, 0.0])
    tilted = np.linalg.norm([0.1, 0.2, 0.3])
    np.testing.assert_allclose(joint_reach(Kinematics.of(tree()), 3, 0.5, furthest),
                               [0.5 + np.hypot(0.2, 0.1) + tilted + 0.3, 0.0, 1.0, 0.5])
    np.testing.assert_array_equal(joint_reach(Kinematics.of(tree()), -1, 0.5, furthest), 0.0)


def test_torque_bounds_of_one_joint_are_the_formulas():
    trajectory, rotor = swing(0.8), 0.25
    segments = Segments.of(trajectory)
    v, a, jerk, snap = segments.bounds[1:, :, 0]
    for kind in ('revolute', 'prismatic'):
        arm = one_joint(kind)
        jets = _torque_jets(Kinematics.of(arm), arm.inertial_parameters, np.array([[rotor]]),
                            segments)[:, :, 0]
        if kind == 'prismatic':
            expected = [2 * (GRAVITY + a), 2 * jerk, 2 * snap]
        else:    # inertia about the axis, 0.4 + 2 0.5^2, is the largest; centre of mass at 0.5
            expected = [0.9 * (a + v ** 2) + GRAVITY, 0.9 * (jerk + 2 * v * a) + GRAVITY * v,
                        0.9 * (snap + 2 * a ** 2 + 2 * v * jerk) + GRAVITY * (a + v ** 2)]
        np.testing.assert_allclose(jets, np.array(expected) + rotor * np.array([a, jerk, snap]),
                                   rtol=1e-12)


@pytest.mark.parametrize('arm', [chain(), chain(kind='prismatic'), tree()],
                         ids=['chain', 'sliding', 'tree'])
def test_torques_and_their_time_derivatives_stay_below_their_bounds(arm):
    drives = dataclasses.replace(arm.drives, rotor_inertia=np.linspace(0.1, 0.4, arm.n))
    arm = dataclasses.replace(arm, drives=drives)
    trajectory = random_motion(arm, seed=3, amplitude=0.5)
    nominal = NominalTorque(arm, Requirements(payload=Payload(2.0, (0.1, 0.0, 0.2))))
    segments = Segments.of(trajectory)
    jets = _torque_jets(nominal.tree, nominal.inertial, nominal.rotor, segments)
    h = 1e-4
    middle = np.linspace(segments.edges[:-1], segments.edges[1:], 12)[1:-1].T.ravel()
    below, at, above = (nominal.torque(*trajectory.evaluate(middle + shift, 2))
                        for shift in (-h, 0.0, h))
    for jet, values in zip(jets, (at, (above - below) / (2 * h),
                                  (above - 2 * at + below) / h ** 2)):
        largest = np.abs(values).reshape(-1, 10, arm.n).max(axis=1)
        assert np.all(largest <= jet * (1 + 1e-5))


def test_nominal_torques_are_those_of_pinocchio_with_rotors_and_their_derivatives():
    arm = tree()
    arm = dataclasses.replace(arm, drives=dataclasses.replace(
        arm.drives, rotor_inertia=np.array([0.1, np.inf, np.nan, 0.4])))
    nominal = NominalTorque(arm, Requirements())
    q, v, a = np.random.default_rng(0).normal(size=(3, 5, arm.n))
    data = arm.model.createData()
    expected = [pin.rnea(arm.model, data, *state) for state in zip(q, v, a)]
    np.testing.assert_allclose(nominal.torque(q, v, a), expected + a * [0.1, 0, 0, 0.4],
                               atol=1e-12)
    derivatives, h = nominal.derivatives(q, v, a), 1e-6
    for order in range(3):
        for joint in range(arm.n):
            step = np.zeros((3, 1, arm.n))
            step[order, 0, joint] = h
            above, below = (nominal.torque(*(np.stack([q, v, a]) + sign * step))
                            for sign in (1, -1))
            change = (above - below) / (2 * h)
            np.testing.assert_allclose(derivatives[order][:, :, joint], change, atol=1e-6)


def test_torque_slacks_are_fractions_of_what_the_reserve_leaves():
    arm = chain()
    rated = dataclasses.replace(arm.limits, torque=np.array([50.0, np.inf, 20.0]))
    arm = dataclasses.replace(arm, limits=rated)
    required = Requirements(torque_margin=0.2, power=30.0)
    limits = TorqueLimits(arm, get_series('mfs', PERIOD, 2), required)
    states = tuple(np.random.default_rng(0).normal(size=(3, 6, 3)))
    torque = NominalTorque(arm, required).torque(*states)
    power = np.sum(torque * states[1], axis=1)
    used = np.column_stack([torque[:, 0] / 40.0, torque[:, 2] / 16.0, power / 30.0]) / 0.995
    np.testing.assert_allclose(limits.at(states), np.hstack([1 - used, 1 + used]), atol=1e-12)
    assert limits.describe(7, -0.5) == ("the torque limit of joint 'wrist'",
                                        '7.96 N m (limit 15.9 N m)')
    assert limits.describe(5, -0.1) == ('the power limit', '2.99 W (limit 29.9 W)')
    sliding = TorqueLimits(chain(kind='prismatic'), limits._series, required)
    assert sliding.describe(2, -1.0)[1] == '39.8 N (limit 39.8 N)'
    only = TorqueLimits(arm, limits._series, Requirements(power=30.0))
    assert only.at(states).shape == (6, 2)


def test_power_alone_and_torque_alone_are_claimed_alone():
    arm, trajectory = chain(), random_motion(chain())
    for required, quantity in ((Requirements(power=1e3), ['power']),
                               (Requirements(torque_margin=0.3), ['torque'])):
        limits = TorqueLimits(arm, trajectory.series, required)
        assert [claim.quantity for claim in limits.prove(trajectory)] == quantity
    [claim] = TorqueLimits(arm, trajectory.series, Requirements(torque_margin=0.3)).prove(
        trajectory)
    assert claim.limit == 0.7
    exact = TorqueLimits(arm, trajectory.series, Requirements(power=1e3)).prove(
        trajectory)[0].bound
    assert not TorqueLimits(arm, trajectory.series, Requirements(power=0.9 * exact)).prove(
        trajectory)[0].holds


def test_torque_margins_leave_unknown_ratings_unlimited():
    arm = chain()
    some = dataclasses.replace(arm, limits=dataclasses.replace(
        arm.limits, torque=np.array([10.0, np.inf, 20.0])))
    np.testing.assert_allclose(torque_range(some, 0.25), [7.5, np.inf, 15.0])
    none = dataclasses.replace(arm, limits=dataclasses.replace(
        arm.limits, torque=np.full(3, np.inf)))
    with pytest.raises(ExcitationError, match=r"no joint of 'chain' .*\{shoulder: \{torque"):
        torque_range(none, 0.25)


BROKEN = '<inertia ixx="0.02" iyy="0.025" izz="0.01" ixy="0.001" ixz="0.002" iyz="-0.001"/>'
IMPOSSIBLE = '<inertia ixx="0.02" iyy="0.9" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
CUBE = ('<collision><origin xyz="0 0 0.1"/><geometry><box size="0.2 0.4 0.6"/></geometry>'
        '</collision>')


def test_an_impossible_inertia_is_an_error_a_guess_or_not_to_be_guessed():
    text = chain().urdf
    parts = text.split('</inertial>')
    bare = Arm.from_urdf('</inertial>'.join(
        [*parts[:2], parts[2].replace(BROKEN, IMPOSSIBLE), *parts[3:]]))
    solid = Arm.from_urdf('</inertial>'.join(
        [*parts[:2], parts[2].replace(BROKEN, IMPOSSIBLE), CUBE + parts[3], *parts[4:]]))
    with pytest.raises(ExcitationError, match=r"no torque can be proven for 'chain': .*repair"):
        nominal_inertial(bare, Requirements())
    two = Arm.from_urdf('</inertial>'.join(
        [parts[0], *(part.replace(BROKEN, IMPOSSIBLE) for part in parts[1:3]), *parts[3:]]))
    with pytest.raises(ExcitationError, match=r"'chain': [^;]*'one'[^;]* \(and 1 more\); repair"):
        nominal_inertial(two, Requirements())
    guess = Requirements(guess_density=1000.0, torque_margin=0.1)
    with pytest.raises(ExcitationError, match="joint 'elbow' cannot be guessed: no collision"):
        nominal_inertial(bare, guess)
    found = nominal_inertial(solid, guess)
    expected = pin.Inertia.FromBox(48.0, 0.2, 0.4, 0.6)
    expected.lever = np.array([0.0, 0.0, 0.1])
    np.testing.assert_allclose(found[1], expected.toDynamicParameters(), atol=1e-12)
    np.testing.assert_array_equal(found[[0, 2]], solid.inertial_parameters[[0, 2]])
    [note] = nominal_notes(solid, guess)
    assert note == ('inertias moved by elbow are GUESSED from collision geometry filled with '
                    '1000 kg/m^3: torques are proven for this guess only')
    assert nominal_notes(solid, Requirements(guess_density=1000.0)) == ()
    assert nominal_notes(solid, Requirements(guess_density=1000.0, power=5.0)) == (note,)
    assert nominal_notes(chain(), guess) == ()
    t = np.linspace(0, PERIOD, 100)
    path = 0.2 * (1 - np.cos(2 * np.pi * t / PERIOD))[:, None] * np.ones(3)
    followed = follow_path(solid, t, path, DesignOptions(acceleration=8.0, requirements=guess))
    assert note in followed.notes
    method = TorqueLimits(solid, get_series('mfs', PERIOD, 2), guess).prove(
        random_motion(solid))[0].method
    assert method.endswith('; ' + note.split(':')[0])


def test_springs_are_named_as_not_proven():
    arm = dataclasses.replace(chain(), balancers=(SimpleNamespace(name='balancer_2'),))
    text = 'the torques exclude the springs balancer_2'
    assert nominal_notes(arm, Requirements(power=1.0)) == (f'{text}: these are not proven',)
    assert NominalTorque(arm, Requirements()).assumptions == f'; {text}'


@pytest.mark.parametrize('kind', ['ffs', 'mfs', 'spline'])
def test_peaks_are_bounded_tightly(kind):
    arm = tree()
    limits = dataclasses.replace(motion_limits(arm, acceleration=8.0)[0],
                                 jerk=np.array([40.0, np.inf, 30.0, 20.0]))
    trajectory = random_motion(arm, kind)
    usage = prove_peaks(trajectory, limits)
    t = np.linspace(0, PERIOD, 40_001)[:-1]
    values = np.stack(trajectory.evaluate(t, 3))
    values[0] -= (limits.lower + limits.upper) / 2
    half = [(limits.upper - limits.lower) / 2, limits.velocity, limits.acceleration, limits.jerk]
    true = np.abs(values).max(axis=1) / half
    assert np.all(usage >= true) and np.all(usage <= true * (1 + 2e-3) + 1e-9)
    assert usage[3, 1] == 0.0


def test_slacks_of_joint_limits_are_the_formula_and_their_derivatives():
    arm = chain()
    limits = motion_limits(arm, acceleration=8.0)[0]
    series = get_series('mfs', PERIOD, 2)
    constraint = JointLimits(series, limits, arm.joint_names, margin=0.1)
    x = random_motion(arm).coefficients
    assert constraint.quantities == ['position', 'velocity', 'acceleration']
    np.testing.assert_allclose(constraint.times, np.linspace(0, PERIOD, 129))
    assert constraint.density == 1 / 128
    q, v, a = Trajectory(series, x).evaluate(constraint.times, 2)
    scale = 0.9 * (np.cos(np.pi / 64) - 2e-4)
    used = np.stack([(q - 0.25) / 1.75, v / 2.0, a / 8.0]) / scale
    np.testing.assert_allclose(constraint.slack(x), np.concatenate(
        [(1 - used).ravel(), (1 + used).ravel()]), atol=1e-12)
    rng = np.random.default_rng(0)
    direction = rng.normal(size=x.shape)
    weights, curvatures = rng.uniform(size=(2, constraint.slack(x).size))
    change = constraint.slack(x + direction) - constraint.slack(x)
    gradient, curvature = constraint.pull_back(x, weights, curvatures)
    assert np.sum(gradient * direction) == pytest.approx(weights @ change)
    flat = direction.ravel()
    assert flat @ curvature @ flat == pytest.approx(curvatures @ change ** 2)
    index = used.size + 2 * 129 * 3 + 5 * 3 + 1
    assert constraint.describe(index, -0.25) == (
        "the lower acceleration limit of joint 'elbow'", '0.25 of its half range')
    assert constraint.describe(129 * 3 + 2, -0.5)[0] == (
        "the upper velocity limit of joint 'wrist'")


def test_motions_within_the_tightened_grid_are_within_the_limits_between_its_times():
    arm, series = chain(), get_series('ffs', PERIOD, 2)
    limits = motion_limits(arm, acceleration=2.0)[0]
    constraint = JointLimits(series, limits, arm.joint_names)
    for seed in range(5):
        x = random_motion(arm, 'ffs', seed).coefficients.copy()
        x[0] = 0.25
        x[1:] /= 1 - constraint.slack(x).min()
        assert constraint.slack(x).min() == pytest.approx(0.0, abs=1e-9)
        peaks = prove_peaks(Trajectory(series, x), limits).max()
        assert 0.997 < peaks <= 1.0


def test_claims_of_joint_limits_name_the_worst_joint_and_wider_limits():
    arm = chain()
    limits = motion_limits(arm, acceleration=8.0)[0]
    trajectory = random_motion(arm)
    constraint = JointLimits(trajectory.series, limits, arm.joint_names, 0.25, wider=('elbow',))
    usage = prove_peaks(trajectory, limits)
    claims = constraint.prove(trajectory)
    assert [claim.quantity for claim in claims] == ['position', 'velocity', 'acceleration']
    for claim, row in zip(claims, usage):
        worst = arm.joint_names[np.argmax(row)]
        assert claim.bound == row.max() and claim.limit == 0.75
        assert claim.holds == (row.max() <= 0.75) and claim.detail.startswith(f"joint '{worst}'")
        assert ('widens' in claim.detail) == (claim.quantity != 'acceleration')
    jerk = dataclasses.replace(limits, jerk=np.array([np.inf, 50.0, np.inf]))     # of one joint
    claims = JointLimits(trajectory.series, jerk, arm.joint_names).prove(trajectory)
    assert claims[-1].quantity == 'jerk' and claims[-1].detail.startswith("joint 'elbow'")


def claim(**changes):
    return dataclasses.replace(CertificateClaim(
        'torque', 0.5, 0.9, 'of the rated torque', 'method', True, "joint 'elbow'"), **changes)


def test_claims_are_sentences():
    assert str(claim()) == "torque: 50 % of the rated torque (allowed 90 %, joint 'elbow')"
    assert str(claim(holds=False, detail='')) == (
        'torque is NOT proven: 50 % of the rated torque (allowed 90 %)')
    assert str(claim(unit='rad/s')) == "torque: 0.5 rad/s (limit 0.9 rad/s, joint 'elbow')"
    clear = claim(quantity='clearance', unit='m', bound=0.0123456, limit=0.01, at_least=True)
    assert str(clear) == "clearance: 0.01235 m (required 0.01 m, joint 'elbow')"
    assert str(dataclasses.replace(clear, bound=np.inf)) == (
        'clearance: no pair comes close (required 0.01 m)')


def test_the_claim_of_the_worst_joint():
    names = ('a', 'b', 'c')
    found = CertificateClaim.of_worst_joint('torque', np.array([0.3, 0.9, 0.5]), 0.9, 'of it',
                                            'method', names)
    assert (found.bound, found.limit, found.holds, found.detail) == (0.9, 0.9, True, "joint 'b'")
    assert not found.at_least and found.unit == 'of it' and found.method == 'method'
    found = CertificateClaim.of_worst_joint('torque', np.array([0.3, 0.9, 0.5]), 0.8, 'of it',
                                            'method', names, wider=('a', 'c'))
    assert not found.holds
    assert found.detail == "joint 'b'; the robot YAML widens the URDF's limits of a, c"


def test_a_certificate_finds_its_claims():
    good, bad = claim(), claim(quantity='power', holds=False)
    assert Certificate().holds and Certificate((good,)).holds
    both = Certificate((good, bad))
    assert not both.holds and both.broken == (bad,) and both['power'] == bad
    assert 'power' in both and ''.join(['po', 'wer']) in both and 'clearance' not in both
    with pytest.raises(KeyError, match='clearance'):
        both['clearance']


def test_workspace_slacks_and_distance_are_those_of_the_frame():
    arm = tree()
    limits = WorkspaceLimits(arm, get_series('mfs', PERIOD, 2),
                             Workspace('c', (-1.0, -2.0, -np.inf), (3.0, 1.0, 2.0)))
    q = np.random.default_rng(0).normal(size=(6, 4))
    data, frame, points = arm.model.createData(), arm.model.getFrameId('c'), []
    for state in q:
        pin.framesForwardKinematics(arm.model, data, state)
        points.append(data.oMf[frame].translation.copy())
    point = np.array(points)
    np.testing.assert_allclose(limits.position(q)[0], point, atol=1e-12)
    half, edge = np.array([2.0, 1.5, 1.0]), 0.002
    expected = np.hstack([([3.0, 1.0, 2.0] - point - edge) / half,
                          (point - [-1.0, -2.0, -np.inf] - edge) / half])
    np.testing.assert_allclose(limits.at((q,)), np.minimum(expected, 2.0), atol=1e-12)
    h, gradients = 1e-6, limits.derivatives((q,))[0]
    for joint in range(4):
        step = h * np.eye(4)[joint]
        change = (limits.at((q + step,)) - limits.at((q - step,))) / (2 * h)
        np.testing.assert_allclose(gradients[:, :, joint], change, atol=1e-6)
    with pytest.raises(UnknownNameError, match=r"frame 'nose'.*base.*, c,") as caught:
        WorkspaceLimits(arm, limits._series, Workspace('nose', (-1, -1, -1), (1, 1, 1)))
    assert 'wrist' not in str(caught.value)
    assert limits.describe(6 + 1, -0.5) == ("the upper y bound of frame 'c'", '750 mm')
    assert limits.describe(3, -0.5) == ("the lower x bound of frame 'c'", '1e+03 mm')


@pytest.mark.parametrize('size', [1.0, 0.55])
def test_the_distance_to_the_workspace_is_that_of_the_circle_of_a_swing(size):
    arm = one_joint(more='<link name="tip"/><joint name="end" type="fixed"><parent link="rod"/>'
                         '<child link="tip"/><origin xyz="0 0 -0.5"/></joint>')
    trajectory = swing(0.8)
    room = Workspace('tip', (-size, -size, -size), (size, size, size))
    [found] = WorkspaceLimits(arm, trajectory.series, room).prove(trajectory)
    assert found.bound == pytest.approx(size - 0.5, abs=2e-3) and found.bound <= size - 0.5
    assert found.holds and found.limit == 0.0 and found.at_least
    assert "frame 'tip'" in found.detail
    narrow = dataclasses.replace(room, upper=(0.3, size, size))
    [found] = WorkspaceLimits(arm, trajectory.series, narrow).prove(trajectory)
    assert not found.holds and found.bound == pytest.approx(0.3 - 0.5 * np.sin(0.8), abs=2e-3)


@pytest.mark.parametrize('make', [
    lambda arm, series: TorqueLimits(arm, series, Requirements(torque_margin=0.1, power=50.0)),
    lambda arm, series: WorkspaceLimits(arm, series, Workspace(
        'c' if arm.n == 4 else 'three', (-2, -2, -2), (2, 2, 2)))], ids=['torque', 'workspace'])
@pytest.mark.parametrize('arm', [chain(), tree()], ids=['chain', 'tree'])
def test_slacks_have_exact_derivatives_with_respect_to_the_coefficients(make, arm):
    trajectory = random_motion(arm, amplitude=0.2)
    constraint, rng = make(arm, trajectory.series), np.random.default_rng(5)
    x, direction = trajectory.coefficients, rng.normal(size=trajectory.coefficients.shape)
    weights, h = rng.normal(size=constraint.slack(x).shape), 1e-6
    curvatures = rng.uniform(size=weights.shape)
    change = (constraint.slack(x + h * direction) - constraint.slack(x - h * direction)) / (2 * h)
    gradient, curvature = constraint.pull_back(x, weights, curvatures)
    assert np.sum(gradient * direction) == pytest.approx(weights @ change, rel=1e-5)
    flat = direction.ravel()
    assert flat @ curvature @ flat == pytest.approx(curvatures @ change ** 2, rel=1e-5)
    np.testing.assert_allclose(curvature, curvature.T, atol=1e-9 * np.abs(curvature).max())
    fine = constraint.refined()
    np.testing.assert_allclose(fine.times[::4], constraint.times, atol=1e-12)
    assert len(constraint.times) == 80 and len(fine.times) == 320
    assert constraint.density == 1 / 80 and fine.density == 1 / 320
    slack = constraint.slack(x).reshape(80, -1)
    np.testing.assert_allclose(fine.slack(x).reshape(320, -1)[::4], slack, atol=1e-12)


def balls(gap_angle=1.5, radius=0.5):
    """Return the scene of an arm of one joint with a ball at its end, and of a fixed ball."""
    arm = one_joint()
    shapes = (Shape('tip', 0, np.array([[0.0, 0.0, -radius]]), 0.06),
              Shape('post', -1, np.array([[-radius * np.sin(gap_angle), 0.0,
                                           -radius * np.cos(gap_angle)]]), 0.04))
    return Scene(Kinematics.of(arm), shapes, np.array([[0, 1]]), {}, ())


def test_clearance_is_proven_up_to_the_true_distance_and_not_beyond(monkeypatch):
    scene = balls()
    trajectory = swing(1.0)
    nearest = 2 * 0.5 * np.sin(0.25) - 0.1
    measured, distance = [], coal.distance
    monkeypatch.setattr(coal, 'distance', lambda *x: measured.append(x) or distance(*x))
    proof = prove_clearance(trajectory, scene, nearest - 5e-5)
    assert proof.checks == len(measured)
    assert proof.proven and nearest - 1e-9 <= proof.smallest <= nearest + 1e-3
    assert proof.pair == "'tip' and 'post'" and proof.time == pytest.approx(PERIOD / 4, abs=0.1)
    assert 1 <= proof.checks < 200
    beyond = prove_clearance(trajectory, scene, nearest + 1e-3)
    assert not beyond.proven and beyond.smallest < nearest + 1e-3
    assert scene.distances(trajectory.derivative([beyond.time], 0), 1.0)[0][0, 0] == (
        pytest.approx(beyond.smallest, abs=1e-9))
    # a margin below the tolerance of the iteration cannot be proven, and is not refuted
    tiny = prove_clearance(trajectory, scene, nearest - 5e-6)
    assert not tiny.proven and tiny.smallest >= nearest - 1e-9
    far = prove_clearance(trajectory, scene, -1.0)
    assert far.proven and far.smallest == np.inf and far.checks == 0 and far.pair == 'none near'
    [found] = Clearance(scene, trajectory.series, 0.14).prove(trajectory)
    assert found.holds and found.limit == 0.14 and found.at_least
    assert re.fullmatch(r"'tip' and 'post' at \d\.\d\d\d s", found.detail)


def test_halved_segments_cover_the_period_without_overlap(monkeypatch):
    proof, halvings = ClearanceProof(swing(1.0), balls()), []

    def margin(t, pair, clearance, h, segment):
        halvings.append((t, h, segment))
        return np.where(len(halvings) < 3, -1.0, 1.0) * np.ones(len(t))
    monkeypatch.setattr(proof, '_margin', margin)
    proof.subdivide(0.1)
    edges = proof.segments.edges
    assert proof.proven and [len(t) for t, _, _ in halvings] == [
        (len(edges) - 1) * parts for parts in (1, 2, 4)]
    for t, h, segment in halvings:
        order = np.argsort(t)
        starts, ends = (t - h)[order], (t + h)[order]
        np.testing.assert_allclose((starts[0], ends[-1]), (0.0, PERIOD), atol=1e-9)
        np.testing.assert_allclose(starts[1:], ends[:-1], atol=1e-9)
        assert np.all((edges[segment] < t) & (t < edges[segment + 1]))


def test_the_reach_beyond_a_slide_is_that_of_its_furthest_position():
    arm = chain(kind='prismatic')
    shapes = (Shape('tip', 2, np.array([[0.0, 0.1, -0.2]]), 0.1),
              Shape('post', -1, np.array([[0.6, 0.1, 0.4]]), 0.02))
    scene = Scene(Kinematics.of(arm), shapes, np.array([[0, 1]]), {}, ())
    trajectory = random_motion(arm, seed=4, amplitude=0.6)
    positions = np.abs(trajectory.derivative(np.linspace(0, trajectory.period, 4000), 0))
    reach, furthest = ClearanceProof(trajectory, scene)._reach, scene.reach(positions.max(axis=0))
    assert np.all(reach >= furthest - 1e-6)
    assert np.all(reach <= 1.2 * furthest)
    assert np.all(scene.reach(np.zeros(3))[:, :2] < 0.95 * furthest[:, :2])


@pytest.mark.parametrize('sign', [-1.0, 1.0])
def test_margins_are_the_distance_less_what_the_joints_can_move(sign):
    arm = chain()
    ends = np.array([[0.0, 0.1, -0.2], [0.3, 0.0, 0.2]])
    shapes = (Shape('ball', 0, ends[:1], 0.1), Shape('rod', 2, ends, 0.05),
              Shape('post', -1, np.array([[0.6, 0.1, 0.4]]), 0.02))
    scene = Scene(Kinematics.of(arm), shapes, np.array([[0, 1], [0, 2], [1, 2]]), {}, ())
    trajectory = random_motion(arm, seed=4, amplitude=0.6)
    proof = ClearanceProof(trajectory, scene)
    rng, clearance = np.random.default_rng(1), 0.4
    pair = rng.integers(0, 3, 300)
    segment = rng.integers(0, len(proof.segments.edges) - 1, 300)
    h = rng.uniform(0.0, 1.0, 300) * np.diff(proof.segments.edges)[0] / 2
    low, high = proof.segments.edges[segment] + h, proof.segments.edges[segment + 1] - h
    t = low + rng.uniform(size=300) * (high - low)
    margin = proof._margin(t, pair, clearance, h, segment)
    reach = scene.reach(np.zeros(3))
    v, a = (proof.segments.bounds[order][segment] for order in (1, 2))
    speed = np.minimum(np.abs(trajectory.derivative(t, 1)) + h[:, None] * a, v)
    moved = h * np.sum(reach[pair] * speed, axis=1) + 1e-5
    distance = scene.distances(trajectory.derivative(t, 0), 5.0)[0][np.arange(300), pair]
    expected = distance - clearance - moved
    measured = margin <= 0
    assert measured.mean() > 0.2 and (~measured).mean() > 0.2
    apart = measured & (distance > 0)
    np.testing.assert_allclose(margin[apart], expected[apart], atol=2e-5)
    assert np.all(margin[~measured] <= expected[~measured] + 2e-5)
    assert proof.checks >= measured.sum()
    assert proof.smallest == pytest.approx(distance[measured].min(), abs=2e-5) or (
        distance[measured].min() <= 0)
    for k in range(300):    # nothing comes nearer between t - h and t + h
        q = trajectory.derivative(t[k] + np.linspace(-h[k], h[k], 9), 0)
        assert scene.distances(q, 5.0)[0][:, pair[k]].min() - clearance >= margin[k] - 2e-5


def test_slacks_of_the_clearance_are_the_formula():
    scene = balls(gap_angle=0.6)
    scene = dataclasses.replace(scene, median_distance=np.array([0.026]))
    series = get_series('ffs', PERIOD, 1)
    constraint = Clearance(scene, series, 0.02)
    assert constraint.reserve[0] == pytest.approx(0.003) and constraint.clearance == 0.02
    far = dataclasses.replace(scene, median_distance=np.array([0.5]))
    assert Clearance(far, series, 0.02).reserve[0] == 0.004
    q = np.linspace(-0.5, 2.0, 40)[:, None]
    distance = np.abs(np.sin((q - 0.6) / 2)) - 0.1
    x = np.minimum((distance - 0.023) / 0.08, 1.0)
    seen = x < 1
    assert 0.2 < seen.mean() < 0.8
    np.testing.assert_allclose(constraint.at((q,)), 1 - (1 - x) ** 2, atol=1e-6)
    slope = np.cos((q - 0.6) / 2) / 2 * np.sign(q - 0.6)
    expected = np.where(seen, 2 * (1 - x) / 0.08 * slope, 0.0)
    np.testing.assert_allclose(constraint.derivatives((q,))[0, :, 0], expected, atol=1e-4)
    slack = 1 - (1 - (0.013 - 0.023) / 0.08) ** 2
    assert constraint.describe(5, slack) == (
        "the clearance between 'tip' and 'post'",
        '10 mm (23 mm required: 20 mm plus 3 mm sampling margin)')


def sphere_distance(body, rotation, offset, point):
    """Return coal's distance of a body from a tiny ball."""
    placed = coal.Transform3s(rotation, offset), coal.Transform3s(np.eye(3), point)
    return coal.distance(body, placed[0], coal.Sphere(1e-3), placed[1], coal.DistanceRequest(),
                         coal.DistanceResult()) + 1e-3


def test_bodies_of_coal_have_the_distances_of_their_shapes():
    rng = np.random.default_rng(2)
    rim = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    cone = np.vstack([np.column_stack([0.3 * np.cos(rim), 0.3 * np.sin(rim), 0 * rim]),
                      [[0.0, 0.0, 0.5]]])     # more neighbours at the tip than coal counts
    ends = np.array([[0.1, 0.2, 0.3], [0.5, -0.1, 0.2]])
    for shape, allowed in ((Shape('ball', 0, ends[:1], 0.2), 1e-6),
                           (Shape('rod', 0, ends, 0.1), 1e-6),
                           (Shape('brick', 0, box('', (0, 0, 0), (1, 2, 3)).vertices, 0.1), 1e-4),
                           (Shape('cone', 0, cone, 0.0), 0.01)):
        body = make_coal_body(coal, shape)
        assert np.linalg.det(body[1]) == pytest.approx(1.0)    # a rotation, no reflection
        for point in 5.0 * rng.normal(size=(20, 3)):
            flat = shape.vertices if len(shape.vertices) > 2 else np.linspace(
                *shape.vertices[[0, -1]], 2001)
            direct = np.linalg.norm(flat - point, axis=1).min() - shape.radius
            found = sphere_distance(*body, point)
            if shape.name in ('ball', 'rod'):
                assert found == pytest.approx(direct, abs=1e-5)
            else:
                exact = np.empty(1)
                point_distances(point[None], np.ascontiguousarray(shape.vertices), exact)
                assert exact[0] - shape.radius - allowed <= found <= exact[0] - shape.radius + 1e-5
    assert len(coarsen(Shape('cone', 0, cone)).vertices) <= 64


@pytest.mark.parametrize('corners', [
    np.zeros((4, 3)), [[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]],
    [[0.0, 0, 0], [1, 0, 0], [0, 1, 0]],
    [[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], box('', (0, 0, 0), (1, 2, 1e-9)).vertices])
def test_flat_bodies_are_thickened_a_little(corners):
    """Coal crashes on the hull of points in a plane; a mesh may be a sheet or a triangle."""
    corners = np.array(corners, dtype=float)
    turn = pin.exp3(np.array([0.3, -0.5, 0.8]))
    body = make_coal_body(coal, Shape('sheet', 0, corners @ turn.T))
    distance = sphere_distance(*body, turn @ [0.0, 0.0, 2.0])
    assert 2.0 - 5e-5 < distance <= 2.0 + 1e-6


def test_distances_of_random_hulls_are_those_of_coal_and_have_exact_gradients():
    """Hulls of 1 to 30 vertices on every link of a tree with a sliding joint."""
    arm, rng = tree(), np.random.default_rng(6)
    links = [-1, 0, 1, 2, 3, 2, 3, 0]
    counts = [12, 1, 2, 3, 4, 5, 30, 8]
    radii = [0.0, 0.05, 0.02, 0.0, 0.01, 0.0, 0.03, 0.0]
    shapes = tuple(Shape(f's{k}', link, 0.2 * rng.normal(size=(count, 3)), radius)
                   for k, (link, count, radius) in enumerate(zip(links, counts, radii)))
    pairs = np.array([(i, k) for i in range(8) for k in range(i) if links[i] != links[k]])
    scene = Scene(Kinematics.of(arm), shapes, pairs, {}, ())
    q = rng.uniform(-2, 2, size=(60, 4)) * [1, 0.3, 1, 1]
    distances, gradients = scene.distances(q, 10.0)
    prover = ClearanceProof(Trajectory(get_series('ffs', PERIOD, 1), np.zeros((3, 4))), scene)
    world, origin = prover._frames(q)
    measured = np.array([[prover._measure(p, world[k], origin[k]) for p in range(len(pairs))]
                         for k in range(len(q))])
    grown = np.array([radii[i] + radii[k] for i, k in pairs])
    apart = measured > 1e-4
    assert apart.mean() > 0.5 and (measured < -1e-3).mean() > 0.05
    np.testing.assert_allclose(distances[apart & (distances > -grown + 1e-9)],
                               measured[apart & (distances > -grown + 1e-9)], atol=2e-5)
    assert np.all(distances[measured < -1e-4] <= 0)
    direction, h = rng.normal(size=q.shape), 1e-6
    change = (scene.distances(q + h * direction, 10.0)[0]
              - scene.distances(q - h * direction, 10.0)[0]) / (2 * h)
    slope = np.einsum('kpn,kn->kp', gradients, direction)
    smooth = (distances > -grown + 1e-3)
    assert np.quantile(np.abs(slope - change)[smooth], 0.98) < 1e-5
    touching = distances <= -grown
    assert touching.any() and np.all(gradients[touching] == 0)
    # beyond the cutoff: the cutoff without derivatives; rows near one another start warm
    short, few = scene.distances(q, 0.3)
    np.testing.assert_allclose(short, np.minimum(distances, 0.3), atol=1e-6)
    assert np.all(few[short >= 0.3] == 0)
    np.testing.assert_allclose(few[short < 0.3], gradients[short < 0.3], atol=1e-6)
    path = q[0] + np.linspace(0, 1, 200)[:, None] * (q[1] - q[0])
    alone = np.vstack([scene.distances(state[None], 0.25)[0] for state in path])
    np.testing.assert_allclose(scene.distances(path, 0.25)[0], alone, atol=1e-6)


def test_a_long_slide_is_not_skipped_while_a_shape_comes_near():
    arm = tree()
    q = np.zeros((200, 4))
    q[:, 0], q[:, 2] = np.linspace(-1.5, 0.0, 200), 3.0     # column and slide
    _, origin = Kinematics.of(arm).placed(q[-1:])
    shapes = (Shape('end', 2, np.zeros((1, 3)), 0.05), Shape('post', -1, origin[0, 2:3], 0.05))
    scene = Scene(Kinematics.of(arm), shapes, np.array([[0, 1]]), {}, ())
    alone = np.vstack([scene.distances(state[None], 0.2)[0] for state in q])
    assert alone.min() < 0 and alone.max() == 0.2
    np.testing.assert_allclose(scene.distances(q, 0.2)[0], alone, atol=1e-9)


def test_a_slide_towards_a_large_ball_is_not_skipped():
    shapes = (Shape('rod', 0, np.zeros((1, 3)), 2.0),
              Shape('post', -1, np.array([[0.0, 10.0, 0.0]]), 2.0))
    scene = Scene(Kinematics.of(one_joint('prismatic')), shapes, np.array([[0, 1]]), {}, ())
    q = np.linspace(0.0, 9.0, 100)[:, None]
    np.testing.assert_allclose(scene.distances(q, 1.0)[0], np.minimum(6.0 - q, 1.0), atol=1e-9)


def test_distances_of_degenerate_hulls():
    """Points that repeat, flat and straight hulls, and touching ones."""
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 0], [1, 1, 0]])
    points = np.array([[0.5, 0.5, 2.0], [2, 0.5, 0], [2, 2, 0], [0.3, 0.3, 0.0], [-3, 0, 4],
                       [0.5, -1, 0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    out = np.full(len(points), 9.0)
    point_distances(points, square, out)
    np.testing.assert_allclose(out, [2, 1, np.sqrt(2), 0, 5, 1, 0, 0], atol=1e-9)
    line = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [0.5, 0, 0]])
    point_distances(points, line, out)
    np.testing.assert_allclose(out, [np.hypot(0.5, 2), 0.5, 2, 0.3, 5, 1, 1, 0], atol=1e-9)
    cube = box('', (0, 0, 0), (1, 1, 1)).vertices
    inside = np.random.default_rng(0).uniform(0.01, 0.99, (50, 3))
    out = np.empty(50)
    point_distances(inside, np.ascontiguousarray(cube), out)
    assert np.all(out < 1e-7)
    outside = np.random.default_rng(1).uniform(-3, 4, (200, 3))
    out = np.empty(200)
    point_distances(outside, np.ascontiguousarray(cube), out)
    np.testing.assert_allclose(
        out, np.linalg.norm(outside - outside.clip(0, 1), axis=1), atol=1e-7)


@pytest.mark.parametrize('count', [1, 2, 3, 4])
def test_weights_are_those_of_the_point_nearest_to_the_origin(count):
    rng, inside = np.random.default_rng(count), 0
    members, memory = np.arange(4), (np.empty((3, 3)), np.empty((3, 3)), np.empty(3))
    for _ in range(40):
        W, trial = rng.normal(size=(4, 3)) + 0.4, np.empty(4)
        found = _weights(W, members, count, trial, *memory)
        edges = W[1:count] - W[0]
        expected, *_ = np.linalg.lstsq(edges.T, -W[0], rcond=None)
        expected = np.array([1 - expected.sum(), *expected])
        np.testing.assert_allclose(trial[:count], expected, atol=1e-9 * np.abs(expected).max())
        assert found == np.all(expected >= 0)
        inside += found
        if count > 1:     # vertices without a unique answer
            for flat in (W[0], W[0] + 1e-13, *([W[:2].mean(axis=0)] if count > 2 else [])):
                W[count - 1] = flat
                assert not _weights(W, members, count, trial, *memory)
    assert inside > (0 if count == 4 else 3)


def collision(geometry, xyz='0 0 0'):
    return f'<collision><origin xyz="{xyz}"/><geometry>{geometry}</geometry></collision>'


def test_simple_geometry_becomes_the_shapes_that_contain_it():
    arm = one_joint(geometry=collision('<box size="0.2 0.4 0.6"/>', '1 2 3'))
    [shape] = link_shapes(arm)
    assert (shape.name, shape.link, shape.radius) == ('rod', 0, 0.0)
    np.testing.assert_allclose([shape.vertices.min(0), shape.vertices.max(0)],
                               [[0.9, 1.8, 2.7], [1.1, 2.2, 3.3]])
    np.testing.assert_allclose(shape.centre, [1, 2, 3])
    half = np.linalg.norm([0.1, 0.2, 0.3])
    assert shape.bounding_radius == pytest.approx(half)
    assert shape.reach == pytest.approx(np.linalg.norm([1.1, 2.2, 3.3]))
    [ball] = link_shapes(one_joint(geometry=collision('<sphere radius="0.3"/>', '1 0 0')))
    np.testing.assert_allclose(ball.vertices, [[1, 0, 0]])
    assert ball.radius == ball.bounding_radius == 0.3 and ball.reach == 1.3
    [can] = link_shapes(one_joint(geometry=collision(
        '<cylinder radius="0.3" length="0.8"/>', '0 0 1')))
    radial = np.hypot(*can.vertices[:, :2].T)
    assert can.radius == 0.0 and set(can.vertices[:, 2].round(9)) == {0.6, 1.4}
    np.testing.assert_allclose(radial, 0.3 / np.cos(np.pi / 16))
    assert len(can.vertices) == 32 and len(np.unique(can.vertices.round(9), axis=0)) == 32
    capsule = pin.GeometryObject('x', 0, 0, pin.SE3(np.eye(3), np.array([0.0, 0, 1])),
                                 coal.Capsule(0.1, 0.5))
    capsule.parentJoint = 2
    [rod] = convex_shapes(capsule, 'rod')
    np.testing.assert_allclose(rod.vertices, [[0, 0, 0.75], [0, 0, 1.25]])
    assert rod.radius == 0.1 and rod.link == 1 and rod.name == 'rod'
    corners = box('', (0, 0, 0), (1, 2, 3))
    [hull] = convex_shapes(pin.GeometryObject(
        'x', 0, 0, pin.SE3.Identity(), make_coal_body(coal, corners)[0]), 'rod')
    np.testing.assert_allclose(sorted(hull.vertices.tolist()), sorted(corners.vertices.tolist()))
    cone = pin.GeometryObject('x', 0, 0, pin.SE3.Identity(), coal.Cone(0.1, 0.5))
    with pytest.raises(ExcitationError, match="link 'tip' has a collision geometry of the kind C"):
        convex_shapes(cone, 'tip')


def stl(path, triangles):
    path.write_text('solid x\n' + ''.join(
        'facet normal 0 0 0\nouter loop\n' + ''.join(
            'vertex {} {} {}\n'.format(*corner) for corner in corners) + 'endloop\nendfacet\n'
        for corners in triangles) + 'endsolid x\n')


def brick(lower, upper):
    """Return the triangles of a box, (12, 3, 3)."""
    points = box('', lower, upper).vertices
    return points[ConvexHull(points).simplices]


def test_a_bent_mesh_is_cut_and_a_solid_one_is_not(tmp_path):
    mesh = '<mesh filename="{}"/>'.format(tmp_path / 'a.stl')
    stl(tmp_path / 'a.stl', brick((0, 0, 0), (1, 2, 8)))
    [hull] = link_shapes(one_joint(geometry=collision(mesh)))
    np.testing.assert_allclose([hull.vertices.min(0), hull.vertices.max(0)],
                               [[0, 0, 0], [1, 2, 8]], atol=1e-6)
    # bricks in the form of an L: the hull of all is much larger
    parts = [brick((x, 0, z), (x + 1, 1, z + 1)) for x, z in (
        *((0, z) for z in range(8)), (1, 0), (2, 0))]
    stl(tmp_path / 'a.stl', np.concatenate(parts))
    arm = one_joint(geometry=collision(mesh))
    slabs = link_shapes(arm)
    assert len(slabs) > 1 and {(s.name, s.link) for s in slabs} == {('rod', 0)}
    for triangles in parts:    # every triangle is in one of the hulls
        for corners in triangles:
            inner = np.random.default_rng(0).dirichlet(np.ones(3), 20) @ corners
            out = np.empty((len(slabs), 20))
            for k, slab in enumerate(slabs):
                point_distances(inner, np.ascontiguousarray(slab.vertices), out[k])
            assert out.max(axis=1).min() < 1e-6
    (tmp_path / 'a.stl').write_text('solid x')
    with pytest.raises(ExcitationError, match=r"the collision mesh '.*a.stl' .*--package-dir"):
        link_shapes(one_joint(geometry=collision(mesh)))
    stl(tmp_path / 'a.stl', brick((0, 0, 0), (1, 2, 2e4)))
    with pytest.raises(ExcitationError, match=r"of link 'rod' .*vertices beyond 10000 m"):
        link_shapes(one_joint(geometry=collision(mesh)))


def test_shapes_of_one_link_are_merged_where_nothing_much_is_added():
    near = [box('a', (0, 0, 0), (1, 1, 1), 0), box('a', (1, 0, 0), (2, 1, 1), 0)]
    [both] = merge_shapes(near)
    assert len(both.vertices) == 8 and both.name == 'a' and both.link == 0
    np.testing.assert_array_equal([both.vertices.min(0), both.vertices.max(0)],
                                  [[0, 0, 0], [2, 1, 1]])
    # hull over parts: 2.35 / 2 is below 1.2, 2.45 / 2 above
    assert len(merge_shapes([near[0], box('a', (1.35, 0, 0), (2.35, 1, 1), 0)])) == 1
    assert len(merge_shapes([near[0], box('a', (1.45, 0, 0), (2.45, 1, 1), 0)])) == 2
    for other in (box('b', (1, 0, 0), (2, 1, 1), 0), box('a', (1, 0, 0), (2, 1, 1), 1),
                  dataclasses.replace(near[1], radius=0.1)):
        assert merge_shapes([near[0], other]) == [near[0], other]


def test_coarse_shapes_contain_the_fine_ones():
    points = np.random.default_rng(3).normal(size=(300, 3))
    points *= np.array([0.1, 0.2, 0.3]) / np.linalg.norm(points, axis=1, keepdims=True)
    shape = Shape('egg', 2, points, 0.05)
    coarse = coarsen(shape)
    outside = np.empty(300)
    point_distances(points, np.ascontiguousarray(coarse.vertices), outside)
    assert len(coarse.vertices) == 64 and (coarse.name, coarse.link) == ('egg', 2)
    np.testing.assert_array_equal([coarse.vertices.min(0), coarse.vertices.max(0)],
                                  [points.min(0), points.max(0)])
    assert coarse.radius == pytest.approx(0.05 + outside.max() + 1e-6, abs=1e-9)
    small = box('b', (0, 0, 0), (1, 1, 1))
    assert coarsen(small) is small
    many = np.concatenate([box('b', (0, 0, 0), (1, 1, 1)).vertices,
                           np.random.default_rng(0).uniform(size=(200, 3))])
    few = coarsen(Shape('b', -1, many))
    assert len(few.vertices) == 8 and few.radius < 2e-6


def test_solids_have_the_inertia_of_the_formulas():
    brick_shape = box('b', (0.5, 0, 0), (0.7, 0.4, 0.6), 0)
    expected = pin.Inertia.FromBox(1000 * 0.048, 0.2, 0.4, 0.6)
    expected.lever = np.array([0.6, 0.2, 0.3])
    np.testing.assert_allclose(solid_inertial([brick_shape], 1000.0),
                               expected.toDynamicParameters(), atol=1e-10)
    np.testing.assert_allclose(solid_inertial([brick_shape, brick_shape], 500.0),
                               expected.toDynamicParameters(), atol=1e-10)
    ball = pin.Inertia.FromSphere(1000 * 4 / 3 * np.pi * 0.1 ** 3, 0.1)
    ball.lever = np.array([0.0, 1.0, 0.0])
    found = solid_inertial([Shape('s', 0, np.array([[0.0, 1.0, 0.0]]), 0.1)], 1000.0)
    np.testing.assert_allclose(found, ball.toDynamicParameters(), rtol=0.05, atol=1e-2)
    assert found[0] < ball.mass
    flat = Shape('f', 0, np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]))
    np.testing.assert_array_equal(solid_inertial([flat], 1000.0), np.zeros(10))


def solid_chain(sizes=(0.1, 0.1, 0.1, 0.1)):
    """Return the chain with a box of a size [m] at the origin of each link, base first."""
    bodies = [collision(f'<box size="{size} {size} {size}"/>') if size else '' for size in sizes]
    parts = chain().urdf.split('</link>')
    return Arm.from_urdf('</link>'.join(map(''.join, zip(parts, [*bodies, '']))))


def names_of_pairs(scene):
    return {(scene.shapes[i].name, scene.shapes[k].name) for i, k in scene.pairs}


def test_a_scene_pairs_what_can_come_close():
    arm = solid_chain()
    assert names_of_pairs(build_scene(arm, Requirements(clearance=0.01))) == {
        ('base', 'two'), ('base', 'three'), ('one', 'three')}
    scene = build_scene(arm, Requirements(
        clearance=0.01, floor=-0.3, boxes=((0.5, -0.1, 0.0, 0.7, 0.1, 0.4),),
        payload=Payload(1.0, (0.0, 0.0, 0.2), (0.1, 0.2, 0.3))))
    names = [shape.name for shape in scene.shapes]
    assert names == ['base', 'one', 'two', 'three', 'payload', 'floor', 'box 1']
    assert [shape.link for shape in scene.shapes] == [-1, 0, 1, 2, 2, -1, -1]
    extents = {shape.name: [shape.vertices.min(0), shape.vertices.max(0)]
               for shape in scene.shapes}
    np.testing.assert_allclose(extents['payload'], [[-0.05, -0.1, 0.05], [0.05, 0.1, 0.35]])
    np.testing.assert_allclose(extents['floor'], [[-20, -20, -40.3], [20, 20, -0.3]])
    np.testing.assert_allclose(extents['box 1'], [[0.5, -0.1, 0.0], [0.7, 0.1, 0.4]])
    assert names_of_pairs(scene) == {
        ('base', 'two'), ('base', 'three'), ('one', 'three'), ('base', 'payload'),
        ('one', 'payload'), ('two', 'payload'),
        *((link, obstacle) for link in names[1:5] for obstacle in names[5:])}
    assert scene.excluded == {('base', 'one'): 'neighbours', ('one', 'two'): 'neighbours',
                              ('two', 'three'): 'neighbours'}
    assert scene.notes == ()
    alone = build_scene(arm, Requirements(clearance=0.01, floor=-0.3, self_collision=False))
    assert names_of_pairs(alone) == {(link, 'floor') for link in ('one', 'two', 'three')}
    assert alone.excluded == {}


def test_a_link_fixed_to_the_base_is_a_neighbour_of_the_first_link():
    size = collision('<box size="0.1 0.1 0.1"/>')
    arm = one_joint(geometry=size, more=f'<link name="camera">{size}</link><joint name="z" '
                    'type="fixed"><parent link="base"/><child link="camera"/></joint>')
    scene = build_scene(arm, Requirements(clearance=0.01))
    assert [(shape.name, shape.link) for shape in scene.shapes] == [('rod', 0), ('camera', -1)]
    assert scene.excluded == {('rod', 'camera'): 'neighbours'} and not len(scene.pairs)


def test_an_srdf_disables_pairs_and_bare_links_are_named(tmp_path):
    (tmp_path / 'chain.srdf').write_text(
        '<robot name="chain"><disable_collisions link1="three" link2="base" reason="Never"/>'
        '<disable_collisions link1="three" link2="floor" reason="not of links"/></robot>')
    required = Requirements(clearance=0.01, floor=-0.5, srdf=str(tmp_path / 'chain.srdf'))
    scene = build_scene(solid_chain(), required)
    assert names_of_pairs(scene) == {('base', 'two'), ('one', 'three'), ('one', 'floor'),
                                     ('two', 'floor'), ('three', 'floor')}
    assert scene.excluded['base', 'three'] == 'disabled in the SRDF'
    assert scene.notes == ('link pairs disabled in chain.srdf are not checked',)
    scene = build_scene(solid_chain((0.1, 0, 0, 0.1)), Requirements(clearance=0.01))
    assert scene.notes == ('no collision geometry moves with shoulder, elbow',)
    for sizes in ((0.1, 0, 0, 0), (0, 0, 0, 0)):
        with pytest.raises(ExcitationError, match='no collision geometry; use the visual'):
            build_scene(solid_chain(sizes), Requirements(clearance=0.01))


def test_pairs_that_are_close_in_nearly_all_poses_are_not_checked():
    scene = build_scene(solid_chain((0.1, 0.9, 0.1, 0.5)), Requirements(clearance=0.01))
    assert names_of_pairs(scene) == {('base', 'two'), ('base', 'three')}
    [note] = scene.notes
    assert re.fullmatch(r"'one' and 'three' are excluded: closer than 10 mm in 100% of random "
                        r'poses \(0\.0 to \d\.\d mm\)', note)
    assert scene.excluded['one', 'three'] in note
    nothing = build_scene(Arm.from_urdf(solid_chain().urdf.replace(
        '<link name="three">', '<link name="three_">').replace('child link="three"',
                                                               'child link="three_"')),
        Requirements(clearance=5.0))
    assert len(nothing.pairs) == 0
    assert nothing.notes[-1] == 'no pair is left to check: all links are neighbours or excluded'


def test_the_median_distance_is_that_of_the_poses_that_keep_the_clearance():
    arm = solid_chain((0.1, 0.1, 0.1, 0.25))
    clearance = 0.1
    scene = build_scene(arm, Requirements(clearance=clearance))
    q = np.random.default_rng(0).uniform(np.maximum(arm.limits.lower, -np.pi),
                                         np.minimum(arm.limits.upper, np.pi), size=(400, arm.n))
    distances = scene.distances(q, 4 * clearance + 0.01)[0]
    for column, median in zip(distances.T, scene.median_distance):
        assert median == pytest.approx(np.median(column[column > clearance]))
    full = dataclasses.replace(scene, excluded={}, notes=())
    some = (distances < clearance).mean(axis=0)
    assert np.any((some > 0) & (some < 0.95))
    kept = without_close_pairs(arm, full, 4, clearance, [], often=0.0)
    assert len(kept.pairs) == np.sum(some == 0)
    half = without_close_pairs(arm, full, 4, clearance, [], often=float(some.max()))
    gaps = np.array([column.max() for column in distances.T])
    design = (some > 0) & (gaps < 2.5 * clearance)
    assert len(half.pairs) == np.sum(~design)


@pytest.mark.parametrize(('clearance', 'kept'), [(0.02, 0), (0.013, 1)])
def test_links_that_stay_within_two_and_a_half_clearances_touch_by_design(clearance, kept):
    arm = one_joint()    # 4.5 to 34 mm between the balls
    shapes = (Shape('tip', 0, np.array([[0.0, 0.0, -0.02]]), 0.0455),
              Shape('post', -1, np.array([[0.0, 0.0, -0.1]]), 0.03))
    scene = Scene(Kinematics.of(arm), shapes, np.array([[0, 1]]), {}, ())
    assert len(without_close_pairs(arm, scene, 2, clearance, [], often=0.9).pairs) == kept
    assert len(without_close_pairs(arm, scene, 2, clearance, []).pairs) == 1
    assert len(without_close_pairs(arm, scene, 1, clearance, [], often=0.0).pairs) == 1


def test_a_link_is_close_if_one_of_its_shapes_is():
    arm = one_joint()
    shapes = (Shape('tip', 0, np.array([[0.0, 0.0, -0.02]]), 0.0455),
              Shape('tip', 0, np.array([[0.0, 0.0, 1.0]]), 0.01),
              Shape('post', -1, np.array([[0.0, 0.0, -0.1]]), 0.03))
    scene = Scene(Kinematics.of(arm), shapes, np.array([[0, 2], [1, 2]]), {}, ())
    assert len(without_close_pairs(arm, scene, 3, 0.05, []).pairs) == 0


def test_a_joint_that_carries_both_shapes_does_not_change_their_distance():
    arm = tree()
    shapes = (Shape('b', 2, np.array([[0.0, 0, 0.1]]), 0.05),
              Shape('c', 3, np.array([[0.1, 0, 0.0]]), 0.02),
              Shape('d', 1, np.array([[0.0, 0.2, 0.0]]), 0.0),
              Shape('floor', -1, np.zeros((1, 3)), 0.1))
    scene = Scene(Kinematics.of(arm), shapes, np.array([[0, 1], [1, 2], [1, 3]]), {}, ())
    furthest = np.array([9.0, 9.0, 0.25, 9.0])
    step = np.hypot(0.2, 0.1)
    np.testing.assert_allclose(scene.reach(furthest), [
        [0, 0, 0, 0.12], [0, 0.2, 1.0, 0.12],
        [0.12 + step + np.linalg.norm([0.1, 0.2, 0.3]) + 0.25, 0, 1.0, 0.12]])
    assert scene.pair_names(1) == "'c' and 'd'"


def test_constraints_are_those_of_the_requirements():
    arm, series = solid_chain(), get_series('mfs', PERIOD, 2)
    limits = motion_limits(arm, acceleration=8.0)[0]
    space = Workspace('three', (-5, -5, -5), (5, 5, 5))

    def kinds(**required):
        return [type(constraint).__name__ for constraint in build_constraints(
            arm, series, limits, 0.1, Requirements(**required))]

    [whole] = build_constraints(arm, series, limits)
    assert type(whole).__name__ == 'JointLimits' and whole._margin == 0.0
    assert kinds(torque_margin=0.1) == kinds(power=9.0) == ['JointLimits', 'TorqueLimits']
    assert kinds(workspace=(space, space)) == ['JointLimits'] + 2 * ['WorkspaceLimits']
    assert kinds(clearance=0.01) == ['JointLimits', 'Clearance']
    assert kinds(clearance=0.0) == ['JointLimits', 'Clearance']
    bare = build_constraints(one_joint(geometry=CUBE), get_series('mfs', PERIOD, 2),
                             motion_limits(one_joint(), acceleration=8.0)[0],
                             requirements=Requirements(clearance=0.01))
    assert len(bare) == 1
    joints, clear = build_constraints(arm, series, limits, 0.1, Requirements(clearance=0.03))
    assert joints._margin == 0.1 and clear.clearance == 0.03
    empty = dataclasses.replace(clear.scene, pairs=np.zeros((0, 2), dtype=np.int64))
    assert len(build_constraints(arm, series, limits, 0.1, Requirements(clearance=0.03),
                                 empty)) == 1


def test_requirements_say_what_is_not_checked():
    assert Requirements().unseen == ('torques', 'collisions')
    assert Requirements(torque_margin=0.0).unseen == ('collisions',)
    assert Requirements(clearance=0.0).unseen == ('torques',)
    assert Requirements(torque_margin=0.1, clearance=0.1).unseen == ()
    without_size = Requirements(clearance=0.1, payload=Payload(1.0, (0, 0, 0)))
    floor, size = without_size.notes
    assert 'floor' in floor and size.startswith('the size of the payload')
    assert dataclasses.replace(without_size, floor=0.0, payload=None).notes == ()
    for box_given in ((1, 1, 1, 2, 2), (1, 1, 1, 2, 2, 1), (1, 1, 1, 2, 1, 2), (1, 1, 1, 1, 2, 2)):
        with pytest.raises(ExcitationError, match=r'box 2 must be six numbers'):
            Requirements(clearance=0.1, boxes=((0, 0, 0, 1, 1, 1), box_given))
    with pytest.raises(ExcitationError, match='require a clearance'):
        Requirements(boxes=((0, 0, 0, 1, 1, 1),))
    for lower in ((0, 0, 1), (0, 2, 0), (1, 0, 0)):
        with pytest.raises(ExcitationError, match=re.escape(
                "the box of frame 'tip' must have a lower corner below its upper one, not "
                f'{tuple(map(float, lower))} and (1.0, 1.0, 1.0)')):
            Workspace('tip', lower, (1, 1, 1))
    with pytest.raises(ExcitationError, match='lower'):
        Workspace('tip', (np.nan, 0, 0), (1, 1, 1))
    with pytest.raises(ExcitationError, match='upper'):
        Workspace('tip', (0, 0, 0), (1, 1))
    for wrong in ({'floor': 1e4}, {'floor': -1e4}, {'clearance': 1e4}, {'torque_margin': 1.0},
                  {'torque_margin': -0.1}, {'power': 0.0}, {'guess_density': 0.0}):
        with pytest.raises(ExcitationError, match=next(iter(wrong))):
            Requirements(**{'clearance': 0.1, **wrong})
    with pytest.raises(ExcitationError, match='mass'):
        Payload(0.0, (0, 0, 0))
    with pytest.raises(ExcitationError, match='size'):
        Payload(1.0, (0, 0, 0), (0.0, 1, 1))


FIGURES = {
    'position': 3.0377162732950747, 'velocity': 0.9509561822522671,
    'acceleration': 0.09662448465056334, 'jerk': 0.03165419396801347,
    'torque': 0.656991901953714, 'power': 15.025103573079246, 'workspace': 4.452240743070936}


def test_the_figures_of_a_certificate():
    """The bounds of one motion, which only a change of a proof may change."""
    arm = tree()
    drives = dataclasses.replace(arm.drives, rotor_inertia=np.linspace(0.1, 0.4, arm.n))
    arm = dataclasses.replace(arm, drives=drives)
    limits = dataclasses.replace(motion_limits(arm, acceleration=8.0)[0], jerk=np.full(4, 40.0))
    required = Requirements(torque_margin=0.1, power=100.0, payload=Payload(2.0, (0.1, 0, 0.2)),
                            workspace=(Workspace('c', (-5.0, -5.0, -5.0), (5.0, 5.0, 5.0)),))
    series = get_series('mfs', PERIOD, 2)
    rows = np.arange(series.size)[:, None] + 2.0 * np.arange(arm.n)
    trajectory = Trajectory(series, 0.2 * np.sin(rows))
    found = certify(arm, trajectory, limits, 0.1, required)
    assert {c.quantity: c.bound for c in found.claims} == pytest.approx(FIGURES, rel=1e-9)
    assert [c.limit for c in found.claims] == [0.9] * 5 + [100.0, 0.0]
    assert [c.limit for c in certify(arm, trajectory, limits).claims] == [1.0] * 4
