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
"""What was proven about a motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arm import Arm, Limits
from robot_identification.certificate.clearance_proof import prove_clearance
from robot_identification.certificate.geometry import box, build_scene, Scene, Shape
from robot_identification.certificate.joint_limits_proof import prove_peaks
from robot_identification.certificate.requirements import Payload, Requirements
from robot_identification.certificate.torque_proof import prove_torque
from robot_identification.certificate.workspace_proof import prove_workspace
from robot_identification.motion import Trajectory


@dataclass(frozen=True)
class Claim:
    """
    One limit that holds at all times.

    Parameters
    ----------
    quantity
        For instance 'torque'.
    bound
        Largest value that can occur, or the smallest for a distance.
    limit
        What it must not exceed, or fall below.
    unit
        Of both.
    method
        How it was proven, in words.
    holds
        Whether it was.
    detail
        Joint or pair that is nearest to its limit.

    """

    quantity: str
    bound: float
    limit: float
    unit: str
    method: str
    holds: bool
    detail: str = ''

    def __str__(self) -> str:
        verb = 'is' if self.holds else 'is NOT proven to be'
        side = 'at least' if self.quantity in ('clearance', 'workspace') else 'at most'
        where = f' ({self.detail})' if self.detail else ''
        return (f'{self.quantity} {verb} {side} {self.limit:g} {self.unit}: '
                f'{self.bound:.4g}{where}')


@dataclass(frozen=True)
class Certificate:
    """
    Everything that was proven about a motion.

    Parameters
    ----------
    claims
        One for each limit.

    """

    claims: tuple[Claim, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every claim was proven."""
        return all(claim.holds for claim in self.claims)

    @property
    def broken(self) -> tuple[Claim, ...]:
        """What was not proven."""
        return tuple(claim for claim in self.claims if not claim.holds)

    def __getitem__(self, quantity: str) -> Claim:
        for claim in self.claims:
            if claim.quantity == quantity:
                return claim
        raise KeyError(quantity)

    def __contains__(self, quantity: str) -> bool:
        return any(claim.quantity == quantity for claim in self.claims)

    def to_mapping(self) -> list[dict[str, Any]]:
        """Return plain content for a file."""
        return [{'quantity': c.quantity, 'bound': float(c.bound), 'limit': float(c.limit),
                 'unit': c.unit, 'holds': bool(c.holds), 'detail': c.detail, 'method': c.method}
                for c in self.claims]

    @classmethod
    def from_mapping(cls, content: list[Mapping[str, Any]]) -> Certificate:
        """Return the certificate of a file."""
        return cls(tuple(Claim(
            quantity=str(c['quantity']), bound=float(c['bound']), limit=float(c['limit']),
            unit=str(c['unit']), method=str(c['method']), holds=bool(c['holds']),
            detail=str(c['detail'])) for c in content))


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
    limits
        Of position, velocity, acceleration and jerk.
    margin
        Part of these ranges that must stay free.
    requirements
        What else must hold; nothing when None.
    scene
        Collision geometry; built from the requirements when None.

    Returns
    -------
    Certificate
        With every claim, whether it holds or not.

    """
    requirements = requirements or Requirements()
    claims = _joint_claims(arm, trajectory, limits, margin)
    if requirements.torque_margin is not None or requirements.power is not None:
        claims += _torque_claims(arm, trajectory, requirements)
    for workspace in requirements.workspace:
        room = prove_workspace(arm, trajectory, workspace)
        claims.append(Claim(
            'workspace', room, 0.0, 'm', 'bounded speed between times', bool(room >= 0),
            f"frame '{workspace.frame}' to the sides of its box"))
    if requirements.clearance is not None:
        scene = scene or scene_for(arm, requirements)
        if len(scene.pairs):
            found = prove_clearance(trajectory, scene, requirements.clearance)
            claims.append(Claim(
                'clearance', found.smallest, requirements.clearance, 'm',
                f'{found.checks} distances between convex hulls, bounded motion between them',
                found.proven, f'{found.pair} at {found.time:.3f} s'))
    return Certificate(tuple(claims))


def scene_for(arm: Arm, requirements: Requirements) -> Scene:
    """Return the collision geometry that requirements ask for; see `build_scene`."""
    clearance = requirements.clearance if requirements.clearance is not None else 0.0
    return build_scene(
        arm, clearance=clearance, self_collision=requirements.self_collision,
        floor=requirements.floor, boxes=requirements.boxes, srdf=requirements.srdf,
        package_dirs=requirements.package_dirs, carried=_carried(arm, requirements.payload))


def _carried(arm: Arm, payload: Payload | None) -> Shape | None:
    if payload is None or payload.size is None:
        return None
    centre, half = np.array(payload.centre), np.array(payload.size) / 2
    return box('payload', centre - half, centre + half, link=arm.n - 1)


def _joint_claims(arm: Arm, trajectory: Trajectory, limits: Limits, margin: float) -> list[Claim]:
    usage = prove_peaks(trajectory, limits).usage
    claims = []
    for name, row in zip(('position', 'velocity', 'acceleration', 'jerk'), usage):
        if name == 'jerk' and not np.any(np.isfinite(limits.jerk)):
            continue
        worst = int(np.argmax(row))
        claims.append(Claim(
            name, float(row[worst]), 1.0 - margin, 'of the range',
            'grid values and bounds of the second derivative', bool(row[worst] <= 1.0 - margin),
            _nearest(arm, worst, with_yaml=name in ('position', 'velocity'))))
    return claims


def _nearest(arm: Arm, worst: int, with_yaml: bool) -> str:
    """Return the joint that comes nearest to its limit, and whose limits are not the URDF's."""
    wider = ', '.join(arm.wider_limits if with_yaml else ())
    beyond = f'; limits of {wider} are wider than the URDF, which the YAML calls wrong'
    return f"joint '{arm.joint_names[worst]}'{beyond if wider else ''}"


def _torque_claims(arm: Arm, trajectory: Trajectory, requirements: Requirements) -> list[Claim]:
    usage, power = prove_torque(arm, trajectory, requirements)
    claims = []
    method = 'nominal model on a grid and bounds of its second time derivative'
    if requirements.torque_margin is not None:
        worst, allowed = int(np.argmax(usage)), 1.0 - requirements.torque_margin
        claims.append(Claim('torque', float(usage[worst]), allowed, 'of the rated torque', method,
                            bool(usage[worst] <= allowed), _nearest(arm, worst, True)))
    if requirements.power is not None:
        claims.append(Claim('power', power, requirements.power, 'W', method,
                            bool(power <= requirements.power)))
    return claims
