"""A run as users read it: manifest, counters, tables, delays."""

from __future__ import annotations

import getpass
import json
import platform
from pathlib import Path
from typing import TYPE_CHECKING, cast

import polars as pl
import pytest

import tsnbench
from support.small_plan import small_plan
from tsnbench.runs import DelaySeries, FolderError, Run, State, engine
from tsnbench.runs.run import with_names

if TYPE_CHECKING:
    from tsnbench.runs.measures import PathReport


def test_the_manifest_says_what_ran(complete: Run) -> None:
    manifest = json.loads((complete.folder / "manifest.json").read_text())
    assert manifest == complete.manifest
    assert manifest["format"] == "tsnbench-run/1"
    assert (manifest["state"], complete.state) == ("complete", State.COMPLETE)
    assert manifest["plan"] == complete.plan.hash
    assert (manifest["seed"], manifest["variant"], manifest["duration_ns"]) == (3, {}, 5_000_000)
    assert manifest["versions"] == {
        "tsnbench": tsnbench.__version__,
        "engine": engine.identity(),
        "python": platform.python_version(),
    }
    assert manifest["machine"]["cpu"]
    assert manifest["wall_seconds"] >= 0
    assert manifest["started"] < manifest["ended"]
    assert manifest["problem"] is None


def test_the_manifest_contains_nothing_private(complete: Run) -> None:
    text = (complete.folder / "manifest.json").read_text()
    assert str(complete.folder.parent) not in text
    assert platform.node() not in text
    assert f'"{getpass.getuser()}"' not in text


def test_the_plan_in_the_folder_is_the_one_that_ran(complete: Run, tmp_path: Path) -> None:
    assert complete.plan.hash == small_plan(tmp_path).hash


def test_counters_account_for_every_frame(complete: Run) -> None:
    counters = complete.counters
    assert not counters["interrupted"]
    made = gone = 0
    for stream in counters["streams"]:
        made += stream["released"] + stream["replicated"]
        gone += stream["dropped_at_talker"] + stream["dropped_in_network"] + sum(stream["delivered"].values())
    assert made == gone + counters["in_network_at_end"]
    video = next(stream for stream in counters["streams"] if stream["name"].startswith("video"))
    assert (video["released"], video["delivered"]) == (50, {"c": 50})
    port = next(port for port in counters["ports"] if port["port"].startswith("dut -> c"))
    assert sum(port["sent_frames"] for port in port["classes"]) == sum(
        sum(stream["delivered"].values()) for stream in counters["streams"]
    )


def test_observations_have_names_and_every_sighting(complete: Run) -> None:
    table = complete.observations()
    assert table.columns == [
        "tap", "stage", "clock", "t_ns", "missing", "stream", "seq", "copy", "octets", "pcp", "vid",
    ]  # fmt: skip
    assert table["clock"].unique().to_list() == ["true"]
    assert table["missing"].null_count() == len(table)
    video = table.filter(pl.col("stream").str.starts_with("video"))
    assert video["stage"].value_counts().sort("stage").rows() == [("rx", 50), ("tx", 50)]
    assert video["pcp"].unique().to_list() == [5]
    assert video["octets"].unique().to_list() == [1000]
    taps = {tap["name"] for tap in complete.plan.document["taps"]}
    assert set(table["tap"]) <= taps


def test_frames_have_the_names_of_their_paths(complete: Run) -> None:
    table, paths = complete.frames(), complete.measures()["paths"]
    assert table.columns[:3] == ["stream", "listener", "path"]
    for number, path in enumerate(paths):
        own = table.filter((pl.col("stream") == path["stream"]) & (pl.col("listener") == path["listener"]))
        assert own["path"].unique().to_list() == [number]
        assert own.height == path["count"]["sent"]
    assert table.filter(pl.col("stream") == "nobody").is_empty()


def test_frames_of_runs_with_other_streams_are_joined_by_their_names() -> None:
    def frames(streams: list[str]) -> pl.DataFrame:
        numbers = range(len(streams))
        table = pl.DataFrame({"path": numbers, "seq": [5] * len(streams), "delay_ns": numbers})
        return with_names(table, [cast("PathReport", {"stream": one, "listener": "c"}) for one in streams])

    one, other = frames(["video", "loop"]), frames(["audio", "loop", "video"])
    both = one.join(other, on=["stream", "listener", "seq"], suffix="_2").sort("delay_ns")
    assert both.select("stream", "delay_ns", "delay_ns_2").rows() == [("video", 0, 2), ("loop", 1, 1)]


def test_frames_of_a_path_that_the_measures_lack_are_an_error(complete: Run, tmp_path: Path) -> None:
    for name in ("manifest.json", "plan.json", "measures.json"):
        (tmp_path / name).write_bytes((complete.folder / name).read_bytes())
    complete.frames().select(pl.col("path") + 7, pl.exclude("path", "stream", "listener")).write_parquet(
        tmp_path / "frames.parquet"
    )
    with pytest.raises(FolderError, match=r"its frames.parquet cannot be read"):
        Run.open(tmp_path).frames()


def test_ccdf_is_the_share_of_later_frames() -> None:
    series = DelaySeries("s", pl.DataFrame({"delay_ns": [10, 20, 20, None, 40]}))
    assert (len(series), series.missing) == (5, 1)
    assert series.ccdf().rows() == [(10, 0.75), (20, 0.25), (40, 0.0)]
    axes = series.plot()
    assert axes.get_yscale() == "log"
    assert axes.get_title() == "s"


def test_a_series_without_frames_can_be_drawn() -> None:
    series = DelaySeries("s", pl.DataFrame({"delay_ns": pl.Series([None, None], dtype=pl.Int64)}))
    assert series.ccdf().is_empty()
    series.plot()


def test_delays_of_a_stream_by_group_and_by_flow(complete: Run) -> None:
    series = complete.delay("video")
    assert (len(series), series.missing) == (50, 0)
    # Two links of 1008 octets each, without the octets before the timestamp point, and the cables.
    assert series.frames["delay_ns"].min() >= 2 * 1008 * 8 - 64
    assert len(complete.delay(complete.measures()["paths"][0]["stream"], "c")) > 0
    with pytest.raises(FolderError, match="the run has no stream 'vidoe'") as caught:
        complete.delay("vidoe")
    assert "it has" in str(caught.value)
    with pytest.raises(FolderError, match="at 'a'"):
        complete.delay("video", "a")
