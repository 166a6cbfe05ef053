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
"""The scripts of examples/ run and print what their docstrings promise."""

import json
import re
import runpy
import sys

import pytest
from robot_identification.dynamics import FRICTION_TERMS
from robot_identification.files import shared_folder

EXAMPLES = shared_folder('launch').parent / 'examples'
PRINTS = {
    'predict_torques': 'base parameters',
    'design_excitation': '% of the range (limit 95 %',
    'circle_motion': 'circle of 100 mm, proven',
    'identify_simulated_arm': 'PASS',
    'own_friction_term': 'quadratic + offset: error',
    'compare_estimators': 'ridge',
    'external_torque': 'joint 2 while pushed'}


def test_every_script_is_listed():
    scripts = {path.stem for path in EXAMPLES.glob('*.py')} - {'example_motion'}
    assert scripts == set(PRINTS)
    text = (EXAMPLES / 'README.md').read_text(encoding='utf-8')
    assert all(f'`{name}.py`' in text for name in scripts)


@pytest.mark.parametrize('name', PRINTS)
def test_example_runs(name, tmp_path, monkeypatch, capsys):
    before = dict(FRICTION_TERMS)
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.setattr(sys, 'argv', [name, str(tmp_path)])
    try:
        runpy.run_path(str(EXAMPLES / f'{name}.py'), run_name='__main__')
    finally:
        for added in set(FRICTION_TERMS) - set(before):
            del FRICTION_TERMS[added]
    assert PRINTS[name] in capsys.readouterr().out


@pytest.mark.parametrize('name', ['own_arm', 'choosing_friction', 'comparing_estimators'])
def test_notebooks_are_executed_and_show_no_machine(name):
    text = (EXAMPLES / 'notebooks' / f'{name}.ipynb').read_text(encoding='utf-8')
    cells = [cell for cell in json.loads(text)['cells'] if cell['cell_type'] == 'code']
    assert [cell['execution_count'] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell['outputs']]
    assert outputs and all(output['output_type'] != 'error' for output in outputs)
    assert not re.search(r'"[^"]*(/home/|/tmp/|/work/|/root/)', text)
    assert len(text) < 200_000
