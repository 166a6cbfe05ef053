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
"""Comparison of two identifications: changes are found, and nothing else is reported."""

from __future__ import annotations

import copy
from dataclasses import replace
import json
import subprocess
import sys

from click.testing import CliRunner
from loaded_plant import LoadedPlant
import numpy as np
import pytest
from reporting_results import chain
from robot_identification import identify, inverse_dynamics, load_arm, Recording
from robot_identification.benchmarking.simulated_data import RandomMotion
from robot_identification.changes.commands import CAUSES, comparison_page
from robot_identification.changes.comparison import compare, comparison_to_dict
from robot_identification.changes.explanations import Candidate, find_explanation, KINDS
from robot_identification.changes.joint_fit import Equations, JointFit
from robot_identification.cli.commands import app
from robot_identification.errors import ConfigurationError
from robot_identification.regression.blocked_regression import holm
from robot_identification.reporting import load_results, results_to_dict
from robot_identification.reporting.plot_data import plot_data
from robot_identification.reporting.results_files import StoredResults
from scipy.signal import lfilter
from slow import others_slow

ARM = chain(['one', 'two', 'three'])
NAMES = ('May', 'June')


def stored(seed, friction='coulomb_viscous', **changes):
    """Return an identification from a closed-form motion, without a folder."""
    result = identified_motion(seed, friction, **changes)
    return StoredResults(results_to_dict(result), plot_data(result))


def identified_motion(seed, friction='coulomb_viscous', *, coulomb=(0.4, 0.4, 0.4), gripper=0.0,
                      viscous=(0.3, 0.3, 0.3), body=None, motion=None, seconds=8.0):
    """Return an identification from a closed-form motion; the wrist may carry a payload."""
    rng = np.random.default_rng(seed if motion is None else motion)
    t = np.arange(0, seconds, 0.005)[:, None]
    w = 2 * np.pi * 0.25 * np.arange(1, 5)[:, None, None]
    size, phase = rng.normal(size=(4, 1, 3)) / 2, rng.uniform(0, 6, (4, 1, 3))
    q, v, a = (np.sum(size * w ** k * wave(w * t + phase), axis=0)
               for k, wave in enumerate((np.sin, np.cos, lambda x: -np.sin(x))))
    inertial = np.array(ARM.inertial_parameters)
    if body is not None:
        inertial[2, :4] += body
    rng = np.random.default_rng([seed, 1])
    tau = (inverse_dynamics(ARM, q, v, a, inertial) + np.array(coulomb) * np.sign(v)
           + np.array(viscous) * v)
    tau[:, 2] += gripper * a[:, 2]
    tau += rng.normal(0, 0.05, tau.shape)
    return identify(ARM, [Recording(t[:, 0], q, tau, joint_names=ARM.joint_names)],
                    friction=friction)


@pytest.fixture(scope='module')
def may():
    return stored(1)


def test_an_arm_that_did_not_change_is_not_called_changed(may):
    found = compare(may, stored(2), NAMES)
    assert not found.changed and found.verdict == 'unchanged'
    assert 'No significant change' in found.headline
    assert len(found.parameters) == len(may.content['base_parameters'])


def test_worn_friction_and_a_heavier_wrist_are_found_at_their_joints(may):
    found = compare(may, stored(2, coulomb=(0.4, 0.6, 0.4), gripper=0.05), NAMES)
    joints = found.joints
    assert any('coulomb' in name for name in joints['two'])
    assert 'three' in joints and 'one' not in joints
    change = next(c for c in found.changed if c.label.startswith('two.coulomb'))
    assert change.difference == pytest.approx(0.2, abs=4 * change.difference_std)
    worn = next(each for each in found.friction if each.actuator == 'two')
    np.testing.assert_allclose(worn.torques[1] - worn.torques[0], 0.2, atol=0.05)
    assert 'two: ' in found.headline and found.verdict == 'changed'
    page = comparison_page(found)
    assert page.count('class="figure"') == 3 and found.headline in page
    assert json.loads(json.dumps(comparison_to_dict(found)['changed']))


def test_holms_procedure_by_hand():
    np.testing.assert_allclose(holm(np.array([0.01, 0.04, 0.03, 0.9])), [0.04, 0.09, 0.09, 0.9])
    assert holm(np.array([0.5, 0.6])).max() == 1.0


def test_one_in_twenty_pairs_of_an_unchanged_arm_is_called_changed():
    """Holm's correction over all parameters, tested on draws of 30 normal variables."""
    from scipy.stats import norm
    draws = np.random.default_rng(0).normal(size=(2000, 30))
    wrong = sum(holm(2 * norm.sf(np.abs(row))).min() < 0.05 for row in draws)
    assert 60 < wrong < 140


def test_what_does_not_compare_is_said(may):
    other = StoredResults(copy.deepcopy(dict(may.content)), may.arrays)
    other.content['friction']['model'] = 'coulomb + viscous + atan'
    other.content['arm']['urdf_sha256'] = 'x'
    notes = ' '.join(compare(may, other, NAMES).notes)
    assert 'friction models differ' in notes and 'different URDFs' in notes
    assert 'not compared' in notes and 'was not validated' in notes
    assert not any('coulomb' in c.label for c in compare(may, other, NAMES).parameters)
    other.content['arm']['joints'] = ['a', 'b', 'c']
    with pytest.raises(ConfigurationError, match='identifications of one arm'):
        compare(may, other, NAMES)


def test_the_command_reads_folders_and_writes_a_page(tmp_path):
    from reporting_results import identified
    result = identified(chain(['one', 'two']), held_out=())
    result.save(tmp_path / 'a')
    result.save(tmp_path / 'b')
    done = CliRunner().invoke(app, ['compare', str(tmp_path / 'a'),
                                    str(tmp_path / 'b' / 'model.yaml'),
                                    '--report', str(tmp_path / 'page.html'), '--json'])
    assert done.exit_code == 0, done.exception
    assert json.loads(done.stdout)['changed'] == []
    assert '<h1>' in (tmp_path / 'page.html').read_text()
    done = CliRunner().invoke(app, ['compare', str(tmp_path / 'a'), str(tmp_path / 'b')])
    assert 'No significant change' in done.stdout
    done = CliRunner().invoke(app, ['compare', str(tmp_path / 'a'), str(tmp_path)])
    assert "no 'results.json'" in str(done.exception)
    without_dask = subprocess.run([sys.executable, '-c', """
import sys
sys.modules |= dict.fromkeys(('dask', 'distributed', 'fsspec', 'pandas', 'pyarrow'))
from robot_identification.cli import main
main()
""", 'compare', str(tmp_path / 'a'), str(tmp_path / 'b')], capture_output=True, text=True)
    assert 'No significant change' in without_dask.stdout, without_dask.stderr


@pytest.fixture(scope='module')
def compared(tmp_path_factory):
    """Return a function that compares a reference with an identification after changes."""
    folder = tmp_path_factory.mktemp('folders')

    def results(seed, motion, **changes):
        path = folder / f'{seed}_{motion}_{len(list(folder.iterdir()))}'
        identified_motion(seed, motion=motion, seconds=20.0, **changes).save(path)
        return load_results(path)

    before = results(0, 100)
    return lambda seed, motion, **changes: compare(before, results(seed, motion, **changes), NAMES)


@pytest.mark.parametrize('motion', others_slow([101, 100]))
def test_an_arm_that_did_not_change_is_unchanged_in_most_pairs(compared, motion):
    found = [compared(seed, motion) for seed in range(1, 6)]
    assert sum(each.verdict != 'unchanged' for each in found) <= 1
    assert all(each.same_motion == (motion == 100) and each.predicts for each in found)
    assert 'would have been found' in next(
        each.headline for each in found if each.verdict == 'unchanged')


@pytest.mark.parametrize('motion', others_slow([101, 100]))
def test_worn_friction_is_the_explanation(compared, motion):
    for seed in (11, 12):
        found = compared(seed, motion, coulomb=(0.4, 0.6, 0.4), viscous=(0.3, 0.45, 0.3))
        change, = found.explanation.changes
        assert (change.kind, change.subject) == ('friction', 'two')
        assert change.size == pytest.approx(0.5, abs=2 * change.half_width)
        assert found.headline.startswith('Friction of two rose by ')


@pytest.mark.parametrize('motion', others_slow([101, 100]))
def test_a_body_at_the_last_link_is_the_explanation(compared, motion):
    for seed in (14, 15):
        found = compared(seed, motion, body=0.3 * np.array([1.0, 0.05, 0.0, 0.02]))
        change, = found.explanation.changes
        assert (change.kind, change.subject) == ('body', 'three')
        assert change.size == pytest.approx(0.3, abs=2 * change.half_width)
        assert 'kg were added at three; friction unchanged.' in found.headline
        content = comparison_to_dict(found)
        assert content['verdict'] == 'explained' and content['headline'] == found.headline
        cause, = json.loads(json.dumps(content))['explanation']['causes']
        assert cause['kind'] == 'body' and cause['size'] == change.size
        page = comparison_page(found)
        assert found.headline in page and 'Explanations that were tried' in page


def test_a_fit_of_two_recordings_is_least_squares_with_a_jackknife():
    """The coefficients are those of lstsq, and their intervals hold for correlated errors."""
    rng, inside = np.random.default_rng(0), 0
    for _ in range(100):
        x, y = rng.normal(size=(2, 400, 2, 3)), rng.normal(size=(2, 400, 2, 2))
        target = x @ [1.0, 2.0, 3.0] + rng.normal(size=(2, 40, 1, 2)).repeat(10, 2).reshape(
            2, 400, 2)
        y[0] = 0
        y[1] = y[1, ::10].repeat(10, axis=0)
        target[1] += y[1] @ [0.5, -0.5]
        used, blocks = np.ones((400, 2), dtype=bool), np.arange(400) // 20
        fit = JointFit.of([Equations(target[k], x[k], y[k], used, blocks) for k in range(2)],
                          fitted=[0, 1])
        effect = fit.estimate([0, 1])
        weighted = np.concatenate([np.concatenate([x, y], axis=3), target[..., None]],
                                  axis=3) / fit.noise[:, None]
        rows = weighted.reshape(-1, 6)
        np.testing.assert_allclose(effect.values,
                                   np.linalg.lstsq(rows[:, :5], rows[:, 5])[0][3:], atol=1e-6)
        inside += int(np.sum(np.abs(effect.values - [0.5, -0.5]) < 2.02 * effect.deviations))
    assert 176 <= inside <= 200


def test_intervals_count_errors_that_outlast_a_block():
    """The deviation of a constant is that of correlated errors, also between blocks of 1 s."""
    rng, keep = np.random.default_rng(1), np.exp(-1 / 5)    # correlated over 0.2 s at 25 Hz
    values, variances = [], []
    for _ in range(400):
        errors = lfilter([1.0], [1, -keep], rng.normal(size=(850, 1)), axis=0)[100:]
        equations = Equations(errors, np.zeros((750, 1, 0)), np.ones((750, 1, 1)),
                              np.ones((750, 1), dtype=bool), np.arange(750) // 25)
        effect = JointFit.of([equations], [0]).estimate([0])
        values.append(effect.values[0])
        variances.append(effect.covariance[0, 0])
    exact = (1 + keep) / (1 - keep) / (1 - keep ** 2) / 750    # of a mean of many rows
    assert abs(np.var(values) / exact - 1) < 0.25
    assert abs(np.mean(variances) / exact - 1) < 0.08


def test_the_jackknife_beside_many_columns_is_unbiased():
    """Nine blocks and thirty columns in common: left-out blocks determine much."""
    rng, errors = np.random.default_rng(0), []
    columns = rng.normal(size=(90, 1, 30))
    effects = np.linspace(0, 1, 90)[:, None, None] ** 2
    for _ in range(400):
        fit = JointFit.of([Equations(rng.normal(size=(90, 1)), columns, effects,
                                     np.ones((90, 1), bool), np.repeat(np.arange(9), 10))], [0])
        each = [fit.estimate([0], unbiased=unbiased) for unbiased in (False, True)]
        errors.append([each[0].values[0] ** 2, *(one.covariance[0, 0] for one in each)])
    true, plain, unbiased = np.mean(errors, axis=0)
    assert plain > 1.3 * true and unbiased == pytest.approx(true, rel=0.15)


@pytest.mark.slow
def test_changes_of_the_stated_size_are_found_nine_times_out_of_ten():
    """A body with a small lever, a friction and a tilt in a random direction."""
    rng, draws = np.random.default_rng(3), 80
    candidates = [Candidate('body', 'two', 'kg', (0, 1, 2, 3)),
                  Candidate('friction', 'one', '%', (4,)),
                  Candidate('tilt', '', 'degrees', (5, 6))]
    sensors, found, wrong = np.zeros(2), np.zeros(3, dtype=int), 0
    for _ in range(draws):
        equations = Equations(rng.normal(size=(600, 2)), np.zeros((600, 2, 0)),
                              rng.normal(size=(600, 2, 7)), np.ones((600, 2), dtype=bool),
                              np.arange(600) // 25)
        nothing = find_explanation([equations], candidates, sensors)
        angle = rng.uniform(0, 2 * np.pi)
        wrong += bool(nothing.changes)
        for k, (candidate, direction) in enumerate(zip(candidates, (
                [1.0, 0.0, 0.0, 0.03], [1.0], [np.cos(angle), np.sin(angle)]))):
            change = np.zeros(7)
            change[list(candidate.columns)] = np.array(
                direction) * nothing.considered[k].detectable
            changed = replace(equations, target=equations.target + equations.effects @ change)
            found[k] += bool(find_explanation([changed], candidates, sensors).changes)
    assert wrong <= 8
    assert np.all(found >= 0.8 * draws) and np.all(found[1:] < draws)


def test_the_interval_of_a_relative_change_contains_that_of_the_friction_before():
    """A friction of 30 % more is known no better than the friction of which it is 30 %."""
    rng = np.random.default_rng(4)
    columns = rng.normal(size=(600, 1, 1))
    equations = [Equations(0.3 * columns[:, :, 0] + 1e-3 * rng.normal(size=(600, 1)),
                           np.zeros((600, 1, 0)), columns, np.ones((600, 1), dtype=bool),
                           np.arange(600) // 25)]
    widths = [find_explanation(equations, [Candidate('friction', 'one', '%', (0,), doubt=doubt)],
                               np.zeros(1)).changes[0].half_width
              for doubt in (0.0, 0.05)]
    assert widths[0] < 1e-3 and widths[1] == pytest.approx(1.96 * 0.05 * 0.3, rel=0.01)


@pytest.mark.slow
def test_friction_that_grows_with_the_load_of_a_body_is_not_named_beside_it(tmp_path):
    arm, found = load_arm('xarm7'), []
    motion = RandomMotion(arm, 10.0, np.random.default_rng([1003, 0]))
    for number in (0, 5):
        plant = LoadedPlant(arm, 1003)
        if number:
            plant.carry(0.3, np.array([0.02, 0.01, 0.08]))
        plant.reseed(1003, number)
        identify(arm, plant.repeat(motion, 3)).save(tmp_path / str(number))
        found.append(load_results(tmp_path / str(number)))
    changes = compare(*found, NAMES).explanation.changes
    assert [each.kind for each in changes] == ['body']
    assert abs(changes[0].size - 0.3) < changes[0].half_width


def test_every_kind_of_change_has_a_next_step():
    assert set(CAUSES) == set(KINDS)


def test_a_result_beside_itself_claims_no_power(tmp_path):
    identified_motion(0).save(tmp_path / 'one')
    one = load_results(tmp_path / 'one')
    comparison = compare(one, one, ('one', 'again'))
    assert comparison.verdict == 'unchanged' and comparison.explanation is None
    assert 'both results are the same identification, so nothing can differ' in comparison.notes
