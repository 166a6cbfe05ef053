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
import dataclasses
import time
from typing import Any

from robot_identification.arm import Arm
from robot_identification.excitation.certificate.geometry.scene import build_scene, Scene
from robot_identification.excitation.certificate.joint_limits import prove_peaks
from robot_identification.excitation.certificate.nominal_torque import nominal_notes
from robot_identification.excitation.design.build_problem import build_problem
from robot_identification.excitation.design.excitation import ColumnChoice, Excitation
from robot_identification.excitation.design.optimisers import OPTIMISERS
from robot_identification.excitation.design.optimisers.minimum import Minimum
from robot_identification.excitation.design.options import DesignOptions
from robot_identification.excitation.design.problem import Problem
from robot_identification.excitation.design.proven_motion import best_proven, measure_proof_time
from robot_identification.excitation.design.regressor import (
    condition_number,
    DesignRegressor,
    EarlierMotion,
)
from robot_identification.excitation.design.search import Report, search
from robot_identification.excitation.motion import motion_limits
from robot_identification.parallel import single_threaded_blas

SEARCHING = 0.9        # [-] fraction of a time budget after which the proof begins at the latest
PROOFS = 2.0           # [-] time of the proof over that of a random motion, which is less close
MIN_SEARCHING = 0.5    # [-] fraction of the budget for the search, however long the geometry took


def design_excitation(arm: Arm, options: DesignOptions | None = None, *,
                      earlier: Sequence[EarlierMotion] = (), progress: Report | None = None,
                      scene: Scene | None = None, **changes: Any) -> Excitation:
    """
    Return the periodic motion that excites the inertial parameters best.

    The limits of position, velocity, acceleration and (where known) jerk, and the requirements,
    are proven for all times. The optimal motion usually comes close to them; `margin` keeps a
    distance.

    Parameters
    ----------
    arm
        The arm with n joints.
    options
        Options of the design; the defaults of `DesignOptions` when None.
    earlier
        Recordings that the motion complements: their information is added to that of the motion.
    progress
        Called with a `SearchProgress` a few times a second; an exception from it ends the design.
    scene
        Collision geometry of these requirements, from `build_scene`, if several motions share it;
        built when None.
    **changes
        Fields of `DesignOptions` that differ from `options`: `design_excitation(arm, period=8.0)`.

    Returns
    -------
    Excitation
        The best motion with its criterion, the limits it uses, and how the search ended.

    Raises
    ------
    ExcitationError
        Limits are missing or contradict each other, or no motion meets the request.
    UnknownNameError
        An unknown kind, criterion or optimiser.

    References
    ----------
    J. Swevers et al., "Optimal robot excitation and identification", IEEE Trans. Robotics and
    Automation 13(5), 1997.

    """
    began = time.monotonic()
    request = dataclasses.replace(options or DesignOptions(), **changes)
    requirements, budget = request.requirements, request.time_budget
    limits, notes = motion_limits(arm, request.velocity, request.acceleration)
    if scene is None and requirements.clearance is not None:
        scene = build_scene(arm, requirements)
    # matrices are small: threads of BLAS cost three times the processor time that they share
    with single_threaded_blas():
        problem = build_problem(arm, request, limits, scene=scene, earlier=earlier)
        left = None
        if budget is not None:
            proof_time = measure_proof_time(problem, request.seed)
            reserve = max((1.0 - SEARCHING) * budget, PROOFS * proof_time)
            left = max(MIN_SEARCHING * budget, budget - reserve - (time.monotonic() - began))
        minima = search(problem, OPTIMISERS[request.optimiser], request.starts, request.seed, left,
                        request.good_enough, progress, request.workers)
        proven = best_proven(problem, minima, lambda: budget is not None
                             and time.monotonic() - began > budget)
    columns, trajectory = problem.objective.columns, proven.trajectory
    rank = columns.rank if request.drives == 'none' else DesignRegressor(arm).rank
    value = problem.objective.evaluate(trajectory.coefficients).value
    return Excitation(
        trajectory=trajectory, joint_names=arm.joint_names, arm_name=arm.name,
        urdf_sha256=arm.urdf_sha256, limits=limits, margin=request.margin,
        usage=prove_peaks(trajectory, limits).usage, criterion=request.criterion, value=value,
        condition_number=condition_number(arm, trajectory, request.samples_per_period, rank),
        rank=rank, samples_per_period=request.samples_per_period, seed=request.seed,
        starts=request.starts, seconds=time.monotonic() - began,
        history=tuple(m.value for m in minima), status=_status(problem, minima, request, value),
        notes=notes + nominal_notes(arm, requirements) + requirements.notes
        + (scene.notes if scene is not None else ()),
        requirements=requirements, certificate=proven.certificate,
        columns=ColumnChoice(
            request.drives, request.scaling,
            () if columns.weights is None else tuple(1 / columns.weights),
            tuple(motion.name for motion in earlier)))


def _status(problem: Problem, minima: list[Minimum], request: DesignOptions, value: float) -> str:
    finished = sum(minimum.finished for minimum in minima)
    wanted = request.good_enough
    reached = wanted is not None and not problem.objective.criterion.better(wanted, value)
    if reached:
        return f'good enough: {value:.4g}, asked for was {wanted:g}'
    missed = '' if wanted is None else f'; NOT good enough: {value:.4g}, asked for was {wanted:g}'
    if finished == request.starts:
        return f'converged from {request.starts} start{"s" if request.starts > 1 else ""}{missed}'
    return (f'stopped by the time budget with {finished} of {request.starts} starts finished; '
            f'more time may give a better motion{missed}')
