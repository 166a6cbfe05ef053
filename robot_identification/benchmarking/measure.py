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
"""Fit of methods to one case, and the errors of their predictions."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
import ctypes
from dataclasses import replace
import inspect
import threading
import time
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.benchmarking.data import BenchmarkCase, DATA, METRICS, TorquePrediction
from robot_identification.benchmarking.method import BenchmarkMethod, FREE
from robot_identification.benchmarking.recorded_data import RecordedData
from robot_identification.errors import RobotIdentificationError
from robot_identification.estimation import Fit
from robot_identification.estimation.estimator import AUTO
from robot_identification.estimation.model_fit import fit_model
from robot_identification.parallel import single_threaded_blas, use_cores

OK, FAILED, NOT_APPLICABLE = 'ok', 'failed', 'not applicable'
COMPILED = 60.0
"""[s] Limit of the processor time of the first call of a method, which compiles its code."""
TIMED = 200
"""Evaluations of the first call of a search; each further call has twice as many."""
LONG_ENOUGH = 0.1
"""Fraction of the budget by which a call of a search is longer than the one before, so that the
difference, without what every fit takes, shows its speed."""
MANY = 100_000_000
"""Evaluations above which a setting `budget` counts as one without influence on the time."""
FILLED = (0.7, 0.35)
"""Fractions of the budget that the evaluations of a search fill, by the measured speed. The second
counts if a search is stopped with the first, because the processor was faster when it was
measured."""
POLL = 0.05    # [s] between two checks of the processor time
AGAIN = 2.0    # [s] until the error is raised once more
_started: set[BenchmarkMethod] = set()
"""Methods that this process has called, whose code is therefore compiled."""


def open_data(name: str) -> Any:
    """
    Return a data set.

    Parameters
    ----------
    name
        Key in `DATA`, path of a YAML file, or place of a class ('my_file.py:Mine').

    """
    return RecordedData(name) if name.endswith(('.yaml', '.yml')) else DATA.find(name)()


def measure_case(data: str, split: str, seed: int, methods: Sequence[BenchmarkMethod],
                 budget: float, metrics: Sequence[str]) -> list[dict[str, Any]]:
    """
    Fit methods to a case, and return a record of each model.

    A method that raises any exception is recorded as failed, with its sentence.

    Parameters
    ----------
    data, split, seed
        As for `open_data` and `BenchmarkData.load`.
    methods
        The methods.
    budget
        Processor time of a fit [s]. A method that exceeds it is stopped and failed; an estimator
        with a setting `budget` gets as many evaluations as fill it.
    metrics
        Keys in `METRICS`, or places of functions.

    """
    use_cores(1)
    with single_threaded_blas():
        case = open_data(data).load(split, seed)
        return [{'split': split, 'seed': seed, 'estimator': method.estimator,
                 'friction': method.friction, 'digest': method.digest, **record}
                for method in methods
                for record in _measure_method(case, method, seed, budget, metrics)]


def _measure_method(case: BenchmarkCase, method: BenchmarkMethod, seed: int, budget: float,
                    metrics: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the records of the models of a method, see `BenchmarkMethod.models`."""
    state, reason, results, facts = OK, '', {}, dict[str, Any]()
    try:
        if reason := _missing(case, method):
            state = NOT_APPLICABLE
        else:
            fit, facts = _fit_within(case, method, seed, budget)
            results = {model: _evaluate(case, method, fit, model, metrics)
                       for model in method.models}
    except ProcessorLimitError:
        state, reason = FAILED, f'stopped after {budget:g} s of processor time'
    except Exception as error:    # whatever a method of a user raises
        state = FAILED
        reason = (str(error) if isinstance(error, RobotIdentificationError)
                  else f'{type(error).__name__}: {error}')
    for model in method.models:
        yield {'model': model, 'state': state, 'reason': reason, **facts,
               **results.get(model, {'metrics': {}, 'joints': {}})}


def _missing(case: BenchmarkCase, method: BenchmarkMethod) -> str:
    """Return a sentence on what a method needs and a case lacks; empty if it lacks nothing."""
    if method.estimator == AUTO:
        return ''
    if method.kind.info.control_law and case.control_law is None:
        return 'the reference and the control law of the recording are unknown'
    if method.kind.needs_repeats and any(each.noise is None for each in case.fitted):
        return 'the motion is not repeated'
    return ''


def _fit_within(case: BenchmarkCase, method: BenchmarkMethod, seed: int,
                budget: float) -> tuple[Fit, dict[str, Any]]:
    """Return the fit, and facts about it: processor time, evaluations, status."""
    settings: dict[str, Any] = {}
    accepted = {} if method.estimator == AUTO else inspect.signature(method.kind).parameters
    if 'reference' in accepted and case.control_law is not None:
        settings |= {'reference': case.reference, 'control_law': case.control_law}
    if 'seed' in accepted:
        settings['seed'] = seed

    def fit(extra: Mapping[str, Any], limit: float = budget) -> tuple[Fit, float]:
        options = replace(method.options, settings={**settings, **extra})
        began = time.process_time()
        with processor_limit(limit):
            result = fit_model(case.arm, case.fitted, options, lambda text, fraction: None)
        return result.fit, time.process_time() - began

    first = method not in _started
    _started.add(method)
    extra: dict[str, Any] = {}
    if 'budget' not in accepted:
        if first:
            with suppress(ProcessorLimitError):
                fit({}, COMPILED)
        result, seconds = fit({})
    else:
        if first:
            fit({'budget': TIMED}, COMPILED)
        count, before, seconds = TIMED, np.inf, fit({'budget': TIMED})[1]
        while seconds - before < LONG_ENOUGH * budget and count < MANY:
            count, before = 2 * count, seconds
            seconds = fit({'budget': count})[1]
        speed = count / 2 / max(seconds - before, LONG_ENOUGH * budget)
        counts = [int(count + speed * (fraction * budget - seconds)) for fraction in FILLED]
        try:
            result, seconds = fit(extra := {'budget': counts[0]})
        except ProcessorLimitError:
            result, seconds = fit(extra := {'budget': counts[1]})
    return result, {'seconds': seconds, 'evaluations': extra.get('budget'),
                    'status': result.estimate.status}


def _evaluate(case: BenchmarkCase, method: BenchmarkMethod, fit: Fit, model: str,
              metrics: Sequence[str]) -> dict[str, Any]:
    """Return the metrics and the joints' errors of one model of a fit."""
    regression = fit.on(case.held_out)
    base, rows = regression.base, regression.rows()
    values = fit.estimate.values if model == FREE else base.project(fit.consistent.values)
    predicted = np.column_stack([row[:, :-1] @ values[columns]
                                 for row, columns in zip(rows, base.joint_columns)])
    truth: Array | None = case.truth.get(method.friction)
    prediction = TorquePrediction(
        case.arm.joint_names, np.column_stack([row[:, -1] for row in rows]), predicted,
        fit.estimate, None if truth is None else base.project(truth))
    return {'metrics': {name: float(METRICS.find(name)(prediction)) for name in metrics},
            'joints': dict(zip(prediction.joint_names, prediction.joint_errors().tolist()))}


class ProcessorLimitError(Exception):
    """A call used more processor time than it was given."""


@contextmanager
def processor_limit(seconds: float) -> Iterator[None]:
    """
    Raise an error in this thread once the process has used an amount of processor time.

    The time of all threads of the process counts, because searches use several. Signals would only
    work in the main thread, but a Dask worker runs tasks in another one. The error is raised
    between two operations of Python, so a long call of compiled code ends first. A library whose
    callback swallows it may raise another one because of that, which is replaced by it.

    Parameters
    ----------
    seconds
        The processor time [s].

    Raises
    ------
    ProcessorLimitError
        The time is used up.

    """
    thread = threading.get_ident()
    end, done = time.process_time() + seconds, threading.Event()

    def watch() -> None:
        wait = POLL
        while not done.wait(wait):
            if time.process_time() > end:    # again if a callback of a library swallows it
                wait = AGAIN
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread), ctypes.py_object(ProcessorLimitError))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    except Exception as error:
        if time.process_time() > end:
            raise ProcessorLimitError from error
        raise
    finally:
        done.set()
        watcher.join()
