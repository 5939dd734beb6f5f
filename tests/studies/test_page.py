"""The page of a study: its axes and estimates by hand, its figures, and hostile names."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest

from support.html_page import Page
from support.study_processes import made, study
from tsnbench.errors import InputError
from tsnbench.report import study_page
from tsnbench.report.figures.study.curves import drawings
from tsnbench.report.figures.style import COLOURS, COLUMN
from tsnbench.report.parts.study import (
    Combination,
    Compared,
    EndFacts,
    Estimate,
    PrintedCurve,
    PrintedPoint,
    StudyAxis,
    StudyFacts,
)
from tsnbench.studies.estimates import printed
from tsnbench.studies.page import facts
from tsnbench.studies.store import Store
from tsnbench.studies.table import tables

RATES = StudyAxis("rate", ("100 Mbit/s", "300 Mbit/s"), (1e8, 3e8), numeric=True)
KINDS = StudyAxis("kind", ("plain", "gated"), (0.0, 1.0), numeric=False)


def end(mean_ns: float, greatest_ns: float) -> EndFacts:
    return EndFacts(Estimate(mean_ns, mean_ns - 100, mean_ns + 100), None, greatest_ns, 0)


def combination(rate: str, kind: str, mean_us: float, greatest_us: float, met: int = 4) -> Combination:
    ends = {"video": end(mean_us * 1e3, greatest_us * 1e3)}
    return Combination((rate, kind), 4, met, Estimate(met / 4, 0.1, 0.9), ends)


STUDY = StudyFacts(
    "load",
    "load: 15 of 16 runs met all requirements.",
    (RATES, KINDS),
    (
        combination("100 Mbit/s", "plain", 10, 20),
        combination("300 Mbit/s", "plain", 30, 60, met=3),
        combination("100 Mbit/s", "gated", 10, 12),
        combination("300 Mbit/s", "gated", 10, 14),
    ),
)


def test_curves_run_over_the_numeric_axis_with_a_line_for_each_other_value() -> None:
    curves, heat, effects, met = drawings(STUDY)
    assert curves.title == "Mean delay over rate"
    assert curves.spoken == (
        "video, plain: 100 Mbit/s 10.000 µs, 300 Mbit/s 30.000 µs; "
        "video, gated: 100 Mbit/s 10.000 µs, 300 Mbit/s 10.000 µs"
    )
    assert "video, 300 Mbit/s and plain: 60.000 µs" in heat.spoken
    # The mean of all four is 15 us; at 100 Mbit/s 10, at 300 Mbit/s 20; plain 20, gated 10.
    assert effects.spoken == (
        "video, rate 100 Mbit/s: -33.3 %; video, rate 300 Mbit/s: +33.3 %; "
        "video, kind plain: +33.3 %; video, kind gated: -33.3 %"
    )
    assert "plain 300 Mbit/s: 3 of 4" in met.spoken


def test_a_heat_map_has_the_greatest_of_all_other_values() -> None:
    sizes = StudyAxis("size", ("1 B", "2 B"), (8.0, 16.0), numeric=True)
    more = tuple(
        Combination(
            (*one.values, size),
            1,
            1,
            Estimate(1),
            {"video": end(1e3, (one.ends["video"].greatest or 0) + add)},
        )
        for one in STUDY.combinations
        for size, add in (("1 B", 0), ("2 B", 5e3))
    )
    study_of_three = StudyFacts("load", "", (RATES, KINDS, sizes), more)
    _, heat, *_ = drawings(study_of_three)
    # 20 us with 1 B, 25 us with 2 B.
    assert "video, 100 Mbit/s and plain: 25.000 µs" in heat.spoken
    assert "over all values of size" in heat.caption


def test_one_combination_has_nothing_to_draw() -> None:
    alone = StudyFacts("one", "", (), (Combination((), 1, 1, Estimate(1), {"video": end(1e3, 2e3)}),))
    assert drawings(alone) == []


def test_names_are_text_and_never_markup(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    axis = StudyAxis(evil, ("1", "2"), (1.0, 2.0), numeric=True)
    both = tuple(Combination((value,), 1, 1, Estimate(1), {evil: end(1e3, 2e3)}) for value in ("1", "2"))
    path = study_page.write(StudyFacts(evil, evil, (axis,), both), tmp_path, ("svg",))
    text = path.read_text(encoding="utf-8")
    assert text.count("<script>") == text.count("<script") == 1
    assert Page(text).ids
    assert (tmp_path / "figures/study-delay.svg").exists()


def test_the_page_of_a_study(place: Path) -> None:
    vary = "{streams.files.poisson: [300 Mbit/s, 100 Mbit/s], streams.loop.payload: [100 B, 200 B]}"
    text = f"study: load\nscenario: port.yaml\nvary: {vary}\nrepeat: 3\n"
    made(place, text)
    store = Store(place / "made")
    content, found = tables(store, store.read())
    shown = facts(content, found)
    rate, size = shown.axes
    # In the order of their numbers, in bit/s and octets of the scenario's units.
    assert (rate.values, rate.numeric) == (("100 Mbit/s", "300 Mbit/s"), True)
    assert rate.at[1] == 3 * rate.at[0]
    assert size.values == ("100 B", "200 B")
    assert len(shown.combinations) == 4
    one = shown.by_values["300 Mbit/s", "100 B"]
    rows = [
        row
        for row in found.results
        if (row["streams.files.poisson"], row["streams.loop.payload"], row["stream"])
        == ("300 Mbit/s", "100 B", "loop")
    ]
    assert one.runs == len(rows) == 3
    assert one.ends["loop"].greatest == max(row["delay max"] for row in rows)
    (mean,) = [
        row["estimate"]
        for row in found.intervals
        if (row["streams.files.poisson"], row["streams.loop.payload"], row["stream"], row["quantity"])
        == ("300 Mbit/s", "100 B", "loop", "delay mean")
    ]
    assert one.ends["loop"].mean is not None
    assert one.ends["loop"].mean.value == mean
    worst = max((row["delay max"], row["run"]) for row in found.results if row["delay max"] is not None)
    assert shown.worst[0]["run"] in {row["run"] for row in found.results if row["delay max"] == worst[0]}
    page = (place / "made/report.html").read_text(encoding="utf-8")
    assert "tsnbench study of 12 runs" in page
    assert len(re.findall("<svg", page)) >= 3
    assert "object at 0x" not in page
    assert re.search(f"<code>{shown.worst[0]['run']}</code></th><td>{shown.worst[0]['values']}</td>", page)
    assert shown.differences
    assert f'<tr><th scope="row">{shown.differences[0]["values"]}</th>' in page
    _, said = study(place, "report", "made", "--figures", "pdf")
    assert "report: made/report.html" in said
    assert (place / "made/figures/study-greatest.pdf").exists()


def test_a_page_of_somebody_else_stays(place: Path) -> None:
    made(place, "study: one\nscenario: port.yaml\n", "--no-report")
    page = place / "made/report.html"
    page.write_text("mine", encoding="utf-8")
    _, said = study(place, "report", "made", code=2)
    assert "report.html" in said
    assert page.read_text(encoding="utf-8") == "mine"


def test_the_files_of_single_figures_have_the_estimates(tmp_path: Path) -> None:
    delay, greatest = study_page.write_figure(STUDY, ["study-delay", "study-greatest"], tmp_path, ["csv"])
    rows = list(csv.DictReader(delay.read_text().splitlines()))
    assert rows[1] == {
        "rate": "300 Mbit/s",
        "kind": "plain",
        "stream": "video",
        "mean_us": "30.0",
        "mean_us_low": "29.9",
        "mean_us_high": "30.1",
    }
    fields = {(row["rate"], row["kind"]): row["greatest_us"] for row in csv.DictReader(greatest.open())}
    assert fields["300 Mbit/s", "plain"] == "60.0"
    with pytest.raises(InputError, match=r"expected one of study-delay, .*study-met; found heat"):
        study_page.write_figure(STUDY, ["heat"], tmp_path, ["csv"])


def curve(
    stream: str, quantity: str, printed: dict[str, tuple[float, float]], scale: float = 1e6
) -> PrintedCurve:
    return PrintedCurve(
        stream,
        quantity,
        "ms",
        scale,
        tuple(
            PrintedPoint(
                (rate, kind), Estimate(40e3, 30e3, 50e3), printed.get(rate) if kind == "gated" else None
            )
            for rate in RATES.values
            for kind in KINDS.values
        ),
    )


COMPARED = Compared(
    "mean at 300", "Table 1", "0.05 ms", "0.01 ms", "0.009 to 0.011 ms", "differs", "no <host>"
)
BESIDE = replace(
    STUDY,
    compared=(COMPARED,),
    curves=(
        curve("video", "delay mean", {"300 Mbit/s": (50e3, 50e3)}),
        curve("video", "delay p99", {"100 Mbit/s": (80e3, 90e3), "300 Mbit/s": (100e3, 100e3)}),
    ),
)


def test_numbers_of_a_paper_are_marked_in_the_axes_of_the_curves(tmp_path: Path) -> None:
    delay, *_, quantile = drawings(BESIDE)
    assert quantile.name == "study-printed-delay-p99"
    # The mean delays are in the figure of mean delays, in its unit; other figures have the unit of the paper.
    rows = {(row["rate"], row["kind"]): row for row in delay.rows()}
    assert rows["300 Mbit/s", "gated"]["printed_us_least"] == 50.0
    assert rows["300 Mbit/s", "gated"]["printed_us_most"] == 50.0
    assert rows["300 Mbit/s", "plain"]["printed_us_least"] is None
    assert rows["100 Mbit/s", "gated"]["printed_us_least"] is None
    assert [
        (row["rate"], row["printed_least"], row["printed_most"], row["ours"], row["ours_low"])
        for row in quantile.rows()
    ] == [("100 Mbit/s", 0.08, 0.09, 0.04, 0.03), ("300 Mbit/s", 0.1, 0.1, 0.04, 0.03)]
    assert quantile.spoken == (
        "video, 100 Mbit/s, gated: printed 0.08 to 0.09, ours 0.04 ms; "
        "video, 300 Mbit/s, gated: printed 0.1, ours 0.04 ms"
    )
    (at,) = delay.draw(COLUMN).axes
    marked = [line for line in at.get_lines() if line.get_label() == "printed"]
    # One number, of the second curve, in its colour.
    assert [(list(line.get_xdata()), list(line.get_ydata())) for line in marked] == [([3e8], [50.0])]
    assert marked[0].get_color() == COLOURS[1]
    assert "printed" in [text.get_text() for text in delay.draw(COLUMN).legends[0].get_texts()]
    (at,) = quantile.draw(COLUMN).axes
    assert at.get_ylabel() == "delay p99 (ms)"
    (mark,) = [line for line in at.get_lines() if line.get_label() == "printed"]
    assert list(mark.get_xdata()) == [1e8, 3e8]
    assert list(mark.get_ydata()) == pytest.approx([0.085, 0.1])
    assert "printed_us_least" not in next(iter(drawings(STUDY)[0].rows()))
    text = study_page.write(BESIDE, tmp_path).read_text(encoding="utf-8")
    assert '<h2 id="printed">' in text
    assert '<td class="n">0.009 to 0.011 ms</td><td>differs: no &lt;host&gt;</td>' in text
    assert '<h2 id="printed">' not in study_page.write(STUDY, tmp_path).read_text(encoding="utf-8")


def test_numbers_of_a_paper_are_kept_with_the_results_they_were_compared_with(place: Path) -> None:
    vary = "{streams.files.poisson: [100 Mbit/s, 300 Mbit/s]}"
    text = f"study: load\nscenario: port.yaml\nvary: {vary}\nrepeat: 2\n"
    made(place, text, "--no-report")
    store = Store(place / "made")
    found = tables(store, store.read())[1]
    assert printed.read(store) is None
    points = (PrintedPoint(("100 Mbit/s",), Estimate(1.0, None, 2.0), (3.0, 4.0)),)
    whole = printed.Printed(
        printed.digest(found.runs), (COMPARED,), (PrintedCurve("loop", "delay max", "", 1.0, points),)
    )
    printed.write(store, whole)
    assert printed.read(store) == whole
    shown = facts(*tables(store, store.read()))
    assert (shown.compared, shown.curves) == (whole.compared, whole.curves)
    # A study of other results says so, and shows no verdict on them.
    made(place, text.replace("repeat: 2", "repeat: 3"), "--no-report")
    shown = facts(*tables(store, store.read()))
    assert (shown.compared, shown.curves) == ((), ())
    assert any("compared with earlier results" in note for note in shown.notes)
    for damage in ("{", "[]", '{"format": "tsnbench-printed/1"}', '{"format": "other"}'):
        (place / "made" / printed.NAME).write_text(damage, encoding="utf-8")
        _, said = study(place, "report", "made", code=2)
        assert "its printed.json" in said, damage


def test_a_stream_whose_listener_changes_is_one_curve(place: Path) -> None:
    text = (place / "port.yaml").read_text(encoding="utf-8")
    assert "to: robot, pcp: 0" in text
    (place / "port.yaml").write_text(text.replace("to: robot, pcp: 0", "to: [robot, controller], pcp: 0"))
    vary = "{streams.loop.to: [robot, disk]}"
    made(place, f"study: ends\nscenario: port.yaml\nvary: {vary}\n", "--no-report")
    store = Store(place / "made")
    shown = facts(*tables(store, store.read()))
    # Two listeners in one run have names of their own.
    assert shown.ends == ("loop", "files to robot", "files to controller")
    assert [one.ends["loop"].mean is not None for one in shown.combinations] == [True, True]
