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
"""A contributor adds a term, an estimator, a check and an export: they work, and fit in."""

from __future__ import annotations

from pathlib import Path
import shutil

import house
from known_truth import friction_samples
from level_weights import LevelWeights
from mass_table import export_mass_table
import numpy as np
import pytest
from quadratic_drag import QuadraticDrag
from reporting_results import chain, record
from robot_identification import identify
from robot_identification.dynamics import FRICTION_TERMS
from robot_identification.estimation import ESTIMATORS, fit_samples, FitOptions, get_estimator
from robot_identification.export import export_model, save_export
from robot_identification.export.export import TARGETS
from robot_identification.validation.checks import CHECKS
import short_recording
from simulation_arms import two_link

SOURCES = Path(__file__).parent / 'contributions'
PLACES = {    # file of the contribution: its folder, its member, the file that registers it, how
    'quadratic_drag.py': ('dynamics/friction', 'QuadraticDrag', 'dynamics/friction/names.py',
                          'FRICTION_TERMS.register("quadratic_drag", QuadraticDrag())'),
    'level_weights.py': ('estimation', 'LevelWeights', 'estimation/__init__.py',
                         'ESTIMATORS.register("level_weights", LevelWeights)'),
    'short_recording.py': ('validation/checks', 'CHECK', 'validation/checks/__init__.py',
                           'CHECKS["short recording"] = CHECK'),
    'mass_table.py': ('export', 'export_mass_table', 'export/export.py',
                      'TARGETS["mass_table"] = export_mass_table')}


def test_the_term_is_identified(monkeypatch):
    monkeypatch.setitem(FRICTION_TERMS, 'quadratic_drag', QuadraticDrag())
    monkeypatch.setitem(ESTIMATORS, 'level_weights', LevelWeights)
    friction = 'coulomb + viscous + quadratic_drag + offset'
    data, _, standard, *_ = friction_samples(two_link(), friction, noise=0.02, seconds=10.0)
    fit = fit_samples(two_link(), [data], FitOptions(get_estimator('level_weights'), friction))
    assert fit.estimate.status == 'ok' and fit.estimate.estimator == 'level_weights'
    expected = fit.regression.base.project(standard)
    error = np.abs(fit.estimate.values - expected)
    assert np.all(error < 5 * fit.estimate.standard_deviations + 1e-9)


def test_the_check_and_the_export_are_used(monkeypatch, tmp_path):
    monkeypatch.setitem(CHECKS, 'short recording', short_recording.CHECK)
    monkeypatch.setitem(TARGETS, 'mass_table', export_mass_table)
    arm = chain(['a', 'b'])
    result = identify(arm, [record(arm, 1, 'x', 12.0)])
    finding, = (f for f in result.verdict.findings if f.check == 'short recording')
    assert not finding.alarm and finding.figure == pytest.approx(12.0, abs=0.1)
    exported = export_model(result.model, 'mass_table')
    table, = exported.files.values()
    assert table.splitlines()[0] == 'joint,mass' and len(table.splitlines()) == 4
    for _ in range(2):    # a later export replaces the file
        save_export(exported, tmp_path)


def test_all_contributions_together_stay_within_the_limits(tmp_path):
    package = tmp_path / 'robot_identification'
    shutil.copytree(house.PACKAGE, package, ignore=shutil.ignore_patterns('__pycache__'))
    for name, (folder, member, registry, line) in PLACES.items():
        shutil.copy(SOURCES / name, package / folder / name)
        module = f'robot_identification.{folder.replace("/", ".")}.{name.removesuffix(".py")}'
        path = package / registry
        path.write_text(f'{path.read_text()}\n\nfrom {module} import {member}\n{line}\n')
    assert not house.House(package).violations
