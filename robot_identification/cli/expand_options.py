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
"""Commands with options that are defined as the fields of dataclasses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
import functools
import inspect
from typing import Any


def expand_options(command: Callable[..., None]) -> Callable[..., None]:
    """
    Return a command with one option for each field of its dataclass parameters.

    Typer reads options from the parameters of a function. The returned function has the fields of
    a dataclass in place of the dataclass; it builds the instance and calls `command` with it. The
    fields have typer's annotations.

    Parameters
    ----------
    command
        Function with typer's annotations and at least one parameter whose type is a dataclass.

    Examples
    --------
    >>> @dataclass
    ... class Limits:
    ...     velocity: Annotated[float, typer.Option(help='[rad/s]')] = 1.0
    >>> @expand_options
    ... def move_command(*, limits: Limits) -> None:    # has the option --velocity
    ...     print(limits.velocity)

    """
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Any] = {
        name: parameter.annotation for name, parameter in signature.parameters.items()
        if is_dataclass(parameter.annotation)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        parameters += (inspect.signature(groups[name], eval_str=True).parameters.values()
                       if name in groups else [parameter])

    @functools.wraps(command)
    def run(**values: Any) -> None:
        """Call the command with instances of the dataclasses."""
        for name, kind in groups.items():
            values[name] = kind(**{field.name: values.pop(field.name) for field in fields(kind)})
        command(**values)

    run.__signature__ = signature.replace(parameters=[    # type: ignore[attr-defined]
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters])
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
