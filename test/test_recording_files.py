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
"""Recordings in files: round trips, column names, and error messages."""

from dataclasses import replace

import numpy as np
import pytest
from recording_arms import TWO_LINK
from robot_identification.arm import Arm
from robot_identification.arm.robot_file import arm_from_mapping
from robot_identification.errors import ConfigurationError, RecordingError
from robot_identification.recording import csv_file, load_recording, Recording


@pytest.fixture
def arm():
    return Arm.from_urdf(TWO_LINK)


@pytest.fixture
def run():
    rng = np.random.default_rng(0)
    t = 1.7e9 + np.arange(50) / 125
    q, v, tau, current = rng.normal(size=(4, 50, 2)) / 3
    return Recording(t, q, tau, joint_names=('shoulder', 'elbow'), v=v, current=current)


@pytest.mark.parametrize('suffix', ['.csv', '.npz'])
def test_round_trip_to_the_last_bit(run, arm, tmp_path, suffix):
    path = tmp_path / f'run{suffix}'
    (run.to_csv if suffix == '.csv' else run.to_npz)(path)
    for read in (load_recording(path), load_recording(path, arm)):
        assert read.joint_names == run.joint_names
        assert read.name == str(path)
        for signal in ('t', 'q', 'v', 'tau', 'current'):
            np.testing.assert_array_equal(getattr(read, signal), getattr(run, signal))
    assert len(load_recording(path, arm, window=(5, 25))) == 20
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize('suffix', ['.csv', '.npz'])
def test_joints_are_selected_by_name_not_by_place(run, arm, tmp_path, suffix):
    swapped = run.select(('elbow', 'shoulder'))
    path = tmp_path / f'run{suffix}'
    (swapped.to_csv if suffix == '.csv' else swapped.to_npz)(path)
    read = load_recording(path, arm)
    assert read.joint_names == arm.joint_names
    np.testing.assert_array_equal(read.tau, run.tau)


def test_names_of_arrays_come_from_the_robot_yaml(run, tmp_path):
    keys = {'t': 'times', 'q': 'positions', 'tau': 'torques'}
    arm = arm_from_mapping({'urdf': TWO_LINK, 'recording': keys}, folder=tmp_path, label='x')
    path = tmp_path / 'lab.npz'
    np.savez(path, times=run.t, positions=run.q, torques=run.tau)
    np.testing.assert_array_equal(load_recording(path, arm).tau, run.tau)
    run.to_npz(tmp_path / 'ours.npz')  # written with the standard names
    np.testing.assert_array_equal(load_recording(tmp_path / 'ours.npz', arm).tau, run.tau)
    np.savez(path, times=run.t, positions=run.q)
    with pytest.raises(RecordingError, match=r"'torques_elbow'; it has: positions.0., pos"):
        load_recording(path, arm)


def test_columns_of_one_joint_need_no_joint_name(arm, tmp_path):
    path = tmp_path / 'axis.csv'
    arm = replace(arm_from_mapping({'urdf': TWO_LINK, 'locked': {'elbow': 0.0}}, folder=tmp_path,
                                   label='x'), recording_keys={'q': 'qm', 'current': 'vir'})
    path.write_text('t;qm;vir;note\n' + '\n'.join(f'{k / 100};{k};{-k};0' for k in range(20)))
    read = load_recording(path, arm)
    assert read.q.shape == (20, 1)
    np.testing.assert_array_equal(read.current, -read.q)


def test_both_ways_of_reading_a_table_give_every_bit(run, tmp_path, monkeypatch):
    path = tmp_path / 'rows.csv'
    run.to_csv(path)
    fast = load_recording(path)
    monkeypatch.setattr(csv_file, '_parse', lambda *_: [])
    slow = load_recording(path)
    for name in ('t', 'q', 'tau'):
        np.testing.assert_array_equal(getattr(fast, name), getattr(slow, name))


def lines(rows=20):
    return ['t,q_shoulder,q_elbow,tau_shoulder,tau_elbow',
            *(f'{k / 100},{k / 50},{-k / 50},1.5,{k}' for k in range(rows))]


def with_line(number, text):
    changed = lines()
    changed[number - 1] = text
    return changed


@pytest.mark.parametrize('content, sentence', [
    (with_line(1, 't,q_shoulder,q_elbow,tau_shoulder,tau_wrist'), "no column 'tau_elbow'"),
    (with_line(1, 'foo,q_shoulder,q_elbow,tau_shoulder,tau_elbow'), "no column 't'.*foo"),
    (with_line(1, 't,q_elbow,q_elbow,tau_shoulder,tau_elbow'), "two columns 'q_elbow'"),
    (with_line(7, '0.05,0.1,,1.5,5'), "line 7, column 'q_elbow': '' is not a number"),
    (with_line(7, '0.05,0.1,oops,1.5,5'), "'oops' is not a number"),
    (with_line(5, '')[:6] + with_line(7, '0.05,0.1,oops,1.5,5')[6:], 'line 7, .*oops'),
    (with_line(7, '0.05,0.1,0.2'), 'line 7: 3 cells, but the header names 5'),
    (with_line(7, '0.05,0.1,nan,1.5,5'), "q of joint 'elbow' is nan at sample 5"),
    (lines(0), 'header and no samples'),
    (lines(4), 'has 4 samples'),
    ([], 'is empty'),
])
def test_csv_files_that_cannot_be_read(arm, tmp_path, content, sentence):
    path = tmp_path / 'bad.csv'
    path.write_text('\n'.join(content))
    with pytest.raises(RecordingError, match=rf'bad\.csv.*{sentence}'):
        load_recording(path, arm)


def test_npz_files_that_cannot_be_read(arm, run, tmp_path):
    path = tmp_path / 'bad.npz'
    for missing in (path, '*' * 300, 'a' * 5000 + '.npz', 'a\0.npz'):
        with pytest.raises(RecordingError, match='there is no recording'):
            load_recording(missing, arm)
    path.write_bytes(b'not an archive')
    with pytest.raises(RecordingError, match='not a NumPy archive'):
        load_recording(path, arm)
    np.savez(path, t=run.t, q=np.array([{}], dtype=object))
    with pytest.raises(RecordingError, match='neither real numbers nor text'):
        load_recording(path, arm)
    np.savez(path, t=run.t, q=run.q)
    with pytest.raises(RecordingError, match='does not name its joints; add'):
        load_recording(path)
    np.savez(path, t=run.t, q=np.tile(run.q, 2))
    with pytest.raises(RecordingError, match="'q' has 4 columns for the 2 joints shoulder, elbow"):
        load_recording(path, arm)
    np.savez(path, t=run.t, q=run.q, joint_names=['a'])
    with pytest.raises(RecordingError, match="'q' has 2 columns for the 1 joints a"):
        load_recording(path, arm)
    np.savez(path, t=run.t, q=run.q, joint_names=['shoulder', 'knee'])
    with pytest.raises(RecordingError, match="does not have the joint 'elbow'"):
        load_recording(path, arm)


def test_other_kinds_are_refused(tmp_path):
    path = tmp_path / 'run.foo'
    path.write_text('x')
    with pytest.raises(RecordingError, match=r'format; supported: .*\.csv, .*\.mat, .*\.npz'):
        load_recording(path)


def test_a_failed_write_leaves_the_old_file(run, tmp_path, monkeypatch):
    path = tmp_path / 'run.npz'
    run.to_npz(path)
    before = path.read_bytes()

    def fails(file, **arrays):
        file.write(b'half')
        raise OSError('no space left on device')

    monkeypatch.setattr(np, 'savez_compressed', fails)
    with pytest.raises(ConfigurationError, match='cannot be written: no space'):
        run.to_npz(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ['run.npz']
