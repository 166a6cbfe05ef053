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
"""
Safe loading of users' YAML files, and conversion of their content to typed values.

Libraries for the conversion were tried (cattrs 26.2, msgspec 0.22). cattrs reads 'false' as True
and 2.7 as 2; msgspec, which ROS's Ubuntu does not package, ignores unknown keys of dataclasses and
accepts infinite numbers. Neither states unit, range, example and the most similar key in its
messages, or completes a mapping from the default of its field. The loader is needed in any case.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, MISSING
from functools import cache
import math
from numbers import Integral, Real
from pathlib import Path
import re
from types import UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints, Literal, Union

import numpy as np
from robot_identification.errors import did_you_mean, RobotIdentificationError
from robot_identification.files import DEPTH, read_text
import yaml

Error = type[RobotIdentificationError]
NODES = 300_000    # largest number of values after expansion of aliases; models have thousands
LARGEST = 1e15    # magnitude of a number, unless infinite ones are allowed: products are finite
SMALLEST = 1 / LARGEST    # of a positive number: its reciprocal is finite
SHOWN = 60    # [characters] of a wrong value that an error message shows
_COMMA = re.compile(r'[-+]?[0-9]+,[0-9]+([eE][-+]?[0-9]+)?')
_DIGITS = re.compile(r'[-+]?[0-9]+([eE][-+]?[0-9]+)?')
_LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)


class _Loader(_LOADER):    # type: ignore[valid-type,misc]
    """Loader of YAML 1.1 that reads dates as text; an invalid date as 2001-99-99 is no error."""

    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers
                if tag != 'tag:yaml.org,2002:timestamp']
        for first, resolvers in _LOADER.yaml_implicit_resolvers.items()}

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return a mapping; reject repeated keys, keys that are no text, and decimal commas."""
        seen, before = set(), ('', '')    # texts of the preceding key and value
        for key, value in node.value:
            problem = ''
            if not isinstance(key, yaml.ScalarNode):
                problem = ('a key must be text, not a list or mapping; put text that begins with '
                           '[ or { in quotes')
            elif key.value != '<<' and key.value in seen:
                problem = f"the key '{key.value}' is given twice"
            elif value.value == '' and _DIGITS.fullmatch(key.value) and _DIGITS.fullmatch(
                    before[1]):
                problem = (f"the value of '{before[0]}' has a decimal comma; write "
                           f'{before[1]}.{key.value}')
            if problem:
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(key.value)
            before = key.value, value.value if isinstance(value, yaml.ScalarNode) else ''
        return super().construct_mapping(node, deep=deep)


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
        Kind of the file in messages, for instance 'robot YAML'.
    error
        Class of the error to raise.

    Raises
    ------
    RobotIdentificationError
        An error of the class `error`, as by `files.read_text` and `parse_yaml`, or the file is
        empty.

    """
    content = parse_yaml(read_text(path, what, error), f"the {what} '{path}'", error)
    if content is None:
        raise error(f"the {what} '{path}' is empty; write its keys, or name another file")
    return content


def parse_yaml(text: str, label: str, error: Error) -> Any:
    """
    Return the content of YAML text.

    Depth and size are checked before, because the parser of libyaml is recursive and aliases can
    expand to any size. Tags (`!name`) are rejected.

    Parameters
    ----------
    text
        The YAML.
    label
        Name of the text in messages, for instance "the robot YAML 'x'".
    error
        Class of the error to raise.

    Raises
    ------
    RobotIdentificationError
        An error of the class `error`: the text is not YAML, too deep or too large, or has tags
        or repeated keys.

    Examples
    --------
    >>> parse_yaml('masses: [1, 2.5e-3]', 'the masses', ConfigurationError)
    {'masses': [1, 0.0025]}

    """
    try:
        _check_structure(text)
        return yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, ValueError, OverflowError, IndexError, KeyError) as reason:
        mark = getattr(reason, 'problem_mark', None)
        line = f', line {mark.line + 1}' if mark is not None else ''
        problem = getattr(reason, 'problem', None) or str(reason) or type(reason).__name__
        raise error(f'{label}{line} cannot be read: {truncated_repr(problem, 300)}') from reason


def _check_structure(text: str) -> None:
    """Raise an error if YAML is nested too deep, too large with aliases expanded, or has tags."""
    counts = [0]
    sizes: dict[str | None, int] = {}    # number of values of each anchor
    open_anchors: list[str | None] = [None]
    for event in yaml.parse(text, Loader=_LOADER):
        tag = getattr(event, 'tag', None)
        if tag is not None and not (isinstance(event, yaml.ScalarEvent) and tag == '!'):
            raise yaml.YAMLError(f"it has the tag '{truncated_repr(tag)}'; tags are not supported")
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                raise yaml.YAMLError(f"the alias '*{truncated_repr(event.anchor)}' is not defined "
                                     'before, or contains itself')
            counts[-1] += sizes[event.anchor]
        elif isinstance(event, yaml.CollectionStartEvent):
            counts.append(1)
            open_anchors.append(event.anchor)
            sizes.pop(event.anchor, None)
        elif isinstance(event, yaml.ScalarEvent):
            counts[-1] += 1
            sizes[event.anchor] = 1
        elif isinstance(event, yaml.CollectionEndEvent):
            count = counts.pop()
            counts[-1] += count
            sizes[open_anchors.pop()] = count
        if len(counts) > DEPTH:
            raise yaml.YAMLError(f'it is nested more than {DEPTH} levels deep')
        if counts[-1] > NODES:
            raise yaml.YAMLError(f'it has more than {NODES} values when aliases are expanded')


def truncated_repr(value: Any, length: int = SHOWN) -> str:
    """Return the first `length` characters of the text of a value, for an error message."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except ValueError:    # Python refuses to print integers of more than 4300 digits
        text = 'a number of thousands of digits'
    return text if len(text) <= length else f'{text[:length]}...'


@dataclass(frozen=True)
class Quantity:
    """
    Unit and range of a number, used as in `Annotated[float, Quantity('Hz', above=0)]`.

    Parameters
    ----------
    unit
        Unit for messages; empty if there is none.
    above, minimum, below, maximum
        Bounds: `above` and `below` are exclusive, `minimum` and `maximum` inclusive.
    infinite, unknown
        Whether infinite values and NaN (for unknown values) are allowed.

    """

    unit: str = ''
    above: float = -math.inf
    minimum: float = -math.inf
    below: float = math.inf
    maximum: float = math.inf
    infinite: bool = False
    unknown: bool = False

    def accepts(self, value: float) -> bool:
        """Return whether a number is within the range."""
        if math.isnan(value):
            return self.unknown
        return (self.minimum <= value <= self.maximum
                and (self.infinite or isinstance(value, int) or abs(value) <= LARGEST)
                and (self.above == -math.inf or value > (self.above or SMALLEST))
                and (self.below == math.inf or value < self.below))

    def describe(self, noun: str = 'number', value: Any = 0) -> str:
        """Return a description of allowed numbers, for the error message about `value`."""
        refused = isinstance(value, Real) and not math.isfinite(value) and not self.infinite
        adjectives = 'positive ' * (self.above == 0) + 'finite ' * refused
        bounds = ' and'.join(f' {name} {bound:g}' for name, bound, bounded in (
            ('above', self.above, self.above not in (-math.inf, 0)),
            ('of at least', self.minimum, self.minimum > -math.inf),
            ('below', self.below, self.below < math.inf),
            ('at most', self.maximum, self.maximum < math.inf)) if bounded)
        unit = f' [{self.unit}]' if self.unit else ''
        return f'a {adjectives}{noun}{bounds}{unit}'


Number = Annotated[float, Quantity(infinite=True, unknown=True)]
"""A float that may also be infinite or NaN."""


def read_typed(kind: Any, value: Any, label: str, error: Error, example: str = '') -> Any:
    """
    Return the content of a YAML file as a typed value, usually a frozen dataclass.

    A dataclass is read from a mapping: each field is a key, a field with a default may be absent,
    and `__post_init__` checks conditions that types cannot express. For a field whose default is a
    dataclass, a mapping overrides single values of that default. Types may be `float`, `int`,
    `str`, `bool`, `Any`, `Literal[...]`, `X | None`, other unions, `tuple[X, ...]`, `tuple[X, Y]`,
    `Mapping[str, X]` and dataclasses. A `float` is finite unless a `Quantity` allows more.

    Instead of a dataclass, `kind` may be a dict from key to type. It describes a mapping with at
    least these keys, of which those with the type `X | None` may be absent. `{str: X}` describes a
    mapping from any names to X.

    Parameters
    ----------
    kind
        The type.
    value
        Result of `read_yaml`, or an item of it. Tuples, arrays and instances of the dataclasses
        are accepted as well.
    label
        Name of the value in messages: "the robot YAML 'arm.yaml'". Keys are appended to it.
    error
        Class of the error to raise.
    example
        Example for the message about a value of another type. Fields of a dataclass have it in
        their metadata, as 'example'.

    Raises
    ------
    RobotIdentificationError
        An error of the class `error`: a value of another type, a number out of range, a missing
        or an unknown key. An error that `__post_init__` raises keeps its class, and its message
        starts with the label.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Drive:
    ...     gain: Annotated[float, Quantity('N m/A')]
    ...     reduction: float = 1.0
    >>> read_typed(Drive, {'gain': 3}, 'the drive', ConfigurationError)
    Drive(gain=3.0, reduction=1.0)

    """
    if kind is float and type(value) is float and abs(value) <= LARGEST:
        return value    # the common case, without the slower checks below
    members = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    if value is None and type(None) in members:
        return None
    fitting = next((member for member in members if _fits(member, value)), None)
    if fitting is None:
        hint = ''
        if isinstance(value, str) and _COMMA.fullmatch(value):
            hint = f'; write a decimal point: {value.replace(",", ".")}'
        raise error(f'{label} must be {_describe(kind)}{", such as " * bool(example)}{example}, '
                    f'not {_quoted(value)}{hint}')
    origin, args = get_origin(fitting), get_args(fitting)
    if origin is Annotated or fitting in (float, int):
        return _read_number(fitting, value, label, error)
    if origin is tuple:
        kinds = args[:1] * len(value) if args[-1] is Ellipsis else args
        return tuple(read_typed(item_kind, item, f'{label}[{i}]', error)
                     for i, (item, item_kind) in enumerate(zip(value, kinds)))
    if origin is Mapping or isinstance(fitting, dict):
        return _read_mapping(fitting, value, label, error)
    if is_dataclass(fitting) and not isinstance(value, fitting):    # type: ignore[arg-type]
        return _read_dataclass(fitting, value, label, error)
    return value


def check_fields(instance: Any, error: Error) -> None:
    """
    Check and convert the fields of a frozen dataclass according to their types.

    Called in `__post_init__`, it applies the checks of `read_typed` to values from Python code.

    Raises
    ------
    RobotIdentificationError
        An error of the class `error`, as `read_typed`.

    """
    owner: Any = type(instance)
    for name, kind in _field_types(owner).items():
        object.__setattr__(instance, name, read_typed(kind, getattr(instance, name), name, error))


def check_keys(content: Mapping[Any, Any], known: Iterable[str], label: str, error: Error) -> None:
    """
    Raise an error if a mapping has an unknown key.

    Raises
    ------
    RobotIdentificationError
        An error of the class `error`, which lists the known keys and suggests the most similar.

    """
    names = list(known)
    for key in content:
        if key not in names:
            shown = truncated_repr(key)
            raise error(f"{label} has the unknown key '{shown}'; known keys: "
                        f'{", ".join(names)}{did_you_mean(shown, names)}')


def to_plain(value: Any) -> Any:
    """Return dataclasses, tuples and arrays as the mappings, lists and numbers of a YAML file."""
    if is_dataclass(value):
        return {item.name: to_plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {key: to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _quoted(value: Any) -> str:
    """Return the text of a value for an error message; strings are in quotes."""
    return f"'{truncated_repr(value)}'" if isinstance(value, str) else truncated_repr(value)


def _read_mapping(kind: Any, content: Mapping[Any, Any], label: str, error: Error,
                  ) -> dict[str, Any]:
    """Return a mapping with typed values; `kind` is Mapping[str, X] or a dict of types."""
    for key in content:
        if not isinstance(key, str):
            raise error(f'the key {_quoted(key)} of {label} must be text')
    if not isinstance(kind, dict):
        kind = {str: get_args(kind)[1]}
    kinds = dict.fromkeys(content, kind[str]) if str in kind else kind
    _check_complete(content, (key for key, item_kind in kinds.items()
                              if type(None) not in get_args(item_kind)), label, error)
    return {key: read_typed(item_kind, content.get(key), f'{label}, {truncated_repr(key)}', error)
            for key, item_kind in kinds.items()}


def _read_dataclass(kind: Any, content: Mapping[str, Any], label: str, error: Error) -> Any:
    """Return an instance of the dataclass `kind` with the values of a mapping."""
    types = _field_types(kind)
    check_keys(content, types, label, error)
    content = {**content, **{    # a nested mapping is completed from the field's default
        item.name: {**to_plain(item.default), **content[item.name]} for item in fields(kind)
        if is_dataclass(item.default) and isinstance(content.get(item.name), Mapping)}}
    _check_complete(content, (item.name for item in fields(kind) if item.default is MISSING
                              and item.default_factory is MISSING), label, error)
    examples = {item.name: item.metadata.get('example', '') for item in fields(kind)}
    values = {name: read_typed(types[name], item, f'{label}, {name}', error, examples[name])
              for name, item in content.items()}
    try:
        return kind(**values)
    except RobotIdentificationError as reason:
        reason.args = (f'{label}: {reason}',)
        raise


def _check_complete(content: Mapping[str, Any], required: Iterable[str], label: str,
                    error: Error) -> None:
    """Raise an error if a mapping lacks a required key."""
    missing = [f"'{key}'" for key in required if key not in content]
    if missing:
        raise error(f'{label} lacks the key{"s" * (len(missing) > 1)} {", ".join(missing)}')


def _read_number(kind: Any, value: Any, label: str, error: Error) -> float:
    """Return a number as `float` or `int`, or raise an error if it is out of range."""
    base, quantity = get_args(kind) if get_origin(kind) is Annotated else (kind, Quantity())
    if isinstance(value, Integral) and int(value).bit_length() > 63:
        raise error(f'{label} must be a number of at most 63 bits')
    if not quantity.accepts(base(value)):
        limit = f' of at most {LARGEST:g}' if LARGEST < abs(value) < math.inf == (
            quantity.maximum) else ''
        raise error(f'{label} must be {quantity.describe(_NOUNS[base], value)}{limit}, not '
                    f'{value}')
    return base(value)


@cache
def _field_types(kind: Any) -> dict[str, Any]:
    """Return the types of the fields of a dataclass by name, with their annotations."""
    hints = get_type_hints(kind, include_extras=True)
    return {item.name: hints[item.name] for item in fields(kind)}


def _fits(kind: Any, value: Any) -> bool:
    """Return whether a value has a type, which is not a union; its items are not checked."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _fits(args[0], value)
    if origin is Literal:
        return any(isinstance(value, bool) == isinstance(choice, bool) and value == choice
                   for choice in args if isinstance(value, str | int | float))
    if origin is tuple:
        listed = isinstance(value, list | tuple) or (isinstance(value, np.ndarray)
                                                     and value.ndim > 0)
        return listed and (args[-1] is Ellipsis or len(value) == len(args))
    if origin is Mapping or isinstance(kind, dict) or is_dataclass(kind):
        return isinstance(value, Mapping) or (
            is_dataclass(kind) and isinstance(value, kind))    # type: ignore[arg-type]
    if kind in (float, int):
        return isinstance(value, Real if kind is float else Integral) and not isinstance(
            value, bool)
    return kind is Any or isinstance(value, kind)


def _describe(kind: Any) -> str:
    """Return the description of a type for error messages."""
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return ' or '.join(_describe(member) for member in args if member is not type(None))
    if origin is Annotated or kind in (float, int):
        base, quantity = args if args else (kind, Quantity())
        return quantity.describe(_NOUNS[base])
    if origin is Literal:
        choices = ', '.join(map(repr, args))
        return choices if len(args) == 1 else f'one of {choices}'
    if origin is tuple:
        count = '' if args[-1] is Ellipsis else f'{len(args)} '
        item = _describe(args[0])
        numeric = get_origin(args[0]) is Annotated or args[0] in (float, int)
        return f'a list of {count}' + (item[2:].replace('number', 'numbers') if numeric
                                       else 'values')
    if is_dataclass(kind):
        kind = {item.name: item for item in fields(kind)}
    if isinstance(kind, dict) and str not in kind:
        return f'a mapping with the keys {", ".join(kind)}'
    if isinstance(kind, dict) or origin is Mapping:
        return 'a mapping'
    return {str: 'text', bool: 'true or false'}[kind]


_NOUNS = {float: 'number', int: 'whole number'}
