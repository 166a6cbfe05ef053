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
"""Identifications of small arms for the tests of the reports."""

from __future__ import annotations

import dataclasses

import numpy as np
from robot_identification import Arm, IdentificationResult, identify, inverse_dynamics, Recording

EVIL = 'a<b>&"c'
EVIL_XML = 'a&lt;b&gt;&amp;&quot;c'


def link(name: str, mass: float) -> str:
    return (f'<link name="{name}"><inertial><origin xyz="0.1 0.02 0.05"/><mass value="{mass}"/>'
            f'<inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0.001" ixz="0" iyz="0"/>'
            f'</inertial></link>')


def chain(names: list[str], prismatic: tuple[int, ...] = ()) -> Arm:
    """Return a serial arm with joints given as XML; their axes alternate."""
    axes = ('0 0 1', '0 1 0', '1 0 0')
    parts = [link('link_0', 1.0)]
    for j, name in enumerate(names):
        kind = 'prismatic' if j in prismatic else 'revolute'
        parts += [link(f'link_{j + 1}', 2.0 / (1 + j)),
                  f'<joint name="{name}" type="{kind}"><parent link="link_{j}"/>'
                  f'<child link="link_{j + 1}"/><origin xyz="0.2 0 0.1"/>'
                  f'<axis xyz="{axes[j % 3]}"/>'
                  f'<limit lower="-3" upper="3" velocity="5" effort="50"/></joint>']
    return Arm.from_urdf(f'<robot name="tester &lt;i&gt;">{"".join(parts)}</robot>')


def record(arm: Arm, seed: int, name: str, seconds: float = 8.0) -> Recording:
    """Return a motion of an arm that is heavier than its URDF, with friction and noise."""
    rng = np.random.default_rng(seed)
    t = np.arange(0, seconds, 0.005)
    base = 2 * np.pi * rng.uniform(0.2, 0.25)
    k = base * np.arange(1, 6)[:, None]
    size = rng.normal(size=(5, arm.n)) / np.arange(1, 6)[:, None]
    phase = rng.uniform(0, 6, size=(5, arm.n))
    angle = k * t[:, None, None] + phase.T[None].transpose(0, 2, 1)
    q = 0.5 * np.sum(size * np.sin(angle), axis=1)
    v = 0.5 * np.sum(size * k * np.cos(angle), axis=1)
    a = -0.5 * np.sum(size * k ** 2 * np.sin(angle), axis=1)
    tau = (1.2 * inverse_dynamics(arm, q, v, a) + 0.4 * np.sign(v) + 0.3 * v + 0.2 * a
           + rng.normal(scale=0.05, size=q.shape))
    return Recording(t, q, tau, joint_names=arm.joint_names, name=name)


def identified(arm: Arm, held_out: tuple[int, ...] = (2,), name: str = 'other <em>') \
        -> IdentificationResult:
    """Return an identification from seed 1, validated on other seeds."""
    return identify(arm, [record(arm, 1, '/some/where/train.npz')],
                    held_out=[record(arm, seed, name) for seed in held_out])


def rank_deficient(result: IdentificationResult) -> IdentificationResult:
    """Return the result with its second base parameter marked as undetermined."""
    covariance = np.array(result.estimate.covariance)
    covariance[1, :] = covariance[:, 1] = 0
    covariance[1, 1] = np.inf
    label = result.estimate.labels[1]
    estimate = dataclasses.replace(
        result.estimate, covariance=covariance, rank=result.estimate.rank - 1,
        status='rank_deficient', message=f'the motion does not determine {label}',
        unexcited=(label,))
    verdict = dataclasses.replace(
        result.verdict, reasons=(f'the motion does not determine {label}',))
    return dataclasses.replace(result, estimate=estimate, verdict=verdict)
