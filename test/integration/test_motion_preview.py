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
"""Motions are previewed in RViz and MoveIt, also by an inactive node."""

import dataclasses
import importlib.util
import shutil

from conftest import Execution, latched, PATIENT, ros, System
from motions import excitation_of
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.arm import load_arm
from robot_identification.excitation import load_excitation, save_excitation, Workspace
from robot_identification.ros.execution import plan_motion
from robot_identification.ros.execution.trajectory_segment import full_trajectory

BOX = (1.0, -0.5, 0.0, 1.5, 0.5, 2.0)


def installed(package):
    return importlib.util.find_spec(package) is not None


needs_markers = pytest.mark.skipif(not installed('visualization_msgs'),
                                   reason='visualization_msgs is not installed')
needs_moveit = pytest.mark.skipif(not installed('moveit_msgs'),
                                  reason='moveit_msgs is not installed: it comes with MoveIt')


@pytest.fixture(scope='module')
def system(tmp_path_factory, excitations, own_domain):
    ros()
    folder = tmp_path_factory.mktemp('shown')
    shutil.copy(excitations / 'b.yaml', folder)
    motion = load_excitation(excitations / 'b.yaml')
    far = Workspace('panda_link8', (-2.0, -2.0, -2.0), (2.0, 2.0, 0.3))
    save_excitation(dataclasses.replace(motion, requirements=dataclasses.replace(
        motion.requirements, workspace=(far,))), folder / 'leaves.yaml')
    system = System(folder)
    system.start('simulated_robot', robot='panda', rate=250.0)
    system.start('excitation', robot='panda', approach_speed=1.0, **PATIENT)
    yield system
    codes = system.close()
    assert codes == dict.fromkeys(codes, 0), codes


def planned(arm, q, speed=1.0, **changed):
    """Return an excitation of the Panda and its plan from the position q."""
    motion = excitation_of('panda_5s_margin', arm)
    plan = plan_motion(arm, motion, q, speed=speed, periods=2)
    return dataclasses.replace(motion, requirements=dataclasses.replace(
        motion.requirements, **changed)), plan


def tool(arm, q):
    data = arm.model.createData()
    pin.framesForwardKinematics(arm.model, data, np.asarray(q))
    return data.oMf[arm.model.getFrameId('panda_hand_tcp')].translation


def points_of(marker):
    return np.array([[point.x, point.y, point.z] for point in marker.points])


@needs_markers
def test_markers_are_what_the_plan_does():
    ros()
    from robot_identification.ros.nodes.motion_preview import path_markers
    arm = dataclasses.replace(load_arm('panda'), tf_prefix='left_')
    q = (arm.limits.lower + arm.limits.upper) / 2
    open_ = Workspace('panda_link8', (-np.inf, -1.0, -0.5), (1.0, 1.0, np.inf))
    motion, plan = planned(arm, q, clearance=0.01, floor=-0.1, boxes=(BOX,), workspace=(open_,))
    array = path_markers(arm, plan, motion)
    assert array.markers[0].action == array.markers[0].DELETEALL
    assert {marker.header.frame_id for marker in array.markers} == {'left_panda_link0'}
    assert len({(marker.ns, marker.id) for marker in array.markers}) == len(array.markers)
    shown = {marker.ns: marker for marker in array.markers[1:]}
    assert set(shown) == {'approach', 'excitation', 'start', 'floor', 'boxes', 'workspace'}
    settled, run_in = (plan.start_of(phase) for phase in ('settle', 'run_in'))

    def at(t):
        return tool(arm, plan.evaluate(np.array([t]))[0][0])
    approach, path, start = (points_of(shown[name]) for name in
                             ('approach', 'excitation', 'start'))
    np.testing.assert_allclose(approach[0], tool(arm, q), atol=1e-12)
    np.testing.assert_allclose(approach[-1], at(settled), atol=1e-12)
    np.testing.assert_allclose(path[[0, -1]], [at(run_in), at(plan.duration)], atol=1e-12)
    near = np.linalg.norm(path - at(plan.start_of('excitation') + 0.37 * motion.period), axis=1)
    assert near.min() < 0.02            # the path contains the whole period
    assert np.linalg.norm(np.diff(path, axis=0), axis=1).max() < 0.05   # no gap before the run-out
    np.testing.assert_allclose(start[-1], at(settled), atol=1e-12)
    assert len(start) == arm.n + 2      # origins of base, joints and tool
    floor, box = shown['floor'], shown['boxes']
    assert floor.pose.position.z + floor.scale.z / 2 == pytest.approx(-0.1)
    assert floor.scale.x > 2 * np.abs(path).max()
    centre, size = box.pose.position, box.scale
    assert (centre.x, centre.y, centre.z) == (1.25, 0.0, 1.0)
    assert (size.x, size.y, size.z) == (0.5, 1.0, 2.0)
    edges = points_of(shown['workspace']).reshape(-1, 2, 3)
    assert len(np.unique(edges, axis=0)) == 12
    assert np.all((edges[:, 0] != edges[:, 1]).sum(axis=1) == 1)
    assert edges[..., 0].max() == 1.0 and np.all(np.isfinite(edges))


@needs_moveit
def test_moveit_shows_what_the_controller_gets():
    ros()
    from robot_identification.ros.nodes.motion_preview import display_trajectory
    arm = dataclasses.replace(load_arm('panda'), tf_prefix='left_')
    q = 0.55 * arm.limits.lower + 0.45 * arm.limits.upper
    motion, plan = planned(arm, q, speed=0.12)
    assert 1e-3 < plan.start_of('run_in') % 0.02 < 0.019    # the path passes between two points
    message = display_trajectory(arm, plan, motion)
    assert message.model_id == 'panda'
    assert tuple(message.trajectory_start.joint_state.name) == arm.ros_joint_names
    np.testing.assert_array_equal(message.trajectory_start.joint_state.position, q)
    approach, excitation = (found.joint_trajectory for found in message.trajectory)
    rows, begin = [], 0.0
    for found in (approach, excitation):
        assert tuple(found.joint_names) == arm.ros_joint_names
        t = [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in found.points]
        assert t[0] == 0 and np.all(np.diff(t) > 0)
        rows += [(begin + time, *p.positions, *p.velocities, *p.accelerations)
                 for time, p in zip(t, found.points)]
        begin += t[-1]
    assert begin == pytest.approx(plan.duration, abs=1e-6)
    assert np.abs(excitation.points[0].velocities).max() == 0   # starts at rest
    rows = np.array(rows)
    np.testing.assert_allclose(rows[:, 1:], np.concatenate(plan.evaluate(rows[:, 0]), axis=1),
                               atol=1e-5)
    assert len(rows) == np.count_nonzero(full_trajectory(plan).t >= 0) + 1


def test_rehearsal_moves_nothing_and_shows(system, speeds):
    system.change('excitation', 'configure')
    first = Execution(system, excitation='b.yaml')
    result = first.result()
    system.wait(lambda: speeds.stamps)
    ended = speeds.stamps[-1]
    assert not result.success and result.reason == 'not_active'
    assert 'Rehearsed: from the present position the motion would take' in result.message
    log = system.log('excitation')
    for package, topic in (('visualization_msgs', '/excitation/path'),
                           ('moveit_msgs', '/excitation/display_planned_path')):
        assert (topic in result.message) == installed(package)
        assert (f'{package} is not installed' in log) != installed(package)
    for goal, text in (({'excitation': 'leaves.yaml'}, "frame 'panda_link8'"),
                       ({'excitation': 'none.yaml'}, "no excitation 'none.yaml'")):
        result = Execution(system, **goal).result()
        assert result.reason == 'excitation' and text in result.message
    result = Execution(system, excitation='new.yaml', design=True).result()
    assert result.reason == 'not_active' and 'Rehearsed' not in result.message
    assert max(speeds.speeds) < 0.02
    # a result can also be requested later
    system.wait(lambda: speeds.stamps[-1] > ended + 11)
    first.future = first.handle.get_result_async()
    assert first.result().reason == 'not_active'


@needs_markers
def test_a_late_listener_hears_the_path(system, speeds):
    from visualization_msgs.msg import MarkerArray
    arm, heard = load_arm('panda'), []
    system.wait(lambda: speeds.speeds)
    before = tool(arm, speeds.position)
    system.listen(MarkerArray, '/excitation/path', heard.append, latched())
    system.wait(lambda: heard)
    shown = {marker.ns: marker for marker in heard[0].markers[1:]}
    np.testing.assert_allclose(points_of(shown['approach'])[0], before, atol=2e-3)
    system.change('excitation', 'activate')
    execution = Execution(system, excitation='b.yaml')
    execution.reach(1)      # APPROACH
    system.wait(lambda: len(heard) == 2)
    execution.handle.cancel_goal_async()
    assert execution.result().reason == 'cancelled'
    speeds.wait_for_rest()


@needs_moveit
def test_moveit_hears_the_motion(system):
    from moveit_msgs.msg import DisplayTrajectory
    heard = []
    assert not system.client.get_publishers_info_by_topic('/display_planned_path')
    system.listen(DisplayTrajectory, '/excitation/display_planned_path', heard.append, latched())
    system.wait(lambda: heard)
    assert len(heard[0].trajectory) == 2
