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
"""Friction models by name: sums of registered terms, and short names for common sums."""

from __future__ import annotations

from collections.abc import Sequence

from robot_identification.dynamics.friction.asymmetric import Asymmetric, SUFFIX
from robot_identification.dynamics.friction.atan import Atan
from robot_identification.dynamics.friction.bompos import Bompos
from robot_identification.dynamics.friction.coulomb import Coulomb, SmoothCoulomb
from robot_identification.dynamics.friction.cube_root import CubeRoot
from robot_identification.dynamics.friction.friction import FrictionModel
from robot_identification.dynamics.friction.load import Load, LoadLiteral
from robot_identification.dynamics.friction.offset import Offset
from robot_identification.dynamics.friction.position import Position
from robot_identification.dynamics.friction.sech_tanh import SechTanh
from robot_identification.dynamics.friction.slip import Slip
from robot_identification.dynamics.friction.stribeck import Stribeck
from robot_identification.dynamics.friction.term import FrictionTerm
from robot_identification.dynamics.friction.viscous import Viscous
from robot_identification.errors import ConfigurationError, UnknownNameError
from robot_identification.registry import Registry

FRICTION_TERMS: Registry[FrictionTerm] = Registry('friction term', {
    term.name: term for term in (
        Coulomb(), SmoothCoulomb(), Viscous(), Offset(), Atan(), Load(), Slip(), Position(),
        CubeRoot(), Stribeck(), SechTanh(), Bompos(), LoadLiteral())})
"""Terms by name; a new term is one file and one entry here."""

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
"""Names that mean a sum when they stand alone."""


def get_friction(name: str) -> FrictionModel:
    """
    Return the friction model of that name.

    Parameters
    ----------
    name
        A sum of terms, as in 'coulomb + viscous + atan + offset', or a short name for one; with
        '_asymmetric' appended, the parameters of a term or of a short name's terms differ between
        the directions of motion. Joints with a sum of their own follow after semicolons:
        'coulomb + viscous; elbow, wrist: coulomb + viscous + load'.

    Raises
    ------
    UnknownNameError
        There is no such term; the text lists those that exist.
    ConfigurationError
        A sum that is empty, or in which one term contains another.

    """
    default: list[FrictionTerm] | None = None
    chosen: dict[str, list[FrictionTerm]] = {}
    for part in str(name).split(';'):
        elements, colon, text = part.rpartition(':')
        terms = _sum(text.strip(), name)
        if colon:
            for element in elements.split(','):
                if element.strip() in chosen:
                    raise ConfigurationError(f"the friction '{name}' names the joint "
                                             f"'{element.strip()}' twice")
                chosen[element.strip()] = terms
        elif default is None:
            default = terms
        else:
            raise ConfigurationError(f"the friction '{name}' has two sums for the same joints; "
                                     f"write 'SUM; joint: SUM'")
    every = {term.key: term for terms in [default or [], *chosen.values()] for term in terms}
    return FrictionModel(name, list(every.values()),
                         {element: [term.key for term in terms]
                          for element, terms in chosen.items()},
                         [term.key for term in default or []])


def friction_name(elements: Sequence[str], sums: Sequence[Sequence[str]]) -> str:
    """
    Return the name of a friction model whose terms were chosen joint by joint.

    Parameters
    ----------
    elements
        Names of the m joints and coupled drives.
    sums
        For each of them the names of its terms.

    """
    texts = [' + '.join(terms) for terms in sums]
    short = {long: name for name, long in SHORT_NAMES.items()}
    common = max(texts, key=texts.count)
    groups: dict[str, list[str]] = {}
    for element, text in zip(elements, texts):
        if text != common:
            groups.setdefault(text, []).append(element)
    named = [f'{", ".join(members)}: {text}' for text, members in groups.items()]
    return '; '.join([short.get(common, common), *named])


def _sum(text: str, name: str) -> list[FrictionTerm]:
    """Return the terms of 'a + b + c', or of a short name."""
    directions = text.endswith(SUFFIX) and text.removesuffix(SUFFIX) in SHORT_NAMES
    if text in SHORT_NAMES or directions:
        terms = [FRICTION_TERMS[word] for word in
                 SHORT_NAMES[text.removesuffix(SUFFIX)].split(' + ')]
        return [Asymmetric(t) for t in terms if not t.constant] if directions else terms
    words = [word.strip() for word in text.split('+')]
    terms = [_term(word, name) for word in words]
    keys = [term.key for term in terms]
    for term in terms:
        doubled = [other.key for other in terms if other is not term and term.excludes(other)]
        if doubled or keys.count(term.key) > 1:
            raise ConfigurationError(
                f"in the friction '{name}' the terms '{term.key}' and "
                f"'{(doubled or [term.key])[0]}' say the same; leave one of them out")
    return terms


def _term(word: str, name: str) -> FrictionTerm:
    plain = word.removesuffix(SUFFIX)
    if plain not in FRICTION_TERMS or (plain != word and FRICTION_TERMS[plain].constant):
        raise UnknownNameError('friction model', word or name,
                               list(dict.fromkeys([*SHORT_NAMES, *FRICTION_TERMS])))
    term = FRICTION_TERMS[plain]
    return term if plain == word else Asymmetric(term)


FRICTION_MODELS: dict[str, FrictionModel] = {name: get_friction(name) for name in SHORT_NAMES}
"""Models that have a short name."""
