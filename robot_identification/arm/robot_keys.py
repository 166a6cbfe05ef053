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
"""Keys of a robot YAML: types, units, examples and meanings; units of the signals in logs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
import math
from typing import Annotated, Any, Literal

from robot_identification.arm.drives import Effort
from robot_identification.errors import ConfigurationError
from robot_identification.yaml_file import check_keys, Quantity, read_typed, truncated_repr

Angle = Annotated[float, Quantity('rad', minimum=-2 * math.pi, maximum=2 * math.pi)]
Position = Annotated[float, Quantity('rad or m', infinite=True)]
Acceleration = Annotated[float, Quantity('m/s^2', above=-30, below=30)]    # three times gravity
Gravity = tuple[Acceleration, Acceleration, Acceleration]


@dataclass(frozen=True)
class LimitOverrides:
    """Limits of a joint that replace those of the URDF; None keeps the URDF's."""

    position: tuple[Position, Position] | None = None
    velocity: Annotated[float, Quantity('rad/s or m/s', infinite=True)] | None = None
    acceleration: Annotated[float, Quantity('rad/s^2 or m/s^2', infinite=True)] | None = None
    jerk: Annotated[float, Quantity('rad/s^3 or m/s^3', infinite=True)] | None = None
    torque: Annotated[float, Quantity('N m or N', infinite=True)] | None = None


@dataclass(frozen=True)
class DriveValues:
    """Values of a joint's motor and gear; None where unknown."""

    gain: Annotated[float, Quantity('N m/A')] | None = None
    reduction: float | None = None
    rotor_inertia: Annotated[float, Quantity('kg m^2')] | None = None


@dataclass(frozen=True)
class Mount:
    """Orientation of the base in the world: roll, pitch and yaw about fixed axes x, y, z [rad]."""

    rpy: tuple[Angle, Angle, Angle]


@dataclass(frozen=True)
class PositionSection:
    """Side on which positions are recorded, and offsets by joint."""

    side: Literal['joint', 'motor'] = 'joint'
    offset: Mapping[str, Annotated[float, Quantity('rad or m')]] = field(default_factory=dict)


@dataclass(frozen=True)
class Driver:
    """
    The vendor's ROS 2 driver of an arm.

    Parameters
    ----------
    controller
        Name of the joint trajectory controller; {tf_prefix} stands for the arm's prefix.
    rate
        Rate of the joint states [Hz].
    launch
        Launch file as PACKAGE/FILE; empty if the driver is started by hand.
    arguments
        Arguments of that launch file, by name.
    address
        Name of the launch argument for the network address of the robot.
    prefix
        Name of the launch argument for the prefix of joints and links; empty if there is none.
    joint_states
        Topic of joint states with efforts at `rate`; {tf_prefix} stands for the arm's prefix.
    controller_manager
        Name of the driver's controller manager.
    spawn
        Whether to spawn `controller` with the robot's controllers YAML.

    """

    controller: str
    rate: Annotated[float, Quantity('Hz')]
    launch: str = ''
    arguments: Mapping[str, Any] = field(default_factory=dict)
    address: str = 'robot_ip'
    prefix: str = ''
    joint_states: str = 'joint_states'
    controller_manager: str = 'controller_manager'
    spawn: bool = False

    def __post_init__(self) -> None:
        if self.launch.count('/') != bool(self.launch):
            raise ConfigurationError(f"launch is '{self.launch}'; write it as PACKAGE/FILE")
        object.__setattr__(self, 'arguments', argument_texts(self.arguments))


def argument_texts(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return launch or xacro arguments as text; booleans become 'true' and 'false'."""
    return {name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in arguments.items()}


def about(example: str, meaning: str) -> dict[str, str]:
    """Return the metadata of a field of `RobotFile`: example and meaning of its key."""
    return {'example': example, 'meaning': meaning}


@dataclass(frozen=True, kw_only=True)
class RobotFile:
    """Content of a robot YAML; docs/robot_file.md lists the keys."""

    urdf: str = field(metadata=about(
        'my_arm.urdf', 'URDF or xacro, relative to this file, `package://`, or the name of a '
        'shipped description. The only required key.'))
    name: str | None = field(default=None, metadata=about(
        'my_arm', 'Name of the arm; by default that of the URDF.'))
    xacro: Mapping[str, Any] = field(default_factory=dict, metadata=about(
        '{dof: 7}', 'Arguments of the xacro.'))
    package_dirs: tuple[str, ...] = field(default=(), metadata=about(
        '[../src]', 'Folders with the ROS packages that the description refers to.'))
    locked: Mapping[str, float] | tuple[str, ...] = field(default=(), metadata=about(
        '{finger: 0.0}', 'Joints that do not move in any recording, with their positions '
        '[rad or m], or a list of names.'))
    gravity: Literal['estimate'] | Gravity | None = field(default=None, metadata=about(
        '[0.0, 0.0, -9.81]', 'Gravity in the base frame [m/s^2]; `estimate` determines its '
        'direction from the recordings.'))
    mount: Mount | None = field(default=None, metadata=about(
        '{rpy: [3.14159, 0.0, 0.0]}', 'Instead of `gravity`: orientation of the base in the '
        'world [rad].'))
    joints: Mapping[str, LimitOverrides] = field(default_factory=dict, metadata=about(
        '{elbow: {position: [-2.0, 2.0], velocity: 1.0, acceleration: 5.0, jerk: 1000.0, '
        'torque: 40.0}}', "Limits, if they are narrower than the URDF's or missing there "
        '[rad or m and derivatives; N m or N].'))
    urdf_limits_wrong: tuple[str, ...] = field(default=(), metadata=about(
        '[elbow]', "Joints whose limits here may be wider than the URDF's, because the URDF is "
        'known to be wrong.'))
    drives: Mapping[str, DriveValues] = field(default_factory=dict, metadata=about(
        '{elbow: {gain: 10.0, reduction: 100.0, rotor_inertia: 0.5}}', 'Motors and gears: '
        'torque per current [N m/A], turns of the motor per turn of the joint, rotor inertia '
        'reflected to the joint [kg m^2].'))
    guessed: tuple[str, ...] = field(default=(), metadata=about(
        '[elbow]', 'Joints whose bodies have guessed inertias in the URDF, see `init --repair`.'))
    coupling: Mapping[str, Mapping[str, float]] = field(default_factory=dict, metadata=about(
        '{wrist_3: {wrist_2: -1.0}}', "Coupled drives: how a drive's output turns with other "
        'joints, theta_drive = reduction (q_drive + sum of factor q_other).'))
    effort: Effort | None = field(default=None, metadata=about(
        '{quantity: torque, side: joint, sign: 1, gravity_compensated: false}', 'What the driver '
        'publishes: torque or current; at the joint or at the motor; 1 if a positive effort '
        'accelerates the joint in its positive direction, else -1; whether the driver subtracts '
        'gravity. There is no default.'))
    position: PositionSection = field(default_factory=PositionSection, metadata=about(
        '{side: joint, offset: {elbow: 0.1}}', 'Whether positions are recorded at the joint or '
        'at the motor, and the offset added to them [rad or m].'))
    sensor_deviation: Mapping[str, Annotated[float, Quantity('', minimum=0, below=1)]] = field(
        default_factory=dict, metadata=about(
            '{elbow: 0.01}', "Relative standard deviation of the gain of a joint's torque sensor "
            'or drive, for the intervals of `payload`, `gains` and `compare`; 0.02 is assumed.'))
    unmeasured: tuple[str, ...] = field(default=(), metadata=about(
        '[wrist_3]', 'Joints that move and whose effort is not measured.'))
    balancers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, metadata=about(
        '{spring: {kind: torsion_spring, joint: elbow, stiffness: estimate}}', 'Springs and '
        'counterbalances, whose strength is known or to be estimated.'))
    recording: Any = field(default_factory=dict, metadata=about(
        '{t: timestamp, q: "actual_q_{joint}", names: [0, 1, 2], units: {q: deg}}',
        'Names of the signals in logs, and their units ([logs](logs.md)).'))
    tf_prefix: str = field(default='', metadata=about(
        'left_', 'Prefix of the names of joints and links in ROS.'))
    driver: Driver | None = field(default=None, metadata=about(
        '{launch: PACKAGE/FILE, controller: arm_controller, rate: 500.0}', 'The ROS driver of a '
        'real arm, for the launch files ([ros2_control](ros2_control.md)).'))


ROBOT_FILE_KEYS: dict[str, tuple[str, str]] = {
    item.name: (item.metadata['example'], item.metadata['meaning']) for item in fields(RobotFile)}
"""Example and meaning of each key of a robot YAML."""
JOINT = '{joint}'
"""Placeholder in the name of a column, which is replaced by the joint's name in the file."""
SIGNAL_KEYS = ('t', 'q', 'v', 'tau', 'current', 'command', 'joint_names')
UNITS: dict[str, dict[str, float]] = {
    't': {'s': 1.0, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9},
    'q': {'rad': 1.0, 'deg': math.pi / 180, 'turn': 2 * math.pi},
    'command': {'rad': 1.0, 'deg': math.pi / 180, 'turn': 2 * math.pi},
    'v': {'rad/s': 1.0, 'deg/s': math.pi / 180, 'rpm': math.pi / 30},
    'tau': {'Nm': 1.0, 'mNm': 1e-3},
    'current': {'A': 1.0, 'mA': 1e-3}}
"""Units of each signal, with their factors to SI units. Prismatic joints use SI units only."""


RECORDING: dict[str, Any] = {
    **dict.fromkeys(SIGNAL_KEYS, str | None),
    'names': tuple[str | int, ...] | Mapping[str, str | int] | None,
    'units': Mapping[str, str | float | Mapping[str, str | float]] | None,
    'topic': str | None, 'stamps': Literal['header', 'received'] | None}
"""Keys of the block `recording` of a robot YAML, and their types."""


def read_recording_block(content: Any, joints: Sequence[str], label: str) -> dict[str, Any]:
    """
    Return the block `recording` after a check, with `names` as a mapping from joint to text.

    Parameters
    ----------
    content
        Content of the key `recording`.
    joints
        Joints of the arm.
    label
        Name of the block in messages.

    Raises
    ------
    ConfigurationError
        A key, unit or joint is unknown.

    """
    typed = read_typed(RECORDING, content, label, ConfigurationError)
    check_keys(content, RECORDING, label, ConfigurationError)
    block, names = {name: typed[name] for name in content}, typed['names']
    if isinstance(names, tuple):
        if len(names) != len(joints):
            raise ConfigurationError(f'{label}, names lists {len(names)} names for the '
                                     f'{len(joints)} joints of the arm: {", ".join(joints)}')
        names = dict(zip(joints, names))
    if names is not None:
        check_keys(names, joints, f'{label}, names', ConfigurationError)
        block['names'] = {joint: str(name) for joint, name in names.items()}
    for signal, unit in (typed['units'] or {}).items():
        if isinstance(unit, Mapping) and signal == 't':
            raise ConfigurationError(f'{label}, units, t must be one unit, such as ms')
        if isinstance(unit, Mapping) and set(unit) != set(joints):
            raise ConfigurationError(
                f'{label}, units, {signal} must name each joint of the arm, such as '
                f'{{{joints[0]}: 0.02, ...}}: {", ".join(joints)}')
        for factor in unit.values() if isinstance(unit, Mapping) else (unit,):
            unit_factor(signal, factor, f'{label}, units')
    return block


def unit_factor(signal: Any, unit: Any, label: str) -> float:
    """
    Return the factor from a unit to SI.

    Parameters
    ----------
    signal
        Name of the signal.
    unit
        A name in `UNITS`, or the factor itself.
    label
        Name of the unit in messages.

    Raises
    ------
    ConfigurationError
        The signal or the unit does not exist.

    """
    check_keys({signal: unit}, UNITS, label, ConfigurationError)
    if isinstance(unit, int | float) and not isinstance(unit, bool):
        if not math.isfinite(unit) or unit == 0:
            raise ConfigurationError(f'{label}, {signal} is the factor {unit}; it must be finite '
                                     'and not zero')
        return float(unit)
    if not isinstance(unit, str) or unit not in UNITS[signal]:
        raise ConfigurationError(
            f"{label}, {signal} is '{truncated_repr(unit)}'; it must be one of "
            f'{", ".join(UNITS[signal])}, or a factor to the first of them')
    return UNITS[signal][unit]
