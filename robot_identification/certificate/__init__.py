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
"""What is proven about a motion for all times: each constraint beside its proof."""

from robot_identification.certificate.certificate import (
    certify,
    constraints_of,
    prove,
    scene_for,
)
from robot_identification.certificate.claim import Certificate, Claim
from robot_identification.certificate.clearance import Clearance
from robot_identification.certificate.clearance_proof import prove_clearance, ProvenClearance
from robot_identification.certificate.constraint import Constraint
from robot_identification.certificate.geometry import has_collision_geometry
from robot_identification.certificate.joint_limits import JointLimits, Peaks, prove_peaks
from robot_identification.certificate.nominal_torque import nominal_inertial, nominal_notes
from robot_identification.certificate.requirements import (
    GUESSED_DENSITY,
    Payload,
    Requirements,
    SAFE,
    Workspace,
)
from robot_identification.certificate.state_constraint import StateConstraint
from robot_identification.certificate.torque import PowerLimit, TorqueLimits
from robot_identification.certificate.torque_proof import prove_torque, torque_jets
from robot_identification.certificate.workspace import prove_workspace, WorkspaceLimits

__all__ = [
    'GUESSED_DENSITY', 'SAFE', 'Certificate', 'Claim', 'Clearance', 'Constraint', 'JointLimits',
    'Payload', 'Peaks', 'PowerLimit', 'ProvenClearance', 'Requirements', 'StateConstraint',
    'TorqueLimits', 'Workspace', 'WorkspaceLimits', 'certify', 'constraints_of',
    'has_collision_geometry', 'nominal_inertial', 'nominal_notes', 'prove', 'prove_clearance',
    'prove_peaks', 'prove_torque', 'prove_workspace', 'scene_for', 'torque_jets']
