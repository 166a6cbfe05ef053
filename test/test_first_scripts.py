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
"""Scripts as newcomers write them from memory, in a folder with their files, run as they are."""

import os
import runpy
import subprocess
import sys

from closed_recordings import closed_recording
from command_line import call
import pytest
from robot_identification import load_arm
from robot_identification.recording.bag.write import write_bag

SCRIPTS = {
    'arms by name': """
import numpy as np
import robot_identification as ri
q = np.zeros((1, 2))
gravity = ri.joint_torque_regressor('two_link', q, q, q) @ ri.load_arm(
    'two_link').inertial_parameters.ravel()
assert np.allclose(gravity, ri.inverse_dynamics('two_link', q, q, q))
assert ri.base_parameters('two_link').rank == ri.base_parameters(ri.load_arm('two_link')).rank
assert ri.design_excitation('two_link', time_budget=2.0).certificate.holds
""",
    'one path': """
import robot_identification as ri
result = ri.identify('two_link', 'motion.csv', held_out='other.csv')
assert result.verdict.passed
""",
    'one recording': """
from robot_identification import identify, load_arm, load_recording
arm = load_arm('two_link')
r = load_recording('motion.csv', arm)
result = identify(arm, r)
print(result.summary())
""",
    'a folder': """
import robot_identification as ri
result = ri.identify('two_link', 'runs')
assert len(result.fitted) == 2
""",
    'a bag': """
from pathlib import Path
import robot_identification as ri
result = ri.identify('two_link', Path('bag'), held_out=['other.csv'])
assert result.verdict.passed
""",
    'a DataFrame': """
import pandas as pd
import robot_identification as ri
df = pd.read_csv('motion.csv')
result = ri.identify('two_link', df, held_out=pd.read_csv('other.csv'))
assert result.verdict.passed
""",
    'a robot file': """
import robot_identification as ri
result = ri.identify('arm.yaml', ['motion.csv', 'other.csv'])
result.save('result')
model = ri.load_model('result')
print(ri.validate(model, 'other.csv').verdict)
""",
    'torques of one configuration': """
import numpy as np
import robot_identification as ri
model = ri.identify('two_link', 'motion.csv').model
q, v, a = [0.1, 0.2], [0.0, 0.5], np.zeros(2)
tau = model.torque(q, v, a)
assert tau.shape == (2,)
assert np.allclose(tau, model.torque([q], [v], [a])[0])
lower, upper = model.torque_interval(q, v, a)
assert lower.shape == (2,) and (lower < tau).all() and (tau < upper).all()
assert ri.inverse_dynamics(ri.load_arm('two_link'), q, v, a).shape == (2,)
""",
    'tables': """
import robot_identification as ri
result = ri.identify('two_link', 'motion.csv', friction='coulomb_viscous')
print(result.to_frame()[['value', 'std', 'lower', 'upper']])
print(result.to_frame('links').mass, result.to_frame('friction'))
print(result.conf_int())
print(result.to_frame('links').to_latex(float_format='%.3g'))
""",
    'a figure': """
import matplotlib
matplotlib.use('Agg')
import robot_identification as ri
result = ri.identify('two_link', 'motion.csv', held_out='other.csv')
result.plot('friction').savefig('friction.pdf')
""",
    'validation of several motions': """
import robot_identification as ri
result = ri.identify('two_link', 'motion.csv')
v = ri.validate(result.model, ['other.csv', 'motion.csv'])
assert v.verdict.passed and v.passed
assert ri.validate(result.model, 'runs').verdict.passed
""",
    'a notebook': """
import robot_identification as ri
arm = ri.load_arm('two_link')
recording = ri.load_recording('motion.csv')
result = ri.identify(arm, recording)
assert all(len(repr(thing).splitlines()) == 1 for thing in (arm, recording, result, result.model))
assert '<table' in result.to_frame('links')._repr_html_()
""",
    'lists instead of arrays': """
import csv
from robot_identification import Recording, identify, load_arm
arm = load_arm('two_link')
with open('motion.csv') as file:
    rows = list(csv.DictReader(file))
columns = {name: [float(row[name]) for row in rows] for name in rows[0]}
t = columns['t']
q = [[columns[f'q_{j}'][k] for j in arm.joint_names] for k in range(len(t))]
tau = [[columns[f'tau_{j}'][k] for j in arm.joint_names] for k in range(len(t))]
result = identify(arm, Recording(t, q, tau, joint_names=arm.joint_names))
print(result)
""",
    'what is printed is short': """
from robot_identification import identify, load_model, validate
result = identify('two_link', 'motion.csv', held_out='other.csv')
result.save('kept')
validation = validate(load_model('kept'), 'other.csv')
for each in (result, result.verdict, result.model, result.arm, validation):
    assert len(str(each)) < 200, str(each)
""",
    'a motion from memory': """
from robot_identification import design_excitation, load_arm, load_excitation, save_excitation
try:
    design_excitation(load_arm('two_link'), duration=6)
except Exception as error:
    assert "did you mean 'period'?" in str(error)
motion = design_excitation(load_arm('two_link'), period=4, starts=1, harmonics=2, time_budget=5)
print(motion)
save_excitation(motion, 'motion.yaml')
t, q, v, a = load_excitation('motion.yaml').sample(100)
assert len(str(motion)) < 300 and len(t) == len(q)
""",
    'a command as a function': """
import robot_identification as ri
try:
    ri.compare('may', 'june')
except AttributeError as error:
    assert 'robot-identification compare --help' in str(error)
assert not hasattr(ri, 'no_such_name')
""",
    'an arm from its URDF': """
from robot_identification import Arm, identify
arm = Arm.from_urdf('arm.urdf', tip='link_2')
assert Arm.from_urdf('arm.urdf', tip='link_1').joint_names == ('joint_1',)
for wrong in (lambda: Arm('arm.urdf'), lambda: Arm.from_urdf('arm.urdf', tip='link2')):
    try:
        wrong()
    except Exception as error:
        assert "Arm.from_urdf('arm.urdf')" in str(error) or 'link_1, link_2' in str(error)
    else:
        raise SystemExit('no error')
assert identify(arm, 'motion.csv', held_out='other.csv').verdict.passed
""",
    'one joint of a plot': """
import matplotlib
matplotlib.use('Agg')
import robot_identification as ri
result = ri.identify('two_link', 'motion.csv')
figure = result.plot('friction', joint='joint_2')
assert len(figure.axes) == 1 and 'joint_2' in figure.axes[0].get_title()
result.plot(joint='joint_1').savefig('residual.png')
try:
    result.plot(joint='joint2')
except Exception as error:
    assert "did you mean 'joint_2'?" in str(error)
""",
    'validation of what was saved': """
import robot_identification as ri
result = ri.identify('two_link', 'motion.csv')
result.save('may')
assert ri.validate('may', 'other.csv').passed
assert ri.validate('may/model.yaml', ['other.csv']).passed
assert ri.validate(result, 'other.csv').passed
""",
    'two results compared': """
import robot_identification as ri
first = ri.identify('two_link', 'motion.csv').to_frame()
second = ri.identify('two_link', 'other.csv').to_frame()
both = first.add_suffix('_may').join(second.add_suffix('_june'))
change = (both.value_june - both.value_may).abs() / both.std_may
assert (change < 6).all() and len(both) == len(first)
""",
    'names of attributes from memory': """
import robot_identification as ri
arm = ri.load_arm('two_link')
result = ri.identify(arm, 'motion.csv')
recording = ri.load_recording('motion.csv')
for thing, name, instead in ((result, 'predict', 'model'), (result, 'parameters', 'to_frame'),
                             (result.model, 'predict', 'torque'), (arm, 'joints', 'joint_names'),
                             (recording, 'to_frame', 'to_csv'), (ri, 'load_robot', 'load_arm'),
                             (ri.validate(result, 'other.csv'), 'rmse', 'verdict')):
    try:
        getattr(thing, name)
    except AttributeError as error:
        assert instead in str(error), error
    else:
        raise SystemExit(name)
""",
    'arguments in the wrong order': """
import robot_identification as ri
recording = ri.load_recording('motion.csv')
try:
    ri.identify(recording, 'two_link')
except ri.RobotIdentificationError as error:
    assert 'an arm is' in str(error) and 'not Recording' in str(error)
try:
    ri.identify('two_link', {'t': recording.t, 'q': recording.q, 'tau': recording.tau})
except ri.RobotIdentificationError as error:
    assert 'Recording(t, q, tau, joint_names=' in str(error)
try:
    ri.identify('two_link', 'motion.csv', heldout='other.csv')
except ri.RobotIdentificationError as error:
    assert "did you mean 'held_out'?" in str(error)
""",
    'an index of dates, and one of seconds': """
import pandas as pd
from robot_identification import identify, load_recording
r = load_recording('motion.csv')
dates = pd.Timestamp('2026-05-04 10:00') + pd.to_timedelta(r.t, unit='s')
for index in (dates, pd.Index(r.t, name='time')):
    frame = pd.DataFrame({f'{name}{j}': x[:, j] for name, x in (('q', r.q), ('tau', r.tau))
                          for j in range(2)}, index=index)
    assert identify('two_link', frame, held_out='other.csv').verdict.passed
""",
    'base parameters of an arm': """
import robot_identification as ri
base = ri.base_parameters(ri.load_arm('two_link'))
assert sum(name.endswith('.viscous') for name in base.names) == 2
""",
    'columns named as a simulator names them': """
import pandas as pd
from robot_identification import identify, load_recording
r = load_recording('motion.csv')
for position, torque, start in (('position_{}', 'effort_{}', 1), ('q{}', 'tau{}', 0)):
    frame = pd.DataFrame({'time': r.t})
    for j in range(2):
        frame[position.format(j + start)] = r.q[:, j]
        frame[torque.format(j + start)] = r.tau[:, j]
    assert identify('two_link', frame, held_out='other.csv').verdict.passed
""",
    'files of a pattern': """
from pathlib import Path
import robot_identification as ri
paths = sorted(Path('runs').glob('*.csv'))[:1]
result = ri.identify('two_link', paths, held_out=Path('other.csv'))
assert result.verdict.passed
""",
    'a saved model in a simulation': """
import numpy as np
import robot_identification as ri
ri.identify('two_link', 'motion.csv').save('kept')
model = ri.load_model('kept')
q, v = np.array([0.1, -0.3]), np.zeros(2)
bias = model.torque(q, v, np.zeros(2))
acceleration = np.linalg.solve(model.mass_matrix(q)[0], -bias)
assert np.allclose(model.torque(q, v, acceleration), 0, atol=1e-9)
""",
    'a result kept by pickle': """
import copy, pickle
import robot_identification as ri
result = ri.identify('two_link', 'motion.csv', held_out='other.csv')
again = pickle.loads(pickle.dumps(result))
assert repr(again) == repr(copy.deepcopy(result)) == repr(result)
""",
    'torques of numbers': """
import numpy as np
from robot_identification import inverse_dynamics, joint_torque_regressor, load_arm
arm = load_arm('two_link')
q, v, a = np.random.rand(3, 50, arm.n)
tau = inverse_dynamics(arm, q, v, a)
W = joint_torque_regressor(arm, q, v, a)
assert np.allclose(tau, W @ arm.inertial_parameters.ravel())
assert np.allclose(inverse_dynamics(arm, q[0], v[0], a[0]), tau[0])
assert inverse_dynamics(arm, [0, 0], [0, 0], [0, 0]).shape == (2,)
""",
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Change to a folder with recordings of an arm in several formats."""
    arm = load_arm('two_link')
    first, other = (closed_recording(arm, seed) for seed in (0, 1))
    (tmp_path / 'runs').mkdir()
    for path, recording in (('motion.csv', first), ('other.csv', other), ('runs/1.csv', first),
                            ('runs/2.csv', other)):
        recording.to_csv(tmp_path / path)
    write_bag(first, tmp_path / 'bag')
    (tmp_path / 'arm.yaml').write_text(
        arm.source.read_text().replace('../urdf/', f'{arm.source.parent.parent}/urdf/'))
    (tmp_path / 'arm.urdf').write_text(arm.urdf)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize('name', SCRIPTS)
def test_scripts_from_memory_run(files, name):
    for package in ('pandas', 'matplotlib'):
        if package in SCRIPTS[name]:
            pytest.importorskip(package)
    (files / 'script.py').write_text(SCRIPTS[name])
    runpy.run_path(os.fspath(files / 'script.py'), run_name='__main__')


def test_what_is_no_recording_is_refused_by_name(files):
    from robot_identification import identify
    from robot_identification.errors import RecordingError
    (files / 'empty').mkdir()
    for given, text in (('empty', "folder 'empty' is not a bag"),
                        ('motoin.csv', r"did you mean 'motion.csv'"),
                        (7, 'not int'), ([None], 'not NoneType')):
        with pytest.raises(RecordingError, match=text):
            identify('two_link', given)


def test_commands_as_newcomers_type_them(files):
    def run(*words):
        done = call(*words, cwd=files)
        return done.returncode, done.stdout + done.stderr

    code, text = run('identify', 'two_link', 'motion.csv', '--held-out', 'other.csv')
    assert code == 0 and 'PASS' in text and 'nothing was saved: -o FOLDER' in text
    assert not {file.name for file in files.iterdir()} & {'model.yaml', 'report.html'}
    code, text = run('identify', 'two_link', 'runs', '-o', 'result')
    assert code == 1 and 'NOT VALIDATED' in text
    code, text = run('validate', 'result', 'other.csv')
    assert 'other.csv' in text and 'repeats the training motion' in text
    assert run('identify', '-h')[0] == 0
    subprocess.run([sys.executable, '-m', 'robot_identification', '-h'], check=True)
    for words, answer in ((('identify', 'two_lnik', 'motion.csv'), "did you mean 'two_link'"),
                          (('identify', 'two_link', 'motoin.csv'), "did you mean 'motion.csv'"),
                          (('identfy',), "did you mean 'identify'")):
        code, text = run(*words)
        assert code == 2 and answer in text, text
