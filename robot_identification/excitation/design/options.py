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
"""Options of a design, shared by the command line, the nodes and the library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from robot_identification.errors import ExcitationError, UnknownNameError
from robot_identification.excitation.certificate.requirements import (
    DEFAULT_REQUIREMENTS,
    Requirements,
)
from robot_identification.excitation.design.criteria import get_criterion
from robot_identification.excitation.design.optimisers import OPTIMISERS
from robot_identification.excitation.design.regressor import DRIVE_COLUMNS, SCALINGS
from robot_identification.excitation.motion import get_series, Series
from robot_identification.excitation.motion.frequencies import check_harmonics, suggest_harmonics
from robot_identification.yaml_file import check_fields, Quantity

Count = Annotated[int, Quantity(minimum=1, maximum=10_000)]
Value = Annotated[float, Quantity(infinite=True)]
PerJoint = Value | tuple[Value, ...] | None


@dataclass(frozen=True)
class DesignOptions:
    """
    A request for an excitation; every value is checked when it is made.

    Parameters
    ----------
    kind
        From `TRAJECTORIES`: 'mfs', 'ffs_rest' and 'spline' start and end at rest; 'ffs' moves at
        all times.
    period
        [s].
    harmonics
        Number of harmonics of 1 / period; None takes as many as stay below `upper_frequency`.
    upper_frequency
        Highest frequency of the motion [Hz].
    first_resonance
        Lowest resonance of the arm [Hz]: the motion stays below a sixth of it; None if unknown.
    criterion
        From `CRITERIA`, or a mixture such as 'cond + 0.1 logdet'.
    drives, scaling, noise
        Which columns count, and how they and the joints are weighted; see `DesignRegressor`.
    samples_per_period
        Samples with which the criterion is evaluated.
    starts, seed
        Number of random starts, and the seed of their draws. Without a time budget, equal seeds
        give equal designs.
    optimiser
        From `OPTIMISERS`.
    workers
        Threads; one for each core when None.
    time_budget
        For everything, collision geometry and proof included [s]: the search ends early enough
        that a proof usually fits, and the best motion so far is taken. It is exceeded where half
        of it does not remain for the search, or where a proof fails and the motion is repaired.
    good_enough
        Value of the criterion at which the search ends; the status says when it was not reached.
    velocity, acceleration
        Limits in place of the arm's, (n,) or one number.
    margin
        Part of every range to keep free, 0 to less than 1. With 0 about 0.1 % stays free, which
        is what the proof needs.
    start
        Position to start from and return to, (n,) [rad or m], for motions that rest there; free
        when None.
    requirements
        Torque, power, payload, clearance, workspace. `DEFAULT_REQUIREMENTS` limits torques and
        avoids collisions; `Requirements()` has the limits of motion alone.

    Raises
    ------
    ExcitationError
        A value that makes no sense.
    UnknownNameError
        An unknown kind, criterion, optimiser, choice of columns or scaling.

    """

    kind: str = 'mfs'
    period: Annotated[float, Quantity('s')] = 10.0
    harmonics: int | None = None
    upper_frequency: Annotated[float, Quantity('Hz', above=0)] = 0.5
    first_resonance: Annotated[float, Quantity('Hz', above=0)] | None = None
    criterion: str = 'cond'
    drives: str = 'none'
    scaling: str = 'none'
    noise: PerJoint = None
    samples_per_period: Annotated[int, Quantity(minimum=1, maximum=1_000_000)] = 100
    starts: Count = 4
    seed: Annotated[int, Quantity(minimum=0)] = 0
    optimiser: str = 'barrier'
    workers: Count | None = None
    time_budget: Annotated[float, Quantity('s', above=0)] | None = None
    good_enough: float | None = None
    velocity: PerJoint = None
    acceleration: PerJoint = None
    margin: Annotated[float, Quantity(minimum=0, below=1)] = 0.0
    start: PerJoint = None
    requirements: Requirements = DEFAULT_REQUIREMENTS

    def __post_init__(self) -> None:
        check_fields(self, ExcitationError)
        for family, choice, known in (('excitation optimiser', self.optimiser, OPTIMISERS),
                                      ('drive columns', self.drives, DRIVE_COLUMNS),
                                      ('column scaling', self.scaling, SCALINGS)):
            if choice not in known:
                raise UnknownNameError(family, choice, known)
        get_criterion(self.criterion)
        self.series  # noqa: B018 - its own checks are part of these

    @property
    def series(self) -> Series:
        """The parametrisation of the motion."""
        series = get_series(self.kind, self.period, self.harmonics if self.harmonics is not None
                            else suggest_harmonics(self.period, self.upper_frequency,
                                                   self.first_resonance))
        check_harmonics(series.harmonics, self.period, self.first_resonance)
        return series
