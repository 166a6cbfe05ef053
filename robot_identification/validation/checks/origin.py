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
"""Provenance of the model file: its digest, and the motion that it was fitted to."""

from __future__ import annotations

from robot_identification.validation.checks.check import Check, CheckInput, Role
from robot_identification.validation.finding import Finding

_NAME = 'origin of the model'


def check_origin(data: CheckInput) -> Finding | None:
    """Check that the model names its training motion and has a digest."""
    model = data.model
    if not model.information.get('training_motion'):
        return Finding(
            _NAME, data.name, 0.0, 1.0, '-', True,
            'the model file lacks its training motion, so it is unknown whether this recording is '
            'held out; identify again, or use a complete model file')
    if model.source and not model.digest_verified:
        return Finding(
            _NAME, data.name, 0.0, 1.0, '-', False,
            'the model file has no digest (older versions wrote none), so changes by hand are not '
            'noticed; identify again to have one')
    return Finding(_NAME, data.name, 1.0, 1.0, '-', False,
                   'the model file names its training motion')


CHECK = Check(
    _NAME, 'Is the model file unchanged, and is its training motion known?',
    'the training motion must be present; a file whose digest does not match is not loaded',
    frozenset({Role.MODEL}), check_origin)
