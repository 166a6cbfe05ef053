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
"""Do the same job on ROS 2."""

from __future__ import annotations

import dataclasses
import importlib.util
from pathlib import Path
from typing import Annotated

from robot_identification.arm import load_arm
from robot_identification.console import AsJson, emit, Force, out, progress
from robot_identification.errors import ConfigurationError
from robot_identification.files import check_output_folder
import typer

ros = typer.Typer(no_args_is_help=True, add_completion=False, help='The same job on ROS 2.')


@ros.callback()
def group() -> None:
    """Do the same job on ROS 2."""


@ros.command()
def demo(
    output: Annotated[
        Path,
        typer.Option('--output', '-o', help='Folder for the results.')] = Path('results/ros_demo'),
    robot: Annotated[str, typer.Option(help='Shipped robot or robot YAML.')] = 'panda',
    time_budget: Annotated[float | None, typer.Option(
        help='For the designs [s]; without one, one start of each converges.')] = None,
    seed: Annotated[int, typer.Option(help='Seed of the designs and of the arm.')] = 0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Excite, record, identify and validate the simulated robot with the ROS nodes."""
    for module in ('rclpy', 'robot_identification_interfaces'):
        if importlib.util.find_spec(module) is None:
            raise ConfigurationError(
                f"the demo on ROS needs the Python module '{module}': source a ROS 2 workspace "
                'with this package, or install the wheels with .ci/ros_wheels VENV')
    from robot_identification.nodes.demo import Demo, FILES
    check_output_folder(output, FILES, FILES[0], load_arm(robot).files, force=force)

    def say(text: str) -> None:
        if not as_json:
            out.print(text, markup=False)

    answer = Demo(output, robot, say).run(time_budget, seed)
    if as_json:
        emit({'passed': answer.passed, 'reasons': list(answer.reasons), 'model': answer.model,
              'urdf': answer.urdf, 'report': answer.report,
              'errors': dict(zip(answer.joint_names, answer.joint_errors))})
    else:
        for joint, error in zip(answer.joint_names, answer.joint_errors):
            out.print(f'  {joint}: relative torque error {error:.1%}', markup=False)
        for reason in answer.reasons:
            out.print(f'  {reason}', markup=False, style='red')
        out.print(f'open {answer.report}', markup=False)
    raise typer.Exit(0 if answer.passed else 1)


@ros.command()
def faults(
    robot: Annotated[str, typer.Option(help='Shipped robot or robot YAML.')] = 'panda',
    only: Annotated[str, typer.Option(help='Part of the name of a fault; all when empty.')] = '',
    as_json: AsJson = False,
) -> None:
    """
    Let everything go wrong in motion on the test stand: a model of the controller at 500 Hz.

    Needs no ROS. The exit code is 1 where a motion ends with another reason than it should.
    """
    from robot_identification.stand.faults import FAULTS, judge, Scenario, stand_motion
    from robot_identification.stand.stand import Stand
    chosen = [fault for fault in FAULTS if only in fault.name]
    if not chosen:
        raise ConfigurationError(f"there is no fault with '{only}' in its name; there is: "
                                 f"{'; '.join(fault.name for fault in FAULTS)}")
    arm = load_arm(robot)
    plan = stand_motion(arm)
    started: dict[Scenario, Stand] = {}
    rows = []
    with progress(as_json) as tell:
        for k, fault in enumerate(chosen):
            tell(fault.name, k / len(chosen))
            rows.append(judge(fault, arm, plan, started))
    wrong = [row.name for fault, row in zip(chosen, rows) if row.reasons != (fault.reason,)]
    if as_json:
        emit({'rows': [dataclasses.asdict(row) for row in rows], 'wrong': wrong})
    else:
        titles = ('fault', 'ends with', 'largest step [mrad]', 'of the acceleration limit',
                  'without the node', 'rest after [s]', 'sent')
        lines = [titles, ('---',) * len(titles)]
        lines += [(row.name, ', '.join(row.reasons), f'{1e3 * row.step:.2f}',
                   f'{row.excess:.1f}', f'{row.alone:.1f}', f'{row.rest:.2f}', str(row.sent))
                  for row in rows]
        for line in lines:
            out.print('| ' + ' | '.join(line) + ' |', markup=False, soft_wrap=True)
    raise typer.Exit(1 if wrong else 0)
