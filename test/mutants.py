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
Random changes of safety code, one at a time, that the tests must notice: `make mutants`.

Lines are drawn with a seed, and for each line a change: one of cosmic-ray (operators, comparisons,
constants), the opposite function (min for max), a variable of the same kind, or a deleted
statement. The tests run in a copy of the checkout up to the first failure, those first that name
something of the changed file. Changes that make no difference, or none that matters, are listed
with the reason in test/data/equivalent_mutants.yaml.
"""

from __future__ import annotations

import argparse
import difflib
from functools import cache
import os
from pathlib import Path
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from cosmic_ray.ast import ast_nodes
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator, operator_names
import parso
from parso.python.tree import ExprStmt, Function, Name, Number
import yaml

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / 'robot_identification'
EQUIVALENT = ROOT / 'test' / 'data' / 'equivalent_mutants.yaml'
TESTS = {    # tests of a package that take seconds, the quickest first
    'excitation/certificate': ('test_excitation_certificate.py',),
    'ros/execution': ('test_execution_thresholds.py', 'test_execution.py',
                      'controllers/test_faults.py'),
}
MEMORY = 8 * 2 ** 30    # [B] a change may ask for an array of any size
PAIRS = ('min max', 'minimum maximum', 'any all', 'argmin argmax', 'floor ceil', 'sin cos',
         'lower upper', 'append extend', 'first last', 'isfinite isnan')
OPPOSITE = {x: y for pair in PAIRS for x, y in (pair.split(), pair.split()[::-1])}


class SwapName(Operator):
    """Replaces a name by its opposite, or by a variable of the same annotation or assignment."""

    def mutation_positions(self, node):
        for _ in self._others(node):
            yield node.start_pos, node.end_pos

    def mutate(self, node, index):
        node.value = self._others(node)[index]
        return node

    @staticmethod
    def _others(node):
        if not isinstance(node, Name) or node.is_definition():
            return []
        others = [OPPOSITE[node.value]] if node.value in OPPOSITE else []
        function = parso.python.tree.search_ancestor(node, 'funcdef')
        argument = node.parent.type == 'argument' and node.parent.children[0] is node
        if function is None or argument or node.get_previous_leaf().value == '.':
            return others
        return others + sorted({name for group in groups(function) if node.value in group
                                for name in group} - {node.value, 'self', *others})

    @classmethod
    def examples(cls):
        return ()


@cache
def groups(function: Function) -> list[list[str]]:
    """Return names of a function that probably have one type."""
    by_annotation = {}
    for parameter in function.get_params():
        text = parameter.annotation.get_code().strip() if parameter.annotation else ''
        by_annotation.setdefault(text, []).append(parameter.name.value)
    result = list(by_annotation.values())
    for node in ast_nodes(function):
        if node.type in ('testlist_star_expr', 'exprlist') and node.parent.children[0] is node:
            result.append([x.value for x in node.children if isinstance(x, Name)])
    return result


class DeleteStatement(Operator):
    """Replaces a call, a change of an attribute or element, or a raise statement by `pass`."""

    def mutation_positions(self, node):
        if node.type == 'simple_stmt' and self._deletable(node.children[0]):
            yield node.children[0].start_pos, node.children[0].end_pos

    def mutate(self, node, index):
        prefix = node.children[0].get_first_leaf().prefix
        node.children[0] = Name('pass', node.start_pos, prefix)
        return node

    @staticmethod
    def _deletable(statement):
        if isinstance(statement, ExprStmt):
            target, sign = statement.children[:2]
            return target.type in ('atom_expr', 'power') or sign.get_code().strip()[1:] == '='
        return statement.type in ('atom_expr', 'power', 'raise_stmt')

    @classmethod
    def examples(cls):
        return ()


# speed, random numbers, and operators that floating-point numbers do not have
LEFT_OUT = ('RemoveDecorator', 'VariableReplacer', 'VariableInserter', 'LShift', 'RShift',
            'BitOr', 'BitAnd', 'BitXor')
OPERATORS = {name: get_operator(name)() for name in operator_names()
             if not name.endswith(LEFT_OUT)} | {'swap': SwapName(), 'delete': DeleteStatement()}


def is_inert(node) -> bool:
    """Return whether a node is in an import, a decorator or an annotation."""
    while node.parent is not None:
        parent, child = node.parent, node
        if parent.type in ('import_from', 'import_name', 'decorator'):
            return True
        if parent.type in ('tfpdef', 'annassign') and child is parent.children[0 if (
                parent.type == 'annassign') else 2] and not isinstance(node, Number):
            return True
        if parent.type == 'annassign' and child is parent.children[1]:
            return True
        if parent.type == 'funcdef' and child is parent.annotation:
            return True
        node = parent
    return False


def mutations(path: Path) -> dict[int, dict[str, list[tuple[str, int]]]]:
    """Return operator and occurrence of each change of a file, by line and kind of operator."""
    result, counts = {}, dict.fromkeys(OPERATORS, -1)
    for node in ast_nodes(parso.parse(path.read_text())):
        for name, operator in OPERATORS.items():
            for start, _ in operator.mutation_positions(node):
                counts[name] += 1
                if not is_inert(node):
                    kinds = result.setdefault(start[0], {})
                    kinds.setdefault(name.split('_')[0], []).append((name, counts[name]))
    return result


def changed_lines(before: str, after: str) -> list[str]:
    """Return the lines that differ, marked with - and +."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm='')
    return [line for line in lines if line[:1] in '+-' and line[:3] not in ('+++', '---')]


def order_tests(module: str, tests: tuple[str, ...]) -> list[str]:
    """Return the test files, those first that name a public name of a module."""
    text = (PACKAGE / module).read_text()
    names = re.findall(r'^(?:def|class) ([a-zA-Z]\w+)', text, flags=re.MULTILINE)
    pattern = re.compile(rf"\b({'|'.join([Path(module).stem, *names])})\b")
    return sorted(tests, key=lambda test: not pattern.search((ROOT / 'test' / test).read_text()))


def run_tests(copy: Path, tests: list[str], seconds: float | None) -> bool:
    """Return whether the tests pass within a time."""
    command = [sys.executable, '-m', 'pytest', '-x', '-q', '-p', 'no:cacheprovider',
               '-p', 'no:xdist', *(f'test/{test}' for test in tests)]
    environment = {**os.environ, 'PYTHONPATH': str(copy), 'PYTHONDONTWRITEBYTECODE': '1',
                   'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'}
    process = subprocess.Popen(
        command, cwd=copy, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
    try:
        return process.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def copy_checkout(folder: Path) -> Path:
    """Return a copy of the checkout: of the package its files, of everything else links."""
    copy = folder / 'checkout'
    copy.mkdir()
    for path in ROOT.iterdir():
        if path.name == PACKAGE.name:
            shutil.copytree(path, copy / path.name)
        elif not path.name.startswith('.'):
            (copy / path.name).symlink_to(path)
    return copy


def main() -> None:
    """Draw changes, run the tests for each, and print those that no test noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('package', choices=TESTS)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--count', type=int, default=100)
    parser.add_argument('--files', default='', help='only files whose path contains this')
    args = parser.parse_args()
    rng, sites = random.Random(args.seed), []
    for path in sorted((PACKAGE / args.package).rglob('*.py')):
        if args.files in str(path):
            sites += [(path, line, found) for line, found in sorted(mutations(path).items())]
    drawn = [(path, line, *rng.choice(rng.choice(list(found.values()))))
             for path, line, found in rng.sample(sites, min(args.count, len(sites)))]
    known = yaml.safe_load(EQUIVALENT.read_text()) or {}
    tests, unnoticed, explained = TESTS[args.package], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        copy, start = copy_checkout(Path(folder)), time.monotonic()
        if not run_tests(copy, list(tests), None):
            sys.exit('the tests fail without a change')
        seconds = 60.0 + 10.0 * (time.monotonic() - start)
        for path, line, name, occurrence in sorted(drawn):
            module = str(path.relative_to(PACKAGE))
            target, original = copy / PACKAGE.name / module, Path(folder) / 'original.py'
            shutil.copy2(target, original)
            changed = mutate_code(original.read_text(), OPERATORS[name], occurrence)
            change = changed_lines(original.read_text(), changed)
            target.write_text(changed)
            passed = run_tests(copy, order_tests(module, tests), seconds)
            shutil.copy2(original, target)
            if passed:
                before, after = (' '.join(line[1:].split('  #')[0].strip() for line in change
                                          if line[0] == sign) for sign in '-+')
                reason = next((item['reason'] for item in known.get(module, ())
                               if (item['before'], item['after']) == (before, after)), '')
                unnoticed, explained = unnoticed + 1, explained + bool(reason)
                print(f"{module}:{line}: not noticed{f' ({reason})' if reason else ''}", *change,
                      sep='\n    ', flush=True)
    noticed = len(drawn) - unnoticed
    print(f'{noticed} of {len(drawn)} changes noticed ({noticed / len(drawn):.1%}); '
          f'{explained} of the others are explained')
    sys.exit(unnoticed > explained)


if __name__ == '__main__':
    main()
