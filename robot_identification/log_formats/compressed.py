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
"""Reads compressed files, such as `log.csv.gz`, and ZIP archives of one file."""

import bz2
from collections.abc import Callable
import gzip
import lzma
from pathlib import Path
from typing import Any, IO
import zipfile

from robot_identification.errors import RecordingError, RobotIdentificationError
from robot_identification.log_formats.converted_file import open_converted, TemporaryFolder
from robot_identification.recording.bag.bag import BAG_FILES
from robot_identification.recording.bag.mcap_file import copy_decompressed, open_zstd
from robot_identification.recording.column_source import ColumnSource, stored_size


def _open_zip(path: Path) -> IO[bytes]:
    archive = zipfile.ZipFile(path)
    return archive.open(_member(archive, path))


COMPRESSIONS: dict[str, Callable[[Path], Any]] = {
    '.gz': gzip.open, '.bz2': bz2.open, '.xz': lzma.open, '.zst': open_zstd, '.zip': _open_zip}
"""Functions that open a compressed file, by its extension."""


def compressed_source(path: Path) -> ColumnSource:
    """
    Return the columns of a compressed file, which is decompressed into a temporary folder.

    Parameters
    ----------
    path
        The file; the extension before that of the compression states the format.

    Raises
    ------
    RecordingError
        The file is damaged, too large, an archive of several files, or of an unsupported format.

    """
    label = f"the recording '{path}'"
    stored_size(path)
    folder = TemporaryFolder()
    try:
        if path.suffix.lower() == '.zip':
            with zipfile.ZipFile(path) as archive:
                inner = Path(_member(archive, path).filename).name
        else:
            inner = path.stem
        if Path(inner).suffix.lower() in {'.tar', *COMPRESSIONS, *BAG_FILES}:
            raise RecordingError(f'{label} contains an archive or a bag; unpack it')
        target = Path(folder.name, inner if '.' in inner else f'{inner}.txt')
        with COMPRESSIONS[path.suffix.lower()](path) as source:
            copy_decompressed(source, target, path)
    except RobotIdentificationError:
        raise
    except Exception as error:    # damaged files raise errors of any class
        raise RecordingError(f'{label} cannot be decompressed: {error}') from error
    return open_converted(path, target, folder)


def _member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    """Return the only file of an archive."""
    members = [info for info in archive.infolist()
               if not info.is_dir() and not info.filename.startswith('__MACOSX')]
    if len(members) != 1:
        raise RecordingError(f"the recording '{path}' is an archive of {len(members)} files; "
                             'unpack it, and name one of them')
    return members[0]
