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
"""A run of all studies, stored study by study so that it can be resumed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
import json
import os
from pathlib import Path
import platform
from typing import Any

from robot_identification.errors import ConfigurationError
from robot_identification.papers.studies import run_study, STUDIES
from robot_identification.papers.studies.study import Progress
from robot_identification.papers.study_report import write_study
from robot_identification.reporting.contents import software

PACKAGES = ('scipy', 'numba', 'mujoco', 'clarabel', 'cma')


def environment() -> dict[str, str]:
    """Return what the figures of a run may depend on: processor, cores and versions."""
    found = {'processor': _processor(), 'cores': str(os.cpu_count()), **software()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = 'not installed'
    return found


def run_all(directory: Path, quick: bool, seed: int, progress: Progress) -> dict[str, Any]:
    """
    Run the studies that a folder does not hold yet, and return all of them.

    Parameters
    ----------
    directory
        Each study writes into a folder of its name in it, as soon as it has ended.
    quick, seed
        As for `run_study`; stored studies of another choice, or of other versions, are run again.
    progress
        Called with what is done and the part of all of it.

    """
    done = []
    for number, name in enumerate(STUDIES):
        def tell(text: str, part: float, name: str = name, number: int = number) -> None:
            progress(f'{name}: {text}', (number + part) / len(STUDIES))

        done.append(stored_study(name, directory, quick, seed, tell))
    return {'seed': seed, 'quick': quick, 'environment': environment(), 'studies': done}


def stored_study(name: str, directory: Path, quick: bool, seed: int,
                 progress: Progress) -> dict[str, Any]:
    """
    Return a study from a folder of studies; run it where the folder does not hold it.

    Parameters
    ----------
    name
        Key in `STUDIES`.
    directory, quick, seed, progress
        As for `run_all`.

    """
    path, wanted = directory / name / 'study.json', {
        'quick': quick, 'seed': seed, 'environment': environment()}
    stored = _stored(path)
    if stored is None or any(stored.get(key) != value for key, value in wanted.items()):
        result = run_study(name, quick=quick, seed=seed, progress=progress)
        write_study({**result.contents(), **wanted}, path.parent)
        stored = json.loads(path.read_text(encoding='utf-8'))
    return dict(stored)


def _stored(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    try:
        found = json.loads(path.read_text(encoding='utf-8'))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"'{path}' is no stored study; remove it, or give another "
                                 f'folder') from error
    return dict(found) if isinstance(found, Mapping) else None


def _processor() -> str:
    try:
        for line in Path('/proc/cpuinfo').read_text(encoding='utf-8').splitlines():
            if line.startswith('model name'):
                return line.split(':', 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
