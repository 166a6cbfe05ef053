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
"""YAML that a stranger wrote: one loader, hardened, for every file and option."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import math
from pathlib import Path
import re
from typing import Any

from robot_identification.errors import RobotIdentificationError
from robot_identification.files import read_text
import yaml

Error = type[RobotIdentificationError]
Check = Callable[[Any, str], None]
DEPTH = 40    # levels of nesting; our own files have 6
NODES = 2_000_000    # values, those behind aliases counted every time; a model has thousands
SHOWN = 60    # characters of a wrong value in a sentence
_LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)


class _Loader(_LOADER):    # type: ignore[valid-type,misc]
    """YAML 1.1 without dates: they are text, and 2001-99-99 is no reason to fail."""

    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers
                if tag != 'tag:yaml.org,2002:timestamp']
        for first, resolvers in _LOADER.yaml_implicit_resolvers.items()}
    # numbers that people write and YAML 1.1 takes for text: 1e3, 1.5e3

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return a mapping; a key that is given twice is an error, not the last one's value."""
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value != '<<':
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"the key '{key.value}' is given twice", key.start_mark)
                seen.add(key.value)
        content: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return content


_Loader.add_implicit_resolver(
    'tag:yaml.org,2002:float', re.compile(r'^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+$'),
    list('-+.0123456789'))


def read_yaml(path: str | Path, what: str, error: Error) -> Any:
    """
    Return the content of a YAML file.

    Parameters
    ----------
    path
        The file.
    what
        How to call it in a sentence: 'robot YAML'.
    error
        Class of the error to raise.

    Raises
    ------
    RobotIdentificationError
        An error of the class `error`: as `files.read_text` and `parse_yaml`.

    """
    return parse_yaml(read_text(path, what, error), f"the {what} '{path}'", error)


def parse_yaml(text: str, place: str, error: Error) -> Any:
    """
    Return the content of YAML text.

    Depth and size are looked at before anything is built: the parser of libyaml recurses, and
    aliases grow without bound. Tags are refused, for no file here needs one.

    Parameters
    ----------
    text
        The YAML.
    place
        How to call it in a sentence: "the robot YAML 'x'".
    error
        Class of the error to raise.

    Raises
    ------
    RobotIdentificationError
        An error of the class `error`.

    """
    try:
        _look(text)
        return yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, ValueError, OverflowError, IndexError, KeyError) as reason:
        mark = getattr(reason, 'problem_mark', None)
        line = f', line {mark.line + 1}' if mark is not None else ''
        problem = getattr(reason, 'problem', None) or str(reason) or type(reason).__name__
        raise error(f'{place}{line} cannot be read: {shown(problem, 300)}') from reason


def _look(text: str) -> None:
    """Refuse what nests too deep, grows through aliases, or has tags."""
    counts = [0]
    anchors: dict[str | None, int] = {}
    open_anchors: list[str | None] = [None]
    for event in yaml.parse(text, Loader=_LOADER):
        tag = getattr(event, 'tag', None)
        if tag is not None and not (isinstance(event, yaml.ScalarEvent) and tag == '!'):
            raise yaml.YAMLError(f"it has the tag '{shown(tag)}'; tags are not read")
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in anchors:
                raise yaml.YAMLError(f"the alias '*{shown(event.anchor)}' is not defined before, "
                                     'or contains itself')
            counts[-1] += anchors[event.anchor]
        elif isinstance(event, yaml.ScalarEvent):
            counts[-1] += 1
            if event.anchor:
                anchors[event.anchor] = 1
        elif isinstance(event, yaml.CollectionStartEvent):
            counts.append(1)
            open_anchors.append(event.anchor)
            anchors.pop(event.anchor, None)
        elif isinstance(event, yaml.CollectionEndEvent):
            count, anchor = counts.pop(), open_anchors.pop()
            counts[-1] += count
            if anchor:
                anchors[anchor] = count
        if len(counts) > DEPTH:
            raise yaml.YAMLError(f'it is nested more than {DEPTH} levels deep')
        if counts[-1] > NODES:
            raise yaml.YAMLError(f'it has more than {NODES} values, those behind aliases counted')


def shown(value: Any, most: int = SHOWN) -> str:
    """Return a wrong value as it is shown in a sentence: not longer than a line."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= most else f'{text[:most]}...'


class Schema:
    """
    What a mapping of a file must hold, with the types of its values.

    Parameters
    ----------
    error
        Class of the errors that its checks raise.

    """

    def __init__(self, error: Error) -> None:
        self.error = error

    def number(self, value: Any, place: str) -> None:
        """Refuse what is no number; it may be infinite or not known (NaN)."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(f'{place} must be a number, not {shown(value)!r}')
        if isinstance(value, int) and value.bit_length() > 63:
            raise self.error(f'{place} must be a number, not one of so many digits')

    def finite(self, value: Any, place: str) -> None:
        """Refuse what is no finite number."""
        self.number(value, place)
        if not math.isfinite(value):
            raise self.error(f'{place} must be a finite number, not {value}')

    def integer(self, value: Any, place: str) -> None:
        """Refuse what is no whole number of at most 63 bits."""
        if isinstance(value, bool) or not isinstance(value, int) or value.bit_length() > 63:
            raise self.error(f'{place} must be a whole number, not {shown(value)!r}')

    def text(self, value: Any, place: str) -> None:
        """Refuse what is no text."""
        if not isinstance(value, str):
            raise self.error(f'{place} must be text, not {shown(value)!r}')

    def flag(self, value: Any, place: str) -> None:
        """Refuse what is not true or false."""
        if not isinstance(value, bool):
            raise self.error(f'{place} must be true or false, not {shown(value)!r}')

    def maybe(self, check: Check) -> Check:
        """Return a check of what may also be missing (null)."""
        return lambda value, place: None if value is None else check(value, place)

    def items(self, check: Check, count: int | None = None) -> Check:
        """Return a check of a list, of `count` items, each of which passes `check`."""
        def listed(value: Any, place: str) -> None:
            if not isinstance(value, list) or count not in (None, len(value)):
                number = '' if count is None else f'{count} '
                raise self.error(f'{place} must be a list of {number}values, not '
                                 f'{shown(value)!r}')
            for i, item in enumerate(value):
                check(item, f'{place}[{i}]')
        return listed

    def named(self, check: Check) -> Check:
        """Return a check of a mapping from names, each value of which passes `check`."""
        def mapping(value: Any, place: str) -> None:
            if not isinstance(value, Mapping):
                raise self.error(f'{place} must be a mapping, not {shown(value)!r}')
            for key, item in value.items():
                self.text(key, f'the key {shown(key)!r} of {place}')
                check(item, f'{place}, {shown(key)}')
        return mapping

    def record(self, required: Mapping[str, Check],
               optional: Mapping[str, Check] | None = None) -> Check:
        """Return a check of a mapping with known keys; others pass unseen."""
        def mapping(value: Any, place: str) -> None:
            if not isinstance(value, Mapping):
                keys = f' with the keys {", ".join(required)}' if required else ''
                raise self.error(f'{place} must be a mapping{keys}, not {shown(value)!r}')
            for key, check in {**required, **(optional or {})}.items():
                if key in value:
                    check(value[key], f'{place}, {key}')
                elif key in required:
                    raise self.error(f"{place} lacks the key '{key}'")
        return mapping
