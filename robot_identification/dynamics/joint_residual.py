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
"""Torque of one joint that a Gaussian process adds to the physical model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.errors import ConfigurationError

RESIDUAL_GAINS = 'residual_gains'
"""Key in `IdentifiedModel.information`: for each joint the reduction of its left-out error by kind
of fold, whether the part is used, and its root mean square torque."""
EXPLAINED = 1e-3
"""Variance of the process, given the points, below which no further point is needed."""
_POINTS = ('q', 'v', 'weights')


@dataclass(frozen=True, eq=False)
class JointResidual(ReadOnlyArrays):
    """
    Posterior mean of a Gaussian process in the position and the velocity of one joint.

    The torque is the sum over the points i of weights_i * exp(-d_i / 2), where d_i is ((q - q_i) /
    length_q)^2 + ((v - v_i) / length_v)^2 + sign_weight^2 * (tanh(v / sign_speed) - tanh(v_i /
    sign_speed))^2. It tends to zero away from the points.

    Parameters
    ----------
    q, v
        Position and velocity of each point, (m,) [rad or m, per s].
    weights
        Weight of each point, (m,) [N m or N].
    length_q, length_v
        Length scales [rad or m, per s].
    sign_speed
        Speed above which the direction of motion counts fully [rad/s or m/s].
    sign_weight
        Inverse length scale of the direction of motion; 0 if it does not count.

    Raises
    ------
    ConfigurationError
        A number is not finite, a length is not positive, or the points differ in number.

    References
    ----------
    D. Nguyen-Tuong, J. Peters, "Using model knowledge for learning inverse dynamics", ICRA 2010;
    J. Quinonero-Candela, C. E. Rasmussen, "A unifying view of sparse approximate Gaussian process
    regression", JMLR 6, 2005 (subset of regressors).

    """

    q: Array
    v: Array
    weights: Array
    length_q: float
    length_v: float
    sign_speed: float
    sign_weight: float

    def __post_init__(self) -> None:
        """Check the numbers."""
        super().__post_init__()
        numbers = np.concatenate([np.ravel(value) for value in vars(self).values()])
        if not (np.shape(self.q) == np.shape(self.v) == np.shape(self.weights) == (self.q.size,)
                and np.all(np.isfinite(numbers))
                and min(self.length_q, self.length_v, self.sign_speed) > 0):
            raise ConfigurationError(
                'the residual part of a joint must have as many positions as velocities and '
                'weights, finite numbers and positive lengths')

    def kernel(self, q: Any, v: Any) -> Any:
        """Return the kernel between states (...,) and the points, (..., m)."""
        position = (q[..., None] - self.q) / self.length_q
        speed = (v[..., None] - self.v) / self.length_v
        sign = self.sign_weight * (np.tanh(v / self.sign_speed)[..., None]
                                   - np.tanh(self.v / self.sign_speed))
        return np.exp(-0.5 * (position * position + speed * speed + sign * sign))

    def torque(self, q: Any, v: Any) -> Any:
        """
        Return the torque at states, (N,) [N m or N].

        Parameters
        ----------
        q, v
            Positions and velocities of the joint, (N,) [rad or m, per s].

        """
        return self.kernel(q, v) @ self.weights

    def error_left(self, q: Array, v: Array, joint: str, information: Mapping[str, Any]) -> Array:
        """
        Return the error with this part over that without it at states, (N,).

        It is that of left-out folds near the points, and tends to 1 away from them, as the
        variance of the process that the points explain tends to 0.

        Parameters
        ----------
        q, v
            As for `torque`.
        joint, information
            Name of the joint, and the model's information with its `RESIDUAL_GAINS`, of which the
            smallest counts; without them the error is 1.

        """
        kernel, prior = self.kernel(q, v), self.kernel(self.q, self.v)
        whole = prior + EXPLAINED * np.eye(len(prior))
        explained: Array = np.sum(kernel * np.linalg.solve(whole, kernel.T).T, axis=1)
        gain = information.get(RESIDUAL_GAINS, {}).get(joint, {})
        left = 1 - min(gain.get(kind, 0.0) for kind in ('time', 'posture', 'speed'))
        result: Array = np.sqrt(1 - (1 - left ** 2) * explained)
        return result

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name, for a model file."""
        return {name: np.asarray(value).tolist() for name, value in vars(self).items()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> JointResidual:
        """Return what `to_dict` stored."""
        values: dict[str, Any] = {
            name: np.array(value, dtype=float) if name in _POINTS else float(value)
            for name, value in content.items()}
        return cls(**values)
