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
"""HTML tables for notebooks."""

from collections.abc import Iterable, Sequence
from html import escape
from math import isfinite
from typing import Any


def html_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """
    Return an HTML table.

    Parameters
    ----------
    caption, head
        Caption and names of the columns.
    rows
        Numbers are written with four significant digits, and unknown ones as empty cells.

    """
    def cell(value: Any) -> str:
        if isinstance(value, float):    # also NumPy's float64
            return f'<td>{value:.4g}</td>' if isfinite(value) else '<td></td>'
        return f'<td>{escape(str(value))}</td>'
    lines = ''.join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows)
    titles = ''.join(f'<th>{escape(name)}</th>' for name in head)
    return f'<table><caption>{escape(caption)}</caption><tr>{titles}</tr>{lines}</table>'
