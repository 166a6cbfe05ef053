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
"""A circle of the tool as a validation motion, proven like an excitation, and as a URScript."""

from pathlib import Path
import sys

import numpy as np
import pinocchio as pin
from robot_identification import Arm, load_arm
from robot_identification.errors import ExcitationError
from robot_identification.excitation import (
    build_scene,
    DesignOptions,
    Excitation,
    follow_path,
    Requirements,
    save_excitation,
)

DIAMETER, SPEED, LAPS = 0.1, 0.5, 4    # [m], [m/s]
RAMP = 1.0                # [s] to reach the speed, and to stop
SWING = 0.3               # [rad] of the posture, where the tool's position leaves joints free
SWINGS = (0.15, 0.25)     # per lap, of the first and the last joint
DAMPING = 1e-6            # [m^2] of the inverse kinematics


def speed_profile(length: float) -> tuple[np.ndarray, np.ndarray]:
    """Return times and distances along the path, with smooth ramps of the speed."""
    total = length / SPEED + RAMP
    t = np.linspace(0, total, int(total * 200))

    def ramp(x: np.ndarray) -> np.ndarray:    # integral of the smooth step 10x^3 - 15x^4 + 6x^5
        x = np.clip(x, 0, 1)
        return x ** 4 * (2.5 - 3 * x + x ** 2)

    return t, np.where(t > total - RAMP, length - SPEED * RAMP * ramp((total - t) / RAMP),
                       SPEED * (RAMP * ramp(t / RAMP) + np.maximum(t - RAMP, 0)))


def inverse_kinematics(arm: Arm, q: np.ndarray, posture: np.ndarray,
                       target: np.ndarray) -> np.ndarray:
    """Return positions that put the tool on the target, as close to a posture as possible."""
    model, data = arm.model, arm.model.createData()

    def solve(x: np.ndarray) -> np.ndarray:
        return jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + DAMPING * np.eye(3), x)

    for step in range(30):
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        jacobian = pin.getFrameJacobian(model, data, arm.tool, pin.LOCAL_WORLD_ALIGNED)[:3]
        error = target - data.oMf[arm.tool].translation
        if step == 0:
            q = q + (posture - q) - solve(jacobian @ (posture - q))    # in the null space
        elif np.linalg.norm(error) < 1e-7:
            return q
        else:
            q = q + solve(error)
    raise ExcitationError('the arm cannot follow the circle from here')


def circle(arm: Arm, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return times and joint positions of laps around a circle through the tool, and back."""
    data = arm.model.createData()
    pin.computeJointJacobians(arm.model, data, start)
    pin.updateFramePlacements(arm.model, data)
    jacobian = pin.getFrameJacobian(arm.model, data, arm.tool, pin.LOCAL_WORLD_ALIGNED)[:3]
    axes = np.linalg.svd(jacobian)[0].T    # the plane in which the tool moves most easily
    t, distance = speed_profile(LAPS * np.pi * DIAMETER)
    angle = 2 * distance / DIAMETER
    path = data.oMf[arm.tool].translation + DIAMETER / 2 * (
        np.outer(np.cos(angle) - 1, axes[0]) + np.outer(np.sin(angle), axes[1]))
    postures = start + SWING * np.sin(np.outer(angle, np.linspace(*SWINGS, arm.n)))
    q, motion = start, []
    for target, posture in zip(path, postures):
        q = inverse_kinematics(arm, q, posture, target)
        motion.append(q)
    # a redundant arm need not return to its start: it goes back the way it came
    return np.concatenate([t, 2 * t[-1] - t[-2::-1]]), np.concatenate([motion, motion[-2::-1]])


def find_circle(arm: Arm, requirements: Requirements, seed: int = 0) -> Excitation:
    """Return the first circle from a random position whose limits can be proven."""
    scene = build_scene(arm, requirements) if requirements.clearance is not None else None
    rng, reason = np.random.default_rng(seed), None
    low, high = np.maximum(arm.limits.lower, -np.pi), np.minimum(arm.limits.upper, np.pi)
    for _ in range(50):
        start = (low + high) / 2 + 0.3 * (high - low) * rng.uniform(-1, 1, arm.n)
        try:
            return follow_path(arm, *circle(arm, start), DesignOptions(requirements=requirements),
                               name='circle', scene=scene)
        except ExcitationError as error:
            reason = error
    raise ExcitationError(f'no circle of this arm could be proven; the last one: {reason}')


def ur_script(excitation: Excitation, rate: float = 125.0) -> str:
    """Return a URScript program with servoj at 125 Hz (CB3) or 500 Hz (e-Series)."""
    q = excitation.sample(rate, endpoint=True).q
    points = ',\n'.join('    [' + ', '.join(f'{x:.7f}' for x in row) + ']' for row in q)
    return f"""def excite():
  points = [
{points}
  ]
  movej(points[0], a=0.3, v=0.2)
  sleep(1.0)
  i = 0
  while i < {len(q)}:
    servoj(points[i], t={1 / rate:.6f}, lookahead_time=0.03, gain=500)
    i = i + 1
  end
  stopj(2.0)
end
"""


if __name__ == '__main__':
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else '.')
    found = find_circle(load_arm('ur10'), Requirements(torque_margin=0.1, clearance=0.005))
    print(f'circle of {1000 * DIAMETER:g} mm, proven within its limits:')
    for claim in found.certificate.claims:
        print(' ', claim)
    save_excitation(found, folder / 'circle.yaml')
    (folder / 'circle.script').write_text(ur_script(found))
