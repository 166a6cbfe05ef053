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

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.online import OnlineEstimator
from robot_identification.papers.studies.study import Plot, StudyOptions, Table
from robot_identification.papers.studies.survey_methods import NOISE, Platform
from robot_identification.papers.studies.verdict import Claim, evaluate_claim

JOINT = 2
MEMORY = 5.0
CHANGE = 0.5
"""Increase of the friction during the motion, relative to its initial value."""
BEGINNING = 5.0
"""Initial transient of the filters [s], which is not plotted."""
FOLLOWED = 0.2
"""A change counts as tracked up to this ratio of the RMS error to the change."""
CHANGES = ('ramp', 'parabola', 'step')
FILTERS = {'Kalman': None, 'exponential forgetting, directional': 'directional',
           'exponential forgetting, uniform': 'uniform'}


@dataclass(frozen=True, eq=False)
class Tracking:
    """
    Results of the filters on changing friction.

    `errors` are the RMS errors relative to the change, by filter and kind of change.
    """

    table: Table
    claims: tuple[Claim, ...]
    plots: tuple[Plot, ...]
    errors: dict[tuple[str, str], float]

    def level(self, method: str) -> str:
        """Return the level of a method: A for ramp and parabola, B for a step only, else C."""
        label = ('exponential forgetting, uniform' if method == 'exponential forgetting'
                 else method)
        if (label, 'ramp') not in self.errors:
            return '-' if method == 'extended Kalman' else 'C'
        if max(self.errors[label, 'ramp'], self.errors[label, 'parabola']) <= FOLLOWED:
            return 'A'
        return 'B' if self.errors[label, 'step'] <= FOLLOWED else 'C'


def compare_tracking(platform: Platform, seeds: range, periods: int,
                     options: StudyOptions) -> Tracking:
    """
    Run the filters on torques with increasing viscous friction of joint 3.

    Parameters
    ----------
    platform
        The arm with linear friction.
    seeds
        Seeds of the noise.
    periods
        Periods of the excitation.
    options
        Progress and distribution of the seeds.

    """
    samples = platform.samples['coulomb_viscous']
    q, v, a, tau = (np.tile(x, (periods, 1)) for x in (samples.q, samples.v, samples.a,
                                                       samples.tau))
    t = np.arange(len(q)) / samples.rate
    first = float(platform.plants['coulomb_viscous'].truth.friction.viscous[JOINT])
    progress = t / t[-1]
    courses = dict(zip(CHANGES, (progress, progress ** 2, np.where(progress > 0.3, 1.0, 0.0))))
    later, shown = t > t[-1] / 3, t > BEGINNING
    errors: dict[tuple[str, str], list[float]] = {}
    plots: list[Plot] = []
    for done, curves in enumerate(options.map_items(_track, seeds, args=(
            platform, (q, v, a, tau), first, courses)), start=1):
        options.progress('tracking of changing friction', done / len(seeds))
        true = {name: first * (1 + CHANGE * course) for name, course in courses.items()}
        for (name, label), curve in curves.items():
            errors.setdefault((label, name), []).append(
                float(np.sqrt(np.mean((curve - true[name])[later] ** 2))))
        if done == 1:
            plots = [Plot(
                f'Viscous friction of joint 3, {name}, after the first {BEGINNING:g} s',
                'time [s]', 'viscous friction [N m s/rad]',
                (('true', t[shown], true[name][shown]),
                 *((label, t[shown], curves[name, label][shown]) for label in FILTERS)))
                for name in courses]
    middle = {key: float(np.median(values)) for key, values in errors.items()}
    relative = {key: error / (CHANGE * first) for key, error in middle.items()}
    claims = [evaluate_claim(
        f'{label} follows the {name} more closely than Kalman', errors[label, name],
        errors['Kalman', name], 'RMS error [N m s/rad] over the last two thirds',
        paired=True, ours=name == 'step')
              for name in CHANGES for label in list(FILTERS)[1:]]
    return Tracking(Table(
        f'Tracking of a changing viscous friction of joint 3, median of {len(seeds)} noise '
        f'seeds', (
            'change', 'filter', 'RMS error [N m s/rad]', 'relative to the change'),
        tuple((name, label, middle[label, name], relative[label, name])
              for name in CHANGES for label in FILTERS),
        note=f'Friction grows by {CHANGE:.0%} during the motion; the step occurs after 30 % of '
        f'the time. Errors over the last two thirds; exponential forgetting over {MEMORY:g} s.'),
        tuple(claims), tuple(plots), relative)


def _track(seed: int, platform: Platform, data: tuple[Array, ...], first: float,
           courses: Mapping[str, Array]) -> dict[tuple[str, str], Array]:
    """Return estimates of the viscous friction over time, (N,), by kind of change and filter."""
    q, v, a, tau = data
    noise = NOISE * np.random.default_rng(seed).standard_normal(tau.shape)
    curves = {}
    for name, course in courses.items():
        torque = tau + noise
        torque[:, JOINT] += (first * (1 + CHANGE * course) - first) * v[:, JOINT]
        for label, forgetting in FILTERS.items():
            curves[name, label] = _run(platform, forgetting, (q, v, a, torque))
    return curves


def _run(platform: Platform, forgetting: str | None, data: tuple[Array, ...]) -> Array:
    """Return the filter's estimate of the joint's viscous friction at each sample, (N,)."""
    online = OnlineEstimator(
        platform.arm, NOISE, period=0.01, memory=None if forgetting is None else MEMORY,
        forgetting=forgetting or 'directional')
    index = online.names.index(f'{platform.arm.joint_names[JOINT]}.viscous')
    return np.array([online.update(*row).parameters[index] for row in zip(*data)])
