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
"""Motions of the tests: committed files and closed formulas, the same on every computer."""

from __future__ import annotations

import dataclasses
from pathlib import Path
import runpy
from types import SimpleNamespace

import numpy as np
from robot_identification.arm import Arm, load_arm
from robot_identification.excitation import Excitation, load_excitation
from robot_identification.files import shared_folder

FOLDER = Path(__file__).parent / 'data' / 'excitations'


def excitation_of(name: str, arm: Arm | None = None) -> Excitation:
    """
    Return the committed excitation `<arm>_<...>` for an arm; for the shipped arm if None.

    The excitation is adapted to the URDF at hand, because releases of example-robot-data differ in
    the text of the URDF.
    """
    found = load_excitation(FOLDER / f'{name}.yaml')
    arm = load_arm(found.arm_name) if arm is None else arm
    return dataclasses.replace(found, urdf_sha256=arm.urdf_sha256)


def circle_example() -> SimpleNamespace:
    """Return the functions of examples/circle_motion.py."""
    return SimpleNamespace(**runpy.run_path(
        str(shared_folder('launch').parent / 'examples' / 'circle_motion.py')))


class SumOfSines:
    """
    A trajectory of several harmonics per joint that uses 90 % of one of the arm's limits.

    Amplitudes and phases are random, and scaled by their peaks on a fine grid. The range of a
    continuous joint counts as one turn at most.
    """

    def __init__(self, arm: Arm, period: float = 4.0, harmonics: int = 2, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.period, self.joint_names = period, arm.joint_names
        limits = arm.limits
        lower, upper = np.maximum(limits.lower, -np.pi), np.minimum(limits.upper, np.pi)
        self.middle = np.zeros(arm.n)
        self.rates = 2 * np.pi / period * np.arange(1, harmonics + 1)[:, None]    # (H, 1) [rad/s]
        self.size = rng.uniform(0.5, 1.0, (harmonics, arm.n))
        self.phase = rng.uniform(0, 2 * np.pi, (harmonics, arm.n))
        room = ((upper - lower) / 2, limits.velocity, limits.acceleration)
        motion = self.evaluate(np.linspace(0, period, 1000))
        self.size *= 0.9 * np.min([most / np.abs(part).max(axis=0)
                                   for most, part in zip(room, motion)], axis=0)
        self.middle = (lower + upper) / 2

    def evaluate(self, t, derivatives=2):
        """Return q, v and a at times t."""
        angle = self.rates * np.asarray(t)[:, None, None] + self.phase
        q, v, a = (np.sum(self.size * self.rates ** order * np.sin(angle + order * np.pi / 2),
                          axis=1) for order in range(3))
        return q + self.middle, v, a
