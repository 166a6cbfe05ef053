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
"""Commands from functions: options, arguments, their help and their values."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from click.testing import CliRunner
import pytest
from robot_identification.cli.commands import COMMANDS, load_command
from robot_identification.cli.options import make_command

CALLS = []


@dataclass(frozen=True)
class Speeds:
    """
    Speeds of a motion.

    Parameters
    ----------
    fastest : RATE
        Largest speed
        [rad/s].
    slow
        Whether to creep.

    """

    fastest: float = 2.0
    slow: bool = False


def move_command(
    robot: str,
    recordings: list[Path] | None = None,
    /,
    *,
    seeds: int,
    speeds: Speeds,
    folder: list[Path] | None = None,
    place: Path | None = None,
    weight: float = 0.5,
    hold: bool = True,
    window: tuple[str, str] | None = None,
    brake: bool | None = None,
    output: Path = Path('out'),
    every: bool = False,
    as_json: bool = False,
) -> None:
    """
    Move an arm.

    It moves `robot`.

    Parameters
    ----------
    recordings : [RECORDING]...
        What was recorded.
    seeds : N >= 1
        Number of seeds.
    folder : existing FOLDER
        May be repeated.
    place : FOLDER
        It need not exist.
    weight : >= 0
        Weight.
    hold
        Whether to hold.
    brake
        Whether to brake.
    output : -o FILE
        Output.
    every : --all
        All of them.

    """
    CALLS.append((robot, recordings, seeds, speeds, folder, window, brake, output, every, as_json,
                  place, weight, hold))


def call(*words):
    CALLS.clear()
    done = CliRunner().invoke(make_command(move_command, 'move'), [*map(str, words)])
    return CALLS[0] if CALLS else done.output


def test_values_have_the_types_of_the_parameters(tmp_path):
    assert call('panda', '--seeds', 3) == (
        'panda', None, 3, Speeds(), None, None, None, Path('out'), False, False, None, 0.5, True)
    assert call('panda', 'a.csv', 'b', '--seeds', 1, '--fastest', 0.5, '--slow', '--folder',
                tmp_path, '--folder', tmp_path, '--window', '2s', '3s', '--no-brake', '-o', 'x',
                '--all', '--json', '--place', 'nowhere', '--weight', 2.5, '--no-hold') == (
        'panda', [Path('a.csv'), Path('b')], 1, Speeds(0.5, True), [tmp_path] * 2, ('2s', '3s'),
        False, Path('x'), True, True, Path('nowhere'), 2.5, False)
    assert call('panda', '--seeds', 1, '--brake')[6] is True


@pytest.mark.parametrize(('words', 'sentence'), [
    ([], "Missing argument 'ROBOT'"), (['panda'], "Missing option '--seeds'"),
    (['panda', '--seeds', '0'], 'x>=1'),
    (['panda', '--seeds', '1', '--weight', '-1'], 'x>=0'),
    (['panda', '--seeds', 'a'], "'a' is not a valid integer"),
    (['panda', '--seeds', '1', '--folder', 'nowhere'], "'nowhere' does not exist"),
    (['panda', '--seeds', '1', '--window', '1'], "'--window' requires 2 arguments"),
    (['panda', '--seeds', '1', '--every'], 'No such option')])
def test_wrong_words_are_refused_by_name(words, sentence):
    assert sentence in call(*words)


def test_the_docstring_is_the_help():
    text = ' '.join(CliRunner().invoke(make_command(move_command, 'move'), ['-h']).output.split())
    for part in ('Move an arm. It moves `robot`. Arguments:',
                 'ROBOT Name of a shipped robot (see `robots`) or path of a robot YAML.',
                 '[RECORDING]... What was recorded.',
                 '--seeds N Number of seeds. [x>=1; required]',
                 '--fastest RATE Largest speed [rad/s]. [default: 2.0]', '--folder FOLDER',
                 '--brake / --no-brake', '--hold / --no-hold',
                 '-o, --output FILE Output. [default: out]',
                 '--all All of them.', '--json Print one JSON object.',
                 '--window FIRST LAST Part of each recording'):
        assert part in text, part
    assert 'Parameters' not in text


@pytest.mark.parametrize('name', list(COMMANDS))
def test_every_argument_and_option_has_a_help(name):
    command = load_command(name)
    for each in getattr(command, 'commands', {'': command}).values():
        for parameter in each.params:
            assert getattr(parameter, 'text', '') or parameter.help, parameter.name


def test_a_docstring_describes_each_option_once():
    for module in {module for module, _ in COMMANDS.values()}:
        for each in vars(import_module(f'robot_identification.{module}')).values():
            assert (getattr(each, '__doc__', '') or '').count('Parameters\n    ---') < 2, each
    assert CliRunner().invoke(load_command('benchmark'), ['--budget', '-1']).exit_code == 2


def test_export_may_leave_friction_out():
    names = {each.name: each for each in load_command('export').params}
    assert names['friction'].secondary_opts == ['--no-friction'] and names['friction'].default
