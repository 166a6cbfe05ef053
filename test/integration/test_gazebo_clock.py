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
"""An arm that behaves as in Gazebo: racing stamps, half the speed of real time, a pause."""

from __future__ import annotations

import shutil
import time

from conftest import Execution, ros, System
import numpy as np
from robot_identification import identify, load_arm
from robot_identification.recording import load_recording

EXCITATION = 3


def test_an_identification_as_in_gazebo(tmp_path, excitations):
    """The motion waits during the pause, stamps are moved, and the model is that of the URDF."""
    ros()
    for file in excitations.iterdir():
        shutil.copy(file, tmp_path)
    system = System(tmp_path)
    system.start('simulated_robot', robot='panda', rate=500.0, speed=0.5, physics='gazebo',
                 fault__racing=2.0)
    system.start('recorder', robot='panda', use_sim_time=False)
    system.start('excitation', robot='panda', autostart=True, approach_speed=1.0,
                 brake__horizon=2.5)
    try:
        for motion in ('a', 'b'):
            execution = Execution(system, excitation=f'{motion}.yaml', recording=f'run_{motion}')
            if motion == 'a':
                execution.reach(EXCITATION)
                system.fault(pause=True)
                before = time.monotonic()
                system.settle(4.0)    # longer than watch.stale and brake.horizon
                assert not execution.future.done() and time.monotonic() > before + 3.9
                system.fault(pause=False)
            result = execution.result()
            assert result.success and result.reason == 'finished', result.message
    finally:
        codes = system.close()
    assert codes == dict.fromkeys(codes, 0), codes
    arm = load_arm('panda')
    runs = [load_recording(tmp_path / f'run_{motion}', arm) for motion in ('a', 'b')]
    for run in runs:
        assert any('stamps repeat the one before with other values' in text
                   for text in run.remarks)
        assert run.duplicates == 0 and not run.gaps
        assert np.isclose(np.median(np.diff(run.t)), 0.002)
    verdict = identify(arm, runs[:1], held_out=runs[1:]).verdict
    assert verdict.status == 'passed', [*verdict.reasons, *verdict.doubts]
    assert verdict.held_out[0].relative_error < 0.03
