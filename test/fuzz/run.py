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
Run the fuzzers of the readers: `python test/fuzz/run.py --count 1000 [READER ...]`.

Each case is read, and its content is used once, in a process whose memory is limited to 2 GB above
that of the libraries, within 10 s of processor time, with warnings as errors. Any outcome other
than a result or an error of the package is a failure. It is printed, and its file is stored in
test/fuzz/corpus, which every run reads again.
"""

from __future__ import annotations

import argparse
from functools import partial
import hashlib
import os
from pathlib import Path
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1])]

from fuzzers import FUZZERS  # noqa: E402
import numpy as np  # noqa: E402
from robot_identification.errors import RobotIdentificationError  # noqa: E402

CORPUS = HERE / 'corpus'
MEMORY, BATCH = 2_000_000_000, 2000


class TooLong(BaseException):
    """A case exceeded the time limit of its fuzzer."""


def alarm(number, frame):
    """End a case at its time limit."""
    raise TooLong


def judge(fuzzer, path, noise):
    """Return how reading a file failed (empty: it did not), and whether it was rejected."""
    before = os.fstat(noise).st_size
    # limits of processor time, in Python and, if a library in C ignores that one, of the process
    signal.setitimer(signal.ITIMER_PROF, fuzzer.seconds)
    signal.setitimer(signal.ITIMER_VIRTUAL, 2 * fuzzer.seconds)
    refused = False
    try:
        fuzzer.read(path)
    except RobotIdentificationError as error:
        refused = True
        if not str(error) or len(str(error)) > 20_000:
            return f'a sentence of {len(str(error))} characters', refused
    except TooLong:
        return f'more than {fuzzer.seconds} s', refused
    except BaseException as error:
        return f'{type(error).__module__}.{type(error).__name__}: {str(error)[:150]}', refused
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    sys.stderr.flush()
    noisy = fuzzer.quiet and os.fstat(noise).st_size > before
    return 'noise on stderr' if noisy else '', refused


def limited():
    """Limit the memory of this process."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pages = int(Path('/proc/self/statm').read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    warnings.simplefilter('error')
    signal.signal(signal.SIGPROF, alarm)


def child(key, cases, path, report):
    """Read cases and write one line for each into `report`; runs in its own process."""
    fuzzer, good = FUZZERS[key], (path.parent / 'seed').read_bytes()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    noise = os.open(path.parent / 'noise', os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.dup2(noise, 2)
    tempfile.tempdir = str(path.parent)
    limited()
    path.write_bytes(good)
    fuzzer.read(path)    # a valid file passes, and later cases find compiled functions
    for case in cases:
        if isinstance(case, Path):
            path.write_bytes(case.read_bytes())
        else:
            path.write_bytes(fuzzer.spoil(random.Random(case), good))
        report.write(f'{case}\t')
        report.flush()
        wrong, refused = judge(fuzzer, path, noise)
        report.write(f'{int(refused)}\t{wrong!a}\n')
        if wrong:
            keep(key, path, wrong)
    report.flush()


def keep(key, path, wrong):
    """Add a failing file to the corpus, one for each kind of failure."""
    folder = CORPUS / key
    folder.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(wrong.encode('utf-8', 'replace')).hexdigest()[:12]
    (folder / f'{name}{path.suffix}').write_bytes(path.read_bytes())


def forked(work):
    """Call a function in a fork of this process, and return its wait status."""
    pid = os.fork()
    if not pid:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1]


def run(key, cases):
    """Return the numbers of read, rejected and failed cases, and the failures by kind."""
    count = refused = failed = 0
    failures = {}
    with tempfile.TemporaryDirectory(dir='/dev/shm' if os.path.isdir('/dev/shm') else None) as f:
        path = Path(f) / FUZZERS[key].name
        forked(lambda: (Path(f) / 'seed').write_bytes(FUZZERS[key].seed()))
        while cases:
            batch, rest = cases[:BATCH], cases[BATCH:]
            log = Path(f) / 'log'
            with log.open('w') as report:
                status = forked(partial(child, key, batch, path, report))
            lines = log.read_text().splitlines()
            for line in lines:
                parts = line.split('\t')
                count += 1
                if len(parts) < 3:    # the process died in this case
                    failures.setdefault(f'the process ended with status {status}', parts[0])
                    keep(key, path, f'status {status}')
                    failed += 1
                    continue
                refused += parts[1] == '1'
                if parts[2] != "''":
                    failed += 1
                    failures.setdefault(parts[2], parts[0])
            if status and not (lines and len(lines[-1].split('\t')) < 3):
                said = (Path(f) / 'noise').read_text(errors='replace')
                raise SystemExit(f'the fuzzer of {key} failed itself: {said[-2000:]}')
            cases = batch[len(lines):] + rest
    return count, refused, failed, failures


def main():
    """Run the fuzzers named on the command line, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument('readers', nargs='*', help=f'of {", ".join(FUZZERS)}; all if none')
    parser.add_argument('--count', type=int, default=200)
    parser.add_argument('--first', type=int, default=0, help='number of the first case')
    asked = parser.parse_args()
    total = np.zeros(4, int)
    print('| reader | cases | refused | read | failures | time |\n|---|---|---|---|---|---|')
    for key in asked.readers or FUZZERS:
        start = time.monotonic()
        kept = sorted((CORPUS / key).glob('*'))
        numbers = range(asked.first, asked.first + asked.count)
        count, refused, failed, failures = run(key, [*kept, *numbers])
        counts = (count, refused, count - refused - failed, failed)
        total += counts
        print(f'| {key} | {" | ".join(map(str, counts))} | {time.monotonic() - start:.0f} s |',
              flush=True)
        for wrong, case in failures.items():
            print(f'  {case}: {wrong}', flush=True)
    print(f'| all | {" | ".join(map(str, total))} | |')
    sys.exit(bool(total[-1]))


if __name__ == '__main__':
    main()
