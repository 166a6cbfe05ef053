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
"""
Random requests, made from the types of the interfaces and from critical values.

ROBOT_IDENTIFICATION_REQUESTS=10000 pytest -s test/integration/test_requests.py -k alive
"""

import math
import os
import random
import re
import time

from conftest import node_of
import numpy as np
from robot_identification import IdentifiedModel, load_arm, Recording

KEPT = 'kept: by its owner\n'

TEXTS = ('', 'a' * 300, 'é' * 150, 'a/' * 600, 'x' * 100_000, '\0', 'a\0b', '\x1b[2J', 'a\nb', '.',
         '..', '../x', '/etc/passwd', '~', '$HOME', '-o', '%n%s', 'nan', 'null', '💥' * 50, ' ',
         'keep.yaml', 'keep.yaml/x', 'run.csv', 'x.txt', 'x.yaml', 'pipe', 'round', 'away/x',
         'model.yaml', 'results', 'sub/dir/x.yaml', 'two_link', 'panda', 'wls', 'huber', 'magic',
         'threshold=1e400', 'threshold=[', '=', 'mfs', 'spline', 'cond', 'yes', 'butterworth')
NUMBERS = (math.nan, math.inf, -math.inf, 0.0, -0.0, -1.0, 0.5, 5.0, 1e-300, 1e9, 1e308, -1e308)
LENGTHS = (0, 1, 2, 6, 7, 12, 2000)


def folder_of_a_laboratory(folder):
    """Fill a data directory with typical files of a user."""
    arm = load_arm('two_link')
    model = IdentifiedModel(arm, arm.inertial_parameters, np.full(2, 0.01), 'coulomb_viscous',
                            np.tile([0.05, 0.02, 0.0], (2, 1)))
    model.save(folder / 'model.yaml')
    t = np.arange(0, 6, 0.01)
    angle = np.outer(t, [2.0, 3.1])
    Recording(t, 0.4 * np.sin(angle), np.cos(angle), joint_names=arm.joint_names,
              name='run').to_csv(folder / 'run.csv')
    (folder / 'keep.yaml').write_text(KEPT)
    os.mkfifo(folder / 'pipe')
    (folder / 'round').symlink_to('round')
    (folder / 'away').symlink_to('/etc')


def value_of(kind, rng):
    """Return a random value of a type named as by `get_fields_and_field_types`."""
    found = re.fullmatch(r'sequence<(\w+)(?:, (\d+))?>', kind)
    if found:
        length = min(rng.choice(LENGTHS), int(found[2] or 10 ** 9))
        return [value_of(found[1], rng) for _ in range(length)]
    if kind == 'boolean':
        return rng.random() < 0.5
    if kind == 'string':
        return rng.choice(TEXTS)
    if kind == 'double':
        return rng.choice(NUMBERS)
    bits = int(re.search(r'\d+', kind)[0])
    low, high = (0, 2 ** bits - 1) if kind[0] == 'u' else (-2 ** (bits - 1), 2 ** (bits - 1) - 1)
    return rng.choice((low, high, 0, 1, 3, high // 2))


def request_of(kind, rng):
    """Return a request in which some fields have random values, the others their default."""
    fields = kind.get_fields_and_field_types()
    part = rng.choice((0.1, 0.3, 1.0))
    return kind(**{name: value_of(type_, rng) for name, type_ in fields.items()
                   if rng.random() < part})


def ask(system, service, action, count, seed):
    """
    Send requests of one type one after the other, and return the responses.

    `service` and `action` are pairs of type and name; one of them is None.
    """
    from action_msgs.msg import GoalStatus
    from rclpy.action import ActionClient
    rng, answers = random.Random(seed), []
    if action:
        kind, name = action
        client = ActionClient(system.client, kind, name)
        assert client.wait_for_server(60)
    else:
        kind, name = service
        client = system.client.create_client(kind, name)
        assert client.wait_for_service(60)
    system.meet(node_of(name))
    for number in range(count):
        request = request_of(kind.Goal if action else kind.Request, rng)
        where = f'{name}, seed {seed}, request {number}: {str(request)[:300]}'
        try:
            if action:
                future = client.send_goal_async(request)
                system.wait(future.done, 600)
                handle = future.result()
                future = handle.get_result_async()
                latest = time.monotonic() + 0.5
                while not future.done() and time.monotonic() < latest:
                    system.rclpy.spin_once(system.client, timeout_sec=0.02)
                if not future.done():
                    handle.cancel_goal_async()
            else:
                future = client.call_async(request)
            system.wait(future.done, 600)
        except AssertionError as error:
            raise AssertionError(f'{where}: {error}') from error
        answer = future.result()
        assert not action or answer.status != GoalStatus.STATUS_UNKNOWN, (
            f'{where}: its result was not kept')
        answers.append(answer.result if action else answer)
    return answers
