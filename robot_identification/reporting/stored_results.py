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
import os
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import ModelFileError
from robot_identification.json_input import HUGE, read_json
from robot_identification.output_folder import reading, sha256
from robot_identification.recording.numpy_archive import NumpyArchive
from robot_identification.reporting.results_dict import SCHEMA
from robot_identification.yaml_file import read_typed

RESULTS = 'results.json'
PLOTS = 'plots.npz'


@dataclass(frozen=True, eq=False)
class StoredResults:
    """
    The stored data of an identification.

    Parameters
    ----------
    content
        Content of results.json, see `results_to_dict`.
    arrays
        Arrays of plots.npz, see `plot_data`.
    files
        Names of the data files in the folder.
    folder
        The folder; empty if the results were not read from one.

    """

    content: Mapping[str, Any]
    arrays: Mapping[str, Array]
    files: tuple[str, ...] = ()
    folder: str = ''

    @property
    def joints(self) -> list[str]:
        """Names of the joints."""
        return list(self.content['arm']['joints'])

    def units(self, quantity: str) -> list[str]:
        """Return the joints' units of 'position', 'velocity', 'acceleration' or 'torque'."""
        return list(self.content['arm']['units'][quantity])


def load_results(directory: str | Path) -> StoredResults:
    """
    Return the results in results.json and plots.npz of a folder.

    Parameters
    ----------
    directory
        The folder that `save_results` wrote.

    Raises
    ------
    ModelFileError
        A file is missing, damaged, of another schema or of another identification.

    Examples
    --------
    >>> results = load_results('result')    # doctest: +SKIP
    >>> results.joints[0]    # doctest: +SKIP
    'panda_joint1'

    """
    folder = Path(directory)
    with reading(folder):
        for name in (RESULTS, PLOTS):
            if not os.path.isfile(folder / name):
                raise ModelFileError(f"there is no '{name}' in '{folder}'; name a folder that "
                                     f'`identify` wrote, or identify again with -o {folder}')
        content = _content(folder / RESULTS)
        digests = read_typed(Mapping[str, str], content.get('files', {}),
                             f"'{folder / RESULTS}', `files`", ModelFileError)
        digests = digests or {PLOTS: content.get('plots_sha256')}    # an earlier version
        for name, digest in digests.items():
            path = folder / Path(name).name
            if path.is_file() and sha256(path) != digest:
                raise ModelFileError(
                    f"'{path}' does not belong to the results.json beside it: it was changed, or "
                    f'is of another run; identify again with -o {folder}')
        with NumpyArchive(folder / PLOTS, 'archive', ModelFileError) as archive:
            stored = {name: archive[name] for name in archive.names}
        with np.errstate(over='ignore'):
            arrays = {name: array.astype(float) for name, array in stored.items()
                      if array.dtype.kind in 'fiu'}
        if len(arrays) < len(stored) or any(
                np.any(np.abs(array) > HUGE) for array in arrays.values()):
            raise ModelFileError(f"'{folder / PLOTS}' has an array without numbers or above "
                                 f'{HUGE:g}; identify again with -o {folder}')
        files = tuple(sorted(path.name for path in folder.iterdir()
                             if path.suffix in ('.yaml', '.urdf', '.csv', '.json', '.npz')))
    return StoredResults(content, arrays, files, str(folder))


def _content(path: Path) -> dict[str, Any]:
    """Return the content of results.json, whose schema is checked."""
    content = read_json(path, 'file of results', ModelFileError)
    schema = content.get('schema') if isinstance(content, dict) else None
    if schema != SCHEMA:
        raise ModelFileError(f"'{path}' is not of the schema {SCHEMA} (found: {schema}); "
                             f'identify again with this version')
    return content
