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
"""Two arms in two namespaces, started by the launch file in the documentation."""

import dataclasses
from pathlib import Path
import re

from conftest import Execution, ros, System
from launches import ended_cleanly, launched, needs_launch
import numpy as np
import pytest
from robot_identification.arm import load_arm
from robot_identification.recording import load_recording
import yaml

pytestmark = needs_launch
DOCUMENT = Path(__file__).parents[2] / 'docs' / 'ros2_control.md'
NODES = ('simulated_robot', 'excitation', 'recorder', 'identification', 'validation')
# tolerances for a busy computer
PATIENT = {'/**/excitation': {'ros__parameters': {
    'watch': {'stale': 2.0}, 'brake': {'horizon': 3.0}, 'approach_speed': 1.0}},
    '/**/simulated_robot': {'ros__parameters': {'rate': 100.0}}}
BUSY = ('late', 'stale_joint_states', 'clock', 'tracking_error', 'not_at_rest')


@pytest.fixture
def cell(tmp_path):
    """Return the documentation's launch file, adapted to two Pandas."""
    text = re.search(r'## Several arms.*?```python\n(.*?)```', DOCUMENT.read_text(), re.S).group(1)
    changed = re.sub(r"\('(left|right)', '\w+'\)", r"('\1', 'panda')", text)
    assert changed != text
    file = tmp_path / 'cell.launch.py'
    file.write_text(changed)
    (tmp_path / 'nodes.yaml').write_text(yaml.safe_dump(PATIENT))
    return file


def test_two_arms_share_one_system(tmp_path, cell, excitations):
    ros()
    from lifecycle_msgs.msg import Transition
    from lifecycle_msgs.srv import ChangeState
    from sensor_msgs.msg import JointState
    system = System(tmp_path)
    wanted = {f'/{side}/{node}' for side in ('left', 'right') for node in NODES}
    (tmp_path / 'a.yaml').write_text((excitations / 'b.yaml').read_text())
    heard = {'left': [], 'right': []}

    def there():
        return {f'{space}/{name}' for name, space in
                system.client.get_node_names_and_namespaces()}
    try:
        with launched(tmp_path, [cell], f'data_directory:={tmp_path}', 'state_publisher:=false',
                      f'nodes_file:={tmp_path}/nodes.yaml') as process:
            system.wait(lambda: wanted <= there() or process.poll() is not None, 240)
            topics = {name for name, _ in system.client.get_topic_names_and_types()}
            assert not {name for name in topics if not name.startswith(('/left/', '/right/'))} - {
                '/diagnostics', '/clock', '/parameter_events', '/rosout'}
            for side, messages in heard.items():
                system.listen(JointState, f'/{side}/joint_states', messages.append, 1000)
            for side, transition in (('left', Transition.TRANSITION_CONFIGURE),
                                     ('left', Transition.TRANSITION_ACTIVATE),
                                     ('right', Transition.TRANSITION_CONFIGURE)):
                answer = system.call(ChangeState, f'/{side}/excitation/change_state',
                                     transition=Transition(id=transition))
                assert answer.success
            refused = Execution(system, name='/right/excitation/execute', excitation='a.yaml')
            assert refused.result().reason == 'not_active'
            assert '/right/excitation activate' in refused.result().message
            for attempt in range(8):
                moved = Execution(system, name='/left/excitation/execute', excitation='a.yaml',
                                  recording=f'run_{attempt}').result()
                assert moved.success or moved.reason in BUSY, moved.message
                if moved.recording:
                    break
                system.settle(2.0)
            assert moved.joint_names[0] == 'left_panda_joint1'
            if not moved.recording:
                pytest.skip(f'this computer is too busy for a motion: {moved.message}')
    finally:
        system.close()
    assert ended_cleanly(tmp_path) == len(wanted)
    for side, messages in heard.items():
        assert all(name.startswith(f'{side}_panda') for name in messages[0].name)
        travel = np.ptp([message.position for message in messages], axis=0).max()
        assert travel < 0.01 if side == 'right' else travel > 0.1
    arm = load_arm('panda')
    recording = load_recording(moved.recording, dataclasses.replace(arm, tf_prefix='left_'))
    assert recording.joint_names == arm.joint_names and recording.duration > 0.1
    assert 'left_panda_joint1' in load_recording(moved.recording, arm).remarks[0]
