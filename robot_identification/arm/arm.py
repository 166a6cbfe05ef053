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
"""The class `Arm`: joints, limits, drives, gravity and Pinocchio model of a robot arm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
import pinocchio as pin
from robot_identification.arm import urdf as urdf_files
from robot_identification.arm.arm_chain import ArmChoice, find_locked_joints
from robot_identification.arm.balancers import Balancer
from robot_identification.arm.drives import Drives, Effort, PositionSignal
from robot_identification.arm.limits import Limits
from robot_identification.arm.robot_keys import Driver
from robot_identification.arrays import Array, read_only
from robot_identification.errors import ArmError, ListedAttributes

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
"""[m/s^2] Gravity in the frame of an upright base."""


@dataclass(frozen=True, eq=False)
class Arm(ListedAttributes):
    """
    A serial or tree-structured arm with n movable joints.

    Build it with `Arm.from_urdf` or `load_arm`.

    Parameters
    ----------
    name
        Name of the arm.
    urdf
        The URDF text as it was read.
    reduced_urdf
        The URDF text with locked joints fixed; Pinocchio and MuJoCo are built from it.
    model
        Pinocchio model with nq = nv = n; continuous joints are unlimited revolute ones. Links
        attached by fixed or locked joints are merged into the body that carries them.
    joint_names
        Names of the movable joints, in the order of the columns of all (N, n) arrays.
    limits, drives
        Limits of the joints, and their motors and gears.
    effort
        Meaning of the effort signal; None if a robot YAML does not state it, or for an arm from a
        URDF alone, whose effort is the torque at the joints [N m or N].
    position
        Meaning of the position signal.
    gravity
        Gravity in the base frame, (3,) [m/s^2]; it depends on how the base is mounted.
    locked
        Positions of the locked joints [rad or m].
    recording_keys
        Names and units of signals in logs: the block `recording` of the robot YAML.
    source
        The robot YAML or URDF from which the arm was read.
    urdf_file
        The URDF or xacro file; None for URDF text.
    wider_limits
        Joints whose limits in the robot YAML are wider than those of the URDF.
    balancers
        Springs and counterbalances, each between the two links of a joint.
    unmeasured
        Movable joints whose effort is not measured; fit and verdict exclude them.
    estimate_gravity
        Whether the identification also estimates the direction of gravity, starting from
        `gravity`.
    package_dirs
        Folders that contain the ROS packages of the URDF.
    tf_prefix
        Prefix of joints and links in ROS systems with several arms.
    driver
        The vendor's ROS 2 driver, None if the robot YAML names none.
    guessed
        Joints whose bodies have guessed inertias in the URDF.
    sensor_deviation
        Relative standard deviation of the gain of a joint's torque sensor, by joint, where stated.

    Examples
    --------
    >>> arm = load_arm('panda')
    >>> arm.n, arm.joint_names[0]
    (7, 'panda_joint1')

    """

    name: str
    urdf: str
    reduced_urdf: str
    model: pin.Model
    joint_names: tuple[str, ...]
    limits: Limits
    drives: Drives
    effort: Effort | None
    position: PositionSignal
    gravity: Array
    locked: Mapping[str, float] = field(default_factory=dict)
    recording_keys: Mapping[str, Any] = field(default_factory=dict)
    source: Path | None = None
    urdf_file: Path | None = None
    wider_limits: tuple[str, ...] = ()
    balancers: tuple[Balancer, ...] = ()
    unmeasured: tuple[str, ...] = ()
    estimate_gravity: bool = False
    package_dirs: tuple[Path, ...] = ()
    tf_prefix: str = ''
    driver: Driver | None = None
    guessed: tuple[str, ...] = ()
    sensor_deviation: Mapping[str, float] = field(default_factory=dict)

    def __new__(cls, *args: Any, **fields: Any) -> Arm:
        """Return an empty arm, unless what is given is only a file."""
        if len(args) + len(fields) == 1:
            raise ArmError("an arm is read with Arm.from_urdf('arm.urdf') or load_arm('arm.yaml')")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        characters = self.tf_prefix.replace('_', '').replace('/', '')
        if characters and not (characters.isascii() and characters.isalnum()):
            raise ArmError(f"the arm '{self.name}': the tf_prefix '{self.tf_prefix}' may contain "
                           'only letters, digits, _ and /, such as left_')
        self.limits.check(self.joint_names)
        self.drives.check(self.joint_names)

    @classmethod
    def from_urdf(
        cls,
        urdf: str | Path,
        locked: Iterable[str] | Mapping[str, float | None] = (),
        *,
        gravity: ArrayLike = STANDARD_GRAVITY,
        name: str | None = None,
        arguments: Mapping[str, str] | None = None,
        package_dirs: Iterable[str | Path] = (),
        tip: str | None = None,
    ) -> Arm:
        """
        Build an arm from a URDF.

        Parameters
        ----------
        urdf
            Path of a URDF or xacro file, or URDF text.
        locked
            Joints that do not move in any recording: their names, or a mapping from name to
            position [rad or m]. Without a position a joint is locked at zero, or at the limit
            nearest to zero.
        gravity
            Gravity in the base frame, (3,) [m/s^2].
        name
            Name of the arm; None selects that of the URDF.
        arguments
            Arguments of a xacro, by name.
        package_dirs
            Folders that contain ROS packages, for `$(find ...)` and `package://`.
        tip
            Link at the end of the arm; joints that do not move it are locked.

        Raises
        ------
        ArmError
            The URDF cannot be read, has joints that cannot be identified or impossible limits.

        Examples
        --------
        >>> arm = Arm.from_urdf('panda.urdf', locked=['panda_finger_joint1'])    # doctest: +SKIP
        >>> arm.joint_names[0], arm.n    # doctest: +SKIP
        ('panda_joint1', 7)

        """
        folders = tuple(map(Path, package_dirs))
        text, path = urdf_files.read_urdf(urdf, arguments, folders)
        label = f"the URDF '{path}'" if path else 'the URDF text'
        fixed = dict(locked) if isinstance(locked, Mapping) else dict.fromkeys(locked)
        if tip is not None:
            root = urdf_files.parse_urdf(text, label)
            fixed = {**dict.fromkeys(find_locked_joints(root, label, ArmChoice(tip=tip))), **fixed}
        reduced, positions = urdf_files.reduce_urdf(text, label, fixed)
        model = urdf_files.build_model(reduced, label)
        model.gravity.linear = urdf_files.check_gravity(gravity)
        return cls(
            name=name or model.name or 'arm', urdf=text, reduced_urdf=reduced, model=model,
            joint_names=tuple(model.names[1:]), limits=urdf_files.read_limits(model),
            drives=Drives.direct(model.nv), effort=None,
            position=PositionSignal('joint', np.zeros(model.nv)),
            gravity=read_only(model.gravity.linear), locked=positions, source=path,
            urdf_file=path, package_dirs=folders)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files from which the arm was read; outputs must not overwrite them."""
        return tuple(path for path in (self.source, self.urdf_file) if path is not None)

    def with_gravity(self, gravity: ArrayLike) -> Arm:
        """Return the same arm with another gravity vector, (3,) [m/s^2] in the base frame."""
        model = pin.Model(self.model)
        model.gravity.linear = urdf_files.check_gravity(gravity)
        return replace(self, model=model, gravity=read_only(model.gravity.linear),
                       estimate_gravity=False)

    def __repr__(self) -> str:
        return (f'<Arm {self.name}: {self.n} joints, {self.joint_names[0]} to '
                f'{self.joint_names[-1]}>')

    @property
    def n(self) -> int:
        """Number of joints that move."""
        return len(self.joint_names)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Name of the link that each joint moves, (n,)."""
        frames, body = self.model.frames, pin.FrameType.BODY
        return tuple(frame.name for frame in frames if frame.type == body
                     and frames[frame.parentFrame].type == pin.FrameType.JOINT)

    @property
    def tool(self) -> int:
        """Index in `model.frames` of the last frame on the last link: the tool or flange."""
        return max(i for i, frame in enumerate(self.model.frames) if frame.parentJoint == self.n)

    def tool_path(self, rotations: Array, positions: Array) -> Array:
        """
        Return the positions of the frame `tool` in the base, (N, 3) [m].

        Parameters
        ----------
        rotations, positions
            Poses of the joint frames in the base, (N, n, 3, 3) and (N, n, 3) [m].

        """
        offset: Array = self.model.frames[self.tool].placement.translation
        return np.asarray(positions[:, -1] + rotations[:, -1] @ offset)

    @property
    def ros_joint_names(self) -> tuple[str, ...]:
        """Names of the joints in ROS messages and bags, with `tf_prefix`."""
        return tuple(self.tf_prefix + name for name in self.joint_names)

    @property
    def measured(self) -> NDArray[np.bool_]:
        """Mask of the joints whose effort is measured, (n,) bool."""
        return np.array([joint not in self.unmeasured for joint in self.joint_names], dtype=bool)

    @property
    def prismatic(self) -> Array:
        """Mask of the prismatic joints, (n,) bool."""
        return read_only(['P' in joint.shortname()[len('JointModel'):][:1]
                          for joint in list(self.model.joints)[1:]], dtype=bool)

    @property
    def transmission(self) -> Array:
        """Matrix (m, n) from joint velocities to those of joints and drives, see `Drives`."""
        return self.drives.transmission

    @property
    def actuator_names(self) -> tuple[str, ...]:
        """Names of the rows of `transmission`: joints, then coupled drives ('joint5+joint6')."""
        coupled = ('+'.join(joint if c == 1 else f'{c:g}*{joint}'
                            for joint, c in zip(self.joint_names, row) if c != 0)
                   for row in self.transmission[self.n:])
        return (*self.joint_names, *coupled)

    @cached_property
    def inertial_parameters(self) -> Array:
        """
        Inertial parameters of the body that each joint moves, from the URDF, (n, 10).

        Pinocchio's order: m, m cx, m cy, m cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz, about the joint
        frame.
        """
        return read_only([inertia.toDynamicParameters()
                          for inertia in list(self.model.inertias)[1:]])

    @property
    def urdf_sha256(self) -> str:
        """SHA-256 digest of the URDF text."""
        return hashlib.sha256(self.urdf.encode('utf-8')).hexdigest()

    def balancer_columns(self, q: Array) -> Array:
        """
        Return the torque that each of the b balancers requires per unit strength, (N, b).

        Parameters
        ----------
        q
            Joint positions, (N, n) [rad or m].

        """
        return np.hstack([np.empty((len(q), 0)), *(
            balancer.column(q[:, [self.joint_names.index(balancer.joint)]])
            for balancer in self.balancers)])

    def balancer_torque(self, q: Array, strengths: Array) -> Array:
        """Return the joint torques that balancers of strengths (b,) require, (N, n) [N m or N]."""
        return (self.balancer_columns(q) * strengths) @ self.balanced_joints

    @property
    def balanced_joints(self) -> Array:
        """Matrix (b, n) with 1 where a balancer acts on a joint, else 0."""
        return read_only([[float(name == balancer.joint) for name in self.joint_names]
                          for balancer in self.balancers]).reshape(-1, self.n)

    def units(self, rotational: str, linear: str) -> tuple[str, ...]:
        """Return the unit of each joint: `rotational` or, for prismatic ones, `linear`."""
        return tuple(linear if slides else rotational for slides in self.prismatic)
