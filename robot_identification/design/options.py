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

from collections.abc import Callable, Mapping
import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.certificate.requirements import Requirements, SAFE
from robot_identification.design.columns import DRIVE_COLUMNS, SCALINGS
from robot_identification.design.criteria import get_criterion
from robot_identification.design.optimisers import OPTIMISERS
from robot_identification.errors import ConfigurationError, ExcitationError, UnknownNameError
from robot_identification.motion import check_harmonics, get_series, Series, suggested_harmonics

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
        Of the arm [Hz]: the motion stays below a sixth of it; None is not known.
    criterion
        From `CRITERIA`, or a mixture such as 'cond + 0.1 logdet'.
    drives, scaling, noise
        Which columns count, and how they and the joints are weighted; see `Columns`.
    samples_per_period
        At which the criterion is evaluated.
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
        Torque, power, payload, clearance, workspace. `SAFE` looks at torques and collisions;
        `Requirements()` at nothing but the limits of motion.

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
    requirements: Requirements = SAFE

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
                            else suggested_harmonics(self.period, self.upper_frequency,
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
        if not isinstance(content, Mapping):
            raise ConfigurationError(f'{origin} must be a mapping from names to values, as '
                                     f'`excite --print-options` writes it')
        _known(content, tuple(READERS), origin)
        values = {name: READERS[name](value, f'{origin}, {name}')
                  for name, value in content.items()}
        try:
            return cls(**values)
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


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _known(content: Mapping[Any, Any], names: tuple[str, ...], origin: str) -> None:
    for name in content:
        if name not in names:
            raise ConfigurationError(
                f"{origin}: there is no option '{name}'; there is: {', '.join(names)}")


Reader = Callable[[Any, str], Any]


def _number(value: Any, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigurationError(f'{place} must be a number, not {value!r}')
    try:
        return float(value)
    except OverflowError as error:
        raise ConfigurationError(f'{place} is too large a number') from error


def _whole(value: Any, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ConfigurationError(f'{place} must be a whole number, not {value!r}')
    return value


def _word(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise ConfigurationError(f'{place} must be a word, not {value!r}')
    return value


def _flag(value: Any, place: str) -> bool:
    if not isinstance(value, bool):
        raise ConfigurationError(f'{place} must be true or false, not {value!r}')
    return value


def _numbers(value: Any, place: str) -> tuple[float, ...]:
    if not isinstance(value, list | tuple):
        raise ConfigurationError(f'{place} must be a list of numbers, not {value!r}')
    return tuple(_number(x, place) for x in value)


def _number_or_numbers(value: Any, place: str) -> PerJoint:
    return _numbers(value, place) if isinstance(value, list) else _number(value, place)


def _or_none(reader: Reader) -> Reader:
    return lambda value, place: None if value is None else reader(value, place)


def _list_of(reader: Reader) -> Reader:
    def read(value: Any, place: str) -> list[Any]:
        if not isinstance(value, list | tuple):
            raise ConfigurationError(f'{place} must be a list, not {value!r}')
        return [reader(entry, place) for entry in value]
    return read


def _mapping_of(readers: Mapping[str, Reader], needed: tuple[str, ...] = ()) -> Reader:
    def read(value: Any, place: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise ConfigurationError(f'{place} must be a mapping with the names '
                                     f'{", ".join(readers)}, not {value!r}')
        _known(value, tuple(readers), place)
        missing = [name for name in needed if name not in value]
        if missing:
            raise ConfigurationError(f'{place} lacks: {", ".join(missing)}')
        return {name: readers[name](entry, f'{place}, {name}') for name, entry in value.items()}
    return read


def _triple(value: Any, place: str) -> tuple[float, ...]:
    values = _numbers(value, place)
    if len(values) != 3:
        raise ConfigurationError(f'{place} must be three numbers, not {value!r}')
    return values


_REQUIREMENTS = _mapping_of({
    'torque_margin': _or_none(_number), 'power': _or_none(_number),
    'payload': _or_none(_mapping_of({'mass': _number, 'centre': _triple,
                                     'size': _or_none(_triple)}, ('mass', 'centre'))),
    'clearance': _or_none(_number), 'self_collision': _flag, 'floor': _or_none(_number),
    'boxes': _list_of(_numbers),
    'workspace': _list_of(_mapping_of({'frame': _word, 'lower': _triple, 'upper': _triple},
                                      ('frame', 'lower', 'upper'))),
    'srdf': _or_none(_word), 'package_dirs': _list_of(_word), 'guess_density': _or_none(_number)})


def _requirements(value: Any, place: str) -> Requirements:
    """Return requirements; what is not named is as `SAFE` has it."""
    return Requirements.from_mapping({**SAFE.to_mapping(), **_REQUIREMENTS(value, place)})


READERS: dict[str, Reader] = {
    'kind': _word, 'period': _number, 'harmonics': _or_none(_whole), 'upper_frequency': _number,
    'first_resonance': _or_none(_number), 'criterion': _word, 'drives': _word, 'scaling': _word,
    'noise': _or_none(_number_or_numbers), 'samples_per_period': _whole, 'starts': _whole,
    'seed': _whole, 'optimiser': _word, 'workers': _or_none(_whole),
    'time_budget': _or_none(_number), 'good_enough': _or_none(_number),
    'velocity': _or_none(_number_or_numbers), 'acceleration': _or_none(_number_or_numbers),
    'margin': _number, 'start': _or_none(_number_or_numbers), 'requirements': _requirements}
