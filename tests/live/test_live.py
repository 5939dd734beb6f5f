"""Live talkers and listeners over a veth link: frames arrive on time, and losses are reported.

The machine may be loaded, so the tests assert times of most frames only.
"""

from __future__ import annotations

import json
import os
import re
import signal
import time
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from tests.live.conftest import until, until_idle

from support.planned import run_of
from tsnbench import load
from tsnbench.live.folder import merge
from tsnbench.measure.stages import by_stage

WAY = ["interval-start", "wakeup", "send", "qdisc", "driver", "kernel-rx", "app-rx"]


def _listen(link, folder: Path, *words: str, for_s: float = 60):
    """The live listener, which is ready when this returns."""
    until_ns = time.clock_gettime_ns(time.CLOCK_TAI) + int(for_s * 1e9)
    log = folder / "heard.json"
    listener = link.raw(1, "listen", "--port", "0=v1", "--log", str(log), "--until", str(until_ns), *words)
    assert listener.stdout.readline() == "listening\n", listener.communicate()

    def heard() -> dict:
        _, said = listener.communicate(timeout=for_s + 10)
        assert listener.returncode == 0, said
        return json.loads(log.read_text())

    return heard, listener


def _stamps(folder: Path) -> list[int]:
    """When the kernel of the listener received the frames of the first stream, in order."""
    return pl.read_parquet(merge(folder)).filter(pl.col("tap") == 1).sort("seq")["t_ns"].to_list()


def _sent(link, *words: str) -> dict:
    sender = link.start(0, "send", "--interface", "v0", "--json", *words)
    out, said = sender.communicate(timeout=60)
    assert sender.returncode == 0, said
    return json.loads(out)


@pytest.mark.parametrize("way", [["--wake"], []], ids=["calls", "ring"])
def test_all_frames_of_all_streams_arrive_on_their_period_and_in_order(link, tmp_path, way):
    heard, _ = _listen(link, tmp_path, "--count", "550", "--sights", str(tmp_path / "receive.sights"), *way)
    told = _sent(
        link, "--duration", "500ms", "--into", str(tmp_path), "--vlan", "7", "--pcp", "5", "--period", "1ms",
        "--payload", "100B", "--stream", "slow: {period: 10 ms, offset: 5 ms, payload: 1000 B}",
    )  # fmt: skip
    assert [(one["stream"], one["frames"], one["refused"]) for one in told["streams"]] == [
        ("stream", 500, 0),
        ("slow", 50, 0),
    ]
    found = heard()
    assert [
        (one["frames"], one["lost"], one["duplicates"], one["reordered"]) for one in found["streams"]
    ] == [
        (500, 0, 0, 0),
        (50, 0, 0, 0),
    ]
    # 100 octets of payload are a frame of 150 with tag and check sequence.
    assert found["streams"][0]["octets"] == 500 * 150
    assert found["interfaces"][0]["dropped_by_listener"] == 0
    # The talker merged the logs before the listener had written its log; merge again.
    merge(tmp_path)
    fast = next(one for one in by_stage(tmp_path) if one.stream == "stream")
    assert {stage.name for stage in fast.stages if stage.latencies} == set(WAY)
    seen = pl.read_parquet(tmp_path / "observations.parquet").filter(pl.col("stream") == 0)
    legend = json.loads(pl.read_parquet_metadata(tmp_path / "observations.parquet")["tsnbench.legend"])
    number = {tap["stage"]: n for n, tap in enumerate(legend["taps"])}
    stamps = {
        stage: dict(seen.filter(pl.col("tap") == number[stage]).select("seq", "t_ns").iter_rows())
        for stage in WAY
    }
    for seq in range(500):
        # The listener reads a block of its ring once it is full or old, which is after the kernel's stamp.
        assert [stamps[stage][seq] for stage in WAY] == sorted(stamps[stage][seq] for stage in WAY)
    starts = [stamps["interval-start"][seq] for seq in range(500)]
    assert {late - early for early, late in pairwise(starts)} == {1_000_000}
    assert seen["pcp"].unique().to_list() == [5]
    assert seen["vid"].unique().to_list() == [7]
    delays = sorted(stamps["kernel-rx"][seq] - starts[seq] for seq in range(500))
    assert 0 < delays[250] < 1_000_000


def test_missing_numbers_are_losses_and_repeated_ones_duplicates(link, tmp_path):
    """Injected by the replay of a capture with gaps and repetitions."""
    frames = tmp_path / "frames.pcap"
    heard, _ = _listen(link, tmp_path, "--count", "8")
    record(frames, [0, 1, 4, 4, 5, 3, 6, 9], gap_ns=2_000_000)
    sender = link.start(0, "send", "--interface", "v0", "--replay", str(frames), "--json")
    out, said = sender.communicate(timeout=60)
    assert sender.returncode == 0, said
    assert json.loads(out)["streams"][0]["frames"] == 8
    (one,) = heard()["streams"]
    # Numbers 2, 7 and 8 are missing, 4 arrives twice, 3 arrives after 5.
    assert (one["frames"], one["lost"], one["duplicates"], one["reordered"]) == (8, 3, 1, 1)
    # The payload of these frames is too short for a time.
    assert one["delay_ns"] is None


def test_a_capture_is_replayed_at_its_own_pace_or_slower(link, tmp_path):
    frames = tmp_path / "frames.pcap"
    record(frames, range(20), gap_ns=5_000_000)
    for slower in (1, 3):
        log = tmp_path / f"heard-{slower}.sights"
        heard, _ = _listen(link, tmp_path, "--count", "20", "--wake", "--sights", str(log))
        sender = link.start(0, "send", "--interface", "v0", "--replay", str(frames), "--dilate", str(slower))
        sender.communicate(timeout=60)
        heard()
        folder = tmp_path / str(slower)
        folder.mkdir()
        log.rename(folder / "receive.sights")
        gaps = sorted(late - early for early, late in pairwise(_stamps(folder)))
        assert len(gaps) == 19
        assert abs(gaps[9] - slower * 5_000_000) < 500_000


def test_a_listener_with_a_small_ring_counts_the_frames_that_it_drops(link, tmp_path):
    heard, listener = _listen(link, tmp_path, "--ring", "8", "--priority", "0")
    # The listener is stopped while frames arrive, so nothing empties its ring.
    listener.send_signal(19)
    told = _sent(link, "--duration", "100ms", "--period", "100us", "--payload", "1000B")
    listener.send_signal(18)
    until_idle(listener.pid)
    listener.terminate()
    found = heard()
    assert told["streams"][0]["frames"] == 1000
    dropped = found["interfaces"][0]["dropped_by_listener"]
    assert dropped > 900
    came = sum(one["frames"] for one in found["streams"]) + found["foreign"]
    assert came + dropped >= 1000


def test_a_talker_that_is_late_all_the_time_keeps_the_stamps_of_its_frames(link, tmp_path):
    """Its period is shorter than a call to send: it never waits, and must read its stamps nevertheless."""
    told = _sent(
        link, "--duration", "4ms", "--into", str(tmp_path), "--period", "1us", "--payload", "1000B"
    )  # fmt: skip
    (stream,) = told["streams"]
    assert (stream["frames"], stream["refused"]) == (4000, 0)
    seen = pl.read_parquet(tmp_path / "observations.parquet")
    legend = json.loads(pl.read_parquet_metadata(tmp_path / "observations.parquet")["tsnbench.legend"])
    stages = {tap["stage"]: number for number, tap in enumerate(legend["taps"])}
    counts = {stage: seen.filter(pl.col("tap") == stages[stage]).height for stage in ("send", "driver")}
    assert counts == {"send": 4000, "driver": 4000}


def test_a_talker_that_begins_again_is_no_duplicate(link, tmp_path):
    heard, _ = _listen(link, tmp_path, "--count", "100")
    for _ in range(2):
        _sent(link, "--duration", "100ms", "--period", "2ms", "--payload", "200B")
    (one,) = heard()["streams"]
    assert (one["frames"], one["restarts"], one["lost"], one["duplicates"]) == (100, 1, 0, 0)


def test_frames_without_room_in_the_ring_are_no_loss_of_the_network(link):
    """The listener stands still while 3,000 frames arrive, of which its ring of 1 MiB holds some 900."""
    listener = link.start(1, "receive", "v1", "--ring", "1MB", "--json")
    assert listener.stderr.readline() == "v1: listening\n"
    (program,) = map(int, link.do(1, f"pgrep -P {listener.pid}").stdout.split())
    os.kill(program, signal.SIGSTOP)
    words = ("--period", "100us", "--payload", "1000B", "--duration", "1s")
    sender = link.start(0, "send", "--interface", "v0", *words)
    until(lambda: int(link.do(1, "cat /sys/class/net/v1/statistics/rx_packets").stdout) > 3000)
    os.kill(program, signal.SIGCONT)
    assert sender.wait(timeout=60) == 0
    until_idle(program)
    os.kill(program, signal.SIGTERM)
    out, said = listener.communicate(timeout=60)
    (one,) = json.loads(out)["streams"]
    assert one["lost"] > 1000
    told = re.search(r"itself lost (\d+) frames.*of (\d+) lost frames, the network lost at least (\d+)", said)
    assert told is not None, said
    assert int(told[1]) >= int(told[2]) == one["lost"]
    assert int(told[3]) == 0


def test_udp_is_sent_without_own_headers(link, tmp_path):
    heard, _ = _listen(link, tmp_path, "--count", "50")
    told = _sent(link, "--udp", "10.97.0.2", "--duration", "100ms", "--period", "2ms", "--payload", "200B")
    assert told["streams"][0]["frames"] == 50
    # No program has the port open, so each datagram gets an ICMP error; all of them are sent nevertheless.
    assert told["streams"][0]["refused"] == 0
    (one,) = heard()["streams"]
    assert (one["frames"], one["lost"], one["octets"]) == (50, 0, 50 * (200 + 46))


def test_a_saturating_talker_fills_its_line_and_loses_nothing(link, tmp_path):
    shaped = link.do(0, "tc qdisc add dev v0 root tbf rate 20mbit burst 3000 limit 100000")
    if shaped.returncode:
        pytest.skip(f"this kernel has no tbf: {shaped.stderr.strip()}")
    heard, listener = _listen(link, tmp_path, "--sights", str(tmp_path / "receive.sights"))
    told = _sent(link, "--saturating", "--payload", "1000B", "--duration", "400ms")
    until(lambda: "backlog 0b" in link.do(0, "tc -s qdisc show dev v0").stdout)
    until_idle(listener.pid)
    listener.terminate()
    (one,) = heard()["streams"]
    # 400 ms at 20 Mbit/s are 956 frames of 1042 octets, as tbf counts them, and a burst before.
    assert told["streams"][0]["frames"] < 980
    assert one["frames"] == told["streams"][0]["frames"]
    assert (one["lost"], one["reordered"]) == (0, 0)
    # Where no other program takes the processor, 100 frames are 41.7 ms of a full line.
    stamps = _stamps(tmp_path)
    assert 39_000_000 < min(stamps[n + 100] - stamps[n] for n in range(len(stamps) - 100)) < 44_000_000


def test_poisson_talkers_send_what_the_simulator_draws(link, tmp_path):
    path = tmp_path / "scenario.yaml"
    path.write_text(
        "name: live\nduration: 300 ms\n"
        "network: {stations: [a, b], links: {rate: 1 Gbit/s, between: [a -- b]}}\n"
        "streams: {s: {from: a, to: b, poisson: 1 Mbit/s, payload: 100 B, vlan: none}}\n"
    )
    run = run_of(load(path).plan(), tmp_path)
    drawn = run.counters["streams"][0]["released"]
    sender = link.start(0, "send", str(path), "--node", "a", "--to", "v0", "--json")
    out, said = sender.communicate(timeout=60)
    assert sender.returncode == 0, said
    assert json.loads(out)["streams"][0]["frames"] == drawn > 100


def record(into: Path, numbers, gap_ns: int) -> None:
    """A capture of frames of the smallest size with these numbers."""
    head = bytes.fromhex(
        "ffffffffffff02000000000108004500002e0000400040113cb60a6100010a6100021389138900160000"
    )
    with into.open("wb") as file:
        file.write(bytes.fromhex("4d3cb2a1020004000000000000000000ffff000001000000"))
        for place, number in enumerate(numbers):
            octets = head + b"TSN\x01" + bytes(4) + number.to_bytes(6) + bytes(4)
            at = divmod(place * gap_ns, 10**9)
            file.write(b"".join(n.to_bytes(4, "little") for n in (*at, len(octets), len(octets))) + octets)
