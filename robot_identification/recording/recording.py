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
"""Recording: the measured signals of a motion, with checks that need no model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
import csv
from dataclasses import dataclass, field, KW_ONLY
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.errors import RecordingError
from robot_identification.files import atomic_write
from robot_identification.recording import effort, stamps
from robot_identification.recording.columns import (
    merge_blocks,
    signal_blocks,
    SignalBlocks,
    SIGNALS,
)
from robot_identification.recording.csv_file import CsvSource
from robot_identification.recording.numpy_archive import NpzSource
from robot_identification.recording.tables import frame_source

EFFORTS = ('tau', 'current')
DEGREES = 180 / np.pi
LARGEST = 1e9    # largest magnitude of a measured value, in any unit of a driver
BLOCK = 65_536    # samples differentiated at once
LARGEST_STAMP = 1e19    # largest magnitude of a stamp: nanoseconds since 1970 are 1.8e18


@dataclass(frozen=True, eq=False)
class Recording:
    """
    N samples of n joints; 1-D signals become (N, 1), arrays are read-only.

    Stamps increase strictly. Up to 5 % of the samples may be late or repeated: late ones are
    sorted, repeated ones dropped, and both are counted.

    Parameters
    ----------
    t
        Stamps, (N,) [s].
    q
        Positions, (N, n) [rad or m].
    tau
        Efforts as published by the robot, (N, n), with the meaning of `Arm.effort`. NaN throughout
        for a joint without a sensor, see `Arm.unmeasured`.
    joint_names
        Names of the n joints.
    v
        Velocities, (N, n) [rad/s or m/s], where they were measured.
    current
        Motor currents, (N, n) [A], or another command that a drive gain turns into torque.
    command
        Commanded positions, (N, n) [rad or m], on the side and with the zero of `q`.
    name
        Name of the recording in messages, for instance its file.
    remarks
        Remarks on the file for the user, for instance that its end is missing.
    core
        Rows that belong to this piece of a longer recording, see `load_pieces`; None of all rows.
        The other rows are the halo: samples of the neighbouring pieces, up to 10 s at each inner
        end, that filters and derivatives of the core's samples need. Evaluate the whole piece,
        and count only the core: the cores of consecutive pieces are the recording, each sample
        once, with the values that it has in the whole recording.
    duplicates, out_of_order
        Number of samples dropped for a repeated stamp, and number of late stamps.

    Raises
    ------
    RecordingError
        Shapes that disagree, values that are not finite, too few samples, stamps or velocities in
        wrong units.

    """

    t: Array
    q: Array
    tau: Array | None = None
    _: KW_ONLY
    joint_names: tuple[str, ...]
    v: Array | None = None
    current: Array | None = None
    command: Array | None = None
    name: str = ''
    remarks: tuple[str, ...] = ()
    core: slice | None = None
    duplicates: int = field(default=0, init=False)
    out_of_order: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        label = self.label
        names = (self.joint_names,) if isinstance(self.joint_names, str) else self.joint_names
        names = tuple(str(name) for name in names)
        _check_names(names, label)
        t = _numbers(self.t, 't', label)
        if t.ndim != 1:
            raise RecordingError(f'{label}: the stamps t have the shape {t.shape}, not (N,)')
        _check_finite(t[:, None], 't', ('t',), None, label)
        rows, late, copies = stamps.ordered(t, label)

        def chosen(values: np.ndarray) -> np.ndarray:
            return values[rows]

        for signal in SIGNALS:
            if getattr(self, signal) is None:
                continue
            values = _numbers(getattr(self, signal), signal, label)
            if values.ndim == 1:
                values = values[:, None]
            if values.shape != (len(t), len(names)):
                raise RecordingError(
                    f'{label}: {signal} has the shape {values.shape}, not ({len(t)}, '
                    f'{len(names)}) for {len(t)} stamps and the joints {", ".join(names)}')
            dead = np.isnan(values[0]) & (signal in EFFORTS)
            if np.any(dead):
                dead &= np.all(np.isnan(values), axis=0)
            _check_finite(values, signal, names, t, label, dead)
            object.__setattr__(self, signal, read_only(chosen(values)))
        if self.q is None:
            raise RecordingError(f'{label} has no positions q')
        for attribute, value in (('joint_names', names), ('t', read_only(chosen(t))),
                                 ('duplicates', copies), ('out_of_order', late)):
            object.__setattr__(self, attribute, value)
        self._check_velocity()

    @classmethod
    def from_blocks(cls, signals: SignalBlocks, arm: Arm | None = None) -> Recording:
        """Return the recording of a file's signals; of an arm's joints only, in its order."""
        merged: dict[str, Any] = dict(merge_blocks(list(signals.blocks)))
        recording = cls(**merged, joint_names=signals.joint_names, name=signals.name,
                        remarks=signals.remarks())
        return recording if arm is None else recording.select(arm.joint_names)

    @classmethod
    def from_csv(cls, path: str | Path, arm: Arm | None = None,
                 keys: Mapping[str, Any] | None = None) -> Recording:
        """
        Return the recording in a CSV file, see `recording.csv_file.CsvSource`.

        Parameters
        ----------
        path
            The file.
        arm
            Its joints are read, in its order; its robot YAML may name the columns.
        keys
            A block `recording` that overrides the robot YAML's.

        Raises
        ------
        RecordingError
            The file cannot be read, or lacks a column, or a cell is not a number.

        """
        return cls.from_blocks(signal_blocks(CsvSource(path), str(path), arm, keys), arm)

    @classmethod
    def from_npz(cls, path: str | Path, arm: Arm | None = None,
                 keys: Mapping[str, Any] | None = None) -> Recording:
        """Return the recording in a NumPy archive, see `NpzSource` and `from_csv`."""
        return cls.from_blocks(signal_blocks(NpzSource(Path(path)), str(path), arm, keys), arm)

    @classmethod
    def from_frame(cls, frame: Any, arm: Arm | None = None,
                   keys: Mapping[str, Any] | None = None) -> Recording:
        """
        Return the recording in a pandas DataFrame with one row per sample, see `from_csv`.

        Times may be dates. An index of dates is `t` where there is no such column.
        """
        return cls.from_blocks(signal_blocks(frame_source(frame), 'data frame', arm, keys), arm)

    def to_csv(self, path: str | Path) -> None:
        """Write a CSV file, complete or not at all; `from_csv` returns the same bits."""
        signals = self._signals()
        with atomic_write(path) as temporary, temporary.open(
                'w', newline='', encoding='utf-8') as file:
            writer = csv.writer(file, lineterminator='\n')
            writer.writerow(['t', *(f'{signal}_{name}' for signal in signals
                                    for name in self.joint_names)])
            writer.writerows(np.column_stack([self.t, *signals.values()]).tolist())

    def to_npz(self, path: str | Path) -> None:
        """Write a NumPy archive, complete or not at all; `from_npz` returns the same bits."""
        with atomic_write(path) as temporary, temporary.open('wb') as file:
            arrays: dict[str, Any] = {'t': self.t, 'joint_names': np.array(self.joint_names)}
            np.savez_compressed(file, **arrays, **self._signals())

    def _signals(self) -> dict[str, Any]:
        """Return the signals that were recorded."""
        return {signal: getattr(self, signal) for signal in SIGNALS
                if getattr(self, signal) is not None}

    def __repr__(self) -> str:
        measured = ', '.join(s for s in SIGNALS if getattr(self, s) is not None)
        return (f'<Recording {self.name or "without a name"}: {len(self)} samples of '
                f'{len(self.joint_names)} joints, {self.duration:.4g} s at {self.rate:.4g} Hz, '
                f'{measured}>')

    def __len__(self) -> int:
        return len(self.t)

    @property
    def label(self) -> str:
        """The name of the recording in messages."""
        return f"the recording '{self.name}'" if self.name else 'the recording'

    @property
    def duration(self) -> float:
        """Time from the first to the last stamp [s]."""
        return float(self.t[-1] - self.t[0])

    @cached_property
    def rate(self) -> float:
        """One over the median step [Hz]."""
        return float(1 / np.median(np.diff(self.t)))

    @property
    def gaps(self) -> tuple[tuple[float, float], ...]:
        """The gaps: the stamp before each and its length, both [s]."""
        return stamps.gaps(self.t)

    def window(self, first: int, last: int) -> Recording:
        """
        Return the samples `first` to `last` (exclusive).

        Parameters
        ----------
        first, last
            Indices of samples, 0 <= first < last <= N.

        Raises
        ------
        RecordingError
            The recording does not have these samples.

        """
        if not 0 <= first < last <= len(self):
            raise RecordingError(f'{self.label} has the samples 0 to {len(self)}; the window '
                                 f'{first} to {last} is not in it')
        rows = slice(first, last)
        return self._with(self.t[rows], lambda values: values[rows], self.joint_names)

    def between(self, first: float, last: float) -> Recording:
        """
        Return the samples between two times after the first stamp.

        Parameters
        ----------
        first, last
            Times after the first stamp [s], 0 <= first < last; `last` is excluded.

        Raises
        ------
        RecordingError
            The recording is shorter, or has too few samples in between.

        """
        if not 0 <= first < last <= self.duration + 1 / self.rate:
            raise RecordingError(f'{self.label} lasts {self.duration:.6g} s; the window {first:g} '
                                 f's to {last:g} s is not in it')
        rows = np.searchsorted(self.t - self.t[0], (first, last))
        if rows[1] - rows[0] < stamps.SHORTEST:
            raise RecordingError(f'{self.label} has {rows[1] - rows[0]} samples between {first:g} '
                                 f's and {last:g} s; take a longer window')
        return self.window(int(rows[0]), int(rows[1]))

    def select(self, joint_names: Iterable[str]) -> Recording:
        """
        Return the recording of the given joints, in the given order.

        Parameters
        ----------
        joint_names
            Names of the joints.

        Raises
        ------
        RecordingError
            A joint was not recorded.

        """
        names = tuple(joint_names)
        if names == self.joint_names:
            return self
        missing = [name for name in names if name not in self.joint_names]
        if missing:
            raise RecordingError(
                f"{self.label} does not have the joint '{', '.join(missing)}'; it has: "
                f'{", ".join(self.joint_names)}. Record all joints of the arm, or lock those that '
                f'stand still')
        columns = [self.joint_names.index(name) for name in names]
        return self._with(self.t, lambda values: values[:, columns], names, self.core)

    def joint_position(self, arm: Arm) -> Array:
        """
        Return the positions of an arm's joints, (N, n) [rad or m], in its order; maybe read-only.

        Parameters
        ----------
        arm
            The arm, with the gear side and offset of its positions.

        Raises
        ------
        RecordingError
            A joint was not recorded, or positions cannot be radians.

        """
        recording = self.select(arm.joint_names)
        return _joint_position(arm, recording.q, self.label)

    def joint_command(self, arm: Arm) -> Array:
        """
        Return the commanded positions of an arm's joints, (N, n) [rad or m], in its order.

        Parameters
        ----------
        arm
            As for `joint_position`.

        Raises
        ------
        RecordingError
            There are none, or they cannot be radians.

        """
        recording = self.select(arm.joint_names)
        if recording.command is None:
            raise RecordingError(
                f'{self.label} has no commanded positions; name their columns command_<joint>, or '
                'in the robot YAML: `recording: {command: NAME_{joint}}`')
        return _joint_position(arm, recording.command, f'{self.label} (commands)')

    def joint_velocity(self, arm: Arm) -> Array | None:
        """
        Return the velocities of an arm's joints, (N, n), or None where none were recorded.

        Parameters
        ----------
        arm
            As for `joint_position`.

        """
        v = self.select(arm.joint_names).v
        return None if v is None else effort.joint_velocity(arm, v)

    def joint_torque(self, arm: Arm) -> Array:
        """
        Return the torques at an arm's joints, (N, n) [N m or N], in its order; maybe read-only.

        Parameters
        ----------
        arm
            The arm, with the definition of its effort (`arm.effort`; without it, tau is the joint
            torque), its gears, couplings and drive gains.

        Raises
        ------
        RecordingError
            The recording has no efforts, or currents without a gain.

        """
        recording = self.select(arm.joint_names)
        raw, is_current = effort.raw_effort(arm, recording.tau, recording.current, self.label)
        q = recording.joint_position(arm)
        if not is_current and effort._is_joint_torque(arm):
            effort.without_unmeasured(arm, raw[:1], self.label)    # NaN in all rows or none
            return raw

        torque = effort.without_unmeasured(arm, raw, self.label)
        if is_current:
            torque = effort.torque_of_current(arm, torque, self.label)
        at_joints: Array = effort.joint_torque(arm, torque, q) * arm.measured
        return at_joints

    def _with(self, t: Array, pick: Any, names: tuple[str, ...],
              core: slice | None = None) -> Recording:
        signals: dict[str, Any] = {name: pick(values) for name, values in self._signals().items()}
        return Recording(t, **signals, joint_names=names, name=self.name, remarks=self.remarks,
                         core=core)

    def _check_velocity(self) -> None:
        if self.v is None:
            return
        with np.errstate(over='ignore', invalid='ignore', divide='ignore'):    # hostile stamps
            power, product = np.zeros((2, len(self.joint_names)))
            for first in range(0, len(self) - 2, BLOCK):
                near = slice(first, first + BLOCK + 2)    # differences are central
                slope = np.gradient(self.q[near], self.t[near], axis=0)[1:-1]
                power += np.einsum('ij,ij->j', slope, slope)
                product += np.einsum('ij,ij->j', self.v[near][1:-1], slope)
            moving = (power > 0) & np.isfinite(power)
            ratios = product[moving] / power[moving]
        ratio = float(np.median(ratios)) if len(ratios) else 1.0
        for factor, wrong in ((DEGREES, 'velocities in degrees per second'),
                              (1 / DEGREES, 'positions in degrees')):
            if 0.85 < ratio / factor < 1.15:
                raise RecordingError(
                    f'{self.label}: the velocities v are {ratio:.3g} times the derivative of the '
                    f'positions q, as {wrong} would be; give both in radians')


def _joint_position(arm: Arm, q: Array, label: str) -> Array:
    """Return joint positions from recorded ones, (N, n); refuse degrees."""
    q = effort.joint_position(arm, q)
    effort.check_radians(arm, q, label)
    return q


def _check_names(names: tuple[str, ...], label: str) -> None:
    if not names:
        raise RecordingError(f'{label} names no joint')
    for name in names:
        if names.count(name) > 1:
            raise RecordingError(f"{label} names the joint '{name}' twice")


def _numbers(values: ArrayLike, signal: str, label: str) -> np.ndarray:
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise RecordingError(f'{label}: {signal} is not an array of numbers: {error}') from error


def _check_finite(values: np.ndarray, signal: str, names: tuple[str, ...], t: np.ndarray | None,
                  label: str, dead: np.ndarray | bool = False) -> None:
    largest = LARGEST_STAMP if signal == 't' else LARGEST
    if not values.size:
        return
    with np.errstate(invalid='ignore'):
        lowest, highest = np.min(values, axis=0), np.max(values, axis=0)
        if np.all(dead | (lowest >= -largest) & (highest <= largest)):
            return
        wrong = np.argwhere(~((np.abs(values) <= largest) | dead))
    sample, column = wrong[0]
    joint = '' if signal == 't' else f" of joint '{names[column]}'"
    instant = '' if t is None else f' (t = {t[sample]:g} s)'
    more = f', and {len(wrong) - 1} more are no measurements' if len(wrong) > 1 else ''
    raise RecordingError(
        f'{label}: {signal}{joint} is {values[sample, column]} at sample {sample}{instant}{more}; '
        f'leave these samples out, gaps are dealt with')
