"""Differences of two texts, and edits that take one of them over."""

from __future__ import annotations

import difflib
from itertools import pairwise
from random import Random

import pytest

from tsnbench.editing.differences import differences, lines_of, parts, take_over

FIRST = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n"
SECOND = "a\nB\nc\nd\ne\nf\ng\nh\nnew\ni\nk\nend"


def drawn(random: Random) -> tuple[str, str]:
    """A text of few words, and the same with edits; both may lack the last line feed."""
    one = [f"{random.randrange(9)}\n" for _ in range(random.randrange(25))]
    other = list(one)
    for _ in range(random.randrange(1, 6)):
        place = random.randrange(len(other) + 1)
        other[place : place + random.randrange(3)] = [f"{random.randrange(9)}\n"] * random.randrange(3)
    first, second = "".join(one), "".join(other)
    return first[: len(first) - random.randrange(2)], second[: len(second) - random.randrange(2)]


def test_each_difference_has_its_lines_and_three_equal_lines_around_it() -> None:
    found = [
        (one.number, "".join(f"{sign}{line}," for sign, line in one.lines))
        for one in parts(lines_of(FIRST), lines_of(SECOND))
    ]
    assert [one for one in found if one[1]] == [
        (None, " a,"),
        (0, "-b,+B,"),
        (None, " c, d, e,"),
        (None, " f, g, h,"),
        (1, "+new,"),
        (None, " i,"),
        (2, "-j,"),
        (None, " k,"),
        (3, "+end,"),
    ]
    assert list(parts(lines_of(FIRST), lines_of(FIRST))) == []


@pytest.mark.parametrize("seed", range(300))
def test_all_differences_taken_over_one_by_one_make_the_other_text(seed: int) -> None:
    random = Random(seed)
    first, second = drawn(random)
    mine, others = lines_of(first), lines_of(second)
    assert "".join(mine) == first
    found = differences(mine, others)
    # The lines of `diff -u`.
    told = [line for line in difflib.unified_diff(mine, others, lineterm="") if not line.startswith("@@")][2:]
    shown = [line for one in parts(mine, others) for line in one.lines]
    assert shown == [(line[0], line[1:].rstrip("\n")) for line in told]
    for one, following in pairwise(found):
        assert one.first[1] < following.first[0]
    # Where its lines begin in both texts.
    for one in parts(mine, others):
        for sign, where, of in (("-", one.first, mine), ("+", one.second, others)):
            own = [line for kind, line in one.lines if kind in (sign, " ")]
            assert [line.rstrip("\n") for line in of[where : where + len(own)]] == own
    # One after the other, in any order: each makes one difference less.
    while found:
        one = random.choice(found)
        after = take_over(mine, others, one).applied("".join(mine))
        assert after == "".join(mine[: one.first[0]] + others[slice(*one.second)] + mine[one.first[1] :])
        mine = lines_of(after)
        left = differences(mine, others)
        assert len(left) < len(found)
        found = left
    assert "".join(mine) == second


def test_line_ends_of_another_system_are_not_taken_over() -> None:
    first, second = ["a\n"], ["b\r\n", "c\r\n"]
    (one,) = differences(first, second)
    assert take_over(first, second, one).applied("a\n") == "b\nc\n"
