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
"""Writing all files of an identification into a directory."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any, TYPE_CHECKING

import numpy as np
from robot_identification.errors import ConfigurationError
from robot_identification.export.identified_urdf import write_identified_urdf
from robot_identification.output_folder import replace_files, sha256
from robot_identification.pipeline import Identification
from robot_identification.reporting.plot_data import plot_data
from robot_identification.reporting.report import REPORT, write_report
from robot_identification.reporting.results_dict import results_to_dict
from robot_identification.reporting.stored_results import PLOTS, RESULTS

if TYPE_CHECKING:
    from robot_identification.excitation import Excitation

MODEL = 'model.yaml'
URDF = 'identified.urdf'
BASE_PARAMETERS = 'base_parameters.csv'
RESULT_FILES = (MODEL, URDF, PLOTS, BASE_PARAMETERS, REPORT, RESULTS)


def save_results(
    result: Identification,
    directory: str | Path,
    *,
    excitation: Excitation | None = None,
) -> Path:
    """
    Write model, URDF, results, base parameters and report; if one fails, none is written.

    Files of an earlier identification are replaced; other files in the directory are kept.

    Parameters
    ----------
    result
        The result of `identify`.
    directory
        The folder; it is created if needed.
    excitation
        The designed motion that was recorded, for the report.

    Returns
    -------
    Path
        The folder; `RESULT_FILES` are the names of the files.

    Raises
    ------
    ConfigurationError
        The directory cannot be written.

    Examples
    --------
    >>> result = identify(load_arm('panda'), ['motion.csv'])    # doctest: +SKIP
    >>> save_results(result, 'result')    # doctest: +SKIP

    """
    target = Path(directory)
    if excitation is not None:
        excitation.check_arm(result.arm)
    if target.exists() and not target.is_dir():
        raise ConfigurationError(f"'{target}' is a file; name a directory for the results")
    with replace_files(target) as folder:
        _write(result, folder, excitation)
    return target


def _write(result: Identification, folder: Path, excitation: Excitation | None) -> None:
    """Write all files into a folder."""
    result.model.save(folder / MODEL)
    write_identified_urdf(result.model, folder / URDF)
    content = results_to_dict(result, excitation)
    with (folder / BASE_PARAMETERS).open('w', encoding='utf-8', newline='') as stream:
        table = csv.DictWriter(stream, list(content['base_parameters'][0]))
        table.writeheader()
        table.writerows(content['base_parameters'])
    arrays: dict[str, Any] = dict(plot_data(result, excitation))
    np.savez_compressed(folder / PLOTS, **arrays)
    content['files'] = {name: sha256(folder / name)
                        for name in (MODEL, URDF, BASE_PARAMETERS, PLOTS)}
    (folder / RESULTS).write_text(
        json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + '\n',
        encoding='utf-8')
    write_report(folder)
