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
"""Where recordings lie: paths, patterns and URLs, and what tells that one has changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from glob import glob
import hashlib
from pathlib import Path
import tempfile
from typing import Any

from robot_identification.errors import (
    ConfigurationError,
    MissingDependencyError,
    RecordingError,
)

PIECE = 1 << 20    # bytes that are hashed at once


def expand(source: str, folder: Path) -> list[str]:
    """
    Return the recordings that a path, a pattern or a URL stands for, sorted.

    Parameters
    ----------
    source
        A path or pattern relative to `folder`, or any URL of fsspec ('s3://bucket/x/*.npz').
    folder
        Where relative paths begin.

    Raises
    ------
    ConfigurationError
        A pattern that nothing matches, or a URL that cannot be listed. A single path need not
        exist: that is an error of this recording alone.

    """
    pattern = any(mark in source for mark in '*?[')
    if '://' in source:
        if not pattern:
            return [source]
        system, path = _system(source)
        try:
            found = [system.unstrip_protocol(name) for name in system.glob(path)]
        except Exception as error:    # each file system of fsspec has errors of its own
            raise ConfigurationError(f"'{source}' cannot be listed: {error}") from error
    else:
        place = folder / source
        if not pattern or place.exists():
            return [str(place)]
        found = glob(str(place), recursive=True)
    if not found:
        raise ConfigurationError(f"nothing matches '{source}'; correct it in the fleet file")
    return sorted(found)


def fingerprint(source: str) -> str:
    """
    Return what changes with the content of a recording; empty where there is none.

    The SHA-256 of a file, of all files of a folder (a bag), or what fsspec says of a URL.
    """
    try:
        if '://' in source:
            return _remote_fingerprint(source)
        found = hashlib.sha256()
        for member in _files(source):
            with member.open('rb') as file:
                while piece := file.read(PIECE):
                    found.update(piece)
        return found.hexdigest()
    except (OSError, ValueError, ImportError, MissingDependencyError):
        return ''


def _files(source: str) -> list[Path]:
    """Return the file of a recording, or all files of a folder (a bag), in order."""
    place = Path(source)
    return [member for member in (sorted(place.rglob('*')) if place.is_dir() else [place])
            if member.is_file()]


def _remote_fingerprint(source: str) -> str:
    system, path = _system(source)
    try:
        return str(system.ukey(path))
    except Exception:    # each file system of fsspec has errors of its own
        return ''


def size(sources: Sequence[str]) -> int:
    """Return how many bytes recordings take where they lie; none for what cannot be looked at."""
    return sum(_bytes(source) for source in sources)


def _bytes(source: str) -> int:
    try:
        if '://' in source:
            system, path = _system(source)
            return int(system.du(path))
        return sum(member.stat().st_size for member in _files(source))
    except Exception:    # each file system of fsspec has errors of its own
        return 0


@contextmanager
def fetched(source: str) -> Iterator[Path]:
    """
    Give a recording as a local path; that of a URL is a copy, which is deleted afterwards.

    Raises
    ------
    RecordingError
        It cannot be fetched.

    """
    if '://' not in source:
        yield Path(source)
        return
    with tempfile.TemporaryDirectory() as folder:
        system, path = _system(source)
        local = Path(folder) / Path(path).name
        try:
            system.get(path, str(local), recursive=system.isdir(path))
        except Exception as error:    # each file system of fsspec has errors of its own
            raise RecordingError(f"the recording '{source}' cannot be fetched: {error}") from error
        yield local


def _system(source: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError as error:
        raise MissingDependencyError('fsspec', f"the recording '{source}'") from error
    try:
        system, path = fsspec.core.url_to_fs(source)
    except (ValueError, ImportError) as error:
        raise ConfigurationError(f"'{source}' cannot be read: {error}") from error
    return system, str(path)
