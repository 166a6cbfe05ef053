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
"""Signals: resampling, filters, differentiation, averaging, decimation."""

from robot_identification.signals.averaging import average_periods, detect_period, PeriodAverage
from robot_identification.signals.cutoff import position_cutoff, PositionCutoff
from robot_identification.signals.decimation import Decimator
from robot_identification.signals.differentiation import (
    DifferentiationOptions,
    METHODS,
    Motion,
)
from robot_identification.signals.effort_check import check_effort, EffortCheck
from robot_identification.signals.filters import (
    central_differences,
    smooth_five_point,
    zero_phase_lowpass,
)
from robot_identification.signals.fourier import differentiate_lines, fit_series, series_basis
from robot_identification.signals.model_content import decimation_cutoff, ModelContent
from robot_identification.signals.process import process
from robot_identification.signals.resampling import resample, Resampled, split_at_gaps
from robot_identification.signals.samples import Samples
from robot_identification.signals.shift import delayed, select
from robot_identification.signals.sliding_window import Instant, SlidingWindow

__all__ = [
    'METHODS', 'Decimator', 'DifferentiationOptions', 'EffortCheck', 'Instant', 'ModelContent',
    'Motion', 'PeriodAverage', 'PositionCutoff', 'Resampled', 'Samples', 'SlidingWindow',
    'average_periods', 'central_differences', 'check_effort', 'decimation_cutoff', 'delayed',
    'detect_period', 'differentiate_lines', 'fit_series', 'position_cutoff', 'process',
    'resample', 'select', 'series_basis', 'smooth_five_point', 'split_at_gaps',
    'zero_phase_lowpass',
]
