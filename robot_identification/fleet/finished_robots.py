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
"""Robots of a fleet as tasks of a cluster, in the order in which they are done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import uuid4

from robot_identification.errors import ConfigurationError
from robot_identification.fleet.fleet_file import RobotTask
from robot_identification.fleet.identify_robot import BUG, identify_robot
from robot_identification.fleet.robot_result import BROKEN, RobotResult


def finished_robots(client: Any, tasks: Sequence[RobotTask],
                    ) -> Iterator[tuple[RobotTask, RobotResult, bool]]:
    """Yield each finished task with its result and whether the result is reproducible."""
    if not tasks:
        return
    from distributed import as_completed
    futures = {client.submit(identify_robot, task, pure=False, key=f'{task.name}-{uuid4()}'): task
               for task in tasks}
    for future in as_completed(list(futures), loop=client.loop):
        task = futures.pop(future)
        if future.status == 'finished':
            result = future.result()
            yield task, result, not result.sentence.startswith(BUG)
        elif future.status == 'error':
            yield task, RobotResult(
                task.name, task.robot, BROKEN,
                f'workers died at this robot ({future.exception()}); they may have run out of '
                'memory for its recordings'), False
        else:    # cancelled or lost
            raise ConfigurationError(
                f'connection to the scheduler was lost with {len(futures) + 1} of {len(tasks)} '
                'robots left; the others are stored: start it again and repeat the command')
        future.release()
