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
"""The pages of docs/: links are valid, and commands use existing names."""

from __future__ import annotations

from pathlib import Path
import re
import subprocess
import sys

import pytest
import robot_identification
from robot_identification.arm import robot_files
from robot_identification.cli.commands import COMMANDS, load_command
from robot_identification.dynamics.friction.names import FRICTION_TERMS
from robot_identification.estimation import ESTIMATORS
from robot_identification.excitation.design.criteria import CRITERIA
from robot_identification.files import shared_folder
from robot_identification.papers.searches import SEARCHES
from robot_identification.registry import load_extensions
from robot_identification.ros.nodes.launch_arguments import (
    all_argument_names,
    FAMILIES,
    FAMILY_ARGUMENTS,
    generic_arguments,
    INCLUDED_FILES,
)

ROOT = shared_folder('launch').parent
DOCS = ROOT / 'docs'
PAGES = {path.relative_to(DOCS).with_suffix('').as_posix(): path.read_text(encoding='utf-8')
         for path in sorted(DOCS.rglob('*.md'))}
every_page = pytest.mark.parametrize('page', PAGES)


def commands(text):
    for block in re.findall(r'```bash\n(.*?)```', text, re.DOTALL):
        yield from block.replace('\\\n', ' ').splitlines()


def declared(launch_file):
    name = launch_file.removesuffix('.launch.py')
    if name == 'identify':
        return set(all_argument_names())
    if name == 'generic':
        return {argument['name'] for argument in generic_arguments()}
    if name in INCLUDED_FILES:
        return set(INCLUDED_FILES[name])
    return {*FAMILY_ARGUMENTS, *FAMILIES[name].arguments, FAMILIES[name].choice}


@every_page
def test_links_lead_to_pages(page):
    for target in re.findall(r'\]\(([^)#]+)', PAGES[page]):
        if not target.startswith('http'):
            assert ((DOCS / page).parent / target).is_file(), target


@every_page
def test_files_that_are_named_exist(page):
    for name in re.findall(r'`((?:config|urdf|launch|test)/[\w./]+)`', PAGES[page]):
        assert (ROOT / name).exists(), name


@every_page
def test_launch_commands_can_be_given(page):
    for line in commands(PAGES[page]):
        if not line.startswith('ros2 launch robot_identification '):
            continue
        name, *arguments = line.split()[3:]
        assert {argument.split(':=')[0] for argument in arguments} <= declared(name), line


@every_page
def test_commands_of_this_package_can_be_given(page):
    known = {name: load_command(name) for name in COMMANDS}
    for line in commands(PAGES[page]):
        if line.startswith('robot-identification '):
            words = line.split()
            options = {name for option in known[words[1]].params
                       for name in (*option.opts, *option.secondary_opts)}
            assert {word for word in words if word.startswith('-')} <= options, line


@pytest.mark.parametrize('page', ['universal_robots', 'franka', 'ros2_control'])
def test_pages_of_real_arms_begin_with_safety_and_say_what_was_not_run(page):
    text = PAGES[page]
    order = text.split('## In this order')[1]
    places = [order.index(f'**{step}.') for step in range(9)]
    assert places == sorted(places)
    assert 'safety.md' in order[:100]
    assert re.search(r'not run', text, re.IGNORECASE)


def test_the_table_of_robots_is_complete():
    assert all(f'`{name}`' in PAGES['robots'] for name in robot_files())


@pytest.mark.parametrize('command', ['estimators', 'frictions'])
def test_the_tables_of_methods_are_what_the_program_prints(command):
    table = subprocess.run([sys.executable, ROOT / 'docs' / 'method_tables.py', command],
                           capture_output=True, text=True, check=True).stdout.strip()
    assert table.count('\n') > 5
    page = ' '.join(PAGES['methods'].split())    # the page wraps lines
    missing = [line for line in table.splitlines() if ' '.join(line.split()) not in page]
    assert not missing, f'docs/methods.md lacks these lines of method_tables.py: {missing}'
    assert ' '.join(table.split()) in page, 'the order of method_tables.py is another'


def test_every_page_stands_in_a_list_of_the_site():
    listed = set()
    for page in ('index', 'site/api/index'):
        for names in re.findall(r'```{toctree}\n(.*?)```', PAGES[page], re.DOTALL):
            lines = [line for line in names.splitlines() if line and line[0] not in ':*']
            listed |= {((DOCS / page).parent / name).relative_to(DOCS).as_posix()
                       for name in lines}
    assert set(PAGES) - listed == {'index'} and listed <= set(PAGES)


def test_formulas_name_every_method_and_files_that_exist():
    text = PAGES['site/formulas']
    load_extensions()
    own = [name for name in ESTIMATORS if name not in SEARCHES]
    for name in (*own, *FRICTION_TERMS, *CRITERIA):
        assert f'`{name}`' in text, f'docs/site/formulas.md has no formula of `{name}`'
    package = Path(robot_identification.__file__).parent
    files = re.findall(r'`([a-z_/]+\.py)`', text)
    assert len(files) > 50
    for name in files:
        assert (package / name).is_file(), name
