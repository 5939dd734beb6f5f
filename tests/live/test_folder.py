"""The folder of live traffic: no folder of a run, and its logs become a file that other programs read."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import polars as pl
import pytest

from tsnbench.live.folder import log_of, make, merge
from tsnbench.runs import FolderError


@pytest.mark.parametrize("name", ["manifest.json", "sweep.json"])
def test_the_observations_of_a_run_are_not_replaced(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{}")
    with pytest.raises(FolderError, match="holds a run, and live traffic would replace its observations"):
        make(tmp_path)


def test_both_sides_may_use_one_folder_but_no_file(tmp_path: Path) -> None:
    make(tmp_path / "deep" / "live")
    make(tmp_path / "deep" / "live")
    (tmp_path / "file").write_text("")
    with pytest.raises(FolderError, match="found a file"):
        make(tmp_path / "file")


@pytest.mark.parametrize("seventh", [1, 7, 5000])
def test_a_log_without_some_stamps_is_read_by_another_reader(tmp_path: Path, seventh: int) -> None:
    stamps = [None if number % seventh == 0 else number * 1000 + number % 13 for number in range(5000)]
    tap = {"name": "a", "node": "n", "stage": "tx", "clock": "c", "point": "start"}
    legend = {"plan": None, "taps": [tap], "streams": [{"name": "s.1", "group": "s"}]}
    with log_of(tmp_path, "send").open("wb") as log:
        log.write(b"tsnbench-sightings/1\n" + json.dumps(legend).encode() + b"\n")
        for number, stamp in enumerate(stamps):
            stored = -(1 << 63) if stamp is None else stamp
            log.write(struct.pack("<HBBHHIIQq", 0, 6, 0, 100, 0, 0, 64 + number % 100, number, stored))
    table = pl.read_parquet(merge(tmp_path)).sort("seq")
    assert table["t_ns"].to_list() == stamps
    assert table["octets"].to_list() == [64 + number % 100 for number in range(5000)]
