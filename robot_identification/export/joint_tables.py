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
"""Joint parameters for simulators and controllers that read them from a table."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.export.identified_urdf import identified_urdf
from robot_identification.export.target import Exported, Source, Target
import yaml

BANDWIDTH = 2.0
"""Natural frequency of the suggested position loops [Hz]: well below what drives do, so that they
are stable with the delays of a computer in the loop; feed-forward does the tracking."""


class IsaacTarget(Target):
    """Inertias in the URDF, actuator fields of Isaac Lab in a YAML file."""

    name = 'isaac'
    summary = 'URDF, and YAML of armature and friction for Isaac Sim and Isaac Lab'

    def export(self, source: Source) -> Exported:
        """Return YAML and URDF."""
        model = source.model
        arm, keep = model.arm, source.options.friction
        diagonal = np.sum(model.rotor_inertia[:, None] * arm.transmission ** 2, axis=0)
        fields = {'armature': _by_joint(source, diagonal)}
        if keep:
            fields |= {'friction': _by_joint(source, source.fit.coulomb),
                       'dynamic_friction': _by_joint(source, source.fit.coulomb),
                       'viscous_friction': _by_joint(source, source.fit.viscous)}
        for name, limits in (('effort_limit_sim', arm.limits.torque),
                             ('velocity_limit_sim', arm.limits.velocity)):
            fields[name] = {joint: float(x) for joint, x in zip(arm.joint_names, limits)
                            if np.isfinite(x)}
        text = ('# Fields of isaaclab.actuators.ImplicitActuatorCfg by joint; efforts in N m or N.\n'
                f"# Friction stands for '{model.friction}', fitted over {source.states.origin}.\n"
                + yaml.safe_dump({'joint_names_expr': list(arm.joint_names), **fields},
                                 sort_keys=False))
        return Exported({f'{source.name}.isaac.yaml': text,
                         f'{source.name}.urdf': identified_urdf(model)},
                        (*source.friction_losses(), *source.rotor_losses(carried=True)))


class Ros2ControlTarget(Target):
    """Gains of a joint_trajectory_controller that commands effort."""

    name = 'ros2_control'
    summary = 'YAML for joint_trajectory_controller with effort commands: gains from the model'

    def export(self, source: Source) -> Exported:
        """Return the YAML."""
        model, states = source.model, source.states
        names = list(model.arm.joint_names)
        step = max(1, len(states.q) // 200)
        masses = model.mass_matrix(states.q[::step])
        inertia = np.mean(np.diagonal(masses, axis1=1, axis2=2), axis=0)
        omega = 2 * np.pi * BANDWIDTH
        gains = {
            name: {'p': float(omega ** 2 * m), 'i': 0.0, 'd': float(2 * omega * m),
                   'ff_velocity_scale': float(source.fit.viscous[j])
                   if source.options.friction else 0.0}
            for j, (name, m) in enumerate(zip(names, inertia))}
        content = {'joint_trajectory_controller': {'ros__parameters': {
            'joints': names, 'command_interfaces': ['effort'],
            'state_interfaces': ['position', 'velocity'], 'gains': gains}}}
        text = (
            f'# Critically damped loops of {BANDWIDTH:g} Hz at the mean inertia over '
            f'{states.origin}; the gains [N m/rad, N m s/rad]\n'
            '# are a start, to be tried at low speed. ff_velocity_scale is the viscous friction.\n'
            '# Everything else of the model reaches this controller as effort of the trajectory '
            '(node feedforward).\n'
            + yaml.safe_dump(content, sort_keys=False))
        whole = model.torque(states.q, states.v, states.a)
        carried = source.fit.viscous * states.v if source.options.friction else 0.0
        losses = source.losses(
            'all but viscous friction, which the trajectory has to bring as effort',
            np.sqrt(np.mean((whole - carried) ** 2, axis=0)))
        return Exported({f'{source.name}_controller.yaml': text}, losses)


def _by_joint(source: Source, values: Array) -> dict[str, float]:
    return {joint: float(x) for joint, x in zip(source.model.arm.joint_names, values)}
