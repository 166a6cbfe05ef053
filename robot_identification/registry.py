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
"""Registries of estimators, friction models etc. by name, and extensions that add members."""

from collections.abc import Mapping
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from inspect import signature
from numbers import Integral, Real
import os
import sys
from typing import Any, TypeVar
from urllib.parse import unquote

from robot_identification.errors import ConfigurationError, UnknownNameError

Member = TypeVar('Member')

EXTENSIONS: list[str] = []
"""Modules that register further members on import, see `load_extensions`."""
ENTRY_POINTS = 'robot_identification.extensions'
"""Entry-point group in which other distributions list such modules."""
LOG_FORMATS: list[str] = []
"""Modules that add readers of further log formats to those of `recording` on import."""


def load_extensions() -> None:
    """Import the modules in `EXTENSIONS` and those of installed entry points of `ENTRY_POINTS`."""
    from importlib.metadata import entry_points  # takes 20 ms
    for module in EXTENSIONS:
        import_module(module)
    for entry_point in entry_points(group=ENTRY_POINTS):
        entry_point.load()


def load_log_formats() -> None:
    """Import the modules in `LOG_FORMATS`; `recording` does when it meets a file of others."""
    for module in LOG_FORMATS:
        import_module(module)


def load_object(place: str) -> Any:
    """
    Return a class or function of another program by its place.

    Parameters
    ----------
    place
        'path/file.py:Name', or 'package.module:Name', where the current folder counts too. The
        module of a file has a name of its own, so files of any name are loaded, also several with
        the same name, and other processes can unpickle what is in them.

    Raises
    ------
    ConfigurationError
        The module cannot be imported, or has no such name; the text quotes the error.

    """
    path, _, name = place.rpartition(':')
    file = os.path.realpath(path if path.endswith('.py') else f'{path}.py')
    try:
        if path.endswith('.py') or os.path.isfile(file):
            path = _FILE_MODULE + file.replace('%', '%25').replace('.', '%2E')
        elif os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())
        return getattr(import_module(path), name)
    except Exception as error:    # whatever the user's file raises
        raise ConfigurationError(f"'{place}' cannot be loaded ({type(error).__name__}: {error}); "
                                 'write package.module:Name or path/file.py:Name') from error


class _FileFinder:
    """Finds the modules of files, in any process that can import this package."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the specification of a module whose name contains its file; None for others."""
        file = unquote(name.removeprefix(_FILE_MODULE))
        if not name.startswith(_FILE_MODULE):
            return None
        if (folder := os.path.dirname(file)) not in sys.path:
            sys.path.append(folder)    # so that the file can import its neighbours
        return spec_from_file_location(name, file)


_FILE_MODULE = 'robot_identification.file:'    # as a submodule, so that this package is imported
sys.meta_path.append(_FileFinder)


class Registry(dict[str, Member]):
    """
    The members of a family, such as estimators or export targets, by name.

    Parameters
    ----------
    kind
        Kind of the members for error messages, for instance 'estimator'.
    members
        The initial members by name.

    """

    def __init__(self, kind: str, members: Mapping[str, Member]) -> None:
        super().__init__(members)
        self.kind = kind

    def register(self, name: str, member: Member) -> Member:
        """
        Add a member under a name, and return the member.

        Raises
        ------
        ConfigurationError
            Another member already has this name.

        """
        if self.get(name, member) is not member:
            raise ConfigurationError(f"there is already another {self.kind} '{name}'")
        self[name] = member
        return member

    def build(self, name: str, settings: Mapping[str, Any]) -> Any:
        """
        Return the result of calling a member with settings as keyword arguments.

        Parameters
        ----------
        name
            Name of the member.
        settings
            Keyword arguments of the member.

        Raises
        ------
        UnknownNameError
            There is no such member; the text lists the existing names.
        ConfigurationError
            The member has no such setting, or a value has the wrong type.

        """
        member: Any = self.find(name)
        taken = signature(member).parameters
        start = f"the {self.kind} '{name}' cannot be set up: "
        unknown = sorted(set(settings) - set(taken))
        if unknown and not any(p.kind is p.VAR_KEYWORD for p in taken.values()):
            raise ConfigurationError(f"{start}it has no setting '{unknown[0]}'; it has: "
                                     f"{', '.join(sorted(taken)) or 'none'}")
        values = dict(settings)
        for key, value in settings.items():
            if key in taken and type(taken[key].default) in (int, float):
                if not isinstance(value, Real) or isinstance(value, bool):
                    raise ConfigurationError(f'{start}{key} must be a number, not {value!r}')
                values[key] = int(value) if isinstance(value, Integral) else float(value)
        try:
            return member(**values)
        except (TypeError, OverflowError) as error:
            text = ', '.join(f'{key}={value!r}' for key, value in values.items())
            raise ConfigurationError(f'{start}it does not accept {text or error}') from error

    def find(self, name: str) -> Member:
        """
        Return the member of that name.

        A name with a colon is a place for `load_object`. If no member has another name, the
        extensions are loaded and the name is looked up again.

        Raises
        ------
        UnknownNameError
            There is no such member; the text lists the existing names.
        ConfigurationError
            The object at this place cannot be loaded.

        """
        if name not in self and ':' in name:
            member: Member = load_object(name)
            return member
        if name not in self:
            load_extensions()
        if name not in self:
            raise UnknownNameError(self.kind, name, self)
        return self[name]
