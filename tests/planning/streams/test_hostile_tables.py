"""Whatever is in a recorded table or a measured histogram: numbers, or the reader's own error, soon."""

from __future__ import annotations

import datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tsnbench.planning.streams import recording
from tsnbench.scenario import model
from tsnbench.scenario.recorded.cyclictest import CyclictestError, parse

WORDS = ["time_us", "time_ns", "frame", "payload", "count", "0", "1", "-1", "1.5", "1e9", "1/0", "9" * 50, ""]
WORDS += ["nan", "inf", " ", '"', "\u0665", "000001 000010", "# Histogram Overflows: 1", "\t", "\x00", "1_0"]
CELLS = st.sampled_from(WORDS) | st.text(max_size=8) | st.integers().map(str)
TABLES = st.lists(st.lists(CELLS, max_size=4).map(",".join), max_size=6).map("\n".join)
HOSTILE = settings(deadline=2_000, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read(path: Path) -> None:
    for read in (
        lambda: recording.read(model.Replay(file=str(path)), True),
        lambda: recording.read_times(path),
    ):
        try:
            found = read()
        except recording.RecordingError as error:
            assert str(error)  # noqa: PT017
        else:
            times = found.times_ns if isinstance(found, recording.Recording) else [time for time, _ in found]
            assert all(isinstance(time, int) and 0 <= time <= 1 << 62 for time in times)


@HOSTILE
@given(TABLES)
@example("time_us,frame\n1,64\n,64")
@example("time_us,frame\n1,64\n2")
@example("time_us,time_us\n1,1")
def test_any_table_is_read_or_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode("utf-8", errors="replace"))
    read(path)


@HOSTILE
@given(st.binary(max_size=300), st.sampled_from(["table.csv", "table.parquet", "table.pcap", "table.pcapng"]))
def test_any_octets_are_read_or_refused(tmp_path: Path, octets: bytes, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(octets)
    read(path)


@pytest.mark.parametrize(
    "values",
    [
        [1, None],
        [1.0, 2.0],
        [True, False],
        [[1], [2]],
        [datetime.date(2020, 1, 1)] * 2,
        [b"1", b"2"],
        [-1, 1],
    ],
    ids=str,
)
def test_any_type_of_column_is_read_or_refused(tmp_path: Path, values: list[object]) -> None:
    path = tmp_path / "table.parquet"
    pl.DataFrame({"time_us": values, "frame": [64, 64]}).write_parquet(path)
    read(path)


@HOSTILE
@given(st.lists(st.sampled_from([*WORDS, "\n"]) | st.text(max_size=6)).map(" ".join))
@example("1 " * 20_000 + "x")
@example("000001 " + "1" * 20_000)
def test_any_histogram_is_read_or_refused(text: str) -> None:
    for thread in (None, 0, 7):
        try:
            bins = parse(text, thread)
        except CyclictestError as error:
            assert str(error)  # noqa: PT017
        else:
            assert bins
            assert all(start >= 0 and count > 0 for start, count in bins.items())
