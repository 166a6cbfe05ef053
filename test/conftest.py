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
"""Shared fixtures: recordings of real arms, and simulated runs that are computed once."""

from __future__ import annotations

from functools import cache
import os
from pathlib import Path

from hypothesis import HealthCheck, settings
from motions import excitation_of
import numpy as np
import pytest
from robot_identification import load_arm
from robot_identification.simulation import Plant, PlantOptions, simulate

# no deadline and no check of the speed of examples, because the computer may be busy
settings.register_profile('any_machine', deadline=None,
                          suppress_health_check=[HealthCheck.too_slow])
settings.load_profile('any_machine')

ROOT = Path(__file__).resolve().parents[1]
DATASETS = Path(os.environ.get('ROBOT_IDENTIFICATION_DATASETS',
                               ROOT.parent / 'shared' / 'datasets'))


@pytest.fixture(scope='session')
def datasets():
    """Return the folder of the real recordings."""
    if not DATASETS.is_dir():
        pytest.skip(f'the real recordings are not here ({DATASETS.name}; set '
                    f'ROBOT_IDENTIFICATION_DATASETS)')
    return DATASETS


@pytest.fixture(scope='session')
def real_robot(datasets, tmp_path_factory):
    """Return a function: real recording -> robot YAML with its URDF beside it."""
    folder = tmp_path_factory.mktemp('robots')
    for source in (ROOT / 'robot_identification' / 'benchmarking' / 'robots').iterdir():
        (folder / source.name).write_bytes(source.read_bytes())
    for source in datasets.glob('*/*.urdf'):
        (folder / source.name).write_bytes(source.read_bytes())
    return lambda name: folder / f'{name}.yaml'


class Runs:
    """An arm with two simulated runs: an excitation of 20 s (two periods) and another motion."""

    def __init__(self, name, options):
        self.arm = load_arm(name)
        self.plant = Plant(self.arm, options)
        self.excitation = excitation_of(f'{name}_10s', self.arm)
        self.other = excitation_of(f'{name}_8s', self.arm)
        rng = np.random.default_rng(1)
        self.run = simulate(self.plant, self.excitation, rng=rng, periods=2, name='excitation')
        self.check = simulate(self.plant, self.other, rng=rng, periods=2, name='another motion')


@pytest.fixture(scope='session')
def simulated():
    """Return a function that returns the `Runs` of an arm, simulated with a mismatched plant."""
    return cache(lambda name: Runs(name, PlantOptions()))
