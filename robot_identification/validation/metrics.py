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
"""How far predicted torques are from measured ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from robot_identification.errors import ConfigurationError
from robot_identification.parallel import on_cores
from robot_identification.scratch import blocks, extremes, release, SUMMED

_PAIRS = (0, 0), (1, 1), (0, 1)


@dataclass(frozen=True)
class JointErrors:
    """
    Errors of one joint.

    Parameters
    ----------
    rmse
        Root mean square error [N m or N].
    relative_error
        Norm of the error over norm of the measured torque.
    correlation
        Correlation coefficient of measured and predicted torque (Ding, ICS paper, eq. (17)).
    nrmse
        RMSE over the range of the measured torque.
    samples
        How many torques were compared.

    All but the last are NaN for a joint that rests all the time.

    """

    rmse: float
    relative_error: float
    correlation: float
    nrmse: float
    samples: int = 0


@dataclass(frozen=True)
class Errors:
    """
    Errors of an arm.

    Parameters
    ----------
    relative_error
        Norm of the error over norm of the measured torque, all joints together.
    joints
        Errors of each joint, by its name.

    """

    relative_error: float
    joints: Mapping[str, JointErrors]


def errors(measured: Array, predicted: Array, joint_names: tuple[str, ...],
           used: NDArray[np.bool_] | None = None) -> Errors:
    """
    Compare torques.

    Parameters
    ----------
    measured, predicted
        (N, n) [N m or N].
    joint_names
        The n joints.
    used
        Which torques count, (N, n) bool; None for all.

    Raises
    ------
    ConfigurationError
        Shapes that disagree.

    """
    if measured.shape != predicted.shape or measured.shape[1:] != (len(joint_names),):
        raise ConfigurationError(f'torques of shapes {measured.shape} and {predicted.shape} '
                                 f'cannot be compared for {len(joint_names)} joints')
    n = len(joint_names)
    count, error, size = np.zeros((3, n))
    means, products = np.zeros((2, n)), np.zeros((3, n))    # of both, and of their deviations
    lowest, highest = np.full(n, np.inf), np.full(n, -np.inf)
    whole = (measured, predicted) if used is None else (measured, predicted, used)

    def of(rows: slice) -> tuple[Array, ...]:
        sides = [measured[rows], predicted[rows]]
        if used is None or np.all(used[rows]):
            here, ends = np.full(n, len(sides[0])), extremes(sides[0])
            mean = np.array([np.einsum('ij->j', side) for side in sides]) / here
            left = [side - middle for side, middle in zip(sides, mean)]
        else:
            part = used[rows]
            here = np.count_nonzero(part, axis=0)
            ends = (extremes(np.where(part, sides[0], np.inf))[0],
                    extremes(np.where(part, sides[0], -np.inf))[1])
            sides = [np.where(part, side, 0.0) for side in sides]
            mean = np.sum(sides, axis=1) / np.maximum(here, 1)
            left = [np.where(part, side - middle, 0.0) for side, middle in zip(sides, mean)]
        wrong = sides[0] - sides[1]
        found = (here, _products(wrong, wrong), _products(sides[0], sides[0]), *ends, mean,
                 np.array([_products(left[x], left[y]) for x, y in _PAIRS]))
        release(*whole)
        return found

    sums = on_cores(of, blocks(len(measured), SUMMED))
    for here, wrong, energy, low, high, mean, moments in sums:
        error += wrong
        size += energy
        lowest, highest = np.minimum(lowest, low), np.maximum(highest, high)
        # sums of deviations from the mean of all so far (Chan, Golub, LeVeque 1983)
        share = count * here / np.maximum(count + here, 1)
        step = mean - means
        for k, (x, y) in enumerate(_PAIRS):
            products[k] += moments[k] + share * step[x] * step[y]
        means += step * here / np.maximum(count + here, 1)
        count += here
    joints = {}
    for j, joint in enumerate(joint_names):
        if not count[j]:
            unknown = float('nan')
            joints[joint] = JointErrors(unknown, unknown, unknown, unknown)
            continue
        rmse = float(np.sqrt(error[j] / count[j]))
        spread = np.sqrt(products[0, j] * products[1, j])
        joints[joint] = JointErrors(
            rmse=rmse, relative_error=_ratio(rmse, float(np.sqrt(size[j] / count[j]))),
            correlation=float(products[2, j] / spread) if spread > 0 else float('nan'),
            nrmse=_ratio(rmse, float(highest[j] - lowest[j])), samples=int(count[j]))
    return Errors(_ratio(float(np.sqrt(np.sum(error))), float(np.sqrt(np.sum(size)))), joints)


def pooled(motions: Sequence[Mapping[str, JointErrors]]) -> dict[str, JointErrors]:
    """
    Return the errors of each joint over several motions together.

    Relative error and RMSE are those of all torques in one row; correlation and NRMSE, which have
    no such sum, are NaN where there is more than one motion. All are NaN for a joint that moves in
    none.

    Parameters
    ----------
    motions
        Errors by joint, of each motion.

    """
    found = {}
    for joint in motions[0] if motions else ():
        parts = [errors[joint] for errors in motions if errors[joint].samples]
        if len(parts) < 2:
            found[joint] = parts[0] if parts else motions[0][joint]
            continue
        count = sum(part.samples for part in parts)
        error = sum(part.samples * part.rmse ** 2 for part in parts)
        size = sum(part.samples * (part.rmse / part.relative_error) ** 2 for part in parts
                   if part.relative_error > 0)
        found[joint] = JointErrors(
            rmse=float(np.sqrt(error / count)),
            relative_error=float(_ratio(np.sqrt(error), np.sqrt(size))) if error else 0.0,
            correlation=float('nan'), nrmse=float('nan'), samples=count)
    return found


def _products(x: Array, y: Array) -> Array:
    """Return the sums over the rows of x y, (n,)."""
    return np.asarray(np.einsum('ij,ij->j', x, y))


def _ratio(error: float, size: float) -> float:
    return error / size if size > 0 else float('inf')
