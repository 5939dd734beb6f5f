"""Numbers of frames in public captures, beside those of tshark's dissectors.

``TSNBENCH_PUBLIC_CAPTURES`` names a folder with the captures that ``public_captures.toml`` lists, as
``OWNER+REPOSITORY/PATH``; this project neither fetches nor keeps them.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support.written_captures import dissected
from tsnbench.measure.inspection import InspectedStream, inspect_capture

FOLDER = os.environ.get("TSNBENCH_PUBLIC_CAPTURES")
pytestmark = pytest.mark.skipif(FOLDER is None, reason="needs public captures (TSNBENCH_PUBLIC_CAPTURES)")
HERE = Path(__file__).parent
CAPTURES: list[dict[str, Any]] = tomllib.loads((HERE / "public_captures.toml").read_text("utf-8"))["capture"]
EVERY = pytest.mark.parametrize(
    "capture", CAPTURES, ids=lambda one: f"{one['family']} {Path(one['path']).name}"
)
IP = ("ip.src", "ip.dst", "ipv6.src", "ipv6.dst", "udp.srcport", "udp.dstport")


@dataclass(frozen=True)
class Family:
    """How tshark shows the frames of a family."""

    shown: str
    """The display filter."""
    stream: tuple[str, ...]
    """Fields that all frames of a stream have in common."""
    numbers: tuple[str, ...]
    modulus: int = 0
    """After which numbers begin again, if the capture does not tell it."""
    first: int = 0


FAMILIES = {
    "goose": Family("goose", ("goose.appid", "goose.gocbRef"), ("goose.stNum", "goose.sqNum")),
    "enip": Family("enip.cpf.sai.seq", ("enip.cpf.sai.connid", *IP), ("enip.cpf.sai.seq",)),
    "ethercat": Family("ecat", ("eth.src", "eth.dst"), ("ecat.idx",), 256),
    "rtps": Family(
        "rtps.sm.id == 0x15", ("rtps.guidPrefix.src", "rtps.sm.wrEntityId", *IP), ("rtps.sm.seqNumber",)
    ),
    "some/ip": Family(
        "someip.sessionid > 0 && !(someip.tp.offset > 0)",
        ("someip.serviceid", "someip.methodid", "someip.clientid", "someip.messagetype", *IP),
        ("someip.sessionid",),
        65_535,
        1,
    ),
    "rtp": Family("rtp.seq", IP, ("rtp.seq",), 65_536),
    "ptp": Family(
        "ptp.v2.sequenceid",
        (
            "ptp.v2.messagetype",
            "ptp.v2.domainnumber",
            "ptp.v2.clockidentity",
            "ptp.v2.sourceportid",
            "ptp.v2.dr.requestingsourceportidentity",
            "ptp.v2.dr.requestingsourceportid",
            "ptp.v2.pdrs.requestingportidentity",
            "ptp.v2.pdrs.requestingsourceportid",
            *IP,
        ),
        ("ptp.v2.sequenceid",),
        65_536,
    ),
}

Numbered = tuple[int, tuple[int, ...]]
"""Time in ns, and the numbers of a frame."""


def of_tshark(path: Path, capture: dict[str, Any]) -> dict[tuple[str, ...], list[Numbered]]:
    """The frames of each stream."""
    family = FAMILIES[capture["family"]]
    options = (*capture.get("options", ()), "-Y", family.shown)
    fields = ("frame.time_epoch", *family.stream, *family.numbers)
    streams: dict[tuple[str, ...], list[Numbered]] = defaultdict(list)
    for time, *line in dissected(path, *fields, options=options):
        seconds, part = time.split(".")
        key = tuple(line[: len(family.stream)])
        numbers = [value for field in line[len(family.stream) :] for value in field.split(",") if value]
        at_ns = int(seconds) * 10**9 + int(part[:9].ljust(9, "0"))
        streams[key].append((at_ns, tuple(int(number, 0) for number in numbers)))
    return streams


def of_ours(
    path: Path, capture: dict[str, Any], folder: Path
) -> list[tuple[InspectedStream, list[Numbered]]]:
    """The streams of the family, and the number of each frame, as the frame has it."""
    family = FAMILIES[capture["family"]]
    found = inspect_capture(path, frames=folder / "frames.parquet")
    table = pl.read_parquet(folder / "frames.parquet")
    streams = []
    for place, one in enumerate(found["streams"]):
        if not one["stream"].startswith(f"{capture['family']} "):
            continue
        meant = one["numbers"] or {"step": 1, "residue": 0, "modulus": family.modulus, "first": family.first}
        rows = table.filter(pl.col("path") == place).sort("t_tx_ns").select("t_tx_ns", "seq").rows()
        numbers = []
        for at_ns, number in rows:
            whole = number * meant["step"] + meant["residue"]
            whole = whole % meant["modulus"] if meant["modulus"] else whole
            numbers.append((at_ns, (whole + meant["first"],)))
        streams.append((one, numbers))
    return streams


def same_states(ours: list[Numbered], theirs: list[Numbered]) -> bool:
    """GOOSE: numbers advance as sqNum does, and by one where a state or a publisher begins."""
    steps = []
    for ((_, a), (_, b)), ((_, before), (_, after)) in zip(pairwise(ours), pairwise(theirs), strict=True):
        advanced = before[0] == after[0] and after[1] > before[1]
        steps.append(b[0] - a[0] == (after[1] - before[1] if advanced else 1))
    return all(steps)


@EVERY
def test_frames_streams_and_numbers_are_those_of_tshark(capture: dict[str, Any], tmp_path: Path) -> None:
    path = the_file(capture)
    theirs, ours = of_tshark(path, capture), of_ours(path, capture, tmp_path)
    assert len(ours) == len(theirs) == capture["streams"]
    assert sum(map(len, theirs.values())) == capture["frames"]
    left = dict(theirs)
    for one, numbers in ours:
        key = next(key for key, frames in left.items() if numbers[0][0] in dict(frames))
        frames = left.pop(key)
        # A number that is there again is a duplicate; the table of frames has it once.
        assert one["frames"] + one["duplicate"] == len(frames), one["stream"]
        if capture["family"] == "goose":
            assert same_states(numbers, frames)
            continue
        told = {(at_ns, found[0] % 2**32) for at_ns, found in frames}
        wrong = [(at_ns, number) for at_ns, (number,) in numbers if (at_ns, number) not in told]
        assert not wrong, one["stream"]


def the_file(capture: dict[str, Any]) -> Path:
    path = Path(FOLDER or "") / capture["repository"].replace("/", "+") / capture["path"]
    if not path.exists():
        pytest.skip(f"needs {path}")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == capture["sha256"]
    return path


@pytest.mark.parametrize(
    "capture", [one for one in CAPTURES if one["family"] == "ptp"], ids=lambda one: Path(one["path"]).name
)
def test_intervals_and_corrections_of_ptp_are_those_of_tshark(capture: dict[str, Any]) -> None:
    path = the_file(capture)
    family = FAMILIES["ptp"]
    fields = ("frame.time_epoch", *family.stream, "ptp.v2.sequenceid", "ptp.v2.correction.ns")
    streams: dict[tuple[str, ...], list[tuple[int, int, int]]] = defaultdict(list)
    for time, *key, number, correction in dissected(path, *fields, options=("-Y", family.shown)):
        seconds, part = time.split(".")
        at_ns = int(seconds) * 10**9 + int(part[:9].ljust(9, "0"))
        streams[tuple(key)].append((at_ns, int(number), int(correction)))
    expected = list(map(ptp_stream, streams.values()))
    found = []
    for one in inspect_capture(path)["protocols"]["ptp"]:
        ends = [
            (stat["min"], stat["max"]) if stat else None
            for stat in (one["interval"], one["correction"], one["again"])
        ]
        found.append((one["messages"], one["missing"], *ends))
    assert sorted(found, key=str) == sorted(expected, key=str)


def ptp_stream(messages: list[tuple[int, int, int]]) -> tuple[Any, ...]:
    """Messages, missing numbers; ends of intervals, corrections and times until it passes again."""
    seen: dict[int, int] = {}
    once, again, missing, intervals = [], [], 0, []
    for at_ns, number, correction in messages:
        if number in seen and at_ns - seen[number] <= 100_000_000:
            again.append(at_ns - seen[number])
            continue
        seen[number] = at_ns
        if once:
            step = (number - once[-1][1]) % 65_536
            missing += step - 1 if 2 <= step < 32_768 else 0
            if step == 1:
                intervals.append(at_ns - once[-1][0])
        once.append((at_ns, number, correction))
    corrections = [correction for _, _, correction in once]
    return (len(once), missing, ends_of(intervals), ends_of(corrections), ends_of(again))


def ends_of(values: list[int]) -> tuple[int, int] | None:
    return (min(values), max(values)) if values else None
