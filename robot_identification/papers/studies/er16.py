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
"""The ER-16 of the ABC and ICS papers: its motions, its data, its unknowns, the signal chains."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from robot_identification.arm import Arm, load_arm
from robot_identification.arrays import Array
from robot_identification.estimation import get_estimator
from robot_identification.excitation import design, Excitation, Requirements
from robot_identification.papers.differentiation import (
    differentiate_lines,
    fit_series,
    smooth_five_point,
)
from robot_identification.papers.searches import Bounds
from robot_identification.papers.searches.problem import SearchProblem
from robot_identification.papers.searches.ranges import search_bounds
from robot_identification.papers.studies.study import correlations
from robot_identification.regression import build_regression
from robot_identification.signals import process, Samples
from robot_identification.simulation import Plant, PlantOptions, simulate, SimulatedRun

PERIOD, HARMONICS = 25.0, 5
RECORDED = 1000.0    # [Hz], of the simulated recording and of the ABC paper
KEPT = 25.0          # [Hz]; rows that enter a fit, the motion ends at 0.2 Hz
REVERSAL = 0.05
"""Rows slower than this [rad/s] at a joint are near its reversal."""
JOINTS = (1, 2, 3)
CORRELATIONS = tuple(f'{kind} {j}' for kind in ('fit', 'validation') for j in JOINTS)
ASSUMPTIONS = (
    'a representative geometry of the ER-16: the papers lost their tables',
    'the plant: inertias up to 20 % from the URDF, Coulomb and viscous friction of 5 to 10 % of '
    'the rated torque each, Stribeck excess of 30 % below 0.1 rad/s, 17-bit encoders, 2 ms '
    'delay, torque noise of 1 % of the rated torque, a joint controller of 15 Hz; MuJoCo moves it',
    'our own five-harmonic motion within Table 1, base frequency 0.04 Hz: the printed '
    'coefficients break the accelerations of Table 1, and 0.05 Hz is not a period of 25 s',
    '25 unknowns with linear and 31 with atan friction where the papers have 21 and 30: rotor '
    'inertia is identified (the papers take it from the maker) and friction has an offset',
    'search scopes: 60 % of the URDF scale, friction up to the torque of the joint (Tables lost)',
    f'of data sampled faster than {KEPT:g} Hz every so many-th row enters the fit, after all '
    f'smoothing and differentiation')


@dataclass(frozen=True)
class SignalChain:
    """
    How samples are made of a recording.

    Parameters
    ----------
    label
        In tables.
    rate
        Rate at which the recording is read [Hz].
    passes
        Passes of the five-point smoothing over positions and torques, (15).
    method
        Velocities and accelerations: 'low-pass' (Butterworth, cut-off from the data), 'fit' (least
        squares by the Fourier series) or 'DFT' (excited lines times j w and -w^2).

    """

    label: str
    rate: float
    passes: int
    method: str

    def samples(self, run: SimulatedRun, arm: Arm, harmonics: int) -> Samples:
        """Return the samples of one period."""
        if self.method == 'low-pass':
            whole = process(run.recording, arm, decimation_cutoff=np.inf)
            t, q, v, a, tau = whole.t, whole.q, whole.v, whole.a, whole.tau
        else:
            rows = slice(0, round(PERIOD * RECORDED), round(RECORDED / self.rate))
            t = run.recording.t[rows]
            q = smooth_five_point(run.recording.joint_position(arm)[rows], self.passes)
            tau = smooth_five_point(run.recording.joint_torque(arm)[rows], self.passes)
            q, v, a = (fit_series(t, q, PERIOD, harmonics) if self.method == 'fit' else
                       differentiate_lines(q, self.rate, len(q), harmonics))
        every = max(1, round(self.rate / KEPT))
        t, q, v, a, tau = (x[::every] for x in (t, q, v, a, tau))
        return Samples(t=t, q=q, v=v, a=a, tau=tau, rate=self.rate / every,
                       joint_names=arm.joint_names, segments=(slice(0, len(t)),))


OURS = SignalChain('ours: 1 kHz, low-passed positions, raw torques', RECORDED, 0, 'low-pass')
ABC = SignalChain('ABC paper: 1 kHz, smoothed, Fourier fit', RECORDED, 1, 'fit')
ICS = SignalChain('ICS paper: 1 Hz, smoothed, DFT', 1.0, 1, 'DFT')
STEPS = {
    'abc': (ABC, SignalChain('without smoothing', RECORDED, 0, 'fit'),
            SignalChain('smoothed ten times', RECORDED, 10, 'fit'),
            SignalChain('differentiated by DFT', RECORDED, 1, 'DFT'), OURS),
    'ics': (ICS, SignalChain('without smoothing', 1.0, 0, 'DFT'),
            SignalChain('at 10 Hz', 10.0, 1, 'DFT'),
            SignalChain('at 1 kHz', RECORDED, 1, 'DFT'), OURS)}


@dataclass(frozen=True, eq=False)
class Experiment:
    """
    One excitation run and one validation run of the simulated arm.

    Parameters
    ----------
    arm
        Its first three joints.
    motions
        Five harmonics to fit, three to check.
    runs
        Runs of the two motions.
    chain
        How samples to fit are made; those to check are made in our way.

    """

    arm: Arm
    motions: tuple[Excitation, Excitation]
    runs: tuple[SimulatedRun, SimulatedRun]
    chain: SignalChain = OURS

    @classmethod
    def build(cls, quick: bool, seed: int, motions: tuple[Excitation, Excitation] | None = None,
              ) -> Experiment:
        """Design the motions where none are given, and move the arm of that seed."""
        arm = load_arm('er16')
        if motions is None:
            first, other = (design(arm, kind='ffs', period=PERIOD, harmonics=harmonics,
                                   starts=1 if quick or harmonics == 3 else 3, seed=seed + k,
                                   requirements=Requirements())
                            for k, harmonics in enumerate((HARMONICS, 3)))
            motions = (first, other)
        plant, rng = Plant(arm, PlantOptions(seed=seed)), np.random.default_rng(seed)
        one, two = (simulate(plant, motion, rng=rng) for motion in motions)
        return cls(arm, motions, (one, two))

    def build_arms(self, seed: int, arms: int) -> list[Experiment]:
        """Return `arms` experiments on the same motions, this one first."""
        return [self, *(Experiment.build(True, seed + k, self.motions) for k in range(1, arms))]

    def with_chain(self, chain: SignalChain) -> Experiment:
        """Return the same experiment with samples from another signal chain."""
        return Experiment(self.arm, self.motions, self.runs, chain)

    @cached_property
    def fit(self) -> Samples:
        """Samples to fit."""
        return self.chain.samples(self.runs[0], self.arm, HARMONICS)

    @cached_property
    def check(self) -> Samples:
        """Samples to validate on."""
        return OURS.samples(self.runs[1], self.arm, 3)

    def problem(self, friction: str, ranges: str = 'urdf') -> tuple[SearchProblem, Bounds]:
        """Return the unknowns of the fit with a friction model, and the box that is searched."""
        problem = SearchProblem(build_regression(self.arm, [self.fit], friction))
        return problem, search_bounds(problem, ranges)

    def prediction(self, friction: str, values: Array, samples: Samples) -> Array:
        """Return the torques (N, n) that unknowns (d,) predict for samples."""
        problem = SearchProblem(build_regression(self.arm, [samples], friction))
        predicted: Array = samples.tau - problem.residuals(values)
        return predicted

    def correlations(self, friction: str, values: Array) -> tuple[float, ...]:
        """Return the correlation coefficients of each joint, of the fit and of the validation."""
        return tuple(float(x) for samples in (self.fit, self.check) for x in correlations(
            samples.tau, self.prediction(friction, values, samples)))

    def near_reversals(self, friction: str, values: Array, samples: Samples) -> tuple[float, ...]:
        """Return RMS errors of each joint near its reversals, then elsewhere, (2 n,) [N m]."""
        error = samples.tau - self.prediction(friction, values, samples)
        slow = np.abs(samples.v) < REVERSAL
        return tuple(float(np.sqrt(np.mean(error[rows, j] ** 2)))
                     for mask in (slow, ~slow) for j, rows in enumerate(mask.T))

    def least_squares(self, friction: str) -> Array:
        """Return the unknowns (d,) of least squares, by variable projection over shapes."""
        estimate = get_estimator('ols').fit(build_regression(self.arm, [self.fit], friction))
        shape = estimate.base.structure.shape
        return np.append(estimate.values, np.log(shape.ravel()))
