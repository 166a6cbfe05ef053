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
"""The commands robots, estimators and frictions: lists of the names that options accept."""

from collections.abc import Sequence

from robot_identification.console import emit, out, print_table
from robot_identification.errors import ArmError
from robot_identification.registry import load_extensions

GROUPS = {'core': 'estimators', 'papers': 'methods of the papers'}
PAPERS = ('Methods of papers, to reproduce their comparisons. For a squared cost, the estimator '
          '`bounded` finds the optimum within the same bounds in less time.')


def robots_command(
    *,
    as_json: bool = False,
) -> None:
    """List the shipped robots."""
    from robot_identification.arm import load_arm, robot_files

    rows = []
    for name in robot_files():
        try:
            joints = load_arm(name).joint_names
            count, names = str(len(joints)), ', '.join(joints)
        except ArmError as error:
            count, names = '-', str(error)
        rows.append({'name': name, 'joints': count, 'names of the joints': names})
    if as_json:
        emit({'robots': rows})
    else:
        _show('robots', rows)


def estimators_command(
    *,
    as_json: bool = False,
) -> None:
    """List the estimators."""
    from robot_identification.estimation import ESTIMATORS
    from robot_identification.estimation.estimator import AUTO, AUTO_FEATURES, AUTO_SUMMARY

    load_extensions()
    rows = [{'name': name, 'what it does': estimator.summary, **estimator.info.row(),
             'group': 'papers' if '.papers.' in estimator.__module__ else 'core'}
            for name, estimator in ESTIMATORS.items()]
    rows.append({'name': AUTO, 'what it does': AUTO_SUMMARY, **AUTO_FEATURES.row(),
                 'group': 'core'})
    if as_json:
        emit({'estimators': rows})
        return
    for group, title in GROUPS.items():
        if group == 'papers':
            out.print(f'\n{PAPERS}\n')
        _show(title, [{key: row[key] for key in ('name', 'what it does')} for row in rows
                      if row['group'] == group])


def frictions_command(
    *,
    as_json: bool = False,
) -> None:
    """List friction terms and models."""
    from robot_identification.dynamics import FRICTION_MODELS, FRICTION_TERMS
    from robot_identification.dynamics.friction import SHORT_NAMES

    terms, models = ([
        {'name': name, 'torque': friction.formula, 'parameters': ', '.join(friction.parameters),
         'shape': ', '.join(friction.nonlinear) or '-'} for name, friction in family.items()]
        for family in (FRICTION_TERMS, FRICTION_MODELS))
    if as_json:
        emit({'friction terms': terms,
              'friction models': [{**row, 'sum': SHORT_NAMES[row['name']]} for row in models]})
        return
    _show('terms of a sum', terms)
    _show('short names', [{'name': name, 'sum': terms} for name, terms in SHORT_NAMES.items()])


def _show(title: str, rows: Sequence[dict[str, str]]) -> None:
    """Print a table."""
    print_table(title, list(rows[0]), (row.values() for row in rows))
