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
"""The HTML report: safe, complete and correct; the summary in the terminal; plots."""

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
from robot_identification.reporting import load_results, save_results, StoredResults
from robot_identification.reporting.figure import Axis, BOX, Curve, Figure, Panel
from robot_identification.reporting.pages import (
    bar_percent,
    file_name,
    format_correlation,
    number,
    percent,
    render_page,
    round_to_zero,
)
from robot_identification.reporting.plot_data import plot_data
from robot_identification.reporting.results_dict import results_to_dict
from robot_identification.reporting.results_files import parameter_strip, render
from robot_identification.reporting.terminal_summary import summary

VOID = ('br', 'hr', 'img', 'input', 'meta', 'line', 'path', 'circle')


class Page(HTMLParser):
    """Parser that checks the nesting of a page and collects the elements that tests need."""

    def __init__(self, source):
        super().__init__()
        self.stack, self.elements, self.words, self.scripts = [], [], [], []
        self.figures = {}       # by name: label of the y-axis and named curves of each panel
        self.feed(source)
        assert not self.stack

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        if tag not in VOID:
            self.stack.append(tag)
        if tag == 'script':
            self.scripts.append('')
        elif attributes.get('class') == 'figure':
            self.panels = self.figures.setdefault(attributes['id'], [])
        elif attributes.get('class') == 'panel':
            self.axes = [[float(x) for x in attributes[f'data-{axis}'].split()] for axis in 'xy']
            self.panels.append({'curves': {}, 'unnamed': []})
        elif tag == 'text' and 'data-label' in attributes:
            self.panels[-1]['label'] = attributes['data-label']
        elif tag == 'path' and attributes.get('class') in ('line', 'area', 'points', 'rings'):
            curve = curve_of(attributes, *self.axes)
            if 'data-name' in attributes:
                self.panels[-1]['curves'][attributes['data-name']] = curve
            else:
                self.panels[-1]['unnamed'].append(curve)

    def handle_endtag(self, tag):
        assert tag in VOID or self.stack.pop() == tag

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


def curve_of(attributes, x_axis, y_axis):
    """Return the data of a path on linear axes, (2, points)."""
    points = []
    for run in attributes['d'].split('M')[1:]:
        numbers = [int(x) for x in re.findall(r'-?[0-9]+', run)]
        steps = np.array(numbers[:len(numbers) // 2 * 2]).reshape(-1, 2)
        points.append(np.cumsum(steps, axis=0)[slice(1, -1) if attributes['class'] == 'area'
                                               else slice(None)])
    x, y = np.concatenate(points).T / BOX
    return np.array([x_axis[0] + x * (x_axis[1] - x_axis[0]),
                     y_axis[1] - y * (y_axis[1] - y_axis[0])])


def page_of(result, excitation=None):
    content = json.loads(json.dumps(results_to_dict(result, excitation)))
    return Page(render(StoredResults(content, plot_data(result, excitation))))


@pytest.fixture(scope='module')
def result():
    return identified(chain([EVIL_XML, 'slide', 'last'], prismatic=(1,)))


@pytest.fixture(scope='module')
def page(result):
    return page_of(result)


def test_file_opens_offline_and_is_small_enough(result, tmp_path):
    saved = save_results(result, tmp_path / 'out')
    assert (saved / 'report.html').stat().st_size < 2e6
    page = Page((saved / 'report.html').read_text(encoding='utf-8'))
    assert not page.having('src')
    assert all(link.startswith('#') for link in page.having('href'))
    assert not {tag for tag, _ in page.elements} & {'link', 'img', 'iframe', 'object', 'base'}
    policy = next(a['content'] for _, a in page.elements if a.get('http-equiv'))
    assert "default-src 'none'" in policy and 'http' not in policy
    assert page.text.count('results.json') and load_results(saved).joints[0] == EVIL


def test_texts_of_users_are_escaped(page):
    assert EVIL in page.text and 'other <em>' in page.text and 'tester <i>' in page.text
    names = {tag for tag, _ in page.elements}
    assert 'em' not in names and names & {'b', 'i', 'table'}
    assert [attributes.get('type') for tag, attributes in page.elements if tag == 'script'] == [
        None]


def test_every_figure_is_drawn_when_the_page_is_written(page, result):
    names = [a['id'] for _, a in page.elements if a.get('class') == 'figure']
    assert names == list(page.figures) and len(set(names)) == len(names)
    assert {'held_out_0_torque_2', 'fit_0_torque_0', 'friction_1', 'motion_2'} <= set(names)
    torques, residuals = page.figures['held_out_0_torque_1']
    assert torques['label'] == 'force [N]' and residuals['label'] == 'residual [N]'
    t, measured, predicted, half_width = plot_data(result)['held_out_0_joint_1']
    assert np.nanmin(half_width) > 0
    shown = torques['curves']
    np.testing.assert_allclose([shown['measured'][0][0], shown['measured'][0][-1]],
                               [0, t[-1] - t[0]], atol=1e-9)
    spread = np.ptp(measured)
    for values, curve in ((measured, shown['measured']), (predicted, shown['predicted'])):
        at = np.interp(t - t[0], *curve)
        assert np.abs(at - values).max() < 0.03 * spread and np.isfinite(curve).all()
        assert np.abs(at - values).mean() < 1e-3 * spread
    left = residuals['curves']['residual']
    np.testing.assert_allclose(left[1].max(), (measured - predicted).max(), atol=1e-3)
    np.testing.assert_allclose(left[1].min(), (measured - predicted).min(), atol=1e-3)
    links = {a['id']: a['data-link'] for _, a in page.elements if a.get('class') == 'figure'}
    assert links['held_out_0_torque_1'] == links['held_out_0_torque_0'] != ''


def test_colours_are_those_of_the_style_sheet(result, tmp_path):
    source = (save_results(result, tmp_path / 'o') / 'report.html').read_text(encoding='utf-8')
    sheet = source[source.index('<style>'):source.index('</style>')]
    names = set(re.findall(r'var\((--[a-z0-9-]+)\)', source))
    assert '--measured' in names
    for name in names - {'--c', '--tone', '--soft'}:    # that elements set themselves
        assert f'{name}:' in sheet


def test_verdict_comes_first(page, result):
    assert result.verdict.passed
    text = page.text
    places = [text.index(words) for words in (
        'PASS', 'Measured and predicted torque', 'Errors of each joint', 'Friction and drives',
        'Base parameters with', 'Links: mass', 'Residual increase',
        'Recorded motion and limits', 'Signal processing', 'The data, their use')]
    assert places[1:] == sorted(places[1:]) and places[0] == min(places)
    error = 100 * result.verdict.held_out[0].relative_error
    assert f'{error:.3g}\u202f%' in text and 'which was not used for the fit' in text
    assert f'low-passed at {result.verdict.held_out[0].cutoff:.3g} Hz' in text
    assert result.arm.urdf_sha256 in text


def test_failure_gives_its_reasons(result):
    page = page_of(rank_deficient(result))
    label = result.estimate.labels[1]
    assert 'FAIL' in page.text and f'does not determine {label}' in page.text
    assert page.text.count('not determined') == 1
    rank = result.estimate.base.rank
    assert f'{rank - 1} of {rank}' in page.text


def test_report_names_a_repeat_and_missing_held_out_motion():
    arm = chain(['one'])
    alone = page_of(identified(arm, held_out=()))
    assert 'No held-out recording was given' in alone.text and 'NOT VALIDATED' in alone.text
    assert 'not used for the fit' not in alone.text
    repeat = page_of(identified(arm, held_out=(1,)))
    assert 'repeats the training motion' in repeat.text and 'NOT VALIDATED' in repeat.text
    assert 'which was not used for the fit' not in repeat.text


def test_results_of_earlier_versions_are_shown(result):
    content = json.loads(json.dumps(results_to_dict(result)))
    for key in ('next_steps', 'choice', 'delay', 'effects'):
        del content[key]
    for key in ('status', 'checks', 'alarms'):
        del content['verdict'][key]
    for evaluation in (*content['verdict']['held_out'], *content['fit']):
        del evaluation['whole_relative_error']
    page = Page(render(StoredResults(content, plot_data(result))))
    assert 'PASS' in page.text and 'Checks' not in page.text
    assert 'over the whole recording' not in page.text
    trial = {'friction': 'viscous', 'estimator': 'wls', 'error': 0.1, 'excess': 0.0,
             'standard_error': 0.01, 'parameters': 2.0, 'note': '', 'chosen': True}
    content['choice'] = {'blocks': 'blocks of 1 s', 'trials': [
        {**trial, 'delay': delay} for delay in (True, False)]}
    values = dict.fromkeys(content['arm']['joints'], 0.002)
    content['delay'] = {'values': values, 'std': values, 'unit': 's'}
    text = Page(render(StoredResults(content, plot_data(result)))).text
    assert 'lag the torque of a joint' in text
    assert 'wlstorques' in text.replace(' ', '') and 'wlsnone' in text.replace(' ', '')


def test_twelve_joints_and_several_recordings():
    arm = chain([f'joint_{j}' for j in range(12)])
    page = page_of(identified(arm, held_out=(2, 3)))
    assert sum(name.startswith('held_out_1_torque') for name in page.figures) == 12
    assert sum(map(len, page.having('d'))) < 3e6


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
    t, *signals = excitation.sample(20.0, endpoint=True)
    names = ('position', 'velocity', 'acceleration')
    for name, panel, signal, bound in zip(names, page.figures['motion_0'], signals, (3, 5, 7)):
        curve = panel['curves'][name]
        assert curve[0][-1] == pytest.approx(t[-1])
        assert curve[1][0] == pytest.approx(signal[0, 0], abs=2e-3)
        low, high = panel['unnamed']
        assert low[1] == pytest.approx(-bound, abs=2e-3)
        assert high[1] == pytest.approx(bound, abs=2e-3)


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
    before, after = (page_of(r).figures['fit_0_torque_0'][0]['curves']['measured'][0]
                     for r in (result, shifted))
    np.testing.assert_allclose(after, before, atol=1e-5)


def test_file_names_are_escaped():
    assert 'title="/a/b&amp;.npz"' in file_name('/a/b&.npz')
    assert file_name('<i>') == '<span>&lt;i&gt;</span>'


@pytest.fixture
def draw(tmp_path, monkeypatch):
    """Return what draws a figure on a page of its own."""
    (tmp_path / 'figures_alone' / 'templates').mkdir(parents=True)
    (tmp_path / 'figures_alone' / '__init__.py').touch()
    (tmp_path / 'figures_alone' / 'templates' / 'one.html').write_text(
        "{% extends 'page.html' %}{% from 'macros.html' import plot %}"
        '{% block body %}{{ plot(figure) }}{% endblock %}')
    monkeypatch.syspath_prepend(tmp_path)
    return lambda figure: Page(render_page('one.html', 'figures_alone', figure=figure))


def test_names_and_labels_of_figures_are_escaped(draw):
    name = '</svg><script>alert(1)</script>&"'
    line = Curve(name, np.arange(3.0), np.arange(3.0), 'red')
    page = draw(Figure(name, name, name, (Panel(name, (line,)),), description=name))
    assert len(page.scripts) == 1 and page.figures[name][0]['label'] == name
    np.testing.assert_allclose(page.figures[name][0]['curves'][name], [[0, 1, 2]] * 2, atol=1e-3)


def test_what_is_not_finite_interrupts_a_line(draw):
    y = np.array([1 / 3, 0.5, np.nan, -np.inf, 1.0, 2.0])
    page = draw(Figure('f', '', 'x', (Panel('y', (Curve('a', np.arange(6.0), y, 'red'),)),)))
    [path] = page.having('d')
    assert path.count('M') == 2 and 'nan' not in path and 'inf' not in path
    np.testing.assert_allclose(page.figures['f'][0]['curves']['a'],
                               [[0, 1, 4, 5], [1 / 3, 0.5, 1, 2]], atol=1e-3)


def test_ticks_are_round_and_logarithmic_ones_are_powers():
    assert [label for _, label in Axis(-3.2, 7.1).ticks(6)] == ['\u22122', '0', '2', '4', '6']
    assert [label for _, label in Axis(0.5, 2e4, True).ticks(6)] == [
        '10\u2070', '10\u00b9', '10\u00b2', '10\u00b3', '10\u2074']
    assert [label for _, label in Axis(1.0, 9.0, True).ticks(6)] == ['1', '2', '5']
    tiny = Axis(-2e-5, 5e-5)
    assert tiny.label('mass [kg]') == 'mass [10\u207b\u2076 kg]'
    assert '20' in [label for _, label in tiny.ticks(6)]


def test_ranges_without_spread_are_drawn():
    for values, log in (([2.0, 2.0], False), ([0.0], False), ([np.nan], False), ([], True),
                        ([3.0], True), ([-1.0], True)):
        axis = Axis.around([np.array(values)], log, 0.05)
        assert axis.low < axis.high and list(axis.ticks(6))


@pytest.mark.parametrize(('value', 'text'), [
    (None, '\u2013'), (float('inf'), '\u2013'), (0.0, '0'), (-1.23456, '\u22121.235'),
    (34900.0, '34900'), (1.5e-7, '1.5\u00b710<sup>\u22127</sup>'),
    (-2e9, '\u22122\u00b710<sup>9</sup>')])
def test_numbers_are_written_for_readers(value, text):
    assert number(value) == text


def test_percentages_and_rounding_errors():
    assert percent(0.0712) == '7.12\u202f%' and percent(26.0) == '2600\u202f%'
    assert percent(4e-7) == '0.00\u202f%' and percent(None) == '\u2013'
    assert round_to_zero(1e-17, 1.0) == 0.0 and round_to_zero(1e-9, 1.0) == 1e-9
    assert round_to_zero(None, 1.0) is None
    assert (bar_percent(3.0), bar_percent(None), bar_percent(0.5)) == ('100.0', '0.0', '50.0')


def test_correlations_are_not_rounded_to_one():
    assert [format_correlation(x) for x in (0.5, 0.99994, 0.99996, 1.0)] == [
        '0.5000', '0.9999', '> 0.9999', '1.0000']
    assert format_correlation(0.9996, 3) == '> 0.999'
    assert format_correlation(-0.99999) == '< \u22120.9999'
    assert format_correlation(float('nan')) == '\u2013'


def test_strips_show_intervals_and_when_there_is_none():
    known = parameter_strip(2.0, 1.0, 3.0, urdf=-3.0)
    left, right = known['interval']
    assert left > 110 and right - left == pytest.approx(2 / 3 * (110 - 8), abs=0.2)
    assert known['arrows'] == [False, False] and known['urdf'] == 8
    assert parameter_strip(1.0, -99.0, 99.0)['arrows'] == [True, True]
    assert parameter_strip(1.0, None, None)['interval'] == []
    assert parameter_strip(0.0, 0.0, 0.0)['value'] == 110
    assert known['model'] is None


def test_strips_of_the_page_mark_what_is_not_determined(result, page):
    count = len(result.estimate.labels) + len(result.consistent.structure.names)
    assert page.having('class').count('strip') == count
    assert 'unknown' not in page.having('class')
    assert page_of(rank_deficient(result)).having('class').count('unknown') == 1
