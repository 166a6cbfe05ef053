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
Generated C against Pinocchio's C++ and CasADi's C: microseconds of one call.

The first table compares inverse dynamics with Pinocchio's. The second one compares the derivatives
(torque by q, v and a) with the C that CasADi generates from its derivatives of inverse dynamics
with full inertias, and has forward dynamics without and with friction that depends on the load.

All are compiled with the same compiler and flags; Pinocchio's headers and libraries are those of
the wheel `pin`, Eigen's those of `pip install cmeel-eigen` (another folder: EIGEN_INCLUDE).
Without Eigen there is only the second table. Prints the tables and writes JSON where a path is
given.

    python benchmarks/generated_code.py [result.json]
"""

from __future__ import annotations

from dataclasses import replace
import json
import os
from pathlib import Path
import shutil
import subprocess
import sys
import tempfile

import casadi as ca
import numpy as np
import pinocchio
from robot_identification import Arm, IdentifiedModel, load_arm
from robot_identification.code_generation.rigid_body import aligned_chain, RigidBody
from robot_identification.export import export_model, ExportOptions

FLAGS = ('-O2', '-DNDEBUG')
BOOST = ('-DBOOST_MPL_LIMIT_LIST_SIZE=30', '-DBOOST_MPL_LIMIT_VECTOR_SIZE=30',
         '-DBOOST_FUSION_INVOKE_MAX_ARITY=12', '-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS')
"""As Pinocchio's own CMake configuration sets them."""
STATES, ROUNDS = 1000, 200
ARMS = ('panda', 'xarm7', 'ur10e')
PREFIX = Path(pinocchio.__file__).resolve().parents[4]
EIGEN = os.environ.get('EIGEN_INCLUDE', str(PREFIX / 'include' / 'eigen3'))

MAIN = """\
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>
#include <pinocchio/algorithm/rnea.hpp>
#include "@NAME@.h"

int main() {
  const int n = @N@, count = @STATES@;
  pinocchio::Model model;
@BUILD@  if (model.nv != n) { return 1; }
  pinocchio::Data data(model);
  std::vector<Eigen::VectorXd> q, v, a;
  std::srand(1);
  for (int k = 0; k < count; ++k) {
    q.push_back(Eigen::VectorXd::Random(n)); v.push_back(Eigen::VectorXd::Random(n));
    a.push_back(Eigen::VectorXd::Random(n));
  }
  double tau[n], sum = 0.0, apart = 0.0, best[2] = {1e9, 1e9};
  for (int k = 0; k < count; ++k) {
    @NAME@_rigid_body_torque(q[k].data(), v[k].data(), a[k].data(), tau);
    const Eigen::VectorXd &other = pinocchio::rnea(model, data, q[k], v[k], a[k]);
    for (int j = 0; j < n; ++j) { apart = std::max(apart, std::abs(tau[j] - other[j])); }
  }
  for (int round = 0; round < @ROUNDS@; ++round) {
    for (int which = 0; which < 2; ++which) {
      const auto begin = std::chrono::steady_clock::now();
      for (int k = 0; k < count; ++k) {
        if (which) { sum += pinocchio::rnea(model, data, q[k], v[k], a[k])[0]; }
        else {
          @NAME@_rigid_body_torque(q[k].data(), v[k].data(), a[k].data(), tau);
          sum += tau[0];
        }
      }
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
      best[which] = std::min(best[which], time.count() / count);
    }
  }
  std::printf("%.9g %.9g %.9g %.3g\\n", best[0], best[1], apart, sum);
  return 0;
}
"""


def built(arm: Arm) -> str:
    """Return the statements that build Pinocchio's model with the joints that its parser takes."""
    lines = []
    for i in range(1, arm.model.njoints):
        joint, placement = arm.model.joints[i], arm.model.jointPlacements[i]
        kind = joint.shortname()
        if kind[len('JointModel'):] not in ('RX', 'RY', 'RZ', 'PX', 'PY', 'PZ'):
            raise SystemExit(f'{arm.name}: joints of the kind {kind} are not compared here')
        rotation = ', '.join(repr(float(x)) for x in placement.rotation.ravel())
        body = ', '.join(repr(float(x)) for x in arm.inertial_parameters[i - 1])
        shift = ', '.join(repr(float(x)) for x in placement.translation)
        lines.append(f"""\
  {{
    Eigen::Matrix3d rotation;
    rotation << {rotation};
    Eigen::VectorXd body(10);
    body << {body};
    model.addJoint({arm.model.parents[i]}, pinocchio::{kind}(),
                   pinocchio::SE3(rotation, Eigen::Vector3d({shift})), "joint_{i}");
    model.appendBodyToJoint({i}, pinocchio::Inertia::FromDynamicParameters(body),
                            pinocchio::SE3::Identity());
  }}
""")
    return ''.join(lines)


def run_with_pinocchio(arm: Arm, text: str, values: dict[str, object], folder: Path,
                       *objects: str, eigen: str = EIGEN) -> list[float]:
    """Compile a program, @BUILD@, @N@ and @values@ filled in, and return what it prints."""
    for key, value in {'BUILD': built(arm), 'N': arm.n, **values}.items():
        text = text.replace(f'@{key}@', str(value))
    (folder / 'main.cpp').write_text(text)
    subprocess.run(
        ['c++', '-std=c++17', *FLAGS, *BOOST, '-fmax-errors=1', '-I', str(PREFIX / 'include'),
         '-I', eigen, '-I', '.', 'main.cpp', *objects, '-o', 'main', f'-L{PREFIX / "lib"}',
         f'-Wl,-rpath,{PREFIX / "lib"}', '-lpinocchio_default'], cwd=folder, check=True)
    done = subprocess.run(['./main'], cwd=folder, check=True, capture_output=True, text=True)
    return [float(x) for x in done.stdout.split()]


def frictionless(arm: Arm) -> IdentifiedModel:
    """Return the model of an arm with the inertias of its URDF, without rotors and friction."""
    m = len(arm.transmission)
    return IdentifiedModel(arm, arm.inertial_parameters, np.zeros(m), 'coulomb_viscous',
                           np.zeros((m, 3)))


def measure(name: str, folder: Path) -> dict[str, float]:
    arm = load_arm(name)
    exported = export_model(frictionless(arm), 'c')
    for file, content in exported.files.items():
        (folder / file).write_text(str(content))
    source = next(iter(exported.files))
    subprocess.run(['cc', '-std=c99', *FLAGS, '-c', source, '-o', 'code.o'], cwd=folder,
                   check=True)
    ours, theirs, apart, _ = run_with_pinocchio(
        arm, MAIN, {'NAME': Path(source).stem, 'STATES': STATES, 'ROUNDS': ROUNDS}, folder,
        'code.o')
    return {'generated': ours, 'pinocchio': theirs, 'ratio': ours / theirs, 'apart': apart}


CALLS = """\
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "free.h"
#include "load.h"
#include "casadi.h"

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void)
{
  static double q[@STATES@][@N@], v[@STATES@][@N@], a[@STATES@][@N@], tau[2][@STATES@][@N@];
  static double work[casadi_derivatives_SZ_W + 1], mine[3][@N@ * @N@], other[3][@N@ * @N@];
  double out[@N@] = {0.0}, best[4] = {1e9, 1e9, 1e9, 1e9}, sum = 0.0, apart = 0.0;
  const double *arg[casadi_derivatives_SZ_ARG];
  double *res[casadi_derivatives_SZ_RES];
  int i, j, k, w, failed = 0;
  for (i = 0; i < @STATES@; ++i) {
    for (j = 0; j < @N@; ++j) {
      q[i][j] = 2.0 * rand() / RAND_MAX - 1.0;
      v[i][j] = 2.0 * rand() / RAND_MAX - 1.0;
      a[i][j] = 2.0 * rand() / RAND_MAX - 1.0;
    }
    free_inverse_dynamics(q[i], v[i], a[i], tau[0][i]);
    load_inverse_dynamics(q[i], v[i], a[i], tau[1][i]);
  }
  for (k = 0; k < @ROUNDS@; ++k) {
    for (w = 0; w < 4; ++w) {
      const double begin = now();
      for (i = 0; i < @STATES@; ++i) {
        if (w == 0) {
          free_derivatives(q[i], v[i], a[i], mine[0], mine[1], mine[2]);
        } else if (w == 1) {
          arg[0] = q[i]; arg[1] = v[i]; arg[2] = a[i];
          res[0] = other[0]; res[1] = other[1]; res[2] = other[2];
          casadi_derivatives(arg, res, 0, work, 0);
        } else if (w == 2) {
          free_forward_dynamics(q[i], v[i], tau[0][i], out);
        } else {
          failed += load_forward_dynamics(q[i], v[i], tau[1][i], out);
        }
        sum += mine[0][0] + other[0][0] + out[0];
      }
      best[w] = fmin(best[w], (now() - begin) / @STATES@);
    }
  }
  for (w = 0; w < 3; ++w) {    /* the last state */
    for (i = 0; i < @N@ * @N@; ++i) { apart = fmax(apart, fabs(mine[w][i] - other[w][i])); }
  }
  printf("%.9g %.9g %.9g %.9g %.9g %.3g\\n", best[0], best[1], best[2], best[3], apart, sum);
  return failed;
}
"""


def casadi_code(arm: Arm, folder: Path) -> None:
    """Write CasADi's C code of the derivatives of inverse dynamics with full inertias."""
    chain = aligned_chain(arm, arm.inertial_parameters)
    q, v, a = (ca.SX.sym(name, arm.n) for name in 'qva')
    torque = RigidBody(chain, q).torque(v, a, chain.inertial)
    function = ca.Function('casadi_derivatives', [q, v, a],
                           [ca.densify(ca.jacobian(torque, x).T) for x in (q, v, a)])
    generator = ca.CodeGenerator('casadi.c', {'with_header': True})
    generator.add(function)
    generator.generate(f'{folder}/')


def measure_calls(name: str, folder: Path) -> dict[str, float]:
    arm, m = load_arm(name), len(load_arm(name).transmission)
    loaded = replace(frictionless(arm), friction='load_dependent', rotor_inertia=np.full(m, 0.1),
                     friction_parameters=np.tile([0.5, 0.5, 0.1, 0.0], (m, 1)))
    for model, prefix in ((frictionless(arm), 'free'), (loaded, 'load')):
        exported = export_model(model, 'c', ExportOptions(derivatives=True, name=prefix))
        for file, content in exported.files.items():
            (folder / file).write_text(str(content))
    casadi_code(arm, folder)
    text = CALLS
    for key, value in {'N': arm.n, 'STATES': STATES, 'ROUNDS': ROUNDS}.items():
        text = text.replace(f'@{key}@', str(value))
    (folder / 'calls.c').write_text(text)
    subprocess.run(['cc', '-std=c99', *FLAGS, 'calls.c', 'free.c', 'load.c', 'casadi.c', '-o',
                    'calls', '-lm'], cwd=folder, check=True)
    done = subprocess.run(['./calls'], cwd=folder, check=True, capture_output=True, text=True)
    return dict(zip(('derivatives', 'casadi', 'forward', 'forward with load', 'apart'),
                    map(float, done.stdout.split())))


def main() -> None:
    if shutil.which('c++') is None:
        raise SystemExit('no C++ compiler is installed')
    found = {}
    print(f'| arm | generated C | Pinocchio {pinocchio.__version__} RNEA | ratio |')
    print('| --- | --- | --- | --- |')
    for name in ARMS if (Path(EIGEN) / 'Eigen').is_dir() else ():
        with tempfile.TemporaryDirectory() as folder:
            found[name] = row = measure(name, Path(folder))
        print(f'| {name} | {1e6 * row["generated"]:.3f} us | {1e6 * row["pinocchio"]:.3f} us | '
              f'{row["ratio"]:.2f} |', flush=True)
    print('\n| arm | derivatives | by CasADi | ratio | difference | forward dynamics | '
          'with load |')
    print('| --- ' * 7 + '|')
    for name in ARMS:
        with tempfile.TemporaryDirectory() as folder:
            found[f'{name} calls'] = row = measure_calls(name, Path(folder))
        mine, casadi, free, load = (1e6 * x for x in list(row.values())[:4])
        print(f'| {name} | {mine:.3f} us | {casadi:.3f} us | {mine / casadi:.2f} | '
              f'{row["apart"]:.0e} | {free:.3f} us | {load:.3f} us |', flush=True)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps(found, indent=1))


if __name__ == '__main__':
    main()
