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
"""Methods of the benchmark: an estimator with a friction model, and which of its models count."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
import hashlib
import inspect
from itertools import product
from typing import Any

from robot_identification.dynamics import get_friction
from robot_identification.errors import RobotIdentificationError
from robot_identification.estimation import Estimator, ESTIMATORS
from robot_identification.estimation.estimator import AUTO
from robot_identification.estimation.model_fit import ModelOptions

FREE, CONSISTENT = 'free', 'consistent'
FRICTIONS = ('coulomb_viscous', 'stribeck')
"""Friction models of the benchmark, unless others are named."""
BOTH = (CONSISTENT, FREE)
MODELS: dict[str, tuple[tuple[str, ...], str]] = {
    'wls': (BOTH, 'gautier2001 wensing2018'), 'ols': (BOTH, 'atkeson1986'),
    'wls_entropic': ((CONSISTENT,), 'lee2020'),
    'mle': ((FREE,), 'wu2012'), 'ridge': ((CONSISTENT,), 'lee2020'),
    'tls': ((FREE,), 'gautier1994'), 'huber': ((CONSISTENT,), 'huber1964'),
    'kalman': ((FREE,), 'zhang2018'), 'srukf': ((FREE,), 'vandermerwe2001 leboutet2021'),
    'extended_kalman': ((FREE,), 'zhang2018'),
    'exponential_forgetting': ((FREE,), 'zhang2018'),
    'exponential_forgetting_nonlinear': ((FREE,), 'zhang2018'),
    'gradient_descent': ((FREE,), 'zhang2018'), 'ga': ((FREE,), 'zhang2018'),
    'particle_filter': ((FREE,), 'zhang2018 liu2001'), 'abc': ((FREE,), 'ding2015'),
    'ics': ((FREE,), 'ding2018'), 'elpidso': ((FREE,), 'yan2015'),
    'cma_es': ((FREE,), 'auger2005'),
    'idim_iv': (BOTH, 'janot2014'), 'didim': (BOTH, 'gautier2013'),
    'cloe': (BOTH, 'janot2014cloe'), 'clie': (BOTH, 'leboutet2021')}
"""Models that count and sources (keys of sources.bib) by estimator. The free estimate of a method
is what its paper publishes; the consistent model is what `identify` returns."""
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    'wls_entropic': ('wls', {'distance': 'entropic'})}
"""Estimators with other options of the consistent model, by name."""
QUICK = ('wls', 'ols', 'huber', 'kalman', 'ga')
"""Estimators of a quick run."""


@dataclass(frozen=True)
class BenchmarkMethod:
    """
    An estimator with a friction model.

    Parameters
    ----------
    estimator
        Name or place of the estimator, 'auto', or a key in `VARIANTS`.
    friction
        Name of the friction model.

    """

    estimator: str
    friction: str

    @property
    def options(self) -> ModelOptions:
        """The options of the fit, without settings that depend on the case."""
        estimator, consistency = VARIANTS.get(self.estimator, (self.estimator, {}))
        return ModelOptions(estimator, self.friction, consistency=consistency)

    @property
    def kind(self) -> type[Estimator]:
        """
        The class of the estimator.

        Raises
        ------
        ConfigurationError
            There is no such estimator, or it cannot be loaded.

        """
        return ESTIMATORS.find(self.options.estimator)

    @property
    def models(self) -> tuple[str, ...]:
        """The models whose errors count: 'free', 'consistent' or both."""
        return MODELS.get(self.estimator, (BOTH, ''))[0]

    @property
    def title(self) -> str:
        """Name of the estimator, without the file or module that contains it."""
        return self.estimator.rpartition(':')[2]

    @property
    def sources(self) -> tuple[str, ...]:
        """Keys of the method's sources in sources.bib."""
        return tuple(MODELS.get(self.estimator, ((), ''))[1].split())

    @property
    def digest(self) -> str:
        """A digest of the source code of an estimator from outside the package, for `--resume`."""
        if ':' not in self.estimator:
            return ''
        try:
            return hashlib.sha256(inspect.getsource(self.kind).encode()).hexdigest()[:12]
        except (OSError, TypeError, RobotIdentificationError):
            return ''


def list_methods(estimators: Sequence[str], frictions: Sequence[str]) -> Iterator[BenchmarkMethod]:
    """
    Yield the methods of estimators and friction models, without those that cannot work together.

    A linear estimator is not combined with friction that has nonlinear parameters, an estimator
    for nonlinear parameters of a recursive filter not with linear friction, and one that simulates
    the closed loop not with friction that drops from a breakaway torque.

    Parameters
    ----------
    estimators, frictions
        Names or places.

    """
    for estimator, friction in product(dict.fromkeys(estimators), dict.fromkeys(frictions)):
        method, model = BenchmarkMethod(estimator, friction), get_friction(friction)
        nonlinear = bool(model.nonlinear)
        try:
            able = estimator == AUTO or (
                (method.kind.info.nonlinear or not nonlinear)
                and not (method.kind.info.control_law and model.abrupt))
        except RobotIdentificationError:
            able = True    # the error is reported where the method runs
        online_pair = estimator in ('extended_kalman', 'exponential_forgetting_nonlinear')
        if able and (nonlinear or not online_pair):
            yield method
