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
"""Checks of service requests and action goals before any work starts."""

from collections.abc import Callable
import inspect
import math
from typing import Any
import unicodedata

from robot_identification.errors import ConfigurationError, RobotIdentificationError
from robot_identification.ros.execution.data_directory import MAX_LENGTH

FEEDBACK = 0.1              # [s] shortest time between feedback messages of an action
RESULT_TIMEOUT = 60         # [s] for which results of goals are kept; rclpy's 10 s are too short
MAX_DISTANCE = 1e4          # [m] largest coordinate of the surroundings
RANGES: dict[str, tuple[float, float]] = {
    'average': (0, 1), 'design': (0, 1), 'no_torque': (0, 1), 'no_collisions': (0, 1),
    'strict': (0, 1),
    'period': (0, 3600), 'time_budget': (0, 86_400), 'margin': (0, 1),
    'cutoff': (0, 1e5), 'decimation_cutoff': (0, 1e5), 'prior_deviation': (0, 1e3),
    'overall_threshold': (0, 1), 'joint_threshold': (0, 1), 'lease': (0, 3600),
    'floor': (-MAX_DISTANCE, MAX_DISTANCE), 'boxes': (-MAX_DISTANCE, MAX_DISTANCE),
    'harmonics': (0, 100), 'starts': (0, 10_000), 'periods': (0, 10_000), 'seed': (0, 2 ** 62)}
"""Smallest and largest value of each numeric field of a request, in the unit of the field."""


def check_request(request: Any) -> None:
    """
    Raise an error if a value of a request is invalid.

    Parameters
    ----------
    request
        Request of a service, or goal of an action.

    Raises
    ------
    ConfigurationError
        A value is invalid; the message states the field, the value and the allowed range.

    """
    for name in request.get_fields_and_field_types():
        value = getattr(request, name)
        if isinstance(value, (str, int, float)):
            _check_value(name, value)
            continue
        if len(value) > MAX_LENGTH:
            raise ConfigurationError(
                f'{name} has {len(value)} items, at most {MAX_LENGTH} are allowed')
        for item in value:
            _check_value(name, item)


def _check_value(name: str, value: Any) -> None:
    """Check a text or a number, which may be an item of a list."""
    if isinstance(value, str):
        if len(value) > MAX_LENGTH:
            raise ConfigurationError(f"{name} '{value[:40]}...' has {len(value)} characters, at "
                                     f'most {MAX_LENGTH} are allowed')
        if any(unicodedata.category(character) == 'Cc' for character in value):
            raise ConfigurationError(f'{name} {value[:80]!r} has a control character')
        return
    low, high = RANGES[name]
    if not (math.isfinite(value) and low <= value <= high):
        raise ConfigurationError(f'{name} must be a number from {low:g} to {high:g}, not '
                                 f'{value!r}')


def reply_always(node: Any, callback: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """
    Return a service callback that checks the request and responds even after an exception.

    Parameters
    ----------
    node
        Node that logs unexpected exceptions.
    callback
        Function or coroutine function that is called with the request and returns the fields of
        the response by name. `success` is True unless it is among them. After an exception
        `success` is False, and `message` states the error.

    """
    async def serve(request: Any, response: Any) -> Any:
        try:
            check_request(request)
            fields = callback(request)
            fields = await fields if inspect.isawaitable(fields) else fields
            for name, value in {'success': True, **fields}.items():
                setattr(response, name, value)
            return response
        except RobotIdentificationError as error:
            response.message = str(error)
        except Exception as error:  # a service must respond, and the node keeps running
            node.get_logger().fatal(f'unexpected: {error!r}')
            response.message = f'unexpected: {error!r}'
        response.success = False
        return response
    return serve
