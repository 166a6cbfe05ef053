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
"""The sections of the report, in their order; a new one is a function and a line here."""

from __future__ import annotations

from collections.abc import Callable

from robot_identification.reporting.sections.checks import checks
from robot_identification.reporting.sections.choice import choice
from robot_identification.reporting.sections.feasibility import feasibility
from robot_identification.reporting.sections.friction import friction
from robot_identification.reporting.sections.joint_errors import joint_errors
from robot_identification.reporting.sections.links import links
from robot_identification.reporting.sections.motion import motion
from robot_identification.reporting.sections.parameters import (
    base_parameters,
    standard_parameters,
)
from robot_identification.reporting.sections.processing import processing
from robot_identification.reporting.sections.provenance import provenance
from robot_identification.reporting.sections.section import Section
from robot_identification.reporting.sections.spectra import spectra
from robot_identification.reporting.sections.torques import torques
from robot_identification.reporting.stored_results import StoredResults

SECTIONS: tuple[Callable[[StoredResults], Section | None], ...] = (
    torques, joint_errors, checks, choice, friction, spectra, base_parameters, links,
    standard_parameters, feasibility, motion, processing, provenance)
"""Each returns a section, or None when these results have nothing for it."""
