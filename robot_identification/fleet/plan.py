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
"""The fleet file: which robots, which recordings, and how they are to be identified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
import json
from pathlib import Path
import re
from typing import Any

from robot_identification.dynamics import get_friction
from robot_identification.errors import ConfigurationError, UnknownNameError
from robot_identification.estimation import get_estimator
from robot_identification.estimation.auto import AUTO
from robot_identification.fleet.source import expand
from robot_identification.validation import Thresholds
from robot_identification.yaml_file import read_yaml

SETTINGS = ('estimator', 'friction', 'delay', 'settings', 'thresholds', 'processing',
            'consistency', 'bootstrap')
"""Of `identify`, under the same names."""
ROBOT = ('robot', 'recordings', 'held_out', 'settings')


@dataclass(frozen=True)
class Job:
    """
    One robot's work.

    Parameters
    ----------
    name
        Name of the robot in the fleet; its folder of results.
    robot
        Name of a shipped robot or path of a robot YAML.
    recordings, held_out
        Paths or URLs, in the order of time.
    settings
        Keyword arguments of `identify`; `thresholds` as a mapping.

    """

    name: str
    robot: str
    recordings: tuple[str, ...]
    held_out: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def settings_text(self) -> str:
        """The settings as JSON with sorted keys."""
        return json.dumps(dict(self.settings), sort_keys=True)


@dataclass(frozen=True)
class Fleet:
    """
    A fleet.

    Parameters
    ----------
    path
        The file.
    jobs
        One for each robot.

    """

    path: Path
    jobs: tuple[Job, ...]


def read_fleet(path: str | Path) -> Fleet:
    """
    Read a fleet file.

    Parameters
    ----------
    path
        YAML with `robots`: a name for each, with `robot` (shipped name or robot YAML),
        `recordings` and `held_out` (lists of paths, patterns or URLs, in the order of time) and
        `settings`; and `settings` for all. Paths are relative to the file.

    Raises
    ------
    ConfigurationError
        The file cannot be used; the text names the place.

    """
    path = Path(path)
    content = read_yaml(path, 'fleet file', ConfigurationError)
    place = f"the fleet file '{path}'"
    content = _mapping(content, place, ('robots', 'settings'))
    common = _settings(content.get('settings'), f'{place}, settings')
    robots = content.get('robots')
    if not isinstance(robots, dict) or not robots:
        raise ConfigurationError(f'{place} names no robots; it needs `robots: {{NAME: {{robot: '
                                 f'..., recordings: [...]}}}}`')
    jobs = []
    for name, entry in robots.items():
        where = f"{place}, robot '{name}'"
        if not re.fullmatch(r'[A-Za-z0-9_][\w.-]*', str(name)):
            raise ConfigurationError(f'{where}: the name becomes a folder, and may have letters, '
                                     'digits, ., - and _ alone')
        entry = _mapping(entry, where, ROBOT)
        robot = entry.get('robot')
        if not isinstance(robot, str):
            raise ConfigurationError(f'{where} needs `robot`: the name of a shipped robot or a '
                                     'robot YAML')
        if robot.endswith(('.yaml', '.yml')):
            robot = str(path.parent / robot)
        recordings = _recordings(entry.get('recordings'), path.parent, f'{where}, recordings')
        if not recordings:
            raise ConfigurationError(f'{where} needs `recordings`: paths, patterns or URLs')
        jobs.append(Job(
            str(name), robot, recordings,
            _recordings(entry.get('held_out'), path.parent, f'{where}, held_out'),
            {**common, **_settings(entry.get('settings'), f'{where}, settings')}))
    return Fleet(path, tuple(jobs))


def _mapping(content: Any, place: str, keys: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise ConfigurationError(f'{place} must be a mapping with {", ".join(keys)}')
    for key in content:
        if key not in keys:
            raise UnknownNameError(f'key in {place}', str(key), keys)
    return content


def _recordings(content: Any, folder: Path, place: str) -> tuple[str, ...]:
    sources = [content] if isinstance(content, str) else content or []
    if not isinstance(sources, list) or not all(isinstance(one, str) for one in sources):
        raise ConfigurationError(f'{place} must be a list of paths, patterns or URLs')
    found: dict[str, None] = {}
    for source in sources:
        found |= dict.fromkeys(expand(source, folder))
    return tuple(found)


def _settings(content: Any, place: str) -> dict[str, Any]:
    """Return settings whose names are known, so that a slip costs no night of work."""
    found = {} if content is None else _mapping(content, place, SETTINGS)
    for key in ('settings', 'thresholds', 'processing', 'consistency'):
        if not isinstance(found.get(key, {}), dict):
            raise ConfigurationError(f'{place}: `{key}` must be a mapping')
    if type(found.get('bootstrap', 0)) is not int or found.get('bootstrap', 0) < 0:
        raise ConfigurationError(f'{place}: `bootstrap` must be a number of resamples, or 0')
    try:
        Thresholds(**found.get('thresholds', {}))
        if found.get('estimator', AUTO) != AUTO:
            get_estimator(found['estimator'], **found.get('settings', {}))
    except (TypeError, OverflowError) as error:
        raise ConfigurationError(f'{place}: {error}') from error
    if found.get('friction') is not None:
        get_friction(found['friction'])
    return found
