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

from typing import Annotated, Any

from robot_identification.errors import ConfigurationError
from robot_identification.registry import load_extensions
from robot_identification.signals.differentiation import METHODS
import typer

Overall = Annotated[float, typer.Option(
    help='Largest relative torque error over all joints that passes.')]
Joint = Annotated[float, typer.Option(
    help='Largest relative torque error of a joint that passes.')]
Cutoff = Annotated[float | None, typer.Option(
    help='Cut-off of the position filter [Hz]; chosen from the data by default.')]
Decimation = Annotated[float | None, typer.Option(
    help='Cut-off of the parallel decimation [Hz]; chosen from the data by default.')]
Method = Annotated[str, typer.Option(
    help='How velocities are computed: butterworth, smoothing, fourier or spectral.')]
Period = Annotated[float | None, typer.Option(
    help='Period of the motion [s]; estimated from the data by default.')]
Harmonics = Annotated[int | None, typer.Option(
    help='Harmonics of 1/period that the methods fourier and spectral keep; by default those '
         'below the cut-off.')]
Basis = Annotated[str | None, typer.Option(
    help='Series that the method fourier fits: ffs (default), or mfs (with a quintic).')]
Passes = Annotated[int | None, typer.Option(
    '--smoothing-passes', help='Passes of the method smoothing (five-point cubic); by default '
                               'from the cut-off.')]


def processing_options(
    cutoff: float | None, decimation_cutoff: float | None, method: str, period: float | None,
    harmonics: int | None, basis: str | None, smoothing_passes: int | None,
) -> dict[str, Any]:
    """
    Return the options of `signals.process` that the command line gives.

    Raises
    ------
    ConfigurationError
        An option that the method does not use, or a count below 1.

    """
    special = {'harmonics': harmonics, 'basis': basis, 'smoothing_passes': smoothing_passes}
    load_extensions()
    periodic = tuple(name for name, method in METHODS.items() if method.needs_period)
    users = {'harmonics': periodic, 'basis': ('fourier',),
             'smoothing_passes': ('smoothing',)}
    given = {name: value for name, value in special.items() if value is not None}
    for name, value in given.items():
        option, methods = f"--{name.replace('_', '-')}", users[name]
        if method not in methods:
            raise ConfigurationError(
                f"{option} is used by the method {' and '.join(methods)}, not by '{method}'; "
                f'add --method {methods[0]}')
        if isinstance(value, int) and value < 1:
            raise ConfigurationError(f'{option} must be 1 or more, not {value}')
    return {'cutoff': cutoff, 'decimation_cutoff': decimation_cutoff, 'method': method,
            'period': period, **given}
