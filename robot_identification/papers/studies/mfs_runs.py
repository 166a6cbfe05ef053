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
"""Simulated runs of the QIANJIANG-I: excitation from rest, identification and validation."""

from collections.abc import Mapping
from dataclasses import dataclass
import functools

import numpy as np
import pinocchio as pin
from robot_identification.arm import Arm, load_arm
from robot_identification.arrays import Array
from robot_identification.dynamics import BaseParameters
from robot_identification.estimation import get_estimator
from robot_identification.excitation import design, Excitation, Requirements
from robot_identification.online.torque_filter import REST_SPEED
from robot_identification.papers.searches.problem import SearchProblem
from robot_identification.papers.studies.pid_plant import PidPlant
from robot_identification.papers.studies.study import Draw, LazyResults
from robot_identification.regression import build_regression
from robot_identification.signals import process
from robot_identification.simulation import Plant, PlantOptions, simulate, SimulatedRun
from scipy.interpolate import CubicSpline

KINDS = ('ffs', 'mfs')
HARMONICS, RADIUS, SPEED, LAPS = 5, 0.05, 0.5, 4
"""Harmonics; radius [m] and largest speed [m/s] of the circle as printed, rounds (assumed)."""
STEP = 1 / PlantOptions.rate
"""[s] sampling interval of the motions."""
FRICTION = 'smooth_coulomb'
METHODS = ("the paper's way", 'our way')
"""Fourier fit with mean over the periods and MLE (the paper), or low-pass and WLS (ours)."""
SETTINGS = {'circle radius [m]': RADIUS, 'largest speed [m/s]': SPEED, 'friction': FRICTION}
DESIGNS = {'GA': 'binary_genetic', 'gradient': 'barrier'}
PID, MODEL = 'decentralised PID', 'mass matrix of the URDF'
CONTROLLERS: dict[str, type[Plant]] = {PID: PidPlant, MODEL: Plant}
REST, RUN_IN = 'from rest', 'run in'
PRINTED = ('GA', REST, PID)
"""Design, start and controller as in the paper."""
CONDITIONS = {
    ('start of FFS', 'run in'): ('GA', RUN_IN, PID),
    ('optimiser of the design', 'gradient'): ('gradient', REST, PID),
    ('controller of the joints', MODEL): ('GA', REST, MODEL)}
"""Other conditions, by assumption and value."""
Condition = tuple[str, str, str]
CIRCLE = 'circle'
Run = tuple[Condition | str, str]
"""Condition and excitation, or controller and `CIRCLE`."""
JointMotion = tuple[Array, Array, Array, Array]
"""Time t (N,) [s], and q, v and a (N, n)."""


@dataclass(frozen=True, eq=False)
class CircleFit:
    """
    Torque errors of one identified model on the validation circle.

    Parameters
    ----------
    desired, measured
        RMS errors against the measured torques, for torques predicted from the desired and from
        the measured motion, (n,) [N m].
    clean
        RMS errors against the torques without noise, predicted from the true motion, (n,) [N m].
    t, predicted, torque
        Time (N,) [s], torques predicted from the desired motion and measured torques, (N, n)
        [N m].
    transient
        Largest tracking error in the first second of the excitation [rad].
    circle
        Largest tracking error on the circle [rad].

    """

    desired: Array
    measured: Array
    clean: Array
    t: Array
    predicted: Array
    torque: Array
    transient: float
    circle: float


@dataclass(frozen=True, eq=False)
class ArmDraw:
    """
    Results of one draw, computed when they are used.

    Fits by condition, excitation ('ffs' or 'mfs') and method of identification; condition numbers
    and seconds of the designs; `paths` are the desired and the actual circle of each controller,
    (N, 2) [m]; `problem` has the search problem of the last run.
    """

    fits: Mapping[tuple[Condition, str, str], CircleFit]
    designs: Mapping[tuple[str, str], tuple[float, float]]
    paths: Mapping[str, Array]
    problem: Mapping[Run, SearchProblem]


def identify_arm(draw: Draw, period: float, periods: int) -> ArmDraw:
    """
    Return designed motions of a draw, their runs, and the identified and validated models.

    Parameters
    ----------
    draw
        Seeds.
    period, periods
        Period of the motions [s], and number of periods.

    """
    arm = load_arm('qianjiang_i')
    motions = LazyResults(
        [(label, kind) for label in DESIGNS for kind in KINDS], lambda key: design(
            arm, kind=key[1], period=period, harmonics=HARMONICS, starts=1, seed=draw.design,
            optimiser=DESIGNS[key[0]], requirements=Requirements()))
    circle, options = circle_motion(), PlantOptions(seed=draw.arm, stribeck_ratio=1.1)
    plants = {name: kind(arm, options) for name, kind in CONTROLLERS.items()}

    rng = np.random.default_rng(draw.noise)
    conditions = (PRINTED, *CONDITIONS.values())
    jobs: tuple[Run, ...] = (*((name, CIRCLE) for name in CONTROLLERS), *(
        (condition, kind) for condition in conditions for kind in KINDS
        if condition[1] == REST or kind == 'ffs'))    # MFS starts at rest in any case

    def simulate_run(key: Run) -> SimulatedRun:
        for job in jobs[:jobs.index(key)]:
            runs[job]    # the noise of the runs is drawn in their order
        condition, kind = key
        if isinstance(condition, str):
            return simulate(plants[condition], circle, rng=rng, name=kind)
        label, start, controller = condition
        motion = motions[label, kind]
        return simulate(plants[controller], motion if start == RUN_IN else _from_rest(
            motion, periods), rng=rng, name=kind, periods=periods if start == RUN_IN else 1)

    runs = LazyResults(jobs, simulate_run)

    def fit(key: tuple[Condition, str, str]) -> CircleFit:
        condition, kind, way = key
        if (condition, kind) not in jobs:
            return fits[(condition[0], REST, condition[2]), kind, way]
        return _fit(arm, runs[condition, kind], motions[condition[0], kind], way,
                    runs[condition[2], CIRCLE], circle)

    fits = LazyResults([(condition, kind, way) for condition in conditions for kind in KINDS
                        for way in METHODS], fit)
    return ArmDraw(
        fits, LazyResults(motions, lambda key: (float(motions[key].condition_number or 0),
                                                motions[key].seconds)),
        LazyResults(('desired', *CONTROLLERS), lambda name: _path(
            arm, circle[1] if name == 'desired' else runs[name, CIRCLE].q)),
        LazyResults(jobs[-1:], lambda job: SearchProblem(build_regression(
            arm, [process(runs[job].recording, arm, period=period)], FRICTION))))


def _path(arm: Arm, q: Array) -> Array:
    """Return y and z of the last frame along positions q (N, n), every 20th sample, [m]."""
    data, frame = arm.model.createData(), arm.model.nframes - 1
    points = []
    for row in q[::20]:
        pin.framesForwardKinematics(arm.model, data, row)
        points.append(data.oMf[frame].translation[1:].copy())
    return np.array(points)


def _from_rest(motion: Excitation, periods: int) -> JointMotion:
    """Return the samples of a motion, with zero velocity and acceleration in the first one."""
    t, q, v, a = motion.sample(1 / STEP, periods)
    v, a = v.copy(), a.copy()
    v[0], a[0] = 0.0, 0.0
    return t, q, v, a


@functools.cache
def circle_motion() -> JointMotion:
    """Return the joint motion t, q, v, a along a circle, from rest to rest."""
    arm = load_arm('qianjiang_i')
    data = arm.model.createData()
    frame = arm.model.nframes - 1
    q = np.array([0.3, 0.3, -0.3])
    pin.framesForwardKinematics(arm.model, data, q)
    start = data.oMf[frame].translation.copy()
    length = 2 * np.pi * RADIUS * LAPS
    duration = np.ceil(1.875 * length / SPEED / STEP) * STEP
    t = np.arange(round(duration / STEP)) * STEP
    s = t / duration
    angle = 2 * np.pi * LAPS * s ** 3 * (10 - 15 * s + 6 * s ** 2)
    path = start + RADIUS * np.column_stack([np.zeros_like(t), np.sin(angle), np.cos(angle) - 1])
    positions = np.empty((len(t), arm.n))
    for k, target in enumerate(path):
        for _ in range(20):
            pin.framesForwardKinematics(arm.model, data, q)
            error = target - data.oMf[frame].translation
            if np.linalg.norm(error) < 1e-12:
                break
            jacobian = pin.computeFrameJacobian(arm.model, data, q, frame,
                                                pin.LOCAL_WORLD_ALIGNED)[:3]
            q = q + np.linalg.solve(jacobian, error)
        positions[k] = q
    spline = CubicSpline(t, positions, bc_type='clamped')
    return t, positions, spline(t, 1), spline(t, 2)


def _fit(arm: Arm, run: SimulatedRun, motion: Excitation, way: str, check: SimulatedRun,
         circle: JointMotion) -> CircleFit:
    """Identify a model by one of `METHODS`, and return its torque errors on the circle."""
    if way == METHODS[0]:
        estimator, fitted = 'mle', process(
            run.recording, arm, method='fourier', basis=motion.trajectory.series.name,
            period=motion.period, harmonics=HARMONICS, average=True)
    else:
        estimator, fitted = 'wls', process(run.recording, arm, period=motion.period)
    samples = process(check.recording, arm, decimation_cutoff=np.inf)
    torque = check.recording.joint_torque(arm)
    early = np.abs(run.q - run.q_ref)[:round(1 / STEP)].max()
    moving = np.max(np.abs(check.v), axis=1) > REST_SPEED
    estimate = get_estimator(estimator).fit(build_regression(arm, [fitted], FRICTION))
    base = estimate.base
    desired = _torque(base, estimate.values, circle[1:])[:len(torque)]
    measured = build_regression(arm, [samples], FRICTION).residuals(estimate.values)
    clean = _torque(base, estimate.values, (check.q, check.v, check.a)) - check.torque
    return CircleFit(
        _rms((desired - torque)[moving]), _rms(measured), _rms(clean[moving]),
        circle[0][:len(torque)], desired, torque, float(early), float(check.tracking_error.max()))


def _torque(base: BaseParameters, values: Array, motion: tuple[Array, ...]) -> Array:
    columns: Array = base.structure.columns(*motion)[:, :, base.columns]
    torque: Array = columns @ values
    return torque


def _rms(errors: Array) -> Array:
    root: Array = np.sqrt(np.mean(errors ** 2, axis=0))
    return root
