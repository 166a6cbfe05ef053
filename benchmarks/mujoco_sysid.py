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
Servos fitted by MuJoCo's own `mujoco.sysid`, for comparison in `benchmarks/servos.py`.

It needs `pip install "mujoco[sysid]"`.
"""

from __future__ import annotations

from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
import time

import mujoco
import numpy as np
from robot_identification.servos import ServoModel
from robot_identification.servos.model import Course, STEP

RUN = 5.0    # [s] length of the runs, as in ours
NAMES = ('kp', 'damping', 'armature', 'friction', 'limit')
HIGHEST = (2000.0, 20.0, 1.0, 2.0, 20.0)    # bounds of the search
LONGEST = 0.1    # [s] largest delay
EXTRAS = ('absl', 'colorama', 'imageio', 'jinja2', 'matplotlib', 'plotly', 'tabulate', 'yaml')


def require_sysid():
    """End the program if packages that `mujoco.sysid` imports are missing, and name them."""
    missing = [name for name in EXTRAS if find_spec(name) is None]
    if missing:
        raise SystemExit(f"mujoco.sysid lacks {', '.join(missing)}: pip install 'mujoco[sysid]'")


def make_spec(urdf):
    """Return a MuJoCo model of the arm with position servos that have no parameters yet."""
    spec = mujoco.MjSpec.from_string(urdf)
    spec.option.timestep, spec.option.integrator = STEP, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    for joint in spec.joints:
        joint.limited = joint.actfrclimited = False
        actuator = spec.add_actuator(name=joint.name, target=joint.name,
                                     trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=10.0)
        actuator.forcelimited, actuator.forcerange = True, [-1, 1]
        spec.add_sensor(name=f'{joint.name}_pos', type=mujoco.mjtSensor.mjSENS_JOINTPOS,
                        objtype=mujoco.mjtObj.mjOBJ_JOINT, objname=joint.name)
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    return spec


def set_parameter(spec, joint, name, value):
    """Set one parameter of one servo in a MuJoCo model."""
    if name == 'kp':
        spec.actuator(joint).set_to_position(kp=value)
    elif name == 'limit':
        spec.actuator(joint).forcerange = [-value, value]
    elif name == 'damping':
        spec.joint(joint).damping = [value, 0, 0]
    else:
        setattr(spec.joint(joint), {'friction': 'frictionloss'}.get(name, name), value)


def make_sequences(sysid, spec, arm, recordings):
    """Return the recordings in runs of `RUN` seconds with measured initial states."""
    model, sequences = spec.compile(), []
    for recording in recordings:
        course = Course.of(arm, recording, RUN)
        v = course.smooth(course.q, 1)
        for k in range(int((course.t[-1] + 1e-6) // RUN)):
            rows = np.flatnonzero((course.t >= k * RUN) & (course.t < (k + 1) * RUN))
            grid = k * RUN + STEP * np.arange(round(RUN / STEP))
            held = course.command[np.searchsorted(course.t, grid + 1e-9, side='right') - 1]
            start = sysid.create_initial_state(model, course.q[rows[0]], v[rows[0]])
            sequences.append(sysid.ModelSequences(
                recording.name, spec, f'{recording.name} {k}', start,
                sysid.TimeSeries(grid - k * RUN, held),
                sysid.TimeSeries.from_names(course.t[rows] - k * RUN, course.q[rows], model)))
    return sequences


def fit_mujoco(arm, urdf, recordings, iterations):
    """Return a function from recordings to position errors (n,), values, and processor time."""
    from mujoco import sysid
    spec, nominal = make_spec(urdf), ServoModel.nominal(arm)
    first = dict(zip(NAMES, (nominal.kp, nominal.damping, np.full(arm.n, 0.01),
                             np.full(arm.n, 0.05), arm.limits.torque)))
    parameters = sysid.ParameterDict()
    for name, highest in zip(NAMES, HIGHEST):
        for joint, value in zip(arm.joint_names, first[name]):
            parameters.add(sysid.Parameter(
                f'{joint} {name}', nominal=value, min_value=1e-4, max_value=highest,
                modifier=lambda s, p, joint=joint, name=name: set_parameter(
                    s, joint, name, p.value[0])))
    parameters.add(sysid.Parameter('delay', nominal=0.02, min_value=0.0, max_value=LONGEST,
                                   modifier=lambda s, p: None))
    transform = sysid.SignalTransform(normalize=False)
    transform.delay('*_pos', parameters['delay'])

    def residuals(given):
        return sysid.build_residual_fn(
            models_sequences=make_sequences(sysid, spec, arm, given),
            modify_residual=transform.apply, sensor_weights=None)
    began = time.process_time()
    with redirect_stdout(StringIO()):    # it prints its iterations
        found, result = sysid.optimize(
            initial_params=parameters, residual_fn=residuals(recordings), optimizer='mujoco',
            verbose=False, max_iters=iterations, x_scale='jac')
    took = time.process_time() - began

    def errors(given):
        left = residuals(given)(result.x, found)[0]
        away = np.concatenate([each.reshape(-1, arm.n) for each in left])
        return np.sqrt(np.mean(away ** 2, axis=0))
    return errors, {name: np.array([found[f'{joint} {name}'].value[0]
                                    for joint in arm.joint_names]) for name in NAMES} | {
        'delay': float(found['delay'].value[0])}, took
