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
"""A load at the flange that the model does not contain."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import joint_torque_regressor
from robot_identification.estimation.uncertainty import covariance_directions
from robot_identification.validation.checks.check import Check, CheckInput, Role
from robot_identification.validation.checks.residual_regression import (
    AddedColumn,
    ResidualRegression,
)
from robot_identification.validation.finding import Finding

_NAME = 'payload'
_EXPLAINED = 0.15
"""Fraction of the held-out residuals that mass and centre of a body at the last link explain."""
_EXPLAINED_MISSING = 0.6
"""The same for a missing body, which a wrong model resembles more often."""
_DEVIATIONS = 5.0
_LIGHTEST = 0.02
"""Payload without alarm, as a fraction of the mass of the moving links."""
_SINGULAR = 1e-3
"""Relative singular value below which a direction of mass and centre is left out."""


def check_payload(data: CheckInput) -> Finding | None:
    """Fit mass and first moments of a body at the last link to the residuals of the model."""
    regression = data.regression
    body = None if regression is None else _fit_body(data, regression)
    if regression is None or body is None:
        return None
    lightest = min(_LIGHTEST * float(np.sum(np.abs(data.model.inertial[:, 0]))), 0.1)
    threshold = max(_DEVIATIONS * body.std, lightest)
    alarm = bool(body.explained > (_EXPLAINED if body.value > 0 else _EXPLAINED_MISSING)
                 and abs(body.value) > threshold)
    text = (f'a body of {body.value:.2f} \u00b1 {body.std:.2f} kg at the last link would explain '
            f'{body.explained:.0%} of the squared residuals')
    if alarm:
        text += ('; tool or load differ from the training motion: record without the load, or '
                 'identify it (robot-identification payload)')
    return Finding(_NAME, data.name, body.value, threshold, 'kg', alarm, text,
                   regression.joint_names[-1] if alarm else '')


def _fit_body(data: CheckInput, regression: ResidualRegression) -> AddedColumn | None:
    """
    Return the mass that the residuals ask for, with the fraction of them that it explains.

    The standard deviation has two sources: the residuals that the body leaves, by blocks of time,
    and the errors of the model's parameters, which over a motion unlike the training motion
    resemble a body (up to 12 kg on an arm of three joints).
    """
    samples, n = regression.samples, len(regression.joint_names)
    body = joint_torque_regressor(data.arm, samples.q, samples.v, samples.a,
                                  first_link=n - 1)[:, :, :4]
    columns = regression.decimate(np.ascontiguousarray(body.reshape(len(body), -1)))
    flat = (columns.reshape(-1, n, 4) * regression.weights[:, None]).reshape(-1, 4)
    target, norms = regression.residual.ravel(), np.linalg.norm(flat, axis=0)
    known = norms > 1e-9 * norms.max()
    if not known[0]:
        return None
    flat = flat[:, known] / norms[known]
    inverse = np.linalg.pinv(flat, rcond=_SINGULAR)
    scaled = inverse @ target
    rest = (target - flat @ scaled).reshape(-1, n)
    sums = np.zeros((int(regression.block.max()) + 1, int(known.sum())))
    np.add.at(sums, regression.block, np.einsum(
        'tnk,tn->tk', flat.reshape(-1, n, flat.shape[1]), rest))
    from_residuals = (inverse @ inverse.T @ sums.T)[0]
    from_model = _model_errors(data, regression, inverse[0].reshape(-1, n))
    std = np.hypot(np.linalg.norm(from_residuals), np.linalg.norm(from_model)) / norms[0]
    return AddedColumn(float(scaled[0] / norms[0]), float(std),
                       float(1 - np.sum(rest ** 2) / np.sum(target ** 2)))


def _model_errors(data: CheckInput, regression: ResidualRegression, weights: Array) -> Array:
    """Return the errors of a weighted sum of residuals due to those of the model, (k,)."""
    directions = covariance_directions(data.model)
    if directions is None or data.base is None:    # a model file without its covariance
        return np.zeros(0)
    errors: Array = directions @ (data.base.matrix.T @ regression.products(weights))
    return errors


CHECK = Check(
    _NAME, 'Does the flange carry the same load as in training?',
    f'a mass beyond {_DEVIATIONS:g} standard deviations, above 100 g or {_LIGHTEST:.0%} of the '
    f'arm, that explains {_EXPLAINED:.0%} of the residuals; the standard deviation contains the '
    "errors of the model's parameters over this motion",
    frozenset({Role.HELD_OUT}), check_payload)
