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
"""The package of `export --to ros2`: its core is the model, never allocates and refuses faults."""

from __future__ import annotations

import ast
import ctypes
import dataclasses
import importlib.util
import os
from pathlib import Path
import re
import shutil
import subprocess
from xml.etree import ElementTree

from export_checks import coupled, exported_model, relative, states
import numpy as np
import pytest
from robot_identification import inverse_dynamics
from robot_identification.arm import Arm
from robot_identification.arm.balancers import CoilSpring, TorsionSpring
from robot_identification.dynamics.friction import FrictionInput
from robot_identification.export import export_model, save_export
from simulation_arms import MIXED, two_link
import yaml

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec('casadi') is None,
                       reason='CasADi is not installed'),
    pytest.mark.skipif(shutil.which('c++') is None or shutil.which('cc') is None,
                       reason='no C++ compiler is installed')]
WARNINGS = ('-Wall', '-Wextra', '-Wconversion', '-Wpedantic', '-Werror', '-O2')
SHIM = """
#include <cstring>
#include "@pkg@/dynamics.hpp"

// settings: the vectors of Settings in their order
extern "C" int step(int forward, const double *settings, const double *x, double *effort)
{
  using namespace @pkg@;
  Settings s;
  static_assert(sizeof(Settings) == 6 * sizeof(Vector), "only vectors");
  std::memcpy(static_cast<void *>(&s), settings, sizeof s);
  Vector in[5], out;
  std::memcpy(in, x, sizeof in);
  out.fill(-1.0);
  static_assert(noexcept(feed_forward(in[0], in[1], in[2], in[3], in[4], s, out)), "noexcept");
  static_assert(noexcept(gravity_compensation(in[0], in[1], in[2], s, out)), "noexcept");
  const Status status = forward ? feed_forward(in[0], in[1], in[2], in[3], in[4], s, out)
                                : gravity_compensation(in[0], in[1], in[2], s, out);
  std::memcpy(effort, out.data(), sizeof out);
  return static_cast<int>(status);
}

extern "C" int valid(const double *values)
{
  @pkg@::Vector setting;
  std::memcpy(setting.data(), values, sizeof setting);
  return @pkg@::is_valid(setting);
}
"""


def springy():
    """Return an arm with a torsion spring and a coil spring."""
    springs = (TorsionSpring(name='a', joint='elbow', strength=30.0, rest=0.4),
               CoilSpring(name='b', joint='shoulder', strength=900.0, fixed_radius=0.1,
                          moving_radius=0.15, angle=0.3, free_length=0.1))
    return dataclasses.replace(two_link(), balancers=springs)


ARMS = {'coupled': (coupled, 'stribeck_asymmetric'), 'spring': (springy, 'coulomb_viscous'),
        'prismatic': (lambda: Arm.from_urdf(MIXED), 'load_dependent')}


class Package:
    """An exported package whose C++ core is compiled."""

    def __init__(self, name, folder):
        arm, friction = ARMS[name]
        self.model = exported_model(arm(), friction)
        self.n = self.model.arm.n
        self.main = save_export(export_model(self.model, 'ros2'), folder)[0]
        self.root = self.main.parent
        self.name = self.root.name.removesuffix('_dynamics')
        (folder / 'shim.cpp').write_text(SHIM.replace('@pkg@', self.root.name))
        self.code = folder / 'code.o'
        self.run('cc', '-std=c99', '-fPIC', '-I', self.root / 'include' / self.root.name, '-c',
                 self.root / 'src' / f'{self.name}.c', '-o', self.code)
        self.run('c++', '-std=c++17', '-fPIC', '-shared', '-I', self.root / 'include',
                 folder / 'shim.cpp', self.code, '-o', folder / 'shim.so')
        library = ctypes.CDLL(str(folder / 'shim.so'))
        self.step, self.valid = library.step, library.valid
        self.settings = np.zeros((6, self.n))

    @staticmethod
    def run(compiler, *words):
        subprocess.run([compiler, *WARNINGS, *map(str, words)], check=True)

    def call(self, forward, *vectors):
        """Return status and efforts for q, v and references, (n,) each."""
        x, effort = np.zeros((5, self.n)), np.zeros(self.n)
        x[:len(vectors)] = vectors
        pointer = ctypes.POINTER(ctypes.c_double)
        status = self.step(int(forward), *(a.ctypes.data_as(pointer)
                                           for a in (self.settings, x, effort)))
        return status, effort

    def smooth_torque(self, q, v, a):
        """Return the model's torques with the documented smooth friction, from NumPy."""
        model, arm = self.model, self.model.arm
        rigid = inverse_dynamics(arm, q, v, a, model.inertial) + model.balancer_torque(q)
        speed, owners = v @ arm.transmission.T, arm.drives.owners
        m = np.sqrt(speed ** 2 + self.settings[0, owners] ** 2)
        # friction_torque takes joint velocities; each actuator is asked for its own speed
        friction = np.zeros_like(speed)
        for sign in (1.0, -1.0):
            values = actuator_friction(model, sign * m, rigid)
            friction += (1 + sign * speed / m) / 2 * values
        rotors = (a @ arm.transmission.T * model.rotor_inertia) @ arm.transmission
        return rigid + rotors + friction @ arm.transmission


def actuator_friction(model, speed, load):
    """Return the friction of each actuator at actuator speeds, by its columns, (N, m)."""
    family = model.structure.friction
    torque = np.empty_like(speed)
    for e, owner in enumerate(model.arm.drives.owners):
        columns = family.columns(
            FrictionInput(speed[:, e], np.zeros(len(speed)), load[:, owner]),
            model.friction_shape[e])
        torque[:, e] = columns @ model.friction_parameters[e]
    return torque


@pytest.fixture(scope='module', params=ARMS)
def compiled(request, tmp_path_factory):
    return Package(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture
def package(compiled):
    compiled.settings[:] = np.array([0.1, 1e9, 1e9, 1e9, 2.0, 3.0])[:, None]
    return compiled


def test_core_is_the_model_and_its_loop_never_allocates(package, tmp_path):
    q, v, a = states(package.n, 100)
    still = np.zeros_like(q)
    gravity = (inverse_dynamics(package.model.arm, q, still, still, package.model.inertial)
               + package.model.balancer_torque(q))
    found = np.array([package.call(False, *row)[1] for row in zip(q, v, a)])
    assert relative(found - a, gravity) < 1e-12
    found = np.array([package.call(True, q_, v_, q_, v_, a_)[1] for q_, v_, a_ in zip(q, v, a)])
    assert relative(found, package.smooth_torque(q, v, a)) < 1e-12
    # far above the smoothing velocity it is the model's own torque
    package.settings[0] = 1e-9
    found = np.array([package.call(True, q_, v_, q_, v_, a_)[1] for q_, v_, a_ in zip(q, v, a)])
    assert relative(found, package.model.torque(q, v, a)) < 1e-12
    error = package.call(True, q[0] - 0.1, v[0] + 0.2, q[0], v[0], a[0])[1] - found[0]
    np.testing.assert_allclose(error, 2.0 * 0.1 - 3.0 * 0.2, atol=1e-11)
    package.run('c++', '-std=c++17', '-I', package.root / 'include',
                package.root / 'src' / 'check_realtime.cpp', package.code, '-o',
                tmp_path / 'check', '-pthread')
    done = subprocess.run([tmp_path / 'check', '2'], capture_output=True, text=True, check=True)
    print(done.stdout)
    assert done.stdout.startswith('2000 cycles, 0 allocations;')


def test_friction_of_the_feed_forward_is_smooth_at_rest(package):
    q, a = states(package.n, 2)[0]
    speeds = np.linspace(-0.02, 0.02, 401)[:, None] * np.ones(package.n)
    smooth = np.array([package.call(True, q, v, q, v, a)[1] for v in speeds])
    rows = np.ones((len(speeds), 1))
    jump = np.abs(np.diff(package.model.torque(rows * q, speeds, rows * a), axis=0)).max(axis=0)
    steps = np.abs(np.diff(smooth, axis=0))
    assert np.all(steps.max(axis=0) < 0.02 * jump)
    assert np.all(np.abs(np.diff(steps, axis=0)).max(axis=0) < 1e-4 * jump)


def test_faults_leave_the_effort_as_it_is_and_limits_clamp_it(package):
    q, v, a = states(package.n, 3)[:, 0] * 0.1
    package.settings[2:4] = 1.0
    for values, status in (((np.nan, 0, 0), 1), ((0, np.inf, 0), 1), ((0, 0, np.nan), 1),
                           ((0, 2.0, 0), 2)):
        for forward in (True, False):
            vectors = [x + y for x, y in zip((q, v, a), values)]
            found, effort = package.call(forward, *(
                [*vectors[:2], q, v, vectors[2]] if forward else vectors))
            assert found == status and np.all(effort == -1.0)
    found, effort = package.call(True, q + 1.5, v, q, v, a)
    assert found == 3 and np.all(effort == -1.0)
    package.settings[1] = 0.01
    for forward in (True, False):
        found, effort = package.call(forward, q, v, q, v, a)
        assert found == 0 and np.all(np.abs(effort) <= 0.01)


def test_settings_and_efforts_that_are_not_finite_are_refused(package):
    for value, valid in ((0.0, 1), (1e9, 1), (np.nan, 0), (np.inf, 0), (-1e-9, 0)):
        setting = np.ones(package.n)
        setting[-1] = value
        assert package.valid(setting.ctypes.data_as(ctypes.POINTER(ctypes.c_double))) == valid
    q, v, a = states(package.n, 3)[:, 0] * 0.1
    huge = np.full(package.n, 1e200)    # finite, but its square is not
    assert package.call(True, q, v, q, huge, a)[0] == 1
    package.settings[5] = np.nan
    status, effort = package.call(True, q, v, q, v, a)
    assert status == 1 and np.all(effort == -1.0)


def test_files_of_the_package_are_complete(package):
    texts = {path.relative_to(package.root).as_posix(): path.read_text()
             for path in package.root.rglob('*') if path.is_file()}
    assert len(texts) == 14
    for name, text in texts.items():
        assert re.search('generated by robot_identification', text, re.IGNORECASE), name
        assert not re.search(r'@\w+@', text), name
    root = ElementTree.fromstring(texts['package.xml'])
    used = set(re.findall(r'find_package\((\w+)', texts['CMakeLists.txt']))
    depends = {element.text for element in root if element.tag.endswith('depend')}
    assert used - {'Eigen3'} <= depends and root.findtext('name') == package.root.name
    for plug_in, base in (('effort_controller', 'controller_interface'),
                          ('inverse_dynamics_solver', 'inverse_dynamics_solver')):
        library = ElementTree.fromstring(texts[f'{plug_in}.xml'])
        assert f'OUTPUT_NAME {library.get("path")}' in texts['CMakeLists.txt']
        kind = library.find('class')
        assert kind.get('base_class_type').startswith(base)
        exported = f'{kind.get("type")}, {kind.get("base_class_type")}'
        assert f'PLUGINLIB_EXPORT_CLASS(\n  {exported})' in texts[f'src/{plug_in}.cpp']
    ast.parse(texts['launch/effort_controller.launch.py'])
    parameters = yaml.safe_load(texts['src/effort_controller_parameters.yaml'])
    configured = yaml.safe_load(texts['config/controllers.yaml'])
    arm = package.model.arm
    own = configured[f'{package.name}_effort_controller']['ros__parameters']
    for name, parameter in parameters['effort_controller'].items():
        if parameter['type'] == 'double_array':
            assert parameter['default_value'] == own[name] and len(own[name]) == arm.n
            assert parameter['validation']['fixed_size<>'] == [arm.n] and min(own[name]) > 0
    trajectory = configured['joint_trajectory_controller']['ros__parameters']
    assert trajectory['joints'] == list(arm.joint_names)
    assert ('std::logic_error' in texts['src/inverse_dynamics_solver.cpp']) == (
        package.model.structure.friction.needs_load)


def test_package_builds_where_ros2_control_is_installed(tmp_path):
    prefixes = os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
    for needed in ('controller_interface', 'generate_parameter_library', 'pluginlib'):
        if not any((Path(prefix) / 'share' / needed).is_dir() for prefix in prefixes):
            pytest.skip(f'{needed} of ROS 2 is not installed')
    package = Package('coupled', tmp_path)
    for words in (['cmake', '-S', package.root, '-B', tmp_path / 'build'],
                  ['cmake', '--build', tmp_path / 'build']):
        subprocess.run(list(map(str, words)), check=True, timeout=600)
