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
"""A section of the report."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.reporting.figures import Figure
from robot_identification.reporting.markup import Html, tag


@dataclass(frozen=True, eq=False)
class Section:
    """
    A part of the report under one heading.

    Parameters
    ----------
    anchor
        Its id in the page.
    title
        Heading.
    lead
        One or two sentences that say how to read it.
    body
        Markup.
    figures
        The plots whose places are in the body.
    short
        For the navigation; the title when empty.

    """

    anchor: str
    title: str
    lead: object
    body: Html
    figures: tuple[Figure, ...] = ()
    short: str = ''

    @property
    def html(self) -> Html:
        """The section as markup."""
        return tag('section', tag('h2', self.title), tag('p', self.lead, class_='lead'), self.body,
                   id=self.anchor)


def card(title: object, *children: object, note: object = '') -> Html:
    """Return a box with a small heading and a remark beside it."""
    head = tag('div', tag('h4', title), tag('span', note, class_='note'), class_='cardhead')
    return tag('div', head, *children, class_='card')


def legend(*entries: tuple[str, str, str]) -> Html:
    """
    Return a legend.

    Parameters
    ----------
    entries
        Name, class of the mark ('line', 'dash', 'dot', 'area', 'diamond', ...) and CSS variable.

    """
    return tag('p', *(
        tag('span', tag('i', class_=f'mark {mark}', style=f'--c:var(--{colour})'), name)
        for name, mark, colour in entries), class_='legend')
