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
"""Export to MATLAB."""

import io

import numpy as np
from robot_identification.dynamics import get_friction
from robot_identification.dynamics.inertial import INERTIAL_NAMES
from robot_identification.export.bodies import MovingLink
from robot_identification.export.target import ExportContext, Exported
from scipy.io import savemat


def export_mat(context: ExportContext) -> Exported:
    """Return a MATLAB file with a struct `robot`, whose field `readme` explains the others."""
    model, links = context.model, MovingLink.of(context.model)
    arm, friction = model.arm, get_friction(model.friction)
    fit = context.fit
    columns = {'delay': model.delay, 'rotor_inertia': model.rotor_inertia, 'coulomb': fit.coulomb,
               'viscous': fit.viscous, 'fit_error': fit.residual(),
               **{name: [getattr(link, name) for link in links]
                  for name in ('lower', 'upper', 'velocity', 'effort', 'mass')}}
    names = {'joint_names': arm.joint_names, 'link_names': [link.link for link in links],
             'inertial_names': INERTIAL_NAMES, 'friction_names': friction.parameters,
             'friction_shape_names': friction.nonlinear}
    robot = {
        'readme': "SI units. torque = rigid bodies + transmission' * (rotor_inertia .* "
                  '(transmission * a) + friction); parent: 0 is the base; placement(:,:,j): '
                  'joint frame in the parent frame at q = 0; inertia(:,:,j): about the centre '
                  'of mass; coulomb, viscous: fit of simple friction, its rms residual is '
                  'fit_error.',
        'name': context.name, 'delay_of': model.delay_of, 'friction_model': model.friction,
        'friction_formula': friction.formula,
        **{name: np.array(texts, dtype=object)[:, None] for name, texts in names.items()},
        **{name: np.array(values, dtype=float)[:, None] for name, values in columns.items()},
        'parent': np.array([[link.parent + 1.0] for link in links]),
        'prismatic': np.array(arm.prismatic)[:, None],
        'axis': np.stack([link.axis for link in links]),
        'centre_of_mass': np.stack([link.centre_of_mass for link in links]),
        'placement': np.stack([link.placement for link in links], axis=2),
        'inertia': np.stack([link.inertia for link in links], axis=2),
        'gravity': np.array(arm.gravity)[None], 'transmission': np.array(arm.transmission),
        'inertial_parameters': np.array(model.inertial),
        'friction_parameters': np.array(model.friction_parameters),
        'friction_shape': np.array(model.friction_shape)}
    stream = io.BytesIO()
    savemat(stream, {'robot': robot}, do_compression=True)
    return Exported({f'{context.name}.mat': stream.getvalue()}, context.balancer_losses())
