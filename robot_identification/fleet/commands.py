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
"""The command `fleet`."""

from pathlib import Path

from robot_identification.console import emit, err, out
from robot_identification.fleet import read_fleet, run_fleet
from robot_identification.validation.verdict import exit_code


def fleet_command(
    source: Path,
    /,
    *,
    output: Path,
    scheduler: str | None = None,
    tls: Path | None = None,
    workers: int | None = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """
    Identify many robots, on all cores or a Dask cluster.

    Only robots whose inputs changed are identified again.

    Parameters
    ----------
    source : FLEET.yaml
        Fleet file (docs/fleet.md).
    output : -o
        Output folder for the results of all robots.
    scheduler
        Address of a Dask scheduler (tcp://...); all cores of this machine if not given.
    tls : FOLDER
        Folder with ca.pem, cert.pem and key.pem, for a scheduler at tls://.
    workers : >= 1
        Workers on this machine, one core each; all cores if not given.

    """
    summary = run_fleet(
        read_fleet(source), output, scheduler=scheduler, workers=workers, tls=tls,
        force=force, report=lambda text: err.print(
            text, markup=False, highlight=False, soft_wrap=True))
    if as_json:
        emit({'directory': str(summary.folder), 'done': summary.done,
              'unchanged': summary.unchanged, 'states': summary.states})
    else:
        counts = ', '.join(f'{count} {state}' for state, count in summary.states.items())
        out.print(f'{summary.done} robots identified, {summary.unchanged} unchanged; {counts}; '
                  f'see {summary.folder}/index.html', markup=False, highlight=False)
    raise SystemExit(exit_code(*summary.states))
