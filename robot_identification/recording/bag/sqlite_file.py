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
"""SQLite bag files, also those whose writer was killed."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
import shutil
import sqlite3
import tempfile
from typing import Any, TypeVar

from robot_identification.errors import RecordingError
from robot_identification.recording.bag.mcap_file import Messages
from robot_identification.yaml_file import shown

T = TypeVar('T')


class SqliteFile:
    """
    One SQLite bag file.

    Parameters
    ----------
    path
        The file.

    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.closed = not any(journal.exists() for journal in self._journals())

    def topics(self) -> dict[str, str]:
        """Return the types of the topics by name."""
        with self._open() as database:
            return {self._typed(name, str, 'name of a topic'):
                    self._typed(kind, str, 'type of a topic')
                    for name, kind in database.execute('SELECT name, type FROM topics')}

    def messages(self, topics: Collection[str]) -> Messages:
        """
        Yield topic, time of reception [ns] and data in the order of time.

        Parameters
        ----------
        topics
            Names.

        Raises
        ------
        RecordingError
            It is not a bag.

        """
        with self._open() as database:
            names = {key: name for key, name in database.execute('SELECT id, name FROM topics')
                     if name in topics}
            marks = ', '.join('?' * len(names))
            for key, received, data in database.execute(
                    f'SELECT topic_id, timestamp, data FROM messages WHERE topic_id IN ({marks}) '
                    f'ORDER BY timestamp, id', tuple(names)):
                yield (names[key], self._typed(received, int, 'time of a message'),
                       self._typed(data, bytes, 'message'))

    def _typed(self, value: Any, kind: type[T], what: str) -> T:
        """Return a value that has its type: any column of SQLite holds any type."""
        if not isinstance(value, kind):
            raise RecordingError(f"'{self.path}' is not a bag that can be read: a {what} is "
                                 f'{shown(value)!r}')
        return value

    def _check_tables(self, database: sqlite3.Connection) -> None:
        """Refuse views and computed columns: they can run for ever, and grow without bound."""
        for table in ('topics', 'messages'):
            kinds = [kind for kind, in database.execute(
                'SELECT type FROM sqlite_master WHERE name = ?', (table,))]
            hidden = any(column[-1] for column in database.execute(
                f'PRAGMA table_xinfo({table})')) if kinds == ['table'] else True
            if hidden:
                raise RecordingError(f"'{self.path}' is not a bag that can be read: it has no "
                                     f"plain table '{table}'")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        if not self.path.is_file():
            raise RecordingError(f"there is no bag file '{self.path}'")
        with tempfile.TemporaryDirectory() as folder:
            try:
                with closing(self._connect(Path(folder))) as database:
                    self._check_tables(database)
                    yield database
            except (sqlite3.Error, UnicodeError, OverflowError) as error:
                raise RecordingError(f"'{self.path}' is not a bag that can be read: "
                                     f'{error}') from error

    def _journals(self) -> list[Path]:
        return [self.path.with_name(self.path.name + end) for end in ('-wal', '-journal')]

    def _connect(self, folder: Path) -> sqlite3.Connection:
        if self.closed:
            return sqlite3.connect(f'{self.path.resolve().as_uri()}?immutable=1', uri=True)
        # the writer was killed, or still writes: finish its journal in a copy
        for file in (self.path, *self._journals()):
            if file.exists():
                shutil.copy(file, folder)
        return sqlite3.connect(folder / self.path.name)
