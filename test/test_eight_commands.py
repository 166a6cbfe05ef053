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
"""A UR from its vendor's xacro to a verdict, with the commands of docs/universal_robots.md."""

from pathlib import Path
import shlex
import struct

from click.testing import CliRunner
import numpy as np
import pytest
from robot_identification import load_arm, load_model
from robot_identification.cli.commands import app

PAGE = Path(__file__).parents[1] / 'docs' / 'universal_robots.md'
XACRO = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
LINKS = (    # joint, origin, axis about y, link: mass, centre of mass, length of its body
    ('shoulder_pan', '0 0 0.1625', '0 0 1', 3.761, (0.0, 0.0, 0.0), 0.12),
    ('shoulder_lift', '0 0.138 0', '0 1 0', 8.058, (0.0, 0.0, 0.2125), 0.3),
    ('elbow', '0 -0.131 0.425', '0 1 0', 2.846, (0.0, 0.0, 0.196), 0.28),
    ('wrist_1', '0 0 0.392', '0 1 0', 1.37, (0.0, 0.11, 0.0), 0.08),
    ('wrist_2', '0 0.127 0', '0 0 1', 1.3, (0.0, 0.0, 0.09), 0.08),
    ('wrist_3', '0 0 0.1', '0 1 0', 0.365, (0.0, 0.07, 0.0), 0.05))


def commands():
    """Return the commands in the first code block of the page."""
    block = PAGE.read_text().split('```bash\n', 1)[1].split('```', 1)[0]
    lines = block.replace('\\\n', ' ').splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.strip()]


def box_mesh(path, edge, length):
    """Write a box as a binary STL, like vendors' collision meshes."""
    corners = np.array([[x, y, z] for x in (-edge, edge) for y in (-edge, edge)
                        for z in (-length / 2, length / 2)])
    faces = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
             (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]
    triangles = b''.join(struct.pack('<12fH', 0, 0, 0, *corners[list(face)].ravel(), 0)
                         for face in faces)
    path.write_bytes(bytes(80) + struct.pack('<I', len(faces)) + triangles)


def one_link(joint, mass, centre, length):
    where = ' '.join(map(str, centre))
    inertia = mass * (length**2 + 0.1**2) / 12
    mesh = f'package://ur_description/meshes/$(arg ur_type)/{joint}.stl'
    return (f'<link name="{joint}_link"><collision><origin xyz="{where}"/><geometry>'
            f'<mesh filename="{mesh}"/></geometry></collision><inertial>'
            f'<origin xyz="{where}"/><mass value="{mass}"/><inertia ixx="{inertia}" '
            f'iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial></link>')


def description(folder):
    """Imitate a vendor's description package: included files, numbers in YAML, an argument."""
    for name in ('urdf', 'config/ur5e', 'meshes/ur5e'):
        (folder / name).mkdir(parents=True)
    (folder / 'package.xml').write_text('<package><name>ur_description</name></package>')
    limits = {joint: {'effort': 150.0 if k < 3 else 28.0, 'turn': 360 if k != 2 else 180}
              for k, (joint, *_) in enumerate(LINKS)}
    (folder / 'config/ur5e/joint_limits.yaml').write_text(''.join(
        f'{joint}: {{max_effort: {row["effort"]}, max_position: !degrees {row["turn"]}, '
        f'max_velocity: !degrees 180}}\n' for joint, row in limits.items()))
    parts, parent = ['<link name="base_link"/>'], 'base_link'
    for joint, origin, axis, mass, centre, length in LINKS:
        box_mesh(folder / 'meshes/ur5e' / f'{joint}.stl', 0.045, length)
        parts += [one_link(joint, mass, centre, length),
                  f'<joint name="${{tf_prefix}}{joint}_joint" type="revolute">'
                  f'<parent link="{parent}"/><child link="{joint}_link"/>'
                  f'<origin xyz="{origin}"/><axis xyz="{axis}"/>'
                  f"<limit lower=\"${{-limits['{joint}']['max_position']}}\" "
                  f"upper=\"${{limits['{joint}']['max_position']}}\" "
                  f"velocity=\"${{limits['{joint}']['max_velocity']}}\" "
                  f"effort=\"${{limits['{joint}']['max_effort']}}\"/></joint>"]
        parent = f'{joint}_link'
    parts.append('<link name="tool0"/><joint name="flange" type="fixed">'
                 f'<parent link="{parent}"/><child link="tool0"/></joint>')
    (folder / 'urdf/ur_macro.xacro').write_text(
        f'<robot {XACRO}><xacro:macro name="ur_robot" params="tf_prefix limits_file">'
        '<xacro:property name="limits" value="${xacro.load_yaml(limits_file)}"/>'
        f'{"".join(parts)}</xacro:macro></robot>')
    (folder / 'urdf/ur.urdf.xacro').write_text(
        f'<robot name="$(arg name)" {XACRO}><xacro:arg name="name" default="ur"/>'
        '<xacro:arg name="ur_type" default="ur3"/><xacro:arg name="tf_prefix" default=""/>'
        '<xacro:include filename="$(find ur_description)/urdf/ur_macro.xacro"/>'
        '<xacro:ur_robot tf_prefix="$(arg tf_prefix)" limits_file='
        '"$(find ur_description)/config/$(arg ur_type)/joint_limits.yaml"/></robot>')


@pytest.mark.slow
def test_at_most_eight_commands_and_no_editor(tmp_path, monkeypatch):
    pytest.importorskip('xacro')
    walk = commands()
    clone, install, *ours = walk
    assert len(walk) <= 8 and clone[:2] == ['git', 'clone'] and install[:2] == ['pip', 'install']
    assert {words[0] for words in ours} == {'robot-identification'}
    monkeypatch.chdir(tmp_path)
    description(tmp_path / clone[-1])
    for words in ours:
        if words[1] == 'excite':    # the design ends at a value of the criterion
            words += ['--good-enough', '20', '--duration', '10']
        done = CliRunner().invoke(app, words[1:])
        assert done.exit_code == 0, f'{words}: {done.exception}\n{done.output}'
    arm = load_arm('ur5e.yaml')
    assert arm.n == 6 and np.degrees(arm.limits.upper[2]) == pytest.approx(180)
    assert load_model('result/model.yaml').arm.joint_names == arm.joint_names
    assert 'PASS' in (tmp_path / 'result' / 'report.html').read_text()
