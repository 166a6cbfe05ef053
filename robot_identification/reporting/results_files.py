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
"""The files of an identification: writing, reading, and the HTML report, which opens offline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import csv
from dataclasses import dataclass
import json
import os
from pathlib import Path, PurePath
from typing import Any, TYPE_CHECKING

from jinja2 import UndefinedError
import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import ConfigurationError, ModelFileError
from robot_identification.export.identified_urdf import write_identified_urdf
from robot_identification.files import HUGE, read_json, write_text
from robot_identification.output_folder import locked, reading, replace_files, sha256
from robot_identification.pipeline import Identification
from robot_identification.recording.numpy_archive import NumpyArchive
from robot_identification.reporting import result_figures as figures
from robot_identification.reporting.pages import BADGES, render_page, round_to_zero
from robot_identification.reporting.plot_data import plot_data
from robot_identification.reporting.results_dict import QUANTILE, results_to_dict, SCHEMA
from robot_identification.yaml_file import read_typed

if TYPE_CHECKING:
    from robot_identification.excitation import Excitation

MODEL = 'model.yaml'
URDF = 'identified.urdf'
BASE_PARAMETERS = 'base_parameters.csv'
REPORT = 'report.html'
RESULTS = 'results.json'
PLOTS = 'plots.npz'
RESULT_FILES = (MODEL, URDF, PLOTS, BASE_PARAMETERS, REPORT, RESULTS)
SECTIONS = {
    'torques': 'Torques', 'errors': 'Errors', 'checks': 'Checks', 'choice': 'Model selection',
    'friction': 'Friction', 'residual': 'Residual part', 'spectra': 'Spectra',
    'base': 'Base parameters', 'links': 'Links', 'standard': 'Standard parameters',
    'feasibility': 'Feasibility', 'motion': 'Motion',
    'processing': 'Processing', 'provenance': 'Provenance'}
"""Sections in their order: name of the template in `report/`, and title in the navigation."""
MOMENTS = ('Ixx', 'Iyy', 'Izz', 'Ixy', 'Ixz', 'Iyz')
STRIP_MIDDLE, STRIP_HALF = 110, 102
"""Position of zero, and length of half the scale, of a strip [px]."""
WIDEST = 2.5
"""Half-length of a strip relative to the largest value; longer intervals end in arrows."""
SUFFIX = '_reason'
UNITS = {'_hz': 'Hz', '_s': 's', '_rad': 'rad'}


@dataclass(frozen=True, eq=False)
class StoredResults:
    """
    The stored data of an identification.

    Parameters
    ----------
    content
        Content of results.json, see `results_to_dict`.
    arrays
        Arrays of plots.npz, see `plot_data`.
    files
        Names of the data files in the folder.
    folder
        The folder; empty if the results were not read from one.

    """

    content: Mapping[str, Any]
    arrays: Mapping[str, Array]
    files: tuple[str, ...] = ()
    folder: str = ''

    @property
    def joints(self) -> list[str]:
        """Names of the joints."""
        return list(self.content['arm']['joints'])

    def units(self, quantity: str) -> list[str]:
        """Return the joints' units of 'position', 'velocity', 'acceleration' or 'torque'."""
        return list(self.content['arm']['units'][quantity])


def save_results(
    result: Identification,
    directory: str | Path,
    *,
    excitation: Excitation | None = None,
) -> Path:
    """
    Write model, URDF, results, base parameters and report; if one fails, none is written.

    Files of an earlier identification are replaced; other files in the directory are kept.

    Parameters
    ----------
    result
        The result of `identify`.
    directory
        The folder; it is created if needed.
    excitation
        The designed motion that was recorded, for the report.

    Returns
    -------
    Path
        The folder; `RESULT_FILES` are the names of the files.

    Raises
    ------
    ConfigurationError
        The directory cannot be written.

    Examples
    --------
    >>> result = identify(load_arm('panda'), ['motion.csv'])    # doctest: +SKIP
    >>> save_results(result, 'result')    # doctest: +SKIP

    """
    target = Path(directory)
    if excitation is not None:
        excitation.check_arm(result.arm)
    if target.exists() and not target.is_dir():
        raise ConfigurationError(f"'{target}' is a file; name a directory for the results")
    with replace_files(target) as folder:
        result.model.save(folder / MODEL)
        write_identified_urdf(result.model, folder / URDF)
        content = results_to_dict(result, excitation)
        with (folder / BASE_PARAMETERS).open('w', encoding='utf-8', newline='') as stream:
            table = csv.DictWriter(stream, list(content['base_parameters'][0]))
            table.writeheader()
            table.writerows(content['base_parameters'])
        arrays: dict[str, Any] = dict(plot_data(result, excitation))
        np.savez_compressed(folder / PLOTS, **arrays)
        content['files'] = {name: sha256(folder / name)
                            for name in (MODEL, URDF, BASE_PARAMETERS, PLOTS)}
        (folder / RESULTS).write_text(
            json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + '\n',
            encoding='utf-8')
        write_report(folder)
    return target


def load_results(directory: str | Path) -> StoredResults:
    """
    Return the results in results.json and plots.npz of a folder.

    Parameters
    ----------
    directory
        The folder that `save_results` wrote.

    Raises
    ------
    ModelFileError
        A file is missing, damaged, of another schema or of another identification.

    Examples
    --------
    >>> results = load_results('result')    # doctest: +SKIP
    >>> results.joints[0]    # doctest: +SKIP
    'panda_joint1'

    """
    folder = Path(directory)
    with reading(folder):
        for name in (RESULTS, PLOTS):
            if not os.path.isfile(folder / name):
                raise ModelFileError(f"there is no '{name}' in '{folder}'; name a folder that "
                                     f'`identify` wrote, or identify again with -o {folder}')
        content = read_json(folder / RESULTS, 'file of results', ModelFileError)
        schema = content.get('schema') if isinstance(content, dict) else None
        if schema != SCHEMA:
            raise ModelFileError(f"'{folder / RESULTS}' is not of the schema {SCHEMA} (found: "
                                 f'{schema}); identify again with this version')
        digests = read_typed(Mapping[str, str], content.get('files', {}),
                             f"'{folder / RESULTS}', `files`", ModelFileError)
        digests = digests or {PLOTS: content.get('plots_sha256')}    # an earlier version
        for name, digest in digests.items():
            path = folder / Path(name).name
            if path.is_file() and sha256(path) != digest:
                raise ModelFileError(
                    f"'{path}' does not belong to the results.json beside it: it was changed, or "
                    f'is of another run; identify again with -o {folder}')
        with NumpyArchive(folder / PLOTS, 'archive', ModelFileError) as archive:
            stored = {name: archive[name] for name in archive.names}
        with np.errstate(over='ignore'):
            arrays = {name: array.astype(float) for name, array in stored.items()
                      if array.dtype.kind in 'fiu'}
        if len(arrays) < len(stored) or any(
                np.any(np.abs(array) > HUGE) for array in arrays.values()):
            raise ModelFileError(f"'{folder / PLOTS}' has an array without numbers or above "
                                 f'{HUGE:g}; identify again with -o {folder}')
        files = tuple(sorted(path.name for path in folder.iterdir()
                             if path.suffix in ('.yaml', '.urdf', '.csv', '.json', '.npz')))
    return StoredResults(content, arrays, files, str(folder))


def write_report(directory: str | Path) -> Path:
    """
    Write report.html from results.json and plots.npz in the same folder.

    Parameters
    ----------
    directory
        The folder that `save_results` wrote.

    Returns
    -------
    Path
        The report; it is written completely or not at all.

    Raises
    ------
    ModelFileError
        A file is missing, damaged or of another schema.

    Examples
    --------
    >>> write_report('result')    # doctest: +SKIP
    PosixPath('result/report.html')

    """
    path = Path(directory) / REPORT
    with locked(path.parent):    # until the report is written, no run replaces the results
        results = load_results(directory)
        try:
            page = render(results)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError,
                UndefinedError) as error:
            raise ModelFileError(
                f"'{Path(directory) / RESULTS}' is of an earlier version or damaged "
                f'({type(error).__name__}: {error}); identify again with -o {directory}'
            ) from error
        write_text(path, page)
    return path


def render(results: StoredResults) -> str:
    """Return the report of stored results as the text of one HTML page."""
    content = with_defaults(results.content)
    verdict = content['verdict']
    evaluations = _evaluations(results)
    fresh = [e for e in evaluations if e['kind'] == 'held_out' and not e['data']['repeat']]
    spectra = (fresh or evaluations[-len(content['fit']):])[0]['key']
    shown = {'checks': bool(verdict['checks']),
             'choice': content['choice'] is not None or content['delay'] is not None,
             'residual': content['residual'] is not None}
    names = [evaluation['data']['name'] for evaluation in evaluations]
    elements = content['friction']['elements']
    return render_page(
        'report.html', content=content, files=results.files, evaluations=evaluations,
        sections=[item for item in SECTIONS.items() if shown.get(item[0], True)],
        badge=BADGES[verdict['status']], validated=bool(fresh),
        reasons=_with_short_names(verdict['reasons'], names),
        doubts=_with_short_names(verdict['doubts'], names),
        notes=_with_short_names(verdict['notes'], names),
        worst_joint=_worst_joint(verdict['held_out']),
        friction_figures=figures.friction_figures(results.arrays, [
            (name, values['rotor_inertia']['unit'] == 'kg') for name, values in elements.items()]),
        spectrum_figures=figures.spectrum_figures(results.arrays, spectra, _torque_units(results)),
        base_parameters=base_parameter_rows(content),
        moments=MOMENTS, links=link_rows(content),
        standard_parameters=standard_parameter_rows(content),
        motion_figures=figures.motion_figures(
            results.arrays, results.joints, content['arm']['units'], content['motion']['limits']),
        processing=processing_rows(content))


def with_defaults(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of results.json with defaults for entries that older versions lack."""
    verdict = {'status': 'passed' if content['verdict']['passed'] else 'failed', 'checks': [],
               'doubts': [], **content['verdict']}
    complete = {'next_steps': [], 'choice': None, 'delay': None, 'residual': None,
                'effects': None, **content, 'verdict': verdict}
    complete['motion'] = {'notes': [], **content['motion']}
    if complete['delay'] is not None:
        complete['delay'] = {'of': 'torques', **complete['delay']}
    if complete['choice'] is not None:    # earlier versions wrote true or false for the delays
        trials = [{**trial, 'delay': trial['delay'] if isinstance(trial['delay'], str)
                   and trial['delay'] else 'torques' if trial['delay'] else 'none'}
                  for trial in complete['choice']['trials']]
        complete['choice'] = {**complete['choice'], 'trials': trials}
    return complete


def _evaluations(results: StoredResults) -> list[dict[str, Any]]:
    """Return the evaluations on held-out and on training motions with their figures."""
    verdict, evaluations = results.content['verdict'], []
    limit = verdict['thresholds']['overall']
    for kind, evaluated in (('held_out', verdict['held_out']), ('fit', results.content['fit'])):
        for k, data in enumerate(evaluated):
            chip = ('fit' if kind == 'fit' else
                    'repeats the training motion' if data['repeat'] else 'held out')
            error = data['relative_error'] or 0.0
            scale = max(1.3 * limit, error)
            evaluations.append({
                'kind': kind, 'key': f'{kind}_{k}', 'chip': chip,
                'data': {'whole_relative_error': None, 'coverage': None, 'noise_error': None,
                         'physical_relative_error': None, **data},
                'torque_chip': 'training motion, fitted' if kind == 'fit' else chip,
                'good': data['relative_error'] is not None and error <= limit,
                'bar': error / scale, 'limit': limit / scale,
                'figures': figures.torque_figures(results.arrays, f'{kind}_{k}',
                                                  _torque_units(results))})
    return evaluations


def _torque_units(results: StoredResults) -> list[tuple[str, str]]:
    """Return name and unit of the torque of each joint."""
    return list(zip(results.joints, results.units('torque')))


def _worst_joint(held_out: Sequence[Mapping[str, Any]]) -> tuple[str, float | None] | None:
    """Return joint and value of the largest relative error on the first held-out motion."""
    if not held_out:
        return None
    errors = {joint: e['relative_error'] for joint, e in held_out[0]['joints'].items()}
    return max(errors.items(), key=lambda item: item[1] or 0.0)


def _with_short_names(sentences: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return sentences in which the paths of recordings are replaced by file names."""
    for name in names:
        sentences = [s.replace(f"'{name}'", f"'{PurePath(name).name}'") for s in sentences]
    return list(sentences)


def base_parameter_rows(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a table row for each base parameter, with relative deviation and interval plot."""
    rows = []
    for p in content['base_parameters']:
        value, std = p['value'], p['std']
        scale = max(abs(value), std or 0.0)
        rows.append({
            **p, 'relative_std': abs(std / value) if std is not None and value else None,
            'urdf': round_to_zero(p['urdf'], scale), 'model': round_to_zero(p['model'], scale),
            'strip': parameter_strip(value, p['lower'], p['upper'], p['urdf'], p['model'])})
    return rows


def standard_parameter_rows(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a table row with an interval plot for each standard parameter of the model."""
    rows = []
    for p in content['standard_parameters']:
        half = QUANTILE * (p['std'] or 0.0)
        rows.append({**p, 'strip': parameter_strip(p['value'], p['value'] - half,
                                                   p['value'] + half, p['urdf'])})
    return rows


def parameter_strip(value: float, lower: float | None, upper: float | None,
                    urdf: float | None = None, model: float | None = None) -> dict[str, Any]:
    """
    Return the positions [px] of a parameter and its interval in a small plot ("strip").

    The scale is symmetric about zero and includes all values; `arrows` is true at the ends where
    the interval is longer than the strip.

    Parameters
    ----------
    value, lower, upper
        Estimate and interval; None for an interval that is not determined.
    urdf, model
        Values of the URDF and of the identified model; None where there is none.

    """
    size = max(abs(x) for x in (value, urdf, model) if x is not None) or 1.0
    ends = [] if lower is None or upper is None else [lower, upper]
    if ends:
        size = min(max(size, *map(abs, ends)), WIDEST * size)

    def position(x: float | None) -> float | None:
        """Return the position of a value in the plot [px]."""
        return None if x is None else round(
            STRIP_MIDDLE + STRIP_HALF * min(max(x / size, -1.0), 1.0), 1)

    return {'value': position(value), 'urdf': position(urdf), 'model': position(model),
            'interval': [position(end) for end in ends],
            'arrows': [abs(end) > size * 1.0001 for end in ends]}


def link_rows(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return each link with pairs (identified, URDF) of mass, centre of mass and inertia."""
    return [{**link, 'pairs': list(zip(_body_values(link['identified']),
                                       _body_values(link['urdf'])))}
            for link in content['links']]


def _body_values(body: Mapping[str, Any]) -> list[float | None]:
    """Return mass, centre of mass and the six moments of inertia of a body; None if unknown."""
    inertia = body['inertia'] or dict.fromkeys(MOMENTS)
    scale = max(abs(value or 0.0) for value in inertia.values())
    return [body['mass'], *(body['com'] or [None] * 3),
            *(round_to_zero(inertia[name], scale) for name in MOMENTS)]


def processing_rows(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the settings of signal processing of each recording, with units and reasons."""
    return [{'name': recording['name'], 'rows': _setting_rows(recording['processing'])}
            for recording in content['recordings']]


def _setting_rows(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each setting; the entry `x_reason` is added to the row of `x`."""
    reasons = {key.removesuffix(SUFFIX): reason for key, reason in settings.items()
               if key.endswith(SUFFIX)}
    rows = []
    for key, value in settings.items():
        if not key.endswith(SUFFIX):
            suffix = next((each for each in UNITS if key.endswith(each)), '')
            stem = next((each for each in reasons if key.startswith(each)), '')
            rows.append((key.removesuffix(suffix), value, UNITS.get(suffix, ''),
                         reasons.pop(stem, '')))
    rows += [(stem, None, '', reason) for stem, reason in reasons.items()]
    return [{'name': name.replace('_', ' '), 'value': value, 'unit': unit, 'reason': reason}
            for name, value, unit, reason in rows]
