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
"""Exceptions of robot_identification, with one base class."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, TYPE_CHECKING


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return " (did you mean 'x'?)" with the most similar known name; '' if none is similar."""
    close = get_close_matches(name, list(known), 1)
    return f" (did you mean '{close[0]}'?)" if close else ''


class ListedAttributes:
    """Base of classes that list their attributes when one is read that does not exist."""

    if not TYPE_CHECKING:    # mypy would accept every name

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError with the public attributes, or that of a failed property."""
            if hasattr(type(self), name):
                return object.__getattribute__(self, name)
            names = [known for known in dir(self) if not known.startswith('_')]
            raise AttributeError(f"{type(self).__name__} has no '{name}'; it has: "
                                 f'{", ".join(names)}{did_you_mean(name, names)}')


class RobotIdentificationError(Exception):
    """
    Base class of all errors about inputs, data and requests.

    The text is one sentence for the user; the command line prints it.
    """


class ConfigurationError(RobotIdentificationError):
    """A robot YAML, an option or a combination of options cannot be used."""


class ArmError(ConfigurationError):
    """A URDF, or the options for it, does not describe an arm that can be identified."""


class UnknownNameError(ConfigurationError):
    """
    A name does not exist; the text lists the existing names.

    Parameters
    ----------
    kind
        Kind of the name, for instance 'estimator'.
    name
        The requested name.
    known
        The names that exist.

    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        super().__init__(f"there is no {kind} '{name}'; choose from: {', '.join(names)}"
                         f'{did_you_mean(name, names)}')


class RecordingError(RobotIdentificationError):
    """A recording cannot be read or has impossible values."""


class SignalError(RobotIdentificationError):
    """A signal cannot be processed, for instance because it is too short or constant."""


class ExcitationError(RobotIdentificationError):
    """An excitation cannot be designed, read or executed within the limits."""


class ExecutionError(ExcitationError):
    """
    A motion was refused or aborted.

    Parameters
    ----------
    reason
        Machine-readable reason, for instance 'tracking_error'.
    text
        The sentence for a user.

    """

    def __init__(self, reason: str, text: str) -> None:
        self.reason = reason
        super().__init__(text)


class SimulationError(RobotIdentificationError):
    """The simulated arm cannot be built, or its simulation fails."""


class EstimationError(RobotIdentificationError):
    """The data do not determine the requested quantity."""


class ModelFileError(RobotIdentificationError):
    """A model file cannot be read or has another schema."""


class ExportError(RobotIdentificationError):
    """A model cannot be exported as requested."""


class MissingDependencyError(RobotIdentificationError):
    """
    An optional package is not installed.

    Parameters
    ----------
    package
        Name of the package for pip.
    purpose
        The feature that needs the package, as the start of the sentence.
    extra
        Extra of robot_identification that installs the package; empty if there is none.

    """

    def __init__(self, package: str, purpose: str, extra: str = '') -> None:
        command = f"'robot_identification[{extra}]'" if extra else package
        super().__init__(
            f"{purpose} needs the Python package '{package}': pip install {command}")


@contextmanager
def explain_missing(package: str, purpose: str, extra: str = '') -> Iterator[None]:
    """
    Raise `MissingDependencyError` if an import in the block fails.

    Parameters
    ----------
    package, purpose, extra
        As for `MissingDependencyError`.

    Examples
    --------
    >>> with explain_missing('casadi', 'generated code', 'codegen'):
    ...     import casadi

    """
    try:
        yield
    except ImportError as error:
        raise MissingDependencyError(package, purpose, extra) from error
