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
"""The complete workflow on ROS: design, execution, recording, identification and validation."""

import itertools
import shutil
import subprocess
import sys

from conftest import Execution, PATIENT, ros, System
import numpy as np
from robot_identification.arm import load_arm
from robot_identification.dynamics import base_parameters, ModelStructure
from robot_identification.dynamics.model_file import load_model
from robot_identification.excitation import load_excitation


def torque(folder, parameters):
    """Return torques along the motion b for base parameters, (N, n) [N m]."""
    arm = load_arm('panda')
    base = base_parameters(ModelStructure.of(arm, 'coulomb_viscous'))
    _, q, v, a = load_excitation(folder / 'b.yaml').sample(20.0)
    return base.structure.columns(q, v, a)[:, :, base.columns] @ np.array(parameters)


def rms(values):
    return np.sqrt(np.mean(values ** 2, axis=0))


def test_excite_record_identify_validate(tmp_path, excitations):
    ros()
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from robot_identification_interfaces.msg import OnlineParameters
    from robot_identification_interfaces.srv import Identify, Validate
    from sensor_msgs.msg import JointState
    from std_msgs.msg import String
    from std_srvs.srv import Trigger
    for file in excitations.iterdir():
        shutil.copy(file, tmp_path)
    system = System(tmp_path)
    system.start('simulated_robot', robot='panda', rate=500.0)
    system.start('recorder', robot='panda')
    system.start('excitation', robot='panda', autostart=True, approach_speed=0.5,
                 **PATIENT)
    system.start('identification', robot='panda')
    system.start('validation')
    system.start('online_identification', robot='panda')
    online = []
    system.listen(OnlineParameters, '/online_identification/parameters', online.append)
    try:
        for motion in ('a', 'b'):
            result = Execution(system, excitation=f'{motion}.yaml',
                               recording=f'run_{motion}').result()
            assert result.success, result.message
            assert max(result.largest_tracking_error) < 0.05
            assert (tmp_path / f'run_{motion}' / 'excitation.yaml').exists()
            if motion == 'a':
                first, last = online[0], online[-1]
                reset = system.call(Trigger, '/online_identification/reset')
                assert reset.success and f'{last.updates // 1000}' in reset.message
        urdfs, progress = [], []
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        system.listen(String, '/identification/progress', lambda m: progress.append(m.data))
        request = {'recordings': ['run_a'], 'held_out': ['run_b'], 'output': 'results'}
        future = system.call_async(Identify, '/identification/identify', **request)
        system.wait(lambda: progress)
        second = system.call(Identify, '/identification/identify', **request)
        assert not second.success and 'busy' in second.message
        system.wait(future.done, 90)
        answer = future.result()
        assert answer.success and answer.passed, answer.message
        system.listen(String, '/identification/identified_robot_description',
                      lambda m: urdfs.append(m.data), latched)
        system.wait(lambda: urdfs)
        assert urdfs[0] == (tmp_path / 'results' / 'identified.urdf').read_text()

        subprocess.run(
            [sys.executable, '-c', 'from robot_identification.cli import main; main()', 'identify',
             'panda', tmp_path / 'run_a', '--held-out', tmp_path / 'run_b', '-o',
             tmp_path / 'offline'], check=True, stdout=subprocess.DEVNULL)
        for file in ('base_parameters.csv', 'identified.urdf'):
            assert (tmp_path / 'results' / file).read_text() == (
                tmp_path / 'offline' / file).read_text()
        models = [load_model(tmp_path / folder / 'model.yaml')
                  for folder in ('results', 'offline')]
        np.testing.assert_array_equal(models[0].inertial, models[1].inertial)
        np.testing.assert_array_equal(models[0].friction_parameters, models[1].friction_parameters)
        assert len(answer.parameter_names) == len(answer.parameter_values)
        assert min(answer.parameter_deviations) > 0

        assert list(last.names) == list(answer.parameter_names)
        assert np.sum(np.log(last.deviations)) < np.sum(np.log(first.deviations))
        assert min(last.deviations) > 0 and last.updates > 500
        assert len(last.innovation) == len(last.used) == len(last.joint_names) == 7
        found = torque(tmp_path, last.values), torque(tmp_path, answer.parameter_values)
        assert np.all(rms(found[0] - found[1]) < 0.1 * rms(found[1]))
        assert any(b.updates < a.updates for a, b in itertools.pairwise(online))  # after the reset

        refused = system.call(Validate, '/validation/validate', model='../results/model.yaml',
                              recording='run_b')
        assert not refused.success and 'outside the data directory' in refused.message
        live = []
        verdict = system.call(Validate, '/validation/validate', model='results/model.yaml',
                              recording='run_b')
        assert verdict.success and verdict.passed, verdict.message
        np.testing.assert_allclose(verdict.joint_errors, answer.joint_errors, rtol=1e-9)
        system.listen(JointState, '/validation/running_error', live.append)
        Execution(system, excitation='b.yaml').result()
        assert len(live) > 50
        assert np.max(live[-1].effort) < 0.3
    finally:
        codes = system.close()
    assert codes == dict.fromkeys(codes, 0), codes
    for node in codes:
        assert 'Traceback' not in system.log(node), system.log(node)
