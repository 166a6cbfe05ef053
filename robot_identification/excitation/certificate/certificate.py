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
"""The requested constraints of a motion, and their proof."""

from __future__ import annotations

from collections.abc import Iterable

from robot_identification.arm import Arm, Limits
from robot_identification.excitation.certificate.claim import Certificate
from robot_identification.excitation.certificate.clearance import Clearance
from robot_identification.excitation.certificate.constraint import Constraint
from robot_identification.excitation.certificate.geometry.scene import build_scene, Scene
from robot_identification.excitation.certificate.joint_limits import JointLimits
from robot_identification.excitation.certificate.requirements import Requirements
from robot_identification.excitation.certificate.torque import PowerLimit, TorqueLimits
from robot_identification.excitation.certificate.workspace import WorkspaceLimits
from robot_identification.excitation.motion import Series, Trajectory


def build_constraints(arm: Arm, series: Series, limits: Limits, margin: float = 0.0,
                      requirements: Requirements | None = None, scene: Scene | None = None,
                      ) -> tuple[Constraint, ...]:
    """
    Return the requested constraints; a new kind of constraint is added here.

    Parameters
    ----------
    arm
        The arm.
    series
        The parametrisation of the motion.
    limits
        Limits of position, velocity, acceleration and jerk.
    margin
        Part of these ranges that must stay free.
    requirements
        What else must hold; nothing when None.
    scene
        Collision geometry; built from the requirements when None.

    """
    asked = requirements or Requirements()
    constraints: list[Constraint] = [JointLimits(series, limits, arm.joint_names, margin,
                                                 arm.wider_limits)]
    if asked.torque_margin is not None:
        constraints.append(TorqueLimits(arm, series, asked))
    if asked.power is not None:
        constraints.append(PowerLimit(arm, series, asked))
    constraints += [WorkspaceLimits(arm, series, box) for box in asked.workspace]
    if asked.clearance is not None:
        scene = scene or build_scene(arm, asked)
        if len(scene.pairs):
            constraints.append(Clearance(scene, series, asked.clearance))
    return tuple(constraints)


def prove(constraints: Iterable[Constraint], trajectory: Trajectory) -> Certificate:
    """Return what each constraint proves about a motion, whether it holds or not."""
    return Certificate(tuple(claim for constraint in constraints
                             for claim in constraint.prove(trajectory)))


def certify(arm: Arm, trajectory: Trajectory, limits: Limits, margin: float = 0.0,
            requirements: Requirements | None = None, scene: Scene | None = None) -> Certificate:
    """
    Prove what a motion respects, at all times.

    Parameters
    ----------
    arm
        The arm.
    trajectory
        The motion.
    limits, margin, requirements, scene
        As for `build_constraints`.

    Returns
    -------
    Certificate
        With every claim, whether it holds or not.

    """
    return prove(build_constraints(arm, trajectory.series, limits, margin, requirements, scene),
                 trajectory)
