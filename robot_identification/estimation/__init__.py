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
"""Estimators of base parameters by name, and the fit of physically consistent parameters."""

from typing import Any

from robot_identification.errors import ConfigurationError
from robot_identification.estimation.auto import select_model
from robot_identification.estimation.consistent import ConsistentEstimate, fit_consistent
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.estimator import Estimator, EstimatorInfo
from robot_identification.estimation.fit import Fit, fit_samples, FitOptions
from robot_identification.estimation.huber import Huber
from robot_identification.estimation.least_squares import (
    MaximumLikelihood,
    OrdinaryLeastSquares,
    WeightedLeastSquares,
)
from robot_identification.estimation.ridge import Ridge
from robot_identification.estimation.tls import TotalLeastSquares
from robot_identification.registry import Registry

ESTIMATORS: Registry[type[Estimator]] = Registry('estimator', {kind.name: kind for kind in (
    WeightedLeastSquares, OrdinaryLeastSquares, MaximumLikelihood, Ridge, TotalLeastSquares,
    Huber)})


def get_estimator(name: str, **settings: Any) -> Estimator:
    """
    Return an estimator by name, with its settings.

    Parameters
    ----------
    name
        Key in `ESTIMATORS`, or the place of a subclass of `Estimator`, 'my_package:Mine' or
        'my_file.py:Mine'.
    settings
        Settings of the estimator, for instance objective='absolute' of a search.

    Raises
    ------
    UnknownNameError
        No estimator has this name; the message lists the existing names.
    ConfigurationError
        The estimator has no such setting, or a value has the wrong type; or the object at this
        place is not an estimator.

    Examples
    --------
    >>> get_estimator('huber', threshold=2.0).name
    'huber'

    """
    estimator = ESTIMATORS.build(name, settings)
    if not isinstance(estimator, Estimator):
        raise ConfigurationError(f"'{name}' is not a subclass of estimation.Estimator")
    return estimator


__all__ = ['ConsistentEstimate', 'ESTIMATORS', 'Estimate', 'Estimator', 'EstimatorInfo', 'Fit',
           'FitOptions', 'fit_consistent',
           'fit_samples', 'get_estimator', 'select_model']
