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
"""
Folders whose files are replaced together, also if the program is killed at any step.

The files of a run are written into a hidden folder beside their target and flushed to the disk.

* If the target contains files only, `_exchange` swaps the two folders in one step of the file
  system (renameat2 of Linux: ext4, XFS, Btrfs, tmpfs, overlayfs). After a kill at any step, every
  program finds all old or all new files. Other files in the target are kept as hard links. A
  second swap brings the folder itself back, so that open terminals and its owner stay.
* Otherwise (subfolders, mount points, NFS, other systems) the hidden folder is renamed to `LOG`
  inside the target, and its files are moved out of it one by one. After a kill between the moves,
  the next command of this package that reads or writes the folder moves the others first. Other
  programs may see a mixture until then; the digests in the results show it (`is_of_other_run`).

Symbolic links to one folder per run would need one mechanism only, but `mv result/model.yaml`
and `git add` do not follow them.

Locks (flock of the folders, not of files in them) let one writer at a time replace files, make
readers wait for it, and show whether a hidden file belongs to a running program; a kill releases
them. File systems without locks (NFS) work without: there, two writers at once may leave a
mixture, which readers detect.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, ExitStack, suppress
import ctypes
import errno
import fcntl
import hashlib
import json
import logging
import os
from pathlib import Path
import shutil
import sys
import threading
import time
from uuid import uuid4

from robot_identification.errors import ConfigurationError

PREFIX = '.robot_identification-'
"""Beginning of the names of temporary files and folders."""
LOG = f'{PREFIX}complete'
"""Folder with the complete files of a run that are being moved into the folder around it."""
MANIFESTS = ('results.json', 'servos.json')
"""Results that list the digests of the other files of their run as 'files'."""
OLD = 86_400.0    # [s] age at which a temporary file is a leftover, if there are no locks
_held = threading.local()    # device and inode of the files and folders that a thread has locked


@contextmanager
def _opened(path: Path, flags: int = os.O_RDONLY) -> Iterator[int]:
    """Yield a descriptor of a file or folder."""
    descriptor = os.open(path, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def locked(path: Path, *, exclusive: bool = True) -> Iterator[None]:
    """
    Hold the lock of a file or folder; wait until other programs and threads have released it.

    A thread that holds the lock may take it again. Nothing is locked if the path does not exist or
    the file system has no locks.

    Parameters
    ----------
    path
        File or folder.
    exclusive
        Whether others cannot hold the lock at the same time.

    """
    held = vars(_held).setdefault('keys', set())
    with ExitStack() as stack:
        with suppress(OSError, ValueError):    # there is no such file, or no lock
            while True:
                descriptor = stack.enter_context(_opened(path))
                status = os.fstat(descriptor)
                key = (status.st_dev, status.st_ino)
                if key in held:
                    break
                fcntl.flock(descriptor, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
                held.add(key)
                stack.callback(held.discard, key)
                if os.path.samestat(status, os.stat(path)):    # it was not exchanged meanwhile
                    break
        yield


def _is_abandoned(path: Path) -> bool:
    """Return whether no running program uses a temporary file or folder."""
    try:
        with _opened(path) as descriptor:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    except OSError:    # no locks
        return time.time() - path.stat().st_mtime > OLD


def _remove(path: Path) -> None:
    """Remove a file or folder if possible."""
    with suppress(OSError):
        (shutil.rmtree if path.is_dir() else os.unlink)(path)


def _remove_leftovers(folder: Path) -> None:
    """Remove and report the temporary files of killed programs in a locked folder."""
    names = [name for name in os.listdir(folder) if name.startswith(PREFIX) and name != LOG]
    for path in map(folder.joinpath, names):
        with suppress(OSError):
            if _is_abandoned(path):
                _remove(path)
                if not path.exists():
                    logging.getLogger(__name__).warning(
                        "note: removed '%s', left by a run that was killed", path)


@contextmanager
def temporary(folder: Path, suffix: str = '', *, is_folder: bool = False) -> Iterator[Path]:
    """
    Yield the path of a new temporary file or folder, which is removed at the end.

    Leftovers of killed programs in the same folder are removed and reported.

    Parameters
    ----------
    folder
        Existing folder of the temporary file or folder.
    suffix
        End of the name.
    is_folder
        Whether a folder is created.

    Raises
    ------
    OSError
        It cannot be created.

    """
    path = folder / f'{PREFIX}{uuid4().hex[:16]}{suffix}'
    with ExitStack() as stack:
        with locked(folder):
            _remove_leftovers(folder)
            path.mkdir() if is_folder else path.touch(exist_ok=False)
            stack.enter_context(locked(path))
        stack.callback(_remove, path)
        yield path


def sync(path: Path) -> None:
    """
    Flush a file, or the names of the files in a folder, to the disk.

    Raises
    ------
    OSError
        The file cannot be written, for instance because the disk is full.

    """
    folder = path.is_dir()
    with (suppress(*[OSError] * folder),    # some file systems cannot flush folders
          _opened(path, os.O_RDONLY if folder else os.O_RDWR) as descriptor):
        os.fsync(descriptor)


@contextmanager
def replace_files(folder: str | Path) -> Iterator[Path]:
    """
    Yield an empty folder; the files that the block writes there replace those of `folder` at once.

    If the block raises an error, `folder` stays as it was. Files with other names are kept.

    Parameters
    ----------
    folder
        Folder of the files; it is created if needed.

    Raises
    ------
    ConfigurationError
        The folder cannot be written.

    Examples
    --------
    >>> with replace_files('result') as staging:
    ...     model.save(staging / 'model.yaml')
    ...     write_identified_urdf(model, staging / 'identified.urdf')

    """
    target = staging = Path(os.path.realpath(folder))
    created = not os.path.exists(target)
    try:
        target.mkdir(parents=True, exist_ok=True)
        recover(target)
        with ExitStack() as stack:
            with locked(target):
                movable = _has_files_only(target)
                staging = stack.enter_context(temporary(target, is_folder=True))
                if movable:
                    with suppress(OSError):    # no permission, or another file system
                        staging = staging.rename(target.parent / staging.name)
                        stack.callback(_remove, staging)
            yield staging
            _commit(staging, target)
    except BaseException as error:
        if created:
            with suppress(OSError):    # it is not empty
                target.rmdir()
        if isinstance(error, OSError):
            raise ConfigurationError(
                f"'{folder}' cannot be written: {error.strerror or error}") from error
        if isinstance(error, ConfigurationError):    # of a file in the temporary folder
            raise ConfigurationError(str(error).replace(str(staging), str(folder))) from error
        raise


@contextmanager
def replace_paths(paths: Iterable[Path]) -> Iterator[dict[Path, Path]]:
    """
    Yield temporary paths by target; those of the targets that share a folder are replaced at once.

    Parameters
    ----------
    paths
        Files to write.

    Raises
    ------
    ConfigurationError
        A folder cannot be written.

    """
    paths = tuple(paths)
    with ExitStack() as stack:
        folders = {folder: stack.enter_context(replace_files(folder))
                   for folder in dict.fromkeys(path.parent for path in paths)}
        yield {path: folders[path.parent] / path.name for path in paths}


def _has_files_only(folder: Path) -> bool:
    """Return whether a folder contains no subfolders."""
    return not any(entry.is_dir(follow_symlinks=False) for entry in os.scandir(folder))


def _commit(staging: Path, target: Path) -> None:
    """Replace the files of a folder by those in a temporary one."""
    paths = sorted(staging.iterdir())
    for path in paths:
        old = target / path.name
        if old.is_dir():
            raise IsADirectoryError(errno.EISDIR, f"'{old.name}' is a folder")
        sync(path)
        if old.exists():
            shutil.copymode(old, path)
    sync(staging)
    with locked(target):
        _finish(target)    # of another writer, which was killed meanwhile
        if len(paths) == 1:
            os.replace(paths[0], target / paths[0].name)
            sync(target)
        elif not _exchange(staging, target):
            os.rename(staging, target / LOG)
            sync(target)
            _finish(target)


def _exchange(staging: Path, target: Path) -> bool:
    """Swap a temporary folder with its target, twice; return False if this is not possible."""
    if staging.parent == target or not _has_files_only(target):
        return False
    names = os.listdir(staging)
    others = set(os.listdir(target)).difference(names)
    try:
        for name in others:
            os.link(target / name, staging / name, follow_symlinks=False)
        shutil.copymode(target, staging)
        sync(staging)
        _swap(staging, target)
    except (OSError, AttributeError, TypeError):    # the last two: the C library cannot
        for name in others:
            _remove(staging / name)
        return False
    with suppress(OSError):    # if the disk is full, the new folder stays in place
        sync(target.parent)
        for name in names:
            (staging / name).unlink(missing_ok=True)
            os.link(target / name, staging / name)
        sync(staging)
        _swap(staging, target)
        sync(target.parent)
    for name in set(os.listdir(staging)).difference(os.listdir(target)):
        os.rename(staging / name, target / name)    # another program has just created it
    return True


def _swap(first: Path, second: Path) -> None:
    """Exchange two folders in one step of the file system."""
    sys.audit('os.rename', str(first), str(second), -1, -1)
    here, exchange = -100, 2    # AT_FDCWD, RENAME_EXCHANGE
    if ctypes.CDLL(None, use_errno=True).renameat2(
            here, os.fsencode(first), here, os.fsencode(second), exchange):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _finish(folder: Path) -> None:
    """Move the files of a complete run into a locked folder, if not all were moved yet."""
    log = folder / LOG
    if log.exists():
        for name in sorted(os.listdir(log)):
            os.replace(log / name, folder / name)
        sync(folder)
        log.rmdir()


def recover(folder: Path) -> None:
    """
    Finish what a killed run began to write into a folder, and remove and report its leftovers.

    Parameters
    ----------
    folder
        Folder for results; it need not exist.

    """
    if os.path.isdir(folder):
        folder = Path(os.path.realpath(folder))
        with locked(folder.parent):
            _remove_leftovers(folder.parent)
        with locked(folder):
            _remove_leftovers(folder)
            _finish(folder)


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """
    Let no run replace the files of a folder during the block.

    Raises
    ------
    OSError
        A killed run has left moves to finish, and the folder cannot be written.

    """
    while True:
        with locked(folder, exclusive=False):
            if not os.path.exists(folder / LOG):
                yield
                return
        with locked(folder):
            _finish(folder)


def sha256(path: Path) -> str:
    """Return the SHA-256 digest of a file, hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def is_of_other_run(path: Path) -> bool:
    """
    Return whether a file differs from the one that the results beside it describe.

    Parameters
    ----------
    path
        A file, for instance model.yaml. Without results beside it that list its digest, the result
        is False.

    """
    listed = []
    for name in MANIFESTS:
        with suppress(OSError, ValueError, RecursionError, KeyError, TypeError):
            listed.append(json.loads((path.parent / name).read_bytes())['files'][path.name])
    return bool(listed) and sha256(path) not in listed
