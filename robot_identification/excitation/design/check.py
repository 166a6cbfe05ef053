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
"""An excitation's limits, proven again for an arm that is about to execute it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from robot_identification.arm import Arm, Limits
from robot_identification.errors import ExcitationError
from robot_identification.excitation.certificate.certificate import certify
from robot_identification.excitation.certificate.claim import Certificate
from robot_identification.excitation.design.excitation import Excitation


def check_certificate(
    excitation: Excitation, arm: Arm, progress: Callable[[str], None] | None = None,
) -> Certificate:
    """
    Prove an excitation's limits again, for an arm that is about to execute it.

    Besides what the file asks for, the arm's own limits are checked: they may have been lowered
    since the design. What the excitation's certificate claims must be among what is proven now.

    Parameters
    ----------
    excitation
        From a file.
    arm
        The arm that is to move.
    progress
        Called with what is being done.

    Returns
    -------
    Certificate
        The new proof; it holds.

    Raises
    ------
    ExcitationError
        Another arm or URDF, a limit that does not hold, a claim that is not asked for any more, or
        geometry that is missing here.

    """
    tell = progress or (lambda text: None)
    excitation.check_arm(arm)
    tell('joint limits')
    own = certify(arm, excitation.trajectory, _lowest(excitation.limits, arm.limits))
    _refuse(own)
    tell('torque and collisions')
    certificate = certify(arm, excitation.trajectory, excitation.limits, excitation.margin,
                          excitation.requirements)
    _refuse(certificate)
    proven = [(claim.quantity, claim.limit) for claim in certificate.claims]
    for claim in excitation.certificate.claims:
        if (claim.quantity, claim.limit) not in proven:
            raise ExcitationError(
                f'the excitation must not be executed: its certificate claims a {claim.quantity} '
                f'within {claim.limit:g} {claim.unit}, which its requirements do not ask for; '
                f'design it again')
    return certificate


def _refuse(certificate: Certificate) -> None:
    if not certificate.holds:
        raise ExcitationError('the excitation must not be executed: '
                              + '; '.join(str(claim) for claim in certificate.broken))


def _lowest(first: Limits, second: Limits) -> Limits:
    return Limits(
        np.maximum(first.lower, second.lower), np.minimum(first.upper, second.upper),
        *(np.minimum(getattr(first, name), getattr(second, name))
          for name in ('velocity', 'acceleration', 'jerk', 'torque')))
