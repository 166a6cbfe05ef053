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
"""
Registers the readers of this package with `load_recording`, and refuses unsafe formats.

It also recognises text files that are not one line of names and a line of numbers per sample.
"""

import os
from pathlib import Path
import re

from robot_identification.errors import RecordingError
from robot_identification.files import HEAD
from robot_identification.log_formats.compressed import compressed_source, COMPRESSIONS
from robot_identification.log_formats.converted_file import CONVERTED, HDF5, is_hdf5, Ros1File
from robot_identification.log_formats.dates import DatedCsv, moment_in
from robot_identification.log_formats.echo_text import (
    csv_message,
    csv_messages,
    echo_source,
    is_echo_text,
    text_messages,
)
from robot_identification.log_formats.json_table import json_source
from robot_identification.log_formats.long_table import key_columns, long_source
from robot_identification.log_formats.numbered_columns import (
    headerless_source,
    npy_folder_source,
    npy_source,
)
from robot_identification.log_formats.parquet_file import ParquetSource, split_episode
from robot_identification.log_formats.parts import dataset_source, is_dataset, joined_files
from robot_identification.recording.bag.bag import BAG_FILES, OTHER_BAG_FILES
from robot_identification.recording.column_source import ColumnSource
from robot_identification.recording.csv_file import CsvSource
from robot_identification.recording.load import OTHER_READERS, Reader, READERS

_PICKLE = ('is a pickle, which can run any program when it is opened, so it is not read. Convert '
           'it where you trust it: {}')
_PANDAS = 'python -c "import pandas; pandas.read_pickle(\'{0}\').to_parquet(\'{1}.parquet\')"'
_ARRAYS = ("load it, and write its arrays with numpy.savez('{1}.npz', t=t, q=q, tau=tau, "
           'joint_names=names)')
_EXCEL = 'is a spreadsheet of another kind than .xlsx; save it as .xlsx or CSV'
_ARCHIVE = 'is an archive; unpack it, and name the file in it'
REFUSED = {
    **dict.fromkeys(('.pkl', '.pickle', '.p', '.df'), _PICKLE.format(_PANDAS)),
    **dict.fromkeys(('.joblib', '.dill', '.pt', '.pth'), _PICKLE.format(_ARRAYS)),
    **dict.fromkeys(('.xls', '.xlsb', '.ods', '.numbers'), _EXCEL),
    **dict.fromkeys(('.tar', '.tgz', '.7z', '.rar'), _ARCHIVE)}
"""Formats that are refused, by extension, with the reason and what to do."""
FORMATS: dict[str, Reader] = {
    **CONVERTED, **dict.fromkeys(('.json', '.jsonl', '.ndjson'), json_source),
    **dict.fromkeys(COMPRESSIONS, compressed_source), '.parquet': ParquetSource}
"""Functions that read the columns of a file, by its extension; `.npy` may be a part of one."""


def find_other_reader(path: Path) -> Reader | None:
    """
    Return the function that reads the columns of a path; None if this package has none.

    Parameters
    ----------
    path
        A file, a folder of arrays or of a dataset, also with `:EPISODE` appended, or a pattern
        such as `log_*.csv`, whose files are consecutive parts of one recording.

    Raises
    ------
    RecordingError
        The format is refused.

    """
    suffix = path.suffix.lower()
    if re.search(r'[*?[]', path.name) and suffix in READERS and not os.path.exists(path):
        return joined_files
    if is_dataset(path):
        return dataset_source
    if os.path.isdir(path):
        return _folder_source(path)
    if not os.path.isfile(path):
        file, _ = split_episode(path)
        is_episode = file.suffix.lower() == '.parquet' and os.path.isfile(file)
        return ParquetSource if is_episode else None
    if suffix in REFUSED:
        reason = REFUSED[suffix].format(path, path.with_suffix(''))
        raise RecordingError(f"the recording '{path}' {reason}")
    if reader := {'.npy': npy_source, **FORMATS}.get(suffix):
        return reader
    if suffix not in {*READERS, *BAG_FILES} and is_hdf5(path):
        return HDF5.source
    return None if suffix in {'.npz', *BAG_FILES} else text_layout(path)


def _folder_source(path: Path) -> Reader | None:
    """Return the reader of a folder of arrays; None for a folder without recordings."""
    if any(path.glob('*.npy')):
        return npy_folder_source
    files = sorted(file for file in path.iterdir() if file.suffix.lower() in READERS)
    if files:
        raise RecordingError(
            f"the folder '{path}' has {len(files)} recordings; name one, such as {files[0]}, or "
            f"consecutive parts of one recording with a pattern, '{path}/*{files[0].suffix}'")
    return None


def text_layout(path: Path) -> Reader | None:
    """
    Return the function that reads a text file of an unusual layout; None for other files.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    RecordingError
        The layout is ambiguous.

    """
    with path.open('rb') as file:
        raw = file.read(HEAD)
    try:
        head = raw.decode('utf-8-sig', 'strict' if len(raw) < HEAD else 'ignore')
    except UnicodeDecodeError:
        return None
    if '\0' in head or not head.strip() or head.lstrip().startswith('<'):    # a URDF or page
        return None
    if is_echo_text(head):
        return lambda path: echo_source(path, text_messages(path))
    line = head.splitlines()[0]
    if csv_message(line):
        return lambda path: echo_source(path, csv_messages(path))
    source = headerless_source(path, line) or _with_names(path)
    if source is None and path.suffix.lower() not in READERS:
        source = CsvSource(path)    # such as .dat or .log
        source = source if len(source.names) > 2 else None
    return None if source is None else lambda path: source


def _with_names(path: Path) -> ColumnSource | None:
    """Return the columns of a file with dates, quotation marks or long lines; None for others."""
    try:
        table = CsvSource(path)
    except RecordingError:
        return None
    first = next(table.line_blocks(), b'').split(b'\n')[0].decode('utf-8', 'replace')
    cells = [cell.strip(' "\r') for cell in first.split(table.delimiter)]
    moments = [k for k, cell in enumerate(cells) if moment_in(cell) and (
        ':' in cell or not cell.replace('.', '', 1).isdigit())]
    if len(cells) == len(table.names) and (moments or '"' in first):
        table = DatedCsv(path, moments)
    if found := key_columns(table):
        return long_source(table, *found)
    return table if isinstance(table, DatedCsv) else None


READERS.maps.append(FORMATS)
OTHER_READERS.append(find_other_reader)
OTHER_BAG_FILES['.bag'] = Ros1File
