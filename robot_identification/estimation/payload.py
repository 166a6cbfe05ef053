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
"""Inertial parameters of what the arm carries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import IdentifiedModel
from robot_identification.dynamics.inertial import smallest_eigenvalues
from robot_identification.errors import EstimationError
from robot_identification.estimation.body import fit_body
from robot_identification.estimation.payload_errors import (
    LARGEST,
    last_body_regressor,
    residual_noise,
    SCALE,
)
from robot_identification.recording import Recording
from robot_identification.signals import delayed, process, Samples
from scipy.stats import norm
from scipy.stats import t as student

_SIGNIFICANT = 3.0
"""Standard deviations of the mass above which a payload is found (1 false one in 370 motions)."""
_NOTICEABLE = 0.5
"""Payload over the mass of the last link that a motion must be able to show before 'none' is
reported."""
_BLOCKS = 24
"""Blocks of time, and of states, of a motion; more than twice the ten parameters."""


@dataclass(frozen=True, eq=False)
class PayloadEstimate:
    """
    Inertial parameters of a payload.

    Parameters
    ----------
    parameters
        Ten inertial parameters, Pinocchio's order, about the frame of the last joint, (10,);
        zeros if there is no payload.
    covariance
        Covariance of the unconstrained estimate, (10, 10), including errors correlated in time and
        those of the model; that of the prior for combinations that the motion does not determine.
    certificate
        Smallest eigenvalue of the pseudo-inertia; positive if there is a payload.
    relative_error
        Norm of the residuals over norm of the payload's torques; NaN without payload.
    free_mass
        Mass of the unconstrained estimate [kg]; it may be negative.
    verdict
        'found'; 'none' if the mass is not significant; 'undetermined' if the motion could not have
        shown a payload of half the last link's mass.

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
        """Smallest mass that this motion can show [kg]."""
        return float(_SIGNIFICANT * np.sqrt(self.covariance[0, 0]))

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
    Return the ten inertial parameters of a payload, with the model of the arm fixed.

    Any motion that turns the last links is suitable; undetermined parameters have wide intervals.

    Parameters
    ----------
    model
        Identified without payload.
    loaded
        A recording with the payload.
    unloaded
        A recording without it; the offset and viscous friction by which its torques differ from
        the model are subtracted from the loaded recording as well.
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
    columns, difference, states = [], [], []
    decimator = samples.decimator()
    for run in samples.segments:
        q, v, a = samples.q[run], samples.v[run], samples.a[run]
        extra = samples.tau[run] - model.torque(q, v, a) - drift[0] - drift[1] * v
        regressor = last_body_regressor(model.arm, q, v, a)
        if decimator.rows(len(q)):
            columns.append(decimator.apply(regressor))
            difference.append(decimator.apply(extra))
            states.append(decimator.apply(np.hstack([q, v])))
    if not columns:
        raise EstimationError('the recording is too short to identify a payload; record several '
                              'seconds of motion')
    return _make_estimate(model, *(np.concatenate(x) for x in (columns, difference, states)))


def _make_estimate(model: IdentifiedModel, rows: Array, target: Array,
                   states: Array) -> PayloadEstimate:
    noise = residual_noise(rows, target)
    matrix, right = rows / noise[:, None], target / noise
    free, covariance = _free_body(matrix, right, states)
    known = model.information.get('payload_covariance')
    if known is not None:
        covariance = covariance + np.array(known, dtype=float)
    mass, deviation = float(free[0]), float(np.sqrt(covariance[0, 0]))
    noticeable = _NOTICEABLE * float(model.inertial[-1, 0])
    if abs(mass) < _SIGNIFICANT * deviation:
        verdict = 'none' if _SIGNIFICANT * deviation < noticeable else 'undetermined'
        return PayloadEstimate(np.zeros(10), covariance, 0.0, float('nan'), mass, verdict)
    body = fit_body(matrix, right)    # raises for a negative mass
    predicted = rows @ body
    return PayloadEstimate(
        body, covariance, float(smallest_eigenvalues(body)),
        float(np.linalg.norm(target - predicted) / np.linalg.norm(predicted)), mass, 'found')


def _free_body(rows: Array, target: Array, states: Array) -> tuple[Array, Array]:
    """
    Return the unconstrained estimate and its covariance with errors correlated within blocks.

    The covariance is a cluster-robust sandwich, so that model errors, which last longer than a
    sample, do not count as independent. Clusters are blocks of time, and blocks of similar states,
    because a repeated motion repeats the errors of the model; the larger covariance is returned.

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
    in_time = np.arange(len(scores)) * _BLOCKS // len(scores)
    found = [inverse * max(float(residual @ residual) / max(len(wanted) - 10, 1), 0.0)]
    for block in (in_time, _like_states(states)):
        sums = np.array([scores[block == k].sum(axis=0) for k in range(_BLOCKS)])
        spread = inverse @ sums.T @ sums @ inverse * _BLOCKS / (_BLOCKS - 10)
        found.append(spread * _few_blocks(sums @ inverse[0]) ** 2
                     + inverse @ (np.eye(10) / LARGEST ** 2) @ inverse)
    larger = max(found, key=lambda covariance: float(covariance[0, 0]))
    return free * SCALE, larger * np.outer(SCALE, SCALE)


def _few_blocks(parts: Array) -> float:
    """
    Return the factor by which few effective blocks widen the 95 % interval of the mass.

    References
    ----------
    A. V. Carter, K. T. Schnepel, D. G. Steigerwald, "Asymptotic behavior of a t-test robust to
    cluster heterogeneity", Review of Economics and Statistics 99(4), 2017.

    """
    effective = float(np.sum(parts ** 2) ** 2 / max(np.sum(parts ** 4), 1e-300))
    return float(student.ppf(0.975, max(effective - 1, 1.0)) / norm.ppf(0.975))


def _like_states(states: Array) -> NDArray[np.int_]:
    """
    Return the index of the nearest of `_BLOCKS` centres for each state, (N,).

    Each centre is the state farthest from the centres before (farthest-point sampling), so that
    repeated states belong to one block.
    """
    scaled = (states - states.mean(axis=0)) / np.maximum(states.std(axis=0), 1e-12)
    block = np.zeros(len(scaled), dtype=int)
    nearest = np.sum((scaled - scaled[0]) ** 2, axis=1)
    for k in range(1, _BLOCKS):
        distance = np.sum((scaled - scaled[np.argmax(nearest)]) ** 2, axis=1)
        block[distance < nearest] = k
        nearest = np.minimum(nearest, distance)
    return block


def _drift(model: IdentifiedModel, samples: Samples) -> Array:
    """Return offset and viscous coefficient of the torque residuals, (2, n)."""
    decimator = samples.decimator()
    runs = [run for run in samples.segments if decimator.rows(run.stop - run.start)]
    lack = np.concatenate([decimator.apply(samples.tau[run] - model.torque(
        samples.q[run], samples.v[run], samples.a[run])) for run in runs])
    v = np.concatenate([decimator.apply(samples.v[run]) for run in runs])
    return np.array([np.linalg.lstsq(np.column_stack([np.ones(len(v)), v[:, j]]), lack[:, j],
                                     rcond=None)[0] for j in range(v.shape[1])]).T
