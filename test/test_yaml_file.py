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
"""The reader of typed YAML: values, units, ranges and error messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.errors import ConfigurationError, ExcitationError
from robot_identification.yaml_file import (
    check_fields,
    parse_yaml,
    Quantity,
    read_typed,
    read_yaml,
    to_plain,
)


@dataclass(frozen=True)
class Drive:
    """A type for the tests."""

    gain: Annotated[float, Quantity('N m/A', above=0)]
    reduction: float = 1.0
    poles: Annotated[int, Quantity(minimum=1, maximum=90)] = 4
    kind: Literal['rotary', 'linear'] = 'rotary'
    limit: Annotated[float, Quantity('rad', infinite=True)] = 1.0
    noise: Annotated[float, Quantity(infinite=True, unknown=True)] = 0.0
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    start: float | tuple[float, ...] | None = None
    gravity: Literal['estimate'] | tuple[float, float, float] = 'estimate'
    brake: bool = False
    names: Mapping[str, int] = field(default_factory=dict)
    geared: Drive | None = None
    other: Any = None

    def __post_init__(self) -> None:
        if self.reduction == 0:
            raise ExcitationError('the reduction is zero')


def read(**content):
    return read_typed(Drive, {'gain': 3, **content}, 'the drive', ConfigurationError)


def test_values_are_read_by_their_types():
    drive = read(axis=[1, 0, 0], start=[1, 2], gravity=[0, 0, -9.81], names={'a': 1},
                 limit=float('inf'), noise=float('nan'), geared={'gain': 1.5}, other=['x'])
    assert drive.gain == 3.0 and isinstance(drive.gain, float)
    assert drive.axis == (1.0, 0.0, 0.0) and drive.start == (1.0, 2.0)
    assert drive.geared == Drive(1.5) and drive.names == {'a': 1} and drive.other == ['x']
    assert read(start=None, geared=None) == Drive(3.0)
    assert read_typed(Drive, Drive(3.0), 'x', ConfigurationError) == Drive(3.0)
    again = read(**{**to_plain(drive), 'noise': 0.0})
    assert to_plain(again) == {**to_plain(drive), 'noise': 0.0}
    assert to_plain(np.float64(2.0)) == 2.0 and to_plain(np.eye(2)) == [[1, 0], [0, 1]]


@pytest.mark.parametrize(('content', 'sentence'), [
    ({'gain': 'high'}, r"the drive, gain must be a positive number \[N m/A\], not 'high'"),
    ({'gain': True}, r'gain must be a positive number'),
    ({'gain': None}, r'gain must be a positive number'),
    ({'gain': 0}, r'gain must be a positive number \[N m/A\], not 0'),
    ({'gain': float('nan')}, r'gain must be a positive finite number \[N m/A\], not nan'),
    ({'reduction': float('inf')}, 'reduction must be a finite number, not inf'),
    ({'reduction': 2 ** 70}, 'at most 63 bits'),
    ({'reduction': 1e16}, r'reduction must be a number of at most 1e\+15, not 1e\+16'),
    ({'reduction': 10 ** 16}, r'reduction must be a number of at most 1e\+15, not 1'),
    ({'gain': 1e-16}, r'gain must be a positive number \[N m/A\], not 1e-16'),
    ({'limit': float('nan')}, r'limit must be a number \[rad\], not nan'),
    ({'poles': 1.5}, 'poles must be a whole number of at least 1 and at most 90, not 1.5'),
    ({'poles': 0}, 'poles must be a whole number of at least 1 and at most 90, not 0'),
    ({'poles': 91}, 'at most 90, not 91'),
    ({'kind': 'round'}, "kind must be one of 'rotary', 'linear', not 'round'"),
    ({'axis': [1, 2]}, r'axis must be a list of 3 numbers, not'),
    ({'axis': [1, 2, 'z']}, r'axis\[2\] must be a number'),
    ({'start': 'here'}, 'start must be a number or a list of numbers, not'),
    ({'gravity': 'down'}, "gravity must be 'estimate' or a list of 3 numbers, not 'down'"),
    ({'brake': 1}, 'brake must be true or false'),
    ({'names': [1]}, 'names must be a mapping'),
    ({'names': {1: 1}}, 'the key 1 of the drive, names must be text'),
    ({'names': {'a': 'b'}}, 'names, a must be a whole number'),
    ({'geared': {}}, "the drive, geared lacks the key 'gain'"),
    ({'geared': 3}, 'geared must be a mapping with the keys gain, reduction'),
    ({'geared': {'gain': 1, 'brakes': True}}, r"geared has the unknown key 'brakes'; known keys: "
                                              r"gain, .* \(did you mean 'brake'\?\)"),
])
def test_what_is_wrong_is_named(content, sentence):
    with pytest.raises(ConfigurationError, match=sentence):
        read(**content)


def test_own_checks_of_a_class_name_the_place():
    with pytest.raises(ExcitationError, match=r'^the drive, geared: the reduction is zero'):
        read(geared={'gain': 1, 'reduction': 0})


def test_a_dict_of_types_reads_files_of_the_program():
    kind = {'name': str, 'rows': {str: tuple[float, ...]}, 'later': int | None}
    content = {'name': 'x', 'rows': {'a': [1]}, 'more': 1}
    found = {'name': 'x', 'rows': {'a': (1.0,)}, 'later': None}
    assert read_typed(kind, content, 'the file', ConfigurationError) == found
    for key, value, sentence in (('rows', {'a': 1}, 'the file, rows, a must be a list of numbers'),
                                 ('name', 3, 'name must be text'), ('rows', 1, 'be a mapping')):
        with pytest.raises(ConfigurationError, match=sentence):
            read_typed(kind, {**content, key: value}, 'the file', ConfigurationError)
    with pytest.raises(ConfigurationError, match="the file lacks the keys 'name', 'rows'"):
        read_typed(kind, {}, 'the file', ConfigurationError)
    with pytest.raises(ConfigurationError, match='must be a mapping with the keys name, rows'):
        read_typed(kind, [], 'the file', ConfigurationError)


@pytest.mark.parametrize(('text', 'sentence'), [
    ('a:\n  b: {gain: 1,5}', "line 2 cannot be read: the value of 'gain' has a decimal comma; "
                             'write 1.5'),
    ('b: {gain: -1,5e-3, poles: 2}', 'line 1 cannot be read: .* write -1.5e-3'),
    ('a: 1\n{b: 1}: 2', 'line 2 cannot be read: a key must be text, not a list or mapping; put'),
    ('a: {{ value }}', 'line 1 cannot be read: a key must be text.* in quotes'),
    ('? [1, 2]\n: 3', 'line 1 cannot be read: a key must be text'),
    ('', 'is empty; write its keys'), ('# a comment\n', 'is empty'), ('null', 'is empty')])
def test_a_slip_in_a_file_is_named_with_its_line_and_what_to_do(tmp_path, text, sentence):
    (tmp_path / 'a.yaml').write_text(text)
    with pytest.raises(ConfigurationError, match=rf"^the file '.*a.yaml',? {sentence}"):
        read_yaml(tmp_path / 'a.yaml', 'file', ConfigurationError)


def test_keys_without_a_value_are_no_decimal_comma():
    for text, found in (('{a: x, 5: }', {'a': 'x', 5: None}), ('{a: 1, b: }', {'a': 1, 'b': None}),
                        ('a: 1\n5: 2', {'a': 1, 5: 2})):
        assert parse_yaml(text, 'x', ConfigurationError) == found


def test_a_number_with_a_decimal_comma_is_shown_with_a_point():
    with pytest.raises(ConfigurationError, match=r"gain must be .* not '1,5'; .* point: 1.5$"):
        read_typed(Drive, {'gain': '1,5'}, 'x', ConfigurationError)


def test_a_nested_mapping_changes_the_default_of_its_field():
    @dataclass(frozen=True)
    class Machine:
        drive: Drive = Drive(3.0, poles=8)

    machine = read_typed(Machine, {'drive': {'gain': 2}}, 'x', ConfigurationError)
    assert machine == Machine(Drive(2.0, poles=8))


def test_fields_of_an_instance_are_checked_and_converted():
    drive = Drive(3, axis=np.array([0, 1, 0]))
    check_fields(drive, ConfigurationError)
    assert drive.axis == (0.0, 1.0, 0.0)
    with pytest.raises(ExcitationError, match=r'^gain must be a positive number'):
        check_fields(Drive(-1.0), ExcitationError)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
                    lambda inner: st.lists(inner) | st.dictionaries(
                        st.sampled_from(['gain', 'geared', 'axis', 'names', 'start']), inner)))
def test_any_content_is_read_or_refused_with_one_error(content):
    try:
        assert isinstance(read_typed(Drive, content, 'the drive', ConfigurationError), Drive)
    except ConfigurationError as error:
        assert 'the drive' in str(error)
