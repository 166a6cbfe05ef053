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
"""A robot YAML to fill in, made from a URDF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from robot_identification.arm.arm import Arm
from robot_identification.arm.drives import Effort
from robot_identification.arm.robot_keys import ROBOT_FILE_KEYS
from robot_identification.arm.urdf import parse_urdf, read_urdf
from robot_identification.cli.arm_chain import ArmChain, choose_chain
from robot_identification.errors import ConfigurationError
from robot_identification.yaml_file import Quantity, read_typed, read_yaml
import yaml

FILL_IN = 'null    # FILL IN'
EFFORT_WORDS = ('quantity', 'side', 'sign', 'gravity_compensated')
EFFORT_VALUES = {'+1': 1, '1': 1, '-1': -1, 'gravity': False, 'no-gravity': True}
"""Values of the words of a short description of effort that are not the value itself."""
MOVEIT_JOINT = {
    'has_velocity_limits': bool | None, 'has_acceleration_limits': bool | None,
    'max_velocity': float | None, 'max_acceleration': float | None}
Positive = Annotated[float, Quantity(above=0)]


@dataclass(frozen=True)
class TemplateOptions:
    """
    What a user knows beside the URDF when a robot YAML is made.

    Parameters
    ----------
    arguments
        Arguments of a xacro, by name.
    package_dirs
        Folders that hold ROS packages.
    base_link, tip
        Links between which the arm moves.
    lock
        Joints to lock: names or patterns.
    moving
        Joints that a controller moves, where one is known: all others are locked.
    acceleration
        Limit of the joints of which nothing better is known [rad/s^2 or m/s^2]: one number, or
        one for each joint.
    velocity, torque
        The same [rad/s or m/s; N m or N], where the URDF has none or a wider one.
    joint_limits
        A `joint_limits.yaml` of MoveIt.
    effort
        What the driver publishes.
    recording
        What loggers call the signals: the block `recording`.

    """

    arguments: Mapping[str, str] = field(default_factory=dict)
    package_dirs: tuple[Path, ...] = ()
    base_link: str | None = None
    tip: str | None = None
    lock: tuple[str, ...] = ()
    moving: tuple[str, ...] = ()
    acceleration: float | Sequence[float] | None = None
    velocity: float | Sequence[float] | None = None
    torque: float | Sequence[float] | None = None
    joint_limits: Path | None = None
    effort: Effort | None = None
    recording: Mapping[str, Any] = field(default_factory=dict)


def parse_effort(text: str) -> Effort:
    """
    Read a short description of effort, `torque,joint,+1,gravity`.

    Parameters
    ----------
    text
        Quantity (torque or current), side (joint or motor), sign (+1 or -1), and `gravity` or
        `no-gravity` for a driver that takes the gravity torque away.

    Raises
    ------
    ConfigurationError
        It is none.

    """
    words = [word.strip() for word in text.split(',')]
    values = [EFFORT_VALUES.get(word, word) for word in words]
    try:
        effort: Effort = read_typed(Effort, dict(zip(EFFORT_WORDS, values, strict=True)), '',
                                    ConfigurationError)
    except (ValueError, ConfigurationError) as error:
        raise ConfigurationError(
            f"the effort '{text}' must be four words, as torque,joint,+1,gravity: torque or "
            'current; joint or motor; +1 or -1; gravity, or no-gravity where the driver removes '
            'the gravity torque') from error
    return effort


def robot_template(urdf: str | Path, *, base: Path | None = None,
                   options: TemplateOptions | None = None) -> str:
    """
    Return the text of a robot YAML: what the URDF says as comments, what it does not to fill in.

    Parameters
    ----------
    urdf
        Path of the URDF or xacro.
    base
        Folder that the YAML will be written to; the URDF is named relative to it where possible.
    options
        What is known beside the URDF.

    Raises
    ------
    ArmError
        The URDF cannot be used.
    ConfigurationError
        The joint limits cannot be read.

    """
    options = options or TemplateOptions()
    text, path = read_urdf(urdf, options.arguments, options.package_dirs)
    origin = f"the URDF '{urdf}'"
    chain = choose_chain(parse_urdf(text, origin), origin, base=options.base_link,
                         tip=options.tip, lock=options.lock, moving=options.moving)
    arm = Arm.from_urdf(text, locked=list(chain.locked))
    known = _given_limits(options, arm)
    if options.joint_limits is not None:
        for joint, values in _moveit_limits(options.joint_limits, arm).items():
            known[joint].update(values)
    lines = [
        f'# Robot file of {arm.name}. Fill in what says FILL IN; everything else is optional.',
        f'name: {_word(arm.name)}',
        f'urdf: {_word(_relative(path or Path(str(urdf)), base))}',
        *_description(options, base), '',
        '# Joints that stand still in all recordings, with their positions [rad or m], as',
        '# {finger: 0.0}. What stands under joints for them is not used.',
        *_locked(arm, chain), '',
        '# Direction of gravity [m/s^2] in the base frame; for an arm on a wall or ceiling give',
        "# instead the base's orientation in the world: mount: {rpy: [3.14159, 0.0, 0.0]}. With",
        '# gravity: estimate the recordings say how the base stands.',
        f'gravity: [{", ".join(f"{x!r}" for x in map(float, arm.gravity))}]', '',
        '# The URDF gives position, velocity and torque limits; narrow them here where needed.',
        'joints:']
    for i, joint in enumerate(arm.joint_names):
        lines += _joint(arm, i, joint, known[joint])
    lines += [
        '', '# Motors and gears, where known: gain of a current [N m/A], reduction, '
        'rotor inertia seen', '# at the joint [kg m^2].', 'drives: {}',
        f'#  {_word(arm.joint_names[0])}: {{gain: 10.0, reduction: 100.0, rotor_inertia: 0.5}}',
        '', *_effort(options.effort), '',
        '# What your logs call the signals, and their units: `init --recording FILE` proposes it.',
        '# With {joint} a name is that of the column of a joint, for which `names` has its word.',
        *_recording(options.recording), '',
        '# Every other key, as an example; docs/robot_file.md says more.']
    given = {line.split(':')[0].lstrip('#') for line in lines}
    lines += [f'#{key}: {example}' for key, (example, _) in ROBOT_FILE_KEYS.items()
              if key not in given]
    return '\n'.join([*lines, ''])


def _description(options: TemplateOptions, base: Path | None) -> list[str]:
    """Return what the xacro needs."""
    lines = []
    if options.arguments:
        lines.append(f'xacro: {_flow(dict(options.arguments))}')
    if options.package_dirs:
        folders = [_relative(folder, base) for folder in options.package_dirs]
        lines.append(f'package_dirs: {_flow(folders)}')
    return lines


def _locked(arm: Arm, chain: ArmChain) -> list[str]:
    if not chain.locked:
        return ['locked: {}']
    return ['locked:', *(f'  {_word(name)}: {arm.locked[name]!r}    # {reason}'
                         for name, reason in chain.locked.items())]


def _effort(effort: Effort | None) -> list[str]:
    if effort is not None:
        return [f'effort: {_flow(dataclasses.asdict(effort))}']
    return [
        '# What your driver publishes as effort. There is no default, because drivers differ and '
        'a', '# wrong reading makes a wrong model. A motion can be designed without it.',
        'effort:',
        f'  quantity: {FILL_IN}: torque or current',
        f'  side: {FILL_IN}: joint (behind the gear) or motor',
        f'  sign: {FILL_IN}: 1 when a positive effort accelerates the joint forwards, else -1',
        f'  gravity_compensated: {FILL_IN}: true when the driver takes gravity away, else false']


def _recording(names: Mapping[str, Any]) -> list[str]:
    if names:
        return [f'recording: {_flow(dict(names))}']
    return ['#recording: {t: timestamp, q: "actual_q_{joint}", current: "actual_current_{joint}",',
            '#  names: [0, 1, 2, 3, 4, 5], topic: /joint_states, stamps: header,',
            '#  units: {t: ms, q: deg, v: deg/s, tau: mNm, current: mA}}']


def _given_limits(options: TemplateOptions, arm: Arm) -> dict[str, dict[str, float]]:
    """Return the limits that the options give and the URDF has not, or has wider."""
    found: dict[str, dict[str, float]] = {joint: {} for joint in arm.joint_names}
    for name in ('velocity', 'torque', 'acceleration'):
        given = getattr(options, name)
        if given is None:
            continue
        values = np.atleast_1d(np.asarray(given, dtype=float))
        if len(values) not in (1, arm.n):
            raise ConfigurationError(
                f'--{name} gives {len(values)} numbers; give one for all, or one for each of the '
                f'{arm.n} joints: {", ".join(arm.joint_names)}')
        if not np.all((values > 0) & (values < np.inf)):
            raise ConfigurationError(f'--{name} must be above zero, not '
                                     f'{", ".join(f"{x:g}" for x in values)}')
        for i, joint in enumerate(arm.joint_names):
            value = float(values[i % len(values)])
            if not value >= getattr(arm.limits, name)[i]:
                found[joint][name] = value
    return found


def _moveit_limits(path: Path, arm: Arm) -> dict[str, dict[str, float]]:
    """Return velocities and accelerations that a joint_limits.yaml of MoveIt gives."""
    content = read_yaml(path, 'joint limits', ConfigurationError)
    limits = content.get('joint_limits') if isinstance(content, dict) else None
    if not isinstance(limits, dict):
        raise ConfigurationError(f"'{path}' is no joint_limits.yaml of MoveIt: it has no mapping "
                                 "'joint_limits'")
    found: dict[str, dict[str, float]] = {}
    for i, joint in enumerate(arm.joint_names):
        label = f"'{path}', {joint}"
        given = read_typed(MOVEIT_JOINT, limits.get(joint, {}), label, ConfigurationError)
        for name in ('velocity', 'acceleration'):
            value = given[f'max_{name}']
            if not given[f'has_{name}_limits'] or value is None:
                continue
            read_typed(Positive, value, f'{label}, max_{name}', ConfigurationError)
            if name == 'acceleration' or value < arm.limits.velocity[i]:    # else the URDF's
                found.setdefault(joint, {})[name] = value
    if not found:
        raise ConfigurationError(f"'{path}' has no limits of the joints "
                                 f'{", ".join(arm.joint_names)}')
    return found


def _word(text: str) -> str:
    """Return a text as YAML wants it, in quotes where it needs them."""
    return yaml.safe_dump(text, width=10 ** 6, allow_unicode=True).removesuffix('\n...\n').strip()


def _flow(content: Any) -> str:
    return yaml.safe_dump(content, default_flow_style=True, sort_keys=False, width=10 ** 6,
                          allow_unicode=True).strip()


def _joint(arm: Arm, i: int, joint: str, known: Mapping[str, float]) -> list[str]:
    limits = arm.limits
    slides = bool(arm.prismatic[i])
    unit = 'm' if slides else 'rad'
    given = (f'{limits.lower[i]:.4g} to {limits.upper[i]:.4g} {unit}, '
             f'{limits.velocity[i]:.4g} {unit}/s, '
             f'{limits.torque[i]:.4g} {"N" if slides else "N m"}')
    lines = [f'  {_word(joint)}:    # URDF: {given}']
    if 'velocity' in known:
        lines.append(f'    velocity: {known["velocity"]!r}')
    elif not np.isfinite(limits.velocity[i]):
        lines.append(f'    velocity: {FILL_IN} [{unit}/s]')
    if 'torque' in known:
        lines.append(f'    torque: {known["torque"]!r}')
    elif not np.isfinite(limits.torque[i]):
        lines.append(f'    torque: {FILL_IN}: rated, at the joint [{"N" if slides else "N m"}]')
    value = known.get('acceleration')
    lines += [f'    acceleration: {FILL_IN} [{unit}/s^2], from the data sheet' if value is None
              else f'    acceleration: {value!r}',
              f'    #jerk: 1000.0    # [{unit}/s^3]']
    return lines


def _relative(path: Path, base: Path | None) -> str:
    if base is None:
        return str(path)
    try:
        return str(path.resolve().relative_to(base.resolve()))
    except ValueError:
        return str(path.resolve())
