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
Time of the regressor against Pinocchio's C++ call in a C++ loop, on one core each.

    pip install cmeel-eigen
    python benchmarks/regressor_cpp.py [--robot NAME_OR_YAML] [--samples 20000]

Compiles `regressor_loop.cpp` with g++ (-O3 -march=native) against the headers of Pinocchio's wheel
and Eigen's, which takes a minute. Both fill the same regressors, and their difference is printed.
"""

from __future__ import annotations

import argparse
from pathlib import Path
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from robot_identification import joint_torque_regressor, load_arm
from robot_identification.parallel import use_cores

SOURCE = Path(__file__).with_name('regressor_loop.cpp')
# as Pinocchio's own build defines them
DEFINES = ('BOOST_MPL_LIMIT_LIST_SIZE=30', 'BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS',
           'BOOST_FUSION_INVOKE_MAX_ARITY=10', 'NDEBUG')


def compiled(folder: Path) -> Path:
    """Return the program, compiled in a folder."""
    import pinocchio
    prefix = Path(pinocchio.__file__).parents[4]
    if shutil.which('g++') is None or not (prefix / 'include/eigen3').is_dir():
        sys.exit('needs g++ and the headers of Eigen: pip install cmeel-eigen')
    subprocess.run(['g++', '-O3', '-march=native', '-std=c++17', '-w',
                    *(f'-D{d}' for d in DEFINES),
                    SOURCE, '-o', folder / 'loop', f'-I{prefix}/include',
                    f'-I{prefix}/include/eigen3', f'-L{prefix}/lib', '-lpinocchio_default',
                    f'-Wl,-rpath,{prefix}/lib'], check=True)
    return folder / 'loop'


def description(arm) -> str:
    """Return the joints of the arm as the program reads them."""
    model, lines = arm.model, [str(arm.n)]
    for j in range(1, model.njoints):
        place, body = model.jointPlacements[j], model.inertias[j]
        numbers = [*place.rotation.ravel(), *place.translation, body.mass, *body.lever,
                   *body.inertia.ravel()]
        kind = model.joints[j].shortname().removeprefix('JointModel')
        lines.append(f'{kind} {model.parents[j]} ' + ' '.join(repr(float(x)) for x in numbers))
    return '\n'.join(lines)


def main() -> int:
    """Print the table; 1 when ours takes more than 1.5 times as long."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--robot', default='panda')
    parser.add_argument('--samples', type=int, default=20_000)
    parser.add_argument('--runs', type=int, default=7)
    options = parser.parse_args()
    arm = load_arm(options.robot)
    use_cores(1)
    states = np.random.default_rng(0).normal(size=(3, options.samples, arm.n))
    out = np.ones((options.samples, arm.n, 10 * arm.n))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = compiled(folder)
        (folder / 'arm').write_text(description(arm))
        states.tofile(folder / 'states')
        pairs = []
        for _ in range(options.runs):
            told = subprocess.run([program, folder / 'arm', folder / 'states', folder / 'out'],
                                  check=True, capture_output=True, text=True).stdout
            began = time.process_time()
            joint_torque_regressor(arm, *states, out=out, backend='numba')
            pairs.append((time.process_time() - began, float(told)))
        theirs = np.fromfile(folder / 'out').reshape(out.shape)
    for label, seconds in zip(('numba', 'C++ loop'), zip(*pairs)):
        print(f'{label:>10} {statistics.median(seconds) / options.samples * 1e6:8.2f} us a sample')
    ratio = statistics.median(ours / loop for ours, loop in pairs)
    print(f'ratio {ratio:.2f} (1.5 asked), largest difference {np.abs(out - theirs).max():.1e}')
    return 0 if ratio <= 1.5 else 1


if __name__ == '__main__':
    sys.exit(main())
