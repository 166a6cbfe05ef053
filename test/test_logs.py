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
"""Logs of common programs: their column names and units."""

from __future__ import annotations

from dataclasses import replace
import json

from click.testing import CliRunner
import numpy as np
import pytest
from robot_identification import load_arm, Recording
from robot_identification.arm.robot_file import arm_from_mapping, arm_to_mapping
from robot_identification.arm.robot_keys import read_recording_block
from robot_identification.cli.commands import app
from robot_identification.errors import ConfigurationError, RecordingError
from robot_identification.recording import csv_file, load_recording
from robot_identification.recording.bag.write import write_bag
from robot_identification.recording.infer_block import infer_recording_block
from scipy.io import savemat
import yaml

UR, PANDA = load_arm('ur10e'), load_arm('panda')


def motion(arm, samples=60, rate=125.0):
    """Return t, q, v and tau of a smooth motion within the limits, exact when printed."""
    t = np.arange(samples) / rate
    middle = (np.maximum(arm.limits.lower, -2) + np.minimum(arm.limits.upper, 2)) / 2
    phase = np.linspace(0.0, 1.0, arm.n)
    angle = 2 * np.pi * t[:, None] + phase
    return t, middle + 0.6 * np.sin(angle), 0.6 * 2 * np.pi * np.cos(angle), 5 * np.cos(3 * angle)


def write_table(path, columns, delimiter=',', mark=''):
    header = mark + delimiter.join(columns)
    rows = zip(*columns.values())
    path.write_text('\n'.join([header, *(delimiter.join(
        cell if isinstance(cell, str) else repr(float(cell)) for cell in row)
        for row in rows)]) + '\n')


def each(pattern, values, first=0, names=None):
    names = names or [str(first + k) for k in range(values.shape[1])]
    return {pattern.format(name): column for name, column in zip(names, values.T)}


def same(read, arm, t, q, v=None, tau=None, current=None):
    assert read.joint_names == arm.joint_names
    np.testing.assert_allclose(read.t - read.t[0], t - t[0], atol=1e-6)
    for name, wanted in (('q', q), ('v', v), ('tau', tau), ('current', current)):
        if wanted is None:
            assert getattr(read, name) is None, name
        else:
            np.testing.assert_allclose(getattr(read, name), wanted, rtol=1e-9, atol=1e-9)


def rtde(path, delimiter):
    """Write a log of `record.py` of Universal Robots' RTDE client, with a text column."""
    t, q, v, tau = motion(UR)
    write_table(path, {
        'timestamp': t + 8423.2, **each('target_q_{}', q + 0.01), **each('actual_q_{}', q),
        **each('target_qd_{}', v), **each('actual_qd_{}', v), **each('target_moment_{}', tau),
        **each('actual_current_{}', tau / 10), **each('actual_TCP_pose_{}', q),
        **each('joint_temperatures_{}', q), 'robot_mode': ['RUNNING'] * len(t)}, delimiter)
    return UR, {'t': t, 'q': q, 'v': v, 'current': tau / 10}


def libfranka(path):
    """Write a log of libfranka: milliseconds, brackets, blanks after commas."""
    t, q, v, tau = motion(PANDA)
    write_table(path, {
        'duration': t * 1e3, 'success_rate': t, **each('O_T_EE[{}]', np.zeros((len(t), 16))),
        **each('tau_J[{}]', tau), **each('tau_J_d[{}]', 0 * tau), **each('dtau_J[{}]', tau),
        **each('q[{}]', q), **each('q_d[{}]', q + 0.1), **each('dq[{}]', v),
        **each('dq_d[{}]', v), **each('tau_ext_hat_filtered[{}]', tau)}, ', ')
    return PANDA, {'t': t, 'q': q, 'v': v, 'tau': tau}


def plotjuggler(path, pattern):
    """Write an export of PlotJuggler: rows of other topics have no joint states."""
    t, q, v, tau = motion(PANDA)
    names = PANDA.joint_names
    columns = {'__time': t + 1.7e9, '/tf/x': t,
               **each(pattern.format('{}', kind='effort'), tau, names=names),
               **each(pattern.format('{}', kind='position'), q, names=names),
               **each(pattern.format('{}', kind='velocity'), v, names=names)}
    write_table(path, columns)
    lines = path.read_text().splitlines()
    between = [f'{1.7e9 + stamp + 1e-3!r},0.5' + ',' * 21 for stamp in t]
    path.write_text('\n'.join([lines[0], *(line for pair in zip(lines[1:], between)
                                           for line in pair)]))
    return PANDA, {'t': t, 'q': q, 'v': v, 'tau': tau}


def rostopic(path):
    """Write an output of `rostopic echo -p` of ROS 1: nanoseconds."""
    t, q, v, tau = motion(PANDA)
    write_table(path, {'%time': np.round(1.7e18 + t * 1e9), 'field.header.seq': t,
                       **each('field.position{}', q), **each('field.velocity{}', v),
                       **each('field.effort{}', tau)})
    return PANDA, {'t': t, 'q': q, 'v': v, 'tau': tau}


def degrees(path):
    """Write a teleoperation log in degrees with a follower and a leader."""
    t, q, v, tau = motion(UR)
    factor = 180 / np.pi
    names = [name.removesuffix('_joint') for name in UR.joint_names]
    write_table(path, {'time_ms': t * 1e3, **each('leader_{}.pos', 2 * factor * q, names=names),
                       **each('follower_{}.pos', factor * q, names=names),
                       **each('follower_{}.vel', factor * v, names=names),
                       **each('follower_{}.torque', tau, names=names)}, '\t')
    return UR, {'t': t, 'q': q, 'v': v, 'tau': tau}


def spreadsheet(path):
    """Write a drive's log for a German spreadsheet: decimal commas, mA."""
    t, q, v, tau = motion(UR)
    write_table(path, {'Zeit [ms]': t * 1e3,
                       **each('Ist-Position Achse {} [deg]', np.degrees(q), 1),
                       **each('Soll-Position Achse {} [deg]', np.degrees(q) + 1, 1),
                       **each('Drehzahl Achse {} [rpm]', v * 30 / np.pi, 1),
                       **each('Motorstrom Achse {} [mA]', 100 * tau, 1)}, ';')
    path.write_text(path.read_text().replace('.', ','))
    return UR, {'t': t, 'q': q, 'v': v, 'current': tau / 10}


def matlab(path, transposed):
    t, q, v, tau = motion(UR)
    turn = np.transpose if transposed else np.asarray
    savemat(path, {'log': {'time': t, 'q': turn(q), 'dq': turn(v), 'tau': turn(tau)},
                   'comment': 'a day in May'})
    return UR, {'t': t, 'q': q, 'v': v, 'tau': tau}


LOGS = {
    'rtde.csv': lambda path: rtde(path, ' '),
    'ur_rtde.csv': lambda path: rtde(path, ','),
    'libfranka.csv': libfranka,
    'plotjuggler.csv': lambda path: plotjuggler(path, '/joint_states/{}/{kind}'),
    'plotjuggler_old.csv': lambda path: plotjuggler(path, '/joint_states/{kind}/{}'),
    'rostopic.txt': rostopic,
    'degrees.tsv': degrees,
    'spreadsheet.csv': spreadsheet,
    'log.mat': lambda path: matlab(path, False),
    'transposed.mat': lambda path: matlab(path, True)}


@pytest.mark.parametrize('name', LOGS)
def test_a_log_is_read_as_it_is_and_says_how(name, tmp_path):
    arm, wanted = LOGS[name](tmp_path / name)
    read = load_recording(tmp_path / name, arm)
    same(read, arm, **wanted)
    line = next(remark for remark in read.remarks if 'is read as' in remark)
    block = yaml.safe_load(line.split('`')[1])['recording']
    stated = arm_from_mapping({**arm_to_mapping(arm), 'recording': block}, folder=tmp_path,
                              label='x')
    again = load_recording(tmp_path / name, stated)
    same(again, arm, **wanted)
    assert not any('is read as' in remark for remark in again.remarks)
    read.to_npz(tmp_path / 'ours.npz')    # the package's own files are also read with this block
    same(load_recording(tmp_path / 'ours.npz', stated), arm, **wanted)
    read.to_csv(tmp_path / 'ours.csv')
    same(load_recording(tmp_path / 'ours.csv', stated), arm, **wanted)


def test_lines_of_other_topics_are_counted_and_half_filled_ones_refused(tmp_path):
    path = tmp_path / 'x.csv'
    plotjuggler(path, '/joint_states/{}/{kind}')
    assert any('60 lines' in remark for remark in load_recording(path, PANDA).remarks)
    lines = path.read_text().splitlines()
    cells = lines[3].split(',')
    cells[5] = ''
    path.write_text('\n'.join([*lines[:3], ','.join(cells), *lines[4:]]))
    with pytest.raises(RecordingError, match="line 4, column '/joint_states/panda_joint4/effort'"):
        load_recording(path, PANDA)


@pytest.mark.parametrize('fast', [True, False])
def test_decimal_commas_are_said_and_do_not_mix_with_points(fast, tmp_path, monkeypatch):
    if not fast:
        monkeypatch.setattr(csv_file, '_parse', lambda *_: [])
    path = tmp_path / 'x.csv'
    _, wanted = spreadsheet(path)
    read = load_recording(path, UR)
    same(read, UR, **wanted)
    assert any('decimal commas' in remark for remark in read.remarks)
    lines = path.read_text().splitlines()
    path.write_text('\n'.join([*lines[:5], lines[5].replace(',', '.'), *lines[6:]]))
    with pytest.raises(RecordingError, match=r'line 6.*points and commas are mixed'):
        load_recording(path, UR)
    proposal = infer_recording_block(path, UR)
    assert 'units are unknown' in ' '.join(proposal.notes)


def test_what_is_not_clear_is_not_guessed(tmp_path):
    t, q, *_ = motion(UR)
    write_table(tmp_path / 'two.csv', {'time': t, **each('left_q_{}', q), **each('right_q_{}', q)})
    with pytest.raises(RecordingError, match=r'may be read as .*right_q_'):
        load_recording(tmp_path / 'two.csv', UR)
    proposal = infer_recording_block(tmp_path / 'two.csv', UR)
    assert not proposal.certain and 'right_q_{joint}' in proposal.notes[0]
    write_table(tmp_path / 'none.csv', {'time': t, **each('foo_{}', q)})
    assert infer_recording_block(tmp_path / 'none.csv', UR) is None
    write_table(tmp_path / 'few.csv', {'time': t, **each('q_{}', q[:, :5])})
    assert infer_recording_block(tmp_path / 'few.csv', UR) is None


def test_init_proposes_the_block_and_the_log_is_read_with_it(tmp_path):
    _, wanted = rtde(tmp_path / 'log.csv', ' ')
    (tmp_path / 'ur.urdf').write_text(UR.urdf)
    done = CliRunner().invoke(app, [
        'init', str(tmp_path / 'ur.urdf'), '-o', str(tmp_path / 'ur.yaml'), '--json',
        '--acceleration', '5', '--effort', 'current,joint,+1,gravity', '--recording',
        str(tmp_path / 'log.csv')])
    assert done.exit_code == 0, done.exception
    said = json.loads(done.stdout)
    assert said['recording']['current'] == 'actual_current_{joint}'
    assert 'order of the arm' in said['notes'][0]
    read = load_recording(tmp_path / 'log.csv', load_arm(tmp_path / 'ur.yaml'))
    same(read, UR, **wanted)
    assert not read.remarks
    mine = Recording(read.t, read.q, tau=read.q, joint_names=read.joint_names)
    mine.to_csv(tmp_path / 'sim.csv')
    ours = load_recording(tmp_path / 'sim.csv', load_arm(tmp_path / 'ur.yaml'))    # as simulated
    same(ours, UR, read.t, read.q, tau=read.q)
    (tmp_path / 'no.csv').write_text('a,b\n1,2\n')
    done = CliRunner().invoke(app, ['init', str(tmp_path / 'ur.urdf'), '-o',
                                    str(tmp_path / 'b.yaml'), '--recording',
                                    str(tmp_path / 'no.csv')])
    assert 'write the block by hand' in str(done.exception)
    assert not (tmp_path / 'b.yaml').exists()


def test_a_bag_of_many_joints_with_prefixes(tmp_path):
    t, q, v, tau = motion(PANDA)
    wide = [np.column_stack([t, values, t]) for values in (q, v, tau)]

    def bag(folder, pattern):
        names = ('lift', *(pattern.format(name) for name in PANDA.joint_names), 'wheel')
        write_bag(Recording(t, wide[0], wide[2], v=wide[1], joint_names=names), tmp_path / folder)
    bag('turned', '{}_left')
    read = load_recording(tmp_path / 'turned', PANDA)
    same(read, PANDA, t, q, v, tau)
    assert 'panda_joint1_left' in read.remarks[0]
    bag('bag', 'left/{}')
    assert 'left/panda_joint1' in load_recording(tmp_path / 'bag', PANDA).remarks[0]
    block = infer_recording_block(tmp_path / 'bag', PANDA).block
    stated = arm_from_mapping({**arm_to_mapping(PANDA), 'recording': block}, folder=tmp_path,
                              label='x')
    same(load_recording(tmp_path / 'bag', stated), PANDA, t, q, v, tau)
    with pytest.raises(RecordingError, match="does not have the joint 'should"):
        load_recording(tmp_path / 'bag', UR)


def test_a_dataset_of_lerobot_by_its_episodes(tmp_path):
    pandas = pytest.importorskip('pandas')
    pytest.importorskip('pyarrow')
    t, q, *_ = motion(UR)
    names = [f'{name.removesuffix("_joint")}.pos' for name in UR.joint_names] + ['gripper.pos']
    state = np.column_stack([q * 180 / np.pi, t]).astype(np.float32)
    frame = pandas.DataFrame({
        'action': list(np.vstack([state, state])),
        'observation.state': list(np.vstack([state, state + 1])),
        'timestamp': np.tile(t, 2), 'episode_index': np.repeat([0, 1], len(t))})
    data = tmp_path / 'data' / 'chunk-000'
    data.mkdir(parents=True)
    frame.to_parquet(data / 'file-000.parquet')
    with pytest.raises(RecordingError, match=r'the episodes \[0, 1\]; choose one'):
        load_recording(data / 'file-000.parquet', UR)
    with pytest.raises(RecordingError, match=r'the episodes \[0, 1\]; choose one'):
        load_recording(f'{data}/file-000.parquet:7', UR)
    for info in ({'names': names}, {'names': {'motors': names}}, {'names': None}):
        (tmp_path / 'meta').mkdir(exist_ok=True)
        (tmp_path / 'meta' / 'info.json').write_text(json.dumps(
            {'features': {'observation.state': info, 'action': info}}))
        read = load_recording(f'{data}/file-000.parquet:0', UR)
        np.testing.assert_allclose(read.q, q, atol=1e-5)
        assert 'observation.state' in read.remarks[0]
    for value in (np.nan, 0.5, 1e300, 'one', [0]):
        frame['episode_index'] = [value] * len(frame)
        frame.to_parquet(data / 'file-000.parquet')
        with pytest.raises(RecordingError, match="'episode_index' with other values than whole"):
            load_recording(data / 'file-000.parquet', UR)


def test_data_frames(tmp_path):
    pandas = pytest.importorskip('pandas')
    t, q, _, tau = motion(UR)
    names = UR.joint_names
    columns = {**each('q_{}', q, names=names), **each('tau_{}', tau, names=names)}
    same(Recording.from_frame(pandas.DataFrame({'t': t, **columns}), UR), UR, t, q, tau=tau)
    dated = pandas.DataFrame(columns, index=pandas.to_datetime(t + 1.7e9, unit='s'))
    same(Recording.from_frame(dated, UR), UR, t, q, tau=tau)
    assert Recording.from_frame(dated).joint_names == UR.joint_names
    other = pandas.DataFrame({'zeit': t, **each('winkel{}', q)})
    named = replace(UR, recording_keys={'t': 'zeit', 'q': 'winkel{joint}',
                                        'names': dict(zip(UR.joint_names, '012345'))})
    same(Recording.from_frame(other, named), UR, t, q)


def test_arrays_with_a_gripper_are_read_by_number(tmp_path):
    t, q, *_ = motion(UR)
    np.savez(tmp_path / 'x.npz', t=t, q=np.column_stack([t, q]))
    stated = arm_from_mapping({**arm_to_mapping(UR), 'recording': {'names': [1, 2, 3, 4, 5, 6]}},
                              folder=tmp_path, label='x')
    same(load_recording(tmp_path / 'x.npz', stated), UR, t, q)
    bad = arm_from_mapping({**arm_to_mapping(UR), 'recording': {'names': [1, 2, 3, 4, 5, 7]}},
                           folder=tmp_path, label='x')
    with pytest.raises(RecordingError, match=r"no column 'q\[7\]'; it has: q\[0\], "):
        load_recording(tmp_path / 'x.npz', bad)


@pytest.mark.parametrize('content', [b'', b'MATLAB 5.0 MAT-file', b'\0' * 400])
def test_damaged_files_are_one_sentence(content, tmp_path):
    (tmp_path / 'x.mat').write_bytes(content)
    with pytest.raises(RecordingError, match='not a MATLAB file'):
        load_recording(tmp_path / 'x.mat', UR)
    pytest.importorskip('pyarrow')
    (tmp_path / 'x.parquet').write_bytes(content)
    with pytest.raises(RecordingError, match='not a Parquet file'):
        load_recording(tmp_path / 'x.parquet', UR)


@pytest.mark.parametrize('block, said', [
    ({'units': {'q': 'grad'}}, "q is 'grad'; it must be one of rad, deg, turn"),
    ({'units': {'x': 'deg'}}, "has the unknown key 'x'"), ({'units': 'deg'}, 'must be a mapping'),
    ({'units': {'q': 0}}, 'not zero'), ({'units': {'q': True}}, 'q must be text or a number'),
    ({'names': ['a']}, 'lists 1 names for the 6 joints'),
    ({'names': {'a': 'b'}}, "unknown key 'a'"),
    ({'names': {'elbow_joint': 1.5}}, 'must be text or a whole number'),
    ({'names': 'a'}, 'must be a list of values or a mapping'),
    ({'stamps': 'mine'}, "one of 'header', 'received'"),
    ({'time': 't'}, "unknown key 'time'"), ({'t': 5}, 'must be text'), ('t', 'must be a mapping')])
def test_wrong_blocks_are_named(block, said, tmp_path):
    with pytest.raises(ConfigurationError, match=said):
        arm_from_mapping({**arm_to_mapping(UR), 'recording': block}, folder=tmp_path, label='x')


def servo_log(path, scale, quantum=2 * np.pi / 4096):
    """Write the encoder counts of six joints, in units that `scale` (6,) converts to radians."""
    t = np.arange(0.0, 20.0, 1 / 30)
    q = 0.9 * np.sin(np.outer(t, [1.1, 1.3, 0.7, 1.7, 0.9, 2.3]))
    seen = np.round(q / quantum) * quantum
    write_table(path, {'timestamp': t, **each('observation.state.{}.pos', seen / scale),
                       **each('action.{}.pos', q / scale)})
    return seen


def test_parts_of_calibrated_ranges_are_no_degrees(tmp_path):
    """By default LeRobot writes values of -100 to 100; degrees only on request."""
    scale = np.array([1.92, 1.75, 1.69, 1.66, 2.79, 1.5]) / 100
    seen = servo_log(tmp_path / 'log.csv', scale)
    with pytest.raises(RecordingError, match=r'may be read as .*percentages of calibrated ranges'):
        load_recording(tmp_path / 'log.csv', UR)
    (tmp_path / 'ur.urdf').write_text(UR.urdf)
    done = CliRunner().invoke(app, ['init', str(tmp_path / 'ur.urdf'), '-o', str(
        tmp_path / 'ur.yaml'), '--recording', str(tmp_path / 'log.csv')])
    assert 'no torques; next: robot-identification servos' in ' '.join(done.stdout.split())
    proposal = infer_recording_block(tmp_path / 'log.csv', UR)
    assert np.allclose(list(proposal.block['units']['q'].values()), scale, rtol=1e-3)
    read = load_recording(tmp_path / 'log.csv', replace(UR, recording_keys=proposal.block))
    assert np.allclose(read.q, seen, atol=2e-3)
    assert np.allclose(read.joint_command(UR), read.q, atol=4e-3)


def test_degrees_of_an_encoder_are_degrees_and_smooth_ones_are_doubted(tmp_path):
    servo_log(tmp_path / 'log.csv', np.full(6, np.pi / 180))
    assert 'either' not in ' '.join(infer_recording_block(tmp_path / 'log.csv', UR).notes)
    servo_log(tmp_path / 'smooth.csv', np.full(6, np.pi / 180), quantum=1e-9)
    assert 'could be either' in infer_recording_block(tmp_path / 'smooth.csv', UR).notes[-1]
    assert 'could be either' in load_recording(tmp_path / 'smooth.csv', UR).remarks[0]


def test_units_of_each_joint_are_complete():
    with pytest.raises(ConfigurationError, match='must name each joint of the arm'):
        read_recording_block({'units': {'q': {UR.joint_names[0]: 0.02}}}, UR.joint_names, 'it')
    with pytest.raises(ConfigurationError, match='must be one unit'):
        read_recording_block({'units': {'t': dict.fromkeys(UR.joint_names, 1)}},
                             UR.joint_names, 'it')


def test_comments_before_the_header_and_units_behind_it(tmp_path):
    t, q, _, tau = motion(UR)
    columns = {'Zeit': t, **each('AXIS_ACT_A{}', np.degrees(q), 1),
               **each('TORQUE_AXIS_ACT_{}', tau, 1)}
    write_table(tmp_path / 'plain.csv', columns, ';')
    head, rows = (tmp_path / 'plain.csv').read_text().split('\n', 1)
    units = ';'.join(['[s]', *['[deg]'] * UR.n, *['[Nm]'] * UR.n])
    for number, lines in enumerate((['# logger 2', '# robot: ur', head], [head, units],
                                    ['# logger 2', head, units], ['# logger 2', f'#{head}'])):
        path = tmp_path / f'{number}.csv'
        path.write_text('\n'.join([*lines, rows]))
        read = load_recording(path, UR)
        same(read, UR, t, q, tau=tau)
        told = any(f'line {len(lines)} contains no numbers (units?)' in x for x in read.remarks)
        assert told == (units in lines)
    path.write_text('\n'.join([head, units, rows.replace('\n', '\n;', 1)]))
    with pytest.raises(RecordingError, match=r'line 4: 14 cells'):
        load_recording(path, UR)
