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
"""Errors of the suite: one base class, and sentences that say what to do."""

from __future__ import annotations

from collections.abc import Iterable


class RobotIdentificationError(Exception):
    """
    Base of every error that the suite raises on purpose.

    The text is one sentence for a user; `str(error)` is what the command line prints.
    """


class ConfigurationError(RobotIdentificationError):
    """A robot YAML, an option or a combination of options cannot be used."""


class ArmError(ConfigurationError):
    """A URDF, or what is asked of it, does not make an arm that can be identified."""


class UnknownNameError(ConfigurationError):
    """
    A name that is not in its family; the text lists what there is.

    Parameters
    ----------
    kind
        What was looked for, for instance 'estimator'.
    name
        The requested name.
    known
        The names that exist.

    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind, self.name, self.known = kind, name, tuple(sorted(known))
        super().__init__(f"there is no {kind} '{name}'; there is: {', '.join(self.known)}")


class RecordingError(RobotIdentificationError):
    """A recording cannot be read, or says what cannot be."""


class SignalError(RobotIdentificationError):
    """A signal cannot be processed: too short, constant, too coarse."""


class ExcitationError(RobotIdentificationError):
    """An excitation cannot be designed, read or executed within the limits."""


class ExecutionError(ExcitationError):
    """
    A motion must not begin, or was ended.

    Parameters
    ----------
    reason
        Its name for machines, for instance 'tracking_error'.
    text
        The sentence for a user.

    """

    def __init__(self, reason: str, text: str) -> None:
        self.reason = reason
        super().__init__(text)


class SimulationError(RobotIdentificationError):
    """The simulated arm cannot be built or does not behave."""


class EstimationError(RobotIdentificationError):
    """The data do not determine the requested quantity."""


class ModelFileError(RobotIdentificationError):
    """A model file is not readable or of another schema."""


class ExportError(RobotIdentificationError):
    """A model cannot be exported as requested."""


class MissingDependencyError(RobotIdentificationError):
    """
    An optional package is not installed.

    Parameters
    ----------
    package
        Name to give to pip.
    purpose
        What needs it.
    extra
        The extra of this package that installs it, where there is one.

    """

    def __init__(self, package: str, purpose: str, extra: str = '') -> None:
        self.package = package
        command = f"'robot_identification[{extra}]'" if extra else package
        super().__init__(
            f"{purpose} needs the Python package '{package}': pip install {command}")
