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
"""Results of an identification as pandas DataFrames."""

from __future__ import annotations

from typing import Any

from robot_identification.errors import explain_missing, UnknownNameError
from robot_identification.pipeline import Identification
from robot_identification.reporting import parameter_dicts
from robot_identification.reporting.results_dict import CONFIDENCE

FRAMES = ('parameters', 'standard', 'links', 'friction')


def to_frame(result: Identification, what: str = 'parameters') -> Any:
    """
    Return a table of a result as a pandas DataFrame.

    Parameters
    ----------
    result
        The identification.
    what
        'parameters': base parameters of the free estimate, with standard deviation, ends of the
        95 % confidence interval, unit, and the values of the URDF and of the consistent model.
        'standard': parameters of the consistent model. 'links': mass [kg], centre of mass [m] and
        inertia about it [kg m^2] of each link, in the axes of its joint. 'friction': friction and
        rotor inertia of each joint and coupled drive.

    Raises
    ------
    UnknownNameError
        There is no such table.
    MissingDependencyError
        pandas is not installed.

    Examples
    --------
    A table for a paper, in LaTeX:

    >>> print(to_frame(result, 'links').to_latex(float_format='%.3g'))    # doctest: +SKIP

    """
    with explain_missing('pandas', 'a table of parameters', 'plot'):
        import pandas
    if what not in FRAMES:
        raise UnknownNameError('table', what, FRAMES)
    if what == 'parameters':
        rows, index = parameter_dicts.base_parameter_dicts(result, CONFIDENCE), ['label']
    elif what == 'standard':
        rows, index = parameter_dicts.standard_parameter_dicts(result), ['name']
    elif what == 'links':
        rows, index = _link_rows(result), ['joint']
    else:
        rows, index = _friction_rows(result), ['joint', 'parameter']
    return pandas.DataFrame(rows).set_index(index)


def _link_rows(result: Identification) -> list[dict[str, Any]]:
    """Return mass, centre and inertia of each link, and the mass in the URDF."""
    rows = []
    for link in parameter_dicts.link_dicts(result):
        found = link['identified']
        centre = (None,) * 3 if found['com'] is None else map(float, found['com'])
        rows.append({'joint': link['joint'], 'mass': found['mass'],
                     'urdf_mass': link['urdf']['mass'], **dict(zip(('cx', 'cy', 'cz'), centre)),
                     **(found['inertia'] or {})})
    return rows


def _friction_rows(result: Identification) -> list[dict[str, Any]]:
    """Return a row for each friction parameter and rotor inertia."""
    return [{'joint': joint, 'parameter': name,
             **{key: item[key] for key in ('value', 'std', 'unit')}}
            for joint, element in parameter_dicts.friction_dict(result)['elements'].items()
            for name, item in {'rotor_inertia': element['rotor_inertia'],
                               **element['parameters']}.items()]
