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
"""Building HTML in which every text is escaped unless it is markup already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
import html
from typing import Any

from markupsafe import Markup
from robot_identification.reporting.pages import number

VOID = ('br', 'hr', 'img', 'input', 'meta')


class Html(str):
    """Text that is markup."""

    __slots__ = ()


def text(value: object) -> Html:
    """Return markup: `Html` as it is, everything else escaped."""
    if isinstance(value, (Html, Markup)):
        return Html(value)
    return Html(html.escape(str(value), quote=True))


def join(*parts: object, separator: str = '') -> Html:
    """Return parts after each other, each escaped unless it is markup."""
    return Html(separator.join(text(part) for part in parts))


def tag(name: str, *children: object, **attributes: object) -> Html:
    """
    Return an element.

    Parameters
    ----------
    name
        Its name.
    children
        Texts and markup.
    attributes
        `class_` for class, `data_sort` for data-sort; None and False leave one out.

    """
    given = ''.join(
        f' {key.rstrip("_").replace("_", "-")}' + ('' if value is True else f'="{text(value)}"')
        for key, value in attributes.items() if value is not None and value is not False)
    if name in VOID:
        return Html(f'<{name}{given}>')
    return Html(f'<{name}{given}>{join(*children)}</{name}>')


@dataclass(frozen=True)
class Cell:
    """
    A cell of a table.

    Parameters
    ----------
    shown
        Text or markup.
    sort
        What to sort by; None sorts last.
    numeric
        Whether to align right.

    """

    shown: object
    sort: float | str | None = None
    numeric: bool = False


def numeric(value: float | None, digits: int = 4) -> Cell:
    """Return the cell of a number."""
    return Cell(number(value, digits), value, True)


def table(
    heads: Sequence[object], rows: Iterable[Sequence[Cell | object]], *,
    sortable: bool = False, class_: str = '',
) -> Html:
    """
    Return a table in a box that scrolls sideways when it must.

    Parameters
    ----------
    heads
        Column heads.
    rows
        Cells; what is not a `Cell` is a text or markup.
    sortable
        Whether a click on a head sorts.
    class_
        CSS class of the table.

    """
    body = []
    columns: list[bool] = [False] * len(heads)
    for row in rows:
        cells = [cell if isinstance(cell, Cell) else Cell(cell, str(cell)) for cell in row]
        columns = [known or cell.numeric for known, cell in zip(columns, cells)]
        body.append(tag('tr', *(
            tag('td', cell.shown, class_='num' if cell.numeric else None,
                data_sort='' if cell.sort is None else cell.sort) for cell in cells)))
    head = tag('tr', *(tag('th', label, scope='col', class_='num' if right else None)
                       for label, right in zip(heads, columns)))
    names = ' '.join(filter(None, (class_, 'sortable' if sortable else '')))
    return tag('div', tag('table', tag('thead', head), tag('tbody', *body), class_=names or None),
               class_='scroll')


def html_page(title: str, navigation: Html, body: Html, figures: Iterable[Any]) -> str:
    """Return a page of markup; the pages that still use it become templates, see `pages`."""
    from importlib import resources
    from string import Template

    from robot_identification.reporting.figures import figures_json
    folder = resources.files('robot_identification.reporting') / 'templates'
    files = {name: (folder / file).read_text(encoding='utf-8') for name, file in (
        ('style', 'report.css'), ('plots', 'plots.js'), ('script', 'report.js'))}
    page = (folder / 'old_page.html').read_text(encoding='utf-8')
    return Template(page).substitute(title=text(title), navigation=navigation, body=body,
                                     figures=figures_json(figures), **files)
