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
"""Targets by name, and the export itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from robot_identification.arm import Arm
from robot_identification.dynamics import IdentifiedModel
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.errors import (
    ArmError,
    ConfigurationError,
    ExportError,
    UnknownNameError,
)
from robot_identification.export.c_code import CTarget
from robot_identification.export.drake import DrakeTarget
from robot_identification.export.fmu import FmuTarget
from robot_identification.export.friction_fit import fit_friction
from robot_identification.export.joint_tables import IsaacTarget, Ros2ControlTarget
from robot_identification.export.json_file import JsonTarget
from robot_identification.export.mat_file import MatTarget
from robot_identification.export.mjcf import MjcfTarget
from robot_identification.export.numpy_code import PythonTarget
from robot_identification.export.sdf import SdfTarget
from robot_identification.export.target import (
    Exported,
    ExportOptions,
    Loss,
    Source,
    Target,
)
from robot_identification.export.urdf import UrdfTarget
from robot_identification.export.working_states import working_states
from robot_identification.files import check_outputs, FileKind, written_whole

TARGETS: dict[str, Target] = {target.name: target for target in (
    UrdfTarget(), MjcfTarget(), SdfTarget(), DrakeTarget(), IsaacTarget(), CTarget(),
    PythonTarget(), FmuTarget(), JsonTarget(), MatTarget(), Ros2ControlTarget())}
EXPORTED = FileKind('an export of a model', '[gG]enerated by robot_identification|Identified by '
                    r'robot_identification|robot_identification/export|<robot[\s>]|\AMATLAB 5\.0|'
                    r'\APK\x03\x04')
SAME_PLACE = 1e-4
"""Differences of joint frames that rounded URDFs have [m, rad]."""


def export_model(model: IdentifiedModel, target: str,
                 options: ExportOptions | None = None) -> Exported:
    """
    Return a model in another format, with what the format does not carry.

    Parameters
    ----------
    model
        The identified model.
    target
        Name in `TARGETS`.
    options
        What is wanted.

    Raises
    ------
    UnknownNameError
        There is no such target.
    ExportError
        With `strict`, the target does not carry all of the model; or the URDF that was given is
        another robot's.
    ModelFileError
        The model's inertias cannot be carried by any file.

    """
    options = options or ExportOptions()
    if target not in TARGETS:
        raise UnknownNameError('export target', target, TARGETS)
    if options.urdf is not None:
        model = replace(model, arm=_into(model.arm, options.urdf))
    states = working_states(model)
    torque = model.torque(states.q, states.v, states.a)
    source = Source(model, options, states, fit_friction(model, states),
                    np.sqrt(np.mean(torque ** 2, axis=0)))
    exported = TARGETS[target].export(source)
    if options.strict and exported.losses:
        raise ExportError(
            f"'{target}' does not carry all of the model: {_worst(exported.losses)}. Without "
            f'--strict it is exported with these errors; json carries everything')
    return exported


def save_export(exported: Exported, output: str | Path,
                inputs: Iterable[str | Path] = (), *, force: bool = False) -> tuple[Path, ...]:
    """
    Write the files of an export, each whole or not at all.

    Parameters
    ----------
    exported
        What to write.
    output
        A folder; or, when it ends like the main file, that file, with the others beside it.
    inputs
        Files that must not be replaced.
    force
        Replace files that no export wrote.

    Returns
    -------
    tuple
        The files, the main one first.

    Raises
    ------
    ConfigurationError
        A file cannot be written, is one of the inputs, or is there and of another kind.

    """
    target = Path(output)
    names = list(exported.files)
    folder, paths = target, [target / name for name in names]
    if target.suffix and target.suffix == Path(names[0]).suffix and not target.is_dir():
        folder, paths = target.parent, [target, *(target.parent / name for name in names[1:])]
    if folder.exists() and not folder.is_dir():
        raise ConfigurationError(f"'{folder}' is a file; name a folder for the export")
    check_outputs([(path, EXPORTED) for path in paths], [Path(path) for path in inputs],
                  force=force)
    for path, content in zip(paths, exported.files.values()):
        data = content if isinstance(content, bytes) else content.encode('utf-8')
        with written_whole(path) as temporary:
            temporary.write_bytes(data)
    return tuple(paths)


def _worst(losses: Sequence[Loss]) -> str:
    """Return each thing that is lost once, at the joint where it weighs most."""
    worst: dict[str, Loss] = {}
    for loss in losses:
        if loss.what not in worst or loss.relative > worst[loss.what].relative:
            worst[loss.what] = loss
    return '; '.join(f'{loss} ({sum(other.what == what for other in losses)} joints, this one '
                     f'most)' for what, loss in worst.items())


def _into(arm: Arm, urdf: str) -> Arm:
    """Return the arm with another URDF of the same robot."""
    try:
        other = Arm.from_urdf(urdf, locked=arm.locked, gravity=arm.gravity)
    except ArmError as error:
        raise ExportError(f"the URDF given cannot be that of '{arm.name}': {error}") from error
    difference = _difference(arm, other)
    if difference:
        raise ExportError(f"the URDF given is not that of the model's arm '{arm.name}': "
                          f'{difference}')
    return replace(arm, urdf=other.urdf, folded_urdf=other.folded_urdf, model=other.model)


def _difference(arm: Arm, other: Arm) -> str:
    """Return in which way two arms are different robots; nothing when they are not."""
    if arm.joint_names != other.joint_names:
        return (f'it moves {", ".join(other.joint_names)}, the model '
                f'{", ".join(arm.joint_names)}')
    ours, theirs = Kinematics.of(arm), Kinematics.of(other)
    for j, joint in enumerate(arm.joint_names):
        if ours.parents[j] != theirs.parents[j] or ours.prismatic[j] != theirs.prismatic[j]:
            return f"its joint '{joint}' is of another kind or on another link"
        if (np.abs(ours.rotations[j] - theirs.rotations[j]).max() > SAME_PLACE
                or np.abs(ours.translations[j] - theirs.translations[j]).max() > SAME_PLACE
                or np.abs(ours.axes[j] - theirs.axes[j]).max() > SAME_PLACE):
            return f"its joint '{joint}' is at another place or turns about another axis"
    return ''
