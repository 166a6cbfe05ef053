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
"""The commands payload, gains and compare with their pages: what an arm carries, what changed."""

from collections.abc import Sequence
import os
from pathlib import Path
from urllib.parse import quote

from rich.text import Text
from robot_identification import console
from robot_identification.arm import Arm, load_arm
from robot_identification.arrays import Array
from robot_identification.changes import drive_gains
from robot_identification.changes.comparison import (
    compare,
    comparison_to_dict,
    FrictionChange,
    ModelComparison,
    TINY,
)
from robot_identification.changes.explanations import format_measured, FURTHER_LEVEL, LEVEL
from robot_identification.changes.payload import (
    describe_overload,
    identify_payload,
    PayloadEstimate,
)
from robot_identification.dynamics import INERTIAL_NAMES
from robot_identification.dynamics.inertial import INERTIAL_UNITS
from robot_identification.dynamics.model_file import load_model
from robot_identification.errors import ConfigurationError, ModelFileError
from robot_identification.files import check_outputs, HTML_PAGE, write_text
from robot_identification.reporting import load_results
from robot_identification.reporting.figure import Curve, Figure, SERIES
from robot_identification.reporting.pages import render_page
from robot_identification.reporting.result_figures import friction_axes, friction_band
from robot_identification.reporting.results_files import REPORT, RESULT_FILES

SHOWN = 6    # rows that the terminal shows of a table of compare; page and --json have all
TEMPLATES = 'robot_identification.changes'
BADGES = {    # sign and tone of the verdicts on payloads and gains
    'found': ('\u2713', 'pass'), 'removed': ('\u2713', 'open'), 'none': ('\u2713', 'pass'),
    'changes': ('\u2260', 'open'), 'undetermined': ('?', 'open'),
    'determined': ('\u2713', 'pass'), 'weak': ('?', 'open'), 'implausible': ('\u2717', 'fail')}


def payload_command(
    model: Path,
    loaded: Path,
    /,
    *,
    unloaded: Path | None = None,
    sensor_deviation: float | None = None,
    report: Path | None = None,
    force: bool = False,
    frame: str | None = None,
    as_json: bool = False,
) -> None:
    """
    Identify the ten inertial parameters of a payload.

    Parameters
    ----------
    model : MODEL
        Model file of the arm, identified without payload.
    loaded : RECORDING
        CSV or NPZ recording with the payload.
    unloaded
        Recording without the payload, fitted together with the other; best of the same motion, in
        which all errors of the model cancel.
    report
        HTML page to write.
    frame : LINK|X,Y,Z
        Frame for the centre of mass: a link that moves with the last joint, or an offset from the
        flange [m]. By default the frame of the last joint.

    """
    check_outputs([(report, HTML_PAGE)], [model, loaded, unloaded], force=force)
    identified = load_model(model)
    recording = console.load_recording_verbose(loaded, identified.arm)
    payload = identify_payload(
        identified, recording,
        None if unloaded is None else console.load_recording_verbose(unloaded, identified.arm),
        sensor_deviation=sensor_deviation)
    std = payload.covariance.diagonal() ** 0.5
    exit_code = int(payload.verdict in ('undetermined', 'changes'))
    if report is not None:
        write_text(report, payload_page(
            payload, identified.arm, (str(loaded), str(unloaded or ''))))
    centre, spread = ((payload.centre, payload.centre_deviation) if frame is None else
                      payload.centre_in(identified.arm, frame))
    stated = payload.verdict in ('found', 'removed')
    note = describe_overload(identified, recording, payload.parameters)
    if as_json:
        console.emit({
            'verdict': payload.verdict, 'detectable_mass': payload.detectable,
            'free_mass': payload.free_mass,
            'parameters': dict(zip(INERTIAL_NAMES, payload.parameters)),
            'std': dict(zip(INERTIAL_NAMES, std)),
            'undetermined': [name for name, unknown in zip(
                INERTIAL_NAMES, payload.undetermined) if unknown],
            'intervals': dict(zip(INERTIAL_NAMES, payload.intervals())), 'mass': payload.mass,
            'centre_of_mass': centre, 'centre_of_mass_std': spread, 'frame': frame,
            'change': None if payload.change is None else vars(payload.change),
            'relative_error': payload.relative_error, 'note': note,
            'smallest_pseudo_inertia_eigenvalue': payload.certificate})
        raise SystemExit(exit_code)
    if stated:
        console.print_table(
            f'payload in the frame of {identified.arm.joint_names[-1]}',
            ('parameter', 'value', 'std', 'unit'),
            ((name, *(('undetermined', '-') if unknown else (f'{value:.5g}', f'{each:.2g}')), unit)
             for name, value, each, unknown, unit in zip(
                 INERTIAL_NAMES, payload.parameters, std, payload.undetermined, INERTIAL_UNITS)))
    console.print_lines(f'verdict: {payload.verdict}{_payload_sentence(payload)}' + (
        f', centre {_millimetres(centre)} +- {_millimetres(1.96 * spread)} mm in the frame '
        f'{frame or "of " + identified.arm.joint_names[-1]} (95 % intervals)'
        if stated else ''))
    console.print_lines(note and f'note: {note}', style='yellow')
    raise SystemExit(exit_code)


def _payload_sentence(payload: PayloadEstimate) -> str:
    """Return what follows the verdict on a payload: its mass, or the reason and what to do."""
    half = 1.96 * float(payload.covariance[0, 0]) ** 0.5
    if (change := payload.change) is not None:
        return (f'; at about {change.time:.0f} s the payload changes by '
                f'{change.mass:+.2g} +- {1.96 * change.deviation:.2g} kg and '
                f'({", ".join(f"{1000 * x:+.0f}" for x in change.moment)}) kg mm: fasten it, and '
                'identify it from a recording in which it stays')
    if payload.mass:
        return f', {payload.mass:.4g} +- {half:.2g} kg'
    found = f', {payload.free_mass:.2g} +- {half:.2g} kg'
    if payload.few_poses:
        return (f'{found} from fewer than four poses that differ: move the last joints through '
                'more')
    detects = f'this motion detects payloads above {payload.detectable:.2g} kg'
    if payload.verdict == 'none':
        return f'{found}: no payload; {detects}'
    return f'{found}; {detects}: move more joints, or faster'


def gains_command(
    robot: str,
    /,
    *,
    unloaded: list[Path],
    loaded: list[Path],
    mass: float | None = None,
    centre: tuple[float, float, float] | None = None,
    mass_deviation: float = drive_gains.MASS_DEVIATION,
    centre_deviation: float = drive_gains.CENTRE_DEVIATION,
    sensor_deviation: float | None = None,
    friction: str = 'coulomb_viscous',
    report: Path | None = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """
    Identify drive gains from recordings with a known payload.

    Parameters
    ----------
    unloaded
        Recording without payload; repeatable.
    loaded
        Recording with payload; repeatable.
    mass
        Mass of the payload [kg], required: a known mass gives currents their scale.
    centre : X Y Z
        Payload's centre of mass in the last joint's frame [m].
    mass_deviation
        Standard deviation of the mass, relative [-].
    centre_deviation
        Standard deviation of each coordinate of the centre [m].
    sensor_deviation
        Standard deviation of the gains of the current sensors [-], for the gain of the drive
        alone; by default that of the robot file, or 0: that of drive and sensor.
    friction
        Friction model (see `frictions`).
    report
        HTML page to write.

    """
    if mass is None:
        raise ConfigurationError('give the mass of the payload with --mass KG: a known mass is '
                                 'what gives currents their scale')
    arm = load_arm(robot)
    check_outputs([(report, HTML_PAGE)], [*arm.files, *unloaded, *loaded], force=force)
    result = drive_gains.identify_gains(
        arm, [console.load_recording_verbose(path, arm) for path in unloaded],
        [console.load_recording_verbose(path, arm) for path in loaded], mass, centre=centre,
        friction=friction, mass_deviation=mass_deviation, centre_deviation=centre_deviation,
        sensor_deviation=sensor_deviation)
    if report is not None:
        write_text(report, gains_page(result, arm, mass))
    if as_json:
        console.emit({
            'verdict': result.verdict, 'urdf_ratio': result.urdf_ratio,
            'gains': dict(zip(arm.joint_names, result.gains)),
            'std': dict(zip(arm.joint_names, result.deviations)),
            'intervals': dict(zip(arm.joint_names, result.intervals()))})
    else:
        console.print_table(
            'drive gains at the joint', ('joint', 'gain', 'std', 'unit'),
            ((joint, *(('undetermined', '-') if unknown else (f'{gain:.5g}', f'{std:.2g}')), unit)
             for joint, gain, std, unknown, unit in zip(
                arm.joint_names, result.gains, result.deviations, result.undetermined,
                arm.units('N m/A', 'N/A'))))
        console.print_lines(f'verdict: {_gains_sentence(result, arm, mass)}')
    raise SystemExit({'implausible': 3, 'undetermined': 1}.get(result.verdict, 0))


def _gains_sentence(result: drive_gains.GainEstimate, arm: Arm, mass: float) -> str:
    """Return the verdict on gains with its reason and what to do."""
    if result.implausible:
        return (f'implausible; with these gains the arm needs {result.urdf_ratio:.2g} times the '
                f'torque of its URDF: check --mass ({mass:g} kg) and the URDF')
    unknown, weak = (', '.join(name for name, bad in zip(arm.joint_names, mask) if bad)
                     for mask in (result.undetermined, result.weak & ~result.undetermined))
    if unknown:
        return (f'undetermined for {unknown} (deviation above 20 %): the load must act on them by '
                'gravity or inertia; use another motion, a larger mass, or give --centre')
    return (f'weak for {weak} (deviation above 5 %)' if weak else
            'determined; the standard deviation of every gain is below 5 %')


def _millimetres(values: Array) -> str:
    """Return a vector [m] as text in millimetres."""
    return f"({', '.join(f'{1000 * value:.1f}' for value in values)})"


def compare_command(
    first: Path,
    second: Path,
    /,
    *,
    report: Path | None = None,
    sensor_deviation: float | None = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """
    Compare two identifications of one arm, with significance.

    Parameters
    ----------
    first : A
        Folder that identify wrote, or the model file in it.
    second : B
        Folder or model file of another identification of the arm.
    report
        HTML page to write.

    """
    folders = [path.parent if os.path.isfile(path) else path for path in (first, second)]
    check_outputs([(report, HTML_PAGE)],
                  [folder / name for folder in folders for name in RESULT_FILES], force=force)
    names = [Path(os.path.realpath(folder)).name for folder in folders]
    a, b = names if names[0] != names[1] else map(str, folders)
    links = [] if report is None else [
        (name, quote(os.path.relpath(folder / REPORT, report.parent).replace(os.sep, '/')))
        for name, folder in zip((a, b), folders) if (folder / REPORT).is_file()]
    try:
        comparison = compare(load_results(folders[0]), load_results(folders[1]), (a, b),
                             sensor_deviation)
        page = comparison_page(comparison, links)
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise ModelFileError(f"the results in '{first}' or '{second}' are damaged ({error!r}); "
                             'identify again') from error
    if report is not None:
        write_text(report, page)
    if as_json:
        console.emit(comparison_to_dict(comparison))
        return
    _print_comparison(comparison)
    console.print_lines(f'wrote {report}' if report else None)


def _print_comparison(comparison: ModelComparison) -> None:
    names, explanation = comparison.names, comparison.explanation
    console.print_lines(f'{comparison.arm}: {names[0]} (A) and {names[1]} (B)', style='bold')
    console.print_lines(comparison.headline, comparison.prediction_sentence)
    if explanation is not None:
        motion = ('the same motion: errors of the models cancel' if comparison.same_motion else
                  'different motions: model errors common to both were fitted jointly')
        if explanation.changes:
            motion += f'; {explanation.explained:.0%} of the squared difference is explained'
        console.print_lines(motion)
        console.print_table(
            'explanations that were tried, most significant first, with 95 % intervals; '
            'detectable: found with 90 % probability',
            ('change', 'p (Bonferroni)', 'detectable'),
            ((change.text, _p_value(change.p), change.found_above)
             for change in sorted(explanation.considered, key=lambda each: each.p)[:SHOWN]),
            right=('p (Bonferroni)', 'detectable'))
    count = max(SHOWN, len(comparison.changed))
    console.print_table(
        'parameters, most significant first',
        ('parameter', 'A', 'B', 'change', 'p (Holm)', ''),
        ((change.label, *map(format_measured, change.values, change.std),
          format_measured(change.difference, change.difference_std, '+'), _p_value(change.p),
          Text('changed', style='bold red') if change.changed else 'may be chance')
         for change in comparison.parameters[:count]), right=('A', 'B', 'change', 'p (Holm)'))
    more = len(comparison.parameters) - count
    console.print_lines(*(f'{change.label} stands for {change.combination}'
                          for change in comparison.changed if change.combination != change.label),
                        f'and {more} more that may be chance (--report, --json)' * (more > 0))
    console.print_table(
        'friction, mean of both directions', ('joint or drive', 'at', 'A', 'B'),
        ((change.actuator, f'{speed:.2g} {change.units[0]}', *(
            f'{torque:.3g} {change.units[1]}' for torque in both))
         for change in comparison.friction
         for speed, *both in zip(change.speeds, *change.torques)))
    console.print_table(
        'largest relative error on held-out motion', ('joint', 'A', 'B'),
        ((joint, *(f'{error:.1%}' if error == error else '-' for error in pair))
         for joint, pair in comparison.errors.items()))
    console.print_lines(*(f'note: {note}' for note in comparison.notes), style='yellow')


def _p_value(p: float) -> str:
    return f'{p:.2g}' if p > TINY else f'< {TINY:g}'


def _badge(verdict: str) -> tuple[str, str, str]:
    """Return word, sign and tone of a verdict on a payload or on gains."""
    return verdict.upper(), *BADGES[verdict]


def payload_page(payload: PayloadEstimate, arm: Arm, names: tuple[str, str]) -> str:
    """
    Return the page of a payload as the text of one HTML file.

    Parameters
    ----------
    payload
        The estimate.
    arm
        The arm that carries it.
    names
        Names of the recordings with and without the payload; '' if there is none without.

    """
    rows = list(zip(INERTIAL_NAMES, payload.parameters.tolist(),
                    (payload.covariance.diagonal() ** 0.5).tolist(),
                    payload.undetermined.tolist(), INERTIAL_UNITS))
    return render_page('payload.html', TEMPLATES, payload=payload, arm=arm,
                       badge=_badge(payload.verdict), names=names, rows=rows,
                       mass=payload.intervals()[0].tolist())


def gains_page(result: drive_gains.GainEstimate, arm: Arm, mass: float) -> str:
    """
    Return the page of drive gains as the text of one HTML file.

    Parameters
    ----------
    result
        The gains.
    arm
        The arm.
    mass
        Mass of the known payload [kg].

    """
    rows = list(zip(arm.joint_names, result.gains.tolist(), result.deviations.tolist(),
                    result.weak.tolist(), arm.units('N m/A', 'N/A')))
    return render_page('gains.html', TEMPLATES, result=result, arm=arm,
                       mass=mass, badge=_badge(result.verdict), rows=rows)


WIDEST = 2.0
"""Largest change that the interval plots show, relative to the larger of both values."""


def comparison_page(comparison: ModelComparison, links: Sequence[tuple[str, str]] = ()) -> str:
    """
    Return the page of a comparison as the text of one HTML file.

    Parameters
    ----------
    comparison
        The comparison.
    links
        Names of the identifications, and addresses of their reports relative to the page.

    """
    friction = [(_friction_figure(f'friction_{k}', change, comparison.names), _torques(change))
                for k, change in enumerate(comparison.friction)]
    ends = [(abs(change.difference) + 1.96 * change.difference_std)
            / (max(map(abs, change.values)) or 1.0) for change in comparison.changed]
    before, after = comparison.errors.get('all joints', (float('nan'),) * 2)
    return render_page(
        'comparison.html', TEMPLATES, comparison=comparison, links=links,
        friction=friction, smallest_p=TINY,
        level=LEVEL if comparison.explanation is None else FURTHER_LEVEL,
        extent=min(WIDEST, max(ends, default=1.0)), errors_before=before, errors_after=after,
        worn_joint=_largest_friction_change(comparison.friction), steps=_next_steps(comparison),
        title=f'{comparison.arm}: {comparison.names[0]} and {comparison.names[1]}')


def _largest_friction_change(friction: Sequence[FrictionChange]) -> tuple[str, float] | None:
    """Return the joint or drive whose friction changed most, and its relative change."""
    changes = [(each.actuator, float(after / before - 1)) for each in friction
               for before, after in zip(*each.torques) if before > 0]
    return max(changes, key=lambda item: abs(item[1]), default=None)


CAUSES = {
    'body': 'If the body is a tool that stays, use the model of {b}; if the arm carries it for a '
            'while, keep the model of {a} and measure it with: robot-identification payload',
    'friction': 'Look at the brake, lubrication and temperature of {subject}.',
    'all friction': 'Compare the temperature of both recordings; a warm arm has less friction.',
    'gain': 'Calibrate the torque sensor of {subject}, or check the current gain of its drive.',
    'zero': 'Set the zero of the torque sensor of {subject}.',
    'tilt': 'Check how the base is mounted, and `gravity` in the robot file.'}
"""What to do, by the kind of a change."""


def _next_steps(comparison: ModelComparison) -> list[str]:
    """Return what to do after a comparison."""
    a, b = comparison.names
    if comparison.verdict == 'unchanged':
        return [f'The model of {a} still describes the arm; keep it.']
    changes = () if comparison.explanation is None else comparison.explanation.changes
    steps = [CAUSES[change.kind].format(a=a, b=b, subject=change.subject) for change in changes]
    if not steps:
        steps = ['Look for the cause at the joints that changed: a tool or payload, wear, '
                 'temperature, another robot file.']
    if not any(change.kind == 'body' for change in changes):
        steps.append(f'If the change stays, use the model of {b}; check it on another motion: '
                     f'robot-identification validate {b}/model.yaml RECORDING')
    return steps


def _friction_figure(name: str, change: FrictionChange, names: tuple[str, str]) -> Figure:
    """Return the friction curves of both identifications in one panel."""
    curves = tuple(
        Curve(label, curve[0], curve[1], colour, 2, bars=friction_band(curve, std))
        for label, curve, colour, std in zip(names, change.curves, SERIES[1::-1], change.std))
    return Figure(name, change.actuator, *friction_axes(curves, change.units[1] == 'N'), 240,
                  description=f'friction over velocity in {names[0]} and {names[1]}')


def _torques(change: FrictionChange) -> str:
    speed_unit, torque_unit = change.units
    return '; '.join(f'{speed:.2g} {speed_unit}: {before:.3g} \u2192 {after:.3g} {torque_unit}'
                     for speed, before, after in zip(change.speeds, *change.torques))
