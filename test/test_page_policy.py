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
"""Every HTML page has a content security policy, by which it loads nothing from elsewhere."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
import re

from motions import excitation_of
import numpy as np
import pytest
from reporting_results import chain, identified
import robot_identification
from robot_identification import Arm, load_arm, Recording
from robot_identification.changes.commands import comparison_page, gains_page, payload_page
from robot_identification.changes.comparison import compare
from robot_identification.changes.drive_gains import GainEstimate
from robot_identification.changes.payload import PayloadEstimate
from robot_identification.excitation import build_scene, DEFAULT_REQUIREMENTS
from robot_identification.fleet.page import write_fleet_page
from robot_identification.fleet.robot_result import RobotResult
from robot_identification.papers.studies.study import Plot, StudyResult
from robot_identification.papers.study_report import write_study
from robot_identification.reporting import save_results
from robot_identification.reporting.excitation_page import write_excitation_page, write_repair_page
from robot_identification.reporting.figure import Curve, Figure, Panel
from robot_identification.reporting.pages import render_page
from robot_identification.reporting.results_files import load_results
from robot_identification.servos.model import ServoModel
from robot_identification.servos.page import servo_page
from robot_identification.servos.parameters import NAMES
from robot_identification.servos.result import HorizonError, RATIOS, ServoResult
from servo_plant import hobby_urdf, teleoperated

PACKAGE = robot_identification.__path__[0]
POLICY = {'default-src': {"'none'"}, 'base-uri': {"'none'"}, 'form-action': {"'none'"}}
LOCAL = {"'none'", "'unsafe-inline'", 'data:', 'blob:'}
PARTS = {'page.html', 'macros.html'}    # and the sections of the report, in a folder


def report(folder):
    return save_results(identified(chain(['one', 'two'])), folder) / 'report.html'


def comparison(folder):
    report(folder)
    results = load_results(folder)
    (folder / 'comparison.html').write_text(
        comparison_page(compare(results, results, ('May', 'June'))))
    return folder / 'comparison.html'


def study(folder):
    x = np.arange(1.0, 5.0)
    return write_study(StudyResult(
        name='small', title='A study', reference='Somebody, 2000', settings={}, assumptions=(),
        tables=(), claims=(), plots=(Plot('Costs', 'n', 'cost', (('one', x, x),), True),),
        quick=True).contents(), folder)


def repair(folder):
    arm, path = load_arm('panda'), folder / 'repair.html'
    write_repair_page(arm, [('inertia', 'panda_link4', '0 kg', '3 kg')],
                      build_scene(arm, DEFAULT_REQUIREMENTS), path)
    return path


def servos(folder):
    arm = Arm.from_urdf(hobby_urdf(2))
    model = ServoModel.nominal(arm)
    t, command = teleoperated(1, 4.0, n=2)
    trial = Recording(t, command, command=command, joint_names=arm.joint_names, name='a')
    result = ServoResult(model, {name: np.full(2, 0.02) for name in (*NAMES, *RATIOS)}, 0.001,
                         np.zeros(2), tuple(HorizonError.of(model, trial, 0.02)), True, (),
                         np.ones(2))
    return written(folder, servo_page(result, [trial]))


def written(folder, text):
    (folder / 'page.html').write_text(text, encoding='utf-8')
    return folder / 'page.html'


def payload(folder):
    return written(folder, payload_page(PayloadEstimate(
        np.arange(1.0, 11.0), np.eye(10), 1.0, 0.1, 1.0, 'found'), load_arm('panda'), ('a', 'b')))


def gains(folder):
    return written(folder, gains_page(GainEstimate(np.full(7, 9.0), np.full(7, 0.5)),
                                      load_arm('panda'), 2.0))


def benchmark(folder):
    row = {'method': 'wls', 'friction': 'coulomb', 'model': 'free', 'error_ratio': 1.0,
           'error_ratio_low': 0.9, 'error_ratio_high': 1.1, 'rank': 1.0, 'rank_low': 1.0,
           'rank_high': 1.5, 'seconds': 0.1, 'cases': 2, 'failures': 0, 'not_ok': 0,
           'median_error': 0.1}
    run = {'quick': True, 'seeds': [0], 'budget': 1.0, 'metrics': ['error'],
           'reference': 'wls coulomb_viscous consistent', 'environment': {}, 'data': [],
           'missing': [], 'failures': []}
    x = np.array([1.0])
    figure = Figure('cost', 'cost', 'x', (Panel('y', (Curve('one', x, x, 'var(--ink)'),)),))
    return written(folder, render_page('benchmark.html', 'robot_identification.benchmarking',
                                       run=run, groups={'Recordings': [row]}, names=['a'],
                                       by_data=[(row, [1.0])], figure=figure, joints=[]))


PAGES = {
    'benchmark': benchmark, 'repair': repair, 'servos': servos, 'payload': payload, 'gains': gains,
    'report': report, 'comparison': comparison, 'study': study,
    'fleet': lambda folder: write_fleet_page([RobotResult('a', 'two_link', 'passed', '')], folder),
    'excitation': lambda folder: write_excitation_page(
        load_arm('panda'), excitation_of('panda_10s', load_arm('panda')), folder / 'motion.html')}


class Page(HTMLParser):
    """The policy of a page, what stands before it, and the addresses that it loads."""

    def __init__(self, text):
        super().__init__()
        self.policies, self.before, self.addresses = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if attributes.get('http-equiv') == 'Content-Security-Policy':
            self.policies.append(attributes['content'])
        elif not self.policies:
            self.before.append(tag)
        self.addresses += [value for name, value in attrs if tag != 'a' and name in (
            'src', 'href', 'srcset', 'action', 'data', 'poster')]


@pytest.mark.parametrize('name', PAGES)
def test_a_page_loads_nothing_from_elsewhere(name, tmp_path):
    text = PAGES[name](tmp_path).read_text(encoding='utf-8')
    page = Page(text)
    assert len(page.policies) == 1
    assert set(page.before) <= {'html', 'head', 'meta'}    # the policy holds for what follows it
    policy = {rule.split()[0]: set(rule.split()[1:]) for rule in page.policies[0].split(';')}
    assert POLICY.items() <= policy.items()
    assert all(sources <= LOCAL for sources in policy.values())
    assert all(re.match('data:|blob:|#', address) for address in page.addresses)
    assert not re.findall(r'@import|url\(\s*["\']?(?!data:|#)', text)


def test_every_template_of_a_page_has_the_policy():
    templates = [path for path in Path(PACKAGE).rglob('templates/*.html')
                 if path.name not in PARTS]
    assert sorted(path.stem for path in templates) == sorted(PAGES)
    for path in templates:
        assert path.read_text(encoding='utf-8').startswith("{% extends 'page.html' %}"), path
    for path in Path(PACKAGE).rglob('*.py'):    # no page is written without a template
        assert not re.search(r'<(html|head|body)\b', path.read_text(encoding='utf-8')), path
