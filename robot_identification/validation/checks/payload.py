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

import numpy as np
from robot_identification.dynamics import joint_torque_regressor
from robot_identification.regression.blocked_regression import AddedColumn
from robot_identification.validation.checks.check import Check, CheckInput, Measurement, Role

_EXPLAINED = 0.15
"""Fraction of the squared residuals that an additional body at the last link must explain."""
_EXPLAINED_MISSING = 0.6
"""The same for a removed body (negative mass), which errors of the model resemble more often."""
_DEVIATIONS = 5.0
_LIGHTEST = 0.02
"""Payload without alarm, as a fraction of the mass of the moving links."""
_SINGULAR = 1e-3
"""Relative singular value below which a direction of mass and centre is left out."""


def measure_payload(data: CheckInput) -> Measurement | None:
    """Fit mass and first moments of a body at the last link to the residuals of the model."""
    body = _fit_body(data)
    if body is None:
        return None
    lightest = min(_LIGHTEST * float(np.sum(np.abs(data.model.inertial[:, 0]))), 0.1)
    threshold = max(_DEVIATIONS * body.std, lightest)
    alarm = (body.explained > (_EXPLAINED if body.value > 0 else _EXPLAINED_MISSING)
             and abs(body.value) > threshold)
    return Measurement(
        body.value, threshold, 'kg',
        f'a body of {body.value:.2f} \u00b1 {body.std:.2f} kg at the last link would explain '
        f'{body.explained:.0%} of the squared residuals',
        '; tool or load differ from the training motion: record without the load, or identify it '
        '(robot-identification payload)', data.arm.joint_names[-1] if alarm else '', alarm)


def _fit_body(data: CheckInput) -> AddedColumn | None:
    """
    Return the body mass that explains the residuals best; None if no torque depends on it.

    The standard deviation has two sources. One is the residuals that the body does not explain,
    summed over blocks of time. The other is the errors of the model's parameters: on a motion
    unlike the training motion they resemble a body, of up to 12 kg on an arm with three joints.
    """
    regression, samples, n = data.regression, data.regression.samples, data.arm.n
    body = joint_torque_regressor(data.arm, samples.q, samples.v, samples.a,
                                  first_link=n - 1)[:, :, :4]
    columns = regression.samples.decimate(np.ascontiguousarray(body.reshape(len(body), -1)))
    flat = (columns.reshape(-1, n, 4) * regression.weights[:, None]).reshape(-1, 4)
    target, norms = regression.equation.target.ravel(), np.linalg.norm(flat, axis=0)
    known = norms > 1e-9 * norms.max()
    if not known[0]:
        return None
    flat = flat[:, known] / norms[known]
    inverse = np.linalg.pinv(flat, rcond=_SINGULAR)
    scaled = inverse @ target
    remaining = target - flat @ scaled
    sums = np.zeros((int(regression.block.max()) + 1, flat.shape[1]))
    np.add.at(sums, np.repeat(regression.block, n), flat * remaining[:, None])
    variance = np.sum((inverse @ inverse.T @ sums.T)[0] ** 2)
    directions = data.model.uncertain_directions
    if directions is not None:    # a model file without its covariance has none
        variance += np.sum((directions @ (regression.base.matrix.T @ regression.equation.products(
            inverse[0].reshape(-1, n)))) ** 2)
    return AddedColumn(scaled[0] / norms[0], np.sqrt(variance) / norms[0],
                       1 - np.sum(remaining ** 2) / np.sum(target ** 2))


CHECK = Check(
    'payload', 'Does the flange carry the same load as in training?',
    f'a mass above {_DEVIATIONS:g} standard deviations and above 100 g (light arms: '
    f'{_LIGHTEST:.0%} of their mass) that explains {_EXPLAINED:.0%} of the squared residuals '
    f'({_EXPLAINED_MISSING:.0%} if it is negative); the standard deviation contains the errors of '
    "the model's parameters over this motion",
    frozenset({Role.HELD_OUT}), measure_payload)
