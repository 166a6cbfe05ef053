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
Every command ended at a random moment: what it says, what it leaves, what it harms.

    python benchmarks/impatience.py [--count 100] [--commands init excite] [--seed 0]

Each run gets Ctrl-C (to the whole group, as a terminal does) or SIGTERM (to the program alone)
between 0.05 and 5 s after its start, drawn so that early moments are as frequent as late ones.
It has to end with 130 or 143, or to have ended by itself; without a traceback; with every input
as it was; without temporary files, and without processes of its own that go on. A signal that
comes before Python has read the program (some 0.03 s on an idle machine) ends Python by itself:
a shell shows the same 130 and 143, but Ctrl-C prints Python's KeyboardInterrupt. Such runs are
counted apart, as `early`: by what the kernel says of handlers at that moment, not by the clock.
"""

from __future__ import annotations

import argparse
from collections import Counter
import hashlib
import os
from pathlib import Path
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MAIN = [sys.executable, '-c', 'from robot_identification.cli import main; main()']
COMMANDS = {
    'init': 'init arm.urdf -o {out}.yaml',
    'excite': 'excite two_link -o {out}.yaml --csv {out}.csv',
    'simulate': 'simulate two_link e.yaml -o {out}.csv',
    'simulate (bag)': 'simulate two_link e.yaml -o {out}',
    'identify': 'identify two_link a.csv --held-out b.csv -o {out}',
    'validate': 'validate fit/model.yaml b.csv --csv {out}.csv',
    'report': 'report {fit}',
    'export': 'export fit/model.yaml --to mjcf -o {out}',
    'compare': 'compare fit other --report {out}.html',
    'fleet': 'fleet fleet.yaml -o {out} --workers 1',
    'study': 'study elpidso --quick -o {out}'}
FLEET = """settings: {estimator: wls, friction: coulomb_viscous}
robots:
  one: {robot: two_link, recordings: [a.csv], held_out: [b.csv]}
  two: {robot: two_link, recordings: [b.csv], held_out: [a.csv]}
"""
TIME = 0.05, 5.0    # when the signal comes [s]
PATIENCE = 30.0    # until the program has to have ended [s]


def prepare(folder: Path) -> None:
    """Make good inputs of every command."""
    from robot_identification import load_arm
    (folder / 'arm.urdf').write_text(load_arm('two_link').urdf)
    (folder / 'fleet.yaml').write_text(FLEET)
    for line in ('excite two_link -o e.yaml --seed 1 --time-budget 20',
                 'excite two_link -o f.yaml --seed 2 --time-budget 20',
                 'simulate two_link e.yaml -o a.csv', 'simulate two_link f.yaml -o b.csv',
                 'identify two_link a.csv --held-out b.csv -o fit',
                 'identify two_link b.csv --held-out a.csv -o other'):
        done = subprocess.run([*MAIN, *line.split()], cwd=folder, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise SystemExit(f'{line}: {done.stderr}')


def state(folder: Path) -> dict[str, str]:
    """Return what every file of a folder holds."""
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob('*')) if path.is_file()}


def once(line: str, good: Path, number: int, wait: float) -> tuple[str, list[str]]:
    """Return how a command ended that got a signal, and what is wrong with that."""
    with tempfile.TemporaryDirectory() as place:
        folder, scratch = Path(place) / 'work', Path(place) / 'tmp'
        shutil.copytree(good, folder)
        scratch.mkdir()
        if '{fit}' in line:    # its output lies beside its input
            shutil.copytree(good / 'fit', folder / 'out')
        before = state(folder)
        words = line.format(out='out', fit='out').split()
        process = subprocess.Popen(
            [*MAIN, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True, env={**os.environ, 'TMPDIR': str(scratch)})
        time.sleep(wait)
        ended = process.poll() is not None
        early = not ended and not listens(process.pid)
        if not ended and number == signal.SIGINT:
            os.killpg(process.pid, number)
        elif not ended:
            process.send_signal(number)
        try:
            _, error = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return 'went on', [f'did not end within {PATIENCE:g} s']
        wrong = []
        if ('Traceback' in error or 'Exception' in error) and not early:
            wrong.append('traceback: ' + error.strip().splitlines()[-1][:100])
        after = state(folder)
        wrong += [f'{name} was changed' for name, digest in before.items()
                  if after.get(name) != digest and not name.startswith('out')]
        wrong += [f'left {name}' for name in after if Path(name).name.startswith('.')]
        wrong += [f'left {path.name} among temporary files' for path in scratch.iterdir()]
        wrong += alive(process.pid)
        code = process.returncode
        if code in (0, 1):
            return 'done', wrong
        if early and code in (-number, 128 + number):
            return 'early', wrong
        if code != 128 + number:
            wrong.append(f'code {code}: {error.strip()[-200:]}')
        return str(code), wrong


def listens(number: int) -> bool:
    """Return whether a process has a handler of SIGTERM."""
    try:
        status = Path(f'/proc/{number}/status').read_text()
    except OSError:
        return False
    mask = next(line for line in status.splitlines() if line.startswith('SigCgt'))
    return bool(int(mask.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def alive(session: int) -> list[str]:
    """Name processes of a session that go on for more than a few seconds."""
    end = time.monotonic() + 5
    while time.monotonic() < end:
        found = []
        for path in Path('/proc').iterdir():
            if path.name.isdigit():
                try:
                    words = (path / 'stat').read_text().rsplit(')', 1)[1].split()
                    if int(words[3]) == session and words[0] != 'Z':
                        found.append((path / 'cmdline').read_text().replace('\0', ' ')[:80])
                except (OSError, IndexError):
                    continue
        if not found:
            return []
        time.sleep(0.2)
    os.killpg(session, signal.SIGKILL)
    return [f'goes on: {line}' for line in found]


def main() -> int:
    """Print a table of endings, and what was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--count', type=int, default=100)
    parser.add_argument('--commands', nargs='*', default=list(COMMANDS), choices=list(COMMANDS))
    parser.add_argument('--seed', type=int, default=0)
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as place:
        good = Path(place)
        prepare(good)
        print('| command | runs | endings | wrong |\n| --- | --- | --- | --- |')
        for name in options.commands:
            rng = random.Random(f'{options.seed} {name}')
            endings: Counter[str] = Counter()
            said: Counter[str] = Counter()
            for _ in range(options.count):
                number = rng.choice([signal.SIGINT, signal.SIGTERM])
                wait = TIME[0] * (TIME[1] / TIME[0]) ** rng.random()
                ending, wrong = once(COMMANDS[name], good, number, wait)
                endings[ending] += 1
                said.update(f'{text} ({number.name} after {wait:.2f} s)' for text in wrong)
            failed += bool(said)
            print(f'| {name} | {options.count} | '
                  + ', '.join(f'{what}: {n}' for what, n in endings.most_common())
                  + f' | {sum(said.values())} |', flush=True)
            for text in said:
                print(f'  {text}', flush=True)
    return int(bool(failed))


if __name__ == '__main__':
    sys.exit(main())
