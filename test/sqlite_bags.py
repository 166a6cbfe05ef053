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
"""SQLite bags as rosbag2 writes them; the package itself reads them but only writes MCAP."""

import sqlite3

from mcap.reader import make_reader
from robot_identification.recording.bag.write import BagWriter, RELIABLE, Topic, write_bag

SCHEMA = """
    PRAGMA journal_mode=WAL;
    PRAGMA synchronous=NORMAL;
    CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT NULL);
    CREATE TABLE metadata(id INTEGER PRIMARY KEY, metadata_version INTEGER NOT NULL,
                          metadata TEXT NOT NULL);
    CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,
                        serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL,
                        type_description_hash TEXT NOT NULL);
    CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT NOT NULL,
                                     encoding TEXT NOT NULL,
                                     encoded_message_definition TEXT NOT NULL,
                                     type_description_hash TEXT NOT NULL);
    CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL,
                          timestamp INTEGER NOT NULL, data BLOB NOT NULL);
    CREATE INDEX timestamp_idx ON messages (timestamp ASC);
    INSERT INTO schema VALUES (4, 'rosbag2');
"""


class SqliteBagWriter:
    """Writer of a SQLite bag with a write-ahead log; each flush is a transaction."""

    def __init__(self, path, topics):
        path.mkdir(parents=True)
        self.file = path / f'{path.name}_0.db3'
        self.database = sqlite3.connect(self.file, check_same_thread=False)
        self.database.executescript(SCHEMA)
        self.rows = []
        for number, topic in enumerate(topics, start=1):
            self.database.execute("INSERT INTO topics VALUES (?, ?, ?, 'cdr', ?, '')",
                                  (number, topic.name, topic.kind, RELIABLE))
        for kind, definition in {topic.kind: topic.definition for topic in topics}.items():
            self.database.execute(
                'INSERT INTO message_definitions (topic_type, encoding, '
                "encoded_message_definition, type_description_hash) VALUES (?, 'ros2msg', ?, '')",
                (kind, definition))
        self.database.commit()

    def write(self, topic, received, data):
        self.rows.append((topic + 1, received, data))

    def flush(self):
        rows, self.rows = self.rows, []
        self.database.executemany(
            'INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)', rows)
        self.database.commit()

    def close(self):
        self.flush()
        self.database.execute('PRAGMA journal_mode=DELETE')
        self.database.close()


def write_sqlite_bag(recording, path, topic='/joint_states'):
    """Write a recording like `write_bag`, but in SQLite and without metadata."""
    beside = path.with_name(f'{path.name}_mcap')
    write_bag(recording, beside, topic=topic)
    writer = SqliteBagWriter(path, [Topic(topic)])
    with next(beside.glob('*.mcap')).open('rb') as file:
        for _, _, message in make_reader(file).iter_messages():
            writer.write(0, message.log_time, message.data)
    writer.close()


BAG_WRITERS = {'mcap': BagWriter, 'sqlite3': SqliteBagWriter}
WRITERS = {'mcap': write_bag, 'sqlite3': write_sqlite_bag}
