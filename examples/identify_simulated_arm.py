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
"""Move an arm that differs from its URDF, identify it, and judge the model on another motion."""

from pathlib import Path
import sys

from example_motion import wave
import numpy as np
from robot_identification import identify, load_arm, load_model
from robot_identification.simulation import Plant, PlantOptions, simulate

folder = Path(sys.argv[1] if len(sys.argv) > 1 else 'result')
arm = load_arm('two_link')
plant = Plant(arm, PlantOptions(seed=0))        # other inertias, Stribeck friction, noise, delay
rng = np.random.default_rng(0)
training, held_out = (
    simulate(plant, wave(arm, seed), rng=rng, name=f'motion {seed}').recording for seed in (1, 2))

result = identify(arm, [training], held_out=[held_out])
print(result.summary())
result.save(folder)

model = load_model(folder / 'model.yaml')
torque = model.torque(np.zeros((1, arm.n)), np.zeros((1, arm.n)), np.zeros((1, arm.n)))
print('holding torque at zero:', torque[0].round(2), 'N m')
