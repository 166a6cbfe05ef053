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
"""What identifies a bag besides its messages: versions, and parameters of those who took part."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata
import os
import time
from typing import Any

from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from rclpy.utilities import get_rmw_implementation_identifier
import yaml

PATIENCE = 4.0     # [s] for the parameters of another node
LONGEST = 2_000    # characters of a parameter; a description is recorded as a topic
PACKAGES = ('robot_identification', 'numpy', 'pin')


class Facts:
    """
    Finds out what belongs into a bag.

    Parameters
    ----------
    node
        Node that records.
    others
        Names of nodes whose parameters are kept, as that of the controller.

    """

    def __init__(self, node: Node, others: Sequence[str]) -> None:
        self._node = node
        self._clients = {name: (node.create_client(ListParameters, f'{name}/list_parameters'),
                                node.create_client(GetParameters, f'{name}/get_parameters'))
                         for name in map(node.resolve_topic_name, others)}

    def text(self, publishers: dict[str, list[str]]) -> str:
        """
        Return the facts as YAML; called from a thread beside the executor.

        Parameters
        ----------
        publishers
            For each recorded topic, the nodes that publish it.

        """
        content = {
            'versions': versions(),
            'parameters': {self._node.get_fully_qualified_name(): self._own(),
                           **{name: self._of(name) for name in self._clients}},
            'publishers': publishers}
        return yaml.safe_dump(content, sort_keys=False)

    def _own(self) -> dict[str, Any]:
        return {name: _plain(parameter.value)
                for name, parameter in self._node.get_parameters_by_prefix('').items()}

    def _of(self, name: str) -> dict[str, Any] | str:
        """Return the parameters of another node, or why they are not known."""
        listing, getting = self._clients[name]
        latest = time.monotonic() + PATIENCE
        if not listing.service_is_ready():
            return 'not there'
        asked = listing.call_async(ListParameters.Request())
        if not _done(asked, latest):
            return 'no answer'
        names = list(asked.result().result.names)
        got = getting.call_async(GetParameters.Request(names=names))
        if not _done(got, latest):
            return 'no answer'
        return {key: _plain(parameter_value_to_python(value))
                for key, value in zip(names, got.result().values)}


def versions() -> dict[str, str]:
    """Return the versions of what recorded."""
    found = {'ros': os.environ.get('ROS_DISTRO', 'not told'),
             'rmw': get_rmw_implementation_identifier()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = 'not installed as a package'
    return found


def _done(future: Any, latest: float) -> bool:
    while not future.done() and time.monotonic() < latest:
        time.sleep(0.01)
    return bool(future.done())


def _plain(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LONGEST:
        return f'{value[:40]}... ({len(value)} characters)'
    if isinstance(value, (str, bool, int, float)) or value is None:
        return value
    return [_plain(item) for item in value]
