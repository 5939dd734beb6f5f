"""Pages of large networks: long tables show their worst rows, and count the omitted ones."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from support.html_page import read
from support.planned import plan_of
from tsnbench import report
from tsnbench.campaign.campaign import Options, run_one
from tsnbench.plan.gates import Period
from tsnbench.report.figures.gates import MOST, gantt
from tsnbench.report.figures.schedule import HATCHES, look
from tsnbench.report.figures.style import Drawing, Size, inline
from tsnbench.report.parts import shown
from tsnbench.report.parts.schedule import BINS, Folded

STREAMS = 12
# Later streams have longer frames and the same limit, so the last stream of the file is the worst.
SCENARIO = "\n".join(
    [
        "name: twelve",
        "duration: 4 ms",
        "network:",
        "  bridges: [sw]",
        "  stations: [a, b]",
        "  links: {rate: 100 Mbit/s, between: [a -- sw, b -- sw]}",
        "streams:",
        *(
            f"  s{n}: {{from: a, to: b, pcp: 7, frame: {100 + 100 * n} B, period: 2 ms, "
            f"offset: {n * 150} us, requires: {{delay: 400 us, loss: 0}}}}"
            for n in range(STREAMS)
        ),
    ]
)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    run_one(plan_of(SCENARIO + "\n"), folder, Options(report=False))
    return folder


def test_a_short_table_is_whole_and_in_its_order() -> None:
    every = list(range(shown.MOST_ROWS, 0, -1))
    found = shown.first_rows(every, lambda n: n, "that are smallest", "a file")
    assert (list(found.rows), found.total, found.note) == (every, shown.MOST_ROWS, "")


def test_a_long_table_has_its_worst_rows_with_a_note() -> None:
    every = list(range(shown.MOST_ROWS + 1, 0, -1))
    found = shown.first_rows(every, lambda n: n, "that are smallest", "a file")
    assert list(found.rows) == list(range(1, shown.MOST_ROWS + 1))
    assert found.total == shown.MOST_ROWS + 1
    assert found.note == " The table has 200 of 201 rows, those that are smallest; a file has all."


def test_every_long_table_of_a_run_shows_the_worst(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read(report.write(run))
    assert len(whole.table("Requirement by requirement")) == 1 + 2 * STREAMS
    assert "The table has" not in whole.text

    monkeypatch.setattr(shown, "MOST_ROWS", 2)
    page = read(report.write(run))
    worst = ["s11", "s10"]
    requirements = page.table("Requirement by requirement")
    # A limit of zero loss leaves no margin, too.
    assert len(requirements) == 3
    assert [row[0] for row in page.table("Frames, by stream")[1:]] == worst
    assert [row[0] for row in page.table("Delay and jitter by stream")[1:] if row[1] == "delay"] == worst
    assert [row[0] for row in page.table("The greatest delay that the Plan allows")[1:]] == worst
    files = re.findall(r"has 2 of (?:12|24) rows, those that .{1,80}; (\w+)\.json has all\.", page.text)
    assert set(files) == {"verdict", "measures", "bounds"}


def test_a_failed_requirement_at_the_end_of_a_long_list_is_shown(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdict = json.loads((run / "verdict.json").read_text())
    verdict["rows"][-1] |= {"met": "no", "margin": -1}
    (run / "verdict.json").write_text(json.dumps(verdict))
    monkeypatch.setattr(shown, "MOST_ROWS", 1)
    _, row = read(report.write(run)).table("Requirement by requirement")
    assert row[0] == verdict["rows"][-1]["stream"]
    assert row[1].startswith("FAILED")


def _gated(number: int, departures: int, outside: int, *, tapped: bool = True) -> Folded:
    entries = [{"open": mask, "interval_ns": 500_000} for mask in (0xFF, 0x7F)]
    gates: Any = {"base_time_ns": 0, "cycle_ns": 1_000_000, "entries": entries}
    port: Any = {"name": f"sw -> h{number}", "pcp_to_class": list(range(8)), "classes": [{}] * 8}
    busy = {7: (0.5,) * BINS} if tapped else {}
    return Folded(
        port, Period(None, None, gates, ""), busy, departures, outside, derived=False, tapped=tapped
    )


def test_ports_with_frames_through_a_closed_gate_are_drawn_first() -> None:
    ports = [_gated(n, 1000 - n, 0) for n in range(30)]
    ports[29] = _gated(29, 5, 3)
    caption = gantt(ports, [7]).caption
    assert "sw -> h29: 5 departures; 3 BEGAN while its gate was closed." in caption
    left = sum(1000 - n for n in range(MOST - 1, 29))
    assert f"22 more gate lists are not drawn: {left:,}".replace(",", "\u202f") in caption
    assert "departures; none began at a closed gate." in caption


def test_frames_through_closed_gates_of_ports_not_drawn_are_counted() -> None:
    caption = gantt([_gated(n, 10, n + 1) for n in range(MOST + 2)], [7]).caption
    # The two ports with the fewest such departures are omitted: 1 and 2 frames.
    assert "2 more gate lists are not drawn: 20 departures; 3 BEGAN at a closed gate." in caption


def test_without_taps_departures_are_not_mentioned() -> None:
    caption = gantt([_gated(n, 0, 0, tapped=False) for n in range(MOST + 1)], [7]).caption
    assert caption.endswith("1 more gate lists are not drawn.")


def test_no_hatching_makes_a_figure_large() -> None:
    """Dotted hatching did: 180 kB for each colour."""

    def draw(size: Size) -> object:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(size.width, 2))
        at = figure.subplots()
        colours = 8
        for number in range(1, colours * len(HATCHES) + 1):
            at.broken_barh([(number, 1)], (0, 1), **look(number))
        return figure

    drawing = Drawing("hatched", "Hatched", "", "", draw, lambda: ())  # type: ignore[arg-type]
    assert len(inline(drawing)) < 150_000
