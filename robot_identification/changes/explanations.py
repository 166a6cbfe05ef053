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
"""Simple explanations of the difference between two identifications of one arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
import math

import numpy as np
from robot_identification.arrays import Array
from robot_identification.changes import torque_columns
from robot_identification.changes.joint_fit import Effect, Equations, JointFit
from robot_identification.changes.motion_run import MotionRun, path_torque
from robot_identification.dynamics import IdentifiedModel, inverse_dynamics
from robot_identification.estimation.tilt import perpendicular_axes
from scipy.special import fdtri, ncfdtrinc, ndtri, stdtrit

LEVEL = 0.05
"""Family-wise significance level: probability that an unchanged arm shows any change."""
EXPLANATION_LEVEL = 0.04
"""The part of it for the first explanation."""
FURTHER_LEVEL = LEVEL - EXPLANATION_LEVEL
"""The part that is left for a second explanation, and for single parameters."""
_POWER = 0.9
"""Probability with which a change of the detectable size is found."""
_DECISIVE = 10.0
"""Difference of the Bayesian information criterion below which the earlier candidate is taken: a
joint whose torque is friction shows its gain as friction, and wear is more frequent."""
_ROUNDS = 4
"""Largest number of searches; the weights follow from the residuals of the last explanation."""
KINDS = {
    'body': ('{0} were {2} at {1}', 1.0, 'kg'),
    'friction': ('friction of {1} {3} by {0}', 100.0, '%'),
    'all friction': ('friction of all joints {3} by {0}', 100.0, '%'),
    'gain': ('gain of the torque sensor or drive of {1} {3} by {0}', 100.0, '%'),
    'zero': ('zero of the torque of {1} {3} by {0}', 1.0, ''),
    'tilt': ('base tilted by {0}', 180 / np.pi, 'degrees')}
"""Words for each kind of change, with the factor to the unit that is shown; the unit of a zero is
that of the joint's torque."""


def format_measured(value: float, width: float, sign: str = '') -> str:
    """Return a value and its standard deviation or half width, which has two digits."""
    places = max(0, 1 - math.floor(math.log10(width))) if width > 0 else 4
    return f'{value:{sign}.{places}f} \u00b1 {width:.{places}f}'


@dataclass(frozen=True)
class Candidate:
    """
    A simple change of an arm.

    Parameters
    ----------
    kind
        Key of `KINDS`.
    subject
        The joint or drive; the last joint for a body, empty for all friction and tilt.
    unit
        Unit in which the change is shown.
    columns
        Indices of its effects.
    loads
        Indices of the torques of a body with the sign that they have in friction of load.
    doubt
        Standard deviation of the size of a relative change, relative to it: that of the friction
        or torque of the model.

    """

    kind: str
    subject: str
    unit: str
    columns: tuple[int, ...]
    loads: tuple[int, ...] = ()
    doubt: float = 0.0


@dataclass(frozen=True)
class SimpleChange:
    """
    Estimate of a simple change.

    Parameters
    ----------
    kind, subject, unit
        As in `Candidate`.
    size, half_width
        Change and half of its 95 % interval: mass in kg, friction and gain relative, zero in N m
        or N, tilt in rad.
    centre
        Centre of mass of a body in the frame of the last joint [m]; empty for other kinds.
    p
        p-value, adjusted for the number of candidates (Bonferroni).
    detectable
        Size that is found with a probability of 90 %, in the unit of `size`: of a body with any
        centre, of a tilt in any direction. Infinite if no size is found.

    """

    kind: str
    subject: str
    unit: str
    size: float
    half_width: float
    centre: tuple[float, ...]
    p: float
    detectable: float

    @property
    def text(self) -> str:
        """The change in words, with its 95 % interval."""
        words, factor, _ = KINDS[self.kind]
        size = format_measured(factor * abs(self.size), factor * self.half_width)
        return words.format(f'{size} {self.unit}', self.subject, *(
            ('added', 'rose') if self.size > 0 else ('removed', 'fell')))

    @property
    def found_above(self) -> str:
        """The detectable size with its unit; '-' if no size is found."""
        size = KINDS[self.kind][1] * self.detectable
        return f'{size:.2g} {self.unit}' if np.isfinite(size) else '-'


@dataclass(frozen=True, eq=False)
class Explanation:
    """
    The simplest changes that explain a difference, and what else would have been found.

    Parameters
    ----------
    changes
        None, one or two changes.
    considered
        Every candidate, estimated beside these changes.
    explained
        Part of the squared difference, weighted by the noise, that the changes explain.

    """

    changes: tuple[SimpleChange, ...]
    considered: tuple[SimpleChange, ...]
    explained: float


@dataclass(frozen=True, eq=False)
class Candidates:
    """
    The simple changes of an arm that are tried, and their columns.

    Parameters
    ----------
    model
        The model of the arm before the change.
    top
        Highest speed of each joint, (n,).
    friction
        Coefficients of each drive's friction and of its `friction_shapes`, (m, 5): the friction
        before the change, as far as its residuals show it.
    doubts
        `Candidate.doubt` of the friction of each drive and of all drives, and of the torque of
        each joint, (m + 1 + n,).

    """

    model: IdentifiedModel
    top: Array
    friction: Array
    doubts: Array

    @classmethod
    def of(cls, model: IdentifiedModel, top: Array, runs: Sequence[MotionRun]) -> Candidates:
        """Return the candidates; friction is corrected by the residuals of runs of the model."""
        start = np.eye(1, 1 + torque_columns.SHAPES).repeat(len(model.arm.transmission), axis=0)
        plain = cls(model, top, start, np.zeros(len(start) + 1 + model.arm.n))
        residual = np.concatenate([run.residual for run in runs])
        used = np.concatenate([run.moving(top) for run in runs])
        columns = np.concatenate([run.apply(plain.friction_columns) for run in runs])
        columns = columns.reshape(*residual.shape, -1)
        scale = np.maximum(np.sqrt(np.mean(residual ** 2, axis=0)), 1e-12)
        weighted = (columns / scale[:, None])[used]
        solution = np.linalg.lstsq(weighted, (residual / scale)[used], rcond=1e-6)[0]
        found = replace(plain, friction=start + solution.reshape(start.shape))
        return replace(found, doubts=found.relative_deviations(runs))

    def relative_deviations(self, runs: Sequence[MotionRun]) -> Array:
        """Return `doubts` in runs; zero for a model without a covariance of its parameters."""
        directions, sums = self.model.uncertain_directions, np.zeros((len(self.doubts), 1))
        if directions is None:
            return self.doubts
        for run in runs:
            q, v, a = (x[::run.step] for x in (run.q, run.v, run.a))
            drives, joints = self.drive_torques(q, v, a), np.eye(q.shape[1])
            ahead, back = (torque_columns.standard_columns(self.model, q, speed, a) @ directions.T
                           for speed in (v, -v))
            changes = (np.concatenate([drives, drives.sum(axis=2, keepdims=True)], axis=2),
                       joints * path_torque(self.model, q, v, a)[:, :, None])
            sums = sums + np.concatenate([np.column_stack([
                np.einsum('nje,nje->e', change, change),
                np.einsum('nje,njd->ed', change, error)])
                for change, error in zip(changes, ((ahead - back) / 2, ahead))])
        return np.asarray(np.linalg.norm(sums[:, 1:], axis=1) / np.maximum(sums[:, 0], 1e-300))

    def drive_torques(self, q: Array, v: Array, a: Array) -> Array:
        """Return the friction of each drive before the change, (N, n, m) [N m or N]."""
        return np.asarray(np.einsum('njek,ek->nje', self.friction_columns(q, v, a),
                                    self.friction))

    def friction_columns(self, q: Array, v: Array, a: Array) -> Array:
        """Return friction of each drive without its offset, and its shapes, (N, n, m, 5)."""
        model, transmission = self.model, self.model.arm.transmission
        load = model.transmitted_torque(q, v, a)
        friction = (model.friction_torque(v, load, q) - model.friction_torque(-v, load, q)) / 2
        shapes = torque_columns.friction_shapes(model, q, v, a, self.top)
        return np.concatenate([
            (friction[:, None] * transmission.T)[..., None],
            shapes.reshape(*q.shape, len(transmission), torque_columns.SHAPES)], axis=3)

    @cached_property
    def members(self) -> tuple[Candidate, ...]:
        """The candidates; the columns are in the same order."""
        arm, torque_units = self.model.arm, self.model.arm.units('N m', 'N')
        frictions, every, gains = np.split(self.doubts, [len(self.friction),
                                                         len(self.friction) + 1])
        named = [('body', arm.joint_names[-1], 4, 0.0),
                 *(('friction', name, 1, doubt)
                   for name, doubt in zip(arm.actuator_names, frictions)),
                 *(('gain', name, 1, doubt) for name, doubt in zip(arm.joint_names, gains)),
                 *(('zero', name, 1, 0.0) for name in arm.joint_names),
                 ('all friction', '', 1, every[0])]
        if np.any(arm.gravity):
            named.append(('tilt', '', 2, 0.0))
        members, first = [], 0
        for kind, subject, count, doubt in named:
            unit = KINDS[kind][2] or torque_units[arm.joint_names.index(subject)]
            members.append(Candidate(kind, subject, unit, tuple(range(first, first + count)),
                                     doubt=float(doubt)))
            first += count
        members[0] = replace(members[0], loads=tuple(range(first, first + 4)))
        return tuple(members)

    def columns(self, q: Array, v: Array, a: Array) -> Array:
        """Return the torques of a unit of each change, and of `Candidate.loads`, (N, n, m)."""
        model, arm = self.model, self.model.arm
        drives = self.drive_torques(q, v, a)
        joints = np.tile(np.eye(arm.n), (len(q), 1, 1))
        parts = [torque_columns.body_torques(model, q, v, a)[:, :, :4], drives,
                 joints * path_torque(model, q, v, a)[:, :, None], joints,
                 drives.sum(axis=2, keepdims=True)]
        if np.any(arm.gravity):
            still = np.zeros_like(q)
            parts.append(np.stack([inverse_dynamics(
                arm.with_gravity(np.cross(axis, arm.gravity)), q, still, still, model.inertial)
                for axis in perpendicular_axes(arm.gravity)], axis=2))
        body = torque_columns.body_friction(model, q, v, a)[:, :, :4]
        return np.concatenate([*parts, body], axis=2)


def find_explanation(equations: Sequence[Equations],
                     candidates: Sequence[Candidate], sensors: Array) -> Explanation:
    """
    Return the simplest changes that explain the difference in equations.

    Nothing is the first explanation. A single change is accepted if its p-value (`_p_value`),
    adjusted for the number of candidates, is below `EXPLANATION_LEVEL`; of several such changes
    the one with the smallest Bayesian information criterion is taken, or the first candidate whose
    criterion is not larger by 10. A second change is accepted in the same way beside the first.
    The weights of the joints are those of the residuals that the explanation leaves.

    Parameters
    ----------
    equations
        Equations whose first effects are those of the candidates.
    candidates
        The changes that are tried.
    sensors
        Standard deviations of the gains of the torque sensors, (n,), which the intervals of bodies
        and tilts contain.

    References
    ----------
    G. Schwarz, "Estimating the dimension of a model", Annals of Statistics 6(2), 1978.

    R. E. Kass, A. E. Raftery, "Bayes factors", Journal of the American Statistical Association
    90(430), 1995.

    """
    chosen: list[Candidate] = []
    for _ in range(_ROUNDS):
        fit = JointFit.of(equations, [k for each in chosen for k in each.columns])
        before, chosen = chosen, _search(fit, candidates, sensors)
        if chosen == before:
            break
    used = [k for each in chosen for k in each.columns]
    changes = [_make_change(_estimate(fit, each, [other for other in chosen if other != each],
                                      sensors), each, len(candidates)) for each in candidates]
    nothing, left = (fit.estimate(columns).squares for columns in ([], used))
    return Explanation(tuple(changes[list(candidates).index(each)] for each in chosen),
                       tuple(changes), 1 - left / max(nothing, 1e-300))


def _search(fit: JointFit, candidates: Sequence[Candidate],
            sensors: Array) -> list[Candidate]:
    """Return no, one or two candidates that explain the difference best."""
    chosen: list[Candidate] = []
    for level in (EXPLANATION_LEVEL, FURTHER_LEVEL):
        tried = [(_criterion(fit, effect), k) for k, each in enumerate(candidates)
                 if each not in chosen
                 and _p_value(effect := _estimate(fit, each, chosen, sensors), each)
                 * len(candidates) < level]
        if not tried:
            break
        best = min(tried)[0]
        chosen.append(candidates[min(k for value, k in tried if value < best + _DECISIVE)])
    return chosen


def _estimate(fit: JointFit, candidate: Candidate, beside: Sequence[Candidate],
              sensors: Array) -> Effect:
    """
    Return the estimate of a candidate beside others.

    A body or tilt changes torques of the arm; the gain errors of the sensors change what they
    measure of it, by some per cent in each joint, and friction changes with the load of a body.
    The covariance contains both.
    """
    used = [k for each in beside for k in each.columns]
    columns = [*used, *candidate.columns]
    effect = fit.estimate(columns, unbiased=True)
    if any(each.kind in ('body', 'tilt') for each in (candidate, *beside)):
        loads = {k: load for each in (candidate, *beside)
                 for k, load in zip(each.columns, each.loads)}
        effect = replace(effect, covariance=effect.covariance
                         + fit.sensor_covariance(columns, effect.values, sensors, loads=loads))
    return effect.part(len(used))


def _criterion(fit: JointFit, effect: Effect) -> float:
    """Return the Bayesian information criterion of an estimate."""
    return float(fit.independent * np.log(max(effect.squares, 1e-300))
                 + len(effect.values) * np.log(fit.independent))


def _p_value(effect: Effect, candidate: Candidate) -> float:
    """
    Return the p-value of an estimate.

    It is that of the jackknife, of a body twice the smaller of two: of its mass with an unknown
    centre, and of mass and centre together. One shows a body near the flange better, the other
    one with a long lever.
    """
    if candidate.kind != 'body':
        return effect.p
    return min(1.0, 2 * min(effect.p, effect.part(0, 1).p))


def _detectable(effect: Effect, candidate: Candidate, tried: int) -> float:
    """Return `SimpleChange.detectable`, from the non-central F distribution of T^2."""
    body = candidate.kind == 'body'
    count = 1 if body else len(effect.values)
    rest = float(np.mean(effect.freedom[:count])) - count + 1
    if rest < 0.5:
        return float('inf')
    limit = fdtri(count, rest, 1 - EXPLANATION_LEVEL / tried / (1 + body))
    variance = np.linalg.eigvalsh(effect.covariance[:count, :count])[-1]
    return float(np.sqrt(variance * ncfdtrinc(count, rest, 1 - _POWER, limit)))


def _make_change(effect: Effect, candidate: Candidate, tried: int) -> SimpleChange:
    """Return an estimated change of an arm; `tried` is the number of candidates."""
    values, direction = effect.values, np.eye(1, len(effect.values))[0]
    if candidate.kind == 'tilt':
        direction = values / max(float(np.linalg.norm(values)), 1e-300)
    size = float(direction @ values)
    deviation = float(np.sqrt(direction @ effect.covariance @ direction))
    width = np.hypot(stdtrit(float(np.mean(effect.freedom)), 0.975) * deviation,
                     ndtri(0.975) * size * candidate.doubt)
    centre = tuple(float(x) for x in values[1:] / (size or np.nan)) if len(values) == 4 else ()
    return SimpleChange(candidate.kind, candidate.subject, candidate.unit, size, float(width),
                        centre, min(1.0, _p_value(effect, candidate) * tried),
                        _detectable(effect, candidate, tried))
