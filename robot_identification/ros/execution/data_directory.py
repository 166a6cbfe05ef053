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
"""A folder that file arguments cannot leave."""

from __future__ import annotations

import os
from pathlib import Path
import stat

from robot_identification.errors import ConfigurationError

LONGEST_PART = 200      # bytes; file systems take 255, and files get endings
LONGEST = 1000          # characters


class DataDirectory:
    """
    The folder in which a service reads and writes.

    Parameters
    ----------
    root
        The folder; it is created.

    Raises
    ------
    ConfigurationError
        It cannot be created.

    """

    def __init__(self, root: str | Path) -> None:
        try:
            Path(root).expanduser().mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(f"the data directory '{root}' cannot be used: "
                                     f'{error}') from error
        self.root = Path(root).expanduser().resolve()

    def path(self, name: str, what: str = 'file') -> Path:
        """
        Return the path of a name in the folder.

        Parameters
        ----------
        name
            Relative to the folder.
        what
            How to call it in an error.

        Raises
        ------
        ConfigurationError
            The name leads out of the folder: it is absolute, has `..`, or goes through a link.

        """
        if not name:
            raise ConfigurationError(f'the {what} is not named')
        if '\0' in name:
            raise ConfigurationError(f'the name of the {what} has a null character')
        candidate = Path(name)
        if candidate.is_absolute() or '..' in candidate.parts:
            raise ConfigurationError(self._refusal(name, what))
        if len(name) > LONGEST or any(len(os.fsencode(part)) > LONGEST_PART
                                      for part in candidate.parts):
            raise ConfigurationError(f"the name of the {what} '{name[:40]}...' is too long: at "
                                     f'most {LONGEST_PART} bytes a part are allowed')
        try:
            resolved = (self.root / candidate).resolve()
        except (OSError, RuntimeError) as error:    # links that go round
            raise ConfigurationError(f"the {what} '{name}' cannot be used: {error}") from error
        if resolved != self.root and self.root not in resolved.parents:
            raise ConfigurationError(self._refusal(name, what))
        if resolved == self.root:
            raise ConfigurationError(f"the {what} '{name}' is the data directory itself; name "
                                     f'something in it')
        return resolved

    def existing(self, name: str, what: str = 'file') -> Path:
        """
        Return the path of something that is there; as `path`.

        Raises
        ------
        ConfigurationError
            It leads out of the folder, or is not there.

        """
        path = self.path(name, what)
        try:
            kind = path.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            kind = 0
        except OSError as error:
            raise ConfigurationError(f"the {what} '{name}' cannot be read: "
                                     f'{error.strerror}') from error
        if kind and not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            raise ConfigurationError(f"the {what} '{name}' is neither a file nor a folder")
        if not kind:
            raise ConfigurationError(f"there is no {what} '{name}' in the data directory "
                                     f"'{self.root}'")
        return path

    def new(self, name: str, what: str, suffixes: tuple[str, ...]) -> Path:
        """
        Return the path of a file that is to be made; as `path`.

        Parameters
        ----------
        name, what
            As for `path`.
        suffixes
            One of which the name must end with.

        Raises
        ------
        ConfigurationError
            It is there already, or its name ends otherwise.

        """
        path = self.path(name, what)
        if path.suffix not in suffixes:
            raise ConfigurationError(f"the {what} '{name}' that is to be designed must be a file "
                                     f'name that ends with {suffixes[0]}')
        if os.path.lexists(path):
            raise ConfigurationError(f"the {what} '{name}' is there already, and nothing is "
                                     f'overwritten; choose another name')
        return path

    def _refusal(self, name: str, what: str) -> str:
        return (f"the {what} '{name}' is outside the data directory '{self.root}'; give a path "
                f'relative to it, without `..` and without links that lead out')
