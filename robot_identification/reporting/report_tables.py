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
"""Rows of the report's tables, computed from the content of results.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robot_identification.reporting.pages import round_to_zero
from robot_identification.reporting.parameter_dicts import CONFIDENCE
from scipy.special import ndtri

MOMENTS = ('Ixx', 'Iyy', 'Izz', 'Ixy', 'Ixz', 'Iyz')
STRIP_MIDDLE, STRIP_HALF = 110, 102
"""Position of zero, and length of half the scale, of a strip [px]."""
WIDEST = 2.5
"""Half-length of a strip relative to the largest value; longer intervals end in arrows."""
QUANTILE = float(ndtri((1 + CONFIDENCE) / 2))
"""Half-width of the intervals in standard deviations."""
SUFFIX = '_reason'
UNITS = {'_hz': 'Hz', '_s': 's', '_rad': 'rad'}


def base_parameter_rows(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a table row for each base parameter, with relative deviation and interval plot."""
    rows = []
    for p in content['base_parameters']:
        value, std = p['value'], p['std']
        scale = max(abs(value), std or 0.0)
        rows.append({
            **p, 'relative_std': _relative(std, value),
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


def _relative(std: float | None, value: float) -> float | None:
    """Return the relative standard deviation; None if it is unknown or the value is zero."""
    return abs(std / value) if std is not None and value else None


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
