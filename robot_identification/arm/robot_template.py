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
"""Robot YAML to fill in, generated from a URDF."""

from collections.abc import Collection, Iterable, Mapping
import dataclasses
from functools import cached_property
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
import numpy as np
from robot_identification import yaml_file
from robot_identification.arm.arm import Arm
from robot_identification.arm.arm_chain import ArmChoice, find_locked_joints
from robot_identification.arm.drives import Effort
from robot_identification.arm.limits import Limits
from robot_identification.arm.robot_keys import ROBOT_FILE_KEYS
from robot_identification.arm.urdf import parse_urdf, read_urdf
from robot_identification.errors import ConfigurationError
import yaml

EFFORT_VALUES = {'+1': 1, '1': 1, '-1': -1, 'gravity': False, 'no-gravity': True}
"""Words in the short description of effort, and the values that they stand for."""
LIMITS = {
    'velocity': ' [{unit}/s]', 'torque': ': rated, at the joint [{torque}]',
    'acceleration': ' [{unit}/s^2], from the data sheet'}
"""Limits in the YAML, with the text after FILL IN if a limit is missing."""


@dataclasses.dataclass(frozen=True)
class Description:
    """
    A robot description, and the joints to lock so that only those of the arm move.

    Parameters
    ----------
    text
        URDF text.
    path
        File of the URDF or xacro.
    locked
        Reason why each locked joint is locked, by joint.
    arguments
        Arguments of the xacro, by name.
    package_dirs
        Folders of ROS packages that the URDF refers to.

    """

    text: str
    path: Path
    locked: dict[str, str]
    arguments: Mapping[str, str] = dataclasses.field(default_factory=dict)
    package_dirs: Iterable[Path] = ()

    @cached_property
    def arm(self) -> Arm:
        """The arm with the values of the URDF."""
        return Arm.from_urdf(self.text, locked=list(self.locked))


def read_description(urdf: Path, choice: ArmChoice | None = None,
                     arguments: Mapping[str, str] | None = None,
                     package_dirs: Iterable[Path] = ()) -> Description:
    """
    Read a URDF or xacro, and find the joints that do not belong to the arm.

    Parameters
    ----------
    urdf
        Path of the URDF or xacro.
    choice
        Which of its joints are the arm; by default the only branch that is long enough.
    arguments, package_dirs
        As for `Description`.

    Raises
    ------
    ArmError
        The URDF cannot be used.

    """
    text, label = read_urdf(urdf, arguments, package_dirs)[0], f"the URDF '{urdf}'"
    locked = find_locked_joints(parse_urdf(text, label), label, choice or ArmChoice())
    return Description(text, urdf, locked, arguments or {}, package_dirs)


def parse_effort(text: str) -> Effort:
    """
    Return the meaning of effort from a short description, such as `torque,joint,+1,gravity`.

    Parameters
    ----------
    text
        Quantity (torque or current), side (joint or motor), sign (+1 or -1), and `gravity` or
        `no-gravity` for a driver that removes the gravity torque.

    Raises
    ------
    ConfigurationError
        A value is missing or not one of these.

    """
    values = [EFFORT_VALUES.get(value.strip(), value.strip()) for value in text.split(',')]
    try:
        named = dict(zip(Effort.__dataclass_fields__, values, strict=True))
        return yaml_file.read_typed(Effort, named, '', ConfigurationError)
    except (ValueError, ConfigurationError) as error:
        raise ConfigurationError(
            f"the effort '{text}' must be four words, such as torque,joint,+1,gravity: torque "
            'or current; joint or motor; +1 or -1; gravity, or no-gravity if the driver subtracts '
            'the gravity torque') from error


def robot_template(description: Description, base: Path, *, limits: Limits | None = None,
                   effort: Effort | None = None, recording: Mapping[str, Any] | None = None,
                   guessed: Collection[str] = ()) -> str:
    """
    Return a robot YAML with the values of a URDF as comments; missing values are marked FILL IN.

    Parameters
    ----------
    description
        The URDF, and the joints to lock.
    base
        Folder of the YAML; files inside it are named relative to it, others by absolute paths.
    limits
        Limits of the joints; those that differ from the URDF are written. By default the URDF's.
    effort
        What the driver publishes as effort, if known.
    recording
        The block `recording` with the names of the signals in a log, if known.
    guessed
        Joints whose bodies have guessed inertias in the URDF.

    Raises
    ------
    ArmError
        The URDF cannot be used.

    """
    arm = description.arm
    limits = limits or arm.limits
    environment = Environment(loader=PackageLoader('robot_identification.arm'), trim_blocks=True,
                              undefined=StrictUndefined, keep_trailing_newline=True)
    environment.filters['yaml'] = _to_yaml
    folders = [_relative(folder, base) for folder in description.package_dirs]
    wider = [joint for i, joint in enumerate(arm.joint_names) if any(
        getattr(limits, name)[i] > getattr(arm.limits, name)[i] for name in LIMITS)]
    content: dict[str, Any] = {
        'name': arm.name, 'urdf': _relative(description.path, base),
        **({'xacro': description.arguments} if description.arguments else {}),
        **({'package_dirs': folders} if folders else {}),
        'locked': description.locked, 'gravity': arm.gravity.tolist(),
        'joints': _joints(arm, limits), 'drives': {}, 'recording': recording or {},
        'effort': effort and dataclasses.asdict(effort),
        **({'guessed': list(guessed)} if guessed else {}),
        **({'urdf_limits_wrong': wider} if wider else {})}
    others = {key: example for key, (example, _) in ROBOT_FILE_KEYS.items() if key not in content}
    return environment.get_template('robot.yaml').render(content, arm=arm, other_keys=others)


def _joints(arm: Arm, given: Limits) -> list[dict[str, Any]]:
    """Return name, unit, limits of the URDF and limits to write of each joint."""
    limits = arm.limits
    named = zip(arm.joint_names, arm.units('rad', 'm'), arm.units('N m', 'N'))
    return [
        {'name': joint, 'unit': unit,
         'urdf': f'{limits.lower[i]:.4g} to {limits.upper[i]:.4g} {unit}, '
                 f'{limits.velocity[i]:.4g} {unit}/s, {limits.torque[i]:.4g} {torque}',
         'limits': [
             (name, float(value) if np.isfinite(value) else None,
              description.format(unit=unit, torque=torque))
             for name, description in LIMITS.items()
             if (value := getattr(given, name)[i]) != getattr(limits, name)[i]
             or not np.isfinite(value)]}
        for i, (joint, unit, torque) in enumerate(named)]


def _to_yaml(value: Any) -> str:
    """Return a value as one line of YAML; strings are quoted if necessary."""
    return yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10 ** 6,
                          allow_unicode=True).removesuffix('\n...\n').strip()


def _relative(path: Path, base: Path) -> str:
    """Return a path relative to a folder if it is inside, otherwise as an absolute path."""
    path, base = path.resolve(), base.resolve()
    return str(path.relative_to(base) if path.is_relative_to(base) else path)
