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
"""An excitation as CSV and as trajectory_msgs/JointTrajectory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.excitation.design.excitation import Excitation
from robot_identification.excitation.motion.frequencies import check_rate
from robot_identification.files import atomic_write, write_text
import yaml


def save_motion_csv(excitation: Excitation, path: str | Path, rate: float,
                    periods: int = 1) -> None:
    """
    Write the columns t, q_<joint>..., v_<joint>..., a_<joint>...; atomically.

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
        The rate is below twice the highest frequency of the motion.

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
    Return a trajectory_msgs/JointTrajectory as a dict.

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
    """Write `joint_trajectory` as YAML, which `ros2 topic pub` reads."""
    write_text(path, yaml.safe_dump(joint_trajectory(excitation, rate, periods), sort_keys=False,
                                    default_flow_style=None, width=10_000))
