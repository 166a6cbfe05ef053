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
"""Filters, resampling, differentiation, averaging and decimation compared with known truth."""

from __future__ import annotations

import numpy as np
import pytest
from robot_identification.errors import SignalError, UnknownNameError
from robot_identification.papers.differentiation import (
    differentiate_lines,
    fit_series,
    series_basis,
    smooth_five_point,
    smoothing_passes,
)
from robot_identification.signals import (
    average_periods,
    DifferentiationOptions,
    resample,
    zero_phase_lowpass,
)
from robot_identification.signals.averaging import detect_period
from robot_identification.signals.cutoff import position_cutoff
from robot_identification.signals.decimation import Decimator
from robot_identification.signals.differentiation import METHODS
from robot_identification.signals.filters import (
    central_differences,
    filter_both_ways,
    lowpass_sections,
    power_density,
)
from scipy import signal

RNG_SEED = 20


def sine(t, frequency, phase=0.3):
    """Return position, velocity and acceleration of a sine, each (N, 1)."""
    w = 2 * np.pi * frequency
    x = w * np.asarray(t)[:, None] + phase
    return np.sin(x), w * np.cos(x), -w * w * np.sin(x)


def relative(estimate, truth):
    return np.linalg.norm(estimate - truth) / np.linalg.norm(truth)


# --- filters ---------------------------------------------------------------------------------

def test_central_differences_have_the_stated_error():
    for share in (0.05, 0.1, 0.2):
        t = np.arange(400) / 100.0
        q, v, a = sine(t, share * 100.0)
        first, second = central_differences(q, 100.0)
        w = 2 * np.pi * share
        inner = slice(4, -4)
        assert relative(first, v[inner]) == pytest.approx(w ** 8 / 630, rel=0.4)
        assert relative(second, a[inner]) == pytest.approx(w ** 8 / 3150, rel=0.4)


def test_butterworth_gain_is_half_at_the_cutoff_without_phase():
    t = np.arange(4000) / 200.0
    q = sine(t, 5.0)[0]
    out = zero_phase_lowpass(q, 5.0, 200.0)[1000:3000]
    assert out == pytest.approx(0.5 * q[1000:3000], abs=2e-3)
    assert np.array_equal(zero_phase_lowpass(q, np.inf, 200.0), q)


@pytest.mark.parametrize('cutoff, rate', [(7.5, 5000.0), (5.0, 100.0), (49.0, 100.0)])
def test_filter_is_the_butterworth_filter_of_scipy(cutoff, rate):
    x = np.cumsum(np.random.default_rng(0).normal(size=(2000, 2)), axis=0)
    sections = signal.butter(4, cutoff, fs=rate, output='sos')
    expected = signal.sosfiltfilt(sections, x, axis=0)
    np.testing.assert_allclose(
        filter_both_ways(lowpass_sections(cutoff, rate), x), expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        filter_both_ways(sections, x[:, 0], 40), signal.sosfiltfilt(sections, x[:, 0], padlen=40),
        rtol=0, atol=1e-9)


@pytest.mark.parametrize('length', [64, 65, 500])
def test_power_density_is_that_of_welch(length):
    x = np.cumsum(np.random.default_rng(0).normal(size=(500, 2)), axis=0)
    for ours, expected in zip(power_density(x, 125.0, length),
                              signal.welch(x, 125.0, nperseg=length, axis=0)):
        np.testing.assert_allclose(ours, expected, rtol=1e-9)


def test_butterworth_refuses_cutoffs_that_cannot_be():
    q = np.zeros((500, 1))
    with pytest.raises(SignalError, match='half the rate'):
        zero_phase_lowpass(q, 60.0, 100.0)
    with pytest.raises(SignalError, match='too short'):
        zero_phase_lowpass(q[:20], 1.0, 100.0)


def test_five_point_smoothing_keeps_cubics_and_follows_its_gain():
    t = np.linspace(-1, 1, 60)[:, None]
    cubic = 1 + 2 * t - 3 * t ** 2 + 4 * t ** 3
    assert smooth_five_point(cubic, 25) == pytest.approx(cubic, abs=1e-12)
    line = sine(np.arange(3000) / 100.0, 10.0)[0]
    passes = smoothing_passes(10.0, 100.0)
    w = 2 * np.pi * 0.1
    gain = ((17 + 24 * np.cos(w) - 6 * np.cos(2 * w)) / 35) ** passes
    assert gain == pytest.approx(0.5, abs=0.01)
    assert smooth_five_point(line, passes)[500:-500] == pytest.approx(
        gain * line[500:-500], abs=1e-6)


def test_five_point_smoothing_uses_the_papers_end_formulas():
    rng = np.random.default_rng(RNG_SEED)
    y = rng.normal(size=(9, 1))
    z = smooth_five_point(y)[:, 0]
    a, b, c, d, e = y[:5, 0]
    assert z[0] == pytest.approx((69 * a + 4 * (b + d) - 6 * c - e) / 70)
    assert z[1] == pytest.approx((2 * (a + e) + 27 * b + 12 * c - 8 * d) / 35)
    assert smooth_five_point(y[::-1])[::-1, 0] == pytest.approx(z)


# --- resampling ------------------------------------------------------------------------------

def jittered(count, rng):
    """Return stamps that alternate between 10 and 12 ms, as on a UR10e."""
    steps = np.where(rng.random(count) < 1 / 3, 0.012, 0.010)
    return np.cumsum(steps)


def test_resampling_restores_a_jittered_sine():
    t = jittered(3000, np.random.default_rng(RNG_SEED))
    out = resample(t, sine(t, 3.0)[0])
    assert out.stamps == 'recorded'
    assert np.diff(out.t) == pytest.approx(0.010, abs=1e-9)
    assert relative(out.signals[0], sine(out.t, 3.0)[0]) < 2e-4
    linear = np.interp(out.t, t, sine(t, 3.0)[0][:, 0])[:, None]
    rough = 20 * relative(out.signals[0], sine(out.t, 3.0)[0])
    assert relative(linear, sine(out.t, 3.0)[0]) > rough


def test_stamps_of_a_late_recorder_are_evened():
    rng = np.random.default_rng(RNG_SEED)
    even = np.arange(3000) / 200.0
    late = even + rng.uniform(-0.4, 0.4, 3000) / 1000
    out = resample(late, sine(even, 1.0)[0])
    assert out.stamps == 'uniform'
    assert relative(out.signals[0], sine(out.t, 1.0)[0]) < 2e-3
    kept = resample(late, sine(even, 1.0)[0], stamps='recorded')
    assert kept.stamps == 'recorded'


def test_nothing_is_interpolated_across_a_gap():
    t = np.arange(4000) / 100.0
    keep = np.ones(4000, dtype=bool)
    keep[1000:1100] = False
    keep[1103:1200] = False
    q = sine(t, 1.0)[0]
    out = resample(t[keep], q[keep])
    assert out.gaps == 2 and len(out.segments) == 2
    assert out.dropped == pytest.approx(0.02)
    assert not np.any((out.t > 9.995) & (out.t < 11.995))
    for rows in out.segments:
        assert np.diff(out.t[rows]) == pytest.approx(0.01)


def test_a_long_signal_is_resampled_piece_by_piece_as_whole(monkeypatch):
    rng = np.random.default_rng(0)
    t = np.sort(np.arange(4000) / 100 + rng.uniform(0, 4e-3, 4000))
    x = np.column_stack([np.sin(3 * t), rng.normal(size=len(t))])
    whole = resample(t, x, stamps='recorded')
    monkeypatch.setattr('robot_identification.signals.resampling._BLOCK', 300)
    pieces = resample(t, x, stamps='recorded')
    np.testing.assert_allclose(pieces.signals[0], whole.signals[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(pieces.t, whole.t, rtol=0, atol=1e-12)


def test_further_signals_are_resampled_like_the_first():
    rng = np.random.default_rng(0)
    t = np.cumsum(rng.uniform(0.008, 0.012, 300))
    t[150:] += 1.0
    q, tau = rng.normal(size=(2, 300, 3))
    alone, torque = (resample(t, x, stamps='recorded') for x in (q, tau))
    both = resample(t, q, tau, stamps='recorded')
    np.testing.assert_array_equal(both.signals[0], alone.signals[0])
    np.testing.assert_array_equal(both.signals[1], torque.signals[0])


def test_repeated_and_backward_stamps_are_refused():
    for stamp in (0.15, 0.2):
        with pytest.raises(SignalError, match='do not increase at sample 3'):
            resample([0.0, 0.1, 0.2, stamp, 0.3], np.zeros((5, 1)))
    with pytest.raises(SignalError, match='longest unbroken run'):
        resample(np.repeat(np.arange(10), 2) + np.tile([0, 0.1], 10), np.zeros((20, 1)))
    with pytest.raises(UnknownNameError, match='auto, recorded, uniform'):
        resample(np.arange(20) / 10.0, np.zeros((20, 1)), stamps='guess')


# --- cut-off ---------------------------------------------------------------------------------

def two_lines(t):
    """Return a motion with lines at 0.5 and 3 Hz and nothing between them."""
    slow, fast = sine(t, 0.5), sine(t, 3.0, 1.0)
    return tuple(s + 0.3 * f for s, f in zip(slow, fast, strict=True))


@pytest.mark.parametrize('rate', [100.0, 1000.0])
@pytest.mark.parametrize('disturb', ['noise', 'quantised', 'clean'])
def test_automatic_cutoff_gives_near_the_best_acceleration(rate, disturb):
    t = np.arange(int(20 * rate)) / rate
    q, v, a = two_lines(t)
    rng = np.random.default_rng(RNG_SEED)
    measured = {'clean': q, 'noise': q + 1e-4 * rng.normal(size=q.shape),
                'quantised': np.round(q * 4096) / 4096}[disturb]

    def errors(cutoff):
        motion = METHODS['butterworth'].differentiate(
            measured, rate, DifferentiationOptions(np.array([cutoff])))
        rows = slice(motion.first, motion.first + len(motion.q))
        return relative(motion.v, v[rows]), relative(motion.a, a[rows])

    chosen = float(position_cutoff(measured, rate, ('joint',))[0][0])
    best = min(errors(fc)[1] for fc in np.geomspace(4, 0.4 * rate, 15))
    velocity, acceleration = errors(chosen)
    if disturb == 'clean':
        assert chosen > 30 and velocity < 1e-4 and acceleration < 2e-3
    else:
        assert acceleration < 6 * best and acceleration < 0.005
        assert velocity < 0.001
        assert errors(0.4 * rate)[1] > 5 * acceleration


def test_motion_too_fast_for_the_rate_is_refused():
    t = np.arange(1000) / 50.0
    with pytest.raises(SignalError, match=r"joint 'elbow'.*record at"):
        position_cutoff(sine(t, 10.0)[0], 50.0, ('elbow',))
    noise = 1e-4 * np.random.default_rng(0).normal(size=(500, 1))
    with pytest.raises(SignalError, match='the arm rests in this recording'):
        position_cutoff(noise, 50.0, ('elbow',))


# --- differentiation -------------------------------------------------------------------------

@pytest.mark.parametrize('method', sorted(METHODS))
@pytest.mark.parametrize('wrap', [False, True])
def test_every_method_differentiates_a_noisy_periodic_motion(method, wrap):
    rate, period = 200.0, 800
    t = np.arange(800 if wrap else 3300) / rate
    q, v, a = sine(t, 0.5)
    q = q + 1e-5 * np.random.default_rng(RNG_SEED).normal(size=q.shape)
    cutoff = np.array([20.0 if method == 'smoothing' else 5.0])
    options = DifferentiationOptions(cutoff, period=period, wrap=wrap)
    motion = METHODS[method].differentiate(q, rate, options)
    rows = slice(motion.first, motion.first + len(motion.q))
    assert len(motion.q) == 800 if wrap else len(motion.q) > 2900
    assert relative(motion.q, q[rows]) < 1e-3
    assert relative(motion.v, v[rows]) < 1e-3
    assert relative(motion.a, a[rows]) < 1e-2


def test_edges_spoilt_by_the_filter_are_cut():
    rate = 200.0
    t = np.arange(1000) / rate
    q = t[:, None] ** 3 / 6
    motion = METHODS['butterworth'].differentiate(q, rate, DifferentiationOptions(np.array([4.0])))
    rows = slice(motion.first, motion.first + len(motion.q))
    assert np.abs(motion.a - t[rows, None]).max() < 0.025 * t[-1]
    with pytest.raises(SignalError, match='at least'):
        METHODS['butterworth'].differentiate(
            q[:100], rate, DifferentiationOptions(np.array([4.0])))


def test_series_basis_derivatives_match_finite_differences():
    h = 1e-6
    t = np.linspace(0.1, 4.7, 50)
    for basis in ('ffs', 'mfs'):
        up, down = series_basis(t + h, 5.0, 3, basis), series_basis(t - h, 5.0, 3, basis)
        here = series_basis(t, 5.0, 3, basis)
        for order in (0, 1):
            slope = (up[order] - down[order]) / (2 * h)
            assert slope == pytest.approx(here[order + 1], abs=1e-6)


def test_fits_are_exact_for_their_own_series():
    rng = np.random.default_rng(RNG_SEED)
    t = np.arange(1000) / 100.0
    for basis in ('ffs', 'mfs'):
        truth = [m @ rng.normal(size=(m.shape[1], 2))
                 for m in series_basis(t, 5.0, 4, basis)[:1]]
        values, first, second = series_basis(t, 5.0, 4, basis)
        c = np.linalg.lstsq(values, truth[0], rcond=None)[0]
        for got, want in zip(fit_series(t, truth[0], 5.0, 4, basis),
                             (values @ c, first @ c, second @ c), strict=True):
            assert got == pytest.approx(want, abs=1e-8 * np.abs(want).max())
    with pytest.raises(SignalError, match='one full period'):
        fit_series(t, truth[0], 20.0, 4)
    with pytest.raises(SignalError, match='harmonics have 2000000000001 coefficients'):
        fit_series(t, truth[0], 5.0, 10 ** 12)


def test_lines_between_the_excited_ones_are_taken_out():
    t = np.arange(2000) / 100.0
    q, v, a = sine(t, 0.6)
    disturbed = q + 0.1 * sine(t, 0.65)[0]
    got = differentiate_lines(disturbed, 100.0, 500, 10)
    for values, truth in zip(got, (q, v, a), strict=True):
        assert values == pytest.approx(truth, abs=1e-9 * np.abs(truth).max())
    with pytest.raises(SignalError, match='whole number of periods'):
        differentiate_lines(q[:1999], 100.0, 500, 10)


# --- periods ---------------------------------------------------------------------------------

def periodic(t, period):
    phase = 2 * np.pi * np.asarray(t)[:, None] / period
    return np.hstack([np.sin(phase) + 0.4 * np.cos(3 * phase), np.cos(2 * phase + 1)])


def test_period_is_found_between_samples():
    t = np.arange(4500) / 200.0
    rng = np.random.default_rng(RNG_SEED)
    q = periodic(t, 12.5663) + 1e-4 * rng.normal(size=(4500, 2))
    assert detect_period(q, 200.0) == pytest.approx(12.5663, abs=1e-3)


def test_no_period_is_made_up():
    t = np.arange(4500) / 200.0
    with pytest.raises(SignalError, match='does not repeat'):
        detect_period(periodic(t, 12.5663)[:3000], 200.0)
    drifting = periodic(t, 5.0) + 0.1 * t[:, None]
    with pytest.raises(SignalError, match='does not repeat'):
        detect_period(drifting, 200.0)
    with pytest.raises(SignalError, match='no joint moves'):
        detect_period(np.ones((100, 2)), 100.0)


def test_noise_variance_is_unbiased_and_is_that_of_one_sample():
    rng = np.random.default_rng(RNG_SEED)
    period, sigma = 200, np.array([0.5, 2.0])
    truth = periodic(np.arange(period), period)
    for count in (2 * period, 2 * period + 90, 7 * period):
        x = np.resize(truth, (count, 2)) + sigma * rng.normal(size=(count, 2))
        mean, variance = average_periods(x, period)
        freedom = count - period
        ratio = variance / sigma ** 2
        assert np.all(np.abs(ratio - 1) < 4 * np.sqrt(2 / freedom))
        spread = np.mean((mean - truth) ** 2, axis=0) / sigma ** 2
        assert spread == pytest.approx(period / count, rel=0.4)
    with pytest.raises(SignalError, match='no repetition'):
        average_periods(x[:100], period)


# --- decimation ------------------------------------------------------------------------------

def test_decimator_is_linear_blockwise_and_keeps_constants():
    rng = np.random.default_rng(RNG_SEED)
    decimator = Decimator(1000.0, 12.0)
    x = rng.normal(size=(5000, 3, 4))
    whole = decimator.apply(x)
    assert len(whole) == decimator.rows(5000) == len(decimator.centres(5000))
    pieces = [decimator.apply(x[rows]) for rows, _ in decimator.blocks(5000, 7)]
    assert np.concatenate(pieces) == pytest.approx(whole, abs=1e-12)
    theta = rng.normal(size=4)
    assert decimator.apply(x @ theta) == pytest.approx(whole @ theta, abs=1e-12)
    assert decimator.apply(np.full((3000, 1), 7.0)) == pytest.approx(7.0)
    direct = np.convolve(x[:, 0, 0], decimator.taps, 'same')[decimator.centres(5000)]
    assert whole[:, 0, 0] == pytest.approx(direct, abs=1e-12)


def test_decimator_has_no_delay():
    decimator = Decimator(1000.0, 10.0)
    t = np.arange(4000) / 1000.0
    rows = decimator.apply(sine(t, 2.0)[0])
    assert rows == pytest.approx(sine(t[decimator.centres(4000)], 2.0)[0], abs=4e-3)


def test_white_noise_stays_white_with_the_stated_variance():
    for rate, cutoff in ((1000.0, 12.0), (100.0, 5.0), (100.0, 20.0)):
        decimator = Decimator(rate, cutoff)
        taps, factor = decimator.taps, decimator.factor
        for k in (1, 2, 3):
            overlap = taps[:len(taps) - k * factor] @ taps[k * factor:]
            assert abs(overlap) < 2e-3 * decimator.noise_gain
        assert decimator.noise_gain * factor == pytest.approx(1, abs=0.02)
    noise = np.random.default_rng(RNG_SEED).normal(size=(200_000, 1))
    decimator = Decimator(1000.0, 100.0)
    assert decimator.apply(noise).var() == pytest.approx(decimator.noise_gain, rel=0.02)


def test_decimator_stops_what_lies_above_and_can_be_off():
    decimator = Decimator(1000.0, 10.0)
    t = np.arange(4000) / 1000.0
    assert np.abs(decimator.apply(sine(t, 17.0)[0])).max() < 0.03
    off = Decimator(1000.0, np.inf)
    assert off.factor == 1 and off.half_length == 0 and off.noise_gain == 1
    assert np.array_equal(off.apply(t[:, None]), t[:, None])
    assert Decimator(100.0, np.inf).factor == Decimator(100.0, 50.0).factor == 1
    with pytest.raises(SignalError, match='not positive'):
        Decimator(100.0, 0.0)
