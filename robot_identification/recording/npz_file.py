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
"""Recordings as NumPy archives."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.errors import RecordingError
from robot_identification.files import written_whole
from robot_identification.recording.archive import NumpyArchive
from robot_identification.recording.arrays_of_signals import recording_of_arrays
from robot_identification.recording.recording import Recording, SIGNALS


def read_npz(path: str | Path, arm: Arm | None = None,
             keys: Mapping[str, Any] | None = None) -> Recording:
    """
    Read a recording from a NumPy archive.

    Parameters
    ----------
    path
        An `.npz` with arrays t (N,), q (N, n), and v, tau, current (N, n) as far as recorded.
        Arrays of one joint may be (N,). Its `joint_names` (n,) may be left out when the arm is
        given: columns are then in the arm's order.
    arm
        Its joints are selected, in its order; its `recording_keys` name the arrays.
    keys
        A block of the same kind, before that of the arm.

    Raises
    ------
    RecordingError
        The file cannot be read, or lacks an array or a joint.

    """
    path = Path(path)
    with NumpyArchive(path, 'recording', RecordingError) as archive:
        return recording_of_arrays(archive, str(path), arm, keys)


def write_npz(recording: Recording, path: str | Path) -> None:
    """
    Write a recording that `read_npz` reads back to the last bit, whole or not at all.

    Parameters
    ----------
    recording
        What to write.
    path
        The file.

    """
    arrays: dict[str, Any] = {'t': recording.t, 'joint_names': np.array(recording.joint_names)}
    arrays.update({signal: getattr(recording, signal) for signal in SIGNALS
                   if getattr(recording, signal) is not None})
    with written_whole(path) as temporary, temporary.open('wb') as file:
        np.savez_compressed(file, **arrays)
