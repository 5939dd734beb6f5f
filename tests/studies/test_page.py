"""The page of a study: its axes and estimates by hand, its figures, and hostile names."""

from __future__ import annotations

import csv
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from support.study_processes import study
from tsnbench.errors import InputError
from tsnbench.report import study_page
from tsnbench.report.figures.study import drawings
from tsnbench.report.parts.study import Combination, EndFacts, Estimate, StudyAxis, StudyFacts
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


class _Balanced(HTMLParser):
    """Counts elements that are opened and not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "link", "br", "path", "use", "image"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("meta", "link", "br", "path", "use", "image"):
            assert self.open.pop() == tag


def test_names_are_text_and_never_markup(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    axis = StudyAxis(evil, ("1", "2"), (1.0, 2.0), numeric=True)
    both = tuple(Combination((value,), 1, 1, Estimate(1), {evil: end(1e3, 2e3)}) for value in ("1", "2"))
    path = study_page.write(StudyFacts(evil, evil, (axis,), both), tmp_path, ("svg",))
    text = path.read_text(encoding="utf-8")
    assert "<script" not in text
    parser = _Balanced()
    parser.feed(text)
    assert parser.open == []
    assert (tmp_path / "figures/study-delay.svg").exists()


def test_the_page_of_a_study(place: Path) -> None:
    vary = "{streams.files.poisson: [300 Mbit/s, 100 Mbit/s], streams.loop.payload: [100 B, 200 B]}"
    text = f"study: load\nscenario: port.yaml\nvary: {vary}\nrepeat: 3\n"
    (place / "study.yaml").write_text(text, encoding="utf-8")
    study(place, "run", "study.yaml", "--into", "s")
    store = Store(place / "s")
    content, found = tables(store, store.read())
    made = facts(content, found)
    rate, size = made.axes
    # In the order of their numbers, in bit/s and octets of the scenario's units.
    assert (rate.values, rate.numeric) == (("100 Mbit/s", "300 Mbit/s"), True)
    assert rate.at[1] == 3 * rate.at[0]
    assert size.values == ("100 B", "200 B")
    assert len(made.combinations) == 4
    one = made.by_values["300 Mbit/s", "100 B"]
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
    assert made.worst[0]["run"] in {row["run"] for row in found.results if row["delay max"] == worst[0]}
    page = (place / "s" / "report.html").read_text(encoding="utf-8")
    assert "tsnbench study of 12 runs" in page
    assert len(re.findall("<svg", page)) >= 3
    assert "object at 0x" not in page
    assert re.search(f"<code>{made.worst[0]['run']}</code></th><td>{made.worst[0]['values']}</td>", page)
    assert made.differences
    assert f'<tr><th scope="row">{made.differences[0]["values"]}</th>' in page
    _, said = study(place, "report", "s", "--figures", "pdf")
    assert "report: s/report.html" in said
    assert (place / "s/figures/study-greatest.pdf").exists()


def test_a_page_of_somebody_else_stays(place: Path) -> None:
    (place / "study.yaml").write_text("study: one\nscenario: port.yaml\n", encoding="utf-8")
    study(place, "run", "study.yaml", "--into", "s", "--no-report")
    (place / "s" / "report.html").write_text("mine", encoding="utf-8")
    _, said = study(place, "report", "s", code=2)
    assert "report.html" in said
    assert (place / "s" / "report.html").read_text(encoding="utf-8") == "mine"


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
