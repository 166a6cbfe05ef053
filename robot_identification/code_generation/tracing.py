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
"""Tracing: conversion of NumPy functions to CasADi expressions."""

from collections.abc import Callable
from typing import Any
import warnings

import casadi as ca
import numpy as np
from robot_identification.code_generation.printing import OPERATIONS

KINDS = {getattr(ca, name): name[len('OP_'):] for name in dir(ca) if name.startswith('OP_')}
"""Names of CasADi's operations by their codes."""
TEST_VALUE = 0.7
"""Value of all inputs at which the expression is compared with the NumPy function."""


class NotTraceableError(TypeError):
    """A formula has no CasADi expression, for instance because it branches on values."""


class _Symbols(np.ndarray):
    """An object array of scalar expressions, on which NumPy's functions act elementwise."""

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **options: Any) -> Any:
        """Apply a universal function of NumPy, such as np.exp, to expressions."""
        if method != '__call__' or options:
            raise NotTraceableError(f'{ufunc.__name__} is called in a form without an expression')
        arrays = [np.asarray(x, dtype=object) for x in inputs]
        if ufunc is np.matmul:
            return np.asarray(np.dot(*arrays), dtype=object).view(_Symbols)
        return _elementwise(ufunc, arrays)    # CasADi overloads NumPy's functions for scalars

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        """Apply np.where to expressions, and other functions of NumPy as usual."""
        if function is np.where and len(arguments) == 3:
            return _elementwise(ca.if_else, [np.asarray(x, dtype=object) for x in arguments])
        return super().__array_function__(function, types, arguments, options)


def _elementwise(rule: Callable[..., ca.SX], arrays: list[np.ndarray]) -> np.ndarray:
    """Return an array with the results of a scalar function of the broadcast arrays."""
    apply = np.frompyfunc(lambda *values: rule(*map(ca.SX, values)), len(arrays), 1)
    return np.asarray(apply(*arrays), dtype=object).view(_Symbols)


def trace_formula(formula: Callable[..., Any], count: int) -> ca.Function:
    """
    Return a NumPy function as a CasADi function from scalars to a column.

    Parameters
    ----------
    formula
        Function of `count` arrays of shape ().
    count
        Number of inputs.

    Raises
    ------
    NotTraceableError
        The formula has no CasADi expression, or the expression has other values than the formula.

    """
    names = [f'x{i}' for i in range(count)]
    symbols = np.asarray(np.frompyfunc(ca.SX.sym, 1, 1)(names), dtype=object).view(_Symbols)
    try:
        with warnings.catch_warnings():    # CasADi 3.8 warns of a change in NumPy
            warnings.simplefilter('ignore', FutureWarning)
            values = np.asarray(formula(*(symbols[i, ...] for i in range(count))),
                                dtype=object).ravel()
        function = ca.Function('formula', list(symbols), [ca.vertcat(*values)])
        expected = np.ravel(formula(*[np.array(TEST_VALUE)] * count))
    except (TypeError, ValueError, AttributeError, NotImplementedError, RuntimeError) as error:
        raise NotTraceableError(str(error)) from error
    kinds = {KINDS[function.instruction_id(k)] for k in range(function.n_instructions())}
    if not kinds <= {'CONST', 'INPUT', 'OUTPUT', *OPERATIONS}:
        raise NotTraceableError(f'generated code has no {", ".join(kinds - set(OPERATIONS))}')
    values = np.array(function(*[TEST_VALUE] * count), dtype=float).ravel()
    if not np.allclose(values, expected, rtol=1e-9):
        raise NotTraceableError('its expression yields other values')
    return function
