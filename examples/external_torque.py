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
"""Notice a push: what the model's torques leave of the change of momentum is external."""

from example_motion import wave
import numpy as np
from robot_identification import identify, load_arm, Recording
from robot_identification.dynamics import inverse_dynamics
from robot_identification.online import MomentumObserver

arm = load_arm('two_link')
t = np.arange(0.0, 10.0, 0.002)
rng = np.random.default_rng(0)


def recorded(seed, push=0.0):
    """Return a recording of an arm with friction, pushed at joint 2 from 4 s to 5 s [N m]."""
    q, v, a = wave(arm, seed).evaluate(t)
    tau = inverse_dynamics(arm, q, v, a) + 0.4 * np.sign(v) + 0.2 * v
    tau += rng.normal(scale=0.05, size=tau.shape)
    tau[(t > 4.0) & (t < 5.0), 1] -= push
    return Recording(t, q, tau, v=v, joint_names=arm.joint_names), v


training, _ = recorded(1)
model = identify(arm, [training]).model
pushed, v = recorded(2, push=3.0)
found = MomentumObserver(model, bandwidth=5.0).run(t, pushed.q, v, pushed.tau)
during, before = (t > 4.3) & (t < 4.9), (t > 2.0) & (t < 3.9)
print(f'joint 2 while pushed with 3 N m: {found[during, 1].mean():.2f} N m, '
      f'before: {found[before, 1].mean():.2f} N m')
