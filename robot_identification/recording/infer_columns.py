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
"""Inference of the block `recording` of a robot YAML from the columns of an unknown log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os.path import commonprefix
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
"""Words in column names that identify the signal."""
MEASURED = {'actual', 'measured', 'meas', 'present', 'observation', 'joint', 'joints', 'states',
            'j', 'robot', 'state', 'deg', 'rad', 'follower', 'as', 'm', 'nm', 's', 'amp', 'a',
            'act', 'axis', 'axes', 'achse'}
"""Words in column names that do not make a measured signal less likely."""
OTHERS = {
    'target', 'desired', 'des', 'cmd', 'command', 'commanded', 'reference', 'ref', 'goal',
    'action', 'setpoint', 'd', 'acc', 'accel', 'acceleration', 'qdd', 'ddq', 'error', 'err',
    'temp', 'temperature', 'temperatures', 'voltage', 'tcp', 'cartesian', 'pose', 'force', 'ext',
    'external', 'hat', 'dtau', 'control', 'window', 'std', 'limit', 'min', 'max', 'leader',
    'gravity', 'friction', 'predicted', 'model', 'soll'}
"""Words in the names of commanded, computed and other signals."""
COMMANDS = {'command', 'commanded', 'cmd', 'target', 'desired', 'goal', 'action', 'setpoint',
            'reference', 'leader', 'soll'}
"""Words in the names of commanded positions, which replace efforts in a log without them."""
STAMPS = {'t', 'time', 'timestamp', 'timestamps', 'times', 'stamp', 'stamps', 'duration', 'clock',
          'elapsed', 'tout', 'zeit', 'zeitstempel', 'temps', 'tiempo'}
_NAMED_UNITS = {'v': 'rpm', 'tau': 'mNm', 'current': 'mA'}
"""Units of a signal that only the names of its columns show."""
TIME_UNITS = {'s': 's', 'sec': 's', 'secs': 's', 'seconds': 's', 'ms': 'ms', 'msec': 'ms',
              'us': 'us', 'ns': 'ns', 'nsec': 'ns', 'nanoseconds': 'ns'}
MARGIN = 1.05    # factor of the joint limits within which recorded angles lie
SAME = 0.15    # relative tolerance between velocities and differentiated positions
INSPECTED_SAMPLES = 20_000    # first samples, from which units are inferred


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
        Assumptions, and alternatives to them.
    certain
        Whether every signal has only one candidate.

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
    Return the most likely meaning of a file's columns, None if there are no positions.

    Columns of one signal differ in the name or number of the joint. Words in their names identify
    the signal. Units are chosen such that positions fit the joint limits, and velocities the
    derivative of the positions.

    Parameters
    ----------
    source
        The columns.
    arm
        The arm whose joints are searched for.

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
        units, scale = _units(source, block, names, arm)
    except RecordingError as error:
        units, scale = {}, None
        notes.append(f'units are not known, for the columns cannot be read: {error}')
    if scale is not None:
        certain = certain and scale.factors is None
        notes.append(scale.note)
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
    """Return the signal that columns with such names hold, and the number of unknown words."""
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
    """Return whether columns with such names hold commanded positions."""
    words = set(_words(template))
    return bool(words & COMMANDS) and words <= COMMANDS | WORDS['q'] | MEASURED


def _time(names: Iterable[str]) -> str | None:
    """Return the column of the stamps: the one with the fewest unrelated words."""
    result = []
    for index, name in enumerate(names):
        words = _words(name)
        if any(word in STAMPS for word in words):
            others = sum(word not in STAMPS and word not in TIME_UNITS for word in words)
            result.append((others, index, name))
    return min(result)[2] if result else None


def _groups(columns: Sequence[str], joints: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the name of each joint in the columns, by their template with `{joint}`."""
    named = _named_groups(columns, joints)
    seen = {_first(template, names) for template, names in named.items()}
    return {**named, **{template: names
                        for template, names in _numbered_groups(columns, joints).items()
                        if _first(template, names) not in seen}}


def _first(template: str, names: Mapping[str, str]) -> str:
    return template.replace(JOINT, next(iter(names.values())))


def _named_groups(columns: Sequence[str], joints: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the groups of columns that contain the joint names."""
    groups: dict[str, dict[str, str]] = {}
    for joint in joints:
        for column in columns:
            for short in _short(joint, joints):
                # not within a word: \w without the underscore is a letter or digit
                match = re.search(rf'(?<![^\W_]){re.escape(short)}(?![^\W_])', column)
                if match is not None:
                    template = f'{column[:match.start()]}{JOINT}{column[match.end():]}'
                    groups.setdefault(template, {}).setdefault(joint, short)
                    break
    return {template: names for template, names in groups.items() if len(names) == len(joints)}


def _short(joint: str, joints: Sequence[str]) -> list[str]:
    """Return the names that a log may use for a joint, longest first: with and without prefix."""
    last = joint.split('/')[-1]
    names = [joint, last, last.removesuffix('_joint'), last.removeprefix('joint_')]
    # words with which the names of all joints begin, up to a `_` or `/`
    common = commonprefix(list(joints)) if len(joints) > 1 else ''  # noqa: RUF071
    prefix = re.sub(r'[^_/]*$', '', common)
    names += [name.removeprefix(prefix) for name in names]
    return list(dict.fromkeys(name for name in names if re.search('[A-Za-z]{2}', name)))


def _numbered_groups(columns: Sequence[str], joints: Sequence[str]
                     ) -> dict[str, dict[str, str]]:
    """Return the groups of columns that number the joints, from 0 or 1."""
    templates: dict[str, dict[int, str]] = {}
    for column in columns:
        for match in re.finditer(r'\d+', column):
            template = f'{column[:match.start()]}{JOINT}{column[match.end():]}'
            templates.setdefault(template, {})[int(match.group())] = match.group()
    groups = {}
    for template, digits in templates.items():
        first = min(digits)
        required = range(first, first + len(joints))
        if first <= 1 and all(index in digits for index in required):
            groups[template] = {joint: digits[k] for joint, k in zip(joints, required)}
    return groups


def _units(source: ColumnSource, block: Mapping[str, Any], names: Mapping[str, str],
           arm: Arm) -> tuple[dict[str, Any], ServoRange | None]:
    """Return the units other than SI units, and the alternative to degrees."""
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
    degrees, scale = _are_degrees(q, arm, _words(block['q'])), None
    if degrees:
        scale = servo_range(q, arm, _words(block['q'] + ' ' + block.get('command', '')))
        units['q'] = (scale and scale.factors) or 'deg'
    if v.size and step > 0:
        with np.errstate(over='ignore', invalid='ignore'):    # a damaged file
            slope = np.gradient(q, axis=0) / max(step * UNITS['t'][time_unit], 1e-12)
            turns = np.logical_not(arm.prismatic)
            power = float(np.sum(slope[:, turns] ** 2))
            ratio = float(np.sum((v * slope)[:, turns])) / power if power > 0 else 1.0
        if abs(ratio / (1.0 if degrees else 180 / np.pi) - 1) < SAME:
            units['v'] = 'deg/s'
    for signal, unit in _NAMED_UNITS.items():
        if unit in re.split('[^A-Za-z]', block.get(signal, '')):
            units[signal] = unit
    return units, scale


def _head(source: ColumnSource, columns: Sequence[str]) -> Array:
    """Return the first rows of columns."""
    blocks, rows = [], 0
    for block in source.blocks(columns):
        blocks.append(block)
        rows += len(block)
        if rows >= INSPECTED_SAMPLES:
            break
    return np.concatenate(blocks)[:INSPECTED_SAMPLES]


def _are_degrees(q: Array, arm: Arm, words: Sequence[str]) -> bool:
    """Return whether positions exceed the limits as radians and respect them as degrees."""
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
