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
"""Excitations of the survey's ER20-C10 by two optimisers and scalings of the regressor."""

import numpy as np
from robot_identification.arm import load_arm
from robot_identification.excitation import design, Excitation, Requirements
from robot_identification.papers.studies.study import Draw, Table
from robot_identification.papers.studies.survey_methods import Platform

PRINTED_CONDITIONS = {'coulomb_viscous': 4.6, 'stribeck': 5.7}
SEARCHERS = {'real_genetic': 'genetic', 'barrier': 'gradient'}


def design_motion(draw: Draw, drives: str = 'friction', scaling: str = 'motion',
                  optimiser: str = 'barrier', starts: int = 1, factor: float = 1.0) -> Excitation:
    """Return an excitation; velocities and accelerations may be `factor` times the limits."""
    arm = load_arm('er20_c10')
    return design(arm, kind='ffs', period=10.0, harmonics=5, starts=starts, seed=draw.design,
                  drives=drives, scaling=scaling, optimiser=optimiser,
                  velocity=factor * np.asarray(arm.limits.velocity),
                  acceleration=factor * np.asarray(arm.limits.acceleration),
                  requirements=Requirements())


def tabulate_designs(draw: Draw, quick: bool) -> Table:
    """Return a table of excitations designed by two optimisers."""
    rows: list[tuple[str | float, ...]] = []
    cases: list[tuple[str, str, str, str, int, float]] = [
             ('with friction, unit norm in the motion', 'friction', 'motion', 'real_genetic', 1,
              1.0),
             ('with friction, unit norm in the motion', 'friction', 'motion', 'barrier', 4, 1.0),
             ('the same, three times the velocity and acceleration', 'friction', 'motion',
              'barrier', 1, 3.0),
             ('with friction, unit norm at random states', 'friction', 'unit', 'barrier', 1,
              1.0),
             ('with friction, SI', 'friction', 'none', 'barrier', 1, 1.0),
             ('inertial, unit norm in the motion', 'none', 'motion', 'barrier', 1, 1.0),
             ('inertial, SI', 'none', 'none', 'barrier', 1, 1.0)]
    for label, drives, scaling, optimiser, starts, factor in cases[2:4] if quick else cases:
        motion = design_motion(draw, drives, scaling, optimiser, starts, factor)
        platform = Platform.build(motion, draw.arm, 0.0)
        rows.append((label, SEARCHERS[optimiser], float(motion.value or 0), *(
            platform.condition(friction) for friction in PRINTED_CONDITIONS)))
    rows.append(('printed in the paper', 'genetic', '-', *PRINTED_CONDITIONS.values()))
    return Table(
        'Condition numbers of excitations with five harmonics of 0.1 Hz',
        ('regressor columns in the criterion', 'optimiser', 'minimised criterion',
         'linear friction (7), unit norm', 'Stribeck friction (4), unit norm'), tuple(rows),
        note='First draw. The survey does not state how the columns of K are scaled. Columns of '
             'unit norm over the motion give its condition numbers. In SI units the friction '
             'columns keep the condition number high, and columns of unit norm at random states '
             'have another optimum. Last two columns: condition number of all regressor columns '
             'except those of rotor inertia, which the survey takes as known, with unit norm over '
             'the motion; Stribeck friction has its true shape.')
