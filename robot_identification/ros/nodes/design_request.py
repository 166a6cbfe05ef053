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
"""Designs of excitations from the goals of Design.action and Excite.action."""

from collections.abc import Callable
import dataclasses
import os
from pathlib import Path
from typing import Any

from robot_identification.arm import Arm
from robot_identification.errors import ExcitationError
from robot_identification.excitation import (
    DEFAULT_REQUIREMENTS,
    design,
    DesignOptions,
    Excitation,
    Requirements,
    save_excitation,
)
from robot_identification.excitation.design.search import SearchProgress

SUFFIXES = ('.yaml', '.yml')    # of an excitation file


def run_design(request: Any, arm: Arm, report: Callable[[SearchProgress], None]) -> Excitation:
    """
    Design the excitation that a goal requests and return it.

    Parameters
    ----------
    request
        Goal of Design.action or Excite.action. Fields that are empty or 0 select the defaults
        stated in the interface.
    arm
        The arm.
    report
        Called with the progress; an exception that it raises cancels the design.

    Raises
    ------
    ExcitationError
        A field of the goal is invalid, or no motion meets the requirements.

    """
    return design(arm, design_options(request), progress=report)


def save_new_excitation(excitation: Excitation, path: Path) -> Excitation:
    """
    Write an excitation to a new file and return it.

    Parameters
    ----------
    excitation
        The excitation.
    path
        Path of the file.

    Raises
    ------
    ExcitationError
        The file exists already, because it was created during the design.

    """
    if os.path.lexists(path):
        raise ExcitationError(f"'{path}' was created meanwhile, and nothing is overwritten; "
                              f'choose another name')
    save_excitation(excitation, path)
    return excitation


def design_options(request: Any) -> DesignOptions:
    """
    Return the design options of a goal.

    Parameters
    ----------
    request
        Goal of Design.action or Excite.action. Fields that are empty or 0 select the defaults.

    Raises
    ------
    ExcitationError
        The values contradict each other or are out of range.

    """
    options = {name: value for name in ('kind', 'criterion', 'period', 'harmonics', 'starts',
                                        'time_budget') if (value := getattr(request, name))}
    return DesignOptions(seed=request.seed, margin=request.margin,
                         requirements=_requirements(request), **options)


def _requirements(request: Any) -> Requirements:
    """Return the default requirements with the changes that a goal requests."""
    boxes = [float(x) for x in request.boxes]
    if len(boxes) % 6:
        raise ExcitationError(f'boxes must be six numbers each, lower and upper corner [m], not '
                              f'{len(boxes)} numbers')
    surroundings = bool(request.floor) or bool(boxes)
    if request.no_collisions and surroundings:
        raise ExcitationError('a floor or boxes and no_collisions contradict each other')
    return dataclasses.replace(
        DEFAULT_REQUIREMENTS,
        torque_margin=None if request.no_torque else DEFAULT_REQUIREMENTS.torque_margin,
        clearance=None if request.no_collisions else DEFAULT_REQUIREMENTS.clearance,
        floor=float(request.floor[0]) if request.floor else None,
        boxes=tuple(tuple(boxes[i:i + 6]) for i in range(0, len(boxes), 6)))
