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
"""Proof that a frame stays in its box between grid points."""

from __future__ import annotations

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.certificate.requirements import Workspace
from robot_identification.certificate.segments import instants, Segments
from robot_identification.certificate.workspace import WorkspaceLimits
from robot_identification.motion import Trajectory

STEPS = 20    # in a segment


def prove_workspace(arm: Arm, trajectory: Trajectory, workspace: Workspace) -> float:
    """
    Bound how near a frame comes to the sides of its box over all times.

    A point at the distance d from the axis of a joint moves by at most d for each radian, so its
    speed is bounded, and between two times h apart it is at most h/2 max(speed) from one of them.

    Parameters
    ----------
    arm
        The arm.
    trajectory
        The motion.
    workspace
        Frame and box.

    Returns
    -------
    float
        Lower bound of the distance to the nearest side [m], negative where it may leave.

    """
    limits = WorkspaceLimits(arm, trajectory.series, workspace)
    segments = Segments.of(trajectory)
    count = len(segments.edges) - 1
    times = instants(trajectory.period, count * STEPS)
    point, _, _ = limits.position(trajectory.derivative(times, 0))
    room = np.minimum(np.array(workspace.upper) - point, point - np.array(workspace.lower))
    h = trajectory.period / (count * STEPS)
    speed = segments.bounds[1] @ limits.reach(segments.bounds[0].max(axis=0))
    rows = STEPS * np.arange(count)[:, None] + np.arange(STEPS + 1)
    nearest: Array = room.min(axis=1)[rows].min(axis=1) - h / 2 * speed
    return float(nearest.min())
