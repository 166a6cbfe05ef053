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
"""Calibration of the prediction intervals of torques on left-out blocks and held-out motion."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import IdentifiedModel
from robot_identification.dynamics.identified_model import COVERAGE, TORQUE_BAND, TorqueBand
from robot_identification.estimation import Fit
from robot_identification.regression.blocked_regression import block_labels
from robot_identification.signals import Samples
from robot_identification.signals.filters import filter_both_ways, lowpass_sections
from robot_identification.validation.checks.residual_regression import CUTOFF, ResidualRegression
from robot_identification.validation.held_out import HeldOut

_FOLDS = 3
"""Blocks of each recording. Long blocks leave out other postures and speeds: with 5 blocks of the
recordings of real arms, coverage on other motion is up to 2 % lower."""
_SETTLE, _SHORTEST = 5.0, 30
"""Periods of the low-pass, and samples, that a run must exceed for its noise to be measured."""


def calibrate_band(model: IdentifiedModel, fit: Fit,
                   regressions: Sequence[ResidualRegression | None]) -> IdentifiedModel:
    """
    Return the model with prediction intervals from left-out blocks of its training motion.

    Each recording is split into three blocks of time, or of phase if the motion repeats. Errors on
    a block are those of the model after a linear change of its parameters that removes the block
    from the fit; the prior counts as in the fit. Their 95 % quantile over the expected error, of
    each joint, is the factor of the interval. Models from recordings too short for it have none.

    Parameters
    ----------
    model
        The identified model.
    fit
        The fit from which it was built, with the training samples.
    regressions
        Rows of each of these samples, see `build_residual_regression`.

    """
    base, names = fit.estimate.base, model.arm.joint_names
    half = base.matrix @ fit.consistent.prior_root
    precision = np.asarray(np.linalg.pinv(half @ half.T, rcond=1e-12, hermitian=True), float)
    rests, factors, noise, weights = [], [], [], []    # of each piece
    speed = np.zeros(model.arm.n)
    for samples, regression in zip(fit.regression.samples, regressions):
        speed = np.maximum(speed, np.quantile(np.abs(samples.v), 0.999, axis=0))
        noise += _noise(samples) if samples.diagnosed else []
        if regression is not None and regression.block.max() + 1 >= _FOLDS:
            rest, factor = _compare_blocks(regression, model, precision)
            rests.append(rest ** 2)
            factors.append(factor)
            weights.append(len(regression.block))
    if not weights:
        return model
    band = TorqueBand(
        np.sqrt(np.average(rests, axis=0, weights=weights)),
        np.average(factors, axis=0, weights=weights),
        np.mean(noise, axis=0) if noise else np.zeros(model.arm.n), speed)
    return _with_band(model, band, names)


def widen_band(model: IdentifiedModel, held_out: Sequence[HeldOut]) -> IdentifiedModel:
    """
    Return the model with a factor averaged over left-out blocks and each held-out motion.

    Parameters
    ----------
    model
        The model with the intervals of `calibrate_band`.
    held_out
        Errors of this model on held-out motions that do not repeat the training motion.

    """
    fresh = [each.band_ratio for each in held_out
             if not each.repeat and each.band_ratio is not None]
    if not fresh or (band := model.band) is None:
        return model
    names = model.arm.joint_names
    ratios = np.vstack([np.ones(len(names)), *(np.where(np.isfinite(r), r, 1.0) for r in fresh)])
    return _with_band(model, replace(band, factor=band.factor * ratios.mean(axis=0)), names)


def _with_band(model: IdentifiedModel, band: TorqueBand, names: Sequence[str]) -> IdentifiedModel:
    return replace(model, information={**model.information, TORQUE_BAND: band.to_dict(names)})


def _compare_blocks(regression: ResidualRegression, model: IdentifiedModel, precision: Array,
                    ) -> tuple[Array, Array]:
    """
    Return the root mean square residual, and the quantile of left-out over expected errors, (n,).

    The precision is that of the prior.
    """
    samples, equation = regression.samples, regression.equation
    block = block_labels(samples.decimate(np.array(samples.t)), _FOLDS, samples.period_seconds)
    left_out = replace(equation, block=block).left_out_residuals(precision)
    uncertain = regression.torque_deviation(model.uncertain_directions)
    rest = np.sqrt(np.mean(equation.target ** 2, axis=0)) / regression.weights
    expected = np.maximum(np.sqrt(rest ** 2 + uncertain ** 2), np.finfo(float).tiny)
    ratio = np.abs(left_out) / regression.weights / expected
    return rest, np.asarray(np.quantile(ratio, COVERAGE, axis=0))


def _noise(samples: Samples) -> list[Array]:
    """Return the quantile of the measured torques above the low-pass, (n,) of each run."""
    if 0.45 * samples.rate < CUTOFF:
        return []
    sections = lowpass_sections(CUTOFF, samples.rate)
    return [np.quantile(np.abs(samples.tau[run] - filter_both_ways(
        sections, samples.tau[run])), COVERAGE, axis=0) for run in samples.segments
            if run.stop - run.start > max(_SETTLE * samples.rate / CUTOFF, _SHORTEST)]
