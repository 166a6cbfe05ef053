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
"""Options for processing recordings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike
from robot_identification.errors import ConfigurationError, UnknownNameError
from robot_identification.signals.differentiation import METHODS
from robot_identification.yaml_file import check_keys

_CHOICES = {'standstill': ('drop', 'zero', 'keep'), 'edges': ('cut', 'keep')}


@dataclass(frozen=True)
class ProcessingOptions:
    """
    Options of `process`; the defaults suit an identification.

    Parameters
    ----------
    method
        Name in `METHODS`: 'butterworth', 'smoothing', 'fourier' or 'spectral'.
    cutoff
        Cut-off of the position filter [Hz], one value or (n,); infinite for no filter. If None,
        it is chosen from the positions (`position_cutoff`).
    decimation_cutoff
        Cut-off of the parallel decimation [Hz]; infinite for no decimation. If None, it is chosen
        from the residual of a first model (`decimation_cutoff`).
    period
        Period of the motion [s]; detected from the positions if None.
    average
        Whether the mean over its periods replaces the recording.
    standstill
        Treatment of samples in which the whole arm rests, where friction is undetermined. 'drop',
        for a fit, removes them. 'zero', for a prediction at every sample, sets their v and a,
        which are noise, to zero. Both also set v and a of a joint to zero while it rests and
        others move. 'keep' changes nothing.
    edges
        Treatment of the samples at both ends of a run, which the filter distorts. 'cut', for a
        fit, removes them. 'keep', for a prediction at every sample, keeps them.
    stamps
        'auto', 'recorded' or 'uniform', see `resample`.
    smoothing_passes
        Number of passes of the method 'smoothing', see `DifferentiationOptions`.
    harmonics, basis
        Settings of the methods 'fourier' and 'spectral', see `DifferentiationOptions`.

    Examples
    --------
    >>> options = ProcessingOptions(cutoff=8.0, standstill='zero', edges='keep')

    """

    method: str = 'butterworth'
    cutoff: ArrayLike | None = None
    decimation_cutoff: float | None = None
    period: float | None = None
    average: bool = False
    standstill: str = 'drop'
    edges: str = 'cut'
    stamps: str = 'auto'
    smoothing_passes: int | None = None
    harmonics: int | None = None
    basis: str = 'ffs'

    def __post_init__(self) -> None:
        """Raise an error for an unknown method or choice."""
        METHODS.find(self.method)
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                raise UnknownNameError(f'choice of {name}', getattr(self, name), known)

    @classmethod
    def of(cls, **options: Any) -> ProcessingOptions:
        """
        Return the options with these values.

        Raises
        ------
        ConfigurationError
            An option does not exist.

        """
        check_keys(options, cls.__dataclass_fields__, 'processing', ConfigurationError)
        return cls(**options)

    @property
    def needs_period(self) -> bool:
        """Whether these options require a periodic motion."""
        return self.average or METHODS.find(self.method).needs_period
