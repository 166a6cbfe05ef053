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
"""Predicting the torques of a recording that was not fitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import IdentifiedModel
from robot_identification.signals import Samples
from robot_identification.validation.metrics import Errors, JointErrors, errors


@dataclass(frozen=True, eq=False)
class HeldOut:
    """
    A prediction against a recording.

    Parameters
    ----------
    name
        Of the recording.
    errors
        Of the identified model, after the same low-pass on both sides.
    cutoff
        Of that low-pass [Hz]; infinite for none.
    repeated
        Which part of the motion was already there in training, 0 to 1.
    free_relative_error
        The overall relative error of the free base estimate, a diagnostic; NaN when unknown.
    t, measured, predicted
        (rows,) [s] and (rows, n) [N m or N], low-passed, for plots.
    """

    name: str
    errors: Errors
    cutoff: float
    repeated: float
    free_relative_error: float
    t: Array
    measured: Array
    predicted: Array

    def __post_init__(self) -> None:
        for name in ('t', 'measured', 'predicted'):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def relative_error(self) -> float:
        """Norm of the error over norm of the measured torque, all joints together."""
        return self.errors.relative_error

    @property
    def joints(self) -> Mapping[str, JointErrors]:
        """Errors of each joint, by its name."""
        return self.errors.joints

    @property
    def repeat(self) -> bool:
        """Whether most of the motion repeats a training motion, so that it validates nothing."""
        return self.repeated > 0.5


def evaluate(model: IdentifiedModel, samples: Samples, *, name: str = '', repeated: float = 0.0,
             free_relative_error: float = float('nan')) -> HeldOut:
    """
    Predict the torques of processed samples and compare.

    Parameters
    ----------
    model
        The identified model.
    samples
        Processed recording; its decimation filter is applied to both sides.
    name, repeated, free_relative_error
        As in `HeldOut`.
    """
    decimator = samples.decimator()
    predicted = model.torque(samples.q, samples.v, samples.a)
    parts: list[list[Array]] = [[], [], []]
    for segment in samples.segments:
        parts[0].append(samples.t[segment][decimator.centres(segment.stop - segment.start)])
        parts[1].append(decimator.apply(samples.tau[segment]))
        parts[2].append(decimator.apply(predicted[segment]))
    t, measured, smooth = (np.concatenate(part) for part in parts)
    return HeldOut(name, errors(measured, smooth, samples.joint_names),
                   decimator.effective_cutoff if decimator.factor > 1 else float('inf'),
                   repeated, free_relative_error, t, measured, smooth)
