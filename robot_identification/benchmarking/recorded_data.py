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
"""Recordings of real arms as data sets, each described by a YAML file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import os
from pathlib import Path

from robot_identification.arm import load_arm
from robot_identification.benchmarking.data import BenchmarkCase, BenchmarkData
from robot_identification.errors import ConfigurationError
from robot_identification.recording import load_recording, Recording
from robot_identification.signals import process
from robot_identification.yaml_file import read_typed, read_yaml

FOLDER = Path(__file__).parent
VARIABLE = 'ROBOT_IDENTIFICATION_DATASETS'
"""Environment variable with the folder of recordings."""
OWN = 'benchmark.yaml'
"""Name of the description in a folder with recordings."""


@dataclass(frozen=True)
class SplitFile:
    """
    A split in the description of a data set.

    Parameters
    ----------
    fit, window
        File of the recording to fit, and its first and last sample (exclusive); all if None.
    held_out, held_out_window
        The same of the recording to predict.
    blocks
        Instead of `held_out`: the window is cut into so many blocks of time, and each is predicted
        from a fit to all others.

    """

    fit: str
    window: tuple[int, int] | None = None
    held_out: str = ''
    held_out_window: tuple[int, int] | None = None
    blocks: int = 0


@dataclass(frozen=True)
class DataFile:
    """
    Description of recordings.

    Parameters
    ----------
    robot
        Name of a shipped robot, or path of a robot YAML, relative to the description.
    splits
        Splits by name.
    folder
        Folder of the recordings and of the URDF, relative to the description or to the folder in
        `ROBOT_IDENTIFICATION_DATASETS`.
    summary, bibtex
        As for `BenchmarkData`.

    """

    robot: str
    splits: Mapping[str, SplitFile]
    folder: str = '.'
    summary: str = ''
    bibtex: str = ''


class RecordedData(BenchmarkData):
    """
    Recordings that a YAML file describes.

    Parameters
    ----------
    path
        The YAML file; `DataFile` lists its keys.

    Raises
    ------
    ConfigurationError
        The file cannot be read, or describes a split that cannot be used.

    """

    drawn = False

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        label = f"the data set '{path}'"
        self._file: DataFile = read_typed(
            DataFile, read_yaml(path, 'data set', ConfigurationError), label, ConfigurationError)
        self.name = self.path.parent.name if self.path.name == OWN else self.path.stem
        self.summary, self.bibtex = self._file.summary, self._file.bibtex
        folders = [self.path.parent / self._file.folder]
        if os.environ.get(VARIABLE):
            folders.append(Path(os.environ[VARIABLE]) / self._file.folder)
        files = {each for split in self._file.splits.values()
                 for each in (split.fit, split.held_out) if each}
        found = [folder for folder in folders if all((folder / each).exists() for each in files)]
        self.missing = '' if found else (
            f"{', '.join(sorted(files))}: not in {' or '.join(map(str, folders))}; set "
            f'{VARIABLE} to the folder with the recordings')
        self.folder = found[0] if found else folders[0]
        for name, split in self._file.splits.items():
            if bool(split.held_out) == bool(split.blocks) or split.blocks == 1:
                raise ConfigurationError(
                    f"{label}, split '{name}': give either held_out, a recording of another "
                    'motion, or blocks, a number of at least 2')

    def splits(self) -> Sequence[str]:
        """Return the names of the splits; 'NAME 2/5' is the second of five blocks."""
        return [f'{name} {k + 1}/{split.blocks}' if split.blocks else name
                for name, split in self._file.splits.items() for k in range(split.blocks or 1)]

    def load(self, split: str, seed: int) -> BenchmarkCase:
        """
        Return the case of a split; the seed has no influence.

        Raises
        ------
        ConfigurationError
            The recordings are missing.
        RobotIdentificationError
            The robot or a recording cannot be used.

        """
        if self.missing:
            raise ConfigurationError(self.missing)
        name = split if split in self._file.splits else split.rpartition(' ')[0]
        chosen, own = self._file.splits[name], self.path.parent / self._file.robot
        arm = load_arm(own if own.is_file() else self._file.robot, self.folder)
        recording = load_recording(self.folder / chosen.fit, arm)
        if chosen.blocks:
            block = int(split.rpartition(' ')[2].partition('/')[0]) - 1
            pieces, other = _leave_out(recording, chosen, block)
        else:
            pieces = [_cut(recording, chosen.window)]
            other = _cut(load_recording(self.folder / chosen.held_out, arm),
                         chosen.held_out_window)
        first = process(pieces[0], arm)
        *others, held_out = (process(piece, arm, decimation_cutoff=first.decimation_cutoff)
                             for piece in (*pieces[1:], other))
        return BenchmarkCase(arm, (first, *others), held_out)


def _cut(recording: Recording, window: tuple[int, int] | None) -> Recording:
    return recording.window(window[0], window[1]) if window else recording


def _leave_out(recording: Recording, split: SplitFile,
               block: int) -> tuple[list[Recording], Recording]:
    """Return the pieces of a recording around a block, the longest first, and the block."""
    first, last = split.window or (0, len(recording))
    edges = [first + (last - first) * k // split.blocks for k in range(split.blocks + 1)]
    parts = [(first, edges[block]), (edges[block + 1], last)]
    pieces = [recording.window(a, b) for a, b in parts if b > a]
    return (sorted(pieces, key=len, reverse=True),
            recording.window(edges[block], edges[block + 1]))


def find_recorded_data() -> list[RecordedData]:
    """Return the shipped descriptions and those in `ROBOT_IDENTIFICATION_DATASETS`."""
    paths = sorted((FOLDER / 'data').glob('*.yaml'))
    if os.environ.get(VARIABLE):
        paths += sorted(Path(os.environ[VARIABLE]).glob(f'*/{OWN}'))
    return [RecordedData(path) for path in paths]
