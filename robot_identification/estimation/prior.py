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
"""Prior of the standard parameters: values of the URDF and their scales."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification import dynamics
from robot_identification.arrays import Array, ReadOnlyArrays
from scipy.linalg import block_diag, sqrtm

SMALLEST_RADIUS = 0.02
"""[m] Smallest radius of gyration in a link's scale, for URDFs with zero or tiny inertias."""
SMALLEST_MASS = 0.02
"""Smallest mass in a link's scale over the arm's mean link mass, for the same reason."""
ROTOR_ACCELERATION, SLIDING_ROTOR_ACCELERATION = 100.0, 10.0
"""[rad/s^2, m/s^2] Assumed acceleration of a rotor alone at the drive's torque limit; it gives the
scale of the rotor's inertia. With high gear ratios, as in wrists and hobby servos, the rotor
dominates the inertia of the joint."""
_COLUMNS, _ROWS = np.tril_indices(4)
SYMMETRIC_BASIS = np.zeros((10, 4, 4))
"""Orthonormal basis of symmetric 4 x 4 matrices, upper triangle by columns."""
SYMMETRIC_BASIS[range(10), _ROWS, _COLUMNS] = np.where(_ROWS == _COLUMNS, 1.0, np.sqrt(0.5))
SYMMETRIC_BASIS[range(10), _COLUMNS, _ROWS] = SYMMETRIC_BASIS[range(10), _ROWS, _COLUMNS]


@dataclass(frozen=True, eq=False)
class Prior(ReadOnlyArrays):
    """
    Prior of the standard parameters mean + transform @ s, with s of unit variance.

    For a link, the ten entries of s are the symmetric matrix S in P = P0 + G^(1/2) S G^(1/2). P is
    the pseudo-inertia of the link, P0 that of the URDF, and G is P0 with increased eigenvalues, so
    that it is positive definite. Distances in s do not depend on units or on the choice of frame.

    Parameters
    ----------
    structure
        The model structure.
    mean
        (count,) standard parameters: the URDF's inertias, the YAML's rotor inertias, no friction.
    transform
        (count, count), block-diagonal.
    scales
        The matrices G, (n, 4, 4).

    References
    ----------
    T. Lee, P. M. Wensing, F. C. Park, "Geometric robot dynamic identification: a convex
    programming approach", IEEE Trans. Robotics 36(2), 2020 (the constant pullback of the
    affine-invariant metric).

    """

    structure: dynamics.ModelStructure
    mean: Array
    transform: Array
    scales: Array

    @classmethod
    def from_urdf(cls, structure: dynamics.ModelStructure) -> Prior:
        """Return the prior from the arm's URDF and robot YAML."""
        arm = structure.arm
        inertial = arm.inertial_parameters
        scales = _scales(inertial)
        mean = np.zeros(structure.count)
        mean[structure.inertial_slice] = inertial.ravel()
        mean[structure.rotor_slice][:arm.n] = np.nan_to_num(arm.drives.rotor_inertia)
        mean[structure.balancer_slice], balancers = _balancer_scales(structure)
        transform = block_diag(
            *(link_transform(scale).T for scale in scales),
            np.diag(np.concatenate([balancers, *_drive_scales(structure)])))
        return cls(structure, mean, transform, scales)


def link_transform(scale: Array) -> Array:
    """Return the change of inertial parameters (row k) per unit of entry k of s, (10, 10)."""
    root = np.real(sqrtm(scale))
    return dynamics.from_pseudo_inertia(root @ SYMMETRIC_BASIS @ root)


def feasible_bound(mean: Array, scale: Array, margin: float) -> Array:
    """
    Return G^(-1/2) (P0 - margin G) G^(-1/2) in the basis of s, (10,).

    A pseudo-inertia P is feasible if S plus this matrix is positive semidefinite.

    Parameters
    ----------
    mean
        Inertial parameters of P0, (10,).
    scale
        The matrix G, (4, 4).
    margin
        Distance from the boundary of the feasible cone, in units of G.

    """
    inverse = np.linalg.inv(np.real(sqrtm(scale)))
    inside = inverse @ dynamics.pseudo_inertia(mean) @ inverse - margin * np.eye(4)
    return np.einsum('kij,ij->k', SYMMETRIC_BASIS, inside)


def _scales(inertial: Array) -> Array:
    """Return a positive definite pseudo-inertia for each link of `inertial` (n, 10), (n, 4, 4)."""
    mean_mass = max(float(np.mean(inertial[:, 0])), 1e-3)
    scales = []
    for parameters in inertial:
        mass = max(parameters[0], SMALLEST_MASS * mean_mass)
        centre = parameters[1:4] / parameters[0] if parameters[0] > 0 else np.zeros(3)
        # second moments about the centre of mass, increased by those of a small ball
        shift = np.eye(4)
        shift[:3, 3] = centre
        back = np.linalg.inv(shift)
        moments = (back @ dynamics.pseudo_inertia(parameters) @ back.T)[:3, :3]
        values, vectors = np.linalg.eigh((moments + moments.T) / 2)
        values = np.maximum(values, 0) + mass * SMALLEST_RADIUS ** 2
        scales.append(shift @ block_diag((vectors * values) @ vectors.T, mass) @ shift.T)
    return np.array(scales)


def _balancer_scales(structure: dynamics.ModelStructure) -> tuple[Array, Array]:
    """Return prior means and scales of the strengths to estimate, (b,) each."""
    arm = structure.arm
    lower = np.where(np.isfinite(arm.limits.lower), arm.limits.lower, -np.pi)
    upper = np.where(np.isfinite(arm.limits.upper), arm.limits.upper, np.pi)
    q = np.linspace(lower, upper, 64)
    zero = np.zeros_like(q)
    torque = np.abs(dynamics.inverse_dynamics(arm, q, zero, zero)).max(axis=0)
    columns = np.sqrt(np.mean(arm.balancer_columns(q) ** 2, axis=0))
    balanced = (arm.balanced_joints @ torque) / np.maximum(columns, 1e-12)
    nominal = np.array([balancer.nominal or 0.0 for balancer in arm.balancers])
    scale = np.where(nominal == 0, balanced, nominal)
    return nominal[structure.unknown_balancers], scale[structure.unknown_balancers]


def _drive_scales(structure: dynamics.ModelStructure) -> tuple[Array, Array]:
    """Return scales of rotor inertias (m,) and friction (m k,) from the URDF's torques."""
    arm = structure.arm
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, size=(64, arm.n))
    zero = np.zeros_like(q)
    gravity = dynamics.inverse_dynamics(arm, q, zero, zero)
    inertia = np.array([
        np.mean(np.abs((dynamics.inverse_dynamics(arm, q, zero, zero + unit) - gravity)[:, j]))
        for j, unit in enumerate(np.eye(arm.n))])
    torque = np.where(np.isfinite(arm.limits.torque), arm.limits.torque,
                      np.abs(gravity).max(axis=0) + 10 * inertia)
    floor_inertia, floor_torque = 1e-2 * inertia.max() + 1e-6, 1e-2 * torque.max() + 1e-6
    acts = np.abs(arm.transmission) > 0
    alone = torque / np.where(arm.prismatic, SLIDING_ROTOR_ACCELERATION, ROTOR_ACCELERATION)
    rotor = acts @ np.maximum(np.maximum(inertia, alone), floor_inertia)
    level = acts @ np.maximum(torque, floor_torque)
    scales = np.array([term.scale for term in structure.friction.terms for _ in term.parameters])
    torques = np.array([unit != '1' for unit in structure.friction.units])
    return rotor, (scales * np.where(torques, level[:, None], 1.0)).ravel()
