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
"""
Kill every writer between all of its steps, and count the mixtures that are left.

`python killed_writers.py FOLDER WRITER...` prints one JSON object for each writer; with a slash
after the name of a writer, its folder has a subfolder. A step is an operation on files (open for
writing, create, rename, link, remove, change mode, flush) that Python reports to audit hooks; a
child process kills itself with SIGKILL before its step k, for k = 0, 1, ... until it ends. With
`--quick`, only every eighth of the steps before the last 40 is tried, in which the new files are
prepared. Version 0 of the files is in the folder before, together with a file of the user.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import count
import json
import logging
import os
from pathlib import Path
import shutil
import signal
import sys

import numpy as np
from reporting_results import chain, identified
from robot_identification import load_arm, load_model
from robot_identification.cli.excite import write_motions
from robot_identification.excitation import load_excitation
from robot_identification.excitation.design.validation_motions import Designs, Stopwatch
from robot_identification.export import export_model, ExportOptions, save_export
from robot_identification.files import write_text
from robot_identification.output_folder import LOG, PREFIX, reading, recover, replace_files
from robot_identification.recording import load_recording, Recording
from robot_identification.recording.bag.write import write_bag
from robot_identification.reporting import load_results, save_results, write_report
from robot_identification.reporting.results_files import RESULT_FILES

CHANGES = {'os.rename', 'os.link', 'os.remove', 'os.mkdir', 'os.rmdir', 'os.chmod', 'os.truncate'}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
EXCITATIONS = Path(__file__).parent / 'data' / 'excitations'
ARM = chain(['one', 'two', 'three'])


def read_results(folder):
    """Check as every reader does that the files of an identification are of one run."""
    files = load_results(folder).content['files']
    load_model(folder / 'model.yaml')
    assert files['model.yaml'] in (folder / 'report.html').read_text(encoding='utf-8')


def identify():
    """Return the writer of an identification."""
    results = [identified(ARM, (2,)), identified(ARM, (3,), 'other')]
    results[1] = type(results[1])(**{**vars(results[1]), 'model': _changed(results[1].model)})
    return (lambda folder, k: save_results(results[k], folder)), read_results


def _changed(model):
    import dataclasses
    return dataclasses.replace(model, inertial=1.01 * model.inertial)


def demo():
    """Return the writer of `demo`: excitation, recordings and identification together."""
    save, read = identify()

    def write(folder, k):
        with replace_files(folder) as staging:
            for name in ('excitation.yaml', 'recording.csv', 'held_out.csv'):
                write_text(staging / name, f'{name} {k}')
            save(staging, k)
    return write, read


def report():
    """Return the writer of `report`, which replaces one file."""
    save = identify()[0]

    def write(folder, k):
        if k == 0:
            save(folder, 0)
            (folder / 'report.html').write_text('an earlier report')
        else:
            write_report(folder)
    return write, None


def export():
    """Return the writer of an export of several files."""
    models = [identified(ARM, (2,)).model]
    models.append(_changed(models[0]))
    exports = [export_model(model, 'c', ExportOptions(regressor=bool(k)))
               for k, model in enumerate(models)]
    return (lambda folder, k: save_export(exports[k], folder, force=True)), None


def servos():
    """Return the writer of `servos`."""
    from robot_identification import Arm
    from robot_identification.servos import identify_servos
    from robot_identification.servos.commands import save_servos
    from servo_plant import hobby_urdf, recorded, Truth
    arm, truth = Arm.from_urdf(hobby_urdf(2)), Truth.drawn(1, n=2)
    results = [identify_servos(arm, [recorded(truth, seed, 6.0)], []) for seed in (1, 2)]
    return (lambda folder, k: save_servos(results[k], folder),
            lambda folder: load_model(folder / 'model.yaml'))


def fleet_robot():
    """Return the writer of the folder of a robot in a fleet."""
    from robot_identification.fleet.robot_result import RobotResult
    results = [RobotResult('a', 'b', 'passed', str(k), files={
        name: f'{name} {k}'.encode() for name in RESULT_FILES}) for k in (0, 1)]
    return lambda folder, k: results[k].save(folder), RobotResult.load


def fleet_table():
    """Return the writer of the table and page of a fleet."""
    from robot_identification.fleet.table_and_page import write_table_and_page

    def write(folder, k):
        with suppress(KeyboardInterrupt), write_table_and_page(folder, [f'robot {k}'], print):
            raise KeyboardInterrupt
    return write, None


def bag():
    """Return the writer of a bag, which never replaces one."""
    rows = np.sin(np.arange(200)[:, None] + np.arange(3))
    recording = Recording(np.arange(200) / 500, rows, rows, joint_names=ARM.joint_names)

    def write(folder, k):
        if k == 0:
            folder.mkdir()
        else:
            write_bag(recording, folder / 'bag')
    return write, lambda folder: (folder / 'bag').exists() and load_recording(folder / 'bag', ARM)


def excite():
    """Return the writer of an excitation, a motion for validation and a CSV file."""
    arm = load_arm('panda')
    a, b = (load_excitation(EXCITATIONS / f'panda_{k}s.yaml') for k in (8, 10))

    def write(folder, k):
        motions = {'': (a, b)[k], 'circle': (b, a)[k]}
        write_motions(arm, Designs(motions, {}, None),
                      {'': folder / 'x.yaml', 'circle': folder / 'x_circle.yaml'},
                      Stopwatch(None), folder / 'x.csv')
    return write, None


def study():
    """Return the writer of a study."""
    from robot_identification.papers.study_report import write_study

    def write(folder, k):
        write_study({'study': 'a', 'title': f'version {k}', 'tables': [], 'plots': [],
                     'claims': [], 'notes': [], 'assumptions': [], 'settings': {}, 'quick': True,
                     'reference': '', 'seconds': 1.0}, folder)
    return write, None


def text():
    """Return the writer of a single file."""
    return (lambda folder, k: write_text(folder / 'x.txt', f'version {k}')), None


WRITERS = {each.__name__: each for each in (
    identify, demo, report, export, servos, fleet_robot, fleet_table, bag, excite, study, text)}


def count_steps(write, *args):
    """Run a writer in a child process and return its number of steps."""
    read, written = os.pipe()
    kill_at(-1, write, *args, result=written)
    os.close(written)
    with os.fdopen(read) as stream:
        return int(stream.read())


def kill_at(step, write, *args, result=None):
    """Run a writer in a child process that kills itself before a step; return whether it did."""
    child = os.fork()
    if child:
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    steps, sync = count(), os.fsync

    def hook(event, args):
        changes = event in CHANGES or (
            event == 'open' and isinstance(args[2], int) and args[2] & WRITING)
        if changes and next(steps) == step:
            os.kill(os.getpid(), signal.SIGKILL)

    def flush(descriptor):
        hook('os.remove', ())
        sync(descriptor)

    code = 1
    try:
        sys.addaudithook(hook)
        os.fsync = flush
        write(*args)
        if result is not None:
            os.write(result, str(next(steps)).encode())
        code = 0
    finally:
        os._exit(code)


def contents(folder):
    """Return the contents of all files that are not hidden, by path."""
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob('*')) if path.is_file() and not any(
                part.startswith('.') for part in path.relative_to(folder).parts)}


def hidden(folder):
    """Return the temporary files in a folder and beside it, without those that readers move."""
    return {path for place in (folder, folder.parent) for path in place.glob(f'{PREFIX}*')
            if path.name != LOG}


def try_all(write, read, home, subfolder, quick):
    """Kill a writer before its steps, and return counts."""
    reports = []
    handler = logging.Handler()
    handler.emit = lambda record: reports.append(record.getMessage())
    logging.getLogger('robot_identification').addHandler(handler)
    template = home / 'template'
    home.mkdir(parents=True, exist_ok=True)
    write(template, 0)
    (template / 'notes.txt').write_text('mine')
    if subfolder:
        (template / 'mine').mkdir()
        (template / 'mine' / 'data').write_text('mine')
    old = contents(template)
    users = {'notes.txt', 'mine/data'}
    found = {'kills': 0, 'mixtures': 0, 'mixtures_of_other_readers': 0, 'leftovers': 0,
             'not_reported': 0, 'not_removed': 0, 'lost': 0, 'old': 0, 'new': 0}

    def state(folder):
        now = contents(folder)
        found['lost'] += any(now.get(name) != old[name] for name in users & set(old))
        own = {name: data for name, data in now.items() if name not in users}
        if now == old:
            return 'old'
        return 'new' if set(old) <= set(now) and not any(
            own[name] == old.get(name) for name in own if name in changed) else 'mixture'

    complete = home / 'complete'
    shutil.copytree(template, complete)
    total = count_steps(write, complete, 1)
    changed = {name for name, data in contents(complete).items() if data != old.get(name)}
    names = set(contents(complete))
    for step in range(total + 1):
        if quick and step < total - 40 and step % 8:
            continue
        folder = home / str(step) / 'result'
        shutil.copytree(template, folder)
        if not kill_at(step, write, folder, 1):
            assert step == total and state(folder) == 'new' and set(contents(folder)) == names
            assert not hidden(folder)
            return found
        found['kills'] += 1
        found['mixtures_of_other_readers'] += state(folder) == 'mixture'
        try:
            with reading(folder):
                pass
            if read is not None:
                read(folder)
        except Exception as error:    # a reader refuses what it should read
            print(f'step {step}: {error!r}', file=sys.stderr)
            found['mixtures'] += 1
        after = state(folder)
        found[after if after != 'mixture' else 'mixtures'] += 1
        left = hidden(folder)
        found['leftovers'] += bool(left)
        reports.clear()
        recover(folder)
        found['not_reported'] += sum(not any(path.name in said for said in reports)
                                     for path in left)
        found['not_removed'] += len(hidden(folder))
        shutil.rmtree(folder.parent)

    raise AssertionError(f'a complete run has more than {total} steps')


if __name__ == '__main__':
    quick = '--quick' in sys.argv
    home, *wanted = [word for word in sys.argv[1:] if word != '--quick']
    for name in wanted:
        place = Path(home, name.replace('/', '_with_subfolder'))
        print(json.dumps({'writer': name, **try_all(
            *WRITERS[name.strip('/')](), place, name.endswith('/'), quick)}), flush=True)
