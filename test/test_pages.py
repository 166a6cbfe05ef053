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
"""
The pages in a browser: telephone, desktop and paper, light and dark.

ROBOT_IDENTIFICATION_SCREENSHOTS names a folder in which the screenshots are stored.
"""

import os
from pathlib import Path

from browser import Browser, executable
from motions import excitation_of
import numpy as np
import pytest
from reporting_results import chain, identified
from robot_identification import load_arm
from robot_identification.fleet.drift import Drift, PAYLOAD
from robot_identification.fleet.page import write_fleet_page
from robot_identification.fleet.robot_result import RobotResult
from robot_identification.papers.studies.study import Plot, StudyResult, Table
from robot_identification.papers.studies.verdict import Claim
from robot_identification.papers.study_report import write_study
from robot_identification.reporting import save_results
from robot_identification.reporting.excitation_page import write_excitation_page

pytestmark = pytest.mark.skipif(executable() is None, reason='no Chromium is installed')

PHONE, TABLET, DESK = 400, 1200, 1280
MOST_BYTES = 2e6
LONG = 'RMS error of the validation, as part of the rated torque'


def study():
    x = np.linspace(1.0, 300.0, 200)
    heads = ('method', *(f'{name} [N m]' for name in (
        'least', 'lower quartile', 'median', 'upper quartile', 'largest')), 'evaluations',
        'processor time [s]', 'times those of the best', 'p against the best')
    rows = tuple((name, *np.linspace(101.23456, 199.8, 9).tolist())
                 for name in ('PSO, inertia weight', 'differential_evolution'))
    return StudyResult(
        name='small', title='A study', reference='Somebody, 2000', settings={'runs': 3},
        assumptions=('one',), tables=(Table('Cost', heads, rows), Table(
            'Relative cost', ('method', f'{LONG}, lower quartile', 'median', 'upper quartile'),
            tuple((row[0], *row[2:5]) for row in rows))),
        claims=(Claim(f'one is better than another: {LONG}', [(1.0, 3.0), (2.0, 4.0)]),),
        plots=(Plot('Costs', 'evaluations', 'cost', (('one', x, 3 / x), ('two', x, 9 / x)), True),
               Plot('Torque', 'time [s]', 'torque [N m]', (('one', x, x),), False)),
        quick=True)


@pytest.fixture(scope='module')
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp('pages')
    names = ['shoulder_pan_joint', 'slide', 'wrist_3_joint']
    result = identified(chain(names, prismatic=(1,)))
    report = save_results(result, folder / 'result') / 'report.html'
    arm = load_arm('panda')
    motion = excitation_of('panda_10s', arm)
    return {'report': report, 'study': write_study(study().contents(), folder / 'study'),
            'excitation': write_excitation_page(arm, motion, folder / 'excitation.html')}


@pytest.fixture(scope='module')
def browser(tmp_path_factory):
    tab = Browser(tmp_path_factory.mktemp('browser'))
    yield tab
    tab.close()


def keep(browser, name):
    """Take a screenshot of the visible part; if they are stored, also one of the whole page."""
    browser.screenshot(Path(os.devnull), whole=False)
    folder = os.environ.get('ROBOT_IDENTIFICATION_SCREENSHOTS')
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        browser.screenshot(Path(folder) / f'{name}.png')


def overflowing(browser):
    return browser.evaluate("""[...document.querySelectorAll('.scroll')].filter(
        box => box.scrollWidth > box.clientWidth + 1).map(box => box.innerText.slice(0, 60))""")


@pytest.mark.parametrize('width', [PHONE, TABLET, DESK])
@pytest.mark.parametrize('name', ['report', 'study', 'excitation'])
def test_page_fits_its_window(pages, browser, name, width):
    assert pages[name].stat().st_size < MOST_BYTES
    browser.visit(pages[name], width)
    for dark in (False, True):
        browser.appear(dark=dark)
        assert browser.evaluate('document.documentElement.scrollWidth') == width
        if width > PHONE:
            assert overflowing(browser) == []
        ground = browser.evaluate('getComputedStyle(document.body).backgroundColor')
        brightness = np.mean([float(x) for x in ground[ground.index('(') + 1:-1].split(',')[:3]])
        assert (brightness < 60) == dark
        keep(browser, f'{name}_{width}_{"dark" if dark else "light"}')
    empty = browser.evaluate("""[...document.querySelectorAll('.figure')].filter(
        place => place.checkVisibility() && !place.querySelector('path')).map(
        place => place.id)""")
    assert empty == []
    assert browser.errors == []


@pytest.mark.parametrize('name', ['report', 'study', 'excitation'])
def test_page_is_printed(pages, browser, tmp_path, name):
    browser.visit(pages[name], DESK)
    browser.appear(dark=True, printed=True)
    ground = browser.evaluate('getComputedStyle(document.body).backgroundColor')
    assert ground == 'rgb(255, 255, 255)'
    printed = Path(os.environ.get('ROBOT_IDENTIFICATION_SCREENSHOTS', tmp_path)) / f'{name}.pdf'
    browser.to_pdf(printed)
    assert browser.errors == []
    assert printed.read_bytes().startswith(b'%PDF')


@pytest.mark.parametrize('size', [1e-9, 2e-5, 0.3, 4e7])
def test_labels_of_axes_are_whole(browser, tmp_path, size):
    values = size * np.array([-1.2345, 0.4321, 1.0])
    page = write_fleet_page([RobotResult('a', 'two_link', 'passed', '', drift=tuple(
        Drift(k, PAYLOAD, value, size, value, size) for k, value in enumerate(values)))], tmp_path)
    browser.visit(page, DESK)
    labels = browser.evaluate("""[...document.querySelectorAll('.figure text')].map(each => {
        const box = each.getBoundingClientRect();
        const figure = each.closest('.figure').getBoundingClientRect();
        return [each.textContent, box.left - figure.left, figure.right - box.right];
    })""")
    assert all(left >= 0 and right >= 0 for _, left, right in labels), labels
    assert ({1e-9: '[10\u207b\u2079 kg]', 2e-5: '[10\u207b\u2076 kg]', 0.3: '[kg]',
             4e7: '[10\u2076 kg]'}[size]) in ' '.join(text for text, *_ in labels)
    keep(browser, f'fleet_{size:g}')


def test_dragging_zooms_all_joints_and_a_double_click_ends_it(pages, browser):
    browser.visit(pages['report'], DESK)
    labels = """[0, 1].map(j => [...document.querySelectorAll(
        `#held_out_0_torque_${j} text`)].map(each => each.textContent).join(' '))"""
    before = browser.evaluate(labels)
    place = browser.evaluate("""(() => {
        const figure = document.getElementById('held_out_0_torque_0');
        figure.scrollIntoView({block: 'center', behavior: 'instant'});
        const box = figure.getBoundingClientRect();
        return [box.left, box.top];
    })()""")

    def mouse(kind, x, clicks=0):
        browser.call('Input.dispatchMouseEvent', type=kind, x=place[0] + x, y=place[1] + 80,
                     button='none' if kind == 'mouseMoved' and not clicks else 'left',
                     clickCount=clicks)

    mouse('mouseMoved', 200)
    values = browser.evaluate("document.querySelector('.values').innerText")
    assert 'measured' in values and 'residual' in values and 'time [s]' in values
    mouse('mousePressed', 200, 1)
    mouse('mouseMoved', 300, 1)
    mouse('mouseReleased', 300, 1)
    after = browser.evaluate(labels)
    assert after[0] != before[0] and after[1] != before[1]
    for clicks in (1, 2):
        mouse('mousePressed', 250, clicks)
        mouse('mouseReleased', 250, clicks)
    assert browser.evaluate(labels) == before
    assert browser.errors == []


def test_the_arm_is_drawn_without_scripts(pages):
    text = pages['excitation'].read_text(encoding='utf-8')
    still = text[text.index('<svg class="still"'):text.index('</noscript>', text.index('"still"'))]
    assert still.count('<polyline') == 1    # the path
    assert still.count('<polygon') > 10 * load_arm('panda').n    # the faces of the meshes


@pytest.fixture
def fleet(tmp_path):
    robots = [RobotResult(f'cell-{k}', 'two_link', 'passed', '', error=0.01 * k)
              for k in range(1, 8)]
    robots += [RobotResult('cell-8', 'two_link', 'broken', 'no file'),
               RobotResult('cell-9', 'two_link', 'failed', 'too large', error=0.3)]
    return write_fleet_page(robots, tmp_path)


ROWS = """[...document.querySelectorAll('#robots tbody tr')].filter(row => !row.hidden).map(
    row => row.cells[0].textContent)"""


def test_unknown_values_are_last_in_both_directions(fleet, browser):
    browser.visit(fleet, DESK)
    click = """[...document.querySelectorAll('#robots th')].find(
        head => head.textContent === 'error').click()"""
    browser.evaluate(click)
    rising = browser.evaluate(ROWS)
    browser.evaluate(click)
    falling = browser.evaluate(ROWS)
    assert rising == [*(f'cell-{k}' for k in range(1, 8)), 'cell-9', 'cell-8']
    assert falling == [*rising[-2::-1], 'cell-8']
    assert browser.errors == []


def test_rows_are_found_by_text_and_by_verdict(fleet, browser):
    browser.visit(fleet, PHONE)
    browser.evaluate("document.querySelector('.find button[value=failed]').click()")
    assert browser.evaluate(ROWS) == ['cell-9']
    browser.evaluate("""document.querySelector('.find button').click();
        const field = document.querySelector('.find input');
        field.value = 'NO FILE'; field.dispatchEvent(new Event('input'))""")
    assert browser.evaluate(ROWS) == ['cell-8']
    assert browser.evaluate("""getComputedStyle(document.querySelector('#robots tr[hidden]')
        ).display""") == 'none'
    assert browser.errors == []


def test_arrow_keys_read_a_plot(pages, browser):
    browser.visit(pages['report'], DESK)
    read = """document.querySelector('#held_out_0_torque_0').dispatchEvent(new KeyboardEvent(
        'keydown', {{key: '{}'}})), document.querySelector('.values')?.innerText"""
    assert 'measured' in browser.evaluate(read.format('ArrowRight'))
    assert browser.evaluate(read.format('Escape')) is None
