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
"""Identification of simulated arms that differ from their URDF, and of recordings of real arms."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from robot_identification import identify, load_arm, load_model, load_recording, validate
from robot_identification.errors import EstimationError, RecordingError, UnknownNameError
from robot_identification.validation.validate_model import prediction_csv
from scipy import signal

UR10E = {'fit': ('ur10e/fourier_30s_12harmonics.npz', (635, 3510)),
         'check': ('ur10e/fourier_40s_12harmonics.npz', (500, 4460))}
GAINS = ('14.87', '13.26', '11.13', '10.62', '11.03', '11.47')


def low_pass(x, rate, cutoff=7.5):
    """Filter like score.py, with half a second cut off at each end."""
    sos = signal.butter(4, cutoff, fs=rate, output='sos')
    cut = round(rate / 2)
    return signal.sosfiltfilt(sos, x, axis=0)[cut:-cut]


@pytest.mark.parametrize('name', ['panda', 'ur10'])
def test_mismatched_plant(simulated, name):
    """
    From one excitation of 20 s: errors of held-out torques and of the mass matrix.

    Torques are predicted from the noisy held-out recording and compared with the noise-free
    torque of the plant, after the low-pass of score.py. The unfiltered error is mostly the static
    friction of joints that stick, which no model of this kind predicts.
    """
    runs = simulated(name)
    result = identify(runs.arm, [runs.run.recording], held_out=[runs.check.recording])
    assert result.verdict.passed
    validation = validate(result.model, runs.check.recording)
    rows = np.searchsorted(runs.check.recording.t, validation.t)
    clean, found = (low_pass(x, 1000.0) for x in (runs.check.torque[rows], validation.torque))
    assert np.linalg.norm(found - clean) < 0.025 * np.linalg.norm(clean)
    assert np.all(np.linalg.norm(found - clean, axis=0) < 0.06 * np.linalg.norm(clean, axis=0))

    rng = np.random.default_rng(3)
    limits = runs.arm.limits
    q = rng.uniform(np.maximum(limits.lower, -np.pi), np.minimum(limits.upper, np.pi),
                    size=(50, runs.arm.n))
    truth, ours, urdf = (runs.plant.mass_matrix(q), result.model.mass_matrix(q),
                         np.array([_urdf_mass(runs.arm, x) for x in q]))
    sizes = np.linalg.norm(truth, axis=(1, 2))
    assert np.mean(np.linalg.norm(ours - truth, axis=(1, 2)) / sizes) < 0.03
    # the URDF, which is the prior, is far from the truth
    assert np.mean(np.linalg.norm(urdf - truth, axis=(1, 2)) / sizes) > 0.1


def _urdf_mass(arm, q):
    import pinocchio as pin
    mass = pin.crba(arm.model, arm.model.createData(), q)
    return np.triu(mass) + np.triu(mass, 1).T


def test_a_repeat_cannot_pass(simulated):
    runs = simulated('panda')
    result = identify(runs.arm, [runs.run.recording], held_out=[runs.run.recording])
    assert result.verdict.held_out[0].repeat
    assert not result.verdict.passed
    assert not validate(result.model, runs.run.recording).verdict.passed


def test_wrong_names_and_nothing_to_fit(simulated):
    runs = simulated('panda')
    with pytest.raises(UnknownNameError, match='there is no estimator'):
        identify(runs.arm, [runs.run.recording], estimator='wsl')
    with pytest.raises(UnknownNameError, match='there is no friction model'):
        identify(runs.arm, [runs.run.recording], friction='glue')
    with pytest.raises(EstimationError, match='no recording'):
        identify(runs.arm, [])
    with pytest.raises(RecordingError, match='panda_joint1'):
        identify(runs.arm, [runs.run.recording.select(runs.arm.joint_names[1:])])


def score(datasets, tmp_path, model, kind, *options):
    """Return the result of score.py for a model's prediction."""
    name, window = UR10E[kind]
    recording = load_recording(datasets / name, model.arm, window)
    validation = validate(model, recording)
    csv = tmp_path / 'predicted.csv'
    csv.write_text(prediction_csv(validation.t, validation.torque, model.arm.joint_names))
    done = subprocess.run(
        [sys.executable, datasets.parent / 'score.py', datasets / name, csv, '--window',
         *map(str, window), '--gains', *GAINS], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)['filtered']['overall']


def test_ur10e(datasets, real_robot, tmp_path):
    """Held out on the motion of 40 s: the plain baseline has 4.4 to 4.6 %, required are 4.2 %."""
    arm = load_arm(real_robot('ur10e'))
    fit = load_recording(datasets / UR10E['fit'][0], arm, UR10E['fit'][1])
    scores = {}
    for estimator in ('ols', 'wls'):
        result = identify(arm, [fit], estimator)
        result.model.save(tmp_path / 'model.yaml')
        scores[estimator] = score(datasets, tmp_path, load_model(tmp_path / 'model.yaml'), 'check')
    assert scores['wls'] <= 0.042
    assert scores['wls'] <= scores['ols']


def test_emps(datasets, real_robot):
    """M = 95.1 kg as the sum of mass and motor inertia; Fv 203.5, Fc 20.4, offset -3.16."""
    arm = load_arm(real_robot('emps'))
    result = identify(arm, [datasets / 'emps' / 'emps.npz'])
    estimate = result.estimate
    assert estimate.names[0] == 'slide.m + slide.rotor_inertia'
    assert estimate.values == pytest.approx([95.1, 20.4, 203.5, -3.16], rel=0.01)
    inertia = result.model.inertial[0, 0] + result.model.rotor_inertia[0]
    assert inertia == pytest.approx(95.1, rel=0.01)


def test_tx40_with_its_coupling(datasets, real_robot):
    arm = load_arm(real_robot('tx40'))
    assert arm.actuator_names[-1] == 'joint_5+joint_6'
    recording = load_recording(datasets / 'tx40' / 'excitation_9s.npz', arm)
    result = identify(arm, [recording])
    validation = validate(result.model, recording)
    rows = np.searchsorted(recording.t, validation.t)
    measured = low_pass(recording.joint_torque(arm)[rows], 5000.0)
    found = low_pass(validation.torque, 5000.0)
    assert np.linalg.norm(found - measured) < 0.075 * np.linalg.norm(measured)
    assert np.all(result.consistent.certificate > 0)


def test_lwr4_left_out_phases(datasets, real_robot):
    """
    Phase blocks held out of all periods: at most 1.1 times the error of OLS, and feasible.

    On another, faster motion OLS fails, which consistency and the prior prevent.
    """
    import dataclasses

    from robot_identification.estimation import fit_consistent, get_estimator
    from robot_identification.regression import build_regression
    from robot_identification.signals import process
    arm = load_arm(real_robot('lwr4'))
    samples = process(load_recording(datasets / 'lwr4' / 'measurement_1.npz', arm, (500, 5027)),
                      arm)
    phase = (samples.t - samples.t[0]) % 12.575 / 12.575
    total = np.zeros(2)
    for block in range(5):
        parts = [dataclasses.replace(samples,
                                     segments=runs((phase * 5).astype(int) == block, keep))
                 for keep in (False, True)]
        fit, check = (build_regression(arm, [part]) for part in parts)
        consistent = fit_consistent(fit, get_estimator('wls').fit(fit))
        assert np.all(consistent.certificate > 0)
        total += [check.normal.rss(fit.base.project(consistent.values)).sum(),
                  check.normal.rss(get_estimator('ols').fit(fit).values).sum()]
    assert np.sqrt(total[0] / total[1]) < 1.1


def runs(mask, keep):
    """Return slices of at least 400 samples where the mask is `keep`."""
    edges = np.flatnonzero(np.diff(np.r_[0, (mask == keep).astype(int), 0]))
    return tuple(slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2]) if b - a > 400)
