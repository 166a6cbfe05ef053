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
"""The ER-16 of the ABC and ICS papers: its motions, its data, its unknowns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arm import Arm, load_arm
from robot_identification.arrays import Array
from robot_identification.estimation.search import Bounds
from robot_identification.estimation.search.problem import SearchProblem
from robot_identification.estimation.search.ranges import search_bounds
from robot_identification.excitation import design, Requirements
from robot_identification.regression import build_regression
from robot_identification.signals import process, Samples
from robot_identification.simulation import Plant, PlantOptions, simulate, SimulatedRun

PERIOD, SHORT = 25.0, 10.0
THINNING = 10
REVERSAL = 0.05
"""Rows slower than this [rad/s] at a joint are near its reversal."""
ASSUMPTIONS = (
    'a representative geometry of the ER-16: the papers lost their tables',
    'the plant: inertias up to 20 % from the URDF, Coulomb and viscous friction of 5 to 10 % of '
    'the rated torque each, Stribeck excess of 30 % below 0.1 rad/s, 17-bit encoders, 2 ms '
    'delay, torque '
    'noise of 1 % of the rated torque, a joint controller of 15 Hz; MuJoCo moves it',
    'our own five-harmonic motion within Table 1, base frequency 0.04 Hz: the printed '
    'coefficients '
    'break the accelerations of Table 1',
    'rotor inertia is identified, not compensated: the paper takes it from the maker',
    'search scopes: 60 % of the URDF scale, friction up to the torque of the joint (Tables lost)')


@dataclass(frozen=True, eq=False)
class Experiment:
    """
    One excitation run and one validation run of the simulated arm.

    Parameters
    ----------
    arm
        Its first three joints.
    fit, check
        Processed samples of the two runs, every tenth of 1 kHz.
    fit_run, check_run
        The runs.
    condition
        Condition number of the excitation.

    """

    arm: Arm
    fit: Samples
    check: Samples
    fit_run: SimulatedRun
    check_run: SimulatedRun
    condition: float

    def problem(self, friction: str) -> tuple[SearchProblem, Bounds]:
        """Return the unknowns of the fit with a friction model, and the box that is searched."""
        problem = SearchProblem(build_regression(self.arm, [self.fit], friction))
        return problem, search_bounds(problem)

    def prediction(self, friction: str, values: Array, samples: Samples) -> Array:
        """Return the torques (N, n) that unknowns (d,) predict for samples."""
        regression = build_regression(self.arm, [samples], friction)
        problem = SearchProblem(regression)
        predicted: Array = samples.tau - problem.residuals(values)
        return predicted

    def near_reversals(self, friction: str, values: Array, samples: Samples) -> tuple[float, ...]:
        """Return RMS errors of each joint near its reversals, then elsewhere, (2 n,) [N m]."""
        error = samples.tau - self.prediction(friction, values, samples)
        slow = np.abs(samples.v) < REVERSAL
        return tuple(float(np.sqrt(np.mean(error[rows, j] ** 2)))
                     for mask in (slow, ~slow) for j, rows in enumerate(mask.T))


def er16_experiment(quick: bool, seed: int) -> Experiment:
    """
    Design the motions, move the simulated arm and process what it published.

    Velocities and accelerations come from low-passed positions; torques are not filtered.

    Parameters
    ----------
    quick
        A shorter motion and fewer starts of its design.
    seed
        Of the designs, the arm and its noise.

    """
    arm = load_arm('er16')
    starts, period = (1, SHORT) if quick else (3, PERIOD)
    excitation = design(arm, kind='ffs', period=period, harmonics=5, starts=starts, seed=seed,
                        requirements=Requirements())
    other = design(arm, kind='ffs', period=period, harmonics=3, starts=1, seed=seed + 1,
                   requirements=Requirements())
    plant = Plant(arm, PlantOptions(seed=seed))
    rng = np.random.default_rng(seed)
    runs = [simulate(plant, motion, rng=rng, name=name)
            for motion, name in ((excitation, 'excitation'), (other, 'three harmonics'))]
    fit, check = (thinned(process(run.recording, arm, decimation_cutoff=np.inf)) for run in runs)
    return Experiment(arm, fit, check, runs[0], runs[1], excitation.condition_number)


def thinned(samples: Samples) -> Samples:
    """Return every tenth sample."""
    rows = np.concatenate([np.arange(s.start, s.stop, THINNING) for s in samples.segments])
    return Samples(
        t=samples.t[rows], q=samples.q[rows], v=samples.v[rows], a=samples.a[rows],
        tau=samples.tau[rows], rate=samples.rate / THINNING, joint_names=samples.joint_names,
        segments=_runs(samples), processing=samples.processing)


def _runs(samples: Samples) -> tuple[slice, ...]:
    runs, start = [], 0
    for segment in samples.segments:
        count = len(range(segment.start, segment.stop, THINNING))
        runs.append(slice(start, start + count))
        start += count
    return tuple(runs)
