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
"""Design of an excitation and of motions for validation, within one time budget."""

from collections.abc import Callable
import dataclasses
from dataclasses import dataclass
import time

import numpy as np
from robot_identification.arm import Arm
from robot_identification.errors import ExcitationError
from robot_identification.excitation.certificate.geometry.scene import build_scene, Scene
from robot_identification.excitation.certificate.nominal_torque import nominal_inertial
from robot_identification.excitation.design.design import design_excitation
from robot_identification.excitation.design.excitation import Excitation
from robot_identification.excitation.design.options import DesignOptions
from robot_identification.excitation.design.search import SearchProgress
from robot_identification.excitation.design.validation_motions import (
    validation_motion,
    VALIDATION_MOTIONS,
)

VALIDATION = 10.0    # [s] largest time for a validation motion
CONSTRUCTED = 0.15   # fraction of the remaining time for the point-to-point motion
SEARCHED = 0.75      # fraction for the excitation if a Fourier validation motion follows
ENDING = 0.3         # time to write files and page, as a fraction of the start-up time
Report = Callable[[str, float], None]
"""Shows the progress of a command: the current step, and the completed fraction of it."""


class Stopwatch:
    """
    Durations of the stages of a command, and the remaining time of its budget.

    Parameters
    ----------
    budget
        Time limit from the start of the program to its end [s]; None without one.
    began
        Start of the program on the monotonic clock [s]; None for now.

    Attributes
    ----------
    stages
        Duration of each completed stage [s]; the first stage is the start of the program.

    """

    def __init__(self, budget: float | None, began: float | None = None) -> None:
        self.budget = budget
        self.stages: dict[str, float] = {}
        self._began = began or time.monotonic()

    def lap(self, stage: str) -> None:
        """End a stage that began at the previous call, or at the start of the program."""
        self.stages[stage] = time.monotonic() - self._began - sum(self.stages.values())

    @property
    def left(self) -> float:
        """Remaining time before files and HTML page are written [s]; infinite without a budget."""
        if self.budget is None:
            return float('inf')
        start_up = next(iter(self.stages.values()))
        return self.budget - ENDING * start_up - (time.monotonic() - self._began)

    def excess(self) -> list[str]:
        """Return a warning with the stages' durations if the budget was exceeded, else []."""
        total = sum(self.stages.values())
        if self.budget is None or total <= self.budget:
            return []
        stages = ', '.join(f'{stage} {seconds:.1f}' for stage, seconds in sorted(
            self.stages.items(), key=lambda entry: -entry[1]) if seconds >= 0.05)
        return [f'took {total:.1f} s; budget was {self.budget:g} s ({stages})']


@dataclass(frozen=True)
class Designs:
    """
    An excitation, and motions for its validation.

    Parameters
    ----------
    motions
        Motions by name: the excitation has the name '', validation motions have theirs.
    failures
        Reasons why validation motions could not be designed, by name of the motion.
    scene
        Collision geometry of arm and surroundings; None if collisions are not checked.

    """

    motions: dict[str, Excitation]
    failures: dict[str, str]
    scene: Scene | None


def design_motions(arm: Arm, request: DesignOptions, watch: Stopwatch, report: Report, *,
                   validate: bool = False) -> Designs:
    """
    Return the designed excitation and validation motions.

    With a time budget, the point-to-point motion is constructed first, because its computing time
    is not known in advance. The searches for the other motions share the remaining time.

    Parameters
    ----------
    arm
        The arm.
    request
        Options of the design.
    watch
        Stopwatch, to which the duration of each stage is added.
    report
        Function that shows the progress.
    validate
        Whether validation motions are designed.

    Raises
    ------
    ExcitationError
        The excitation cannot be designed. Failures of validation motions are in the result.

    """
    watch.lap('start of the program')
    requirements, limited = request.requirements, watch.budget is not None
    if requirements.torque_margin is not None or requirements.power is not None:
        nominal_inertial(arm, requirements)    # fails before the collision geometry is built
    designs = Designs({}, {}, None if requirements.clearance is None else
                      build_scene(arm, requirements))
    watch.lap('collision geometry')
    names = ('', *(VALIDATION_MOTIONS if validate else ()))
    for name in sorted(names, key=lambda name: limited and name != 'point_to_point'):
        left = watch.left
        if not name:
            budget = max(left * (SEARCHED if validate else 1.0), 0.01)
            designs.motions[name] = design_with_progress(
                arm, dataclasses.replace(request, time_budget=budget) if limited else request,
                report, scene=designs.scene)
        elif left <= 0:
            designs.failures[name] = f'no time was left for the validation motion {name}'
        else:
            report(f'designing the validation motion {name}', 0.0)
            budget = min(VALIDATION, left if '' in designs.motions else CONSTRUCTED * left)
            try:
                designs.motions[name] = validation_motion(
                    arm, name, dataclasses.replace(request, time_budget=budget),
                    scene=designs.scene)
            except ExcitationError as error:
                designs.failures[name] = str(error)
        watch.lap(f'validation motion {name}' if name else 'excitation')
    return designs


def design_with_progress(arm: Arm, options: DesignOptions, report: Report, *,
                         title: str = 'designing the excitation',
                         scene: Scene | None = None) -> Excitation:
    """Return a designed excitation; the search shows its progress with `report`."""
    def show(step: SearchProgress) -> None:
        """Show the number of finished starts and the best value so far."""
        best = '' if np.isnan(step.best) else f', best so far {step.best:.3g}'
        report(f'{title}: {step.finished} of {step.starts} starts{best}', step.fraction)
    return design_excitation(arm, options, progress=show, scene=scene)
