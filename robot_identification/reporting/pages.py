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
"""HTML pages from the Jinja2 templates in `templates`; each is one file that opens offline."""

from functools import cache
import math
from pathlib import PurePath
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

PACKAGE = 'robot_identification.reporting'
BADGES = {'passed': ('PASS', '\u2713', 'pass'), 'doubtful': ('DOUBT', '?', 'open'),
          'failed': ('FAIL', '\u2717', 'fail'),
          'not validated': ('NOT VALIDATED', '?', 'open')}
"""Word, sign and tone of each state of a verdict."""
SMALLEST, LARGEST = 1.0, 1e6
"""Numbers between these two are written without a power of ten."""
ROUNDING = 1e-12
"""Size of rounding errors relative to the values from which they stem."""
UNKNOWN = '\u2013'


def render_page(template: str, package: str = PACKAGE, **context: Any) -> str:
    """
    Return a page as the text of one HTML file.

    Every text is escaped. A template extends `page.html`, which has the style, the plots, the
    sorting of tables and the content security policy, by which browsers load nothing from
    elsewhere; it finds macros in `macros.html`.

    Parameters
    ----------
    template
        Name of the file in the folder `templates` of the package.
    package
        The package with that folder.
    context
        Variables of the template.

    """
    return _environment(package).get_template(template).render(context)


@cache
def _environment(package: str) -> Environment:
    """Return the Jinja2 environment with the templates of a package and of the reports."""
    loaders = [PackageLoader(name) for name in dict.fromkeys((package, PACKAGE))]
    environment = Environment(
        loader=ChoiceLoader(loaders), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
        finalize=lambda value: '' if value is None or value != value else value)
    environment.policies['json.dumps_kwargs'] = {'separators': (',', ':'), 'allow_nan': False}
    environment.filters |= {
        'number': number, 'percent': percent, 'correlation': format_correlation, 'unit': unit,
        'file_name': file_name, 'bar_percent': bar_percent, 'round_to_zero': round_to_zero}
    return environment


def number(value: float | None, digits: int = 4) -> Markup:
    """
    Return a number with a fixed number of significant digits, powers of ten as superscripts.

    Parameters
    ----------
    value
        The number; None, NaN and infinity give a dash.
    digits
        Significant digits.

    """
    if value is None or not math.isfinite(value):
        return Markup(UNKNOWN)
    short = f'{value:.{digits}g}'
    mantissa, _, power = short.partition('e')
    if power and SMALLEST <= abs(value) < LARGEST:
        mantissa, power = f'{float(short):.0f}', ''
    scale = f'\u00b710<sup>{int(power)}</sup>' if power else ''
    return Markup((mantissa + scale).replace('-', '\u2212'))


def percent(value: float | None, digits: int = 3) -> Markup:
    """Return a fraction as a percentage with a number of significant digits."""
    if value is None or not math.isfinite(value):
        return Markup(UNKNOWN)
    size = abs(100 * value)
    text = (f'{100 * value:.0f}' if size >= 100 else
            f'{100 * value:.2f}' if size < 0.1 else number(100 * value, digits))
    return Markup(f'{text}\u202f%'.replace('-', '\u2212'))


def format_correlation(value: float | None, decimals: int = 4) -> str:
    """Return a correlation coefficient; one below 1 is not rounded to 1."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    if 1 > abs(value) >= 1 - 0.5 * 10 ** -decimals:
        sign = '> ' if value > 0 else '< \u2212'
        return f'{sign}{1 - 10 ** -decimals:.{decimals}f}'
    return f'{value:.{decimals}f}'.replace('-', '\u2212')


def unit(name: str) -> str:
    """Return a unit with superscripts and fixed spaces: 'kg m^2' becomes 'kg m²'."""
    return name.replace('^2', '\u00b2').replace('^3', '\u00b3').replace(' ', '\u00a0')


def file_name(name: str) -> Markup:
    """Return the last part of a recording's path, with the full path as a tooltip."""
    short = PurePath(name).name or 'without a name'
    tooltip = Markup(' title="{}"').format(name) if name != short else ''
    return Markup('<span{}>{}</span>').format(tooltip, short)


def bar_percent(length: float | None) -> str:
    """Return the length of a bar [%] for a fraction, which is limited to 0 to 1."""
    return f'{100 * min(max(length or 0.0, 0.0), 1.0):.1f}'


def round_to_zero(value: float | None, scale: float) -> float | None:
    """Return zero for a value that is only rounding error relative to a scale."""
    return 0.0 if value is not None and abs(value) < ROUNDING * scale else value
