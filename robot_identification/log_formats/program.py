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
"""What the programs have in common that convert a log in a helper process, see `Conversion`."""

from __future__ import annotations

from collections.abc import Callable
import sys

import numpy as np


def run_program(convert: Callable[[str, str, int], int | None]) -> None:
    """
    Run a conversion with the arguments of this process: IN OUT LIMIT.

    Parameters
    ----------
    convert
        Function of the file, the file to write, and the largest size of its data [bytes]. If the
        data are larger, it returns their size, which is written to stdout.

    Raises
    ------
    SystemExit
        The conversion raised an error; its text is the reason on stderr.

    """
    try:
        size = convert(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    except Exception as error:    # damaged files raise errors of any class
        raise SystemExit(' '.join(str(error).split()) or type(error).__name__) from error
    if size is not None:
        sys.stdout.write(str(size))


def sample_rows(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return arrays with one row per sample; those of MATLAB may have one column per sample."""
    samples = max((array.size for array in arrays.values()
                   if array.ndim == 1 and array.dtype.kind in 'fiu' and array.size > 1), default=0)
    return {name: array.T if array.ndim == 2 and array.shape[1] == samples != array.shape[0]
            else array for name, array in arrays.items()}
