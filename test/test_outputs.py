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
"""An output never replaces an input, and other files only with --force."""

from __future__ import annotations

import os
from pathlib import Path
import resource
import signal
import subprocess
import sys
import time

from excitation_arms import chain
from handlers import listens
import pytest
from robot_identification.cli import describe_os_error
from robot_identification.errors import ConfigurationError
from robot_identification.files import (
    check_output_folder,
    check_outputs,
    EXCITATION_YAML,
    MOTION_CSV,
    PREDICTION_CSV,
    RECORDING_CSV,
    write_text,
)

MAIN = [sys.executable, '-c', 'from robot_identification.cli import main; main()']
LINKS = {'itself': lambda source: source,
         'symbolic': lambda source: _linked(source, os.symlink),
         'hard': lambda source: _linked(source, os.link),
         'roundabout': lambda source: source.parent / 'folder' / '..' / source.name}


def _linked(source, link):
    target = source.with_name('linked' + source.suffix)
    link(source, target)
    return target


@pytest.mark.parametrize('force', [False, True])
@pytest.mark.parametrize('link', LINKS)
def test_an_input_is_never_replaced(tmp_path, link, force):
    (tmp_path / 'folder').mkdir()
    source = tmp_path / 'recording.csv'
    source.write_text('t,tau_hat_a\n')    # of the same kind, but an input
    with pytest.raises(ConfigurationError, match='would be lost'):
        check_outputs([(LINKS[link](source), PREDICTION_CSV)], [None, source], force=force)


def test_a_file_of_a_bag_is_an_input(tmp_path):
    bag = tmp_path / 'bag'
    bag.mkdir()
    (bag / 'metadata.yaml').write_text('x')
    with pytest.raises(ConfigurationError, match='would be lost'):
        check_outputs([(bag / 'metadata.yaml', EXCITATION_YAML)], [bag], force=True)
    check_outputs([(bag / 'new.yaml', EXCITATION_YAML)], [bag])


def test_another_kind_needs_force_and_the_same_kind_does_not(tmp_path):
    path = tmp_path / 'x.csv'
    for content, kind in (('t,q_a,tau_a\n0,0,0\n', PREDICTION_CSV), ('mine', RECORDING_CSV),
                          ('t,q_a,v_a,tau_a\n', MOTION_CSV)):
        path.write_text(content)
        with pytest.raises(ConfigurationError, match='--force'):
            check_outputs([(path, kind)], [])
        check_outputs([(path, kind)], [], force=True)
    for content, kind in (('', MOTION_CSV), ('t,tau_hat_a\n', PREDICTION_CSV),
                          ('t,q_a,v_a,a_a\n', MOTION_CSV), ('t,q_a,tau_a\n', RECORDING_CSV)):
        path.write_text(content)
        check_outputs([(path, kind)], [])


def test_two_outputs_are_two_files(tmp_path):
    with pytest.raises(ConfigurationError, match='twice'):
        check_outputs([(tmp_path / 'x', MOTION_CSV), (tmp_path / '.' / 'x', EXCITATION_YAML)], [])


def test_devices_are_not_replaced():
    with pytest.raises(ConfigurationError, match='not a regular file'):
        check_outputs([(Path('/dev/null'), MOTION_CSV)], [])
    with pytest.raises(ConfigurationError, match='not a regular file'):
        write_text('/dev/null', 'x')
    assert Path('/dev/null').is_char_device()


def test_a_folder_of_results_is_known_by_its_mark(tmp_path):
    names = ('model.yaml', 'results.json')
    model = tmp_path / 'model.yaml'
    model.write_text('my own')
    with pytest.raises(ConfigurationError, match=r'no results\.json.*--force'):
        check_output_folder(tmp_path, names, 'results.json', [])
    with pytest.raises(ConfigurationError, match='would be lost'):
        check_output_folder(tmp_path, names, 'results.json', [model], force=True)
    check_output_folder(tmp_path, names, 'results.json', [], force=True)
    (tmp_path / 'results.json').write_text('{}')
    check_output_folder(tmp_path, names, 'results.json', [tmp_path])


@pytest.mark.parametrize(('number', 'code'), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize('wait', [0.0, 3.0])
def test_signals_end_the_program_without_a_word(tmp_path, number, code, wait):
    """During imports and during a design."""
    process = subprocess.Popen([*MAIN, 'excite', 'panda', '-o', 'x.yaml'], cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not listens(process.pid):    # Python has started the program
        assert process.poll() is None
        time.sleep(0.005)
    time.sleep(wait)
    process.send_signal(number)
    out, error = process.communicate(timeout=60)
    assert process.returncode == code, out + error
    assert 'Traceback' not in error
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_named(tmp_path):
    with open('/dev/full', 'w') as full:
        done = subprocess.run([*MAIN, 'robots'], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == ('error: the standard output cannot be written: No space left on '
                           'device; send it elsewhere\n')


@pytest.mark.parametrize(('error', 'sentence'), [
    (FileNotFoundError('a.csv'), 'a file cannot be read or written: a.csv; check'),
    (OSError(), 'a file cannot be read or written: OSError; check'),
    (OSError(28, 'No space left on device'), 'the standard output cannot be written: No space'),
    (OSError(5, 'Input/output error', 'a.csv'), "'a.csv' cannot be used: Input/output error; ")])
def test_an_error_about_a_file_is_a_sentence_without_none(error, sentence):
    """Libraries raise errors without a number or the name of the file."""
    assert describe_os_error(error).startswith(sentence)


@pytest.mark.parametrize('closed', [(1,), (0, 1, 2)])
def test_closed_streams_are_not_the_numbers_of_files(tmp_path, closed):
    """As after `>&-`: output is discarded, and not written into a file that is opened later."""
    def close():
        for number in closed:
            os.close(number)

    (tmp_path / 'arm.urdf').write_text(chain().urdf)
    done = subprocess.run([*MAIN, 'init', 'arm.urdf', '-o', 'rb.yaml'], cwd=tmp_path, timeout=60,
                          preexec_fn=close, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert 'wrote' not in (tmp_path / 'rb.yaml').read_text()


def test_a_disk_that_fills_up_is_named_with_the_file(tmp_path):
    """A limit of the file size acts like a full disk; no incomplete file is left."""
    (tmp_path / 'arm.urdf').write_text(chain().urdf)
    done = subprocess.run(
        [*MAIN, 'init', 'arm.urdf', '-o', 'rb.yaml'], capture_output=True, text=True, cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
    assert done.returncode == 2
    assert done.stderr == "error: 'rb.yaml' cannot be written: File too large\n"
    assert [path.name for path in tmp_path.iterdir()] == ['arm.urdf']


def test_a_terminal_that_knows_ascii_alone_is_served():
    done = subprocess.run([*MAIN, 'frictions'], capture_output=True,
                          env={**os.environ, 'PYTHONIOENCODING': 'ascii'})
    assert done.returncode == 0, done.stderr


BAG = """
import resource, signal, sys
from excitation_arms import chain
from handlers import listens
import numpy as np
from robot_identification.errors import RecordingError
from robot_identification.recording import Recording
from robot_identification.recording.bag.write import write_bag
rows = np.sin(np.arange(3000)[:, None] + np.arange(3))
recording = Recording(np.arange(3000) / 500, rows, rows, joint_names=chain().joint_names)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for limit in (0, 60, 2000, 100_000):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        write_bag(recording, 'bag')
    except RecordingError as error:
        print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
write_bag(recording, 'bag')
"""


def test_a_bag_that_does_not_fit_on_the_disk_leaves_nothing(tmp_path):
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, '-c', BAG], capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, 'PYTHONPATH': os.pathsep.join([here, *sys.path])})
    said = done.stdout.splitlines()
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert len(said) == 4
    assert all(line.startswith("the bag 'bag' cannot be written: ") for line in said), said
    assert [path.name for path in tmp_path.iterdir()] == ['bag']    # with space it is written
    assert sorted(path.name for path in (tmp_path / 'bag').iterdir()) == [
        'bag_0.mcap', 'metadata.yaml']
