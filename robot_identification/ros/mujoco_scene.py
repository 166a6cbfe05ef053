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
"""MuJoCo scene of an arm for mujoco_ros2_control."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.arm.meshes import with_mesh_paths
from robot_identification.arrays import Array
from robot_identification.errors import ExcitationError, SimulationError
from robot_identification.ros.name_prefix import with_prefix
from robot_identification.simulation.plant import add_tendons, mujoco_module
from robot_identification.simulation.truth import draw_drives, PlantOptions, rated

MESHES = ('.stl', '.obj')    # formats that MuJoCo reads
FREQUENCY, DAMPING = 100.0, 0.7    # natural frequency [rad/s] and damping ratio of the servos
_POSTURES = 50    # random postures over which the inertia of a joint is averaged


def mujoco_scene(arm: Arm, command_interface: str = 'position', rate: float = 1000.0) -> str:
    """
    Return an MJCF scene of an arm with one actuator per joint, for mujoco_ros2_control.

    Links have the inertias of the URDF, drives the rotor inertia, Coulomb and viscous friction of
    `PlantOptions` with seed 0. Locked joints are fixed. Collision geometry is shown, but touches
    nothing.

    Parameters
    ----------
    arm
        The arm; its TF prefix is added to the names.
    command_interface
        'position': position servos of 16 Hz; 'effort': motors.
    rate
        Steps of the physics per second, which is also the update rate of the controllers [Hz].

    Raises
    ------
    SimulationError
        MuJoCo cannot build a model from the URDF, or a torque or velocity limit is unknown.
    MissingDependencyError
        MuJoCo is not installed.

    """
    mujoco = mujoco_module()
    try:
        spec = mujoco.MjSpec.from_string(_urdf_for_mujoco(arm))
        spec.option.gravity = arm.gravity
        spec.option.timestep = 1.0 / rate
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        spec.compiler.discardvisual = False    # geometries without contact are such
        for geometry in spec.geoms:
            geometry.contype = geometry.conaffinity = 0
        rotor = _add_drives(spec, arm)
        spec.worldbody.add_geom(
            name='floor', type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.05], contype=0,
            conaffinity=0, rgba=[0.8, 0.8, 0.8, 1])
        spec.worldbody.add_light(pos=[0, -1, 3], dir=[0, 0.3, -1])
        spec.compile()
        root = ElementTree.fromstring(spec.to_xml())
        # not by MjSpec: MuJoCo 4 writes actuators with an attribute that earlier versions refuse
        _add_actuators(root, arm, None if command_interface == 'effort'
                       else FREQUENCY ** 2 * _mean_inertia(arm, rotor))
        text = ElementTree.tostring(root, encoding='unicode')
        mujoco.MjModel.from_xml_string(text)
        return text
    except ValueError as error:
        raise SimulationError(f"MuJoCo cannot build a scene from the URDF of '{arm.name}': "
                              f'{str(error).strip()}') from error


def _urdf_for_mujoco(arm: Arm) -> str:
    """Return the URDF without visuals, and without meshes that are missing or unreadable."""
    try:
        root = ElementTree.fromstring(with_mesh_paths(arm))
    except ExcitationError:    # the scene shows no link then, and moves in the same way
        root = ElementTree.fromstring(arm.reduced_urdf)
        for link in root.findall('link'):
            for shape in (*link.findall('visual'), *link.findall('collision')):
                link.remove(shape)
    for link in root.findall('link'):
        for shape in link.findall('collision'):
            mesh = shape.find('geometry/mesh')
            if mesh is not None and Path(mesh.get('filename', '')).suffix.lower() not in MESHES:
                link.remove(shape)
    extension = ElementTree.SubElement(root, 'mujoco')
    ElementTree.SubElement(extension, 'compiler', strippath='false', discardvisual='true',
                           fusestatic='false', balanceinertia='false')
    return with_prefix(ElementTree.tostring(root, encoding='unicode'), arm.tf_prefix)


def _draw(arm: Arm) -> Any:
    """Return rotor inertias and friction of the drives, drawn with seed 0."""
    torque, velocity = (rated(arm, name) for name in ('torque', 'velocity'))
    return draw_drives(arm, PlantOptions(), torque, velocity, np.random.default_rng(0))


def scene_drives(arm: Arm) -> tuple[Array, tuple[Array, Array]]:
    """Return rotor inertias, and viscous and Coulomb friction at the joints of a scene, (n,)."""
    rotor, friction = _draw(arm)
    ratio = np.abs(arm.transmission.T)
    return ratio ** 2 @ rotor, (ratio ** 2 @ friction.viscous, ratio @ friction.coulomb)


def _add_drives(spec: Any, arm: Arm) -> Array:
    """Add friction and rotor inertias, and return these; coupled drives are fixed tendons."""
    rotor, friction = _draw(arm)
    drives = [*(spec.joint(name) for name in arm.ros_joint_names),
              *add_tendons(spec, arm, arm.ros_joint_names)]
    for k, drive in enumerate(drives):
        drive.armature, drive.frictionloss = rotor[k], friction.coulomb[k]
        # MuJoCo 4 has a polynomial in the speed, MuJoCo 3 a number
        drive.damping = np.resize([friction.viscous[k], 0.0, 0.0], np.shape(drive.damping)) \
            if np.ndim(drive.damping) else friction.viscous[k]
    return rotor


def _mean_inertia(arm: Arm, rotor: Array) -> Array:
    """Return the inertia of each joint with the others at rest, averaged over postures, (n,)."""
    rng, data = np.random.default_rng(0), arm.model.createData()
    reach = 2 * np.pi
    lower, upper = (np.clip(limit, -reach, reach) for limit in (arm.limits.lower,
                                                                arm.limits.upper))
    masses = [np.diag(pin.crba(arm.model, data, rng.uniform(lower, upper)))
              for _ in range(_POSTURES)]
    return np.asarray(np.mean(masses, axis=0) + arm.transmission.T ** 2 @ rotor)


def _add_actuators(root: ElementTree.Element, arm: Arm, stiffness: Array | None) -> None:
    """Add a position servo of a stiffness, or a motor, to each joint; its name is the joint's."""
    actuators = ElementTree.SubElement(root, 'actuator')
    for k, (name, limit) in enumerate(zip(arm.ros_joint_names, arm.limits.torque)):
        motor = ElementTree.SubElement(
            actuators, 'motor' if stiffness is None else 'position', name=name, joint=name,
            forcelimited='true', forcerange=f'{-limit:g} {limit:g}')
        if stiffness is not None:
            motor.set('kp', f'{stiffness[k]:g}')
            motor.set('kv', f'{2 * DAMPING / FREQUENCY * stiffness[k]:g}')
