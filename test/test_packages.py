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
"""The two package.xml: format 3, complete, and in agreement with setup.py and the sources."""

import ast
from email import message_from_string
from functools import partial
import os
import re
import runpy
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import pytest
import robot_identification
from robot_identification.files import shared_folder
from robot_identification.ros.nodes import start

ROOT = shared_folder('launch').parent
PACKAGES = {'robot_identification': ROOT / 'package.xml',
            'robot_identification_interfaces': ROOT / 'interfaces' / 'package.xml'}
# in the order in which format 3 wants them
HEAD = ('name', 'version', 'description', 'maintainer', 'license')
FROM_PYPI = {    # modules that nodes import, and the rosdep keys of those that have one
    'numpy': 'python3-numpy', 'yaml': 'python3-yaml'}
every_package = pytest.mark.parametrize('package', PACKAGES)


def elements(package, tag=''):
    return [element for element in ElementTree.parse(PACKAGES[package]).getroot()
            if element.tag.endswith(tag)]


@every_package
def test_package_xml_has_what_format_3_wants(package):
    root = ElementTree.parse(PACKAGES[package]).getroot()
    assert root.tag == 'package' and root.get('format') == '3'
    assert [element.tag for element in root][:len(HEAD)] == list(HEAD)
    assert root.findtext('name') == package
    assert root.findtext('license') == 'Apache-2.0'
    assert re.fullmatch(r'[^@\s]+@[\w-]+\.\w{2,}', root.find('maintainer').get('email'))
    names = [(element.tag, element.text) for element in elements(package, 'depend')]
    assert len(names) == len(set(names))
    assert root[-1].tag == 'export' and root[-1].findtext('build_type').startswith('ament_')


@every_package
def test_bloom_finds_one_package_in_each_source(package, tmp_path):
    """
    Bloom releases what catkin_pkg finds, which stops below a folder that is a package.

    The source of the interfaces is a branch with the content of their folder (CONTRIBUTING.md).
    """
    packages = pytest.importorskip('catkin_pkg.packages', reason='catkin_pkg is not installed')
    folder = PACKAGES[package].parent
    if package != 'robot_identification':
        folder = shutil.copytree(folder, tmp_path / 'branch')
    (path, found), = packages.find_packages(str(folder)).items()
    assert path == '.' and found.name == package
    assert found.version == robot_identification.__version__
    assert (folder / 'LICENSE').is_file()


@every_package
def test_catkin_pkg_has_nothing_to_say(package):
    catkin_pkg = pytest.importorskip('catkin_pkg.package', reason='catkin_pkg is not installed')
    warnings = []
    catkin_pkg.parse_package(str(PACKAGES[package]), warnings=warnings)
    assert not warnings


def test_versions_agree():
    done = subprocess.run([sys.executable, 'setup.py', '--version'], cwd=ROOT, check=True,
                          capture_output=True, text=True)
    versions = {ElementTree.parse(path).findtext('version') for path in PACKAGES.values()}
    assert versions == {robot_identification.__version__}
    assert done.stdout.split()[-1] == robot_identification.__version__
    for path in PACKAGES.values():    # catkin_prepare_release replaces the title Forthcoming
        title = (path.parent / 'CHANGELOG.rst').read_text(encoding='utf-8').splitlines()[3]
        assert title == 'Forthcoming' or title.startswith(f'{robot_identification.__version__} (')


def test_every_node_has_its_program_for_ros2_run(monkeypatch):
    started = []
    monkeypatch.setattr(start, 'start', started.append)
    programs = sorted((ROOT / 'scripts').iterdir())
    for program in programs:
        assert os.access(program, os.X_OK)
        assert program.read_text(encoding='utf-8').startswith('#!/usr/bin/env python3\n')
        with pytest.raises(SystemExit):
            runpy.run_path(str(program))
    names = [program.name for program in programs]
    assert started == names == sorted(
        name for name, value in vars(start).items() if isinstance(value, partial))


def test_wheel_says_what_it_is(tmp_path):
    subprocess.run([sys.executable, 'setup.py', '-q', 'egg_info', '-e', str(tmp_path)], cwd=ROOT,
                   check=True, capture_output=True)
    folder = tmp_path / 'robot_identification.egg-info'
    said = message_from_string((folder / 'PKG-INFO').read_text(encoding='utf-8'))
    # no address that is not known to be the project's: none is, until it is published
    assert said['Summary'] and not said.get_all('Project-URL') and not said['Author-email']
    assert not elements('robot_identification', 'url')
    assert 'Apache-2.0' in (said['License-Expression'] or said['License'])
    assert any(line.startswith('Topic ::') for line in said.get_all('Classifier'))
    links = re.findall(r'\]\(([^)]*)\)', said.get_payload())
    assert all(link.startswith('https://') for link in links)
    assert 'robot-identification identify' in said.get_payload()
    programs = (folder / 'entry_points.txt').read_text(encoding='utf-8')
    assert re.findall(r'^(\S+) = ', programs, re.MULTILINE) == ['robot-identification']


def test_all_modules_are_installed(tmp_path):
    """A folder without `__init__.py` is imported from a checkout, but not installed."""
    subprocess.run([sys.executable, 'setup.py', '-q', 'egg_info', '-e', str(tmp_path), 'build_py',
                    '-d', str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    installed, present = ({str(path.relative_to(folder)) for path in (
        folder / 'robot_identification').rglob('*.py')} for folder in (tmp_path, ROOT))
    assert installed == present


def test_what_nodes_import_are_dependencies():
    depends = {element.text for element in elements('robot_identification', 'depend')}
    for path in (ROOT / 'robot_identification' / 'ros' / 'nodes').glob('*.py'):
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            names = ([node.module] if isinstance(node, ast.ImportFrom)
                     else [alias.name for alias in node.names] if isinstance(node, ast.Import)
                     else [])
            for name in names:
                package = name.split('.')[0]
                if package not in sys.stdlib_module_names | {'robot_identification'}:
                    assert FROM_PYPI.get(package, package) in depends, f'{path.name}: {package}'


def test_interfaces_depend_on_what_their_files_name():
    depends = {element.text for element in elements('robot_identification_interfaces', 'depend')}
    cmake = (ROOT / 'interfaces' / 'CMakeLists.txt').read_text(encoding='utf-8')
    files = [path for kind in ('msg', 'srv', 'action')
             for path in (ROOT / 'interfaces' / kind).iterdir()]
    for path in files:
        assert f'{path.parent.name}/{path.name}' in cmake
        for other in re.findall(r'^(\w+)/\w+ ', path.read_text(encoding='utf-8'), re.MULTILINE):
            assert other in depends and f'find_package({other} REQUIRED)' in cmake
        assert all('#' in line for line in path.read_text(encoding='utf-8').splitlines()
                   if re.match(r'float64', line)), path
