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
"""Settings of an estimator, as words that a person types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from robot_identification.errors import ConfigurationError
from robot_identification.yaml_file import parse_yaml


def read_settings(pairs: Iterable[str]) -> dict[str, Any]:
    """
    Return the settings of an estimator from the command line.

    Parameters
    ----------
    pairs
        NAME=VALUE each; values are YAML.

    Raises
    ------
    ConfigurationError
        An argument is not NAME=VALUE, or a name is given twice.

    """
    settings = {}
    for pair in pairs:
        name, equals, value = pair.partition('=')
        if not equals or not name:
            raise ConfigurationError(f"'{pair}' is not a setting; write NAME=VALUE")
        if name in settings:
            raise ConfigurationError(f"the setting '{name}' is given twice")
        settings[name] = parse_yaml(value, f"the value of '{pair}'", ConfigurationError)
    return settings
