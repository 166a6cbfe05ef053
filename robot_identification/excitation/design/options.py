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

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any

from robot_identification.errors import did_you_mean, ExcitationError
from robot_identification.excitation.certificate.requirements import (
    DEFAULT_REQUIREMENTS,
    Requirements,
)
from robot_identification.excitation.design.criteria import get_criterion
from robot_identification.excitation.design.optimisers import OPTIMISERS
from robot_identification.excitation.design.regressor import check_columns
from robot_identification.excitation.motion import get_series, Series
from robot_identification.excitation.motion.series import check_harmonics, suggest_harmonics
from robot_identification.yaml_file import check_fields, Quantity

Count = Annotated[int, Quantity(minimum=1, maximum=10_000)]
Value = Annotated[float, Quantity(infinite=True)]
PerJoint = Value | tuple[Value, ...] | None


@dataclass(frozen=True)
class DesignOptions:
    """
    Options of a design; the constructor checks all values.

    Parameters
    ----------
    kind
        From `TRAJECTORIES`: 'mfs', 'ffs_rest' and 'spline' start and end at rest; 'ffs' does not.
    period
        Period of the motion [s].
    harmonics
        Number of harmonics of 1 / period; if None, as many as stay below `upper_frequency`.
    upper_frequency
        Highest frequency of the motion [Hz].
    first_resonance
        Lowest resonance of the arm [Hz], None if unknown; the motion stays below a sixth of it.
    criterion
        From `CRITERIA`, or a mixture such as 'cond + 0.1 logdet'.
    drives, scaling, noise, bodies
        Columns of the regressor, scaling of its columns, torque noise, and bodies that the motion
        excites; see `DesignRegressor`.
    moving
        Names of the joints that move; the others rest where the search puts them. All joints move
        if None.
    samples_per_period
        Number of samples in a period for which the criterion is evaluated.
    starts, seed
        Number of random starts, and the seed of their draws. Without a time budget, equal seeds
        give equal designs.
    optimiser
        From `OPTIMISERS`.
    workers
        Number of threads; one for each core when None.
    time_budget
        Time for the design including collision geometry and proof [s]. The search ends early
        enough for a proof and returns the best motion so far. The budget is exceeded if less than
        half of it remains for the search, or if a proof fails and the motion is repaired.
    good_enough
        Value of the criterion at which the search ends. If it is not reached, the status says so.
    velocity, acceleration
        Limits that replace those of the arm, (n,) or one number.
    margin
        Fraction of the range of every joint limit that the motion leaves free, 0 to less than 1.
        The default leaves room for a controller whose period varies: with a motion at the velocity
        limit, the limiter of ros2_control clips commands in longer cycles.
        Even with a margin of 0 about 0.1 % is left free, because the proof needs it.
    start
        Position at which a motion that starts and ends at rest begins, (n,) [rad or m]; chosen by
        the search if None.
    requirements
        Limits of torque, power and workspace, payload, and clearance. `DEFAULT_REQUIREMENTS`
        limits torques and avoids collisions; `Requirements()` leaves only the joint limits.

    Raises
    ------
    ExcitationError
        A value is invalid.
    UnknownNameError
        The kind, criterion, optimiser, drive columns or scaling is unknown.

    Examples
    --------
    >>> options = DesignOptions(period=8.0, criterion='cond', margin=0.1, seed=1)

    """

    kind: str = 'mfs'
    period: Annotated[float, Quantity('s', above=0, maximum=1e4)] = 10.0
    harmonics: int | None = None
    upper_frequency: Annotated[float, Quantity('Hz', above=0)] = 0.5
    first_resonance: Annotated[float, Quantity('Hz', above=0)] | None = None
    criterion: str = 'cond'
    drives: str = 'none'
    scaling: str = 'none'
    noise: PerJoint = None
    bodies: str = 'links'
    moving: tuple[str, ...] | None = None
    samples_per_period: Annotated[int, Quantity(minimum=1, maximum=1_000_000)] = 100
    starts: Count = 4
    seed: Annotated[int, Quantity(minimum=0)] = 0
    optimiser: str = 'barrier'
    workers: Count | None = None
    time_budget: Annotated[float, Quantity('s', above=0)] | None = None
    good_enough: float | None = None
    velocity: PerJoint = None
    acceleration: PerJoint = None
    margin: Annotated[float, Quantity(minimum=0, below=1)] = 0.05
    start: PerJoint = None
    requirements: Requirements = DEFAULT_REQUIREMENTS

    def __post_init__(self) -> None:
        check_fields(self, ExcitationError)
        OPTIMISERS.find(self.optimiser)
        check_columns(self.drives, self.scaling, self.bodies)
        get_criterion(self.criterion)
        self.series  # noqa: B018 - checks the kind, period and harmonics

    def changed(self, changes: Mapping[str, Any]) -> DesignOptions:
        """Return the options with other values; raise ExcitationError for an unknown name."""
        known = sorted(field.name for field in fields(self))
        for name in changes.keys() - known:
            meant = did_you_mean({'duration': 'period'}.get(name, name), known)
            raise ExcitationError(f"'{name}' is no option of a design{meant}; there are "
                                  f'{", ".join(known)}')
        return replace(self, **changes)

    @property
    def series(self) -> Series:
        """The parametrisation of the motion."""
        series = get_series(self.kind, self.period, self.harmonics if self.harmonics is not None
                            else suggest_harmonics(self.period, self.upper_frequency,
                                                   self.first_resonance))
        check_harmonics(series.harmonics, self.period, self.first_resonance)
        return series
