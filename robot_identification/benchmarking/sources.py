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
"""BibTeX entries of the methods and data sets of a benchmark."""

from __future__ import annotations

from pathlib import Path
import re

from robot_identification.benchmarking.method import MODELS
from robot_identification.benchmarking.run import BenchmarkRun
from robot_identification.errors import RobotIdentificationError

SOURCES = Path(__file__).with_name('sources.bib')


def collect_sources(run: BenchmarkRun) -> str:
    """
    Return the BibTeX entries of the methods and data sets of a run.

    A method or data set of a user adds its own entries with an attribute `bibtex`.

    Parameters
    ----------
    run
        The run.

    """
    known = dict(re.findall(r'^(@\w+\{([^,]+),.*?^\}$)', SOURCES.read_text(encoding='utf-8'),
                            re.MULTILINE | re.DOTALL))
    known = {key: entry for entry, key in known.items()}
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
