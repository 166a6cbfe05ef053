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
"""Whether the model file is the one that was written, and knows what it was fitted to."""

from __future__ import annotations

from robot_identification.validation import Finding
from robot_identification.validation.checks.case import Case
from robot_identification.validation.checks.check import Check, Role

NAME = 'origin of the model'


def find(case: Case) -> Finding | None:
    """Look for digest and training motion."""
    model = case.model
    if not model.information.get('training_motion'):
        return Finding(
            NAME, case.name, 0.0, 1.0, '-', True,
            'the model does not say to which motion it was fitted, so nobody can tell whether '
            'this recording is held out; identify again, or take a model file that was not '
            'stripped')
    if model.source and not model.sealed:
        return Finding(
            NAME, case.name, 0.0, 1.0, '-', False,
            'the model file has no digest (older versions wrote none), so nobody can tell whether '
            'it was changed by hand; identify again to have one')
    return Finding(NAME, case.name, 1.0, 1.0, '-', False,
                   'the model knows the motion that it was fitted to')


CHECK = Check(
    NAME, 'Is the model the one that was identified, and from which motion?',
    'the motion must be there; a file whose digest does not fit is not loaded at all',
    frozenset({Role.MODEL}), find)
