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
"""What can be wrong with a recording although its numbers look right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from robot_identification import Arm, Recording
from robot_identification.arrays import Array
from robot_identification.dynamics import inverse_dynamics, joint_torque_regressor
from robot_identification.signals import process
from scipy import signal

Change = Callable[[Recording, int], Recording]
Torque = Callable[[Arm, Array, Array, Array], Array]


@dataclass(frozen=True)
class Corruption:
    """
    A way to spoil recordings.

    Parameters
    ----------
    name
        For the table; {joint} is replaced.
    change
        Takes a recording and the number of a joint.
    right
        Names of the checks that ought to notice; empty where none need: the held-out error stays
        small, and is the error of torques for positions as published. None where it depends on
        the arm.
    held_out_only
        Whether the training recording stays as it is.
    from_training
        Whether the held-out recording is made of the training recording.
    training_only
        Whether the held-out recording stays as it is.
    hidden
        Whether the data agree with another arm as well, so that no recording reveals the fault.
    added
        Torque added to the changed recording, a function of arm, q, v and a; None for none.

    """

    name: str
    change: Change
    right: tuple[str, ...] | None
    held_out_only: bool = False
    from_training: bool = False
    training_only: bool = False
    hidden: bool = False
    added: Torque | None = None


def _unchanged(recording: Recording, joint: int) -> Recording:
    return recording


def _with(recording: Recording, **changes: Any) -> Recording:
    signals = {name: getattr(recording, name) for name in ('q', 'tau', 'v', 'current')}
    signals.update({k: v for k, v in changes.items() if k != 't'})
    return Recording(changes.get('t', recording.t), **signals,
                     joint_names=recording.joint_names, name=recording.name)


def _effort(recording: Recording, change: Callable[[Array], Array]) -> Recording:
    name = 'tau' if recording.tau is not None else 'current'
    return _with(recording, **{name: change(np.array(getattr(recording, name)))})


def _scaled(factor: float) -> Change:
    return lambda recording, joint: _effort(recording, lambda x: factor * x)


def _one_scaled(factor: float) -> Change:
    def change(recording: Recording, joint: int) -> Recording:
        scale = np.where(np.arange(recording.q.shape[1]) == joint, factor, 1.0)
        return _effort(recording, lambda x: x * scale)
    return change


def _slower(factor: float, velocities: bool) -> Change:
    def change(recording: Recording, joint: int) -> Recording:
        kept = recording.v if velocities else None
        return _with(recording, t=recording.t[0] + factor * (recording.t - recording.t[0]), v=kept)
    return change


def _saturated(part: float) -> Change:
    def clip(x: Array) -> Array:
        top = part * np.abs(x).max(axis=0)
        return np.clip(x, -top, top)
    return lambda recording, joint: _effort(recording, clip)


def _late(delay: float) -> Change:
    def change(recording: Recording, joint: int) -> Recording:
        def shift(x: Array) -> Array:
            x[:, joint] = np.interp(recording.t - delay, recording.t, x[:, joint])
            return x
        return _effort(recording, shift)
    return change


def _swapped(recording: Recording, joint: int) -> Recording:
    other = (joint + 1) % recording.q.shape[1]

    def swap(x: Array) -> Array:
        x[:, [joint, other]] = x[:, [other, joint]]
        return x
    return _effort(recording, swap)


def _stuck(recording: Recording, joint: int) -> Recording:
    q, rate = np.array(recording.q), recording.rate
    fastest = int(np.argmax(np.abs(np.diff(q[:-int(rate), joint]))))
    q[fastest:fastest + int(0.5 * rate), joint] = q[fastest, joint]
    return _with(recording, q=q)


def _clipped(recording: Recording, joint: int) -> Recording:
    v = np.array(recording.v)
    top = 0.7 * np.abs(v).max(axis=0)
    return _with(recording, v=np.clip(v, -top, top))


def _turned(recording: Recording, joint: int) -> Recording:
    q = np.array(recording.q)
    q[:, 0] += 0.5
    return _with(recording, q=q)


def _backwards(recording: Recording, joint: int) -> Recording:
    v = None if recording.v is None else -recording.v[::-1]
    back = _effort(recording, lambda x: x[::-1])
    return _with(back, q=recording.q[::-1], v=v, t=recording.t[-1] - recording.t[::-1])


def _joints_swapped(recording: Recording, joint: int) -> Recording:
    """Return a recording whose names of two joints are exchanged: all signals change places."""
    order = np.arange(recording.q.shape[1])
    other = (joint + 1) % len(order)
    order[[joint, other]] = other, joint
    v = None if recording.v is None else recording.v[:, order]
    return _with(_effort(recording, lambda x: x[:, order]), q=recording.q[:, order], v=v)


def _half_negative(recording: Recording, joint: int) -> Recording:
    def change(x: Array) -> Array:
        x[len(x) // 2:, joint] *= -1
        return x
    return _effort(recording, change)


def _quantised(parts: float) -> Change:
    def change(x: Array) -> Array:
        step = np.abs(x).max(axis=0) / parts
        return np.rint(x / step) * step
    return lambda recording, joint: _effort(recording, change)


def _lagging(constant: float) -> Change:
    """Return a low-pass of first order of all torques, of this time constant [s]."""
    def change(recording: Recording, joint: int) -> Recording:
        share = 1 - np.exp(-1 / (constant * recording.rate))

        def lag(x: Array) -> Array:
            for k in range(1, len(x)):
                x[k] = x[k - 1] + share * (x[k] - x[k - 1])
            return x
        return _effort(recording, lag)
    return change


def _velocity_shifted(recording: Recording, joint: int) -> Recording:
    v = np.column_stack([np.interp(recording.t - 0.05, recording.t, column)
                         for column in recording.v.T])
    return _with(recording, v=v)


def _offset(recording: Recording, joint: int) -> Recording:
    q = np.array(recording.q)
    q[:, joint] += 0.3
    return _with(recording, q=q)


def _reduction(recording: Recording, joint: int) -> Recording:
    """Return what a reduction that is 2 % too small makes of positions and torques of a joint."""
    scale = np.where(np.arange(recording.q.shape[1]) == joint, 1.02, 1.0)
    v = None if recording.v is None else recording.v * scale
    return _with(_effort(recording, lambda x: x / scale), q=recording.q * scale, v=v)


def _repeated(recording: Recording, joint: int) -> Recording:
    """Return a recording of which every fifth sample came twice, with a stamp in between."""
    count = len(recording.t)
    rows = np.sort(np.concatenate([np.arange(count), np.arange(0, count, 5)]))
    t = np.interp(np.arange(len(rows)), [0, len(rows) - 1], recording.t[[0, -1]])
    return _with(recording, t=t, **{
        name: getattr(recording, name)[rows] for name in ('q', 'tau', 'v', 'current')
        if getattr(recording, name) is not None})


def _in_degrees(recording: Recording, joint: int) -> Recording:
    scale = np.where(np.arange(recording.q.shape[1]) == joint, 180 / np.pi, 1.0)
    v = None if recording.v is None else recording.v * scale
    return _with(recording, q=recording.q * scale, v=v)


def _coarse(recording: Recording, joint: int) -> Recording:
    return _with(recording, q=np.rint(recording.q / 0.01) * 0.01)


def _still(seconds: float, zero: bool) -> Change:
    """Return what a bus makes of an effort that it lost for a while."""
    def change(recording: Recording, joint: int) -> Recording:
        first = len(recording.t) // 3
        rows = slice(first, first + int(seconds * recording.rate))

        def stop(x: Array) -> Array:
            x[rows, joint] = 0.0 if zero else x[first, joint]
            return x
        return _effort(recording, stop)
    return change


def _drifting(recording: Recording, joint: int) -> Recording:
    def drift(x: Array) -> Array:
        x[:, joint] += np.linspace(0.0, 0.2 * np.abs(x[:, joint]).max(), len(x))
        return x
    return _effort(recording, drift)


def _spiky(recording: Recording, joint: int) -> Recording:
    def spike(x: Array) -> Array:
        x[np.random.default_rng(0).random(x.shape) < 0.01] *= 10
        return x
    return _effort(recording, spike)


def _part(recording: Recording, joint: int) -> Recording:
    """Return the middle three fifths, with noise of its own."""
    count = len(recording.t)
    rng = np.random.default_rng(0)
    return _effort(recording.window(count // 5, 4 * count // 5), lambda x: x + rng.normal(
        size=x.shape) * 0.02 * np.std(x, axis=0))


def _halves(recording: Recording, joint: int) -> Recording:
    """Return the second half of a whole period before the first."""
    half = len(recording.t) // 2
    v = None if recording.v is None else np.roll(recording.v, half, axis=0)
    turned = _effort(recording, lambda x: np.roll(x, half, axis=0))
    return _with(turned, q=np.roll(recording.q, half, axis=0), v=v)


def payload_torque(mass: float) -> Torque:
    """Return the torque of a ball of a mass [kg], 50 mm from the origin of the last link."""
    body = mass * BALL
    return lambda arm, q, v, a: joint_torque_regressor(arm, q, v, a)[:, :, -10:] @ body


BALL = np.array([1, 0, 0, 0.05, 0.004, 0, 0.004, 0, 0, 0.002])
"""Inertial parameters of a ball of 1 kg, 50 mm from the origin of the last link."""


@dataclass(frozen=True)
class Motion:
    """Times from the start (N,) [s], positions and velocities of a joint (N,), and its number."""

    t: Array
    q: Array
    v: Array
    joint: int

    @property
    def rng(self) -> np.random.Generator:
        """A generator that depends on joint and motion alone."""
        return np.random.default_rng([self.joint, len(self.t), int(abs(self.q[0]) * 1e6)])


def _changed(change: Callable[[Array, Motion], Array], everywhere: bool = False) -> Change:
    """Return a change of the efforts, (N,), of one joint or of all."""
    def apply(recording: Recording, joint: int) -> Recording:
        v = recording.v if recording.v is not None else np.gradient(
            recording.q, recording.t, axis=0)
        efforts = np.array(recording.tau if recording.tau is not None else recording.current)
        for j in range(recording.q.shape[1]) if everywhere else [joint]:
            efforts[:, j] = change(efforts[:, j], Motion(
                recording.t - recording.t[0], recording.q[:, j], v[:, j], j))
        return _effort(recording, lambda x: efforts)
    return apply


def _rms(x: Array) -> float:
    return float(np.sqrt(np.mean(x ** 2)))


def _direction(motion: Motion) -> Array:
    return np.tanh(motion.v / (0.02 * np.abs(motion.v).max()))


def _collision(seconds: float, part: float) -> Change:
    """Return what an obstacle in the middle of the motion adds to the torques of all joints."""
    def change(x: Array, motion: Motion) -> Array:
        inside = np.clip((motion.t - 0.45 * motion.t[-1]) / seconds, 0, 1)
        side = 1 if motion.rng.random() < 0.5 else -1
        return x + side * part * np.abs(x).max() * np.sin(np.pi * inside) ** 2
    return _changed(change, True)


def _play(x: Array, motion: Motion) -> Array:
    """Return efforts with the hysteresis of a cable: a spring that slips beyond a travel."""
    width, z = 0.1 * np.ptp(motion.q), np.zeros(len(x))
    for k in range(1, len(x)):
        z[k] = np.clip(z[k - 1] + motion.q[k] - motion.q[k - 1], -width, width)
    return x + 0.15 * _rms(x) * z / width


def _filtered(kind: str, hertz: float, everywhere: bool) -> Change:
    def change(x: Array, motion: Motion) -> Array:
        rate = (len(motion.t) - 1) / motion.t[-1]
        sections = signal.butter(1, hertz, kind, fs=rate, output='sos')
        state = signal.sosfilt_zi(sections) * (x[0] if kind == 'low' else 0.0)
        return np.asarray(signal.sosfilt(sections, x, zi=state)[0])
    return _changed(change, everywhere)


def _positions(change: Callable[[Array, Array], Array]) -> Change:
    """Return a change of the positions, (N,), of one joint; its velocities follow them."""
    def apply(recording: Recording, joint: int) -> Recording:
        q = np.array(recording.q)
        q[:, joint] = change(q[:, joint], recording.t - recording.t[0])
        if recording.v is None:
            return _with(recording, q=q)
        moved = np.gradient(q[:, joint] - recording.q[:, joint], recording.t)
        v = np.array(recording.v)
        v[:, joint] += np.where(np.abs(moved) < 5 * np.abs(v).max(), moved, 0.0)
        return _with(recording, q=q, v=v)
    return apply


def _mirrored(recording: Recording, joint: int) -> Recording:
    """Return positions and velocities of a joint with the other sign."""
    sign = np.where(np.arange(recording.q.shape[1]) == joint, -1.0, 1.0)
    return _with(recording, q=recording.q * sign,
                 v=None if recording.v is None else recording.v * sign)


def _second_lost(recording: Recording, joint: int) -> Recording:
    """Return a recording without one second, whose stamps do not show it."""
    count, lost = len(recording.t), round(recording.rate)
    rows = np.r_[0:count // 2, count // 2 + lost:count]
    return _with(recording, t=recording.t[:len(rows)], **{
        name: getattr(recording, name)[rows] for name in ('q', 'tau', 'v', 'current')
        if getattr(recording, name) is not None})


def _jitter(recording: Recording, joint: int) -> Recording:
    """Return stamps of arrival: late by up to 20 ms, so that steps vary."""
    steps = np.random.default_rng(0).exponential(0.008, len(recording.t))
    t = np.maximum.accumulate(recording.t + np.minimum(steps, 0.02))
    return _with(recording, t=t + 1e-9 * np.arange(len(t)))


def _accelerating_clock(recording: Recording, joint: int) -> Recording:
    elapsed = recording.t - recording.t[0]
    return _with(recording, t=elapsed * (1 + 0.1 * elapsed / elapsed[-1]), v=None)


def _mixed(part: float) -> Change:
    """Return efforts of a joint that contain a part of its neighbour's."""
    def change(recording: Recording, joint: int) -> Recording:
        def mix(x: Array) -> Array:
            x[:, joint] += part * x[:, (joint + 1) % x.shape[1]]
            return x
        return _effort(recording, mix)
    return change


def _noisy_velocity(recording: Recording, joint: int) -> Recording:
    rng = np.random.default_rng(0)
    size = 0.2 * np.std(recording.v, axis=0)
    return _with(recording, v=recording.v + size * rng.normal(size=recording.v.shape))


def added_torque(arm: Arm, recording: Recording, torque: Torque) -> Recording:
    """Return a recording whose efforts contain more: a function of arm, q, v and a."""
    samples = process(recording, arm, edges='keep', standstill='keep')
    extra = torque(arm, samples.q, samples.v, samples.a)
    inside = (recording.t >= samples.t[0]) & (recording.t <= samples.t[-1])
    added = np.column_stack([np.interp(recording.t, samples.t, column) for column in extra.T])
    gains = 1.0 if recording.tau is not None else arm.drives.gains
    spoilt = _effort(recording, lambda x: x + added / gains)
    rows = np.flatnonzero(inside)
    return replace(spoilt.window(int(rows[0]), int(rows[-1]) + 1), name=recording.name)


def tilted_torque(arm: Arm, q: Array, v: Array, a: Array) -> Array:
    """Return what a base that leans by 6 degrees adds to the torques."""
    leaning = arm.with_gravity(9.81 * np.array([np.sin(0.1), 0.0, -np.cos(0.1)]))
    zero = np.zeros_like(q)
    return inverse_dynamics(leaning, q, zero, zero) - inverse_dynamics(arm, q, zero, zero)


def _gravity(arm: Arm, q: Array, v: Array, a: Array) -> Array:
    zero = np.zeros_like(q)
    return -inverse_dynamics(arm, q, zero, zero)


def _late_load(arm: Arm, q: Array, v: Array, a: Array) -> Array:
    return payload_torque(1.0)(arm, q, v, a) * (np.arange(len(q)) > len(q) // 2)[:, None]


ANY = ('gravity scale', 'joint gain', 'time scale', 'velocity', 'delay', 'saturation', 'encoder',
       'encoder offset', 'exchanged joints', 'dissipation', 'payload', 'lack of fit',
       'stuck effort', 'link bodies', 'refused', 'verdict')
CORRUPTIONS = (
    Corruption('all torques x 2', _scaled(2.0), ('gravity scale',)),
    Corruption('all torques x 0.5', _scaled(0.5), ('gravity scale',)),
    Corruption('torque of joint {joint} x 1.3', _one_scaled(1.3), ('joint gain',)),
    Corruption('torque of joint {joint} x 0.7', _one_scaled(0.7), ('joint gain',)),
    Corruption('time x 1.1, velocities as measured', _slower(1.1, True),
               ('velocity', 'time scale')),
    Corruption('time x 1.1, no velocities', _slower(1.1, False), ('time scale',)),
    Corruption('time x 0.9, no velocities', _slower(0.9, False), ('time scale',)),
    Corruption('torques saturated at 80 %', _saturated(0.8), ('saturation',)),
    Corruption('torque of joint {joint} 50 ms late', _late(0.05), ('delay',)),
    Corruption('sign of the torque of joint {joint}', _one_scaled(-1.0),
               ('dissipation', 'refused')),
    Corruption('torques of joint {joint} and the next swapped', _swapped,
               ('exchanged joints', 'joint gain', 'dissipation', 'gravity scale', 'refused',
                'verdict')),
    Corruption('encoder of joint {joint} stuck for 0.5 s', _stuck, ('encoder', 'velocity')),
    Corruption('velocities clipped at 70 %', _clipped, ('velocity',)),
    Corruption('all torques in N mm', _scaled(1000.0), ('gravity scale', 'refused')),
    Corruption('names of joint {joint} and the next exchanged', _joints_swapped,
               ('exchanged joints', 'refused')),
    Corruption('sign of the torque of joint {joint} wrong from the middle on', _half_negative,
               ANY),
    Corruption('all torques in steps of a twentieth of the largest', _quantised(20), ()),
    Corruption('all torques through a low-pass of 50 ms', _lagging(0.05), ('delay',)),
    Corruption('velocities 50 ms late', _velocity_shifted, ('velocity',)),
    Corruption('encoder of joint {joint} off by 0.3', _offset, ('encoder offset',)),
    Corruption('reduction of joint {joint} wrong by 2 %', _reduction, ()),
    Corruption('every fifth sample twice', _repeated, ()),
    Corruption('position of joint {joint} in degrees', _in_degrees, ('refused',)),
    Corruption('all positions in steps of 0.01', _coarse, ('encoder',)),
    Corruption('torque of joint {joint} held for 0.3 s', _still(0.3, False),
               ('stuck effort',)),
    Corruption('torque of joint {joint} zero for 0.5 s', _still(0.5, True),
               ('stuck effort', 'saturation')),
    Corruption('torque of joint {joint} drifts by a fifth of its largest', _drifting,
               ('lack of fit',)),
    Corruption('one torque in a hundred x 10', _spiky, ANY),
    Corruption('all torques x 1.15', _scaled(1.15), None, hidden=True),
    Corruption('torque of joint {joint} x 1.1', _one_scaled(1.1), None),
    Corruption('gain of joint {joint} drifts by 30 %', _changed(
        lambda x, m: x * (1 + 0.3 * m.t / m.t[-1])), None),
    Corruption('gain of all joints drifts by 15 %', _changed(
        lambda x, m: x * (1 + 0.15 * m.t / m.t[-1]), True), None),
    Corruption('zero of joint {joint} jumps by a tenth in the middle', _changed(
        lambda x, m: x + 0.1 * np.abs(x).max() * (m.t > m.t[-1] / 2)), None),
    Corruption('zero of joint {joint} swings slowly', _changed(
        lambda x, m: x + 0.15 * np.abs(x).max() * np.sin(2 * np.pi * 0.7 * m.t / m.t[-1])), None),
    Corruption('torque of joint {joint} disturbed at 2.3 Hz', _changed(
        lambda x, m: x + 0.15 * _rms(x) * np.sin(2 * np.pi * 2.3 * m.t)), None),
    Corruption('torque of joint {joint} without its sign', _changed(
        lambda x, m: np.abs(x)), None),
    Corruption('torque of joint {joint} has a dead zone of a tenth', _changed(
        lambda x, m: np.where(np.abs(x) < 0.1 * np.abs(x).max(), 0.0, x)), None),
    Corruption('torque of joint {joint} compressed when large', _changed(
        lambda x, m: 0.7 * np.abs(x).max() * np.tanh(x / (0.7 * np.abs(x).max()))), None),
    Corruption('torque of joint {joint} cut above half its largest', _changed(
        lambda x, m: np.minimum(x, 0.5 * np.abs(x).max())), None),
    Corruption('torque of joint {joint} without its mean', _changed(
        lambda x, m: x - x.mean()), None),
    Corruption('all torques 30 ms late', _changed(
        lambda x, m: np.interp(m.t - 0.03, m.t, x), True), ('delay',)),
    Corruption('torque of joint {joint} 50 ms early', _changed(
        lambda x, m: np.interp(m.t + 0.05, m.t, x)), ('delay',)),
    Corruption('torque of joint {joint} through a low-pass of 150 ms',
               _filtered('low', 1 / (2 * np.pi * 0.15), False), None),
    Corruption('all torques AC-coupled at 0.1 Hz', _filtered('high', 0.1, True), None),
    Corruption('torque of joint {joint} AC-coupled at 0.05 Hz', _filtered('high', 0.05, False),
               None),
    Corruption('collision of 0.5 s in the training', _collision(0.5, 0.5), None,
               training_only=True),
    Corruption('collision of 0.5 s in both', _collision(0.5, 0.5), None),
    Corruption('hand on the arm for 3 s in the training', _collision(3.0, 0.2), None,
               training_only=True),
    Corruption('friction of joint {joint} warms up', _changed(
        lambda x, m: x + 0.25 * _rms(x) * np.exp(-4 * m.t / m.t[-1]) * _direction(m)), None),
    Corruption('held out: friction of joint {joint} grew', _changed(
        lambda x, m: x + 0.15 * _rms(x) * _direction(m)), None, held_out_only=True),
    Corruption('friction of joint {joint} depends on its position', _changed(
        lambda x, m: x + 0.2 * _rms(x) * _direction(m) * np.sin(2 * m.q)), None),
    Corruption('friction of joint {joint} depends on the load', _changed(
        lambda x, m: x + 0.1 * np.abs(x) * _direction(m)), None),
    Corruption('ripple of joint {joint}', _changed(
        lambda x, m: x + 0.15 * _rms(x) * np.sin(12 * m.q)), None),
    Corruption('slow ripple of joint {joint}', _changed(
        lambda x, m: x + 0.2 * _rms(x) * np.sin(3 * m.q)), None),
    Corruption('cable that pulls joint {joint} beyond the middle', _changed(
        lambda x, m: x + 0.5 * _rms(x) * np.maximum(
            0, m.q - np.median(m.q)) / np.ptp(m.q)), None),
    Corruption('spring at joint {joint} that is not modelled', _changed(
        lambda x, m: x + 0.5 * _rms(x) * (m.q - np.median(m.q)) / np.ptp(m.q)), None),
    Corruption('hysteresis of joint {joint}', _changed(_play), None),
    Corruption('noise of joint {joint} in bursts', _changed(
        lambda x, m: x + 0.3 * _rms(x) * m.rng.normal(size=len(x)) * (np.sin(
            2 * np.pi * m.t) > 0.9)), None),
    Corruption("torque of joint {joint} contains a fifth of its neighbour's", _mixed(0.2), None),
    Corruption('joint {joint} mirrored', _mirrored, None),
    Corruption('encoder of joint {joint} off by 0.05', _positions(lambda q, t: q + 0.05), None),
    Corruption('encoder of joint {joint} slips by 0.1', _positions(
        lambda q, t: q + 0.1 * (t > t[-1] / 2)), None),
    Corruption('encoder of joint {joint} eccentric by 0.03', _positions(
        lambda q, t: q + 0.03 * np.sin(q + 1.0)), None),
    Corruption('position of joint {joint} x 1.05', _positions(lambda q, t: 1.05 * q), None),
    Corruption('position of joint {joint} drifts by 0.1', _positions(
        lambda q, t: q + 0.1 * t / t[-1]), None),
    Corruption('one second lost without a gap', _second_lost, None),
    Corruption('stamps of arrival', _jitter, None),
    Corruption('clock that slows down by a fifth', _accelerating_clock, None),
    Corruption('velocities with noise', _noisy_velocity, None),
    Corruption('base leans by 6 degrees', _unchanged, None, added=tilted_torque),
    Corruption('gravity removed from the torques', _unchanged, ('gravity scale', 'refused'),
               added=_gravity),
    Corruption('load of 1 kg from the middle on', _unchanged, None, added=_late_load),
    Corruption('held out: three fifths of the training, noise anew', _part, ('repeats',), True,
               True),
    Corruption('held out: training, its halves exchanged', _halves, ('repeats',), True, True),
    Corruption('held out: training with joint 1 turned by 0.5', _turned, ('repeats',), True, True),
    Corruption('held out: training played backwards', _backwards, ('repeats',), True, True),
    Corruption('held out: 0.3 kg that the model does not know', _unchanged, ('payload',), True,
               added=payload_torque(0.3)),
    Corruption('held out: 0.7 kg that the model does not know', _unchanged, ('payload',), True,
               added=payload_torque(0.7)),
)


def spoil(corruption: Corruption, arm: Arm, fitted: Recording, other: Recording,
          joint: int) -> tuple[Recording, Recording]:
    """Return the recording to fit and the one to validate on, spoilt."""
    def apply(recording: Recording) -> Recording:
        changed = corruption.change(recording, joint)
        return changed if corruption.added is None else added_torque(
            arm, changed, corruption.added)

    first = fitted if corruption.held_out_only else apply(fitted)
    if corruption.training_only:
        return first, other
    source = fitted if corruption.from_training else other
    return first, replace(apply(source), name='other')
