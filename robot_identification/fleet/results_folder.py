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
"""The results folder of a fleet: a folder for each robot, the table and the page."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from robot_identification.errors import (
    ConfigurationError,
    MissingDependencyError,
)
from robot_identification.files import check_output_folder, check_outputs, FileKind
from robot_identification.fleet.fleet_file import Fleet
from robot_identification.fleet.page import INDEX
from robot_identification.fleet.robot_result import (
    ROBOT_FILE,
    RobotResult,
    SCHEMA,
    TABLE,
)
from robot_identification.reporting import RESULTS
from robot_identification.reporting.results_files import RESULT_FILES

_RESULT = FileKind('a result', '')
_ROBOT_RESULT = FileKind('a result of `fleet`', f'"{SCHEMA}"')
Report = Callable[[str], None]


def read_results(folder: Path, report: Report = lambda text: None) -> dict[str, RobotResult]:
    """
    Return the stored results of a fleet's robots, by name.

    Parameters
    ----------
    folder
        Output folder of `run_fleet`.
    report
        Called with a message for each result that cannot be read and is left out.

    Examples
    --------
    >>> results = read_results('results', print)    # doctest: +SKIP
    >>> results['cell-01'].state    # doctest: +SKIP
    'passed'

    """
    return {result.robot: result for result in iterate_results(folder, report, newer_only=False)}


def iterate_results(folder: Path, report: Report = lambda text: None, *,
                    newer_only: bool = True) -> Iterator[RobotResult]:
    """
    Yield the stored results of a fleet's robots one by one, in the order of their names.

    Parameters
    ----------
    folder, report
        As for `read_results`.
    newer_only
        As for `RobotResult.load`.

    """
    for path in sorted(folder.glob(f'[!.]*/{ROBOT_FILE}')):    # hidden ones are not complete
        try:
            yield replace(RobotResult.load(path.parent, newer_only=newer_only),
                          robot=path.parent.name)
        except ConfigurationError as error:
            report(f'left out: {error}')


def check_fleet_outputs(fleet: Fleet, folder: Path, force: bool) -> None:
    """Raise an error if pyarrow is missing or an output would replace a file of another kind."""
    if find_spec('pyarrow') is None:
        raise MissingDependencyError('pyarrow', 'a fleet')
    inputs = [fleet.path, *(Path(source) for task in fleet.tasks
                            for source in (*task.recordings, *task.held_out)
                            if '://' not in source)]
    folders = [folder / task.name for task in fleet.tasks]
    check_output_folder(folder, (TABLE, INDEX), TABLE, inputs, force=force)
    for robot_folder in folders:
        check_output_folder(robot_folder, RESULT_FILES, RESULTS, (), force=force)
    check_outputs([(robot_folder / name, _RESULT) for robot_folder in folders
                   for name in RESULT_FILES], inputs, force=True)
    check_outputs([(robot_folder / ROBOT_FILE, _ROBOT_RESULT) for robot_folder in folders],
                  inputs, force=force)
