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
"""Constraints on a motion, and the certificate that they hold."""

from collections.abc import Iterable

from robot_identification.arm import Arm, Limits
from robot_identification.excitation.certificate.claim import Certificate
from robot_identification.excitation.certificate.clearance import Clearance
from robot_identification.excitation.certificate.constraint import Constraint
from robot_identification.excitation.certificate.geometry.scene import build_scene, Scene
from robot_identification.excitation.certificate.joint_limits import JointLimits
from robot_identification.excitation.certificate.requirements import Requirements
from robot_identification.excitation.certificate.torque import TorqueLimits
from robot_identification.excitation.certificate.workspace import WorkspaceLimits
from robot_identification.excitation.motion import Series, Trajectory


def build_constraints(arm: Arm, series: Series, limits: Limits, margin: float = 0.0,
                      requirements: Requirements | None = None, scene: Scene | None = None,
                      ) -> tuple[Constraint, ...]:
    """
    Return the constraints that limits and requirements impose on a motion.

    Parameters
    ----------
    arm
        The arm.
    series
        The parametrisation of the motion.
    limits
        Limits of position, velocity, acceleration and jerk.
    margin
        Fraction of the range of each joint limit that the motion leaves free.
    requirements
        Further requirements; none when None.
    scene
        Collision geometry; built from the requirements when None.

    """
    required = requirements or Requirements()
    constraints: list[Constraint] = [JointLimits(series, limits, arm.joint_names, margin,
                                                 arm.wider_limits)]
    if required.torque_margin is not None or required.power is not None:
        constraints.append(TorqueLimits(arm, series, required))
    constraints += [WorkspaceLimits(arm, series, box) for box in required.workspace]
    if required.clearance is not None:
        scene = scene or build_scene(arm, required)
        if len(scene.pairs):
            constraints.append(Clearance(scene, series, required.clearance))
    return tuple(constraints)


def prove(constraints: Iterable[Constraint], trajectory: Trajectory) -> Certificate:
    """Return a certificate with the claims of all constraints, whether they hold or not."""
    return Certificate(tuple(claim for constraint in constraints
                             for claim in constraint.prove(trajectory)))


def certify(arm: Arm, trajectory: Trajectory, limits: Limits, margin: float = 0.0,
            requirements: Requirements | None = None, scene: Scene | None = None) -> Certificate:
    """
    Return a certificate of the limits that a motion respects at all times.

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
        Contains every claim, whether it holds or not.

    """
    return prove(build_constraints(arm, trajectory.series, limits, margin, requirements, scene),
                 trajectory)
