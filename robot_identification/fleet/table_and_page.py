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
"""Table and page of a fleet, from the stored results of its robots, one robot at a time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
import gc
import heapq
from pathlib import Path

from robot_identification.errors import RobotIdentificationError
from robot_identification.fleet.page import CHARTS, count_tests, write_fleet_page
from robot_identification.fleet.results_folder import iterate_results, Report
from robot_identification.fleet.robot_result import RobotResult, TABLE, write_table
from robot_identification.output_folder import replace_files


@contextmanager
def write_table_and_page(folder: Path, left: Sequence[str], report: Report,
                         name: str = '') -> Iterator[None]:
    """
    Write the table and the page of the results in a fleet's folder when the block ends.

    Parameters
    ----------
    folder
        Output folder of the fleet.
    left
        Names of robots still to be identified; listed as missing if the block raises an error.
    report
        Called with a message if the table or page cannot be written after an error, or a result
        cannot be read.
    name
        Name of the fleet, for the title of the page; the folder's name if empty.

    """
    def write(missing: Mapping[str, str]) -> None:
        shown = _PageContent()
        with replace_files(folder) as staging, _without_garbage_collection():
            write_table(shown.collect(iterate_results(folder, report)), staging / TABLE, missing)
            write_fleet_page(shown.robots, staging, missing,
                             f'Fleet {name or folder.resolve().name}', shown.tests)

    try:
        yield
    except BaseException as error:
        cause = str(error) if isinstance(error, RobotIdentificationError) else 'it was interrupted'
        try:
            write(dict.fromkeys(left, f'not identified, because the run ended early: {cause}'))
        except (RobotIdentificationError, OSError) as second_error:    # the disk is full
            report(f'table and page could not be updated: {second_error}')
        raise
    write({})


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Stop the search for reference cycles, 40 % of the time for millions of records."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _PageContent:
    """
    Results reduced to what the page shows: no parameters, and all drift only where it is largest.

    Attributes
    ----------
    robots
        The results that passed through `collect`; beyond the `CHARTS` robots with the most
        significant changes, each has the drift of one quantity, which changes most significantly.
    tests
        Number of changes of all robots and quantities that have a standard deviation.

    """

    def __init__(self) -> None:
        self.robots: list[RobotResult] = []
        self.tests = 0
        self._charts: list[tuple[float, int]] = []    # heap of significances and indices

    def collect(self, results: Iterable[RobotResult]) -> Iterator[RobotResult]:
        """Pass results on, and keep what the page shows."""
        for result in results:
            self.tests += count_tests(result)
            self.robots.append(replace(result, parameters=(), inputs={}))
            heapq.heappush(self._charts, (_most_significant(result)[0], len(self.robots) - 1))
            if len(self._charts) > CHARTS:
                _, index = heapq.heappop(self._charts)
                robot = self.robots[index]
                quantity = _most_significant(robot)[1]
                self.robots[index] = replace(robot, drift=tuple(
                    each for each in robot.drift if each.quantity == quantity))
            yield result


def _most_significant(robot: RobotResult) -> tuple[float, str]:
    """Return the largest significance of a robot's changes and its quantity."""
    return max(((abs(each.significance), each.quantity) for each in robot.drift),
               default=(0.0, ''))
