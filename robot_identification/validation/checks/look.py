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
"""Which checks look at what: at the recordings of a fit, at a held-out one, at the model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import (
    base_parameters,
    BaseParameters,
    get_friction,
    IdentifiedModel,
    ModelStructure,
)
from robot_identification.estimation import Fit
from robot_identification.parallel import on_cores
from robot_identification.recording import Recording
from robot_identification.signals import delayed, Samples
from robot_identification.signals.effort_check import EffortCheck
from robot_identification.validation import Finding
from robot_identification.validation.checks.case import Case
from robot_identification.validation.checks.check import Role
from robot_identification.validation.checks.family import CHECKS


def look(case: Case, role: Role) -> tuple[Finding, ...]:
    """
    Return what the checks of a role find.

    Parameters
    ----------
    case
        What to look at.
    role
        What it is there for.

    """
    asked = [check.find for check in CHECKS.values() if role in check.roles]
    found = on_cores(lambda find: find(case), asked)
    return tuple(finding for finding in found if finding is not None)


def look_at_fit(model: IdentifiedModel, fit: Fit, recordings: Sequence[Recording],
                effort: EffortCheck) -> tuple[Finding, ...]:
    """
    Return what the checks find in the recordings that were fitted, and in the model.

    Parameters
    ----------
    model
        The identified model.
    fit
        What it came from.
    recordings
        The recordings, in the order of the fit's samples.
    effort
        What the effort looks like against gravity, over all recordings.

    """
    found = [finding for recording, samples in zip(recordings, fit.regression.samples, strict=True)
             for finding in look(Case(
                 recording.name, model, recording, samples, fit.estimate.base,
                 fit.estimate.values, effort if len(recordings) == 1 else None), Role.FITTED)]
    return (*found, *look(Case('', model), Role.MODEL))


def look_at_held_out(model: IdentifiedModel, recording: Recording, samples: Samples,
                     base: BaseParameters | None = None) -> tuple[Finding, ...]:
    """
    Return what the checks find in a recording that was not fitted.

    Parameters
    ----------
    model
        The identified model.
    recording, samples
        The recording, and what was processed of it.
    base
        Base parameters of the model's structure, where they are known already.

    """
    if base is None:
        structure = ModelStructure(model.arm, get_friction(model.friction),
                                   shape=model.friction_shape)
        base = base_parameters(structure)
    unknown = base.structure.unknown_balancers
    standard: Array = np.concatenate([
        model.inertial.ravel(), model.balancers[unknown], model.rotor_inertia,
        model.friction_parameters.ravel()])
    return look(Case(recording.name, model, recording, delayed(
        samples, model.delay, of=model.delay_of), base, base.of(standard)), Role.HELD_OUT)


def look_at_model(model: IdentifiedModel) -> tuple[Finding, ...]:
    """
    Return what the checks find in a model.

    Parameters
    ----------
    model
        The identified model.

    """
    return look(Case('', model), Role.MODEL)
