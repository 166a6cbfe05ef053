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
"""Expressions as source text: C99 and NumPy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from robot_identification.export.expressions import Graph, needed, Node

LONGEST = 70
"""Characters of an expression that is written inside another one; beyond, it gets a name."""
PRECEDENCE = {'add': 1, 'sub': 1, 'mul': 2, 'div': 2, 'neg': 3}


@dataclass(frozen=True, eq=False)
class Function:
    """
    A function that is to be written out.

    Parameters
    ----------
    name
        Its name, without the arm's.
    comment
        What it computes, for a user.
    graph
        Where its values live.
    inputs
        Name and length of each argument.
    output
        Name and length of the result.
    values
        One node per entry of the result.
    needs
        Arguments that it must take although the values do not depend on them are found here.

    """

    name: str
    comment: str
    graph: Graph
    inputs: tuple[tuple[str, int], ...]
    output: tuple[str, int]
    values: Sequence[Node]

    @property
    def used(self) -> set[str]:
        """Names of the arguments that the values depend on."""
        return {node.value.split('[')[0] for node in needed(self.values) if node.kind == 'input'}


def c_body(function: Function) -> list[str]:
    """Return the statements of a function in C99."""
    lines = [f'(void){name};' for name, _ in function.inputs if name not in function.used]
    statements, names = _statements(function.values, _c_call, _c_number, lambda name: name)
    lines += [f'const double {name} = {text};' for name, text in statements]
    output = function.output[0]
    return lines + [f'{output}[{i}] = {names(value)};' for i, value in enumerate(function.values)]


def numpy_body(function: Function) -> list[str]:
    """Return the statements of a function for arrays (..., n), the result stacked."""
    statements, names = _statements(
        function.values, _numpy_call, repr, lambda name: name.replace('[', '[..., '))
    lines = [f'{name} = {text}' for name, text in statements]
    rows = ',\n    '.join(names(value) for value in function.values)
    shape = function.inputs[0][0]
    return [*lines, f'return _stack({shape}, [\n    {rows}])']


def _c_number(value: float) -> str:
    """Return a double in C that reads back to the same bits."""
    text = repr(float(value))
    return text if any(mark in text for mark in '.en') else f'{text}.0'


def _statements(
    values: Sequence[Node], call: Callable[[str, Sequence[str]], str],
    number: Callable[[float], str], argument: Callable[[str], str],
) -> tuple[list[tuple[str, str]], Callable[[Node], str]]:
    """Return named expressions in order, and how to refer to a node."""
    order = needed(values)
    uses = Counter(part.index for node in order for part in node.parts)
    text: dict[int, tuple[str, int]] = {}
    named: list[tuple[str, str]] = []
    for node in order:
        if node.kind == 'constant':
            written = number(node.value)
            text[node.index] = written, 0 if written.startswith('-') else 9
            continue
        if node.kind == 'input':
            text[node.index] = argument(node.value), 9
            continue
        if node.kind in PRECEDENCE:
            written, rank = _arithmetic(node, text), PRECEDENCE[node.kind]
        else:
            written, rank = call(node.kind, [text[p.index][0] for p in node.parts]), 9
        if uses[node.index] > 1 or node.kind not in PRECEDENCE or len(written) > LONGEST:
            name = f't{len(named)}'
            named.append((name, written))
            written, rank = name, 9
        text[node.index] = written, rank
    return named, lambda node: text[node.index][0]


def _arithmetic(node: Node, text: dict[int, tuple[str, int]]) -> str:
    rank = PRECEDENCE[node.kind]

    def part(k: int, least: int) -> str:
        written, own = text[node.parts[k].index]
        return written if own >= least else f'({written})'

    if node.kind == 'neg':
        return f'-{part(0, 4)}'
    sign = {'add': '+', 'sub': '-', 'mul': '*', 'div': '/'}[node.kind]
    return f'{part(0, rank)} {sign} {part(1, rank + (node.kind in ("sub", "div")))}'


def _c_call(name: str, parts: Sequence[str]) -> str:
    if name == 'select':
        return f'({parts[0]}) != 0.0 ? {parts[1]} : {parts[2]}'
    comparison = {'greater': '>', 'greater_equal': '>=', 'equal': '=='}.get(name)
    if comparison:
        return f'({parts[0]}) {comparison} ({parts[1]}) ? 1.0 : 0.0'
    if name == 'sign':
        return f'(double)((({parts[0]}) > 0.0) - (({parts[0]}) < 0.0))'
    return f'{name}({", ".join(parts)})'


NUMPY_NAMES = {'fabs': 'abs', 'atan': 'arctan', 'pow': 'power', 'fmax': 'maximum',
               'fmin': 'minimum', 'select': 'where'}


def _numpy_call(name: str, parts: Sequence[str]) -> str:
    comparison = {'greater': '>', 'greater_equal': '>=', 'equal': '=='}.get(name)
    if comparison:
        return f'1.0 * (({parts[0]}) {comparison} ({parts[1]}))'
    return f'np.{NUMPY_NAMES.get(name, name)}({", ".join(parts)})'
