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
"""A request for an excitation, as Design.action and Excite.action have it."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import os
from pathlib import Path
from typing import Any

from robot_identification.arm import Arm
from robot_identification.errors import ExcitationError
from robot_identification.excitation.certificate import DEFAULT_REQUIREMENTS, Requirements
from robot_identification.excitation.design import (
    design,
    DesignOptions,
    Excitation,
    save_excitation,
)
from robot_identification.excitation.design.search import SearchProgress

SUFFIXES = ('.yaml', '.yml')    # of an excitation file


def designed(request: Any, arm: Arm, tell: Callable[[SearchProgress], None]) -> Excitation:
    """
    Design an excitation.

    Parameters
    ----------
    request
        Goal of Design.action or Excite.action; what is empty or 0 has the default that the
        interface states.
    arm
        For this arm.
    tell
        Told of the progress; ends the design where it raises.

    Raises
    ------
    ExcitationError
        The request cannot be met.

    """
    return design(arm, options_of(request), progress=tell)


def written(found: Excitation, output: Path) -> Excitation:
    """
    Write the file of a design and return the design.

    Parameters
    ----------
    found
        The design.
    output
        The file, which must not be there yet.

    Raises
    ------
    ExcitationError
        It has appeared in the meantime.

    """
    if os.path.lexists(output):
        raise ExcitationError(f"'{output}' has appeared in the meantime, and nothing is "
                              f'overwritten; choose another name')
    save_excitation(found, output)
    return found


def options_of(request: Any) -> DesignOptions:
    """
    Return what a goal asks for; what is empty or 0 in it has the default of every design.

    Raises
    ------
    ExcitationError
        Values that make no sense.

    """
    given = {name: value for name in ('kind', 'criterion', 'period', 'harmonics', 'starts',
                                      'time_budget') if (value := getattr(request, name))}
    return DesignOptions(seed=request.seed, margin=request.margin,
                         requirements=_requirements(request), **given)


def _requirements(request: Any) -> Requirements:
    """Return what a design respects when it is told nothing, changed as the request says."""
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
