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
"""Export of identified models to the formats of simulators, controllers and code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from robot_identification.dynamics import IdentifiedModel
from robot_identification.errors import ExportError
from robot_identification.export.friction_fit import FrictionFit, root_mean_square, WorkingStates
from robot_identification.export.identified_urdf import export_urdf
from robot_identification.export.json_file import export_json
from robot_identification.export.mjcf import export_mjcf
from robot_identification.export.replace_urdf import replace_urdf
from robot_identification.export.ros2_control import export_ros2_control
from robot_identification.export.sdf import export_sdf
from robot_identification.export.target import (
    ExportContext,
    Exported,
    ExportOptions,
    Loss,
)
from robot_identification.registry import Registry

TARGETS: Registry[Callable[[ExportContext], Exported]] = Registry('export target', {
    'urdf': export_urdf, 'mjcf': export_mjcf, 'sdf': export_sdf, 'json': export_json,
    'ros2_control': export_ros2_control})
"""Export targets by name: functions from an `ExportContext` to the files of the export."""


def export_model(model: IdentifiedModel, target: str,
                 options: ExportOptions | None = None) -> Exported:
    """
    Return a model in another format, with the parts of the model that it cannot express.

    Parameters
    ----------
    model
        The identified model.
    target
        Name of the format, a key of `TARGETS`.
    options
        Options of the export; None for the defaults.

    Returns
    -------
    Exported
        The content of the files by name, which `save_export` writes, and the losses: each part of
        the model that the format cannot express, with the rms torque error [N m or N].

    Raises
    ------
    UnknownNameError
        No target has this name.
    ExportError
        The target cannot express all of the model and `strict` is set, or `options.urdf`
        describes another robot.
    MissingDependencyError
        The target is generated code, and CasADi is not installed.
    ModelFileError
        An inertia of the model is not physical.

    Examples
    --------
    >>> exported = export_model(load_model('result/model.yaml'), 'c')    # doctest: +SKIP
    >>> save_export(exported, 'my_controller')    # doctest: +SKIP

    """
    options = options or ExportOptions()
    convert = TARGETS.find(target)
    if options.urdf is not None:
        model = replace(model, arm=replace_urdf(model.arm, options.urdf))
    states = WorkingStates.of(model)
    torque = root_mean_square(model.torque(states.q, states.v, states.a))
    context = ExportContext(model, options, states, FrictionFit.of(model, states), torque)
    exported = convert(context)
    for option in ('regressor', 'derivatives', 'float32'):
        if getattr(options, option) and option not in exported.code_options:
            raise ExportError(f"the target '{target}' has no option {option}; it is for generated "
                              f'code (c)')
    if not exported.residual:
        lost = root_mean_square(model.residual_torque(states.q, states.v))
        exported = replace(exported, losses=(*exported.losses, *context.losses(
            'residual part (Gaussian process)', lost)))
    if options.strict and exported.losses:
        raise ExportError(
            f"'{target}' cannot express the full model: {_describe_worst(exported.losses)}. "
            f'Without --strict it is exported with these errors; json expresses the full model')
    return exported


def _describe_worst(losses: Sequence[Loss]) -> str:
    """Describe each kind of loss at the joint where its relative error is largest."""
    kinds = {loss.what: [other for other in losses if other.what == loss.what] for loss in losses}
    return '; '.join(f'{max(kind, key=lambda loss: loss.relative)} ({len(kind)} joints, '
                     f'worst here)' for kind in kinds.values())
