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
"""Files: written whole or not at all, and the folder that the package ships."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import sys
import tempfile

from robot_identification.errors import ConfigurationError


@contextmanager
def written_whole(path: str | Path) -> Iterator[Path]:
    """
    Give a temporary path beside `path`, and move it into place when the block succeeds.

    Parameters
    ----------
    path
        The file to write; its folder is created.

    Raises
    ------
    ConfigurationError
        The folder cannot be created or written.

    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f'.{target.name}.',
                                        suffix=target.suffix)
    except OSError as error:
        raise ConfigurationError(f"'{target}' cannot be written: {error}") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write a UTF-8 text file, whole or not at all."""
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding='utf-8')


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def shared_folder(name: str) -> Path:
    """
    Return a folder that the package ships: 'config', 'urdf' or 'launch'.

    Looked for in a source checkout, then where pip and colcon install data files.

    Raises
    ------
    ConfigurationError
        The installation is incomplete.

    """
    package = Path(__file__).resolve().parent
    candidates = [package.parent / name]
    prefixes = [Path(p) for p in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep) if p]
    prefixes += [parent for parent in package.parents if (parent / 'share').is_dir()]
    prefixes.append(Path(sys.prefix))
    candidates += [prefix / 'share' / 'robot_identification' / name for prefix in prefixes]
    for candidate in candidates:
        if candidate.is_dir() and (candidate.parent / 'package.xml').exists():
            return candidate
    raise ConfigurationError(
        f"the installation lacks its folder '{name}'; install the package again")
