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
"""Dates and times of day as seconds, and text tables with them."""

from collections.abc import Iterator
import datetime
from pathlib import Path
import re

from robot_identification.errors import RecordingError
from robot_identification.recording.csv_file import CsvSource

_DATE = (r'(?:(?P<y>\d{4})[-/.](?P<m>\d\d?)[-/.](?P<d>\d\d?)'
         r'|(?P<a>\d\d?)(?P<mark>[-/.])(?P<b>\d\d?)[-/.](?P<year>\d{4}))')
_TIME = (r'(?P<H>\d\d?):(?P<M>\d\d):(?P<S>\d\d)(?:[.,](?P<f>\d+))?'
         r' ?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?')
MOMENT = re.compile(f'(?:{_DATE})?(?:[T ]*)?(?:{_TIME})?')
DAY = datetime.timedelta(days=1) // datetime.timedelta(seconds=1)    # [s]


def moment_in(cell: str) -> re.Match[str] | None:
    """Return the match of a date, a time of day, or both; None for another cell."""
    return MOMENT.fullmatch(cell) if any(map(str.isdigit, cell)) else None


class Clock:
    """
    Converter of the dates of one column to seconds.

    Dates count from 1970 in UTC, times of day from midnight; the time of day after midnight
    continues that of the day before.

    Parameters
    ----------
    label
        Name of the recording in error messages.

    """

    def __init__(self, label: str) -> None:
        self._label = label
        self._fields: tuple[str, str] | None = None    # first two numbers of a date 3/5/2026
        self._day_first: bool | None = None
        self._last, self._shift = 0, 0

    def seconds(self, moment: re.Match[str]) -> str:
        """
        Return the seconds of a date or time of day, as a decimal number.

        Parameters
        ----------
        moment
            The match of `moment_in` for instance with '2026-05-03 12:00:00.1' or
            '03.05.2026 12:00:00,1'.

        Raises
        ------
        RecordingError
            There is no such date, or day and month cannot be told apart.

        """
        part = moment.groupdict('')
        zone = part['zone'].replace(':', '').strip('ZUTC') or '+0000'
        date = '-'.join(f'{number:0>2}' for number in self._date(part))
        time = ':'.join(f'{part[name] or 0:0>2}' for name in 'HMS')
        try:
            total = int(datetime.datetime.fromisoformat(
                f'{date}T{time}{zone[:3]}:{zone[3:]}').timestamp())
        except ValueError as error:
            raise RecordingError(f"{self._label}: '{moment.group():.60}' is not a date: "
                                 f'{error}') from error
        if not part['y'] and not part['year']:
            if total + self._shift < self._last - DAY / 2:    # midnight
                self._shift += DAY
            total += self._shift
            self._last = total
        return f'{total}.{part["f"] or 0}'

    def _date(self, part: dict[str, str]) -> tuple[str, str, str]:
        """Return year, month and day of the fields of a date; the first day of 1970 without."""
        if not part['year']:
            return part['y'] or '1970', part['m'] or '1', part['d'] or '1'
        fields = first, second = part['a'], part['b']
        if self._day_first is None:    # both orders are right for a single day
            day_first = part['mark'] == '.' or int(first) > 12
            known = day_first or int(second) > 12
            if self._fields and (not day_first if known else self._fields != fields):
                raise RecordingError(f'{self._label}: its dates {"/".join(self._fields)} and '
                                     f'{first}/{second} may have the day or the month first; '
                                     'write them as 2026-05-03')
            self._day_first, self._fields = day_first if known else None, fields
        return part['year'], *(fields if self._day_first is False else (second, first))


class DatedCsv(CsvSource):
    """
    Columns of a CSV file with dates or times of day, also in quotation marks.

    A column of dates beside one of times of day is added to it. Dates are in seconds since 1970,
    in UTC unless they state another zone.

    Parameters
    ----------
    path
        The file.
    columns
        Indices of the columns with dates or times.

    Raises
    ------
    RecordingError
        As for `CsvSource`; a cell of the columns is not a date.

    """

    def __init__(self, path: Path, columns: list[int]) -> None:
        super().__init__(path)
        self._moments = columns
        first = self._cells(next(super().line_blocks()).split(b'\n')[0])
        days = [k for k in columns if ':' not in first[k]]
        times = [k for k in columns if k not in days and not re.search(r'\d{4}', first[k][:10])]
        self._pair = (days[0], times[0]) if len(days) == len(times) == 1 else None
        if self._pair:
            self._moments = [k for k in columns if k != days[0]]
            self.rename_columns([f'day of {name}' if k == days[0] else name
                                 for k, name in enumerate(self.names)])

    def line_blocks(self) -> Iterator[bytes]:
        """Yield blocks of lines, with seconds in place of dates, without quotation marks."""
        clocks = {k: Clock(self.label) for k in self._moments}
        for block in super().line_blocks():
            yield b'\n'.join(self._convert(line, clocks) for line in block.split(b'\n'))

    def _cells(self, line: bytes) -> list[str]:
        return line.decode('utf-8', 'replace').replace('"', '').rstrip('\r').split(self.delimiter)

    def _convert(self, line: bytes, clocks: dict[int, Clock]) -> bytes:
        """Return a line with seconds in place of dates; lines of another length as they are."""
        cells = self._cells(line)
        if len(cells) != len(self.names):
            return line
        comma = self.delimiter != ',' and any(
            ',' in cell for k, cell in enumerate(cells) if k not in self._moments)
        if self._pair:
            day, time = self._pair
            cells[time], cells[day] = f'{cells[day]} {cells[time]}', '0'
        for k, clock in clocks.items():
            # the core refuses other text if it is read
            if moment := moment_in(cells[k].strip()):
                seconds = clock.seconds(moment)
                cells[k] = seconds.replace('.', ',') if comma else seconds
        return self.delimiter.join(cells).encode()
