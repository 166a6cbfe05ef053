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
"""Text of expressions in generated code, which is the same in C and in Python."""

from dataclasses import dataclass

CALLS = {
    **dict.fromkeys(('SIN', 'COS', 'TAN', 'ASIN', 'ACOS', 'ATAN', 'SINH', 'COSH', 'TANH', 'EXP',
                     'EXPM1', 'LOG', 'LOG1P', 'SQRT', 'FABS', 'SIGN'), '{0}'),
    **dict.fromkeys(('ATAN2', 'COPYSIGN', 'FMIN', 'FMAX', 'HYPOT', 'POW'), '{0}, {1}')}
"""CasADi operations that call a C function of the same name, or the macro `sign`."""
OPERATIONS = {
    **{kind: f'{kind.lower()}({operands})' for kind, operands in CALLS.items()},
    'CONSTPOW': 'pow({0}, {1})', 'IF_ELSE_ZERO': 'where({0}, {1}, 0.0)',
    'ASSIGN': '{0}', 'ADD': '{0} + {1}', 'SUB': '{0} - {1}', 'MUL': '{0} * {1}',
    'DIV': '{0} / {1}', 'NEG': '-{0}', 'TWICE': '2.0 * {0}', 'SQ': '{0} * {0}',
    'INV': '1.0 / {0}', 'LT': '1.0 * ({0} < {1})', 'LE': '1.0 * ({0} <= {1})',
    'EQ': '1.0 * ({0} == {1})', 'NE': '1.0 * ({0} != {1})', 'NOT': '1.0 * ({0} == 0.0)',
    'AND': '1.0 * (({0} != 0.0) & ({1} != 0.0))', 'OR': '1.0 * (({0} != 0.0) | ({1} != 0.0))'}
"""Format of each CasADi operation in C and in Python."""


@dataclass(frozen=True)
class Language:
    """
    Formats of the statements of a programming language.

    Parameters
    ----------
    argument
        Format of an entry of an argument; fields: name and index.
    assignment
        Format of the assignment of an intermediate value; fields: name and value.
    result
        Format of the assignment of an entry of the result; fields: name, index and value.
    reuses_names
        Whether variables are reused once their values are no longer needed, which frees the
        memory of arrays. Entries of the result are then assigned as soon as they are computed,
        otherwise at the end.

    """

    argument: str
    assignment: str
    result: str
    reuses_names: bool
