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

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
import shutil
import tempfile
import weakref

from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import MissingDependencyError, RecordingError
from robot_identification.files import check_decoded_size, decoded_limit, regular_size
from robot_identification.helper_process import Helper, HELPERS, run_helper, TimeoutExpired
from robot_identification.recording.column_source import ColumnSource, SPLIT
from robot_identification.recording.csv_file import SIZE
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
        Name in `HELPERS`; its program has the arguments FILE, TARGET and LIMIT [bytes], see
        `run_program`. If TARGET would be larger, it writes its size to stdout, and a reason for
        refusal to stderr.
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
        stored = regular_size(path, 'recording', RecordingError, SIZE, SPLIT)
        limit = int(decoded_limit(stored))
        try:
            done = run_helper(self.helper, str(path), str(target), str(limit),
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


HDF5 = Conversion('hdf5', 'an HDF5 file', ('h5py',), '.npz')
MAT = Conversion('mat', "a MATLAB file of version 7 or older (save(..., '-v7'))", (), '.npz')
EXCEL = Conversion('excel', 'an Excel workbook', ('openpyxl',), '.csv')
FEATHER = Conversion('feather', 'a Feather file', ('pyarrow', 'pandas'), '.parquet')
ROS1 = Conversion('ros1', 'a bag of ROS 1', ('rosbags',), '.db3')
HELPERS.update({
    # SciPy's reader crashes on some damaged files, and a file can declare any size; the caller
    # adds memory for the arrays
    'mat': Helper('log_formats/mat_to_npz.py', 300, 1_000_000_000),
    # the library of HDF5 crashes on some damaged files, and a file can declare any size; the
    # caller adds memory for the arrays
    'hdf5': Helper('log_formats/hdf5_to_npz.py', 300, 1_000_000_000),
    # a workbook is compressed XML, which may need any time and memory; the largest sheet of Excel
    # takes 5 minutes
    'excel': Helper('log_formats/excel_to_csv.py', 900, 1_000_000_000),
    # a compressed file can declare any size; the caller adds memory for the columns
    'feather': Helper('log_formats/feather_to_parquet.py', 300, 1_500_000_000),
    # a compressed chunk of a bag can have any size; a bag of an hour at 1 kHz takes 5 minutes
    'ros1': Helper('log_formats/ros1_to_sqlite.py', 900, 1_000_000_000)})


class ConvertedSource(ColumnSource):
    """
    Columns of a converted file under the name of the original.

    Parameters
    ----------
    source
        Columns of the converted file.
    path
        The original file.
    target
        The converted file.
    folder
        Temporary folder of the converted file, which is removed with this object.

    """

    def __init__(self, source: ColumnSource, path: Path, target: Path,
                 folder: TemporaryFolder) -> None:
        super().__init__(path, {})
        self._source, self._target, self._folder = source, str(target), folder
        self._size = path.stat().st_size
        self.names, self.widths = source.names, source.widths
        self._translate_remarks()

    def blocks(self, columns: Sequence[str]) -> Iterator[Array]:
        """Yield the values of columns, see `ColumnSource.blocks`; their total size is limited."""
        size = 0
        with explain_converted(self._target, self.name):
            for block in self._source.blocks(columns):
                size += block.nbytes
                check_decoded_size(size, self._size, self.label, RecordingError)
                yield block
        self._translate_remarks()

    def joint_names(self, name: str) -> tuple[str, ...]:
        """Return the joint names in the file, see `ColumnSource.joint_names`."""
        return self._source.joint_names(name)

    def named_for(self, arm: Arm | None) -> ColumnSource:
        """Return the columns with their names for an arm, see `ColumnSource.named_for`."""
        with explain_converted(self._target, self.name):
            named = self._source.named_for(arm)
        return self if named is self._source else ConvertedSource(
            named, Path(self.name), Path(self._target), self._folder)

    def _translate_remarks(self) -> None:
        self.remarks = [text.replace(self._target, self.name) for text in self._source.remarks]


@contextmanager
def explain_converted(target: str, name: str) -> Iterator[None]:
    """Replace the path of a converted file in errors by that of the original."""
    try:
        yield
    except RecordingError as error:
        raise RecordingError(str(error).replace(target, name)) from error


def open_converted(path: Path, target: Path, folder: TemporaryFolder) -> ColumnSource:
    """
    Return the columns of a converted file under the name of the original.

    Parameters
    ----------
    path, target, folder
        As for `ConvertedSource`.

    Raises
    ------
    RecordingError
        The converted file cannot be read.

    """
    with explain_converted(str(target), str(path)):
        reader = find_reader(target)
        if reader is None:
            raise RecordingError(f"the recording '{path}' contains a bag; unpack it")
        return ConvertedSource(reader(target), path, target, folder)


def program_source(conversion: Conversion, path: Path) -> ColumnSource:
    """
    Return the columns of a file that a helper process converts.

    Parameters
    ----------
    conversion
        The conversion.
    path
        The file.

    Raises
    ------
    RobotIdentificationError
        As for `Conversion.run` and `open_converted`.

    """
    folder = TemporaryFolder()
    target = Path(folder.name, f'table{conversion.extension}')
    conversion.run(path, target)
    if not target.exists():    # a table with text, which Parquet files of the core have not
        target = target.with_suffix('.csv')
    return open_converted(path, target, folder)


hdf5_source = partial(program_source, HDF5)


def mat_source(path: Path) -> ColumnSource:
    """
    Return the arrays of a MATLAB file as columns; files of version 7.3 are HDF5.

    The stamps t have N entries; the other signals are (N, n) or (n, N). The field q of a struct
    `log` is named `log.q`, as in MATLAB.

    Raises
    ------
    RobotIdentificationError
        As for `program_source`.

    """
    regular_size(path, 'recording', RecordingError)
    return program_source(HDF5 if is_hdf5(path) else MAT, path)


CONVERTED: dict[str, Callable[[Path], ColumnSource]] = {
    '.mat': mat_source, **dict.fromkeys(('.h5', '.hdf5', '.hdf', '.he5'), hdf5_source),
    **dict.fromkeys(('.feather', '.arrow', '.ipc', '.arrows'), partial(program_source, FEATHER)),
    **dict.fromkeys(('.xlsx', '.xlsm'), partial(program_source, EXCEL))}
"""Functions that read files which a helper process converts, by extension."""


def is_hdf5(path: Path) -> bool:
    """Return whether a file is in HDF5, as MATLAB 7.3 files are."""
    with path.open('rb') as file:
        for start in (0, 512, 1024, 2048):
            file.seek(start)
            if file.read(8) == SIGNATURE:
                return True
    return False
