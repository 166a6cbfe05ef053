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
"""Metadata of a bag: software versions, parameters of nodes, and publishers of the topics."""

from collections.abc import Sequence
from importlib import metadata
import os
import time
from typing import Any

from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from rclpy.utilities import get_rmw_implementation_identifier
from robot_identification.ros.nodes.service_calls import PATIENCE, wait_for_result
import yaml

MAX_CHARACTERS = 2_000  # longer parameters, such as robot_description, are shortened
PACKAGES = ('robot_identification', 'numpy', 'pin')


class RecordingMetadata:
    """
    Collector of the metadata that is stored with a bag.

    Parameters
    ----------
    node
        Node that records.
    others
        Names of other nodes whose parameters are stored, for example the controller.

    """

    def __init__(self, node: Node, others: Sequence[str]) -> None:
        self._node = node
        self._clients = {name: (node.create_client(ListParameters, f'{name}/list_parameters'),
                                node.create_client(GetParameters, f'{name}/get_parameters'))
                         for name in map(node.resolve_topic_name, others)}

    def collect(self, publishers: dict[str, list[str]]) -> str:
        """
        Return the metadata as YAML; to be called from a thread beside the executor.

        Parameters
        ----------
        publishers
            Names of the nodes that publish each recorded topic.

        """
        data = {
            'versions': recorder_versions(),
            'parameters': {self._node.get_fully_qualified_name(): self._own_parameters(),
                           **{name: self._parameters(name) for name in self._clients}},
            'publishers': publishers}
        return yaml.safe_dump(data, sort_keys=False)

    def _own_parameters(self) -> dict[str, Any]:
        return {name: _plain(parameter.value)
                for name, parameter in self._node.get_parameters_by_prefix('').items()}

    def _parameters(self, name: str) -> dict[str, Any] | str:
        """Return the parameters of another node, or the reason why they are unknown."""
        listing, getting = self._clients[name]
        deadline = time.monotonic() + PATIENCE
        if not listing.service_is_ready():
            return 'not running'
        listed = wait_for_result(listing.call_async(ListParameters.Request()), deadline)
        if listed is None:
            return 'no answer'
        names = list(listed.result.names)
        response = wait_for_result(
            getting.call_async(GetParameters.Request(names=names)), deadline)
        if response is None:
            return 'no answer'
        return {key: _plain(parameter_value_to_python(value))
                for key, value in zip(names, response.values)}


def recorder_versions() -> dict[str, str]:
    """Return the versions of ROS, of its middleware and of the packages in `PACKAGES`, by name."""
    versions = {'ros': os.environ.get('ROS_DISTRO', 'unknown'),
                'rmw': get_rmw_implementation_identifier()}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = 'not installed as a package'
    return versions


def _plain(value: Any) -> Any:
    """Return a parameter as plain data for YAML, with long texts shortened."""
    if isinstance(value, str) and len(value) > MAX_CHARACTERS:
        return f'{value[:40]}... ({len(value)} characters)'
    if isinstance(value, (str, bool, int, float)) or value is None:
        return value
    return [_plain(item) for item in value]
