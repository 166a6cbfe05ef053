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
"""Tilt of the base: estimated and reported, and not reported without a tilt."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from closed_recordings import closed_recording
import numpy as np
import pytest
from robot_identification import identify, load_arm, load_recording
from robot_identification.arm.robot_file import arm_from_mapping, arm_to_mapping
from robot_identification.errors import EstimationError
from robot_identification.estimation import fit_samples, FitOptions, get_estimator
from robot_identification.estimation.tilt import (
    choose_gravity_direction,
    estimate_gravity_direction,
    estimate_tilt,
)
from robot_identification.signals import process
from slow import others_slow

PANDA = load_arm('panda')
ANGLES = np.radians([1.5, -0.8])


def tilted(arm, angles):
    """Return the arm on a base rotated about x, and gravity in the frame of the base."""
    from scipy.spatial.transform import Rotation
    return arm.with_gravity(Rotation.from_rotvec([*angles, 0.0]).apply(np.array(arm.gravity)))


def samples_of(arm, seed):
    return process(closed_recording(arm, seed), arm, cutoff=8.0, decimation_cutoff=4.0)


def tilt_of(arm, samples):
    return estimate_tilt(fit_samples(arm, [samples], FitOptions(get_estimator('wls'))))


def test_tilt_is_found_within_its_interval_and_not_where_there_is_none():
    distances, alarms = [], 0
    for seed in range(6):
        _, tilt = estimate_gravity_direction(
            PANDA, [samples_of(tilted(PANDA, ANGLES), seed)], FitOptions(get_estimator('wls')))
        miss = tilt.angles - ANGLES
        distances.append(miss @ np.linalg.solve(tilt.covariance, miss))
        assert np.allclose(tilt.angles, ANGLES, atol=np.radians(0.1))
        assert tilt.significant
        alarms += tilt_of(PANDA, samples_of(PANDA, seed)).significant
    assert np.mean(np.array(distances) < 9.2) >= 0.8    # 99 % of chi-square with 2 degrees
    assert alarms == 0


def test_estimated_gravity_predicts_and_stays_in_the_model_file():
    wild = tilted(PANDA, ANGLES)
    content = {**arm_to_mapping(PANDA), 'gravity': 'estimate'}
    arm = arm_from_mapping(content, folder=Path(), label='the robot YAML')
    assert arm.estimate_gravity
    result = identify(arm, [closed_recording(wild, 0)], held_out=[closed_recording(wild, 1)])
    stated = identify(PANDA, [closed_recording(wild, 0)], held_out=[closed_recording(wild, 1)])
    assert result.verdict.held_out[0].relative_error < stated.verdict.held_out[0].relative_error
    assert np.allclose(result.model.arm.gravity, wild.gravity, atol=0.02)
    again = arm_from_mapping(arm_to_mapping(result.model.arm), folder=Path(), label='the model')
    assert np.array_equal(again.gravity, result.model.arm.gravity) and not again.estimate_gravity
    assert any('gravity was estimated' in note for note in result.verdict.notes)
    assert any('seems to be tilted' in note for note in stated.verdict.notes)


@pytest.mark.parametrize('seed', others_slow(range(3)))
def test_model_selection_takes_the_direction_only_where_it_predicts_better(seed):
    options = FitOptions(get_estimator('wls'))
    arm, tilt = choose_gravity_direction(PANDA, [samples_of(tilted(PANDA, ANGLES), seed)], options)
    assert np.allclose(tilt.angles, ANGLES, atol=np.radians(0.1))
    assert np.allclose(arm.gravity, tilted(PANDA, ANGLES).gravity, atol=0.02)
    assert choose_gravity_direction(PANDA, [samples_of(PANDA, seed)], options) == (PANDA, None)


def test_motion_that_does_not_show_it_is_refused():
    samples = samples_of(PANDA, 0)
    still = replace(samples, q=np.tile(samples.q[:1], (len(samples), 1)),
                    v=np.zeros_like(samples.v), a=np.zeros_like(samples.a),
                    tau=samples.tau + 50.0 * np.random.default_rng(0).normal(
                        size=samples.tau.shape))
    with pytest.raises(EstimationError, match='does not determine the tilt of the base'):
        estimate_gravity_direction(PANDA, [still], FitOptions(get_estimator('wls')))


def test_a_tilt_that_is_lost_while_it_is_corrected_is_not_taken(datasets, real_robot):
    """Half of a short motion: the first tilt is significant, the corrected one undetermined."""
    arm = load_arm(real_robot('kr300'))
    samples = [process(load_recording(datasets / 'kr300' / 'motion_a.npz', arm, (1250, 2501)),
                       arm).without_creep()]
    options = FitOptions(get_estimator('wls'))
    with pytest.raises(EstimationError, match='tilt of the base'):
        estimate_gravity_direction(arm, samples, options)
    kept, tilt = choose_gravity_direction(arm, samples, options)
    assert kept is arm and tilt is None
