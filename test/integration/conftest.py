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
"""Fixtures of the integration tests: nodes as separate processes in a ROS domain of their own."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import time

from forked_nodes import ForkedNode
from motions import excitation_of
import numpy as np
import pytest

# domains differ between two workers, and mostly between two runs; the largest domain is 101
WORKER = int(os.environ.get('PYTEST_XDIST_WORKER', 'gw0')[2:]) % 2
os.environ['ROS_DOMAIN_ID'] = str(10 + 2 * (os.getpid() % 40) + WORKER)
os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'SYSTEM_DEFAULT'      # set by the profile
os.environ['FASTDDS_DEFAULT_PROFILES_FILE'] = str(Path(__file__).with_name('loopback.xml'))
os.environ.setdefault('OMP_NUM_THREADS', '1')


PATIENCE = 240.0    # [s] longest wait for a response: compilation at the first use, shared cores
# tolerances for a shared computer, which stalls for longer than that of a robot may
PATIENT = {'watch__stale': 2.0, 'brake__horizon': 2.5}


def ros():
    """Return rclpy, or skip with a reason."""
    rclpy = pytest.importorskip('rclpy', reason='ROS 2 is not installed (.ci/ros_wheels VENV)')
    pytest.importorskip('robot_identification_interfaces',
                        reason='the interfaces are not built (.ci/ros_wheels VENV)')
    return rclpy


@pytest.fixture(scope='module')
def own_domain():
    """
    Use another ROS domain for a module whose last test kills a node.

    The middleware still announces the services of a killed node for 20 s.
    """
    rclpy, before = ros(), os.environ['ROS_DOMAIN_ID']
    rclpy.try_shutdown()
    os.environ['ROS_DOMAIN_ID'] = str(90 + 2 * (int(before) // 2 % 5) + WORKER)
    yield
    rclpy.try_shutdown()
    os.environ['ROS_DOMAIN_ID'] = before


def node_of(name):
    """Return the name of the node that offers an action or a service."""
    return name.split('/_action')[0].rsplit('/', 1)[0]


class System:
    """Node processes, and a client node that calls them."""

    def __init__(self, data, sim_time=True):
        self.rclpy, self.data = ros(), data
        self.sim_time = sim_time  # then a busy computer slows the robot but delays no messages
        self.processes, self.logs = {}, {}
        if not self.rclpy.ok():
            self.rclpy.init()
        self.client = self.rclpy.create_node(f'client_{time.monotonic_ns()}')
        self._clients, self.actions = {}, {}

    def start(self, node, **parameters):
        """Start a node and wait until it runs."""
        self.launch(node, **parameters)
        self.wait(lambda: node in self.client.get_node_names()
                  or self.processes[node].poll() is not None, PATIENCE)
        assert self.processes[node].poll() is None, (node, self.log(node)[-4000:])
        if node == 'simulated_robot':
            self.wait(lambda: self.client.count_publishers('/joint_states'))

    def launch(self, node, fresh=False, prepare=None, before=(), enclave='/', **parameters):
        """
        Start a node.

        With `fresh` the node runs in a new interpreter, for tests of its start. `prepare` is
        called in the process of a forked node; `before` is the start of a fresh one's command.
        """
        parameters.setdefault('data_directory', str(self.data))
        if node == 'simulated_robot':
            parameters.pop('data_directory')
            parameters['publish_clock'] = self.sim_time
        else:
            parameters.setdefault('use_sim_time', self.sim_time)
        arguments = ['--ros-args', '--enclave', enclave]
        for name, value in parameters.items():
            arguments += ['-p', f'{name.replace("__", ".")}:={value}']
        self.logs[node] = self.data / f'{node}.log'
        if not (fresh or prepare or before):
            self.processes[node] = ForkedNode(node, arguments, self.logs[node])
            return
        program = f'import robot_identification.ros.nodes.start as s; raise SystemExit(s.{node}())'
        environment = {**os.environ}
        environment.pop('_ROS_WHEELS_BOOTSTRAP_COMPLETE', None)
        with self.logs[node].open('a') as log:
            self.processes[node] = subprocess.Popen(
                [*before, sys.executable, '-c', program, *arguments],
                stdout=log, stderr=log, env=environment, preexec_fn=prepare)

    def log(self, node):
        return self.logs[node].read_text()

    def kill(self, node, number=signal.SIGKILL):
        # after SIGKILL the middleware announces the services for 20 s more: such tests run last
        process = self.processes.pop(node)
        process.send_signal(number)
        self.actions.clear()
        return process.wait(timeout=40)

    def close(self):
        """End all processes with SIGINT, and return their exit codes."""
        processes, self.processes = self.processes, {}
        for process in processes.values():
            process.send_signal(signal.SIGINT)
        codes = {}
        for name, process in processes.items():
            try:
                codes[name] = process.wait(timeout=40)
            except subprocess.TimeoutExpired:
                process.kill()
                codes[name] = 'killed'
            if codes[name] != 0:
                print(f'{name} ended with {codes[name]}:', self.log(name)[-4000:])
        self.client.destroy_node()
        return codes

    def wait(self, condition, seconds=60.0):
        latest = time.monotonic() + seconds
        while not condition():
            self.rclpy.spin_once(self.client, timeout_sec=0.02)
            assert time.monotonic() < latest, f'not within {seconds} s'

    def live(self, seconds):
        """Wait until the simulated robot has run for some time; a busy computer takes longer."""
        from rosgraph_msgs.msg import Clock
        stamps = []
        clock = self.client.create_subscription(
            Clock, '/clock', lambda m: stamps.append(m.clock.sec + 1e-9 * m.clock.nanosec), 10)
        self.wait(lambda: stamps and stamps[-1] - stamps[0] >= seconds)
        self.client.destroy_subscription(clock)

    def settle(self, seconds=0.3):
        """Spin the client node for a while."""
        latest = time.monotonic() + seconds
        while time.monotonic() < latest:
            self.rclpy.spin_once(self.client, timeout_sec=0.02)

    def meet(self, node):
        """
        Wait until a node has discovered all clients created here; otherwise responses are lost.

        The middleware announces clients in order: a node that responds to the last client knows
        the earlier ones, too. The call reads parameters, because it can be repeated.
        """
        from rcl_interfaces.srv import ListParameters
        client = self.client.create_client(ListParameters, f'{node}/list_parameters')
        assert client.wait_for_service(PATIENCE), f'no node {node}'
        answers = []

        def reply_always():
            if not answers or time.monotonic() > answers[-1][0] + 1.0:
                answers.append((time.monotonic(), client.call_async(ListParameters.Request())))
            return any(future.done() for _, future in answers)
        self.wait(reply_always, PATIENCE)
        self.client.destroy_client(client)

    def call(self, kind, service, /, **fields):
        future = self.call_async(kind, service, **fields)
        self.wait(future.done, PATIENCE)
        return future.result()

    def call_async(self, kind, service, /, **fields):
        key = (kind, service)
        if key not in self._clients:
            self._clients[key] = self.client.create_client(kind, service)
            assert self._clients[key].wait_for_service(PATIENCE), f'no service {service}'
            self.meet(node_of(service))
        return self._clients[key].call_async(kind.Request(**fields))

    def fault(self, **values):
        self.configure('simulated_robot',
                       **{f'fault.{name}': value for name, value in values.items()})

    def configure(self, node, **values):
        from rcl_interfaces.srv import SetParameters
        from rclpy.parameter import Parameter
        answer = self.call(SetParameters, f'/{node}/set_parameters', parameters=[
            Parameter(name, value=value).to_parameter_msg() for name, value in values.items()])
        assert all(result.successful for result in answer.results)

    def try_change(self, node, transition):
        """Apply a transition ('configure', ...) to a node; return whether it succeeds."""
        from lifecycle_msgs.msg import Transition
        from lifecycle_msgs.srv import ChangeState
        number = getattr(Transition, f'TRANSITION_{transition.upper()}')
        return self.call(ChangeState, f'/{node}/change_state',
                         transition=Transition(id=number)).success

    def change(self, node, *transitions):
        """Apply transitions to a lifecycle node, all of which must succeed."""
        for name in transitions:
            assert self.try_change(node, name), (node, name)

    def listen(self, kind, topic, callback, qos=10):
        return self.client.create_subscription(kind, topic, callback, qos)


class Speeds:
    """Records the speeds of the arm, with its own subscription."""

    def __init__(self, system):
        from sensor_msgs.msg import JointState
        self.system, self.stamps, self.speeds = system, [], []
        self.subscription = system.listen(JointState, '/joint_states', self._heard, 1000)

    def _heard(self, message):
        self.stamps.append(message.header.stamp.sec + message.header.stamp.nanosec * 1e-9)
        self.speeds.append(np.abs(message.velocity).max())
        self.position = list(message.position)

    def wait_for_rest(self, seconds=30.0):
        self.system.wait(lambda: len(self.speeds) > 100 and max(self.speeds[-100:]) < 0.02,
                         seconds)

    def wait_for_speed(self, speed=0.2):
        self.system.wait(lambda: self.speeds and self.speeds[-1] > speed)

    def deceleration_after(self, stamp):
        """Return the largest deceleration over 50 ms [rad/s^2 or m/s^2]."""
        t, v = np.array(self.stamps), np.array(self.speeds)
        t, v = t[t > stamp], v[t > stamp]
        window = round(0.05 / np.median(np.diff(t)))
        return np.max((v[:-window] - v[window:]) / (t[window:] - t[:-window]))

    def close(self):
        self.system.client.destroy_subscription(self.subscription)


@pytest.fixture
def speeds(system):
    speeds = Speeds(system)
    yield speeds
    speeds.close()


class Goal:
    """A goal that the test sends to an action."""

    def __init__(self, system, kind, name, /, **fields):
        from rclpy.action import ActionClient
        self.system, self.feedback = system, []
        if name not in system.actions:
            system.actions[name] = ActionClient(system.client, kind, name)
            assert system.actions[name].wait_for_server(PATIENCE)
            system.meet(node_of(name))
        future = system.actions[name].send_goal_async(
            kind.Goal(**fields), feedback_callback=lambda m: self.feedback.append(m.feedback))
        system.wait(future.done, PATIENCE)
        self.handle = future.result()
        self.future = self.handle.get_result_async()

    def result(self):
        self.system.wait(self.future.done, PATIENCE)
        return self.future.result().result


def rest_in(seconds):
    """Return another client's trajectory to the middle of the Panda's position ranges."""
    from robot_identification.arm import load_arm
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
    arm = load_arm('panda')
    point = JointTrajectoryPoint(positions=((arm.limits.lower + arm.limits.upper) / 2).tolist(),
                                 velocities=[0.0] * arm.n)
    point.time_from_start.sec = seconds
    return JointTrajectory(joint_names=list(arm.joint_names), points=[point])


def latched():
    """Return the quality of service of the speed scaling topic."""
    from rclpy.qos import DurabilityPolicy, QoSProfile
    return QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Execution(Goal):
    """A goal of the action of the excitation node."""

    DESIGN = 6

    def __init__(self, system, /, name='/excitation/execute', **goal):
        from robot_identification_interfaces.action import Excite
        super().__init__(system, Excite, name, **goal)

    @property
    def phase(self):
        return self.feedback[-1].phase if self.feedback else 0

    def reach(self, phase):
        def there():
            designs = self.phase == self.DESIGN
            return designs if phase == self.DESIGN else not designs and self.phase >= phase
        self.system.wait(lambda: there() or self.future.done(), PATIENCE)
        assert not self.future.done(), self.future.result().result


@pytest.fixture(scope='session')
def excitations(tmp_path_factory):
    """Write two short motions of the Panda: the files a.yaml and b.yaml."""
    from robot_identification.excitation import save_excitation
    folder = tmp_path_factory.mktemp('excitations')
    for name, source in (('a', 'panda_8s_margin'), ('b', 'panda_5s_margin')):
        save_excitation(excitation_of(source), folder / f'{name}.yaml')
    return folder
