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
"""A MATLAB file with arrays over the joints."""

from __future__ import annotations

from collections.abc import Iterable
import io

import numpy as np
from robot_identification.dynamics import get_friction
from robot_identification.dynamics.inertial import INERTIAL_NAMES
from robot_identification.export.bodies import moving_links
from robot_identification.export.target import ExportContext, Exported
from scipy.io import savemat


def export_mat(context: ExportContext) -> Exported:
    """Return a MATLAB file with one struct `robot`, whose `readme` explains its fields."""
    model, bodies = context.model, moving_links(context.model)
    arm, friction = model.arm, get_friction(model.friction)
    robot = {
        'readme': "SI units. torque = rigid bodies + transmission' * (rotor_inertia .* "
                  '(transmission * a) + friction); parent: 0 is the base; placement(:,:,j): '
                  'joint frame in the frame before at q = 0; inertia(:,:,j): about the centre '
                  'of mass; coulomb, viscous: fit of simple friction, with what it leaves in '
                  'fit_error (rms).',
        'name': context.name, 'joint_names': _cells(arm.joint_names),
        'link_names': _cells([body.link for body in bodies]),
        'parent': np.array([[body.parent + 1] for body in bodies], dtype=float),
        'prismatic': np.array([[body.slides] for body in bodies]),
        'placement': np.stack([body.placement for body in bodies], axis=2),
        'axis': np.stack([body.axis for body in bodies]),
        'lower': _column(arm.limits.lower), 'upper': _column(arm.limits.upper),
        'velocity': _column(arm.limits.velocity), 'effort': _column(arm.limits.torque),
        'gravity': np.array(arm.gravity)[None], 'mass': _column([b.mass for b in bodies]),
        'centre_of_mass': np.stack([body.centre for body in bodies]),
        'inertia': np.stack([body.inertia for body in bodies], axis=2),
        'inertial_parameters': np.array(model.inertial),
        'inertial_names': _cells(INERTIAL_NAMES),
        'transmission': np.array(arm.transmission),
        'rotor_inertia': _column(model.rotor_inertia), 'delay': _column(model.delay),
        'delay_of': model.delay_of,
        'friction_model': model.friction, 'friction_formula': friction.formula,
        'friction_names': _cells(friction.parameters),
        'friction_parameters': np.array(model.friction_parameters),
        'friction_shape_names': _cells(friction.nonlinear),
        'friction_shape': np.array(model.friction_shape),
        'coulomb': _column(context.fit.coulomb), 'viscous': _column(context.fit.viscous),
        'fit_error': _column(context.fit.left())}
    stream = io.BytesIO()
    savemat(stream, {'robot': robot}, do_compression=True)
    return Exported({f'{context.name}.mat': stream.getvalue()}, context.balancer_losses())


def _column(values: object) -> np.ndarray:
    return np.array(values, dtype=float).reshape(-1, 1)


def _cells(names: Iterable[str]) -> np.ndarray:
    cells = list(names)
    out = np.empty((len(cells), 1), dtype=object)
    out[:, 0] = cells
    return out
