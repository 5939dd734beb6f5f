"""The page of one run against its run folder."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest

from support.html_page import read
from tsnbench import report
from tsnbench.errors import InputError
from tsnbench.report.figures.program import policy, program


@pytest.fixture(scope="module")
def page(in_vehicle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report.write(in_vehicle, into=tmp_path_factory.mktemp("page"))


def test_outcome_counts_streams_not_flows(page: Path) -> None:
    found = read(page)
    assert "NOT ALL MET 6 of 7 streams met every requirement; 5 further streams have none." in found.text
    # No stream requires arrivals, but the losses are mentioned.
    assert re.search(r"frames of 2 streams were lost\.", found.text)


def test_verdict_table_names_worst_flow_and_frame(page: Path, in_vehicle: Path) -> None:
    rows = json.loads((in_vehicle / "verdict.json").read_text())["rows"]
    broken = min(
        (row for row in rows if row["requirement"].startswith("jitter")), key=lambda row: row["margin"]
    )
    head, first, *_ = read(page).table("Requirement by requirement, failed ones first")
    assert head[:8] == [
        *("Stream", "Verdict", "Requirement", "Limit", "Found", "Margin", "Worst case", "Its margin"),
    ]
    assert first[:3] == ["f2-radar (3 flows)", "FAILED*", "jitter delay-step-abs"]
    assert first[5].startswith("\u2212")
    assert first[8] == f"frame {broken['worst_seq']} of {broken['stream']}"


def test_summary_is_by_priority_with_sr_classes(page: Path) -> None:
    rows = read(page).table("Requirements met, by priority")
    assert rows[1] == [
        "Priority 3 (SR class A)",
        "4",
        "met in this run",
        "FAILED*",
        "not required",
        "not required",
    ]
    assert rows[2] == ["Priority 2 (SR class B)", "3", *["met in this run"] * 2, *["not required"] * 2]


def test_statistics_are_those_of_the_measures(page: Path, in_vehicle: Path) -> None:
    group = json.loads((in_vehicle / "measures.json").read_text())["groups"][0]
    rows = read(page).table("Delay and jitter by stream")
    own = next(row for row in rows if row[0].startswith(group["stream"]))
    stat = group["delay"]
    expected = [stat[key] / 1e3 for key in ("min", "mean", "median", "p90", "p99", "p99_9", "max")]
    assert own[1] == "delay"
    assert [float(cell) for cell in own[3:10]] == pytest.approx(expected, abs=0.0005)
    assert own[-1] == str(stat["max_seq"])


def test_counts_and_losses_are_shown(page: Path, in_vehicle: Path) -> None:
    groups = json.loads((in_vehicle / "measures.json").read_text())["groups"]
    counted = {row[0].split(" (")[0]: row for row in read(page).table("Frames, by stream")[1:]}
    for group in groups:
        row = counted[group["stream"]]
        sent, received, lost = (group["count"][key] for key in ("sent", "received", "lost"))
        assert [cell.replace(" ", "") for cell in row[3:6]] == [str(sent), str(received), str(lost)]
    missing = read(page).table("Missing frames")
    reasons = {row[0]: row[2] for row in missing[1:]}
    assert set(reasons) == {"f2-be", "f5-be"}
    assert reasons["f2-be"] == "of the lost: last observed at zgw1 -> zgw6 tx"
    drops = read(page).table("Classes that dropped frames")
    assert {row[0] for row in drops[1:]} == {"zgw4 -> vcc1", "zgw3 -> vcc1"}


def test_definitions_provenance_and_command_are_there(page: Path, in_vehicle: Path) -> None:
    text = read(page).text
    plan = json.loads((in_vehicle / "plan.json").read_text())
    for words in (
        "delay(i) = t_rx(i) \u2212 t_tx(i)",
        "nearest rank",
        "EnGINE eq. 10",
        "never sent",
        plan["hash"],
    ):
        assert words in text
    assert "This command repeats the run:" in text


def test_every_figure_is_drawn_and_labelled(page: Path, star: Path, tmp_path: Path) -> None:
    names = {"ccdf", "jitter-ecdf", "boxes", "delay-over-time", "port-loads", "load-over-time", "topology"}
    for path, wanted in ((page, names), (report.write(star, into=tmp_path), names | {"gates"})):
        found = read(path)
        assert {f"{name}-title" for name in wanted} <= set(found.ids)
        assert found.tags.count("svg") == len(wanted) + len(found.bars)
        assert not found.unlabelled


def test_departures_outside_their_gate_are_counted(star: Path, copied: Callable[[Path], Path]) -> None:
    folder = copied(star)
    assert "none began while its gate was closed" in read(report.write(folder)).text
    seen = pl.read_parquet(folder / "observations.parquet")
    tap = next(n for n, tap in enumerate(json.loads((folder / "plan.json").read_text())["taps"])
               if tap["name"] == "dut -> node0 rx")  # fmt: skip
    late = (
        pl.int_range(pl.len())
        == seen.select(pl.arg_where((pl.col("tap") == tap) & (pl.col("pcp") == 6)))[3, 0]
    )
    moved = seen.with_columns(
        pl.when(late).then(pl.col("t_ns") + 90_000).otherwise(pl.col("t_ns")).alias("t_ns")
    )
    moved.write_parquet(folder / "observations.parquet")
    assert "1 BEGAN while its gate was closed" in read(report.write(folder)).text


def test_ids_are_unique_and_links_lead_somewhere(page: Path) -> None:
    found = read(page)
    assert len(found.ids) == len(set(found.ids))
    inner = [reference[1:] for reference in found.references if reference.startswith("#")]
    assert set(inner) <= set(found.ids)


def test_nothing_is_loaded_from_anywhere(page: Path) -> None:
    found = read(page)
    assert all(reference.startswith(("#", "data:")) for reference in found.references)
    text = page.read_text()
    assert "http://" not in text
    assert "https://" not in text
    assert "@import" not in text
    # The one program of the page zooms its figures, and no other may run.
    assert found.tags.count("script") == 1
    assert f"<script>{program()}</script>" in text
    assert f'http-equiv="Content-Security-Policy" content="{policy()}"' in text


def test_same_run_same_bytes(star: Path, tmp_path: Path) -> None:
    kinds = ("svg", "pdf", "png")
    found = []
    for side in "ab":
        page = report.write(star, into=tmp_path / side, figures=kinds)
        found.append({path.name: path.read_bytes() for path in (page, *(page.parent / "figures").iterdir())})
    assert len(found[0]) == 1 + 8 * len(kinds)
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("gone", "words"),
    [
        ("frames.parquet", "there are no distributions"),
        ("observations.parquet", "there are no sightings"),
        ("verdict.json", "No requirement was judged."),
        ("counters.json", "Not known: drops were not counted."),
        ("measures.json", "nothing was measured yet"),
        ("manifest.json", "the time, the machine and the versions"),
    ],
)
def test_a_missing_part_is_named(star: Path, copied: Callable[[Path], Path], gone: str, words: str) -> None:
    folder = copied(star)
    (folder / gone).unlink()
    assert words in read(report.write(folder)).text


def test_an_interrupted_run_says_so(star: Path, copied: Callable[[Path], Path]) -> None:
    folder = copied(star)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"state": "interrupted"}))
    assert "This run is interrupted, not complete." in read(report.write(folder)).text


def test_a_stream_without_any_sample_is_not_zero(star: Path, copied: Callable[[Path], Path]) -> None:
    folder = copied(star)
    measures = json.loads((folder / "measures.json").read_text())
    for part in (measures["paths"][0], measures["groups"][0]):
        part["delay"] = None
        part["jitter"] = dict.fromkeys(part["jitter"])
    (folder / "measures.json").write_text(json.dumps(measures))
    found = read(report.write(folder))
    row = next(row for row in found.table("Delay and jitter by stream") if row[0] == "theta-high")
    assert row == ["theta-high", "delay", "no sample"]
    assert "no frame has a delay, so there is no statistic" in found.text


def test_one_frame_is_enough(star: Path, copied: Callable[[Path], Path]) -> None:
    folder = copied(star)
    table = pl.read_parquet(folder / "frames.parquet")
    table.group_by("path", maintain_order=True).head(1).write_parquet(folder / "frames.parquet")
    assert "ccdf-title" in read(report.write(folder)).ids


@pytest.mark.parametrize("name", ["measures.json", "verdict.json", "plan.json", "counters.json"])
@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"nodes": 3}', '{"rows": [{}], "paths": [1], "ports": [1]}']
)
def test_broken_files_are_errors_of_the_input(
    star: Path, copied: Callable[[Path], Path], name: str, content: str
) -> None:
    folder = copied(star)
    (folder / name).write_text(content)
    # The report is written, or ends with an InputError; any other exception fails the test.
    with suppress(InputError):
        report.write(folder)


def test_the_error_of_a_broken_plan_names_its_folder(star: Path, copied: Callable[[Path], Path]) -> None:
    folder = copied(star)
    (folder / "plan.json").write_text('{"hello": 3}')
    with pytest.raises(InputError) as error:
        report.write(folder)
    lack = "the plan cannot be read: missing field `format` at line 1 column 12"
    assert str(error.value) == f"{folder / 'plan.json'}: {lack}"


def test_what_is_no_run_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected a run folder with a plan\.json"):
        report.write(tmp_path)
    with pytest.raises(InputError, match="at least one run"):
        report.write([])


def test_unknown_figure_kinds_are_errors(star: Path) -> None:
    with pytest.raises(InputError, match="expected svg, pdf, png, pgf, csv, found bmp"):
        report.write(star, figures=("bmp",))
