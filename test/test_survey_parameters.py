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
"""The parameters of the survey: mass, centre of mass, and inertia about the centre of mass."""

import numpy as np
import pytest
from robot_identification.arm import load_arm
from robot_identification.papers.studies.study import Draw
from robot_identification.papers.studies.survey_methods import compare_methods, Platform
from robot_identification.papers.studies.survey_parameters import about_centre, about_joint
from slow import others_slow


def test_they_are_those_of_the_urdf_and_there_is_a_way_back():
    arm = load_arm('er20_c10')
    links = arm.inertial_parameters
    found = about_centre(links)
    for link, body in zip(found, arm.model.inertias[1:]):
        inertia = body.inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
        np.testing.assert_allclose(link, [body.mass, *body.lever, *inertia], atol=1e-12)
    np.testing.assert_allclose(about_joint(found), links, atol=1e-12)


def test_the_printed_inertia_of_joint_3_is_possible_about_the_centre_only():
    mass, centre, i_xx = 25.6083, np.array([0.0938, 0.1383, 0.1164]), 0.1706
    joint = about_joint(np.array([mass, *centre, i_xx, 0, 0.3493, 0, 0, 0.2363]))
    assert i_xx < mass * (centre[1] ** 2 + centre[2] ** 2) < joint[4]


def test_a_link_without_mass_has_its_centre_at_the_origin():
    found = about_centre(np.array([0.0, 1.0, 0, 0, 2, 0, 2, 0, 0, 2]))
    assert found == pytest.approx([0, 0, 0, 0, 2, 0, 2, 0, 0, 2])


@pytest.mark.parametrize('friction', others_slow(['coulomb_viscous', 'stribeck']))
def test_methods_without_ranges_find_the_torques_and_not_the_parameters(friction):
    t = 0.01 * np.arange(1000)
    w = 2 * np.pi / 10 * np.array([1, 2, 3, 4, 3, 5])
    start = np.array([0, 0, 0.3, 0, 0, 0])
    size = np.array([1.0, 0.5, 0.5, 0.8, 0.9, 1.0])
    angle = np.outer(t, w) + np.arange(6)
    second = np.outer(t, w[::-1])
    motion = (t, start + size * np.sin(angle) + 0.3 * np.sin(second),
              size * w * np.cos(angle) + 0.3 * w[::-1] * np.cos(second),
              -size * w ** 2 * np.sin(angle) - 0.3 * w[::-1] ** 2 * np.sin(second))
    platform = Platform.build(motion, 0, 0.0)
    free = 'pseudo-inverse' if friction == 'coulomb_viscous' else 'extended Kalman, ours'
    printed = ('extended Kalman',) * (friction == 'stribeck')
    found = compare_methods(platform, friction, 400, Draw(0, 0, 0, 0),
                            (free, *printed, 'particle filter'))
    assert found[free].clean.torque < 1e-3 < found['particle filter'].clean.torque
    assert found[free].clean.inertial > 1 > found['particle filter'].clean.inertial
    assert found[free].clean.linear < found[free].clean.inertial
    assert found[free].change > 0
    for method in printed:    # fails without noise, as in Table 6: v_s = 5.58 instead of 0.1
        assert found[method].clean.friction > 0.3 > 1000 * found[free].clean.friction
