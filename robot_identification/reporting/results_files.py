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

from collections.abc import Iterable, Mapping, Sequence
import csv
from dataclasses import dataclass
import json
import os
from pathlib import Path
import shutil
import tempfile
from typing import Any

import numpy as np
from robot_identification.errors import ConfigurationError
from robot_identification.excitation import Excitation
from robot_identification.export.identified_urdf import write_identified_urdf
from robot_identification.identification_data import Identification
from robot_identification.reporting.plot_data import plot_data
from robot_identification.reporting.report import REPORT, write_report
from robot_identification.reporting.results_dict import results_to_dict
from robot_identification.reporting.stored_results import PLOTS, RESULTS, sha256

MODEL = 'model.yaml'
URDF = 'identified.urdf'
BASE_PARAMETERS = 'base_parameters.csv'
RESULT_FILES = (MODEL, URDF, PLOTS, BASE_PARAMETERS, REPORT, RESULTS)
COLUMNS = ('label', 'combination', 'unit', 'value', 'std', 'lower', 'upper', 'urdf', 'model',
           'bootstrap_std', 'bootstrap_lower', 'bootstrap_upper')


@dataclass(frozen=True)
class SavedResults:
    """
    Paths of the files of an identification.

    Parameters
    ----------
    directory
        The folder with all files.
    model, urdf, results, plots, base_parameters, report
        model.yaml, identified.urdf, results.json, plots.npz, base_parameters.csv, report.html.

    """

    directory: Path
    model: Path
    urdf: Path
    results: Path
    plots: Path
    base_parameters: Path
    report: Path

    @classmethod
    def of(cls, directory: Path) -> SavedResults:
        """Return the paths in a directory."""
        return cls(directory, directory / MODEL, directory / URDF, directory / RESULTS,
                   directory / PLOTS, directory / BASE_PARAMETERS, directory / REPORT)


def save_results(
    result: Identification,
    directory: str | Path,
    *,
    excitation: Excitation | None = None,
) -> SavedResults:
    """
    Write model, URDF, results, base parameters and report: all files or none.

    Files of an earlier identification are replaced; other files in the directory are kept.

    Parameters
    ----------
    result
        What `identify` returned.
    directory
        The folder; it is created if needed.
    excitation
        The designed motion that was recorded, for the report.

    Raises
    ------
    ConfigurationError
        The directory cannot be written.

    """
    target = Path(directory)
    if excitation is not None:
        excitation.check_arm(result.arm)
    if target.exists() and not target.is_dir():
        raise ConfigurationError(f"'{target}' is a file; name a directory for the results")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f'.{target.name}.'))
    except OSError as error:
        raise ConfigurationError(
            f"'{target}' cannot be written: {error.strerror or error}") from error
    try:
        _write(result, temporary, excitation)
        target.mkdir(exist_ok=True)
        _move(RESULT_FILES, temporary, target)
    except OSError as error:
        raise ConfigurationError(
            f"'{target}' cannot be written: {error.strerror or error}") from error
    except ConfigurationError as error:    # of a file in the temporary folder
        raise ConfigurationError(str(error).replace(str(temporary), str(target))) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return SavedResults.of(target)


def _write(result: Identification, folder: Path, excitation: Excitation | None) -> None:
    result.model.save(folder / MODEL)
    write_identified_urdf(result.model, folder / URDF)
    content = results_to_dict(result, excitation)
    with (folder / BASE_PARAMETERS).open('w', encoding='utf-8', newline='') as stream:
        _write_table(stream, content['base_parameters'])
    arrays: dict[str, Any] = dict(plot_data(result, excitation))
    np.savez_compressed(folder / PLOTS, **arrays)
    content['plots_sha256'] = sha256(folder / PLOTS)
    (folder / RESULTS).write_text(
        json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + '\n',
        encoding='utf-8')
    write_report(folder)


def _write_table(stream: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write base parameters as CSV; values that are not known are empty fields."""
    table = csv.writer(stream)
    table.writerow(COLUMNS)
    for row in rows:
        table.writerow(['' if row.get(name) is None else row[name] for name in COLUMNS])


def _move(names: Iterable[str], source: Path, target: Path) -> None:
    """Move files into a directory; if one cannot be moved, restore the previous files."""
    backup = source / 'replaced'
    backup.mkdir()
    moved: list[str] = []
    try:
        for name in names:
            moved.append(name)
            if (target / name).exists():
                os.replace(target / name, backup / name)
            os.replace(source / name, target / name)
    except OSError:
        for name in moved:
            if not (source / name).exists():
                (target / name).unlink()
            if (backup / name).exists():
                os.replace(backup / name, target / name)
        raise
