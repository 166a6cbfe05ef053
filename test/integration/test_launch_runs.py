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
Launch files start their nodes, and SIGINT ends the nodes cleanly.

ROBOT_IDENTIFICATION_LAUNCH_FILES='ur fr3' runs the files of these robots as well.
"""

import os

from conftest import ros, System
from launches import ended_cleanly, launched, needs_launch, NODES
import pytest
from robot_identification.files import shared_folder

pytestmark = needs_launch


@pytest.mark.parametrize(('files', 'given', 'nodes'), [
    (('identify',), ('robot:=two_link', 'sim:=mujoco', 'state_publisher:=false', 'online:=true'),
     NODES),
    *(((name,), ('sim:=mujoco', 'state_publisher:=false'),
       [node for node in NODES if node != 'online_identification'])
      for name in os.environ.get('ROBOT_IDENTIFICATION_LAUNCH_FILES', '').split()),
    (('excite', 'record', 'validate', 'online'), ('robot:=ur5e',),
     ('excitation', 'recorder', 'validation', 'online_identification'))])
def test_up_and_down(tmp_path, files, given, nodes):
    ros()
    system = System(tmp_path)
    paths = [shared_folder('launch') / f'{name}.launch.py' for name in files]
    try:
        with launched(tmp_path, paths, *given, f'data_directory:={tmp_path}/data') as process:
            system.wait(lambda: set(nodes) <= set(system.client.get_node_names())
                        or process.poll() is not None, 60)
    finally:
        system.close()
    assert ended_cleanly(tmp_path) == len(nodes)
