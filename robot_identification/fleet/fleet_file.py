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
"""The fleet file, which lists robots, their recordings and identification settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
import json
from pathlib import Path
import re
from typing import Any

from robot_identification.dynamics import get_friction
from robot_identification.errors import ConfigurationError
from robot_identification.fleet.recording_sources import expand
from robot_identification.pipeline import IdentificationOptions
from robot_identification.yaml_file import read_typed, read_yaml

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class RobotTask:
    """
    Inputs of the identification of one robot.

    Parameters
    ----------
    name
        Name of the robot in the fleet and of its results folder.
    robot
        Name of a shipped robot or path of a robot YAML.
    recordings, held_out
        Paths or URLs of the recordings to fit and to validate on, in chronological order.
    settings
        Values of fields of `IdentificationOptions`, by name.

    """

    name: str
    robot: str
    recordings: tuple[str, ...]
    held_out: tuple[str, ...] = ()
    settings: Settings = field(default_factory=dict)

    @property
    def settings_text(self) -> str:
        """The settings as JSON with sorted keys."""
        return json.dumps(dict(self.settings), sort_keys=True)

    @property
    def options(self) -> IdentificationOptions:
        """The settings as `IdentificationOptions`, with defaults for those not stated."""
        return _read_options(self.settings, f"the settings of the robot '{self.name}'")


@dataclass(frozen=True)
class Fleet:
    """The path of a fleet file, and its robots."""

    path: Path
    tasks: tuple[RobotTask, ...]


@dataclass(frozen=True)
class _Entry:
    """Entry of one robot in the fleet file."""

    robot: str
    recordings: str | tuple[str, ...]
    held_out: str | tuple[str, ...] | None = None
    settings: Settings | None = None


@dataclass(frozen=True)
class _FleetFile:
    robots: Mapping[str, _Entry]
    settings: Settings | None = None


def read_fleet(path: str | Path) -> Fleet:
    """
    Read and check a fleet file.

    Parameters
    ----------
    path
        YAML file. Its mapping `robots` has an entry for each robot name, with `robot` (name of a
        shipped robot or path of a robot YAML), `recordings` and `held_out` (paths, glob patterns
        or URLs, in chronological order) and `settings`. A top-level `settings` applies to all
        robots. Paths are relative to the fleet file.

    Returns
    -------
    Fleet
        The path of the file, and the tasks: one for each robot, with paths and settings resolved.

    Raises
    ------
    ConfigurationError
        The file is not valid; the message names the robot and the key.

    Examples
    --------
    >>> fleet = read_fleet('fleet.yaml')
    >>> [task.name for task in fleet.tasks]
    ['cell-01', 'cell-02']

    """
    path = Path(path)
    label = f"the fleet file '{path}'"
    raw = read_yaml(path, 'fleet file', ConfigurationError)
    if isinstance(raw, dict) and isinstance(raw.get('robots'), dict):
        # YAML reads the name 7 as a number
        raw['robots'] = {str(name): entry for name, entry in raw['robots'].items()}
    content: _FleetFile = read_typed(_FleetFile, raw, label, ConfigurationError)
    if not content.robots:
        raise ConfigurationError(f'{label} names no robots; it needs `robots: {{NAME: {{robot: '
                                 f'..., recordings: [...]}}}}`')
    tasks = []
    for name, entry in content.robots.items():
        if not re.fullmatch(r'[A-Za-z0-9_][\w.-]*', name):
            raise ConfigurationError(f"{label}, robot '{name}': the name becomes a folder; use "
                                     'letters, digits, ., - and _')
        recordings = _expand_all(entry.recordings, path.parent)
        if not recordings:
            raise ConfigurationError(f"{label}, robot '{name}' needs `recordings`: paths, "
                                     'patterns or URLs')
        settings = {**(content.settings or {}), **(entry.settings or {})}
        _read_options(settings, f"{label}, robot '{name}', settings")
        is_file = entry.robot.endswith(('.yaml', '.yml'))
        tasks.append(RobotTask(
            name, str(path.parent / entry.robot) if is_file else entry.robot, recordings,
            _expand_all(entry.held_out or (), path.parent), settings))
    return Fleet(path, tuple(tasks))


def _expand_all(sources: str | tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """Return the recordings that match paths, patterns and URLs, without duplicates."""
    sources = (sources,) if isinstance(sources, str) else sources
    return tuple(dict.fromkeys(path for source in sources for path in expand(source, folder)))


def _read_options(settings: Settings, label: str) -> IdentificationOptions:
    """Convert settings to options; an unknown setting, method or friction model is an error."""
    options: IdentificationOptions = read_typed(
        IdentificationOptions, settings, label, ConfigurationError)
    options.method()
    if options.friction is not None:
        get_friction(options.friction)
    return options
