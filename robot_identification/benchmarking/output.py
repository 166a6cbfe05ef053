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
"""Files of a benchmark: a page, tables in CSV, LaTeX and Markdown, sources, and all figures."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
import csv
import io
import json
from pathlib import Path
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from robot_identification.benchmarking.data import RANKED
from robot_identification.benchmarking.measure import FAILED, NOT_APPLICABLE, OK
from robot_identification.benchmarking.method import MODELS
from robot_identification.benchmarking.run import BenchmarkRun
from robot_identification.errors import RobotIdentificationError
from robot_identification.output_folder import replace_files
from robot_identification.reporting.figure import Curve, Figure, Panel, SERIES
from robot_identification.reporting.pages import render_page
from robot_identification.reporting.results_dict import environment, plain

DRAWS = 4000
"""Bootstrap draws of data sets, and of the cases in each."""
REFERENCE = ('wls', 'coulomb_viscous', 'consistent')
"""Estimator, friction and model to whose errors the others are compared."""
HEADS = ('method', 'friction', 'model', 'error / wls', 'rank', 'error', 'worst joint', 'time [s]',
         'failed')
FILES = ('benchmark.json', 'benchmark.html', 'table.csv', 'table.tex', 'table.md', 'cite.bib')
SOURCES = Path(__file__).with_name('sources.bib')


def write_benchmark(run: BenchmarkRun, folder: Path) -> dict[str, Any]:
    """
    Write the files of a run, and return the content of `benchmark.json` without the records.

    Parameters
    ----------
    run
        The run.
    folder
        Output folder.

    """
    groups = _rank_groups(run)
    rows = next(iter(groups.values()))
    names = [each.name for each in run.data]
    by_data = [(row, [row['ratios'].get(name, np.nan) for name in names]) for row in rows]
    contents: dict[str, Any] = {
        'quick': run.quick, 'seeds': run.seeds, 'budget': run.budget, 'metrics': run.metrics,
        'reference': ' '.join(REFERENCE), 'environment': environment(),
        'data': [{'name': each.name, 'summary': each.summary, 'splits': list(each.splits()),
                  'drawn': each.drawn} for each in run.data],
        'missing': run.missing,
        'table': [{'data': name, **{key: value for key, value in row.items()
                                    if key not in ('estimator', 'ratios')}}
                  for name, part in groups.items() for row in part],
        'by_data': [{**{key: row[key] for key in HEADS[:3]}, **dict(zip(names, ratios))}
                    for row, ratios in by_data],
        'failures': _failures(run)}
    texts = {
        'benchmark.json': json.dumps(plain({**contents, 'records': run.records}), indent=1),
        'benchmark.html': render_page(
            'benchmark.html', 'robot_identification.benchmarking', run=contents, groups=groups,
            names=names, by_data=by_data, figure=_cost_figure(rows),
            joints=list(_joint_tables(run, rows))),
        'table.csv': _write_csv(contents['table']), 'table.tex': _write_latex(groups),
        'table.md': _markdown(groups, names, by_data),
        'cite.bib': collect_sources(run)}
    _write_texts(texts, folder)
    return contents


def _write_texts(texts: Mapping[str, str], folder: Path) -> None:
    """Write texts to the files of their names in a folder, all at once."""
    with replace_files(folder) as new:
        for name, text in texts.items():
            (new / name).write_text(text, encoding='utf-8')


def _rank_groups(run: BenchmarkRun) -> dict[str, list[dict[str, Any]]]:
    """Return the ranked methods by group: all data, then recordings and simulated arms apart."""
    kinds = {each.name: 'Simulated arms' if each.drawn else 'Recordings' for each in run.data}
    present = sorted({kinds[record['data']] for record in run.records})
    groups = {'All data' if len(present) > 1 else present[0]: run.records} | {
        kind: [record for record in run.records if kinds[record['data']] == kind]
        for kind in present}
    return {name: rank_methods(records, run.metrics) for name, records in groups.items()}


def rank_methods(records: Sequence[Mapping[str, Any]],
                 metrics: Sequence[str]) -> list[dict[str, Any]]:
    """
    Return the rows of the table, the smallest error first.

    Cases of one data set are alike, so intervals come from a nested bootstrap: data sets are drawn
    with replacement, and cases within each. Methods that do not apply to a case are not ranked in
    it; those that apply to none have no row.

    Parameters
    ----------
    records
        Records of a run.
    metrics
        Names of the metrics.

    Returns
    -------
    list
        Mappings: `estimator`, its name in tables `method`, `friction` and the `model` that counts;
        `error_ratio`, the geometric mean of the error over that of `REFERENCE` in the same cases,
        NaN if there is none, and `rank`, the mean rank over the cases, where a failure is last;
        the ends `_low` and `_high` of the 95 % intervals of both; `seconds`, the median processor
        time of a fit [s]; `cases`, `failures` and `not_ok`, the numbers of cases, of those without
        a result, and of results that are not 'ok'; `median_` of each metric over the cases; and
        `ratios`, the error ratio of the cases of each data set, as far as it is known.

    """
    from scipy.stats import rankdata

    entries = list(dict.fromkeys(_entry(record) for record in records))
    cases = list(dict.fromkeys(_case(record) for record in records))
    table = {(_entry(record), _case(record)): record for record in records}
    errors = np.full((len(entries), len(cases)), np.nan)
    applies = np.zeros_like(errors, dtype=bool)
    for (entry, case), record in table.items():
        if record['state'] != NOT_APPLICABLE:
            place = entries.index(entry), cases.index(case)
            applies[place] = True
            errors[place] = record['metrics'].get(RANKED, np.nan)
    ranks = rankdata(np.where(np.isnan(errors), np.inf, errors), axis=0)    # equals: mean rank
    data = np.array([case[0] for case in cases])
    names = list(dict.fromkeys(data.tolist()))
    weights = _draw_cases(data, names, np.random.default_rng(0))
    logs = np.log(errors / errors[entries.index(REFERENCE)]) if REFERENCE in entries else (
        np.full_like(errors, np.nan))
    rows = []
    for i, entry in enumerate(entries):
        if not np.any(applies[i]):
            continue
        own = [table[entry, case] for case in cases if (entry, case) in table]
        rank = _mean(ranks[i], applies[i], weights).tolist()
        ratio = np.exp(_mean(logs[i], np.isfinite(logs[i]), weights)).tolist()
        rows.append({
            'estimator': entry[0], 'method': entry[0].rpartition(':')[2], 'friction': entry[1],
            'model': entry[2], 'error_ratio': ratio[0], 'error_ratio_low': ratio[1],
            'error_ratio_high': ratio[2], 'rank': rank[0], 'rank_low': rank[1],
            'rank_high': rank[2],
            'seconds': _median([record.get('seconds') for record in own]),
            'cases': int(applies[i].sum()),
            'failures': sum(record['state'] == FAILED for record in own),
            'not_ok': sum(record['state'] == OK and record['status'] != 'ok' for record in own),
            **{f'median_{name.rpartition(":")[2]}': _median(
                [record['metrics'].get(name) for record in own]) for name in metrics},
            'ratios': {name: float(np.exp(np.mean(logs[i, kept]))) for name in names
                       if np.any(kept := (data == name) & np.isfinite(logs[i]))}})
    return sorted(rows, key=lambda row: (
        np.isnan(row['error_ratio']), row['error_ratio'], row['rank']))


def _entry(record: Mapping[str, Any]) -> tuple[str, str, str]:
    return record['estimator'], record['friction'], record['model']


def _case(record: Mapping[str, Any]) -> tuple[str, str, int]:
    return record['data'], record['split'], record['seed']


def _draw_cases(data: NDArray[np.str_], names: Sequence[str], rng: np.random.Generator) -> Array:
    """Return how often each draw contains each case, (draws, cases)."""
    groups = [np.flatnonzero(data == name) for name in names]
    weights = np.zeros((DRAWS, len(data)))
    for draw in weights:
        for k in rng.integers(len(groups), size=len(groups)):
            np.add.at(draw, rng.choice(groups[k], size=len(groups[k])), 1)
    return weights


def _mean(values: Array, used: Array, weights: Array) -> Array:
    """Return the mean of the used values, and the ends of its 95 % interval over the draws."""
    if not np.any(used):
        return np.full(3, np.nan)
    counts = weights @ used
    sums = weights @ np.where(used, values, 0.0)
    drawn = sums[counts > 0] / counts[counts > 0]
    return np.array([np.mean(values[used]), *np.percentile(drawn, (2.5, 97.5))])


def _median(values: Sequence[float | None]) -> float:
    """Return the median of the known values; NaN if none is known."""
    known = [value for value in values if value is not None and np.isfinite(value)]
    return float(np.median(known)) if known else float('nan')


def _markdown(groups: Mapping[str, Sequence[Mapping[str, Any]]], names: Sequence[str],
              by_data: Sequence[tuple[Mapping[str, Any], Sequence[float]]]) -> str:
    """Return the tables of ranks, and that of the data sets, in Markdown."""
    parts: list[tuple[str, Sequence[str], list[list[str]]]] = [
        (name, HEADS, [_text_cells(row, ' to ') for row in rows])
        for name, rows in groups.items()]
    parts.append(('Error / wls in each data set', (*HEADS[:3], *names), [
        [*(row[key] for key in HEADS[:3]), *(_format_number(x, '.2f') for x in ratios)]
        for row, ratios in by_data]))
    return '\n'.join(f'### {name}\n\n' + ''.join(
        f"| {' | '.join(line)} |\n" for line in (heads, ['---'] * len(heads), *rows))
        for name, heads, rows in parts)


def _failures(run: BenchmarkRun) -> list[dict[str, Any]]:
    """Return methods that failed or did not apply, with their sentences and numbers of cases."""
    found: dict[tuple[str, ...], Counter[str]] = {}
    for record in run.records:
        if record['state'] != OK:
            key = (record['estimator'].rpartition(':')[2], record['friction'], record['state'],
                   record['reason'])
            found.setdefault(key, Counter())[record['data']] += 1
    names = ('method', 'friction', 'state', 'reason')
    return [dict(zip(names, key), data=', '.join(counts), count=counts.total())
            for key, counts in found.items()]


def _cost_figure(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Return the figure of errors over processor time."""
    shown = [row for row in rows
             if np.isfinite(row['error_ratio']) and np.isfinite(row['seconds'])]
    ends = [(row['error_ratio_low'], row['error_ratio_high']) for row in shown]
    limits = (0.95 * float(np.min(ends)), 1.05 * float(np.max(ends))) if ends else None
    curves = [Curve(', '.join(row[key] for key in HEADS[:3]), np.array([row['seconds']]),
                    np.array([row['error_ratio']]), SERIES[k % len(SERIES)], 8.0, 'points',
                    bars=np.array(ends[k])[:, None])
              for k, row in enumerate(shown)]
    return Figure('cost', 'Error over cost', 'processor time of a fit [s]',
                  (Panel('error / wls [1]', tuple(curves), log=True, limits=limits),), 420,
                  log_x=True,
                  description='Error relative to weighted least squares over processor time')


def _joint_tables(run: BenchmarkRun, rows: Sequence[Mapping[str, Any]]
                  ) -> Iterator[tuple[str, list[str], list[Any]]]:
    """Yield data set, joints, and the median error of each joint by method."""
    for each in run.data:
        records = [record for record in run.records if record['data'] == each.name
                   and record['state'] == OK]
        if not records:
            continue
        joints = list(records[0]['joints'])
        table = []
        for row in rows:
            own = [list(record['joints'].values()) for record in records
                   if _entry(record) == _entry(row)]
            if own:
                table.append((row, np.median(own, axis=0).tolist()))
        yield f'{each.name}: {each.summary}', joints, table


def _write_csv(cells: Sequence[Mapping[str, Any]]) -> str:
    """Return rows with the same keys as CSV text."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(cells[0]), lineterminator='\n')
    writer.writeheader()
    writer.writerows(cells)
    return text.getvalue()


def _format_number(value: float, form: str) -> str:
    """Return a number as text in a format, '-' for NaN."""
    return '-' if np.isnan(value) else format(value, form)


def _text_cells(row: Mapping[str, Any], dash: str) -> list[str]:
    """
    Return the texts of a row for LaTeX and Markdown, in the order of `HEADS`.

    `dash` is the text between the ends of an interval.
    """
    def with_interval(name: str, form: str) -> str:
        ends = dash.join(f'{row[name + end]:{form}}' for end in ('_low', '_high'))
        return '-' if np.isnan(row[name]) else f'{row[name]:{form}} ({ends})'

    return [row['method'], row['friction'], row['model'], with_interval('error_ratio', '.2f'),
            with_interval('rank', '.1f'), _format_number(row['median_error'], '.1%'),
            _format_number(row['median_worst_joint'], '.1%'),
            _format_number(row['seconds'], '.2g'), f"{row['failures']} of {row['cases']}"]


def _write_latex(groups: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return a LaTeX table, for the package booktabs, of the rows by the name of their data."""
    def line(cells: Sequence[str]) -> str:
        escaped = (re.sub(r'([_%&#])', r'\\\1', cell) for cell in cells)
        return ' & '.join(escaped) + r' \\'

    lines = [r'\begin{tabular}{lllrrrrrr}', r'\toprule', line(HEADS)]
    for name, rows in groups.items():
        lines += [r'\midrule', rf'\multicolumn{{9}}{{l}}{{{name}}} \\', r'\midrule',
                  *(line(_text_cells(row, '--')) for row in rows)]
    return '\n'.join([*lines, r'\bottomrule', r'\end{tabular}', ''])


def collect_sources(run: BenchmarkRun) -> str:
    """
    Return the BibTeX entries of the methods and data sets of a run.

    A method or data set of a user adds its own entries with an attribute `bibtex`.

    Parameters
    ----------
    run
        The run.

    """
    known = {key: entry for entry, key in re.findall(
        r'^(@\w+\{([^,]+),.*?^\}$)', SOURCES.read_text(encoding='utf-8'),
        re.MULTILINE | re.DOTALL)}
    keys = {'robot_identification', *(key for method in run.methods for key in method.sources)}
    entries = [known[key] for key in sorted(keys)]
    for method in run.methods:
        if method.estimator not in MODELS:
            try:
                entries.append(str(getattr(method.kind, 'bibtex', '')))
            except RobotIdentificationError:
                continue    # its failure is in the table
    entries += [each.bibtex for each in run.data]
    texts = dict.fromkeys(entry.strip() for entry in entries)
    return '\n\n'.join(text for text in texts if text) + '\n'
