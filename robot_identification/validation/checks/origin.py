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
"""Provenance of a model file: its digest and its training motion."""

from robot_identification.validation.checks.check import Check, CheckInput, Measurement, Role


def measure_origin(data: CheckInput) -> Measurement:
    """Check that the model names its training motion and has a digest."""
    if not data.model.information.get('training_motion'):
        return Measurement(
            0.0, 1.0, '-', 'the model file lacks its training motion, so it is unknown whether '
            'this recording is held out; identify again, or use a complete model file', alarm=True)
    if data.model.source and not data.model.digest_verified:
        return Measurement(
            0.0, 1.0, '-', 'the model file has no digest (older versions wrote none), so manual '
            'changes are not detected; identify again to add one')
    return Measurement(1.0, 1.0, '-', 'the model file names its training motion')


CHECK = Check(
    'origin of the model', 'Is the model file unchanged, and is its training motion known?',
    'the training motion must be present; a file whose digest does not match is not loaded',
    frozenset({Role.MODEL}), measure_origin)
