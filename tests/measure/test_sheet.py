"""Tables fit their terminal: names are shortened, digits are kept, and omitted columns and rows are named."""

from __future__ import annotations

import io
from collections import Counter

import pytest
from rich.console import Console

from tsnbench.sheet import Column, Sheet, shortened

NAMES = [f"a-stream-with-a-long-name-and-number-{n}" for n in range(20)]


def sheet(most: int | None = None) -> Sheet:
    made = Sheet(
        "delays",
        [
            Column("stream", name=True),
            Column("listener", name=True, spare=1),
            Column("median"),
            Column("p90", spare=3),
            Column("p99", spare=2),
            Column("max"),
        ],
        most=most,
    )
    for place, name in enumerate(NAMES):
        made.rows.append([name, "the-computer-that-listens", *(f"{place},{n}23.456" for n in range(4))])
    return made


def printed(made: Sheet, width: int) -> str:
    console = Console(width=width, file=io.StringIO(), record=True)
    console.print(made)
    return console.export_text()


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal_and_no_digit_is_cut(width: int) -> None:
    text = printed(sheet(), width)
    assert all(len(line) <= width for line in text.splitlines())
    # The columns of the highest rank are complete at every width.
    for place in range(len(NAMES)):
        assert f"{place},023.456" in text
        assert f"{place},323.456" in text


@pytest.mark.parametrize("width", [20, 28, 33])
def test_cells_take_several_lines_where_even_the_columns_that_stay_are_too_wide(width: int) -> None:
    made = sheet()
    made.columns = [*made.columns, Column("verdict", left=True)]
    made.rows = [[*row, f"met-in-run-{place}"] for place, row in enumerate(made.rows)]
    assert made.plain(width) is None
    text = printed(made, width)
    assert all(len(line) <= width for line in text.splitlines())
    # Every character of the cells that are no names is there.
    wanted = Counter("".join("".join(row[2:3] + row[5:]) for row in made.rows))
    assert not wanted - Counter(text)


@pytest.mark.parametrize("width", [34, 48, 60, 80, 120, 1000])
@pytest.mark.parametrize("most", [None, 12])
def test_a_pipe_gets_the_text_of_a_terminal(width: int, most: int | None) -> None:
    made = sheet(most)
    made.columns = [*made.columns, Column("met", left=True)]
    made.rows = [[*row, "yes" if place % 3 else "no data"] for place, row in enumerate(made.rows)]
    made.captions = ["limits in \u00b5s"]
    told = io.StringIO()
    Console(width=width, file=told).print(made)
    plain = made.plain(width)
    # A caption that is longer than the table folds.
    assert plain is None if width < 48 else plain == told.getvalue()


def test_folding_or_wide_text_is_left_to_rich() -> None:
    sentence = Sheet("", [Column("why", wraps=True)], [["so many words that they need two lines"]])
    assert sentence.plain(30) is None
    assert sentence.plain(60) == f"\n{'why':38}\n{chr(0x2500) * 38}\n{sentence.rows[0][0]}\n"
    assert Sheet("", [Column("name", name=True)], [["\u4ea4\u63db\u6a5f"]]).plain(60) is None
    assert Sheet("a title", [Column("a")], [["1"]]).plain(60) is None


def test_names_are_shortened_in_the_middle_and_stay_apart() -> None:
    text = printed(sheet(), 80)
    names = {line.split()[0] for line in text.splitlines() if "\u2026" in line}
    assert len(names) == len(NAMES)
    assert shortened("abcdefghij", 7) == "abc\u2026hij"
    assert shortened("short", 7) == "short"


def test_columns_that_do_not_fit_are_left_out_by_rank_and_named() -> None:
    assert "left out" not in printed(sheet(), 100)
    for width, gone in (
        (60, "columns left out: p90"),
        (48, "columns left out: p90, p99"),
        (34, "listener, p90, p99"),
    ):
        assert gone in " ".join(printed(sheet(), width).split()), width


def test_rows_fold_and_the_rest_is_counted() -> None:
    text = printed(sheet(most=12), 200)
    assert NAMES[11] in text
    assert NAMES[12] not in text
    assert "and 8 rows more: --all" in text
    # The table shows the last row instead of a line that counts one row.
    assert "more" not in printed(sheet(most=19), 200)
