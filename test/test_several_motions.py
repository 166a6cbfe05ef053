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
"""One verdict over several motions, joints that hardly move, and short point-to-point motions."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from robot_identification import identify, inverse_dynamics, load_arm, Recording, validate
from robot_identification.errors import EstimationError
from robot_identification.validation import errors, make_verdict, Thresholds
from robot_identification.validation.held_out import HeldOut, nearly_resting
from robot_identification.validation.verdict import suggest_next_steps

ARM = load_arm('two_link')
RATE = 250.0


def recorded(q, seed=0, noise=0.02, holds=0.0):
    """Return a recording with Coulomb friction; a joint at rest has the torque that holds it."""
    rng = np.random.default_rng(seed)
    v = np.gradient(q, 1 / RATE, axis=0)
    a = np.gradient(v, 1 / RATE, axis=0)
    slow = np.abs(v) < 0.02
    friction = np.where(slow, holds * np.sin(40 * np.arange(len(q)) / RATE)[:, None], np.sign(v))
    tau = inverse_dynamics(ARM, q, v, a) + 0.5 * friction
    return Recording(np.arange(len(q)) / RATE, q, tau + rng.normal(0, noise, tau.shape),
                     joint_names=ARM.joint_names, name=f'motion {seed}')


def waves(seconds, *speeds, size=1.0):
    t = np.arange(0, seconds, 1 / RATE)
    return size * np.column_stack([np.sin(w * t) + 0.4 * np.sin(2.3 * w * t + 1) for w in speeds])


def point_to_point(moves=14, move=0.8, rest=0.4):
    """Return motions each of which is too short for a verdict."""
    rng = np.random.default_rng(3)
    now, parts = np.zeros(2), []
    for _ in range(moves):
        target = rng.uniform(-1.2, 1.2, 2)
        x = np.linspace(0, 1, int(move * RATE))[:, None]
        parts += [now + (10 * x ** 3 - 15 * x ** 4 + 6 * x ** 5) * (target - now),
                  np.tile(target, (int(rest * RATE), 1))]
        now = target
    return np.vstack(parts)


@pytest.fixture(scope='module')
def fitted():
    return identify(ARM, [recorded(waves(16, 3.1, 4.3))])


def test_errors_of_motions_add_up_to_those_of_all_their_torques():
    rng = np.random.default_rng(0)
    parts = [(rng.normal(size=(n, 2)), 0.1 * rng.normal(size=(n, 2))) for n in (50, 80)]
    first, second = (errors(tau, tau + e, ('a', 'b')) for tau, e in parts)
    found = (first + second).joints
    tau, e = (np.vstack(part) for part in zip(*parts))
    whole = errors(tau, tau + e, ('a', 'b'))
    for joint in 'ab':
        assert vars(found[joint]) == pytest.approx(vars(whole.joints[joint]))
        assert found[joint].correlation == pytest.approx(
            np.corrcoef(*(x['ab'.index(joint)] for x in (tau.T, (tau + e).T)))[0, 1])
    rests = errors(tau, tau, ('a', 'b'), np.zeros(tau.shape, dtype=bool))
    assert (rests + whole).joints['a'] == whole.joints['a']
    assert np.isnan((rests + rests).joints['a'].relative_error)


def prediction(name, relative, repeated=0.0):
    """Return a prediction with an error of joint b, whose torque is a tenth of joint a's."""
    tau = np.column_stack([10 * np.sin(np.arange(400)), np.cos(np.arange(400))])
    wrong = tau * [1.0, 1.0 + relative]
    return HeldOut(name, errors(tau, wrong, ('a', 'b')), 7.5, repeated, np.arange(400.0), tau,
                   wrong)


def test_a_joint_is_judged_over_all_motions():
    rated = np.full(2, np.inf)
    one = make_verdict([prediction('one', 0.4)], Thresholds(), rated_torque=rated)
    assert not one.passed and one.reasons[0].startswith("'one': ")
    assert 'of joint b exceeds' in one.reasons[0]
    others = [prediction('two', 0.05), prediction('three', 0.05)]
    assert make_verdict([prediction('one', 0.4), *others], Thresholds(), rated_torque=rated).passed
    bad = make_verdict([prediction('one', 0.4), prediction('two', 0.4)], Thresholds(),
                       rated_torque=rated)
    assert bad.reasons == ('all 2 validation motions: relative torque error 40.0% of joint b '
                           'exceeds 30.0%',)
    weak = dataclasses.replace(ARM, limits=dataclasses.replace(ARM.limits, torque=rated))
    assert any('torque of b' in step for step in suggest_next_steps(weak, bad))
    repeated = make_verdict([prediction('one', 0.4), prediction('two', 0.0, repeated=1.0)],
                            Thresholds(), rated_torque=rated)
    assert not repeated.passed    # a repetition of the training motion does not count


def test_a_joint_that_hardly_moves_is_not_judged_by_its_noise(fitted):
    """As on a circle with a nearly resting wrist: servo oscillation, and friction that holds."""
    q = waves(12, 2.7, 2.7)
    q[:, 1] = 0.6 + 2e-4 * np.sin(30 * np.arange(len(q)) / RATE)
    held = validate(fitted.model, recorded(q, 1, noise=0.5, holds=1.0))
    assert np.isnan(held.verdict.joints[ARM.joint_names[1]].relative_error)
    assert held.verdict.passed
    assert any('nearly rested' in note for note in held.verdict.notes)
    both = validate(fitted.model, [recorded(q, 1), recorded(waves(12, 3.7, 2.9), 2)])
    assert both.verdict.passed and len(both.verdict.held_out) == 2
    assert np.isfinite(both.verdict.joints[ARM.joint_names[1]].relative_error)


def test_speeds_compare_by_the_limits_of_the_joints():
    v = np.array([[1.0, 0.04, 0.3]])
    assert nearly_resting(v, np.full(3, np.inf)).tolist() == [False, True, False]
    assert nearly_resting(v, np.array([2.0, 0.05, 20.0])).tolist() == [False, False, True]
    assert not nearly_resting(np.zeros((3, 2)), np.ones(2)).any()


def test_short_moves_from_point_to_point_are_judged(fitted):
    run = recorded(point_to_point(), 5)
    found = validate(fitted.model, run).verdict
    assert found.passed and all(e.samples for e in found.joints.values())
    again = identify(ARM, [recorded(waves(16, 3.1, 4.3))], held_out=[run]).verdict
    assert again.passed
    assert again.held_out[0].relative_error == pytest.approx(found.held_out[0].relative_error,
                                                             rel=0.2)
    wrong = dataclasses.replace(fitted.model, inertial=1.5 * fitted.model.inertial)
    assert not validate(wrong, run).verdict.passed


def test_no_recording_is_an_error(fitted):
    with pytest.raises(EstimationError, match='no recording to validate on'):
        validate(fitted.model, [])
