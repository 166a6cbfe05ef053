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
"""Result files: complete and exact, or not written at all."""

from __future__ import annotations

import csv
import functools
import json
import shutil

import numpy as np
import pinocchio as pin
import pytest
from reporting_results import chain, EVIL_XML, identified, rank_deficient
from robot_identification import load_model
from robot_identification.errors import ConfigurationError, ExcitationError, ModelFileError
from robot_identification.reporting import load_results, results_files, save_results, write_report
from robot_identification.reporting.plot_data import envelope, MAX_POINTS
from robot_identification.reporting.results_dict import body_properties

NAMES = {'model.yaml', 'identified.urdf', 'results.json', 'plots.npz', 'base_parameters.csv',
         'report.html'}


@pytest.fixture(scope='module')
def result():
    return identified(chain([EVIL_XML, 'slide', 'last'], prismatic=(1,)))


@pytest.fixture(scope='module')
def stored(result, tmp_path_factory):
    return save_results(result, tmp_path_factory.mktemp('runs') / 'first')


@pytest.fixture
def folder(stored, tmp_path):
    return shutil.copytree(stored, tmp_path / 'copy')


def content_of(directory):
    def refuse(word):
        raise AssertionError(f'{word} is not JSON')
    return json.loads((directory / 'results.json').read_text(encoding='utf-8'),
                      parse_constant=refuse)


def test_all_files_are_there_and_nothing_else(stored):
    assert {path.name for path in stored.iterdir()} == NAMES
    assert [path.name for path in stored.parent.iterdir()] == ['first']


def test_model_file_predicts_like_the_result(result, stored):
    model = load_model(stored / 'model.yaml')
    q = np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_array_equal(model.torque(q, q, q), result.model.torque(q, q, q))


def test_results_say_what_the_result_says(result, stored):
    content = content_of(stored)
    estimate, consistent = result.estimate, result.consistent
    assert content['verdict']['passed'] == result.verdict.passed
    held_out = content['verdict']['held_out'][0]
    assert held_out['relative_error'] == result.verdict.held_out[0].relative_error
    joints = result.verdict.held_out[0].joints
    assert {j: e['rmse'] for j, e in held_out['joints'].items()} == {
        j: e.rmse for j, e in joints.items()}
    assert [e['unit'] for e in held_out['joints'].values()] == ['N m', 'N', 'N m']
    base = content['base_parameters']
    assert [p['value'] for p in base] == estimate.values.tolist()
    assert [p['std'] for p in base] == estimate.standard_deviations.tolist()
    assert [[p['lower'], p['upper']] for p in base] == estimate.confidence_interval().tolist()
    np.testing.assert_array_equal([p['model'] for p in base],
                                  estimate.base.project(consistent.values))
    standard = content['standard_parameters']
    assert [p['value'] for p in standard] == consistent.values.tolist()
    assert [p['urdf'] for p in standard[:30]] == result.arm.inertial_parameters.ravel().tolist()
    assert {p['identifiability'] for p in standard} == {'alone', 'combination', 'none'}
    assert [link['certificate'] for link in content['links']] == consistent.certificate.tolist()
    assert min(consistent.certificate) > 0
    cost = f'physical consistency costs {content["consistent"]["cost"]:.1%}'
    assert any(cost in note for note in content['verdict']['notes'])
    assert list(content['friction']['elements']) == list(result.arm.actuator_names)
    assert content['friction']['elements']['slide']['rotor_inertia']['unit'] == 'kg'


def test_what_is_not_known_is_null(result, stored):
    content = content_of(stored)
    assert content['arm']['limits']['acceleration'] == [None] * 3
    assert content['motion']['usage']['acceleration'] == [None] * 3
    used = content['motion']['usage']['velocity']
    np.testing.assert_allclose(used, np.abs(result.training[0].v).max(axis=0) / 5)
    by_name = {p['name']: p for p in content['standard_parameters']}
    assert by_name['last.coulomb']['urdf'] is None
    friction = next(p for p in content['base_parameters'] if p['label'] == 'last.coulomb')
    assert friction['urdf'] is None


def test_urdf_values_of_base_parameters_leave_out_what_is_unknown(result, stored):
    base = result.estimate.base
    standard = np.zeros(base.matrix.shape[1])
    standard[:30] = result.arm.inertial_parameters.ravel()
    expected = base.project(standard)
    for p, value in zip(content_of(stored)['base_parameters'], expected):
        assert p['urdf'] is None or p['urdf'] == pytest.approx(value, abs=1e-15)


def test_undetermined_parameter_has_no_interval(result, tmp_path):
    directory = save_results(rank_deficient(result), tmp_path / 'out')
    parameter = content_of(directory)['base_parameters'][1]
    assert (parameter['std'], parameter['lower'], parameter['upper']) == (None, None, None)
    row = list(csv.DictReader((directory / 'base_parameters.csv').open()))[1]
    assert row['std'] == '' and float(row['value']) == parameter['value']


def test_table_of_base_parameters_is_exact(result, stored):
    rows = list(csv.DictReader((stored / 'base_parameters.csv').open(encoding='utf-8')))
    assert [row['label'] for row in rows] == list(result.estimate.labels)
    assert [float(row['value']) for row in rows] == result.estimate.values.tolist()
    assert [row['combination'] for row in rows] == list(result.estimate.names)


def test_body_agrees_with_pinocchio():
    inertia = pin.Inertia.Random()
    described = body_properties(inertia.toDynamicParameters())
    assert described['mass'] == pytest.approx(inertia.mass)
    np.testing.assert_allclose(described['com'], inertia.lever, atol=1e-12)
    for name, value in described['inertia'].items():
        i, j = ('xyz'.index(x) for x in name[1:])
        assert value == pytest.approx(inertia.inertia[i, j], abs=1e-12)


@pytest.mark.parametrize('count', [10, MAX_POINTS, MAX_POINTS + 1, 50_000])
def test_thinning_keeps_every_extreme(count):
    rng = np.random.default_rng(count)
    signals = rng.standard_cauchy(size=(count, 3))
    rows = envelope(signals)
    assert len(rows) <= max(MAX_POINTS + 2, 1) and np.all(np.diff(rows) > 0)
    assert (rows[0], rows[-1]) == (0, count - 1)
    np.testing.assert_array_equal(signals[rows].max(axis=0), signals.max(axis=0))
    np.testing.assert_array_equal(signals[rows].min(axis=0), signals.min(axis=0))


def test_friction_data_lie_on_the_curve_when_the_model_is_right(stored):
    arrays = load_results(stored).arrays
    for e in range(3):
        curve, bins = arrays[f'friction_{e}_curve'], arrays[f'friction_{e}_bins']
        away = np.abs(bins[0]) > 0.1 * curve[0].max()
        difference = bins[1] - np.interp(bins[0], *curve)
        assert np.abs(difference[away]).max() < 0.15


def test_standard_deviation_of_a_friction_curve_follows_from_the_covariance(stored, result):
    arrays = load_results(stored).arrays
    names = result.consistent.structure.names
    for e, joint in enumerate(result.arm.joint_names):
        own = [names.index(f'{joint}.{each}') for each in ('coulomb', 'viscous', 'offset')]
        v = arrays[f'friction_{e}_curve'][0]
        columns = np.column_stack([np.sign(v), v, np.ones(len(v))])
        covariance = result.consistent.covariance[np.ix_(own, own)]
        np.testing.assert_allclose(
            arrays[f'friction_{e}_std'] ** 2, [x @ covariance @ x for x in columns], rtol=1e-9)


def test_other_files_stay_and_own_files_are_replaced(result, folder):
    (folder / 'notes.txt').write_text('mine')
    (folder / 'model.yaml').write_text('old')
    save_results(result, folder)
    assert (folder / 'notes.txt').read_text() == 'mine'
    assert load_model(folder / 'model.yaml').arm.name == result.arm.name
    assert {path.name for path in folder.iterdir()} == NAMES | {'notes.txt'}
    assert len(list(folder.parent.iterdir())) == 1


def test_failure_while_writing_changes_nothing(result, folder, monkeypatch):
    def fail(directory):
        raise ModelFileError('no')
    monkeypatch.setattr(results_files, 'write_report', fail)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for target in (folder, folder.parent / 'new'):
        with pytest.raises(ModelFileError):
            save_results(result, target)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in folder.parent.iterdir()] == ['copy']


def test_a_file_is_not_a_directory(result, tmp_path):
    (tmp_path / 'x').write_text('')
    with pytest.raises(ConfigurationError, match='is a file'):
        save_results(result, tmp_path / 'x')


def test_excitation_of_another_arm_is_refused(result, tmp_path):
    class Other:

        def check_arm(self, arm):
            raise ExcitationError('another arm')
    with pytest.raises(ExcitationError):
        save_results(result, tmp_path / 'out', excitation=Other())
    assert not list(tmp_path.iterdir())


def test_report_is_made_again_from_the_files_alone(folder):
    before = (folder / 'report.html').read_bytes()
    (folder / 'report.html').unlink()
    assert write_report(folder) == folder / 'report.html'
    assert (folder / 'report.html').read_bytes() == before


def test_missing_directory_and_files_are_named(folder, tmp_path):
    with pytest.raises(ModelFileError, match=r"no 'results\.json' in .*nowhere"):
        write_report(tmp_path / 'nowhere')
    for name in ('plots.npz', 'results.json'):
        (folder / name).unlink()
        with pytest.raises(ModelFileError, match=f"there is no '{name}'"):
            write_report(folder)


@pytest.mark.parametrize(('change', 'message'), [
    (lambda c: c.update(schema='robot_identification/results/99'), 'not of the schema'),
    (lambda c: c.pop('verdict'), "damaged .KeyError: 'verdict'"),
    (lambda c: c['arm'].update(joints=None), 'damaged'),
    (lambda c: c['files'].update({'plots.npz': '0'}), 'does not belong'),
    (lambda c: c['base_parameters'][0].update(value=10 ** 400), 'a whole number of 401 digits'),
    (lambda c: c['base_parameters'][0].update(value=np.inf), 'JSON has no Infinity'),
    (lambda c: c['arm'].update(name='\ud800'), 'surrogates not allowed'),
    (lambda c: c.update(motion=functools.reduce(lambda x, _: [x], range(90))), 'nested more than'),
])
def test_damaged_results_are_named(folder, change, message):
    content = content_of(folder)
    change(content)
    (folder / 'results.json').write_text(json.dumps(content))
    before = (folder / 'report.html').read_bytes()
    with pytest.raises(ModelFileError, match=message):
        write_report(folder)
    assert (folder / 'report.html').read_bytes() == before


@pytest.mark.parametrize('name', ['results.json', 'plots.npz'])
def test_broken_files_are_named(folder, name):
    (folder / name).write_bytes(b'{"schema": \xff')
    with pytest.raises(ModelFileError, match=f'{name}.*(cannot be read|does not belong)'):
        write_report(folder)


def test_no_line_is_drawn_across_what_was_left_out():
    from types import SimpleNamespace

    from robot_identification.reporting.plot_data import _evaluation
    t = np.concatenate([np.arange(300), np.arange(500, 900)]) / 100
    torque = np.sin(t)[:, None]
    arrays = _evaluation(SimpleNamespace(t=t, measured=torque, predicted=0.9 * torque,
                                         half_width=None, cutoff=np.inf), 100)
    time, measured, predicted = arrays['joint_0']
    [gap] = np.flatnonzero(np.isnan(measured))
    assert np.isnan(predicted[gap]) and time[gap - 1] <= 2.99 and time[gap + 1] >= 5.0
    assert np.all(np.diff(time) >= 0) and np.isfinite(arrays['spectrum']).all()
