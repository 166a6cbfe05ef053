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
"""Export to a C++ package for ROS 2: effort controller and plug-in of inverse_dynamics_solver."""

from collections.abc import Iterable
import json
from pathlib import Path

import numpy as np
from robot_identification.arrays import Array
from robot_identification.code_generation.c_code import c_files, generate_program
from robot_identification.export.ros2_control import position_gains
from robot_identification.export.target import ExportContext, Exported, velocity_limits

TEMPLATES = Path(__file__).with_name('ros2')
UNKNOWN = 1e9
"""Limit that is written if the URDF has none."""
FRICTION_VELOCITY = 0.01
"""Velocity at which friction is smoothed, as a fraction of the velocity limit [-]."""
TOLERANCE, SLIDE_TOLERANCE = 0.2, 0.05
"""Position error at which feed-forward stops [rad] and [m]."""
LOADED_FRICTION = """\
    throw std::logic_error(
            "friction of this model depends on load or position, which this function does not "
            "get; call @name@_smooth_inverse_dynamics");"""
FRICTION = """\
    const Values load = Values::Zero(joint_count);
    Values friction(joint_count);
    @name@_smooth_friction(
      v.data(), load.data(), friction_velocity_.data(), friction.data());
    return friction;"""


def export_ros2(context: ExportContext) -> Exported:
    """Return the files of a C++ package for ROS 2 around the generated C code."""
    program = generate_program(context)
    name, arm = context.name, context.model.arm
    header, code = c_files(program)
    stiffness, damping = position_gains(context)
    controller, joints = f'{name}_effort_controller', arm.joint_names
    values = {
        'friction': LOADED_FRICTION if program.needs_load or program.needs_position else FRICTION,
        'name': name, 'pkg': f'{name}_dynamics', 'n': str(arm.n),
        'friction_velocity': _numbers(FRICTION_VELOCITY * velocity_limits(arm)),
        'effort_limit': _numbers(arm.limits.torque),
        'velocity_limit': _numbers(arm.limits.velocity),
        'position_tolerance': _numbers(np.where(arm.prismatic, SLIDE_TOLERANCE, TOLERANCE)),
        'stiffness': _numbers(stiffness), 'damping': _numbers(damping),
        'joints': _texts(joints), 'joint_list': ', '.join(f'`{joint}`' for joint in joints),
        'command_joints': _texts(f'{controller}/{joint}' for joint in joints),
        'losses': '; '.join(dict.fromkeys(loss.what for loss in program.losses)) or 'none'}
    package = values['pkg']
    files: dict[str, str | bytes] = {f'{package}/package.xml': ''}
    for template in sorted(TEMPLATES.rglob('*.in')):
        path = template.relative_to(TEMPLATES).with_suffix('').as_posix()
        text = template.read_text('utf-8')
        for key, value in values.items():
            text = text.replace(f'@{key}@', value)
        files[f'{package}/{path.replace("include/", f"include/{package}/")}'] = text
    files[f'{package}/include/{package}/{name}.h'] = header
    files[f'{package}/src/{name}.c'] = code
    notes = (f"build the package '{package}' with colcon; its README.md describes modes, "
             f'parameters and what makes the controller stop',)
    return Exported(files, program.losses, notes, residual=True,
                    code_options=('regressor', 'derivatives'))


def _numbers(values: Array) -> str:
    """Return numbers as text, separated by commas; infinite ones are `UNKNOWN`."""
    return ', '.join(repr(float(x)) for x in np.where(np.isfinite(values), values, UNKNOWN))


def _texts(texts: Iterable[str]) -> str:
    """Return quoted texts, separated by commas."""
    return ', '.join(json.dumps(text) for text in texts)
