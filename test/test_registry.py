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

import subprocess
import sys

import pytest
from robot_identification.errors import ConfigurationError, UnknownNameError
from robot_identification.registry import Registry


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
