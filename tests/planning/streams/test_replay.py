"""Recordings that talkers replay: every time and size of a capture or table, in the Plan and on the wire."""

from __future__ import annotations

from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support.captures import frames, recorded
from support.networks import line, periodic
from support.planned import problems_of, refusal_text
from tsnbench.backends.simulation import Simulation
from tsnbench.plan.document import Plan
from tsnbench.plan.load import flow_rate
from tsnbench.planning import plan
from tsnbench.planning.draft import Draft
from tsnbench.planning.streams import replay
from tsnbench.planning.streams.replay import replay_flows
from tsnbench.planning.topology.addressing import name_flows
from tsnbench.planning.topology.ports import name_ports
from tsnbench.scenario import load, model

NETWORK = "network: {stations: [a, b], rate: 1 Gbit/s, links: [a -- b]}"


def planned(folder: Path, stream: str, duration: str = "1 s", network: str = NETWORK) -> Plan:
    file = folder / "s.yaml"
    file.write_text(
        f"name: s\nduration: {duration}\n{network}\nstreams:\n  s: {{from: a, to: b, {stream}}}\n",
        encoding="utf-8",
    )
    return plan(load(file))


def stream(folder: Path, written: str, **more: str) -> dict[str, Any]:
    found: dict[str, Any] = planned(folder, written, **more).document["streams"][0]
    return found


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    recorded("rtc_out_A.pcap", tmp_path, "rtc.pcap")
    return tmp_path


def records(file: Path) -> list[tuple[int, int]]:
    """(ns, octets on the link) of a little-endian pcap, read here by hand."""
    return [(time, octets) for time, octets, _ in frames(file.read_bytes())]


def test_every_frame_of_a_real_capture(capture: Path) -> None:
    """5100 tagged frames of RTC-Testbench."""
    frames = records(capture / "rtc.pcap")
    times = sorted(time - frames[0][0] for time, _ in frames)
    (size,) = {octets for _, octets in frames}
    found = stream(capture, "replay: rtc.pcap", duration="9 s")
    gaps = found["pattern"]["gaps_ns"]
    assert len(gaps) == 5100
    assert list(accumulate(gaps)) == times
    assert found["pattern"]["cycle_ns"] == times[-1] + times[-1] // 5099
    # Captures leave the FCS out; these show the tag.
    assert found["size"] == {"kind": "frame", "octets": size + 4}
    untagged = stream(capture, "vlan: none, replay: {file: rtc.pcap, only: {vlan: 100, pcp: 6}}")
    assert untagged["size"]["octets"] == size
    assert untagged["pattern"] == found["pattern"]


def test_a_part_is_played_faster_and_again(capture: Path) -> None:
    whole = stream(capture, "replay: rtc.pcap", duration="6 s")["pattern"]["gaps_ns"]
    times = [sum(whole[: place + 1]) for place in range(200)]
    part = stream(capture, "replay: {file: rtc.pcap, from: 50 ms, until: 100 ms, speed: 2.5, repeat: 7}")
    expected = [(time - 50_000_000) * 2 // 5 for time in times if 50_000_000 <= time < 100_000_000]
    gaps = part["pattern"]["gaps_ns"]
    assert gaps == [expected[0], *(after - before for before, after in pairwise(expected))]
    assert part["pattern"]["cycle_ns"] == 20_000_000
    assert part["pattern"]["passes"] == 7
    endless = stream(capture, "replay: {file: rtc.pcap, until: 50 ms, repeat: forever}, start: 100 ms")
    assert endless["pattern"]["passes"] == 18, "900 ms are left"


def test_tables_are_exact(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("time_us,payload\n1.5,1472\n0,10\n 4.001 ,100\n", encoding="utf-8")
    found = stream(tmp_path, "replay: t.csv")
    assert found["pattern"] == {"kind": "trace", "gaps_ns": [0, 1500, 2501], "cycle_ns": 6001, "passes": 1}
    assert found["size"] == {"kind": "list", "octets": [64, 1522, 150]}
    pl.DataFrame({"time_ns": [7, 9], "phy": [84, 1542]}).write_parquet(tmp_path / "t.parquet")
    found = stream(tmp_path, "replay: t.parquet")
    assert found["pattern"]["gaps_ns"] == [7, 2]
    assert found["size"]["octets"] == [64, 1522]
    (tmp_path / "times.csv").write_text("time_s\n0\n0.25\n", encoding="utf-8")
    found = stream(tmp_path, "replay: {file: times.csv, repeat: 2}, frame: 500 B")
    # 520 octets on the wire, twice per half a second.
    assert flow_rate(found["pattern"], found["size"]) == 520 * 8 * 4
    assert found["pattern"]["cycle_ns"] == 500_000_000


MISTAKES = {
    "replay: none.pcap": "none.pcap, which cannot be read",
    "replay: broken.pcap": "is neither pcap nor pcapng",
    "replay: {file: rtc.pcap, only: {udp: 7}}": "no frame of this flow",
    "replay: {file: rtc.pcap, from: 9 s}": "no frame in the part",
}


@pytest.mark.parametrize("written", MISTAKES)
def test_mistakes_are_told(capture: Path, written: str) -> None:
    (capture / "broken.pcap").write_text("no capture", encoding="utf-8")
    said = refusal_text(planned, capture, written)
    assert MISTAKES[written] in said
    assert "s.yaml:5:" in said, "where it stands"


def sent(made: Plan, folder: Path, tap: str) -> list[tuple[int, int]]:
    run = Simulation().execute(made, folder, pcap=True)
    rows = run.observations().filter(pl.col("tap") == tap).sort("t_ns")
    return list(zip(rows["t_ns"].to_list(), rows["octets"].to_list(), strict=True))


def test_a_capture_of_ours_departs_again_at_the_same_times(tmp_path: Path) -> None:
    """Bursts of data units in random sizes: what was sent back to back is sent back to back again."""
    first = planned(tmp_path, "poisson: 300 Mbit/s, units: [10 B, 4000 B, 9000 B]", duration="20 ms")
    there = sent(first, tmp_path / "first", "a -> b tx")
    (written,) = (tmp_path / "first").glob("**/a-b-tx.pcapng")
    (tmp_path / "again.pcapng").write_bytes(written.read_bytes())
    again = planned(tmp_path, "replay: again.pcapng", duration="30 ms")
    here = sent(again, tmp_path / "again", "a -> b tx")
    assert len(here) == len(there) > 300
    assert len({octets for _, octets in here}) > 3
    # The first frame is at the recording's beginning: its stamp is one preamble later.
    shift = there[0][0] - 64
    assert here == [(time - shift, octets) for time, octets in there]


def test_flows_of_one_capture_keep_their_distance(tmp_path: Path) -> None:
    network = "network: {stations: [a, b], rate: 1 Gbit/s, links: [a -- b]}"
    both = (
        "pcp: 3, period: 1 ms, offset: 200 us, frame: 100 B}\n"
        "  t: {from: a, to: b, pcp: 5, period: 2 ms, offset: 700 us, frame: 300 B"
    )
    first = planned(tmp_path, both, duration="10 ms", network=network)
    there = sent(first, tmp_path / "first", "a -> b tx")
    (written,) = (tmp_path / "first").glob("**/a-b-tx.pcapng")
    (tmp_path / "again.pcapng").write_bytes(written.read_bytes())
    parts = (
        "pcp: 3, replay: {file: again.pcapng, only: {pcp: 3}}}\n"
        "  t: {from: a, to: b, pcp: 5, replay: {file: again.pcapng, only: {pcp: 5}}"
    )
    here = sent(planned(tmp_path, parts, duration="20 ms"), tmp_path / "again", "a -> b tx")
    shift = there[0][0] - 64
    assert here == [(time - shift, octets) for time, octets in there]


def test_a_recording_of_one_frame_is_played_once_or_with_its_own_time_as_pause(tmp_path: Path) -> None:
    """There is no mean gap. Played once, its pass lasts as long as the stream; else until the frame."""
    (tmp_path / "one.csv").write_text("time_us,frame\n30,100\n", encoding="utf-8")
    once = stream(tmp_path, "replay: one.csv", duration="1 ms")["pattern"]
    assert once == {"kind": "trace", "gaps_ns": [30_000], "cycle_ns": 1_000_000, "passes": 1}
    short = stream(tmp_path, "start: 200 us, stop: 700 us, replay: one.csv", duration="1 ms")["pattern"]
    assert short["cycle_ns"] == 500_000
    more = stream(tmp_path, "replay: {file: one.csv, repeat: 3}", duration="1 ms")["pattern"]
    assert (more["cycle_ns"], more["passes"]) == (30_000, 3)
    ever = stream(tmp_path, "replay: {file: one.csv, repeat: forever}", duration="1 ms")["pattern"]
    assert (ever["cycle_ns"], ever["passes"]) == (30_000, 34)


@pytest.mark.parametrize(
    ("written", "cycle", "passes"),
    [
        # The first frame is late by 10 us. The mean gap of 10, 30 and 60 us is 25 us, after the last frame.
        ("late.csv", 85_000, 1),
        ("{file: late.csv, repeat: 3}", 85_000, 3),
        # Half as fast: 20, 60 and 120 us, and 50 us.
        ("{file: late.csv, speed: 0.5}", 170_000, 1),
        # From 25 us on: 5 and 35 us, and the whole part lasts 75 us.
        ("{file: late.csv, from: 25 us, until: 100 us}", 75_000, 1),
        # 1 ms has 12 passes of 85 us, the last one cut off.
        ("{file: late.csv, repeat: forever}", 85_000, 12),
    ],
)
def test_a_pass_lasts_until_the_end_of_its_part_or_one_mean_gap_longer(
    tmp_path: Path, written: str, cycle: int, passes: int
) -> None:
    (tmp_path / "late.csv").write_text("time_us,frame\n10,100\n30,100\n60,100\n", encoding="utf-8")
    found = stream(tmp_path, f"replay: {written}", duration="1 ms")["pattern"]
    assert (found["cycle_ns"], found["passes"]) == (cycle, passes)


def test_streams_behind_a_replayed_one_are_planned_as_written(tmp_path: Path) -> None:
    (tmp_path / "late.csv").write_text("time_us,frame\n10,100\n30,64\n", encoding="utf-8")
    both = "replay: late.csv}\n  t: {from: b, to: a, period: 1 ms, frame: 200 B"
    first, second = planned(tmp_path, both).document["streams"]
    assert first["size"] == {"kind": "list", "octets": [100, 64]}
    assert first["pattern"]["kind"] == "trace"
    assert second["size"] == {"kind": "frame", "octets": 200}
    assert second["pattern"]["kind"] == "periodic"


def test_replayed_flows_have_one_limit_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two flows with two releases each are four, and three flows are two too many."""
    monkeypatch.setattr(replay, "MOST_IN_ALL", 4)
    (tmp_path / "two.csv").write_text("time_us,frame\n0,100\n10,100\n", encoding="utf-8")
    text = "period: 1 ms, frame: 100 B}\n  r: {from: a, to: b, count: COUNT, replay: two.csv"
    made = planned(tmp_path, text.replace("COUNT", "2")).document["streams"]
    assert [one["pattern"]["kind"] for one in made] == ["periodic", "trace", "trace"]
    (problem,) = problems_of(planned, tmp_path, text.replace("COUNT", "3"))
    assert (problem.path, problem.expected) == (
        "streams.r.replay",
        "at most 4 releases in all replayed flows",
    )
    assert problem.found == "more"


@pytest.mark.parametrize(
    ("duration", "start", "settings", "cycle", "passes"),
    [
        # 5 s have more passes of 1 ns than a Plan counts.
        (5 * 10**9, 0, {"until": 1, "passes": None}, 1, (1 << 32) - 1),
        (10**9, 0, {"until": 1, "passes": None}, 1, 10**9),
        # Nothing is left of the run: a pass still lasts 1 ns.
        (1_000, 1_000, {}, 1, 1),
        (1_000, 998, {}, 2, 1),
    ],
)
def test_passes_of_one_frame_at_the_begin(
    tmp_path: Path, duration: int, start: int, settings: dict[str, Any], cycle: int, passes: int
) -> None:
    (tmp_path / "one.csv").write_text("time_ns\n0\n", encoding="utf-8")
    pattern = model.Replay(file=str(tmp_path / "one.csv"), **settings)
    own = periodic("talker", "listener", pattern=pattern, start=start)
    made = Draft(line(1).model_copy(update={"streams": {"s": own}, "duration": duration}))
    name_ports(made)
    name_flows(made)
    replay_flows(made)
    assert made.problems == []
    (flow,) = made.flows
    assert flow.pattern == {"kind": "trace", "gaps_ns": [0], "cycle_ns": cycle, "passes": passes}
