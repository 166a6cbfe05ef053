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
"""Calculation methods of the survey (Zhang et al. 2018) on one data set, and their errors."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
import time

import numpy as np
from robot_identification.arm import Arm, load_arm
from robot_identification.arrays import Array
from robot_identification.estimation import fit_consistent, get_estimator
from robot_identification.excitation import Excitation
from robot_identification.online.torque_filter import TorqueFilter
from robot_identification.papers.searches import Bounds, get_search
from robot_identification.papers.searches.objective import MeanAndDeviation
from robot_identification.papers.searches.problem import SearchProblem
from robot_identification.papers.searches.ranges import RELATIVE
from robot_identification.papers.studies.printed_filter import LARGEST, PrintedFilter
from robot_identification.papers.studies.study import Draw, LazyResults
from robot_identification.papers.studies.survey_parameters import (
    about_centre,
    about_joint,
    principal_moments,
)
from robot_identification.regression import build_regression
from robot_identification.signals import Samples
from robot_identification.simulation import Plant, PlantOptions, simulate

NOISE = np.array([10.0, 10.0, 10.0, 1.78, 1.78, 1.78])
"""Standard deviations of the torque noise [N m], from the survey's Table 7."""
LEVELS = {'e_d': (0.2, 1.0), 'e_f': (0.2, 1.0), 'e_T': (0.01, 0.1), 'J_e': (1.0, 10.0),
          'Delta J_e': (0.1, 1.0), 'seconds': (60.0, 3600.0)}
"""Upper bounds of the levels A and B of each index, from the survey's Tables 1 to 4."""
VELOCITY = 1.0
"""[rad/s] assumed start of the Stribeck velocity in the printed filters; its true value is 0.1."""
PRINTED_EKF, OUR_EKF, STARTED_EKF = ('extended Kalman', 'extended Kalman, ours',
                                     'extended Kalman, true v_s at the start')
PRINTED_FORGETTING, OUR_FORGETTING = 'exponential forgetting', 'exponential forgetting, ours'
SEARCHED = {'gradient descent': 'gradient_descent', 'genetic algorithm': 'ga',
            'particle filter': 'particle_filter'}
DEFINITE, POSSIBLE = 'positive definite', 'possible bodies'
CONSTRAINED = {f'{name}, {limit}': (search, limit) for limit in (DEFINITE, POSSIBLE)
               for name, search in SEARCHED.items()}
"""The same with constrained inertia matrices (section 3.4)."""
LEAST_MOMENT = 1e-3
"""Least value that counts as positive, relative to the least moment of the CAD model."""
INFEASIBLE = 1e6
"""[N m] added to the cost of infeasible candidates, which then compete by their violation."""
METHODS: dict[str, tuple[str, ...]] = {
    'coulomb_viscous': ('pseudo-inverse', 'Kalman', PRINTED_FORGETTING, *SEARCHED),
    'stribeck': (PRINTED_EKF, STARTED_EKF, OUR_EKF, PRINTED_FORGETTING, OUR_FORGETTING,
                 *SEARCHED)}
"""Methods of the survey, by friction model."""
CONSISTENT = 'WLS, physically consistent (URDF prior)'
QUIET = 0.01
"""Smallest noise [N m] passed to the consistent fit, which is ill-posed without noise."""
TIMED = 20
"""Number of timed evaluations of a single candidate."""
MEMORY = -0.01 / np.log(0.999)
"""Time constant of exponential forgetting [s], for mu = 0.999 per sample (23) at 100 Hz."""


@dataclasses.dataclass(frozen=True)
class MethodErrors:
    """
    Error indexes of the survey.

    `inertial` is e_d, the mean relative error of the survey's inertial parameters (mass, centre of
    mass, inertia about the centre of mass), and `median` is the median of the same errors.
    `linear` is e_d of the parameters about the joint. `friction` is e_f, the mean relative error
    of friction. `torque` and `std` are e_T and e_T_Std, the mean and standard deviation of the
    torque error relative to the rated torque.
    """

    inertial: float
    median: float
    linear: float
    friction: float
    torque: float
    std: float

    @property
    def total(self) -> float:
        """Index J_e = e_d + e_f + e_T + e_T_Std."""
        return self.inertial + self.friction + self.torque + self.std


@dataclasses.dataclass(frozen=True)
class MethodResult:
    """
    A method's errors without and with noise, and its processor time [s].

    `single` is the processor time of a search that evaluates its population one by one [s],
    otherwise the same as `seconds`. `standard` (count,) and `shape` (n, s) are the standard
    parameters and friction shapes that the method estimates without noise, and `truth` the true
    ones.
    """

    method: str
    clean: MethodErrors
    noisy: MethodErrors
    seconds: float
    single: float
    standard: Array
    shape: Array
    truth: tuple[Array, Array]

    @property
    def change(self) -> float:
        """Index Delta J_e, the relative change of J_e due to noise."""
        return self.noisy.total / self.clean.total - 1


@dataclasses.dataclass(frozen=True, eq=False)
class Platform:
    """
    The simulated ER20-C10 on an excitation, with linear and with Stribeck friction.

    Parameters
    ----------
    arm, excitation
        The arm and its motion.
    samples
        Exact states and torques at 100 Hz, by friction model.
    plants
        Simulated arms, by friction model.

    """

    arm: Arm
    excitation: Excitation
    samples: dict[str, Samples]
    plants: dict[str, Plant]

    @classmethod
    def build(cls, excitation: Excitation, seed: int, inertia_error: float) -> Platform:
        """
        Simulate one arm on a motion, with linear and with Stribeck friction.

        Parameters
        ----------
        excitation
            The motion.
        seed
            Seed of the arm's true parameters.
        inertia_error
            Largest relative difference of its inertias from the URDF's; 0 as in the survey, whose
            arm has the inertias of its CAD model.

        """
        arm = load_arm('er20_c10')
        samples, plants = {}, {}
        for friction, ratio in (('coulomb_viscous', 1.0), ('stribeck', 1.3)):
            plant = Plant(arm, PlantOptions.matched(
                seed=seed, stribeck_ratio=ratio, torque_noise=0.0, rate=100.0,
                control_rate=100.0, rotor_inertia=(0.0,) * arm.n, inertia_error=inertia_error))
            run = simulate(plant, excitation, rng=np.random.default_rng(seed))
            samples[friction] = Samples(
                t=run.t, q=run.q, v=run.v, a=run.a, tau=run.torque, rate=100.0,
                joint_names=arm.joint_names, segments=(slice(0, len(run.t)),))
            plants[friction] = plant
        return cls(arm, excitation, samples, plants)

    def condition(self, friction: str) -> float:
        """Return the condition number of the normalised regressor without rotor inertia."""
        regression = build_regression(self.arm, [self.samples[friction]], friction)
        if not regression.fixed:
            regression = regression.with_friction_shape(self.truth(friction)[1])
        matrix, _ = regression.normal.stacked(np.ones(self.arm.n))
        known = [label.endswith('.rotor_inertia') for label in regression.base.labels]
        matrix = matrix[:, :len(known)][:, ~np.array(known)]
        singular = np.linalg.svd(matrix / np.linalg.norm(matrix, axis=0), compute_uv=False)
        return float(singular[0] / singular[-1])

    def truth(self, friction: str) -> tuple[Array, Array]:
        """Return true standard parameters (count,) and friction shapes (n, s)."""
        truth = self.plants[friction].truth
        structure = build_regression(
            self.arm, [self.samples[friction]], friction).base.structure
        shape = np.full((self.arm.n, len(structure.friction.nonlinear)),
                        truth.friction.stribeck_velocity)
        return truth.standard_parameters(structure), shape

    def noisy(self, friction: str, seed: int) -> Samples:
        """Return the samples with torque noise according to Table 7."""
        samples = self.samples[friction]
        noise = NOISE * np.random.default_rng(seed).standard_normal(samples.tau.shape)
        return dataclasses.replace(samples, tau=samples.tau + noise)


def level(value: float, bounds: tuple[float, float]) -> str:
    """Return the level A, B or C of a value, from the upper bounds of A and B."""
    return 'A' if value < bounds[0] else 'B' if value < bounds[1] else 'C'


def compare_methods(platform: Platform, friction: str, budget: int, draw: Draw,
                    methods: tuple[str, ...] = ()) -> Mapping[str, MethodResult]:
    """
    Return the results of methods on samples without and with noise, computed when they are used.

    Parameters
    ----------
    platform
        Simulated arm with its samples.
    friction
        'coulomb_viscous' or 'stribeck'.
    budget
        Evaluations of a search.
    draw
        Seeds of noise and searches.
    methods
        Names of the methods. Empty: those of the survey.

    """
    cases = LazyResults((False, True), lambda noisy: _Case(
        platform, friction, platform.noisy(friction, draw.noise) if noisy else
        platform.samples[friction], budget, draw.start))

    def compare(method: str) -> MethodResult:
        clean, noisy = cases[False], cases[True]
        clean.single = 0.0
        began = time.process_time()
        standard, shape = clean.run(method)
        seconds = time.process_time() - began
        return MethodResult(
            method, clean.errors(standard, shape), noisy.errors(*noisy.run(method)), seconds,
            max(seconds, budget * clean.single), standard, shape, (clean.truth, clean.shape))

    return LazyResults(methods or METHODS[friction], compare)


class _Case:
    """Runs estimation methods on the samples of one arm and compares them with the truth."""

    def __init__(self, platform: Platform, friction: str, samples: Samples, budget: int,
                 seed: int) -> None:
        self.platform, self.budget, self.seed, self.single = platform, budget, seed, 0.0
        self.regression = build_regression(platform.arm, [samples], friction)
        self.problem = SearchProblem(self.regression)
        self.structure, self.base = self.problem.structure, self.problem.base
        self.truth, self.shape = platform.truth(friction)
        self.known = np.r_[self.structure.inertial_slice, self.structure.friction_slice]
        self.clean = platform.samples[friction].tau

    def run(self, method: str) -> tuple[Array, Array]:
        """Return standard parameters (count,) and shapes (n, s) estimated by a method."""
        if method in SEARCHED:
            return self._search(SEARCHED[method])
        if method in CONSTRAINED:
            return self._search(*CONSTRAINED[method])
        if method == 'pseudo-inverse':
            estimate = get_estimator('ols').fit(self.regression)
            return self._least_norm(estimate.values), self.shape
        if method == CONSISTENT:
            estimate = get_estimator('wls').fit(self.regression)
            regression = self.regression.of(estimate.base)
            quiet = dataclasses.replace(estimate, noise=np.maximum(estimate.noise, QUIET))
            return fit_consistent(regression, quiet).values, estimate.base.structure.shape
        return self._filter(method)

    def errors(self, standard: Array, shape: Array) -> MethodErrors:
        """Return the error indexes of parameters; torques are compared without noise."""
        inertial, n = self.structure.inertial_slice, self.platform.arm.n
        estimated, true = (x[inertial].reshape(n, 10) for x in (standard, self.truth))
        wrong = [np.abs((a - b) / b) for a, b in (
            (about_centre(estimated), about_centre(true)),
            (estimated, true))]
        true_friction = self.truth[self.structure.friction_slice]
        error = standard[self.structure.friction_slice] - true_friction
        used = true_friction != 0
        friction = np.abs(error[used] / true_friction[used])
        shapes = np.minimum(np.abs(shape / self.shape - 1), LARGEST).ravel()  # if it diverges
        rated = self.platform.plants['stribeck'].truth.rated_torque
        fixed = (self.regression if self.problem.linear
                 else self.regression.with_friction_shape(shape))
        beta = fixed.base.project(standard)
        torque = self.regression.samples[0].tau - fixed.residuals(beta)
        error = np.abs(torque - self.clean) / rated
        return MethodErrors(
            float(wrong[0].mean()), float(np.median(wrong[0])), float(wrong[1].mean()),
            float(np.concatenate([friction, shapes]).mean()), float(error.mean()),
            float(error.std()))

    def _least_norm(self, beta: Array) -> Array:
        standard = np.zeros(self.structure.count)
        standard[self.known] = np.linalg.pinv(self.base.matrix[:, self.known]) @ beta
        return standard

    def _filter(self, method: str) -> tuple[Array, Array]:
        """Estimate base parameters by a filter; return standard parameters and shapes."""
        start = np.zeros(self.base.rank), np.full(self.base.rank, 1e3)
        forgetting = 'none' if 'Kalman' in method else 'uniform'
        nonlinear = not self.problem.linear
        running = TorqueFilter(self.base, nonlinear, start, NOISE, forgetting, rest_speed=0.0)
        if nonlinear and method not in (OUR_EKF, OUR_FORGETTING):
            velocity = self.shape if method == STARTED_EKF else np.full_like(self.shape, VELOCITY)
            running = PrintedFilter(self.base, start, NOISE, forgetting, velocity)
        running.run(self.regression, MEMORY)
        return self._least_norm(running.parameters), running.shape

    def _search(self, search: str, limit: str = '') -> tuple[Array, Array]:
        """
        Run a search for the survey's parameters, friction and shapes within their ranges.

        The inertia matrices of all links are positive definite with `DEFINITE`, and those of
        possible bodies with `POSSIBLE`. An infeasible candidate is worse than every feasible one,
        and of two infeasible ones that with the smaller violation is better.
        """
        nominal = about_centre(self.platform.arm.inertial_parameters)
        friction = self.truth[self.structure.friction_slice]
        inertial = Bounds.around(nominal.ravel(), RELATIVE, 1e-6)
        lower = np.append(inertial.lower, np.where(friction > 0, 0.0, -1.0))
        upper = np.append(inertial.upper, np.where(friction > 0, 2 * friction, 1.0))
        if not self.problem.linear:
            lower = np.append(lower, np.log(self.shape.ravel() / 3))
            upper = np.append(upper, np.log(self.shape.ravel() * 3))
        bounds, count, links_size = Bounds(lower, upper), len(self.known), nominal.size
        objective = MeanAndDeviation(self.problem)
        size = principal_moments(nominal)[:, 0]
        to_base = self.base.matrix[:, self.known].T

        def standard_of(population: Array) -> Array:
            links = population[:, :links_size].reshape(-1, *nominal.shape)
            return np.hstack([
                about_joint(links).reshape(len(population), links_size),
                population[:, links_size:count]])

        def violation(population: Array) -> Array:
            moments = principal_moments(
                population[:, :links_size].reshape(-1, *nominal.shape))
            least = moments[..., 0]
            if limit == POSSIBLE:
                least = np.minimum(least, moments[..., 0] + moments[..., 1] - moments[..., 2])
            missing = np.sum(np.maximum(LEAST_MOMENT - least / size, 0.0), axis=1)
            penalty: Array = np.where(missing > 0, INFEASIBLE * (1 + missing), 0.0)
            return penalty

        def cost(population: Array) -> Array:
            value = objective(np.hstack([standard_of(population) @ to_base,
                                         population[:, count:]]))
            return value + violation(population) if limit else value

        rng = np.random.default_rng(self.seed)
        began, one = time.process_time(), bounds.from_unit(np.full((1, bounds.dimension), 0.5))
        for _ in range(TIMED):
            cost(one)
        self.single = (time.process_time() - began) / TIMED
        start = None
        if search == 'gradient_descent':
            true = np.concatenate([
                about_centre(self.truth[self.structure.inertial_slice].reshape(
                    nominal.shape)).ravel(),
                friction, np.log(self.shape.ravel()) if not self.problem.linear else []])
            start = np.clip(true * (1 + rng.uniform(-0.2, 0.2, len(true))), lower, upper)
        result = get_search(search).minimise(cost, bounds, budget=self.budget, rng=rng,
                                             start=start)
        standard = np.zeros(self.structure.count)
        standard[self.known] = standard_of(result.values[None])[0]
        shape = (self.shape if self.problem.linear
                 else np.exp(result.values[count:]).reshape(self.shape.shape))
        return standard, shape
