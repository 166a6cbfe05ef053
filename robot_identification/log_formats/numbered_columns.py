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
"""Columns without names, also arrays .npy: t, q, v and torques are recognised by their values."""

from collections.abc import Iterable
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


def numbered(columns: Iterable[np.ndarray]) -> dict[str, np.ndarray]:
    """Return columns by their names `column 1`, `column 2` ..."""
    return {f'column {k}': values for k, values in enumerate(columns, 1)}


class NumberedSource(ColumnSource):
    """
    Columns without names.

    The order t, q, v, (a,) and torques or currents, n columns each, is recognised if the second
    group is the derivative of the first. Any other content is refused, because positions and
    torques look alike.
    """

    def name_for(self, arm: Arm | None) -> None:
        """
        Give the columns the names t, q_<joint>, v_<joint> and tau_<joint>.

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
        if (arm is None or arm.recording_keys.get('t', '').startswith('column ')
                or self.names[0] != 'column 1'):
            return
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
        self.rename_columns(names)
        self.add_remark(f'{self.label} has no names for its columns; they are read as '
                        f'{header}, because velocities are the derivative of positions')

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


class HeaderlessCsv(NumberedSource, CsvSource):
    """
    Numbered columns of a text file whose first line has numbers.

    Parameters
    ----------
    path
        The file.
    delimiter
        Character that separates the cells.
    width
        Number of columns.

    """

    def __init__(self, path: Path, delimiter: str, width: int) -> None:
        ColumnSource.__init__(self, path, numbered([np.zeros(0)] * width), self._arrays,
                              stored_size(path))
        self._path, self.delimiter, self._start, self._first_line = path, delimiter, 0, 1


def headerless_source(path: Path, line: str) -> ColumnSource | None:
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
    return HeaderlessCsv(path, delimiter, len(cells))


def npy_source(path: Path) -> ColumnSource:
    """
    Return the columns of a file `.npy`.

    The fields of a structured array are columns. An array of numbers (N, m) has no names; its
    columns are numbered, see `NumberedSource`. A file that is named as a signal, such as `q.npy`
    beside `t.npy`, is read with the others of its folder.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    RecordingError
        The file is damaged, or its values are pickled.

    """
    array = _load(path)
    if array.dtype.names:
        return ColumnSource(path, {name: array[name] for name in array.dtype.names})
    if array.ndim == 2 and min(array.shape) >= 3 and not (path.parent / 't.npy').exists():
        array = array.T if array.shape[0] < array.shape[1] else array
        return NumberedSource(path, numbered(array.T))
    if (path.parent / 't.npy').exists():
        return npy_folder_source(path.parent)
    raise RecordingError(f"the recording '{path}' is one array of the shape {array.shape}; put "
                         't.npy (N,), q.npy (N, n) and tau.npy (N, n) into one folder and name '
                         "the folder, or write all with numpy.savez('log.npz', t=t, q=q, tau=tau)")


def npy_folder_source(path: Path) -> ColumnSource:
    """
    Return the arrays of a folder with files such as t.npy, q.npy and tau.npy, by name.

    Parameters
    ----------
    path
        The folder.

    Raises
    ------
    RecordingError
        A file is damaged, or its values are pickled.

    """
    return ColumnSource(path, {file.stem: _load(file) for file in sorted(path.glob('*.npy'))})


def _load(path: Path) -> np.ndarray:
    """Return the array of a file; its header cannot declare more than the file has."""
    stored_size(path)
    try:
        array = np.load(path, mmap_mode='r', allow_pickle=False)
    except Exception as error:    # damaged files raise errors of any class
        pickled = 'Python objects' in str(error) or 'pickle' in str(error)
        raise RecordingError(f"the recording '{path}' " + (
            'holds pickled objects, which can run any program when they are opened; where you '
            "trust it, load it and write numbers with numpy.savez('log.npz', t=t, q=q, tau=tau)"
            if pickled else f'is not a NumPy array (.npy), or damaged: {error}')) from error
    if not isinstance(array, np.ndarray):
        raise RecordingError(f"the recording '{path}' is an archive; name it .npz")
    return array
