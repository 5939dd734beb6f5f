"""Pages of captures: their figures against numbers computed here, and their commands."""

from __future__ import annotations

import html
import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from support.captures import recorded
from support.commands import tsnbench
from tsnbench.measure import exchanges_table, measure_captures, measure_trdp, trdp_table
from tsnbench.report.data import gather_captured
from tsnbench.report.facts import Measure
from tsnbench.report.figures.intervals import gaps
from tsnbench.report.figures.style import PAGE, bytes_of
from tsnbench.report.parts.intervals import MOMENTS, gap_panel, lost_shares, rates


def table(rows: Sequence[tuple[int, int, int | None, int | None]], into: Path) -> Path:
    """Frames of one path: number, t_tx, t_rx, octets."""
    columns = {
        "path": pl.UInt32,
        "seq": pl.UInt64,
        "t_tx_ns": pl.Int64,
        "t_rx_ns": pl.Int64,
        "octets": pl.UInt32,
    }
    pl.DataFrame([(0, *row) for row in rows], schema=columns, orient="row").write_parquet(into)
    return into


def stream(**counts: int) -> Measure:
    return Measure("s", "s", "", {"sent": 4, **counts}, (), None, {}, None, {}, paths=(0,))


def test_gaps_at_both_ends(tmp_path: Path) -> None:
    rows = [(1, 1_000, 50_000, 64), (2, 3_000, 40_000, 64), (3, 9_000, None, 64), (4, 10_000, 70_000, 64)]
    frames = table(rows, tmp_path / "frames.parquet")
    sent = gap_panel(frames, [stream()], "t_tx_ns", "As sent")
    arrived = gap_panel(frames, [stream()], "t_rx_ns", "As received")
    assert sent is not None
    assert arrived is not None
    (left,), (reached,) = sent.curves, arrived.curves
    assert left.distribution.x == (1.0, 2.0, 6.0)
    assert left.distribution.y == (1 / 3, 2 / 3, 1)
    # Arrivals in the order of time: 40, 50, 70 us.
    assert (reached.distribution.x, reached.over_time.mean) == ((10.0, 20.0), (10.0, 20.0))
    assert gap_panel(table(rows[:1], tmp_path / "one.parquet"), [stream()], "t_tx_ns", "") is None


def test_shares_of_lost_frames_and_rates(tmp_path: Path) -> None:
    # 100 intervals of 10 ns: frames 0 and 1 are in the first, 2 in the last.
    rows = [(0, 0, None, 100), (1, 5, 7, 100), (2, 999, None, 50)]
    frames = table(rows, tmp_path / "frames.parquet")
    (lost,) = lost_shares(frames, [stream(lost=2)])
    assert (lost.t, lost.y, lost.width_ns) == ((0.0, 990.0), (50.0, 100.0), 10)
    assert lost_shares(frames, [stream(lost=0)]) == []
    assert lost_shares(frames, [stream(lost=2, missing_timestamp=1)]) == []
    (flowed,) = rates(frames, [stream()])
    # 200 octets in 10 ns are 160 Gbit/s.
    assert (len(flowed.y), flowed.y[0], flowed.y[1], flowed.y[-1]) == (MOMENTS, 160_000.0, 0.0, 40_000.0)


def test_the_page_of_two_captures(ends: tuple[Path, Path], tmp_path: Path) -> None:
    tx, rx = map(str, ends)
    given = tsnbench("measure", tx, rx, "--json", "--into", tmp_path / "site", "--figures", "svg")
    assert given.returncode == 0, given.stderr
    assert json.loads(given.stdout) == json.loads(json.dumps(measure_captures(tx, rx)))
    page = (tmp_path / "site/report.html").read_text()
    assert "100 of 5\u202f100 frames of rtc vlan 100 pcp 6 were lost." in page
    names = sorted(one.stem for one in (tmp_path / "site/figures").iterdir())
    assert names == [
        "ccdf", "delay-over-time", "intervals", "intervals-over-time", "jitter-ecdf", "losses-over-time"
    ]  # fmt: skip
    assert all(f'id="{name}-title"' in page for name in names)


def test_single_figures_of_captures_without_the_page(ends: tuple[Path, Path], tmp_path: Path) -> None:
    tx, rx = map(str, ends)
    site = tmp_path / "site"
    for words, figure in ((["measure", tx, rx], "ccdf"), (["inspect", rx], "rates-over-time")):
        given = tsnbench(*words, "--json", "--into", site, "--figure", figure, "--figures", "csv")
        assert given.returncode == 0, given.stderr
        json.loads(given.stdout)
        assert given.stderr.splitlines()[-1] == f"figure: {site / 'figures' / figure}.csv"
    # Without --figures the file is a pdf; with the page's path, it stands where the page would.
    given = tsnbench("inspect", rx, "--into", site / "a.html", "--figure", "intervals")
    assert given.returncode == 0, given.stderr
    assert sorted(str(one.relative_to(site)) for one in site.glob("**/*.*")) == [
        "figures/ccdf.csv", "figures/intervals.pdf", "figures/rates-over-time.csv"
    ]  # fmt: skip


def test_without_losses_there_is_no_figure_of_losses(ends: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copy(ends[0], ends[1])
    given = tsnbench("measure", *ends, "--into", tmp_path / "page.html")
    assert given.returncode == 0
    assert "losses-over-time" not in (tmp_path / "page.html").read_text()


def test_the_page_of_one_capture(ends: tuple[Path, Path], tmp_path: Path) -> None:
    page = tmp_path / "one.html"
    given = tsnbench("inspect", ends[1], "--into", page)
    assert given.returncode == 0, given.stderr
    text = page.read_text()
    assert "5\u202f000 frames of 1 stream." in text
    assert '<td class="n">999</td><td class="n">100</td>' in text
    assert all(
        f'id="{name}-title"' in text for name in ("intervals", "intervals-over-time", "rates-over-time")
    )


def test_streams_of_captures_have_no_priority(ends: tuple[Path, Path], tmp_path: Path) -> None:
    frames = tmp_path / "frames.parquet"
    run = gather_captured(measure_captures(*ends, frames=frames), frames)
    assert [group.pcp for group in run.groups] == [None]
    assert run.plan["streams"] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["measure", "{folder}", "--into", "p.html"], "hint: tsnbench report {folder}"),
        (["measure", "--into", "p.html"], "--into: expected captures of both ends"),
        (["measure", "{tx}", "{rx}", "--figures", "svg"], "--figures: expected --into"),
        (
            ["inspect", "{tx}", "--into", "p.html", "--figures", "gif"],
            "expected svg, pdf, png, pgf or csv, found gif",
        ),
        (["measure", "{tx}", "{rx}", "--figure", "ccdf"], "--figure: expected --into"),
        (["inspect", "{tx}", "--figure", "intervals"], "--figure: expected --into"),
        (
            ["measure", "{tx}", "{rx}", "--into", "{folder}", "--figure", "heat"],
            "--figure: expected one of ccdf, ",
        ),
        (["measure", "{tx}", "{rx}", "{tx}"], "expected one run folder or file, or two captures"),
        (["measure", "{folder}", "{rx}"], "expected one run folder or file, or two captures"),
    ],
)
def test_mistakes(ends: tuple[Path, Path], tmp_path: Path, words: list[str], said: str) -> None:
    names = {"tx": str(ends[0]), "rx": str(ends[1]), "folder": str(tmp_path)}
    given = tsnbench(*(word.format(**names) for word in words))
    assert given.returncode == 2
    assert said.format(**names) in given.stderr.replace("\n", " ").replace("  ", " ")


def test_a_page_that_tsnbench_did_not_write_stays(ends: tuple[Path, Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<html>mine</html>")
    given = tsnbench("measure", *ends, "--into", page)
    assert given.returncode == 2
    assert page.read_text() == "<html>mine</html>"


def test_a_long_key_leaves_its_panel_the_height(tmp_path: Path) -> None:
    """Six streams with long names have one column of six rows."""
    rows = [(number, 1_000 * number * number, None, 64) for number in range(1, 5)]
    frames = table(rows, tmp_path / "frames.parquet")
    heights = []
    for many in (1, 2, 6):
        streams = [
            replace(stream(), stream=f"udp 10.0.0.{place}:41977 > 10.0.0.2:17225") for place in range(many)
        ]
        panel = gap_panel(frames, streams, "t_tx_ns", "Streams")
        assert panel is not None
        drawn = []
        drawing = gaps([panel])
        keep = replace(drawing, draw=lambda size, own=drawing, to=drawn: to.append(own.draw(size)) or to[0])
        bytes_of(keep, PAGE, "svg")
        (figure,) = drawn
        heights.append(figure.axes[0].get_position().height * figure.get_figheight())
    # In inches: without a key, with a key of one row, with a key of six rows.
    one_row, six_rows = heights[1:]
    assert six_rows == pytest.approx(one_row, abs=0.15)


THIN = "\u202f"


@pytest.mark.parametrize("command", ["inspect", "measure"])
@pytest.mark.parametrize(("name", "caption"), [
    ("message_data", "0 telegrams of process data and 30 of message data in 70 frames"),
    ("process_data", "388 telegrams of process data and 0 of message data in"),
])  # fmt: skip
def test_the_page_of_a_capture_with_trdp(command: str, name: str, caption: str, tmp_path: Path) -> None:
    """The tables of telegrams and of message data are those of the terminal."""
    capture = recorded(f"trdp/{name}.pcap", tmp_path)
    given = tsnbench(command, capture, "--into", tmp_path / "page.html")
    assert given.returncode == 0, given.stderr
    page = html.unescape((tmp_path / "page.html").read_text())
    assert caption in page
    found = measure_trdp(capture)
    for sheet in (trdp_table(found), exchanges_table(found)):
        assert sheet.rows or not found["exchanges"]
        for row in sheet.rows:
            cells = "".join(f'<td class="n">{cell.replace(",", THIN)}</td>' for cell in row[1:])
            assert f'<th scope="row">{row[0]}</th>{cells}' in page
    assert (len(found["exchanges"]) > 0) == ("Requests of message data" in page)
    assert 'href="#trdp"' in page


def test_the_page_of_a_capture_without_trdp_has_no_telegrams(ends: tuple[Path, Path], tmp_path: Path) -> None:
    given = tsnbench("inspect", ends[0], "--into", tmp_path / "page.html")
    assert given.returncode == 0, given.stderr
    assert "TRDP" not in (tmp_path / "page.html").read_text()
