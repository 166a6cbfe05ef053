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
"""Reading of JSON files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from robot_identification.errors import RobotIdentificationError
from robot_identification.files import DEPTH, read_text

JSON_VALUES = 2_000_000    # largest number of values of a JSON file; results have thousands
HUGE = 1e100    # numbers of results are smaller, so that products of two are finite


def read_json(path: str | Path, what: str, error: type[RobotIdentificationError]) -> Any:
    """
    Return the content of a JSON file, whose numbers are at most `HUGE`, integers 18 digits long.

    Parameters
    ----------
    path, what, error
        As for `read_text`.

    Raises
    ------
    RobotIdentificationError
        An error of the class `error`: as by `read_text`, or the text is not JSON, too deep or
        too long, or has other numbers or characters that UTF-8 does not have.

    """
    def parse_integer(text: str) -> int:
        """Return an integer of at most 18 characters, or raise ValueError, also for NaN."""
        if len(text) > 18 or not text[-1].isdigit():
            raise ValueError(f'it has a whole number of {len(text)} digits'
                             if text[-1].isdigit() else f'JSON has no {text}')
        return int(text)

    try:
        text = read_text(path, what, error)
        if sum(map(text.count, ',[{')) > JSON_VALUES:
            raise ValueError(f'it has more than {JSON_VALUES} values')
        content = json.loads(text, parse_int=parse_integer, parse_constant=parse_integer)
        if '\\u' in text:    # half of a surrogate pair raises a ValueError
            json.dumps(content, ensure_ascii=False).encode()
        level: list[Any] = [content]
        for _ in range(DEPTH):
            if any(type(item) is float and abs(item) > HUGE for item in level):
                raise ValueError(f'it has a number above {HUGE:g}')
            level = [item for each in level if isinstance(each, (dict, list))
                     for item in (each.values() if isinstance(each, dict) else each)]
        if level:
            raise ValueError(f'it is nested more than {DEPTH} levels deep')
        return content
    except (ValueError, RecursionError) as reason:
        raise error(f"the {what} '{path}' cannot be read: {reason}") from reason
