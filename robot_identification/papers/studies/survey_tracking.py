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
"""Figure 4 of Zhang et al. 2018: tracking of a changing viscous friction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import base_parameters, BaseParameters, ModelStructure
from robot_identification.online.torque_filter import TorqueFilter, WIDTH
from robot_identification.papers.studies.study import Draw, LazyResults, Part, Plot, Table
from robot_identification.papers.studies.survey_methods import NOISE, Platform
from robot_identification.papers.studies.verdict import Claim, LazyPairs, Pairs

JOINT = 2    # index of joint 3, as in the paper
MEMORY, SHORTER = 10.0, 5.0
"""Time constants of the forgetting [s]: mu = 0.999 at 100 Hz as printed, and a shorter one."""
CHANGE = 0.5
"""Increase of the friction during the motion, relative to its initial value."""
BEGINNING = SHORTER
"""Initial transient of the filters [s], the shorter time constant, which is not plotted."""
FOLLOWED = 0.2
"""A change counts as tracked up to this ratio of the RMS error to the change."""
CHANGES = ('ramp', 'parabola', 'step')
PRINTED, DIRECTIONAL = 'exponential forgetting', 'exponential forgetting, directional'
FASTER = f'exponential forgetting over {SHORTER:g} s'
FILTERS: dict[str, tuple[str, float | None]] = {
    'Kalman': ('none', None), PRINTED: ('uniform', MEMORY),
    FASTER: ('uniform', SHORTER), DIRECTIONAL: ('directional', MEMORY)}
"""Kind of forgetting and its time constant [s]."""
Key = tuple[str, str]
"""Filter and kind of change."""


@dataclass(frozen=True, eq=False)
class Tracking:
    """
    Results of the filters on changing friction.

    `errors` are the RMS errors relative to the change, by filter and kind of change.
    """

    part: Part
    errors: Mapping[Key, float]

    def level(self, method: str) -> str:
        """Return the level of a method: A for ramp and parabola, B for a step only, else C."""
        if (method, 'ramp') not in self.errors:
            return '-' if method.startswith(('extended', PRINTED)) else 'C'
        if max(self.errors[method, 'ramp'], self.errors[method, 'parabola']) <= FOLLOWED:
            return 'A'
        return 'B' if self.errors[method, 'step'] <= FOLLOWED else 'C'


@dataclass(frozen=True, eq=False)
class TrackingDraw:
    """
    Estimated and true friction of a draw over the time [s], in [N m s/rad].

    `curves` are the estimates by filter and kind of change, `true` the friction by kind of change,
    and `first` its initial value.
    """

    t: Array
    true: Mapping[str, Array]
    curves: Mapping[Key, Array]
    first: float

    def error(self, key: Key) -> float:
        """Return the RMS error over the last two thirds."""
        errors = (self.curves[key] - self.true[key[1]])[self.t > self.t[-1] / 3]
        return float(np.sqrt(np.mean(errors ** 2)))


def track_friction(draw: Draw, platform: Platform, periods: int) -> TrackingDraw:
    """
    Return the estimates of the filters on torques with increasing viscous friction of joint 3.

    Parameters
    ----------
    draw
        Seeds.
    platform
        The arm with linear friction.
    periods
        Periods of the excitation.

    """
    samples = platform.samples['coulomb_viscous']
    q, v, a, tau = (np.tile(x, (periods, 1)) for x in (samples.q, samples.v, samples.a,
                                                       samples.tau))
    t = np.arange(len(q)) / samples.rate
    first = float(platform.plants['coulomb_viscous'].truth.friction.viscous[JOINT])
    progress = t / t[-1]
    courses = dict(zip(CHANGES, (progress, progress ** 2, np.where(progress > 0.3, 1.0, 0.0))))
    true = {name: first * (1 + CHANGE * course) for name, course in courses.items()}
    noise = NOISE * np.random.default_rng(draw.noise).standard_normal(tau.shape)
    base = base_parameters(ModelStructure.of(platform.arm, 'coulomb_viscous'))
    columns = base.structure.columns(q, v, a)[:, :, base.columns]
    tau = tau - base.structure.known_torque(q)

    def follow(key: Key) -> Array:
        torque = tau + noise
        torque[:, JOINT] += (true[key[1]] - first) * v[:, JOINT]
        return _follow(base, *FILTERS[key[0]], columns, v, torque,
                       period=1 / samples.rate)

    return TrackingDraw(t, true, LazyResults(
        [(label, name) for name in CHANGES for label in FILTERS], follow), first)


def tracking_claims(done: Sequence[Any]) -> tuple[Claim, ...]:
    """Return the claims on changing friction, from draws with a `TrackingDraw` as `tracking`."""
    def pairs(label: str, name: str) -> Pairs:
        return LazyPairs(done, lambda one: (one.tracking.error((label, name)),
                                            one.tracking.error(('Kalman', name))))

    return tuple(Claim(
        f'{PRINTED} follows the {name} more closely than Kalman', pairs(PRINTED, name),
        'RMS error [N m s/rad] over the last two thirds', ours=name == 'step',
        literal='(23) with mu = 0.999 as printed, 100 Hz', variants={
            ('forgetting factor', f'time constant of {SHORTER:g} s'): pairs(FASTER, name),
            ('kind of forgetting', 'directional'): pairs(DIRECTIONAL, name)}) for name in CHANGES)


def summarise_tracking(done: Sequence[TrackingDraw]) -> Tracking:
    """Return table and plots of the tracking in all draws."""
    middle = {key: float(np.median([one.error(key) for one in done])) for key in done[0].curves}
    relative = {key: float(np.median([one.error(key) / (CHANGE * one.first) for one in done]))
                for key in middle}
    one, shown = done[0], done[0].t > BEGINNING
    plots = tuple(Plot(
        f'Viscous friction of joint 3, {name}, after the first {BEGINNING:g} s',
        'time [s]', 'viscous friction [N m s/rad]', (
            ('true', one.t[shown], one.true[name][shown]),
            *((label, one.t[shown], one.curves[label, name][shown]) for label in FILTERS)))
                  for name in CHANGES)
    return Tracking(Part((Table(
        f'Tracking of a changing viscous friction of joint 3, median of {len(done)} draws', (
            'change', 'filter', 'RMS error [N m s/rad]', 'relative to the change'),
        tuple((name, label, middle[label, name], relative[label, name])
              for name in CHANGES for label in FILTERS),
        note=f'Friction grows by {CHANGE:.0%} during the motion; the step occurs after 30 % of '
        f'the time. Errors over the last two thirds; forgetting over {MEMORY:g} s (mu = 0.999 as '
        f'printed) if not stated otherwise.'),), plots), relative)


def _follow(base: BaseParameters, forgetting: str, memory: float | None, columns: Array, v: Array,
            torque: Array, *, period: float) -> Array:
    """Return a filter's estimate of the joint's viscous friction at each sample, (N,)."""
    running = TorqueFilter(base, False, TorqueFilter.urdf_start(base, WIDTH), NOISE, forgetting)
    keep = 1.0 if memory is None else float(np.exp(-period / memory))
    index = base.labels.index(f'{base.structure.arm.joint_names[JOINT]}.viscous')
    estimates = np.empty(len(torque))
    for k, row in enumerate(columns):
        running.update(row, torque[k], v[k:k + 1], keep)
        estimates[k] = running.parameters[index]
    return estimates
