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
"""Helper processes are isolated from the current folder, limited, and started by one module."""

import ast
from dataclasses import replace
import os
from pathlib import Path
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
from robot_identification import load_recording
from robot_identification.arm import Arm
from robot_identification.errors import ArmError
from robot_identification.helper_process import (
    HELPERS,
    import_path,
    PACKAGE,
    run_helper,
    TimeoutExpired,
)
from slow import others_slow

STARTERS = {'subprocess', 'multiprocessing', 'pty', 'ProcessPoolExecutor'}
CALLS = ('system', 'popen', 'spawn', 'posix_spawn', 'exec', 'fork', 'create_subprocess')
TRAPS = ('json', 'numpy', 'yaml', 'xacro', 'scipy', 'runpy', 'pathlib', 'resource', 'signal',
         'multiprocessing', 'pickle', 'socket', 'dask', 'distributed', 'robot_identification')
XACRO = ('<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="r"><link name="a"/>'
         '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
         '<link name="b"><inertial><mass value="{}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
         'ixz="0" iyz="0"/></inertial></link></robot>')
MAIN = 'import sys; sys.argv[0] = "x"; from robot_identification.cli import main; main()'
PROGRAMS = {    # what starts each helper in a folder with traps
    'xacro': MAIN,
    'mat': "from robot_identification import load_recording; load_recording('motion.mat')",
    'study': 'from robot_identification.helper_process import isolated_workers\n'
             'with isolated_workers() as context:\n'
             '    process = context.Process(target=print)\n'
             '    process.start(); process.join(); assert process.exitcode == 0\n',
    'worker': 'from robot_identification.cluster import cluster\n'
              'with cluster(None, 1) as client:\n'
              '    assert client.submit(abs, -3).result() == 3\n',
    'compiler': 'from robot_identification.helper_process import run_helper\n'
                "assert run_helper('compiler', '/bin/true').returncode == 0"}
AS_PYTHON_M = 'import os, sys; sys.path.insert(0, os.getcwd())\n'


@pytest.fixture
def traps(tmp_path):
    """Return a folder with modules that note their import, a xacro and a MATLAB file."""
    for name in TRAPS:
        (tmp_path / f'{name}.py').write_text(
            f'open({str(tmp_path / "sprung")!r}, "a").write(__file__)\nraise SystemExit(3)\n')
    (tmp_path / 'arm.xacro').write_text(XACRO.format('${2 * 1.5}'))
    if 'scipy' in sys.modules:
        from scipy.io import savemat
        t = np.arange(100) / 100
        savemat(tmp_path / 'motion.mat', {'t': t, 'q': np.sin(t)[:, None]})
    return tmp_path


def starts_processes(tree):
    """Yield the places where a module imports or calls what starts processes."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [getattr(node, 'module', None) or '', *(alias.name for alias in node.names)]
            if STARTERS & {part for name in names for part in name.split('.')}:
                yield ast.unparse(node)
        elif isinstance(node, ast.Attribute):
            text = ast.unparse(node)
            if text == 'sys.executable' or (text.startswith(('os.', 'asyncio.'))
                                            and node.attr.startswith(CALLS)):
                yield text


def test_one_module_starts_processes():
    found = {path.relative_to(PACKAGE).as_posix(): [*starts_processes(ast.parse(
        path.read_text(encoding='utf-8')))] for path in PACKAGE.rglob('*.py')}
    assert found.pop('helper_process.py')
    assert {name: places for name, places in found.items() if places} == {}


def test_each_helper_has_a_program():
    for name, helper in HELPERS.items():
        assert not helper.program or (PACKAGE / helper.program).is_file(), name
    assert HELPERS['brake_watchdog'].memory is HELPERS['brake_watchdog'].seconds is None


@pytest.mark.parametrize('before', others_slow(['', AS_PYTHON_M]), ids=['console', 'python -m'])
@pytest.mark.parametrize('name', PROGRAMS)
def test_no_helper_imports_from_the_current_folder(name, before, traps):
    if name == 'worker':
        pytest.importorskip('distributed', reason='dask.distributed is not installed')
    program = PROGRAMS[name]
    if before:    # this process has imported its modules, as `python -m` has not
        program = (f'import json, numpy, yaml, robot_identification.cli, {", ".join(TRAPS[4:12])}'
                   f'\n{before}{program}')
        program = program if name != 'worker' else f'import dask, distributed\n{program}'
    arguments = ['init', 'arm.xacro', '-o', 'robot.yaml'] if name == 'xacro' else []
    done = subprocess.run([sys.executable, '-I', '-c', program, *arguments], cwd=traps,
                          capture_output=True, text=True)
    assert not (traps / 'sprung').exists(), (traps / 'sprung').read_text()
    assert done.returncode == 0, done.stderr
    assert name != 'xacro' or (traps / 'robot.yaml').exists()


def test_the_traps_work(traps):
    """Python itself imports from the current folder with -c and without -I."""
    subprocess.run([sys.executable, '-c', 'import json'], cwd=traps, capture_output=True)
    assert (traps / 'sprung').exists()


def test_the_import_path_has_the_current_folder_only_if_it_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv('PYTHONPATH', raising=False)
    monkeypatch.setattr(sys, 'path', ['', str(tmp_path), 'lib', '/opt/ros/lib', *sys.path])
    assert import_path()[0] == '/opt/ros/lib' and str(tmp_path) not in import_path()
    assert import_path()[-1] == str(PACKAGE.parent)
    monkeypatch.setenv('PYTHONPATH', f'{tmp_path}{os.pathsep}')
    assert import_path()[:2] == [str(tmp_path), '/opt/ros/lib']


def test_a_package_of_a_workspace_is_found(tmp_path):
    """ROS workspaces put their packages on PYTHONPATH, which isolated processes ignore."""
    (tmp_path / 'ws' / 'xacro').mkdir(parents=True)
    for name in ('__init__.py', 'substitution_args.py'):
        (tmp_path / 'ws' / 'xacro' / name).write_text(
            'class Text:\n    def toxml(self):\n        return "<own/>"\n'
            'process_file = lambda *args, **options: Text()\nfrom . import substitution_args\n'
            if name[:2] == '__' else '')
    (tmp_path / 'a.xacro').write_text(XACRO.format(1))
    done = subprocess.run(
        [sys.executable, '-c', 'from robot_identification.arm.urdf import read_urdf\n'
         'print(read_urdf("a.xacro")[0])'], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, 'PYTHONPATH': str(tmp_path / 'ws')})
    assert done.stdout == '<own/>\n', done.stderr


def test_a_xacro_cannot_take_all_memory(tmp_path):
    path = tmp_path / 'arm.xacro'
    path.write_text(XACRO.format("${len('a' * 20000000000)}"))
    with pytest.raises(ArmError, match='needs more than 1 GB of memory'):
        Arm.from_urdf(path)


def test_a_xacro_that_writes_a_huge_urdf_is_an_error(tmp_path):
    path = tmp_path / 'arm.xacro'
    path.write_text(XACRO.format("${'1' * 30000000}"))
    with pytest.raises(ArmError, match='the limit is 10 million'):
        Arm.from_urdf(path)


def test_a_helper_ends_with_the_processes_that_it_started(tmp_path, monkeypatch):
    monkeypatch.setitem(HELPERS, 'compiler', replace(HELPERS['compiler'], seconds=1))
    with pytest.raises(TimeoutExpired):
        run_helper('compiler', shutil.which('sh'), '-c', 'sleep 100 & echo $! > pid; wait',
                   cwd=tmp_path)
    state = Path('/proc', (tmp_path / 'pid').read_text().strip(), 'stat')

    def ended():
        return not state.exists() or state.read_text().split()[2] == 'Z'
    deadline = time.monotonic() + 20    # the signal is delivered when the process runs next
    while not ended() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert ended()


def test_a_relative_path_of_a_matlab_file_is_read(traps, monkeypatch):
    monkeypatch.chdir(traps)
    monkeypatch.setattr(sys, 'path', [entry for entry in sys.path if entry])
    assert load_recording('motion.mat').q.shape == (100, 1)
