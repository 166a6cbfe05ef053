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
from importlib import import_module
from typing import TypeVar

from robot_identification.errors import ConfigurationError, UnknownNameError

Member = TypeVar('Member')

EXTENSIONS: list[str] = []
"""Modules that register more members when they are imported, which `Registry.find` does."""


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

    def find(self, name: str) -> Member:
        """
        Return the member of that name; for an unknown name the `EXTENSIONS` are imported first.

        Raises
        ------
        UnknownNameError
            There is none; the text lists those that exist.

        """
        if name not in self:
            for module in EXTENSIONS:
                import_module(module)
        if name not in self:
            raise UnknownNameError(self.kind, name, self)
        return self[name]
