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
"""Designs: quality, limits at all times, repeatability; requests that cannot be met."""

from __future__ import annotations

import dataclasses

from excitation_arms import chain, LIMIT, tree
import numpy as np
import pytest
from robot_identification.arm import load_arm
from robot_identification.dynamics.regressor import joint_torque_regressor
from robot_identification.errors import ArmError, ExcitationError, UnknownNameError
from robot_identification.excitation import (
    CRITERIA,
    design,
    DesignOptions,
    motion_limits,
    Requirements,
    Trajectory,
)
from robot_identification.excitation.certificate.joint_limits import prove_peaks
from robot_identification.excitation.design.design import build_problem
from robot_identification.excitation.design.problem import Problem
from robot_identification.excitation.motion import get_series

FREE = {'kind': 'ffs', 'requirements': Requirements()}    # only limits of the motion
QUICK = {'harmonics': 3, 'period': 6.0, 'acceleration': 8.0, 'samples_per_period': 50, **FREE}


def excess(excitation, margin=0.0):
    """Return by how much a motion exceeds its limits at random times, relative to the ranges."""
    t = np.random.default_rng(9).uniform(0, excitation.period, 20_000)
    limits = excitation.limits
    q, v, a = excitation.trajectory.evaluate(t, 2)
    middle, half = (limits.upper + limits.lower) / 2, (limits.upper - limits.lower) / 2
    used = [np.abs(q - middle) / half, np.abs(v) / limits.velocity,
            np.abs(a) / limits.acceleration]
    return max(float(x.max()) for x in used) - (1.0 - margin)


def test_panda_is_excited_well_within_its_limits():
    arm = load_arm('panda')
    found = design(arm, starts=2, workers=2, margin=0.0, **FREE)
    t = 10.0 * np.arange(100) / 100
    rows = joint_torque_regressor(arm, *found.trajectory.evaluate(t, 2), backend='pinocchio')
    values = np.linalg.svd(rows.reshape(-1, 70), compute_uv=False)
    assert found.rank == 43 and values[43] < 1e-9 * values[0]
    assert found.condition_number == pytest.approx(values[0] / values[42], rel=1e-9)
    assert found.value == pytest.approx(found.condition_number, rel=1e-6)
    assert found.condition_number < 6.5
    assert -0.01 < excess(found) < 0
    assert found.status.startswith('converged')


@pytest.mark.parametrize('arm', [chain(), tree()], ids=['chain', 'tree'])
@pytest.mark.parametrize('kind', ['ffs', 'mfs'])
def test_limits_hold_at_all_times(arm, kind):
    found = design(arm, starts=2, margin=0.05, **{**QUICK, 'kind': kind})
    assert -0.01 < excess(found, 0.05) < 0
    assert 0.94 < found.usage.max() <= 0.95
    if kind == 'mfs':
        _, v, a = found.trajectory.evaluate([0.0, found.period], 2)
        np.testing.assert_allclose([v, a], 0.0, atol=1e-9)


def test_jerk_limits_are_respected_where_they_are_given():
    arm = chain()
    jerk = np.array([5.0, np.inf, 2.0])
    arm = dataclasses.replace(arm, limits=dataclasses.replace(arm.limits, jerk=jerk))
    found = design(arm, starts=1, **QUICK)
    peaks = np.abs(found.trajectory.derivative(np.linspace(0, 6, 5000), 3)).max(axis=0)
    assert np.all(peaks <= jerk) and np.all(found.usage <= 1)
    assert max(peaks[0] / 5, peaks[2] / 2) > 0.98 * 0.95    # of the default margin
    free = design(chain(), starts=1, **QUICK)
    peaks = np.abs(free.trajectory.derivative(np.linspace(0, 6, 5000), 3)).max(axis=0)
    assert peaks[0] > 5 or peaks[2] > 2


def test_each_criterion_is_best_at_what_it_minimises():
    arm = chain()
    found = {name: design(arm, criterion=name, starts=3, **QUICK) for name in CRITERIA}
    limits, _ = motion_limits(arm, acceleration=8.0)
    for name in CRITERIA:
        options = DesignOptions(**{**QUICK, 'criterion': name})
        objective = build_problem(arm, options, limits).objective
        values = {other: objective.evaluate(excitation.trajectory.coefficients).value
                  for other, excitation in found.items()}
        assert values[name] == pytest.approx(found[name].value)
        assert all(not objective.criterion.better(values[other], values[name])
                   for other in CRITERIA if other != name)


def test_equal_seeds_give_equal_designs_on_any_number_of_threads():
    one, two, other = (design(tree(), starts=3, seed=seed, workers=workers, **QUICK)
                       for seed, workers in ((4, 1), (4, 3), (5, 1)))
    np.testing.assert_array_equal(one.trajectory.coefficients, two.trajectory.coefficients)
    assert one.history == two.history
    assert not np.array_equal(one.trajectory.coefficients, other.trajectory.coefficients)


def test_the_best_start_is_taken():
    found = design(tree(), starts=4, **QUICK)
    assert len(found.history) == 4 and len(set(found.history)) > 1
    assert found.value == pytest.approx(min(found.history), rel=1e-2)


def test_a_start_that_obstacles_leave_without_motion_is_drawn_again(monkeypatch):
    drawn = []

    def start(problem, rng, draw=Problem.start):
        drawn.append(draw(problem, rng))
        return drawn[-1] if len(drawn) > 2 else np.zeros_like(drawn[-1])

    monkeypatch.setattr(Problem, 'start', start)
    found = design(chain(), starts=1, **QUICK)
    assert len(drawn) == 3 and np.isfinite(found.condition_number)
    monkeypatch.setattr(Problem, 'start', lambda problem, rng: np.zeros_like(drawn[0]))
    with pytest.raises(ExcitationError, match='does not excite every base parameter'):
        design(chain(), starts=1, **QUICK)


def test_a_time_budget_ends_with_a_usable_motion_and_says_so():
    found = design(load_arm('panda'), starts=50, time_budget=0.5, **FREE)
    assert found.seconds < 5
    assert 'stopped by the time budget' in found.status and 'of 50 starts' in found.status
    assert excess(found) < 0 and np.isfinite(found.condition_number)


def test_progress_is_reported_and_can_end_the_design():
    seen = []
    design(chain(), starts=2, progress=seen.append, **QUICK)
    assert seen[-1].finished == 2 and seen[-1].fraction == 1.0 and np.isfinite(seen[-1].best)

    def interrupt(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        design(chain(), starts=100, progress=interrupt, **QUICK)


def test_mfs_starts_where_it_is_told():
    start = np.array([0.5, -0.4, 1.0])
    found = design(chain(), start=start, starts=1, **{**QUICK, 'kind': 'mfs'})
    np.testing.assert_array_equal(found.trajectory.coefficients[0], start)
    np.testing.assert_allclose(found.sample(100.0).q[0], start, atol=1e-12)
    assert excess(found) < 0


def test_joints_without_end_stay_within_pi_and_it_is_said():
    arm = chain((LIMIT, LIMIT, '<limit velocity="2.0" effort="50"/>'), kind='continuous')
    found = design(arm, starts=1, **QUICK)
    assert len(found.notes) == 1 and "'wrist'" in found.notes[0] and '3.1416' in found.notes[0]
    assert np.abs(found.sample(500.0).q[:, 2]).max() <= np.pi


def test_proven_peaks_are_true_and_tight():
    arm = chain()
    limits, _ = motion_limits(arm, acceleration=8.0)
    for kind in ('ffs', 'mfs'):
        series = get_series(kind, 6.0, 3)
        trajectory = Trajectory(series, np.random.default_rng(10).normal(size=(series.size, 3)))
        proven = prove_peaks(trajectory, limits)[1:3]
        _, v, a = trajectory.evaluate(np.linspace(0, 6, 200_001), 2)
        true = np.array([np.abs(v).max(0) / limits.velocity,
                         np.abs(a).max(0) / limits.acceleration])
        assert np.all(proven >= true) and np.all(proven <= true * (1 + 1e-4))


def test_missing_limits_are_named_with_the_way_out():
    with pytest.raises(ExcitationError, match=r'acceleration limits of shoulder, elbow, wrist are '
                                              r'unknown.*init --acceleration.*, or as '
                                              r'acceleration='):
        design(chain(), **FREE)
    fast = LIMIT.replace('velocity="2.0"', 'velocity="0"')
    with pytest.raises(ExcitationError, match='velocity limits of elbow are unknown'):
        design(chain((LIMIT, fast, LIMIT)), acceleration=8.0, **FREE)


@pytest.mark.parametrize(('options', 'words'), [
    ({'acceleration': [8.0, 0.0, 8.0]}, "joint 'elbow': the acceleration limit must be positive"),
    ({'velocity': -1.0}, "joint 'shoulder': the velocity limit must be positive"),
    ({'velocity': np.nan}, 'velocity must be a number, not nan'),
    ({'acceleration': [8.0, 8.0]}, 'one number or 3'),
    ({'margin': 1.0}, 'margin must be a number of at least 0 and below 1'),
    ({'starts': 0}, 'starts must be a whole number of at least 1'),
    ({'samples_per_period': 3}, '3 samples a period are too few for'),
    ({'start': np.zeros(3)}, "use the kind 'mfs'"),
    ({'kind': 'mfs', 'start': [0.0, 5.0, 0.0]}, "start of joint 'elbow' must lie in"),
])
def test_requests_that_cannot_be_met(options, words):
    with pytest.raises(ExcitationError, match=words):
        design(chain(), **{**QUICK, **options})


def test_contradicting_limits_are_refused():
    arm = chain()
    limits = dataclasses.replace(arm.limits, lower=np.array([-1.0, 3.0, -1.0]))
    with pytest.raises(ArmError, match="'elbow': the lower position limit 3 is not below"):
        dataclasses.replace(arm, limits=limits)


def test_unknown_names_list_the_known_ones():
    for option in ('kind', 'criterion', 'optimiser'):
        with pytest.raises(UnknownNameError, match='choose from: '):
            design(chain(), **{**QUICK, option: 'nonsense'})


def test_sliding_joints_without_limits_are_refused():
    arm = tree()
    upper = np.where(arm.prismatic, np.inf, arm.limits.upper)
    limits = dataclasses.replace(arm.limits, upper=upper)
    with pytest.raises(ExcitationError, match="prismatic joint 'slide' has no position limits"):
        design(dataclasses.replace(arm, limits=limits), **QUICK)
