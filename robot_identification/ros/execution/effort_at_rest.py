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
"""Whether the effort can be what it is declared to be, by the gravity of an arm at rest."""

from __future__ import annotations

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics import inverse_dynamics
from robot_identification.errors import ExecutionError

VISIBLE = 0.08      # part of the torque limit that gravity must be, to stand out from friction
LEAST, MOST = 0.3, 3.0      # multiples of the URDF's gravity that a tool and friction explain
TWICE = 1.7         # the same where gravity was added and may have been there


def check_effort_at_rest(arm: Arm, torque: Array, q: Array) -> None:
    """
    Compare the torques of an arm at rest with the URDF's gravity.

    A current that is read as a torque is smaller by a factor of ten, a motor torque by the gear
    ratio: a limit in newton metres would never trip. What a tool, a payload and friction explain
    is let pass; where gravity loads no joint visibly nothing can be said.

    Parameters
    ----------
    arm
        The arm, with what its effort means.
    torque
        At the joints, as its declaration makes them, (n,) [N m or N].
    q
        Where it rests, (n,) [rad or m].

    Raises
    ------
    ExecutionError
        'effort_meaning': the effort is not what it is declared to be.

    """
    zero = np.zeros((1, arm.n))
    gravity = inverse_dynamics(arm, q[None], zero, zero)[0]
    limit = np.where(np.isfinite(arm.limits.torque), arm.limits.torque, np.inf)
    loaded = (np.abs(gravity) > VISIBLE * limit) & (np.abs(gravity) > 0.3 * np.abs(gravity).max())
    if not np.any(loaded):
        return
    share = float(torque[loaded] @ gravity[loaded] / (gravity[loaded] @ gravity[loaded]))
    added = arm.effort is not None and arm.effort.gravity_compensated
    if LEAST < share < (TWICE if added else MOST):
        return
    if share < -LEAST:
        why = 'its sign is the other way round (effort.sign)'
    elif share <= LEAST:
        why = ('it is a current or a motor torque (effort.quantity, effort.side, gains), or the '
               'driver has taken gravity away (effort.gravity_compensated)')
    elif added:
        why = 'the driver has not taken gravity away (effort.gravity_compensated: false)'
    else:
        why = 'its unit, gain or reduction is another one'
    j = int(np.argmax(np.abs(gravity) * loaded))
    raise ExecutionError(
        'effort_meaning',
        f"at rest the effort carries {share:.2f} times the URDF's gravity torque (joint "
        f"'{arm.joint_names[j]}': {torque[j]:.3g} of {gravity[j]:.3g} N m), so it is not what the "
        f'robot YAML says, and its limits would not stop the arm: {why}')
