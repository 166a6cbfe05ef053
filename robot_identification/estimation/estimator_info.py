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
"""Requirements and capabilities of the estimators, for the table of methods."""

from __future__ import annotations

from dataclasses import dataclass

FITTED, NEAREST = 'fitted', 'nearest'


@dataclass(frozen=True)
class EstimatorInfo:
    """
    Requirements and capabilities of an estimator: a row of the table of methods.

    Parameters
    ----------
    needs
        Requirements besides recordings of an excited arm; empty if there are none.
    cost
        Cost of one fit, as text.
    nonlinear
        Whether it estimates nonlinear friction parameters.
    online
        Whether it also runs recursively while the arm moves.
    control_law
        Whether it needs the reference and the control law of the recording.
    bounds
        Whether it accepts bounds on the base parameters. Limits of masses, centres of mass and
        extents belong to the consistent model, with every estimator.
    consistent
        Computation of the consistent model: 'fitted' to the same rows under the constraints, or
        'nearest' to the free estimate in the metric of its covariance.
    purpose
        When to use it.

    """

    needs: str = ''
    cost: str = 'one pass over the rows'
    nonlinear: bool = True
    online: bool = False
    control_law: bool = False
    bounds: bool = False
    consistent: str = FITTED
    purpose: str = ''

    def row(self) -> dict[str, str]:
        """Return the cells of the row by column title."""
        yes = {True: 'yes', False: '-'}
        return {
            'friction': 'linear and nonlinear' if self.nonlinear else 'linear',
            'online': yes[self.online], 'control law': yes[self.control_law],
            'bounds': yes[self.bounds], 'consistent model': self.consistent,
            'needs': self.needs or '-', 'cost': self.cost, 'take it when': self.purpose}


AUTO = 'auto'
"""Name that stands for model selection instead of an estimator."""
AUTO_SUMMARY = 'chooses friction model, estimator and delays by cross-validation'
AUTO_FEATURES = EstimatorInfo(
    needs='some seconds of motion for each of five blocks', cost='some hundred fits',
    purpose='the best method is unknown')
