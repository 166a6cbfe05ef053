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
Does MuJoCo with the identified model move as the real arm does? A UR10e, a held-out recording.

Identify on the 30 s motion, export to MJCF, and let MuJoCo simulate the 40 s motion, which was not
used; beside it the MJCF of the URDF's own numbers. The simulation starts at a measured state and
gets the measured torque (current times gain). The real controller is not known, and neither is its
reference: what was recorded is the motion itself. So the loop is closed by a PD controller of ours
around the recorded motion, with gains for a stated bandwidth at the arm's mean inertia, the same
for both models; 0 Hz is no feedback. Then the distance from the recorded position is taken after
each horizon, over all joints and all starts, root mean square.

    python benchmarks/simulator_fidelity.py [--datasets FOLDER] [--estimator wls]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
import json
from pathlib import Path
import sys
import tempfile
from typing import Any

from model_benefit import urdf_model
import mujoco
import numpy as np
from numpy.typing import NDArray
from real_arms import CASES, CUTOFF, gather_robots, ROOT
from robot_identification import IdentifiedModel, load_arm, load_recording
from robot_identification.export import export_model
from robot_identification.identification import identify
from scipy import signal
from scipy.interpolate import CubicSpline

Array = NDArray[np.float64]
ROBOT, TRAINING, WINDOW, HELD_OUT, HELD_OUT_WINDOW = CASES[0]
STEP = 5e-4                     # [s] of the simulation
STARTS = 0.5                    # [s] from one start to the next
HORIZONS = (0.1, 0.3, 1.0)      # [s]
BANDWIDTHS = (0.0, 1.0, 4.0)    # [Hz] of the loop


@dataclass(frozen=True)
class Motion:
    """What was measured, on the clock of the simulation."""

    q: Array
    v: Array
    tau: Array


def measured(recording: Any, arm: Any) -> Motion:
    """Return position, velocity and torque, low-passed without delay, half a second cut away."""
    rate = 200.0
    t = np.arange(recording.t[0], recording.t[-1], 1 / rate)
    fine = np.arange(t[0] + 0.5, t[-1] - 0.5, STEP)
    sections = signal.butter(4, CUTOFF, fs=rate, output='sos')
    curves = []
    for values in (recording.joint_position(arm), recording.joint_torque(arm)):
        even = np.column_stack([np.interp(t, recording.t, x) for x in values.T])
        curves.append(signal.sosfiltfilt(sections, even, axis=0))
    position, torque = (CubicSpline(t, curve) for curve in curves)
    return Motion(position(fine), position(fine, 1), torque(fine))


def simulated(model: IdentifiedModel, motion: Motion, stiffness: Array,
              damper: Array) -> dict[float, Array]:
    """Return the errors of position after each horizon, (starts, n) [rad]."""
    text = next(iter(export_model(model, 'mjcf').files.values()))
    engine = mujoco.MjModel.from_xml_string(text)
    engine.opt.timestep = STEP
    engine.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data = mujoco.MjData(engine)
    names = model.arm.joint_names
    dof = np.array([int(engine.joint(name).dofadr[0]) for name in names])
    # implicit, so that the loop is stable with links as light as the URDF says
    engine.dof_damping[dof] += damper.reshape(engine.dof_damping[dof].shape)
    ends = {round(horizon / STEP): horizon for horizon in HORIZONS}
    errors: dict[float, list[Array]] = {horizon: [] for horizon in HORIZONS}
    last = max(ends)
    for start in range(0, len(motion.q) - last - 1, round(STARTS / STEP)):
        mujoco.mj_resetData(engine, data)
        data.qpos[dof], data.qvel[dof] = motion.q[start], motion.v[start]
        for k in range(last):
            row = start + k
            data.qfrc_applied[dof] = (motion.tau[row] + damper * motion.v[row]
                                      + stiffness * (motion.q[row] - data.qpos[dof]))
            mujoco.mj_step(engine, data)
            if k + 1 in ends:
                errors[ends[k + 1]].append(data.qpos[dof] - motion.q[row + 1])
    return {horizon: np.array(found) for horizon, found in errors.items()}


def main() -> int:
    """Print the table and write the JSON."""
    parser = argparse.ArgumentParser(description='MuJoCo with the identified model, and a UR10e')
    parser.add_argument('--datasets', type=Path, default=ROOT.parent / 'shared' / 'datasets')
    parser.add_argument('--estimator', default='wls')
    parser.add_argument('--json', type=Path, default=Path('results/simulator_fidelity.json'))
    options = parser.parse_args()
    if not (options.datasets / ROBOT).is_dir():
        print(f'no recordings in {options.datasets / ROBOT}: give their folder with --datasets')
        return 2
    with tempfile.TemporaryDirectory() as name:
        gather_robots(Path(name), options.datasets)
        arm = load_arm(Path(name) / f'{ROBOT}.yaml')
    result = identify(arm, [load_recording(options.datasets / TRAINING, arm, WINDOW)],
                      estimator=options.estimator)
    motion = measured(load_recording(options.datasets / HELD_OUT, arm, HELD_OUT_WINDOW), arm)
    masses = result.model.mass_matrix(motion.q[::2000])
    inertia = np.mean(np.diagonal(masses, axis1=1, axis2=2), axis=0)
    print(f"friction '{result.model.friction}', {len(motion.q) * STEP:.0f} s, "
          f'a start every {STARTS:g} s; errors of position in mrad')
    print('| loop | model | ' + ' | '.join(f'after {h:g} s' for h in HORIZONS)
          + ' | after the last, by joint |')
    print('| --- ' * (3 + len(HORIZONS)) + '|')
    rows = []
    for bandwidth in BANDWIDTHS:
        omega = 2 * np.pi * bandwidth
        for name, model in (('URDF', urdf_model(arm)), ('identified', result.model)):
            found = simulated(model, motion, omega ** 2 * inertia, 2 * omega * inertia)
            size = [1e3 * float(np.sqrt(np.mean(found[h] ** 2))) for h in HORIZONS]
            joints = 1e3 * np.sqrt(np.mean(found[HORIZONS[-1]] ** 2, axis=0))
            rows.append({'bandwidth': bandwidth, 'model': name, 'mrad': size,
                         'joints': joints.tolist()})
            loop = f'{bandwidth:g} Hz' if bandwidth else 'open'
            print(f"| {loop} | {name} | {' | '.join(f'{x:.3g}' for x in size)} | "
                  f"{', '.join(f'{x:.3g}' for x in joints)} |", flush=True)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == '__main__':
    sys.exit(main())
