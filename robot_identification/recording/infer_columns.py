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
"""Inference of the block `recording` of a robot YAML from the column names of a log."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from os.path import commonprefix
import re
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arm.robot_keys import JOINT, UNITS
from robot_identification.arrays import Array
from robot_identification.errors import RecordingError
from robot_identification.recording.column_source import ColumnSource
from robot_identification.recording.stamps import LIKELY_UNITS
import yaml

COMMANDS = {'command', 'commanded', 'cmd', 'target', 'desired', 'goal', 'action', 'setpoint',
            'reference', 'leader', 'soll'}
"""Words in the names of commanded positions. Commands are inferred only without efforts."""
POSITIONS = {'q', 'pos', 'position', 'positions', 'qpos', 'angle', 'angles', 'state', 'jointpos',
             'winkel', 'lage'}
WORDS = {
    'q': POSITIONS,
    'v': {'v', 'qd', 'dq', 'vel', 'velocity', 'velocities', 'qvel', 'qdot', 'speed', 'jointvel',
          'rpm', 'geschwindigkeit', 'drehzahl'},
    'tau': {'tau', 'torque', 'torques', 'effort', 'efforts', 'trq', 'jointtorque', 'moment',
            'drehmoment'},
    'current': {'current', 'currents', 'cur', 'i', 'iq', 'motorcurrent', 'strom', 'motorstrom'},
    'command': COMMANDS | POSITIONS}
"""Words in column names that identify the signal."""
MEASURED = {'actual', 'measured', 'meas', 'present', 'observation', 'joint', 'joints', 'states',
            'j', 'robot', 'state', 'deg', 'rad', 'follower', 'as', 'm', 'nm', 's', 'amp', 'a',
            'act', 'axis', 'axes', 'achse'}
"""Words that may be in the name of any measured signal."""
OTHERS = {
    'des', 'ref', 'd', 'acc', 'accel', 'acceleration', 'qdd', 'ddq', 'error', 'err', 'temp',
    'temperature', 'temperatures', 'voltage', 'tcp', 'cartesian', 'pose', 'force', 'ext',
    'external', 'hat', 'dtau', 'control', 'window', 'std', 'limit', 'min', 'max', 'gravity',
    'friction', 'predicted', 'model'}
"""Words that exclude a column: it holds no measured joint signal."""
STAMPS = {'t', 'time', 'timestamp', 'timestamps', 'times', 'stamp', 'stamps', 'duration', 'clock',
          'elapsed', 'tout', 'date', 'datetime', 'datum', 'zeit', 'zeitstempel', 'temps', 'tiempo'}
_NAMED_UNITS = {'v': 'rpm', 'tau': 'mNm', 'current': 'mA'}
"""Units that are recognised if they are a word in the column names of the signal."""
TIME_UNITS = {'s': 's', 'sec': 's', 'secs': 's', 'seconds': 's', 'ms': 'ms', 'msec': 'ms',
              'us': 'us', 'ns': 'ns', 'nsec': 'ns', 'nanoseconds': 'ns'}
MARGIN = 1.05    # recorded angles are within the joint limits times this factor
SAME = 0.15    # tolerance of velocities relative to differentiated positions
INSPECTED_SAMPLES = 20_000    # samples at the start from which units are inferred
_FULL = 100.5    # [%] largest percentage, with a margin for rounding
_COUNTS = 4096    # encoder counts per turn: Feetech STS and Dynamixel X series
_SAME = 0.01    # tolerance of log2 of the ratio of two equal steps
_MIN_VALUES = 20    # minimum number of distinct values to estimate a step
_NOISE = 1e-3    # smaller differences are rounding errors of single precision
_TELEOPERATION = {'observation', 'action', 'leader', 'follower'}


@dataclass(frozen=True)
class InferredColumns:
    """
    A block `recording` that was inferred from a file.

    Parameters
    ----------
    block
        The block.
    notes
        Assumptions and alternatives, for the user.
    certain
        Whether the meaning of the columns and the unit of the positions are unambiguous.

    """

    block: dict[str, Any]
    notes: tuple[str, ...] = ()
    certain: bool = True


def recording_line(block: Mapping[str, Any]) -> str:
    """Return a block `recording` as one line of YAML."""
    flow = yaml.safe_dump(dict(block), default_flow_style=True, sort_keys=False, width=10 ** 6)
    return f'recording: {flow.strip()}'


def infer_columns(source: ColumnSource, arm: Arm) -> InferredColumns | None:
    """
    Infer the most likely meaning of a file's columns; return None without stamps or positions.

    Columns whose names differ only in the name or number of the joint are one signal. Words in
    the names identify the signal. Units are inferred such that positions respect the joint limits
    and velocities agree with the derivative of the positions.

    Parameters
    ----------
    source
        The columns.
    arm
        The arm whose joints are searched for.

    """
    time, groups = _time(source.names), _groups(source.names, arm.joint_names)
    ranked: dict[str, list[tuple[int, str]]] = {signal: [] for signal in WORDS}
    for template in groups:
        signal, cost = _signal(template)
        if signal is not None:
            ranked[signal].append((cost, template))
    if time is None or not ranked['q']:
        return None
    names = groups[min(ranked['q'])[1]]
    block: dict[str, Any] = {'t': time}
    notes, certain = [], True
    for signal, candidates in ranked.items():
        fitting = sorted(item for item in candidates if groups[item[1]] == names or signal == 'q')
        rivals = [template for cost, template in fitting[1:] if cost == fitting[0][0]]
        if not fitting or (signal == 'command' and (rivals or {'tau', 'current'} & set(block))):
            continue
        block[signal] = fitting[0][1]
        if rivals:
            certain = False
            notes.append(f'{signal} may also be {", ".join(rivals)}')
    if names != {joint: joint for joint in arm.joint_names}:
        block['names'] = {joint: int(name) if name.isdecimal() and str(int(name)) == name
                          else name for joint, name in names.items()}
    if all(name.isdecimal() for name in names.values()):
        notes.append('joints are taken in the order of the arm: ' + ', '.join(arm.joint_names))
    try:
        units, scale_notes = _units(source, block, names, arm)
        certain = certain and not isinstance(units.get('q'), dict)
    except RecordingError as error:
        units = {}
        scale_notes = [f'units are unknown, because the columns cannot be read: {error}']
    return InferredColumns({**block, **({'units': units} if units else {})},
                           (*notes, *scale_notes), certain)


def infer_joint_names(recorded: Sequence[str], joints: Sequence[str]
                      ) -> dict[str, str] | None:
    """
    Infer the names of an arm's joints in JointState messages; return None if ambiguous.

    Parameters
    ----------
    recorded
        Names in the messages.
    joints
        Names of the arm's joints.

    """
    if set(joints) <= set(recorded):
        return {joint: joint for joint in joints}
    full = [{joint: template.replace(JOINT, names[joint]) for joint in joints}
            for template, names in _groups(recorded, joints, numbered=False).items()]
    return full[0] if len(full) == 1 else None


def _words(template: str) -> list[str]:
    """Return the words in a column name, in lower case; `actualPos_{joint}` has two."""
    text = re.sub(r'([a-z])([A-Z])', r'\1_\2', template.replace(JOINT, ' '))
    return [word for word in re.split(r'[^a-z]+', text.lower()) if word]


def _signal(template: str) -> tuple[str | None, int]:
    """Return the signal that a name template means, and a cost: the number of unknown words."""
    words = set(_words(template))
    if words & COMMANDS:
        return ('command' if words <= WORDS['command'] | MEASURED else None), 0
    if words & OTHERS:
        return None, 0
    for signal in ('tau', 'current', 'v', 'q'):
        if words & WORDS[signal]:
            return signal, len(words - WORDS[signal] - MEASURED)
    return ('q' if words <= MEASURED else None), 10    # only joint names


def _time(names: Iterable[str]) -> str | None:
    """Return the column of the stamps, the one with the fewest other words; None if absent."""
    words = {name: set(_words(name)) for name in names}
    return min((name for name in words if words[name] & STAMPS), default=None,
               key=lambda name: len(words[name] - STAMPS - set(TIME_UNITS)))


def _groups(columns: Sequence[str], joints: Sequence[str], numbered: bool = True
            ) -> dict[str, dict[str, str]]:
    """
    Return the groups of columns whose names differ only in the name or number of the joint.

    The key of a group is the column name with `{joint}` in place of the joint; the value maps the
    arm's joints to their names in the columns. Numbers, from 0 or 1, count if `numbered`.
    """
    named: dict[str, dict[str, str]] = {}
    counted: dict[str, dict[int, str]] = {}
    patterns = {joint: re.compile('|'.join(_short(joint, joints)) or '(?!)') for joint in joints}
    for column in columns:
        for joint, pattern in patterns.items():
            if match := pattern.search(column):
                named.setdefault(_template(match), {}).setdefault(joint, match.group())
        for match in re.finditer(r'\d+', column):
            counted.setdefault(_template(match), {})[int(match.group())] = match.group()
    groups = {template: {joint: names[joint] for joint in joints}
              for template, names in named.items() if len(names) == len(joints)}
    seen = {template.replace(JOINT, names[joints[0]]) for template, names in groups.items()}
    for template, digits in counted.items():
        first = min(digits)
        names = [digits[k] for k in range(first, first + len(joints)) if k in digits]
        if numbered and first <= 1 and len(names) == len(joints) and (
                template.replace(JOINT, names[0]) not in seen):
            groups[template] = dict(zip(joints, names))
    return groups


def _template(match: re.Match[str]) -> str:
    """Return the searched name with `{joint}` in place of the match."""
    return f'{match.string[:match.start()]}{JOINT}{match.string[match.end():]}'


def _short(joint: str, joints: Sequence[str]) -> list[str]:
    """Return regular expressions of the names that a joint may have in logs."""
    last = joint.split('/')[-1]
    names = [joint, last, last.removesuffix('_joint'), last.removeprefix('joint_')]
    # the common prefix of all joint names, up to a `_` or `/`
    common = commonprefix(list(joints)) if len(joints) > 1 else ''  # noqa: RUF071
    prefix = re.sub(r'[^_/]*$', '', common)
    names += [name.removeprefix(prefix) for name in names]
    # a match must not continue a word; [^\W_] is a letter or a digit
    return [rf'(?<![^\W_]){re.escape(name)}(?![^\W_])' for name in names
            if re.search('[A-Za-z]{2}', name)]


def _units(source: ColumnSource, block: Mapping[str, Any], names: Mapping[str, str],
           arm: Arm) -> tuple[dict[str, Any], list[str]]:
    """Return the units of the signals that are not in SI units, and notes on the positions."""
    columns = [block[signal].replace(JOINT, names[joint])
               for signal in ('q', 'v') if signal in block for joint in arm.joint_names]
    # read three blocks, because the first one may hold only a few samples of a Parquet episode
    table = np.concatenate([*islice(source.blocks([block['t'], *columns]), 3)])[:INSPECTED_SAMPLES]
    units: dict[str, Any] = {}
    t, q, v = table[:, 0], table[:, 1:1 + arm.n], table[:, 1 + arm.n:]
    steps = np.diff(t)
    step = float(np.median(steps[steps > 0])) if np.any(steps > 0) else 0.0
    stated = [TIME_UNITS[word] for word in _words(block['t']) if word in TIME_UNITS]
    likely = [unit for unit, threshold in LIKELY_UNITS if step >= threshold]
    time_unit = [*stated, *likely, 's'][0]
    if time_unit != 's':
        units['t'] = time_unit
    degrees, notes = _are_degrees(q, arm, _words(block['q'])), []
    if degrees:
        factors, note = servo_range(q, arm, _words(block['q'] + ' ' + block.get('command', '')))
        units['q'] = factors or 'deg'
        notes = [note] if note else []
    if v.size and step > 0:
        turns = np.logical_not(arm.prismatic)
        with np.errstate(over='ignore', invalid='ignore'):    # for damaged files
            slope = np.gradient(q, axis=0)[:, turns] / max(step * UNITS['t'][time_unit], 1e-12)
            power = float(np.sum(slope ** 2))
            ratio = float(np.sum(v[:, turns] * slope)) / power if power > 0 else 1.0
        if abs(ratio / (1.0 if degrees else 180 / np.pi) - 1) < SAME:
            units['v'] = 'deg/s'
    units.update({signal: unit for signal, unit in _NAMED_UNITS.items()
                  if unit in re.split('[^A-Za-z]', block.get(signal, ''))})
    return units, notes


def _are_degrees(q: Array, arm: Arm, name_words: Sequence[str]) -> bool:
    """Return whether positions are in degrees: by name, or because radians exceed the limits."""
    turning = np.logical_not(arm.prismatic)
    if {'deg', 'degrees'} & set(name_words) or not len(q) or not turning.any():
        return bool({'deg', 'degrees'} & set(name_words))
    low, high = np.nanmin(q, axis=0)[turning], np.nanmax(q, axis=0)[turning]
    lower, upper = MARGIN * arm.limits.lower[turning], MARGIN * arm.limits.upper[turning]
    factor = np.pi / 180
    return bool(np.any((low < lower - MARGIN) | (high > upper + MARGIN))
                and np.all((factor * low >= lower - 0.1) & (factor * high <= upper + 0.1)))


def servo_range(q: Array, arm: Arm, name_words: Sequence[str]
                ) -> tuple[dict[str, float] | None, str]:
    """
    Return the scale of positions that are either degrees or percentages of a calibrated range.

    LeRobot writes percentages unless it is configured to write degrees. The encoder counts of all
    joints are equal angles. In degrees, all joints therefore have the same quantisation step. In
    percentages, the step differs between the joints, and the calibrated range of a joint follows
    from its step.

    Parameters
    ----------
    q
        Positions as recorded, (N, n).
    arm
        The arm. Its limits are the range of a joint whose step cannot be estimated.
    name_words
        Words in the names of the position and command columns.

    Returns
    -------
    tuple
        Radians per percent by joint, or None if the positions are degrees or undecided; and a note
        for the user on the conclusion, '' for degrees.

    """
    if {'deg', 'degrees'} & set(name_words) or not np.nanmax(np.abs(q), initial=0.0) <= _FULL:
        return None, ''
    steps = np.array([_step(column) for column in q.T])
    visible = steps[np.isfinite(steps)]
    if not np.all(_near_power(visible / visible[:1])):
        middle = np.minimum((arm.limits.upper - arm.limits.lower) / 2, np.pi) / 100
        factors = np.where(np.isfinite(steps), 2 * np.pi / _COUNTS / steps, middle)
        guessed = [name for name, step in zip(arm.joint_names, steps) if not np.isfinite(step)]
        return dict(zip(arm.joint_names, (float(f'{x:.5g}') for x in factors))), (
            'positions are not angles but percentages of calibrated ranges (-100 to 100), because '
            'their steps differ between the joints; radians per percent are computed for an '
            f'encoder with {_COUNTS} counts per turn'
            + (f' (for {", ".join(guessed)}: from the range in the URDF)' if guessed else '')
            + '. Zero is the middle of each calibrated range: if the URDF has another zero, give '
            '`position: {offset: {JOINT: RADIANS}}`')
    counted = len(visible) and np.all(_near_power(360 / visible))
    if counted or not _TELEOPERATION & set(name_words):
        return None, ''
    return None, (
        'positions are read as degrees, but could be either: without `use_degrees`, LeRobot '
        'writes percentages of the calibrated range (-100 to 100). If they are percentages, give '
        'the radians per percent of each joint: `units: {q: {JOINT: 0.02, ...}}`')


def _near_power(ratios: Array) -> Array:
    """Return a mask of the ratios that are powers of two, within a tolerance."""
    bits = np.log2(ratios)
    return np.asarray(np.abs(bits - np.round(bits)) < _SAME)


def _step(values: Array) -> float:
    """Return the quantisation step of the values of a column; NaN if none is found."""
    apart = np.diff(np.unique(values[np.isfinite(values)]))
    apart = apart[apart > _NOISE]
    if len(apart) < _MIN_VALUES:
        return float('nan')
    step = float(np.min(apart))
    for multiple in (8, 64):    # refine: larger differences determine the step better
        near = apart[apart < multiple * step]
        step = float(np.sum(near) / np.sum(np.round(near / step)))
    residuals = np.abs(near - step * np.round(near / step))
    return step if np.mean(residuals) < 0.05 * step else float('nan')
