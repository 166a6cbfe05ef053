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
"""A resumable run of the benchmark: cases are computed one after another or on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
import json
import os
from pathlib import Path
from typing import Any, TYPE_CHECKING

from robot_identification import __version__
from robot_identification.benchmarking.data import BenchmarkData, DATA, METRICS
from robot_identification.benchmarking.measure import measure_case, open_data
from robot_identification.benchmarking.method import (
    BenchmarkMethod,
    FRICTIONS,
    list_methods,
    MODELS,
    QUICK,
)
from robot_identification.benchmarking.recorded_data import find_recorded_data
from robot_identification.errors import ConfigurationError
from robot_identification.pipeline import Progress

if TYPE_CHECKING:    # Dask
    from robot_identification.cluster import Tasks

RECORDS = 'runs.jsonl'
"""File of the records, one JSON object a line, written as soon as a case has been computed."""
QUICK_DATA = ('two_link', 'ur10e_quiet', 'ur10e_lugre')


@dataclass(frozen=True)
class BenchmarkOptions:
    """
    Command-line options: methods, data sets, metrics and limits of a run.

    Parameters
    ----------
    method
        Estimator to compare with the others: a name, or my_package:Class or my_file.py:Class of
        your own; may be repeated.
    only
        Compare the estimators of --method with wls alone.
    friction
        Friction model; may be repeated. Default: coulomb_viscous and stribeck.
    data
        Data set: a name, a YAML file that describes recordings, or my_file.py:Class; may be
        repeated. Default: all simulated arms, and the recordings in the folder
        ROBOT_IDENTIFICATION_DATASETS.
    metric
        Further metric: a name or my_file.py:function; may be repeated.
    quick
        Few methods, data sets and seeds: some minutes.
    seeds : >= 0
        Number of seeds, which draw simulated arms; default 5, with --quick 2.
    seed : >= 0
        First random seed.
    budget : >= 0
        Processor time of each fit in seconds; default 5, with --quick 2.

    """

    method: list[str] | None = None
    only: bool = False
    friction: list[str] | None = None
    data: list[str] | None = None
    metric: list[str] | None = None
    quick: bool = False
    seeds: int = 0
    seed: int = 0
    budget: float = 0.0

    @property
    def estimators(self) -> list[str]:
        """Names of the estimators, with absolute paths of files."""
        return _absolute(self.method)

    def list_methods(self) -> list[BenchmarkMethod]:
        """Return the methods; weighted least squares is always among them."""
        default = ('wls',) if self.only else QUICK if self.quick else tuple(MODELS)
        frictions = self.friction or (FRICTIONS[:1] if self.quick else FRICTIONS)
        return list(list_methods((*default, *self.estimators), frictions))

    def list_data(self) -> tuple[dict[str, BenchmarkData], list[str]]:
        """Return the data sets by their name for `open_data`, and sentences on missing ones."""
        if self.data:
            recorded = {each.name: str(each.path) for each in find_recorded_data()}
            names = [recorded.get(name, name) for name in _absolute(self.data)]
            return {name: open_data(name) for name in names}, []
        if self.quick:
            return {name: open_data(name) for name in QUICK_DATA}, []
        found = find_recorded_data()
        return ({**{name: build() for name, build in DATA.items()},
                 **{str(each.path): each for each in found if not each.missing}},
                [f'{each.name}: {each.missing}' for each in found if each.missing])


def _absolute(places: Sequence[str] | None) -> list[str]:
    """Return the names, with absolute paths of files, because workers run in other folders."""
    return [os.path.abspath(place) if '.py:' in place or place.endswith(('.yaml', '.yml'))
            else place for place in places or ()]


@dataclass(frozen=True)
class BenchmarkRun:
    """
    Records of a run, with its data sets, methods and limits.

    Parameters
    ----------
    records
        A mapping for each case, method and model, see `measure_case`; `data` is the data set's
        name.
    data
        The data sets.
    methods
        The methods.
    metrics
        Names of the metrics.
    seeds, budget, quick
        As in `BenchmarkOptions`.
    missing
        Sentences about recordings that are not there.

    """

    records: list[dict[str, Any]]
    data: list[BenchmarkData]
    methods: list[BenchmarkMethod]
    metrics: list[str]
    seeds: list[int]
    budget: float
    quick: bool
    missing: list[str] = field(default_factory=list)


def run_benchmark(options: BenchmarkOptions, folder: Path, progress: Progress,
                  tasks: Tasks | None = None) -> BenchmarkRun:
    """
    Compute the cases that are not yet stored in a folder, and return all records.

    Parameters
    ----------
    options
        What is compared.
    folder
        Folder of `RECORDS`, which is created.
    progress
        Called with the current step and the completed fraction, 0 to 1.
    tasks
        Tasks of a cluster, which computes several cases at once. None: this process computes all.

    Raises
    ------
    ConfigurationError
        A data set, a metric or the stored file cannot be used.

    """
    methods, (data, missing) = options.list_methods(), options.list_data()
    further = _absolute(options.metric)
    for name in further:
        METRICS.find(name)    # an error before hours of work
    metrics = list(dict.fromkeys([*METRICS, *further]))
    budget = options.budget or (2.0 if options.quick else 5.0)
    seeds = options.seeds or (2 if options.quick else 5)
    drawn = range(options.seed, options.seed + seeds)
    folder.mkdir(parents=True, exist_ok=True)
    stored = _read_records(folder / RECORDS)
    todo, wanted = list[tuple[str, str, int, list[BenchmarkMethod]]](), list[str]()
    for place, each in data.items():
        for seed in drawn if each.drawn else drawn[:1]:
            for split in each.splits():
                keys = {_key(each.name, split, seed, method, budget, metrics): method
                        for method in methods}
                wanted += keys
                left = [method for key, method in keys.items() if key not in stored]
                if left:
                    todo.append((place, split, seed, left))
    with (folder / RECORDS).open('a', encoding='utf-8') as file:
        results = ((measure_case(*case, budget, metrics) for case in todo) if tasks is None else
                   tasks.map_items(measure_case, *zip(*todo), args=(budget, metrics)))
        for number, ((place, split, seed, left), records) in enumerate(zip(todo, results)):
            name = data[place].name
            progress(f'{name}, {split}, seed {seed}', number / len(todo))
            for method in left:
                key = _key(name, split, seed, method, budget, metrics)
                stored[key] = [{'data': name, **record} for record in records
                               if (record['estimator'], record['friction']) == (
                                   method.estimator, method.friction)]
                file.write(json.dumps({'key': key, 'records': stored[key]}) + '\n')
            file.flush()
    return BenchmarkRun([record for key in wanted for record in stored[key]], list(data.values()),
                        methods, metrics, list(drawn), budget, options.quick, missing)


def _key(data: str, split: str, seed: int, method: BenchmarkMethod, budget: float,
         metrics: Sequence[str]) -> str:
    """Return the key of a record; a stored record with the same key is used again."""
    return json.dumps([data, split, seed, method.estimator, method.friction, method.digest,
                       budget, list(metrics), __version__])


def _read_records(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the stored records by key; the last line of a killed run may be incomplete."""
    stored = {}
    lines = path.read_text(encoding='utf-8').splitlines() if path.exists() else []
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
            stored[str(entry['key'])] = list(entry['records'])
        except (ValueError, KeyError, TypeError) as error:
            if number < len(lines):
                raise ConfigurationError(f"line {number} of '{path}' is not a record of the "
                                         'benchmark; name another folder') from error
    return stored
