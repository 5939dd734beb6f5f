"""What is written for each kind of mutant. `make mutants` runs this first: it needs what that installs."""

from __future__ import annotations

from pathlib import Path

import pytest

from mutants.saved import Saved
from mutants.source import Mutant, Source

TEXT = """fn f(a: i64, b: &mut i64) -> bool {
    *b += a;
    match a {
        0 => false,
        1 if *b > 2 => true,
        _ => !(a < 3 && *b == 4) && if let 5 = a + 6 { true } else { false },
    }
}
const C: i64 = 1 + 2;
"""


def at(text: str, genre: str, replacement: str, number: int = 7) -> str:
    """The source with one mutant, whose place begins with this text."""
    before = TEXT[: TEXT.index(text)]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return Source(TEXT, [Mutant(number, "name", "f.rs", genre, line, column, replacement)]).render(set())


@pytest.mark.parametrize(
    ("place", "genre", "replacement", "written"),
    [
        ("+= a", "BinaryOperator", "-=", "{ if crate::mutant(7) { *b -= a } else { *b += a } }"),
        ("< 3", "BinaryOperator", "<=", "if crate::mutant(7) { *l__ <= *r__ } else { *l__ < *r__ }"),
        ("+ 6", "BinaryOperator", "-", "let (l__, r__) = (a, 6); if crate::mutant(7) { l__ - r__ }"),
        ("&& *b", "BinaryOperator", "||", "let l__ = a < 3; if crate::mutant(7) { l__ || (*b == 4) }"),
        (
            "!(a",
            "UnaryOperator",
            "",
            "if crate::mutant(7) { (a < 3 && *b == 4) } else { !(a < 3 && *b == 4) }",
        ),
        ("*b > 2", "MatchArmGuard", "true", "1 if /*<7*/(crate::mutant(7) || (*b > 2))/*7>*/ => true"),
        ("*b > 2", "MatchArmGuard", "false", "(!crate::mutant(7) && (*b > 2))"),
        ("0 =>", "MatchArm", "", "0 if /*<7*/!crate::mutant(7)/*7>*/ => false"),
        (
            "*b +=",
            "FnValue",
            "true",
            "-> bool {/*<7*/ if crate::mutant(7) { return true; } /*7>*/\n    *b += a;",
        ),
    ],
)
def test_a_mutant_is_behind_its_number(place: str, genre: str, replacement: str, written: str) -> None:
    assert written in at(place, genre, replacement)


@pytest.mark.parametrize(
    ("place", "genre", "replacement"),
    [("+ 2;", "BinaryOperator", "-"), ("*b +=", "FnValue", "::std::iter::empty()")],
)
def test_what_cannot_be_written_is_left_alone(place: str, genre: str, replacement: str) -> None:
    assert at(place, genre, replacement) == TEXT


def test_mutants_are_left_out_by_their_numbers() -> None:
    column = TEXT.splitlines()[1].index("+=") + 1
    mutants = [
        Mutant(n, "name", "f.rs", "BinaryOperator", 2, column, way) for n, way in ((1, "-="), (2, "*="))
    ]
    source = Source(TEXT, mutants)
    assert "mutant(1)" in source.render(set())
    assert source.written == {1, 2}
    assert "mutant(1)" not in source.render({1})
    assert source.written == {2}
    assert source.render({1, 2}) == TEXT


def test_ends_are_kept_while_the_text_of_a_line_stays(tmp_path: Path) -> None:
    def mutants(*lines: int) -> list[Mutant]:
        change = "replace < with <= in a"
        places = enumerate(lines, 1)
        return [
            Mutant(n, f"a.rs:{at}:7: {change}", "a.rs", "BinaryOperator", at, 7, "<=") for n, at in places
        ]

    results = tmp_path / "a.json"
    (tmp_path / "a.rs").write_text("fn a() {\n    b < c;\n    d < e;\n    b < c\n}\n")
    saved = Saved(results, mutants(2, 3, 4), tmp_path)
    for mutant, end in zip(mutants(2, 3, 4), ("survived", "caught", "timed out"), strict=True):
        saved.keep(mutant, end)
    # Two lines more above, and one line with another text; what is the same twice is known by its order.
    (tmp_path / "a.rs").write_text("\n\nfn a() {\n    b < c;\n    d < f;\n    b < c\n}\n")
    moved = mutants(4, 5, 6)
    again = Saved(results, moved, tmp_path)
    assert [again.end(mutant) for mutant in moved] == ["survived", None, "timed out"]
    assert str(again.survivor(moved[0])) == "a.rs | b < c; | replace < with <= in a"
