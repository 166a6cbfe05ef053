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
"""Identification of a model, `identify`, and its result, `IdentificationResult`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import html
import io
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arm import Arm
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
from robot_identification.validation.validate_model import validate, Validation


@dataclass(frozen=True, eq=False, repr=False)
class IdentificationResult(Identification):
    """
    Result of `identify`, with methods to show and save it.

    The fields are those of `Identification`: arm, model, estimate, verdict and others.

    Examples
    --------
    >>> result = identify(load_arm('panda'), ['motion.csv'])    # doctest: +SKIP
    >>> print(result.summary())    # doctest: +SKIP
    >>> torque = result.model.torque(q, v, a)    # (N, 7) [N m]    # doctest: +SKIP

    """

    def summary(self) -> str:
        """Return the verdict, its reasons and the torque error of each joint as text."""
        from rich.console import Console
        from robot_identification.reporting.terminal_summary import summary
        console = Console(width=100, no_color=True, color_system=None, record=True,
                          file=io.StringIO())
        console.print(summary(self))
        return console.export_text()

    def _repr_html_(self) -> str:
        """Return the summary as HTML, for notebooks."""
        return f'<pre>{html.escape(self.summary())}</pre>'

    def to_frame(self) -> Any:
        """
        Return the unconstrained estimate of the base parameters as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            One row for each base parameter, with the columns 'combination' (of standard
            parameters), 'value', 'deviation' (standard deviation) and 'unit'.

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

    def plot(self, what: str = 'torque') -> Any:
        """
        Return a Matplotlib figure with one plot for each joint, see `reporting.plots.plot`.

        Parameters
        ----------
        what
            'torque', 'friction' or 'spectrum'.

        """
        return plot(self, what)

    def save(self, folder: str | Path) -> None:
        """
        Write model, URDF, results and report to a folder, see `reporting.save_results`.

        Parameters
        ----------
        folder
            The output folder, which is created.

        """
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
    Identify the dynamic model of an arm from recordings, and validate it.

    Parameters
    ----------
    arm
        The arm, from `Arm.from_urdf` or `load_arm`.
    recordings
        Recordings to which the model is fitted, or their paths.
    estimator
        Name in `ESTIMATORS`. 'auto' selects friction model, estimator and delays by
        cross-validation.
    friction
        Name in `FRICTION_MODELS`; the suffix '_asymmetric' gives each direction of motion its own
        parameters. None stands for 'coulomb_viscous', or with 'auto' for the model that predicts
        best.
    held_out
        Recordings of other motions, on which the model is validated, or their paths.
    progress
        Function that is called with the name of the current step and the completed fraction, 0 to
        1.
    options
        Other fields of `IdentificationOptions`: settings, thresholds, processing, delay,
        consistency, bootstrap, backend.

    Returns
    -------
    IdentificationResult
        The physically consistent model (`model`), the estimate of the base parameters with its
        covariance (`estimate`), the verdict with relative torque errors (`verdict`) and
        diagnostics.

    Raises
    ------
    RobotIdentificationError
        A recording, a name or an option cannot be used; the message says what to do.

    Examples
    --------
    >>> arm = load_arm('panda')
    >>> result = identify(arm, ['motion.csv'], held_out=['other.csv'])    # doctest: +SKIP
    >>> result.verdict.passed    # doctest: +SKIP
    True
    >>> result.save('result')    # doctest: +SKIP

    """
    request = IdentificationOptions.of(estimator=estimator, friction=friction, **options)
    identification = run_identification(arm, recordings, held_out, request, progress)
    return IdentificationResult(**vars(identification))


__all__ = ['IdentificationResult', 'Validation', 'identify', 'validate']
