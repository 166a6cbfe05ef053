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
"""Torque errors on held-out motion, overlap with the training motion, and the verdict."""

from robot_identification.validation.held_out import evaluate, HeldOut
from robot_identification.validation.metrics import Errors, errors, JointErrors, predict
from robot_identification.validation.verdict import Finding, make_verdict, Thresholds, Verdict

__all__ = ['Errors', 'Finding', 'HeldOut', 'JointErrors', 'Thresholds',
           'Verdict', 'errors', 'evaluate', 'make_verdict', 'predict']
