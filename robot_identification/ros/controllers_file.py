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
"""Controllers files of ros2_control, with effort gains that are stable in a simulation."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.arm.urdf import parse_urdf
from robot_identification.arrays import Array, readonly_view
from robot_identification.errors import ConfigurationError
from robot_identification.ros.execution import BrakeTiming, MotionTolerances, path_tolerance

UPDATE_RATE = 1000.0
"""Update rate of generated controllers, one cycle per step of Gazebo [Hz]."""
CONTROLLERS = {'position': 'joint_trajectory_controller',
               'effort': 'joint_trajectory_effort_controller'}
"""Name of the generated controller for each command interface."""
GOAL = {'position': 0.02, 'effort': 0.1}
"""Goal tolerances [rad or m]: gravity and friction deflect a joint that has no integral gain."""
TRACKING = 2 * MotionTolerances.tracking
"""Tolerance of the node in simulations, as in config/nodes_simulated_clock.yaml [rad or m]."""
DAMPING = 0.15
"""d times the step over the smallest inertia. Explicit damping is unstable above 2 over the cycles
for which a command is held, and the largest eigenvalue of all joints together is about twice as
large. Commands are held because controller managers since Jazzy pass the time of /clock, and
control_toolbox's PID returns its last command while that time stands still: on a busy computer,
for up to 10 cycles. 5 cycles each time are stable for every shipped robot."""
DEFLECTION = 0.03
"""Deflection at the largest torque and at the Coulomb friction, if the gains may be so large [rad
or m]."""
STIFFNESS = (25.0, 200.0, 600.0)
"""Smallest and largest p over d [1/s], and the largest where Coulomb friction damps the joint. The
damping ratios are 1.2, 0.43 and 0.25 for d = 150 I."""
POSTURES = 1000
_REACH = 2 * np.pi    # [rad or m] of joints without limits
FULL_DAMPING = 2.0    # d times the step over the inertia, above which a joint is unstable


@dataclass(frozen=True)
class EffortGains:
    """
    Gains of a joint trajectory controller with effort commands, (n,) each.

    Parameters
    ----------
    p, d
        Torque per position error and per velocity error [N m/rad, N m s/rad; N/m, N s/m].
    feedforward
        Torque per desired velocity: the viscous friction in the URDF.

    """

    p: Array
    d: Array
    feedforward: Array

    def to_mapping(self, arm: Arm) -> dict[str, dict[str, float]]:
        """Return the gains of each joint as in a controllers file, with three digits."""
        return {joint: {key: float(f'{value:.3g}') for key, value in (
            ('p', p), ('i', 0.0), ('d', d), ('i_clamp', 0.0), ('ff_velocity_scale', b))}
            for joint, p, d, b in zip(arm.joint_names, self.p, self.d, self.feedforward)}


@lru_cache(maxsize=8)    # half a second
def smallest_inertia(arm: Arm, rotor: tuple[float, ...] = ()) -> Array:
    """
    Return the smallest inertia against which each drive accelerates its joint, (n,).

    It is the minimum of 1 / (M^-1)_jj over random postures: the other joints are free.

    Parameters
    ----------
    arm
        The arm.
    rotor
        Rotor inertias at the joints; Gazebo has none.

    """
    rng, data = np.random.default_rng(0), arm.model.createData()
    lower, upper = (np.clip(limit, -_REACH, _REACH)
                    for limit in (arm.limits.lower, arm.limits.upper))
    largest = np.zeros(arm.n)
    for _ in range(POSTURES):
        mass = pin.crba(arm.model, data, rng.uniform(lower, upper))
        mass = np.triu(mass) + np.triu(mass, 1).T    # Pinocchio fills the upper triangle
        mass = mass + np.diag(rotor or (0.0,) * arm.n)
        largest = np.maximum(largest, np.diag(np.linalg.inv(mass)))
    return readonly_view(1 / largest)


def urdf_friction(arm: Arm) -> tuple[Array, Array]:
    """Return viscous and Coulomb friction in the URDF's `<dynamics>`, (n,) each."""
    tags = {joint.get('name'): joint.find('dynamics')
            for joint in parse_urdf(arm.urdf, 'the URDF').iterfind('joint')}

    def values(attribute: str) -> Array:
        found = (tags.get(name) for name in arm.joint_names)
        return np.array([0.0 if tag is None else float(tag.get(attribute, 0.0)) for tag in found])
    return values('damping'), values('friction')


def effort_gains(arm: Arm, rate: float = UPDATE_RATE, rotor: ArrayLike = 0.0,
                 friction: tuple[Array, Array] | None = None) -> EffortGains:
    """
    Return effort gains that are stable in every posture without rotor inertia.

    Damping: d = `DAMPING` I / dt, with I = `smallest_inertia` + dt b for the viscous friction b in
    the URDF, which simulators integrate implicitly. Stiffness: p = max(rated torque, Coulomb
    friction) / `DEFLECTION`, within `STIFFNESS` times d.

    Parameters
    ----------
    arm
        The arm, with torque limits.
    rate
        Updates of the controller and steps of the simulation per second [Hz].
    rotor
        Rotor inertias at the joints, (n,).
    friction
        Viscous and Coulomb friction, (n,) each; None for that in the URDF.

    Raises
    ------
    ConfigurationError
        The torque limit of a joint is unknown.

    """
    unknown = [name for name, limit in zip(arm.joint_names, arm.limits.torque)
               if not (np.isfinite(limit) and limit > 0)]
    if unknown:
        raise ConfigurationError(
            f"controllers for '{arm.name}' need the torque limit of {', '.join(unknown)}: give "
            f'`joints: {{{unknown[0]}: {{torque: ...}}}}` in the robot YAML')
    viscous, coulomb = urdf_friction(arm) if friction is None else friction
    inertia = smallest_inertia(arm, tuple(np.broadcast_to(rotor, arm.n).tolist()))
    d = DAMPING * (inertia * rate + viscous)
    least, most, damped = (factor * d for factor in STIFFNESS)
    p = np.clip(arm.limits.torque / DEFLECTION, least, most)
    p = np.maximum(p, np.minimum(coulomb / DEFLECTION, damped))
    return EffortGains(p, d, viscous)


def unstable_joints(arm: Arm, damping: dict[str, float], rate: float) -> dict[str, float]:
    """
    Return the joints whose damping gain is unstable in a simulation without rotor inertia.

    Parameters
    ----------
    arm
        The arm.
    damping
        Gain d of each joint [N m s/rad or N s/m].
    rate
        Steps of the simulation per second [Hz].

    Returns
    -------
    dict
        d dt / I of each joint above `FULL_DAMPING`.

    """
    inertia = smallest_inertia(arm) + urdf_friction(arm)[0] / rate
    ratio = {name: damping.get(name, 0.0) / rate / own
             for name, own in zip(arm.joint_names, inertia)}
    return {name: float(value) for name, value in ratio.items() if value > FULL_DAMPING}


def controllers_text(arm: Arm) -> str:
    """
    Return the controllers file of an arm: a position and an effort trajectory controller.

    Parameters
    ----------
    arm
        The arm, with limits of velocity, acceleration and torque.

    Raises
    ------
    ConfigurationError
        The torque limit of a joint is unknown.

    """
    gains = effort_gains(arm).to_mapping(arm)
    tolerance = path_tolerance(arm.limits, TRACKING, BrakeTiming())
    declared = ''.join(
        f'\n    # for a description with command_interface:={interface}\n    {name}:\n'
        '      type: joint_trajectory_controller/JointTrajectoryController\n'
        for interface, name in CONTROLLERS.items())
    text = f"""# Controllers of {arm.name} for simulations and mock hardware, written by
#     robot-identification ros controllers {arm.name} -o {arm.name}_controllers.yaml
controller_manager:
  ros__parameters:
    update_rate: {UPDATE_RATE:.0f}    # [Hz] one cycle per step of the simulation

    joint_state_broadcaster:
      type: joint_state_broadcaster/JointStateBroadcaster
{declared}"""
    for interface, name in CONTROLLERS.items():
        names = ''.join(f'      - {joint}\n' for joint in arm.joint_names)
        text += f"""
{name}:
  ros__parameters:
    joints:
{names}    command_interfaces: [{interface}]
    state_interfaces: [position, velocity]
"""
        if interface == 'effort':
            text += ('    # [N m/rad], [N m s/rad]: stable without rotor inertia '
                     '(ros/controllers_file.py)\n    gains:\n')
            for joint, row in gains.items():
                listed = ', '.join(f'{key}: {value!r}' for key, value in row.items())
                text += f'      {joint}: {{{listed}}}\n'
        text += """    constraints:
      goal_time: 1.0                      # [s]
      stopped_velocity_tolerance: 0.05    # [rad/s]
      # [rad] the controller stops the motion in one step if an error is larger: wide enough for
      # the node to brake first (path_tolerance in ros/execution/motion_executor.py)
"""
        text += ''.join(
            # with a decimal point: ROS parameters of type double take no integers
            f'      {joint}: {{trajectory: {float(np.ceil(100 * limit - 1e-9) / 100)!r}, '
            f'goal: {GOAL[interface]!r}}}\n' for joint, limit in zip(arm.joint_names, tolerance))
    return text
