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
"""Trajectories: exact derivatives, bounds, rest at the ends."""

from __future__ import annotations

import numpy as np
import pytest
from robot_identification.errors import ExcitationError, UnknownNameError
from robot_identification.excitation import TRAJECTORIES, Trajectory
from robot_identification.excitation.motion import get_series


def a_trajectory(kind, period=8.0, harmonics=3, n=2):
    series = get_series(kind, period, harmonics)
    return Trajectory(series, np.random.default_rng(3).normal(size=(series.size, n)))


@pytest.mark.parametrize('kind', TRAJECTORIES)
@pytest.mark.parametrize('order', range(5))
def test_derivatives_agree_with_finite_differences(kind, order):
    trajectory, h = a_trajectory(kind), 1e-5
    t = np.random.default_rng(4).uniform(0.01, trajectory.period - 0.01, 200)
    expected = (trajectory.derivative(t + h, order)
                - trajectory.derivative(t - h, order)) / (2 * h)
    exact = trajectory.derivative(t, order + 1)
    np.testing.assert_allclose(exact, expected, rtol=1e-6, atol=1e-7 * np.abs(exact).max())


@pytest.mark.parametrize('kind', TRAJECTORIES)
def test_columns_stay_within_their_bounds_and_motions_repeat(kind):
    series = get_series(kind, 8.0, 3)
    t = np.linspace(0, 7.999, 2000)
    for order in range(6):
        peaks = np.abs(series.basis(t, order)).max(axis=0)
        assert np.all(peaks <= series.bounds(order) * (1 + 1e-12))
        if kind == 'ffs':
            np.testing.assert_allclose(peaks, series.bounds(order), rtol=1e-3)
    for order in range(3):
        np.testing.assert_allclose(series.basis(t + 16.0, order), series.basis(t, order),
                                   atol=1e-11)


@pytest.mark.parametrize('kind', TRAJECTORIES)
def test_motions_stay_within_their_largest(kind):
    trajectory = a_trajectory(kind)
    series, x = trajectory.series, trajectory.coefficients
    t = np.linspace(0, series.period, 5000, endpoint=False)
    for order in range(6):
        found = series.largest(x, order)
        assert np.all(np.abs(trajectory.derivative(t, order)).max(axis=0) <= found * (1 + 1e-9))
        assert np.all(found <= series.bounds(order) @ np.abs(x) * (1 + 1e-9))


def test_a_long_spline_through_a_path_is_proven_closely():
    from robot_identification.excitation.design.validation_motions import spline_through
    t = np.linspace(0, 20, 400)
    path = 3.0 - np.cos(2 * np.pi * t / 20)[:, None] * [1.2, 0.8]    # a sum of bounds is loose
    trajectory = spline_through(t, path)
    dense = np.linspace(0, 20, 4001)
    for order in range(1, 4):
        true = np.abs(trajectory.derivative(dense, order)).max(axis=0)
        found = trajectory.series.largest(trajectory.coefficients, order)
        assert np.all(true <= found) and np.all(found <= 1.6 * true)


def test_ffs_is_the_papers_divided_form():
    series = get_series('ffs', 10.0, 2)
    x0, a1, b1, a2, b2 = x = np.array([0.3, 1.0, -2.0, 0.5, 0.7])
    w, t = 2 * np.pi / 10.0, np.linspace(0, 10, 37)
    expected = (x0 + a1 / w * np.sin(w * t) - b1 / w * np.cos(w * t)
                + a2 / (2 * w) * np.sin(2 * w * t) - b2 / (2 * w) * np.cos(2 * w * t))
    np.testing.assert_allclose(series.basis(t) @ x, expected, atol=1e-14)


def test_mfs_starts_and_ends_at_rest_at_its_start():
    trajectory = a_trajectory('mfs')
    for t in (0.0, np.nextafter(8.0, 0), 8.0, 24.0):
        q, v, a = trajectory.evaluate([t], 2)
        np.testing.assert_allclose(q[0], trajectory.coefficients[0], atol=1e-12)
        np.testing.assert_allclose(np.concatenate([v, a]), 0.0, atol=1e-11)
    ffs = Trajectory(get_series('ffs', 8.0, 3), trajectory.coefficients)
    t = np.linspace(0, 8, 50)[:-1]
    rest = trajectory.derivative(t, 6) - ffs.derivative(t, 6)
    np.testing.assert_allclose(rest, 0.0, atol=1e-9)    # the remainder is a quintic polynomial


def test_refuses_what_is_no_trajectory():
    with pytest.raises(UnknownNameError, match='ffs, ffs_rest, mfs, spline'):
        get_series('polygon', 10.0, 5)
    with pytest.raises(ExcitationError, match='period must be a positive number'):
        get_series('ffs', 0.0, 5)
    with pytest.raises(ExcitationError, match='harmonics must be a whole number'):
        get_series('ffs', 10.0, 0)
    with pytest.raises(ExcitationError, match='needs 11 coefficients'):
        Trajectory(get_series('ffs', 10.0, 5), np.zeros((10, 7)))
    with pytest.raises(ExcitationError, match='not all finite'):
        Trajectory(get_series('ffs', 10.0, 1), np.full((3, 2), np.nan))
