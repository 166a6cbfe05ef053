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
"""Torque regressor and inverse dynamics of many samples at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.arrays import Array, readonly_view
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.errors import (
    ConfigurationError,
    MissingDependencyError,
    UnknownNameError,
)
from robot_identification.parallel import over_blocks

BACKENDS = ('numba', 'pinocchio')


def default_backend() -> str:
    """Return 'numba' where it is installed and 'pinocchio' elsewhere."""
    try:
        import numba  # noqa: F401
    except ImportError:
        return 'pinocchio'
    return 'numba'


def joint_torque_regressor(
    arm: Arm,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    out: Array | None = None,
    backend: str | None = None,
    first_link: int = 0,
) -> Array:
    """
    Regressor W of the rigid-body torques: tau = W pi.

    Parameters
    ----------
    arm
        The arm with n joints.
    q, v, a
        Positions, velocities, accelerations, (N, n) [rad or m, per s, per s^2].
    out
        Where to write, C-contiguous float64 of the shape returned; a new array when None.
    backend
        'numba' (compiled, all cores) or 'pinocchio' (its Python call in a loop, the reference);
        what is installed when None.
    first_link
        Columns of earlier links are left out, 0 to n - 1.

    Returns
    -------
    Array
        (N, n, 10 (n - first_link)); ten columns per link in Pinocchio's order m, m cx, m cy, m cz,
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz, inertias about the joint frame.

    Raises
    ------
    ConfigurationError
        Shapes that do not fit the arm.
    UnknownNameError
        An unknown backend.

    References
    ----------
    C. G. Atkeson, C. H. An, J. M. Hollerbach, "Estimation of inertial parameters of manipulator
    loads and links", Int. J. Robotics Research 5(3), 1986.

    """
    q, v, a = _states(arm, q, v, a)
    if not 0 <= first_link < arm.n:
        raise ConfigurationError(f'{first_link} is not a link of {arm.n}')
    shape = (len(q), arm.n, 10 * (arm.n - first_link))
    if out is None:
        out = np.empty(shape)
    elif out.shape != shape or out.dtype != np.float64 or not out.flags.c_contiguous:
        raise ConfigurationError(f'out must be C-contiguous float64 of shape {shape}, '
                                 f'not {out.dtype} of shape {out.shape}')
    _backend(backend)(arm, q, v, a, out)
    return out


def inverse_dynamics(
    arm: Arm, q: ArrayLike, v: ArrayLike, a: ArrayLike, inertial: ArrayLike | None = None,
) -> Array:
    """
    Rigid-body torques, (N, n) [N m or N].

    Parameters
    ----------
    arm
        The arm with n joints.
    q, v, a
        (N, n) as for `joint_torque_regressor`.
    inertial
        Parameters of each link, (n, 10) in Pinocchio's order; the URDF's when None.

    Raises
    ------
    ConfigurationError
        Shapes that do not fit the arm.

    """
    q, v, a = _states(arm, q, v, a)
    values = readonly_view(arm.inertial_parameters if inertial is None else inertial)
    if values.shape != (arm.n, 10):
        raise ConfigurationError(f'inertial parameters must have the shape {(arm.n, 10)}, '
                                 f'not {values.shape}')
    out = np.empty((len(q), arm.n))
    if default_backend() == 'numba':
        from robot_identification.dynamics.kernels import inverse_dynamics_rows
        tree = Kinematics.of(arm)
        over_blocks(lambda rows: inverse_dynamics_rows(
            q[rows], v[rows], a[rows], *tree, values, out[rows]), len(q))
        return out
    regressor = joint_torque_regressor(arm, q, v, a)
    return regressor @ values.ravel()


def _states(arm: Arm, *arrays: ArrayLike) -> tuple[Array, ...]:
    states = tuple(readonly_view(x) for x in arrays)
    for name, x in zip('qva', states):
        if x.ndim != 2 or x.shape[1] != arm.n or len(x) != len(states[0]):
            raise ConfigurationError(
                f"{name} must have the shape (N, {arm.n}) for the arm '{arm.name}' and as many "
                f'rows as q, not {x.shape}')
    return states


def _numba(arm: Arm, q: Array, v: Array, a: Array, out: Array) -> None:
    try:
        from robot_identification.dynamics.kernels import regressor_rows
    except ImportError as error:
        raise MissingDependencyError('numba', "the regressor backend 'numba'") from error
    tree = Kinematics.of(arm)
    first = arm.n - out.shape[2] // 10
    over_blocks(lambda rows: regressor_rows(q[rows], v[rows], a[rows], *tree, out[rows], first),
                len(q))


def _pinocchio(arm: Arm, q: Array, v: Array, a: Array, out: Array) -> None:
    data = arm.model.createData()
    for k in range(len(q)):
        out[k] = pin.computeJointTorqueRegressor(
            arm.model, data, q[k], v[k], a[k])[:, -out.shape[2]:]


_FILL: dict[str, Callable[[Arm, Array, Array, Array, Array], None]] = {
    'numba': _numba, 'pinocchio': _pinocchio}


def _backend(name: str | None) -> Callable[[Arm, Array, Array, Array, Array], None]:
    name = name or default_backend()
    if name not in _FILL:
        raise UnknownNameError('regressor backend', name, BACKENDS)
    return _FILL[name]
