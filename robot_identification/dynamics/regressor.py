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

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
import pinocchio as pin
from robot_identification.arm import Arm, load_arm
from robot_identification.arrays import Array, readonly_view
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.errors import ConfigurationError, explain_missing
from robot_identification.parallel import over_blocks
from robot_identification.registry import Registry


def default_backend() -> str:
    """Return 'numba' if it is installed, otherwise 'pinocchio'."""
    try:
        import numba  # noqa: F401
    except ImportError:
        return 'pinocchio'
    return 'numba'


def joint_torque_regressor(
    arm: Arm | str | Path,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    out: Array | None = None,
    *,
    backend: str | None = None,
    first_link: int = 0,
) -> Array:
    """
    Return the regressor W of the rigid-body torques: tau = W pi with the inertial parameters pi.

    `_regressor_block` in `dynamics.kernels` documents the formula.

    Parameters
    ----------
    arm
        The arm with n joints, or its name or file as for `load_arm`.
    q, v, a
        Positions, velocities, accelerations, (N, n) [rad or m, per s, per s^2].
    out
        Array for the result, C-contiguous float64; None allocates a new one.
    backend
        'numba' (compiled, on all cores) or 'pinocchio' (reference: a Python loop over Pinocchio's
        function); None selects numba if it is installed, otherwise pinocchio.
    first_link
        Index of the first link whose columns are returned, 0 to n - 1.

    Returns
    -------
    Array
        (N, n, 10 (n - first_link)); ten columns per link in Pinocchio's order m, m cx, m cy, m cz,
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz, with inertias about the joint frame.

    Raises
    ------
    ConfigurationError
        The shapes do not match the arm, or there is no link `first_link`.
    UnknownNameError
        There is no such backend.
    MissingDependencyError
        The backend is 'numba' and numba is not installed.

    References
    ----------
    C. G. Atkeson, C. H. An, J. M. Hollerbach, "Estimation of inertial parameters of manipulator
    loads and links", Int. J. Robotics Research 5(3), 1986.

    Examples
    --------
    >>> W = joint_torque_regressor(arm, q, v, a)
    >>> tau = W @ arm.inertial_parameters.ravel()

    """
    arm = load_arm(arm)
    fill = _FILL.find(backend or default_backend())
    q, v, a = _states(arm, q, v, a)
    if not 0 <= first_link < arm.n:
        raise ConfigurationError(f'first_link must be 0 to {arm.n - 1}, not {first_link}')
    shape = (len(q), arm.n, 10 * (arm.n - first_link))
    if out is None:
        out = np.empty(shape)
    elif out.shape != shape or out.dtype != np.float64 or not out.flags.c_contiguous:
        raise ConfigurationError(f'out must be C-contiguous float64 of shape {shape}, '
                                 f'not {out.dtype} of shape {out.shape}')
    fill(arm, q, v, a, out)
    return out


def inverse_dynamics(
    arm: Arm | str | Path, q: ArrayLike, v: ArrayLike, a: ArrayLike,
    inertial: ArrayLike | None = None,
) -> Array:
    """
    Return the rigid-body torques by the recursive Newton-Euler algorithm, (N, n) [N m or N].

    Parameters
    ----------
    arm
        The arm with n joints, or its name or file as for `load_arm`.
    q, v, a
        Positions, velocities, accelerations, (N, n) [rad or m, per s, per s^2]; for one
        configuration (n,), and so is the result.
    inertial
        Inertial parameters of each link about its joint frame in Pinocchio's order, (n, 10); those
        of the URDF if None.

    Raises
    ------
    ConfigurationError
        The shapes do not match the arm.

    References
    ----------
    J. Luh, M. Walker, R. Paul, "On-line computational scheme for mechanical manipulators", ASME J.
    Dynamic Systems, Measurement, and Control 102(2), 1980.

    Examples
    --------
    >>> q = np.zeros((1, 7))
    >>> gravity = inverse_dynamics('panda', q, 0 * q, 0 * q)    # (1, 7) [N m]

    """
    arm = load_arm(arm)
    if np.ndim(q) == np.ndim(v) == np.ndim(a) == 1:
        q, v, a = (np.array([x], dtype=float) for x in (q, v, a))
        return inverse_dynamics(arm, q, v, a, inertial)[0]
    q, v, a = _states(arm, q, v, a)
    values = readonly_view(arm.inertial_parameters if inertial is None else inertial)
    if values.shape != (arm.n, 10):
        raise ConfigurationError(f'inertial parameters must have the shape {(arm.n, 10)}, '
                                 f'not {values.shape}')
    if default_backend() == 'pinocchio':
        return joint_torque_regressor(arm, q, v, a) @ values.ravel()
    from robot_identification.dynamics.kernels import inverse_dynamics_rows
    out, tree = np.empty((len(q), arm.n)), Kinematics.of(arm)
    over_blocks(lambda rows: inverse_dynamics_rows(
        q[rows], v[rows], a[rows], *tree, values, out[rows]), len(q))
    return out


def _states(arm: Arm, *arrays: ArrayLike) -> tuple[Array, ...]:
    """Return q, v and a as read-only arrays (N, n); raise ConfigurationError for other shapes."""
    states = tuple(readonly_view(x) for x in arrays)
    for name, x in zip('qva', states):
        if x.ndim != 2 or x.shape[1] != arm.n or len(x) != len(states[0]):
            raise ConfigurationError(
                f"{name} must have shape (N, {arm.n}) for the arm '{arm.name}', with as many rows "
                f'as q; got {x.shape}')
    return states


def _numba(arm: Arm, q: Array, v: Array, a: Array, out: Array) -> None:
    """Fill `out` with the compiled kernel."""
    with explain_missing('numba', "the regressor backend 'numba'"):
        from robot_identification.dynamics.kernels import regressor_rows
    tree, first = Kinematics.of(arm), arm.n - out.shape[2] // 10
    over_blocks(lambda rows: regressor_rows(q[rows], v[rows], a[rows], *tree, out[rows], first),
                len(q))


def _pinocchio(arm: Arm, q: Array, v: Array, a: Array, out: Array) -> None:
    """Fill `out` by calling Pinocchio for each sample."""
    data = arm.model.createData()
    for k in range(len(q)):
        out[k] = pin.computeJointTorqueRegressor(
            arm.model, data, q[k], v[k], a[k])[:, -out.shape[2]:]


_FILL: Registry[Callable[[Arm, Array, Array, Array, Array], None]] = Registry(
    'regressor backend', {'numba': _numba, 'pinocchio': _pinocchio})
