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
"""Short gaps are filled, long ones are not."""

from __future__ import annotations

import numpy as np
import pytest
from robot_identification import load_arm, Recording
from robot_identification.dynamics import inverse_dynamics
from robot_identification.signals import process
from robot_identification.signals.resampling import fill_gaps, PART_OF_PERIOD


@pytest.mark.parametrize('phase', np.linspace(0, np.pi, 5))
def test_bridge_meets_the_fastest_motion(phase):
    cutoff = 10.0
    t = np.arange(4000) / 1000.0
    gone = (t > 2.0) & (t < 2.0 + PART_OF_PERIOD / cutoff - 1e-3)
    sine = np.sin(2 * np.pi * cutoff / 2 * t + phase)[:, None]
    filled, columns, gaps = fill_gaps(t[~gone], sine[~gone], PART_OF_PERIOD / cutoff)
    assert len(filled) == len(t) and np.allclose(filled, t)
    assert np.abs(columns - sine).max() < 1e-3
    assert len(gaps) == 1 and gaps[0] == pytest.approx([2.0, np.sum(gone) / 1e3 + 1e-3])


def test_bridge_does_not_follow_noise():
    t = np.arange(4000) / 1000.0
    gone = (t > 2.0) & (t < 2.02)
    spread = []
    for seed in range(50):
        noise = np.random.default_rng(seed).normal(size=(len(t), 1))
        spread.append(fill_gaps(t[~gone], noise[~gone], 0.1)[1][gone])
    assert np.sqrt(np.mean(np.square(spread))) < 1.0    # no larger than the noise itself


def test_long_gaps_and_lonely_samples_are_left_alone():
    t = np.concatenate([np.arange(500), [700.0], np.arange(900, 1500)]) / 1000.0
    filled, _, gaps = fill_gaps(t, np.sin(t)[:, None], 0.3)
    assert np.array_equal(filled, t) and not len(gaps)


def motion(arm, t):
    speeds = 2 * np.pi * np.array([0.4, 0.7])
    q = 0.6 * np.sin(speeds * t[:, None])
    v, a = 0.6 * speeds * np.cos(speeds * t[:, None]), -speeds ** 2 * q
    return q, inverse_dynamics(arm, q, v, a)


def test_process_bridges_what_is_short_against_the_filter_and_says_so():
    arm = load_arm('two_link')
    t = np.arange(20000) / 1000.0
    keep = np.ones(len(t), dtype=bool)
    keep[5000:5008] = keep[9000:9005] = False    # filled
    keep[14000:15000] = False                     # too long to be filled
    q, tau = motion(arm, t)
    rng = np.random.default_rng(0)
    q, tau = q + 1e-5 * rng.normal(size=q.shape), tau + 0.05 * rng.normal(size=q.shape)
    samples = process(Recording(t[keep], q[keep], tau[keep], joint_names=arm.joint_names), arm)
    notes = samples.processing
    assert notes['bridged_gaps'] == 2 and notes['gaps'] == 1 and len(samples.segments) == 2
    assert notes['bridged_s'] == pytest.approx(0.009 + 0.006)
    assert notes['bridged_at_s'] == pytest.approx([4.999, 8.999])
    inside = (samples.t > 4.9) & (samples.t < 5.1)
    assert np.abs(samples.tau - motion(arm, samples.t)[1])[inside].max() < 0.3
    uninterrupted = process(Recording(t, q, tau, joint_names=arm.joint_names), arm)
    assert 'bridged_gaps' not in uninterrupted.processing
