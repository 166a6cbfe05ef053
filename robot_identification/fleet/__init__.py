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
"""Identification of many robots, its table and page."""

from robot_identification.fleet.fleet_file import read_fleet
from robot_identification.fleet.results_folder import read_results
from robot_identification.fleet.run import run_fleet

__all__ = ['read_fleet', 'read_results', 'run_fleet']
