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
"""
A bench with one Feetech-like servo and a pendulum, with a drive that the identified model lacks.

The servo's controller runs at 1 kHz on encoder counts and sets a duty cycle; the motor has a
winding and a supply whose voltage falls with current; friction of the gear depends on the load and
on its direction, and on speed with an exponent that `ServoModel` does not have; some controllers
have a dead zone.
Logs resemble those of such benches: six seconds of chirps, sums of sines, lifts and steps, stamps
with jitter, positions of 4096 counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification import Recording
from robot_identification.servos import ServoRecording

QUANTUM = 2 * np.pi / 4096
STEP = 5e-4
ARM = 0.06    # [kg] of the rod, whose length is that of the load's centre
MOTIONS = ('chirp', 'sines', 'lift', 'steps')


@dataclass(frozen=True)
class Bench:
    """
    A servo with its gains in the units of the drive.

    `per_count` is the duty cycle per encoder count at the gain 1, `speed` the largest speed of the
    target [rad/s]; `loaded` and `helped` are the friction over a load that the motor lifts or
    that drives it.
    """

    per_count: float = 4e-3
    volts: float = 7.4
    supply: float = 0.15    # [Ohm]
    winding: float = 4.0    # [Ohm]
    constant: float = 1.35    # [N m/A] and [V s/rad] at the output
    armature: float = 0.026
    viscous: float = 0.04
    friction: float = 0.06
    breakaway: float = 1.5    # static over sliding friction
    loaded: float = 0.14
    helped: float = 0.04
    speed: float = 5.0
    acceleration: float = np.inf
    delay: float = 0.011
    dead: float = 0.0    # [rad] width of a dead zone of the position error

    @classmethod
    def drawn(cls, seed):
        """Return a servo with values that differ from unit to unit and from type to type."""
        rng = np.random.default_rng(seed)
        return cls(per_count=rng.uniform(3e-3, 6e-3), winding=rng.uniform(3, 5),
                   constant=rng.uniform(1.1, 1.6), armature=rng.uniform(0.015, 0.035),
                   friction=rng.uniform(0.03, 0.09), breakaway=rng.uniform(1.2, 1.8),
                   loaded=rng.uniform(0.05, 0.2), helped=rng.uniform(0.0, 0.05),
                   speed=rng.uniform(4.0, 5.5), delay=rng.uniform(0.004, 0.02),
                   dead=rng.choice([0.0, 0.003]))

    @property
    def kp(self):
        """Gain of the position loop at the gain 1 without supply resistance [N m/rad]."""
        return self.per_count / QUANTUM * self.volts * self.constant / self.winding

    def recorded(self, motion, seed, mass=0.5, length=0.12, gain=1.0, duration=6.0, rate=80.0):
        """Return the log of a motion as a `ServoRecording`."""
        rng = np.random.default_rng(seed)
        t = np.cumsum(np.maximum(1 / rate + 1.5e-3 * rng.standard_normal(int(duration * rate)),
                                 2e-3))
        t -= t[0]
        command = np.rint(commanded(motion, t, rng) / QUANTUM) * QUANTUM
        q = self._respond(t, command, mass, length, gain)
        recording = Recording(t, q[:, None], command=command[:, None], joint_names=('servo',),
                              name=f'{motion} {seed}')
        return ServoRecording(recording, gain, mass, (length, 0.0, 0.0))

    def _respond(self, t, command, mass, length, gain):
        inertia = self.armature + mass * length ** 2 + ARM * 0.1 ** 2 / 3
        weight = 9.81 * (mass * length + ARM * 0.05)
        position, velocity = float(command[0]), 0.0
        target, pace, row, duty, q = position, 0.0, 0, 0.0, np.empty(len(t))
        for k in range(int(t[-1] / STEP) + 2):
            now = k * STEP
            while row < len(t) and t[row] <= now:
                q[row] = round(position / QUANTUM) * QUANTUM
                row += 1
            if k % 2 == 0:    # the controller, on encoder counts
                goal = command[max(0, np.searchsorted(t, now - self.delay, side='right') - 1)]
                wanted = min(max((goal - target) / 1e-3, -self.speed), self.speed)
                change = self.acceleration * 1e-3
                pace += min(max(wanted - pace, -change), change)
                target += 1e-3 * pace
                counts = round(target / QUANTUM) - round(position / QUANTUM)
                if abs(counts) * QUANTUM <= self.dead / 2:
                    counts = 0
                duty = min(max(gain * self.per_count * counts, -1.0), 1.0)
            current = (duty * self.volts - self.constant * velocity) / (
                self.winding + self.supply * abs(duty))
            motor, load = self.constant * current, weight * np.cos(position)
            driven = load * velocity < 0    # the load moves the motor
            bound = self.friction * (1 + (self.breakaway - 1) * np.exp(-abs(velocity) / 0.08)) + (
                (self.helped if driven else self.loaded) * abs(motor))
            free = velocity + STEP * (motor - load - self.viscous * velocity) / inertia
            shift = STEP * bound / inertia
            velocity = np.sign(free) * max(abs(free) - shift, 0.0)
            position += STEP * velocity
        return q


def commanded(motion, t, rng):
    """Return commanded positions of one kind of motion around the horizontal, (N,) [rad]."""
    end = t[-1]
    if motion == 'chirp':
        return rng.uniform(0.3, 0.7) * np.sin(rng.uniform(0.6, 1.1) * t ** 2) - 0.4
    if motion == 'sines':
        w = rng.uniform(1.0, 7.0, 3)
        return -0.4 + sum(rng.uniform(0.1, 0.4) * np.sin(x * t + rng.uniform(0, 6)) for x in w)
    if motion == 'lift':
        return -1.4 + 1.4 * np.clip(np.minimum(t, end - t) / rng.uniform(0.8, 2.0), 0, 1)
    places = rng.uniform(-1.4, 0.8, 12)
    return places[(t / 0.8).astype(int) % 12]


def bench_urdf(mass=0.0, length=0.1):
    """Return a URDF: a rod with a load at its end that a horizontal axis turns from horizontal."""
    links = ''.join(
        f'<link name="{name}"><inertial><origin xyz="{centre} 0 0"/><mass value="{weight}"/>'
        f'<inertia ixx="1e-6" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link>'
        for name, weight, centre, inertia in (
            ('rod', ARM, 0.05, ARM * 0.1 ** 2 / 12), ('load', mass, 0.0, 1e-6))
        if weight)
    fixed = (f'<joint name="end" type="fixed"><parent link="rod"/><child link="load"/>'
             f'<origin xyz="{length} 0 0"/></joint>' if mass else '')
    return (
        f'<robot name="bench"><link name="base"/>{links}{fixed}'
        '<joint name="servo" type="revolute"><parent link="base"/><child link="rod"/>'
        '<axis xyz="0 -1 0"/><limit lower="-3" upper="3" effort="3" velocity="6"/></joint>'
        '</robot>')
