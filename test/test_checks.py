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
"""Checks: no alarm for good recordings, and the right alarm for each corruption."""

from dataclasses import replace
import importlib
from pathlib import Path
import sys

from check_arms import chain, record
import numpy as np
import pytest
from robot_identification import identify, load_model, Recording, validate
from robot_identification.dynamics.identified_model import UNCERTAINTY
from robot_identification.errors import (
    EstimationError,
    ModelFileError,
    RecordingError,
    UnknownNameError,
)
from robot_identification.regression.packing import RowAssembler
from robot_identification.signals import process
from robot_identification.signals.effort_check import EffortCheck
from robot_identification.validation import Thresholds
from robot_identification.validation.checks import CheckInput, CHECKS
from robot_identification.validation.checks.run_checks import worst_findings
from robot_identification.validation.held_out import full_recording_error
from robot_identification.validation.verdict import Finding

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'benchmarks'))
corruptions = importlib.import_module('corruptions')


@pytest.fixture(scope='module')
def arm():
    return chain()


@pytest.fixture(scope='module')
def pair(arm):
    return record(arm, 1, 'fitted'), record(arm, 2, 'other')


def loaded(arm, recording):
    """Return a recording of the same motion with a ball of 0.7 kg at the flange."""
    return corruptions.added_torque(arm, recording, corruptions.payload_torque(0.7))


def alarms(verdict):
    found = {finding.check for finding in verdict.alarms}
    if any(held_out.repeat for held_out in verdict.held_out):
        found.add('repeats')
    return found | {'verdict'} if verdict.reasons else found


@pytest.mark.parametrize('seed', [1, 3, 5, 7])
def test_good_recordings_give_no_alarm(arm, seed):
    result = identify(arm, [record(arm, seed, 'a')], held_out=[record(arm, seed + 1, 'b')])
    assert not result.verdict.alarms, [f.sentence for f in result.verdict.alarms]
    assert result.verdict.passed
    seen = {finding.check for finding in result.verdict.findings}
    assert seen >= {'joint gain', 'time scale', 'velocity', 'delay', 'saturation', 'payload'}


@pytest.mark.parametrize(
    'corruption', [c for c in corruptions.CORRUPTIONS if c.right is not None],
    ids=lambda c: c.name)
def test_each_corruption_is_noticed_by_the_right_check(arm, pair, corruption):
    first, second = corruptions.spoil(corruption, arm, *pair, 2)
    try:
        verdict = identify(arm, [first], held_out=[second]).verdict
    except (RecordingError, EstimationError) as error:
        assert 'refused' in corruption.right, error
        return
    if corruption.right:
        assert alarms(verdict) & set(corruption.right)
        assert not verdict.passed
    else:
        assert verdict.held_out[0].relative_error < 0.04    # 0.005 without the corruption


@pytest.mark.parametrize('seed', [1, 3, 5])
def test_exchanged_neighbours_are_named(arm, seed):
    """All pairs, with all signals or efforts only; `identify` rejects some by their gravity."""
    good = record(arm, seed, 'a')
    result = identify(arm, [good])
    for first in range(arm.n - 1):
        order = np.arange(arm.n)
        order[[first, first + 1]] = first + 1, first
        for what, moved in (('positions and efforts', order), ('efforts', np.arange(arm.n))):
            spoilt = Recording(good.t, good.q[:, moved], good.tau[:, order], v=good.v[:, moved],
                               name='a', joint_names=arm.joint_names)
            estimate = result.estimate
            finding = CHECKS.find('exchanged joints').run(CheckInput(
                'a', result.model, spoilt, process(spoilt, arm), estimate.base, estimate.values))
            assert finding.alarm, finding.text
            assert f'the {what} of j{first + 1} and j{first + 2} exchanged' in finding.text


@pytest.mark.parametrize('height, alarm', [(0.3, False), (3.0, True)])
def test_efforts_that_jump_between_limits_are_not_torques_of_the_motion(arm, pair, height, alarm):
    good = pair[0]
    jumps = np.where(np.arange(len(good)) % 3 == 0, 1.0, -0.5)[:, None]
    spoilt = replace(good, tau=good.tau + height * np.std(good.tau, axis=0) * jumps)
    finding = CHECKS.find('effort jumps').run(
        CheckInput('a', identify(arm, [good]).model, spoilt))
    assert finding.alarm is alarm
    assert ('command_interface:=effort' in finding.sentence) is alarm


@pytest.mark.parametrize('height, alarm', [(0.02, False), (3.0, True)])
def test_negative_friction_counts_if_the_drive_would_notice_it(arm, pair, height, alarm):
    """A viscous torque of the wrong sign, small or large against the torque limit."""
    good, limit = pair[0], arm.limits.torque
    result = identify(arm, [good])
    speed = np.gradient(good.q, good.t, axis=0)
    spoilt = replace(good, tau=good.tau - height * 1e-3 * limit * speed / np.std(speed, axis=0))
    spoilt = replace(spoilt, tau=spoilt.tau - result.model.friction_torque(speed))
    finding = CHECKS.find('dissipation').run(CheckInput(
        'a', result.model, spoilt, process(spoilt, arm), result.estimate.base,
        result.estimate.values))
    assert finding.alarm is alarm, finding.text


@pytest.mark.parametrize('offset', [-0.3, 0.2])
@pytest.mark.parametrize('joint', [1, 2])
def test_the_offset_of_an_encoder_is_estimated(arm, joint, offset):
    """Only of the parallel j2 and j3; offsets of j1 (vertical) and j4 (last) have no effect."""
    good = record(arm, 1, 'a')
    q = good.q + offset * (np.arange(arm.n) == joint)
    verdict = identify(arm, [Recording(good.t, q, good.tau, v=good.v, name='a',
                                       joint_names=arm.joint_names)]).verdict
    alarm = next(f for f in verdict.alarms if f.check == 'encoder offset')
    assert alarm.joint in ('j2', 'j3')
    assert alarm.figure == pytest.approx(offset, abs=0.4 * abs(offset))
    finding = next(f for f in identify(arm, [good]).verdict.findings
                   if f.check == 'encoder offset')
    assert abs(finding.figure) < 0.02
    assert 'not identifiable from this motion for j1, j4' in finding.text


@pytest.mark.parametrize(('signal', 'joint'), [('gravity', None), ('predicted', 2)])
def test_the_deviation_of_an_effect_is_that_of_a_jackknife(arm, pair, signal, joint):
    """Compared with least-squares fits of the stacked rows without each block."""
    result = identify(arm, [pair[0]])
    regression = CheckInput('a', result.model, pair[0], result.training[0], result.estimate.base,
                            result.estimate.values).regression
    rank, mine = len(regression.beta), [joint] if joint is not None else range(arm.n)
    column, equation = getattr(regression, signal), regression.equation
    stacked = np.zeros((*equation.target.shape, rank + 1))
    for j, (columns, rows) in enumerate(zip(equation.columns, equation.rows)):
        stacked[:, j, columns] = rows
    for j in mine:
        stacked[:, j, -1] = (column * regression.weights)[:, j]
    found = []
    for block in np.unique(regression.block):
        rest = regression.block != block
        found.append(np.linalg.lstsq(stacked[rest].reshape(-1, rank + 1),
                                     equation.target[rest].ravel(), rcond=1e-12)[0][-1])
    count = len(found)
    assert count > 20
    effect = regression.add_column(column, joint)
    assert effect.std == pytest.approx(np.sqrt((count - 1) * np.var(found)), rel=1e-5)


@pytest.mark.parametrize(('where', 'alarm'), [('at rest', False), ('throughout', True)])
def test_a_torque_that_leads_at_rest_alone_is_friction(arm, pair, where, alarm):
    result, joint = identify(arm, [pair[0]]), 1
    case = CheckInput('a', result.model, pair[0], result.training[0], result.estimate.base,
                      result.estimate.values)
    regression = case.regression
    speed = np.abs(regression.samples.decimate(regression.samples.v)[:, joint])
    rows = (speed < 0.05 * speed.max()) | (where == 'throughout')
    lead = np.zeros_like(regression.slope)
    lead[rows, joint] = regression.slope[rows, joint]
    lead *= 0.1 * np.sum(regression.slope[:, joint] ** 2) / np.sum(lead ** 2)
    equation = regression.equation
    regression.__dict__['equation'] = replace(
        equation, target=equation.target + lead * regression.weights)
    effect = case.regression.add_column(-regression.slope, joint)
    assert effect.exceeds(-0.02) and effect.value < -0.02 and effect.explained > 0.25
    found = CHECKS.find('delay').run(case)
    assert found.alarm == alarm and ('j2 leads' in found.text) >= alarm


def test_errors_of_the_model_count_in_the_mass_of_a_payload(arm, pair):
    """Model errors are not taken for a load; a model file without them still loads."""
    model = identify(arm, [pair[0]]).model
    found = {}
    for scale in (0, 1, 100):
        rows = (scale * np.array(model.information[UNCERTAINTY])).tolist()
        uncertain = replace(model, information={**model.information, UNCERTAINTY: rows})
        verdict = validate(uncertain, loaded(arm, pair[1])).verdict
        found[scale] = next(f for f in verdict.findings if f.check == 'payload')
    assert [finding.alarm for finding in found.values()] == [True, True, False]
    assert found[1].threshold < found[100].threshold / 10
    bare = replace(model, information={key: value for key, value in model.information.items()
                                       if key != UNCERTAINTY})
    old = validate(bare, loaded(arm, pair[1])).verdict
    assert next(f for f in old.findings if f.check == 'payload') == found[0]


def test_alarms_are_sentences_with_a_way_out(arm, pair):
    double = [Recording(r.t, r.q, 2 * r.tau, v=r.v, joint_names=r.joint_names, name=r.name)
              for r in pair]
    verdict = identify(arm, double[:1], held_out=double[1:]).verdict
    alarm = next(f for f in verdict.alarms if f.check == 'gravity scale')
    assert alarm.figure == pytest.approx(2.2, abs=0.05)
    assert 'gain' in alarm.text
    assert verdict.status == 'doubtful' and not verdict.passed and verdict.exit_code == 3
    assert any('gravity scale' in doubt for doubt in verdict.doubts)
    assert 'doubtful' in verdict.sentence and 'gain' in verdict.sentence
    strict = identify(arm, double[:1], held_out=double[1:], thresholds=Thresholds(strict=True))
    assert strict.verdict.status == 'failed' and strict.verdict.exit_code == 1
    assert any('gravity scale' in reason for reason in strict.verdict.reasons)


@pytest.mark.parametrize(('scale', 'deviation', 'alarm'), [
    (2.0, 0.1, True), (0.5, 0.1, True), (-1.0, 0.1, True), (1.2, 0.01, False),
    (-0.91, 0.55, False), (-50.0, 20.0, False)])    # arms whose torques are mostly friction
def test_gravity_that_is_hardly_known_gives_no_alarm(arm, pair, scale, deviation, alarm):
    model = identify(arm, pair[:1]).model
    effort = EffortCheck(scale, np.full(arm.n, scale), '', deviation)
    case = CheckInput('held out', model, pair[1], process(pair[1], arm), effort=effort)
    assert CHECKS.find('gravity scale').run(case).alarm == alarm


def test_a_model_that_was_edited_is_refused_and_one_without_digest_loads(arm, pair, tmp_path):
    path = tmp_path / 'model.yaml'
    model = identify(arm, [pair[0]]).model
    model.save(path)
    assert load_model(path).digest_verified
    text = path.read_text()
    mass = repr(float(model.inertial[1, 0]))
    assert text.count(mass) == 1
    path.write_text(text.replace(mass, repr(1.03 * float(model.inertial[1, 0]))))
    with pytest.raises(ModelFileError, match='changed after it was written'):
        load_model(path)
    lines = [line for line in text.splitlines() if not line.startswith('digest:')]
    path.write_text('\n'.join(lines))
    old = load_model(path)
    assert not old.digest_verified
    assert old.inertial == pytest.approx(model.inertial)
    origin = [f for f in validate(old, pair[1]).verdict.findings if 'origin' in f.check]
    assert 'no digest' in origin[0].text


def test_a_model_without_its_training_motion_gives_an_alarm(arm, pair):
    model = identify(arm, [pair[0]]).model
    bare = replace(model, information={k: v for k, v in model.information.items()
                                       if k != 'training_motion'})
    assert 'origin of the model' in alarms(validate(bare, pair[0]).verdict)
    assert 'repeats' in alarms(validate(model, pair[0]).verdict)


def test_checks_are_a_family_with_questions_and_origins():
    assert all(check.name == name and check.question.endswith('?') and check.threshold_source
               for name, check in CHECKS.items())
    with pytest.raises(UnknownNameError, match='gravity scale'):
        CHECKS.find('nothing')


def test_a_periodic_recording_is_validated_by_its_mean(arm, pair):
    once, count = pair[1], 3
    t = np.arange(count * len(once.t)) / once.rate
    periods = Recording(t, *(np.tile(x, (count, 1)) for x in (once.q, once.tau)), name='other',
                        joint_names=once.joint_names)
    validation = validate(identify(arm, [pair[0]]).model, periods, processing={'average': True})
    assert validation.verdict.passed and len(validation.t) > 0.99 * len(t)


def test_the_whole_motion_counts_rests_and_gaps():
    t = np.arange(0, 6, 0.01)
    measured = np.ones((len(t), 1))
    predicted = np.where(t[:, None] < 3, 1.0, 0.8)
    kept = (t < 4) | (t > 4.5)
    assert full_recording_error([(t, measured, t[kept], predicted[kept])]) == pytest.approx(
        0.2 * np.sqrt(2.5 / 5), rel=0.02)
    assert np.isnan(full_recording_error([(t[:50], measured[:50], t, predicted)]))
    later = t + 1e9 * (t > 3)    # more clock steps than fit into memory
    assert np.isnan(full_recording_error([(later, measured, later, predicted)]))


def test_a_recording_counts_once(arm, pair):
    twin = replace(pair[0], name='copy')
    with pytest.raises(RecordingError, match="'copy' are identical"):
        identify(arm, [pair[0], twin])
    noisy = replace(twin, tau=twin.tau + np.random.default_rng(0).normal(0, 0.01, twin.tau.shape))
    assert len(identify(arm, [pair[0], noisy]).fitted) == 2    # the same motion, recorded twice


def test_positions_that_never_move_are_no_velocities_to_compare(arm, pair, recwarn):
    still = replace(pair[1], q=np.zeros_like(pair[1].q), v=np.zeros_like(pair[1].q))
    model = identify(arm, [pair[0]]).model
    CHECKS.find('time scale').run(CheckInput('other', model, still))
    assert not recwarn.list


@pytest.mark.parametrize(('step', 'seconds', 'alarm'), [
    (0.0, 0.0, False), (0.0, 0.05, False), (0.0, 0.3, True), (4.0, 0.0, False)])
def test_a_lost_effort_is_named_and_a_coarse_one_is_not(arm, pair, step, seconds, alarm):
    tau = np.array(pair[1].tau)
    if step:
        tau = np.rint(tau / step) * step
    tau[1000:1000 + round(seconds * pair[1].rate), 1] = tau[1000, 1]
    model = identify(arm, [pair[0]]).model
    found = CHECKS.find('stuck effort').run(CheckInput('other', model, replace(pair[1], tau=tau)))
    assert found.alarm is alarm
    if alarm:
        assert found.joint == 'j2'


@pytest.mark.parametrize('height, alarm', [(0.01, False), (1.0, True)])
def test_friction_stops_a_slow_joint_and_only_a_fast_one_cannot_stop(arm, pair, height, alarm):
    """A joint moves off from rest: slowly, as with friction, or faster than it can accelerate."""
    still = replace(arm, limits=replace(arm.limits, acceleration=np.full(arm.n, 5.0)))
    model = identify(still, [pair[0]], held_out=[pair[1]]).model
    q = pair[1].q.copy()
    t = pair[1].t
    q[:, 3] = height * np.clip(t - 2.0, 0.0, 1.0)
    recording = replace(pair[1], q=q, v=None)
    found = CHECKS.find('encoder').run(CheckInput('other', model, recording))
    assert found.alarm is alarm


@pytest.mark.parametrize(('threshold', 'figures', 'worst'), [
    (1.5, (0.7, 0.2, 0.6), 0.2), (-0.02, (-0.05, -0.4), -0.4), (0.1, (0.2, 0.7, 0.3), 0.7)])
def test_the_worst_piece_is_the_one_farthest_beyond_its_threshold(threshold, figures, worst):
    """The figures of some checks are better the larger they are, and an alarm comes first."""
    findings = [Finding('check', 'long', figure, threshold, '-', True, '') for figure in figures]
    findings.append(Finding('check', 'long', threshold, threshold, '-', False, ''))
    found, = worst_findings(findings)
    assert found.figure == worst


@pytest.mark.parametrize(('cutoff', 'rates'), [(20.0, 1), (5.0, 2)])
def test_rows_are_built_once_for_the_fit_and_once_for_the_checks(arm, pair, monkeypatch, cutoff,
                                                                 rates):
    """The lack of fit needs rows at 10 Hz, exchanged positions need rows of their own."""
    built, original = [], RowAssembler.__init__

    def count(self, base, samples, load=None):
        built.append(samples)
        original(self, base, samples, load)

    monkeypatch.setattr(RowAssembler, '__init__', count)
    result = identify(arm, [pair[0]], processing={'decimation_cutoff': cutoff})
    exchanged = sum(bool(np.any(samples.q[0] != built[0].q[0])) for samples in built)
    assert 0 < exchanged < arm.n and len(built) - exchanged == 1 + rates
    assert result.model.band is not None
