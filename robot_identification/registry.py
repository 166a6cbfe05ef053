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
"""Families whose members are found by name, and modules that add members."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from importlib.metadata import entry_points
from inspect import signature
from typing import Any, TypeVar

from robot_identification.errors import ConfigurationError, UnknownNameError

Member = TypeVar('Member')

EXTENSIONS: list[str] = []
"""Modules that register more members when they are imported, see `load_extensions`."""
ENTRY_POINTS = 'robot_identification.extensions'
"""Group of entry points with which another distribution names such a module."""


def load_extensions() -> None:
    """Import the modules in `EXTENSIONS` and those of installed entry points of `ENTRY_POINTS`."""
    for module in EXTENSIONS:
        import_module(module)
    for entry_point in entry_points(group=ENTRY_POINTS):
        entry_point.load()


def check_option_names(options_class: type, options: Mapping[str, Any], owner: str) -> None:
    """
    Check that options are fields of their dataclass.

    Raises
    ------
    ConfigurationError
        One is not; the text names the owner and its options.

    """
    known = [option.name for option in fields(options_class)]
    for name in options:
        if name not in known:
            raise ConfigurationError(f"{owner} has no option '{name}'; it has: "
                                     f"{', '.join(known)}")


class Registry(dict[str, Member]):
    """
    The members of a family by name.

    Parameters
    ----------
    kind
        What a member is, for the text of errors, for instance 'estimator'.
    members
        The first members by name.

    """

    def __init__(self, kind: str, members: Mapping[str, Member]) -> None:
        super().__init__(members)
        self.kind = kind

    def register(self, name: str, member: Member) -> Member:
        """
        Add a member and return it.

        Raises
        ------
        ConfigurationError
            Another member has this name.

        """
        if self.get(name, member) is not member:
            raise ConfigurationError(f"there is already another {self.kind} '{name}'")
        self[name] = member
        return member

    def build(self, name: str, settings: Mapping[str, Any]) -> Any:
        """
        Return what the member of that name makes of settings.

        Parameters
        ----------
        name
            Key.
        settings
            Arguments by name.

        Raises
        ------
        UnknownNameError
            There is none; the text lists those that exist.
        ConfigurationError
            It has no such setting, or a value is of the wrong kind.

        """
        member: Any = self.find(name)
        taken = signature(member).parameters
        start = f"the {self.kind} '{name}' cannot be set up: "
        unknown = sorted(set(settings) - set(taken))
        if unknown and not any(p.kind is p.VAR_KEYWORD for p in taken.values()):
            raise ConfigurationError(f"{start}it has no setting '{unknown[0]}'; it has: "
                                     f"{', '.join(sorted(taken)) or 'none'}")
        for key, value in settings.items():
            default = taken[key].default if key in taken else None
            if type(default) in (int, float) and type(value) not in (int, float):
                raise ConfigurationError(f'{start}{key} must be a number, not {value!r}')
        try:
            return member(**settings)
        except (TypeError, OverflowError) as error:
            values = ', '.join(f'{key}={value!r}' for key, value in settings.items())
            raise ConfigurationError(f'{start}it does not take {values or error}') from error

    def find(self, name: str) -> Member:
        """
        Return the member of that name; an unknown name loads the extensions first.

        Raises
        ------
        UnknownNameError
            There is none; the text lists those that exist.

        """
        if name not in self:
            load_extensions()
        if name not in self:
            raise UnknownNameError(self.kind, name, self)
        return self[name]
