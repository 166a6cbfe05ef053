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
"""Fuzzers of all readers: a valid file, changes, reader, and a first use of the content."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
import gzip
import hashlib
import io
from itertools import pairwise
import json
import os
from pathlib import Path
import random
import resource
import runpy
import shutil
import struct
import subprocess
import sys
import tempfile
from xml.etree import ElementTree
import zipfile

from excitation_arms import chain
import mutations as change
import numpy as np
import reporting_results
import robot_identification as ri
from robot_identification import excitation as motions
from robot_identification.arm import Arm, load_arm
from robot_identification.arm.limits import apply_moveit_limits
from robot_identification.arm.robot_file import arm_from_mapping, arm_to_mapping
from robot_identification.changes.commands import compare_command
from robot_identification.cli.excite import read_options
from robot_identification.dynamics import IdentifiedModel, ModelStructure
from robot_identification.dynamics.model_file import load_model
from robot_identification.dynamics.regressor import inverse_dynamics, joint_torque_regressor
from robot_identification.estimation.fit_inputs import limit_rows, load_limits
from robot_identification.excitation.certificate.geometry.scene import link_shapes
from robot_identification.excitation.design.design import build_problem
from robot_identification.excitation.design.excitation import ColumnChoice
from robot_identification.excitation.motion import get_series
from robot_identification.export.export import export_model
from robot_identification.fleet import read_fleet, recording_sources, robot_result
from robot_identification.fleet.drift import Drift
from robot_identification.fleet.page import write_fleet_page
from robot_identification.recording import load_recording, Recording
from robot_identification.recording.bag.write import write_bag
from robot_identification.reporting import save_results, write_report
from robot_identification.reporting.results_files import PLOTS, RESULTS
from robot_identification.ros.bringup import check_controller, controllers_for_namespace
from robot_identification.signals import process
from robot_identification.yaml_file import to_plain
import scipy.io
from sqlite_bags import WRITERS
import xacro  # noqa: F401 (so that forks need not import it)
import yaml


@dataclass(frozen=True)
class Fuzzer:
    """
    Fuzzer of one reader.

    Parameters
    ----------
    name
        Name of the file, with the suffix that the reader expects.
    seed
        Returns a valid file.
    spoil
        Returns a changed file, given a random generator and the valid file.
    read
        Reads a file and uses its content once.
    seconds
        Time limit of a case.
    quiet
        Whether a case that prints to stderr is a failure.

    """

    name: str
    seed: Callable[[], bytes]
    spoil: Callable[[random.Random, bytes], bytes]
    read: Callable[[Path], object]
    seconds: int = 10
    quiet: bool = True


ARM = chain()
STATES = [np.arange(200) / 100]
STATES += [np.sin(np.outer(STATES[0], [1.0, 2.0, 3.0])),
           np.cos(np.outer(STATES[0], [1.0, 2.0, 3.0])) * [1.0, 2.0, 3.0]]
STATES += [inverse_dynamics(ARM, *STATES[1:], -STATES[1] * [1.0, 4.0, 9.0])]
TIMES, ROWS, SPEEDS, TORQUES = (array[:40] for array in STATES)    # small files
RECORDING = Recording(TIMES + 1, ROWS, TORQUES, joint_names=ARM.joint_names, v=SPEEDS)
MOTION = Recording(*(STATES[k] for k in (0, 1, 3)), joint_names=ARM.joint_names)
MESH = 'part.stl'


def forked(command, timeout=None, text=False, **options):
    """Run Python code like `subprocess.run`, in a fork of this process, which is much faster."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, 'out'), Path(folder, 'err')
        pid = os.fork()
        if not pid:
            code = 1
            try:
                for path, number in ((out, 1), (err, 2)):
                    os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), number)
                sys.stdout, sys.stderr = (os.fdopen(k, 'w', closefd=False) for k in (1, 2))
                resource.setrlimit = lambda *limits: None    # it has the limit of the fuzzer
                resource.prlimit(0, resource.RLIMIT_CPU, (timeout or 60, timeout or 60))
                sys.argv = command[1:]
                if command[1] == '-c':
                    sys.argv = command[2:]
                    exec(compile(command[2], '<string>', 'exec'), {'__name__': '__main__'})
                else:
                    runpy.run_path(command[1], run_name='__main__')
                code = 0
            except SystemExit as error:
                code = error.code if isinstance(error.code, int) else 1
                sys.stderr.write(str(error.code or ''))
            except BaseException as error:
                sys.stderr.write(f'{type(error).__name__}: {error}')
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code or 0)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        said = [path.read_bytes() if path.exists() else b'' for path in (out, err)]
    if text:
        said = [each.decode('utf-8', 'replace') for each in said]
    return subprocess.CompletedProcess(command, code, *said)


def use_arm(arm):
    """Use an arm: regressor and gravity at one posture, its description, and its template."""
    q = np.zeros((1, arm.n))
    joint_torque_regressor(arm, q, q, q)
    inverse_dynamics(arm, q, q, q)
    arm_from_mapping(arm_to_mapping(arm), folder=Path(), label='the copy')
    return ModelStructure.of(arm).names, arm.actuator_names, arm.balancer_torque(
        q, np.ones(len(arm.balancers)))


def read_recording(path, arm=ARM):
    """Load a recording and process it."""
    recording = load_recording(path, arm)
    return process(recording, arm)


def _folder_seed(write):
    """Return the files that a function writes into a folder, as a ZIP archive."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        return change.archive_of({str(path.relative_to(folder)): path.read_bytes()
                                  for path in Path(folder).rglob('*') if path.is_file()})


def _unpacked(path):
    """Return the folder with the files of a ZIP archive."""
    folder = path.parent / 'unpacked'
    shutil.rmtree(folder, ignore_errors=True)
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    return folder


def _npz_seed():
    file = io.BytesIO()
    np.savez_compressed(file, t=TIMES, q=ROWS, tau=TORQUES, v=SPEEDS,
                        joint_names=np.array(ARM.joint_names))
    return file.getvalue()


def _bag_seed(storage):
    with tempfile.TemporaryDirectory() as folder:
        WRITERS[storage](RECORDING, Path(folder) / 'bag')
        return next(p for p in (Path(folder) / 'bag').iterdir()
                    if p.suffix != '.yaml').read_bytes()


def _excitation_seed():
    series = get_series('ffs', 10.0, 2)
    n = ARM.n
    found = motions.Excitation(
        trajectory=motions.Trajectory(series, np.zeros((series.size, n))),
        joint_names=ARM.joint_names,
        arm_name=ARM.name, urdf_sha256=ARM.urdf_sha256,
        limits=_finite_limits(), margin=0.0, usage=np.zeros((4, n)), criterion='cond', value=2.0,
        condition_number=2.0, rank=3, samples_per_period=100, seed=0, starts=1, seconds=1.0,
        history=(2.0,), status='converged', notes=('a note',),
        requirements=motions.Requirements(), certificate=motions.Certificate(),
        columns=ColumnChoice('none', 'none', (1.0,) * n, ()))
    with tempfile.TemporaryDirectory() as folder:
        motions.save_excitation(found, Path(folder) / 'x.yaml')
        return (Path(folder) / 'x.yaml').read_bytes()


def _finite_limits():
    return replace(ARM.limits, acceleration=np.full(ARM.n, 5.0), jerk=np.full(ARM.n, 50.0))


def _model_seed():
    n = ARM.n
    model = IdentifiedModel(
        arm=ARM, inertial=ARM.inertial_parameters, rotor_inertia=np.zeros(n),
        friction='coulomb_viscous', friction_parameters=np.ones((n, 3)),
        information={
            'training_motion': [{'rate': 10.0, 'q': ROWS[::5].tolist()}], 'rank': 3,
            'servos': {name: {'kp': 10.0, 'limit': 3.0} for name in ARM.joint_names[:2]},
            'uncertain_directions': [[0.1] * ModelStructure.of(ARM).count]})
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / 'm.yaml')
        content = yaml.safe_load((Path(folder) / 'm.yaml').read_bytes())
        content.pop('digest', None)    # older files have none
        return yaml.safe_dump(content).encode()


def _robot_seed():
    joints = {name: {'acceleration': 5.0, 'velocity': 0.4, 'position': [-0.1, 0.2], 'torque': 5.0}
              for name in ARM.joint_names}
    first, second, third = ARM.joint_names
    return yaml.safe_dump({
        'name': 'arm', 'urdf': ARM.urdf, 'gravity': [0.0, 0.0, -9.81], 'joints': joints,
        'locked': {}, 'drives': {name: {'gain': 1.0, 'reduction': 2.0, 'rotor_inertia': 0.1}
                                 for name in ARM.joint_names},
        'coupling': {third: {second: 0.5}}, 'urdf_limits_wrong': [], 'package_dirs': ['src'],
        'effort': {'quantity': 'torque', 'side': 'joint', 'sign': 1,
                   'gravity_compensated': False}, 'unmeasured': [first], 'tf_prefix': 'left_',
        'balancers': {'spring': {'kind': 'torsion_spring', 'joint': second,
                                 'stiffness': 'estimate'}},
        'position': {'side': 'joint', 'offset': {first: 0.1}},
        'driver': {'launch': 'package/file', 'controller': 'c', 'rate': 500.0,
                   'arguments': {'robot_ip': '1.2.3.4', 'x': True}},
        'recording': {'t': 'time', 'q': 'q_{joint}', 'names': ['a', 1, 'c'], 'topic': 'x',
                      'units': {'q': 'deg', 'tau': dict.fromkeys(ARM.joint_names, 0.5)}}}
    ).encode()


def _read_robot(path):
    """Load an arm from a robot YAML, use it, and read a log with its block `recording`."""
    arm = load_arm(path)
    use_arm(arm)
    log = path.parent / 'log.csv'
    log.write_bytes(_csv_seed())
    return read_recording(log, arm)


def _limits_seed():
    return yaml.safe_dump({name: {'mass': [0.1, 3.0], 'centre': [[-1, -1, -1], [1, 1, 1]],
                                  'ellipsoid': [[0, 0, 0], [1, 1, 1]]}
                           for name in ARM.joint_names}).encode()


def _read_limits(path):
    """Load link limits and return their linear constraints."""
    return limit_rows(ModelStructure.of(ARM), load_limits(path, ARM))


def _read_model(path):
    """Load a model, predict torques, validate it on a recording, export it, and save it again."""
    model = load_model(path)
    assert model.uncertain_directions is None or model.uncertain_directions.ndim == 2
    for target in ('json', 'mjcf', 'sdf', 'urdf'):
        export_model(model, target)
    q = np.zeros((1, model.arm.n))
    model.torque(q, q, q)
    model.save(path.parent / 'saved.yaml')
    load_model(path.parent / 'saved.yaml')
    return ri.validate(model, MOTION)


def _excitation_digest(tree):
    return yaml.dump(tree, Dumper=yaml.CSafeDumper, sort_keys=True, width=10_000)


def _read_excitation(path):
    """Load an excitation, sample it, and prove its certificate again."""
    excitation = motions.load_excitation(path)
    excitation.sample(100.0)
    if excitation.period < 20.0:    # thousands of points take long to write
        motions.save_joint_trajectory(excitation, path.parent / 'trajectory.yaml', 50.0)
    return motions.check_certificate(excitation, ARM)


def _with_geometry(shapes):
    """Return the URDF of the arm, with collision shapes for its links in turn."""
    root = ElementTree.fromstring(ARM.urdf)
    for link, text in zip(root.findall('link'), shapes):
        collision = ElementTree.SubElement(link, 'collision')
        ElementTree.SubElement(collision, 'origin', xyz='0 0 0.1', rpy='0 0 0')
        ElementTree.SubElement(collision, 'geometry').append(ElementTree.fromstring(text))
    return ElementTree.tostring(root)


def _urdf_seed():
    return _with_geometry(['<box size="0.1 0.1 0.1"/>', '<sphere radius="0.05"/>',
                           '<cylinder radius="0.05" length="0.1"/>',
                           f'<mesh filename="{MESH}" scale="1 1 1"/>'])


def _read_urdf(path):
    """Build an arm from a URDF, use it and its collision geometry."""
    if not (path.parent / MESH).exists():
        (path.parent / MESH).write_bytes(_mesh_seed())
    arm = Arm.from_urdf(path)
    use_arm(arm)
    return link_shapes(arm)


def _mesh_seed():
    """Return a tetrahedron as a binary STL."""
    corners = np.vstack([np.zeros(3), 0.1 * np.eye(3)])
    faces = [corners[list(face)] for face in ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3))]
    return bytes(80) + struct.pack('<I', 4) + b''.join(
        np.vstack([np.zeros(3), face]).astype('<f4').tobytes() + bytes(2) for face in faces)


def _read_mesh(path):
    """Return the collision shapes of an arm with a mesh."""
    urdf = path.parent / 'mesh.urdf'
    urdf.write_bytes(_with_geometry([f'<mesh filename="{path.name}"/>']))
    return link_shapes(Arm.from_urdf(urdf))


def _srdf_seed():
    links = ('base', 'one', 'two', 'three')
    return ('<robot name="chain"><group name="a"><chain base_link="base" tip_link="three"/>'
            '</group>' + ''.join(f'<disable_collisions link1="{a}" link2="{b}" reason="Never"/>'
                                 for a, b in pairwise(links)) + '</robot>').encode()


@cache
def _shaped_arm():
    ball = '<sphere radius="0.05"/>'
    return Arm.from_urdf(_with_geometry([ball] * 4).decode())


def _read_srdf(path):
    """Build the collision pairs of an arm with an SRDF."""
    return motions.build_scene(_shaped_arm(), motions.Requirements(
        clearance=0.001, srdf=str(path))).pairs


def _metadata_seed():
    with tempfile.TemporaryDirectory() as folder:
        write_bag(RECORDING, Path(folder) / 'bag')
        return (Path(folder) / 'bag' / 'metadata.yaml').read_bytes()


@cache
def _mcap():
    return _bag_seed('mcap')


def _read_metadata(path):
    """Read a bag with changed metadata and a valid data file."""
    bag = path.parent / 'bag'
    bag.mkdir(exist_ok=True)
    (bag / 'bag_0.mcap').write_bytes(_mcap())
    shutil.copy(path, bag / 'metadata.yaml')
    return load_recording(bag, ARM)


def _csv_seed():
    names = ['t', *(f'{s}_{n}' for s in ('q', 'tau', 'v') for n in ARM.joint_names)]
    rows = np.column_stack([TIMES, ROWS, TORQUES, SPEEDS])
    return '\n'.join([','.join(names), *(','.join(map(repr, map(float, row))) for row in rows)]
                     ).encode()


def _mat_seed():
    file = io.BytesIO()
    scipy.io.savemat(file, {'t': TIMES, 'q': ROWS, 'tau': TORQUES, 'v': SPEEDS,
                            'joint_names': np.array(ARM.joint_names, object)})
    return file.getvalue()


def _other_csv(kind):
    """Return a CSV file of another layout: with dates, long, or without a header."""
    values = np.column_stack([ROWS, SPEEDS, TORQUES])
    if kind == 'dates':
        lines = _csv_seed().decode().split('\n')
        return '\n'.join([lines[0], *(f'2026-05-03 23:59:59.{k:03d},{line.split(",", 1)[1]}'
                                      for k, line in enumerate(lines[1:], 900))]).encode()
    if kind == 'long':
        return '\n'.join(['time,joint,position,velocity,effort', *(
            f'{t!r},{name},{",".join(map(repr, row[k::ARM.n].tolist()))}'
            for t, row in zip(TIMES.tolist(), values) for k, name in enumerate(ARM.joint_names)
        )]).encode()
    return '\n'.join(f'17,{round(1e9 * t)},,{",".join(ARM.joint_names)},'
                     f'{",".join(map(repr, row.tolist()))}'
                     for t, row in zip(TIMES.tolist(), values)).encode()


def _json_seed():
    return '\n'.join(json.dumps({'t': t, 'q': q, 'v': v, 'tau': tau}) for t, q, v, tau in zip(
        TIMES.tolist(), ROWS.tolist(), SPEEDS.tolist(), TORQUES.tolist())).encode()


def _spoil_lines(rng, raw):
    """Return JSON lines of which some are changed."""
    lines = raw.split(b'\n')
    for _ in range(rng.choice([1, 1, 3])):
        k = rng.randrange(len(lines))
        lines[k] = change.spoil_json(rng, lines[k])
    return b'\n'.join(lines)


def _frame():
    import pandas
    return pandas.read_csv(io.BytesIO(_csv_seed()), float_precision='round_trip')


def _hdf5_seed():
    import h5py
    file = io.BytesIO()
    with h5py.File(file, 'w') as target:
        for name, values in (('t', TIMES), ('q', ROWS), ('tau', TORQUES), ('v', SPEEDS)):
            target.create_dataset(f'log/{name}', data=values, chunks=True, compression='gzip')
    return file.getvalue()


def _feather_seed():
    file = io.BytesIO()
    _frame().to_feather(file)
    return file.getvalue()


def _excel_seed():
    file = io.BytesIO()
    _frame().to_excel(file, index=False)
    return file.getvalue()


def _ros1_seed():
    from rosbags.rosbag1 import Writer
    from rosbags.typesys import get_typestore, Stores
    store = get_typestore(Stores.ROS1_NOETIC)
    kind = 'sensor_msgs/msg/JointState'
    make, head, stamp = (store.types[name] for name in (
        kind, 'std_msgs/msg/Header', 'builtin_interfaces/msg/Time'))
    with tempfile.TemporaryDirectory() as folder:
        with Writer(Path(folder) / 'x.bag') as writer:
            link = writer.add_connection('/joint_states', kind, typestore=store)
            for t, *rows in zip(TIMES, ROWS, SPEEDS, TORQUES):
                header = head(seq=0, stamp=stamp(sec=17, nanosec=round(1e9 * t)), frame_id='')
                writer.write(link, round(1e9 * t), store.serialize_ros1(
                    make(header, [*ARM.joint_names], *rows), kind))
        return (Path(folder) / 'x.bag').read_bytes()


STATE = 'observation.state'
LEROBOT = replace(ARM, recording_keys={
    't': 'timestamp', 'q': f'{STATE}[{{joint}}]', 'tau': 'effort[{joint}]',
    'names': dict(zip(ARM.joint_names, '012')), 'units': {}})


def _parquet_seed():
    import pandas
    file = io.BytesIO()
    pandas.DataFrame({
        'timestamp': TIMES, STATE: list(ROWS), 'effort': list(np.asarray(TORQUES)),
        'episode_index': np.zeros(len(TIMES), int)}).to_parquet(file)
    return file.getvalue()


def _lerobot_seed():
    def write(folder):
        (folder / 'meta').mkdir()
        (folder / 'meta' / 'info.json').write_text(json.dumps({'features': {
            STATE: {'dtype': 'float32', 'shape': [3], 'names': ['0', '1', '2']},
            'effort': {'dtype': 'float32', 'shape': [3], 'names': {'motors': ['0', '1', '2']}},
            'timestamp': {'dtype': 'float32', 'shape': [1], 'names': None}}}))
        (folder / 'file.parquet').write_bytes(_parquet_seed())
    return _folder_seed(write)


NAMED = replace(LEROBOT, recording_keys={
    **LEROBOT.recording_keys, 'q': f'{STATE}.{{joint}}', 'tau': 'effort.{joint}'})


def _read_lerobot(path):
    """Read an episode of a LeRobot dataset, whose columns are named in its meta/info.json."""
    return read_recording(_unpacked(path) / 'file.parquet', NAMED)


def _results_seed():
    """Return the results of an identification, with few points for plots."""
    def write(folder):
        arm = reporting_results.chain(['a', 'b'])
        result = ri.identify(
            arm, [reporting_results.record(arm, 1, 'train.npz', 4.0)],
            held_out=[reporting_results.record(arm, 2, 'other.npz', 4.0)], estimator='ols')
        save_results(result, folder)
        for name in set(os.listdir(folder)) - {RESULTS, PLOTS}:
            (folder / name).unlink()
        with np.load(folder / PLOTS) as plots:
            np.savez(folder / PLOTS, **{
                name: array[..., ::max(1, array.shape[-1] // 8)] for name, array in plots.items()})
        members = {name: (folder / name).read_bytes() for name in (RESULTS, PLOTS)}
        _with_digest(None, members)
        (folder / RESULTS).write_bytes(members[RESULTS])
    return _folder_seed(write)


def _with_digest(rng, members):
    """Write the digest of plots.npz into results.json, as `save_results` does."""
    try:
        content = json.loads(members[RESULTS])
        content['files'][PLOTS] = hashlib.sha256(members[PLOTS]).hexdigest()
        members[RESULTS] = json.dumps(content).encode('utf-8', 'replace')
    except (LookupError, ValueError, TypeError, RecursionError):
        pass


def _read_results(path):
    """Write the report of an identification, and compare it with itself."""
    folder = _unpacked(path)
    write_report(folder)
    compare_command(folder, folder, report=folder / 'comparison.html', force=True, as_json=True)
    compare_command(folder, folder)


def _fleet_seed():
    entry = {'robot': 'ur5e', 'recordings': ['a.csv', '*.yaml'], 'held_out': ['b.csv'],
             'settings': {'estimator': 'wls', 'friction': 'coulomb_viscous', 'delay': True,
                          'thresholds': {'overall': 0.1}}}
    return yaml.safe_dump({
        'robots': {'left': entry, 'right': {'robot': 'arm.yaml', 'recordings': 'c.csv'}},
        'settings': {'estimator': 'auto', 'thresholds': {'overall': 0.1, 'joint': 0.2},
                     'processing': {'cutoff': 5.0}, 'consistency': {}}}).encode()


def _read_fleet(path):
    """Read a fleet file, and the fingerprints of the recordings that it names."""
    fleet = read_fleet(path)
    return [recording_sources.fingerprint(name) for task in fleet.tasks
            for name in (*task.recordings, *task.held_out) if '://' not in name]


def _controllers_seed():
    commands = {'ros__parameters': {'joints': list(ARM.joint_names),
                                    'command_interfaces': ['position'],
                                    'state_interfaces': ['position', 'effort']}}
    return yaml.safe_dump({
        'controller_manager': {'ros__parameters': {'update_rate': 500}},
        'arm_controller': commands, 'other_controller': commands}).encode()


def _read_controllers(path):
    """Read a controllers file beside the robot YAML of its arm."""
    arm = replace(ARM, source=path.parent / f'{ARM.name}.yaml')
    check_controller(arm, 'arm_controller', 'position')
    controllers_for_namespace(replace(arm, tf_prefix='left_'), 'cell', path.parent)


def _joint_limits_seed():
    return yaml.safe_dump({'joint_limits': {
        name: {'has_velocity_limits': True, 'max_velocity': 0.5, 'has_acceleration_limits': True,
               'max_acceleration': 2.0} for name in ARM.joint_names}}).encode()


def _read_joint_limits(path):
    """Apply the limits of a file."""
    return apply_moveit_limits(path, ARM.joint_names, ARM.limits)


def _options_seed():
    options = motions.DesignOptions(
        kind='ffs_rest', velocity=(0.5, 1.0, 1.0), start=(0.0, 0.1, 0.2), time_budget=5.0,
        acceleration=5.0, harmonics=4, workers=2, noise=1.0, requirements=motions.Requirements(
            torque_margin=0.1, payload=motions.Payload(1.0, (0.0, 0.0, 0.1), (0.1, 0.1, 0.1)),
            workspace=(motions.Workspace('three', (-2.0, -2.0, -2.0), (2.0, 2.0, 2.0)),)))
    return yaml.safe_dump(to_plain(options)).encode()


def _read_options(path):
    """Read the options of a design, and build its problem."""
    options = read_options(path)
    limits, _ = motions.motion_limits(ARM, options.velocity, options.acceleration)
    return build_problem(ARM, options, limits)


def _fleet_result_seed():
    result = robot_result.RobotResult('left', 'ur5e', 'broken', 'bad', 0.02, (
        robot_result.RecordingResult('a.csv', 'fitted', '', 1.0, 100.0, 0.02),), (
        robot_result.ParameterResult('shoulder: mass', 'kg', 1.0, 0.1, 0.8, 1.2),),
        (Drift(0, 'payload', 1.0, 0.01, 0.0, 0.0), Drift(1, 'payload', 1.0, 0.01, 1.0, 0.01)),
        inputs={'a.csv': '0'})
    with tempfile.TemporaryDirectory() as folder:
        result.save(Path(folder))
        return (Path(folder) / 'fleet.json').read_bytes()


def _read_fleet_result(path):
    """Use a stored result like the next run of a fleet: page and table."""
    result = robot_result.RobotResult.load(path.parent)
    write_fleet_page([result], path.parent)
    robot_result.write_table([result], path.parent / 'fleet.parquet')


def _xacro_seed():
    space = change.XACRO
    root = ElementTree.fromstring(ARM.urdf)
    for number, (name, value) in enumerate((('half', '0.5'), ('whole', '${2 * half}'))):
        root.insert(number, ElementTree.Element(f'{{{space}}}property', name=name, value=value))
    root.insert(0, ElementTree.Element(f'{{{space}}}arg', {'name': 'speed', 'default': '2.0'}))
    macro = ElementTree.Element(f'{{{space}}}macro', name='empty', params='name:=tool *origin')
    macro.append(ElementTree.Element('link', name='${name}_link'))
    root.insert(3, macro)
    call = ElementTree.Element(f'{{{space}}}empty', name='camera')
    call.append(ElementTree.Element('origin', xyz='0 0 0'))
    unless = ElementTree.Element(f'{{{space}}}if', value='${whole > 2}')
    unless.append(call)
    root.append(unless)
    for limit in root.iter('limit'):
        limit.set('velocity', '$(arg speed)')
    return ElementTree.tostring(root)


def _read_xacro(path):
    """Build an arm from a xacro; the process that expands it is a fork."""
    subprocess.run = forked
    return use_arm(Arm.from_urdf(path))


def _read_mat(path):
    """Read a MATLAB file; the process that converts it is a fork."""
    subprocess.run = forked
    return read_recording(path)


FUZZERS = {
    'csv': Fuzzer('x.csv', _csv_seed, change.spoil_csv, read_recording),
    'npz': Fuzzer('x.npz', _npz_seed, change.spoil_npz, read_recording),
    'mat': Fuzzer('x.mat', _mat_seed, change.spoil_mat, _read_mat),
    'parquet': Fuzzer('x.parquet', _parquet_seed, change.spoil_parquet,
                      partial(read_recording, arm=LEROBOT)),
    'lerobot': Fuzzer('x.zip', _lerobot_seed, partial(change.spoil_member, spoil={
        'meta/info.json': (4, change.spoil_json), 'file.parquet': (1, change.spoil_parquet)}),
        _read_lerobot),
    **{kind: Fuzzer('x.csv', partial(_other_csv, kind), change.spoil_csv, read_recording)
       for kind in ('dates', 'long', 'echo')},
    'json': Fuzzer('x.jsonl', _json_seed, _spoil_lines, read_recording),
    'hdf5': Fuzzer('x.h5', _hdf5_seed, change.flipped, read_recording),
    'feather': Fuzzer('x.feather', _feather_seed, change.flipped, read_recording),
    'excel': Fuzzer('x.xlsx', _excel_seed, change.flipped, read_recording),
    'ros1': Fuzzer('x.bag', _ros1_seed, change.flipped, read_recording),
    'gz': Fuzzer('x.csv.gz', lambda: gzip.compress(_csv_seed()), change.flipped, read_recording),
    'mcap': Fuzzer('x.mcap', _mcap, change.spoil_mcap, read_recording),
    'sqlite': Fuzzer('x.db3', partial(_bag_seed, 'sqlite3'), change.spoil_sqlite, read_recording),
    'metadata': Fuzzer('metadata.yaml', _metadata_seed, change.spoil_yaml, _read_metadata),
    'robot': Fuzzer('x.yaml', _robot_seed, change.spoil_yaml, _read_robot),
    'model': Fuzzer('x.yaml', _model_seed, change.spoil_yaml, _read_model),
    'excitation': Fuzzer('x.yaml', _excitation_seed, partial(
        change.spoil_yaml, digest=_excitation_digest), _read_excitation),
    'options': Fuzzer('options.yaml', _options_seed, change.spoil_yaml, _read_options),
    'limits': Fuzzer('x.yaml', _limits_seed, change.spoil_yaml, _read_limits),
    'urdf': Fuzzer('x.urdf', _urdf_seed, change.spoil_xml, _read_urdf),
    'srdf': Fuzzer('x.srdf', _srdf_seed, change.spoil_xml, _read_srdf),
    'mesh': Fuzzer('x.stl', _mesh_seed, change.spoil_mesh, _read_mesh,
                   quiet=False),    # coal prints about NaN
    'results': Fuzzer('x.zip', _results_seed, partial(change.spoil_member, spoil={
        'results.json': (4, change.spoil_json), 'plots.npz': (1, change.spoil_npz)},
        finish=_with_digest), _read_results),
    'fleet': Fuzzer('fleet.yaml', _fleet_seed, change.spoil_yaml, _read_fleet),
    'fleet_result': Fuzzer('fleet.json', _fleet_result_seed, change.spoil_json,
                           _read_fleet_result),
    'controllers': Fuzzer(f'{ARM.name}_controllers.yaml', _controllers_seed, change.spoil_yaml,
                          _read_controllers),
    'joint_limits': Fuzzer('joint_limits.yaml', _joint_limits_seed, change.spoil_yaml,
                           _read_joint_limits),
    'xacro': Fuzzer('x.urdf.xacro', _xacro_seed, change.spoil_xml, _read_xacro),
}
