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
"""Injected faults of the simulated robot, set by parameters at run time."""

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from robot_identification.arrays import Array
from robot_identification.errors import UnknownNameError
from robot_identification.ros.nodes.parameters import declare

PREFIX = 'fault.'
PARAMETERS: tuple[tuple[str, Any, str, float | None], ...] = (
    ('silent', False, 'publish no joint states', None),
    ('reject', False, 'the controller rejects trajectories', None),
    ('scaling', 1.0, 'speed scaling of the controller [-]', 10.0),
    ('clock', 0.0, "offset of the robot's stamps from its clock [s]", 10.0),
    ('racing', 0.0, 'largest number of samples by which stamps are late, as those of a controller '
     'manager whose /clock races with its cycles [-]', 10.0),
    ('pause', False, 'stand still, without /clock and joint states, like a paused simulation',
     None),
    ('drop', 0.0, 'fraction of joint states that is lost [-]', 1.0),
    ('repeat', 0.0, 'fraction of joint states that is sent twice [-]', 1.0),
    ('delay', 0.0, 'delay of the joint states [s]', 10.0),
    ('stuck_joint', '', 'name of a stuck joint; empty: none', None),
    ('effort_joint', '', 'name of a joint with a wrong effort; empty: none', None),
    ('effort', 0.0, 'offset of that effort [N m or N]', 1e6))
"""Name, default, description and largest value of each parameter."""
JOINTS = ('stuck_joint', 'effort_joint')


class InjectedFaults:
    """
    Current faults of the simulated robot, set by parameters of its node.

    Parameters
    ----------
    node
        Node of the parameters.
    joint_names
        The n joints of the arm.

    Attributes
    ----------
    values
        Values of `PARAMETERS`, by name.

    """

    def __init__(self, node: Node, joint_names: Sequence[str]) -> None:
        self._names = tuple(joint_names)
        self._rng = np.random.default_rng(0)
        self._delayed: deque[tuple[float, bytes]] = deque()
        self._last_stamp = 0
        self.values: dict[str, Any] = {}
        for name, default, description, upper in PARAMETERS:
            lower = None if upper is None else (-upper if name in ('effort', 'clock') else 0.0)
            self.values[name] = declare(node, PREFIX + name, default, description,
                                        read_only=False, lower=lower, upper=upper)
        for name in JOINTS:
            if self.values[name] and self.values[name] not in self._names:
                raise UnknownNameError('joint', self.values[name], self._names)
        self._jams = [self.values['stuck_joint']] if self.values['stuck_joint'] else []
        node.add_on_set_parameters_callback(self._set)

    def racing_stamp(self, stamp: int, step: int) -> int:
        """
        Return the stamp of a joint state [ns], late by a random number of steps.

        Parameters
        ----------
        stamp, step
            Stamp without this fault, and time between joint states [ns].

        """
        late = int(self._rng.integers(0, 1 + round(self.values['racing'])))
        self._last_stamp = max(self._last_stamp, stamp - late * step)
        return self._last_stamp if self.values['racing'] else stamp

    @property
    def effort(self) -> Array:
        """Offset of the measured torques, (n,) [N m or N]."""
        offset = np.zeros(len(self._names))
        if self.values['effort_joint']:
            offset[self._names.index(self.values['effort_joint'])] = self.values['effort']
        return offset

    def changed_jams(self) -> list[str]:
        """Return the names of the joints that were jammed or freed since the last call."""
        jams, self._jams = self._jams, []
        return jams

    def pass_on(self, message: bytes, now: float) -> list[bytes]:
        """
        Apply loss, repetition and delay to a new joint state; return the messages to publish now.

        Parameters
        ----------
        message
            The new joint state as a serialised message.
        now
            Time on a monotonic clock [s].

        """
        if self.values['silent']:
            return []
        if not self._rng.random() < self.values['drop']:
            copies = 2 if self._rng.random() < self.values['repeat'] else 1
            self._delayed.extend([(now + self.values['delay'], message)] * copies)
        due = []
        while self._delayed and self._delayed[0][0] <= now:
            due.append(self._delayed.popleft()[1])
        return due

    def _set(self, parameters: Sequence[Any]) -> SetParametersResult:
        for parameter in parameters:
            name = parameter.name.removeprefix(PREFIX)
            if name in JOINTS and parameter.value not in ('', *self._names):
                return SetParametersResult(successful=False,
                                           reason=f"there is no joint '{parameter.value}'")
        for parameter in parameters:
            name = parameter.name.removeprefix(PREFIX)
            if name == 'stuck_joint':
                self._jams += [joint for joint in (self.values[name], parameter.value)
                               if joint]
            if name in self.values:
                self.values[name] = parameter.value
        return SetParametersResult(successful=True)
