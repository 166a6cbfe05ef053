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
"""Reading the files of an identification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import hashlib
import json
from pathlib import Path
from typing import Any

from robot_identification.arrays import Array
from robot_identification.errors import ModelFileError
from robot_identification.files import read_text
from robot_identification.recording.numpy_archive import NumpyArchive
from robot_identification.reporting.results_dict import SCHEMA

RESULTS = 'results.json'
PLOTS = 'plots.npz'


@dataclass(frozen=True, eq=False)
class StoredResults:
    """
    The data of a report.

    Parameters
    ----------
    content
        Content of results.json, see `results_to_dict`.
    arrays
        Arrays of plots.npz, see `plot_data`.
    files
        Names of all files in the folder.

    """

    content: Mapping[str, Any]
    arrays: Mapping[str, Array]
    files: tuple[str, ...] = ()

    @property
    def joints(self) -> list[str]:
        """Names of the joints."""
        return list(self.content['arm']['joints'])

    def units(self, quantity: str) -> list[str]:
        """Return the joints' units of 'position', 'velocity', 'acceleration' or 'torque'."""
        return list(self.content['arm']['units'][quantity])


def load_results(directory: str | Path) -> StoredResults:
    """
    Read results.json and plots.npz.

    Parameters
    ----------
    directory
        The folder that `save_results` wrote.

    Raises
    ------
    ModelFileError
        A file is missing, damaged, of another schema or of another identification.

    """
    folder = Path(directory)
    if not folder.is_dir():
        raise ModelFileError(f"there is no directory '{folder}'; name one that "
                             f'`robot-identification identify ... -o DIR` wrote')
    if not (folder / RESULTS).exists():
        raise ModelFileError(f"there is no '{RESULTS}' in '{folder}'; identify again with "
                             f'-o {folder}')
    content = _content(folder / RESULTS)
    arrays = _arrays(folder / PLOTS, content.get('plots_sha256'))
    files = tuple(sorted(path.name for path in folder.iterdir()
                         if path.suffix in ('.yaml', '.urdf', '.csv', '.json', '.npz')))
    return StoredResults(content, arrays, files)


def sha256(path: Path) -> str:
    """Return the SHA-256 digest of a file, hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _content(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(read_text(path, 'file of results', ModelFileError))
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"'{path}' cannot be read: {error}") from error
    schema = content.get('schema') if isinstance(content, dict) else None
    if schema != SCHEMA:
        raise ModelFileError(f"'{path}' is not of the schema {SCHEMA} (found: {schema}); "
                             f'identify again with this version')
    return dict(content)


def _arrays(path: Path, digest: object) -> dict[str, Array]:
    try:
        actual = sha256(path)
    except FileNotFoundError as error:
        raise ModelFileError(f"there is no '{path.name}' in '{path.parent}'; identify again "
                             f'with -o {path.parent}') from error
    except OSError as error:
        raise ModelFileError(f"'{path}' cannot be read: {error.strerror}") from error
    if actual != digest:
        raise ModelFileError(f"'{path}' does not belong to the results.json beside it; "
                             f'identify again with -o {path.parent}')
    with NumpyArchive(path, 'archive', ModelFileError) as archive:
        return {name: archive[name] for name in archive.names}
