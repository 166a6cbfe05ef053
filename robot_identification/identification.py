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
"""The public interface of the main job: `identify`, `validate` and their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import html
import io
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.dynamics import IdentifiedModel
from robot_identification.errors import MissingDependencyError
from robot_identification.identification_data import (
    Identification,
    IdentificationOptions,
    Progress,
)
from robot_identification.pipeline import run_identification
from robot_identification.recording import Recording
from robot_identification.reporting import save_results
from robot_identification.reporting.plots import plot
from robot_identification.validation import Thresholds
from robot_identification.validation.validate_model import validate_model, Validation


@dataclass(frozen=True, eq=False, repr=False)
class IdentificationResult(Identification):
    """An identification that shows and saves itself; its fields are those of `Identification`."""

    def summary(self) -> str:
        """Return verdict, reasons and errors of each joint as text."""
        from rich.console import Console
        from robot_identification.reporting import summary
        console = Console(width=100, no_color=True, color_system=None, record=True,
                          file=io.StringIO())
        console.print(summary(self))
        return console.export_text()

    def _repr_html_(self) -> str:
        return f'<pre>{html.escape(self.summary())}</pre>'

    def to_frame(self) -> Any:
        """
        Return the free estimate of the base parameters as a pandas DataFrame.

        One row a parameter: the combination that it stands for, its value, standard deviation and
        unit.

        Raises
        ------
        MissingDependencyError
            pandas is not installed.

        """
        try:
            import pandas
        except ImportError as error:
            raise MissingDependencyError('pandas', 'a table of parameters') from error
        base = self.estimate.base
        return pandas.DataFrame({
            'combination': base.names, 'value': self.estimate.values,
            'deviation': np.sqrt(np.diag(self.estimate.covariance)), 'unit': base.units},
            index=pandas.Index(base.labels, name='parameter'))

    def plot(self, what: str = 'torque', backend: str | None = None) -> Any:
        """Plot 'torque', 'friction' or 'spectrum' of each joint, see `reporting.plots.plot`."""
        return plot(self, what, backend)

    def save(self, folder: str | Path) -> None:
        """Write model, URDF, results and report into a folder, see `reporting.save_results`."""
        save_results(self, folder)


def identify(
    arm: Arm,
    recordings: Sequence[Recording | str | Path],
    estimator: str = 'wls',
    friction: str | None = None,
    held_out: Sequence[Recording | str | Path] = (),
    *,
    progress: Progress | None = None,
    **options: Any,
) -> IdentificationResult:
    """
    Identify the dynamic model of an arm.

    Parameters
    ----------
    arm
        The arm, from `Arm.from_urdf` or `load_arm`.
    recordings
        Recordings to fit, or their paths.
    estimator
        Name in `ESTIMATORS`, or 'auto': friction model, estimator and delays by cross-validation.
    friction
        Name in `FRICTION_MODELS`, where '_asymmetric' may be appended; 'coulomb_viscous' when
        None, or with 'auto' whichever predicts best.
    held_out
        Recordings of other motions to validate on, or their paths.
    progress
        Called with what is being done and the part of it that is done, 0 to 1.
    options
        Any other field of `IdentificationOptions`: settings, thresholds, processing, delay,
        consistency, bootstrap, backend.

    Raises
    ------
    RobotIdentificationError
        A recording, a name or an option cannot be used; the text says what to do.

    """
    request = IdentificationOptions.of(estimator=estimator, friction=friction, **options)
    found = run_identification(arm, recordings, held_out, request, progress)
    return IdentificationResult(**vars(found))


def validate(
    model: IdentifiedModel,
    recording: Recording | str | Path | Sequence[Recording | str | Path],
    *,
    thresholds: Thresholds | None = None,
    processing: Mapping[str, Any] | None = None,
) -> Validation:
    """
    Return the verdict on a model from its torque errors on recordings.

    Parameters
    ----------
    model
        The identified model.
    recording
        A recording of the model's arm, or its path; or several, over which the verdict is one.
    thresholds
        What the model must reach.
    processing
        Options of `signals.process`.

    Raises
    ------
    RobotIdentificationError
        The recording cannot be used; the text says what to do.

    """
    return validate_model(model, recording, thresholds=thresholds, processing=processing)


__all__ = ['IdentificationResult', 'Validation', 'identify', 'validate']
