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
"""Collision geometry of the shipped arms: it exists, is large enough, and permits motion."""

from __future__ import annotations

from xml.etree import ElementTree

import coal
from contracts import arm_of, CONTRACTS
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.arm import load_arm
from robot_identification.arm.meshes import with_mesh_paths
from robot_identification.arm.packages import example_folder
from robot_identification.excitation import build_scene, check_certificate, design, Requirements

OWN = [name for name, contract in CONTRACTS.items() if contract.own_urdf]
FRAMES = {'tool0', 'fr3_link8'}      # links without bodies
BARE = {'two_link': {'base_link'}}   # a planar arm without a base body
NEVER = {('base_link', 'shoulder_lift_link'), ('elbow_link', 'wrist_2_link'),
         ('wrist_1_link', 'wrist_3_link')}    # by urdf/ur5e.srdf and urdf/ur10e.srdf
STEP = 0.005                         # between points on a mesh [m]

# where the origins of the meshes stand on the z axis of our links [m]: bodies at the end of an
# offset (d1, d4, d5, d6 of the tables) are moved with it, and the two tubes to where the e-Series
# has them (0.138 and 0.007 m along the lift axis on the UR5e, 0.176 and 0.039 m on the UR10e;
# the UR10's upper arm is measured from another plane)
UR = ('shoulder_pan', 'shoulder_lift', 'elbow', 'wrist_1', 'wrist_2', 'wrist_3')
HEIGHTS = {
    ('ur5e', 'ur5'): (0.1625, 0.138, 0.007, 0.1333 - 0.093, 0.0997 - 0.09465, 0.0996 - 0.0823),
    ('ur10e', 'ur10'): (0.1807, 0.229, 0.0425, 0.17415 - 0.1149, 0.11985 - 0.1157,
                        0.11655 - 0.0922),
}


def distance_inside(points, arm, link):
    """Return the depth of points, in the frame of a link, inside the best of its shapes [m]."""
    geometry = pin.buildGeomFromUrdfString(arm.model, arm.urdf, pin.GeometryType.COLLISION)
    found = []
    for item in geometry.geometryObjects:
        if arm.model.frames[item.parentFrame].name != link:
            continue
        local = (points - item.placement.translation) @ item.placement.rotation
        if isinstance(item.geometry, coal.Box):
            found.append((np.array(item.geometry.halfSide) - np.abs(local)).min(axis=1))
        else:
            assert isinstance(item.geometry, coal.Cylinder)
            found.append(np.minimum(
                item.geometry.radius - np.hypot(local[:, 0], local[:, 1]),
                item.geometry.halfLength - np.abs(local[:, 2])))
    return np.max(found, axis=0)


def surface(mesh):
    """Return points on the triangles of a mesh, corners included."""
    corners = np.array(mesh.vertices()) * 1.0
    points = [corners]
    for number in range(mesh.num_tris):
        triangle = mesh.tri_indices(number)
        a, b, c = (corners[triangle[k]] for k in range(3))
        n = int(np.ceil(max(np.linalg.norm(x) for x in (b - a, c - b, a - c)) / STEP))
        i, j = (grid.ravel() / n for grid in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
        inner = i + j <= 1
        points.append(a + np.outer(i[inner], b - a) + np.outer(j[inner], c - a))
    return np.concatenate(points)


def vendors(name):
    """Return the model of an arm in example-robot-data, and points on the meshes of its links."""
    if example_folder() is None:
        pytest.skip('example-robot-data is not installed')
    arm = load_arm(name)
    geometry = pin.buildGeomFromUrdfString(arm.model, with_mesh_paths(arm),
                                           pin.GeometryType.COLLISION)
    return arm.model, {arm.model.frames[item.parentFrame].name: surface(item.geometry)
                       for item in geometry.geometryObjects
                       if isinstance(item.geometry, coal.BVHModelBase)}


@pytest.mark.parametrize('name', OWN)
def test_every_link_has_collision_geometry(name):
    bare = {link.get('name') for link in ElementTree.fromstring(arm_of(name).urdf).findall('link')
            if link.find('collision') is None}
    assert bare - FRAMES == BARE.get(name, set())


@pytest.mark.parametrize('name', ['er16', 'er20_c10', 'qianjiang_i', 'two_link'])
def test_representative_arms_collide_with_what_is_drawn(name):
    for link in ElementTree.fromstring(arm_of(name).urdf).findall('link'):
        drawn, felt = ([ElementTree.tostring(part).split(b'>', 1)[1].rsplit(b'</', 1)[0]
                        for part in link.findall(kind)] for kind in ('visual', 'collision'))
        assert drawn == felt


@pytest.mark.parametrize(('name', 'excluded'), [
    ('ur5e', NEVER), ('ur10e', NEVER),
    ('fr3', {('fr3_link5', 'fr3_link7')}),
    ('er16', set()), ('er20_c10', set()), ('qianjiang_i', set()), ('two_link', set()),
])
def test_only_pairs_that_are_never_apart_or_never_meet_are_not_looked_at(name, excluded):
    scene = build_scene(arm_of(name), Requirements(clearance=0.01))
    assert {pair for pair, why in scene.excluded.items() if why != 'neighbours'} == excluded


@pytest.mark.parametrize(('name', 'other'), HEIGHTS)
def test_universal_robots_contain_the_meshes_of_the_series_before(name, other):
    # not the foot: it does not move, and on older ones it has a cable socket
    model, meshes = vendors(other)
    arm, rng = arm_of(name), np.random.default_rng(0)
    data, old = arm.model.createData(), model.createData()
    half_turn = pin.utils.rotate('z', np.pi)     # from the DH base frame to the vendor's base_link
    turned = []
    for q in rng.uniform(-3, 3, (5, 6)):
        pin.forwardKinematics(arm.model, data, q)
        pin.forwardKinematics(model, old, q)
        turned.append([data.oMi[k].rotation.T @ half_turn @ old.oMi[k].rotation
                       for k in range(1, 7)])
    np.testing.assert_allclose(np.array(turned) - turned[0], 0, atol=1e-6)   # the same axes
    for k, (link, height) in enumerate(zip(UR, HEIGHTS[name, other], strict=True)):
        frame = next(f.name for f in model.frames
                     if f.parentJoint == k + 1 and f.name in meshes)
        points = meshes[frame] @ turned[0][k].T + [0, 0, height]
        assert distance_inside(points, arm, f'{link}_link').min() > 0, link


def test_franka_research_3_contains_the_meshes_of_the_panda():
    _, meshes = vendors('panda')
    for number in range(8):
        deep = distance_inside(meshes[f'panda_link{number}'], arm_of('fr3'), f'fr3_link{number}')
        assert deep.min() > (-1e-4 if number == 0 else 0.002), number   # 0: the mounting surface


def test_an_arm_of_neighbours_only_has_no_clearance_to_claim():
    motion = design(arm_of('two_link'), starts=1)
    assert any('all links are neighbours' in note for note in motion.notes)
    assert 'clearance' not in {claim.quantity for claim in motion.certificate.claims}
    assert check_certificate(motion, arm_of('two_link')).holds
