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
from typing import Annotated

from robot_identification.arm import load_arm
from robot_identification.console import AsJson, emit, Force, out
from robot_identification.errors import ConfigurationError
from robot_identification.files import (
    check_output_folder,
    check_outputs,
    FileKind,
    write_text,
)
import typer

ros_command = typer.Typer(no_args_is_help=True, add_completion=False,
                          help='Run the same pipeline on ROS 2.')


@ros_command.callback()
def group() -> None:
    """Run the same pipeline on ROS 2."""


@ros_command.command('demo')
def ros_demo_command(
    output: Annotated[
        Path,
        typer.Option('--output', '-o', help='Folder for the results.')] = Path('results/ros_demo'),
    robot: Annotated[str, typer.Option(help='Shipped robot or robot YAML.')] = 'panda',
    time_budget: Annotated[float | None, typer.Option(
        help='Time limit of the first design [s]; if omitted, each design runs until one start '
             'converges.')] = None,
    seed: Annotated[int, typer.Option(help='Seed of the designs and of the simulated arm.')] = 0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Excite, record, identify and validate the simulated robot with the ROS nodes."""
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
    raise typer.Exit(exit_code('passed' if result.passed else 'doubtful' if result.doubtful
                               else 'failed'))


@ros_command.command('controllers')
def ros_controllers_command(
    robot: Annotated[str, typer.Argument(metavar='ROBOT', help='Shipped robot or robot YAML.')],
    output: Annotated[Path, typer.Option('--output', '-o', help='Controllers file to write.')],
    force: Force = False,
) -> None:
    """
    Write the controllers file of ros2_control that the simulations use, to change it.

    Name it <name>_controllers.yaml and keep it beside the robot YAML. Its effort gains are
    computed from the inertias, torque limits and friction of the robot.
    """
    from robot_identification.ros.controllers_file import controllers_text
    arm = load_arm(robot)
    kind = FileKind('a controllers file', 'controller_manager')
    check_outputs([(output, kind)], arm.files, force=force)
    write_text(output, controllers_text(arm))
    out.print(f'wrote {output}', markup=False)
