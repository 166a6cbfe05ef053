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
"""Options of signal processing and thresholds, shared by `identify` and `validate`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TYPE_CHECKING

from robot_identification.errors import ConfigurationError
from robot_identification.registry import load_extensions
import typer

if TYPE_CHECKING:
    from robot_identification.validation import Thresholds


@dataclass(frozen=True)
class ProcessingArguments:
    """Command-line options of signal processing, and of the thresholds of the verdict."""

    overall: Annotated[float | None, typer.Option(
        help='Largest accepted relative torque error over all joints; by default 0.1.')] = None
    joint: Annotated[float | None, typer.Option(
        help='Largest accepted relative torque error of each joint; by default 0.3.')] = None
    strict: Annotated[bool, typer.Option(
        '--strict', help='A doubtful model fails: exit code 1 instead of 3.')] = False
    cutoff: Annotated[float | None, typer.Option(
        help='Cut-off of the position filter [Hz]; by default chosen from the data.')] = None
    decimation_cutoff: Annotated[float | None, typer.Option(
        help='Cut-off of the parallel decimation [Hz]; by default chosen from the data.')] = None
    method: Annotated[str, typer.Option(
        help='How velocities are computed: butterworth, smoothing, fourier or '
             'spectral.')] = 'butterworth'
    period: Annotated[float | None, typer.Option(
        help='Period of the motion [s]; by default estimated from the data.')] = None
    harmonics: Annotated[int | None, typer.Option(
        min=1, metavar='N',
        help='Number of harmonics of 1/period that the methods fourier and spectral keep; by '
             'default all below the cut-off.')] = None
    basis: Annotated[str | None, typer.Option(
        help='Series of the method fourier: ffs (finite Fourier series, the default) or mfs '
             '(Fourier series plus a quintic polynomial).')] = None
    smoothing_passes: Annotated[int | None, typer.Option(
        min=1, metavar='N',
        help='Number of passes of the five-point cubic filter of the method smoothing; by '
             'default derived from the cut-off.')] = None

    @property
    def thresholds(self) -> Thresholds:
        """Largest relative torque errors that pass the verdict."""
        from robot_identification.validation import Thresholds

        given = {'overall': self.overall, 'joint': self.joint}
        return Thresholds(strict=self.strict, **{
            name: value for name, value in given.items() if value is not None})

    def to_options(self) -> dict[str, Any]:
        """
        Return the fields of `signals.ProcessingOptions` by name.

        Raises
        ------
        ConfigurationError
            An option is given that the chosen method does not use.

        """
        from robot_identification.signals.differentiation import METHODS

        if any(value is not None for value in (self.harmonics, self.basis, self.smoothing_passes)):
            load_extensions()    # with further methods
        periodic = tuple(name for name, method in METHODS.items() if method.needs_period)
        for name, methods in (('harmonics', periodic), ('basis', ('fourier',)),
                              ('smoothing_passes', ('smoothing',))):
            if getattr(self, name) is not None and self.method not in methods:
                raise ConfigurationError(
                    f"--{name.replace('_', '-')} is used by the method {' and '.join(methods)}, "
                    f"not by '{self.method}'; add --method {methods[0]}")
        return {name: value for name, value in vars(self).items()
                if value is not None and name not in ('overall', 'joint', 'strict')}
