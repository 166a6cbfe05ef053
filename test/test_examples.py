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
import os
from pathlib import Path
import re
import runpy
import shutil
import subprocess
import sys

from closed_recordings import closed_recording
import pytest
from robot_identification import load_arm
from robot_identification.dynamics import FRICTION_TERMS
from robot_identification.files import shared_folder
from slow import others_slow, slow

ROOT = shared_folder('launch').parent
EXAMPLES = ROOT / 'examples'
NOTEBOOKS = ('own_arm', 'choosing_friction', 'comparing_estimators')
PRINTS = {
    'predict_torques': 'base parameters',
    'design_excitation': '% of the limit (allowed 95 %',
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


@pytest.mark.parametrize('name', others_slow(
    PRINTS, *(set(PRINTS) - {'circle_motion', 'design_excitation'})))
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


@pytest.mark.parametrize('name', NOTEBOOKS)
def test_notebooks_are_executed_and_show_no_machine(name):
    text = (EXAMPLES / 'notebooks' / f'{name}.ipynb').read_text(encoding='utf-8')
    cells = [cell for cell in json.loads(text)['cells'] if cell['cell_type'] == 'code']
    assert [cell['execution_count'] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell['outputs']]
    assert outputs and all(output['output_type'] != 'error' for output in outputs)
    assert not re.search(r'"[^"]*(/home/|/tmp/|/work/|/root/)', text)
    assert len(text) < 200_000


def _code_cells(name):
    """Return the code cells of a notebook as Python, with its commands run by the interpreter."""
    text = (EXAMPLES / 'notebooks' / f'{name}.ipynb').read_text(encoding='utf-8')
    cells = [''.join(cell['source']) for cell in json.loads(text)['cells']
             if cell['cell_type'] == 'code']
    code = '\n'.join(cells)
    code = re.sub(r'^%matplotlib inline$', '', code, flags=re.MULTILINE)
    code = re.sub(r'^%cd -q \{(\w+)\}$', r'import os; os.chdir(\1)', code, flags=re.MULTILINE)
    code = re.sub(r'^!robot-identification (.*)$', r'import subprocess, sys; subprocess.run('
                  r"[sys.executable, '-m', 'robot_identification', *'\1'.split()], check=True)",
                  code, flags=re.MULTILINE)
    assert not re.search('^[%!]', code, flags=re.MULTILINE)
    return code


def _run(code, folder):
    """Run Python code in a fresh interpreter without a screen, and return what it prints."""
    done = subprocess.run(
        [sys.executable, '-c', code], cwd=folder, text=True, capture_output=True,
        env={**os.environ, 'MPLBACKEND': 'Agg', 'PYTHONPATH': str(ROOT)})
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize(('name', 'prints'), [
    slow('own_arm', 'report.html'), slow('choosing_friction', 'held out'),
    slow('comparing_estimators', 'ridge')])
def test_notebook_runs(name, prints):
    pytest.importorskip('matplotlib')
    if name == 'comparing_estimators' and 'ROBOT_IDENTIFICATION_DATASETS' not in os.environ:
        pytest.skip('needs public recordings of a UR10e in ROBOT_IDENTIFICATION_DATASETS')
    assert prints in _run(_code_cells(name), EXAMPLES / 'notebooks')


def _python_blocks(page):
    """Return the blocks of Python in a page."""
    return re.findall(r'```python\n(.*?)```', Path(ROOT, page).read_text(encoding='utf-8'), re.S)


@pytest.mark.parametrize(('page', 'before'), [
    ('README.md', 'arm = load_arm("my_arm.yaml"); r = load_recording("motion.csv", arm); '
     't, q, tau = r.t, r.q, r.tau; v = a = 0 * q'),
    slow('docs/excitation.md', 'arm = load_arm("my_arm.yaml")'),
    ('docs/benchmark.md', ''), ('docs/logs.md', 'arm = load_arm("my_arm.yaml")')])
def test_python_of_a_page_runs(page, before, tmp_path):
    pytest.importorskip('matplotlib')
    arm = load_arm('two_link')
    for name, seed in (('motion.csv', 0), ('other.csv', 1), ('first.csv', 0)):
        closed_recording(arm, seed).to_csv(tmp_path / name)
    closed_recording(arm, 0).to_npz(tmp_path / 'night.npz')
    shutil.copy(shared_folder('urdf') / 'two_link.urdf', tmp_path)
    text = arm.source.read_text(encoding='utf-8').replace('../urdf/', '')
    (tmp_path / 'my_arm.yaml').write_text(text, encoding='utf-8')
    blocks = _python_blocks(page)
    assert blocks
    if page == 'README.md':    # the joint in the page is one of another arm
        blocks = [block.replace("joints['elbow']", "joints['joint_2']") for block in blocks]
    elif page == 'docs/excitation.md':
        blocks = [block.replace('time_budget=30.0', 'time_budget=1.0') for block in blocks]
    _run('\n'.join(['from robot_identification import load_arm, load_recording', before, *blocks]),
         tmp_path)


def test_every_page_with_python_is_run_or_named():
    elsewhere = {'docs/fleet.md', 'docs/ros2_control.md'}    # a finished fleet; launch of ROS 2
    pages = ['README.md', *(f'docs/{path.name}' for path in (ROOT / 'docs').glob('*.md'))]
    tested = {'README.md', 'docs/benchmark.md', 'docs/excitation.md', 'docs/logs.md'}
    assert {page for page in pages if _python_blocks(page)} == tested | elsewhere
