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
"""The searches by name."""

from __future__ import annotations

from typing import Any

from robot_identification.papers.searches.search import Search
from robot_identification.registry import Registry

SEARCHES: Registry[type[Search]] = Registry('search', {})


def get_search(name: str, **settings: Any) -> Search:
    """
    Return the search of that name.

    Parameters
    ----------
    name
        Key in `SEARCHES`.
    settings
        Settings of the search, for instance size=25.

    Raises
    ------
    UnknownNameError
        There is none; the text lists those that exist.
    ConfigurationError
        It has no such setting, or a value is of the wrong kind.

    """
    built: Search = SEARCHES.build(name, settings)
    return built
