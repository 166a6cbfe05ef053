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
"""Recording: the measured signals of a robot motion, checked for shape, order and units."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
import csv
from dataclasses import dataclass, field, KW_ONLY, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arm import Arm
from robot_identification.arm.urdf_check import MAX_NUMBER
from robot_identification.arrays import Array, column_range, read_only
from robot_identification.errors import ListedAttributes, RecordingError
from robot_identification.files import atomic_write
from robot_identification.recording import columns, effort, stamps
from robot_identification.recording.column_source import ColumnSource, frame_arrays

EFFORTS = ('tau', 'current')
DEGREES = 180 / np.pi
COMPARED = 65_536    # maximum samples at which v is compared with the derivative of q
LARGEST_STAMP = 1e19    # largest magnitude of a stamp: nanoseconds since 1970 are 1.8e18


@dataclass(frozen=True, eq=False)
class Recording(ListedAttributes):
    """
    The measured signals of n joints at N instants, with read-only arrays.

    The stamps of a recording increase strictly. Up to 5 % of the given samples may be late, and
    up to 5 % may repeat a stamp: late samples are sorted, repeated ones are dropped, and both are
    counted. Signals of one joint may be given with the shape (N,).

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
        Motor currents, (N, n) [A], or another signal that times the drive gain is the torque.
    command
        Commanded positions, (N, n) [rad or m], on the side and with the zero of `q`.
    name
        Name of the recording in messages, for instance its file.
    remarks
        Remarks on the file for the user, for instance that its end is missing.
    core
        Rows that belong to this piece of a longer recording alone, see `load_pieces`; None if
        the recording is not a piece. The other rows are the halo: about 5 s of each neighbouring
        piece, in which filters settle. Process all rows and keep the results of the core: the
        cores of consecutive pieces contain each sample of the recording once.
    duplicates, out_of_order
        Number of samples dropped because they repeat a stamp, and number of late samples.

    Raises
    ------
    RecordingError
        Shapes disagree, values are not finite, there are too few samples, or stamps or
        velocities are in the wrong unit.

    Examples
    --------
    >>> recording = Recording(t, q, tau, joint_names=arm.joint_names)    # doctest: +SKIP
    >>> recording.joint_torque(arm).shape    # (samples, joints) [N m]    # doctest: +SKIP
    (1000, 7)

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
        names = tuple(map(str, np.atleast_1d(self.joint_names)))
        if not names or len(set(names)) < len(names):
            raise RecordingError(f'{label} must name its joints, each once: it names '
                                 f'{", ".join(names) or "none"}')
        t = _numbers(self.t, 't', label)
        if t.ndim != 1:
            raise RecordingError(f'{label}: the stamps t have the shape {t.shape}, not (N,)')
        _check_finite(t[:, None], 't', ('t',), None, label)
        given: dict[str, Any] = {}
        for signal in columns.SIGNALS:
            if getattr(self, signal) is None:
                continue
            values = _numbers(getattr(self, signal), signal, label)
            if values.ndim == 1:
                values = values[:, None]
            if values.shape != (len(t), len(names)):
                raise RecordingError(
                    f'{label}: {signal} has the shape {values.shape}, not ({len(t)}, '
                    f'{len(names)}) for {len(t)} stamps and the joints {", ".join(names)}')
            _check_finite(values, signal, names, t, label)
            given[signal] = values
        rows, t, late, copies, moved = stamps.order_stamps(t, given, label)
        chosen: dict[str, Any] = {signal: read_only(values[rows])
                                  for signal, values in given.items()}
        chosen |= {'joint_names': names, 't': read_only(t), 'out_of_order': late,
                   'duplicates': copies, 'remarks': (*self.remarks, *moved)}
        if self.core is not None and not isinstance(rows, slice):
            chosen['core'] = slice(int(np.sum(rows < self.core.start)),
                                   int(np.sum(rows < self.core.stop)))
        if self.q is None:
            raise RecordingError(f'{label} has no positions q')
        for attribute, value in chosen.items():
            object.__setattr__(self, attribute, value)
        self._check_velocity()

    @classmethod
    def from_blocks(cls, signals: columns.SignalBlocks, arm: Arm | None = None) -> Recording:
        """Return the recording of all blocks of a file; with an arm, its joints in its order."""
        return cls.from_block(columns.merge_blocks(list(signals.blocks)), signals, arm,
                              remarks=signals.remarks())

    @classmethod
    def from_block(cls, block: Mapping[str, Any], signals: columns.SignalBlocks, arm: Arm | None,
                   **fields: Any) -> Recording:
        """Return the recording of one block of signals, with `fields` as its other fields."""
        recording = cls(**block, joint_names=signals.joint_names, name=signals.name, **fields)
        return recording if arm is None else recording.select(arm.joint_names)

    @classmethod
    def from_frame(cls, frame: Any, arm: Arm | None = None) -> Recording:
        """
        Return the recording in a pandas DataFrame with one row per sample.

        Parameters
        ----------
        frame
            The data frame. Times may be dates. If there is no column `t`, an index of dates is
            used.
        arm
            The arm whose joints are read, in its order. Its robot YAML may name the columns.

        Raises
        ------
        RecordingError
            The frame lacks a column.

        """
        source = ColumnSource('data frame', frame_arrays(frame, {}))
        return cls.from_blocks(columns.signal_blocks(source, arm), arm)

    def to_csv(self, path: str | Path) -> None:
        """Write a CSV file atomically; `load_recording` returns exactly the same values."""
        signals = self.signals
        with atomic_write(path) as temporary, temporary.open(
                'w', newline='', encoding='utf-8') as file:
            writer = csv.writer(file, lineterminator='\n')
            writer.writerow(['t', *(f'{signal}_{name}' for signal in signals
                                    for name in self.joint_names)])
            writer.writerows(np.column_stack([self.t, *signals.values()]).tolist())

    def to_npz(self, path: str | Path) -> None:
        """Write a NumPy archive atomically; `load_recording` returns the same values."""
        with atomic_write(path) as temporary, temporary.open('wb') as file:
            np.savez_compressed(file, t=self.t, joint_names=self.joint_names, **self.signals)

    @property
    def signals(self) -> dict[str, Any]:
        """The recorded signals by name, (N, n) each."""
        return {signal: getattr(self, signal) for signal in columns.SIGNALS
                if getattr(self, signal) is not None}

    def __repr__(self) -> str:
        return (f'<Recording {self.name or "without a name"}: {len(self)} samples of '
                f'{len(self.joint_names)} joints, {self.duration:.4g} s at {self.rate:.4g} Hz, '
                f'{", ".join(self.signals)}>')

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
        """Sampling rate: the reciprocal of the median step between stamps [Hz]."""
        return float(1 / np.median(np.diff(self.t)))

    @property
    def gaps(self) -> tuple[tuple[float, float], ...]:
        """Stamp before each gap (a step above `GAP_STEPS` median steps) and its length, [s]."""
        steps = np.diff(self.t)
        wide = steps > stamps.GAP_STEPS * np.median(steps)
        return tuple(zip(self.t[:-1][wide].tolist(), steps[wide].tolist()))

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
                                 f'{first} to {last} exceeds this')
        rows = slice(first, last)
        return self._with(lambda values: values[rows], t=self.t[rows], core=None)

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
            The recording is shorter than `last`, or has fewer than 10 samples in the window.

        """
        if not 0 <= first < last <= self.duration + 1 / self.rate:
            raise RecordingError(f'{self.label} lasts {self.duration:.6g} s; the window {first:g} '
                                 f's to {last:g} s exceeds this')
        rows = np.searchsorted(self.t - self.t[0], (first, last))
        if rows[1] - rows[0] < stamps.SHORTEST:
            raise RecordingError(f'{self.label} has {rows[1] - rows[0]} samples between {first:g} '
                                 f's and {last:g} s; use a longer window')
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
        indices = [self.joint_names.index(name) for name in names]
        return self._with(lambda values: values[:, indices], joint_names=names)

    def joint_position(self, arm: Arm) -> Array:
        """
        Return the positions of an arm's joints, (N, n) [rad or m], in its order.

        Parameters
        ----------
        arm
            The arm, with the gear side and offset of its positions.

        Raises
        ------
        RecordingError
            A joint was not recorded, or the positions are in degrees.

        """
        return effort.require_radians(arm, self.select(arm.joint_names).q, self.label)

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
            Commands were not recorded, or are in degrees.

        """
        command = self.select(arm.joint_names).command
        if command is None:
            raise RecordingError(
                f'{self.label} has no commanded positions; name their columns command_<joint>, or '
                'in the robot YAML: `recording: {command: NAME_{joint}}`')
        return effort.require_radians(arm, command, f'{self.label} (commands)')

    def joint_velocity(self, arm: Arm) -> Array | None:
        """
        Return the velocities of an arm's joints, (N, n), or None if they were not recorded.

        Parameters
        ----------
        arm
            As for `joint_position`.

        """
        v = self.select(arm.joint_names).v
        return None if v is None else effort.joint_velocity(arm, v)

    def joint_torque(self, arm: Arm) -> Array:
        """
        Return the torques at an arm's joints, (N, n) [N m or N], in its order.

        Parameters
        ----------
        arm
            The arm, with the definition of its effort (`arm.effort`; without it, tau is the joint
            torque), its gears, couplings and drive gains.

        Raises
        ------
        RecordingError
            The recording has neither torques nor currents, a drive gain is unknown, or a joint
            without effort is not in `Arm.unmeasured`.

        """
        recording = self.select(arm.joint_names)
        torque = effort.recorded_torque(arm, recording.tau, recording.current, self.label)
        torque = effort.without_unmeasured(arm, torque, self.label)
        return effort.joint_torque(arm, torque, recording.joint_position(arm)) * arm.measured

    def _with(self, pick: Callable[[Array], Array], **changes: Any) -> Recording:
        """Return the recording with `pick` applied to each signal, and with changed fields."""
        changes |= {name: pick(values) for name, values in self.signals.items()}
        return replace(self, **changes)

    def _check_velocity(self) -> None:
        """Raise an error if velocities or positions are in degrees and the others in radians."""
        if self.v is None:
            return
        k = np.unique(np.linspace(1, len(self) - 2, COMPARED).astype(int))
        with np.errstate(over='ignore', invalid='ignore', divide='ignore'):    # tiny steps
            slope = (self.q[k + 1] - self.q[k - 1]) / (self.t[k + 1] - self.t[k - 1])[:, None]
            power = np.sum(slope ** 2, axis=0)
            moving = (power > 0) & np.isfinite(power)
            ratios = (np.sum(self.v[k] * slope, axis=0) / power)[moving]
        ratio = float(np.median(ratios)) if len(ratios) else 1.0
        for factor, wrong in ((DEGREES, 'velocities in degrees per second'),
                              (1 / DEGREES, 'positions in degrees')):
            if 0.85 < ratio / factor < 1.15:
                raise RecordingError(
                    f'{self.label}: the velocities v are {ratio:.3g} times the derivative of the '
                    f'positions q, as with {wrong}; give both in radians')


def _numbers(values: ArrayLike, signal: str, label: str) -> np.ndarray:
    """Return values as an array of floats; raise an error if they are not numbers."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise RecordingError(f'{label}: {signal} is not an array of numbers: {error}') from error


def _check_finite(values: np.ndarray, signal: str, names: tuple[str, ...], t: np.ndarray | None,
                  label: str) -> None:
    """Raise an error for values that are not finite; an effort may be NaN throughout."""
    largest = LARGEST_STAMP if signal == 't' else MAX_NUMBER
    with np.errstate(invalid='ignore'):
        lowest, highest = column_range(values)
        peaks = np.maximum(-lowest, highest)
    if np.all(peaks <= largest):
        return
    dead = np.all(np.isnan(values), axis=0) & (signal in EFFORTS)
    wrong = np.argwhere(~((np.abs(values) <= largest) | dead))
    if not len(wrong):
        return
    sample, column = wrong[0]
    joint = '' if signal == 't' else f" of joint '{names[column]}'"
    instant = '' if t is None else f' (t = {t[sample]:g} s)'
    more = f', and {len(wrong) - 1} more are invalid' if len(wrong) > 1 else ''
    raise RecordingError(
        f'{label}: {signal}{joint} is {values[sample, column]} at sample {sample}{instant}{more}; '
        f'leave these samples out; gaps are allowed')
