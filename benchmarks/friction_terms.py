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
"""
Friction terms of the literature on real arms, and what is left when the library's are fitted.

    python benchmarks/friction_terms.py [--datasets FOLDER] [--robot NAME ...] [--residual]

The first table adds one term to `coulomb + viscous + offset` of every joint: terms of the library
and others that are defined here alone. Errors are those of the physically consistent model on five
left-out blocks, all joints together. Shape parameters are the best of a grid for each joint,
judged on the left-out blocks themselves: an oracle that no choice from training data can beat, so
a term that does not win here cannot win.

`--residual` takes the terms of `auto` and says, joint by joint, which part of the residual's
variance more columns would explain, fitted on every other second and judged on the others: drift
of Coulomb and viscous friction in time (warming up), jerk (elastic joints), the best of 120
gear waves sin(k q), cos(k q), torques of the other joints (crosstalk), and the joint's own
position (cables, springs). Negative parts mean that there is nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path
import sys
import tempfile

import numpy as np
from real_arms import CASES, gather_robots, ROOT
from robot_identification import load_arm, load_recording
from robot_identification.arrays import Array
from robot_identification.dynamics import FRICTION_TERMS
from robot_identification.dynamics.friction import FrictionInput, FrictionTerm
from robot_identification.errors import EstimationError
from robot_identification.estimation import fit_samples, FitOptions, get_estimator
from robot_identification.estimation.auto import FOLDS, select_model
from robot_identification.estimation.resampling import split_folds
from robot_identification.signals import process, Samples
from robot_identification.signals.samples import decimate_to_bandwidth

BASE = 'coulomb + viscous + offset'
POINTS = 3
RATIO, BREAK = 0.5, 0.05
"""LuGre: excess of static friction and the speed at which it is gone [rad/s]."""


class Extra(FrictionTerm):
    """A term with one parameter and at most one shape parameter, as a formula."""

    candidate = False

    def __init__(self, name, formula, column, bounds=(), power=0.0, unit='N m', load=False,
                 position=False):
        self.name, self.formula, self.column = name, formula, column
        self.parameters, self.units, self.nonnegative = (name,), (unit,), (False,)
        if bounds:
            self.nonlinear, self.shape_bounds = (f'{name}_shape',), (bounds,)
            self.shape_units, self.shape_powers = ('',), (power,)
        self.needs_load, self.needs_position = load, position

    @property
    def curved(self) -> bool:
        """Whatever its sign: the comparison asks for nothing but errors."""
        return False

    def columns(self, motion: FrictionInput, shape: Array) -> Array:
        """Return the one column, (..., 1)."""
        return self.column(motion, shape[..., 0] if self.nonlinear else None)[..., None]


class Bristle(Extra):
    """Terms with memory that follow dz = dq/delta (1 - z sgn(dq) / level)."""

    has_state = True

    def __init__(self, name, formula, lugre=False):
        super().__init__(name, formula, lambda motion, shape: motion.state, (3e-5, 1e-2), 1.0)
        self.nonnegative, self.lugre, self.rate = (True,), lugre, 100.0

    def state(self, q: Array, shape: Array, start: float = 0.0) -> Array:
        """Return z, (N,)."""
        move = np.diff(q, prepend=q[:1])
        level = 1 + self.lugre * RATIO * np.exp(-(move * self.rate / BREAK) ** 2)
        fade = np.exp(-np.abs(move) / (shape[0] * level))
        end = np.sign(move) * level
        z = np.empty(len(q))
        for k in range(len(q)):
            start = end[k] + (start - end[k]) * fade[k]
            z[k] = start
        return z


class FixedSlip(type(FRICTION_TERMS['slip'])):
    """One Maxwell-slip element of a generalised model, of a given travel."""

    candidate, shape, shape_units, shape_powers, shape_bounds = False, (), (), (), ()

    def __init__(self, travel):
        self.travel, self.name = travel, f'slip{travel:.0e}'.replace('-', '')
        self.parameters = (self.name,)

    def state(self, q: Array, shape: Array, start: float = 0.0) -> Array:
        """Return z, (N,)."""
        return super().state(q, np.array([self.travel]), start)


def sgn(motion):
    return np.sign(motion.v)


GMS = tuple(FixedSlip(travel) for travel in (3e-5, 2e-4, 1.5e-3, 1e-2))
EXTRAS = (
    Bristle('dahl', 'Fm z, dz = dq/delta (1 - z sgn dq)'),
    Bristle('lugre', 'Fm z, dz = dq/delta (1 - z sgn dq / g), g = 1 + exp(-(v/0.05)^2)/2', True),
    Extra('tustin', 'F exp(-|v|/vs) sgn v', lambda m, s: np.exp(-np.abs(m.v) / s) * sgn(m),
          (0.005, 2.0), 1.0),
    Extra('square', 'F v |v|', lambda m, s: m.v * np.abs(m.v), unit='N m s^2'),
    Extra('cubic', 'F v^3', lambda m, s: m.v ** 3, unit='N m s^3'),
    Extra('load_squared', 'F tau^2 sgn v', lambda m, s: m.load ** 2 * sgn(m), unit='1', load=True),
    Extra('load_stribeck', 'F |tau| exp(-(v/vs)^2) sgn v',
          lambda m, s: np.abs(m.load) * np.exp(-(m.v / s) ** 2) * sgn(m), (0.005, 2.0), 1.0,
          unit='1', load=True),
    Extra('load_viscous', 'F |tau| v', lambda m, s: np.abs(m.load) * m.v, unit='1', load=True))
TRIED = (('',), ('atan',), ('load',), ('slip',), ('position',), ('dahl',), ('lugre',),
         tuple(term.name for term in GMS), ('tustin',), ('square',), ('cubic',), ('load_squared',),
         ('load_stribeck',), ('load_viscous',), ('atan', 'load'), ('load', 'slip'),
         ('atan', 'load', 'slip'))


def left_out(arm, pairs, name: str, shape: Array | None) -> tuple[Array, Array]:
    """Return squared errors on left-out blocks and their energy, (n,) each."""
    rss, energy = np.zeros(arm.n), np.zeros(arm.n)
    for train, block in pairs:
        fit = fit_samples(arm, [train], FitOptions(get_estimator('wls'), name, shape=shape))
        normal = fit.on(block).normal
        rss += normal.rss(normal.base.project(fit.consistent.values))
        energy += normal.energy()
    return rss, energy


def compare(arm, samples: Samples) -> None:
    """Print the errors of every term on one recording."""
    pairs, text = split_folds(samples, FOLDS)
    print(f'{arm.name}, {text}')
    FRICTION_TERMS['lugre'].rate = samples.rate
    for terms in TRIED:
        name = ' + '.join(word for word in (BASE, *terms) if word)
        shapes = [FRICTION_TERMS[term] for term in terms if term and FRICTION_TERMS[term].shape]
        best = None
        for part in (np.arange(POINTS) + 0.5) / POINTS if shapes else [None]:
            shape = None
            if shapes:
                row = [[np.exp(np.log(low) + part * np.log(high / low))
                        * (0.1 ** power if arm.prismatic[0] else 1.0)
                        for (low, high), power in zip(term.shape_bounds, term.shape_powers)]
                       for term in shapes]
                shape = np.tile(np.concatenate(row), (len(arm.transmission), 1))
            try:
                rss, energy = left_out(arm, pairs, name, shape)
            except EstimationError as error:
                print(f'    {name}: {error}')
                continue
            best = rss if best is None else np.minimum(best, rss)
        if best is not None:
            print(f"  {' + '.join(terms) or 'nothing more':>42} "
                  f'{np.sqrt(best.sum() / energy.sum()):8.2%}   '
                  + ' '.join(f'{x:7.2%}' for x in np.sqrt(best / energy)), flush=True)


def explained(residual: Array, columns: Array, odd: Array) -> float:
    """Return the part of the variance explained, fitted on one half and judged on the other."""
    left, total = 0.0, 0.0
    for train in (odd, ~odd):
        design = np.column_stack([np.ones(len(residual)), columns])
        found = np.linalg.lstsq(design[train], residual[train], rcond=None)[0]
        other = residual[~train] - residual[train].mean()
        left += float(np.sum((residual - design @ found)[~train] ** 2))
        total += float(np.sum(other ** 2))
    return 1 - left / total


def residual(arm, samples: Samples) -> None:
    """Print what would explain the residual of the terms that `auto` takes."""
    names = ('wls',)
    chosen = select_model(arm, [samples], None, {name: get_estimator(name) for name in names},
                          delay=False).options
    fit = fit_samples(arm, [samples], chosen)
    model, decimator = fit.model({}), samples.decimator()

    def coarse(x: Array) -> Array:
        return np.concatenate([decimator.apply(x[run]) for run in samples.segments
                               if decimator.rows(run.stop - run.start)])

    torque = model.torque(samples.q, samples.v, samples.a)
    left, predicted = coarse(samples.tau - torque), coarse(torque)
    t = coarse(samples.t[:, None])[:, 0]
    odd = (t // 1.0).astype(int) % 2 == 1
    jerk = coarse(np.gradient(samples.a, 1 / samples.rate, axis=0))
    elapsed = (samples.t - samples.t[0])[:, None] / (samples.t[-1] - samples.t[0])
    drift = coarse(np.sign(samples.v) * elapsed), coarse(samples.v * elapsed)
    print(f"{arm.name}: {model.friction}\n{'':>22} {'rms':>9} {'drift':>8} {'jerk':>8} "
          f"{'ripple':>8} {'(k)':>6} {'others':>8} {'own q':>8}")
    for j, joint in enumerate(arm.joint_names):
        own, r = samples.q[:, j:j + 1], left[:, j]
        span = np.ptp(own)
        waves = 2 * np.pi / span * np.geomspace(3, 300, 120)
        ripples = [explained(r, coarse(np.hstack([np.sin(k * own), np.cos(k * own)])), odd)
                   for k in waves]
        best = int(np.argmax(ripples))
        place = coarse(np.hstack([own, own ** 2, own ** 3]))
        others = np.delete(predicted, j, axis=1)
        parts = (explained(r, np.column_stack([x[:, j] for x in drift]), odd),
                 explained(r, jerk[:, j:j + 1], odd), ripples[best])
        rest = (explained(r, others, odd) if arm.n > 1 else float('nan'),
                explained(r, place, odd))
        print(f'{joint:>22} {np.sqrt(np.mean(r ** 2)):9.3g} '
              + ' '.join(f'{x:8.1%}' for x in parts) + f' {waves[best]:6.0f} '
              + ' '.join(f'{x:8.1%}' for x in rest), flush=True)


def main() -> int:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--datasets', type=Path, default=ROOT.parent / 'shared' / 'datasets')
    parser.add_argument('--robot', nargs='*', default=sorted({row[0] for row in CASES}))
    parser.add_argument('--residual', action='store_true')
    options = parser.parse_args()
    if not options.datasets.is_dir():
        print(f'no recordings in {options.datasets}: give their folder with --datasets')
        return 2
    for term in (*EXTRAS, *GMS):
        FRICTION_TERMS[term.name] = term
    with tempfile.TemporaryDirectory() as name:
        folder, done = Path(name), set()
        gather_robots(folder, options.datasets)
        for robot, recording, window, _, _ in CASES:
            if robot not in options.robot or robot in done:
                continue
            done.add(robot)
            arm = load_arm(folder / f'{robot}.yaml')
            samples = decimate_to_bandwidth(process(
                load_recording(options.datasets / recording, arm, window), arm))
            (residual if options.residual else compare)(arm, samples)
    return 0


if __name__ == '__main__':
    sys.exit(main())
