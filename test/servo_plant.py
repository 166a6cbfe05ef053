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
A hobby arm in MuJoCo: position servos with quantised encoders, Stribeck friction and delay.

`Truth.rough` adds what the identified model lacks or describes by another law.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import mujoco
import numpy as np
from robot_identification import Recording

QUANTUM = 2 * np.pi / 4096    # 0.088 degrees
STEP = 5e-4
NAMES = ('pan', 'lift', 'elbow', 'flex', 'roll')
AXES = ('0 0 1', '0 1 0', '0 1 0', '0 1 0', '1 0 0')
PLACES = ('0 0 0.06', '0 0 0.05', '0 0 0.12', '0.13 0 0', '0.06 0 0')
MASSES = (0.15, 0.13, 0.12, 0.1, 0.16)
CENTRES = ('0 0 0.03', '0 0 0.07', '0.07 0 0', '0.04 0 0', '0.05 0 0.012')


def hobby_urdf(count=5):
    """Return a URDF with the first joints of an arm of the size of an SO-101."""
    parts = ['<robot name="hobby"><link name="base"/>']
    parent = 'base'
    for name, axis, place, mass, centre in zip(
            NAMES[:count], AXES, PLACES, MASSES, CENTRES):
        inertia = mass * 0.04 ** 2
        parts.append(
            f'<link name="{name}_link"><inertial><origin xyz="{centre}"/><mass value="{mass}"/>'
            f'<inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/>'
            f'</inertial></link><joint name="{name}" type="revolute"><parent link="{parent}"/>'
            f'<child link="{name}_link"/><origin xyz="{place}"/><axis xyz="{axis}"/>'
            '<limit lower="-1.9" upper="1.9" effort="3" velocity="6"/></joint>')
        parent = f'{name}_link'
    return ''.join(parts) + '</robot>'


@dataclass(frozen=True)
class Truth:
    """
    Servo parameters; `stribeck` is static over kinetic friction.

    `speed` and `acceleration` are limits of the target.
    """

    kp: np.ndarray
    damping: np.ndarray
    armature: np.ndarray
    friction: np.ndarray
    limit: np.ndarray
    delay: float = 0.02
    stribeck: float = 1.0
    speed: float = np.inf
    acceleration: float = np.inf
    kv: float = 0.0    # velocity gain of the loop, whose torque counts towards the limit
    load: float = 0.0    # friction over the motor torque
    cogging: float = 0.0    # [N m] amplitude of a torque that repeats 24 times in a turn
    steep: bool = False    # friction at rest fades as exp(-|v| / 0.04) and the encoder jitters

    @classmethod
    def drawn(cls, seed, stribeck=1.0, limit=1.6, n=5, speed=np.inf):
        rng = np.random.default_rng(seed)
        return cls(kp=rng.uniform(9, 16, n), damping=rng.uniform(0.35, 0.8, n),
                   armature=rng.uniform(0.015, 0.035, n), friction=rng.uniform(0.03, 0.09, n),
                   limit=np.full(n, limit), delay=float(rng.choice([0.012, 0.02, 0.028])),
                   stribeck=stribeck, speed=speed)

    def rough(self):
        """Return the same servos with load friction, cogging and another friction law."""
        return replace(self, load=0.08, cogging=0.015, stribeck=1.4, steep=True)


def teleoperated(seed, duration, rate=50.0, n=5, slowly=1.0):
    """Return times and commands of a hand that moves from point to point and sometimes pauses."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, duration, 1 / rate)
    command = np.empty((len(t), n))
    for joint in range(n):
        at, place = 0.0, 0.0
        while at < duration:
            goal, time = rng.uniform(-1.3, 1.3), slowly * rng.uniform(0.4, 1.6)
            s = np.clip((t - at) / time, 0.0, 1.0)
            rows = t >= at
            command[rows, joint] = (place + (goal - place) * s ** 3 * (10 - 15 * s + 6 * s ** 2))[
                rows]
            at, place = at + time + rng.choice([0.0, 0.0, 0.5]), goal
    return t, command


def limited_speed(distance, speed, fastest, acceleration):
    """Return the next speed of a target that brakes in time to stop after a distance."""
    if np.isinf(acceleration):
        return np.clip(distance / STEP, -fastest, fastest)
    wanted = np.sign(distance) * np.minimum(
        np.minimum(fastest, np.abs(distance) / STEP), np.sqrt(2 * acceleration * np.abs(distance)))
    return speed + np.clip(wanted - speed, -acceleration * STEP, acceleration * STEP)


def recorded(truth, seed, duration=40.0, rate=50.0, name='', slowly=1.0, gain=1.0, mass=0.0,
             centre=(0, 0, 0), steps=False):
    """
    Return the response of the plant to the commands of a hand: positions in encoder counts.

    `gain` multiplies kp; the last link carries `mass` at `centre`; `steps` replaces the commands
    by those of every 0.8 s, halved.
    """
    spec = mujoco.MjSpec.from_string(hobby_urdf(len(truth.kp)))
    if mass:
        last = spec.body(f'{NAMES[len(truth.kp) - 1]}_link').add_body(name='payload')
        last.mass, last.ipos, last.inertia = mass, centre, [1e-9] * 3
        last.explicitinertial = True
    spec.option.timestep = STEP
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model = spec.compile()
    model.jnt_limited[:] = 0
    model.geom_contype[:] = 0
    model.dof_damping[:] = truth.damping.reshape(model.dof_damping.shape)
    # implicit damping: taken at the end of a step h, it adds an inertia of damping h / 2
    model.dof_armature[:] = truth.armature - truth.damping * STEP / 2
    model.dof_solref[:], model.dof_solimp[:] = (2 * STEP, 1.0), (0.9999, 0.9999, 0.001, 0.5, 2.0)
    data = mujoco.MjData(model)
    t, command = teleoperated(seed, duration, rate, len(truth.kp), slowly)
    if steps:
        command = 0.5 * command[(np.arange(len(t)) / (0.8 * rate)).astype(int) * round(0.8 * rate)]
    rng, jitter = np.random.default_rng(seed), 0.4 * truth.steep
    data.qpos[:] = command[0]
    position, velocity, torque = data.qpos, data.qvel, data.qfrc_applied
    friction = model.dof_frictionloss
    friction[:] = truth.friction
    lag, hold = round(truth.delay / STEP), round(1 / (rate * STEP))
    q, target = np.empty_like(command), command[0].copy()
    pace, limit = np.zeros_like(target), truth.acceleration
    for k in range(len(t)):
        q[k] = np.rint(position / QUANTUM + jitter * rng.standard_normal(len(position))) * QUANTUM
        for i in range(hold):
            goal = command[max(0, (k * hold + i - lag) // hold)]
            seen = np.rint(position / QUANTUM) * QUANTUM
            pace = limited_speed(goal - target, pace, truth.speed, limit)
            target += STEP * pace
            torque[:] = np.clip(gain * truth.kp * (target - seen) - truth.kv * velocity,
                                -truth.limit, truth.limit)
            if truth.stribeck > 1:
                fade = (np.exp(-np.abs(velocity) / 0.04) if truth.steep
                        else np.exp(-(velocity / 0.1) ** 2))
                friction[:] = truth.friction * (1 + (truth.stribeck - 1) * fade)
                friction += truth.load * np.abs(torque)
            torque += truth.cogging * np.sin(24 * position)
            mujoco.mj_step(model, data)
    return Recording(t, q, command=command, joint_names=NAMES[:len(truth.kp)],
                     name=name or f'hand {seed}')
