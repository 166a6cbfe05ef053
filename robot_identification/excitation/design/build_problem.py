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
"""Construction of the optimisation problem of a design."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arm import Arm, Limits
from robot_identification.arrays import Array
from robot_identification.errors import ExcitationError
from robot_identification.excitation.certificate.certificate import build_constraints
from robot_identification.excitation.certificate.geometry.scene import Scene
from robot_identification.excitation.design.criteria import get_criterion
from robot_identification.excitation.design.objective import DesignObjective
from robot_identification.excitation.design.options import DesignOptions
from robot_identification.excitation.design.problem import Problem
from robot_identification.excitation.design.regressor import DesignRegressor, EarlierMotion
from robot_identification.excitation.motion import Series
from robot_identification.excitation.motion.limits import centre, half_ranges


def build_problem(arm: Arm, options: DesignOptions, limits: Limits, *, scene: Scene | None = None,
                  earlier: Sequence[EarlierMotion] = ()) -> Problem:
    """
    Return the optimisation problem of a design, without solving it.

    Parameters
    ----------
    arm
        The arm.
    options
        Options of the design.
    limits
        Complete limits, from `motion_limits`.
    scene
        Collision geometry; built from the requirements when None.
    earlier
        Recordings that the motion complements, as for `design_excitation`.

    Raises
    ------
    ExcitationError
        There are too few samples, or the start is invalid.

    """
    series, samples = options.series, options.samples_per_period
    columns = DesignRegressor(arm, options.drives, options.scaling, options.noise, options.bodies)
    needed = max(2 * series.harmonics + 1, -(-columns.rank // arm.n))
    if samples < needed:
        raise ExcitationError(
            f'{samples} samples a period are too few for {series.harmonics} harmonics and '
            f'{columns.rank} base parameters; use {needed} or more samples, or fewer harmonics')
    free = np.ones((series.size, arm.n), dtype=bool)
    if options.moving is not None:
        if not options.moving or set(options.moving) - set(arm.joint_names):
            raise ExcitationError(f'the arm has the joints {", ".join(arm.joint_names)}, of which '
                                  f'some may move, not {", ".join(options.moving) or "none"}')
        free[1:] = [joint in options.moving for joint in arm.joint_names]
    rest = np.zeros((series.size, arm.n))
    if options.start is not None:
        free[0], rest[0] = False, _start(arm, series, limits, options.margin, options.start)
    return Problem(
        series, DesignObjective(columns, series, samples, get_criterion(options.criterion),
                                columns.information(earlier, samples / series.period)),
        build_constraints(arm, series, limits, options.margin, options.requirements, scene),
        limits, free, rest, options.margin)


def _start(arm: Arm, series: Series, limits: Limits, margin: float, start: ArrayLike) -> Array:
    if not series.rests_at_ends:
        raise ExcitationError(f"a motion of the kind '{series.name}' cannot start at a given "
                              f"position; use the kind 'mfs', 'ffs_rest' or 'spline'")
    values: Array = np.asarray(start, dtype=float)
    if values.shape != (arm.n,):
        raise ExcitationError(f'start must be {arm.n} positions, one for each joint, not an array '
                              f'of shape {values.shape}')
    distance = np.abs(values - centre(limits)) / half_ranges(limits)[0]
    for joint, fraction in zip(arm.joint_names, distance):
        if not fraction < 0.98 * (1.0 - margin):
            raise ExcitationError(
                f"the start of joint '{joint}' must lie in its position range, at least 1 % "
                f'of the range away from the limits')
    return values
