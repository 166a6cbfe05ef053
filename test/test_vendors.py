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
"""Robots whose URDF is in a package of the vendor, and arms that publish their URDF."""

from __future__ import annotations

from pathlib import Path
import re

import pytest
from robot_identification.arm import load_arm, robot_files
from robot_identification.errors import ArmError, ConfigurationError
from robot_identification.files import shared_folder
import yaml

VENDORS = {name: package[1] for name, path in robot_files().items()
           if (package := re.search('^urdf: package://([^/]*)', path.read_text(), re.MULTILINE))}
EFFORT = {'kinova_gen3': ('torque', -1), 'kuka_iiwa7': ('torque', 1), 'kuka_iiwa14': ('torque', 1),
          'xarm6': ('torque', 1), 'doosan_m1013': None, 'abb_irb1200': None, 'fanuc_crx10ia': None}
PAGE = (Path(__file__).parents[1] / 'docs' / 'drivers.md').read_text(encoding='utf-8')


def serial(joints):
    """Return a URDF of a chain with given joints, which replaces that of the vendor."""
    body = ('<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" '
            'ixz="0" iyz="0"/></inertial>')
    links = ''.join(f'<link name="link_{k}">{body}</link>' for k in range(1, len(joints) + 1))
    text = ''.join(
        f'<joint name="{name}" type="revolute"><parent link="link_{k}"/><child link="link_{k + 1}"'
        f'/><origin xyz="0 0.1 0.2"/><axis xyz="{k % 2} 0 {1 - k % 2}"/><limit lower="-3" '
        f'upper="3" effort="50" velocity="2"/></joint>' for k, name in enumerate(joints))
    return f'<robot name="r"><link name="link_0"/>{links}{text}</robot>'


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install replacements for the vendors' description packages."""
    for name in VENDORS:
        content = yaml.safe_load(robot_files()[name].read_text())
        file = tmp_path / 'share' / content['urdf'].removeprefix('package://')
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(serial(list(content['joints'])))
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))


@pytest.mark.parametrize('name', VENDORS)
def test_a_vendors_robot_is_one_yaml(name, installed):
    arm = load_arm(name)
    assert arm.name == name and arm.n in (6, 7)
    effort = None if arm.effort is None else (arm.effort.quantity, arm.effort.sign)
    assert effort == EFFORT[name]
    assert arm.driver.launch and arm.driver.rate >= 100
    (row,) = [line for line in PAGE.splitlines() if line.startswith('|') and f'`{name}`' in line]
    assert arm.driver.controller.removeprefix('{tf_prefix}') in row
    topic = arm.driver.joint_states.removeprefix('{tf_prefix}')
    assert f'`{topic}`, {arm.driver.rate:g} Hz' in row


def test_shipped_drivers_stand_on_the_page():
    for name, path in robot_files().items():
        content = yaml.safe_load(path.read_text())
        if 'driver' in content:
            assert re.search(rf'\| .*`{name}`', PAGE), name
    assert set(EFFORT) == set(VENDORS)


def test_a_package_that_is_not_there_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    with pytest.raises(ArmError, match="the ROS package 'kortex_description', which is neither"):
        load_arm('kinova_gen3')
    (tmp_path / 'share' / 'kortex_description').mkdir(parents=True)
    with pytest.raises(ArmError, match=r"has no 'robots/gen3\.xacro'; is it another version"):
        load_arm('kinova_gen3')


def test_an_arm_is_made_of_its_description(tmp_path):
    pytest.importorskip('rclpy', reason='ROS 2 is not installed')
    from robot_identification.ros.nodes.description import write_robot_yaml
    urdf = serial(['a', 'b', 'c', 'finger'])
    path = tmp_path / 'arm.yaml'
    effort = 'torque,joint,-1,gravity'
    assert write_robot_yaml(urdf, ('a', 'b', 'c'), path, effort, 2.0) == ('finger',)
    arm = load_arm(path)
    assert arm.joint_names == ('a', 'b', 'c') and arm.effort.sign == -1
    assert set(arm.limits.acceleration) == {2.0}
    # by name, like `init`
    assert write_robot_yaml(urdf, (), path, '', 2.0) == ('finger',)
    assert load_arm(path).effort is None
    controlled = ('a', 'b', 'c', 'finger')
    assert write_robot_yaml(urdf, controlled, path, '', 2.0) == ()
    for joints, acceleration, sentence in ((('x',), 1.0, 'joints x are not in the robot'),
                                           ((), 0.0, 'set acceleration:=')):
        with pytest.raises(ConfigurationError, match=sentence):
            write_robot_yaml(urdf, joints, path, '', acceleration)


def test_every_vendors_controllers_are_its_own():
    for name in VENDORS:    # no controller of this package is loaded there
        content = yaml.safe_load(robot_files()[name].read_text())
        assert not content['driver'].get('spawn', False)
        assert not (shared_folder('config') / f'{name}_controllers.yaml').exists()
