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
"""Export to C99 source code, which allocates no memory and compiles as C++ too."""

from __future__ import annotations

from dataclasses import dataclass
import math
import re
from typing import TYPE_CHECKING

import numpy as np
from robot_identification.errors import explain_missing
from robot_identification.export.target import ExportContext, Exported

if TYPE_CHECKING:
    from robot_identification.code_generation.program import Function, Program

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
MAX_STEPS = 20
"""Largest number of Newton steps for friction that depends on the load; the second or third step
is exact if friction is piecewise linear in the load."""
TOLERANCE = 1e-12
"""Change of the load in a step at which it counts as solved, relative to the largest load; 1000 to
10 000 times what rounding changes."""
SINGLE_TOLERANCE = 1e-4
"""The same in single precision."""
SMALLEST = float(np.finfo(np.float32).tiny)
"""Smallest positive number of generated code in single precision."""
MACROS = """\
#define sign(x) ((double)(((x) > 0.0) - ((x) < 0.0)))
#define where(test, yes, no) ((test) != 0.0 ? (yes) : (no))
"""


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


C99 = Language('{0}[{1}]', 'const double {0} = {1};', '{0}[{1}] = {2};', reuses_names=False)


def generate_program(context: ExportContext) -> Program:
    """
    Return the dynamics of a model as functions for generated code.

    Raises
    ------
    MissingDependencyError
        CasADi is not installed.

    """
    with explain_missing('casadi', 'generated code', 'codegen'):
        from robot_identification.code_generation.program import build_program
    return build_program(context)


def export_c(context: ExportContext) -> Exported:
    """Return a C99 source file and its header."""
    program = generate_program(context)
    header, code = c_files(program, context.options.float32)
    return Exported({f'{program.name}.c': code, f'{program.name}.h': header}, program.losses,
                    residual=True, code_options=('regressor', 'derivatives', 'float32'))


def c_files(program: Program, single: bool = False) -> tuple[str, str]:
    """
    Return the texts of the C header and of the C source file of a program.

    Parameters
    ----------
    program
        The functions.
    single
        Whether numbers are floats instead of doubles.

    """
    upper, name, n = program.name.upper(), program.name, program.n
    declarations = [f'/* {f.comment} */\n{_signature(program, f)};' for f in program.functions]
    if program.needs_load:
        declarations.append(
            f'/* Accelerations under joint torques tau. Solves for the load on which friction\n'
            f' * depends. Returns 0, or 1 if {MAX_STEPS} steps do not suffice; a then has the\n'
            f' * values of the last step. */\n'
            f'int {name}_forward_dynamics({_arguments(program)});')
    joints = ', '.join(f'"{_escaped(joint)}"' for joint in program.joint_names)
    header = f"""\
/* Dynamics of {_escaped(name)}: generated by robot_identification, do not edit.
 * Units: rad, rad/s, rad/s^2, N m (sliding joints: m, m/s, m/s^2, N). Joints in this order:
 * {_escaped(', '.join(program.joint_names))}
 * Numbers are {'floats' if single else 'doubles'}. The functions allocate nothing, keep no state
 * and may be called from several threads.
 */
#ifndef {upper}_DYNAMICS_H
#define {upper}_DYNAMICS_H

#define {upper}_JOINTS {n}

#ifdef __cplusplus
extern "C" {{
#endif

extern const char *const {name}_joint_names[{n}];

""" + '\n\n'.join(declarations) + f"""

#ifdef __cplusplus
}}
#endif

#endif /* {upper}_DYNAMICS_H */
"""
    bodies = [_definition(program, function) for function in program.functions]
    if program.needs_load:
        bodies.append(_iterated(program, SINGLE_TOLERANCE if single else TOLERANCE))
    code = (f'/* Generated by robot_identification, do not edit. */\n#include "{name}.h"\n\n'
            f'#include <math.h>\n\n{MACROS}\n'
            f'const char *const {name}_joint_names[{n}] = {{{joints}}};\n\n'
            + '\n\n'.join(bodies) + '\n')
    return (_to_single(header), _to_single(code)) if single else (header, code)


def _to_single(code: str) -> str:
    """Return C code with floats in place of doubles: types, numbers and functions of math.h."""
    functions = '|'.join([*(kind.lower() for kind in CALLS if kind != 'SIGN')])
    code = re.sub(r'\bdouble\b', 'float', code)
    code = re.sub(rf'\b({functions})\(', r'\1f(', code)
    return re.sub(r'(?<![\w.])(\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+)', _single, code)


def _single(number: re.Match[str]) -> str:
    """Return a number as a float literal; guards against division by zero stay above zero."""
    value = float(number[0])
    return f'{SMALLEST!r}f' if 0 < value < SMALLEST else f'{number[0]}f'


def _arguments(program: Program) -> str:
    """Return the parameter list of the C function for forward dynamics."""
    n = program.n
    return f'const double q[{n}], const double v[{n}], const double tau[{n}], double a[{n}]'


def _signature(program: Program, function: Function) -> str:
    """Return the C declaration of a function, without semicolon."""
    arguments = [f'const double {name}[{size}]' for name, size in function.inputs.items()]
    arguments += [f'double {name}[{math.prod(shape)}]' for name, shape in function.outputs.items()]
    return f'void {program.name}_{function.name}({", ".join(arguments)})'


def _definition(program: Program, function: Function) -> str:
    """Return the C definition of a function."""
    statements = function.statements(C99)
    unused = [f'(void){name};' for name in function.inputs
              if not any(f'{name}[' in line for line in statements)]
    body = '\n'.join(f'  {line}' for line in (*unused, *statements))
    return f'{_signature(program, function)}\n{{\n{body}\n}}'


def _iterated(program: Program, tolerance: float) -> str:
    """Return the C definition of forward dynamics with friction that depends on the load."""
    name, n = program.name, program.n
    return f"""\
int {name}_forward_dynamics({_arguments(program)})
{{
  double load[{n}], new_load[{n}];
  int i, k;
  for (i = 0; i < {n}; ++i) {{ load[i] = tau[i]; }}
  for (k = 0; k < {MAX_STEPS}; ++k) {{
    double change = 0.0, size = 0.0;
    {name}_forward_dynamics_step(q, v, tau, load, a, new_load);
    for (i = 0; i < {n}; ++i) {{
      change += fabs(new_load[i] - load[i]);
      size += fabs(new_load[i]);
      load[i] = new_load[i];
    }}
    if (change <= {tolerance} * size) {{ return 0; }}
  }}
  return 1;
}}"""


def _escaped(text: str) -> str:
    """Return ASCII text that is safe in C comments and string literals."""
    plain = text.encode('ascii', 'replace').decode()
    return plain.replace('\\', '\\\\').replace('"', '\\"').replace('*/', '* /').replace('?', '_')
