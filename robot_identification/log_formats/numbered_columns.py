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
"""Columns without names: t, q, v and torques are recognised by their values, or refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import RecordingError
from robot_identification.recording.column_source import ColumnSource, stored_size
from robot_identification.recording.csv_file import CsvSource, number_in
from robot_identification.recording.infer_columns import MARGIN, SAME

MISFIT = 0.1    # largest part of a derivative's power that differences do not explain
ALIKE = 0.7    # correlation with the slope above which other signals may be noisy velocities


class NamedColumns(ColumnSource):
    """
    Columns of a source under other names.

    Parameters
    ----------
    source
        The source.
    names
        Names of its columns, by new name.

    """

    def __init__(self, source: ColumnSource, names: dict[str, str]) -> None:
        super().__init__(source.name, {name: np.zeros(0) for name in names})
        self._source, self._old = source, names
        self.remarks = [*source.remarks]

    def blocks(self, columns: Sequence[str]) -> Iterator[Array]:
        """Yield the values of columns, see `ColumnSource.blocks`."""
        own, self._source.name = self.remarks, self.name
        yield from self._source.blocks([self._old[name] for name in columns])
        self.remarks = [*own, *(each for each in self._source.remarks if each not in own)]


class NumberedSource(NamedColumns):
    """
    Columns without names.

    The order t, q, v, (a,) and torques or currents, n columns each, is recognised if the second
    group is the derivative of the first. Any other content is refused, because positions and
    torques look alike.

    Parameters
    ----------
    source
        The columns.
    pattern
        Name of a column of the source, with {} for its number from 0.

    """

    def __init__(self, source: ColumnSource, pattern: str) -> None:
        super().__init__(source, {f'column {k + 1}': pattern.format(k)
                                  for k in range(len(source.names))})

    def named_for(self, arm: Arm | None) -> ColumnSource:
        """
        Return the columns with the names t, q_<joint>, v_<joint> and tau_<joint>.

        Parameters
        ----------
        arm
            The arm; None if it is unknown.

        Raises
        ------
        RecordingError
            The columns are not certain; the text proposes a header.

        """
        width = len(self.names)
        if arm is None or arm.recording_keys.get('t', '').startswith('column '):
            return self
        groups, rest = divmod(width - 1, arm.n)
        effort = 'current' if arm.effort and arm.effort.quantity == 'current' else 'tau'
        guess = {1: ['q'], 2: ['q', effort], 3: ['q', 'v', effort],
                 4: ['q', 'v', 'a', effort]}.get(groups if rest == 0 else 0)
        advice = ('put a line with the names of the columns before the first one, such as '
                  f't,q_{arm.joint_names[0]},...,tau_{arm.joint_names[0]},...')
        if guess is None:
            raise RecordingError(f'{self.label} has no names for its {width} columns, which are '
                                 f'not a time and the same signals of {arm.n} joints; {advice}')
        names = ['t', *(f'{signal}_{joint}' for signal in guess for joint in arm.joint_names)]
        header = ','.join(names)
        if not self._agree(arm, len(guess)):
            raise RecordingError(
                f'{self.label} has no names for its {width} columns, and their values do not '
                f'show which are positions and which torques; if it is these columns, put this '
                f'line before the first one, or a corrected one: {header}')
        named = NamedColumns(self, dict(zip(names, self.names)))
        named.remarks.append(f'{self.label} has no names for its columns; they are read as '
                             f'{header}, because velocities are the derivative of positions')
        return named

    def _agree(self, arm: Arm, groups: int) -> bool:
        """Return whether the values are t, q, v, (a,) and another signal of the joints."""
        table = np.concatenate([*islice(self.blocks(self.names), 1)])[:20_000]
        steps = np.diff(table[:, 0])
        if groups < 3 or len(table) < 20 or not np.all(np.isfinite(table)) or np.any(steps <= 0):
            return False
        parts = [table[:, 1 + k * arm.n:1 + (k + 1) * arm.n] for k in range(groups)]
        turning = np.logical_not(arm.prismatic)
        inside = (parts[0] >= MARGIN * arm.limits.lower - 0.1) & (
            parts[0] <= MARGIN * arm.limits.upper + 0.1)
        chain = [is_derivative(high, low, table[:, 0])
                 for low, high in pairwise(parts)]
        return (bool(np.all(inside[:, turning])) and 1e-5 < np.median(steps) < 1
                and chain == [True] * (groups - 2) + [False]
                and not np.allclose(parts[-1], parts[0], atol=0.1))


def is_derivative(high: Array, low: Array, t: Array) -> bool | None:
    """
    Return whether a group of columns is the derivative of another; None if it is not certain.

    Parameters
    ----------
    high, low
        The groups, (N, n).
    t
        Stamps, (N,) [s].

    """
    slope = np.gradient(low, t, axis=0)
    power, own = float(np.sum(slope ** 2)), float(np.sum(high ** 2))
    if power == 0 or own == 0:
        return None
    product = float(np.sum(high * slope))
    if abs(product / power - 1) < SAME and float(np.sum((high - slope) ** 2)) < MISFIT * power:
        return True
    return None if product > ALIKE * np.sqrt(power * own) else False


class HeaderlessCsv(CsvSource):
    """
    Numbered columns of a text file whose first line has numbers.

    Parameters
    ----------
    path
        The file.
    delimiter
        Character that separates the cells.
    names
        Names of the columns. Default: `column 1`, `column 2` ...

    """

    def __init__(self, path: Path, delimiter: str, names: Sequence[str]) -> None:
        ColumnSource.__init__(self, path, dict.fromkeys(names, np.zeros(0)), self._arrays,
                              stored_size(path))
        self._path, self.delimiter, self._start, self._first_line = path, delimiter, 0, 1
        self._units = ''


def headerless_source(path: Path, line: str) -> NumberedSource | None:
    """
    Return the columns of a file whose first line has numbers only; None for other files.

    Parameters
    ----------
    path
        The file.
    line
        Its first line.

    """
    delimiter = max(',;\t', key=line.count)
    if delimiter not in line:
        delimiter = ' '
    cells = line.split(None if delimiter == ' ' else delimiter)
    if len(cells) < 3 or None in [number_in(cell.strip().replace(',', '.')) for cell in cells]:
        return None
    source = HeaderlessCsv(path, delimiter, [f'column[{k}]' for k in range(len(cells))])
    return NumberedSource(source, 'column[{}]')
