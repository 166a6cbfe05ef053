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
"""Formulas written for NumPy as CasADi expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

SAME_NAMES = ('sin', 'cos', 'tan', 'sinh', 'cosh', 'tanh', 'arcsin', 'arccos', 'arctan',
              'arctan2', 'exp', 'log', 'sqrt', 'fabs', 'sign', 'fmin', 'fmax', 'copysign')
RULES: dict[Any, Callable[..., ca.SX]] = {
    **{getattr(np, name): getattr(ca, name) for name in SAME_NAMES},
    np.add: ca.plus, np.subtract: ca.minus, np.multiply: ca.times, np.true_divide: ca.rdivide,
    np.power: ca.power, np.float_power: ca.power, np.absolute: ca.fabs, np.maximum: ca.fmax,
    np.minimum: ca.fmin, np.greater: ca.gt, np.greater_equal: ca.ge, np.less: ca.lt,
    np.less_equal: ca.le, np.equal: ca.eq, np.not_equal: ca.ne, np.logical_and: ca.logic_and,
    np.logical_or: ca.logic_or, np.logical_not: ca.logic_not,
    np.negative: lambda x: -x, np.positive: lambda x: x, np.square: lambda x: x * x,
    np.reciprocal: lambda x: 1 / x, np.cbrt: lambda x: ca.sign(x) * ca.fabs(x) ** (1 / 3)}
"""Universal functions of NumPy and what they do with expressions."""
TEST_VALUE = 0.7
"""Input at which a traced formula is compared with NumPy's."""


class NotTraceableError(TypeError):
    """A formula branches on values, or calls a function without a rule."""


class _Symbols(np.ndarray):
    """An object array of scalar expressions, on which NumPy's functions act elementwise."""

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **options: Any) -> Any:
        arrays = [np.asarray(x, dtype=object) for x in inputs]
        if ufunc is np.matmul and method == '__call__' and not options:
            return np.asarray(np.dot(*arrays), dtype=object).view(_Symbols)
        if method != '__call__' or options or ufunc not in RULES:
            raise NotTraceableError(f'{ufunc.__name__} has no rule')
        return _elementwise(RULES[ufunc], arrays)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if function is np.where and len(arguments) == 3:
            return _elementwise(ca.if_else, [np.asarray(x, dtype=object) for x in arguments])
        return super().__array_function__(function, types, arguments, options)


def _elementwise(rule: Callable[..., ca.SX], arrays: list[np.ndarray]) -> np.ndarray:
    def apply(*values: Any) -> ca.SX:
        return rule(*(ca.SX(value) for value in values))

    return np.asarray(np.frompyfunc(apply, len(arrays), 1)(*arrays), dtype=object).view(_Symbols)


def trace_formula(formula: Callable[..., Any], count: int) -> ca.Function:
    """
    Return a NumPy formula as a CasADi function of scalars, its output a column.

    Parameters
    ----------
    formula
        Called with one array of shape () for each input.
    count
        Number of inputs.

    Raises
    ------
    NotTraceableError
        The formula cannot be expressed, or its expression has other values than the formula.

    """
    inputs = [ca.SX.sym(f'x{i}') for i in range(count)]
    arrays = []
    for x in inputs:
        array = np.empty((), dtype=object)
        array[()] = x
        arrays.append(array.view(_Symbols))
    try:
        values = np.asarray(formula(*arrays), dtype=object).ravel()
        function = ca.Function('formula', inputs, [ca.vertcat(*values)])
        expected = np.ravel(formula(*[np.array(TEST_VALUE)] * count))
    except (TypeError, ValueError, AttributeError, NotImplementedError, RuntimeError) as error:
        raise NotTraceableError(str(error)) from error
    found = np.array(function(*[TEST_VALUE] * count), dtype=float).ravel()
    if not np.allclose(found, expected, rtol=1e-9):
        raise NotTraceableError('its expression has other values')
    return function
