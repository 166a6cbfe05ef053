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
"""A load at the flange that the model does not know."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import joint_torque_regressor
from robot_identification.estimation.uncertainty import directions_of
from robot_identification.validation import Finding
from robot_identification.validation.checks.case import Case
from robot_identification.validation.checks.check import Check, Role
from robot_identification.validation.checks.evidence import Evidence

NAME = 'payload'
EXPLAINED = 0.15
"""Part of the held-out residuals that mass and centre of one body at the last link explain."""
EXPLAINED_LESS = 0.6
"""The same for a body that is missing, which a wrong model looks like more often."""
DEVIATIONS = 5.0
LIGHTEST = 0.02
"""Payload, as a part of the mass of the moving links, that a wrong model may well miss."""
SINGULAR = 1e-3


def find(case: Case) -> Finding | None:
    """Fit mass and first moments of a body at the last link to the residuals of the model."""
    evidence = case.evidence
    if evidence is None:
        return None
    found = _mass(case, evidence)
    if found is None:
        return None
    mass, deviation, explained = found
    lightest = min(LIGHTEST * float(np.sum(np.abs(case.model.inertial[:, 0]))), 0.1)
    enough = EXPLAINED if mass > 0 else EXPLAINED_LESS
    threshold = max(DEVIATIONS * deviation, lightest)
    alarm = bool(explained > enough and abs(mass) > threshold)
    text = (f'a body of {mass:.2f} \u00b1 {deviation:.2f} kg at the last link would explain '
            f'{explained:.0%} of the squared residuals')
    if alarm:
        text += ('; another tool or load than in the training motion: record without it, or '
                 'identify it (robot-identification payload)')
    return Finding(NAME, case.name, mass, threshold, 'kg', alarm, text,
                   evidence.joint_names[-1] if alarm else '')


def _mass(case: Case, evidence: Evidence) -> tuple[float, float, float] | None:
    """
    Return the mass that residuals ask for, its deviation and the part of them that it explains.

    The deviation has two sources: what the body leaves of these residuals, by blocks of time, and
    the errors of the model's own parameters, which over a motion unlike that of the training look
    like a body: an arm of three joints makes twelve kilogrammes of them.
    """
    samples, n = evidence.samples, len(evidence.joint_names)
    body = joint_torque_regressor(case.arm, samples.q, samples.v, samples.a,
                                  first_link=n - 1)[:, :, :4]
    columns = evidence.apply(np.ascontiguousarray(body.reshape(len(body), -1)))
    flat = (columns.reshape(-1, n, 4) * evidence.weights[:, None]).reshape(-1, 4)
    target, norms = evidence.residual.ravel(), np.linalg.norm(flat, axis=0)
    known = norms > 1e-9 * norms.max()
    if not known[0]:
        return None
    flat = flat[:, known] / norms[known]
    inverse = np.linalg.pinv(flat, rcond=SINGULAR)
    scaled = inverse @ target
    rest = (target - flat @ scaled).reshape(-1, n)
    sums = np.zeros((int(evidence.block.max()) + 1, int(known.sum())))
    np.add.at(sums, evidence.block, np.einsum(
        'tnk,tn->tk', flat.reshape(-1, n, flat.shape[1]), rest))
    of_residuals = (inverse @ inverse.T @ sums.T)[0]
    of_model = _of_model(case, evidence, inverse[0].reshape(-1, n))
    deviation = np.hypot(np.linalg.norm(of_residuals), np.linalg.norm(of_model)) / norms[0]
    return (float(scaled[0] / norms[0]), float(deviation),
            float(1 - np.sum(rest ** 2) / np.sum(target ** 2)))


def _of_model(case: Case, evidence: Evidence, mass: Array) -> Array:
    """Return what the model's own deviations make of a sum of weighted residuals, (k,)."""
    directions = directions_of(case.model)
    if directions is None or case.base is None:    # a model file that tells none
        return np.zeros(0)
    found: Array = directions @ (case.base.matrix.T @ evidence.products(mass))
    return found


CHECK = Check(
    NAME, 'Does the flange carry what it carried in training?',
    f'a mass beyond {DEVIATIONS:g} standard deviations, above 100 g or {LIGHTEST:.0%} of the arm, '
    f'that explains {EXPLAINED:.0%} of the residuals: the deviation contains the errors of the '
    "model's own parameters over this motion",
    frozenset({Role.HELD_OUT}), find)
