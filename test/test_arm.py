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
"""Arms from URDF."""

from __future__ import annotations

from excitation_arms import chain
import numpy as np
import pinocchio as pin
import pytest
from robot_identification import Arm, load_arm
from robot_identification.arm import meshes, packages, robot_files
from robot_identification.arm.packages import example_folder
from robot_identification.errors import ArmError, ConfigurationError, UnknownNameError
from robot_identification.files import shared_folder
from simulation_arms import MIXED

PANDA = example_folder() / 'panda_description' / 'urdf' / 'panda.urdf'
FINGERS = ('panda_finger_joint1', 'panda_finger_joint2')


def test_panda_folds_hand_and_fingers():
    arm = Arm.from_urdf(PANDA, locked=FINGERS)
    whole = pin.buildModelFromUrdf(str(PANDA))
    assert arm.n == arm.model.nq == arm.model.nv == 7
    assert arm.joint_names == tuple(f'panda_joint{i}' for i in range(1, 8))
    total = sum(inertia.mass for inertia in whole.inertias)
    assert arm.inertial_parameters[:, 0].sum() == pytest.approx(total - whole.inertias[0].mass)
    assert np.all(np.isinf(arm.limits.acceleration))
    assert arm.limits.torque.tolist() == [87.0] * 4 + [12.0] * 3


@pytest.mark.parametrize('position', [{'elbow': 0.7, 'slide': 0.11},
                                      {'elbow': -1.1, 'slide': 0.0}])
def test_locking_is_the_same_as_not_moving(position):
    """Locking a joint leaves the torques of the other joints as if the joint were at rest."""
    text = chain(kind='prismatic').urdf.replace('"wrist"', '"slide"').replace(
        'lower="-1.5"', 'lower="-2.5"')
    free, locked = Arm.from_urdf(text), Arm.from_urdf(text, locked=position)
    assert locked.joint_names == ('shoulder',)
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, v, a = rng.normal(size=(3, 1))
        states = [np.zeros(3) for _ in range(3)]
        for state, value in zip(states, (q, v, a)):
            state[0] = value[0]
        states[0][1:] = [position[name] for name in free.joint_names[1:]]
        expected = pin.rnea(free.model, free.model.createData(), *states)[0]
        found = pin.rnea(locked.model, locked.model.createData(), q, v, a)[0]
        assert found == pytest.approx(expected, rel=1e-10)


def test_locked_by_name_stands_at_zero_or_at_the_nearest_limit():
    text = chain().urdf.replace('lower="-1.5"', 'lower="0.25"', 1)
    assert Arm.from_urdf(text, locked=['shoulder']).locked == {'shoulder': 0.25}
    assert Arm.from_urdf(text, locked=['elbow']).locked == {'elbow': 0.0}


def test_continuous_and_prismatic_joints():
    arm = Arm.from_urdf(MIXED)
    assert arm.model.nq == arm.n == 3
    turn, slide = arm.joint_names.index('turn'), arm.joint_names.index('slide')
    assert np.isinf(arm.limits.upper[turn])
    assert np.isneginf(arm.limits.lower[turn])
    assert arm.prismatic.tolist() == [i == slide for i in range(3)]


def test_gravity_turns_with_the_mount():
    down, side = chain(), Arm.from_urdf(chain().urdf, gravity=(9.81, 0, 0))
    q = np.array([0.3, 0.2, 0.1])
    zero = np.zeros(3)
    for arm, gravity in ((down, [0, 0, -9.81]), (side, [9.81, 0, 0])):
        model = pin.buildModelFromXML(arm.urdf)
        model.gravity.linear = np.array(gravity)
        expected = pin.rnea(model, model.createData(), q, zero, zero)
        assert np.allclose(pin.rnea(arm.model, arm.model.createData(), q, zero, zero), expected)
    assert not np.allclose(down.gravity, side.gravity)


@pytest.mark.parametrize(('change', 'words'), [
    (lambda text: text[:-10], 'not well-formed XML'),
    (lambda text: '<model/>', 'not <robot>'),
    (lambda text: text.replace('name="wrist"', 'name="elbow"'), "two joints named 'elbow'"),
    (lambda text: text.replace('child link="three"', 'child link="four"'),
     "'four', which does not"),
    (lambda text: text.replace('type="revolute"', 'type="floating"', 1), "of type 'floating'"),
    (lambda text: text.replace('type="revolute"', 'type="fixed"'), 'no joint that moves'),
    (lambda text: text.replace('upper="2.0"', 'upper="-2.0"', 1), 'is not below the upper'),
    (lambda text: text.replace(
        '<limit lower="-1.5" upper="2.0" velocity="2.0" effort="50"/>', '', 1),
     'has no <limit>'),
    (lambda text: text.replace('velocity="2.0"', 'velocity="-2.0"', 1),
     'velocity limit -2.0 must not be negative'),
    (lambda text: text.replace('</joint>', '<mimic joint="elbow"/></joint>', 1),
     "mimics 'elbow'"),
    (lambda text: text.replace(
        '<robot', '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"').replace(
        '</robot>', '<xacro:arm/></robot>'), 'xacro that is not expanded'),
])
def test_urdfs_that_cannot_be_used_are_refused_with_a_sentence(change, words):
    with pytest.raises(ArmError, match=words):
        Arm.from_urdf(change(chain().urdf))


def test_mimic_joints_are_refused_unless_locked():
    with pytest.raises(
            ArmError, match=r"'panda_finger_joint2' mimics 'panda_finger_joint1'.*lock it"):
        Arm.from_urdf(PANDA)
    assert Arm.from_urdf(PANDA, locked=FINGERS[1:]).n == 8


def test_wrong_names_and_files():
    with pytest.raises(
            ArmError, match="no joint 'ellbow' to lock; it has: shoulder, elbow, wrist"):
        Arm.from_urdf(chain().urdf, locked=['ellbow'])
    with pytest.raises(ArmError, match='its limits are'):
        Arm.from_urdf(chain().urdf, locked={'elbow': 3.0})
    with pytest.raises(ArmError, match=r"there is no URDF 'nowhere\.urdf'"):
        Arm.from_urdf('nowhere.urdf')
    with pytest.raises(UnknownNameError, match=r'choose from: .*panda'):
        load_arm('pandda')
    with pytest.raises(ConfigurationError, match='robot-identification init'):
        load_arm(PANDA)


@pytest.mark.parametrize('name', sorted(
    name for name, path in robot_files().items() if 'urdf: package://' not in path.read_text()))
def test_shipped_robots_load(name):
    arm = load_arm(name)
    assert arm.name == name
    assert arm.effort is not None
    for limit in ('velocity', 'acceleration', 'torque'):
        assert np.all(np.isfinite(getattr(arm.limits, limit)))


def test_the_shipped_panda_needs_no_other_package(monkeypatch):
    """Without example-robot-data, the shipped copy of the Panda has the same text and geometry."""
    installed = load_arm('panda')
    for module in (packages, meshes):
        monkeypatch.setattr(module, 'example_folder', lambda: None)
    shipped = load_arm('panda')
    assert shipped.urdf_file.is_relative_to(shared_folder('urdf'))
    assert shipped.urdf_sha256 == installed.urdf_sha256
    assert meshes.find_srdf(shipped).is_relative_to(shared_folder('urdf'))
    assert 'link7.stl' in meshes.with_mesh_paths(shipped)
    unplaced = Arm.from_urdf(shipped.urdf, locked=FINGERS)    # as from a model file
    assert str(shared_folder('urdf')) in meshes.with_mesh_paths(unplaced)
    with pytest.raises(ArmError, match=r"pip install 'robot_identification\[robots\]'"):
        load_arm('ur10')
