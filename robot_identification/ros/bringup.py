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
"""Files for ros2_control that belong to a robot YAML: URDF description and controllers file."""

from collections.abc import Mapping
from pathlib import Path
import tempfile
from typing import Annotated, Any
from xml.etree import ElementTree

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arm.urdf import parse_urdf, read_urdf
from robot_identification.errors import ConfigurationError
from robot_identification.files import shared_folder, write_text
from robot_identification.ros.controllers_file import (
    CONTROLLERS,
    controllers_text,
    effort_gains,
    unstable_joints,
)
from robot_identification.ros.mujoco_scene import scene_drives
from robot_identification.ros.name_prefix import with_prefix
from robot_identification.ros.simulated_description import adapt_description, description_xacro
from robot_identification.yaml_file import Quantity, read_typed, read_yaml
import yaml

HARDWARE = ('mock', 'gazebo', 'mujoco', 'none')
COMMAND_INTERFACES = ('position', 'effort')
_MANAGER = {'ros__parameters': {
    'update_rate': Annotated[float, Quantity('Hz', minimum=1, maximum=1e5)]}}
_GAIN = {'d': float | None}
_CONTROLLER = {'ros__parameters': {'command_interfaces': tuple[str, ...] | None}}


def controllers_file(arm: Arm, folder: Path | None = None) -> Path:
    """
    Return the path of an arm's controllers file.

    It is `<name>_controllers.yaml` beside its robot YAML; if there is none, `controllers_text` is
    written.

    Parameters
    ----------
    arm
        The arm, loaded by name or from a robot YAML.
    folder
        Folder of a file that is written; None for a temporary one.

    Raises
    ------
    ConfigurationError
        There is no such file, and a torque limit is unknown.

    """
    path = _own_controllers(arm)
    if not path.is_file():
        path = _folder(folder) / path.name
        write_text(path, controllers_text(arm))
    return path


def controllers_content(arm: Arm, hardware: str = 'none') -> dict[str, Any]:
    """
    Return the sections of an arm's controllers file, and those of the generated controllers.

    Parameters
    ----------
    arm
        The arm.
    hardware
        As for `robot_description`. 'none': the file alone, if there is one. 'mujoco': gains for
        the friction and rotor inertia of the scene.

    Raises
    ------
    ConfigurationError
        The file cannot be read, or there is none and a torque limit is unknown.

    """
    path = _own_controllers(arm)
    own = _controllers(path) if path.is_file() else {}
    if own and (hardware == 'none' or not _has_torque_limits(arm)):
        return own
    content: dict[str, Any] = yaml.safe_load(controllers_text(arm))
    manager = content.pop('controller_manager')['ros__parameters']
    if isinstance(own.get('controller_manager'), dict):
        manager |= own['controller_manager'].get('ros__parameters') or {}
    content = {'controller_manager': {'ros__parameters': manager}, **content,
               **{key: value for key, value in own.items() if key != 'controller_manager'}}
    if hardware == 'mujoco' and (not own or path.parent == shared_folder('config')):
        gains = effort_gains(arm, float(manager['update_rate']), *scene_drives(arm))
        content[CONTROLLERS['effort']]['ros__parameters']['gains'] = gains.to_mapping(arm)
    return content


def _own_controllers(arm: Arm) -> Path:
    """Return the path at which an arm's controllers file is expected."""
    return _beside(arm) / f'{arm.name}_controllers.yaml'


def _has_torque_limits(arm: Arm) -> bool:
    """Return whether controllers can be generated."""
    return bool(np.all(np.isfinite(arm.limits.torque)))


def check_controller(arm: Arm, controller: str, command_interface: str,
                     hardware: str = 'none') -> None:
    """
    Check that a controller exists, uses the interface of the hardware, and is stable on it.

    Parameters
    ----------
    arm
        The arm.
    controller
        Name of the controller that moves the arm.
    command_interface
        Command interface of the ros2_control tags, 'position' or 'effort'.
    hardware
        As for `robot_description`; for 'gazebo', damping gains are compared with the inertias.

    Raises
    ------
    ConfigurationError
        The robot has no such controller, the controller uses another command interface or is
        unstable, or mock hardware should execute efforts.

    """
    if hardware == 'mock' and command_interface == 'effort':
        raise ConfigurationError(
            'mock hardware has no torques and refuses effort commands: leave '
            'command_interface:=effort out, or use sim:=gazebo or sim:=mujoco_control')
    commands, damping = {}, {}
    content = controllers_content(arm, hardware)
    label = f"the controllers of '{arm.name}'"
    for name, section in content.items():
        if name != 'controller_manager':
            typed = read_typed(_CONTROLLER, section, f'{label}, {name}', ConfigurationError)
            commands[name] = typed['ros__parameters']['command_interfaces']
            damping[name] = _damping(section, f'{label}, {name}')
    if controller not in commands:
        raise ConfigurationError(f"'{_own_controllers(arm)}' has no controller '{controller}'; "
                                 f"it has: {', '.join(commands)}")
    if commands[controller] != (command_interface,):
        fitting = [name for name, interfaces in commands.items()
                   if interfaces == (command_interface,)]
        raise ConfigurationError(
            f"the controller '{controller}' commands {', '.join(commands[controller] or ())}, not "
            f'{command_interface}; with command_interface:={command_interface} use '
            f"controller:={' or '.join(fitting)}")
    if hardware == 'gazebo' and command_interface == 'effort':
        unstable = unstable_joints(arm, damping[controller], update_rate(arm, hardware))
        if unstable:
            listed = ', '.join(f'{name} ({ratio:.3g})' for name, ratio in unstable.items())
            raise ConfigurationError(
                f"the gains of '{controller}' are unstable in Gazebo, which has no rotor inertia: "
                f'd dt / I must be below 2 and is more for {listed}. Use controller:='
                f"{CONTROLLERS['effort']}, or write stable gains with `robot-identification ros "
                f'controllers {arm.source or arm.name} -o {_own_controllers(arm).name} --force`')


def _damping(section: Any, label: str) -> dict[str, float]:
    """Return the gain d of each joint in the section of a controller."""
    gains = section['ros__parameters'].get('gains') or {}
    typed = read_typed({str: _GAIN}, gains, f'{label}, gains', ConfigurationError)
    return {joint: gain['d'] or 0.0 for joint, gain in typed.items()}


def check_update_rate(arm: Arm, steps: float) -> None:
    """
    Check that the controllers are updated at each step of a simulation.

    In a slower cycle, Gazebo applies an effort in one step and publishes it for several: the
    recorded efforts are smooth and wrong (a gain of 0.61 was seen at half the rate).

    Parameters
    ----------
    arm
        The arm.
    steps
        Steps of the simulation per second of its time [Hz].

    Raises
    ------
    ConfigurationError
        The rates differ.

    """
    rate = update_rate(arm, 'gazebo')
    if abs(rate - steps) > 1e-3 * steps:
        raise ConfigurationError(
            f'the controllers of {arm.name!r} are updated at {rate:g} Hz, but the world makes '
            f'{steps:g} steps per second, so recorded efforts would be wrong: set update_rate: '
            f"{steps:.0f} in '{_own_controllers(arm)}', or max_step_size: {1 / rate:g} in the "
            'world')


def update_rate(arm: Arm, hardware: str = 'none') -> float:
    """
    Return the update rate of the controller manager in an arm's controllers file [Hz].

    Raises
    ------
    ConfigurationError
        The file states no valid update rate.

    """
    section = controllers_content(arm, hardware).get('controller_manager', {})
    label = f"the controllers of '{arm.name}', controller_manager"
    parameters = read_typed(_MANAGER, section, label, ConfigurationError)['ros__parameters']
    return float(parameters['update_rate'])


def controllers_for_namespace(arm: Arm, namespace: str, folder: Path,
                              hardware: str = 'none') -> Path:
    """
    Return the path of a controllers file with the arm's TF prefix and a namespace.

    The TF prefix is added to the names of the joints, the namespace to the names of the nodes.
    Without both and for a real arm, no file is written if there is one.

    Parameters
    ----------
    arm
        The arm.
    namespace
        Namespace of the controller manager; '' or '/' for none.
    folder
        Folder for the new file.
    hardware
        As for `controllers_content`.

    Raises
    ------
    ConfigurationError
        The robot has no controllers.

    """
    path, space = _own_controllers(arm), namespace.strip('/')
    if hardware == 'none' and not space and not arm.tf_prefix and path.is_file():
        return path
    content = _add_prefix(controllers_content(arm, hardware), arm)
    content = {f'/{space}/{name}' if space else name: section
               for name, section in content.items()}
    prefix = space.replace('/', '_') or arm.tf_prefix.strip('/')
    target = folder / '_'.join(filter(None, (prefix, path.name)))
    write_text(target, yaml.safe_dump(content, sort_keys=False))
    return target


def _controllers(path: Path) -> dict[str, Any]:
    """Return the content of a controllers file."""
    content: dict[str, Any] = read_typed(
        Mapping[str, Any], read_yaml(path, 'controllers file', ConfigurationError),
        f"the controllers file '{path}'", ConfigurationError)
    return content


def _add_prefix(content: Any, arm: Arm) -> Any:
    """Return YAML content with the arm's TF prefix added to every joint name."""
    if isinstance(content, dict):
        return {_add_prefix(key, arm): _add_prefix(value, arm) for key, value in content.items()}
    if isinstance(content, list):
        return [_add_prefix(item, arm) for item in content]
    return arm.tf_prefix + content if content in arm.joint_names else content


def description_file(arm: Arm, folder: Path | None = None) -> Path:
    """
    Return the path of `<name>.urdf.xacro`, which adds ros2_control tags to an arm's URDF.

    The file is searched beside the robot YAML, then in the shipped folder `urdf`. If there is
    none, `description_xacro` is written.

    Parameters
    ----------
    arm
        The arm, loaded by name or from a robot YAML.
    folder
        Folder of a file that is written; None for a temporary one.

    """
    for place in (_beside(arm), shared_folder('urdf')):
        path = place / f'{arm.name}.urdf.xacro'
        if path.is_file():
            return path
    path = _folder(folder) / f'{arm.name}.urdf.xacro'
    write_text(path, description_xacro(arm))
    return path


def robot_description(
    arm: Arm, hardware: str = 'none', command_interface: str = 'position',
    controllers: Path | None = None, namespace: str = '', *, scene: Path | None = None,
    headless: bool = False, base: tuple[float, float] = (0.0, 0.0),
) -> str:
    """
    Return the URDF text of an arm for robot_state_publisher, ros2_control or Gazebo.

    Parameters
    ----------
    arm
        The arm.
    hardware
        'none': the URDF without changes; 'mock', 'gazebo' or 'mujoco' (mujoco_ros2_control): with
        ros2_control tags.
    command_interface
        Command interface of the ros2_control tags, 'position' or 'effort'.
    controllers
        Controllers file for Gazebo; if None, `controllers_file` of the arm.
    namespace
        Namespace of the controller manager that Gazebo's plugin creates.
    scene
        MJCF file from `mujoco_scene`, for 'mujoco'.
    headless
        Whether mujoco_ros2_control runs without a window.
    base
        Horizontal position of the base in Gazebo's world [m].

    Raises
    ------
    ConfigurationError
        The hardware or command interface is unknown.
    ArmError
        xacro cannot expand the description.
    MissingDependencyError
        The package `xacro` is not installed.

    """
    for name, value, known in (('hardware', hardware, HARDWARE),
                               ('command_interface', command_interface, COMMAND_INTERFACES)):
        if value not in known:
            raise ConfigurationError(f'{name} is {value!r}; it must be one of {", ".join(known)}')
    if hardware == 'none':
        return with_prefix(arm.urdf, arm.tf_prefix)
    if hardware == 'gazebo' and controllers is None:
        controllers = controllers_file(arm)
    with tempfile.TemporaryDirectory() as folder:
        source = description_file(arm, Path(folder))
        bare = Path(folder) / f'{arm.name}.urdf'
        bare.write_text(remove_ros2_control(arm.urdf), encoding='utf-8')
        text = read_urdf(source, {
            'description': str(bare), 'hardware': hardware,
            'command_interface': command_interface, 'controllers': str(controllers or ''),
            'mujoco_model': str(scene or ''), 'headless': str(headless).lower()})[0]
    if hardware == 'mujoco':
        text = _as_in_scene(text, arm)
    text = adapt_description(text, arm, hardware == 'gazebo', base)
    return _in_namespace(with_prefix(text, arm.tf_prefix), namespace)


def _as_in_scene(urdf: str, arm: Arm) -> str:
    """Return the URDF with the ros2_control tags of joints that move in the MuJoCo scene."""
    root = ElementTree.fromstring(remove_ros2_control(arm.reduced_urdf))
    for control in ElementTree.fromstring(urdf).iterfind('ros2_control'):
        for joint in control.findall('joint'):
            if joint.get('name') not in arm.joint_names:
                control.remove(joint)
        root.append(control)
    return ElementTree.tostring(root, encoding='unicode')


def _in_namespace(urdf: str, namespace: str) -> str:
    """Return the URDF with the namespace added to Gazebo's ros2_control plugins."""
    if not namespace.strip('/'):
        return urdf
    root = ElementTree.fromstring(urdf)
    for plugin in root.iterfind('gazebo/plugin'):
        ElementTree.SubElement(ElementTree.SubElement(plugin, 'ros'), 'namespace').text = namespace
    return ElementTree.tostring(root, encoding='unicode')


def remove_ros2_control(urdf: str) -> str:
    """
    Return a URDF without ros2_control tags, transmissions and Gazebo plugins.

    Parameters
    ----------
    urdf
        URDF text.

    Raises
    ------
    ArmError
        The text is not a URDF.

    """
    root = parse_urdf(urdf, 'the URDF')
    for element in list(root):
        plugin = element.tag == 'gazebo' and element.find('plugin') is not None
        if element.tag in ('ros2_control', 'transmission') or plugin:
            root.remove(element)
    return ElementTree.tostring(root, encoding='unicode')


def _folder(folder: Path | None) -> Path:
    """Return a folder, or a new temporary one."""
    return Path(tempfile.mkdtemp(prefix='robot_identification_')) if folder is None else folder


def _beside(arm: Arm) -> Path:
    """Return the folder of the robot YAML; the shipped folder `config` if there is none."""
    return arm.source.parent if arm.source is not None else shared_folder('config')
