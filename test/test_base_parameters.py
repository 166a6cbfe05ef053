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
"""Base parameters: rank, matrix, names and identifiability."""

from __future__ import annotations

from excitation_arms import chain, tree
import numpy as np
import pytest
from robot_identification import Arm
from robot_identification.arm import load_arm
from robot_identification.dynamics import base_parameters, ModelStructure
from robot_identification.reporting.results_dict import find_identifiability
from scipy.linalg import qr
from simulation_arms import example, two_link

RANKS = {'panda': 43, 'xarm7': 43, 'ur5': 36, 'ur10': 36, 'z1': 36}


def structure_of(arm, friction='coulomb_viscous'):
    return ModelStructure.of(arm, friction)


@pytest.mark.parametrize('name', sorted(RANKS))
def test_inertial_rank(name):
    structure = structure_of(example(name))
    base = base_parameters(structure)
    assert np.sum(base.columns < structure.inertial_slice.stop) == RANKS[name]


@pytest.mark.parametrize('arm', [chain(), tree(), example('panda'), two_link()],
                         ids=['chain', 'tree', 'panda', 'two_link'])
def test_predict_as_standard_parameters_do(arm):
    structure = structure_of(arm)
    base = base_parameters(structure)
    rng = np.random.default_rng(5)
    columns = structure.columns(*rng.normal(size=(3, 40, arm.n)))
    standard = rng.normal(size=structure.count)
    torque = columns @ standard
    assert np.allclose(columns[:, :, base.columns] @ base.project(standard), torque,
                       atol=1e-9 * np.abs(torque).max())


def test_every_seed_chooses_the_same_columns():
    structure = structure_of(example('panda'))
    bases = [base_parameters(structure, seed=seed) for seed in range(5)]
    for base in bases[1:]:
        assert np.array_equal(base.columns, bases[0].columns)
        assert np.allclose(base.matrix, bases[0].matrix, atol=1e-10)


def test_planar_arm_by_hand():
    """Two parallel axes along gravity's normal: Izz1 + l^2 m2, mcx1 + l m2, and link 2's own."""
    link = ('<link name="{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
            'ixz="0" iyz="0"/></inertial></link>')
    joint = ('<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/>'
             '<origin xyz="{3} 0 0"/><axis xyz="0 0 1"/>'
             '<limit lower="-3" upper="3" velocity="1" effort="1"/></joint>')
    arm = Arm.from_urdf(
        '<robot name="planar"><link name="base"/>' + link.format('one') + link.format('two')
        + joint.format('j1', 'base', 'one', 0) + joint.format('j2', 'one', 'two', 0.5)
        + '</robot>',
        gravity=(0, -9.81, 0))
    base = base_parameters(structure_of(arm))
    words = dict(zip(base.structure.names, find_identifiability(base)))
    assert base.names[:6] == (
        'j1.mcx + 0.5*j2.m', 'j1.mcy', 'j1.Izz + 0.25*j2.m + j1.rotor_inertia', 'j2.mcx', 'j2.mcy',
        'j2.Izz')
    assert words['j1.mcy'] == words['j2.Izz'] == words['j2.coulomb'] == 'alone'
    assert words['j2.m'] == words['j1.rotor_inertia'] == 'combination'
    assert words['j1.m'] == words['j2.Ixx'] == 'none'
    assert base.names[6:] == (
        'j2.rotor_inertia', 'j1.coulomb', 'j1.viscous', 'j1.offset', 'j2.coulomb', 'j2.viscous',
        'j2.offset')


def test_a_vertical_slide_mixes_weight_and_offset():
    text = ('<robot name="lift"><link name="base"/><joint name="lift" type="prismatic">'
            '<parent link="base"/><child link="car"/><axis xyz="0 0 1"/>'
            '<limit lower="0" upper="1" velocity="1" effort="100"/></joint><link name="car">'
            '<inertial><mass value="5"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
            '</inertial></link></robot>')
    base = base_parameters(structure_of(Arm.from_urdf(text)))
    assert base.names == ('lift.m + 0.1019*lift.offset', 'lift.rotor_inertia - 0.1019*lift.offset',
                          'lift.coulomb', 'lift.viscous')


def test_columns_chosen_by_a_pivoted_qr_of_the_rows_predict_the_same_torques():
    """Gautier's decomposition of the recorded rows only names other parameters."""
    arm = load_arm('ur10e')
    structure = structure_of(arm)
    base = base_parameters(structure)
    rng = np.random.default_rng(3)
    q, v, a = rng.normal(size=(3, 90, arm.n))
    fitted, other = (columns.reshape(-1, structure.count)
                     for columns in np.split(structure.columns(q, v, a), 2))
    tau = rng.normal(size=len(fitted))    # no parameters explain it exactly
    size = np.maximum(np.linalg.norm(fitted, axis=0), 1e-12)
    chosen = qr(fitted / size, mode='r', pivoting=True)[1][:base.rank]
    assert set(chosen) != set(base.columns)
    ours, pivoted = (other[:, columns] @ np.linalg.lstsq(fitted[:, columns], tau)[0]
                     for columns in (base.columns, chosen))
    assert np.allclose(ours, pivoted, rtol=1e-7, atol=1e-7 * np.abs(ours).max())
