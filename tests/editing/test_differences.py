"""Differences of two texts, and edits that take one of them over."""

from __future__ import annotations

import difflib
from itertools import pairwise
from random import Random

import pytest

from tsnbench.editing.differences import differences, lines_of, parts, take_over
from tsnbench.editing.spans import EditError

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
    # In any order, each as an edit of the text with those that were taken over before.
    order = random.sample(found, len(found))
    text = first
    for number, one in enumerate(order):
        edit = take_over(text, first, one.first, others[slice(*one.second)])
        text = edit.applied(text)
        if not number:
            assert text == "".join(mine[: one.first[0]] + others[slice(*one.second)] + mine[one.first[1] :])
    assert text == second


def test_other_lines_may_have_been_edited_and_those_of_the_difference_not() -> None:
    second = lines_of("a\nb\nc\nX\nY\ne\nf\ng\nh\ni\nj\nk\n")
    (one,) = differences(lines_of(FIRST), second)
    new = second[slice(*one.second)]

    def taken(text: str) -> str:
        return take_over(text, FIRST, one.first, new).applied(text)

    assert taken("# more\n" + FIRST.replace("b\n", "").replace("j\n", "j\nJ\n")) == (
        "# more\na\nc\nX\nY\ne\nf\ng\nh\ni\nj\nJ\nk\n"
    )
    for edited in ("d\n", "c\n", "e\n"):
        with pytest.raises(EditError, match="edited meanwhile"):
            taken(FIRST.replace(edited, "other\n"))
    with pytest.raises(EditError, match="edited meanwhile"):
        taken(FIRST.replace("d\n", "d\nother\n"))
    # A difference that has been taken over is not taken over again.
    with pytest.raises(EditError, match="edited meanwhile"):
        taken(taken(FIRST))


def test_lines_that_only_one_text_has_are_taken_over_once() -> None:
    second = lines_of(FIRST.replace("e\n", "e\nnew\n"))
    (one,) = differences(lines_of(FIRST), second)
    text = take_over(FIRST, FIRST, one.first, second[slice(*one.second)]).applied(FIRST)
    assert text == "".join(second)
    with pytest.raises(EditError, match="edited meanwhile"):
        take_over(text, FIRST, one.first, second[slice(*one.second)])


def test_line_ends_of_another_system_are_not_taken_over() -> None:
    edit = take_over("a\n", "a\n", (0, 1), ["b\r\n", "c\r\n"])
    assert edit.applied("a\n") == "b\nc\n"
