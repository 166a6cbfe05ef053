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
"""Parametrised periodic motions, and the limits within which they are designed."""

from robot_identification.excitation.motion.fourier import (
    FourierSeries,
    ModifiedFourierSeries,
    RestingFourierSeries,
)
from robot_identification.excitation.motion.limits import motion_limits
from robot_identification.excitation.motion.quintic_spline import QuinticSpline
from robot_identification.excitation.motion.series import Series, Trajectory
from robot_identification.registry import Registry

TRAJECTORIES: Registry[type[Series]] = Registry('excitation trajectory', {
    series.name: series for series in (FourierSeries, RestingFourierSeries,
                                       ModifiedFourierSeries, QuinticSpline)})


def get_series(kind: str, period: float, harmonics: int) -> Series:
    """
    Return a parametrisation by name.

    Parameters
    ----------
    kind
        'ffs', 'ffs_rest', 'mfs' or 'spline'.
    period
        Period of the motion [s].
    harmonics
        Number of harmonics; for a spline, half the number of its free B-splines.

    Raises
    ------
    UnknownNameError
        No such parametrisation.

    """
    return TRAJECTORIES.find(kind)(period, harmonics)


__all__ = ['Series', 'TRAJECTORIES', 'Trajectory', 'motion_limits']
