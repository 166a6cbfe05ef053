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
"""Friction models by name: sums of terms, and short names of common sums."""

from collections.abc import Sequence
from itertools import combinations

from robot_identification.dynamics.friction.asymmetric import Asymmetric, SUFFIX
from robot_identification.dynamics.friction.atan import Atan
from robot_identification.dynamics.friction.basic import Coulomb, Offset, SmoothCoulomb, Viscous
from robot_identification.dynamics.friction.bompos import Bompos
from robot_identification.dynamics.friction.cube_root import CubeRoot
from robot_identification.dynamics.friction.friction import FrictionModel
from robot_identification.dynamics.friction.load import Load, LoadLiteral
from robot_identification.dynamics.friction.position import Position
from robot_identification.dynamics.friction.sech_tanh import SechTanh
from robot_identification.dynamics.friction.slip import Slip
from robot_identification.dynamics.friction.stribeck import Stribeck
from robot_identification.dynamics.friction.term import FrictionTerm
from robot_identification.errors import ConfigurationError, UnknownNameError
from robot_identification.registry import Registry

FRICTION_TERMS: Registry[FrictionTerm] = Registry('friction term', {
    term.name: term for term in (
        Coulomb(), SmoothCoulomb(), Viscous(), Offset(), Atan(), Load(), Slip(), Position(),
        CubeRoot(), Stribeck(), SechTanh(), Bompos(), LoadLiteral())})
"""Friction terms by name; to add a term, write its class and add an instance here."""

SHORT_NAMES = {
    'coulomb_viscous': 'coulomb + viscous + offset',
    'smooth_coulomb': 'smooth + viscous + offset',
    'atan': 'coulomb + viscous + atan + offset',
    'stribeck': 'stribeck + viscous + offset',
    'bompos': 'bompos + viscous + offset',
    'sech_tanh': 'sech_tanh + viscous + offset',
    'cube_root': 'coulomb + viscous + cube_root + offset',
    'load_dependent': 'coulomb + viscous + load + offset',
    'load_dependent_literal': 'coulomb + viscous + load_literal + offset'}
"""Short names of sums of terms."""
OTHERS = 'the other joints'
"""Stands for all joints without a sum of their own."""


def get_friction(name: str) -> FrictionModel:
    """
    Return the friction model with a name.

    Parameters
    ----------
    name
        A sum of terms, for instance 'coulomb + viscous + atan + offset', or a short name from
        `SHORT_NAMES`. '_asymmetric' appended to a term or a short name gives each direction of
        motion its own parameters. Other terms for single joints follow after a semicolon:
        'coulomb + viscous; elbow, wrist: coulomb + viscous + load'.

    Raises
    ------
    UnknownNameError
        There is no such term; the message lists the known terms.
    ConfigurationError
        A sum is empty, or one of its terms contains another.

    Examples
    --------
    >>> get_friction('coulomb + viscous').parameters
    ('coulomb', 'viscous')

    """
    chosen: dict[str, list[FrictionTerm]] = {}
    for group in str(name).split(';'):
        actuators, colon, text = group.rpartition(':')
        for actuator in map(str.strip, actuators.split(',') if colon else [OTHERS]):
            if actuator in chosen:
                raise ConfigurationError(
                    f"the friction '{name}' has two sums for {actuator}; write 'SUM; joint: SUM'")
            chosen[actuator] = _sum(text.strip(), name)
    default = chosen.pop(OTHERS, [])
    every = {term.key: term for terms in [default, *chosen.values()] for term in terms}
    return FrictionModel(name, list(every.values()),
                         {actuator: [term.key for term in terms]
                          for actuator, terms in chosen.items()},
                         [term.key for term in default])


def friction_name(actuators: Sequence[str], sums: Sequence[Sequence[str]]) -> str:
    """
    Return the name of a friction model with separate terms for each joint.

    Parameters
    ----------
    actuators
        Names of the m joints and coupled drives.
    sums
        Names of the terms of each joint or drive.

    """
    texts = [' + '.join(terms) for terms in sums]
    short = {long: name for name, long in SHORT_NAMES.items()}
    common = max(texts, key=texts.count)
    named = [f'{", ".join(a for a, own in zip(actuators, texts) if own == text)}: {text}'
             for text in dict.fromkeys(texts) if text != common]
    return '; '.join([short.get(common, common), *named])


def _sum(text: str, name: str) -> list[FrictionTerm]:
    """Return the terms of a sum such as 'a + b + c', or of a short name."""
    short = text.removesuffix(SUFFIX)
    if short in SHORT_NAMES:
        terms = [FRICTION_TERMS[term] for term in SHORT_NAMES[short].split(' + ')]
        return terms if text == short else [Asymmetric(t) for t in terms if not t.constant]
    terms = [_term(word.strip(), name) for word in text.split('+')]
    for term, other in combinations(terms, 2):
        if term.excludes(other):
            raise ConfigurationError(f"in the friction '{name}' the terms '{term.key}' and "
                                     f"'{other.key}' overlap; remove one of them")
    return terms


def _term(word: str, name: str) -> FrictionTerm:
    """Return the term with a name, which may end with '_asymmetric'; `name` is the full sum."""
    plain = word.removesuffix(SUFFIX)
    if plain in SHORT_NAMES and plain not in FRICTION_TERMS:
        raise ConfigurationError(f"'{plain}' is the short name of a sum and cannot be a term "
                                 f"in '{name}'; write its terms: '{SHORT_NAMES[plain]}'")
    if plain not in FRICTION_TERMS or (plain != word and FRICTION_TERMS[plain].constant):
        raise UnknownNameError('friction model', word or name, {*SHORT_NAMES, *FRICTION_TERMS})
    return FRICTION_TERMS[word] if plain == word else Asymmetric(FRICTION_TERMS[plain])


FRICTION_MODELS: dict[str, FrictionModel] = {name: get_friction(name) for name in SHORT_NAMES}
"""Friction models that have a short name, by this name."""
