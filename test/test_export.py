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
"""Exports: programs that read them compute the model's torques, and omissions are reported."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree

from command_line import call
from export_checks import (
    ARMS,
    Compiled,
    export_to,
    exported_model,
    module,
    READERS,
    relative,
    states,
)
import mujoco
import numpy as np
import pinocchio as pin
import pytest
from robot_identification import joint_torque_regressor, load_arm
from robot_identification.arm import Arm
from robot_identification.arm.balancers import CoilSpring, GasSpring, TorsionSpring
from robot_identification.dynamics import (
    FRICTION_MODELS,
    FRICTION_TERMS,
    FrictionTerm,
    get_friction,
)
from robot_identification.errors import (
    ConfigurationError,
    ExportError,
    MissingDependencyError,
    UnknownNameError,
)
from robot_identification.export import export_model, ExportOptions, save_export, TARGETS
from robot_identification.registry import load_extensions
import scipy.io
from simulation_arms import MIXED, two_link
from slow import slow

NEEDS = {'sdf': ('pydrake', 'Drake'), 'drake': ('pydrake', 'Drake'), 'fmu': ('fmpy', 'fmpy')}
CODE = ('c', 'python', 'fmu')
CASADI = pytest.mark.skipif(importlib.util.find_spec('casadi') is None,
                            reason='CasADi is not installed')
EXACT = {'c': 1e-12, 'python': 1e-12, 'fmu': 1e-12,
         'mjcf': 1e-8}    # of MuJoCo 3.5 to 3.10; later ones round less
COMPILER = pytest.mark.skipif(shutil.which('cc') is None, reason='no C compiler is installed')


@pytest.mark.parametrize('name', ['mixed', 'coupled', 'xarm7'])
@pytest.mark.parametrize('target', READERS)
def test_readers_compute_the_torques_of_the_model(target, name, tmp_path):
    """Drake's reflected inertia has no coupling, so for Drake each joint has its own rotor."""
    if target in NEEDS:
        pytest.importorskip(NEEDS[target][0], reason=f'{NEEDS[target][1]} is not installed')
    if target in ('c', 'fmu') and shutil.which('cc') is None:
        pytest.skip('no C compiler is installed')
    if target in CODE:
        pytest.importorskip('casadi', reason='CasADi is not installed')
    error = READERS[target][2](exported_model(ARMS[name]()), tmp_path)
    assert error < EXACT.get(target, 1e-9)


@CASADI
@COMPILER
def test_compiled_code_is_the_model_on_ten_thousand_states(tmp_path):
    model = exported_model(load_arm('panda'), 'stribeck_asymmetric')
    path, _ = export_to(model, 'c', tmp_path, regressor=True)
    compiled, n = Compiled(path), model.arm.n
    q, v, a = states(n, 10_000)
    tau = model.torque(q, v, a)
    assert relative(compiled.call('inverse_dynamics', q, v, a, size=n), tau) < 1e-12
    assert relative(compiled.call('forward_dynamics', q, v, tau, size=n), a) < 1e-9
    rest = np.zeros_like(q[:500])
    assert relative(compiled.call('gravity', q[:500], size=n), model.torque(q[:500], rest, rest)
                    - model.drive_torque(rest, rest)) < 1e-12
    assert relative(compiled.call('mass_matrix', q[:500], size=n * n),
                    model.mass_matrix(q[:500]).reshape(500, -1)) < 1e-12
    assert relative(compiled.call('regressor', q[:500], v[:500], a[:500], size=10 * n * n),
                    joint_torque_regressor(model.arm, q[:500], v[:500], a[:500])) < 1e-12


@CASADI
@pytest.mark.parametrize('friction', [
    *FRICTION_MODELS, 'coulomb_viscous_asymmetric', 'coulomb + position + load + offset'])
def test_every_friction_model_has_an_exact_form(friction, tmp_path):
    model = exported_model(two_link(), friction)
    path, exported = export_to(model, 'python', tmp_path, strict=True)
    assert not exported.losses
    names = module(path)
    q, v, a = states(2)
    tau = model.torque(q, v, a)
    assert relative(names['inverse_dynamics'](q, v, a), tau) < 1e-12
    load = names['rigid_body_torque'](q, v, a)
    expected = model.friction_torque(v, load, q) @ model.arm.transmission
    place = (q,) if get_friction(friction).needs_position else ()
    assert relative(names['friction'](*place, v, load), expected) < 1e-12


@CASADI
@COMPILER
@pytest.mark.parametrize('friction', ['coulomb + slip + offset', 'slip_asymmetric + load',
                                      'viscous; elbow: slip + position + load'])
def test_memory_counts_as_slipped_and_what_that_costs_is_said(friction, tmp_path):
    model = exported_model(two_link(), friction)
    path, exported = export_to(model, 'c', tmp_path)
    assert all('(sliding state used); error' in str(loss) for loss in exported.losses)
    assert exported.losses[-1].joint == 'elbow'
    q, v, a = states(2)
    tau = model.torque(q, v, a, model.structure.sliding_state(v))
    compiled = Compiled(path)
    assert relative(compiled.call('inverse_dynamics', q, v, a, size=2), tau) < 1e-12
    assert relative(compiled.call('forward_dynamics', q, v, tau, size=2), a) < 1e-9
    path, _ = export_to(model, 'python', tmp_path)
    assert relative(module(path)['inverse_dynamics'](q, v, a), tau) < 1e-12
    with pytest.raises(ExportError, match='sliding state used'):
        export_model(model, 'c', ExportOptions(strict=True))


@CASADI
@COMPILER
@pytest.mark.parametrize(('arm', 'friction'), [
    *(slow('mixed', friction) for friction in FRICTION_MODELS if friction != 'load_dependent'),
    ('mixed', 'load_dependent'), ('mixed', 'coulomb + position + offset'), ('panda', 'stribeck')])
def test_single_precision_costs_less_than_a_hundred_thousandth_of_the_torque(
        arm, friction, tmp_path):
    model = exported_model(ARMS[arm](), friction)
    path, _ = export_to(model, 'c', tmp_path, float32=True, regressor=True, derivatives=True)
    compiled = Compiled(path, '-Wdouble-promotion', dtype=np.float32)
    q, v, a = (np.float32(x).astype(float) for x in states(model.arm.n))
    found = compiled.call('inverse_dynamics', q, v, a, size=model.arm.n)
    assert relative(found, model.torque(q, v, a)) < 1e-5
    assert 'double' not in re.sub(r'/\*.*?\*/', '', path.read_text(), flags=re.DOTALL)


@CASADI
@COMPILER
@pytest.mark.parametrize(('arm', 'friction'), [
    slow('panda', 'stribeck'), slow('panda', 'coulomb + viscous + load + position'),
    ('mixed', 'stribeck'), slow('mixed', 'coulomb + viscous + load + position'),
    slow('coupled', 'stribeck'), ('coupled', 'coulomb + viscous + load + position')])
def test_derivatives_are_those_of_the_models_torque(arm, friction, tmp_path):
    model = exported_model(ARMS[arm](), friction)
    n, (q, v, a), step = model.arm.n, states(model.arm.n, 20), 1e-6
    path, _ = export_to(model, 'c', tmp_path, derivatives=True)
    found = Compiled(path).outputs('derivatives', q, v, a, sizes=[n * n] * 3)
    path, _ = export_to(model, 'python', tmp_path, derivatives=True)
    for which, (values, others) in enumerate(zip(found, module(path)['derivatives'](q, v, a))):
        expected = np.empty((len(q), n, n))
        for j in range(n):
            ahead, behind = (np.stack((q, v, a)) for _ in range(2))
            ahead[which, :, j] += step
            behind[which, :, j] -= step
            expected[:, :, j] = (model.torque(*ahead) - model.torque(*behind)) / (2 * step)
        assert relative(values, expected) < 1e-6
        assert relative(others, values) < 1e-12


@CASADI
@COMPILER
@pytest.mark.parametrize('arm', ['panda', 'mixed', 'coupled'])
def test_kinematics_of_the_tool_are_pinocchios(arm, tmp_path):
    model = exported_model(ARMS[arm]())
    n, (q, _, _) = model.arm.n, states(model.arm.n, 20)
    compiled = Compiled(export_to(model, 'c', tmp_path)[0])
    position, rotation = compiled.outputs('forward_kinematics', q, sizes=[3, 9])
    jacobian = compiled.call('jacobian', q, size=6 * n)
    data = model.arm.model.createData()
    for k in range(len(q)):
        expected = pin.computeFrameJacobian(model.arm.model, data, q[k], model.arm.tool,
                                            pin.LOCAL_WORLD_ALIGNED)
        pose = pin.updateFramePlacement(model.arm.model, data, model.arm.tool)
        np.testing.assert_allclose(position[k], pose.translation, atol=1e-13)
        np.testing.assert_allclose(rotation[k].reshape(3, 3), pose.rotation, atol=1e-13)
        np.testing.assert_allclose(jacobian[k].reshape(6, n), expected, atol=1e-13)


def test_options_of_code_are_refused_for_other_targets():
    for option in ('float32', 'derivatives', 'regressor'):
        with pytest.raises(ExportError, match=f"'urdf' has no option {option}"):
            export_model(exported_model(two_link()), 'urdf', ExportOptions(**{option: True}))


@CASADI
@COMPILER
def test_functional_mock_up_units_compute_torque_and_motion(tmp_path):
    fmpy = pytest.importorskip('fmpy', reason='fmpy is not installed')
    from fmpy.validation import validate_fmu
    model = exported_model(two_link())
    _, exported = export_to(model, 'fmu', tmp_path)
    inverse, forward = (str(tmp_path / name) for name in exported.files)
    assert not validate_fmu(inverse) and not validate_fmu(forward)
    q, v, a = (np.array([0.3, -0.2]), np.array([0.5, 1.0]), np.array([2.0, -1.0]))
    start = {f'{name}[{j + 1}]': x[j] for name, x in (('q', q), ('v', v), ('a', a))
             for j in range(2)}
    found = fmpy.simulate_fmu(inverse, start_values=start, stop_time=0.01, step_size=0.01)
    tau = model.torque(q[None], v[None], a[None])[0]
    np.testing.assert_allclose([found['tau[1]'][-1], found['tau[2]'][-1]], tau, rtol=1e-12)
    start = {f'{name}[{j + 1}]': x[j] for name, x in (('q', q), ('v', v), ('tau', tau))
             for j in range(2)}
    found = fmpy.simulate_fmu(forward, start_values=start, stop_time=0.01, step_size=1e-3)
    for j in range(2):    # error of a constant acceleration: jerk times t^2 / 2
        assert found[f'v[{j + 1}]'][-1] == pytest.approx(v[j] + 0.01 * a[j], abs=2e-3)
        assert found[f'q[{j + 1}]'][-1] == pytest.approx(q[j] + 0.01 * v[j], abs=2e-4)


@CASADI
@COMPILER
def test_friction_that_needs_the_load_is_solved_for_in_forward_dynamics(tmp_path):
    model = exported_model(Arm.from_urdf(MIXED), 'load_dependent')
    q, v, a = states(3)
    tau = model.torque(q, v, a)
    path, _ = export_to(model, 'c', tmp_path)
    compiled = Compiled(path)
    assert relative(compiled.call('forward_dynamics', q, v, tau, size=3), a) < 1e-10
    assert not any(compiled.status)
    q[1] = np.nan
    compiled.call('forward_dynamics', q, v, tau, size=3)
    assert compiled.status == [0, 1] + [0] * (len(q) - 2)
    path, _ = export_to(model, 'python', tmp_path)
    assert relative(module(path)['forward_dynamics'](q[2:], v[2:], tau[2:]), a[2:]) < 1e-10
    with pytest.raises(ArithmeticError, match='the load on which friction depends'):
        module(path)['forward_dynamics'](q, v, tau)


@CASADI
@pytest.mark.skipif(shutil.which('c++') is None, reason='no C++ compiler is installed')
def test_the_header_serves_cpp(tmp_path):
    path, _ = export_to(exported_model(two_link()), 'c', tmp_path, name='my-arm 2')
    assert path.name == 'my_arm_2.c'
    (tmp_path / 'main.cpp').write_text(
        '#include "my_arm_2.h"\n#include <array>\nint main() { std::array<double, '
        'MY_ARM_2_JOINTS> q{}, tau{}; my_arm_2_gravity(q.data(), tau.data()); '
        'return tau[0] > 1e9; }\n')
    for words in (['cc', *Compiled.FLAGS, '-c', str(path), '-o', str(tmp_path / 'a.o')],
                  ['c++', '-std=c++17', '-Wall', '-Wextra', '-Werror', str(tmp_path / 'main.cpp'),
                   str(tmp_path / 'a.o'), '-o', str(tmp_path / 'main'), '-lm'],
                  [str(tmp_path / 'main')]):
        subprocess.run(words, check=True)


def test_zeros_are_folded_and_equal_parts_are_built_once():
    ca = pytest.importorskip('casadi', reason='CasADi is not installed')
    from robot_identification.code_generation.rigid_body import aligned_chain, RigidBody
    chain = aligned_chain(load_arm('ur10e'), load_arm('ur10e').inertial_parameters)
    q, v, a = (ca.SX.sym(name, 6) for name in 'qva')
    sums_and_products = (ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_SQ, ca.OP_TWICE)
    count = []
    for inertial in (chain.grouped(), chain.inertial):
        torque = ca.cse(RigidBody(chain, q).torque(v, a, inertial))
        function = ca.Function('torque', [q, v, a], [torque])
        count.append(sum(function.instruction_id(k) in sums_and_products
                         for k in range(function.n_instructions())))
    assert count[0] < 0.8 * count[1]    # grouped parameters contain more zeros
    assert count[0] <= 328


def test_code_without_casadi_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, 'robot_identification.code_generation.program', None)
    for target in ('c', 'python', 'fmu'):
        with pytest.raises(MissingDependencyError, match=r"'robot_identification\[codegen\]'"):
            export_model(exported_model(two_link()), target)
    assert export_model(exported_model(two_link()), 'json').files


class Table(FrictionTerm):
    """A friction term with a look-up table, for which no formula can be derived."""

    name = 'table'
    formula = 'values of a table'
    parameters = ('table',)
    units = ('N m s/rad',)
    nonnegative = (True,)

    def columns(self, motion, shape):
        return np.interp(motion.v, [-9, -1, 1, 9], [-3, -1, 1, 3])[..., None]


@CASADI
def test_friction_without_an_exact_form_is_fitted_or_refused(monkeypatch, tmp_path):
    monkeypatch.setitem(FRICTION_TERMS, 'table', Table())
    model = exported_model(two_link(), 'coulomb + table + offset')
    path, exported = export_to(model, 'python', tmp_path)
    assert {loss.joint for loss in exported.losses} == {'shoulder', 'elbow'}
    assert all('viscous and constant friction' in loss.what for loss in exported.losses)
    q, v, a = states(2)
    v = v / 4
    found = module(path)['inverse_dynamics'](q, v, a)
    error = np.sqrt(np.mean((found - model.torque(q, v, a)) ** 2, axis=0))
    assert np.all(error > 0) and np.all(error < 5 * np.array([x.error for x in exported.losses]))
    with pytest.raises(ExportError, match="'c' cannot express the full model: elbow: fric"):
        export_model(model, 'c', ExportOptions(strict=True))


def test_dynamics_of_the_urdf_carry_the_fit_and_nothing_else_changes(tmp_path):
    model = exported_model(load_arm('panda'))
    parameters = np.array(model.friction_parameters)
    parameters[:, 2] = 0.0    # without an offset the fit is exact
    exact = dataclasses.replace(model, friction_parameters=parameters)
    text = next(iter(export_model(exact, 'urdf').files.values()))
    for joint, (coulomb, viscous, _) in zip(model.arm.joint_names, parameters):
        found = re.search(rf'<joint name="{joint}".*?<dynamics damping="(.*?)" friction="(.*?)">'
                          r'<!-- friction sgn\(v\)', text, re.DOTALL)
        np.testing.assert_allclose([float(x) for x in found.groups()], [viscous, coulomb],
                                   rtol=1e-9)
    bare = re.compile(r'<inertial>.*?</inertial>|<dynamics[^>]*/>|<dynamics.*?</dynamics>',
                      re.DOTALL)
    assert bare.sub('', text) == bare.sub('', model.arm.urdf)
    untouched = next(iter(export_model(exact, 'urdf', ExportOptions(friction=False))
                          .files.values()))
    old = re.findall(r'<dynamics[^>]*/>', model.arm.urdf)
    assert re.findall(r'<dynamics[^>]*/>', untouched) == old


def test_losses_say_joint_cause_and_size():
    model = exported_model(two_link(), 'stribeck')
    losses = export_model(model, 'urdf').losses
    assert any("friction 'stribeck', approximated by Coulomb" in loss.what for loss in losses)
    rotors = [loss for loss in losses if loss.what == 'rotor inertia']
    assert [loss.joint for loss in rotors] == ['shoulder', 'elbow']
    assert all(loss.error > 0 and loss.unit == 'N m' for loss in losses)
    assert not any(loss.what == 'rotor inertia' for loss in export_model(model, 'mjcf').losses)
    simple = exported_model(two_link())
    assert {loss.what for loss in export_model(simple, 'urdf').losses} == {
        'rotor inertia', 'constant part (offset) of the friction'}
    assert not export_model(simple, 'mjcf').losses
    with pytest.raises(ExportError, match=r'rotor inertia; error .* N m rms, .*Without --strict'):
        export_model(model, 'urdf', ExportOptions(strict=True))
    assert any(loss.what.endswith('viscous friction without its constant part (offset)')
               for loss in export_model(model, 'urdf').losses)
    assert not any('offset' in loss.what for loss in export_model(model, 'mjcf').losses)


def test_gravity_of_a_tilted_base_is_a_loss_where_the_format_has_none():
    upright = exported_model(two_link())
    tilted = dataclasses.replace(upright, arm=two_link().with_gravity([0.0, 6.0, -7.76]))
    load_extensions()
    for name in TARGETS:
        if (name in CODE and importlib.util.find_spec('casadi') is None) or (
                name == 'fmu' and shutil.which('cc') is None):
            continue
        assert not [x for x in export_model(upright, name).losses if 'gravity' in x.what]
        lost = [x for x in export_model(tilted, name).losses if 'gravity' in x.what]
        assert bool(lost) == (name in ('urdf', 'sdf', 'drake', 'isaac')), name
        assert all('(0 6 -7.76 m/s^2)' in x.what and x.relative > 0.1 for x in lost)


def test_mjcf_slides_with_the_fitted_friction(tmp_path):
    """At speed, MuJoCo's friction equals the fitted friction."""
    model = exported_model(two_link())
    path, _ = export_to(model, 'mjcf', tmp_path)
    engine = mujoco.MjModel.from_xml_path(str(path))
    assert engine.dof_frictionloss == pytest.approx(model.friction_parameters[:, 0], rel=1e-6)
    assert engine.dof_damping.ravel() == pytest.approx(model.friction_parameters[:, 1], rel=1e-6)
    assert engine.dof_armature == pytest.approx(model.rotor_inertia, rel=1e-12)
    data = mujoco.MjData(engine)
    data.ctrl[:] = 5.0, 3.0
    mujoco.mj_forward(engine, data)
    assert data.qfrc_actuator == pytest.approx(
        np.array([5.0, 3.0]) - model.friction_parameters[:, 2], rel=1e-6)


def test_json_fits_its_schema_and_holds_the_model(tmp_path):
    model = exported_model(Arm.from_urdf(MIXED), 'stribeck')
    _, exported = export_to(model, 'json', tmp_path)
    content, schema = (json.loads(text) for text in exported.files.values())
    assert sorted(content) == schema['required']
    for kind in ('joints', 'drives'):
        for item in content[kind]:
            assert sorted(item) == schema['properties'][kind]['items']['required']
    np.testing.assert_array_equal([j['inertial_parameters'] for j in content['joints']],
                                  model.inertial)
    np.testing.assert_array_equal([d['friction_shape'] for d in content['drives']],
                                  model.friction_shape)
    jsonschema = pytest.importorskip('jsonschema', reason='jsonschema is not installed')
    jsonschema.validate(content, schema)


def test_matlab_file_holds_the_model(tmp_path):
    model = exported_model(Arm.from_urdf(MIXED), 'stribeck')
    path, _ = export_to(model, 'mat', tmp_path)
    robot = scipy.io.loadmat(path, simplify_cells=True)['robot']
    np.testing.assert_array_equal(robot['inertial_parameters'], model.inertial)
    np.testing.assert_array_equal(robot['friction_parameters'], model.friction_parameters)
    assert list(robot['joint_names']) == list(model.arm.joint_names)
    assert list(robot['parent']) == [0, 1, 1]


def test_joint_tables_name_every_joint():
    import yaml
    model = exported_model(Arm.from_urdf(MIXED))
    fields = yaml.safe_load(next(iter(export_model(model, 'isaac').files.values())))
    assert fields['armature'] == pytest.approx(
        dict(zip(model.arm.joint_names, model.rotor_inertia)))
    content = yaml.safe_load(next(iter(export_model(model, 'ros2_control').files.values())))
    gains = content['joint_trajectory_controller']['ros__parameters']['gains']
    assert list(gains) == list(model.arm.joint_names)
    assert all(g['p'] > 0 and g['d'] > 0 for g in gains.values())


def test_another_robots_urdf_is_refused(tmp_path):
    model = exported_model(load_arm('ur10e'))
    same = export_model(model, 'urdf', ExportOptions(urdf=model.arm.urdf))
    assert same.files == export_model(model, 'urdf').files
    with pytest.raises(ExportError, match=r"'ur10e': its joint '.*' has another origin or axis"):
        export_model(model, 'urdf', ExportOptions(urdf=load_arm('ur5e').urdf))
    with pytest.raises(ExportError, match='it moves shoulder, elbow, the model'):
        export_model(model, 'mjcf', ExportOptions(urdf=two_link().urdf))


def test_an_unknown_target_is_named_with_those_there_are():
    with pytest.raises(UnknownNameError, match="no export target 'urfd'; choose from: c, drake"):
        export_model(exported_model(two_link()), 'urfd')


def test_an_export_replaces_no_input(tmp_path):
    exported = export_model(exported_model(two_link()), 'urdf')
    path, = save_export(exported, tmp_path / 'new' / 'a.urdf')
    assert path.name == 'a.urdf'
    before = path.read_text()
    with pytest.raises(ConfigurationError, match='is read by this command'):
        save_export(exported, path, [path])
    assert path.read_text() == before
    assert save_export(exported, tmp_path)[0] == tmp_path / 'two.urdf'
    (tmp_path / 'notes.urdf').write_text('my notes')
    with pytest.raises(ConfigurationError, match='is not an export of a model'):
        save_export(exported, tmp_path / 'notes.urdf')
    save_export(exported, tmp_path / 'notes.urdf', force=True)
    model = exported_model(two_link())
    own, bare = tmp_path / 'own', export_model(model, 'urdf', ExportOptions(friction=False))
    own.mkdir()
    (own / 'two.urdf').write_text(model.arm.urdf)    # the user's own file, which is not an input
    with pytest.raises(ConfigurationError, match='is not an export of a model'):
        save_export(bare, own)
    assert (own / 'two.urdf').read_text() == model.arm.urdf
    for _ in range(2):    # but an export can be repeated
        save_export(bare, tmp_path / 'bare')
    again = dataclasses.replace(model, arm=Arm.from_urdf(bare.files['two.urdf']))
    again.save(own / 'two.isaac.yaml')
    with pytest.raises(ConfigurationError, match='is not an export of a model'):
        save_export(export_model(model, 'isaac'), own)


@CASADI
def test_counterbalances_are_in_the_code_and_missing_in_descriptions(tmp_path):
    spring = CoilSpring(name='spring', joint='shoulder', strength=900.0, fixed_radius=0.1,
                        moving_radius=0.15, angle=0.3, free_length=0.1)
    gas = GasSpring(name='gas', joint='elbow', strength=1.0, fixed_radius=0.5,
                    moving_radius=0.2, area=1e-3, pressure=1e6, volume=2e-3,
                    length_at_pressure=0.5)
    arm = dataclasses.replace(two_link(), balancers=(spring, gas))
    model = exported_model(arm, 'load_dependent')
    path, _ = export_to(model, 'python', tmp_path, strict=True)
    q, v, a = states(2)
    names, tau = module(path), model.torque(q, v, a)
    assert relative(names['inverse_dynamics'](q, v, a), tau) < 1e-12
    assert relative(names['forward_dynamics'](q, v, tau), a) < 1e-9
    losses = export_model(model, 'mjcf').losses
    assert [x.joint for x in losses if 'counterbalances' in x.what] == ['shoulder', 'elbow']


def test_torsion_springs_are_in_mjcf_and_sdf(tmp_path):
    springs = (TorsionSpring(name='a', joint='elbow', strength=30.0, rest=0.4),
               TorsionSpring(name='b', joint='elbow', strength=10.0, rest=-0.8))
    model = exported_model(dataclasses.replace(two_link(), balancers=springs))
    exported = export_model(model, 'mjcf')
    assert not [x for x in exported.losses if 'counterbalances' in x.what]
    engine = mujoco.MjModel.from_xml_string(next(iter(exported.files.values())))
    data = mujoco.MjData(engine)
    data.qpos[:] = 0.3, 0.7
    mujoco.mj_forward(engine, data)
    np.testing.assert_allclose(data.qfrc_spring, -model.balancer_torque(np.array([[0.3, 0.7]]))[0],
                               rtol=1e-9)
    exported = export_model(model, 'sdf')
    assert not [x for x in exported.losses if 'counterbalances' in x.what]
    root = ElementTree.fromstring(exported.files['two.sdf'])
    axis = next(x for x in root.iter('joint') if x.get('name') == 'elbow').find('axis/dynamics')
    assert float(axis.findtext('spring_stiffness')) == pytest.approx(40.0)
    assert float(axis.findtext('spring_reference')) == pytest.approx(0.1)
    losses = export_model(model, 'urdf').losses
    assert [x.joint for x in losses if 'counterbalances' in x.what] == ['elbow']


@CASADI
def test_the_command_export(tmp_path):
    model = exported_model(two_link(), 'stribeck')
    model.save(tmp_path / 'model.yaml')

    def run(*words):
        return call('export', tmp_path / 'model.yaml', *words, cwd=tmp_path)

    done = run('--to', 'c', '-o', 'code', '--json')
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)['files'] == ['code/two.c', 'code/two.h']
    done = run('--to', 'urdf', '--strict')
    assert done.returncode == 2 and 'rotor inertia' in done.stderr
    assert not (tmp_path / 'two.urdf').exists()
    done = run('--to', 'urdf')
    assert done.returncode == 0 and "parts of the model that 'urdf' cannot express" in done.stdout


def test_every_target_writes_files_for_a_slider_and_a_tree():
    model = exported_model(Arm.from_urdf(MIXED))
    load_extensions()
    for name in TARGETS:
        if name == 'fmu' and shutil.which('cc') is None:
            continue
        if name in CODE and importlib.util.find_spec('casadi') is None:
            continue
        exported = export_model(model, name)
        assert all(len(content) > 0 for content in exported.files.values()), name
    assert get_friction(model.friction).key == model.friction
