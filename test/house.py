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
How large the house is: lines of code, public names, long functions, import circles.

`make house` prints it; `test_house.py` holds bounds. The core is the package without the rooms
`nodes/` and `papers/`. A line of code is one that holds more than comment or docstring.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
import io
from pathlib import Path
import tokenize

PACKAGE = Path(__file__).resolve().parents[1] / 'robot_identification'
OUTSIDE = ('nodes', 'papers')
LONGEST = 80
SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
           tokenize.ENCODING, tokenize.ENDMARKER}


def modules() -> dict[str, Path]:
    """Return the files of the package by the names of their modules."""
    found = {}
    for path in sorted(PACKAGE.rglob('*.py')):
        parts = path.relative_to(PACKAGE.parent).with_suffix('').parts
        found['.'.join(parts[:-1] if parts[-1] == '__init__' else parts)] = path
    return found


def room(path: Path) -> str:
    """Return the folder, or file, of the package in which a file lives."""
    return path.relative_to(PACKAGE).parts[0].removesuffix('.py')


def core() -> dict[str, Path]:
    """Return the modules without nodes and papers."""
    return {name: path for name, path in modules().items() if room(path) not in OUTSIDE}


def documented(tree: ast.AST) -> Iterator[ast.Expr]:
    """Return the texts that are no code: docstrings, also those below a constant."""
    for node in ast.walk(tree):
        for statement in getattr(node, 'body', []) if not isinstance(
                node, (ast.Lambda, ast.IfExp)) else []:
            if (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
                    and isinstance(statement.value.value, str)):
                yield statement


def code_lines(path: Path) -> int:
    """Return the number of lines that hold code."""
    text = path.read_text()
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SKIPPED:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in documented(ast.parse(text)):
        lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def exported() -> dict[str, list[str]]:
    """Return what the modules of the core list in `__all__`."""
    found = {}
    for name, path in core().items():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign) and any(
                    isinstance(t, ast.Name) and t.id == '__all__' for t in node.targets):
                found[name] = [c.value for c in ast.walk(node.value)
                               if isinstance(c, ast.Constant)]
    return found


def public_names() -> list[str]:
    """Return module and name of every function and class of the core without underscore."""
    return [f'{name}.{node.name}' for name, path in core().items()
            for node in ast.parse(path.read_text()).body
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name[0] != '_']


def long_functions(longest: int = LONGEST) -> list[str]:
    """Return the functions with more lines than that, their docstrings not counted."""
    found = []
    for name, path in modules().items():
        if path.stem.endswith('kernels'):       # compiled: a call is not free there
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                text = next((d for d in documented(node) if d is node.body[0]), None)
                begin = node.lineno if text is None else text.end_lineno
                lines = node.end_lineno - begin
                if lines > longest:
                    found.append(f'{name}.{node.name}: {lines} lines')
    return found


def imports(name: str, path: Path, known: set[str]) -> set[str]:
    """Return the modules of the package that are imported when a module is."""
    found = set()
    waiting: list[ast.AST] = list(ast.parse(path.read_text()).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue        # imported when it runs
        if isinstance(node, ast.If) and 'TYPE_CHECKING' in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                member = f'{node.module}.{alias.name}'
                found.add(member if member in known else node.module)
        waiting += ast.iter_child_nodes(node)
    return (found & known) - {name}


def circles() -> list[list[str]]:
    """Return the groups of modules that import each other when they are imported."""
    files = modules()
    graph = {name: imports(name, path, set(files)) for name, path in files.items()}

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = list(graph[start])
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += graph[name]
        return seen

    ahead = {name: reached(name) for name in graph}
    groups = {tuple(sorted({name, *(other for other in ahead[name] if name in ahead[other])}))
              for name in graph if name in ahead[name]}
    return [list(group) for group in sorted(groups)]


def main() -> None:
    """Print the figures."""
    size: dict[str, int] = {}
    for path in modules().values():
        size[room(path)] = size.get(room(path), 0) + code_lines(path)
    for name, lines in sorted(size.items(), key=lambda item: -item[1]):
        print(f'{name:24s}{lines:7d}{"  (not core)" if name in OUTSIDE else ""}')
    print(f'{"core":24s}{sum(n for name, n in size.items() if name not in OUTSIDE):7d}'
          f' lines of code without docstrings and licence headers')
    names = exported()
    print(f'{"top-level names":24s}{len(public_names()):7d} functions and classes of the core')
    print(f'{"exported names":24s}{len(set().union(*names.values())):7d} in __all__ of the core')
    print(f'{"of the package itself":24s}{len(names["robot_identification"]):7d}')
    print(f'functions over {LONGEST} lines: {", ".join(long_functions()) or "none"}')
    print('import circles: ' + ('; '.join(' <-> '.join(c) for c in circles()) or 'none'))


if __name__ == '__main__':
    main()
