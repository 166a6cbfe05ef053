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
"""The functions of generated code as lists of elementary operations, made by CasADi."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import get_friction
from robot_identification.dynamics.inertial import from_pseudo_inertia, pseudo_inertia
from robot_identification.errors import ExportError
from robot_identification.export.chain import modified_dh_chain, ModifiedDhChain
from robot_identification.export.friction_fit import element_friction
from robot_identification.export.printing import Language
from robot_identification.export.rigid_body import RigidBody
from robot_identification.export.target import ExportContext, Loss
from robot_identification.export.tracing import NotTraceableError, trace_formula

COMMENTS = {
    'inverse_dynamics': 'Joint torques: rigid bodies, rotors and friction.',
    'rigid_body_torque': 'Joint torques of the rigid bodies and springs: the load of friction.',
    'gravity': 'Joint torques that hold the arm at rest, without friction.',
    'bias': 'Coriolis, centrifugal and gravity torques, without friction.',
    'mass_matrix': 'Joint-space inertia with rotors, row by row.',
    'friction': 'Friction at the joints; load is rigid_body_torque.',
    'forward_dynamics': 'Accelerations under joint torques tau.',
    'unloaded_forward_dynamics': 'Accelerations under joint torques tau, friction taken out of '
                                 'tau before.',
    'regressor': 'rigid_body_torque without springs = regressor times the inertial parameters of '
                 'all links: m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each, about its '
                 'joint frame; row by row.'}
OPERATIONS = {getattr(ca, name): name[len('OP_'):] for name in dir(ca) if name.startswith('OP_')}


@dataclass(frozen=True, eq=False)
class Function:
    """
    A function of generated code.

    Parameters
    ----------
    expression
        The function in CasADi; its result is a column, matrices row by row.
    output
        Name of the result.
    shape
        Rows and columns of the result.

    """

    expression: ca.Function
    output: str
    shape: tuple[int, int]

    @property
    def name(self) -> str:
        """Its name, without the arm's."""
        return self.expression.name()

    @property
    def comment(self) -> str:
        """What it computes, for a user."""
        return COMMENTS[self.name]

    @property
    def inputs(self) -> dict[str, int]:
        """Length of each argument by name."""
        return {name: self.expression.size1_in(name) for name in self.expression.name_in()}

    def statements(self, language: Language) -> list[str]:
        """Return the body of the function in a language."""
        function, arguments = self.expression, self.expression.name_in()
        values: dict[int, str] = {}    # by place in CasADi's work vector
        lines: list[str] = []
        results: list[str] = []
        for k in range(function.n_instructions()):
            kind = OPERATIONS[function.instruction_id(k)]
            inputs, outputs = function.instruction_input(k), function.instruction_output(k)
            if kind == 'OUTPUT':
                (lines if language.reuses_names else results).append(
                    language.result.format(self.output, outputs[1], values[inputs[0]]))
            elif kind == 'INPUT':
                values[outputs[0]] = language.argument.format(arguments[inputs[0]], inputs[1])
            elif kind == 'CONST':
                values[outputs[0]] = repr(function.instruction_constant(k))
            else:
                name = f't{outputs[0] if language.reuses_names else len(lines)}'
                lines.append(language.assignment.format(name, language.operations[kind].format(
                    *(values[place] for place in inputs))))
                values[outputs[0]] = name
        return lines + results


@dataclass(frozen=True, eq=False)
class Program:
    """
    All functions of generated code.

    Parameters
    ----------
    name
        Prefix of the functions.
    joint_names
        In the order of all arguments.
    functions
        Without the one that iterates: forward dynamics where friction needs the load.
    needs_load, needs_position
        Whether friction depends on the transmitted torque and on the joint's position.
    losses
        Friction that was approximated.

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
    Return the model's dynamics as functions of elementary operations.

    Friction follows the formula of its own columns; friction with memory is in its sliding state.
    A formula that cannot be traced is replaced by the fit of Coulomb, viscous and constant
    friction. Both are reported as losses with their error.

    Raises
    ------
    ExportError
        The torque of a spring or counterbalance cannot be traced.

    """
    model, n = context.model, context.model.arm.n
    q, v, a, load, tau = (ca.SX.sym(name, n) for name in ('q', 'v', 'a', 'load', 'tau'))
    chain = modified_dh_chain(model.arm, model.inertial)
    body, inertial = RigidBody(chain, q), chain.grouped()
    family = get_friction(model.friction)
    needs_load, needs_position = family.needs_load, family.needs_position
    losses = _memory_losses(context)
    try:
        friction = _friction(context, q, v, load)
    except NotTraceableError:
        needs_load = needs_position = False
        friction, losses = _fitted_friction(context, v)
    springs, still = _balancers(context, q), ca.SX.zeros(n)
    rigid = body.torque(v, a, inertial) + springs
    bias = body.torque(v, still, inertial) + springs
    rotors = ca.DM(model.arm.transmission.T
                   @ (model.rotor_inertia[:, None] * model.arm.transmission))
    mass = body.mass_matrix(inertial) + rotors
    push = tau - bias - (0 if needs_load else friction)
    own = ca.substitute(friction, load, rigid)
    free = 'unloaded_forward_dynamics' if needs_load else 'forward_dynamics'
    functions = [
        _function('inverse_dynamics', {'q': q, 'v': v, 'a': a}, 'tau', own + rigid + rotors @ a),
        _function('rigid_body_torque', {'q': q, 'v': v, 'a': a}, 'tau', rigid),
        _function('gravity', {'q': q}, 'tau', body.torque(still, still, inertial) + springs),
        _function('bias', {'q': q, 'v': v}, 'tau', bias),
        _function('mass_matrix', {'q': q}, 'mass', mass),
        _function('friction', {**({'q': q} if needs_position else {}), 'v': v, 'load': load},
                  'tau', friction),
        _function(free, {'q': q, 'v': v, 'tau': tau}, 'a', _solve(mass, push))]
    if context.options.regressor:
        functions.append(_function('regressor', {'q': q, 'v': v, 'a': a}, 'regressor',
                                   _regressor(chain, body, v, a)))
    return Program(context.name, model.arm.joint_names, tuple(functions), needs_load,
                   needs_position, losses)


def _function(name: str, inputs: dict[str, ca.SX], output: str, values: ca.SX) -> Function:
    rows = ca.cse(ca.densify(ca.vec(values.T)))
    return Function(ca.Function(name, list(inputs.values()), [rows], list(inputs), [output]),
                    output, values.shape)


def _regressor(chain: ModifiedDhChain, body: RigidBody, v: ca.SX, a: ca.SX) -> ca.SX:
    """Return d torque / d parameters, (n, 10 n), for parameters about the arm's joint frames."""
    parameters = ca.SX.sym('parameters', 10, chain.n)
    back = np.linalg.inv(chain.placements)
    inertial = [_parameter_change(back[i]) @ parameters[:, i] for i in range(chain.n)]
    return ca.jacobian(body.torque(v, a, inertial), ca.vec(parameters))


def _parameter_change(placement: Array) -> ca.DM:
    """Return the matrix from inertial parameters in one frame to those in another, (10, 10)."""
    columns = [from_pseudo_inertia(placement @ pseudo_inertia(unit) @ placement.T)
               for unit in np.eye(10)]
    change = np.array(columns).T
    change[np.abs(change) < 1e-15] = 0.0
    return ca.sparsify(ca.DM(change))


def _solve(matrix: ca.SX, right: ca.SX) -> ca.SX:
    """Return x of M x = right for a symmetric positive definite M."""
    return ca.ldl_solve(right, *ca.ldl(matrix))


def _memory_losses(context: ExportContext) -> tuple[Loss, ...]:
    """Return the losses of friction with memory, which is taken in its sliding state."""
    model, states = context.model, context.states
    slipped = model.structure.sliding_state(states.v)
    if slipped is None:
        return ()
    torque = element_friction(model, states, slipped) @ model.arm.transmission
    return context.losses(f"memory of the friction '{model.friction}', which counts as slipped",
                          np.sqrt(np.mean((context.fit.torque - torque) ** 2, axis=0)))


def _friction(context: ExportContext, q: ca.SX, v: ca.SX, load: ca.SX) -> ca.SX:
    """Return the friction at the joints by the formulas of the joints and drives."""
    model = context.model
    family, transmission = get_friction(model.friction), ca.DM(model.arm.transmission)

    def formula(shape: Array) -> Callable[..., Any]:
        def columns(speed: Any, load: Any, position: Any) -> Any:
            state = family.sliding_state(speed) if family.has_state else None
            return family.columns(speed, shape, load, position, state)
        return columns

    speeds, positions = transmission @ v, transmission @ q
    torques = []
    for e, owner in enumerate(model.arm.drives.owners):
        function = trace_formula(formula(model.friction_shape[e]), 3)
        columns = function(speeds[e], load[owner], positions[e])
        torques.append(ca.dot(columns, ca.DM(model.friction_parameters[e])))
    return transmission.T @ ca.vertcat(*torques)


def _fitted_friction(context: ExportContext, v: ca.SX) -> tuple[ca.SX, tuple[Loss, ...]]:
    """Return Coulomb, viscous and constant friction in place of the model's, and its losses."""
    fit = context.fit
    left = fit.torque - (fit.coulomb * np.sign(fit.speeds) + fit.viscous * fit.speeds
                         + fit.offset)
    losses = context.losses(
        f"friction '{context.model.friction}', Coulomb, viscous and constant friction in its "
        f'place', np.sqrt(np.mean(left ** 2, axis=0)))
    return ca.DM(fit.coulomb) * ca.sign(v) + ca.DM(fit.viscous) * v + ca.DM(fit.offset), losses


def _balancers(context: ExportContext, q: ca.SX) -> ca.SX:
    """Return the torques of springs and counterbalances at the joints."""
    arm, torques = context.model.arm, ca.SX.zeros(context.model.arm.n)
    for balancer, strength in zip(arm.balancers, context.model.balancers):
        j = arm.joint_names.index(balancer.joint)
        try:
            torques[j] += float(strength) * trace_formula(balancer.column, 1)(q[j])
        except NotTraceableError as error:
            raise ExportError(f"the balancer '{balancer.name}' has no form in generated code: "
                              f'{error}') from error
    return torques
