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
"""Checks of recordings and models for faults that leave the numbers looking plausible."""

from robot_identification.validation.checks.check import Check, CheckInput, Role
from robot_identification.validation.checks.run_checks import CHECKS, get_check, run_checks

__all__ = ['CHECKS', 'Check', 'CheckInput', 'Role', 'get_check', 'run_checks']
