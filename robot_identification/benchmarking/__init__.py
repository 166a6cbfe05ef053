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
"""
Benchmark of identification methods on simulated arms with known truth and on real recordings.

Methods are estimators; data sets and metrics are found by name in `DATA` and `METRICS`, or by
their place ('my_file.py:Mine').
"""

from robot_identification.benchmarking.data import (
           BenchmarkCase,
           BenchmarkData,
           DATA,
           METRICS,
           TorquePrediction,
)
import robot_identification.benchmarking.simulated_data  # noqa: F401

__all__ = ['BenchmarkCase', 'BenchmarkData', 'DATA', 'METRICS', 'TorquePrediction']
