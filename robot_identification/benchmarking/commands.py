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

from pathlib import Path

from robot_identification import console
from robot_identification.benchmarking.output import FILES, write_benchmark
from robot_identification.benchmarking.run import BenchmarkOptions, RECORDS, run_benchmark
from robot_identification.cluster import cluster_tasks
from robot_identification.errors import ConfigurationError
from robot_identification.files import check_output_folder

SHOWN = ('method', 'friction', 'model', 'error_ratio', 'rank', 'seconds', 'failures')


def benchmark_command(
    *,
    options: BenchmarkOptions,
    output: Path = Path('results/benchmark'),
    resume: bool = False,
    scheduler: str | None = None,
    workers: int | None = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """
    Compare identification methods on many arms.

    The arms are simulated with known truth, or recordings of real ones.

    Parameters
    ----------
    output : -o
        Folder of page and tables.
    resume
        Continue the run in the folder, and keep its results.
    scheduler
        Address of a running Dask scheduler (tcp://...).
    workers : >= 1
        Number of workers on this machine, one core each. Default: no workers.

    """
    if options.only and not options.method:
        raise ConfigurationError('--only compares the estimators of --method; name one')
    check_output_folder(output, FILES, FILES[0], (), force=force)
    if (output / RECORDS).exists() and not resume:
        if not force:
            raise ConfigurationError(f"'{output}' contains a run; continue it with --resume, "
                                     'replace it with --force, or name another folder')
        (output / RECORDS).unlink()
    with (cluster_tasks(scheduler, workers, console.note) as tasks,
          console.progress(as_json) as report):
        run = run_benchmark(options, output, report, tasks)
    for sentence in run.missing:
        console.note(sentence)
    contents = write_benchmark(run, output)
    if as_json:
        console.emit({**contents, 'directory': str(output)})
        return
    shown = [row for row in contents['table'] if row['data'] == contents['table'][0]['data']]
    console.print_table('benchmark', SHOWN, (
        [f'{row[name]:.3g}' if isinstance(row[name], float) else str(row[name]) for name in SHOWN]
        for row in shown), SHOWN[3:])
    for failure in contents['failures']:
        if failure['state'] == 'failed':
            console.note(f"{failure['method']}, {failure['friction']}, on {failure['data']}: "
                         f"{failure['reason']}")
    console.print_lines(f"wrote {output / 'benchmark.html'}")
