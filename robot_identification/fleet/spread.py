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
"""One robot on several workers: each of its recordings is read, processed and reduced by one."""

from __future__ import annotations

from collections import deque, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any
from uuid import uuid4

from robot_identification.arm import load_arm
from robot_identification.errors import RobotIdentificationError
from robot_identification.estimation import FitOptions, get_estimator
from robot_identification.estimation.auto import AUTO
from robot_identification.estimation.fit import PLAIN
from robot_identification.fleet.cluster import Tasks
from robot_identification.fleet.plan import Job
from robot_identification.parts import Far, over, Shelf

_AHEAD = 2
"""Tasks that wait for each worker, so that results do not pile up anywhere."""
_ROBOTS = 4
"""Robots whose recordings a worker keeps on its disk at a time."""
_FIRST = 10
"""Priority of a recording's task over those of whole robots."""


LONG = 4_000_000
"""
Bytes a recording on average from which sharing is worth its tasks: 40 000 to 80 000 samples.

Twenty recordings of 12 000 samples (1.3 MB each) took longer on two workers than on one, four of
300 000 (33 MB) less (docs/scale.md).
"""


@dataclass(frozen=True)
class _Recipe:
    """
    How items are made, by whoever needs one that he does not have.

    Parameters
    ----------
    robot, name
        Whose items they are, and what this step is called.
    function, given
        Makes an item: function(*items, *given).
    sequences
        Recipes of its items, or the items themselves.
    first
        Number of the first item of the latter.

    """

    robot: str
    name: str
    function: Callable[..., Any]
    given: tuple[Any, ...]
    sequences: tuple[_Recipe | Sequence[Any], ...]
    first: int = 0

    def of(self, group: slice) -> _Recipe:
        """Return the recipe of some of the items alone."""
        return _Recipe(self.robot, self.name, self.function, self.given, _of(
            self.sequences, group), group.start)


def _of(sequences: Sequence[_Recipe | Sequence[Any]],
        group: slice) -> tuple[_Recipe | Sequence[Any], ...]:
    return tuple(one.of(group) if isinstance(one, _Recipe) else list(one[group])
                 for one in sequences)


class _Store:
    """What a worker has of a robot: items by step and number, on a shelf."""

    def __init__(self) -> None:
        self._lock, self._shelf = Lock(), Shelf()
        self._places: dict[tuple[str, int], int] = {}

    def item(self, recipe: _Recipe, number: int) -> Any:
        """Return an item, made if it is not there."""
        key = (recipe.name, number)
        if key not in self._places:
            made = recipe.function(*self.items(recipe.sequences, number, recipe.first),
                                   *recipe.given)
            with self._lock:
                if key not in self._places:
                    self._shelf.append(made)
                    self._places[key] = len(self._shelf) - 1
        return self._shelf[self._places[key]]

    def items(self, sequences: Sequence[_Recipe | Sequence[Any]], number: int,
              first: int) -> list[Any]:
        """Return the items of one number."""
        return [self.item(one, number) if isinstance(one, _Recipe) else one[number - first]
                for one in sequences]


class _Numbered(Sequence[Any]):
    """The items of a store, made when they are asked for."""

    def __init__(self, store: _Store, recipe: _Recipe, group: slice) -> None:
        self._store, self._recipe, self._group = store, recipe, group

    def __len__(self) -> int:
        return int(self._group.stop - self._group.start)

    def __getitem__(self, number: Any) -> Any:
        if not 0 <= number < len(self):
            raise IndexError(number)
        return self._store.item(self._recipe, self._group.start + number)


_stores: OrderedDict[str, _Store] = OrderedDict()
_stores_lock = Lock()


def _store(robot: str) -> _Store:
    with _stores_lock:
        _stores.setdefault(robot, _Store())
        _stores.move_to_end(robot)
        while len(_stores) > _ROBOTS:
            _stores.popitem(last=False)
        return _stores[robot]


def _forget(robot: str) -> None:
    with _stores_lock:
        _stores.pop(robot, None)


def _task(robot: str, function: Callable[..., Any], sequences: Sequence[_Recipe | Sequence[Any]],
          given: tuple[Any, ...], group: slice, add: Callable[[Any, Any], Any] | None) -> Any:
    store = _store(robot)
    items = [_Numbered(store, one, group) if isinstance(one, _Recipe) else one
             for one in sequences]
    return (list(over(function, *items, given=given)) if add is None
            else Far.added(function, add, items, given))


class Workers(Tasks):
    """
    The workers of a robot.

    Parameters
    ----------
    client
        Client of Dask.
    here
        Address of the worker on which the robot itself is identified.

    """

    def __init__(self, client: Any, here: str) -> None:
        super().__init__(client, here)
        self.robot, self.addresses = str(uuid4()), sorted(client.nthreads())

    @staticmethod
    def can_share(job: Job) -> bool:
        """
        Return whether several workers can share the recordings of a robot.

        Where the estimate is made of triangular factors and residuals; delays, shapes of friction,
        a tilted base and other estimators look at all samples again and again.
        """
        settings = job.settings
        estimator = settings.get('estimator', 'wls')
        if estimator == AUTO or len(job.recordings) < 2:
            return False
        try:
            options = FitOptions(get_estimator(estimator, **settings.get('settings', {})),
                                 settings.get('friction') or PLAIN, settings.get('delay', ''))
            return not options.nonlinear(load_arm(job.robot))
        except RobotIdentificationError:    # it is said by the worker
            return False

    @staticmethod
    def long_enough(size: int, job: Job) -> bool:
        """Return whether recordings of so many bytes together are worth being shared."""
        return size >= LONG * len(job.recordings)

    @classmethod
    @contextmanager
    def of_this_task(cls) -> Iterator[Workers]:
        """Give the workers of the cluster to the task that this is called in."""
        from distributed import get_worker, worker_client
        here = get_worker().address
        with worker_client() as client:
            workers = cls(client, here)
            try:
                yield workers
            finally:
                with suppress(Exception):    # what a worker keeps goes anyway when others come
                    client.run(partial(_forget, workers.robot), on_error='ignore')

    def start(self, number: int, *task: Any) -> Any:
        """Start a task of a group, on the worker that has most of what it needs."""
        return self.submit(
            _task, self.robot, *task, priority=_FIRST, allow_other_workers=True,
            workers=[self.addresses[number % len(self.addresses)]])

    def results(self, tasks: Iterator[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield what tasks return, in their order, a few of them begun ahead."""
        waiting: deque[Any] = deque()
        for number, task in enumerate(tasks):
            waiting.append(self.start(number, *task))
            if len(waiting) > _AHEAD * len(self.addresses):
                yield self.found(waiting.popleft())
        while waiting:
            yield self.found(waiting.popleft())


class Spread(Far):
    """
    Items of a robot's recordings on several workers.

    Parameters
    ----------
    workers
        The workers.
    recipe
        How they are made.
    count
        Number of recordings.

    """

    def __init__(self, workers: Workers, recipe: _Recipe, count: int) -> None:
        self._workers, self._recipe, self._count = workers, recipe, count

    @classmethod
    def of(cls, workers: Workers, function: Callable[..., Any], sources: Sequence[Any],
           given: tuple[Any, ...]) -> Spread:
        """Return what a function makes of sources."""
        return cls(workers, _Recipe(workers.robot, str(uuid4()), function, given, (sources,)),
                   len(sources))

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            raise TypeError('a part of what is far away is not asked for')
        group = slice(range(self._count)[number], range(self._count)[number] + 1)
        [[found]] = self._results(_itself, (self,), (), [group], None)
        return found

    def over(self, function: Callable[..., Any], sequences: Sequence[Sequence[Any]],
             given: tuple[Any, ...]) -> Iterator[Any]:
        """Yield function(*items, *given), see `robot_identification.parts`."""
        for found in self._results(function, sequences, given, self.groups(self._count), None):
            yield from found

    def mapped(self, function: Callable[..., Any], sequences: Sequence[Sequence[Any]],
               given: tuple[Any, ...]) -> Spread:
        """Return the same as a sequence whose items stay with the workers."""
        return Spread(self._workers, _Recipe(
            self._workers.robot, str(uuid4()), function, given, _recipes(sequences)), self._count)

    def merged(self, function: Callable[..., Any], add: Callable[[Any, Any], Any],
               sequences: Sequence[Sequence[Any]], given: tuple[Any, ...]) -> Iterator[Any]:
        """Yield the sum of the same over each group."""
        return self._results(function, sequences, given, self.groups(self._count), add)

    def _results(self, function: Callable[..., Any], sequences: Sequence[Sequence[Any]],
                 given: tuple[Any, ...], parts: Sequence[slice],
                 add: Callable[[Any, Any], Any] | None) -> Iterator[Any]:
        recipes = _recipes(sequences)
        return self._workers.results((function, _of(recipes, group), given, group, add)
                                     for group in parts)


def _recipes(sequences: Sequence[Sequence[Any]]) -> tuple[_Recipe | Sequence[Any], ...]:
    return tuple(one._recipe if isinstance(one, Spread) else one for one in sequences)


def _itself(item: Any) -> Any:
    return item
