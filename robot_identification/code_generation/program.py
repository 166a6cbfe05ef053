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
"""The functions of generated code as CasADi expressions, traced from formulas of NumPy."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
import warnings

import casadi as ca
import numpy as np
from robot_identification.arrays import Array
from robot_identification.code_generation import rigid_body
from robot_identification.code_generation.printing import Language, OPERATIONS
from robot_identification.dynamics import get_friction
from robot_identification.dynamics.friction import FrictionInput
from robot_identification.dynamics.inertial import from_pseudo_inertia, pseudo_inertia
from robot_identification.errors import ExportError
from robot_identification.export.target import (
    actuator_friction,
    ExportContext,
    Loss,
    root_mean_square,
)

COMMENTS = {
    'inverse_dynamics': 'Joint torques: rigid bodies, rotors and friction.',
    'rigid_body_torque': 'Joint torques of the rigid bodies and springs: the load of friction.',
    'gravity': 'Joint torques that hold the arm at rest, without friction.',
    'bias': 'Coriolis, centrifugal and gravity torques, without friction.',
    'mass_matrix': 'Joint-space inertia with rotors, row by row.',
    'friction': 'Friction at the joints, with the residual part of the model if it has one; load '
                'is rigid_body_torque.',
    'smooth_friction': 'The same, smooth in the velocity: with m = sqrt(v^2 + width^2) of each '
                       'actuator, (1 + v/m) / 2 f(m) + (1 - v/m) / 2 f(-m); width [rad/s or m/s] '
                       'is positive.',
    'smooth_inverse_dynamics': 'inverse_dynamics with smooth_friction.',
    'forward_dynamics': 'Accelerations under joint torques tau.',
    'forward_dynamics_step': 'One Newton step of forward_dynamics from the load at which friction '
                             'is linearised: accelerations, and their rigid_body_torque.',
    'forward_kinematics': 'Position [m] and rotation matrix, row by row, of the tool in the base.',
    'jacobian': 'Linear, then angular velocity of the tool in the axes of the base = jacobian '
                'times v; six rows, row by row.',
    'derivatives': 'Derivatives of inverse_dynamics by q, v and a, row by row; that of sgn(v) is '
                   'zero.',
    'regressor': 'rigid_body_torque without springs = regressor times the inertial parameters of '
                 'all links: m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each, about its '
                 'joint frame; row by row.'}


@dataclass(frozen=True, eq=False)
class Function:
    """
    A function of generated code.

    Parameters
    ----------
    expression
        CasADi function whose results are columns; the rows of a matrix follow one another in it.
    outputs
        Rows and columns of each result by name.

    """

    expression: ca.Function
    outputs: dict[str, tuple[int, int]]

    @property
    def name(self) -> str:
        """Name of the function without the prefix of the arm."""
        return self.expression.name()

    @property
    def comment(self) -> str:
        """Description of the function in the generated code."""
        return COMMENTS[self.name]

    @property
    def inputs(self) -> dict[str, int]:
        """Length of each argument by name."""
        return {name: self.expression.size1_in(name) for name in self.expression.name_in()}

    def statements(self, language: Language) -> list[str]:
        """Return the statements of the function in a programming language."""
        function, arguments = self.expression, self.expression.name_in()
        names = list(self.outputs)
        values: dict[int, str] = {}    # by index in CasADi's work vector
        lines: list[str] = []
        results: list[str] = []
        for k in range(function.n_instructions()):
            kind = KINDS[function.instruction_id(k)]
            inputs, outputs = function.instruction_input(k), function.instruction_output(k)
            if kind == 'OUTPUT':
                (lines if language.reuses_names else results).append(
                    language.result.format(names[outputs[0]], outputs[1], values[inputs[0]]))
            elif kind == 'INPUT':
                values[outputs[0]] = language.argument.format(arguments[inputs[0]], inputs[1])
            elif kind == 'CONST':
                values[outputs[0]] = repr(function.instruction_constant(k))
            else:
                name = f't{outputs[0] if language.reuses_names else len(lines)}'
                lines.append(language.assignment.format(name, OPERATIONS[kind].format(
                    *(values[i] for i in inputs))))
                values[outputs[0]] = name
        return lines + results


@dataclass(frozen=True, eq=False)
class Program:
    """
    All functions of the generated code of one model.

    Parameters
    ----------
    name
        Prefix of the functions.
    joint_names
        Names of the joints, in the order of all arguments.
    functions
        The functions as expressions. If friction depends on the load, forward dynamics iterates
        `forward_dynamics_step`; the modules of C and Python write this loop themselves.
    needs_load, needs_position
        Whether friction depends on the transmitted torque and on the joint position.
    losses
        Torque errors of friction that is approximated.

    """

    name: str
    joint_names: tuple[str, ...]
    functions: tuple[Function, ...]
    needs_load: bool
    needs_position: bool
    losses: tuple[Loss, ...]

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joint_names)


def build_program(context: ExportContext) -> Program:
    """
    Return the functions of a model's dynamics.

    Friction is computed with the formula of the friction model. Two cases are approximations,
    which are reported as losses: friction with memory of the motion is in its sliding state, and
    a formula that cannot be traced is replaced by fitted Coulomb, viscous and constant friction.

    Raises
    ------
    ExportError
        The torque of a spring or counterbalance cannot be traced.

    """
    model, n, coupling = context.model, context.model.arm.n, context.model.arm.transmission
    q, v, a, load, tau, width = (
        ca.SX.sym(name, n) for name in ('q', 'v', 'a', 'load', 'tau', 'width'))
    chain = rigid_body.aligned_chain(model.arm, model.inertial)
    body, inertial = rigid_body.RigidBody(chain, q), chain.grouped()
    family = get_friction(model.friction)
    needs_load, needs_position = family.needs_load, family.needs_position
    speeds, owners = ca.SX.sym('speeds', len(coupling)), list(model.arm.drives.owners)
    try:
        torques, losses = _friction(context, q, speeds, load), _memory_losses(context)
    except NotTraceableError:
        needs_load = needs_position = False
        speeds, owners, coupling = ca.SX.sym('speeds', n), list(range(n)), np.eye(n)
        torques, losses = _fitted_friction(context, speeds)
    motors = ca.DM(coupling)
    friction = motors.T @ ca.substitute(torques, speeds, motors @ v)
    smooth = motors.T @ _smoothed(torques, speeds, motors @ v, width[owners])
    if model.residual:
        needs_position, residual = True, _residual(context, q, v)
        friction, smooth = friction + residual, smooth + residual
    springs, still = _balancers(context, q), ca.SX.zeros(n)
    rigid = body.torque(v, a, inertial) + springs
    bias = body.torque(v, still, inertial) + springs
    rotors = ca.DM(model.arm.transmission.T
                   @ (model.rotor_inertia[:, None] * model.arm.transmission))
    mass = body.mass_matrix(inertial) + rotors
    own = ca.substitute(friction, load, rigid)
    motion = {'q': q, 'v': v, 'a': a}
    inputs = {**({'q': q} if needs_position else {}), 'v': v, 'load': load}
    tool = model.arm.model.frames[model.arm.tool].placement.homogeneous
    position, rotation, jacobian = body.frame_kinematics(
        rigid_body.snap(np.linalg.inv(chain.placements[-1]) @ tool))
    functions = [
        _function('inverse_dynamics', motion, tau=own + rigid + rotors @ a),
        _function('rigid_body_torque', motion, tau=rigid),
        _function('gravity', {'q': q}, tau=body.torque(still, still, inertial) + springs),
        _function('bias', {'q': q, 'v': v}, tau=bias),
        _function('mass_matrix', {'q': q}, mass=mass),
        _function('friction', inputs, tau=friction),
        _function('smooth_friction', {**inputs, 'width': width}, tau=smooth),
        _function('smooth_inverse_dynamics', {**motion, 'width': width},
                  tau=ca.substitute(smooth, load, rigid) + rigid + rotors @ a),
        _function('forward_kinematics', {'q': q}, position=position, rotation=rotation),
        _function('jacobian', {'q': q}, jacobian=jacobian)]
    if needs_load:
        functions.append(_newton_step(bias, mass, mass - rotors, friction,
                                      {'q': q, 'v': v, 'tau': tau, 'load': load}))
    else:
        functions.append(_function('forward_dynamics', {'q': q, 'v': v, 'tau': tau},
                                   a=ca.ldl_solve(tau - bias - friction, *ca.ldl(mass))))
    if context.options.regressor:
        functions.append(_function('regressor', motion, regressor=_regressor(chain, body, v, a)))
    if context.options.derivatives:
        functions.append(_derivatives(motion, rigid, friction, load, rotors))
    return Program(context.name, model.arm.joint_names, tuple(functions), needs_load,
                   needs_position, losses)


def _function(name: str, inputs: dict[str, ca.SX], **outputs: ca.SX) -> Function:
    """Return a function of named inputs; each output is the rows of a matrix in one column."""
    rows = ca.cse([ca.densify(ca.vec(values.T)) for values in outputs.values()])
    return Function(ca.Function(name, list(inputs.values()), rows, list(inputs), list(outputs)),
                    {output: values.shape for output, values in outputs.items()})


def _newton_step(bias: ca.SX, mass: ca.SX, bodies: ca.SX, friction: ca.SX,
                 inputs: dict[str, ca.SX]) -> Function:
    """
    Return a Newton step of forward dynamics with friction that depends on the load.

    With the mass matrix M = M_b + rotors, the load l = M_b a + bias and D = df/dl,
    M a + bias + f(l) = tau is linearised about the given load l0:

        (M + D M_b) a = tau - bias - f(l0) - D (bias - l0).

    Friction that is piecewise linear in the load is solved exactly once no load changes its sign.

    Parameters
    ----------
    bias, mass, bodies
        Torques without acceleration, (n, 1), M and M_b, (n, n).
    friction
        f(l), (n, 1).
    inputs
        The inputs q, v, tau and load of the function.

    """
    slope, load = ca.jacobian(friction, inputs['load']), inputs['load']
    push = inputs['tau'] - bias - friction - slope @ (bias - load)
    a = ca.solve(mass + slope @ bodies, push)
    return _function('forward_dynamics_step', inputs, a=a, new_load=bodies @ a + bias)


def _derivatives(motion: dict[str, ca.SX], rigid: ca.SX, friction: ca.SX, load: ca.SX,
                 rotors: ca.DM) -> Function:
    """Return the derivatives of rigid(q, v, a) + friction(q, v, load = rigid) + rotors a."""
    n, states = len(rotors.full()), ca.vertcat(*motion.values())
    slope = ca.substitute(ca.jacobian(friction, load), load, rigid)
    jacobian = ((ca.SX.eye(n) + slope) @ ca.jacobian(rigid, states)
                + ca.substitute(ca.jacobian(friction, states), load, rigid))
    by = {name: jacobian[:, k * n:(k + 1) * n] for k, name in enumerate(motion)}
    return _function('derivatives', motion, tau_q=by['q'], tau_v=by['v'], tau_a=by['a'] + rotors)


def _regressor(chain: rigid_body.AlignedChain, body: rigid_body.RigidBody, v: ca.SX,
               a: ca.SX) -> ca.SX:
    """Return the regressor of inertial parameters about the joint frames of the arm, (n, 10 n)."""
    parameters = ca.SX.sym('parameters', 10, chain.n)
    back = np.linalg.inv(chain.placements)
    inertial = [_parameter_change(back[i]) @ parameters[:, i] for i in range(chain.n)]
    return ca.jacobian(body.torque(v, a, inertial), ca.vec(parameters))


def _parameter_change(placement: Array) -> ca.DM:
    """Return the matrix that transforms inertial parameters to another frame, (10, 10)."""
    change = np.array(from_pseudo_inertia(placement @ pseudo_inertia(np.eye(10))
                                          @ placement.T)).T
    change[np.abs(change) < 1e-15] = 0.0
    return ca.sparsify(ca.DM(change))


def _memory_losses(context: ExportContext) -> tuple[Loss, ...]:
    """Return the losses of friction with memory, which is exported in its sliding state."""
    model, states = context.model, context.states
    slipped = model.structure.sliding_state(states.v)
    if slipped is None:
        return ()
    torque = actuator_friction(model, states, slipped) @ model.arm.transmission
    return context.losses(f"memory of the friction '{model.friction}' (sliding state used)",
                          root_mean_square(context.fit.torque - torque))


def _friction(context: ExportContext, q: ca.SX, speeds: ca.SX, load: ca.SX) -> ca.SX:
    """Return the friction of the actuators by the formula of the friction model, (m, 1)."""
    model = context.model
    family, positions = get_friction(model.friction), ca.DM(model.arm.transmission) @ q

    def columns(speed: Any, load: Any, position: Any, shape: Array) -> Any:
        """Return the columns of friction for one actuator."""
        state = family.sliding_state(speed) if family.has_state else None
        return family.columns(FrictionInput(speed, position, load, state), shape)

    torques = []
    for e, owner in enumerate(model.arm.drives.owners):
        function = trace_formula(partial(columns, shape=model.friction_shape[e]), 3)
        torques.append(ca.dot(function(speeds[e], load[owner], positions[e]),
                              ca.DM(model.friction_parameters[e])))
    return ca.vertcat(*torques)


def _smoothed(friction: ca.SX, speeds: ca.SX, v: ca.SX, width: ca.SX) -> ca.SX:
    """
    Return friction f(speeds) at velocities v, smooth in v and without its jump at zero.

    With m = sqrt(v^2 + width^2), it is (1 + v/m) / 2 f(m) + (1 - v/m) / 2 f(-m): for Coulomb and
    viscous friction and an offset Fc v/m + Fv v + F0.
    """
    m = ca.sqrt(v * v + width * width)
    forward = 0.5 * (1.0 + v / m)
    return (forward * ca.substitute(friction, speeds, m)
            + (1.0 - forward) * ca.substitute(friction, speeds, -m))


def _fitted_friction(context: ExportContext, v: ca.SX) -> tuple[ca.SX, tuple[Loss, ...]]:
    """Return fitted Coulomb, viscous and constant friction at the joints, and its losses."""
    fit = context.fit
    losses = context.losses(
        f"friction '{context.model.friction}', approximated by Coulomb, viscous and constant "
        f'friction', root_mean_square(fit.torque - fit.fitted - fit.offset))
    return ca.DM(fit.coulomb) * ca.sign(v) + ca.DM(fit.viscous) * v + ca.DM(fit.offset), losses


def _residual(context: ExportContext, q: ca.SX, v: ca.SX) -> ca.SX:
    """Return the residual part of the joint torques, (n, 1)."""
    names, torques = context.model.arm.joint_names, ca.SX.zeros(context.model.arm.n)
    for j in map(names.index, context.model.residual):
        torques[j] = trace_formula(context.model.residual[names[j]].torque, 2)(q[j], v[j])
    return torques


def _balancers(context: ExportContext, q: ca.SX) -> ca.SX:
    """Return the joint torques of springs and counterbalances, (n, 1)."""
    arm, torques = context.model.arm, ca.SX.zeros(context.model.arm.n)
    for balancer, strength in zip(arm.balancers, context.model.balancers):
        j = arm.joint_names.index(balancer.joint)
        try:
            torques[j] += float(strength) * trace_formula(balancer.column, 1)(q[j])
        except NotTraceableError as error:
            raise ExportError(f"the balancer '{balancer.name}' cannot be written as generated "
                              f'code: {error}') from error
    return torques


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
