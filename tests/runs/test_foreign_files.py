"""Files from other sources: limits of reading, and messages for their mistakes."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tsnbench import foreign
from tsnbench.foreign import UnusableFileError
from tsnbench.runs import documents

STAT = dict.fromkeys(("count", "min", "max", "median", "p90", "p99", "p99_9"), 5) | {"mean": 5.0, "std": 0.5}
PATH = {
    "stream": "s",
    "listener": "l",
    "count": {"sent": 1, "received": 1, "lost": 0, "never_sent": None},
    "delay": STAT,
    "jitter": {"deviation": STAT, "interval": None},
    "spread": 0.5,
}
MEASURES: dict[str, Any] = {"paths": [PATH], "groups": [], "source": {"warnings": ["w"]}, "more": 5}


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path, found in ((tmp_path / "fifo", "a FIFO"), (Path("/dev/zero"), "a character device")):
        with pytest.raises(UnusableFileError) as error:
            foreign.read_bytes(path, 10)
        assert str(error.value) == f"{path}: expected a regular file, found {found}"
    with pytest.raises(IsADirectoryError):
        foreign.regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        foreign.regular(tmp_path / "none")


def test_no_more_is_read_than_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert foreign.read_bytes(path, 5) == b"12345"
    with pytest.raises(UnusableFileError, match="expected at most 4 B, found 5 B"):
        foreign.read_bytes(path, 4)
    # Files in /proc report no size.
    with pytest.raises(UnusableFileError, match="expected at most 4 B, found more"):
        foreign.read_bytes("/proc/self/status", 4)
    os.truncate(path, foreign.MOST_JSON + 1)
    with pytest.raises(UnusableFileError, match="expected at most 1 GiB"):
        foreign.read_json(path)


@pytest.mark.parametrize(
    ("octets", "found"),
    [
        (b"", "an empty file"),
        (b'{\n"a": \xff}', "the byte 0xff in line 2"),
        (b'{\n"a": }', "expecting value in line 2, column 6"),
        (b"[" * 200_000, "too many levels of nesting"),
        (b"1" * 5_000, "Exceeds the limit"),
    ],
)
def test_the_error_of_damaged_json_names_the_place(tmp_path: Path, octets: bytes, found: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(octets)
    with pytest.raises(UnusableFileError) as error:
        foreign.read_json(path)
    assert found in error.value.found


def test_damaged_tables_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame({"a": list(range(10_000))}).write_parquet(path)
    whole = path.read_bytes()
    assert foreign.read_parquet(path).height == 10_000
    for octets in (b"", b"PAR1", whole[:-20], whole[:100] + b"\xff" * 200 + whole[300:]):
        path.write_bytes(octets)
        with pytest.raises(UnusableFileError, match="expected a Parquet file") as error:
            foreign.read_parquet(path)
        assert "\n" not in str(error.value)
    path.write_bytes(whole)
    with pytest.raises(UnusableFileError, match=r"expected metadata under tsnbench\.legend, found none"):
        foreign.parquet_note(path, "tsnbench.legend")


def test_measures_as_they_are_written_are_read(tmp_path: Path) -> None:
    path = tmp_path / "measures.json"
    path.write_text(json.dumps(MEASURES))
    assert documents.read(path) == MEASURES


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ((), [], "expected a JSON object, found a list"),
        (("paths",), 5, "expected a list at paths, found 5"),
        (("paths", 0), "x", "expected a JSON object at paths.0, found text"),
        (("paths", 0, "count", "sent"), "1", "expected a whole number at paths.0.count.sent, found text"),
        (("paths", 0, "count"), {}, "expected a value at paths.0.count.sent, found nothing"),
        (("paths", 0, "delay", "max"), 1.5, "expected a whole number at paths.0.delay.max, found 1.5"),
        (("paths", 0, "spread"), True, "expected a number at paths.0.spread, found true"),
        (("paths", 0, "jitter", "interval"), [], "at paths.0.jitter.interval, found a list"),
        (("groups",), None, "expected a list at groups, found null"),
        (("source", "warnings"), [5], "expected text at source.warnings.0, found 5"),
    ],
)
def test_the_error_of_a_wrong_type_names_the_place(
    tmp_path: Path, place: tuple[str | int, ...], value: Any, words: str
) -> None:
    content: Any = {"": copy.deepcopy(MEASURES)}
    holder, last = content, ""
    for step in place:
        holder, last = holder[last], step  # type: ignore[assignment]
    holder[last] = value
    path = tmp_path / "measures.json"
    path.write_text(json.dumps(content[""]))
    with pytest.raises(UnusableFileError) as error:
        documents.read(path)
    assert words in str(error.value)
