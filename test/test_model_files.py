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
"""Model files of older versions can be loaded and predict the same torques."""

from pathlib import Path

import numpy as np
import pytest
from robot_identification import load_model

MODELS = Path(__file__).parent / 'data' / 'models'
Q = [[0.1, 0.7, -0.4], [0.15, 0.6, -0.3], [0.2, 0.4, -0.5], [0.25, 0.5, -0.2]]
V = [[0.5, -0.4, 0.3], [0.6, -0.5, -0.3], [-0.2, -0.1, 0.4], [0.1, 0.2, 0.3]]
A = [[1.0, 2, 3], [-1, 0.5, 2], [0, 1, -1], [2, 0, 1]]
TORQUES = {    # torques printed by the versions that wrote the files
    'schema_1': [[4.166254787581169, -1.5839861394616277, 4.012119470132427],
                 [1.2957614186682525, -3.2509121076739103, 1.4761937272401924],
                 [2.2869250615485868, -3.1796873824539693, 0.3108222250768078],
                 [5.441553967907477, -1.905316482241294, 1.9687209930810567]],
    'schema_2_delays_of_torques': [
        [4.646968382148218, 2.3590657985261556, 4.023353337703424],
        [1.8008873023523901, 0.12242895188394343, 2.621051032787004],
        [2.8020078077427644, -0.02292656014200478, -0.694128789166241],
        [5.953877796729756, 13.143566100593901, 2.9226259366362943]]}


@pytest.mark.parametrize('name', sorted(TORQUES))
def test_old_model_files_predict_what_they_did(name, tmp_path):
    model = load_model(MODELS / f'{name}.yaml')
    states = model.states(Q)    # earlier versions took rows in the order of time
    np.testing.assert_allclose(model.torque(Q, V, A, states), TORQUES[name], rtol=1e-9)
    assert model.delay_of == 'torques'
    np.testing.assert_array_equal(
        model.delay, [0.004, 0.002, 0.006] if name.startswith('schema_2') else np.zeros(3))
    model.save(tmp_path / 'new.yaml')
    np.testing.assert_array_equal(load_model(tmp_path / 'new.yaml').torque(Q, V, A),
                                  model.torque(Q, V, A))
