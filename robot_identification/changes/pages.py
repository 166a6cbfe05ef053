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
"""HTML pages of a payload and of drive gains."""

from __future__ import annotations

from robot_identification.arm import Arm
from robot_identification.changes.drive_gains import GainEstimate
from robot_identification.changes.payload import PayloadEstimate
from robot_identification.dynamics import INERTIAL_NAMES
from robot_identification.dynamics.inertial import INERTIAL_UNITS
from robot_identification.reporting.pages import render_page

PAYLOAD_BADGES = {
    'found': ('FOUND', '\u2713', 'pass'), 'removed': ('REMOVED', '\u2713', 'open'),
    'none': ('NONE', '\u2713', 'pass'), 'undetermined': ('UNDETERMINED', '?', 'open'),
    'changes': ('CHANGES', '\u2260', 'open')}
GAIN_BADGES = {
    'determined': ('DETERMINED', '\u2713', 'pass'), 'weak': ('WEAK', '?', 'open'),
    'undetermined': ('UNDETERMINED', '?', 'open'),
    'implausible': ('IMPLAUSIBLE', '\u2717', 'fail')}


def payload_page(payload: PayloadEstimate, arm: Arm, names: tuple[str, str]) -> str:
    """
    Return the page of a payload as the text of one HTML file.

    Parameters
    ----------
    payload
        The estimate.
    arm
        The arm that carries it.
    names
        Names of the recordings with and without the payload; '' if there is none without.

    """
    rows = list(zip(INERTIAL_NAMES, payload.parameters.tolist(),
                    (payload.covariance.diagonal() ** 0.5).tolist(),
                    payload.undetermined.tolist(), INERTIAL_UNITS))
    return render_page('payload.html', 'robot_identification.changes', payload=payload, arm=arm,
                       badge=PAYLOAD_BADGES[payload.verdict], names=names, rows=rows,
                       mass=payload.intervals()[0].tolist())


def gains_page(result: GainEstimate, arm: Arm, mass: float) -> str:
    """
    Return the page of drive gains as the text of one HTML file.

    Parameters
    ----------
    result
        The gains.
    arm
        The arm.
    mass
        Mass of the known payload [kg].

    """
    rows = list(zip(arm.joint_names, result.gains.tolist(), result.deviations.tolist(),
                    result.weak.tolist(), arm.units('N m/A', 'N/A')))
    return render_page('gains.html', 'robot_identification.changes', result=result, arm=arm,
                       mass=mass, badge=GAIN_BADGES[result.verdict], rows=rows)
