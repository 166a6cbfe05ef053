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
"""Names of the signals in files, and their units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arm.recording_block import JOINT, SIGNAL_KEYS, unit_factor
from robot_identification.arrays import Array
from robot_identification.errors import RecordingError, UnknownNameError
from robot_identification.scratch import mapped

SHOWN = 20    # names of a file that a sentence lists


@dataclass(frozen=True)
class Key:
    """
    One name under which a signal is looked for.

    Parameters
    ----------
    name
        Name of the column or array, or its beginning: `q` of `q_<joint>`; with `{joint}` in it
        the whole name of each joint's column.
    aliases
        What the file calls the joints, by joint.
    factor
        From the unit of the file to SI; by joint where each has its own.
    angular
        Whether the unit is one of angles, so that joints that slide keep theirs.

    """

    name: str
    aliases: Mapping[str, str]
    factor: float | Mapping[str, float] = 1.0
    angular: bool = False

    def columns(self, present: Sequence[str], joints: Sequence[str]) -> list[str]:
        """
        Return the columns that hold the signal of each joint, whether they are there or not.

        Parameters
        ----------
        present
            Columns of the file.
        joints
            Names of the joints.

        """
        called = [self.aliases.get(joint, joint) for joint in joints]
        if JOINT in self.name:
            return [self.name.replace(JOINT, alias) for alias in called]
        wanted = [f'{self.name}_{alias}' for alias in called]
        if len(joints) == 1 and self.name in present and wanted[0] not in present:
            return [self.name]
        return wanted

    def to_si(self, values: Array, joints: Sequence[str], arm: Arm | None) -> Array:
        """
        Return values in SI units.

        Parameters
        ----------
        values
            (N, n) as recorded, or (N,) of one joint.
        joints
            The n joints.
        arm
            Says which of them slide.

        """
        if self.factor == 1.0:
            return values
        if isinstance(self.factor, Mapping):
            factors = np.array([self.factor[joint] for joint in joints])
        else:
            slides = set() if arm is None or not self.angular else {
                joint for joint, slide in zip(arm.joint_names, arm.prismatic) if slide}
            factors = np.array([1.0 if joint in slides else self.factor for joint in joints])
        scaled: Array = mapped(lambda part: part * factors, values)
        return scaled

    def seconds(self, stamps: Array) -> Array:
        """Return stamps in seconds; those of other units from the first on, for their digits."""
        factor = self.factor
        if not isinstance(factor, float) or factor == 1.0:
            return stamps
        seconds: Array = mapped(lambda part: (part - stamps[:1]) * factor, stamps)
        return seconds


def signal_keys(arm: Arm | None, keys: Mapping[str, Any] | None) -> dict[str, tuple[Key, ...]]:
    """
    Return the names under which each signal is looked for in a file, first choice first.

    A name that the robot YAML or the caller gives comes before the standard one, under which this
    suite writes its own files.

    Parameters
    ----------
    arm
        Its robot YAML may name the signals, under `recording`.
    keys
        A block of the same kind that overrides it key by key.

    Raises
    ------
    UnknownNameError
        A signal that recordings do not have is named.
    ConfigurationError
        A unit is not known.

    """
    block: dict[str, Any] = {}
    for given in (arm.recording_keys if arm is not None else {}, keys or {}):
        for signal in given:
            if signal not in (*SIGNAL_KEYS, 'names', 'units', 'topic', 'stamps'):
                raise UnknownNameError('signal of a recording', signal, SIGNAL_KEYS)
        block.update(given)
    units, names = block.get('units', {}), block.get('names', {})
    if arm is not None and not isinstance(names, Mapping):
        names = dict(zip(arm.joint_names, names, strict=True))
    aliases = {joint: str(name) for joint, name in names.items()}
    found: dict[str, tuple[Key, ...]] = {}
    for signal in SIGNAL_KEYS:
        unit = units.get(signal, units.get('q') if signal == 'command' else None)
        factor = {joint: _factor(signal, own) for joint, own in unit.items()} if isinstance(
            unit, Mapping) else _factor(signal, unit)
        own = Key(block.get(signal, signal), aliases, factor,
                  signal in ('q', 'v', 'command') and isinstance(unit, str))
        standard = Key(signal, {})
        found[signal] = (own,) if own == standard else (own, standard)
    return found


def _factor(signal: str, unit: Any) -> float:
    return 1.0 if unit is None else unit_factor(signal, unit, '`recording: {units: ...}`')


def named(keys: Iterable[Key]) -> list[str]:
    """Return the names of keys, each once."""
    return list(dict.fromkeys(key.name for key in keys))


def _listed(names: Iterable[str]) -> str:
    whole = list(names)
    more = f' and {len(whole) - SHOWN} more' if len(whole) > SHOWN else ''
    return ', '.join(name[:60] for name in whole[:SHOWN]) + more


def missing(place: str, what: str, names: Iterable[str], present: Iterable[str],
            signal: str) -> RecordingError:
    """
    Return the error for a signal that is not in a file.

    Parameters
    ----------
    place, what
        How to call the file, and its parts: 'array' or 'column'.
    names, present
        What was looked for, and what there is.
    signal
        The signal that it should hold.

    """
    wanted = ', '.join(f"'{name}'" for name in names)
    return RecordingError(
        f'{place} has no {what} {wanted}; it has: {_listed(present)}. Rename it, or name it in '
        f'the robot YAML: `recording: {{{signal}: NAME}}` (`init --recording` proposes the block)')
