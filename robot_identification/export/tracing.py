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
"""Formulas written for NumPy, followed symbol by symbol into a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from robot_identification.export.expressions import Graph, Node

Rule = Callable[..., Any]


class NotTraceableError(TypeError):
    """A formula does what has no symbol here: it looks at values, or calls what is not known."""


def _call(name: str) -> Rule:
    return lambda graph, *parts: graph.call(name, *parts)


def _power(graph: Graph, x: Node, y: Node) -> Node:
    if y.kind == 'constant' and y.value in (1.0, 2.0, 3.0):
        result = x
        for _ in range(int(y.value) - 1):
            result = result * x
        return result
    return graph.call('pow', x, y)


def _less(name: str) -> Rule:
    return lambda graph, x, y: graph.call(name, y, x)


RULES: Mapping[Any, Rule] = {
    np.add: lambda graph, x, y: x + y, np.subtract: lambda graph, x, y: x - y,
    np.multiply: lambda graph, x, y: x * y, np.true_divide: lambda graph, x, y: x / y,
    np.negative: lambda graph, x: -x, np.positive: lambda graph, x: x,
    np.square: lambda graph, x: x * x, np.reciprocal: lambda graph, x: 1.0 / x,
    np.power: _power, np.float_power: _power,
    np.sin: _call('sin'), np.cos: _call('cos'), np.tan: _call('tan'), np.exp: _call('exp'),
    np.log: _call('log'), np.tanh: _call('tanh'), np.sinh: _call('sinh'),
    np.cosh: _call('cosh'), np.arctan: _call('atan'), np.sqrt: _call('sqrt'),
    np.cbrt: _call('cbrt'), np.absolute: _call('fabs'), np.fabs: _call('fabs'),
    np.sign: _call('sign'), np.maximum: _call('fmax'), np.minimum: _call('fmin'),
    np.fmax: _call('fmax'), np.fmin: _call('fmin'), np.greater: _call('greater'),
    np.greater_equal: _call('greater_equal'), np.less: _less('greater'),
    np.less_equal: _less('greater_equal'), np.equal: _call('equal'),
    np.logical_and: lambda graph, x, y: x * y,
    np.copysign: lambda graph, x, y: graph.call('select', graph.call('greater_equal', y, 0.0),
                                                graph.call('fabs', x), -graph.call('fabs', x))}
"""Universal functions of NumPy and what they build."""


class _Symbols(np.ndarray):
    """An array of nodes that NumPy's functions build graphs from."""

    graph: Graph

    def __array_finalize__(self, source: Any) -> None:
        graph = getattr(source, 'graph', None)
        if graph is not None:
            self.graph = graph

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **options: Any) -> Any:
        if ufunc is np.matmul and method == '__call__' and not options:
            return self._matmul(*inputs)
        if method != '__call__' or options or ufunc not in RULES:
            raise NotTraceableError(f'{ufunc.__name__} is not followed')
        rule, graph = RULES[ufunc], self._graph(inputs)
        arrays: Any = np.broadcast_arrays(*(np.asarray(x, dtype=object) for x in inputs))
        result = np.empty(arrays[0].shape, dtype=object)
        for place in np.ndindex(result.shape):
            result[place] = rule(graph, *(graph.node(x[place]) for x in arrays))
        return symbols(graph, result)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if function is np.where and len(arguments) == 3:
            graph = self._graph(arguments)
            arrays: Any = np.broadcast_arrays(*(np.asarray(x, dtype=object)
                                                for x in arguments))
            result = np.empty(arrays[0].shape, dtype=object)
            for place in np.ndindex(result.shape):
                result[place] = graph.call('select', *(graph.node(x[place]) for x in arrays))
            return symbols(graph, result)
        if function in (np.clip, np.any, np.all, np.interp, np.einsum):
            raise NotTraceableError(f'{function.__name__} is not followed')
        return super().__array_function__(function, types, arguments, options)

    @staticmethod
    def _graph(inputs: Sequence[Any]) -> Graph:
        return next(x.graph for x in inputs if isinstance(x, _Symbols))

    def _matmul(self, left: Any, right: Any) -> Any:
        graph = self._graph((left, right))
        left, right = np.asarray(left, dtype=object), np.asarray(right, dtype=object)
        result = np.dot(left, right)
        return symbols(graph, np.asarray(result, dtype=object))


def symbols(graph: Graph, nodes: Any) -> _Symbols:
    """
    Return an array of nodes.

    Parameters
    ----------
    graph
        Where they live.
    nodes
        A node or an array of them.

    """
    array = np.asarray(nodes, dtype=object).view(_Symbols)
    array.graph = graph
    return array


def traced(formula: Callable[..., Any], graph: Graph, *inputs: Node | None) -> list[Node]:
    """
    Return what a NumPy formula of numbers computes for nodes.

    Parameters
    ----------
    formula
        Called with one array of shape () for each input.
    graph
        Where the inputs live.
    inputs
        Nodes; None is handed through.

    Raises
    ------
    NotTraceableError
        The formula cannot be followed.

    """
    try:
        result = formula(*(None if x is None else symbols(graph, x) for x in inputs))
        return [graph.node(x) for x in np.asarray(result, dtype=object).ravel()]
    except (TypeError, ValueError, AttributeError, NotImplementedError) as error:
        raise NotTraceableError(str(error)) from error
