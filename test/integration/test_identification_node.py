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
"""Services and actions of the identification node that test_end_to_end does not use."""

from conftest import Goal, ros, System
import numpy as np
import pytest
from robot_identification.arm import load_arm
from robot_identification.dynamics.model_file import load_model
from robot_identification.excitation import design as excitation_of
from robot_identification.excitation import load_excitation
from robot_identification.simulation import Plant, PlantOptions, simulate


@pytest.fixture(scope='module')
def system(tmp_path_factory):
    ros()
    folder = tmp_path_factory.mktemp('identification')
    arm = load_arm('two_link')
    motion = excitation_of(arm, period=4.0, harmonics=2, starts=1, margin=0.1)
    run = simulate(Plant(arm, PlantOptions()), motion, rng=np.random.default_rng(0), periods=2)
    run.recording.to_csv(folder / 'run.csv')
    system = System(folder, sim_time=False)
    system.start('identification', robot='two_link')
    yield system
    codes = system.close()
    assert codes == dict.fromkeys(codes, 0), codes


def design(system, **goal):
    from robot_identification_interfaces.action import Design
    return Goal(system, Design, '/identification/design', **goal)


def test_design(system):
    goal = design(system, output='sub/motion.yaml', period=4.0, harmonics=3, starts=1,
                  time_budget=5.0, margin=0.1)
    result = goal.result()
    assert result.success, result.message
    assert goal.feedback and 0 < goal.feedback[-1].progress <= 1
    motion = load_excitation(system.data / 'sub' / 'motion.yaml')
    assert result.path == str(system.data / 'sub' / 'motion.yaml')
    assert motion.period == 4.0 and motion.condition_number == result.condition_number
    motion.check_arm(load_arm('two_link'))


@pytest.mark.parametrize(('goal', 'text'), [
    ({'output': '../motion.yaml'}, 'outside the data directory'),
    ({'output': ''}, 'is empty'),
    ({'output': 'x.yaml', 'robot': 'nobody'}, "'nobody'; choose from"),
    ({'output': 'x.yaml', 'robot': '/etc/robot.yaml'}, 'outside the data directory'),
    ({'output': 'x.yaml', 'kind': 'spiral'}, 'spiral'),
    ({'output': 'x.yaml', 'margin': 1.5}, 'margin')])
def test_design_that_is_refused(system, goal, text):
    result = design(system, **goal).result()
    assert not result.success and text in result.message, result.message
    assert not (system.data / 'x.yaml').exists()


def test_design_is_cancelled_and_one_runs_at_a_time(system):
    from std_srvs.srv import Trigger
    goal = design(system, robot='panda', output='long.yaml', starts=8)
    second = design(system, output='other.yaml').result()
    assert not second.success and 'busy: a design is not finished' in second.message
    goal.handle.cancel_goal_async()
    result = goal.result()
    assert not result.success and result.message == 'a design was cancelled'
    assert not (system.data / 'long.yaml').exists()
    answer = system.call(Trigger, '/identification/cancel')
    assert not answer.success and answer.message == 'nothing is being done'


def test_identification_is_cancelled(system):
    from robot_identification_interfaces.srv import Identify
    from std_msgs.msg import String
    from std_srvs.srv import Trigger
    progress = []
    system.listen(String, '/identification/progress', lambda m: progress.append(m.data))
    future = system.call_async(Identify, '/identification/identify', recordings=['run.csv'],
                               estimator='auto', output='results')
    system.wait(lambda: progress)
    assert system.call(Trigger, '/identification/cancel').success
    system.wait(future.done, 60)
    answer = future.result()
    assert not answer.success and answer.message == 'an identification was cancelled'
    assert not (system.data / 'results').exists()


@pytest.mark.parametrize(('request_', 'text'), [
    ({'recordings': ['../run.csv'], 'output': 'results'}, 'outside the data directory'),
    ({'recordings': ['run.csv'], 'output': '/tmp/results'}, 'outside the data directory'),
    ({'recordings': ['none.csv'], 'output': 'results'}, "no recording 'none.csv'"),
    ({'recordings': ['run.csv'], 'held_out': ['link/x'], 'output': 'results'}, 'outside'),
    ({'recordings': [], 'output': 'results'}, 'recording'),
    ({'recordings': ['run.csv'], 'output': 'results', 'estimator': 'magic'}, 'magic'),
    ({'recordings': ['run.csv'], 'output': 'results', 'friction': 'honey'}, 'honey'),
    ({'recordings': ['run.csv'], 'output': 'results', 'delay': 'maybe'}, "'positions' or empty"),
    ({'recordings': ['run.csv'], 'output': 'results', 'settings': ['loud']}, 'NAME=VALUE'),
    ({'recordings': ['run.csv'], 'output': 'results', 'prior': 'far'}, 'entropic, metric'),
    ({'recordings': ['run.csv'], 'output': 'results', 'limits': '/etc/x.yaml'}, 'outside'),
    ({'recordings': ['run.csv'], 'output': 'results', 'method': 'guess'}, 'guess')])
def test_identification_that_is_refused(system, request_, text):
    from robot_identification_interfaces.srv import Identify
    link = system.data / 'link'
    if not link.exists():
        link.symlink_to('/etc')
    answer = system.call(Identify, '/identification/identify', **request_)
    assert not answer.success and text in answer.message, answer.message


def test_what_a_request_states_is_what_identify_does(system):
    """Settings, delays, prior and limits of a request have the effect of the command options."""
    from robot_identification import identify, load_recording
    from robot_identification.estimation.fit_inputs import load_limits
    from robot_identification_interfaces.srv import Identify
    arm = load_arm('two_link')
    joint, mass = arm.joint_names[-1], float(arm.inertial_parameters[-1, 0])
    limits = system.data / 'limits.yaml'
    limits.write_text(f'{joint}: {{mass: [{0.5 * mass}, {0.6 * mass}]}}\n')
    answer = system.call(
        Identify, '/identification/identify', recordings=['run.csv'], output='stated',
        estimator='huber', settings=['threshold=2.0'], delay='yes', prior='entropic',
        prior_deviation=0.5, limits='limits.yaml', method='spectral')
    assert answer.success, answer.message
    expected = identify(
        arm, [load_recording(system.data / 'run.csv', arm)], 'huber', settings={'threshold': 2.0},
        delay=True, processing={'method': 'spectral'}, consistency={
            'distance': 'entropic', 'deviation': 0.5, 'limits': load_limits(limits, arm)})
    np.testing.assert_allclose(answer.parameter_values, expected.estimate.values, rtol=1e-9)
    found = load_model(answer.model)
    assert 0.5 * mass <= found.inertial[-1, 0] <= 0.6 * mass * (1 + 1e-6)
    np.testing.assert_allclose(found.inertial, expected.model.inertial, rtol=1e-9)
