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
"""The same recording with several estimators, and the errors of each on another motion."""

from example_motion import wave
import numpy as np
from robot_identification import identify, load_arm
from robot_identification.simulation import Plant, PlantOptions, simulate

arm = load_arm('two_link')
plant = Plant(arm, PlantOptions(seed=3))
rng = np.random.default_rng(3)
training, held_out = (simulate(plant, wave(arm, seed), rng=rng).recording for seed in (1, 2))
print(f'{"estimator":<10} {"held out":>9} {"condition":>10}')
for estimator in ('ols', 'wls', 'ridge'):
    result = identify(arm, [training], estimator, held_out=[held_out])
    error = result.verdict.held_out[0].relative_error
    print(f'{estimator:<10} {error:9.2%} {result.estimate.condition_number:10.1f}')
