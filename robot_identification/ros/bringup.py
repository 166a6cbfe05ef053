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

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
import tempfile
from typing import Annotated, Any
from xml.etree import ElementTree

from robot_identification.arm import Arm
from robot_identification.arm.urdf import parse_urdf, read_urdf
from robot_identification.errors import ConfigurationError
from robot_identification.files import shared_folder, write_text
from robot_identification.ros.name_prefix import with_prefix
from robot_identification.yaml_file import Quantity, read_typed, read_yaml
import yaml

HARDWARE = ('mock', 'gazebo', 'mujoco', 'none')
COMMAND_INTERFACES = ('position', 'effort')
_MANAGER = {'ros__parameters': {
    'update_rate': Annotated[float, Quantity('Hz', minimum=1, maximum=1e5)]}}
_CONTROLLER = {'ros__parameters': {'command_interfaces': tuple[str, ...] | None}}


def controllers_file(arm: Arm) -> Path:
    """
    Return the path of an arm's controllers file, `<name>_controllers.yaml` beside its robot YAML.

    Parameters
    ----------
    arm
        The arm, loaded by name or from a robot YAML.

    Raises
    ------
    ConfigurationError
        There is no such file.

    """
    path = _beside(arm) / f'{arm.name}_controllers.yaml'
    if not path.is_file():
        raise ConfigurationError(
            f"the robot '{arm.name}' has no controllers: there is no '{path}'; copy "
            f'template_controllers.yaml and enter the names of its joints')
    return path


def check_controller(arm: Arm, controller: str, command_interface: str) -> None:
    """
    Check that a controller exists and uses the command interface of the hardware.

    Parameters
    ----------
    arm
        The arm, whose controllers are listed in its `controllers_file`.
    controller
        Name of the controller that moves the arm.
    command_interface
        Command interface of the ros2_control tags, 'position' or 'effort'.

    Raises
    ------
    ConfigurationError
        The robot has no such controller, or the controller uses another command interface.

    """
    path = controllers_file(arm)
    content = _controllers(path)
    commands = {}
    for name, section in content.items():
        if name != 'controller_manager':
            label = f"the controllers file '{path}', {name}"
            typed = read_typed(_CONTROLLER, section, label, ConfigurationError)
            commands[name] = typed['ros__parameters']['command_interfaces']
    if controller not in commands:
        raise ConfigurationError(f"'{path}' has no controller '{controller}'; it has: "
                                 f"{', '.join(commands)}")
    if commands[controller] != (command_interface,):
        fitting = [name for name, interfaces in commands.items()
                   if interfaces == (command_interface,)]
        raise ConfigurationError(
            f"the controller '{controller}' commands {', '.join(commands[controller] or ())}, not "
            f'{command_interface}; with command_interface:={command_interface} use '
            f"controller:={' or '.join(fitting)}")


def update_rate(arm: Arm) -> float:
    """
    Return the update rate of the controller manager in an arm's controllers file [Hz].

    Raises
    ------
    ConfigurationError
        The robot has no controllers, or their file states no update rate.

    """
    path = controllers_file(arm)
    section = _controllers(path).get('controller_manager', {})
    label = f"the controllers file '{path}', controller_manager"
    parameters = read_typed(_MANAGER, section, label, ConfigurationError)['ros__parameters']
    return float(parameters['update_rate'])


def controllers_for_namespace(arm: Arm, namespace: str, folder: Path) -> Path:
    """
    Return the path of a controllers file with the arm's TF prefix and a namespace.

    The TF prefix is added to the names of the joints, the namespace to the names of the nodes.
    Without both, no file is written, and the result is that of `controllers_file`.

    Parameters
    ----------
    arm
        The arm.
    namespace
        Namespace of the controller manager; '' or '/' for none.
    folder
        Folder for the new file.

    Raises
    ------
    ConfigurationError
        The robot has no controllers.

    """
    path, space = controllers_file(arm), namespace.strip('/')
    if not space and not arm.tf_prefix:
        return path
    content = _add_prefix(_controllers(path), arm)
    content = {f'/{space}/{name}' if space else name: section
               for name, section in content.items()}
    target = folder / f'{space.replace("/", "_") or arm.tf_prefix.strip("/")}_{path.name}'
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


def description_file(arm: Arm) -> Path:
    """
    Return the path of `<name>.urdf.xacro`, which adds ros2_control tags to an arm's URDF.

    The file is searched beside the robot YAML, then in the shipped folder `urdf`.

    Parameters
    ----------
    arm
        The arm, loaded by name or from a robot YAML.

    Raises
    ------
    ConfigurationError
        There is no such file.

    """
    folders = [_beside(arm), shared_folder('urdf')]
    for folder in folders:
        path = folder / f'{arm.name}.urdf.xacro'
        if path.is_file():
            return path
    raise ConfigurationError(
        f"the robot '{arm.name}' has no ros2_control: there is no '{arm.name}.urdf.xacro' in "
        f"{' or '.join(map(repr, map(str, folders)))}; copy template.urdf.xacro")


def robot_description(
    arm: Arm, hardware: str = 'none', command_interface: str = 'position',
    controllers: Path | None = None, namespace: str = '', scene: Path | None = None,
    headless: bool = False,
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

    Raises
    ------
    ConfigurationError
        The hardware or command interface is unknown, or the arm has no ros2_control description.
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
    source = description_file(arm)
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / f'{arm.name}.urdf'
        bare.write_text(remove_ros2_control(arm.urdf), encoding='utf-8')
        text = read_urdf(source, {
            'description': str(bare), 'hardware': hardware,
            'command_interface': command_interface, 'controllers': str(controllers or ''),
            'mujoco_model': str(scene or ''), 'headless': str(headless).lower()})[0]
    if hardware == 'mujoco':
        text = _as_in_scene(text, arm)
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


def _beside(arm: Arm) -> Path:
    """Return the folder of the robot YAML; the shipped folder `config` if there is none."""
    return arm.source.parent if arm.source is not None else shared_folder('config')
