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
"""A friction term of one's own: a class and an entry, then it has a name like the others."""

from example_motion import wave
import numpy as np
from robot_identification import identify, load_arm
from robot_identification.dynamics import FRICTION_TERMS, FrictionTerm
from robot_identification.simulation import Plant, PlantOptions, simulate


class Quadratic(FrictionTerm):
    """Drag c v abs(v), as of a joint that churns grease."""

    name = 'quadratic'
    formula = 'c v |v|'
    parameters = ('quadratic',)
    units = ('N m s^2/rad^2',)
    nonnegative = (True,)

    def columns(self, motion, shape):
        """Return the column (..., 1)."""
        return (motion.v * np.abs(motion.v))[..., None]


FRICTION_TERMS.register('quadratic', Quadratic())

arm = load_arm('two_link')
plant = Plant(arm, PlantOptions(seed=0))
rng = np.random.default_rng(0)
training, held_out = (simulate(plant, wave(arm, seed), rng=rng).recording for seed in (1, 2))
for friction in ('coulomb_viscous', 'coulomb + viscous + quadratic + offset'):
    result = identify(arm, [training], friction=friction, held_out=[held_out])
    print(f'{friction}: error {result.verdict.held_out[0].relative_error:.2%}')
