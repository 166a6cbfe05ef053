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
"""Recordings at local paths and URLs: expansion of patterns, fingerprints, download."""

from collections.abc import Iterator
from contextlib import contextmanager
from glob import glob
import hashlib
import os
from pathlib import Path
import tempfile
from typing import Any

from robot_identification.errors import (
    ConfigurationError,
    MissingDependencyError,
    RecordingError,
)

CHUNK = 1 << 20
"""Number of bytes of a file that are read and hashed at once."""


def expand(source: str, folder: Path) -> list[str]:
    """
    Return the sorted paths or URLs that match a path, a glob pattern or a URL.

    A path without wildcards need not exist; the error is reported when it is loaded. A URL with
    wildcards that cannot be listed, or matches nothing, is returned as it is: `fetch` reports it,
    so that one storage that does not answer stops one robot, not the fleet.

    Parameters
    ----------
    source
        Path or pattern relative to `folder`, or URL that fsspec supports, with or without a
        pattern ('s3://bucket/x/*.npz').
    folder
        Base of relative paths.

    Raises
    ------
    ConfigurationError
        No file matches a pattern of paths.
    MissingDependencyError
        The source is a URL and fsspec is not installed.

    """
    is_pattern = _is_pattern(source)
    if '://' in source:
        if not is_pattern:
            return [source]
        try:
            return sorted(_list(source))
        except RecordingError:
            return [source]
    if not is_pattern or os.path.exists(folder / source):
        return [str(folder / source)]
    paths = glob(str(folder / source), recursive=True)
    if not paths:
        raise ConfigurationError(f"nothing matches '{source}'; correct it in the fleet file")
    return sorted(paths)


def fingerprint(source: str) -> str:
    """
    Return a fingerprint that changes with the content of a recording; '' if it is unreadable.

    A local file, or all files of a folder (a bag) together, are hashed with SHA-256. The
    fingerprint of a URL is fsspec's `ukey`: a checksum, or size and modification time. Nothing is
    downloaded.
    """
    try:
        if '://' in source:
            system, remote_path = _file_system(source)
            return str(system.ukey(remote_path))
        digest = hashlib.sha256()
        path = Path(source)
        for member in sorted(path.rglob('*')) if path.is_dir() else [path]:
            if member.is_file():
                with member.open('rb') as file:
                    while chunk := file.read(CHUNK):
                        digest.update(chunk)
        return digest.hexdigest()
    except Exception:    # each file system of fsspec has errors of its own
        return ''


@contextmanager
def fetch(source: str) -> Iterator[Path]:
    """
    Yield the local path of a recording; a URL is downloaded to a temporary folder.

    Raises
    ------
    RecordingError
        The recording cannot be downloaded, or is a pattern that matches nothing.

    """
    if '://' not in source:
        yield Path(source)
        return
    if _is_pattern(source):
        _list(source)    # raises the reason why `expand` left the pattern
        raise RecordingError(f"'{source}' could not be listed when the fleet file was read; run "
                             'the command again')
    system, path = _file_system(source)
    with tempfile.TemporaryDirectory() as folder:
        local = Path(folder) / Path(path).name
        try:
            system.get(path, str(local), recursive=system.isdir(path))
        except Exception as error:    # each file system of fsspec has errors of its own
            raise RecordingError(
                f"the recording '{source}' cannot be fetched: {error or repr(error)}") from error
        yield local


def _is_pattern(source: str) -> bool:
    return any(mark in source for mark in '*?[')


def _list(pattern: str) -> list[str]:
    """Return the URLs that match a pattern, or raise a RecordingError with the reason."""
    system, path = _file_system(pattern)
    try:
        found = [system.unstrip_protocol(name) for name in system.glob(path)]
    except Exception as error:    # each file system of fsspec has errors of its own
        raise RecordingError(f"'{pattern}' cannot be listed: {error or repr(error)}") from error
    if not found:
        raise RecordingError(f"nothing matches '{pattern}'; correct it in the fleet file")
    return found


def _file_system(source: str) -> tuple[Any, str]:
    """Return the file system of a URL and the path in it."""
    try:
        import fsspec
    except ImportError as error:
        raise MissingDependencyError('fsspec', f"the recording '{source}'") from error
    try:
        system, path = fsspec.core.url_to_fs(source)
    except Exception as error:    # unknown protocol, missing package, no credentials
        raise RecordingError(f"'{source}' cannot be read: {error or repr(error)}") from error
    return system, str(path)
