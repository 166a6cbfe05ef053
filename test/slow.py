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
"""Parameters of tests of which `make test` runs a part, and `make test-slow` the others."""

from __future__ import annotations

import pytest


def slow(*values):
    """Return the parameters of a case that only `make test-slow` runs."""
    return pytest.param(*values, marks=pytest.mark.slow)


def others_slow(values, *quick):
    """Return parameters of which `make test` runs the named ones, or the first."""
    values = list(values)
    return [value if value in (quick or values[:1]) else slow(value) for value in values]
