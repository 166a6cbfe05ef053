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
"""Arms and motions for the tests of the simulation."""

import numpy as np
import pytest
from robot_identification.arm import Arm
from robot_identification.arm.packages import example_folder
from robot_identification.simulation import Plant, PlantOptions

EXAMPLES = {
    'panda': ('panda_description/urdf/panda.urdf', ('panda_finger_joint1', 'panda_finger_joint2')),
    'ur10': ('ur_description/urdf/ur10_robot.urdf', ()),
    'ur5': ('ur_description/urdf/ur5_robot.urdf', ()),
    'xarm7': ('xarm_description/urdf/xarm7.urdf', ()),
    'z1': ('z1_description/urdf/z1.urdf', ('jointGripper',)),
}
LINK = """<link name="{0}"><inertial><origin xyz="0 0.02 0.2"/><mass value="2"/>
<inertia ixx="0.03" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.01"/></inertial></link>"""
JOINT = """<joint name="{0}" type="{3}"><parent link="{1}"/><child link="{2}"/>
<origin xyz="0 0 0.4" rpy="0.1 0.2 -0.3"/><axis xyz="0 1 0"/><limit {4}/></joint>"""
FORE = LINK.format('fore')
LIMIT = 'lower="-2" upper="2" effort="50" velocity="3"'

# with a continuous joint, a prismatic one, and a branch that precedes the trunk in the URDF
MIXED = (
    '<robot name="mixed"><link name="base"/>'
    + LINK.format('slider') + LINK.format('turner') + LINK.format('arm')
    + JOINT.format('wrist', 'turner', 'arm', 'revolute', LIMIT)
    + JOINT.format('slide', 'turner', 'slider', 'prismatic',
                   'lower="-0.4" upper="0.4" effort="200" velocity="1"')
    + JOINT.format('turn', 'base', 'turner', 'continuous', 'effort="80" velocity="2"')
    + '</robot>')


def example(name):
    """Return an arm of example-robot-data."""
    folder = example_folder()
    if folder is None:
        pytest.skip('example-robot-data is not installed')
    path, locked = EXAMPLES[name]
    return Arm.from_urdf(folder / path, locked=locked, name=name)


def two_link(fore=FORE, limit=LIMIT):
    """Return an arm with two revolute joints."""
    return Arm.from_urdf(
        '<robot name="two"><link name="base"/>' + LINK.format('upper') + fore
        + JOINT.format('shoulder', 'base', 'upper', 'revolute', limit)
        + JOINT.format('elbow', 'upper', 'fore', 'revolute', limit) + '</robot>')


class slow_motion:  # noqa: N801
    """A trajectory of two sines per joint, within the limits of the arm."""

    def __init__(self, arm, period=4.0, seed=0):
        rng = np.random.default_rng(seed)
        self.period, self.joint_names = period, arm.joint_names
        limits = arm.limits
        lower = np.where(np.isfinite(limits.lower), limits.lower, -np.pi)
        upper = np.where(np.isfinite(limits.upper), limits.upper, np.pi)
        self.middle = (lower + upper) / 2
        self.omega = 2 * np.pi / period
        speed = np.minimum(0.4 * limits.velocity, 3.0)
        size = np.minimum(0.15 * (upper - lower), speed / (5 * self.omega))
        self.size, self.phase = size, rng.uniform(0, 2 * np.pi, (2, arm.n))

    def evaluate(self, t, derivatives=2):
        """Return q, v and a at times t."""
        motion = []
        for order in range(3):
            total = 0.0
            for harmonic, phase in zip((1, 2), self.phase):
                rate = harmonic * self.omega
                angle = rate * np.asarray(t)[:, None] + phase + order * np.pi / 2
                total = total + self.size * rate ** order * np.sin(angle)
            motion.append(total + (self.middle if order == 0 else 0))
        return tuple(motion)


class Lively:
    """A trajectory of five harmonics with a period of 4 s."""

    def __init__(self, arm):
        self.period, self.joint_names = 4.0, arm.joint_names

    def evaluate(self, t, derivatives=2):
        phase = np.random.default_rng(4).uniform(0, 6, (5, 1, 2))
        w = np.pi / 2 * np.arange(1, 6)[:, None, None]
        size = np.array([0.6, 0.35, 0.2, 0.1, 0.08])[:, None, None]
        x = w * np.asarray(t)[:, None] + phase
        return tuple((size * y).sum(axis=0) for y in (
            np.sin(x), w * np.cos(x), -w ** 2 * np.sin(x)))


def matched_plant(arm):
    """Return a plant with Coulomb and viscous friction, exact measurements and no delay."""
    return Plant(arm, PlantOptions(
        stribeck_ratio=1.0, delay=0.0, encoder_bits=None, torque_signal='applied',
        velocity_signal='none', friction_compensation=1.0, rate=500.0, control_rate=1000.0))
