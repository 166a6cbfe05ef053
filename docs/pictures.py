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
Every HTML page of the suite from simulated arms, and its pictures for docs and for a reviewer.

    python docs/pictures.py --data build/pages                        # pages not there yet
    python docs/pictures.py --data build/pages --shots build/shots    # and photographs
    python docs/pictures.py --data build/pages --docs docs/images     # `make pictures`
    python docs/pictures.py --data build/pages --axe axe.min.js       # check with axe-core

Needs Chromium, MuJoCo, Pillow and the extra `fleet`; `--only` restricts the pages. Photographs are
taken of pages at 1440 and 390 pixels, light and dark, without JavaScript, and in print.
"""

from __future__ import annotations

import argparse
import base64
from collections.abc import Callable
from dataclasses import replace
import io
import json
from pathlib import Path
import re
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'test'), str(ROOT / 'benchmarks')]

from browser import Browser  # noqa: E402
from fleet import synthetic  # noqa: E402
from motions import SumOfSines  # noqa: E402
from robot_identification import joint_torque_regressor, load_arm, Recording  # noqa: E402
from robot_identification.papers.study_report import write_study  # noqa: E402
from robot_identification.simulation import Plant, PlantOptions, simulate  # noqa: E402
from servo_plant import hobby_urdf, recorded, Truth  # noqa: E402

ARM = 'ur10e'
CENTRE = (0.05, 0.0, 0.06)    # [m] of a mass, in the frame of the last joint
DESK, PHONE = 1440, 390
RECORDINGS = 6
WEAR = {'cell-07': ('elbow_joint', 0.08), 'cell-19': ('wrist_2_joint', 0.05)}
"""Relative growth of a joint's friction from the third to the last recording."""


def run(*words: object) -> None:
    """Run a command of the suite; its verdict may be negative."""
    print('robot-identification', *words, flush=True)
    done = subprocess.run([sys.executable, '-m', 'robot_identification', *map(str, words)],
                          cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
    if done.returncode == 2:
        raise SystemExit(f'{words} failed')


def recording(seed: int, motion: int, *, friction: tuple[str, float] = ('', 0.0),
              mass: float = 0.0, gain: float = 1.0, noise: int = 0) -> Recording:
    """
    Return a recording of a simulated arm.

    Parameters
    ----------
    seed, motion, noise
        Seeds of the arm, of its motion and of the noise.
    friction
        A joint and by which part its Coulomb friction is larger.
    mass
        Mass at the flange [kg].
    gain
        Factor of the measured torque of the second joint.

    """
    arm = load_arm(ARM)
    plant = Plant(arm, PlantOptions(seed=seed, rate=250.0))
    joint, more = friction
    factor = 1 + more * np.array([name == joint for name in arm.joint_names])
    truth = plant.truth.friction
    plant.truth = replace(plant.truth, friction=replace(
        truth, coulomb=truth.coulomb * factor, static=truth.static * factor))
    made = simulate(plant, SumOfSines(arm, 10.0, 4, motion), rng=np.random.default_rng(noise))
    tau = np.array(made.recording.tau)
    x, _, z = CENTRE
    carried = mass * np.array([1.0, *CENTRE, z * z + 9e-4, 0.0, x * x + z * z + 9e-4, -x * z, 0.0,
                               x * x + 9e-4])    # a body with a radius of gyration of 3 cm
    tau += joint_torque_regressor(arm, made.q, made.v, made.a)[..., -10:] @ carried
    tau[:, 1] *= gain
    return replace(made.recording, tau=tau, name=f'motion {motion}')


def identification(folder: Path) -> None:
    """Write the results of the demonstration: excitation page and report."""
    run('excite', 'panda', '-o', folder / 'excitation.yaml', '--report',
        folder / 'excitation.html', '--time-budget', 45, '--floor', 0, '--force')
    run('demo', '-o', folder / 'demo', '--time-budget', 30, '--force')


def comparisons(folder: Path) -> None:
    """Write four identifications and the pages that compare the first with the others."""
    cases = {'may': {}, 'june': {'motion': 2}, 'gripper': {'motion': 2, 'mass': 1.0},
             'worn': {'motion': 2, 'friction': ('elbow_joint', 0.25)}}
    for name, case in cases.items():
        motion = case.pop('motion', 1)
        for part, number in (('fit', motion), ('check', 10 + motion)):
            recording(3, number, noise=number, **case).to_npz(folder / f'{name}_{part}.npz')
        run('identify', ARM, folder / f'{name}_fit.npz', '--held-out',
            folder / f'{name}_check.npz', '-o', folder / name, '--friction', 'stribeck', '--force')
        if name != 'may':
            run('compare', folder / 'may', folder / name, '--report', folder / f'{name}.html',
                '--force')


def fleet(folder: Path) -> None:
    """Write a fleet of 24 robots, of which two wear and four fail, and its page."""
    lines = ['settings: {friction: stribeck}', 'robots:']
    (folder / 'logs').mkdir(exist_ok=True)
    for number in range(1, 25):
        name = f'cell-{number:02}'
        joint, growth = WEAR.get(name, ('', 0.0))
        for day in range(RECORDINGS + 1):
            path = folder / 'logs' / f'{name}_2026-{3 + day:02}-01.npz'
            if path.exists():
                continue
            worn = growth * max(0, min(day, RECORDINGS - 1) - 1) / (RECORDINGS - 2)
            recording(number, 10 * number + day, friction=(joint, worn), noise=day,
                      gain=1.25 if name in ('cell-04', 'cell-12') and day == RECORDINGS else 1.0,
                      mass=5.0 if name == 'cell-21' and day == RECORDINGS else 0.0).to_npz(path)
        last = f'logs/{name}_2026-{3 + RECORDINGS:02}-01.npz'
        if name == 'cell-15':    # a disk was full
            for path in folder.glob(f'logs/{name}_*'):
                path.write_bytes(path.read_bytes()[:2000])
        given = ', '.join(f'logs/{name}_2026-{3 + day:02}-01.npz' for day in range(RECORDINGS))
        lines.append(f'  {name}: {{robot: {ARM}, recordings: [{given}], held_out: [{last}]}}')
    (folder / 'press_shop.yaml').write_text('\n'.join(lines) + '\n', encoding='utf-8')
    run('fleet', folder / 'press_shop.yaml', '-o', folder / 'results', '--force')


def large_fleet(folder: Path) -> None:
    """Write the page of 200 robots with drawn states and drifts."""
    synthetic(folder, 200)


def repair(folder: Path) -> None:
    """Write the page of a description with placeholders: torques of 1 N m, a link without mass."""
    text = re.sub('effort="[0-9.]+"', 'effort="1"', load_arm('panda').urdf)
    before, after = text.split('<link name="panda_link4">')
    after = re.sub('(?s)<inertial>.*?</inertial>', '', after, count=1)
    text = f'{before}<link name="panda_link4">{after}'
    (folder / 'vendor.urdf').write_text(text, encoding='utf-8')
    run('init', folder / 'vendor.urdf', '-o', folder / 'vendor.yaml', '--lock', '*finger*',
        '--acceleration', 5, '--effort', 'torque,joint,+1,gravity', '--repair', '--force')


def benchmark(folder: Path) -> None:
    """Copy the stored page of the benchmark."""
    shutil.copy(ROOT / 'docs' / 'benchmark' / 'benchmark.html', folder)


def studies(folder: Path) -> None:
    """Write the pages of the stored run of all studies."""
    stored = json.loads((ROOT / 'docs' / 'studies.json').read_text(encoding='utf-8'))
    for study in stored['studies']:
        write_study(study, folder / study['study'])


def servos(folder: Path) -> None:
    """Write the results of the servos of a simulated hobby arm."""
    (folder / 'hobby.urdf').write_text(hobby_urdf(5), encoding='utf-8')
    (folder / 'hobby.yaml').write_text('urdf: hobby.urdf\n', encoding='utf-8')
    truth = Truth.drawn(1, n=5).rough()
    for name, seed in (('teleoperation', 101), ('another', 201)):
        recorded(truth, seed, 30.0, name=name).to_npz(folder / f'{name}.npz')
    run('servos', folder / 'hobby.yaml', folder / 'teleoperation.npz', '--held-out',
        folder / 'another.npz', '-o', folder / 'servos', '--force')


def at_work(folder: Path) -> None:
    """Write the pages of a payload and of drive gains."""
    for name, case in {'fit': {'motion': 1}, 'check': {'motion': 11}, 'empty': {'motion': 2},
                       'loaded': {'motion': 2, 'mass': 1.0, 'noise': 1},
                       'heavy': {'motion': 1, 'mass': 8.0, 'noise': 1}}.items():
        made = recording(3, **case)
        made.to_npz(folder / f'{name}.npz')
        current = made.tau / [12.0, 12.0, 9.0, 6.0, 6.0, 6.0]    # N m/A
        replace(made, tau=None, current=current).to_npz(folder / f'{name}_current.npz')
    run('identify', ARM, folder / 'fit.npz', '--held-out', folder / 'check.npz', '-o',
        folder / 'model', '--friction', 'stribeck', '--force')
    run('payload', folder / 'model' / 'model.yaml', folder / 'loaded.npz', '--unloaded',
        folder / 'empty.npz', '--report', folder / 'payload.html', '--force')
    run('gains', ARM, '--mass', 8, '--centre', *CENTRE, '--unloaded', folder / 'fit_current.npz',
        '--loaded', folder / 'heavy_current.npz', '--report', folder / 'gains.html', '--force')


PARTS: dict[str, tuple[Callable[[Path], None], dict[str, str]]] = {
    'demo': (identification, {'report': 'demo/report.html', 'excitation': 'excitation.html'}),
    'compare': (comparisons, {'comparison_gripper': 'gripper.html', 'comparison_same': 'june.html',
                              'comparison_worn': 'worn.html'}),
    'fleet': (fleet, {'fleet': 'results/index.html'}),
    'large_fleet': (large_fleet, {'fleet_200': 'results/index.html'}),
    'repair': (repair, {'repair': 'vendor_repaired.html'}),
    'benchmark': (benchmark, {'benchmark': 'benchmark.html'}),
    'studies': (studies, {f'study_{name}': f'{name}/study.html' for name in (
        'abc_er16', 'ics_er16', 'survey_er20', 'elpidso_2link', 'mfs_qj')}),
    'servos': (servos, {'servos': 'servos/servos.html'}),
    'at_work': (at_work, {'payload': 'payload.html', 'gains': 'gains.html'})}


def main() -> int:
    """Make what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--data', type=Path, required=True, help='folder of the pages')
    parser.add_argument('--only', nargs='*', default=list(PARTS), choices=PARTS)
    parser.add_argument('--shots', type=Path, help='folder of the screenshots')
    parser.add_argument('--docs', type=Path, help='folder of the pictures in docs')
    parser.add_argument('--axe', type=Path, help='axe.min.js; prints serious findings')
    asked = parser.parse_args()
    pages = {}
    for part in asked.only:
        make, files = PARTS[part]
        folder = asked.data / part
        folder.mkdir(parents=True, exist_ok=True)
        if not all((folder / name).exists() for name in files.values()):
            make(folder)
        pages |= {name: folder / path for name, path in files.items() if (folder / path).exists()}
    found = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(Path(profile))
        try:
            for name, page in pages.items():
                if asked.shots:
                    photograph(browser, name, page, asked.shots)
                if asked.docs and name in PICTURES:
                    picture(browser, name, page, asked.docs)
                if asked.axe:
                    found += violations(browser, name, page, asked.axe.read_text(encoding='utf-8'))
            if asked.docs and 'excitation' in pages:
                animation(browser, pages, asked.docs / 'motion.webp')
        finally:
            browser.close()
    return 1 if found else 0


def photograph(browser: Browser, name: str, page: Path, folder: Path) -> None:
    """Take screenshots of a page in all circumstances."""
    folder.mkdir(parents=True, exist_ok=True)
    for width in (DESK, PHONE):
        browser.visit(page, width)
        for dark in (False, True):
            browser.appear(dark=dark)
            browser.screenshot(folder / f'{name}_{width}_{"dark" if dark else "light"}.png')
    browser.to_pdf(folder / f'{name}.pdf')
    print(name, page.stat().st_size, browser.errors, flush=True)
    browser.appear()
    browser.call('Emulation.setScriptExecutionDisabled', value=True)
    browser.call('Page.navigate', url=page.resolve().as_uri())
    time.sleep(1.0)    # without scripts the browser does not say when it is ready
    browser.screenshot(folder / f'{name}_noscript.png')
    browser.call('Emulation.setScriptExecutionDisabled', value=False)


PICTURES = {
    'report': 1000, 'excitation': 1000, 'comparison_gripper': 1000, 'comparison_same': 480,
    'fleet': 1150, 'fleet_200': 900, 'repair': 1000, 'benchmark': 740, 'study_ics_er16': 900,
    'servos': 900, 'payload': 720, 'gains': 700}
"""Pages of docs, and the heights of their pictures [px]."""
WIDTH, FRAMES = 1200, 40


def picture(browser: Browser, name: str, page: Path, folder: Path) -> None:
    """Write the beginning of a page, light and dark."""
    browser.visit(page, WIDTH)
    for dark in (False, True):
        browser.appear(dark=dark)
        image = shot(browser, WIDTH, PICTURES[name]).resize(
            (WIDTH * 5 // 6, PICTURES[name] * 5 // 6), Image.Resampling.LANCZOS)
        image.save(folder / f'page_{name}{"_dark" if dark else ""}.webp', quality=80, method=6)


def shot(browser: Browser, width: int, height: int, top: float = 0.0) -> Image.Image:
    """Return a part of the page."""
    data = browser.call('Page.captureScreenshot', captureBeyondViewport=True, clip={
        'x': 0, 'y': top, 'width': width, 'height': height, 'scale': 1})['data']
    return Image.open(io.BytesIO(base64.b64decode(data))).convert('RGB')


def animation(browser: Browser, pages: dict[str, Path], path: Path) -> None:
    """Write an animation: the sentence of the design, the moving arm, the verdict, the torques."""
    size, still, frames = (1000, 620), 2400, []

    def top(selector: str) -> float:
        return float(browser.evaluate(
            f"document.querySelector('{selector}').getBoundingClientRect().top + scrollY"))

    browser.visit(pages['excitation'], size[0])
    frames.append((shot(browser, *size), still))
    browser.evaluate("document.querySelector('#arm').style.height = '480px'; draw()")
    place = top('#view')
    for k in range(FRAMES):
        browser.evaluate(f'frame = Math.floor({k} / {FRAMES} * data.frames.length); '
                         f'view.yaw = 0.9 + 0.3 * Math.sin({2 * np.pi * k / FRAMES}); draw()')
        frames.append((shot(browser, *size, place - 12), 110))
    browser.visit(pages['report'], size[0])
    for selector in ('#verdict', '#torques', '#friction', '#base'):
        frames.append((shot(browser, *size, top(selector) - 12), still))
    images = [image.resize((800, 496), Image.Resampling.LANCZOS) for image, _ in frames]
    images[0].save(path, save_all=True, append_images=images[1:], loop=0, quality=60, method=6,
                   duration=[time for _, time in frames])
    print(path, path.stat().st_size, flush=True)


AXE = """(() => {
  document.querySelectorAll('details').forEach(each => { each.open = true; });
  document.head.append(Object.assign(document.createElement('style'), {
    textContent: '.scroll { background: none; }'}));    // contrast on a gradient is not checked
  return axe.run().then(result => result.violations.filter(
    each => ['serious', 'critical'].includes(each.impact)).map(each => [
      each.id, each.nodes.length, each.nodes[0].html.slice(0, 200),
      each.nodes[0].failureSummary]));
})()"""


def violations(browser: Browser, name: str, page: Path, axe: str) -> list[str]:
    """Print and return the serious findings of axe-core on a page, light and dark, both widths."""
    found = []
    for width in (DESK, PHONE):
        for dark in (False, True):
            browser.visit(page, width)
            browser.appear(dark=dark)
            browser.evaluate(f'{axe}; 0')
            result = browser.evaluate(AXE)
            for finding in result:
                found.append(f'{name} {width} {"dark" if dark else "light"}: {finding}')
                print(found[-1], flush=True)
    return found


if __name__ == '__main__':
    sys.exit(main())
