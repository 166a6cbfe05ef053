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
"""Print the tables of docs/methods.md: python docs/method_tables.py estimators|frictions."""

from __future__ import annotations

import json
import sys

from click.testing import CliRunner
from robot_identification.cli.commands import app
from robot_identification.cli.lists import PAPERS


def table(rows: list[dict[str, str]]) -> str:
    """Return rows as a table; the first column is formatted as code and | is escaped."""
    cells = [[text.replace('|', '\\|') for text in row.values()] for row in rows]
    lines = [rows[0], ['---'] * len(rows[0]), *([f'`{row[0]}`', *row[1:]] for row in cells)]
    return '\n'.join(f"| {' | '.join(line)} |" for line in lines)


def method_tables(command: str) -> str:
    """Return the tables of the command `estimators` or `frictions` in Markdown."""
    content = json.loads(CliRunner().invoke(app, [command, '--json']).stdout)
    if command == 'frictions':
        names = [{'name': row['name'], 'sum': row['sum']} for row in content['friction models']]
        return f"{table(content['friction terms'])}\n\n{table(names)}"
    groups = [[{key: text for key, text in row.items() if key != 'group'}
               for row in content['estimators'] if row['group'] == group]
              for group in ('core', 'papers')]
    return f'\n\n{PAPERS}\n\n'.join(map(table, groups))


if __name__ == '__main__':
    print(method_tables(sys.argv[1]))
