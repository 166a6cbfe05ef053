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
"""Reads MATLAB files of version 7 and older."""

from __future__ import annotations

from pathlib import Path
import tempfile

from robot_identification.errors import RecordingError
from robot_identification.files import check_decoded_size, decoded_limit, regular_size
from robot_identification.helper_process import run_helper
from robot_identification.log_formats.converted_file import hdf5_source, is_hdf5
from robot_identification.recording.column_source import ColumnSource, SPLIT
from robot_identification.recording.numpy_archive import NumpyArchive

SIZE = 1_000_000_000    # largest file [bytes]


def mat_source(path: Path) -> ColumnSource:
    """
    Return the arrays of a MATLAB file as columns; files of version 7.3 are HDF5.

    The stamps t have N entries; the other signals are (N, n) or (n, N). The field q of a struct
    `log` is named `log.q`, as in MATLAB.

    Raises
    ------
    RecordingError
        The file cannot be read.

    """
    stored = regular_size(path, 'recording', RecordingError, SIZE, SPLIT)
    if is_hdf5(path):
        return hdf5_source(path)
    limit, label = int(decoded_limit(stored)), f"the recording '{path}'"
    with tempfile.TemporaryDirectory() as folder:
        npz = Path(folder) / 'arrays.npz'
        done = run_helper('mat', str(path), str(npz), str(limit), extra_memory=2 * limit)
        if done.returncode:
            reason = done.stderr.decode('utf-8', 'replace').strip().splitlines()[-1:] or [
                'its reader crashed']
            raise RecordingError(f'{label} is not a MATLAB file of version 7 or older '
                                 f"(save(..., '-v7')), or damaged: {reason[0]}")
        if done.stdout:
            check_decoded_size(int(done.stdout), stored, label, RecordingError)
        with NumpyArchive(npz, 'recording', RecordingError) as archive:
            arrays = {name: archive[name] for name in archive.names}
    samples = max((array.size for array in arrays.values()
                   if array.ndim == 1 and array.dtype.kind in 'fiu' and array.size > 1), default=0)
    arrays = {name: array.T if array.ndim == 2 and array.shape[1] == samples != array.shape[0]
              else array for name, array in arrays.items()}
    return ColumnSource(path, arrays, lambda names: iter([arrays]), stored)
