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
"""Converts files by helper processes into files that the core reads."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
import shutil
import tempfile
import weakref

from robot_identification.errors import MissingDependencyError, RecordingError
from robot_identification.files import check_decoded_size, decoded_limit
from robot_identification.helper_process import Helper, HELPERS, run_helper, TimeoutExpired
from robot_identification.recording.bag.bag import SqliteFile
from robot_identification.recording.column_source import ColumnSource, SPLIT, stored_size
from robot_identification.recording.load import find_reader

SIGNATURE = b'\x89HDF\r\n\x1a\n'    # of HDF5, at 0 or behind a user block of 512, 1024 ... bytes


class TemporaryFolder:
    """A temporary folder, which is removed with this object; `name` is its path."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp()
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


@dataclass(frozen=True)
class Conversion:
    """
    A conversion by a helper process.

    Parameters
    ----------
    helper
        Name in `HELPERS`, and of the function in `convert.py`.
    kind
        Kind of the file for messages, with its article.
    packages
        Names of the Python packages that the program needs, as they are imported.
    extension
        Extension of the target.

    """

    helper: str
    kind: str
    packages: tuple[str, ...]
    extension: str

    def run(self, path: Path, target: Path) -> None:
        """
        Convert a file.

        Raises
        ------
        RecordingError
            The file is damaged, refused or too large.
        MissingDependencyError
            A package is not installed.

        """
        for package in self.packages:
            if find_spec(package) is None:
                raise MissingDependencyError(package, self.kind, 'logs')
        label = f"the recording '{path}'"
        stored = stored_size(path)
        limit = int(decoded_limit(stored))
        try:
            done = run_helper(self.helper, self.helper, str(path), str(target), str(limit),
                              extra_memory=2 * limit)
        except TimeoutExpired as error:
            raise RecordingError(f'{label} cannot be read within {error.timeout:g} s'
                                 f'{SPLIT}') from error
        if done.returncode:
            reason = done.stderr.decode('utf-8', 'replace').strip().splitlines()[-1:] or [
                'its reader crashed']
            raise RecordingError(f'{label} is not {self.kind}, or damaged: {reason[0]:.500}')
        if done.stdout.strip().isdigit():
            check_decoded_size(int(done.stdout), stored, label, RecordingError)

    def source(self, path: Path) -> ColumnSource:
        """Return the columns of a file; errors are those of `run` and `open_converted`."""
        folder = TemporaryFolder()
        target = Path(folder.name, f'table{self.extension}')
        self.run(path, target)
        if not target.exists():    # a table with text, which Parquet files of the core have not
            target = target.with_suffix('.csv')
        return open_converted(path, target, folder)


HDF5 = Conversion('hdf5', 'an HDF5 file', ('h5py',), '.npz')
MAT = Conversion('mat', "a MATLAB file of version 7 or older (save(..., '-v7'))", (), '.npz')
EXCEL = Conversion('excel', 'an Excel workbook', ('openpyxl',), '.csv')
FEATHER = Conversion('feather', 'a Feather file', ('pyarrow', 'pandas'), '.parquet')
ROS1 = Conversion('ros1', 'a bag of ROS 1', ('rosbags',), '.db3')
# the libraries of HDF5 and SciPy crash on some damaged files, and a file can declare any size; the
# caller adds memory for the arrays
_ARRAYS = Helper('log_formats/convert.py', 300, 1_000_000_000)
# a workbook is compressed XML, and a compressed chunk of a bag can have any size; the largest
# sheet of Excel, or a bag of an hour at 1 kHz, takes 5 minutes
_UNPACKED = Helper('log_formats/convert.py', 900, 1_000_000_000)
# a compressed file can declare any size; the caller adds memory for the columns
_COLUMNS = Helper('log_formats/convert.py', 300, 1_500_000_000)
HELPERS.update(mat=_ARRAYS, hdf5=_ARRAYS, excel=_UNPACKED, ros1=_UNPACKED, feather=_COLUMNS)


def open_converted(path: Path, target: Path, folder: TemporaryFolder) -> ColumnSource:
    """
    Return the columns of a converted file under the name of the original.

    Parameters
    ----------
    path
        The original file.
    target
        The converted file.
    folder
        Temporary folder of the converted file, which is removed with the columns.

    Raises
    ------
    RecordingError
        The converted file cannot be read.

    """
    try:
        reader = find_reader(target)
        if reader is None:
            raise RecordingError(f"the recording '{path}' contains a bag; unpack it")
        source = reader(target)
    except RecordingError as error:
        raise RecordingError(str(error).replace(str(target), str(path))) from error
    source.rename(path)
    source.stored, source.folder = path.stat().st_size, folder
    return source


def mat_source(path: Path) -> ColumnSource:
    """
    Return the arrays of a MATLAB file as columns; files of version 7.3 are HDF5.

    The stamps t have N entries; the other signals are (N, n) or (n, N). The field q of a struct
    `log` is named `log.q`, as in MATLAB.
    """
    return (HDF5 if is_hdf5(path) else MAT).source(path)


CONVERTED: dict[str, Callable[[Path], ColumnSource]] = {
    '.mat': mat_source, **dict.fromkeys(('.h5', '.hdf5', '.hdf', '.he5'), HDF5.source),
    **dict.fromkeys(('.feather', '.arrow', '.ipc', '.arrows'), FEATHER.source),
    **dict.fromkeys(('.xlsx', '.xlsm'), EXCEL.source)}
"""Functions that read files which a helper process converts, by extension."""


def is_hdf5(path: Path) -> bool:
    """Return whether a file is in HDF5, as MATLAB 7.3 files are."""
    with path.open('rb') as file:
        head = file.read(2048 + len(SIGNATURE))
    return any(head.startswith(SIGNATURE, start) for start in (0, 512, 1024, 2048))


class Ros1File(SqliteFile):
    """
    A bag of ROS 1, whose joint states a helper process converts to messages of ROS 2.

    Parameters
    ----------
    path
        The file `.bag`.

    Raises
    ------
    RecordingError
        The bag is damaged or too large; `rosbag reindex` repairs one whose recorder was killed.
    MissingDependencyError
        rosbags is not installed.

    """

    def __init__(self, path: Path) -> None:
        target, self._folder = _convert_bag(path, path.stat().st_mtime_ns)
        super().__init__(target)


@lru_cache(maxsize=1)
def _convert_bag(path: Path, changed: int) -> tuple[Path, TemporaryFolder]:
    """Return the converted bag and its folder; the last one is kept, as bags are opened twice."""
    folder = TemporaryFolder()
    target = Path(folder.name, f'bag{ROS1.extension}')
    ROS1.run(path, target)
    return target, folder
