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
"""Optimisers by name; interior-point minimisation with exact gradients."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import ExcitationError
from robot_identification.excitation.design.problem import Evaluation, Minimum, Problem
from robot_identification.registry import Registry

SUFFICIENT = 1e-4        # Armijo's constant
TO_BOUNDARY = 0.99       # largest fraction of the way to the nearest constraint in one step
STEPS_TRIED = 20         # halvings of a step: the last one is a millionth of the first
FIRST_CURVATURE = 0.05   # initial curvature of the objective, in scaled coefficients
SLOW_PROGRESS = 1e-6     # decrease of the merit in a slow step
SLOW = 5                 # successive slow steps that end a phase


@dataclass(frozen=True)
class Phase:
    """
    One phase of the minimisation.

    Parameters
    ----------
    sharpness
        Sharpness of the criterion, see `Criterion.merit`.
    barrier
        Weight of the barrier.
    steps
        Largest number of steps.

    """

    sharpness: float
    barrier: float
    steps: int


PHASES = (
    Phase(1, 0.2, 60), Phase(2, 2e-2, 100), Phase(4, 6e-3, 100), Phase(8, 2e-3, 100),
    Phase(16, 6e-4, 150), Phase(32, 2e-4, 150), Phase(64, 6e-5, 150), Phase(128, 2e-5, 150))


def minimise_by_barrier(
    problem: Problem, start: Array, stop: Callable[[float, float], bool],
    phases: tuple[Phase, ...] = PHASES,
) -> Minimum:
    """
    Minimise the criterion within the constraints, from a feasible start.

    A logarithmic barrier keeps every iterate within the constraints, so the best motion so far is
    always feasible. The curvature of the barrier is computed, that of the criterion is estimated
    by damped BFGS updates. From phase to phase the criterion gets sharper and the barrier weaker.

    Parameters
    ----------
    problem
        The problem.
    start
        Coefficients of a feasible motion, (size, n).
    stop
        Called in every step with the best value and the finished fraction; True ends the search.
    phases
        Phases of the minimisation, one after the other.

    Raises
    ------
    ExcitationError
        The start violates a constraint, or does not excite all base parameters.

    References
    ----------
    J. Nocedal, S. Wright, "Numerical optimization", 2nd ed., 2006: 18.3 (damped BFGS), 19.

    """
    broken = problem.most_violated(start)
    if broken is not None:
        raise ExcitationError(f'the start of the optimisation violates {broken}')
    descent = _Descent(problem, start)
    earlier: list[tuple[float, Array]] = []
    for index, phase in enumerate(phases):
        descent.start_phase(phase)
        slow = 0
        for step in range(phase.steps):
            if stop(descent.best_value, (index + step / phase.steps) / len(phases)):
                found = descent.best_value, descent.best
                return Minimum(descent.best, descent.best_value, False, (*earlier, found))
            progress = descent.step(phase)
            slow = slow + 1 if progress < SLOW_PROGRESS else 0
            if progress <= 0 or slow == SLOW:
                break
        earlier.append((descent.best_value, descent.best))
    return Minimum(descent.best, descent.best_value, True, tuple(earlier))


class _Descent:
    """State of the minimisation: point, curvature estimate and best motion so far."""

    def __init__(self, problem: Problem, start: Array) -> None:
        self.problem, self.scale = problem, problem.scale
        self.free = np.flatnonzero(problem.free)
        self.curvature = FIRST_CURVATURE * np.eye(len(self.free))
        self.x = start
        self.slacks = [c.slack(start) for c in problem.constraints]
        self.best, self.best_value = start, np.nan
        self.at: Evaluation
        self.merit = np.inf

    def start_phase(self, phase: Phase) -> None:
        """Evaluate the current point with the settings of a phase."""
        self.at = self._evaluate(self.x, phase)
        if not np.isfinite(self.at.merit):
            raise ExcitationError('the motion does not excite every base parameter; give it more '
                                  'harmonics or more samples in a period')
        self.merit = self.at.merit - phase.barrier * self._logs(self.slacks)

    def step(self, phase: Phase) -> float:
        """Take one step and return the decrease of the merit, 0 if no step decreases it."""
        gradient, hessian = self._model(phase)
        move = -np.asarray(np.linalg.solve(hessian, gradient), dtype=np.float64)
        slope = float(gradient @ move)
        direction = np.zeros(self.x.shape)
        direction.flat[self.free] = move
        direction *= self.scale
        length = 1.0
        for _ in range(STEPS_TRIED):
            x = self.x + length * direction
            slacks = [c.slack(x) for c in self.problem.constraints]
            shorter = self._shorten(slacks)
            if shorter < 1.0:
                length *= shorter
                continue
            at = self._evaluate(x, phase)
            merit = at.merit - phase.barrier * self._logs(slacks)
            if merit <= self.merit + SUFFICIENT * length * slope:
                self._update(np.multiply(length, move),
                             self._reduced(at.gradient - self.at.gradient))
                progress = self.merit - merit
                self.x, self.at, self.slacks, self.merit = x, at, slacks, merit
                return progress
            length *= 0.5
        return 0.0

    def _evaluate(self, x: Array, phase: Phase) -> Evaluation:
        at = self.problem.objective.evaluate(x, phase.sharpness)
        if np.isfinite(at.merit) and (
                np.isnan(self.best_value)
                or self.problem.objective.criterion.better(at.value, self.best_value)):
            self.best, self.best_value = x, at.value
        return at

    def _logs(self, slacks: list[Array]) -> float:
        return float(sum(c.density * np.log(s).sum()
                         for c, s in zip(self.problem.constraints, slacks)))

    def _reduced(self, gradient: Array) -> Array:
        """Return the gradient with respect to the free, scaled coefficients."""
        return (gradient * self.scale).ravel()[self.free]

    def _model(self, phase: Phase) -> tuple[Array, Array]:
        gradient = self.at.gradient.copy()
        hessian = np.zeros((self.x.size, self.x.size))
        for constraint, slack in zip(self.problem.constraints, self.slacks):
            weights = phase.barrier * constraint.density / slack
            rise, curvature = constraint.pull_back(self.x, weights, weights / slack)
            gradient -= rise
            hessian += curvature
        scale = self.scale.ravel()
        hessian *= scale[:, None] * scale
        return self._reduced(gradient), hessian[np.ix_(self.free, self.free)] + self.curvature

    def _shorten(self, slacks: list[Array]) -> float:
        """Return the fraction of a step within the constraints, exact if they are linear."""
        worst = min(float((new / old).min()) for old, new in zip(self.slacks, slacks))
        return 1.0 if worst >= 1.0 - TO_BOUNDARY else TO_BOUNDARY / (1.0 - worst) * (1.0 - 1e-9)

    def _update(self, move: Array, change: Array) -> None:
        """Update the curvature estimate by damped BFGS."""
        image = self.curvature @ move
        energy, along = float(move @ image), float(move @ change)
        if not energy > 0:
            return
        if along < 0.2 * energy:
            mix = 0.8 * energy / (energy - along)
            change = mix * change + (1.0 - mix) * image
        self.curvature += (np.outer(change, change) / float(move @ change)
                           - np.outer(image, image) / energy)


OPTIMISERS: Registry[Callable[..., Minimum]] = Registry(
    'excitation optimiser', {'barrier': minimise_by_barrier})
