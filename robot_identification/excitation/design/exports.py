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
"""Forms in which controllers take a motion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.errors import ExcitationError
from robot_identification.excitation.design.excitation import Excitation
from robot_identification.excitation.motion import Series
from robot_identification.excitation.motion.frequencies import check_rate
from robot_identification.files import atomic_write, write_text
import yaml

UR_JOINTS = 6
UR_RATE = 125.0    # [Hz] at which a CB3 controller takes servoj; e-Series: 500


def save_motion_csv(excitation: Excitation, path: str | Path, rate: float,
                    periods: int = 1) -> None:
    """
    Write t, q_<joint>..., v_<joint>..., a_<joint>...; whole or not at all.

    Parameters
    ----------
    excitation
        The motion.
    path
        The file.
    rate
        Rate of the rows [Hz].
    periods
        How often the period is repeated.

    Raises
    ------
    ExcitationError
        A rate that does not show the motion.

    """
    check_rate(rate, excitation.trajectory.series.harmonics, excitation.period)
    header = ['t', *(f'{quantity}_{joint}' for quantity in 'qva'
                     for joint in excitation.joint_names)]
    table = np.column_stack(excitation.sample(rate, periods))
    with atomic_write(path) as temporary:
        np.savetxt(temporary, table, fmt='%.17g', delimiter=',', header=','.join(header),
                   comments='')


def joint_trajectory(excitation: Excitation, rate: float, periods: int = 1) -> dict[str, Any]:
    """
    Return a trajectory_msgs/JointTrajectory as plain content.

    Parameters
    ----------
    excitation
        The motion.
    rate
        Rate of the points [Hz].
    periods
        How often it is repeated.

    Returns
    -------
    dict
        `joint_names` and `points`, each with `positions`, `velocities`, `accelerations` and
        `time_from_start: {sec, nanosec}`; the last point is the end of the last period.

    Raises
    ------
    ExcitationError
        A rate or a number of periods that is not positive.

    """
    check_rate(rate, excitation.trajectory.series.harmonics, excitation.period)
    motion = excitation.sample(rate, periods, endpoint=True)
    points = []
    for t, q, v, a in zip(*motion):
        nanoseconds = round(float(t) * 1e9)
        points.append({
            'positions': [float(x) for x in q], 'velocities': [float(x) for x in v],
            'accelerations': [float(x) for x in a],
            'time_from_start': {'sec': nanoseconds // 10 ** 9, 'nanosec': nanoseconds % 10 ** 9}})
    return {'joint_names': list(excitation.joint_names), 'points': points}


def save_joint_trajectory(excitation: Excitation, path: str | Path, rate: float,
                          periods: int = 1) -> None:
    """Write `joint_trajectory` as YAML, which `ros2 topic pub` and `rosidl` take."""
    write_text(path, yaml.safe_dump(joint_trajectory(excitation, rate, periods), sort_keys=False,
                                    default_flow_style=None, width=10_000))


def check_ur_script(joints: int, series: Series) -> None:
    """
    Refuse motions that a UR script cannot hold.

    Parameters
    ----------
    joints
        How many move.
    series
        Parametrisation of the motion.

    Raises
    ------
    ExcitationError
        The motion does not start at rest, or is not one of six joints.

    """
    if joints != UR_JOINTS:
        raise ExcitationError(f'a UR script moves six joints, the excitation moves {joints}')
    if not series.rests_at_ends:
        raise ExcitationError('a UR script needs a motion that starts and ends at rest; design '
                              "one of the kind 'mfs'")


def ur_script(excitation: Excitation, rate: float = UR_RATE, periods: int = 1) -> str:
    """
    Return a URScript program: a slow move to the start, then `servoj` at a fixed rate.

    Parameters
    ----------
    excitation
        A motion of six joints that starts and ends at rest.
    rate
        Rate of the robot's controller [Hz]: 125 for CB3, 500 for e-Series.
    periods
        How often the period is repeated.

    Raises
    ------
    ExcitationError
        The motion does not start at rest, or is not one of six joints.

    """
    check_ur_script(len(excitation.joint_names), excitation.trajectory.series)
    check_rate(rate, excitation.trajectory.series.harmonics, excitation.period)
    motion = excitation.sample(rate, periods, endpoint=True)
    rows = ',\n'.join('    [' + ', '.join(f'{x:.7f}' for x in q) + ']' for q in motion.q)
    name = ''.join(c if c.isalnum() else '_' for c in excitation.arm_name)
    first = ', '.join(f'{x:.7f}' for x in motion.q[0])
    return (f'def excite_{name}():\n'
            f'  # {len(motion.q)} points at {rate:g} Hz; joints: '
            f'{", ".join(excitation.joint_names)}\n'
            f'  points = [\n{rows}\n  ]\n'
            f'  movej([{first}], a=0.3, v=0.2)\n'
            f'  sleep(1.0)\n'
            f'  i = 0\n'
            f'  while i < {len(motion.q)}:\n'
            f'    servoj(points[i], t={1 / rate:.6f}, lookahead_time=0.03, gain=500)\n'
            f'    i = i + 1\n'
            f'  end\n'
            f'  stopj(2.0)\n'
            f'end\n')


def save_ur_script(excitation: Excitation, path: str | Path, rate: float = UR_RATE,
                   periods: int = 1) -> None:
    """Write `ur_script`; whole or not at all."""
    write_text(path, ur_script(excitation, rate, periods))
