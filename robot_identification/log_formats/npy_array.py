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
"""Reads files `.npy`: one array of all signals, or a folder with one array per signal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from robot_identification.errors import RecordingError
from robot_identification.log_formats.numbered_columns import numbered, NumberedSource
from robot_identification.recording.column_source import ColumnSource, stored_size


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
