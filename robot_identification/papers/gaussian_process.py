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
"""Gaussian process of the residuals of a model, for joints whose prediction it improves."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
from robot_identification.arrays import Array, IndexArray
from robot_identification.dynamics import IdentifiedModel
from robot_identification.dynamics.joint_residual import EXPLAINED, JointResidual, RESIDUAL_GAINS
from robot_identification.errors import EstimationError, RobotIdentificationError
from robot_identification.estimation.fit import fit_samples
from robot_identification.estimation.model_fit import ModelFit
from robot_identification.estimation.resampling import split_folds
from robot_identification.parallel import parallel_map
from robot_identification.regression.blocked_regression import block_labels
from robot_identification.signals import Samples
from robot_identification.signals.samples import decimate_to_bandwidth
from scipy.special import stdtrit

MIN_GAIN = 0.05
"""Smallest reduction of a joint's torque error on left-out blocks of time."""
LEVEL = 0.9
"""Level of the one-sided t-tests over the folds. Of 69 joints of simulated arms that the physical
model describes, 3 have a part with it, and 8 if one standard error is enough."""
KINDS = ('time', 'posture', 'speed')
"""What the left-out folds have in common, see `range_indices`."""
MIN_FOLDS, MAX_FOLDS = 3, 5
"""Folds: a t-test needs at least three; more than five take time in proportion."""
WINDOWS = 1.6
"""Smallest number of windows of time per fold, of which `range_indices` makes ranges of posture
and speed. With one window per fold, these ranges would be the blocks of time again."""
POINTS = 40
"""Largest number of points of a joint. With 60, errors on the recordings of real arms change by
less than 1 % of themselves."""
LENGTHS_Q, LENGTHS_V = (0.25, 0.5, 1.0, 2.0), (0.5, 1.0, 2.0)
"""Length scales that are tried, in standard deviations of the joint's position and velocity."""
SIGN_WEIGHTS = (0.0, 1.0)
"""Weights of the direction of motion in the kernel that are tried: without and with it."""
CREEP = 0.1
"""Speed at which the direction of motion counts, in standard deviations of the velocity."""
RIDGES = (0.3, 3.0, 30.0)
"""Variances of the noise, relative to that of the process, that are tried."""
_SPREAD = 10 * POINTS
"""Number of samples from which the points are selected."""
_MOVING = 0.9
"""Low-passed indicator of motion (0 at rest, 1 in motion) above which a row counts."""


def fit_gaussian_process(model: IdentifiedModel, model_fit: ModelFit,
                         report: Callable[[str, float], None]) -> IdentifiedModel:
    """
    Return the model with a residual part for each joint whose prediction it improves.

    The residual part of a joint is the posterior mean of a Gaussian process in the joint's
    position, velocity and direction of motion, given what the physical model leaves of its
    torque, see `JointResidual`. Kernel columns and torques pass the same decimation filter as the
    regressor. Rows at which the joint rests do not count.

    Length scales and noise are those with the smallest mean error over left-out blocks of time,
    ranges of posture and ranges of speed; the physical model is fitted again without each of them.
    A joint gets the part only if it reduces the error on left-out blocks of time by more than
    `MIN_GAIN`, and reduces the squared error of each kind of fold significantly (one-sided t-tests
    over the folds at `LEVEL`). The reductions of all joints are stored in the model's
    `information`.

    Parameters
    ----------
    model
        The physical model.
    model_fit
        The fit from which it was built.
    report
        Called with the name of the step and its completed fraction, 0 to 1.

    Raises
    ------
    EstimationError
        The recordings are too short for cross-validation.

    References
    ----------
    D. Nguyen-Tuong, J. Peters, "Using model knowledge for learning inverse dynamics", ICRA 2010;
    D. Romeres et al., "Online semi-parametric learning for inverse dynamics modeling", CDC 2016.

    """
    fit, names = model_fit.fit, model.arm.joint_names
    samples = [decimate_to_bandwidth(piece) for piece in fit.regression.samples if piece.diagnosed]
    length = sum(len(piece) / piece.rate for piece in samples)
    window = max(2 * len(piece.decimator().taps) / piece.rate for piece in samples)    # [s]
    folds = min(MAX_FOLDS, int(length / window / WINDOWS))
    too_short = EstimationError(
        f'{length:.3g} s of motion are too short to cross-validate a residual part on ranges of '
        f'posture and speed; record {max(MIN_FOLDS * WINDOWS * window, 1.5 * length):.2g} s, or '
        f'omit the residual part')
    if folds < MIN_FOLDS:
        raise too_short
    moving = [j for j in range(model.arm.n) if model.arm.measured[j]
              and any(np.any(piece.v[:, j]) for piece in samples)]
    candidates = {j: _candidates(samples, j) for j in moving}
    scores = []    # of each kind: (folds, moving joints, candidates)
    for kind in KINDS:
        report(f'cross-validating the residual part by {kind}', 1.0)
        scores.append(np.array([
            list(parallel_map(partial(_score, candidates, training, left_out), moving))
            for training, left_out in _folds(samples, folds, kind, model_fit)]))
        if len(scores[-1]) < 2:
            raise too_short
    ratios = np.array([np.sum(each, axis=0)[:, 1:] / np.sum(each, axis=0)[:, :1]
                       for each in scores])    # of squared errors
    rest = [_physical_residual(model, piece) for piece in samples]
    parts, gains = {}, {}
    for i, j in enumerate(moving):
        best = int(np.argmin(ratios[:, i].mean(axis=0)))
        gain = dict(zip(KINDS, (1 - np.sqrt(ratios[:, i, best])).tolist()))
        changes = (each[:, i, 0] - each[:, i, 1 + best] for each in scores)
        used = gain['time'] > MIN_GAIN and all(
            change.mean() > stdtrit(len(change) - 1, LEVEL) * np.sqrt(
                change.var(ddof=1) / len(change)) for change in changes)
        gains[names[j]] = {**gain, 'rms': 0.0, 'used': bool(used)}
        if used:
            part, ridge = candidates[j][best // len(RIDGES)], RIDGES[best % len(RIDGES)]
            columns, torque = _rows(part, rest, j)
            parts[names[j]] = part = replace(part, weights=_weights(part, columns, torque, ridge))
            gains[names[j]]['rms'] = float(np.sqrt(np.mean((columns @ part.weights) ** 2)))
    return replace(model, residual=parts,
                   information={**model.information, RESIDUAL_GAINS: gains})


def _folds(samples: Sequence[Samples], count: int, by: str,
           model_fit: ModelFit) -> Iterator[list[list[Samples]]]:
    """Yield training and left-out samples of each fold, with the residuals as torques."""
    options = replace(model_fit.options, delay='')    # delays are compensated in the samples
    arm, shape = model_fit.fit.regression.base.structure.arm, model_fit.fit.estimate.shape
    ranges = [None if by == 'time' else range_indices(piece, count, by) for piece in samples]
    for pairs in zip(*(split_folds(piece, count, block)[0]
                       for piece, block in zip(samples, ranges))):
        try:
            fit = fit_samples(arm, [training for training, _ in pairs], options,
                              start=shape if shape.size else None)
        except RobotIdentificationError:
            if by == 'time':
                raise
            continue    # too little is left to fit
        model = fit.model({})
        yield [[_physical_residual(model, piece) for piece in pieces] for pieces in zip(*pairs)]


def range_indices(samples: Samples, folds: int, by: str) -> IndexArray:
    """
    Return for each sample the range of postures or mean speeds of its window of time, (N,).

    Windows are long enough to decimate, so that short recordings have few of them.

    Parameters
    ----------
    samples
        Processed samples.
    folds
        Number of ranges.
    by
        'posture' or 'speed'.

    """
    windows = min(int(len(samples) / (2 * len(samples.decimator().taps))), 10 * folds)
    return block_labels(samples.t, folds, posture=samples.q if by == 'posture' else None,
                        speed=np.abs(samples.v) if by == 'speed' else None, windows=windows)


def _physical_residual(model: IdentifiedModel, samples: Samples) -> Samples:
    """Return the samples with the torque residuals of a model as torques."""
    return replace(samples, tau=samples.tau - model.torque(
        samples.q, samples.v, samples.a, model.states(samples.q)))


def _candidates(samples: Sequence[Samples], j: int) -> list[JointResidual]:
    """Return parts of joint j for all length scales, with points and zero weights."""
    q, v = (np.concatenate([x[:, j] for x in each])
            for each in zip(*((piece.q, piece.v) for piece in samples)))
    q, v = (x[v != 0][::1 + len(v) // _SPREAD] for x in (q, v))
    return [_select_points(JointResidual(
        q, v, np.zeros(len(q)), float(length_q * q.std()), float(length_v * v.std()),
        float(CREEP * v.std()), sign))
            for length_q, length_v, sign in product(LENGTHS_Q, LENGTHS_V, SIGN_WEIGHTS)]


def _select_points(part: JointResidual) -> JointResidual:
    """
    Return the part with at most `POINTS` of its points, by a pivoted Cholesky factorisation.

    Each step takes the point whose value is the most uncertain given the points taken before.
    """
    prior, chosen = part.kernel(part.q, part.v), list[int]()
    while len(chosen) < POINTS and np.max(np.diag(prior)) > EXPLAINED:
        chosen.append(int(np.argmax(np.diag(prior))))
        prior -= np.outer(prior[chosen[-1]], prior[chosen[-1]]) / prior[chosen[-1], chosen[-1]]
    return replace(part, q=part.q[chosen], v=part.v[chosen], weights=np.zeros(len(chosen)))


def _rows(part: JointResidual, samples: Sequence[Samples], j: int) -> tuple[Array, Array]:
    """Return the decimated kernel columns and torques of the rows at which joint j moves."""
    rows = np.concatenate([piece.decimate(np.column_stack([
        part.kernel(piece.q[:, j], piece.v[:, j]), piece.tau[:, j], piece.v[:, j] != 0]))
        for piece in samples])
    rows = rows[rows[:, -1] > _MOVING]
    return rows[:, :-2], rows[:, -2]


def _weights(part: JointResidual, columns: Array, torque: Array, ridge: float) -> Array:
    """Return the posterior mean of the weights of the points, (m,)."""
    prior = part.kernel(part.q, part.v) + EXPLAINED * np.eye(len(part.q))
    return np.linalg.solve(columns.T @ columns + ridge * prior, columns.T @ torque)


def _score(candidates: Mapping[int, Sequence[JointResidual]], training: Sequence[Samples],
           left_out: Sequence[Samples], j: int) -> list[float]:
    """Return squared left-out errors of joint j: without a part, with each part and ridge."""
    scores = list[float]()
    for part in candidates[j]:
        known, (columns, torque) = _rows(part, training, j), _rows(part, left_out, j)
        scores += [np.sum((torque - columns @ _weights(part, *known, ridge)) ** 2)
                   for ridge in RIDGES]
    return [np.sum(torque ** 2), *scores]
