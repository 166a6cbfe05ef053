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
"""The simulated ER-16 of the ABC and ICS papers, with motions, signal chains and unknowns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from robot_identification.arm import Arm, load_arm
from robot_identification.arrays import Array
from robot_identification.estimation import get_estimator
from robot_identification.excitation import design, Excitation, Requirements
from robot_identification.papers import differentiation
from robot_identification.papers.searches import Bounds
from robot_identification.papers.searches.objective import MeanAbsolute
from robot_identification.papers.searches.problem import SearchProblem
from robot_identification.papers.searches.ranges import search_bounds
from robot_identification.papers.studies import pid_plant
from robot_identification.papers.studies.study import correlations, Draw, LazyResults
from robot_identification.regression import build_regression
from robot_identification.signals import process, Samples
from robot_identification.simulation import PlantOptions, simulate, SimulatedRun

PERIOD, HARMONICS, CHECKED = 25.0, 5, 3    # [s]; of excitation and validation, as printed
RECORDED = PlantOptions.rate    # [Hz] 1 kHz, as in the ABC paper
KEPT = 25.0          # [Hz] rate of the fitted rows; the motion has no frequency above 0.2 Hz
RESOLUTION = 0.001
"""Resolution of a current relative to the rated one, as in object 0x6078 of CiA 402 (assumed)."""
REVERSAL = 0.05
"""[rad/s] joint speed below which a row counts as near a reversal."""
JOINTS = (1, 2, 3)    # the joints that both papers identify
CORRELATIONS = tuple(f'{kind} {j}' for kind in ('fit', 'validation') for j in JOINTS)
ASSUMPTIONS = (
    'a representative geometry of the ER-16, whose tables are missing in our copies of the papers',
    'the plant, simulated by MuJoCo: inertias up to 20 % from the URDF, Coulomb and viscous '
    'friction of 5 to 10 % of the rated torque each, Stribeck excess of 30 % below 0.1 rad/s, '
    '17-bit encoders, 2 ms delay, and torque noise of 1 % of the rated torque',
    'our own motion with five harmonics of 0.04 Hz within the limits of Table 1: the printed '
    'coefficients exceed its acceleration limits, and the printed 0.05 Hz contradicts the period '
    'of 25 s',
    '25 unknowns with linear friction and 31 with atan friction, 21 and 30 in the papers: here '
    "rotor inertia is identified (the papers use the manufacturer's) and friction has an offset",
    pid_plant.ASSUMPTION,
    "search ranges: 60 % of the URDF's scale, friction up to the torque of the joint (the papers' "
    'tables are missing in our copies)',
    f'data sampled faster than {KEPT:g} Hz is thinned to that rate for the fit, after all '
    f'smoothing and differentiation')


@dataclass(frozen=True)
class SignalChain:
    """
    Signal processing from a recording to samples.

    Parameters
    ----------
    label
        Name in tables.
    rate
        Sampling rate at which the recording is read [Hz].
    passes
        Number of passes of five-point smoothing of positions and torques, equation (15).
    method
        Differentiation: 'low-pass' (Butterworth, cut-off from the data), 'fit' (least-squares fit
        of a Fourier series) or 'DFT' (spectral lines times j w and -w^2).
    constant
        Assumed torque constant of the drives relative to the true one, for torques that are
        recorded as currents, equation (16) of the ABC paper; 0: torques are recorded.

    """

    label: str
    rate: float
    passes: int
    method: str
    constant: float = 0.0

    def samples(self, run: SimulatedRun, arm: Arm, harmonics: int) -> Samples:
        """Return the processed samples of a simulated recording of one period."""
        if self.method == 'low-pass':
            samples = process(run.recording, arm, decimation_cutoff=np.inf)
            t, q, v, a, tau = samples.t, samples.q, samples.v, samples.a, samples.tau
        else:
            rows = slice(0, round(PERIOD * RECORDED), round(RECORDED / self.rate))
            t = run.recording.t[rows]
            q, tau = (differentiation.smooth_five_point(x[rows], self.passes) for x in (
                run.recording.joint_position(arm), self._torque(run, arm)))
            q, v, a = (
                differentiation.fit_series(t, q, PERIOD, harmonics) if self.method == 'fit' else
                differentiation.differentiate_lines(q, self.rate, len(q), harmonics))
        every = max(1, round(self.rate / KEPT))
        t, q, v, a, tau = (x[::every] for x in (t, q, v, a, tau))
        return Samples(t=t, q=q, v=v, a=a, tau=tau, rate=self.rate / every,
                       joint_names=arm.joint_names, segments=(slice(0, len(t)),))

    def _torque(self, run: SimulatedRun, arm: Arm) -> Array:
        """Return the measured torques (N, n) [N m], by way of currents if there are any."""
        torque, rated = run.recording.joint_torque(arm), run.plant.truth.rated_torque
        if not self.constant:
            return torque
        current = np.rint(torque / rated / RESOLUTION) * RESOLUTION    # of the rated current
        converted: Array = self.constant * rated * current
        return converted


OURS = SignalChain('ours: 1 kHz, low-passed positions, raw torques', RECORDED, 0, 'low-pass')
ABC = SignalChain('ABC paper: 1 kHz, smoothed, Fourier fit', RECORDED, 1, 'fit')
ICS = SignalChain('ICS paper: 1 Hz, smoothed, DFT', 1.0, 1, 'DFT')
ICS_FASTER = SignalChain('at 10 Hz', 10.0, 1, 'DFT')
ICS_FASTEST = SignalChain('at 1 kHz', RECORDED, 1, 'DFT')
CURRENTS = 'torques by way of motor currents'
WRONG = 1.05    # torque constant relative to the true one, in a row of the table of chains


def _with_currents(method: str, rate: float) -> tuple[SignalChain, ...]:
    return (SignalChain(CURRENTS, rate, 1, method, 1.0),
            SignalChain(f'the same, torque constant {WRONG - 1:.0%} too large', rate, 1, method,
                        WRONG))


STEPS = {
    'abc': (ABC, SignalChain('without smoothing', RECORDED, 0, 'fit'),
            SignalChain('smoothed ten times', RECORDED, 10, 'fit'),
            SignalChain('differentiated by DFT', RECORDED, 1, 'DFT'),
            *_with_currents('fit', RECORDED), OURS),
    'ics': (ICS, SignalChain('without smoothing', 1.0, 0, 'DFT'), ICS_FASTER, ICS_FASTEST,
            *_with_currents('DFT', 1.0), OURS)}


@dataclass(frozen=True, eq=False)
class Experiment:
    """
    One excitation run and one validation run of the simulated arm.

    Parameters
    ----------
    draw
        Seeds.
    runs
        Excitation with five harmonics and validation motion with three, and their simulated runs,
        by number of harmonics.
    chain
        Signal chain of the fitted samples; that of validation samples is always `OURS`.

    """

    draw: Draw
    runs: Mapping[int, tuple[Excitation, SimulatedRun]]
    chain: SignalChain = OURS

    @classmethod
    def build(cls, draw: Draw) -> Experiment:
        """Return the experiment of a draw; motions are designed and simulated on first use."""
        arm = load_arm('er16')
        plant = pid_plant.PidPlant(arm, PlantOptions(seed=draw.arm))
        rng = np.random.default_rng(draw.noise)

        def run(harmonics: int) -> tuple[Excitation, SimulatedRun]:
            if harmonics == CHECKED:
                runs[HARMONICS]    # the noise of both runs is drawn in this order
            motion = design(arm, kind='ffs', period=PERIOD, harmonics=harmonics, starts=1,
                            seed=draw.design + (harmonics == CHECKED),
                            requirements=Requirements())
            return motion, simulate(plant, motion, rng=rng)

        runs = LazyResults((HARMONICS, CHECKED), run)
        return cls(draw, runs)

    @property
    def arm(self) -> Arm:
        """Arm with the first three joints of the ER-16."""
        return self.runs[HARMONICS][1].plant.arm

    @property
    def condition(self) -> float:
        """Condition number of the excitation."""
        return float(self.runs[HARMONICS][0].condition_number or 0)

    def with_chain(self, chain: SignalChain) -> Experiment:
        """Return the same experiment with samples from another signal chain."""
        return Experiment(self.draw, self.runs, chain)

    @cached_property
    def fit(self) -> Samples:
        """Samples of the excitation, for the fit."""
        return self.chain.samples(self.runs[HARMONICS][1], self.arm, HARMONICS)

    @cached_property
    def check(self) -> Samples:
        """Samples of the validation motion."""
        return OURS.samples(self.runs[CHECKED][1], self.arm, CHECKED)

    def problem(self, friction: str, ranges: str = 'urdf') -> tuple[SearchProblem, Bounds]:
        """Return the search problem for a friction model, and the bounds of its unknowns."""
        problem = SearchProblem(build_regression(self.arm, [self.fit], friction))
        return problem, search_bounds(problem, ranges)

    def prediction(self, friction: str, values: Array, samples: Samples) -> Array:
        """Return predicted torques (N, n) [N m] of samples for unknowns (d,)."""
        problem = SearchProblem(build_regression(self.arm, [samples], friction))
        predicted: Array = samples.tau - problem.residuals(values)
        return predicted

    @property
    def rated_torque(self) -> Array:
        """Rated torques of the joints, (n,) [N m]."""
        return self.runs[HARMONICS][1].plant.truth.rated_torque

    def correlations(self, friction: str, values: Array) -> tuple[float, ...]:
        """Return each joint's correlation of measured and predicted torque: fit, validation."""
        return tuple(float(x) for samples in (self.fit, self.check) for x in correlations(
            samples.tau, self.prediction(friction, values, samples)))

    def doubt(self, friction: str, values: Array) -> float:
        """Return one minus the smallest correlation of the validation."""
        return 1 - min(self.correlations(friction, values)[3:])

    def near_reversals(self, friction: str, values: Array, samples: Samples) -> tuple[float, ...]:
        """Return RMS torque errors of each joint near reversals, then elsewhere, (2 n,) [N m]."""
        error = samples.tau - self.prediction(friction, values, samples)
        slow = np.abs(samples.v) < REVERSAL
        return tuple(float(np.sqrt(np.mean(error[rows, j] ** 2)))
                     for mask in (slow, ~slow) for j, rows in enumerate(mask.T))

    def least_squares(self, friction: str) -> Array:
        """Return the least-squares unknowns (d,); variable projection finds friction shapes."""
        estimate = get_estimator('ols').fit(build_regression(self.arm, [self.fit], friction))
        shape = estimate.base.structure.shape
        return np.append(estimate.values, np.log(shape.ravel()))


@dataclass(frozen=True, eq=False)
class Case:
    """
    An experiment with a friction model and ranges of the parameters, built when it is used.

    Parameters
    ----------
    experiment
        The experiment with its signal chain.
    friction
        Name of the friction model.
    ranges
        'urdf' or 'estimate', see `search_bounds`.

    """

    experiment: Experiment
    friction: str
    ranges: str = 'urdf'

    @cached_property
    def problem(self) -> tuple[SearchProblem, Bounds]:
        """Search problem and bounds."""
        return self.experiment.problem(self.friction, self.ranges)

    @cached_property
    def cost(self) -> MeanAbsolute:
        """Cost (9) of the ABC paper and (11) of the ICS paper [N m]."""
        return MeanAbsolute(self.problem[0])

    @cached_property
    def square(self) -> tuple[Array, float]:
        """Least-squares estimate and its cost."""
        values = self.experiment.least_squares(self.friction)
        return values, float(self.cost(values[None])[0])
