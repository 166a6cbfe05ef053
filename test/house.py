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
Size and structure of the package: lines of code, dependencies, long functions, repeated names.

`make house` prints the figures, and `test_house.py` compares them with `LIMITS`. Imports inside
functions count like those at the top of a file. Imports for type checking only count where this is
stated. Lines with only comments or docstrings are not lines of code.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
import io
from pathlib import Path
import tokenize

PACKAGE = Path(__file__).resolve().parents[1] / 'robot_identification'
OUTSIDE = ('ros', 'papers', 'benchmarking', 'fleet', 'servos', 'changes', 'log_formats',
           'code_generation')    # lines of the core
ENTRIES = {    # entry points for a reader, by module
    'pipeline': 'robot_identification.pipeline',
    'identify': 'robot_identification.identification',
    'excitation': 'robot_identification.excitation',
    'node excitation': 'robot_identification.ros.nodes.excitation',
    'node identification': 'robot_identification.ros.nodes.identification'}
SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
           tokenize.ENCODING, tokenize.ENDMARKER}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Limits:
    """Largest figures that `make house` accepts; a commit that raises one states the reason."""

    pipeline_files: int = 152
    pipeline_lines: int = 11_990
    core_lines: int = 22_170
    function_lines: int = 80
    imported_names: int = 25
    parameters: int = 8
    repeated_names: int = 0
    circles: int = 0


LIMITS = Limits()


def modules(package: Path = PACKAGE) -> dict[str, Path]:
    """Return the files of the package by module name."""
    files = {}
    for path in sorted(package.rglob('*.py')):
        parts = path.relative_to(package.parent).with_suffix('').parts
        files['.'.join(parts[:-1] if parts[-1] == '__init__' else parts)] = path
    return files


def package_of(name: str) -> str:
    """Return the sub-package or top-level module to which a module belongs."""
    return f'{name}.__init__'.split('.')[1]


def core(package: Path = PACKAGE) -> dict[str, Path]:
    """Return the modules of the core."""
    return {name: path for name, path in modules(package).items()
            if package_of(name) not in OUTSIDE}


def docstrings(tree: ast.AST) -> Iterator[ast.Expr]:
    """Yield the strings that are documentation: docstrings, also those below a constant."""
    for node in ast.walk(tree):
        for statement in getattr(node, 'body', []) if not isinstance(
                node, (ast.Lambda, ast.IfExp)) else []:
            if (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
                    and isinstance(statement.value.value, str)):
                yield statement


def code_lines(path: Path) -> int:
    """Return the number of lines with code."""
    text = path.read_text(encoding='utf-8')
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SKIPPED:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in docstrings(ast.parse(text)):
        lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def imports(name: str, path: Path, known: set[str], typing: bool = False) -> set[str]:
    """
    Return the modules of the package that a module may import, inside functions too.

    Importing `a.b` also runs `a`, but `a` only counts if it is imported by name, because the
    public interface of a package may be lazy. `typing` adds imports for type checking.
    """
    found: set[str] = set()
    waiting: list[ast.AST] = list(ast.parse(path.read_text(encoding='utf-8')).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and 'TYPE_CHECKING' in ast.dump(node.test) and not typing:
            waiting += node.orelse
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                member = f'{node.module}.{alias.name}'
                found.add(member if member in known else node.module)
        waiting += ast.iter_child_nodes(node)
    return (found & known) - {name}


def graph(package: Path = PACKAGE, typing: bool = False) -> dict[str, set[str]]:
    """Return, for each module, the modules that it may import."""
    files = modules(package)
    return {name: imports(name, path, set(files), typing) for name, path in files.items()}


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


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that import each other."""
    ahead = {name: set().union(*(closure(arrows, other) for other in arrows[name]))
             for name in arrows}
    groups = {tuple(sorted({name, *(other for other in ahead[name] if name in ahead[other])}))
              for name in arrows if name in ahead[name]}
    return [list(group) for group in sorted(groups)]


def exported(package: Path = PACKAGE) -> dict[str, list[str]]:
    """Return the names that modules of the core list in `__all__`."""
    found = {}
    for name, path in core(package).items():
        for node in ast.parse(path.read_text(encoding='utf-8')).body:
            if isinstance(node, ast.Assign) and any(
                    isinstance(t, ast.Name) and t.id == '__all__' for t in node.targets):
                found[name] = [c.value for c in ast.walk(node.value)
                               if isinstance(c, ast.Constant)]
    return found


def public_names(package: Path = PACKAGE) -> dict[str, list[str]]:
    """
    Return the modules that define each public function or class.

    The function of a command may have the name of the function that it calls.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for name, path in modules(package).items():
        if package_of(name) == 'cli' or name.endswith('.commands'):
            continue
        for node in ast.parse(path.read_text(encoding='utf-8')).body:
            if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and node.name[0] != '_':
                found[node.name].append(name)
    return found


def repeated_names(package: Path = PACKAGE) -> list[str]:
    """Return the public names that several modules define."""
    return [f'{name}: {", ".join(where)}' for name, where in sorted(public_names(package).items())
            if len(where) > 1 and name != 'main']


def functions(package: Path = PACKAGE) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield module and definition of every function and method."""
    for name, path in modules(package).items():
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(node, FUNCTIONS):
                yield name, node


def is_command(module: str) -> bool:
    """Return whether a module contains commands, whose parameters are command-line options."""
    return package_of(module) == 'cli' or module.endswith('.commands')


def function_lines(function: ast.FunctionDef) -> int:
    """Return the number of lines of a function: signature and body without docstring."""
    text = next((d for d in docstrings(function) if d is function.body[0]), None)
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    return lines if text is None else lines - ((text.end_lineno or text.lineno) - text.lineno + 1)


def long_functions(longest: int, package: Path = PACKAGE) -> list[str]:
    """Return the functions that are too long; compiled kernels may be longer."""
    return [f'{name}.{node.name}: {function_lines(node)} lines'
            for name, node in functions(package)
            if function_lines(node) > longest and not name.endswith('kernels')]


def many_parameters(most: int, package: Path = PACKAGE) -> list[str]:
    """Return the functions with too many parameters; commands and kernels may have more."""
    found = []
    for name, node in functions(package):
        arguments = [a.arg for a in (*node.args.posonlyargs, *node.args.args,
                                     *node.args.kwonlyargs)]
        count = len([a for a in arguments if a not in ('self', 'cls')])
        if count > most and not is_command(name) and not name.endswith('kernels'):
            found.append(f'{name}.{node.name}: {count} parameters')
    return found


def imported_names(package: Path = PACKAGE) -> Counter[str]:
    """Return the number of names that each module imports; `__init__` modules are excluded."""
    found: Counter[str] = Counter()
    for name, path in modules(package).items():
        if path.name == '__init__.py':
            continue
        names = {alias.asname or alias.name
                 for node in ast.walk(ast.parse(path.read_text(encoding='utf-8')))
                 if isinstance(node, (ast.Import, ast.ImportFrom))
                 and getattr(node, 'module', '') != '__future__' for alias in node.names}
        found[name] = len(names)
    return found


def sizes(package: Path = PACKAGE) -> Counter[str]:
    """Return the lines of code of each sub-package."""
    found: Counter[str] = Counter()
    for name, path in modules(package).items():
        found[package_of(name)] += code_lines(path)
    return found


def violations(package: Path = PACKAGE, limits: Limits = LIMITS) -> list[str]:
    """Return a message for each limit that the package exceeds."""
    files, arrows = modules(package), graph(package)
    behind = closure(arrows, ENTRIES['pipeline'])
    figures = (
        ('files behind the pipeline', len(behind), limits.pipeline_files),
        ('lines of code behind the pipeline',
         sum(code_lines(files[name]) for name in behind), limits.pipeline_lines),
        ('lines of code of the core', sum(map(code_lines, core(package).values())),
         limits.core_lines),
        ('import cycles', len(circles(arrows)), limits.circles))
    found = [f'{figure} {title}, at most {limit}'
             for title, figure, limit in figures if figure > limit]
    found += [f'{name} imports {count} names, at most {limits.imported_names}'
              for name, count in imported_names(package).items() if count > limits.imported_names]
    found += [f'{line}, at most {limits.function_lines}'
              for line in long_functions(limits.function_lines, package)]
    found += [f'{line}, at most {limits.parameters}'
              for line in many_parameters(limits.parameters, package)]
    repeated = repeated_names(package)
    if len(repeated) > limits.repeated_names:
        found += [f'defined in several modules: {line}' for line in repeated]
    return found


def main() -> None:
    """Print the figures."""
    files, arrows, by_room = modules(), graph(), sizes()
    for name, lines in by_room.most_common():
        print(f'{name:28s}{lines:7d}{"  (not core)" if name in OUTSIDE else ""}')
    inside = sum(lines for name, lines in by_room.items() if name not in OUTSIDE)
    print(f'{"core":28s}{inside:7d} lines of code, at most {LIMITS.core_lines}')
    print(f'{"package":28s}{sum(by_room.values()):7d} lines of code in {len(files)} files')
    for title, start in ENTRIES.items():
        behind = closure(arrows, start)
        print(f'{"behind " + title:28s}{sum(code_lines(files[name]) for name in behind):7d} lines '
              f'of code in {len(behind)} files' + (
                  f', at most {LIMITS.pipeline_lines} in {LIMITS.pipeline_files}'
                  if title == 'pipeline' else ''))
    print(f'{"exported names":28s}{len(set().union(*exported().values())):7d} in __all__')
    print(f'{"public names":28s}{len(public_names()):7d} functions and classes')
    (module, count), = imported_names().most_common(1)
    print(f'{"most imported names":28s}{count:7d} in {module}, at most {LIMITS.imported_names}')
    for title, found in (
            ('import circles', [' <-> '.join(c) for c in circles(arrows)]),
            (f'functions over {LIMITS.function_lines} lines',
             long_functions(LIMITS.function_lines)),
            (f'functions with over {LIMITS.parameters} parameters',
             many_parameters(LIMITS.parameters)),
            ('names defined in several modules', repeated_names())):
        print(f'{title}: {len(found) or "none"}')
        for line in found:
            print(f'    {line}')


if __name__ == '__main__':
    main()
