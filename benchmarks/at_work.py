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
The identified model at work, on simulated arms that differ from their URDFs.

For each arm: identify from 40 s of motion, then
* the tracking error of a fast motion under the same PD gains, without feed-forward, with the
  URDF's and with the identified model's torques;
* the smallest contact force on the tool at one false alarm an hour, with either model, and the
  alarms that a motion without contact really gave;
* a payload of 0.3 kg and none, found in the fast motion.

    python benchmarks/at_work.py [--arms panda ur10e xarm7] [--seeds 0 1] [--json FILE]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
import json
from pathlib import Path
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pinocchio as pin
from robot_identification import Arm, IdentifiedModel, joint_torque_regressor, load_arm, Recording
from robot_identification.estimation import identify_payload
from robot_identification.identification import identify
from robot_identification.observer import learn_residuals, MomentumObserver
from robot_identification.signals import SlidingWindow
from robot_identification.simulation import Plant, PlantOptions, simulate

Array = NDArray[np.float64]
BANDWIDTH, DAMPING = 4.0, 1.0      # [Hz] of the PD loops at the mean inertia
PASSES = 4
OBSERVER = 10.0                    # [Hz]
WINDOW, RATE = 0.03, 200.0         # [s] of smoothing, [Hz] of the observer: the node's
PAYLOAD = np.array([0.3, 0.0, 0.0, 0.3 * 0.08, 0.3 * 0.08 ** 2 + 2e-4, 0.0,
                    0.3 * 0.08 ** 2 + 2e-4, 0.0, 0.0, 2e-4])
"""0.3 kg, 8 cm in front of the last joint, a radius of gyration of 2.6 cm."""


@dataclass(frozen=True)
class Sines:
    """A periodic motion of a few sines a joint within shares of the limits."""

    q: Array
    v: Array
    a: Array
    t: Array

    @classmethod
    def of(cls, arm: Arm, seed: int, period: float, harmonics: int, speed: float) -> Sines:
        """Draw a motion."""
        rng, limits = np.random.default_rng(seed), arm.limits
        t = np.arange(0, period, 1e-3)
        w = 2 * np.pi / period * np.arange(1, harmonics + 1)[:, None, None]
        angle = w * t[:, None] + rng.uniform(0, 2 * np.pi, (harmonics, 1, arm.n))
        size = rng.normal(size=(harmonics, 1, arm.n)) / np.sqrt(w)
        q, v, a = ((size * y).sum(axis=0) for y in
                   (np.sin(angle), w * np.cos(angle), -w ** 2 * np.sin(angle)))
        lower = np.where(np.isfinite(limits.lower), limits.lower, -np.pi)
        upper = np.where(np.isfinite(limits.upper), limits.upper, np.pi)
        half = 0.35 * np.minimum(upper - lower, 2 * np.pi)
        acceleration = np.where(np.isfinite(limits.acceleration), limits.acceleration, 10.0)
        scale = np.min([half / np.abs(q).max(axis=0),
                        speed * limits.velocity / np.abs(v).max(axis=0),
                        speed * acceleration / np.abs(a).max(axis=0)], axis=0)
        return cls((lower + upper) / 2 + scale * q, scale * v, scale * a, t)


def tracking(plant: Plant, gains: tuple[Array, Array], motion: Sines, extra: Array) -> Array:
    """Return the tracking error of each joint, rms over the second pass, (n,) [rad or m]."""
    every = plant.options.control_steps
    stiffness, damper = gains
    plant.reset(motion.q[0], motion.v[0], extra[0])
    count, errors = len(motion.t), []
    for k in range(2 * count):
        row = k % count
        error = motion.q[row] - plant.q
        command = extra[row] + stiffness * error + damper * (motion.v[row] - plant.v)
        for _ in range(every):
            plant.step(command)
        if k >= count:
            errors.append(error)
    return np.sqrt(np.mean(np.square(errors), axis=0))


def smooth(recording: Recording, arm: Arm) -> tuple[Array, Array, Array, Array]:
    """Return what the node external_torque makes of joint states: t, q, v, tau."""
    instants = SlidingWindow(arm.n, WINDOW, 1 / RATE).add(
        np.asarray(recording.t), recording.joint_position(arm), recording.joint_torque(arm))
    return (np.array([i.t for i in instants]), np.array([i.q for i in instants]),
            np.array([i.v for i in instants]), np.array([i.tau for i in instants]))


def contact(model: IdentifiedModel, learnt: Recording, fresh: Recording) -> dict[str, float]:
    """
    Return the smallest force that is found, and the false alarms of a motion not learnt from.

    A force on the tool is found when a joint is beyond the threshold; over poses of the fresh
    motion and directions of the force, the median is the figure.
    """
    arm = model.arm
    observer = MomentumObserver(model, OBSERVER)
    statistics = learn_residuals(observer, *smooth(learnt, arm))
    threshold = statistics.threshold(1.0)
    t, q, v, tau = smooth(fresh, arm)
    residual = observer.run(t, q, v, tau) - statistics.bias
    levels = threshold * statistics.deviations(model, q, v)
    moving = np.all(np.abs(v) > 0.05, axis=1)
    settled = t - t[0] > 0.5
    alarms = np.any(np.abs(residual) > levels, axis=1) & settled
    begun = int(np.sum(alarms[1:] & ~alarms[:-1]))
    rng, forces = np.random.default_rng(0), []
    data = arm.model.createData()
    frame = len(arm.model.frames) - 1
    poses = np.flatnonzero(moving)
    for k in poses[::max(1, len(poses) // 100)]:
        jacobian = pin.computeFrameJacobian(arm.model, data, q[k], frame,
                                            pin.LOCAL_WORLD_ALIGNED)[:3]
        directions = rng.normal(size=(20, 3))
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        reach = np.abs(directions @ jacobian) / levels[k]
        forces += list(1 / reach.max(axis=1))
    return {'force': float(np.median(forces)), 'alarms': begun,
            'minutes': float((t[-1] - t[0]) / 60)}


def loaded(run: Any, arm: Arm) -> Recording:
    """Return a recording with the torque that a payload takes at the true motion."""
    regressor = joint_torque_regressor(arm, run.q, run.v, run.a)[:, :, -10:]
    recording = run.recording
    return Recording(recording.t, recording.q, recording.tau + regressor @ PAYLOAD,
                     joint_names=recording.joint_names, name='with payload')


def measure(name: str, seed: int) -> dict[str, Any]:
    arm = load_arm(name)
    plant = Plant(arm, PlantOptions(seed=seed, step=1e-3, rate=500.0))
    rng = np.random.default_rng(seed)
    slow = [Sines.of(arm, 10 * seed + k, 20.0, 6, 0.5) for k in (1, 2)]
    runs = [simulate(plant, (s.t, s.q, s.v, s.a), rng=rng, name=f'motion {k}')
            for k, s in enumerate(slow)]
    model = identify(arm, [run.recording for run in runs]).model
    m = len(arm.transmission)
    plain = IdentifiedModel(arm, arm.inertial_parameters,
                            np.nan_to_num(np.resize(arm.drives.rotor_inertia, m)),
                            'coulomb_viscous', np.zeros((m, 3)))
    fast = Sines.of(arm, 10 * seed + 5, 6.0, 4, 0.8)
    inertia = np.mean(np.diagonal(plant.mass_matrix(fast.q[::200]), axis1=1, axis2=2), axis=0)
    omega = 2 * np.pi * BANDWIDTH
    gains = omega ** 2 * inertia, 2 * DAMPING * omega * inertia
    errors = {}
    for kind, extra in (('without', np.zeros_like(fast.q)),
                        ('urdf', plain.torque(fast.q, fast.v, fast.a)),
                        ('identified', model.torque(fast.q, fast.v, fast.a))):
        errors[kind] = float(np.sqrt(np.mean(tracking(plant, gains, fast, extra) ** 2)))
    passes = (np.arange(PASSES * len(fast.t)) * 1e-3,
              *(np.tile(x, (PASSES, 1)) for x in (fast.q, fast.v, fast.a)))
    quick, again = (simulate(plant, passes, rng=rng, name='task') for _ in range(2))
    found = {kind: contact(used, quick.recording, again.recording)
             for kind, used in (('urdf', plain), ('identified', model))}
    with_load = identify_payload(model, loaded(again, arm))
    without = identify_payload(model, again.recording)
    low, high = with_load.intervals()[0]
    return {'arm': name, 'seed': seed, 'tracking': errors, 'contact': found,
            'payload': {'mass': with_load.mass, 'low': float(low), 'high': float(high),
                        'verdict': with_load.verdict, 'without': without.verdict,
                        'detectable': without.detectable}}


def row(found: dict[str, Any]) -> str:
    """Return a line of the table."""
    e, c, p = found['tracking'], found['contact'], found['payload']
    mrad = ' / '.join(f'{1e3 * e[kind]:.1f}' for kind in ('without', 'urdf', 'identified'))
    return (f"| {found['arm']}, {found['seed']} | {mrad} mrad | "
            f"{e['without'] / e['identified']:.1f}, {e['urdf'] / e['identified']:.1f} | "
            f"{c['urdf']['force']:.0f} / {c['identified']['force']:.1f} N | "
            f"{c['urdf']['alarms']}, {c['identified']['alarms']} in "
            f"{c['identified']['minutes']:.1f} min | {p['verdict']}: {p['mass']:.3f} kg "
            f"({p['low']:.3f} to {p['high']:.3f}) | {p['without']} |")


def main() -> int:
    """Print the table and write the JSON."""
    parser = argparse.ArgumentParser(description='the identified model at work')
    parser.add_argument('--arms', nargs='*', default=['panda', 'ur10e', 'xarm7'])
    parser.add_argument('--seeds', nargs='*', type=int, default=[0, 1])
    parser.add_argument('--json', type=Path, default=Path('results/at_work.json'))
    options = parser.parse_args()
    print('| arm, seed | tracking without / URDF / identified | times better | smallest contact, '
          'URDF / identified | false alarms | 0.3 kg | no payload |')
    print('| --- ' * 7 + '|')
    results = []
    for name in options.arms:
        for seed in options.seeds:
            results.append(measure(name, seed))
            print(row(results[-1]), flush=True)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == '__main__':
    sys.exit(main())
