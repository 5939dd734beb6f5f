"""A search for the best combinations: Optuna chooses, runs of the study answer.

Optuna's storages are not used. A search asks for batches of a fixed size; a search that goes on after a kill
asks the same questions from the first one on, and finds the answers in the folder of the study.
"""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from tsnbench.errors import InputError
from tsnbench.libraries import load, optuna
from tsnbench.studies.exploring.evaluation import Evaluation
from tsnbench.studies.exploring.numbers import numbers
from tsnbench.studies.exploring.questions import BATCH, Search

MISSING = "expected Optuna for a search, found none\nhint: pip install 'tsnbench[study]'"
_PATIENCE = 50
"""Known combinations in a row after which an unknown one is drawn."""
_RANDOM_FIRST = 20
"""Combinations that are chosen at random before the sampler of TPE learns."""
_POPULATION = 20
Point = tuple[str, ...]


class Searcher:
    """Chooses the combinations of a search, batch by batch.

    Args:
        search: goals, number of evaluations, sampler and seed.
        axes: the values of each varied path.

    Raises:
        InputError: Optuna is not installed.
    """

    def __init__(self, search: Search, axes: Sequence[Sequence[str]]) -> None:
        try:
            load(optuna)
        except ImportError:
            raise InputError(MISSING) from None
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.search = search
        self.axes = [tuple(axis) for axis in axes]
        self.found: dict[Point, Evaluation] = {}
        # An axis of numbers has an order; other values are choices without one.
        places = [range(len(axis)) for axis in self.axes]
        self._kinds: dict[str, Any] = {
            str(number): optuna.distributions.IntDistribution(0, len(axis) - 1)
            if numbers(axis) is not None
            else optuna.distributions.CategoricalDistribution(tuple(place))
            for number, (axis, place) in enumerate(zip(self.axes, places, strict=True))
        }
        with _quiet():
            self._study = optuna.create_study(
                directions=["maximize" if goal.great else "minimize" for goal in search.goals],
                sampler=_sampler(search),
            )
        self._waiting: list[tuple[Any, Point]] = []

    def ask(self) -> list[Point]:
        """The next combinations, in their order; empty when the search has ended."""
        every = math.prod(len(axis) for axis in self.axes)
        left = min(self.search.evaluations, every) - len(self.found)
        batch: list[Point] = []
        known = 0
        with _quiet():
            while len(batch) < min(BATCH, left):
                if known >= _PATIENCE:
                    fresh = self._unknown(batch)
                    chosen = {
                        str(n): axis.index(one)
                        for n, (axis, one) in enumerate(zip(self.axes, fresh, strict=True))
                    }
                    self._study.enqueue_trial(chosen)
                trial = self._study.ask(self._kinds)
                point = tuple(axis[trial.params[str(n)]] for n, axis in enumerate(self.axes))
                if point in self.found:
                    self._answer(trial, self.found[point])
                    known += 1
                    continue
                self._waiting.append((trial, point))
                known += point in batch
                if point not in batch:
                    batch.append(point)
                    known = 0
        return batch

    def tell(self, found: Mapping[Point, Evaluation]) -> None:
        """The evaluations of the combinations that :meth:`ask` has chosen."""
        with _quiet():
            for trial, point in self._waiting:
                self._answer(trial, found[point])
        self._waiting = []
        self.found |= found

    def _answer(self, trial: Any, one: Evaluation) -> None:
        trial.set_user_attr("violation", one.violation)
        # A combination without a value is worse than all others by its violation; the number is not used.
        self._study.tell(trial, [0.0 if value is None else value for value in one.values])

    def _unknown(self, batch: Sequence[Point]) -> Point:
        """A combination that was not chosen yet; one exists, because the batch is not full."""
        chance = random.Random(f"{self.search.seed}/{len(self.found)}/{len(batch)}")
        while True:
            for _ in range(1000):
                point = tuple(chance.choice(axis) for axis in self.axes)
                if point not in self.found and point not in batch:
                    return point
            for point in _product(self.axes):
                if point not in self.found and point not in batch:
                    return point


def _product(axes: Sequence[Sequence[str]]) -> Iterator[Point]:
    return product(*axes)


def _sampler(search: Search) -> Any:

    def constraints(trial: Any) -> tuple[float]:
        return (trial.user_attrs["violation"],)

    if search.sampler == "nsga2":
        return optuna.samplers.NSGAIISampler(
            population_size=_POPULATION, seed=search.seed, constraints_func=constraints
        )
    return optuna.samplers.TPESampler(
        seed=search.seed,
        n_startup_trials=_RANDOM_FIRST,
        gamma=_best_of_a_front if len(search.goals) > 1 else None,
        multivariate=True,
        constraints_func=constraints,
    )


def _best_of_a_front(count: int) -> int:
    """How many of the combinations count as good ones: a front has more of them than Optuna's 10 %."""
    return max(10, count // 4)


class _quiet(warnings.catch_warnings):  # noqa: N801
    """Without Optuna's warnings that a part of it is experimental."""

    def __enter__(self) -> None:
        super().__enter__()
        warnings.simplefilter("ignore")
