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
"""Recordings: what they store, sort, count and reject."""

import numpy as np
import pytest
from robot_identification.errors import RecordingError
from robot_identification.recording import Recording

NAMES = ('shoulder', 'elbow')


def motion(count=200, rate=100.0):
    t = np.arange(count) / rate
    q = np.column_stack([np.sin(t), 0.5 * np.cos(2 * t)])
    v = np.column_stack([np.cos(t), -np.sin(2 * t)])
    return t, q, v


def recording(**changes):
    t, q, v = motion()
    values = {'t': t, 'q': q, 'tau': 10 * q, 'v': v, 'joint_names': NAMES, 'name': 'run'}
    return Recording(**{**values, **changes})


def test_arrays_are_copies_that_cannot_be_written():
    t, q, _ = motion()
    r = Recording(t, q, joint_names=NAMES)
    q[0, 0] = 99.0
    assert r.q[0, 0] == 0.0
    with pytest.raises(ValueError, match='read-only'):
        r.q[0, 0] = 1.0


def test_signals_of_one_joint_may_be_vectors():
    t, q, _ = motion()
    r = Recording(t, q[:, 0], q[:, 1], joint_names=('axis',))
    assert r.q.shape == r.tau.shape == (200, 1)


def test_rate_duration_and_length():
    r = recording()
    assert len(r) == 200
    assert r.rate == pytest.approx(100)
    assert r.duration == pytest.approx(1.99)
    assert r.gaps == ()


def test_window_and_select():
    r = recording()
    part = r.window(10, 60)
    np.testing.assert_array_equal(part.tau, r.tau[10:60])
    other = r.select(('elbow', 'shoulder'))
    np.testing.assert_array_equal(other.v, r.v[:, ::-1])
    assert other.joint_names == ('elbow', 'shoulder')
    assert r.select(['elbow']).q.shape == (200, 1)
    with pytest.raises(RecordingError, match=r'window 150 to 201 exceeds this'):
        r.window(150, 201)
    with pytest.raises(RecordingError, match=r"'run' does not have the joint 'wrist'.*shoulder,"):
        r.select(('shoulder', 'wrist'))


def test_late_and_repeated_stamps_are_put_right_and_counted():
    t, q, _ = motion()
    order = np.arange(200)
    order[[50, 51]] = order[[51, 50]]
    order = np.insert(order, 100, 99)
    r = Recording(t[order], q[order], joint_names=NAMES)
    np.testing.assert_array_equal(r.t, t)
    np.testing.assert_array_equal(r.q, q)
    assert (r.out_of_order, r.duplicates) == (1, 1)


def racing_stamps(true, step=1e-3, seed=0):
    """Return the stamps of a controller manager whose /clock is late by 0 to 3 steps."""
    late = np.random.default_rng(seed).choice(4, len(true), p=(0.5, 0.4, 0.08, 0.02))
    return np.maximum.accumulate(true - late * step)


@pytest.mark.parametrize('offset, lost', [(0.0, 0), (1.7e9, 0), (12.0, 40)])
def test_stamps_of_a_clock_that_races_are_moved_and_reported(offset, lost):
    true = offset + np.arange(4000) * 1e-3
    true = np.delete(true, np.arange(lost) * 97 + 50)
    t, q = racing_stamps(true), np.sin(true)[:, None]
    assert np.mean(np.diff(t) < 1e-9) > 0.1
    r = Recording(t, q, joint_names=('a',), name='run')
    assert (len(r), r.duplicates) == (len(true), 0)
    np.testing.assert_allclose(np.diff(r.t)[np.diff(true) < 1.5e-3], 1e-3, atol=2.1e-3)
    assert np.mean(np.abs(r.t - true) < 1e-6) > 0.95
    (remark,) = r.remarks
    assert "'run'" in remark and 'moved by up to 0.00' in remark
    assert r.window(0, 100).remarks == r.remarks


@pytest.mark.parametrize('measured', [False, True])
def test_cycles_that_were_not_published_are_told_from_positions_and_velocities(measured):
    rng = np.random.default_rng(2)
    v = np.sin(np.arange(8000)[:, None] * 1e-3 * (1.3, 2.1))
    kept = np.flatnonzero(rng.random(8000) > 0.06)
    true, q = kept * 1e-3, np.cumsum(v * 1e-3, axis=0)[kept]
    v = v[kept] + measured * rng.normal(0, 0.05, (len(kept), 2))
    t = racing_stamps(true)
    exact = np.abs(Recording(t, q, joint_names=('a', 'b'), v=v).t - true)[100:] < 1e-6
    assert np.mean(exact) == 1.0 if not measured else 0.9 < np.mean(exact) < 1.0


@pytest.mark.parametrize('change, sentence', [
    (lambda t: np.floor(t * 100) / 100, 'is coarser than the recording.*do not drop'),
    (lambda t: t - 0.2 * (np.arange(4000) % 400 < 200), 'stamps go backwards|stood still'),
    (lambda t: np.sort(np.append(t[:-400], t[:400])), 'stamps repeat the one before.*do not drop'),
])
def test_repeated_stamps_that_cannot_be_moved_are_refused(change, sentence):
    t, q = np.arange(4000) * 1e-3, np.random.default_rng(0).normal(size=(4000, 1))
    with pytest.raises(RecordingError, match=sentence):
        Recording(change(t), q, joint_names=('a',))


def test_messages_that_were_recorded_twice_are_named():
    t, q = np.arange(2000) * 1e-3, np.random.default_rng(0).normal(size=(2000, 1))
    with pytest.raises(RecordingError, match='record the topic once'):
        Recording(np.repeat(t, 2), np.repeat(q, 2, axis=0), joint_names=('a',))
    few = np.sort(np.append(np.arange(2000), [300, 900]))
    r = Recording(t[few], q[few], joint_names=('a',))
    assert (r.duplicates, len(r), r.remarks) == (2, 2000, ())


@pytest.mark.parametrize('early', [-0.305, 0.305])
def test_one_message_may_come_late_or_from_the_future(early):
    t, q, _ = motion()
    t = t.copy()
    t[100] += early
    r = Recording(t, q, joint_names=NAMES)
    assert r.out_of_order == 1
    assert np.all(np.diff(r.t) > 0)


def test_gaps_are_found():
    t, q, _ = motion()
    keep = np.r_[0:80, 95:200]
    (gap,) = Recording(t[keep], q[keep], joint_names=NAMES).gaps
    assert gap == pytest.approx((t[79], 0.16))


@pytest.mark.parametrize('change, sentence', [
    (lambda t: np.concatenate([t[:150], t[:50]]), 'several recordings'),
    (lambda t: np.random.default_rng(0).permutation(t), 'go backwards'),
    (lambda t: t - 0.3 * (t - t[0] > 1), '1 of its stamps go backwards.*the clock was set'),
    (lambda t: np.floor(t * 20) / 20, 'coarser than the recording'),
    (lambda t: 1.7e18 + t * 1e9, 'if they are in ns .*t: ns'),
    (lambda t: t * 1e6, 'if they are in us'),
    (lambda t: t * 1e3, 'if they are in ms'),
    (lambda t: t * 1e-5, 'must be in seconds'),
])
def test_stamps_that_cannot_be(change, sentence):
    t, q, _ = motion()
    with pytest.raises(RecordingError, match=sentence):
        Recording(change(t), q, joint_names=NAMES)


@pytest.mark.parametrize('change, sentence', [
    ({'q': np.zeros((200, 3))}, r'q has the shape \(200, 3\), not \(200, 2\)'),
    ({'tau': np.zeros((199, 2))}, r'tau has the shape \(199, 2\)'),
    ({'q': None}, 'no positions'),
    ({'q': [['a', 'b']] * 200}, 'not an array of numbers'),
    ({'joint_names': ('elbow', 'elbow')}, 'each once: it names elbow, elbow'),
    ({'joint_names': ()}, 'it names none'),
    ({'t': np.zeros((200, 2))}, r'not \(N,\)'),
])
def test_shapes_and_names_that_disagree(change, sentence):
    with pytest.raises(RecordingError, match=f"'run'.*{sentence}"):
        recording(**change)


def test_values_that_are_not_finite_are_named():
    _, q, _ = motion()
    q[30:33, 1] = np.nan
    with pytest.raises(RecordingError, match=r"tau of joint 'elbow' is nan at sample 30 "
                                             r'\(t = 0.3 s\), and 2 more'):
        recording(tau=q)
    with pytest.raises(RecordingError, match='t is inf at sample 7'):
        recording(t=np.where(np.arange(200) == 7, np.inf, np.arange(200) / 100))


def test_too_short():
    with pytest.raises(RecordingError, match='has 9 samples; at least 10'):
        recording().window(0, 9)


def test_units_of_velocities_that_contradict_positions():
    _, q, v = motion()
    with pytest.raises(RecordingError, match='velocities in degrees'):
        recording(v=np.degrees(v))
    with pytest.raises(RecordingError, match='positions in degrees'):
        recording(q=np.degrees(q))


def test_a_window_of_seconds_begins_at_the_first_stamp():
    t = 1.7e9 + np.arange(200) / 100
    run = Recording(t, np.arange(200.0), joint_names=('a',))
    np.testing.assert_array_equal(run.between(0.5, 1.0).q[:, 0], np.arange(50, 100))
    assert len(run.between(0, 2)) == 200
    for first, last in ((0, 3), (-1, 1), (1, 1), (1, 0.5), (float('nan'), 1)):
        with pytest.raises(RecordingError, match='exceeds this'):
            run.between(first, last)
    with pytest.raises(RecordingError, match='use a longer window'):
        run.between(0.5, 0.52)
