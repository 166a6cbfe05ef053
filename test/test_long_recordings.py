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
"""Long recordings are split into pieces: the same results in bounded memory."""

from __future__ import annotations

import tracemalloc

from closed_recordings import closed_recording
import numpy as np
import pytest
from robot_identification import identify, inverse_dynamics, load_arm, Recording, validate
from robot_identification.recording import pieces
from robot_identification.recording.pieces import split_recording
from robot_identification.reporting import results_to_dict
from robot_identification.signals import process, process_pieces, ProcessingOptions
from robot_identification.spilling_list import SpillingList


def two_link():
    return load_arm('two_link')


def noisy(arm, seed):
    """Return 40 s of a periodic motion with noise."""
    made = closed_recording(arm, seed)
    rng = np.random.default_rng(seed)
    return Recording(made.t, made.q + 1e-6 * rng.normal(size=made.q.shape),
                     made.tau + 0.05 * rng.normal(size=made.q.shape),
                     joint_names=arm.joint_names, name=f'motion {seed}')


def test_pieces_hold_every_sample_once_in_their_cores(monkeypatch):
    made = noisy(two_link(), 0)
    (full,) = split_recording(made)
    assert full.core is None and len(full) == len(made)
    monkeypatch.setattr(pieces, 'PIECE', 700)
    monkeypatch.setattr(pieces, 'MAX_UNSPLIT', 1.5 * 700)
    monkeypatch.setattr(pieces, 'HALO', 0.5)
    parts = list(split_recording(made))
    assert len(parts) > 2 and max(part.core.stop - part.core.start for part in parts) <= 770
    np.testing.assert_array_equal(np.concatenate([part.t[part.core] for part in parts]), made.t)
    np.testing.assert_array_equal(np.concatenate([part.q[part.core] for part in parts]), made.q)
    inner = parts[1]
    assert inner.t[inner.core.start] - inner.t[0] == pytest.approx(0.5, abs=0.02)
    assert parts[-1].core.stop == len(parts[-1]) and parts[0].core.start == 0


@pytest.mark.parametrize('options', [{}, {'edges': 'keep', 'standstill': 'zero'}])
def test_samples_of_pieces_are_those_of_the_whole(options, monkeypatch):
    arm = two_link()
    made = noisy(arm, 0)
    given = {'cutoff': 8.0, 'decimation_cutoff': 4.0, **options}
    whole = process(made, arm, **given)
    monkeypatch.setattr(pieces, 'PIECE', 1200)
    monkeypatch.setattr(pieces, 'MAX_UNSPLIT', 1.5 * 1200)
    monkeypatch.setattr(pieces, 'HALO', 3.0)
    found = [part for _, part in process_pieces(
        list(split_recording(made)), arm, ProcessingOptions(**given))]
    assert len(found) > 2 and [part.piece for part in found] == list(range(len(found)))
    np.testing.assert_allclose(np.concatenate([part.t for part in found]), whole.t, atol=1e-9)
    for name in ('q', 'v', 'a', 'tau'):
        np.testing.assert_allclose(np.concatenate([getattr(part, name) for part in found]),
                                   getattr(whole, name), rtol=1e-7,
                                   atol=1e-7 * np.abs(getattr(whole, name)).max())


@pytest.mark.parametrize('cutoffs', [{}, {'cutoff': 8.0, 'decimation_cutoff': 4.0}])
def test_a_model_from_pieces_is_that_from_the_whole(cutoffs, monkeypatch):
    arm = two_link()
    made, held_out = noisy(arm, 0), noisy(arm, 1)
    whole = identify(arm, [made], held_out=[held_out], processing=cutoffs)
    monkeypatch.setattr(pieces, 'PIECE', 1700)
    monkeypatch.setattr(pieces, 'MAX_UNSPLIT', 1.5 * 1700)
    monkeypatch.setattr(pieces, 'HALO', 3.0)
    found = identify(arm, [made], held_out=[held_out], processing=cutoffs)
    assert len(found.training) > 1 == len(found.fitted)
    assert found.verdict.passed == whole.verdict.passed
    std = np.sqrt(np.diag(whole.estimate.covariance))
    assert np.abs((found.estimate.values - whole.estimate.values) / std).max() < 2.0
    for one, other in ((found.fitted[0], whole.fitted[0]),
                       (found.verdict.held_out[0], whole.verdict.held_out[0])):
        assert one.name == other.name
        assert one.relative_error == pytest.approx(other.relative_error, rel=0.05)
        assert one.repeated == pytest.approx(other.repeated, abs=0.05)
    assert found.verdict.held_out[0].full_relative_error == pytest.approx(
        whole.verdict.held_out[0].full_relative_error, rel=0.1)
    assert {(x.check, x.subject) for x in found.verdict.findings} <= {
        (x.check, x.subject) for x in whole.verdict.findings}
    entry, = results_to_dict(found)['recordings']
    before, = results_to_dict(whole)['recordings']
    assert entry['seconds'] == pytest.approx(before['seconds'], rel=0.05)
    checked = validate(found.model, [held_out], processing=cutoffs)
    assert checked.verdict.held_out[0].relative_error == pytest.approx(
        found.verdict.held_out[0].relative_error, rel=1e-6)
    assert np.all(np.diff(checked.t) > 0)


def test_memory_does_not_grow_with_the_recording(monkeypatch, tmp_path):
    arm = two_link()
    monkeypatch.setattr(pieces, 'PIECE', 5000)
    monkeypatch.setattr(pieces, 'MAX_UNSPLIT', 1.5 * 5000)
    monkeypatch.setattr('robot_identification.spilling_list._MAX_BYTES_IN_MEMORY', 10_000)
    monkeypatch.setattr('robot_identification.validation.held_out.MAX_PLOT_ROWS', 1000)
    rng, peaks = np.random.default_rng(0), []
    for count in (10_000, 60_000, 120_000):    # from the second call on everything is compiled
        t = np.arange(count) / 250
        speeds = np.array([1.3, 1.9])
        q = np.sin(speeds * t[:, None])
        tau = inverse_dynamics(arm, q, speeds * np.cos(speeds * t[:, None]), -speeds ** 2 * q)
        recording = Recording(t, q + 1e-6 * rng.normal(size=q.shape),
                              tau + 0.1 * rng.normal(size=q.shape), joint_names=arm.joint_names)
        del q, tau, t
        tracemalloc.start()
        samples = [len(part) for _, part in process_pieces(
            SpillingList(split_recording(recording)), arm,
            ProcessingOptions(cutoff=8.0, decimation_cutoff=4.0))]
        identify(arm, [recording], processing={'cutoff': 8.0, 'decimation_cutoff': 4.0})
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert sum(samples) > 0.95 * count
    assert peaks[2] - peaks[1] < 60_000 * 4    # [bytes] half the size of the stamps
