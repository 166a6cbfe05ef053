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
"""Genetic algorithms for the design of excitations, registered as optimisers."""

from __future__ import annotations

from robot_identification.excitation.design.optimisers import OPTIMISERS
from robot_identification.papers.designs.genetic import (
    minimise_by_binary_genetic,
    minimise_by_real_genetic,
)

OPTIMISERS.register('real_genetic', minimise_by_real_genetic)
OPTIMISERS.register('binary_genetic', minimise_by_binary_genetic)

DESIGN_NAMES = ('real_genetic', 'binary_genetic')

__all__ = ['DESIGN_NAMES', 'minimise_by_binary_genetic', 'minimise_by_real_genetic']
