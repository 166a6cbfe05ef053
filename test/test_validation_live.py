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
"""Live validation: small residuals of the true model, large ones of another, latency."""

import numpy as np
import pytest
from robot_identification.arm import load_arm
from robot_identification.dynamics import IdentifiedModel
from robot_identification.errors import ConfigurationError
from robot_identification.ros.live_validation import LiveValidation


@pytest.fixture(scope='module')
def arm():
    return load_arm('ur5')


def model_of(arm, scale=1.0):
    zero = np.zeros(len(arm.transmission))
    return IdentifiedModel(arm, arm.inertial_parameters * scale, zero, 'coulomb_viscous',
                           np.zeros((len(zero), 3)), {})


def motion(arm, count=4000):
    t = np.arange(count) / 500.0
    phase = t[:, None] * (1 + 0.3 * np.arange(arm.n))
    rate = 1 + 0.3 * np.arange(arm.n)
    return t, np.sin(phase), rate * np.cos(phase), -rate ** 2 * np.sin(phase)


@pytest.mark.parametrize(('scale', 'low', 'high'), [(1.0, 0.0, 0.01), (0.8, 0.15, 0.25)])
def test_residual(arm, scale, low, high):
    t, q, v, a = motion(arm)
    torque = model_of(arm).torque(q, v, a)
    live, found = LiveValidation(model_of(arm, scale)), []
    for first in range(0, len(t), 10):
        rows = slice(first, first + 10)
        item = live.add(t[rows], q[rows], torque[rows])
        if item is not None:
            found.append(item)
            assert item.t == pytest.approx(t[rows][-1] - 0.05, abs=0.003)
    assert len(found) > 350
    errors = found[-1].running_error[1:3]  # shoulder and elbow, which are loaded by gravity
    assert np.all(errors >= low) and np.all(errors < high)


def test_gaps_repeats_and_rest(arm):
    t, q, v, a = motion(arm)
    torque = model_of(arm).torque(q, v, a)
    live = LiveValidation(model_of(arm))
    assert live.add(t[:10], q[:10], torque[:10]) is None
    assert live.add(t[:100], q[:100], torque[:100]) is not None
    again = live.add(t[50:120], q[50:120], torque[50:120])  # 50 of them had been added before
    np.testing.assert_allclose(again.residual, 0, atol=0.05)
    assert live.add(t[1000:1005], q[1000:1005], torque[1000:1005]) is None  # after a gap
    still = LiveValidation(model_of(arm))
    found = still.add(t[:200], np.zeros((200, arm.n)), np.ones((200, arm.n)))
    assert np.isnan(found.running_error).all()
    with pytest.raises(ConfigurationError, match='positive'):
        LiveValidation(model_of(arm), window=0.0)
