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
Program that converts joint states of a ROS 1 bag to ROS 2: python ros1_to_sqlite.py IN OUT LIMIT.

OUT is a SQLite file of rosbag2. Conversion ends if messages need more than LIMIT bytes.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
import sqlite3

from robot_identification.log_formats.program import run_program
from rosbags.rosbag1 import Reader
from rosbags.typesys import get_typestore, Stores

TYPE = 'sensor_msgs/msg/JointState'
SCHEMA = """
CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,
    serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL);
CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL,
    timestamp INTEGER NOT NULL, data BLOB NOT NULL);
"""


def main(source: str, target: str, limit: int) -> int | None:
    """Convert a bag, or return the size of its messages if they are too large."""
    store, size = get_typestore(Stores.ROS2_HUMBLE), 0
    with closing(sqlite3.connect(target)) as database, Reader(Path(source)) as reader:
        database.executescript(SCHEMA)
        database.executemany(
            'INSERT INTO topics VALUES (?, ?, ?, ?, ?)',
            [(number, name, topic.msgtype or 'unknown', 'cdr', '')
             for number, (name, topic) in enumerate(reader.topics.items())])
        numbers = {name: number for number, name in enumerate(reader.topics)}
        connections = [each for each in reader.connections if each.msgtype == TYPE]
        for connection, received, raw in reader.messages(connections) if connections else ():
            data = bytes(store.ros1_to_cdr(raw, TYPE))
            size += len(data)
            if size > limit:
                return size
            database.execute('INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)',
                             (numbers[connection.topic], received, data))
        database.commit()
    return None


if __name__ == '__main__':
    run_program(main)
