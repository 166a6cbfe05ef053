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
"""Models to export, and the torque errors of the programs that read the exports."""

from __future__ import annotations

import ctypes
import dataclasses
import io
import json
import os
from pathlib import Path
import subprocess
import sys
import tempfile

import numpy as np
import pinocchio as pin
from robot_identification import Arm, IdentifiedModel, inverse_dynamics, load_arm
from robot_identification.dynamics import get_friction
from robot_identification.export import export_model, ExportOptions
import scipy.io
from simulation_arms import MIXED, two_link
import yaml


def coupled():
    """Return an arm whose second drive turns with both joints."""
    arm = two_link()
    drives = dataclasses.replace(arm.drives, coupling=np.array([[1.0, 0.0], [1.0, 1.0]]))
    return dataclasses.replace(arm, drives=drives)


ARMS = {'panda': lambda: load_arm('panda'), 'ur10e': lambda: load_arm('ur10e'),
        'xarm7': lambda: load_arm('xarm7'), 'mixed': lambda: Arm.from_urdf(MIXED),
        'coupled': coupled}


def exported_model(arm, friction='coulomb_viscous', seed=0):
    """Return a model of an arm with a friction model, whose offset is not zero."""
    rng = np.random.default_rng(seed)
    family, m = get_friction(friction), len(arm.transmission)
    bounds = np.array(family.shape_bounds, dtype=float).reshape(-1, 2)
    shape = np.tile(np.exp(np.log(bounds).mean(axis=1)), (m, 1))
    return IdentifiedModel(
        arm, arm.inertial_parameters * 1.1, rng.uniform(0.05, 0.3, m), friction,
        rng.uniform(0.1, 0.5, (m, len(family.parameters))) * family.active(arm.actuator_names),
        friction_shape=shape)


def states(n, count=200, seed=1):
    """Return random q, v and a, (3, count, n)."""
    return np.random.default_rng(seed).normal(size=(3, count, n)) * 2.0


def relative(found, expected):
    """Return the largest error of a state relative to the largest value of that state."""
    found, expected = (np.reshape(x, (len(x), -1)) for x in (found, expected))
    return float((np.abs(found - expected).max(axis=1)
                  / np.maximum(np.abs(expected).max(axis=1), 1e-300)).max())


def rigid(model, q, v, a):
    """Return the torques of the rigid bodies and of the rotors, (N, n) each."""
    transmission = model.arm.transmission
    return (inverse_dynamics(model.arm, q, v, a, model.inertial),
            (a @ transmission.T * model.rotor_inertia) @ transmission)


def export_to(model, target, folder, **options):
    """Write an export into a folder; return the path of its main file, and the export."""
    exported = export_model(model, target, ExportOptions(**options))
    for name, content in exported.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder / next(iter(exported.files)), exported


def pinocchio_error(model, folder):
    """Return the error of Pinocchio's inverse dynamics of the exported URDF."""
    path, _ = export_to(model, 'urdf', folder)
    again = Arm.from_urdf(path, locked=model.arm.locked, gravity=model.arm.gravity)
    q, v, a = states(model.arm.n)
    return relative(inverse_dynamics(again, q, v, a), rigid(model, q, v, a)[0])


def mujoco_error(model, folder):
    """Return the error of MuJoCo's inverse dynamics of the MJCF, armature included."""
    import mujoco
    path, _ = export_to(model, 'mjcf', folder, friction=False)
    engine = mujoco.MjModel.from_xml_path(str(path))
    engine.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data, found = mujoco.MjData(engine), []
    place = [int(engine.joint(joint).dofadr[0]) for joint in model.arm.joint_names]
    q, v, a = states(model.arm.n)
    for k in range(len(q)):
        data.qpos[place], data.qvel[place], data.qacc[place] = q[k], v[k], a[k]
        mujoco.mj_inverse(engine, data)
        found.append(data.qfrc_inverse[place])
    return relative(np.array(found), sum(rigid(model, q, v, a)))


def drake_error(model, folder, target):
    """Return the error of Drake's inverse dynamics of the URDF or of the SDF (libsdformat)."""
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import MultibodyForces
    path, _ = export_to(model, target, folder, friction=False)
    plant = MultibodyPlant(0.0)
    instance, = Parser(plant).AddModels(str(path))
    first = next((plant.get_body(index) for index in plant.GetBodyIndices(instance)), None)
    if target == 'drake' and 'name="world"' not in path.read_text():    # otherwise the base floats
        plant.WeldFrames(plant.world_frame(), first.body_frame())
    plant.mutable_gravity_field().set_gravity_vector(model.arm.gravity)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    q, v, a = states(model.arm.n)
    place = [plant.GetJointByName(joint).velocity_start() for joint in model.arm.joint_names]
    found = np.zeros_like(q)
    for k in range(len(q)):
        for row, values in ((q, plant.SetPositions), (v, plant.SetVelocities)):
            full = np.zeros(model.arm.n)
            full[place] = row[k]
            values(context, full)
        forces = MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, forces)
        full = np.zeros(model.arm.n)
        full[place] = a[k]
        found[k] = plant.CalcInverseDynamics(context, full, forces)[place]
    bodies, rotors = rigid(model, q, v, a)
    if target == 'drake':
        own = np.diag(model.rotor_inertia[:model.arm.n])
        rotors = a @ own
    return relative(found, bodies + (rotors if target == 'drake' else 0.0))


def numpy_error(model, folder):
    """Return the torque error of the NumPy module, friction included."""
    path, _ = export_to(model, 'python', folder)
    q, v, a = states(model.arm.n)
    return relative(module(path)['inverse_dynamics'](q, v, a), model.torque(q, v, a))


def c_error(model, folder):
    """Return the torque error of the compiled C code, friction included."""
    path, _ = export_to(model, 'c', folder)
    q, v, a = states(model.arm.n)
    found = Compiled(path).call('inverse_dynamics', q, v, a, size=model.arm.n)
    return relative(found, model.torque(q, v, a))


def rebuilt(parents, placements, axes, slides, inertias, gravity, transmission, rotors):
    """Return torques of a Pinocchio model, with rotors, built from the fields of a file."""
    model = pin.Model()
    for parent, placement, axis, slide, inertia in zip(parents, placements, axes, slides,
                                                       inertias):
        kind = pin.JointModelPrismaticUnaligned if slide else pin.JointModelRevoluteUnaligned
        joint = model.addJoint(int(parent) + 1, kind(*axis), pin.SE3(np.array(placement)), 'j')
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    model.gravity = pin.Motion(np.array(gravity), np.zeros(3))
    data = model.createData()
    q, v, a = states(len(axes))
    bodies = np.array([pin.rnea(model, data, *row) for row in zip(q, v, a)])
    return bodies + (a @ np.transpose(transmission) * rotors) @ transmission


def json_error(model, folder):
    """Return the torque error of a model built from masses, inertias and drives in the JSON."""
    path, _ = export_to(model, 'json', folder)
    content = json.loads(path.read_text())
    joints, drives = content['joints'], content['drives']
    found = rebuilt(*([joint[key] for joint in joints] for key in ('parent', 'placement', 'axis')),
                    [joint['type'] == 'prismatic' for joint in joints],
                    [pin.Inertia(j['mass'], np.array(j['centre_of_mass']), np.array(j['inertia']))
                     for j in joints], content['gravity'],
                    np.array([drive['transmission'] for drive in drives]),
                    np.array([drive['rotor_inertia'] for drive in drives]))
    return relative(found, sum(rigid(model, *states(model.arm.n))))


def mat_error(model, folder):
    """Return the torque error of a model built from the parameters and drives in the .mat file."""
    path, _ = export_to(model, 'mat', folder)
    robot = scipy.io.loadmat(path, simplify_cells=True)['robot']
    found = rebuilt(robot['parent'] - 1, np.moveaxis(robot['placement'], 2, 0), robot['axis'],
                    robot['prismatic'],
                    [pin.Inertia.FromDynamicParameters(row) for row in
                     robot['inertial_parameters']],
                    robot['gravity'], robot['transmission'], robot['rotor_inertia'])
    return relative(found, sum(rigid(model, *states(model.arm.n))))


def isaac_error(model, folder):
    """Return the torque error of the URDF for Isaac Sim, with the armature in Isaac's fields."""
    path, exported = export_to(model, 'isaac', folder)
    urdf = next(folder / name for name in exported.files if name.endswith('.urdf'))
    again = Arm.from_urdf(urdf, locked=model.arm.locked, gravity=model.arm.gravity)
    armature = yaml.safe_load(path.read_text())['armature']
    q, v, a = states(model.arm.n)
    found = inverse_dynamics(again, q, v, a) + a * [armature[j] for j in model.arm.joint_names]
    transmission = model.arm.transmission    # an armature cannot couple joints
    own = np.sum(model.rotor_inertia[:, None] * transmission ** 2, axis=0)
    return relative(found, rigid(model, q, v, a)[0] + a * own)


def fmu_error(model, folder):
    """Return the torque error of the FMU of inverse dynamics, friction included."""
    import fmpy
    from fmpy.fmi2 import FMU2Slave
    path, _ = export_to(model, 'fmu', folder)
    description = fmpy.read_model_description(str(path))
    unit = FMU2Slave(guid=description.guid, unzipDirectory=fmpy.extract(str(path)),
                     modelIdentifier=description.coSimulation.modelIdentifier, instanceName='arm')
    n, (q, v, a) = model.arm.n, states(model.arm.n)
    unit.instantiate()
    unit.setupExperiment(startTime=0.0)
    unit.enterInitializationMode()
    unit.exitInitializationMode()
    found = np.zeros_like(q)
    for k in range(len(q)):
        unit.setReal(list(range(3 * n)), [*q[k], *v[k], *a[k]])
        unit.doStep(currentCommunicationPoint=0.01 * k, communicationStepSize=0.01)
        found[k] = unit.getReal(list(range(3 * n, 4 * n)))
    unit.terminate()
    unit.freeInstance()
    return relative(found, model.torque(q, v, a))


def module(path):
    """Return the names defined by a Python module."""
    names = {}
    exec(path.read_text(), names)
    return names


class Compiled:
    """A shared library made from exported C code."""

    FLAGS = ('-std=c99', '-pedantic', '-Wall', '-Wextra', '-Werror', '-O2')

    def __init__(self, source, *flags, dtype=np.float64):
        self.name, self.dtype = source.stem, dtype
        library = source.with_suffix('.so')
        subprocess.run(['cc', *self.FLAGS, *flags, '-shared', '-fPIC', str(source), '-o',
                        str(library), '-lm'], check=True, capture_output=True, text=True)
        self.library = ctypes.CDLL(str(library))

    def call(self, function, *inputs, size):
        """Return the results of a function with one output for rows of inputs, (N, size)."""
        return self.outputs(function, *inputs, sizes=[size])[0]

    def outputs(self, function, *inputs, sizes):
        """Return the outputs of a function for rows of inputs, (N, size) each."""
        pointer = ctypes.POINTER(np.ctypeslib.as_ctypes_type(self.dtype))
        inputs = [np.ascontiguousarray(x, dtype=self.dtype) for x in inputs]
        outputs = [np.zeros((len(inputs[0]), size), dtype=self.dtype) for size in sizes]
        run = getattr(self.library, f'{self.name}_{function}')
        self.status = [run(*(x[k].ctypes.data_as(pointer) for x in (*inputs, *outputs)))
                       for k in range(len(inputs[0]))]
        return outputs


READERS = {
    'urdf': ('Pinocchio', 'rigid bodies', pinocchio_error),
    'mjcf': ('MuJoCo', 'rigid bodies and rotors', mujoco_error),
    'sdf': ('libsdformat in Drake', 'rigid bodies',
            lambda model, folder: drake_error(model, folder, 'sdf')),
    'drake': ('Drake', 'rigid bodies and rotors',
              lambda model, folder: drake_error(model, folder, 'drake')),
    'c': ('cc', 'everything', c_error),
    'python': ('NumPy', 'everything', numpy_error),
    'fmu': ('fmpy', 'everything', fmu_error),
    'json': ('json, Pinocchio', 'rigid bodies and rotors', json_error),
    'mat': ('SciPy, Pinocchio', 'rigid bodies and rotors', mat_error),
    'isaac': ('Pinocchio, and its own armature', 'rigid bodies and rotors', isaac_error)}


def main():
    """Print a table of the exports, the programs that read them, and their torque errors."""
    table = io.StringIO()
    table.write(f'| target | read by | compared | {" | ".join(ARMS)} |\n')
    table.write('| --- ' * (3 + len(ARMS)) + '|\n')
    for target, (reader, compared, error) in READERS.items():
        cells = []
        for make in ARMS.values():
            with tempfile.TemporaryDirectory() as folder:
                try:
                    cells.append(f'{error(exported_model(make()), Path(folder)):.0e}')
                except ImportError:
                    cells.append('not installed')
        table.write(f'| {target} | {reader} | {compared} | {" | ".join(cells)} |\n')
    sys.stdout.write(table.getvalue())


if __name__ == '__main__':
    os.environ.setdefault('OMP_NUM_THREADS', '1')
    main()
