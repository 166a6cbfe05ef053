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

from dataclasses import dataclass
import io
from pathlib import Path
from typing import Any

from robot_identification import pipeline
from robot_identification.arm import Arm, load_arm
from robot_identification.arrays import Array
from robot_identification.recording.inputs import list_recordings, Recordings
from robot_identification.reporting import save_results, to_frame
from robot_identification.reporting.result_figures import plot
from robot_identification.validation.validate_model import validate, Validation


@dataclass(frozen=True, eq=False, repr=False)
class IdentificationResult(pipeline.Identification):
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

    def conf_int(self, level: float = 0.95) -> Array:
        """Return confidence intervals of the base parameters, (r, 2)."""
        return self.estimate.confidence_interval(level)

    def to_frame(self, what: str = 'parameters') -> Any:
        """
        Return a pandas DataFrame of parameters, links or friction, see `reporting.to_frame`.

        Parameters
        ----------
        what
            'parameters' (base parameters with 95 % intervals), 'standard', 'links' or 'friction'.

        """
        return to_frame(self, what)

    def plot(self, what: str = 'torque', joint: str | None = None) -> Any:
        """
        Return a Matplotlib figure, one plot for each joint, see `reporting.result_figures.plot`.

        Parameters
        ----------
        what
            'torque', 'friction' or 'spectrum'.
        joint
            Joint to plot; None plots all.

        """
        return plot(self, what, joint)

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
    arm: Arm | str | Path,
    recordings: Recordings,
    estimator: str = 'wls',
    friction: str | None = None,
    held_out: Recordings = (),
    *,
    progress: pipeline.Progress | None = None,
    **options: Any,
) -> IdentificationResult:
    """
    Identify the dynamic model of an arm from recordings, and validate it.

    Parameters
    ----------
    arm
        The arm, from `Arm.from_urdf` or `load_arm`; or the name or path for `load_arm`.
    recordings
        The recordings to which the model is fitted: one or a sequence of `Recording`, paths of
        files or bags, folders with several recordings, and pandas DataFrames.
    estimator
        Name in `ESTIMATORS`. 'auto' selects friction model, estimator and delays by
        cross-validation.
    friction
        Name in `FRICTION_MODELS`; the suffix '_asymmetric' gives each direction of motion its own
        parameters. None stands for 'coulomb_viscous', or with 'auto' for the model that predicts
        best.
    held_out
        Recordings of other motions, on which the model is validated; as for `recordings`.
    progress
        Function that is called with the name of the current step and the completed fraction, 0 to
        1.
    options
        Other fields of `IdentificationOptions`: settings, thresholds, processing, delay,
        consistency, residual, backend.

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
    >>> result = identify('panda', 'motion.csv', held_out='other.csv')    # doctest: +SKIP
    >>> result.verdict.passed    # doctest: +SKIP
    True
    >>> result.save('result')    # doctest: +SKIP

    """
    request = pipeline.IdentificationOptions.of(estimator=estimator, friction=friction, **options)
    arm = load_arm(arm)
    identification = pipeline.run_identification(
        arm, list_recordings(recordings, arm), list_recordings(held_out, arm), request, progress)
    return IdentificationResult(**vars(identification))


__all__ = ['IdentificationResult', 'Validation', 'identify', 'validate']
