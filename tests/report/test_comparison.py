"""Several runs side by side."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from support import synthetic
from support.html_page import read
from tsnbench import report
from tsnbench.report.data import gather
from tsnbench.report.parts.sweep import Sweep, spread


def test_default_place_is_beside_the_runs(hops: list[Path]) -> None:
    assert report.write(hops) == hops[0].parent / "report.html"


def test_runs_stand_in_the_order_of_their_axis(hops: list[Path]) -> None:
    sweep = Sweep([gather(folder) for folder in reversed(hops)])
    assert sweep.axis.name == "hops"
    assert sweep.axis.at == (1.0, 2.0, 3.0, 4.0)
    assert sweep.labels == ("hops 1", "hops 2", "hops 3", "hops 4")


def test_a_stream_is_the_same_wherever_its_listener_is(hops: list[Path]) -> None:
    sweep = Sweep([gather(folder) for folder in hops])
    assert [along.name for along in sweep.streams] == ["class-a", "class-b", "be-1"]
    assert [m.hops for m in sweep.streams[0].measures if m] == [1, 2, 3, 4]


def test_verdict_matrix_has_a_cell_per_run(hops: list[Path], tmp_path: Path) -> None:
    found = read(report.write(hops, into=tmp_path / "sweep.html"))
    rows = found.table("Requirement by requirement, run by run")
    assert rows[0] == ["Stream and requirement", "hops 1", "hops 2", "hops 3", "hops 4"]
    verdicts = [json.loads((folder / "verdict.json").read_text())["rows"] for folder in hops]
    words = {"yes": "met in this run", "mean-and-median": "FAILED*", "no": "FAILED"}
    for row in rows[1:]:
        stream = row[0].split("delay")[0].split("jitter")[0].strip()
        kind = "jitter delay-step-abs" if "jitter" in row[0] else "delay"
        wanted = [
            words[next(r["met"] for r in rows if (r["stream"], r["requirement"]) == (stream, kind))]
            for rows in verdicts
        ]
        assert all(cell.startswith(words) for cell, words in zip(row[1:], wanted, strict=True)), row


def test_each_requirement_has_a_bar_for_every_run(hops: list[Path], tmp_path: Path) -> None:
    text = report.write(hops, into=tmp_path / "sweep.html").read_text(encoding="utf-8")
    found = read(tmp_path / "sweep.html")
    rows = found.table("Each requirement with a line for every run")
    verdicts = [json.loads((folder / "verdict.json").read_text())["rows"] for folder in hops]
    kinds = {(row["stream"], row["requirement"]) for rows in verdicts for row in rows}
    assert len(rows) == 1 + 4 * len(kinds)
    assert text.count('<svg class="bar"') == 4 * len(kinds)
    sweep = Sweep([gather(folder) for folder in hops])
    stream, requirement, cells = sweep.bars[0]
    # The first requirement is the one with the worst run.
    assert min(cell.rank for cell in cells if cell) == min(
        cell.rank for _, _, others in sweep.bars for cell in others if cell
    )
    for run, cell in enumerate(cells):
        assert cell is not None
        own = [row for row in verdicts[run] if (row["stream"], row["requirement"]) == (stream, requirement)]
        bar = cell.bar
        assert bar.limit is not None
        assert bar.found is not None
        assert (bar.found > bar.limit) == (own[0]["found"] > own[0]["limit"])
        words = f"{stream} to {cell.listener}, {requirement}: found {cell.found}, worst case"
        assert words in text
    assert [one[1] if len(one) > 6 else one[0] for one in rows[1:5]] == list(sweep.labels)


def test_outcome_counts_runs(hops: list[Path], tmp_path: Path) -> None:
    met = sum(json.loads((folder / "verdict.json").read_text())["met"] for folder in hops)
    found = read(report.write(hops, into=tmp_path / "sweep.html"))
    assert f"In {met} of 4 runs every stream met every requirement." in found.text


def test_every_run_has_its_statistics_and_figures(hops: list[Path], tmp_path: Path) -> None:
    page = report.write(hops, into=tmp_path / "sweep.html", figures=("svg",))
    found = read(page)
    rows = found.table("Delay in µs, run by run")
    assert len(rows) == 1 + 3 * 4
    assert {"delay-along-axis-title", "boxes-along-axis-title", "ccdf-overlay-title"} <= set(found.ids)
    assert all(reference.startswith(("#", "data:")) for reference in found.references)
    assert len(list((tmp_path / "figures").glob("*.svg"))) == 3


def test_unlike_runs_can_be_compared(in_vehicle: Path, star: Path, tmp_path: Path) -> None:
    found = read(report.write([in_vehicle, star], into=tmp_path))
    rows = found.table("Delay in µs, run by run")
    assert [row for row in rows if row[-1] == "not in this run"]
    assert "ex-ucc and theta-through-one-bridge" in found.text


def test_runs_with_the_same_name_are_numbered(star: Path, tmp_path: Path) -> None:
    sweep = Sweep([gather(star), gather(star)])
    assert sweep.labels == ("theta-through-one-bridge (1)", "theta-through-one-bridge (2)")
    read(report.write([star, star], into=tmp_path))


def test_two_parameters_label_each_run(tmp_path: Path) -> None:
    folders = []
    for hops in (1, 2):
        for load in ("low", "high"):
            case = synthetic.line(hops)
            case = replace(case, variant={"hops": str(hops), "load": load}, duration_ns=5_000_000)
            folders.append(synthetic.write(case, tmp_path / f"{hops}{load}"))
    sweep = Sweep([gather(folder) for folder in folders])
    assert sweep.labels == ("hops 1, load low", "hops 1, load high", "hops 2, load low", "hops 2, load high")


def test_a_stream_of_one_run_is_drawn_however_many_runs_there_are(tmp_path: Path) -> None:
    """Nine runs, each with a stream of its own: a panel shows at most eight runs, and at least one."""
    folders = []
    for number in range(9):
        case = synthetic.line(1)
        own = replace(case.streams[0], name=f"stream-{number}")
        case = replace(case, streams=[own], variant={"stream": own.name}, seed=number, duration_ns=5_000_000)
        folders.append(synthetic.write(case, tmp_path / own.name))
    found = read(report.write(folders, into=tmp_path / "sweep.html"))
    assert "ccdf-overlay-title" in found.ids
    assert "runs per stream, evenly chosen" not in found.text


def test_a_panel_draws_some_runs_of_many(tmp_path: Path) -> None:
    folders = []
    for number in range(10):
        case = replace(synthetic.line(1), variant={"load": str(number)}, duration_ns=5_000_000)
        folders.append(synthetic.write(case, tmp_path / str(number)))
    found = read(report.write(folders, into=tmp_path / "sweep.html"))
    assert "8 runs per stream, evenly chosen" in found.text


def test_spread_keeps_both_ends() -> None:
    assert spread(3, 8) == [0, 1, 2]
    chosen = spread(100, 8)
    assert (chosen[0], chosen[-1], len(chosen)) == (0, 99, 8)


def test_a_bound_is_drawn_at_its_own_run_only(hops: list[Path]) -> None:
    from tsnbench.report.facts import Bound, Measure
    from tsnbench.report.figures.style import COLUMN
    from tsnbench.report.figures.sweep import along_axis, overlay

    def bounded(measure: Measure, place: int) -> Measure:
        most = measure.delay["max"] if measure.delay else 0
        # The last run has no bound; each of the others has its own.
        return replace(measure, bound=Bound(None, "none") if place == 3 else Bound(most + 1_000 * place))

    runs = [gather(folder) for folder in hops]
    runs = [
        replace(run, groups=tuple(bounded(group, place) for group in run.groups))
        for place, run in enumerate(runs)
    ]
    sweep = Sweep(runs)
    along = sweep.streams[0]
    assert along.bounds_ns[3] is None
    assert len(set(along.bounds_ns[:3])) == 3
    panel = along_axis(sweep).draw(COLUMN).axes[0]
    (marks,) = [line for line in panel.lines if line.get_label() == "worst-case bound"]
    assert list(marks.get_xdata()) == list(sweep.axis.at[:3])
    assert [round(y * 1e3) for y in marks.get_ydata()] == list(along.bounds_ns[:3])
    assert marks.get_linestyle() == "None"
    lines = [line for line in overlay(sweep).draw(COLUMN).axes[0].lines if "bound" in str(line.get_label())]
    assert [round(line.get_xdata()[0] * 1e3) for line in lines] == list(along.bounds_ns[:3])
    assert len({line.get_color() for line in lines}) == 3
