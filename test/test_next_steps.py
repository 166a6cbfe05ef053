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
"""Next steps: one for each kind of verdict, with the command."""

from __future__ import annotations

from closed_recordings import closed_recording
import pytest
from robot_identification import identify, load_arm
from robot_identification.reporting import results_to_dict
from robot_identification.reporting.terminal_summary import summary
from robot_identification.validation import Thresholds
from robot_identification.validation.verdict import suggest_next_steps

ARM = load_arm('two_link')


@pytest.mark.parametrize('held_out, thresholds, status, said', [
    ([1], Thresholds(), 'passed', 'robot-identification export'),
    ([], Thresholds(), 'not validated', 'robot-identification validate'),
    ([0], Thresholds(), 'not validated', 'robot-identification excite two_link.yaml'),
    ([1], Thresholds(overall=1e-6, joint=1e-6, rated=1e-9), 'failed', '--estimator auto')])
def test_steps_follow_from_the_verdict(held_out, thresholds, status, said):
    result = identify(ARM, [closed_recording(ARM, 0)], thresholds=thresholds,
                      held_out=[closed_recording(ARM, seed) for seed in held_out])
    assert result.verdict.status == status
    steps = suggest_next_steps(result.arm, result.verdict)
    assert any(said in step for step in steps), steps
    assert results_to_dict(result)['next_steps'] == list(steps)
    assert results_to_dict(result)['verdict']['status'] == status
    word = {'passed': 'PASS', 'failed': 'FAIL', 'not validated': 'NOT VALIDATED'}[status]
    assert word in str(summary(result).renderables[0])
