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
"""Registries: registered members are found by name, and extensions are imported on demand."""

from concurrent.futures import ProcessPoolExecutor
import multiprocessing
import subprocess
import sys

import numpy as np
import pytest
from robot_identification.errors import ConfigurationError, UnknownNameError
from robot_identification.estimation import ESTIMATORS, get_estimator
from robot_identification.registry import load_object, Registry


def test_a_member_is_found_and_its_name_cannot_be_taken():
    family = Registry('tool', {'saw': 1})
    assert family.register('axe', 2) == 2
    assert family.register('axe', 2) == 2
    assert [family.find(name) for name in ('saw', 'axe')] == [1, 2]
    with pytest.raises(ConfigurationError, match="already another tool 'saw'"):
        family.register('saw', 3)
    assert family['saw'] == 1
    with pytest.raises(UnknownNameError, match="no tool 'file'; choose from: axe, saw"):
        family.find('file')


@pytest.mark.parametrize(('family', 'core', 'paper'), [
    ('from robot_identification.estimation import ESTIMATORS as family', 'wls', 'ics'),
    ('from robot_identification.excitation.design.optimisers import OPTIMISERS as family',
     'barrier', 'real_genetic')])
def test_a_method_of_the_papers_is_found_without_importing_them(family, core, paper):
    script = f"""
import sys
{family}
family.find('{core}')
assert 'robot_identification.papers' not in sys.modules
assert '{paper}' not in family
family.find('{paper}')
assert '{paper}' in family
"""
    done = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


OWN = """
from dataclasses import dataclass

@dataclass
class Mine:
    owner: str = '{0}'

    def who(self):
        return self.owner
"""


@pytest.fixture
def people(tmp_path):
    for person, name in (('anna', 'mine'), ('ben', 'mine'), ('cleo', 'signal'), ('dan', 'v1.2')):
        (tmp_path / person).mkdir()
        (tmp_path / person / f'{name}.py').write_text(OWN.format(person))
    return tmp_path


def test_files_of_any_name_are_loaded_each_for_itself(people, monkeypatch):
    monkeypatch.chdir(people)
    family = Registry('tool', {})
    for place in ('anna/mine.py', 'ben/mine.py', 'cleo/signal.py', 'dan/v1.2.py', 'anna/mine'):
        assert family.find(f'{place}:Mine')().owner == place.split('/')[0]
    assert load_object('anna/mine.py:Mine') is load_object(f'{people}/anna/mine.py:Mine')
    for person, place in (('anna', 'mine.py:Mine'), ('ben', 'mine.py:Mine'), ('anna', 'mine:Mine'),
                          ('cleo', 'signal:Mine')):    # the same place in another folder
        monkeypatch.chdir(people / person)
        assert family.find(place)().owner == person
    assert not family


def test_a_file_may_import_its_neighbours_and_does_not_hide_modules_of_python(people):
    (people / 'cleo' / 'neighbour_of_cleo.py').write_text('NAME = 3\n')
    (people / 'cleo' / 'json.py').write_text('raise SystemExit(1)\n')
    with (people / 'cleo' / 'signal.py').open('a') as file:
        file.write('import neighbour_of_cleo, json\n')
    script = ('import sys; from robot_identification.registry import load_object\n'
              'assert load_object(sys.argv[1])().owner == "cleo"; import signal; signal.SIGINT')
    subprocess.run([sys.executable, '-c', script, f'{people}/cleo/signal.py:Mine'], check=True)


def test_other_processes_unpickle_what_is_in_a_file(people):
    members = [load_object(f'{people}/{person}/mine.py:Mine') for person in ('anna', 'ben')]
    with ProcessPoolExecutor(1, multiprocessing.get_context('spawn')) as workers:
        for member in members:
            assert workers.submit(member().who).result() == member().owner


@pytest.mark.parametrize('value', [np.float64(1.345), np.float32(1.5), np.int64(2), 2])
def test_a_setting_is_any_real_number(value):
    estimator = get_estimator('huber', threshold=value)
    assert estimator.threshold == value and type(estimator.threshold) in (int, float)


@pytest.mark.parametrize('value', [True, np.bool_(True), '1.345', None, 1j, np.array([1.0])])
def test_a_setting_that_is_no_number_is_refused(value):
    with pytest.raises(ConfigurationError, match='threshold must be a number'):
        ESTIMATORS.build('huber', {'threshold': value})
