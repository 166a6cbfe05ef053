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
"""How a language writes elementary operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

COMMON = {
    'ASSIGN': '{0}', 'ADD': '{0} + {1}', 'SUB': '{0} - {1}', 'MUL': '{0} * {1}',
    'DIV': '{0} / {1}', 'NEG': '-{0}', 'TWICE': '2.0 * {0}', 'SQ': '{0} * {0}',
    'INV': '1.0 / {0}'}
"""Operations that C and NumPy write alike, by CasADi's names."""
OPERANDS = {
    **dict.fromkeys(('SIN', 'COS', 'TAN', 'ASIN', 'ACOS', 'ATAN', 'SINH', 'COSH', 'TANH', 'EXP',
                     'LOG', 'SQRT', 'FABS'), '{0}'),
    **dict.fromkeys(('ATAN2', 'COPYSIGN', 'FMIN', 'FMAX', 'POW', 'CONSTPOW'), '{0}, {1}')}
"""Operations that are calls of functions, and their operands."""


@dataclass(frozen=True, eq=False)
class Language:
    """
    Formats of statements.

    Parameters
    ----------
    operations
        Value of each operation from its operands, by CasADi's name of the operation.
    argument
        Entry of an argument, from its name and index.
    assignment
        Statement that names a value, from name and value.
    result
        Statement that stores an entry of the result, from name, index and value.
    reuses_names
        Whether a name may be assigned again once its value is no longer needed, which frees the
        memory of arrays. Results are stored as soon as they are known then, otherwise at the end.

    """

    operations: Mapping[str, str]
    argument: str
    assignment: str
    result: str
    reuses_names: bool


def call_formats(names: Mapping[str, str], prefix: str = '') -> dict[str, str]:
    """
    Return the formats of operations that are calls of functions.

    Parameters
    ----------
    names
        Name of a function in the language, where it is not CasADi's in small letters.
    prefix
        Written before each name.

    """
    return {kind: f'{prefix}{names.get(kind, kind.lower())}({operands})'
            for kind, operands in OPERANDS.items()}
