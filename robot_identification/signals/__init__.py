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
"""Processing of recorded signals: resampling, filters, differentiation, decimation."""

from robot_identification.signals.averaging import average_periods
from robot_identification.signals.cutoff import decimation_cutoff
from robot_identification.signals.differentiation import DifferentiationOptions
from robot_identification.signals.filters import zero_phase_lowpass
from robot_identification.signals.process import process, process_pieces, ProcessingOptions
from robot_identification.signals.resampling import resample
from robot_identification.signals.samples import delayed, Samples

__all__ = ['DifferentiationOptions', 'ProcessingOptions', 'Samples', 'average_periods',
           'decimation_cutoff', 'delayed', 'process', 'process_pieces', 'resample',
           'zero_phase_lowpass']
