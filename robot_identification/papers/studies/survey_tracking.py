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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.online import OnlineEstimator
from robot_identification.papers.studies.study import Draw, Part, Plot, Table
from robot_identification.papers.studies.survey_methods import NOISE, Platform
from robot_identification.papers.studies.verdict import Claim, Pairs

JOINT = 2
MEMORY, SHORTER = 10.0, 5.0
"""Time constants of the forgetting [s]: mu = 0.999 at 100 Hz as printed, and a shorter one."""
CHANGE = 0.5
"""Increase of the friction during the motion, relative to its initial value."""
BEGINNING = 5.0
"""Initial transient of the filters [s], which is not plotted."""
FOLLOWED = 0.2
"""A change counts as tracked up to this ratio of the RMS error to the change."""
CHANGES = ('ramp', 'parabola', 'step')
PRINTED, DIRECTIONAL = 'exponential forgetting', 'exponential forgetting, directional'
FASTER = f'exponential forgetting over {SHORTER:g} s'
FILTERS: dict[str, tuple[str, float | None]] = {
    'Kalman': ('directional', None), PRINTED: ('uniform', MEMORY),
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
    """RMS errors [N m s/rad] by filter and change; the friction at first; curves of the plots."""

    errors: Mapping[Key, float]
    first: float
    plots: tuple[Plot, ...]


def track_friction(draw: Draw, platform: Platform, periods: int) -> TrackingDraw:
    """
    Run the filters on torques with increasing viscous friction of joint 3.

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
    later, shown = t > t[-1] / 3, t > BEGINNING
    noise = NOISE * np.random.default_rng(draw.noise).standard_normal(tau.shape)
    errors: dict[Key, float] = {}
    plots: list[Plot] = []
    for name, course in courses.items():
        true, torque = first * (1 + CHANGE * course), tau + noise
        torque[:, JOINT] += (true - first) * v[:, JOINT]
        curves = {label: _run(platform, *kind, (q, v, a, torque))
                  for label, kind in FILTERS.items()}
        errors.update({(label, name): float(np.sqrt(np.mean((curve - true)[later] ** 2)))
                       for label, curve in curves.items()})
        plots.append(Plot(
            f'Viscous friction of joint 3, {name}, after the first {BEGINNING:g} s',
            'time [s]', 'viscous friction [N m s/rad]', (
                ('true', t[shown], true[shown]),
                *((label, t[shown], curve[shown]) for label, curve in curves.items()))))
    return TrackingDraw(errors, first, tuple(plots))


def summarise_tracking(done: Sequence[TrackingDraw]) -> Tracking:
    """Return table, claims and plots of the tracking in all draws."""
    middle = {key: float(np.median([one.errors[key] for one in done])) for key in done[0].errors}
    relative = {key: float(np.median([one.errors[key] / (CHANGE * one.first) for one in done]))
                for key in middle}

    def pairs(label: str, name: str) -> Pairs:
        return [(one.errors[label, name], one.errors['Kalman', name]) for one in done]

    claims = [Claim(
        f'{PRINTED} follows the {name} more closely than Kalman', pairs(PRINTED, name),
        'RMS error [N m s/rad] over the last two thirds', ours=name == 'step',
        literal='(23) with mu = 0.999 as printed, 100 Hz', variants={
            ('forgetting factor', f'time constant of {SHORTER:g} s'): pairs(FASTER, name),
            ('kind of forgetting', 'directional'): pairs(DIRECTIONAL, name)}) for name in CHANGES]
    return Tracking(Part((Table(
        f'Tracking of a changing viscous friction of joint 3, median of {len(done)} draws', (
            'change', 'filter', 'RMS error [N m s/rad]', 'relative to the change'),
        tuple((name, label, middle[label, name], relative[label, name])
              for name in CHANGES for label in FILTERS),
        note=f'Friction grows by {CHANGE:.0%} during the motion; the step occurs after 30 % of '
        f'the time. Errors over the last two thirds; forgetting over {MEMORY:g} s (mu = 0.999 as '
        f'printed) if not stated otherwise.'),), tuple(claims), done[0].plots), relative)


def _run(platform: Platform, forgetting: str, memory: float | None,
         data: tuple[Array, ...]) -> Array:
    """Return the filter's estimate of the joint's viscous friction at each sample, (N,)."""
    online = OnlineEstimator(platform.arm, NOISE, period=0.01, memory=memory,
                             forgetting=forgetting)
    index = online.names.index(f'{platform.arm.joint_names[JOINT]}.viscous')
    return np.array([online.update(*row).parameters[index] for row in zip(*data)])
