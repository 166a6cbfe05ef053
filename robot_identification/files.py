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
"""Files: read within bounds, written whole or not at all, and the folder that is shipped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import os
from pathlib import Path
import re
import stat
import sys
import tempfile

from robot_identification.errors import ConfigurationError, RobotIdentificationError

HEAD = 65_536    # bytes at the beginning of a file that tell its kind
TEXT_SIZE = 64_000_000    # bytes of the largest text file that is read; ours have 0.1 % of that


@dataclass(frozen=True)
class FileKind:
    """
    What a command writes, and how a file of that kind is recognised.

    Parameters
    ----------
    name
        For sentences, with its article: 'an excitation file'.
    pattern
        Regular expression (multi-line, case ignored) that is found in its first 64 KiB.

    """

    name: str
    pattern: str

    def recognises(self, path: Path) -> bool:
        """Return whether an existing file is of this kind; an empty one is of every kind."""
        with path.open('rb') as file:
            head = file.read(HEAD).decode('latin-1')
        return not head or re.search(self.pattern, head, re.IGNORECASE | re.MULTILINE) is not None


RECORDING_CSV = FileKind('a recording (CSV)', r'\A(\xef\xbb\xbf)?t,q_')
NPZ = FileKind('a NumPy archive', r'\APK\x03\x04')
PREDICTION_CSV = FileKind('a prediction (CSV)', r'\At,tau_hat_')
MOTION_CSV = FileKind('a motion (CSV)', r'\At,q_.*,a_')
HTML_PAGE = FileKind('a page of this program', r'\A\s*<!doctype html>')
EXCITATION_YAML = FileKind('an excitation file', r'^schema: robot_identification/excitation/')
ROBOT_YAML = FileKind('a robot YAML', r'^urdf:')


def check_outputs(outputs: Iterable[tuple[Path | None, FileKind]],
                  inputs: Iterable[Path | None], *, force: bool = False) -> None:
    """
    Refuse, before any work is done, to write over an input or over a file of another kind.

    Every command that writes calls this with all that it writes and all that it reads. A file of
    an earlier run of the same command is of the same kind, so a command can be repeated.

    Parameters
    ----------
    outputs
        Files to write and their kinds; without a path nothing is written.
    inputs
        Files and folders that are read; a link to one of them counts as the file itself.
    force
        Replace files of another kind; an input is never replaced.

    Raises
    ------
    ConfigurationError
        An output is an input or a file of a bag that is one, is named twice, is of another
        kind, or cannot be written.

    """
    wanted = [(Path(path), kind) for path, kind in outputs if path is not None]
    read: dict[object, Path] = {}    # by place, and by what samefile compares
    for source in (Path(path) for path in inputs if path is not None):
        for key in (_place(source), _identity(source)):
            read.setdefault(key, source)
    places: dict[Path, Path] = {}
    for path, kind in wanted:
        check_writable(path)
        place = _place(path)
        if place in places:
            raise ConfigurationError(f"'{path}' would be written twice; give the outputs "
                                     'different names')
        places[place] = path
        keys = (place, _identity(path), place.parent) if path.exists() else (place,)
        for key in keys:    # the parent of a file of a bag is what is read
            if key is not None and key in read:
                raise ConfigurationError(f"'{path}' is read by this command (as '{read[key]}') "
                                         'and would be lost; give the output another name')
        if path.is_file() and not force and not kind.recognises(path):
            raise ConfigurationError(f"'{path}' exists and is not {kind.name}; give the output "
                                     'another name, or --force to replace it')


def check_output_folder(folder: Path, names: Iterable[str], mark: str,
                        inputs: Iterable[Path | None], *, force: bool = False,
                        way_out: str = ', or --force to replace them') -> None:
    """
    Refuse a folder of results whose files would replace an input, or what is not a result.

    Parameters
    ----------
    folder
        Where the files are to be written.
    names
        The files.
    mark
        The one among them that only this command writes: where it lies already, the others are
        those of an earlier run.
    inputs, force
        As for `check_outputs`.
    way_out
        What the sentence offers besides another folder; '' where nothing can be forced.

    Raises
    ------
    ConfigurationError
        As `check_outputs`.

    """
    _check_name(folder)
    if folder.exists() and not folder.is_dir():
        raise ConfigurationError(f"'{folder}' is a file; name a directory for the results")
    anything = FileKind('a result', '')
    files = [path for path in inputs if path is not None and not path.is_dir()]
    check_outputs(((folder / name, anything) for name in names), files, force=True)
    strangers = [name for name in names if (folder / name).exists()]
    if strangers and mark not in strangers and not force:
        raise ConfigurationError(
            f"'{folder}' holds {', '.join(strangers)} and no {mark}, so no earlier run of this "
            f'command wrote them; name another folder{way_out}')


def _identity(path: Path) -> tuple[int, int] | None:
    """Return device and number of what is there, which links to a file share; None of nothing."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _place(path: Path) -> Path:
    """Return the path without links; one of a link to itself as it is."""
    return Path(os.path.realpath(path))


def read_bytes(path: str | Path, what: str, error: type[RobotIdentificationError],
               limit: int = TEXT_SIZE) -> bytes:
    """
    Return the content of a file after a check of its size.

    Parameters
    ----------
    path
        The file.
    what
        How to call it in a sentence: 'robot YAML'.
    error
        Class of the error to raise.
    limit
        Largest size that is read [bytes].

    Raises
    ------
    RobotIdentificationError
        An error of the class `error`: no such file, not a regular one, too large, unreadable.

    """
    size = regular_size(path, what, error)
    if size > limit:
        raise error(f"the {what} '{path}' has {size / 1e6:.0f} MB, more than the {limit / 1e6:.0f}"
                    f' MB that such a file can have')
    try:
        return Path(path).read_bytes()
    except OSError as reason:
        raise error(f"the {what} '{path}' cannot be read: {reason.strerror}") from reason


def regular_size(path: str | Path, what: str, error: type[RobotIdentificationError]) -> int:
    """
    Return the size of a file [bytes], having checked that it is one.

    Parameters
    ----------
    path, what, error
        As for `read_bytes`.

    Raises
    ------
    RobotIdentificationError
        An error of the class `error`: the file is missing or no regular file.

    """
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError) as reason:
        raise error(f"there is no {what} '{path}'") from reason
    except OSError as reason:
        raise error(f"the {what} '{path}' cannot be read: {reason.strerror}") from reason
    except ValueError as reason:    # a NUL in the name
        raise error(f'{str(path)!r} is not a path of a {what}: {reason}') from reason
    if stat.S_ISDIR(status.st_mode):
        raise error(f"the {what} '{path}' cannot be read: it is a folder")
    if not stat.S_ISREG(status.st_mode):
        raise error(f"the {what} '{path}' cannot be read: it is not a regular file")
    return status.st_size


def read_text(path: str | Path, what: str, error: type[RobotIdentificationError],
              limit: int = TEXT_SIZE) -> str:
    """
    Return the text of a UTF-8 file.

    Parameters
    ----------
    path, what, error, limit
        As for `read_bytes`.

    Raises
    ------
    RobotIdentificationError
        As `read_bytes`, and of text in another encoding.

    """
    raw = read_bytes(path, what, error, limit)
    try:
        return raw.decode('utf-8-sig')
    except UnicodeDecodeError as reason:
        raise error(f"the {what} '{path}' cannot be read: {encoding_of(raw)}") from reason


def encoding_of(raw: bytes) -> str:
    """Return, for an error message, why bytes are not UTF-8 and how to convert them."""
    if raw[:4] in (b'\xff\xfe\0\0', b'\0\0\xfe\xff'):
        return 'it is written in UTF-32; save it as UTF-8'
    if raw[:2] in (b'\x1f\x8b', b'PK'):
        return 'it is compressed; unpack it, or export it as text'
    if raw[:2] in (b'\xff\xfe', b'\xfe\xff') or raw[:200].count(b'\0') > 20:
        return 'it is written in UTF-16; save it as UTF-8'
    return 'it is not text in UTF-8; save it as UTF-8'


def check_writable(path: str | Path) -> None:
    """
    Refuse a file that cannot be written, before long work is done for it.

    Parameters
    ----------
    path
        The file; its folder need not exist yet.

    Raises
    ------
    ConfigurationError
        It is a folder or a device, or its folder cannot be created or written.

    """
    target = Path(path)
    _check_name(target)
    if target.is_dir():
        raise ConfigurationError(f"'{target}' is a folder; name a file")
    if target.exists() and not target.is_file():
        raise ConfigurationError(f"'{target}' is not a regular file; name another one")
    folder = target.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise ConfigurationError(f"'{target}' cannot be written: '{folder}' is not a folder")
    if not os.access(folder, os.W_OK):
        raise ConfigurationError(f"'{target}' cannot be written: no permission in '{folder}'")


def _check_name(path: Path) -> None:
    """Refuse what the system cannot even look for."""
    try:
        path.exists()
    except OSError as error:
        raise ConfigurationError(f"'{path}' cannot be written: {error.strerror}") from error
    if '\0' in str(path):
        raise ConfigurationError(f'{str(path)!r} is not a path')


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """
    Give a temporary path beside `path`, and move it into place when the block succeeds.

    Parameters
    ----------
    path
        The file to write; its folder is created.

    Raises
    ------
    ConfigurationError
        It is a folder, its folder cannot be created or written, or the disk is full.

    """
    target = Path(path)
    check_writable(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f'.{target.name}.',
                                        suffix=target.suffix)
    except OSError as error:
        raise ConfigurationError(f"'{target}' cannot be written: {error.strerror}") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except OSError as error:    # without its file where a write fails: the disk is full
        raise ConfigurationError(
            f"'{target}' cannot be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write a UTF-8 text file, whole or not at all."""
    with atomic_write(path) as temporary:
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
