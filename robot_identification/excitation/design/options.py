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
"""What a design is asked for: one request for the command line, the nodes and the library."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.errors import ConfigurationError, ExcitationError, UnknownNameError
from robot_identification.excitation.certificate.requirements import (
    DEFAULT_REQUIREMENTS,
    Requirements,
    requirements_schema,
)
from robot_identification.excitation.design.criteria import get_criterion
from robot_identification.excitation.design.optimisers import OPTIMISERS
from robot_identification.excitation.design.regressor import DRIVE_COLUMNS, SCALINGS
from robot_identification.excitation.motion import get_series, Series
from robot_identification.excitation.motion.frequencies import check_harmonics, suggest_harmonics
from robot_identification.yaml_file import Schema, shown

_S = Schema(ConfigurationError)
PerJoint = float | tuple[float, ...] | None
MOST_STARTS = 10_000
MOST_SAMPLES = 1_000_000


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
    period: float = 10.0
    harmonics: int | None = None
    upper_frequency: float = 0.5
    first_resonance: float | None = None
    criterion: str = 'cond'
    drives: str = 'none'
    scaling: str = 'none'
    noise: PerJoint = None
    samples_per_period: int = 100
    starts: int = 4
    seed: int = 0
    optimiser: str = 'barrier'
    workers: int | None = None
    time_budget: float | None = None
    good_enough: float | None = None
    velocity: PerJoint = None
    acceleration: PerJoint = None
    margin: float = 0.0
    start: PerJoint = None
    requirements: Requirements = DEFAULT_REQUIREMENTS

    def __post_init__(self) -> None:
        for name in ('noise', 'velocity', 'acceleration', 'start'):
            object.__setattr__(self, name, _per_joint(name, getattr(self, name)))
        for family, choice, known in (('excitation optimiser', self.optimiser, OPTIMISERS),
                                      ('drive columns', self.drives, DRIVE_COLUMNS),
                                      ('column scaling', self.scaling, SCALINGS)):
            if choice not in known:
                raise UnknownNameError(family, choice, known)
        get_criterion(self.criterion)
        for words, value in (('time budget', self.time_budget),
                             ('upper frequency', self.upper_frequency),
                             ('first resonance', self.first_resonance)):
            if value is not None and not (np.isfinite(value) and value > 0):
                raise ExcitationError(f'the {words} must be positive, not {value!r}')
        if self.good_enough is not None and not np.isfinite(self.good_enough):
            raise ExcitationError(f'the value that is good enough must be a number, not '
                                  f'{self.good_enough!r}')
        if not 0.0 <= self.margin < 1.0:
            raise ExcitationError(f'the margin is a part of the ranges, from 0 to less than 1, '
                                  f'not {self.margin!r}')
        for words, whole, most in (('starts', self.starts, MOST_STARTS),
                                   ('samples a period', self.samples_per_period, MOST_SAMPLES),
                                   ('threads', self.workers or 1, MOST_STARTS)):
            if isinstance(whole, bool) or int(whole) != whole or not 1 <= whole <= most:
                raise ExcitationError(f'the number of {words} must be a whole number from 1 to '
                                      f'{most}, not {whole!r}')
        if int(self.seed) != self.seed or self.seed < 0:
            raise ExcitationError(f'the seed must be a whole number from 0 on, not {self.seed!r}')
        self.series  # noqa: B018 - its own checks are part of these

    @property
    def series(self) -> Series:
        """The parametrisation of the motion."""
        series = get_series(self.kind, self.period, self.harmonics if self.harmonics is not None
                            else suggest_harmonics(self.period, self.upper_frequency,
                                                   self.first_resonance))
        check_harmonics(series.harmonics, self.period, self.first_resonance)
        return series

    def to_mapping(self) -> dict[str, Any]:
        """Return plain content for a file."""
        content = {field.name: _plain(getattr(self, field.name))
                   for field in dataclasses.fields(self)}
        return {**content, 'requirements': self.requirements.to_mapping()}

    @classmethod
    def from_mapping(cls, content: Any, origin: str = 'the options of the design',
                     ) -> DesignOptions:
        """
        Return the options of a file; what it does not name has its default.

        Parameters
        ----------
        content
            A mapping from the names of the options to values; `requirements` is one itself.
        origin
            How to call it in an error.

        Raises
        ------
        ConfigurationError
            An unknown name, or a value of another type.
        ExcitationError, UnknownNameError
            As the class.

        """
        OPTIONS(content, origin)
        _known(content, tuple(field.name for field in dataclasses.fields(cls)), origin)
        asked = content.get('requirements', {})
        plain = DEFAULT_REQUIREMENTS.to_mapping()
        _known(asked, tuple(plain), f'{origin}, requirements')
        try:
            return cls(**{**content, 'requirements': Requirements.from_mapping(
                {**plain, **asked})})
        except ExcitationError as error:
            raise ExcitationError(f'{origin}: {error}') from error


def _per_joint(name: str, value: Any) -> PerJoint:
    if value is None:
        return None
    try:
        values = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.ndim > 1 or np.any(np.isnan(values)):
        raise ExcitationError(f'{name} must be one number, or one for each joint, not {value!r}')
    return float(values) if values.ndim == 0 else tuple(float(x) for x in values)


def _number_or_numbers(value: Any, place: str) -> None:
    (_S.items(_S.number) if isinstance(value, list) else _S.number)(value, place)


OPTIONS = _S.record({}, {
    **dict.fromkeys(('kind', 'criterion', 'drives', 'scaling', 'optimiser'), _S.text),
    **dict.fromkeys(('period', 'upper_frequency', 'margin'), _S.finite),
    **dict.fromkeys(('first_resonance', 'time_budget', 'good_enough'), _S.maybe(_S.finite)),
    **dict.fromkeys(('samples_per_period', 'starts', 'seed'), _S.integer),
    **dict.fromkeys(('harmonics', 'workers'), _S.maybe(_S.integer)),
    **dict.fromkeys(('noise', 'velocity', 'acceleration', 'start'),
                    _S.maybe(_number_or_numbers)),
    'requirements': requirements_schema(_S)})


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _known(content: Mapping[Any, Any], names: tuple[str, ...], origin: str) -> None:
    for name in content:
        if name not in names:
            raise ConfigurationError(
                f"{origin}: there is no option '{shown(name)}'; there is: {', '.join(names)}")
