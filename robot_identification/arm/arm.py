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
"""The arm: one object that knows joints, limits, drives, gravity and the Pinocchio model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
import hashlib
from pathlib import Path
import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike, NDArray
import pinocchio as pin
from robot_identification.arm.balancers import Balancer
from robot_identification.arm.drives import Drives, Effort, PositionSignal
from robot_identification.arm.limits import Limits
from robot_identification.arm.robot_keys import Driver
from robot_identification.arm.urdf import check_prefix, read_urdf, reduce_urdf
from robot_identification.arrays import Array, read_only
from robot_identification.errors import ArmError

STANDARD_GRAVITY = (0.0, 0.0, -9.81)


@dataclass(frozen=True, eq=False)
class Arm:
    """
    A serial or tree arm with n joints that move.

    Build it with `Arm.from_urdf` or `load_arm`.

    Parameters
    ----------
    name
        What to call it.
    urdf
        The URDF text as it was read.
    reduced_urdf
        The URDF text with locked joints fixed; Pinocchio and MuJoCo are built from it.
    model
        Pinocchio model with nq = nv = n; continuous joints are unlimited revolute ones. The
        bodies of fixed and locked joints are folded into the link that carries them.
    joint_names
        Names in the order of every (N, n) array of the suite.
    limits, drives
        What the joints can do, and what moves them.
    effort
        Meaning of the effort signal, None when effort is the torque at the joints [N m or N].
    position
        Meaning of the position signal.
    gravity
        (3,) [m/s^2] in the base frame: mount orientation.
    locked
        Positions of the locked joints [rad or m].
    recording_keys
        What loggers call the signals, and their units: the block `recording` of the robot YAML.
    source
        The file that the arm came from.
    urdf_file
        The URDF or xacro file, None when the URDF was given as text.
    wider_limits
        Joints whose limits the robot YAML makes wider than the URDF's, which it calls wrong.
    balancers
        Springs and counterbalances, each between the two links of a joint.
    unmeasured
        Joints whose effort is not measured: they move, and are left out of fit and verdict.
    estimate_gravity
        Whether the direction of gravity is to be estimated, beginning at `gravity`.
    package_dirs
        Folders that hold the ROS packages which the URDF names.
    tf_prefix
        What ROS puts before the names of joints and links, where several arms share one system.
    driver
        The vendor's ROS 2 driver, None where the robot YAML names none.

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

    def __post_init__(self) -> None:
        check_prefix(self.tf_prefix, f"the arm '{self.name}'")

    @classmethod
    def from_urdf(
        cls,
        urdf: str | Path,
        locked: Iterable[str] | Mapping[str, float | None] = (),
        *,
        gravity: ArrayLike = STANDARD_GRAVITY,
        gains: ArrayLike | None = None,
        name: str | None = None,
        arguments: Mapping[str, str] | None = None,
        package_dirs: Iterable[str | Path] = (),
    ) -> Arm:
        """
        Build an arm from a URDF.

        Parameters
        ----------
        urdf
            Path of a URDF or xacro file, or URDF text.
        locked
            Joints that stand still in all recordings: names (locked at zero, or at the limit
            nearest to it), or a mapping from name to position [rad or m].
        gravity
            (3,) [m/s^2] in the base frame.
        gains
            Torque per current at the joints, (n,) [N m/A], for recordings of currents.
        name
            What to call the arm; the URDF's name when not given.
        arguments
            Arguments of a xacro, by name.
        package_dirs
            Folders that hold ROS packages, for `$(find ...)` and `package://`.

        Raises
        ------
        ArmError
            The URDF cannot be read or holds what cannot be identified.

        """
        folders = tuple(map(Path, package_dirs))
        text, path = read_urdf(urdf, arguments, folders)
        origin = f"the URDF '{path}'" if path else 'the URDF text'
        wanted = dict(locked) if isinstance(locked, Mapping) else dict.fromkeys(locked)
        folded, positions = reduce_urdf(text, origin, wanted)
        model = _build_model(folded, origin)
        model.gravity.linear = _gravity(gravity)
        n = model.nv
        drives = Drives.direct(n)
        if gains is not None:
            values = np.broadcast_to(np.asarray(gains, dtype=float), (n,))
            drives = Drives(values, drives.reduction, drives.rotor_inertia, drives.coupling)
        joint_names = tuple(model.names[1:])
        limits = _limits(model)
        limits.check(joint_names)
        drives.check(joint_names)
        return cls(
            name=name or ElementTree.fromstring(folded).get('name') or 'arm',
            urdf=text, reduced_urdf=folded, model=model, joint_names=joint_names, limits=limits,
            drives=drives, effort=None, position=PositionSignal('joint', np.zeros(n)),
            gravity=read_only(model.gravity.linear), locked=positions, source=path,
            urdf_file=path, package_dirs=folders)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that the arm was read from; no output may replace them."""
        return tuple(path for path in (self.source, self.urdf_file) if path is not None)

    def with_gravity(self, gravity: ArrayLike) -> Arm:
        """Return the same arm under another gravity, (3,) [m/s^2] in the base frame."""
        model = pin.Model(self.model)
        model.gravity.linear = _gravity(gravity)
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
    def tool(self) -> int:
        """Number in `model` of the last frame that the last joint moves: a tool or a flange."""
        last = self.model.njoints - 1
        return max(i for i, frame in enumerate(self.model.frames) if frame.parentJoint == last)

    def tool_path(self, world: Array, origin: Array) -> Array:
        """
        Return where the tool is, (N, 3) [m].

        Parameters
        ----------
        world, origin
            Rotations and origins of the joints' frames, (N, n, 3, 3) and (N, n, 3) [m].

        """
        offset: Array = self.model.frames[self.tool].placement.translation
        return np.asarray(origin[:, -1] + world[:, -1] @ offset)

    @property
    def ros_joint_names(self) -> tuple[str, ...]:
        """Names of the joints as ROS has them: in joint states, trajectories and bags."""
        return tuple(self.tf_prefix + name for name in self.joint_names)

    @property
    def measured(self) -> NDArray[np.bool_]:
        """For each joint whether its effort is measured, (n,)."""
        return np.array([joint not in self.unmeasured for joint in self.joint_names], dtype=bool)

    @property
    def prismatic(self) -> Array:
        """For each joint whether it slides, (n,) bool."""
        return read_only(['P' in joint.shortname()[len('JointModel'):][:1]
                          for joint in list(self.model.joints)[1:]], dtype=bool)

    @property
    def transmission(self) -> Array:
        """Directions in joint space along which friction and rotor inertia act, (m, n)."""
        return self.drives.transmission

    @property
    def actuator_names(self) -> tuple[str, ...]:
        """Names of the rows of `transmission`: joints, then coupled drives."""
        extra = []
        for row in self.transmission[self.n:]:
            terms = [joint if c == 1 else f'{c:g}*{joint}'
                     for joint, c in zip(self.joint_names, row) if c != 0]
            extra.append('+'.join(terms))
        return (*self.joint_names, *extra)

    @cached_property
    def inertial_parameters(self) -> Array:
        """
        The URDF's inertial parameters, (n, 10), of each joint's folded body.

        Pinocchio's order: m, m cx, m cy, m cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz, about the joint
        frame.
        """
        return read_only([inertia.toDynamicParameters()
                          for inertia in list(self.model.inertias)[1:]])

    @property
    def urdf_sha256(self) -> str:
        """Fingerprint of the URDF text."""
        return hashlib.sha256(self.urdf.encode('utf-8')).hexdigest()

    def balancer_columns(self, q: Array) -> Array:
        """
        Return the drives' torques for balancers of strength one, (N, b) of the b balancers.

        Parameters
        ----------
        q
            Joint positions, (N, n) [rad or m].

        """
        out = np.empty((len(q), len(self.balancers)))
        for k, balancer in enumerate(self.balancers):
            out[:, k] = balancer.column(q[:, self.joint_names.index(balancer.joint)])
        return out

    def balancer_torque(self, q: Array, strengths: Array) -> Array:
        """Return what balancers of these strengths, (b,), ask of the drives, (N, n) [N m or N]."""
        torque: Array = (self.balancer_columns(q) * strengths) @ self.balanced_joints
        return torque

    def nominal_balance(self, q: Array) -> Array:
        """Return the torque of balancers as far as it is known before a fit, (N, n)."""
        return self.balancer_torque(q, np.array([b.expected for b in self.balancers]))

    @property
    def balanced_joints(self) -> Array:
        """Which joint each balancer acts on, (b, n) of zeros and ones."""
        return read_only([[float(name == balancer.joint) for name in self.joint_names]
                          for balancer in self.balancers]).reshape(-1, self.n)

    def units(self, rotational: str, linear: str) -> tuple[str, ...]:
        """Return for each joint the unit of a quantity: `rotational` or `linear`."""
        return tuple(linear if slides else rotational for slides in self.prismatic)


def _gravity(gravity: ArrayLike) -> np.ndarray:
    vector = np.asarray(gravity, dtype=float)
    if vector.shape != (3,) or not np.all(np.isfinite(vector)):
        raise ArmError(f'gravity must be three numbers [m/s^2], not {gravity!r}')
    return vector


def _build_model(folded: str, origin: str) -> pin.Model:
    root = ElementTree.fromstring(folded)
    for element in list(root):    # shapes are not part of the model, and must not be read for it
        if element.tag not in ('link', 'joint'):
            root.remove(element)
        for part in [part for part in element if part.tag in ('visual', 'collision')]:
            element.remove(part)
    for joint in root.findall('joint'):
        if joint.get('type') == 'continuous':
            joint.set('type', 'revolute')
            limit = joint.find('limit')
            if limit is None:
                limit = ElementTree.SubElement(joint, 'limit')
            limit.set('lower', '-inf')
            limit.set('upper', 'inf')
            for name in ('effort', 'velocity'):
                limit.set(name, limit.get(name, 'inf'))
    text = ElementTree.tostring(root, encoding='unicode')
    text = re.sub(r'"(-?)inf"', r'"\g<1>1e308"', text)
    try:
        model = pin.buildModelFromXML(text)
    except (ValueError, RuntimeError) as error:
        raise ArmError(f'Pinocchio cannot build a model from {origin}: {error}') from error
    if model.nq != model.nv:
        raise ArmError(f'{origin} has joints with more coordinates than velocities')
    return model


def _limits(model: pin.Model) -> Limits:
    unknown = np.full(model.nv, np.inf)

    def known(values: np.ndarray) -> np.ndarray:
        values = np.array(values, dtype=float)
        return np.where(np.abs(values) > 1e300, np.copysign(np.inf, values), values)

    # a rated torque or speed of zero is how many URDFs say that they do not know
    torque, velocity = known(model.effortLimit), known(model.velocityLimit)
    return Limits(known(model.lowerPositionLimit), known(model.upperPositionLimit),
                  np.where(velocity == 0, np.inf, velocity), unknown, unknown,
                  np.where(torque == 0, np.inf, torque))
