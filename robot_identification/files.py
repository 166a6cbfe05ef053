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
"""Reading of text and JSON files, checks of outputs, atomic writing, and the shipped folders."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import json
import math
import os
from pathlib import Path
import re
import shutil
import stat
import sys
from typing import Any

from robot_identification.errors import (
    ConfigurationError,
    did_you_mean,
    RobotIdentificationError,
)
from robot_identification.output_folder import locked, recover, sync, temporary

HEAD = 1 << 18    # [bytes] at the beginning of a file from which its kind is recognised
TEXT_SIZE = 64_000_000    # [bytes] largest text, message or mesh; most have 0.1 % of it
DEPTH = 40    # largest number of nested levels of JSON and YAML; usual files have 8
JSON_VALUES = 2_000_000    # largest number of values of a JSON file; results have thousands
HUGE = 1e100    # numbers of results are smaller, so that products of two are finite
MAX_MB, RATIO = 256, 20    # a recording may decode to the larger of MAX_MB and RATIO * its size
SIZE_VARIABLE = 'ROBOT_IDENTIFICATION_MAX_MB'    # environment variable that replaces MAX_MB
NOT_UTF8 = 'it is not text in UTF-8 (UTF-16, UTF-32, compressed?); save it as UTF-8'


@dataclass(frozen=True)
class FileKind:
    """
    A kind of output file, with a pattern that recognises existing files of this kind.

    Parameters
    ----------
    name
        Name for messages, with its article: 'an excitation file'.
    pattern
        Regular expression that is searched in the first `HEAD` bytes of a file, multi-line and
        without regard to case.

    """

    name: str
    pattern: str

    def recognises(self, path: Path) -> bool:
        """Return whether an existing file is of this kind; an empty file is of every kind."""
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
                  inputs: Iterable[str | Path | None], *, force: bool = False) -> None:
    """
    Raise an error if an output would replace an input or a file of another kind.

    Every command calls this function first, with all files that it writes and reads. Files of an
    earlier run of the command have the same kind and may be replaced.

    Parameters
    ----------
    outputs
        Files to write and their kinds; a path is None if that file is not written.
    inputs
        Files and folders that are read, None for unused ones; links are followed.
    force
        Whether files of another kind may be replaced. Inputs are never replaced.

    Raises
    ------
    ConfigurationError
        An output is an input or inside a bag that is an input, is given twice, exists with
        another kind, or cannot be written.

    Examples
    --------
    >>> check_outputs([(Path('motion.csv'), MOTION_CSV)], [Path('panda.yaml')])

    """
    sources = [Path(source) for source in inputs if source is not None]
    written: set[str] = set()
    for path, kind in ((Path(path), kind) for path, kind in outputs if path is not None):
        check_writable(path)
        resolved = os.path.realpath(path)
        if resolved in written:
            raise ConfigurationError(f"'{path}' would be written twice; give the outputs "
                                     'different names')
        written.add(resolved)
        for source in sources:
            if _would_replace(path, source):
                raise ConfigurationError(f"'{path}' is read by this command (as '{source}') and "
                                         'would be lost; give the output another name')
        if path.is_file() and not force and not kind.recognises(path):
            raise ConfigurationError(f"'{path}' exists and is not {kind.name}; give the output "
                                     'another name, or --force to replace it')


def check_output_folder(folder: Path, names: Iterable[str], mark: str,
                        inputs: Iterable[Path | None], *, force: bool = False,
                        hint: str = ', or --force to replace them') -> None:
    """
    Raise an error if results in a folder would replace inputs or files of another origin.

    What a killed run left in the folder is finished or removed before, see `recover`.

    Parameters
    ----------
    folder
        Folder of the files to write.
    names
        Names of the files to write.
    mark
        Name of a file that only this command writes. If it exists, the other files are taken for
        results of an earlier run and may be replaced.
    inputs, force
        As for `check_outputs`.
    hint
        Alternative at the end of the error message; '' if there is none.

    Raises
    ------
    ConfigurationError
        As `check_outputs`.

    """
    recover(folder)
    files = [path for path in inputs if path is not None and not path.is_dir()]
    check_outputs(((folder / name, FileKind('a result', '')) for name in names), files, force=True)
    strangers = [name for name in names if (folder / name).exists()]
    if strangers and mark not in strangers and not force:
        raise ConfigurationError(
            f"'{folder}' holds {', '.join(strangers)} and no {mark}, so no earlier run of this "
            f'command wrote them; name another folder{hint}')


def _would_replace(path: Path, source: Path) -> bool:
    """Return whether writing to a path replaces an input, or a file in an input folder (a bag)."""
    if not (path.exists() and source.exists()):
        return os.path.realpath(path) == os.path.realpath(source)
    return path.samefile(source) or Path(os.path.realpath(path)).parent.samefile(source)


def suggest_file(path: str | Path) -> str:
    """Return " (did you mean 'x'?)" with the most similar name in the folder of a path, or ''."""
    path = Path(path)
    try:
        return did_you_mean(path.name, [item.name for item in path.parent.iterdir()])
    except (OSError, ValueError):
        return ''


def regular_size(path: str | Path, what: str, error: type[RobotIdentificationError],
                 largest: float = math.inf, hint: str = '') -> int:
    """
    Return the size of a regular file [bytes].

    Parameters
    ----------
    path, what, error
        As for `read_text`.
    largest
        Largest accepted size [bytes].
    hint
        End of the message about a larger file.

    Raises
    ------
    RobotIdentificationError
        An error of the class `error`: the file is missing, not a regular file, or too large.

    """
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError) as reason:
        raise error(f"there is no {what} '{path}'{suggest_file(path)}") from reason
    except OSError as reason:
        raise error(f"the {what} '{path}' cannot be read: {reason.strerror}") from reason
    except ValueError as reason:    # the name contains a NUL character
        raise error(f'{str(path)!r} is not a path of a {what}: {reason}') from reason
    if not stat.S_ISREG(status.st_mode):
        kind = 'a folder' if stat.S_ISDIR(status.st_mode) else 'not a regular file'
        raise error(f"the {what} '{path}' cannot be read: it is {kind}")
    if status.st_size > largest:
        raise error(f"the {what} '{path}' has {status.st_size / 1e6:.0f} MB, more than the "
                    f'{largest / 1e6:.0f} MB that are read{hint}')
    return status.st_size


def decoded_limit(stored: int) -> float:
    """
    Return the largest size to which stored data may decode [bytes].

    Parameters
    ----------
    stored
        Size of the stored data, for instance of a file [bytes].

    Raises
    ------
    ConfigurationError
        The environment variable `SIZE_VARIABLE` is not a positive number.

    """
    text = os.environ.get(SIZE_VARIABLE, str(MAX_MB))
    try:
        megabytes = float(text)
    except ValueError:
        megabytes = math.nan
    if not megabytes > 0:
        raise ConfigurationError(f'the environment variable {SIZE_VARIABLE} must be a positive '
                                 f"number of megabytes, not '{text:.60}'")
    return max(1e6 * megabytes, RATIO * stored)


def check_decoded_size(size: float, stored: int, label: str,
                       error: type[RobotIdentificationError]) -> None:
    """
    Raise an error if data decodes to far more than its stored size, before it is decoded.

    Parameters
    ----------
    size
        Decoded size [bytes], usually from the headers of the data.
    stored
        As for `decoded_limit`.
    label
        Name of the data in the message: "the recording 'x.mat'".
    error
        Class of the error to raise.

    """
    limit = decoded_limit(stored)
    if size > limit:
        megabytes = math.ceil(size / 1e6)
        raise error(f'{label} has {stored / 1e6:.3g} MB and would decode to {megabytes} MB, more '
                    f'than the {limit / 1e6:.0f} MB that are accepted; if it is not damaged, set '
                    f'the environment variable {SIZE_VARIABLE}={megabytes}')


def read_text(path: str | Path, what: str, error: type[RobotIdentificationError]) -> str:
    """
    Return the text of a UTF-8 file of at most `TEXT_SIZE`.

    Parameters
    ----------
    path
        The file.
    what
        Kind of the file for messages, for instance 'robot YAML'.
    error
        Class of the error to raise.

    Raises
    ------
    RobotIdentificationError
        An error of the class `error`: the file is missing, not a regular file, too large,
        unreadable, or in another encoding.

    """
    regular_size(path, what, error, TEXT_SIZE)
    try:
        text = Path(path).read_bytes().decode('utf-8-sig')    # unlike read_text, keeps line ends
    except OSError as reason:
        raise error(f"the {what} '{path}' cannot be read: {reason.strerror}") from reason
    except UnicodeDecodeError as reason:
        raise error(f"the {what} '{path}' cannot be read: {NOT_UTF8}") from reason
    if '\0' in text:    # as in UTF-16 and UTF-32, which parsers of XML would recognise
        raise error(f"the {what} '{path}' cannot be read: {NOT_UTF8}")
    return text


def read_json(path: str | Path, what: str, error: type[RobotIdentificationError]) -> Any:
    """
    Return the content of a JSON file, whose numbers are at most `HUGE`, integers 18 digits long.

    Parameters
    ----------
    path, what, error
        As for `read_text`.

    Raises
    ------
    RobotIdentificationError
        An error of the class `error`: as by `read_text`, or the text is not JSON, too deep or
        too long, or has other numbers or characters that UTF-8 does not have.

    """
    def parse_integer(text: str) -> int:
        """Return an integer of at most 18 characters, or raise ValueError, also for NaN."""
        if len(text) > 18 or not text[-1].isdigit():
            raise ValueError(f'it has a whole number of {len(text)} digits'
                             if text[-1].isdigit() else f'JSON has no {text}')
        return int(text)

    try:
        text = read_text(path, what, error)
        if sum(map(text.count, ',[{')) > JSON_VALUES:
            raise ValueError(f'it has more than {JSON_VALUES} values')
        content = json.loads(text, parse_int=parse_integer, parse_constant=parse_integer)
        if '\\u' in text:    # half of a surrogate pair raises a ValueError
            json.dumps(content, ensure_ascii=False).encode()
        level: list[Any] = [content]
        for _ in range(DEPTH):
            if any(type(item) is float and abs(item) > HUGE for item in level):
                raise ValueError(f'it has a number above {HUGE:g}')
            level = [item for each in level if isinstance(each, (dict, list))
                     for item in (each.values() if isinstance(each, dict) else each)]
        if level:
            raise ValueError(f'it is nested more than {DEPTH} levels deep')
        return content
    except (ValueError, RecursionError) as reason:
        raise error(f"the {what} '{path}' cannot be read: {reason}") from reason


def check_writable(path: str | Path) -> None:
    """
    Raise an error if a file cannot be written, before a long computation starts.

    Parameters
    ----------
    path
        The file; its folder need not exist yet.

    Raises
    ------
    ConfigurationError
        The path is invalid, a folder or a device, or its folder cannot be created or written.

    """
    target = Path(path)
    if '\0' in str(target):
        raise ConfigurationError(f'{str(target)!r} is not a path')
    try:
        exists = target.exists()
    except OSError as error:    # as for a name that is too long
        raise ConfigurationError(f"'{target}' cannot be written: {error.strerror}") from error
    if target.is_dir():
        raise ConfigurationError(f"'{target}' is a folder; name a file")
    if exists and not target.is_file():
        raise ConfigurationError(f"'{target}' is not a regular file; name another one")
    folder = next((parent for parent in target.parents if parent.exists()), target.parent)
    if not folder.is_dir():
        raise ConfigurationError(f"'{target}' cannot be written: '{folder}' is a file; name a "
                                 'folder')
    if not os.access(folder, os.W_OK):
        raise ConfigurationError(f"'{target}' cannot be written: no permission in '{folder}'")


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """
    Yield a temporary path beside `path`, and rename it to `path` if the block succeeds.

    The file is flushed to the disk before it is renamed. A run that is killed leaves the old file
    and the temporary one, which the next run that writes to the folder removes.

    Parameters
    ----------
    path
        The file to write; its folder is created.

    Raises
    ------
    ConfigurationError
        The path is a folder, its folder cannot be created or written, or the disk is full.

    Examples
    --------
    >>> with atomic_write('data.npz') as temporary:
    ...     np.savez(temporary, q=q)

    """
    target = Path(path)
    check_writable(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary(target.parent, target.suffix) as path:
            yield path
            if target.exists():
                shutil.copymode(target, path)
            sync(path)
            with locked(target.parent):
                os.replace(path, target)
            sync(target.parent)
    except OSError as error:    # some OSErrors lack strerror
        raise ConfigurationError(
            f"'{target}' cannot be written: {error.strerror or error}") from error


def write_text(path: str | Path, text: str) -> None:
    """Write text to a UTF-8 file atomically: completely or not at all."""
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding='utf-8')


def shared_folder(name: str) -> Path:
    """
    Return the path of a shipped folder: 'config', 'urdf' or 'launch'.

    The source checkout is searched first, then the locations to which pip and colcon install.

    Raises
    ------
    ConfigurationError
        The folder is in none of these places; the installation is incomplete.

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
