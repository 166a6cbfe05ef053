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
"""The command benchmark: compares identification methods on simulated and real arms."""

from __future__ import annotations

from collections.abc import Sequence
import os
from pathlib import Path
from typing import Annotated

from robot_identification.benchmarking.coverage import coverage_methods, measure_coverage
from robot_identification.benchmarking.output import (
    COVERAGE_FILES,
    FILES,
    write_benchmark,
    write_coverage,
)
from robot_identification.benchmarking.run import BenchmarkOptions, RECORDS, run_benchmark
from robot_identification.cluster import cluster_tasks
from robot_identification.console import AsJson, emit, Force, note, out, print_table, progress
from robot_identification.errors import ConfigurationError
from robot_identification.files import check_output_folder
import typer

COVERAGE_SEEDS = 200
"""Seeds of the coverage: a fraction of 95 % then has a standard deviation of 1.5 %."""
SHOWN = ('method', 'friction', 'model', 'error_ratio', 'rank', 'seconds', 'failures')


def benchmark_command(
    method: Annotated[list[str] | None, typer.Option(
        help='Estimator to compare with the others: a name, or my_package:Class or '
             'my_file.py:Class of your own; may be repeated.')] = None,
    only: Annotated[bool, typer.Option(
        '--only', help='Compare the estimators of --method with wls alone.')] = False,
    friction: Annotated[list[str] | None, typer.Option(
        help='Friction model; may be repeated. Default: coulomb_viscous and stribeck.')] = None,
    data: Annotated[list[str] | None, typer.Option(
        help='Data set: a name, a YAML file that describes recordings, or my_file.py:Class; may '
             'be repeated. Default: all simulated arms, and the recordings in the folder '
             'ROBOT_IDENTIFICATION_DATASETS.')] = None,
    metric: Annotated[list[str] | None, typer.Option(
        help='Further metric: a name or my_file.py:function; may be repeated.')] = None,
    output: Annotated[Path, typer.Option(
        '--output', '-o', help='Folder of page and tables.')] = Path('results/benchmark'),
    quick: Annotated[bool, typer.Option(
        '--quick', help='Few methods, data sets and seeds: some minutes.')] = False,
    resume: Annotated[bool, typer.Option(
        '--resume', help='Continue the run in the folder, and keep its results.')] = False,
    coverage: Annotated[bool, typer.Option(
        '--coverage', help='Instead: how often 95 % intervals contain the truth.')] = False,
    seeds: Annotated[int, typer.Option(
        min=0, help='Number of seeds, which draw simulated arms; default 5, with --quick 2, with '
                    '--coverage 200.')] = 0,
    seed: Annotated[int, typer.Option(min=0, help='First random seed.')] = 0,
    budget: Annotated[float, typer.Option(
        min=0, help='Processor time of each fit in seconds; default 5, with --quick 2.')] = 0.0,
    scheduler: Annotated[str | None, typer.Option(
        help='Address of a running Dask scheduler (tcp://...).')] = None,
    workers: Annotated[int | None, typer.Option(
        min=1, help='Number of workers on this machine, one core each. Default: no workers.')
        ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """
    Compare identification methods on many arms.

    The arms are simulated with known truth, or recordings of real ones.
    """
    if only and not method:
        raise ConfigurationError('--only compares the estimators of --method; name one')
    if coverage:
        check_output_folder(output, COVERAGE_FILES, COVERAGE_FILES[0], (), force=force)
        with cluster_tasks(scheduler, workers, note) as tasks, progress(as_json) as report:
            rows = measure_coverage(
                list(coverage_methods(_absolute(method), friction or ())),
                seeds or COVERAGE_SEEDS, report, tasks)
        write_coverage(rows, output)
        if as_json:
            emit({'coverage': rows, 'directory': str(output)})
        else:
            print_table('coverage of 95 % intervals', list(rows[0]), [
                [f'{value:.3g}' if isinstance(value, float) else str(value)
                 for value in row.values()] for row in rows])
        return
    options = BenchmarkOptions(
        _absolute(data), _absolute(method), friction or (), _absolute(metric), seeds, seed, budget,
        quick, only)
    check_output_folder(output, FILES, FILES[0], (), force=force)
    if (output / RECORDS).exists() and not resume:
        if not force:
            raise ConfigurationError(f"'{output}' contains a run; continue it with --resume, "
                                     'replace it with --force, or name another folder')
        (output / RECORDS).unlink()
    with cluster_tasks(scheduler, workers, note) as tasks, progress(as_json) as report:
        run = run_benchmark(options, output, report, tasks)
    for sentence in run.missing:
        note(sentence)
    contents = write_benchmark(run, output)
    if as_json:
        emit({**contents, 'directory': str(output)})
        return
    shown = [row for row in contents['table'] if row['data'] == contents['table'][0]['data']]
    print_table('benchmark', SHOWN, [
        [f'{row[name]:.3g}' if isinstance(row[name], float) else str(row[name]) for name in SHOWN]
        for row in shown], SHOWN[3:])
    for failure in contents['failures']:
        if failure['state'] == 'failed':
            note(f"{failure['method']}, {failure['friction']}, on {failure['data']}: "
                 f"{failure['reason']}")
    out.print(f"wrote {output / 'benchmark.html'}", markup=False)


def _absolute(places: Sequence[str] | None) -> list[str]:
    """Return the names, with absolute paths of files, because workers run in other folders."""
    return [os.path.abspath(place) if '.py:' in place or place.endswith(('.yaml', '.yml'))
            else place for place in places or ()]
