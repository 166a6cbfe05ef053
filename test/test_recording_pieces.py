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
"""Long recordings in pieces: the same samples as the full recording, in bounded memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from recording_arms import TWO_LINK
from robot_identification.arm.robot_file import arm_from_mapping
from robot_identification.recording import (
    column_source,
    csv_file,
    load_pieces,
    load_recording,
    numpy_archive,
    Recording,
)
from robot_identification.recording.bag import read
from robot_identification.recording.pieces import HALO
from sqlite_bags import WRITERS

KINDS = ('commas.csv', 'spaces.csv', 'npz', 'parquet', 'mcap', 'sqlite3')


@pytest.fixture
def arm(tmp_path):
    """Return an arm whose driver publishes motor-side efforts with inverted sign."""
    return arm_from_mapping({
        'urdf': TWO_LINK, 'drives': {'shoulder': {'reduction': 50}, 'elbow': {'reduction': 80}},
        'effort': {'quantity': 'torque', 'side': 'motor', 'sign': -1,
                   'gravity_compensated': True}}, folder=tmp_path, label='x')


@pytest.fixture
def small_blocks(monkeypatch):
    for module, name, value in ((csv_file, 'BLOCK_BYTES', 20_000), (read, 'BLOCK', 200),
                                (numpy_archive, 'BLOCK_ROWS', 200),
                                (column_source, 'BLOCK_ROWS', 200)):
        monkeypatch.setattr(module, name, value)


def made(count, rate=100.0, disorder=True):
    """Return a motion in which some stamps are late or repeated."""
    rng = np.random.default_rng(0)
    t, signals = np.arange(count) / rate, rng.normal(size=(3, count, 2))
    if disorder:
        for k in range(50, count - 50, 97):
            t[[k, k + 1]] = t[[k + 1, k]]
        for k in range(31, count - 50, 203):
            t[k + 1], signals[:, k + 1] = t[k], signals[:, k]
    return t, *signals


def write(kind, path, t, q, v, tau):
    names = ('shoulder', 'elbow')
    columns = {'t': t, **{f'{signal}_{name}': values[:, k] for signal, values in (
        ('q', q), ('v', v), ('tau', tau)) for k, name in enumerate(names)}}
    if 'csv' in kind:
        mark = ',' if 'commas' in kind else ' '
        path.write_text('\n'.join([mark.join(columns), *(
            mark.join(map(repr, row)) for row in np.column_stack([*columns.values()]).tolist())]))
    elif kind == 'npz':
        np.savez_compressed(path, t=t, q=q, v=v, tau=tau, joint_names=names)
    elif kind == 'parquet':
        pandas = pytest.importorskip('pandas')
        pandas.DataFrame(columns).to_parquet(path)
    else:    # bags contain no out-of-order stamps here
        WRITERS[kind](Recording(t, q, tau, v=v, joint_names=names), path)
    return path


@pytest.mark.parametrize('kind', KINDS)
def test_cores_of_pieces_are_the_recording(kind, arm, tmp_path, small_blocks, monkeypatch):
    monkeypatch.setattr('robot_identification.spilling_list._MAX_BYTES_IN_MEMORY', 20_000)
    disorder = kind not in ('mcap', 'sqlite3')
    path = write(kind, tmp_path / f'x_{kind if "csv" in kind else f"a.{kind}"}',
                 *made(20_000, disorder=disorder))
    whole = load_recording(path, arm)
    pieces = list(load_pieces(path, arm, seconds=40.0))
    assert len(pieces) == 5 and sum(piece.duplicates > 0 for piece in pieces) == 5 * disorder
    np.testing.assert_allclose(np.concatenate([p.t[p.core] for p in pieces]), whole.t,
                               rtol=0, atol=1e-12)
    for values in (lambda r: r.q, lambda r: r.v, lambda r: r.tau, lambda r: r.joint_torque(arm),
                   lambda r: r.joint_position(arm)):
        np.testing.assert_allclose(
            np.concatenate([values(piece)[piece.core] for piece in pieces]), values(whole),
            rtol=0, atol=1e-12)
    for number, piece in enumerate(pieces):
        assert piece.name == whole.name and piece.joint_names == whole.joint_names
        own = piece.t[piece.core]
        for halo, inner in ((own[0] - piece.t[0], number > 0),
                            (piece.t[-1] - own[-1], number < 4)):
            assert halo == pytest.approx(HALO if inner else 0.0, abs=0.1)


def test_pieces_of_a_racing_clock_have_the_stamps_of_the_whole(arm, tmp_path, small_blocks):
    t, *signals = made(20_000, rate=1000.0, disorder=False)
    late = np.random.default_rng(1).integers(0, 2, len(t))    # by cycles
    path = write('npz', tmp_path / 'a.npz', t - 1e-3 * late, *signals)
    whole = load_recording(path, arm)
    pieces = list(load_pieces(path, arm, seconds=5.0))
    assert len(pieces) > 1 and len(whole) == 20_000 == sum(len(p.q[p.core]) for p in pieces)
    assert all('were moved' in ''.join(piece.remarks) for piece in pieces)
    np.testing.assert_allclose(np.concatenate([p.t[p.core] for p in pieces]), t, atol=1e-9)
    np.testing.assert_array_equal(np.concatenate([p.q[p.core] for p in pieces]), whole.q)


@pytest.mark.parametrize('kind', KINDS)
def test_pieces_are_read_in_bounded_memory(kind, tmp_path, small_blocks, monkeypatch):
    monkeypatch.setattr('robot_identification.spilling_list._MAX_BYTES_IN_MEMORY', 20_000)
    peaks, unit = [], 4000
    counts = (2 * unit, 2 * unit, 6 * unit)    # imports happen at the first call
    paths = [write(kind, tmp_path / f'{count}{k}.{kind}', *made(count, disorder=False))
             for k, count in enumerate(counts)]
    tracemalloc.start()    # once: each stop may crash with threads of other libraries
    for path, count in zip(paths, counts):
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        samples = sum(len(piece.t[piece.core]) for piece in load_pieces(path, seconds=20.0))
        peaks.append(tracemalloc.get_traced_memory()[1] - before)
        assert samples == count
    tracemalloc.stop()
    assert peaks[2] - peaks[1] < 2 * 8 * 4 * unit    # [bytes] of 2 of the 7 additional columns


def test_a_short_recording_is_one_piece(tmp_path):
    path = write('npz', tmp_path / 'x.npz', *made(2900))
    (piece,) = load_pieces(path, seconds=20.0)
    assert piece.core is None and len(piece) == len(load_recording(path))


def test_a_gap_and_few_samples_behind_it(tmp_path):
    t, q, v, tau = made(6000, disorder=False)
    t[3000:] += 3600.0
    t[5995:] += 3600.0
    path = write('npz', tmp_path / 'x.npz', t, q, v, tau)
    pieces = list(load_pieces(path, seconds=20.0))
    np.testing.assert_array_equal(np.concatenate([piece.t[piece.core] for piece in pieces]), t)


def test_a_selection_of_joints_keeps_the_core_and_a_window_does_not(tmp_path):
    path = write('npz', tmp_path / 'x.npz', *made(6000))
    piece = next(iter(load_pieces(path, seconds=20.0)))
    assert piece.select(('elbow',)).core == piece.core != slice(None)
    assert piece.window(0, 100).core is None


def test_remarks_come_once(tmp_path):
    t, q, v, tau = made(6000, disorder=False)
    path = write('spaces.csv', tmp_path / 'x.csv', t, q, v, tau)
    lines = path.read_text().replace(' ', ';').replace('.', ',').splitlines()
    path.write_text('\n'.join(lines))
    remarks = [piece.remarks for piece in load_pieces(path, seconds=20.0)]
    assert len(remarks) == 3 and sum('decimal commas' in ' '.join(each) for each in remarks) == 1
