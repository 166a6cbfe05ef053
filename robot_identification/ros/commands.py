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
"""The commands `robot-identification ros`."""

import importlib.util
from pathlib import Path

from robot_identification.arm import load_arm
from robot_identification.console import emit, out
from robot_identification.errors import ConfigurationError
from robot_identification.files import (
    check_output_folder,
    check_outputs,
    FileKind,
    write_text,
)


def ros_demo_command(
    *,
    output: Path = Path('results/ros_demo'),
    robot: str = 'panda',
    time_budget: float | None = None,
    seed: int = 0,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """
    Excite, record, identify and validate the simulated robot with the ROS nodes.

    Parameters
    ----------
    output : -o
        Folder for the results.
    robot
        Shipped robot or robot YAML.
    time_budget
        Time limit of the first design [s]; if omitted, each design runs until one start converges.
    seed
        Seed of the designs and of the simulated arm.

    """
    for module in ('rclpy', 'robot_identification_interfaces'):
        if importlib.util.find_spec(module) is None:
            raise ConfigurationError(
                f"the demo on ROS needs the Python module '{module}': source a ROS 2 workspace "
                'with this package, or install the wheels with .ci/ros_wheels VENV')
    from robot_identification.ros.nodes.demo import Demo, FILES
    from robot_identification.validation.verdict import exit_code
    check_output_folder(output, FILES, FILES[0], load_arm(robot).files, force=force)

    def report(text: str) -> None:
        if not as_json:
            out.print(text, markup=False)

    result = Demo(output, robot, report).run(time_budget, seed)
    if as_json:
        emit({'passed': result.passed, 'doubtful': result.doubtful,
              'reasons': list(result.reasons), 'doubts': list(result.doubts),
              'model': result.model, 'urdf': result.urdf, 'report': result.report,
              'errors': dict(zip(result.joint_names, result.joint_errors))})
    else:
        for joint, error in zip(result.joint_names, result.joint_errors):
            out.print(f'  {joint}: relative torque error {error:.1%}', markup=False)
        for reason in (*result.reasons, *result.doubts):
            out.print(f'  {reason}', markup=False, style='red')
        out.print(f'open {result.report}', markup=False)
    raise SystemExit(exit_code('passed' if result.passed else 'doubtful' if result.doubtful
                               else 'failed'))


def ros_controllers_command(
    robot: str,
    /,
    *,
    output: Path,
    force: bool = False,
) -> None:
    """
    Write the controllers file of ros2_control that the simulations use, to change it.

    Name it <name>_controllers.yaml and keep it beside the robot YAML. Its effort gains are
    computed from the inertias, torque limits and friction of the robot.

    Parameters
    ----------
    robot : ROBOT
        Shipped robot or robot YAML.
    output : -o
        Controllers file to write.

    """
    from robot_identification.ros.controllers_file import controllers_text
    arm = load_arm(robot)
    kind = FileKind('a controllers file', 'controller_manager')
    check_outputs([(output, kind)], arm.files, force=force)
    write_text(output, controllers_text(arm))
    out.print(f'wrote {output}', markup=False)


ros_command = {'demo': ros_demo_command, 'controllers': ros_controllers_command}
