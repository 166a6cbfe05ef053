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
"""Bags: a folder of rosbag2, or one of its files, whatever wrote it and however it ended."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
import os
from pathlib import Path
import re
import tempfile
from typing import Any

from robot_identification.errors import RecordingError
from robot_identification.recording.bag.bag_files import (
    decompressor,
    McapFile,
    Messages,
    RATIO,
    ROOM,
    SqliteFile,
)
from robot_identification.yaml_file import read_yaml, Schema

LARGEST_MESSAGE = 1_000_000    # bytes of a joint state; seven joints have 400
METADATA = 'metadata.yaml'
COMPRESSED = '.zstd'
_S = Schema(RecordingError)
METADATA_FILE = _S.record({'rosbag2_bagfile_information': _S.record(
    {'relative_file_paths': _S.items(_S.text)},
    {'compression_mode': _S.text,
     'topics_with_message_count': _S.items(_S.record({
         'topic_metadata': _S.record({'name': _S.text}), 'message_count': _S.integer}))})})


BagFile = McapFile | SqliteFile
BAG_FILES: dict[str, Callable[[Path], BagFile]] = {'.mcap': McapFile, '.db3': SqliteFile}


def is_bag(path: Path) -> bool:
    """Return whether a path is a bag: a folder with bag files, or such a file."""
    if path.is_dir():
        return (path / METADATA).exists() or bool(_found(path))
    return _storage(path) in BAG_FILES


class Bag:
    """
    All files of a bag in their order.

    Parameters
    ----------
    path
        The folder, or one file: `.mcap`, `.db3`, either with `.zstd` behind it.

    Raises
    ------
    RecordingError
        There is no bag.

    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._by_message = False
        self._counts: dict[str, int] = {}    # of messages by topic, as the metadata says
        self._unclosed: list[str] = []
        self.decoded: dict[str, Any] = {}    # by topic, see `joint_state_publishers`
        if self.path.is_dir():
            self.files = self._listed()
        elif self.path.is_file():
            self.files = (self.path,)
        else:
            raise RecordingError(f"there is no recording '{path}'")
        for file in self.files:
            if _storage(file) not in BAG_FILES:
                raise RecordingError(f"the bag file '{file}' is of no known kind; there is: "
                                     f"{', '.join(sorted(BAG_FILES))}, or those with {COMPRESSED}")

    def topics(self) -> dict[str, str]:
        """Return the types of the topics by name."""
        types: dict[str, str] = {}
        for file in self._opened():
            types.update(file.topics())
        return types

    def messages(self, topics: Collection[str]) -> Messages:
        """
        Yield topic, time of reception [ns] and data.

        Parameters
        ----------
        topics
            Names.

        """
        self._unclosed = []
        for path, file in zip(self.files, self._opened()):
            if not self._by_message:
                yield from file.messages(topics)
                if not file.closed:
                    self._unclosed.append(path.name)
                continue
            unpack = decompressor('zstd')
            for name, received, data in file.messages(topics):
                try:
                    yield name, received, unpack(data, LARGEST_MESSAGE)
                except ValueError as error:
                    raise RecordingError(f"a message of '{self.path}' is damaged: {error}"
                                         ) from error

    def remarks(self, topic: str, count: int) -> tuple[str, ...]:
        """
        Return sentences about what is missing in a bag that was read.

        Parameters
        ----------
        topic
            Topic that was read.
        count
            How many messages there were on it.

        """
        found = [f"the bag file '{name}' has no end: its recorder was killed, or the file is cut; "
                 'what was written before is used' for name in self._unclosed]
        declared = self._counts.get(topic, count)
        if count < declared:
            found.append(f"the bag '{self.path}' has {count} messages on '{topic}', its {METADATA}"
                         f' says {declared}; the others are lost')
        return tuple(found)

    def _opened(self) -> Iterator[BagFile]:
        for file in self.files:
            storage = BAG_FILES[_storage(file)]
            if file.suffix != COMPRESSED:
                yield storage(file)
                continue
            with tempfile.TemporaryDirectory() as folder:
                whole = Path(folder) / file.with_suffix('').name
                try:
                    most = ROOM + RATIO * file.stat().st_size
                    unpacked = decompressor('zstd')(file.read_bytes(), most)
                    if len(unpacked) > most:
                        raise ValueError('it unpacks to more than such a small file can hold')
                    whole.write_bytes(unpacked)
                except (OSError, ValueError) as error:
                    raise RecordingError(f"'{file}' cannot be decompressed: {error}") from error
                yield storage(whole)

    def _listed(self) -> tuple[Path, ...]:
        metadata = self.path / METADATA
        if metadata.exists():
            content = self._metadata(metadata)
            self._by_message = (content.get('compression_mode') or '').lower() == 'message'
            files = [self.path / Path(name).name for name in content['relative_file_paths']]
            missing = [file.name for file in files if not os.path.isfile(file)]
            if missing:
                raise RecordingError(f"the bag '{self.path}' lacks its file {', '.join(missing)}")
            return tuple(files)
        files = _found(self.path)  # its writer was killed
        parquet = min(self.path.glob('data/*/*.parquet'), default=None)
        if not files and parquet is not None:
            raise RecordingError(f"the folder '{self.path}' is a dataset of LeRobot; give one of "
                                 f'its files, as {parquet}')
        if not files:
            raise RecordingError(f"the folder '{self.path}' is not a bag: it has neither a "
                                 f'{METADATA} nor files that end in {" or ".join(BAG_FILES)}')
        return tuple(files)

    def _metadata(self, path: Path) -> dict[str, Any]:
        content = read_yaml(path, 'metadata of a bag', RecordingError)
        METADATA_FILE(content, f"the metadata of a bag '{path}'")
        information: dict[str, Any] = content['rosbag2_bagfile_information']
        self._counts = {
            topic['topic_metadata']['name']: topic['message_count']
            for topic in information.get('topics_with_message_count', [])}
        if information['relative_file_paths']:
            return information
        raise RecordingError(f"the bag '{self.path}' is empty: its {METADATA} names no files")


def _storage(path: Path) -> str:
    return (path.with_suffix('') if path.suffix == COMPRESSED else path).suffix


def _found(folder: Path) -> list[Path]:
    def order(path: Path) -> tuple[int, str]:
        number = re.search(r'_(\d+)$', path.name.split('.')[0])
        return (int(number.group(1)) if number else 0, path.name)
    return sorted((file for file in folder.iterdir() if _storage(file) in BAG_FILES), key=order)
