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
"""Expressions as a graph: constants folded, equal parts built once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
import math
from typing import Any, TypeAlias

CALLS: dict[str, Callable[..., float]] = {
    'sin': math.sin, 'cos': math.cos, 'tan': math.tan, 'exp': math.exp, 'log': math.log,
    'tanh': math.tanh, 'sinh': math.sinh, 'cosh': math.cosh, 'atan': math.atan,
    'sqrt': math.sqrt, 'cbrt': lambda x: math.copysign(abs(x) ** (1 / 3), x),
    'fabs': abs, 'sign': lambda x: float((x > 0) - (x < 0)), 'pow': math.pow,
    'fmax': max, 'fmin': min, 'greater': lambda x, y: float(x > y),
    'greater_equal': lambda x, y: float(x >= y), 'equal': lambda x, y: float(x == y),
    'select': lambda condition, x, y: x if condition else y}
"""Functions of a node and what they are for constants; the names are those of C where it has them.
Comparisons are 1 or 0, `select` takes its second argument where the first is not zero."""
Number: TypeAlias = 'float | int | Node'


class Node:
    """
    A value in a graph; arithmetic with it makes further nodes of that graph.

    Parameters
    ----------
    graph
        Where it lives.
    kind
        'constant', 'input', 'add', 'sub', 'mul', 'div', 'neg' or a name in `CALLS`.
    parts
        The nodes that it is made of.
    value
        Value of a constant; the name of an input.
    index
        When it was made; parts are older than what they are part of.

    """

    __slots__ = ('graph', 'index', 'kind', 'parts', 'value')
    __array_ufunc__ = None

    def __init__(self, graph: Graph, kind: str, parts: tuple[Node, ...], value: Any,
                 index: int) -> None:
        self.graph, self.kind, self.parts = graph, kind, parts
        self.value, self.index = value, index

    def is_constant(self, value: float | None = None) -> bool:
        """Return whether it is a constant, and which."""
        return self.kind == 'constant' and (value is None or self.value == value)

    def __add__(self, other: Number) -> Node:
        return self.graph.add(self, self.graph.node(other))

    def __sub__(self, other: Number) -> Node:
        return self.graph.subtract(self, self.graph.node(other))

    def __mul__(self, other: Number) -> Node:
        return self.graph.multiply(self, self.graph.node(other))

    def __truediv__(self, other: Number) -> Node:
        return self.graph.divide(self, self.graph.node(other))

    def __radd__(self, other: Number) -> Node:
        return self.graph.add(self.graph.node(other), self)

    def __rsub__(self, other: Number) -> Node:
        return self.graph.subtract(self.graph.node(other), self)

    def __rmul__(self, other: Number) -> Node:
        return self.graph.multiply(self.graph.node(other), self)

    def __rtruediv__(self, other: Number) -> Node:
        return self.graph.divide(self.graph.node(other), self)

    def __neg__(self) -> Node:
        return self.graph.negate(self)

    def __bool__(self) -> bool:
        if self.kind == 'constant':
            return bool(self.value)
        raise TypeError('an expression is neither true nor false before its inputs are known')


class Graph:
    """Nodes, each of which exists once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Node] = {}
        self._count = 0

    def constant(self, value: float) -> Node:
        """Return a constant; -0.0 is 0.0."""
        return self._make('constant', (), float(value) + 0.0)

    def variable(self, name: str) -> Node:
        """Return the input of that name."""
        return self._make('input', (), name)

    def inputs(self, name: str, count: int) -> list[Node]:
        """Return `count` inputs name[0], name[1], ..."""
        return [self.variable(f'{name}[{i}]') for i in range(count)]

    def node(self, value: Number) -> Node:
        """Return a number as a node."""
        return value if isinstance(value, Node) else self.constant(float(value))

    def call(self, name: str, *parts: Number) -> Node:
        """Return a function of nodes, folded when all are constant."""
        nodes = tuple(self.node(part) for part in parts)
        if all(node.kind == 'constant' for node in nodes):
            return self.constant(CALLS[name](*(node.value for node in nodes)))
        if name == 'select' and nodes[0].kind == 'constant':
            return nodes[1] if nodes[0].value else nodes[2]
        return self._make(name, nodes)

    def add(self, x: Node, y: Node) -> Node:
        """Return x + y."""
        if x.kind == 'constant' and y.kind == 'constant':
            return self.constant(x.value + y.value)
        if x.is_constant(0.0):
            return y
        if y.is_constant(0.0):
            return x
        if y.kind == 'neg':
            return self.subtract(x, y.parts[0])
        if x.kind == 'neg':
            return self.subtract(y, x.parts[0])
        return self._make('add', _sorted(x, y))

    def subtract(self, x: Node, y: Node) -> Node:
        """Return x - y."""
        if x.kind == 'constant' and y.kind == 'constant':
            return self.constant(x.value - y.value)
        if y.is_constant(0.0):
            return x
        if x.is_constant(0.0):
            return self.negate(y)
        if x is y:
            return self.constant(0.0)
        if y.kind == 'neg':
            return self.add(x, y.parts[0])
        if x.kind == 'neg':
            return self.negate(self.add(x.parts[0], y))
        return self._make('sub', (x, y))

    def multiply(self, x: Node, y: Node) -> Node:
        """Return x y; constants gather on the left, signs go outside."""
        if y.kind == 'constant':
            x, y = y, x
        if x.kind == 'constant':
            return self._scale(x.value, y)
        if x.kind == 'neg' or y.kind == 'neg':
            inner = self.multiply(x.parts[0] if x.kind == 'neg' else x,
                                  y.parts[0] if y.kind == 'neg' else y)
            return inner if x.kind == y.kind else self.negate(inner)
        return self._make('mul', _sorted(x, y))

    def divide(self, x: Node, y: Node) -> Node:
        """Return x / y."""
        if y.kind == 'constant':
            return x if y.value == 1 else self._quotient(x, y)
        return x if x.is_constant(0.0) else self._make('div', (x, y))

    def negate(self, x: Node) -> Node:
        """Return -x."""
        if x.kind == 'constant':
            return self.constant(-x.value)
        if x.kind == 'neg':
            return x.parts[0]
        if x.kind == 'sub':
            return self._make('sub', (x.parts[1], x.parts[0]))
        if x.kind == 'mul' and x.parts[0].kind == 'constant':
            return self._scale(-x.parts[0].value, x.parts[1])
        return self._make('neg', (x,))

    def _quotient(self, x: Node, y: Node) -> Node:
        if x.kind == 'constant':
            return self.constant(x.value / y.value)
        return self._make('div', (x, y))

    def _scale(self, factor: float, x: Node) -> Node:
        if x.kind == 'constant':
            return self.constant(factor * x.value)
        if factor == 0:
            return self.constant(0.0)
        if factor == 1:
            return x
        if factor == -1:
            return self.negate(x)
        if x.kind == 'neg':
            return self._scale(-factor, x.parts[0])
        if x.kind == 'mul' and x.parts[0].kind == 'constant':
            return self._scale(factor * x.parts[0].value, x.parts[1])
        return self._make('mul', (self.constant(factor), x))

    def _make(self, kind: str, parts: tuple[Node, ...], value: Any = None) -> Node:
        key = (kind, value, *(part.index for part in parts))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Node(self, kind, parts, value, self._count)
            self._count += 1
        return found


def _sorted(x: Node, y: Node) -> tuple[Node, Node]:
    return (x, y) if x.index <= y.index else (y, x)


def needed(outputs: Iterable[Node]) -> list[Node]:
    """Return the nodes that outputs are made of, parts before what they are part of."""
    found: dict[int, Node] = {}
    waiting = list(outputs)
    while waiting:
        node = waiting.pop()
        if node.index not in found:
            found[node.index] = node
            waiting += node.parts
    return [found[index] for index in sorted(found)]


def total(terms: Sequence[Node]) -> Node:
    """Return the sum of at least one node."""
    result = terms[0]
    for term in terms[1:]:
        result = result + term
    return result
