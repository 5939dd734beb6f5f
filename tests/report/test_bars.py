"""The bars of requirements: places, order, outcome, and that no bar looks better than its requirement."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from support.html_page import Page, read
from tsnbench import report
from tsnbench.report.page import MOST_BARS
from tsnbench.report.parts.bars import Bar, bar

WIDTH = 200


def _row(stream: str, requirement: str, met: str, limit: float, **rest: object) -> dict[str, object]:
    found = rest.get("found")
    least = requirement == "rate"
    sign = -1 if least else 1
    row: dict[str, object] = {
        "stream": stream,
        "group": stream,
        "listener": "node0",
        "requirement": requirement,
        "limit": limit,
        "limit_unit": "bit/s" if least else "ns",
        "margin": None if found is None else sign * (limit - found),  # type: ignore[operator]
        "worst_seq": 3,
        "met": met,
        "proof": "none",
        "worst_case": None,
        "worst_case_margin": None,
    } | rest
    if (worst := row["worst_case"]) is not None:
        row |= {
            "worst_case_margin": limit - worst,  # type: ignore[operator]
            "proof": "proved" if worst <= limit else "beyond",  # type: ignore[operator]
        }
    return row


ROWS = [
    _row("proved", "delay", "yes", 1000, found=500, worst_case=900),
    _row("in-run", "delay", "yes", 1000, found=600),
    _row("rate", "rate", "yes", 1000, found=1200),
    _row("wide", "delay", "yes", 1_000_000, found=100_000, worst_case=990_000),
    _row("beyond", "delay", "yes", 1000, found=400, worst_case=1200),
    _row("far", "delay", "no", 1000, found=2000, worst_case=4000),
    _row("slow", "rate", "no", 1000, found=750),
    _row("nothing", "delay", "no-data", 1000, found=None),
    _row("unsure", "delay", "uncertain", 1000, found=950, uncertainty=100),
]
TIGHTEST_FIRST = ["far", "slow", "nothing", "unsure", "beyond", "rate", "in-run", "wide", "proved"]


@pytest.fixture
def written(star: Path, copied: Callable[[Path], Path]) -> Callable[[list[dict[str, object]]], Page]:
    def write(rows: list[dict[str, object]]) -> Page:
        folder = copied(star)
        verdict = json.loads((folder / "verdict.json").read_text())
        (folder / "verdict.json").write_text(json.dumps(verdict | {"rows": rows}))
        return read(report.write(folder))

    return write


def _parts(page: Page, number: int) -> dict[str, dict[str, str | None]]:
    """The parts of a bar by their class."""
    return {str(part["class"]): part for part in page.bars[number]}


def _start(part: dict[str, str | None]) -> float:
    """Where a path begins, as a share of the width."""
    return float(str(part["d"]).removeprefix("M").split()[0]) / WIDTH


def test_a_limit_is_at_the_same_place_for_every_unit() -> None:
    small, large = bar("delay", 1000, 500, 900), bar("delay", 10**9, 500 * 10**6, 900 * 10**6)
    assert small == large
    assert asdict(small) == asdict(
        Bar(pytest.approx(1 / 3), pytest.approx(0.6), pytest.approx(2 / 3), None, False, False, False, False)  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("requirement", "limit", "found", "over"),
    [("delay", 10, 11, True), ("delay", 10, 10, False), ("rate", 10, 11, False), ("rate", 10, 9, True)],
)
def test_over_follows_the_sense_of_the_limit(requirement: str, limit: int, found: int, over: bool) -> None:
    assert bar(requirement, limit, found, None).over == over


def test_values_beyond_the_width_and_below_zero_stay_inside_and_are_marked() -> None:
    far = bar("delay", 10, 16, 1000)
    assert (far.found, far.found_outside, far.worst_case, far.worst_case_outside) == (1, True, 1, True)
    edge = bar("delay", 10, 15, None)
    assert (edge.found, edge.found_outside, edge.worst_case, edge.worst_case_outside) == (
        1,
        False,
        None,
        False,
    )
    assert bar("delay", 10, -3, None).found == 0


def test_a_limit_of_zero_is_at_the_left_edge() -> None:
    kept, broken = bar("loss", 0, 0, 0), bar("loss", 0, 1, None)
    assert (kept.limit, kept.found, kept.worst_case, kept.found_outside, kept.over) == (0, 0, 0, False, False)
    assert (broken.limit, broken.found, broken.found_outside, broken.over) == (0, 1, True, True)


def test_bars_have_the_scale_the_numbers_and_the_outcome_of_the_verdict(
    written: Callable[[list[dict[str, object]]], Page],
) -> None:
    page = written(ROWS)
    table = page.table("Each requirement on one line")[1:]
    assert [row[0] for row in table] == TIGHTEST_FIRST
    assert len(page.bars) == len(ROWS)
    by_name = {row["stream"]: row for row in ROWS}
    for number, (name, *cells) in enumerate(table):
        parts, row = _parts(page, number), by_name[name]
        limit, found, worst = (row[key] for key in ("limit", "found", "worst_case"))
        label = str(parts["bar"]["aria-label"])
        assert _start(parts["limit"]) == pytest.approx(2 / 3, abs=1e-4)
        if found is None:
            assert "found" not in parts
        else:
            drawn = min(1, found / limit * 2 / 3)  # type: ignore[operator]
            assert float(str(parts["found"]["width"])) / WIDTH == pytest.approx(drawn, abs=1e-4)
        assert ("found-outside" in parts) == (name == "far")
        if worst is None:
            assert not {"worst-case", "worst-case outside"} & set(parts)
            assert "worst case not known" in label
            assert cells[3] == "\u2013"
        elif name == "far":
            assert "worst-case outside" in parts
        else:
            drawn = worst / limit * 2 / 3  # type: ignore[operator]
            assert _start(parts["worst-case"]) == pytest.approx(drawn, abs=1e-4)
        assert label.endswith(f": {cells[5]}")
        for cell in cells[2:4]:
            assert cell == "\u2013" or cell in label.replace("\u202f", " ")


def test_no_bar_over_a_broken_limit_or_worst_case_is_green(
    written: Callable[[list[dict[str, object]]], Page],
) -> None:
    page = written(ROWS)
    green = {"proved", "in-run"}
    classes = {name: green & set(_parts(page, number)) for number, name in enumerate(TIGHTEST_FIRST)}
    assert {name for name, own in classes.items() if own} == {"proved", "in-run", "rate", "wide"}
    assert "beyond" in _parts(page, TIGHTEST_FIRST.index("beyond"))
    assert "met, worst case beyond" in str(_parts(page, TIGHTEST_FIRST.index("beyond"))["bar"]["aria-label"])


def test_the_side_that_is_not_allowed_is_left_of_a_least_rate(
    written: Callable[[list[dict[str, object]]], Page],
) -> None:
    page = written(ROWS)
    rate, delay = (_parts(page, TIGHTEST_FIRST.index(name))["forbidden"] for name in ("rate", "in-run"))
    assert float(str(rate["x"])) == 0
    assert float(str(rate["width"])) == pytest.approx(WIDTH * 2 / 3, abs=0.01)
    assert float(str(delay["x"])) == pytest.approx(WIDTH * 2 / 3, abs=0.01)
    assert page.table("Each requirement on one line")[1:][TIGHTEST_FIRST.index("rate")][5].startswith(
        "\u2265"
    )


def test_an_uncertainty_is_drawn_to_both_sides(
    written: Callable[[list[dict[str, object]]], Page],
) -> None:
    parts = _parts(written(ROWS), TIGHTEST_FIRST.index("unsure"))
    begin, end = (float(one) / WIDTH for one in str(parts["error"]["d"])[1:].split(" 8H"))
    assert (begin, end) == (pytest.approx(0.85 / 1.5, abs=1e-4), pytest.approx(1.05 / 1.5, abs=1e-4))


def test_long_lists_fold_and_lose_nothing(written: Callable[[list[dict[str, object]]], Page]) -> None:
    rows = [_row(f"s{n}", "delay", "yes", 1000, found=n) for n in range(MOST_BARS + 5)]
    page = written(rows)
    names = [f"s{n}" for n in reversed(range(MOST_BARS + 5))]
    assert [row[0] for row in page.table("Each requirement on one line")[1:]] == names[:MOST_BARS]
    assert [row[0] for row in page.table("More requirements")[1:]] == names[MOST_BARS:]
    assert "5 more, farther from their limits" in page.text


def test_the_page_begins_with_the_network_then_the_requirements(
    written: Callable[[list[dict[str, object]]], Page],
) -> None:
    ids = written(ROWS).ids
    places = [ids.index(one) for one in ("network", "topology-title", "requirements", "verdict", "figures")]
    assert places == sorted(places)
    assert ids.count("topology-title") == 1


def test_streams_with_the_tightest_requirements_are_first_in_their_tables(star: Path, tmp_path: Path) -> None:
    page = read(report.write(star, into=tmp_path))
    # By file: theta-high, theta-low, cross. The limit of theta-low is the tighter one; cross has none.
    order = ["theta-low", "theta-high", "cross"]
    assert [row[0] for row in page.table("Frames, by stream")[1:]] == order
    delays = [row[0] for row in page.table("Delay and jitter by stream")[1:] if row[1] == "delay"]
    assert delays == order
