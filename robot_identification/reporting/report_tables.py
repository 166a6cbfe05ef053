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
"""Rows of the report's tables, as far as results.json does not hold them ready."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robot_identification.reporting.pages import round_to_zero
from robot_identification.reporting.result_figures import QUANTITIES
from robot_identification.reporting.stored_results import StoredResults

MOMENTS = ('Ixx', 'Iyy', 'Izz', 'Ixy', 'Ixz', 'Iyz')
STRIP_MIDDLE, STRIP_HALF = 110, 102
"""Zero and half the scale of a strip [px]."""
WIDEST = 2.5
"""Longest interval that a strip shows, relative to the largest value; longer ones get arrows."""
QUANTILE = 1.96      # of the normal distribution, for 95 % intervals
SUFFIX = '_reason'
UNITS = {'_hz': 'Hz', '_s': 's', '_rad': 'rad'}


def base_parameter_rows(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the base parameters with relative standard deviations and strips."""
    rows = []
    for p in content['base_parameters']:
        value, std = p['value'], p['std']
        scale = max(abs(value), std or 0.0)
        row = {**p, 'relative_std': _relative(std, value),
               'urdf': round_to_zero(p['urdf'], scale), 'model': round_to_zero(p['model'], scale),
               'strip': parameter_strip(value, p['lower'], p['upper'], p['urdf'], p['model'])}
        if content['bootstrap']:
            row['bootstrap_relative_std'] = _relative(p['bootstrap_std'], value)
        rows.append(row)
    return rows


def standard_parameter_rows(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the standard parameters of the identified model with strips."""
    rows = []
    for p in content['standard_parameters']:
        half = QUANTILE * (p['std'] or 0.0)
        rows.append({**p, 'strip': parameter_strip(p['value'], p['value'] - half,
                                                   p['value'] + half, p['urdf'])})
    return rows


def _relative(std: float | None, value: float) -> float | None:
    return abs(std / value) if std is not None and value else None


def parameter_strip(value: float, lower: float | None, upper: float | None,
                    urdf: float | None = None, model: float | None = None) -> dict[str, Any]:
    """
    Return the geometry [px] of a picture of a parameter and its interval.

    Its scale is symmetric about zero and includes all values; `arrows` tells at which ends the
    interval is longer than the strip.

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
        return None if x is None else round(
            STRIP_MIDDLE + STRIP_HALF * min(max(x / size, -1.0), 1.0), 1)

    return {'value': position(value), 'urdf': position(urdf), 'model': position(model),
            'interval': [position(end) for end in ends],
            'arrows': [abs(end) > size * 1.0001 for end in ends]}


def link_rows(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return each link with pairs of identified and URDF values of mass, centre and inertia."""
    return [{**link, 'pairs': list(zip(_body_values(link['identified']),
                                       _body_values(link['urdf'])))}
            for link in content['links']]


def _body_values(body: Mapping[str, Any]) -> list[float | None]:
    inertia = body['inertia'] or dict.fromkeys(MOMENTS)
    scale = max(abs(value or 0.0) for value in inertia.values())
    return [body['mass'], *(body['com'] or [None] * 3),
            *(round_to_zero(inertia[name], scale) for name in MOMENTS)]


def residual_rows(results: StoredResults) -> list[dict[str, Any]]:
    """Return the residuals of the free and of the consistent estimate of each joint."""
    consistent, rows = results.content['consistent'], []
    for joint, unit in zip(results.joints, results.units('torque')):
        free, bound = (consistent[f'{kind}residual_rms'][joint] for kind in ('free_', ''))
        rows.append({'joint': joint, 'unit': unit, 'free': free, 'consistent': bound,
                     'top': max(free or 0.0, bound or 0.0) or 1.0,
                     'increase': bound / free - 1 if free else None})
    return rows


def limit_usage(results: StoredResults) -> list[dict[str, Any]]:
    """Return the used fraction of each limit of each joint; `bounds` is None where unknown."""
    motion, rows = results.content['motion'], []
    limits = motion['limits']
    for j, joint in enumerate(results.joints):
        cells = []
        for quantity in QUANTITIES:
            if quantity == 'position':
                bounds = limits['lower'][j], limits['upper'][j]
                known = None not in bounds
            else:
                bounds = limits[quantity][j]
                known = bounds is not None
            cells.append({'used': motion['usage'][quantity][j],
                          'bounds': bounds if known else None,
                          'unit': results.units(quantity)[j]})
        rows.append({'joint': joint, 'cells': cells})
    return rows


def processing_rows(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the settings of signal processing of each recording, with units and reasons."""
    return [{'name': recording['name'], 'rows': _setting_rows(recording['processing'])}
            for recording in content['recordings']]


def _setting_rows(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each setting; `x_reason` is the reason of `x`, or a row of its own."""
    rows = {key: _setting(key, value) for key, value in settings.items()
            if not key.endswith(SUFFIX)}
    for key, reason in settings.items():
        if not key.endswith(SUFFIX):
            continue
        stem = key[:-len(SUFFIX)]
        owner = next((each for each in rows if _stem(each) == stem), None) or next(
            (each for each in rows if each.startswith(stem)), None)
        if owner is None:
            rows[stem] = {**_setting(stem, None), 'reason': str(reason)}
        else:
            rows[owner]['reason'] = f"{rows[owner]['reason']} {reason}".strip()
    return list(rows.values())


def _setting(key: str, value: Any) -> dict[str, Any]:
    unit = next((unit for suffix, unit in UNITS.items() if key.endswith(suffix)), '')
    return {'name': _stem(key).replace('_', ' '), 'value': value, 'unit': unit, 'reason': ''}


def _stem(key: str) -> str:
    return next((key[:-len(suffix)] for suffix in UNITS if key.endswith(suffix)), key)
