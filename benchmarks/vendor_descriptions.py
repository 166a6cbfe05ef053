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
From a vendor's description to a verdict, command by command, as docs/vendor_urdf.md states it.

    python benchmarks/vendor_descriptions.py --repositories FOLDER [--only NAME] [--json FILE]

FOLDER has the repositories of vendor_descriptions.yaml, each as FOLDER/OWNER/NAME
(`git clone https://github.com/OWNER/NAME FOLDER/OWNER/NAME`). Every command is typed as `--help`
shows it; a flag is added only where the output of the command before named it. The arm is
simulated from its (repaired) URDF with other inertias, friction and noise. FILE keeps each result;
arms that it has are not run again.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import shlex
import subprocess
import sys
import tempfile
import time

import yaml

MAIN = [sys.executable, '-m', 'robot_identification']
INIT = '--acceleration 5 --effort torque,joint,+1,gravity -o arm.yaml --force'
ADVICE = {'--repair': '--repair', '--velocity': '--velocity 2'}    # flags that `init` may name
STEPS = (
    'excite arm.yaml -o motion.yaml --validate --duration 6 --good-enough 30 --force',
    'simulate arm.yaml motion.yaml -o motion.csv --force',
    'simulate arm.yaml {other} -o other.csv --force',
    'identify arm.yaml motion.csv --held-out other.csv --excitation motion.yaml -o result',
    'validate result other.csv')
VERDICTS = {0: 'PASS', 1: 'FAIL', 3: 'DOUBT'}
LIMIT = 1200    # [s] of a command


class StoppedError(Exception):
    """A command ended with an error; its text is what the command said."""


class Session:
    """The commands of one user in one folder."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.commands: list[str] = []

    def run(self, words: str) -> tuple[int, str]:
        """Return the exit code and the output of a command."""
        self.commands.append(words)
        done = subprocess.run([*MAIN, *shlex.split(words)], cwd=self.folder, capture_output=True,
                              text=True, timeout=LIMIT, check=False)
        return done.returncode, done.stdout + done.stderr

    def must(self, words: str) -> str:
        """Return the output of a command; raise StoppedError if it fails."""
        code, text = self.run(words)
        if code == 2 or code < 0 or 'Traceback' in text:
            raise StoppedError(text)
        return text

    def init(self, words: str) -> None:
        """Write the robot YAML; once more with the flags that the first run names."""
        flags = ''
        for _ in range(2):
            code, text = self.run(f'init {words} {INIT}{flags}')
            asked = [flag for name, flag in ADVICE.items() if name in text and flag not in flags]
            if not asked:
                break
            flags += ' ' + ' '.join(asked)
        if code:
            raise StoppedError(text)
        self.flags = flags

    def verdict(self, words: str) -> str:
        """Return the verdict of all commands from `init` to `validate`."""
        self.init(words)
        try:
            self.must(STEPS[0])
        except StoppedError as stop:
            if '--repair' not in str(stop) or '--repair' in self.flags:
                raise
            self.must(f'init {words} {INIT}{self.flags} --repair')    # as the message says
            self.must(STEPS[0])
        self.must(STEPS[1])
        self.must(STEPS[2].format(other=self.validation_motion()))
        verdict, text = self.run(STEPS[3])
        if verdict not in VERDICTS or not (self.folder / 'result').exists():
            raise StoppedError(text)
        self.must(STEPS[4])
        return VERDICTS[verdict]

    def validation_motion(self) -> str:
        """Return the first motion that `excite --validate` wrote beside the excitation."""
        motions = sorted(path.name for path in self.folder.glob('motion_*.yaml'))
        if not motions:
            raise StoppedError('excite --validate wrote no motion for validation')
        return motions[0]


def sentence(text: str) -> str:
    """Return the last paragraph of what a command printed, on one line."""
    return ' '.join(text.strip().split('\n\n')[-1].split())[-400:]


def examine(entry: str, repositories: Path) -> dict:
    """Return verdict, number of commands, time and message of one description."""
    repository, path, *words = entry.split()
    folder = repositories / repository
    given = shlex.join([str(folder / path), *words, '--package-dir', str(folder)])
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        session, message = Session(Path(scratch)), ''
        try:
            verdict = session.verdict(given)
        except StoppedError as stop:
            verdict, message = 'stopped', sentence(str(stop))
        except subprocess.TimeoutExpired as expired:
            verdict, message = 'stopped', f'more than {expired.timeout} s'
        flags = [flag for flag in ADVICE if any(flag in words for words in session.commands)]
    return {'verdict': verdict, 'commands': len(session.commands), 'flags': flags,
            'seconds': round(time.perf_counter() - start), 'message': message}


def main() -> None:
    """Print a row for each description, and the number of each verdict."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--repositories', type=Path, required=True)
    parser.add_argument('--only', nargs='*', help='names of arms')
    parser.add_argument('--json', type=Path, help='file of the results')
    args = parser.parse_args()
    entries = yaml.safe_load(Path(__file__).with_suffix('.yaml').read_text(encoding='utf-8'))
    kept = args.json and args.json.exists()
    results = json.loads(args.json.read_text(encoding='utf-8')) if kept else {}
    for name in args.only or entries:
        if name in results:
            continue
        results[name] = result = examine(entries[name], args.repositories.resolve())
        print(f'{name:20s} {result["verdict"]:8s} {result["commands"]} commands '
              f'{result["seconds"]:4d} s  {" ".join(result["flags"])} {result["message"]}',
              flush=True)
        if args.json:
            args.json.write_text(json.dumps(results, indent=1), encoding='utf-8')
    verdicts = [result['verdict'] for result in results.values()]
    reached = [result for result in results.values()
               if result['verdict'] != 'stopped' and result['commands'] <= 8]
    print(f'{len(reached)} of {len(results)} reach a verdict in eight commands:',
          ', '.join(f'{verdicts.count(each)} {each}' for each in ('PASS', 'DOUBT', 'FAIL')))


if __name__ == '__main__':
    main()
