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
"""
Methods and studies of five papers, for comparison.

Importing this package registers its methods by name. The core does not import it;
`robot_identification.registry.load_extensions` imports it if the core does not know a name.
"""

from robot_identification.estimation import ESTIMATORS
from robot_identification.estimation.model_fit import RESIDUALS
from robot_identification.papers import differentiation as _differentiation  # noqa: F401
from robot_identification.papers.gaussian_process import fit_gaussian_process
from robot_identification.papers.genetic_design import DESIGN_NAMES
from robot_identification.papers.idim import Didim, InstrumentalVariables
from robot_identification.papers.output_error import ClosedLoopInputError, ClosedLoopOutputError
from robot_identification.papers.searches import SEARCHES
from robot_identification.papers.unscented import SquareRootUnscented

for _estimator in (InstrumentalVariables, Didim, ClosedLoopOutputError, ClosedLoopInputError,
                   SquareRootUnscented):
    ESTIMATORS.register(_estimator.name, _estimator)
RESIDUALS.register('gp', fit_gaussian_process)

__all__ = ['DESIGN_NAMES', 'SEARCHES']
