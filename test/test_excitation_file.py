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
"""Excitation files: exact, complete or not written at all, and messages for invalid ones."""

from __future__ import annotations

import csv
import dataclasses

from excitation_arms import chain, tree
import numpy as np
import pytest
from robot_identification.errors import ExcitationError
from robot_identification.excitation import (
    design,
    load_excitation,
    Requirements,
    save_excitation,
    save_motion_csv,
)
import yaml


@pytest.fixture(scope='module', params=['ffs', 'mfs'])
def excitation(request):
    return design(chain(), kind=request.param, harmonics=3, period=6.0, acceleration=8.0, starts=1,
                  samples_per_period=50, requirements=Requirements())


def test_a_file_gives_everything_back_exactly(excitation, tmp_path):
    path = tmp_path / 'excitation.yaml'
    save_excitation(excitation, path)
    again = load_excitation(path)
    assert again.trajectory.series == excitation.trajectory.series
    np.testing.assert_array_equal(again.trajectory.coefficients,
                                  excitation.trajectory.coefficients)
    for field in dataclasses.fields(excitation):
        old, new = getattr(excitation, field.name), getattr(again, field.name)
        if field.name == 'limits':
            for limit in dataclasses.fields(old):
                np.testing.assert_array_equal(getattr(new, limit.name), getattr(old, limit.name))
        elif field.name == 'usage':
            np.testing.assert_array_equal(new, old)
        elif field.name != 'trajectory':
            assert new == old, field.name
    again.check_arm(chain())


def test_samples_lie_on_the_trajectory_at_any_rate(excitation):
    motion = excitation.sample(10.0, periods=2)
    assert len(motion.t) == 120 and motion.t[-1] == pytest.approx(11.9)
    np.testing.assert_allclose(motion.q[60:], motion.q[:60], atol=1e-12)
    assert len(excitation.sample(10.0, endpoint=True).t) == 61
    assert excitation.sample(0.7).t[-1] < 6.0
    fine = excitation.sample(1000.0)
    np.testing.assert_allclose(np.gradient(fine.q, fine.t, axis=0)[1:-1], fine.v[1:-1], atol=1e-4)
    np.testing.assert_allclose(np.gradient(fine.v, fine.t, axis=0)[1:-1], fine.a[1:-1], atol=1e-3)
    with pytest.raises(ExcitationError, match='rate must be positive'):
        excitation.sample(0.0)
    with pytest.raises(ExcitationError, match='positive integer'):
        excitation.sample(10.0, periods=0)


def test_rates_that_cannot_show_the_motion_are_not_exported(excitation, tmp_path):
    with pytest.raises(ExcitationError, match=r'is too low for a motion of up to 0\.5 Hz'):
        save_motion_csv(excitation, tmp_path / 'motion.csv', rate=0.9)
    assert not list(tmp_path.iterdir())


def test_csv_holds_the_samples(excitation, tmp_path):
    path = tmp_path / 'motion.csv'
    save_motion_csv(excitation, path, rate=20.0)
    with path.open() as lines:
        rows = list(csv.DictReader(lines))
    motion = excitation.sample(20.0)
    assert len(rows) == len(motion.t)
    for i, joint in enumerate(excitation.joint_names):
        for name, values in zip('qva', motion[1:]):
            column = [float(row[f'{name}_{joint}']) for row in rows]
            np.testing.assert_array_equal(column, values[:, i])


def test_nothing_is_left_of_a_file_that_could_not_be_written(excitation, tmp_path):
    path = tmp_path / 'excitation.yaml'
    path.write_text('old')
    broken = dataclasses.replace(excitation, notes=(object(),))
    with pytest.raises(yaml.YAMLError):
        save_excitation(broken, path)
    assert path.read_text() == 'old' and [x.name for x in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(('change', 'words'), [
    (lambda c: c.update(schema='robot_identification/excitation/99'), 'excitation/99'),
    (lambda c: c.pop('schema'), 'is not an excitation of the schema'),
    (lambda c: c['trajectory'].pop('coefficients'), "lacks the key 'coefficients'"),
    (lambda c: c['limits'].pop('elbow'), "lacks the key 'elbow'"),
    (lambda c: c['trajectory'].update(harmonics='many'), 'must be a whole number'),
    (lambda c: c['trajectory'].update(harmonics=4), 'needs 9 coefficients'),
    (lambda c: c['limits']['elbow'].update(velocity=0.0), 'velocity limit must be positive'),
    (lambda c: c['limits']['elbow'].update(velocity=9.0), 'was changed after its design'),
    (lambda c: c['trajectory']['coefficients']['elbow'].reverse(), 'was changed after its design'),
    (lambda c: c['requirements'].update(floor=0.0, clearance=0.1), 'was changed after its design'),
    (lambda c: c.pop('digest'), "lacks the key 'digest'"),
])
def test_bad_files_are_refused(excitation, tmp_path, change, words):
    path = tmp_path / 'excitation.yaml'
    save_excitation(excitation, path)
    content = yaml.safe_load(path.read_text())
    change(content)
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(ExcitationError, match=words):
        load_excitation(path)


def test_the_order_of_the_keys_is_free(excitation, tmp_path):
    path = tmp_path / 'excitation.yaml'
    save_excitation(excitation, path)
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()), sort_keys=True))
    assert load_excitation(path).certificate == excitation.certificate


def test_missing_and_unreadable_files(tmp_path):
    with pytest.raises(ExcitationError, match='there is no excitation'):
        load_excitation(tmp_path / 'none.yaml')
    path = tmp_path / 'text.yaml'
    path.write_text('a: [')
    with pytest.raises(ExcitationError, match='cannot be read'):
        load_excitation(path)


def test_other_arms_are_refused(excitation):
    with pytest.raises(ExcitationError, match='design one for this arm'):
        excitation.check_arm(tree())
    other = dataclasses.replace(chain(), urdf=chain().urdf.replace('1.0', '1.1'))
    with pytest.raises(ExcitationError, match='another URDF'):
        excitation.check_arm(other)
