"""Tables of times and sizes, row by row: exact numbers, what is refused, and in which words."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

from tsnbench.planning.streams import recording
from tsnbench.planning.streams.recording import Recording, RecordingError, read, read_times
from tsnbench.scenario import model


def csv(folder: Path, text: str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def replayed(path: Path, *, tagged: bool = False, **settings: object) -> Recording:
    return read(model.Replay(file=str(path), **settings), tagged)


def refusal(path: Path) -> str:
    with pytest.raises(RecordingError) as raised:
        replayed(path)
    return str(raised.value)


def test_rows_are_sorted_by_time_and_equal_times_keep_their_order(tmp_path: Path) -> None:
    path = csv(tmp_path, "time_us,frame\n3,100\n1.5,900\n1.5,64\n0,200\n")
    assert replayed(path) == Recording([0, 1_500, 1_500, 3_000], [200, 900, 64, 100])


def test_times_without_sizes_are_sorted(tmp_path: Path) -> None:
    assert replayed(csv(tmp_path, " time_ms \n2\n1\n")) == Recording([1_000_000, 2_000_000], None)


@pytest.mark.parametrize(
    ("column", "size", "tagged", "octets"),
    [
        ("frame", 100, True, 100), ("phy", 120, True, 100), ("payload", 54, False, 100),
        ("payload", 50, True, 100), ("payload", 1, False, 64),
    ],
)  # fmt: skip
def test_sizes_by_their_column(tmp_path: Path, column: str, size: int, tagged: bool, octets: int) -> None:
    path = csv(tmp_path, f"time_ns,{column}\n5,{size}\n")
    assert replayed(path, tagged=tagged) == Recording([5], [octets])


def test_a_part_begins_at_its_begin_and_ends_before_its_end(tmp_path: Path) -> None:
    path = csv(tmp_path, "time_ns,frame\n9,64\n10,65\n19,66\n20,67\n")
    assert replayed(path, begin=10, until=20) == Recording([0, 9], [65, 66])
    assert replayed(path, begin=10) == Recording([0, 9, 10], [65, 66, 67])


def test_occurrences(tmp_path: Path) -> None:
    """As in histograms of latencies: each row once, or as often as its column `count` says."""
    assert read_times(csv(tmp_path, "time_us\n4\n4\n2\n")) == [(4_000, 1), (4_000, 1), (2_000, 1)]
    assert read_times(csv(tmp_path, "time_us,count\n4,7\n2,0\n")) == [(4_000, 7), (2_000, 0)]
    path = csv(tmp_path, "time_us,count\n4,7\n2,-1\n")
    with pytest.raises(RecordingError, match=r"^has count in row 2 that is negative, not a whole ns"):
        read_times(path)


def test_numbers_of_a_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    pl.DataFrame({"time_us": [7, 8], "frame": ["64", "65"]}).write_parquet(path)
    assert replayed(path) == Recording([7_000, 8_000], [64, 65])
    for values in ([True, False], [1.5, 2.5], [None, 1]):
        pl.DataFrame({"time_us": values}).write_parquet(path)
        assert refusal(path) == "has no number that can be taken exactly in row 1 of time_us"


@pytest.mark.parametrize(
    ("text", "ns"),
    [("0.1", 100_000_000), (" 2 ", 2_000_000_000), ("0." + "0" * 8 + "1" + "0" * 29, 1), ("00", 0)],
)
def test_decimal_fractions_are_exact(tmp_path: Path, text: str, ns: int) -> None:
    assert replayed(csv(tmp_path, f"time_s\n{text}\n")).times_ns == [ns]


@pytest.mark.parametrize("text", ["1/2", "1e3", "1E3", "0." + "0" * 38 + "1", "one", "", "nan", "inf", "²"])
def test_other_texts_are_no_numbers(tmp_path: Path, text: str) -> None:
    path = csv(tmp_path, f"time_s,frame\n1,64\n{text},64\n")
    assert refusal(path) == "has no number that can be taken exactly in row 2 of time_s"


def test_sizes_are_named_by_their_column(tmp_path: Path) -> None:
    assert refusal(csv(tmp_path, "time_s,phy\n1,x\n")).endswith("row 1 of phy")


@pytest.mark.parametrize(
    ("number", "good"), [(1 << 62, True), ((1 << 62) + 1, False), (-1, False), ("0.5", False)]
)
def test_numbers_have_limits(tmp_path: Path, number: int | str, good: bool) -> None:
    path = csv(tmp_path, f"time_ns\n{number}\n")
    if good:
        assert replayed(path).times_ns == [number]
    else:
        assert refusal(path) == "has time_ns in row 1 that is negative, not a whole ns or octet, or large"


def test_a_file_that_is_no_table_is_not_printed_whole(tmp_path: Path) -> None:
    every = "time_ns, time_us, time_ms, time_s"
    said = refusal(csv(tmp_path, "x" * 100_000))
    assert said == f"needs one column of times ({every}), and has {'x' * 40}"


def test_columns_that_are_missing_or_too_many(tmp_path: Path) -> None:
    every = "time_ns, time_us, time_ms, time_s"
    names = ",".join(f"c{number}" for number in range(9))
    first = ", ".join(f"c{number}" for number in range(8))
    assert refusal(csv(tmp_path, f"{names}\n{',' * 8}\n")) == (
        f"needs one column of times ({every}), and has {first}"
    )
    assert refusal(csv(tmp_path, "time_ns,time_s\n1,1\n")).endswith("and has time_ns, time_s")
    assert refusal(csv(tmp_path, "time_ns,frame,phy\n1,64,84\n")) == (
        "needs one column of sizes: frame, phy, payload; it has frame and phy"
    )
    assert refusal(csv(tmp_path, "time_ns,frame, frame\n1,64,84\n")) == "has two columns of one name"


def test_a_name_is_no_pattern_of_names(tmp_path: Path) -> None:
    """A file that is called `t*.csv` is read, and no other one that fits."""
    csv(tmp_path, "time_ns\n1\n", "t1.csv")
    assert replayed(csv(tmp_path, "time_ns\n5\n", "t*.csv")).times_ns == [5]


def test_limits_of_rows_and_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "MOST_FRAMES", 2)
    path = csv(tmp_path, "time_ns\n" + "1\n" * 8)
    assert refusal(path) == "has 8 frames in the part that is replayed, more than 2"
    assert refusal(csv(tmp_path, "time_ns\n" + "1\n" * 9)) == "has 9 rows, more than 8"
    assert replayed(csv(tmp_path, "time_ns\n1\n1\n")).times_ns == [1, 1]
    monkeypatch.setattr(recording, "LARGEST_TABLE", 10)
    assert "10" in refusal(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.csv") == "cannot be read: No such file or directory"
    assert refusal(tmp_path / "none.pcap") == "cannot be read: No such file or directory"
    path = csv(tmp_path, "")
    assert refusal(path).startswith("cannot be read: expected a CSV file, found ")
    shutil.copy(path, tmp_path / "empty.parquet")
    assert refusal(tmp_path / "empty.parquet")
