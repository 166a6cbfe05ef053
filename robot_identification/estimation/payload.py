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
"""Drives and payload: what the arm carries, and how much torque an ampere makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import (
    base_parameters,
    IdentifiedModel,
    inverse_dynamics,
    joint_torque_regressor,
)
from robot_identification.dynamics.inertial import smallest_eigenvalues
from robot_identification.dynamics.structure import ModelStructure
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.estimation.body import fit_body
from robot_identification.estimation.noise import colour
from robot_identification.recording import Recording
from robot_identification.regression.normal_form import triangle
from robot_identification.signals import delayed, process, Samples
from robot_identification.signals.shift import select, spread_rows, thinned
from robot_identification.signals.thinning import FINE
from robot_identification.signals.thinning import thinned as fewer
from scipy.linalg import qr
from scipy.optimize import least_squares
from scipy.stats import norm
from scipy.stats import t as student

SIGNIFICANT = 3.0
"""Deviations of the mass beyond which there is a payload: one motion in 370 without says so."""
NOTICEABLE = 0.5
"""Payload, as a part of the last link's mass, that a motion must be able to show before it may say
that there is none."""
STATES = 300
"""States of a motion, over which the model's errors are turned into those of a payload."""
BLOCKS = 24
"""Blocks of time, and of states, of a motion; more than twice the ten parameters."""
REACH = 0.1
"""Distance of a payload's mass from the last joint that sets the scale of its moments [m]."""
SCALE = np.array([1.0, *[REACH] * 3, *[REACH ** 2] * 6])
"""Parameters of a kilogramme at that distance."""
PIECE, PIECES = 5.0, 24
"""Length [s] and number of the pieces of the training motion in which payloads are looked for."""
LARGEST = 100.0
"""Deviation of what the motion leaves open, in kilogrammes at that distance."""
WEIGHTINGS = 3
"""Fits with weights of the joints by their residuals."""
WEAK = 0.05
"""Relative deviation of a gain beyond which a verdict warns of it."""
UNCERTAIN = 0.2
"""Relative deviation of a gain beyond which the recordings do not determine it."""


@dataclass(frozen=True, eq=False)
class PayloadEstimate:
    """
    What the arm carries.

    Parameters
    ----------
    parameters
        Ten inertial parameters, Pinocchio's order, about the frame of the last joint, (10,);
        zeros when there is no payload.
    covariance
        Covariance of the free estimate, (10, 10): with errors correlated in time and those of the
        model's own parameters; of combinations that the motion does not determine it is that of
        the prior.
    certificate
        Smallest eigenvalue of the pseudo-inertia; positive where there is a payload.
    relative_error
        Norm of residuals over norm of the payload's torques; NaN without payload.
    free_mass
        Mass of the free estimate [kg]; it may be negative.
    verdict
        'found'; 'none' when the mass is not significant; 'undetermined' when the motion could not
        have shown a payload of `NOTICEABLE` of the last link's mass.

    """

    parameters: Array
    covariance: Array
    certificate: float
    relative_error: float
    free_mass: float
    verdict: str

    def __post_init__(self) -> None:
        for name in ('parameters', 'covariance'):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return float(self.parameters[0])

    @property
    def centre(self) -> Array:
        """Centre of mass in the frame of the last joint, (3,) [m]; NaN without payload."""
        if self.mass == 0:
            return read_only(np.full(3, np.nan))
        return read_only(self.parameters[1:4] / self.parameters[0])

    @property
    def centre_deviation(self) -> Array:
        """Standard deviation of the centre of mass, (3,) [m]; NaN without payload."""
        if self.mass == 0:
            return read_only(np.full(3, np.nan))
        change = np.hstack([-self.centre[:, None], np.eye(3)]) / self.mass
        return read_only(np.sqrt(np.diag(change @ self.covariance[:4, :4] @ change.T)))

    @property
    def detectable(self) -> float:
        """Mass that would have been found in this motion [kg]."""
        return float(SIGNIFICANT * np.sqrt(self.covariance[0, 0]))

    def intervals(self, level: float = 0.95) -> Array:
        """
        Return intervals of the ten parameters, (10, 2); the mass is not negative.

        Parameters
        ----------
        level
            Confidence level, under a normal distribution.

        """
        middle = np.array(self.parameters)
        if self.verdict != 'found':
            middle[0] = self.free_mass
        half = norm.ppf((1 + level) / 2) * np.sqrt(np.diag(self.covariance))
        bounds = np.column_stack([middle - half, middle + half])
        bounds[0] = np.maximum(bounds[0], 0.0)
        return read_only(bounds)


def identify_payload(
    model: IdentifiedModel,
    loaded: Recording,
    unloaded: Recording | None = None,
    *,
    processing: Mapping[str, Any] | None = None,
) -> PayloadEstimate:
    """
    Find the ten inertial parameters of a payload, the arm's own model frozen.

    Any motion will do that turns the last links; what it does not determine has wide intervals.

    Parameters
    ----------
    model
        Identified without payload.
    loaded
        A recording with the payload.
    unloaded
        A recording without; what the model's torques lack there on average (offsets and viscous
        friction of the day) is taken out of the loaded recording too.
    processing
        Options of `signals.process`.

    Raises
    ------
    EstimationError
        No physical body explains the difference, or the recording is too short.

    """
    options = dict(processing or {})
    samples = delayed(process(loaded, model.arm, **options), model.delay, of=model.delay_of)
    drift = np.zeros((2, model.arm.n))
    if unloaded is not None:
        drift = _drift(model, delayed(process(unloaded, model.arm, **options), model.delay,
                                      of=model.delay_of))
    columns, difference, places = [], [], []
    decimator = samples.decimator()
    for run in samples.segments:
        q, v, a = samples.q[run], samples.v[run], samples.a[run]
        extra = samples.tau[run] - model.torque(q, v, a) - drift[0] - drift[1] * v
        regressor = _last_body(model.arm, q, v, a)
        if decimator.rows(len(q)):
            columns.append(decimator.apply(regressor))
            difference.append(decimator.apply(extra))
            places.append(decimator.apply(np.hstack([q, v])))
    if not columns:
        raise EstimationError('the recording is too short to find a payload in; take at least '
                              'some seconds of motion')
    return _judged_payload(model, *(np.concatenate(x) for x in (columns, difference, places)))


def payload_covariance(model: IdentifiedModel, covariance: Array,
                       samples: Sequence[Samples]) -> Array:
    """
    Return the covariance that a model's own errors give to the parameters of a payload, (10, 10).

    Two kinds of errors, added. Errors of the model's parameters make errors of torque over a
    motion, and the payload that comes nearest to those is what would be found although nothing is
    carried; parameters that no torque depends on do not count. And what the model cannot say at
    all, as a Stribeck effect: the payloads that are found in pieces of the motion that the model
    was fitted to, each as long as an ordinary motion.

    Parameters
    ----------
    model
        The model.
    covariance
        Covariance of its standard parameters.
    samples
        What it was fitted to.

    """
    structure = model.structure
    q, v, a, _ = thinned(samples, STATES)
    load = inverse_dynamics(structure.arm, q, v, a)
    columns = structure.columns(q, v, a, load).reshape(q.size, -1)
    payload = _last_body(structure.arm, q, v, a).reshape(q.size, 10)
    payload = payload * SCALE
    change = SCALE[:, None] * np.linalg.solve(
        payload.T @ payload + np.eye(10) * 1e-9 * np.trace(payload.T @ payload),
        payload.T @ columns)
    result: Array = change @ covariance @ change.T + _misfit(model, samples)
    return result


def _last_body(arm: Arm, q: Array, v: Array, a: Array) -> Array:
    """Return the regressor of a body at the last link, (N, n, 10)."""
    return joint_torque_regressor(arm, q, v, a, first_link=arm.n - 1)


def _misfit(model: IdentifiedModel, samples: Sequence[Samples]) -> Array:
    """Return the mean square of the payloads in pieces, weighed by how well they show a mass."""
    pieces = [_pieces(part) for part in samples]
    chosen = [part[start::step] for part, start, step in zip(
        pieces, *spread_rows(list(map(len, pieces)), PIECES))]
    found = [rows for part, each in zip(samples, chosen, strict=True)
             for rows in _left_in_pieces(part, each, model)]
    if not found:
        return np.zeros((10, 10))
    rows, targets = zip(*found)
    noise = _noise(np.concatenate(rows), np.concatenate(targets))
    total, weights = np.zeros((10, 10)), 0.0
    for matrix, target in zip(rows, targets):
        flat = (matrix / noise[:, None]).reshape(-1, 10) * SCALE
        inverse = np.linalg.inv(flat.T @ flat + np.eye(10) / LARGEST ** 2)
        found = SCALE * (inverse @ (flat.T @ (target / noise).ravel()))
        total += np.outer(found, found) / inverse[0, 0]
        weights += 1 / inverse[0, 0]
    return total / weights


def _pieces(samples: Samples) -> list[slice]:
    length, pieces = max(1, round(PIECE * samples.rate)), []
    for run in samples.segments:
        count = max(1, round((run.stop - run.start) / length))
        edges = np.linspace(run.start, run.stop, count + 1).astype(int)
        pieces += [slice(*edge) for edge in pairwise(edges)]
    return pieces


def _left_in_pieces(samples: Samples, pieces: Sequence[slice],
                    model: IdentifiedModel) -> list[tuple[Array, Array]]:
    """Return the rows of a body at the last link, and what the model leaves, in pieces."""
    found = []
    for piece in pieces:
        shifted = fewer(delayed(select(samples, [piece]), model.delay, of=model.delay_of), FINE)
        decimator = shifted.decimator()
        for run in shifted.segments:
            if decimator.rows(run.stop - run.start):
                q, v, a = shifted.q[run], shifted.v[run], shifted.a[run]
                found.append((decimator.apply(_last_body(model.arm, q, v, a)),
                              decimator.apply(shifted.tau[run] - model.torque(q, v, a))))
    return found


def _judged_payload(model: IdentifiedModel, rows: Array, target: Array,
                    states: Array) -> PayloadEstimate:
    noise = _noise(rows, target)
    matrix, right = rows / noise[:, None], target / noise
    free, covariance = _free_body(matrix, right, states)
    known = model.information.get('payload_covariance')
    if known is not None:
        covariance = covariance + np.array(known, dtype=float)
    mass, deviation = float(free[0]), float(np.sqrt(covariance[0, 0]))
    noticeable = NOTICEABLE * float(model.inertial[-1, 0])
    if abs(mass) < SIGNIFICANT * deviation:
        word = 'none' if SIGNIFICANT * deviation < noticeable else 'undetermined'
        return PayloadEstimate(np.zeros(10), covariance, 0.0, float('nan'), mass, word)
    body = fit_body(matrix, right)    # says so where the mass is negative
    predicted = rows @ body.parameters
    return PayloadEstimate(
        body.parameters, covariance, float(smallest_eigenvalues(body.parameters)),
        float(np.linalg.norm(target - predicted) / np.linalg.norm(predicted)), mass, 'found')


def _free_body(rows: Array, target: Array, states: Array) -> tuple[Array, Array]:
    """
    Return the free estimate and its covariance with errors correlated within blocks.

    The squares of the blocks' scores stand for the noise (a sandwich clustered in blocks), so that
    errors of the model, which last longer than a sample, are not taken for independent. Blocks of
    time, and blocks of like states: a motion that is repeated repeats the errors of the model.
    What says the most counts.

    References
    ----------
    A. C. Cameron, D. L. Miller, "A practitioner's guide to cluster-robust inference", J. Human
    Resources 50(2), 2015.

    """
    flat, wanted = rows.reshape(-1, 10) * SCALE, target.ravel()
    inverse = np.linalg.inv(flat.T @ flat + np.eye(10) / LARGEST ** 2)
    free = inverse @ (flat.T @ wanted)
    residual = wanted - flat @ free
    scores = np.einsum('njk,nj->nk', flat.reshape(*target.shape, 10),
                       residual.reshape(target.shape))
    in_time = np.arange(len(scores)) * BLOCKS // len(scores)
    found = [inverse * max(float(residual @ residual) / max(len(wanted) - 10, 1), 0.0)]
    for block in (in_time, _like_states(states)):
        sums = np.array([scores[block == k].sum(axis=0) for k in range(BLOCKS)])
        spread = inverse @ sums.T @ sums @ inverse * BLOCKS / (BLOCKS - 10)
        found.append(spread * _few_blocks(sums @ inverse[0]) ** 2
                     + inverse @ (np.eye(10) / LARGEST ** 2) @ inverse)
    larger = max(found, key=lambda covariance: float(covariance[0, 0]))
    return free * SCALE, larger * np.outer(SCALE, SCALE)


def _few_blocks(parts: Array) -> float:
    """
    Return by how much a 95 % interval is wider because few blocks make the error of the mass.

    References
    ----------
    A. V. Carter, K. T. Schnepel, D. G. Steigerwald, "Asymptotic behavior of a t-test robust to
    cluster heterogeneity", Review of Economics and Statistics 99(4), 2017.

    """
    effective = float(np.sum(parts ** 2) ** 2 / max(np.sum(parts ** 4), 1e-300))
    return float(student.ppf(0.975, max(effective - 1, 1.0)) / norm.ppf(0.975))


def _like_states(states: Array) -> NDArray[np.int_]:
    """
    Return which of `BLOCKS` centres each state is nearest to, (N,).

    Each centre is the state that is farthest from those before, so that states which come again
    belong to one block.
    """
    scaled = (states - states.mean(axis=0)) / np.maximum(states.std(axis=0), 1e-12)
    block = np.zeros(len(scaled), dtype=int)
    nearest = np.sum((scaled - scaled[0]) ** 2, axis=1)
    for k in range(1, BLOCKS):
        distance = np.sum((scaled - scaled[np.argmax(nearest)]) ** 2, axis=1)
        block[distance < nearest] = k
        nearest = np.minimum(nearest, distance)
    return block


@dataclass(frozen=True, eq=False)
class GainEstimate:
    """
    Drive gains.

    Parameters
    ----------
    gains
        Torque at the joint for one unit of the recorded effort, (n,) [N m/A or N/A].
    deviations
        Standard deviations of the gains, (n,).

    """

    gains: Array
    deviations: Array

    def __post_init__(self) -> None:
        for name in ('gains', 'deviations'):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def weak(self) -> Array:
        """Which gains are known to no better than `WEAK`, (n,) bool."""
        return read_only(self.deviations > WEAK * self.gains, dtype=bool)

    def intervals(self, level: float = 0.95) -> Array:
        """
        Return intervals of the gains, (n, 2).

        Parameters
        ----------
        level
            Confidence level, under a normal distribution of their logarithms.

        """
        factor = np.exp(norm.ppf((1 + level) / 2) * self.deviations / self.gains)
        return read_only(np.column_stack([self.gains / factor, self.gains * factor]))


def identify_gains(
    arm: Arm,
    unloaded: Sequence[Recording],
    loaded: Sequence[Recording],
    mass: float,
    *,
    centre: Sequence[float] | None = None,
    friction: str = 'coulomb_viscous',
    processing: Mapping[str, Any] | None = None,
) -> GainEstimate:
    """
    Find the gain of every drive from recordings with and without a known mass.

    Without a load, currents determine a model only up to the gains. The known weight fixes the
    scale: G i = W beta without, and G i = W beta + W_p payload with the load. A drive that the
    load moves little, as the last one, needs the payload's centre of mass too. Gains are positive:
    give the sign of the effort in the robot YAML.

    Parameters
    ----------
    arm
        The arm; its gains are not used.
    unloaded, loaded
        Recordings of the motor currents; the same motion is good, but not needed.
    mass
        Mass of the payload [kg].
    centre
        Its centre of mass in the frame of the last joint [m], where it is known.
    friction
        Name of the friction model, one without shape numbers.
    processing
        Options of `signals.process`.

    Raises
    ------
    ConfigurationError
        A mass that is not positive, or recordings without current.
    EstimationError
        The recordings do not determine a gain.

    References
    ----------
    M. Gautier, S. Briot, "Global identification of joint drive gains and dynamic parameters of
    robots", ASME J. Dynamic Systems, Measurement, and Control 136(5), 2014.

    """
    if not mass > 0:
        raise ConfigurationError(f'the mass of the payload must be positive, not {mass}')
    structure = ModelStructure.of(arm, friction)
    if structure.friction.shape or structure.friction.needs_load:
        raise ConfigurationError('gains need friction that is linear in its parameters, not '
                                 f"'{friction}': take coulomb_viscous or cube_root")
    if len(arm.transmission) != arm.n:
        raise ConfigurationError(f"the drives of '{arm.name}' are coupled; gains of coupled "
                                 f'drives cannot be identified')
    base = base_parameters(structure)
    known = np.array([mass]) if centre is None else mass * np.array([1.0, *centre])
    free = 10 - len(known)
    matrices, targets = [], []
    for recording, carries in [*((r, False) for r in unloaded), *((r, True) for r in loaded)]:
        samples = process(_with_current(recording, arm), replace(arm, effort=None, source=None),
                          **dict(processing or {}))
        matrix, target = _gain_rows(samples, base.columns, structure, known, carries, free)
        matrices.append(matrix)
        targets.append(target)
    matrix, target = np.concatenate(matrices), np.concatenate(targets)    # (rows, n, p), (rows, n)
    return _solve_gains(arm, matrix, target)


def _solve_gains(arm: Arm, matrix: Array, target: Array) -> GainEstimate:
    """
    Minimise the squared errors of the currents: they carry the noise, not the regressor.

    current = (W x + known) / gain is linear in x for given gains, so the search is over the n
    logarithms of the gains only.
    """
    n, rows = arm.n, len(matrix)
    current = np.stack([matrix[:, j, j] for j in range(n)], axis=1)
    small = []
    for j in range(n):    # rows [current, W, known] of the joint, as a triangle
        whole = np.column_stack([current[:, j], -matrix[:, j, n:], target[:, j]])
        small.append(triangle(whole))
    noise = np.maximum(current.std(axis=0), 1e-12)

    def residual(logarithms: Array) -> Array:
        gains = np.exp(logarithms)
        left = np.vstack([r[:, 1:-1] / (g * s) for r, g, s in zip(small, gains, noise)])
        right = np.concatenate([(r[:, 0] - r[:, -1] / g) / s
                                for r, g, s in zip(small, gains, noise)])
        norms = np.linalg.norm(left, axis=0)
        norms[norms == 0] = 1.0
        basis, upper, _ = qr(left / norms, mode='economic', pivoting=True)
        diagonal = np.abs(np.diag(upper))
        basis = basis[:, diagonal > 1e-8 * diagonal[0]]
        left_over: Array = right - basis @ (basis.T @ right)
        return left_over

    start = np.log(np.abs(target).max() / np.maximum(np.abs(current).max(axis=0), 1e-12) + 1e-6)
    for _ in range(WEIGHTINGS):
        found = least_squares(residual, start, x_scale=0.1, max_nfev=200)
        start = found.x
        sizes = np.cumsum([0] + [len(r) for r in small])
        parts = np.array([np.sum(found.fun[a:b] ** 2) for a, b in pairwise(sizes)])
        noise = noise * np.sqrt(parts / rows)
    found = least_squares(residual, start, x_scale=0.1, max_nfev=200)
    gains = np.exp(found.x)
    deviations = gains * np.sqrt(np.diag(np.linalg.pinv(found.jac.T @ found.jac)))
    for joint, gain, deviation in zip(arm.joint_names, gains, deviations):
        if not deviation < UNCERTAIN * gain:
            raise EstimationError(
                f'the recordings do not determine the gain of {joint} ({gain:.3g} +- '
                f'{deviation:.2g}): the load has to move it against gravity or inertia; take '
                f'another motion, a larger mass, or give its centre')
    return GainEstimate(gains, deviations)


def _gain_rows(samples: Samples, columns: Array, structure: ModelStructure, known: Array,
               carries: bool, free: int) -> tuple[Array, Array]:
    """Rows of  current g - W beta - W_free payload = W_known payload."""
    decimator, n = samples.decimator(), structure.arm.n
    rows, targets = [], []
    for run in samples.segments:
        if not decimator.rows(run.stop - run.start):
            continue
        whole = structure.columns(samples.q[run], samples.v[run], samples.a[run])
        payload = whole[:, :, 10 * n - 10:10 * n] * float(carries)
        split = 10 - free
        current = samples.tau[run][:, :, None] * np.eye(n)
        stacked = np.concatenate(
            [current, -whole[:, :, columns], -payload[:, :, split:]], axis=2)
        rows.append(decimator.apply(stacked))
        targets.append(decimator.apply(payload[:, :, :split] @ known))
    return np.concatenate(rows), np.concatenate(targets)


def _with_current(recording: Recording, arm: Arm) -> Recording:
    """Return the recording with its current in the place of the torque."""
    if recording.current is None:
        raise ConfigurationError(f"the recording '{recording.name}' has no motor current")
    sign = 1 if arm.effort is None else arm.effort.sign
    return Recording(recording.t, recording.q, sign * recording.current, v=recording.v,
                     joint_names=recording.joint_names, name=recording.name)


def _drift(model: IdentifiedModel, samples: Samples) -> Array:
    """Offset and viscous coefficient that the model lacks, (2, n)."""
    decimator = samples.decimator()
    runs = [run for run in samples.segments if decimator.rows(run.stop - run.start)]
    lack = np.concatenate([decimator.apply(samples.tau[run] - model.torque(
        samples.q[run], samples.v[run], samples.a[run])) for run in runs])
    v = np.concatenate([decimator.apply(samples.v[run]) for run in runs])
    return np.array([np.linalg.lstsq(np.column_stack([np.ones(len(v)), v[:, j]]), lack[:, j],
                                     rcond=None)[0] for j in range(v.shape[1])]).T


def _noise(rows: Array, target: Array) -> Array:
    """Deviation of each joint's residual of a free fit, with its colour, (n,)."""
    free = np.linalg.lstsq(rows.reshape(-1, 10), target.ravel(), rcond=None)[0]
    residual = target - rows @ free
    deviations: Array = np.sqrt(np.mean(residual ** 2, axis=0) * colour(residual))
    return np.maximum(deviations, 1e-9)
