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

from pathlib import Path

from robot_identification.errors import ConfigurationError


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
        resolved = (self.root / candidate).resolve()
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
        if not path.exists():
            raise ConfigurationError(f"there is no {what} '{name}' in the data directory "
                                     f"'{self.root}'")
        return path

    def _refusal(self, name: str, what: str) -> str:
        return (f"the {what} '{name}' is outside the data directory '{self.root}'; give a path "
                f'relative to it, without `..` and without links that lead out')
