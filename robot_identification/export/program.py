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
"""The functions of generated code: what they compute, as graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import get_friction
from robot_identification.dynamics.structure import element_loads
from robot_identification.errors import ExportError
from robot_identification.export.chain import chain_of
from robot_identification.export.expressions import Graph, Node, total
from robot_identification.export.friction_fit import element_friction
from robot_identification.export.printing import Function
from robot_identification.export.rigid_body import RigidBody, solve
from robot_identification.export.target import Loss, Source
from robot_identification.export.tracing import NotTraceableError, symbols, traced


@dataclass(frozen=True, eq=False)
class Program:
    """
    Everything that generated code computes.

    Parameters
    ----------
    name
        Prefix of its functions.
    joint_names
        In the order of all arguments.
    functions
        Without the one that iterates: forward dynamics where friction needs the load.
    needs_load, needs_position
        Whether friction depends on the transmitted torque, and on where the joint stands.
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


def build_program(source: Source) -> Program:
    """
    Write the model's dynamics out as expressions.

    Friction follows the formula of its own columns; where it remembers, it counts as slipped. A
    formula that cannot be followed is replaced by the fit of Coulomb, viscous and constant
    friction. Either with its error.

    Parameters
    ----------
    source
        Model and options.

    """
    model, n = source.model, source.model.arm.n
    graph = Graph()
    q, v, a, load, tau = (graph.inputs(name, n) for name in ('q', 'v', 'a', 'load', 'tau'))
    chain = chain_of(model.arm, model.inertial)
    body = RigidBody(graph, chain, chain.grouped(), q)
    family = get_friction(model.friction)
    losses = _memory_losses(source)
    try:
        friction = _friction(source, graph, q, v, load)
        needs_load, needs_position = family.needs_load, family.needs_position
    except NotTraceableError:
        friction = _fitted_friction(source, graph, v)
        needs_load = needs_position = False
        left = source.fit.torque - (source.fit.coulomb * np.sign(source.fit.speeds)
                                    + source.fit.viscous * source.fit.speeds + source.fit.offset)
        losses = source.losses(
            f"friction '{model.friction}', Coulomb, viscous and constant friction in its place",
            np.sqrt(np.mean(left ** 2, axis=0)))
    springs = _balancers(source, graph, q)
    rigid = _sum(body.torque(v, a), springs)
    rotors = model.arm.transmission.T @ (model.rotor_inertia[:, None] * model.arm.transmission)
    inertia = [_weighted(row, a) for row in rotors]
    own = friction if not needs_load else _friction(source, graph, q, v, rigid)
    still = [graph.constant(0.0)] * n
    bias = _sum(body.torque(v, still), springs)
    matrix = body.mass_matrix()
    whole = [[matrix[i][j] + float(rotors[i, j]) for j in range(n)] for i in range(n)]
    push = [t - b - (graph.constant(0.0) if needs_load else f)
            for t, b, f in zip(tau, bias, friction)]
    states = tuple((name, n) for name in ('q', 'v', 'a'))
    free = 'unloaded_forward_dynamics' if needs_load else 'forward_dynamics'
    functions = [
        Function('inverse_dynamics', 'Joint torques: rigid bodies, rotors and friction.', graph,
                 states, ('tau', n), [r + m + f for r, m, f in zip(rigid, inertia, own)]),
        Function('rigid_body_torque', 'Joint torques of the rigid bodies and springs: the load '
                 'of friction.', graph, states, ('tau', n), rigid),
        Function('gravity', 'Joint torques that hold the arm at rest, without friction.', graph,
                 (('q', n),), ('tau', n), _sum(body.torque(still, still), springs)),
        Function('bias', 'Coriolis, centrifugal and gravity torques, without friction.', graph,
                 states[:2], ('tau', n), bias),
        Function('mass_matrix', 'Joint-space inertia with rotors, row by row.', graph,
                 (('q', n),), ('mass', n * n), [x for row in whole for x in row]),
        Function('friction', 'Friction at the joints; load is rigid_body_torque.', graph,
                 ((('q', n),) * needs_position + (('v', n), ('load', n))), ('tau', n), friction),
        Function(free, 'Accelerations under joint torques tau'
                 + (', friction taken out of tau before.' if needs_load else '.'), graph,
                 (*states[:2], ('tau', n)), ('a', n), solve(whole, push))]
    if source.options.regressor:
        rows = RigidBody(graph, chain, chain.inertial, q).regressor(v, a)
        functions.append(Function(
            'regressor', 'rigid_body_torque without springs = regressor times the inertial '
            'parameters of all links: m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each, '
            'about its joint frame; row by row.', graph, states, ('regressor', 10 * n * n),
            [x for row in rows for x in row]))
    return Program(source.name, model.arm.joint_names, tuple(functions), needs_load,
                   needs_position, losses)


def _memory_losses(source: Source) -> tuple[Loss, ...]:
    """Return what is lost because friction with memory counts as slipped."""
    model, states = source.model, source.states
    slipped = model.structure.slipped(states.v)
    if slipped is None:
        return ()
    torque = element_friction(model, states, slipped) @ model.arm.transmission
    return source.losses(f"memory of the friction '{model.friction}', which counts as slipped",
                         np.sqrt(np.mean((source.fit.torque - torque) ** 2, axis=0)))


def _friction(source: Source, graph: Graph, q: Sequence[Node], v: Sequence[Node],
              load: Sequence[Node]) -> list[Node]:
    """Return the friction at the joints, each element's formula followed."""
    model = source.model
    family = get_friction(model.friction)

    def formula(shape: Array) -> Callable[..., Any]:
        def columns(speed: Any, load: Any, place: Any) -> Any:
            state = family.slipped(speed) if family.has_state else None
            return family.columns(speed, shape, load, place, state)
        return columns

    loads = element_loads(model.arm, symbols(graph, np.array(load, dtype=object)[None]))
    torques = []
    for e, row in enumerate(model.arm.transmission):
        shape, parameters = model.friction_shape[e], model.friction_parameters[e]
        own = loads[e]
        columns = traced(formula(shape), graph, _weighted(row, v),
                         own.ravel()[0] if own is not None and family.needs_load else None,
                         _weighted(row, q))
        torques.append(_weighted(parameters, columns))
    return [_weighted(column, torques) for column in model.arm.transmission.T]


def _balancers(source: Source, graph: Graph, q: Sequence[Node]) -> list[Node]:
    """Return what springs and counterbalances ask of the drives."""
    arm, torques = source.model.arm, [graph.constant(0.0)] * source.model.arm.n
    for balancer, strength in zip(arm.balancers, source.model.balancers):
        j = arm.joint_names.index(balancer.joint)
        try:
            column, = traced(balancer.column, graph, q[j])
        except NotTraceableError as error:
            raise ExportError(f"the balancer '{balancer.name}' has no form in generated code: "
                              f'{error}') from error
        torques[j] = torques[j] + float(strength) * column
    return torques


def _sum(x: Sequence[Node], y: Sequence[Node]) -> list[Node]:
    return [a + b for a, b in zip(x, y)]


def _fitted_friction(source: Source, graph: Graph, v: Sequence[Node]) -> list[Node]:
    fit = source.fit
    return [float(c) * graph.call('sign', x) + float(d) * x + float(o)
            for c, d, o, x in zip(fit.coulomb, fit.viscous, fit.offset, v)]


def _weighted(weights: Sequence[float], nodes: Sequence[Node]) -> Node:
    return total([float(w) * x for w, x in zip(weights, nodes)])
