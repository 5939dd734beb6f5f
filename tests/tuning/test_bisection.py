"""Bisection against brute force over every pattern of a short grid."""

from __future__ import annotations

import itertools
import math

import pytest

from tsnbench.tuning.bisection import first, greatest


@pytest.mark.parametrize("count", [1, 2, 3, 7, 40, 400])
def test_a_monotone_grid_has_the_answer_of_brute_force_in_few_evaluations(count: int) -> None:
    for answer in range(count + 1):
        found = first(count, lambda place, answer=answer: place >= answer)
        assert found.place == (answer if answer < count else None)
        assert found.back is None
        assert len(found.evaluated) <= math.ceil(math.log2(count)) + 3
        if found.place is not None:
            beside = {found.place - 1, found.place + 1} & set(range(count))
            assert beside <= set(found.evaluated)


@pytest.mark.parametrize("count", range(1, 9))
def test_an_answer_that_is_called_certain_is_right_for_every_pattern(count: int) -> None:
    for pattern in itertools.product([False, True], repeat=count):
        right = next((place for place in range(count) if pattern[place]), None)
        found = first(count, pattern.__getitem__)
        assert found.place is None or pattern[found.place]
        assert not found.certain or found.place == right
        assert first(count, pattern.__getitem__, every=True).place == right


def test_a_grid_that_is_not_monotone_is_noticed_beside_the_answer() -> None:
    found = first(5, [False, True, False, True, True].__getitem__)
    assert (found.place, found.back) == (3, None)
    assert not found.certain
    found = first(6, [False, False, False, True, False, True].__getitem__)
    assert (found.place, found.back) == (3, 4)
    found = first(5, [False, True, False, True, True].__getitem__, every=True)
    assert (found.place, found.back, found.certain) == (1, 2, True)


@pytest.mark.parametrize("most", [1, 2, 3, 10, 1000])
def test_the_greatest_number_is_that_of_brute_force(most: int) -> None:
    for begin in {1, 2, most // 2, most} & set(range(1, most + 1)):
        for answer in range(min(most, 130) + 1):
            found = greatest(begin, most, lambda number, answer=answer: number <= answer)
            assert found.place == (answer or None)
            assert set(found.evaluated) <= set(range(1, most + 1))
            assert max(found.evaluated) <= max(2 * answer, 2 * begin)
            assert len(found.evaluated) <= 2 * math.log2(max(2, abs(answer - begin))) + 4
            if answer and answer < most:
                assert {answer, answer + 1} <= set(found.evaluated)
            assert found.certain == (answer == most or most == 1)
