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
"""Design of optimal excitations."""

from __future__ import annotations

from collections.abc import Sequence
import time
from typing import Any

from robot_identification.arm import Arm, load_arm
from robot_identification.excitation.certificate.geometry.scene import build_scene, Scene
from robot_identification.excitation.certificate.joint_limits import prove_peaks
from robot_identification.excitation.certificate.nominal_torque import nominal_notes
from robot_identification.excitation.design.build_problem import build_problem
from robot_identification.excitation.design.excitation import ColumnChoice, Excitation
from robot_identification.excitation.design.options import DesignOptions
from robot_identification.excitation.design.problem import Minimum, Problem
from robot_identification.excitation.design.proven_motion import best_proven, measure_proof_time
from robot_identification.excitation.design.regressor import (
    condition_number,
    DesignRegressor,
    EarlierMotion,
)
from robot_identification.excitation.design.search import Report, search
from robot_identification.excitation.motion import motion_limits
from robot_identification.parallel import single_threaded_blas

SEARCHING = 0.9        # [-] largest fraction of a time budget for the search
PROOFS = 2.0           # [-] proof time of an optimal motion over that of a random one
MIN_SEARCHING = 0.5    # [-] smallest fraction of a time budget for the search


def design_excitation(arm: Arm | str, options: DesignOptions | None = None, *,
                      earlier: Sequence[EarlierMotion] = (), progress: Report | None = None,
                      scene: Scene | None = None, **changes: Any) -> Excitation:
    """
    Return the periodic motion that excites the inertial parameters best.

    The limits of position, velocity, acceleration and (where known) jerk, and the requirements,
    are proven for all times. The optimal motion usually comes close to the limits; a `margin`
    keeps it away from them.

    Parameters
    ----------
    arm
        The arm with n joints, or its name as for `load_arm`.
    options
        Options of the design; the defaults of `DesignOptions` when None.
    earlier
        Recordings that the motion complements: their information matrix is added to that of the
        motion.
    progress
        Called with a `SearchProgress` a few times a second; if it raises an exception, the design
        ends.
    scene
        Collision geometry for these requirements, from `build_scene`; pass it if several motions
        share it. It is built when None.
    **changes
        Fields of `DesignOptions` that differ from `options`: `design_excitation(arm, period=8.0)`.

    Returns
    -------
    Excitation
        The best motion with the value of its criterion, its use of the limits, and the status of
        the search.

    Raises
    ------
    ExcitationError
        Limits are missing or contradict each other, or no motion meets the requirements.
    UnknownNameError
        An unknown kind, criterion or optimiser.

    References
    ----------
    J. Swevers et al., "Optimal robot excitation and identification", IEEE Trans. Robotics and
    Automation 13(5), 1997.

    Examples
    --------
    >>> excitation = design_excitation('panda', time_budget=60.0)    # doctest: +SKIP
    >>> excitation.certificate.holds    # doctest: +SKIP
    True
    >>> save_excitation(excitation, 'motion.yaml')    # doctest: +SKIP

    """
    start_time, arm = time.monotonic(), load_arm(arm)
    request = (options or DesignOptions()).changed(changes)
    requirements, budget = request.requirements, request.time_budget
    limits, notes = motion_limits(arm, request.velocity, request.acceleration)
    if scene is None and requirements.clearance is not None:
        scene = build_scene(arm, requirements)
    # the matrices are small: with several threads, BLAS takes three times the processor time
    with single_threaded_blas():
        problem = build_problem(arm, request, limits, scene=scene, earlier=earlier)
        search_time = None
        if budget is not None:
            proof_time = measure_proof_time(problem, request.seed)
            reserve = max((1.0 - SEARCHING) * budget, PROOFS * proof_time)
            elapsed = time.monotonic() - start_time
            search_time = max(MIN_SEARCHING * budget, budget - reserve - elapsed)
        minima = search(problem, request, search_time, progress)
        trajectory, certificate = best_proven(
            problem, minima, lambda: budget is not None and time.monotonic() - start_time > budget)
    columns = problem.objective.columns
    rank = columns.rank if request.drives == 'none' else DesignRegressor(arm).rank
    value = problem.objective.evaluate(trajectory.coefficients).value
    return Excitation(
        trajectory=trajectory, joint_names=arm.joint_names, arm_name=arm.name,
        urdf_sha256=arm.urdf_sha256, limits=limits, margin=request.margin,
        usage=prove_peaks(trajectory, limits), criterion=request.criterion, value=value,
        condition_number=condition_number(arm, trajectory, request.samples_per_period, rank),
        rank=rank, samples_per_period=request.samples_per_period, seed=request.seed,
        starts=request.starts, seconds=time.monotonic() - start_time,
        history=tuple(m.value for m in minima), status=_status(problem, minima, request, value),
        notes=notes + nominal_notes(arm, requirements) + requirements.notes
        + (scene.notes if scene is not None else ()),
        requirements=requirements, certificate=certificate,
        columns=ColumnChoice(
            request.drives, request.scaling,
            () if columns.weights is None else tuple(1 / columns.weights),
            tuple(motion.name for motion in earlier)))


def _status(problem: Problem, minima: list[Minimum], request: DesignOptions, value: float) -> str:
    finished = sum(minimum.finished for minimum in minima)
    missed = ''
    if request.good_enough is not None:
        comparison = f'good enough: {value:.4g} (target {request.good_enough:g})'
        if not problem.objective.criterion.better(request.good_enough, value):
            return comparison
        missed = f'; NOT {comparison}'
    if finished == request.starts:
        return f'converged from {request.starts} start{"s" if request.starts > 1 else ""}{missed}'
    return (f'stopped by the time budget: {finished} of {request.starts} starts converged; '
            f'more time may give a better motion{missed}')
