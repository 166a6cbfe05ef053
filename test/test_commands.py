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
"""The command line as a whole lists its commands without importing what they need."""

from __future__ import annotations

import re
import subprocess
import sys

from click.testing import CliRunner
import pytest
from robot_identification import console
from robot_identification.changes.payload_motion import JOINTS
from robot_identification.cli.commands import app, COMMANDS, load_command
from robot_identification.cli.excite import CSV_RATE
from robot_identification.estimation.consistent import RELATIVE_DEVIATION
from robot_identification.excitation.certificate.requirements import GUESSED_DENSITY
from robot_identification.export import TARGETS
from robot_identification.registry import load_extensions
from robot_identification.validation import Thresholds

SLOW = ('numba', 'pinocchio', 'mujoco', 'scipy', 'clarabel', 'numpy')


OWN = [name for name, (module, _) in COMMANDS.items() if module.startswith('cli.')]


@pytest.mark.parametrize('words', ['--version', '--help', 'identify --help'])
def test_version_and_help_import_nothing_slow(words):
    script = f"""
import sys
from robot_identification.cli import main
from robot_identification.cli.commands import load_command
sys.argv = ['robot-identification', *{words.split()!r}]
for name in {OWN!r}:
    load_command(name)
try:
    main()
finally:
    print('imported:', sorted(set({SLOW!r}) & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert 'imported: []' in done.stderr
    assert words != '--help' or all(name in done.stdout for name in COMMANDS)


def test_defaults_and_choices_in_help_are_those_of_the_library():
    load_extensions()
    helps = {name: {option.name: option.help for option in load_command(name).params}
             for name in ('identify', 'excite', 'export', 'payload-motion')}
    for option, value in (('overall', Thresholds.overall), ('joint', Thresholds.joint),
                          ('prior_deviation', RELATIVE_DEVIATION)):
        assert helps['identify'][option].endswith(f'by default {value:g}.')
    assert f'{GUESSED_DENSITY:g} kg/m^3' in helps['excite']['guess_inertias']
    assert set(re.findall(r'\w+', helps['export']['to'])) == {'One', 'of', *TARGETS}
    assert helps['excite']['csv'].endswith(f'at {CSV_RATE:g} Hz.')
    assert helps['payload-motion']['joint'].endswith(f'the last {JOINTS}.')


def test_every_command_is_there_and_says_in_the_list_what_its_help_says():
    assert app.get_command(None, 'nonsense') is None
    assert app.list_commands(None) == list(COMMANDS)
    for name, (_, line) in COMMANDS.items():
        assert load_command(name).help.startswith(line) and len(line) < 70, name


@pytest.mark.parametrize('words', [['robots', '--quiet'], ['--quiet', 'robots']])
def test_a_command_may_be_made_quiet_on_either_side(words, monkeypatch):
    monkeypatch.setattr(console, 'verbosity', '')    # left by the other tests
    answer = CliRunner().invoke(app, [*words, '--json'])
    assert answer.exit_code == 0 and console.verbosity == 'quiet'


@pytest.mark.parametrize('name', COMMANDS)
def test_help_cuts_nothing_in_a_terminal_of_80_columns(name):
    answer = CliRunner().invoke(app, [name, '-h'], env={'COLUMNS': '80'})
    assert answer.exit_code == 0 and '\u2026' not in answer.stdout
    assert max(map(len, answer.stdout.splitlines())) <= 80
