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
"""Certificates of a Dask client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from robot_identification.errors import ConfigurationError, MissingDependencyError


def tls_security(folder: Path | None, scheduler: str | None) -> Any:
    """
    Return Dask's `Security` with the certificates of a folder; None without a folder.

    Parameters
    ----------
    folder
        Folder with `ca.pem`, `cert.pem` and `key.pem`.
    scheduler
        Address of the scheduler.

    Raises
    ------
    ConfigurationError
        A file is missing, or the scheduler is not at tls://.
    MissingDependencyError
        dask.distributed is not installed.

    """
    if folder is None:
        return None
    if not str(scheduler).startswith('tls://'):
        raise ConfigurationError('--tls is for a scheduler with certificates: --scheduler '
                                 'tls://HOST:PORT')
    try:
        from distributed import Security
    except ImportError as error:
        raise MissingDependencyError('distributed', 'a cluster') from error
    files = [folder / name for name in ('ca.pem', 'cert.pem', 'key.pem')]
    for file in files:
        if not file.is_file():
            raise ConfigurationError(f"there is no '{file}'; --tls needs a folder with ca.pem, "
                                     'cert.pem and key.pem')
    authority, certificate, key = map(str, files)
    return Security(require_encryption=True, tls_ca_file=authority, tls_client_cert=certificate,
                    tls_client_key=key)
