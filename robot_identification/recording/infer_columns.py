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
"""What the columns of an unknown log may mean: a proposal for the block `recording`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
import re
from typing import Any, Protocol

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arm.recording_block import JOINT, UNITS
from robot_identification.arrays import Array
from robot_identification.errors import RecordingError
from robot_identification.recording import stamps
from robot_identification.recording.servo_range import servo_range, ServoRange
import yaml

WORDS = {
    'q': {'q', 'pos', 'position', 'positions', 'qpos', 'angle', 'angles', 'state', 'jointpos',
          'winkel', 'lage'},
    'v': {'v', 'qd', 'dq', 'vel', 'velocity', 'velocities', 'qvel', 'qdot', 'speed', 'jointvel',
          'rpm', 'geschwindigkeit', 'drehzahl'},
    'tau': {'tau', 'torque', 'torques', 'effort', 'efforts', 'trq', 'jointtorque', 'moment',
            'drehmoment'},
    'current': {'current', 'currents', 'cur', 'i', 'iq', 'motorcurrent', 'strom', 'motorstrom'}}
"""Words in the name of a column that say which signal it holds."""
MEASURED = {'actual', 'measured', 'meas', 'present', 'observation', 'joint', 'joints', 'states',
            'j', 'robot', 'state', 'deg', 'rad', 'follower', 'as', 'm', 'nm', 's', 'amp', 'a',
            'act', 'axis', 'axes', 'achse'}
"""Words that do not make a column less likely to be the one."""
OTHERS = {
    'target', 'desired', 'des', 'cmd', 'command', 'commanded', 'reference', 'ref', 'goal',
    'action', 'setpoint', 'd', 'acc', 'accel', 'acceleration', 'qdd', 'ddq', 'error', 'err',
    'temp', 'temperature', 'temperatures', 'voltage', 'tcp', 'cartesian', 'pose', 'force', 'ext',
    'external', 'hat', 'dtau', 'control', 'window', 'std', 'limit', 'min', 'max', 'leader',
    'gravity', 'friction', 'predicted', 'model', 'soll'}
"""Words of what was commanded, computed or is of another kind."""
COMMANDS = {'command', 'commanded', 'cmd', 'target', 'desired', 'goal', 'action', 'setpoint',
            'reference', 'leader', 'soll'}
"""Words of commanded positions, which stand for a log without efforts."""
STAMPS = {'t', 'time', 'timestamp', 'timestamps', 'times', 'stamp', 'stamps', 'duration', 'clock',
          'elapsed', 'tout', 'zeit', 'zeitstempel', 'temps', 'tiempo'}
_NAMED_UNITS = {'v': 'rpm', 'tau': 'mNm', 'current': 'mA'}
"""Units of a signal that are taken from the names of its columns alone."""
TIME_UNITS = {'s': 's', 'sec': 's', 'secs': 's', 'seconds': 's', 'ms': 'ms', 'msec': 'ms',
              'us': 'us', 'ns': 'ns', 'nsec': 'ns', 'nanoseconds': 'ns'}
MARGIN = 1.05    # of a joint's limits, within which recorded angles are
SAME = 0.15    # relative difference of the velocities to the derivative of the positions
INSPECTED_SAMPLES = 20_000    # samples at the start that decide on units


class ColumnSource(Protocol):
    """
    A file with a number per sample in each of its columns.

    Parameters
    ----------
    names
        Names of the columns.
    kind
        What the file consists of: 'column' or 'array'.
    remarks
        Remarks on what was read so far.

    """

    names: Sequence[str]
    kind: str
    remarks: list[str]

    def blocks(self, columns: Sequence[str]) -> Iterator[Array]:
        """Yield consecutive rows of columns, (N, len(columns)); the stamps come first."""


@dataclass(frozen=True)
class InferredColumns:
    """
    A block `recording` that fits a file.

    Parameters
    ----------
    block
        The block.
    notes
        What was guessed, and what else it might be.
    certain
        Whether every signal has one candidate only.

    """

    block: dict[str, Any]
    notes: tuple[str, ...] = ()
    certain: bool = True


def recording_line(block: Mapping[str, Any]) -> str:
    """Return a block as one line of YAML."""
    flow = yaml.safe_dump(dict(block), default_flow_style=True, sort_keys=False, width=10 ** 6)
    return f'recording: {flow.strip()}'


def infer_columns(source: ColumnSource, arm: Arm) -> InferredColumns | None:
    """
    Return what the columns of a file most likely mean, None where no positions are found.

    Columns of one signal differ in the name of the joint, or in its number. Words of their names
    say which signal they hold; units are those that fit the joints' limits, the clock and the
    derivative of the positions.

    Parameters
    ----------
    source
        The columns.
    arm
        Whose joints are looked for.

    """
    time = _time(source.names)
    groups = _groups(source.names, arm.joint_names)
    ranked: dict[str, list[tuple[int, str]]] = {signal: [] for signal in WORDS}
    for template in groups:
        signal, cost = _signal(template)
        if signal is not None:
            ranked[signal].append((cost, template))
    if time is None or not ranked['q']:
        return None
    block: dict[str, Any] = {'t': time}
    notes, certain = [], True
    names: dict[str, str] | None = None
    for signal, candidates in ranked.items():
        fitting = sorted(item for item in candidates if names in (None, groups[item[1]]))
        if not fitting:
            continue
        block[signal] = fitting[0][1]
        names = groups[fitting[0][1]]
        rivals = [template for cost, template in fitting[1:] if cost == fitting[0][0]]
        if rivals:
            certain = False
            notes.append(f'{signal} may also be {", ".join(rivals)}')
    if names is None:
        return None
    commands = [template for template in groups if groups[template] == names
                and _commands_position(template)]
    if len(commands) == 1 and not {'tau', 'current'} & set(block):
        block['command'] = commands[0]
    if names != {joint: joint for joint in arm.joint_names}:
        block['names'] = {joint: int(name) if name.isdecimal() and str(int(name)) == name
                          else name for joint, name in names.items()}
    if all(name.isdecimal() for name in names.values()):
        notes.append('joints are taken in the order of the arm: ' + ', '.join(arm.joint_names))
    try:
        units, parts = _units(source, block, names, arm)
    except RecordingError as error:
        units, parts = {}, None
        notes.append(f'units are not known, for the columns cannot be read: {error}')
    if parts is not None:
        certain = certain and parts.factors is None
        notes.append(parts.note)
    if units:
        block['units'] = units
    return InferredColumns(block, tuple(notes), certain)


def infer_joint_names(recorded: Sequence[str], joints: Sequence[str]
                      ) -> dict[str, str] | None:
    """
    Return the names of an arm's joints in joint states, None where they are ambiguous.

    Parameters
    ----------
    recorded
        Names in the recording.
    joints
        Names of the arm's joints.

    """
    if set(joints) <= set(recorded):
        return {joint: joint for joint in joints}
    full = [{joint: template.replace(JOINT, names[joint]) for joint in joints}
            for template, names in _named_groups(recorded, joints).items()]
    return full[0] if len(full) == 1 else None


def _words(template: str) -> list[str]:
    text = re.sub(r'([a-z])([A-Z])', r'\1_\2', template.replace(JOINT, ' '))
    return [word for word in re.split(r'[^a-z]+', text.lower()) if word]


def _signal(template: str) -> tuple[str | None, int]:
    """Return the signal that columns of such names hold, and how far-fetched that is."""
    words = _words(template)
    if any(word in OTHERS for word in words):
        return None, 0
    for signal in ('tau', 'current', 'v', 'q'):
        if any(word in WORDS[signal] for word in words):
            return signal, sum(word not in WORDS[signal] | MEASURED for word in words)
    if all(word in MEASURED for word in words):    # the joints' names alone
        return 'q', 10
    return None, 0


def _commands_position(template: str) -> bool:
    """Return whether columns of such names hold what positions were asked for."""
    words = set(_words(template))
    return bool(words & COMMANDS) and words <= COMMANDS | WORDS['q'] | MEASURED


def _time(names: Iterable[str]) -> str | None:
    """Return the column of the stamps: the one with the fewest other words."""
    found = []
    for place, name in enumerate(names):
        words = _words(name)
        if any(word in STAMPS for word in words):
            others = sum(word not in STAMPS and word not in TIME_UNITS for word in words)
            found.append((others, place, name))
    return min(found)[2] if found else None


def _groups(columns: Sequence[str], joints: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return what stands for each joint, by the name of the columns with `{joint}` for it."""
    named = _named_groups(columns, joints)
    seen = {_first(template, names) for template, names in named.items()}
    return {**named, **{template: names
                        for template, names in _numbered_groups(columns, joints).items()
                        if _first(template, names) not in seen}}


def _first(template: str, names: Mapping[str, str]) -> str:
    return template.replace(JOINT, next(iter(names.values())))


def _named_groups(columns: Sequence[str], joints: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the groups of columns in which the joints are named."""
    found: dict[str, dict[str, str]] = {}
    for joint in joints:
        for column in columns:
            for short in _short(joint, joints):
                at = _place(column, short)
                if at is not None:
                    template = f'{column[:at]}{JOINT}{column[at + len(short):]}'
                    found.setdefault(template, {}).setdefault(joint, short)
                    break
    return {template: names for template, names in found.items() if len(names) == len(joints)}


def _short(joint: str, joints: Sequence[str]) -> list[str]:
    """Return what a joint may be called, longest first: without `joint`, without its prefix."""
    found = [joint]
    last = joint.split('/')[-1]
    found.append(last)
    for text in (last.removesuffix('_joint'), last.removeprefix('joint_')):
        found.append(text)
    head = _common(joints)
    found += [text.removeprefix(head) for text in list(found)]
    return list(dict.fromkeys(text for text in found if re.search('[A-Za-z]{2}', text)))


def _common(joints: Sequence[str]) -> str:
    """Return the words with which all joints begin, up to a `_` or `/`."""
    head = joints[0]
    for joint in joints[1:]:
        while not joint.startswith(head):
            head = head[:-1]
    return re.sub(r'[^_/]*$', '', head) if len(joints) > 1 else ''


def _place(column: str, short: str) -> int | None:
    """Return where a name stands in that of a column, as words of their own."""
    for match in re.finditer(re.escape(short), column):
        around = column[max(0, match.start() - 1):match.start()], column[match.end():][:1]
        if not any(letter.isalnum() for letter in around):
            return match.start()
    return None


def _numbered_groups(columns: Sequence[str], joints: Sequence[str]
                     ) -> dict[str, dict[str, str]]:
    """Return the groups of columns that number the joints, from 0 or 1."""
    found: dict[str, dict[int, str]] = {}
    for column in columns:
        for match in re.finditer(r'\d+', column):
            template = f'{column[:match.start()]}{JOINT}{column[match.end():]}'
            found.setdefault(template, {})[int(match.group())] = match.group()
    groups = {}
    for template, numbers in found.items():
        first = min(numbers)
        wanted = range(first, first + len(joints))
        if first <= 1 and all(number in numbers for number in wanted):
            groups[template] = {joint: numbers[k] for joint, k in zip(joints, wanted)}
    return groups


def _units(source: ColumnSource, block: Mapping[str, Any], names: Mapping[str, str],
           arm: Arm) -> tuple[dict[str, Any], ServoRange | None]:
    """Return the units that are not those of the SI, and what else degrees may be."""
    signals = [signal for signal in ('q', 'v') if signal in block]
    columns = [block[signal].replace(JOINT, names[joint])
               for signal in signals for joint in arm.joint_names]
    table = _head(source, [block['t'], *columns])
    units: dict[str, Any] = {}
    t, q, v = table[:, 0], table[:, 1:1 + arm.n], table[:, 1 + arm.n:]
    steps = np.diff(t)
    step = float(np.median(steps[steps > 0])) if np.any(steps > 0) else 0.0
    time_unit = next((TIME_UNITS[word] for word in _words(block['t']) if word in TIME_UNITS), None)
    if time_unit is None:
        time_unit = next((stamps.SHORT[unit] for unit, threshold, _ in stamps.UNITS
                          if step >= threshold), 's')
    if time_unit != 's':
        units['t'] = time_unit
    degrees, parts = _are_degrees(q, arm, _words(block['q'])), None
    if degrees:
        parts = servo_range(q, arm, _words(block['q'] + ' ' + block.get('command', '')))
        units['q'] = (parts and parts.factors) or 'deg'
    if v.size and step > 0:
        with np.errstate(over='ignore', invalid='ignore'):    # a damaged file
            slope = np.gradient(q, axis=0) / max(step * UNITS['t'][time_unit], 1e-12)
            turns = np.logical_not(arm.prismatic)
            power = float(np.sum(slope[:, turns] ** 2))
            ratio = float(np.sum((v * slope)[:, turns])) / power if power > 0 else 1.0
        if _near(ratio, 1.0 if degrees else 180 / np.pi):
            units['v'] = 'deg/s'
    for signal, unit in _NAMED_UNITS.items():
        if unit in re.split('[^A-Za-z]', block.get(signal, '')):
            units[signal] = unit
    return units, parts


def _head(source: ColumnSource, columns: Sequence[str]) -> Array:
    """Return the first rows of columns."""
    blocks, rows = [], 0
    for block in source.blocks(columns):
        blocks.append(block)
        rows += len(block)
        if rows >= INSPECTED_SAMPLES:
            break
    return np.concatenate(blocks)[:INSPECTED_SAMPLES]


def _near(ratio: float, value: float) -> bool:
    return abs(ratio / value - 1) < SAME


def _are_degrees(q: Array, arm: Arm, words: Sequence[str]) -> bool:
    """Return whether positions are degrees: out of the limits as radians, within as degrees."""
    if 'deg' in words or 'degrees' in words:
        return True
    turning = np.logical_not(arm.prismatic)
    if not len(q) or not turning.any():
        return False
    low, high = np.nanmin(q, axis=0), np.nanmax(q, axis=0)
    limits = arm.limits
    outside = (low < MARGIN * limits.lower - MARGIN) | (high > MARGIN * limits.upper + MARGIN)
    factor = np.pi / 180
    within = ((factor * low >= MARGIN * limits.lower - 0.1)
              & (factor * high <= MARGIN * limits.upper + 0.1))
    return bool(np.any(outside[turning]) and np.all(within[turning]))
