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
"""The HTML report: one file that opens offline."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from string import Template

from robot_identification.errors import ModelFileError
from robot_identification.files import write_text
from robot_identification.reporting.figures import Figure, figures_json
from robot_identification.reporting.markup import Html, join, tag, text
from robot_identification.reporting.sections import SECTIONS
from robot_identification.reporting.sections.verdict import hero
from robot_identification.reporting.stored_results import load_results, RESULTS, StoredResults

REPORT = 'report.html'


def write_report(directory: str | Path) -> Path:
    """
    Write report.html from results.json and plots.npz beside it.

    Parameters
    ----------
    directory
        Where `save_results` wrote.

    Returns
    -------
    Path
        The report, which is written whole or not at all.

    Raises
    ------
    ModelFileError
        A file is missing, damaged or of another schema.

    """
    results = load_results(directory)
    path = Path(directory) / REPORT
    try:
        page = render(results)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise ModelFileError(
            f"'{Path(directory) / RESULTS}' is damaged ({type(error).__name__}: {error}); "
            f'identify again with -o {directory}') from error
    write_text(path, page)
    return path


def render(results: StoredResults) -> str:
    """
    Return the report as the text of one HTML page.

    Parameters
    ----------
    results
        What was stored.

    """
    sections = [section for build in SECTIONS if (section := build(results)) is not None]
    navigation = [tag('a', section.short or section.title, href=f'#{section.anchor}')
                  for section in sections]
    name = results.content['arm']['name']
    return html_page(
        f'{name}: identified dynamic model',
        join(tag('a', 'Verdict', href='#verdict'), *navigation),
        join(hero(results), *(section.html for section in sections)),
        (figure for section in sections for figure in section.figures))


def html_page(title: str, navigation: Html, body: Html, figures: Iterable[Figure]) -> str:
    """
    Return a page in the look of the report, with all that it needs in one text.

    Parameters
    ----------
    title
        Title of the window.
    navigation, body
        Links to the sections, and the sections.
    figures
        The plots whose places are in the body.

    """
    return Template(template('report.html')).substitute(
        title=text(title), style=template('report.css'), navigation=navigation, body=body,
        figures=figures_json(figures), plots=template('plots.js'), script=template('report.js'))


def template(name: str) -> str:
    """Return the text of a file in `templates`."""
    return (resources.files('robot_identification.reporting') / 'templates' / name).read_text(
        encoding='utf-8')
