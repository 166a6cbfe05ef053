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
Size and structure of the package; `make house` prints the figures, `test_house.py` checks them.

Lines are lines with code: no comments, no docstrings. A module that another one names in a string
('robot_identification.x.y', as for `import_module`) counts as imported, which import-linter, whose
contracts are in pyproject.toml, does not see. Imports for type checking only do not count.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from functools import cached_property
import io
from pathlib import Path
import tokenize

PACKAGE = Path(__file__).resolve().parents[1] / 'robot_identification'
SIDE = ('ros', 'papers', 'fleet', 'servos')    # outside the core
EXTENSIONS = ('papers', 'benchmarking', 'fleet', 'formats', 'code_generation', 'log_formats',
              'servos', 'changes')
LIMITS = {    # a commit that raises one states the reason
    'package': 43_000, 'core': 25_500, 'behind pipeline': 12_000, 'import cycles': 0,
    'tuned constants': 850, 'arrows between extensions': 1}
CONTRIBUTIONS = 0.03
"""Room above the limits of lines and constants, relative: a contribution never fails for its size.
A release is within the limits themselves."""
ROOM = {    # added to the first three for a capability with this option, once it exists
    '--tree': (1_000, 800, 200), '--rollout': (400, 400, 0), '--figure': (500, 0, 0),
    "'inspect'": (400, 400, 0)}
MOST_MODULES = 20
"""Modules of other folders that a module may use. The pipeline, which walks through all packages,
uses 19, the others at most 15; what needs more does two things. Names are not counted: four names
of one module are one dependency."""
ENTRIES = ('pipeline', 'identification', 'excitation', 'ros.nodes.excitation',
           'ros.nodes.identification')
SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
           tokenize.ENCODING, tokenize.ENDMARKER}


def room(module: str) -> str:
    """Return the sub-package or top-level module to which a module belongs."""
    return f'{module}.'.split('.')[1]


def code_lines(text: str) -> int:
    """Return the number of lines with code in a file's text."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SKIPPED:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        for each in getattr(node, 'body', []) if not isinstance(
                node, (ast.Lambda, ast.IfExp)) else []:
            if (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
                    and isinstance(each.value.value, str)):
                lines.difference_update(range(each.lineno, (each.end_lineno or 0) + 1))
    return len(lines)


def is_number(value: ast.AST | None) -> bool:
    """Return whether an expression consists of numbers only."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, (int, float)) and not isinstance(value.value, bool)
    if isinstance(value, (ast.Tuple, ast.List)):
        return bool(value.elts) and all(map(is_number, value.elts))
    if isinstance(value, ast.BinOp):
        return is_number(value.left) and is_number(value.right)
    return isinstance(value, ast.UnaryOp) and is_number(value.operand)


def closure(arrows: dict[str, set[str]], start: str) -> set[str]:
    """Return a module and all modules that it may import directly or indirectly."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += arrows[name]
    return seen


class House:
    """
    The figures of a package.

    Parameters
    ----------
    package
        Folder of the package.

    """

    def __init__(self, package: Path = PACKAGE) -> None:
        self.files: dict[str, Path] = {}
        for path in sorted(package.rglob('*.py')):
            parts = path.relative_to(package.parent).with_suffix('').parts
            self.files['.'.join(parts[:-1] if parts[-1] == '__init__' else parts)] = path
        self.texts = {name: path.read_text(encoding='utf-8') for name, path in self.files.items()}
        self.trees = {name: ast.parse(text) for name, text in self.texts.items()}
        self.lines = {name: code_lines(text) for name, text in self.texts.items()}
        self.arrows = {name: self._imports(name) for name in self.files}

    def _imports(self, name: str) -> set[str]:
        """Return the modules of the package that a module may import, inside functions too."""
        found: set[str] = set()
        waiting: list[ast.AST] = list(self.trees[name].body)
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.If) and 'TYPE_CHECKING' in ast.dump(node.test):
                waiting += node.orelse
                continue
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                members = {f'{node.module}.{alias.name}' for alias in node.names}
                found |= {each if each in self.files else node.module for each in members}
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and '.' in name:
                target = node.value.split(':')[0]    # a package may be named for its templates
                if target in self.files and self.files[target].name != '__init__.py':
                    found.add(target)
            waiting += ast.iter_child_nodes(node)
        return (found & set(self.files)) - {name}

    def behind(self, module: str) -> set[str]:
        """Return a module of the package and all that it may import."""
        return closure(self.arrows, f'robot_identification.{module}')

    @cached_property
    def cycles(self) -> list[tuple[str, ...]]:
        """The groups of modules that import each other."""
        ahead = {name: set().union(*(closure(self.arrows, other) for other in others))
                 for name, others in self.arrows.items()}
        return sorted({tuple(sorted(other for other in ahead[name] if name in ahead[other]))
                       for name in ahead if name in ahead[name]})

    @property
    def between(self) -> list[str]:
        """The arrows from one extension to another."""
        pairs = {(room(name), room(other)) for name in self.arrows for other in self.arrows[name]}
        return [f'{a}->{b}' for a, b in sorted(pairs)
                if a != b and a in EXTENSIONS and b in EXTENSIONS]

    @property
    def figures(self) -> dict[str, int]:
        """The figures that `LIMITS` bounds."""
        constants = sum(isinstance(each, (ast.Assign, ast.AnnAssign)) and is_number(each.value)
                        for tree in self.trees.values() for each in tree.body)
        return {
            'package': sum(self.lines.values()),
            'core': sum(n for name, n in self.lines.items() if room(name) not in SIDE),
            'behind pipeline': sum(self.lines[name] for name in self.behind('pipeline')),
            'import cycles': len(self.cycles), 'tuned constants': constants,
            'arrows between extensions': len(self.between)}

    @property
    def limits(self) -> dict[str, int]:
        """`LIMITS` with the room of capabilities that exist."""
        limits, text = dict(LIMITS), '\n'.join(self.texts.values())
        for option, added in ROOM.items():
            for title, n in zip(LIMITS, added if option in text else ()):
                limits[title] += n
        return limits

    @property
    def used_modules(self) -> Counter[str]:
        """Number of modules of other folders that each module uses; that of `__init__` is 0."""
        def folder(name: str) -> str:
            return name if self.files[name].name == '__init__.py' else name.rpartition('.')[0]

        return Counter({name: sum(folder(other) != folder(name) for other in others)
                        for name, others in self.arrows.items() if folder(name) != name})

    @property
    def repeated_names(self) -> list[str]:
        """
        Public functions and classes of one name in several modules.

        The function of a command may have the name of the function that it calls.
        """
        found: dict[str, list[str]] = defaultdict(list)
        for name, tree in self.trees.items():
            is_command = room(name) == 'cli' or name.endswith('.commands')
            for node in () if is_command else tree.body:
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    found[node.name].append(name)
        return [f'{name}: {", ".join(where)}' for name, where in sorted(found.items())
                if len(where) > 1 and name[0] != '_' and name != 'main']

    @property
    def violations(self) -> list[str]:
        """A message for each limit that the package exceeds."""
        return [
            *(f'{title}: {figure}, at most {self.limits[title]} and {CONTRIBUTIONS:.0%} more'
              for title, figure in self.figures.items()
              if figure > int((1 + CONTRIBUTIONS) * self.limits[title])
              or (figure > self.limits[title] < 10)),
            *(f'{name} uses {n} modules of other folders, at most {MOST_MODULES}'
              for name, n in self.used_modules.items() if n > MOST_MODULES),
            *(f'defined in several modules: {each}' for each in self.repeated_names)]

    @property
    def table(self) -> str:
        """The figures beside their limits, as text."""
        return '\n'.join((
            *(f'{title:28s}{figure:8d}   at most {self.limits[title]}'
              f'{"   EXCEEDED" if figure > self.limits[title] else ""}'
              for title, figure in self.figures.items()),
            f'{len(self.files)} files, {len(self.behind("pipeline"))} behind pipeline; '
            f'between extensions: {", ".join(self.between) or "none"}',
            *(f'cycle: {" ".join(cycle)}' for cycle in self.cycles)))


def main() -> None:
    """Print the figures, the lines of each sub-package and those behind each entry point."""
    house, sizes = House(), Counter[str]()
    print(house.table)
    for name, lines in house.lines.items():
        sizes[room(name)] += lines
    for name, lines in sizes.most_common():
        print(f'{name:28s}{lines:8d}{"   not core" if name in SIDE else ""}')
    for entry in ENTRIES:
        behind = house.behind(entry)
        print(f'{"behind " + entry:28s}{sum(house.lines[name] for name in behind):8d}   in '
              f'{len(behind)} files')
    (module, count), = house.used_modules.most_common(1)
    print(f'{"most modules of others":28s}{count:8d}   at most {MOST_MODULES}: {module}')
    for name in house.repeated_names:
        print(f'defined in several modules: {name}')


if __name__ == '__main__':
    main()
