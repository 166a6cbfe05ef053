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
"""The managed nodes create their ROS entities when configured and destroy them at cleanup."""

import shutil

from conftest import Execution, PATIENT, ros, System
import pytest

OWN_TOPICS = {'/parameter_events', '/rosout', '/diagnostics', '/clock',
              '/excitation/transition_event'}


@pytest.fixture(scope='module')
def system(tmp_path_factory, excitations, own_domain):
    ros()
    folder = tmp_path_factory.mktemp('lifecycle')
    for file in excitations.iterdir():
        shutil.copy(file, folder)
    system = System(folder)
    system.start('simulated_robot', robot='panda', rate=250.0)
    system.start('excitation', robot='panda', approach_speed=1.0, transport='topic', **PATIENT)
    yield system
    codes = system.close()
    assert codes == dict.fromkeys(codes, 0), codes


def entities(system):
    """Return the topics, services and clients of the excitation node beyond its permanent ones."""
    graph, node = system.client, ('excitation', '/')
    topics = {name for query in (graph.get_publisher_names_and_types_by_node,
                                 graph.get_subscriber_names_and_types_by_node)
              for name, _ in query(*node)}
    services = {name for name, kinds in graph.get_service_names_and_types_by_node(*node)
                if name in ('/excitation/stop', '/excitation/_action/execute/_action/send_goal')
                or kinds == ['std_srvs/srv/Trigger']}
    clients = {name for name, _ in graph.get_client_names_and_types_by_node(*node)}
    return topics - OWN_TOPICS | services | clients


def test_entities_exist_while_the_node_is_configured(system, speeds):
    system.wait(lambda: 'ros2 lifecycle set /excitation configure, then ' in
                system.log('excitation'))
    assert not entities(system)
    configured = set()
    for _ in range(3):
        system.change('excitation', 'configure')
        system.wait(lambda: '/joint_trajectory_controller/get_parameters' in entities(system)
                    and '/excitation/stop' in entities(system))
        before, configured = configured, entities(system)
        assert before <= configured
        system.change('excitation', 'cleanup')
        system.wait(lambda: not entities(system))
    assert 'unexpected' not in system.log('excitation')


def test_a_node_that_was_cleaned_up_moves_again(system, speeds):
    system.change('excitation', 'configure', 'activate')
    system.actions.clear()
    execution = Execution(system, excitation='a.yaml')
    execution.reach(1)
    speeds.wait_for_speed()
    system.change('excitation', 'deactivate')
    refused = system.try_change('excitation', 'cleanup')     # the arm still brakes
    assert execution.result().reason == 'deactivated'
    speeds.wait_for_rest()
    if not refused:
        assert 'the arm has not stopped yet' in system.log('excitation')
        system.change('excitation', 'cleanup')
    system.wait(lambda: not entities(system))
    assert 'unexpected' not in system.log('excitation')


def test_shutdown_destroys_the_entities(system):
    system.change('excitation', 'configure', 'activate')
    system.wait(lambda: entities(system))
    system.change('excitation', 'active_shutdown')
    system.wait(lambda: not entities(system))
