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
External torques, contact detection, feed-forward and recursive identification, without ROS.

Importing this package registers the recursive estimators in `ESTIMATORS`.
"""

from robot_identification.estimation import ESTIMATORS
from robot_identification.online.feedforward import (
    Compensation,
    CompensationLimits,
    trajectory_efforts,
)
from robot_identification.online.load_change import LoadChange
from robot_identification.online.momentum import MomentumObserver
from robot_identification.online.online_estimator import (
    OnlineEstimator,
    OnlineUpdate,
    start_online,
)
from robot_identification.online.recursive_estimators import RECURSIVE
from robot_identification.online.residuals import (
    calibrate_residuals,
    ContactObserver,
    detectable_force,
    ExternalTorque,
    tool_wrench,
    Wrench,
)

for _estimator in RECURSIVE.values():
    ESTIMATORS.register(_estimator.name, _estimator)

__all__ = ['Compensation', 'CompensationLimits', 'ContactObserver', 'ExternalTorque',
           'LoadChange', 'MomentumObserver', 'OnlineEstimator', 'OnlineUpdate', 'RECURSIVE',
           'Wrench', 'calibrate_residuals', 'detectable_force', 'start_online', 'tool_wrench',
           'trajectory_efforts']
