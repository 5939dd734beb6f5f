"""Streams in captures that grow: the figures are those that ``measure`` finds in the whole files."""

from __future__ import annotations

import errno
import json
import os
import re
import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from support.planned import plan_of
from tsnbench import foreign
from tsnbench.backends.simulation import Simulation
from tsnbench.measure import measure_captures
from tsnbench.measure.inspection import inspect_capture
from tsnbench.watch import streams as room
from tsnbench.watch.streams import BOUNDS_NS, CapturedStreams, StreamFigures, worst_first

SCENARIO = """\
name: watched
duration: 400 ms
seed: 3
network:
  stations: [a, b, c]
  bridges: [s]
  links: {rate: 100 Mbit/s, between: [a-s, c-s, s-b]}
streams:
  x: {from: a, to: b, payload: 1000 B, period: 1 ms, pcp: 3, requires: {delay: 170 us, loss: 0}}
  y: {from: c, to: b, payload: 700 B, poisson: 20 Mbit/s, pcp: 0}
faults: [{loss: 2 %, on: s -> b}]
"""
TX, RX = ("a-s-tx.pcapng", "c-s-tx.pcapng"), ("s-b-rx.pcapng",)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("watched")
    plan = plan_of(SCENARIO)
    Simulation().execute(plan, folder / "run", pcap=True)
    return SimpleNamespace(plan=plan.document, captures=folder / "run/captures")


def pcap_of(pcapng: bytes) -> bytes:
    """The same frames in a pcap with ns."""
    content, at = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)], 0
    while at < len(pcapng):
        kind, length = struct.unpack_from("<II", pcapng, at)
        if kind == 6:
            high, low, kept, whole = struct.unpack_from("<IIII", pcapng, at + 12)
            time_ns = high << 32 | low
            content.append(struct.pack("<IIII", time_ns // 10**9, time_ns % 10**9, kept, whole))
            content.append(pcapng[at + 28 : at + 28 + kept])
        at += length
    return b"".join(content)


def grown(run, folder: Path, rounds: int, form=lambda octets: octets) -> Iterator[None]:
    """Captures that grow by equal numbers of octets, records cut anywhere."""
    whole = {name: form((run.captures / name).read_bytes()) for name in (*TX, *RX)}
    for number in range(1, rounds + 1):
        for name, octets in whole.items():
            (folder / name).write_bytes(octets[: len(octets) * number // rounds])
        yield


def watched(run, folder: Path, tx=TX, rx=RX) -> CapturedStreams:
    return CapturedStreams(run.plan, [folder / name for name in tx], [folder / name for name in rx])


def facts(one: StreamFigures) -> tuple[int, ...]:
    return one.sent, one.received, one.lost, one.late, one.delays, one.sum_ns, *one.buckets


@pytest.mark.parametrize(("rounds", "form"), [(1, bytes), (2, pcap_of), (9, bytes), (9, pcap_of)])
def test_figures_are_those_of_the_whole_files(run, tmp_path, rounds, form):
    streams = watched(run, tmp_path)
    for _ in grown(run, tmp_path, rounds, form):
        streams.round()
        assert streams.failures == {}
    streams.round()
    table = tmp_path / "frames.parquet"
    found = measure_captures(
        [run.captures / one for one in TX], [run.captures / one for one in RX], frames=table
    )
    rows = foreign.read_parquet(table)
    assert len(found["paths"]) == len(streams.streams) == 2
    for place, path in enumerate(found["paths"]):
        own = streams.streams[run.plan["streams"][int(path["stream"].removeprefix("tsnbench/"))]["name"]]
        count, delay = path["count"], path["delay"]
        delays = rows.filter(rows["path"] == place)["delay_ns"].drop_nulls().to_list()
        assert count["lost"] > 0
        assert (own.sent, own.received, own.lost) == (count["sent"], count["received"], count["lost"])
        assert (own.delays, own.sum_ns, own.most_ns) == (delay["count"], delay["sum"], delay["max"])
        assert own.late == sum(one > (own.limit_ns or one) for one in delays)
        upper = (0, *BOUNDS_NS)
        assert own.buckets[:-1] == [
            sum(least < one <= most for one in delays) for least, most in pairwise(upper)
        ]
    assert streams.streams["x"].late > 0
    both = StreamFigures("")
    for one in streams.streams.values():
        both.add(one)
    assert facts(both) == facts(streams.whole)


@pytest.mark.parametrize("rounds", [1, 2, 9])
def test_without_captures_at_talkers_missing_numbers_are_lost(run, tmp_path, rounds):
    streams = watched(run, tmp_path, tx=())
    for _ in grown(run, tmp_path, rounds):
        streams.round()
    found = inspect_capture(run.captures / RX[0])
    named = {
        run.plan["streams"][int(one["stream"].removeprefix("tsnbench/"))]["name"]: one
        for one in found["streams"]
    }
    assert {name: (one.received, one.lost) for name, one in streams.streams.items()} == {
        name: (one["frames"], one["missing"]) for name, one in named.items()
    }
    assert streams.whole.delays == 0


def test_where_nothing_arrives_every_frame_is_lost(run, tmp_path):
    streams = watched(run, tmp_path)
    for _ in grown(run, tmp_path, 1):
        (tmp_path / RX[0]).write_bytes((run.captures / RX[0]).read_bytes()[:124])
        streams.round()
    streams.round()
    assert streams.failures == {}
    assert streams.streams["x"].lost == streams.streams["x"].sent == 400
    assert streams.age_s(streams.streams["x"]) is None


def test_the_age_of_the_last_frame_grows_without_a_frame(run, tmp_path):
    now = 100.0
    streams = CapturedStreams(run.plan, [], [tmp_path / RX[0]], lambda: now)
    (tmp_path / RX[0]).write_bytes((run.captures / RX[0]).read_bytes())
    streams.round()
    last = {one.name: one.last_ns for one in streams.streams.values()}
    newest = max(last.values())
    for now in (100.0, 107.5):
        streams.round()
        for one in streams.streams.values():
            assert streams.age_s(one) == pytest.approx((newest - last[one.name]) / 1e9 + now - 100)


def test_a_file_that_cannot_be_read_loses_no_frame(run, tmp_path):
    streams = watched(run, tmp_path)
    hidden = tmp_path / "hidden"
    for number, _ in enumerate(grown(run, tmp_path, 6)):
        if number in (0, 3):
            (tmp_path / RX[0]).rename(hidden)
        streams.round()
        assert list(streams.failures) == ([tmp_path / RX[0]] if number in (0, 3) else [])
        if number in (0, 3):
            hidden.rename(tmp_path / RX[0])
    streams.round()
    streams.round()
    assert streams.streams["x"].sent == 400
    whole = measure_captures([run.captures / one for one in TX], [run.captures / one for one in RX])
    assert streams.whole.lost == sum(path["count"]["lost"] for path in whole["paths"])


def test_a_file_that_is_begun_anew_counts_once_more(run, tmp_path):
    streams = watched(run, tmp_path, tx=())
    for _ in grown(run, tmp_path, 1):
        streams.round()
    before = streams.whole.received
    (tmp_path / RX[0]).write_bytes(pcap_of((run.captures / RX[0]).read_bytes()))
    streams.round()
    assert streams.whole.received == 2 * before


@pytest.mark.parametrize("tx", [TX, ()])
@pytest.mark.parametrize("place", [0, 1])
def test_frames_around_a_file_that_is_begun_anew_are_not_lost(run, tmp_path, tx, place):
    """Each file in turn is begun anew under its name in the fourth of six rounds. The records that came
    between the last reading and the new file are in none."""
    streams = watched(run, tmp_path, tx=tx)
    anew = ((TX if tx else RX)[0], RX[0])[place]
    octets = pcap_of((run.captures / anew).read_bytes())
    cuts = cuts_of(octets)
    begin = cuts[len(cuts) * 6 // 10]
    for number, _ in enumerate(grown(run, tmp_path, 6, pcap_of)):
        if number >= 3:
            end = max(cut for cut in cuts if cut <= len(octets) * (number + 1) // 6)
            (tmp_path / anew).write_bytes(octets[:24] + octets[begin:end])
        streams.round()
        assert streams.failures == {}
    streams.round()
    whole = measure_captures([run.captures / one for one in TX], [run.captures / one for one in RX])
    lost = sum(path["count"]["lost"] for path in whole["paths"])
    assert streams.restarts[tmp_path / anew] == 1
    assert 0 < streams.whole.lost <= lost
    assert streams.whole.received > 100


def cuts_of(octets: bytes) -> list[int]:
    """Where records of a pcap file begin, and its end."""
    found = [24]
    while found[-1] < len(octets):
        found.append(found[-1] + 16 + int.from_bytes(octets[found[-1] + 8 : found[-1] + 12], "little"))
    return found


@pytest.mark.parametrize(
    "octets", [b"x" * 99, b"\x4d\x3c\xb2\xa1" + b"\xff" * 99, b"\n\r\r\n" + b"\xff" * 99]
)
def test_other_and_damaged_files_are_named(run, tmp_path, octets):
    (tmp_path / RX[0]).write_bytes(octets)
    streams = watched(run, tmp_path, tx=())
    streams.round()
    streams.round()
    assert re.match("expected a capture|damaged at octet 24", streams.failures[tmp_path / RX[0]])
    assert streams.streams == {}


@pytest.mark.parametrize(("cost_s", "pause_s"), [(0.001, 2), (0.05, 5), (9, 30)])
def test_rounds_become_longer_until_they_take_one_percent(run, tmp_path, cost_s, pause_s):
    streams = watched(run, tmp_path)
    streams.cost_s = cost_s
    assert streams.pause_s(2) == pause_s


def test_streams_with_the_least_margin_come_first():
    made = [
        StreamFigures("free", None, most_ns=900),
        StreamFigures("lossy", None, most_ns=100, lost=5),
        StreamFigures("near", 100, most_ns=90),
        StreamFigures("over", 100, most_ns=130),
        StreamFigures("far", 100, most_ns=1),
    ]
    assert [one.name for one in worst_first(made)] == ["over", "near", "far", "lossy", "free"]


def test_frames_of_other_plans_do_not_count(run, tmp_path):
    """Streams are bounded by the Plan, whatever is in the captures."""
    plan = json.loads(json.dumps(run.plan))
    del plan["streams"][1:]
    streams = CapturedStreams(plan, [], [tmp_path / RX[0]])
    (tmp_path / RX[0]).write_bytes((run.captures / RX[0]).read_bytes())
    streams.round()
    assert list(streams.streams) == [plan["streams"][0]["name"]]


def test_a_full_disk_loses_no_frame(run, tmp_path, monkeypatch):
    streams = watched(run, tmp_path)
    real = room.TemporaryDirectory

    def full(prefix):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), prefix)

    for number, _ in enumerate(grown(run, tmp_path, 6)):
        monkeypatch.setattr(room, "TemporaryDirectory", full if number in (2, 3) else real)
        streams.round()
        assert list(streams.failures.values()) == (
            ["No space left on device (tsnbench-watch-)"] * 3 if number in (2, 3) else []
        )
    streams.round()
    assert streams.streams["x"].sent == 400
    whole = measure_captures([run.captures / one for one in TX], [run.captures / one for one in RX])
    assert streams.whole.lost == sum(path["count"]["lost"] for path in whole["paths"])
