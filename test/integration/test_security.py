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
Nodes only use the topics, services and actions that the SROS2 policy allows.

ROBOT_IDENTIFICATION_WRITE_POLICY=1 adds names that were seen but are missing in the policy.
"""

from collections import defaultdict
import os
import shutil
import signal
from xml.etree import ElementTree

from conftest import Execution, PATIENT, ros, System
import pytest
from random_requests import folder_of_a_laboratory
from robot_identification.files import shared_folder

POLICY = shared_folder('config') / 'sros2_policy.xml'
NODES = {'simulated_robot': ('simulated_robot', 'joint_trajectory_controller'),
         'excitation': ('excitation', 'excitation_dead_man'),
         **{name: (name,) for name in ('recorder', 'identification', 'validation',
                                       'online_identification', 'external_torque',
                                       'feedforward')}}
KINDS = {'topics': ('publish', 'subscribe'), 'services': ('reply', 'request'),
         'actions': ('execute', 'call')}


def allowed():
    """Return the names that the policy allows, by node and permission."""
    found = defaultdict(set)
    for enclave in ElementTree.parse(POLICY).getroot().iter('enclave'):
        for profile in enclave.iter('profile'):
            assert enclave.get('path') == f'/robot_identification/{process(profile.get("node"))}'
            assert profile.get('ns') == '/'
            for kind, rights in KINDS.items():
                for group in profile.iter(kind):
                    (right,) = group.attrib
                    assert right in rights and group.get(right) == 'ALLOW'
                    found[profile.get('node'), kind, right] |= {item.text for item in group}
    return found


def process(node):
    """Return the command that runs a node's process."""
    return next(name for name, nodes in NODES.items() if node in nodes)


def seen(client, node):
    """Return the names that a node uses at present, by permission."""
    from rclpy import action
    graph = {
        ('topics', 'publish'): client.get_publisher_names_and_types_by_node,
        ('topics', 'subscribe'): client.get_subscriber_names_and_types_by_node,
        ('services', 'reply'): client.get_service_names_and_types_by_node,
        ('services', 'request'): client.get_client_names_and_types_by_node,
        ('actions', 'execute'): lambda *at: action.get_action_server_names_and_types_by_node(
            client, *at),
        ('actions', 'call'): lambda *at: action.get_action_client_names_and_types_by_node(
            client, *at)}
    return {(node, *right): {name for name, _ in ask(node, '/') if '/_action/' not in name}
            for right, ask in graph.items()}


class Watched(System):
    """Accumulates the names that the nodes use."""

    def __init__(self, data):
        super().__init__(data)
        self.found = defaultdict(set)

    def look(self):
        there = set(self.client.get_node_names())
        for nodes in NODES.values():
            for node in there.intersection(nodes):
                try:
                    found = seen(self.client, node)
                except self.rclpy.node.NodeNameNonExistentError:
                    continue    # the node has just ended
                for right, names in found.items():
                    self.found[right] |= names


@pytest.fixture
def system(tmp_path, excitations):
    ros()
    folder_of_a_laboratory(tmp_path)
    shutil.copy(excitations / 'b.yaml', tmp_path)
    system = Watched(tmp_path)
    yield system
    codes = system.close()
    assert codes == dict.fromkeys(codes, 0), codes


def test_the_policy_allows_what_nodes_do(system, tmp_path):
    arm = {'robot': 'panda'}
    given = {'simulated_robot': {**arm, 'rate': 250.0}, 'recorder': arm, 'identification': arm,
             'excitation': {**arm, 'autostart': True, 'approach_speed': 1.0, **PATIENT},
             'online_identification': arm, 'validation': {'model': 'model.yaml'},
             'external_torque': {'model': 'model.yaml', 'reference': 'run.csv'},
             'feedforward': {'model': 'model.yaml', 'mode': 'trajectory'}}
    assert set(given) == set(NODES)
    for node, parameters in given.items():
        system.launch(node, **parameters)
    wanted = {node for nodes in NODES.values() for node in nodes}
    system.wait(lambda: wanted <= set(system.client.get_node_names()), 240)
    execution = Execution(system, excitation='b.yaml', recording='new')

    def over():
        system.look()
        return execution.future.done()
    system.wait(over, 240)
    result = execution.result()
    assert result.recording, result.message
    assert system.kill('feedforward', signal.SIGINT) == 0
    system.start('feedforward', model='model.yaml', mode='compensation')
    system.settle(1.0)
    system.look()
    if 'ROBOT_IDENTIFICATION_WRITE_POLICY' in os.environ:
        write(system.found)
    policy = allowed()
    assert {node for node, *_ in policy} == wanted
    for right, names in system.found.items():
        assert names <= policy[right], right


def write(found):
    """Write the policy with its present names and those that were seen."""
    policy = allowed() if POLICY.exists() else defaultdict(set)
    for right, names in found.items():
        policy[right] |= names
    root = ElementTree.Element('policy', version='0.2.0')
    enclaves = ElementTree.SubElement(root, 'enclaves')
    for program, nodes in NODES.items():
        enclave = ElementTree.SubElement(enclaves, 'enclave',
                                         path=f'/robot_identification/{program}')
        profiles = ElementTree.SubElement(enclave, 'profiles')
        for node in nodes:
            profile = ElementTree.SubElement(profiles, 'profile', ns='/', node=node)
            for kind, rights in KINDS.items():
                for right in rights:
                    names = sorted(policy[node, kind, right])
                    if not names:
                        continue
                    group = ElementTree.SubElement(profile, kind, {right: 'ALLOW'})
                    for name in names:
                        ElementTree.SubElement(group, kind[:-1]).text = name
    ElementTree.indent(root)
    POLICY.write_text('<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding='unicode')
                      + '\n', encoding='utf-8')


def test_the_dead_man_is_in_the_enclave_of_its_node(tmp_path):
    ros()
    system, enclave = System(tmp_path), '/robot_identification/excitation'
    try:
        system.launch('excitation', enclave=enclave, robot='panda', autostart=True)
        system.wait(lambda: {name for name, _, place in
                             system.client.get_node_names_and_namespaces_with_enclaves()
                             if place == enclave} == set(NODES['excitation']), 240)
    finally:
        assert system.close() == {'excitation': 0}
