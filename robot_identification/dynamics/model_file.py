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
"""Reading of identified models from YAML files."""

from collections.abc import Mapping, Sequence
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification import output_folder
from robot_identification.arm import robot_file
from robot_identification.arrays import Array
from robot_identification.dynamics.friction import get_friction
from robot_identification.dynamics.identified_model import (
    DELAYED,
    DIGEST,
    digest,
    IdentifiedModel,
    SCHEMA,
)
from robot_identification.dynamics.joint_residual import JointResidual
from robot_identification.errors import ConfigurationError, ModelFileError
from robot_identification.yaml_file import read_typed, read_yaml

READABLE = (SCHEMA, 'robot_identification/model/1')
"""Schemas that can be read; version 1 has neither nonlinear friction parameters nor delays."""


@dataclasses.dataclass(frozen=True)
class _MotionTrace:
    """Positions of the training motion [rad or m] at a sampling rate [Hz]."""

    rate: float
    q: tuple[tuple[float, ...], ...]


CONTENT: dict[str, Any] = {
    'arm': Mapping[str, Any],
    'inertial': {str: tuple[float, ...]},
    'rotor_inertia': {str: float},
    'friction': {'model': str, 'parameters': {str: tuple[float, ...]},
                 'shape': Mapping[str, tuple[float, ...]] | None},
    'information': {'training_motion': tuple[_MotionTrace, ...] | None,
                    'servos': Mapping[str, Mapping[str, float]] | None,
                    'torque_band': Mapping[str, Mapping[str, float]] | None,
                    'uncertain_directions': tuple[tuple[float, ...], ...] | None},
    'delay': Mapping[str, float] | None,
    'delay_of': str | None,
    'residual': Mapping[str, Mapping[str, float | tuple[float, ...]]] | None,
    'balancers': Mapping[str, float] | None}
"""Keys of a model file and the types of their values."""


MODEL_FILE = 'model.yaml'
"""Name of the model file in a folder of results."""


def find_model(path: str | Path) -> Path:
    """Return the path of a model file; of that in the folder if `path` is a folder of results."""
    path = Path(path)
    return path / MODEL_FILE if path.is_dir() else path


def load_model(path: str | Path) -> IdentifiedModel:
    """
    Load an identified model from a YAML file and return it.

    Parameters
    ----------
    path
        A file that `IdentifiedModel.save` wrote, or a folder with the results of `identify`.

    Raises
    ------
    ModelFileError
        The file is missing or damaged, has another schema, was changed after writing, or is of
        another run than the results beside it.

    Examples
    --------
    >>> model = load_model('result/model.yaml')    # doctest: +SKIP
    >>> tau = model.torque(q, v, a)    # (N, n) [N m or N]    # doctest: +SKIP

    """
    path = find_model(path)
    with output_folder.reading(path.parent):
        content = read_yaml(path, 'model file', ModelFileError)
        mixed = output_folder.is_of_other_run(path)
    schema = content.get('schema') if isinstance(content, dict) else None
    if schema not in READABLE:
        raise ModelFileError(f"'{path}' is not a model file of the schema {SCHEMA} "
                             f'(its schema: {schema})')
    read_typed(CONTENT, content, f"the model file '{path}'", ModelFileError)
    try:
        digest_verified = content.get(DIGEST) is not None
        if digest_verified and content[DIGEST] != digest(content):
            raise ModelFileError(
                f"the model file '{path}' was changed after it was written: its digest does not "
                f'match its content. Identify again; or, if the change is intended, delete the '
                f"line '{DIGEST}: ...'; the model then counts as changed by hand")
        if digest_verified and mixed:
            raise ModelFileError(
                f"the model file '{path}' is of another run than the results beside it; identify "
                'again, or move it to a folder of its own')
        arm = robot_file.arm_from_mapping(content['arm'], folder=path.parent,
                                          label=f"the model '{path}'")
        friction, joints, actuators = content['friction'], arm.joint_names, arm.actuator_names
        model = IdentifiedModel(
            arm=arm, inertial=_ordered(content['inertial'], joints),
            rotor_inertia=_ordered(content['rotor_inertia'], actuators),
            friction=friction['model'], friction_parameters=_parameters(friction, actuators),
            friction_shape=_ordered(friction.get('shape'), actuators),
            delay=_ordered(content.get('delay'), joints),
            balancers=_ordered(content['balancers'] if arm.balancers else None,
                               [balancer.label for balancer in arm.balancers]),
            information=_read_information(content['information'], arm.n),
            delay_of=content.get('delay_of', DELAYED[0]),
            residual=_read_residual(content.get('residual') or {}, joints),
            source=str(path), digest_verified=digest_verified)
        for name in ('band', 'uncertain_directions'):    # both are read later if they are needed
            getattr(model, name)
        return model
    except (KeyError, TypeError, ValueError, ConfigurationError) as error:
        raise ModelFileError(f"the model file '{path}' is damaged: {error}") from error


def _read_information(content: Mapping[str, Any], n: int) -> dict[str, Any]:
    """Return the further content of a file for n joints, or raise ValueError."""
    given = {key: value for key, value in content.items() if value is not None}
    motion = given.get('training_motion', ())
    if any(len(row) != n or not 0 < trace['rate'] < 1e6
           for trace in motion for row in trace['q']) or any(
            'kp' not in servo for servo in given.get('servos', {}).values()):
        raise ValueError('its training motion or servos do not fit the arm')
    return given


def _read_residual(content: Mapping[str, Any],
                   joints: Sequence[str]) -> dict[str, JointResidual]:
    """Return the residual parts of a file by joint, or raise ValueError."""
    if unknown := [joint for joint in content if joint not in joints]:
        raise ValueError(f"the residual names '{unknown[0]}', which is not a joint")
    return {joint: JointResidual.from_dict(part) for joint, part in content.items()}


def _parameters(content: Mapping[str, Any], actuators: Sequence[str]) -> Array:
    """Return the friction parameters of a file in the order of the friction model, (m, k)."""
    values = _ordered(content['parameters'], actuators)
    names = get_friction(content['model']).parameters
    written = list(content.get('names', names))
    if sorted(written) != sorted(names):
        raise ValueError(f"the friction '{content['model']}' has the parameters "
                         f"{', '.join(names)}, but the file has {', '.join(written)}")
    return values[:, [written.index(name) for name in names]]


def _ordered(values: Mapping[str, Any] | None, names: Sequence[str]) -> Any:
    """Return values in the order of names; raise ValueError if one is not finite."""
    if values is None:    # the file has none
        return None
    array = np.array([values[name] for name in names], dtype=float)
    if not np.all(np.isfinite(array)):
        raise ValueError('a parameter is not a finite number')
    return array
