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
"""Names of the signals in files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from robot_identification.arm import Arm
from robot_identification.errors import RecordingError, UnknownNameError

DEFAULT_KEYS = {name: name for name in ('t', 'q', 'v', 'tau', 'current', 'joint_names')}


def signal_keys(arm: Arm | None, keys: Mapping[str, str] | None) -> dict[str, tuple[str, ...]]:
    """
    Return the names under which each signal is looked for in a file, first choice first.

    A name that the robot YAML or the caller gives comes before the standard one, under which this
    suite writes its own files.

    Parameters
    ----------
    arm
        Its robot YAML may name the signals, under `recording`.
    keys
        Names that override both.

    Raises
    ------
    UnknownNameError
        A signal that recordings do not have is named.

    """
    chosen = dict(DEFAULT_KEYS)
    for given in (arm.recording_keys if arm is not None else {}, keys or {}):
        for signal in given:
            if signal not in DEFAULT_KEYS:
                raise UnknownNameError('signal of a recording', signal, DEFAULT_KEYS)
        chosen.update(given)
    return {signal: tuple(dict.fromkeys((chosen[signal], standard)))
            for signal, standard in DEFAULT_KEYS.items()}


SHOWN = 20    # names of a file that a sentence lists


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
        f'the robot YAML: `recording: {{{signal}: NAME}}`')
