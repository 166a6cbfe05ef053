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
"""Structure of the package: public names exist, imports follow the layers, licences are there."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
import pkgutil
import re
import subprocess
import sys

import house
import pytest
import robot_identification

ROOT = Path(robot_identification.__file__).resolve().parent
HOUSE = house.House()
MODULES = sorted(name for _, name, _
                 in pkgutil.walk_packages([str(ROOT)], 'robot_identification.'))
HEADER = Path(__file__).read_text(encoding='utf-8').splitlines()[:13]    # as in ament_copyright


@pytest.mark.parametrize('name', MODULES)
def test_public_names_can_be_imported(name):
    if name.startswith('robot_identification.ros.nodes.'):
        pytest.importorskip('rclpy', reason='ROS 2 is not installed')
        pytest.importorskip('robot_identification_interfaces', reason='not built')
    if name.endswith('.launching'):
        pytest.importorskip('launch_ros', reason='launch_ros of ROS 2 is not installed')
    module = importlib.import_module(name)
    for public in getattr(module, '__all__', ()):
        assert hasattr(module, public), f'{name} promises {public}'


def test_no_core_module_names_an_extension():
    """import-linter checks what is imported, but sees no module that is named in a string."""
    assert not [(name, other) for name, others in HOUSE.arrows.items() for other in others
                if house.room(name) not in house.EXTENSIONS
                and house.room(other) in house.EXTENSIONS]


def test_no_module_uses_what_another_keeps_to_itself():
    """A name with an underscore may only be used in its own module."""
    for path in ROOT.rglob('*.py'):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or '').startswith(ROOT.name):
                private = [n.name for n in node.names if n.name[0] == '_' and n.name[:2] != '__']
                assert not private, f'{path} imports {private} of {node.module}'


def test_size_and_structure_stay_within_their_limits():
    """`ruff` checks length, complexity and parameters of functions."""
    assert not HOUSE.violations


def test_figures_are_those_of_the_referee():
    referee = ROOT.parents[1] / 'shared' / 'house' / 'referee.py'
    if not referee.is_file():
        pytest.skip('no referee beside this checkout')
    done = subprocess.run([sys.executable, str(referee), str(ROOT.parent)], capture_output=True,
                          text=True)
    assert done.stdout == f'{HOUSE.table}\n'


def test_descriptions_lead_with_a_noun():
    found = [f'{path.relative_to(ROOT)}: {line}' for path in sorted(ROOT.rglob('*.py'))
             for line in re.findall(r'^ *(?:""")?Of [a-z].*', path.read_text(), re.MULTILINE)]
    assert not found


def test_house_counts_code_only():
    text = ('# header\n"""Of three\nlines."""\nX = 1\n"""What X is."""\n\n'
            'def f():  # comment\n    """Say."""\n    return (X,\n            2)\n')
    assert house.code_lines(text) == 4


def test_tests_share_helpers_in_modules_of_their_own():
    """If a test file imported another one, it would run and fail together with it."""
    folder = Path(__file__).parent
    for path in folder.rglob('test_*.py'):
        for line in path.read_text().splitlines():
            assert not line.startswith(('from test_', 'import test_')), f'{path.name}: {line}'


def test_importing_the_library_needs_only_what_ros_installs(tmp_path):
    """With numpy, scipy, yaml and Pinocchio only, ols and wls still work."""
    bag = tmp_path / 'bag_0.mcap'
    bag.write_bytes(b'\x89MCAP0\r\n')    # an MCAP file without records
    script = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in {'numba', 'clarabel', 'mujoco', 'matplotlib', 'rich', 'click',
                                  'threadpoolctl', 'example_robot_data', 'mcap', 'lz4',
                                  'zstandard'}:
            raise ImportError(name + ' is not installed here')
sys.meta_path.insert(0, Absent())
sys.path.insert(0, sys.argv[1])
from excitation_arms import chain
from known_truth import samples_of
from robot_identification.estimation import fit_consistent, get_estimator
from robot_identification.regression import build_regression
from robot_identification.errors import MissingDependencyError
regression = build_regression(chain(), [samples_of(chain(), count=400)], backend='pinocchio')
for name in ('ols', 'wls'):
    estimate = get_estimator(name).fit(regression)
    assert estimate.status == 'ok', estimate.message
try:
    fit_consistent(regression, estimate)
except MissingDependencyError as error:
    print(error)
import robot_identification.pipeline
from robot_identification.recording.bag.write import write_bag
from robot_identification.recording.bag.bag import Bag
assert Bag(sys.argv[2]).topics == {}
"""
    done = subprocess.run([sys.executable, '-c', script, str(Path(__file__).parent), str(bag)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert 'pip install clarabel' in done.stdout


def test_every_source_file_carries_the_licence():
    files = [p for folder in ('robot_identification', 'test', 'benchmarks', 'launch')
             for p in (ROOT.parent / folder).rglob('*.py')] + [ROOT.parent / 'setup.py']
    assert len(files) > 50
    assert re.fullmatch(r'# Copyright 20\d\d \S.*', HEADER[0])
    assert 'Apache License, Version 2.0' in HEADER[2]
    for path in files:
        if path.stat().st_size:
            lines = path.read_text(encoding='utf-8').splitlines()[:13]
            assert lines[0].split(' 20')[0] == '# Copyright', path
            assert lines[1:] == HEADER[1:], path


def test_the_library_neither_prints_nor_exits():
    for path in ROOT.rglob('*.py'):
        if 'cli' in path.relative_to(ROOT).parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            assert not isinstance(node, ast.Assert), f'{path}:{node.lineno}'
            if isinstance(node, ast.Call):
                assert ast.unparse(node.func) not in ('print', 'sys.exit', 'exit'), path
