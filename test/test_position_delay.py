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
"""Delays of positions: each encoder has its own delay against all torques."""

import dataclasses

from click.testing import CliRunner
from motions import excitation_of
import numpy as np
import pytest
from rich.console import Console
from robot_identification import identify, inverse_dynamics, load_model, Recording, validate
from robot_identification.arm import load_arm
from robot_identification.cli.commands import app
from robot_identification.dynamics import get_friction
from robot_identification.errors import ConfigurationError, ModelFileError
from robot_identification.estimation import fit_samples, FitOptions, get_estimator
from robot_identification.reporting import load_results, save_results
from robot_identification.reporting.terminal_summary import summary
from robot_identification.signals import process
from scipy import stats
from slow import others_slow
import yaml

LAGS = np.array([0.004, 0.002, 0.006])
RATE = 250.0
SEEDS = 6
INSTANTS = (np.arange(16) + 0.5) / 16 - 0.5


def late_recording(seed, motion='er16_10s', noise=0.01):
    """Return a recording of an arm as its URDF says, with late encoders; torques are means."""
    arm, rng = load_arm('er16'), np.random.default_rng(seed)
    path, rated = excitation_of(motion, arm).trajectory, arm.limits.torque
    t = np.arange(0, float(motion.split('_')[1][:-1]), 1 / RATE)
    tau = noise * rated * rng.normal(size=(len(t), arm.n))
    for part in INSTANTS:
        q, v, a = path.evaluate(t + part / RATE)[:3]
        friction = rated * (0.08 * np.sign(v) + 0.03 * v)
        tau += (inverse_dynamics(arm, q, v, a) + friction) / len(INSTANTS)
    q = np.column_stack([path.evaluate(t - lag)[0][:, j] for j, lag in enumerate(LAGS)])
    return Recording(t, q + 1e-5 * rng.normal(size=q.shape), tau, joint_names=arm.joint_names,
                     name=motion)


@pytest.mark.parametrize('estimator', others_slow(['wls', 'huber']))
def test_delays_of_4_2_and_6_ms_lie_within_their_intervals_over_the_seeds(estimator):
    arm, errors = load_arm('er16'), []
    for seed in range(SEEDS):
        samples = process(late_recording(seed), arm)
        found = fit_samples(arm, [samples], FitOptions(
            get_estimator(estimator), delay='positions')).delay
        assert found.of == 'positions'
        errors.append((found.values - LAGS) / found.deviations)
        assert np.all(found.deviations < 1.5e-3)
    assert (stats.chi2.ppf(0.001, 3 * SEEDS) < np.sum(np.square(errors))
            < stats.chi2.ppf(0.999, 3 * SEEDS))


def test_quiet_torques_give_delays_of_a_tenth_of_a_millisecond_between_samples():
    arm = load_arm('er16')
    found = fit_samples(arm, [process(late_recording(0, noise=1e-3), arm)],
                        FitOptions(get_estimator('wls'), delay='positions')).delay
    np.testing.assert_allclose(found.values, LAGS, atol=4e-4)
    assert np.all(found.deviations < 4e-4)


@pytest.fixture(scope='module')
def result():
    return identify(load_arm('er16'), [late_recording(0)], held_out=[late_recording(1, 'er16_8s')],
                    delay='positions')


def test_the_model_file_says_whose_delays_they_are_and_predicts_with_them(result, tmp_path):
    save_results(result, tmp_path / 'out')
    model = load_model(tmp_path / 'out' / 'model.yaml')
    assert model.delay_of == 'positions'
    np.testing.assert_array_equal(model.delay, result.model.delay)
    other = late_recording(2, 'er16_8s')
    found = validate(model, other)
    again = validate(result.model, other)
    np.testing.assert_array_equal(found.torque, again.torque)
    plain = identify(model.arm, [late_recording(0)])
    for estimate in (result.fitted[0], found.verdict.held_out[0]):
        assert estimate.relative_error < 0.02

    def missed(model):
        prediction = validate(model, other)
        rows = slice(100, -100)
        measured = np.column_stack([np.interp(prediction.t, other.t, c) for c in other.tau.T])
        return np.linalg.norm((measured - prediction.torque)[rows])
    assert missed(model) < missed(plain.model)
    stored = load_results(tmp_path / 'out').content
    assert stored['delay']['of'] == 'positions'
    page = (tmp_path / 'out' / 'report.html').read_text()
    assert 'its position is shifted relative to the torques of all joints' in page
    console = Console(record=True, width=120)
    console.print(summary(result, tmp_path))
    assert console.export_text()


def test_files_without_the_word_have_delays_of_torques(result, tmp_path):
    result.model.save(tmp_path / 'model.yaml')
    content = yaml.safe_load((tmp_path / 'model.yaml').read_text())
    del content['digest'], content['delay_of']
    (tmp_path / 'old.yaml').write_text(yaml.safe_dump(content))
    assert load_model(tmp_path / 'old.yaml').delay_of == 'torques'
    content['delay_of'] = 'encoders'
    (tmp_path / 'odd.yaml').write_text(yaml.safe_dump(content))
    with pytest.raises(ModelFileError, match="torques or positions, not 'encoders'"):
        load_model(tmp_path / 'odd.yaml')
    with pytest.raises(ConfigurationError, match="not 'encoders'"):
        FitOptions(get_estimator('wls'), delay='encoders')
    assert [FitOptions(get_estimator('wls'), delay=x).delay for x in (True, False)] == [
        'torques', '']


def test_friction_that_remembers_and_depends_on_load_has_delays_of_positions_too():
    arm = load_arm('er16')
    friction = 'coulomb + viscous + load + slip + offset'
    fit = fit_samples(arm, [process(late_recording(3), arm)], FitOptions(
        get_estimator('wls'), friction, 'positions',
        shape=np.full((3, len(get_friction(friction).nonlinear)), 1e-3)))
    assert np.all(np.abs(fit.delay.values - LAGS) < 4 * fit.delay.deviations)


def test_what_rests_keeps_its_zero_velocity_where_positions_are_moved():
    arm = load_arm('er16')
    samples = process(late_recording(0), arm)
    states = {name: np.array(getattr(samples, name)) for name in 'va'}
    for values in states.values():
        values[500:600, 1] = 0.0
    still = dataclasses.replace(samples, **states).moved(LAGS)
    assert np.all(still.v[500:599, 1] == 0) and np.all(still.a[500:599, 1] == 0)
    assert np.all(still.v[505:595, 0] != 0)
    np.testing.assert_array_equal(samples.moved(np.zeros(3)).q, samples.q)
    path = excitation_of('er16_10s', arm).trajectory
    inner = slice(300, -300)
    np.testing.assert_allclose(samples.moved(LAGS).q[inner],
                               path.evaluate(samples.t[inner])[0], atol=2e-5)


def test_the_command_line_asks_for_delays_of_positions(tmp_path):
    recording = late_recording(0)
    header = ','.join(['t', *(f'{kind}_{j}' for kind in ('q', 'tau')
                              for j in recording.joint_names)])
    np.savetxt(tmp_path / 'run.csv', np.column_stack([recording.t, recording.q, recording.tau]),
               delimiter=',', header=header, comments='')
    words = ['identify', 'er16', str(tmp_path / 'run.csv'), '-o', str(tmp_path / 'out')]
    run = CliRunner().invoke(app, [*words, '--delay-of', 'positions'])
    assert run.exit_code in (0, 1), run.output
    assert load_model(tmp_path / 'out' / 'model.yaml').delay_of == 'positions'
    for more, text in ((['--delay-of', 'encoders'], "not 'encoders'"),
                       (['--delay-of', 'positions', '--no-delay'], 'contradict each other')):
        refused = CliRunner().invoke(app, [*words, *more, '--force'])
        assert isinstance(refused.exception, ConfigurationError) and text in str(refused.exception)
