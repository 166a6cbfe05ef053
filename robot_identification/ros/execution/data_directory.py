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
"""The data directory of a node, which the file names in service requests cannot leave."""

import os
from pathlib import Path
import stat

from robot_identification.errors import ConfigurationError

MAX_PART = 200          # [bytes] longest file or folder name; file systems allow 255
MAX_LENGTH = 1000       # [characters or items] longest text or list in a request


class DataDirectory:
    """
    Folder of the files that services read and write; they access no file outside it.

    Parameters
    ----------
    root
        Path of the folder; a missing folder is created.

    Raises
    ------
    ConfigurationError
        The folder cannot be created.

    """

    def __init__(self, root: str | Path) -> None:
        folder = Path(os.path.expanduser(root))
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(f"the data directory '{root}' cannot be used: "
                                     f'{error}') from error
        self.root = folder.resolve()

    def path(self, name: str, what: str = 'file') -> Path:
        """
        Return the absolute path of a file in the folder.

        Parameters
        ----------
        name
            Path relative to the folder.
        what
            Kind of file, for error messages.

        Raises
        ------
        ConfigurationError
            The name is empty, too long or absolute, contains `..` or a null character, or
            follows a symbolic link that leaves the folder.

        """
        if not name:
            raise ConfigurationError(f'the name of the {what} is empty')
        if '\0' in name:
            raise ConfigurationError(f'the name of the {what} has a null character')
        candidate = Path(name)
        if candidate.is_absolute() or '..' in candidate.parts:
            raise ConfigurationError(self._refusal(name, what))
        if len(name) > MAX_LENGTH or any(
                len(os.fsencode(part)) > MAX_PART for part in candidate.parts):
            raise ConfigurationError(f"the name of the {what} '{name[:40]}...' is too long: at "
                                     f'most {MAX_PART} bytes per part are allowed')
        try:
            resolved = (self.root / candidate).resolve()
        except (OSError, RuntimeError) as error:    # circular symbolic links
            raise ConfigurationError(f"the {what} '{name}' cannot be used: {error}") from error
        if resolved != self.root and self.root not in resolved.parents:
            raise ConfigurationError(self._refusal(name, what))
        if resolved == self.root:
            raise ConfigurationError(f"the {what} '{name}' is the data directory itself; name "
                                     f'a file in it')
        return resolved

    def existing(self, name: str, what: str = 'file') -> Path:
        """
        Return the absolute path of an existing file or folder.

        Parameters
        ----------
        name, what
            As for `path`.

        Raises
        ------
        ConfigurationError
            The name is invalid (as for `path`), or there is no such file or folder.

        """
        path = self.path(name, what)
        try:
            kind = path.stat().st_mode
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ConfigurationError(f"there is no {what} '{name}' in the data directory "
                                     f"'{self.root}'") from error
        except OSError as error:
            raise ConfigurationError(f"the {what} '{name}' cannot be read: "
                                     f'{error.strerror}') from error
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            raise ConfigurationError(f"the {what} '{name}' is neither a file nor a folder")
        return path

    def new(self, name: str, what: str, suffixes: tuple[str, ...]) -> Path:
        """
        Return the absolute path of a file that does not exist yet.

        Parameters
        ----------
        name, what
            As for `path`.
        suffixes
            Allowed suffixes of the name.

        Raises
        ------
        ConfigurationError
            The name is invalid (as for `path`) or has another suffix, or the file exists.

        """
        path = self.path(name, what)
        if path.suffix not in suffixes:
            raise ConfigurationError(f"the name of the new {what} '{name}' must end with "
                                     f'{suffixes[0]}')
        if os.path.lexists(path):
            raise ConfigurationError(f"the {what} '{name}' already exists, and nothing is "
                                     f'overwritten; choose another name')
        return path

    def _refusal(self, name: str, what: str) -> str:
        return (f"the {what} '{name}' is outside the data directory '{self.root}'; give a path "
                f'relative to it, without `..` and without links that lead out')
