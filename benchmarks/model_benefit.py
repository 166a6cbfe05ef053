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
"""Benefit of a model: tracking with feed-forward, and the smallest contact detected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import IdentifiedModel
from robot_identification.online import (
    calibrate_residuals,
    ContactObserver,
    detectable_force,
    MomentumObserver,
)
from robot_identification.recording import Recording
from robot_identification.ros.sliding_window import SlidingWindow, stacked_instants
from robot_identification.simulation import Plant, simulate

BANDWIDTH, DAMPING = 4.0, 1.0
"""Bandwidth and damping of the PD loops, at a task's mean inertia [Hz], [-]: soft ones."""
OBSERVER = 10.0    # [Hz]
WINDOW = 0.03      # [s] over which joint states are smoothed, as in the node external_torque
MOVING = 0.05      # [rad/s or m/s] beyond which every joint is, where contact is judged
SETTLING = 0.5     # [s] of a recording before the observer is right
POSES, DIRECTIONS = 100, 20
"""Over which the force on the tool is the median."""


@dataclass(frozen=True, eq=False)
class Task:
    """
    A periodic motion of a few sines a joint, within shares of the limits.

    Parameters
    ----------
    t
        Times of one period, 1 ms apart, (N,) [s].
    q, v, a
        (N, n) [rad or m, per s, per s^2].

    """

    t: Array
    q: Array
    v: Array
    a: Array

    def __post_init__(self) -> None:
        for name in ('t', 'q', 'v', 'a'):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @classmethod
    def drawn(cls, arm: Arm, rng: np.random.Generator, *, period: float, harmonics: int,
              speed: float) -> Task:
        """
        Draw a task.

        Parameters
        ----------
        arm
            The arm.
        rng
            Source of the draws.
        period
            [s].
        harmonics
            Sines of each joint.
        speed
            Share of the limits of velocity and acceleration (10 rad/s^2 or m/s^2 where there is
            none) that the fastest joint reaches.

        """
        limits = arm.limits
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
        return cls(t, (lower + upper) / 2 + scale * q, scale * v, scale * a)

    def repeated(self, passes: int) -> tuple[Array, Array, Array, Array]:
        """Return t, q, v, a of some passes."""
        q, v, a = (np.tile(x, (passes, 1)) for x in (self.q, self.v, self.a))
        t: Array = np.linspace(0.0, 1e-3 * (passes * len(self.t) - 1), passes * len(self.t))
        return t, q, v, a


def urdf_model(arm: Arm) -> IdentifiedModel:
    """Return what the URDF and the robot YAML say of an arm: no friction, rotors where known."""
    m = len(arm.transmission)
    rotors = np.zeros(m)
    rotors[:arm.n] = np.nan_to_num(arm.drives.rotor_inertia)
    return IdentifiedModel(arm, arm.inertial_parameters, rotors, 'coulomb_viscous',
                           np.zeros((m, 3)))


def tracking_errors(plant: Plant, task: Task, models: Mapping[str, IdentifiedModel | None]
                    ) -> dict[str, Array]:
    """
    Return the errors of following a task under the same PD gains with each feed-forward.

    Parameters
    ----------
    plant
        The simulated arm.
    task
        What it follows, twice; the second pass counts.
    models
        Models by name; None is no feed-forward.

    Returns
    -------
    dict
        Root mean square of each joint's error, (n,) [rad or m], by name.

    """
    masses = plant.mass_matrix(task.q[::200])
    inertia = np.mean(np.diagonal(masses, axis1=1, axis2=2), axis=0)
    omega = 2 * np.pi * BANDWIDTH
    stiffness, damper = omega ** 2 * inertia, 2 * DAMPING * omega * inertia
    every, count = round(1e-3 / plant.options.step), len(task.t)
    found = {}
    for name, model in models.items():
        extra = np.zeros_like(task.q) if model is None else model.torque(*task.repeated(2)[1:])
        plant.reset(task.q[0], task.v[0], extra[0])
        errors = np.empty((2 * count, plant.arm.n))
        for k in range(2 * count):
            row = k % count
            errors[k] = task.q[row] - plant.q
            command = (extra[k % len(extra)] + stiffness * errors[k]
                       + damper * (task.v[row] - plant.v))
            for _ in range(every):
                plant.step(command)
        found[name] = np.sqrt(np.mean(errors[count:] ** 2, axis=0))
    return found


def smoothed(recording: Recording, arm: Arm, rate: float) -> tuple[Array, Array, Array, Array]:
    """Return what the node external_torque makes of joint states: t, q, v, tau at `rate`."""
    instants = SlidingWindow(arm.n, WINDOW, 1 / rate).add(
        np.asarray(recording.t), recording.joint_position(arm), recording.joint_torque(arm))
    return stacked_instants(instants)


@dataclass(frozen=True)
class _ContactFound:
    """
    What a contact observer finds.

    Parameters
    ----------
    force
        Median over poses and directions of the smallest force on the tool that is called contact,
        one false alarm an hour accepted [N].
    alarms
        False alarms in motion without contact.
    hours
        Length of that motion [h].
    force_at_one
        The same force at the threshold that gave no more than one false alarm an hour there (one
        in all, where it was shorter) [N].

    """

    force: float
    alarms: int
    hours: float
    force_at_one: float


def contact_found(model: IdentifiedModel, learnt: Recording, fresh: Iterable[Recording],
                  rate: float = 100.0) -> _ContactFound:
    """
    Learn the residual from a recording without contact, and judge it on others.

    Parameters
    ----------
    model
        The model.
    learnt, fresh
        Recordings; alarms within a second count as one.
    rate
        Rate of the observer [Hz].

    """
    arm, observer = model.arm, MomentumObserver(model, OBSERVER)
    statistics = calibrate_residuals(observer, *smoothed(learnt, arm, rate))
    contact = ContactObserver(observer, statistics, gap=np.inf)
    highest: list[float] = []
    forces: list[float] = []
    seconds = 0.0
    for recording in fresh:
        t, q, v, tau = smoothed(recording, arm, rate)
        observer.reset()
        found = [contact.step(*row) for row in zip(t, q, v, tau)]
        limit = np.array([each.limit for each in found])
        torque = np.nan_to_num([each.torque for each in found])
        settled = t - t[0] > SETTLING
        highest += _highest(np.max(np.abs(torque) / limit, axis=1)[settled], round(rate))
        seconds += float(np.sum(settled)) / rate
        moving = np.flatnonzero(np.all(np.abs(v) > MOVING, axis=1) & settled)
        if len(forces) < POSES and len(moving):
            forces += [detectable_force(arm, q[k], limit[k])
                       for k in moving[::max(1, len(moving) // POSES)]]
    peaks, hours = np.sort(highest)[::-1], seconds / 3600
    accepted = max(round(hours), 1)
    measured = float(peaks[accepted]) if len(peaks) > accepted else 1.0
    force = float(np.median(forces)) if forces else float('nan')
    return _ContactFound(force, int(np.sum(peaks > 1)), hours, force * measured)


def _highest(excess: Array, block: int) -> list[float]:
    """Return the highest value of each second."""
    return [float(excess[k:k + block].max()) for k in range(0, len(excess), block)]


@dataclass(frozen=True)
class AtWork:
    """
    Benefit of a model on one arm.

    Parameters
    ----------
    tracking
        Errors of each joint, (n,) [rad or m], without feed-forward, with the URDF's (`urdf`), and
        with the identified model's (`identified`).
    contact
        With the URDF's and with the identified model.
    seconds
        Length of the motion from which the residual was calibrated [s].

    """

    tracking: Mapping[str, Array]
    contact: Mapping[str, _ContactFound]
    seconds: float


def evaluate_model_benefit(model: IdentifiedModel, plant: Plant, rng: np.random.Generator, *,
                           period: float = 4.0, passes: int = 3) -> AtWork:
    """
    Return the benefit of a model on a simulated arm in one fast task of a few seconds.

    Parameters
    ----------
    model
        Identified.
    plant
        The arm that it was identified on.
    rng
        Source of task and noise.
    period
        Period of the task [s].
    passes
        Without contact, to learn the residual from, and as many to judge it on.

    """
    task = Task.drawn(plant.arm, rng, period=period, harmonics=4, speed=0.8)
    models = {'urdf': urdf_model(plant.arm), 'identified': model}
    tracking = tracking_errors(plant, task, {'without': None, **models})
    learnt, fresh = (simulate(plant, task.repeated(passes), rng=rng, name='task').recording
                     for _ in range(2))
    return AtWork(tracking, {name: contact_found(used, learnt, [fresh])
                             for name, used in models.items()}, learnt.duration)
