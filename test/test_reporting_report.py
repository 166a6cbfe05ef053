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
"""The HTML report: safe, complete and honest; the summary in the terminal; markup."""

from __future__ import annotations

import dataclasses
from html.parser import HTMLParser
import json
import re
import subprocess
import sys

import numpy as np
import pytest
from reporting_results import chain, EVIL, EVIL_XML, identified, rank_deficient
from robot_identification.excitation import Trajectory
from robot_identification.excitation.design.excitation import Excitation
from robot_identification.excitation.motion.fourier import FourierSeries
from robot_identification.reporting import load_results, save_results, StoredResults, summary
from robot_identification.reporting.contents import contents
from robot_identification.reporting.figures import Figure, figures_json, rounded
from robot_identification.reporting.markup import (
    bar,
    correlation,
    file_name,
    free_of_dust,
    Html,
    number,
    percent,
    table,
    tag,
    VOID,
)
from robot_identification.reporting.plot_data import plot_data
from robot_identification.reporting.report import render
from robot_identification.reporting.strips import strip


class Page(HTMLParser):
    """Checks nesting while reading, and collects what tests ask for."""

    def __init__(self, source):
        super().__init__()
        self.stack, self.elements, self.words, self.scripts = [], [], [], []
        self.feed(source)
        assert not self.stack

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in (*VOID, 'line', 'path', 'circle'):
            self.stack.append(tag)
        if tag == 'script':
            self.scripts.append('')

    def handle_endtag(self, tag):
        assert tag in ('line', 'path', 'circle') or self.stack.pop() == tag

    def handle_data(self, data):
        if self.stack and self.stack[-1] == 'script':
            self.scripts[-1] += data
        elif self.stack and self.stack[-1] != 'style':
            self.words.append(data)

    @property
    def text(self):
        return re.sub(r'[ \n]+', ' ', ''.join(self.words))

    def having(self, attribute):
        return [a[attribute] for _, a in self.elements if attribute in a]


def page_of(result, excitation=None):
    content = json.loads(json.dumps(contents(result, excitation)))
    return Page(render(StoredResults(content, plot_data(result, excitation))))


@pytest.fixture(scope='module')
def result():
    return identified(chain([EVIL_XML, 'slide', 'last'], prismatic=(1,)))


@pytest.fixture(scope='module')
def page(result):
    return page_of(result)


def test_file_opens_offline_and_is_small_enough(result, tmp_path):
    saved = save_results(result, tmp_path / 'out')
    assert saved.report.stat().st_size < 2e6
    page = Page(saved.report.read_text(encoding='utf-8'))
    assert not page.having('src')
    assert all(link.startswith('#') for link in page.having('href'))
    assert not {tag for tag, _ in page.elements} & {'link', 'img', 'iframe', 'object', 'base'}
    policy = next(a['content'] for _, a in page.elements if a.get('http-equiv'))
    assert "default-src 'none'" in policy and 'http' not in policy
    assert page.text.count('results.json') and load_results(saved.directory).joints[0] == EVIL


def test_texts_of_users_are_escaped(page):
    assert EVIL in page.text and 'other <em>' in page.text and 'tester <i>' in page.text
    names = {tag for tag, _ in page.elements}
    assert 'em' not in names and names & {'b', 'i', 'table'}
    assert [attributes.get('type') for tag, attributes in page.elements if tag == 'script'] == [
        'application/json', None, None]
    assert '<' not in page.scripts[0]


def test_every_figure_has_its_place(page):
    places = [a['id'] for _, a in page.elements if a.get('class') == 'figure']
    figures = json.loads(page.scripts[0])
    assert places == list(figures) and len(set(places)) == len(places)
    assert {'held_out_0_torque_2', 'fit_0_torque_0', 'friction_1', 'motion_2'} <= set(places)
    torque = figures['held_out_0_torque_1']
    assert torque['layout']['yaxis']['title']['text'] == 'force [N]'
    measured, predicted, residual = torque['data']
    np.testing.assert_allclose(residual['y'], np.subtract(measured['y'], predicted['y']),
                               atol=1e-3)
    assert torque['link'] == figures['held_out_0_torque_0']['link']


def test_colours_are_those_of_the_style_sheet(page, result, tmp_path):
    source = save_results(result, tmp_path / 'o').report.read_text(encoding='utf-8')
    sheet = source[source.index('<style>'):source.index('</style>')]
    for name in set(re.findall(r'var\((--[a-z-]+)\)', page.scripts[0])):
        assert f'{name}:' in sheet


def test_verdict_comes_first(page, result):
    assert result.verdict.passed
    text = page.text
    places = [text.index(words) for words in (
        'PASS', 'Measured and predicted torque', 'Errors of each joint', 'Friction and drives',
        'Base parameters with', 'Links: mass', 'What being physical costs',
        'Recorded motion and limits', 'How the signals', 'Where this comes from')]
    assert places[1:] == sorted(places[1:]) and places[0] == min(places)
    error = 100 * result.verdict.held_out[0].relative_error
    assert f'{error:.3g}\u202f%' in text and 'which the fit has not seen' in text
    assert f'low-passed at {result.verdict.held_out[0].cutoff:.3g} Hz' in text
    assert result.arm.urdf_sha256 in text


def test_failure_gives_its_reasons(result):
    page = page_of(rank_deficient(result))
    label = result.estimate.labels[1]
    assert 'FAIL' in page.text and f'does not determine {label}' in page.text
    assert page.text.count('not determined') == 1
    rank = result.estimate.base.rank
    assert f'{rank - 1} of {rank}' in page.text


def test_repeat_and_no_held_out_are_said():
    arm = chain(['one'])
    alone = page_of(identified(arm, held_out=()))
    assert 'No held-out recording was given' in alone.text and 'NOT VALIDATED' in alone.text
    assert 'the motion that was not fitted' not in alone.text
    repeat = page_of(identified(arm, held_out=(1,)))
    assert 'repeats the training motion' in repeat.text and 'NOT VALIDATED' in repeat.text
    assert 'which the fit has not seen' not in repeat.text


def test_twelve_joints_and_several_recordings():
    arm = chain([f'joint_{j}' for j in range(12)])
    page = page_of(identified(arm, held_out=(2, 3)))
    figures = json.loads(page.scripts[0])
    assert sum(name.startswith('held_out_1_torque') for name in figures) == 12
    assert len(page.scripts[0]) < 3e6


def test_designed_excitation_is_shown(result):
    arm = result.arm
    series = FourierSeries(10.0, 2)
    coefficients = np.full((series.size, arm.n), 0.1)
    limits = dataclasses.replace(arm.limits, acceleration=[7.0] * 3)
    excitation = Excitation(
        Trajectory(series, coefficients), arm.joint_names, arm.name, arm.urdf_sha256, limits, 0.0,
        np.full((4, 3), 0.5), 'cond', 12.5, 12.5, 20, 100, 7, 1, 0.5, (12.5,), 'converged',
        ('a note <x>',))
    page = page_of(result, excitation)
    assert 'a note <x>' in page.text and 'Recorded motion' not in page.text
    assert 'with 2 harmonics of 10 s' in page.text and '\u00b17 rad/s\u00b2' in page.text
    motion = json.loads(page.scripts[0])['motion_0']['data']
    t, *signals = excitation.sample(20.0, endpoint=True)
    assert motion[0]['x'][-1] == pytest.approx(t[-1]) and motion[3]['x'] == '='
    for line, signal in zip((motion[0], motion[3], motion[6]), signals):
        assert line['y'][0] == pytest.approx(signal[0, 0], abs=1e-4)
    assert [line['y'][0] for line in motion if line['name'] == 'limit'] == [-3, 3, -5, 5, -7, 7]


def test_summary_in_the_terminal(result, tmp_path):
    from rich.console import Console
    console = Console(width=120, record=True, file=open('/dev/null', 'w'))  # noqa: SIM115
    console.print(summary(result, tmp_path))
    text = console.export_text()
    assert 'PASS' in text and EVIL in text and 'report.html' in text
    assert f'{result.verdict.held_out[0].relative_error:.1%}' in text
    console.print(summary(rank_deficient(result)))
    assert 'FAIL' in console.export_text()


def test_rich_is_imported_only_when_a_terminal_is_written():
    code = "import robot_identification.reporting, sys; assert 'rich' not in sys.modules"
    subprocess.run([sys.executable, '-c', code], check=True)


def test_epoch_stamps_do_not_lose_time():
    arm = chain(['one'])
    result = identified(arm, held_out=())
    late = dataclasses.replace(result.fitted[0], t=result.fitted[0].t + 1.7e9)
    shifted = dataclasses.replace(result, fitted=(late,))
    before, after = (json.loads(page_of(r).scripts[0])['fit_0_torque_0']['data'][0]['x']
                     for r in (result, shifted))
    np.testing.assert_allclose(after, before, atol=1e-5)


def test_markup_escapes_unless_told():
    assert tag('td', '<a>', Html('<b>'), data_sort='"') == \
        '<td data-sort="&quot;">&lt;a&gt;<b></td>'
    assert 'title="/a/b&amp;.npz"' in file_name('/a/b&.npz')
    assert '<script>' not in table(['<script>'], [['<script>', 1]])


def test_figures_cannot_end_their_script_element():
    name = '</script><script>alert(1)</script>&'
    dumped = figures_json([Figure(name, [], {'title': name})])
    assert not {'<', '>', '&'} & set(dumped)
    assert json.loads(dumped)[name]['layout'] == {'title': name}


def test_numbers_of_traces_are_short_and_null_where_not_finite():
    assert rounded(np.array([1 / 3, np.nan, -np.inf, 1e-12])) == [0.33333, None, None, 1e-12]


@pytest.mark.parametrize(('value', 'text'), [
    (None, '&ndash;'), (float('inf'), '&ndash;'), (0.0, '0'), (-1.23456, '\u22121.235'),
    (34900.0, '34900'), (1.5e-7, '1.5\u00b710<sup>\u22127</sup>'),
    (-2e9, '\u22122\u00b710<sup>9</sup>')])
def test_numbers_are_written_for_readers(value, text):
    assert number(value) == text


def test_percentages_and_dust():
    assert percent(0.0712) == '7.12\u202f%' and percent(26.0) == '2600\u202f%'
    assert percent(4e-7) == '0.00\u202f%' and percent(None) == '&ndash;'
    assert free_of_dust(1e-17, 1.0) == 0.0 and free_of_dust(1e-9, 1.0) == 1e-9
    assert free_of_dust(None, 1.0) is None
    assert 'width:100.0%' in bar(3.0) and 'width:0.0%' in bar(None)


def test_correlations_are_not_rounded_to_one():
    assert [correlation(x) for x in (0.5, 0.99994, 0.99996, 1.0)] == [
        '0.5000', '0.9999', '> 0.9999', '1.0000']
    assert correlation(0.9996, 3) == '> 0.999' and correlation(-0.99999) == '< \u22120.9999'
    assert correlation(float('nan')) == '\u2013'


def test_strips_draw_intervals_and_say_when_there_is_none():
    def places(drawing, kind):
        found = re.search(f'class="{kind}" x1="([0-9.]+)" x2="([0-9.]+)"', drawing)
        return [float(x) for x in found.groups()]
    known = strip(2.0, 1.0, 3.0, urdf=-3.0)
    left, right = places(known, 'interval')
    assert left > 110 and right - left == pytest.approx(2 / 3 * (110 - 8), abs=0.2)
    assert 'arrow' not in known and 'class="urdf"' in known
    assert strip(1.0, -99.0, 99.0).count('arrow') == 2
    unknown = strip(1.0, None, None)
    assert 'unknown' in unknown and 'interval' not in unknown
    assert 'cx="110.0"' in strip(0.0, 0.0, 0.0)
