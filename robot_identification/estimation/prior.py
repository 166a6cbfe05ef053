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
"""What is believed of the standard parameters before any data: the URDF, and scales."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import (
    from_pseudo_inertia,
    inverse_dynamics,
    ModelStructure,
    pseudo_inertia,
)

SMALLEST_RADIUS = 0.02
"""[m] Smallest radius of gyration in a link's scale, for URDFs with zero or tiny inertias."""
SMALLEST_MASS = 0.02
"""Smallest mass in a link's scale over the arm's mean link mass, for the same reason."""
ROTOR_ACCELERATION, SLIDING_ROTOR_ACCELERATION = 100.0, 10.0
"""[rad/s^2, m/s^2] Acceleration of a rotor alone at the drive's torque limit, for its scale: with
high gear ratios, as in wrists and hobby servos, the rotor dominates the inertia of the joint."""


@dataclass(frozen=True, eq=False)
class Prior:
    """
    Prior of the standard parameters mean + transform @ s, with s of unit variance.

    For a link, the ten entries of s are the symmetric matrix S in P = P0 + G^(1/2) S G^(1/2) with
    the pseudo-inertias P of the link, P0 of the URDF and G = P0 made safely positive: distances do
    not depend on units or on the choice of frame.

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

    structure: ModelStructure
    mean: Array
    transform: Array
    scales: Array

    def __post_init__(self) -> None:
        for name in ('mean', 'transform', 'scales'):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @classmethod
    def from_urdf(cls, structure: ModelStructure) -> Prior:
        """Return the prior from the arm's URDF and robot YAML."""
        arm = structure.arm
        inertial = arm.inertial_parameters
        scales = _scales(inertial)
        transform = np.zeros((structure.count, structure.count))
        for i, scale in enumerate(scales):
            transform[10 * i:10 * i + 10, 10 * i:10 * i + 10] = link_transform(scale).T
        mean = np.zeros(structure.count)
        mean[structure.inertial_slice] = inertial.ravel()
        rotor, friction = _drive_scales(structure)
        nominal = np.zeros(len(arm.transmission))
        nominal[:arm.n] = np.nan_to_num(arm.drives.rotor_inertia, nan=0.0)
        mean[structure.rotor_slice] = nominal
        mean[structure.balancer_slice], width = _balancer_scales(structure)
        places = range(structure.balancer_slice.start, structure.balancer_slice.stop)
        transform[places, places] = width
        drive = np.concatenate([rotor, friction])
        places = range(structure.rotor_slice.start, structure.count)
        transform[places, places] = drive
        return cls(structure, mean, transform, scales)


def link_transform(scale: Array) -> Array:
    """Return the change of inertial parameters (row k) per unit of entry k of s, (10, 10)."""
    root = matrix_root(scale)
    return from_pseudo_inertia(root @ SYMMETRIC_BASIS @ root)


def covariance_with_prior(rows: Array, root: Array) -> Array:
    """
    Return the covariance of standard parameters from data and prior together, (c, c).

    Parameters
    ----------
    rows
        Rows of the data, in the prior's unit deviations and units of the noise, (r, c).
    root
        Factor L of the prior covariance L L', (c, c).

    """
    triangle: Array = np.asarray(np.linalg.qr(np.vstack([rows, np.eye(len(root))]), mode='r'))
    half = np.linalg.solve(triangle.T, root.T)
    covariance: Array = half.T @ half
    return covariance


def matrix_root(matrix: Array) -> Array:
    """Return the symmetric square root of a positive definite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    root: Array = (vectors * np.sqrt(values)) @ vectors.T
    return root


def _symmetric_basis() -> Array:
    """Return an orthonormal basis of symmetric 4 x 4 matrices, upper triangle by columns."""
    basis = []
    for column in range(4):
        for row in range(column + 1):
            matrix = np.zeros((4, 4))
            matrix[row, column] = matrix[column, row] = 1.0 if row == column else np.sqrt(0.5)
            basis.append(matrix)
    return np.array(basis)


SYMMETRIC_BASIS = _symmetric_basis()


def _scales(inertial: Array) -> Array:
    """Return positive definite pseudo-inertias of the links for inertias (n, 10), (n, 4, 4)."""
    mean_mass = max(float(np.mean(inertial[:, 0])), 1e-3)
    scales = []
    for parameters in inertial:
        mass = max(parameters[0], SMALLEST_MASS * mean_mass)
        centre = parameters[1:4] / parameters[0] if parameters[0] > 0 else np.zeros(3)
        # about the centre of mass: second moments of at least those of a small ball
        shift = np.eye(4)
        shift[:3, 3] = centre
        back = np.linalg.inv(shift)
        moments = (back @ pseudo_inertia(parameters) @ back.T)[:3, :3]
        values, vectors = np.linalg.eigh((moments + moments.T) / 2)
        values = np.maximum(values, 0) + mass * SMALLEST_RADIUS ** 2
        central = np.zeros((4, 4))
        central[:3, :3] = (vectors * values) @ vectors.T
        central[3, 3] = mass
        scales.append(shift @ central @ shift.T)
    return np.array(scales)


def _balancer_scales(structure: ModelStructure) -> tuple[Array, Array]:
    """Return means and scales of the strengths of balancers, (b,) each."""
    arm = structure.arm
    lower = np.where(np.isfinite(arm.limits.lower), arm.limits.lower, -np.pi)
    upper = np.where(np.isfinite(arm.limits.upper), arm.limits.upper, np.pi)
    q = np.linspace(lower, upper, 64)
    torque = np.abs(inverse_dynamics(arm, q, np.zeros_like(q), np.zeros_like(q))).max(axis=0)
    columns = np.sqrt(np.mean(arm.balancer_columns(q) ** 2, axis=0))
    mean, scale = [], []
    for k in structure.unknown_balancers:
        balancer = arm.balancers[k]
        carried = torque[arm.joint_names.index(balancer.joint)]
        mean.append(balancer.nominal or 0.0)
        scale.append(balancer.nominal or carried / max(float(columns[k]), 1e-12))
    return np.array(mean), np.array(scale)


def _drive_scales(structure: ModelStructure) -> tuple[Array, Array]:
    """Return scales of rotor inertias (m,) and friction (m k,) from the URDF's torques."""
    arm = structure.arm
    rng = np.random.default_rng(0)
    q = rng.uniform(-np.pi, np.pi, size=(64, arm.n))
    zero = np.zeros_like(q)
    gravity = inverse_dynamics(arm, q, zero, zero)
    inertia = np.empty(arm.n)
    for j in range(arm.n):
        a = zero.copy()
        a[:, j] = 1.0
        inertia[j] = np.mean(np.abs(inverse_dynamics(arm, q, zero, a)[:, j] - gravity[:, j]))
    torque = np.where(np.isfinite(arm.limits.torque), arm.limits.torque,
                      np.abs(gravity).max(axis=0) + 10 * inertia)
    floor_inertia, floor_torque = 1e-2 * inertia.max() + 1e-6, 1e-2 * torque.max() + 1e-6
    acts = np.abs(arm.transmission) > 0
    alone = torque / np.where(arm.prismatic, SLIDING_ROTOR_ACCELERATION, ROTOR_ACCELERATION)
    rotor = acts @ np.maximum(np.maximum(inertia, alone), floor_inertia)
    level = acts @ np.maximum(torque, floor_torque)
    torques = np.array([unit != '1' for unit in structure.friction.units])
    return rotor, np.where(torques, level[:, None], 1.0).ravel()
