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
"""Reading a recording of whatever kind a path is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from robot_identification.arm import Arm
from robot_identification.errors import RecordingError
from robot_identification.recording.bag import is_bag, read_bag
from robot_identification.recording.csv_file import read_csv
from robot_identification.recording.npz_file import read_npz
from robot_identification.recording.recording import Recording

READERS: dict[str, Callable[[Path, Arm | None], Recording]] = {'.csv': read_csv, '.npz': read_npz}


def load_recording(path: str | Path, arm: Arm | None = None,
                   window: tuple[int, int] | None = None,
                   topic: str | None = None) -> Recording:
    """
    Read a recording.

    Parameters
    ----------
    path
        A file of one of the kinds in `READERS`, or a bag of rosbag2: its folder, `.mcap`, `.db3`.
    arm
        Its joints are selected, in its order, and its robot YAML names the signals.
    window
        First and last (exclusive) sample to keep.
    topic
        Of the joint states, in a bag with several.

    Raises
    ------
    RecordingError
        The file is of another kind, cannot be read, or does not have what is asked for.

    """
    path = Path(path)
    if not path.exists():
        raise RecordingError(f"there is no recording '{path}'")
    reader = READERS.get(path.suffix.lower())
    if path.is_dir() or is_bag(path):
        recording = read_bag(path, arm, topic)
        return recording if window is None else recording.window(*window)
    if topic is not None:
        raise RecordingError(f"the recording '{path}' is no bag, it has no topic '{topic}'")
    if reader is None:
        raise RecordingError(f"the recording '{path}' is of no known kind; there is: "
                             f"{', '.join(sorted(READERS))}, and bags of rosbag2")
    recording = reader(path, arm)
    return recording if window is None else recording.window(*window)
