"""Process data against TCNopen's own programs, in namespaces: both directions, every pattern of its lists.

``tests/live/tcnopen.py`` names the environment variables. A relay loses, repeats and swaps chosen
telegrams, so that the counts are exact.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.live.conftest import Link
from tests.live.relay import HELD, LOST
from tests.live.tcnopen import (
    FOLDER,
    GROUP,
    NS_PER_S,
    OWN,
    PEER,
    PULL_S,
    TELEGRAMS,
    Theirs,
    be,
    captured,
    groups,
    results,
)

from tsnbench.measure import measure_trdp

ROOM_S = 3

pytestmark = pytest.mark.skipif(FOLDER is None, reason="needs TCNopen's programs (TSNBENCH_TCNOPEN)")


def peer_of_the_test_program() -> dict[str, Any]:
    """The counterpart of ``trdp-pd-test``: it sends, echoes, requests and replies."""
    publish: list[dict[str, Any]] = []
    subscribe: list[dict[str, Any]] = []
    request: list[dict[str, Any]] = []
    for multicast, to in ((0, PEER), (1, GROUP)):
        heard = {"from": PEER, "time_out_ns": 4 * 10**9} | ({"group": GROUP} if multicast else {})
        for size, octets in ((1, 256), (2, 1432)):
            for slow, period_ms in ((0, 100), (1, 250)):
                number = 100 * multicast + 40 * (slow + 1) + 3 * (size + 1)
                sent = {"to": to, "period_ns": period_ms * 10**6, "octets": octets}
                publish.append({"com_id": 10_000 + number, **sent})
                publish.append({"com_id": 20_000 + number, "echo": 10_000 + number, **sent})
                subscribe += [{"com_id": base + number, **heard} for base in (10_000, 20_000)]
        for size, (asked, told) in ((1, (0, 256)), (2, (256, 1432))):
            number = 100 * multicast + 3 * size
            request.append(
                {
                    "com_id": 30_000 + number, "to": to, "period_ns": 500 * 10**6, "octets": asked,
                    "reply_com_id": 40_000 + number, "reply_to": GROUP if multicast else OWN,
                }
            )  # fmt: skip
            publish.append({"com_id": 40_000 + number, "to": to, "pattern": "pull", "octets": told})
            subscribe += [{"com_id": base + number, **heard} for base in (30_000, 40_000)]
    return {"publish": publish, "subscribe": subscribe, "request": request}


def test_every_pattern_of_process_data_in_both_directions(link: Link, tmp_path: Path) -> None:
    """Push and pull, unicast and multicast, 256 and 1432 octets; TCNopen's screen shows what it received."""
    groups(link)
    seconds = TELEGRAMS * PULL_S + ROOM_S
    ours = be(link, tmp_path, {**peer_of_the_test_program(), "for_ns": int((seconds + 2) * NS_PER_S)})
    theirs = Theirs(link, tmp_path / "screen", "trdp-pd-test", PEER, OWN, GROUP)
    try:
        time.sleep(seconds)
    finally:
        screen = theirs.end()
    found = results(ours, tmp_path, 20)
    assert (found["check_errors"], found["protocol_errors"], found["not_subscribed"]) == (0, 0, 0)
    for one in found["subscribe"]:
        assert one["taken"] >= TELEGRAMS, one
        assert one["gaps"] + one["repeated"] + one["old"] + one["restarted"] == 0, one
    assert all(one["sent"] >= TELEGRAMS and one["refused"] == 0 for one in found["publish"])
    # The last complete screen of TCNopen shows its received telegrams: no sink has an error.
    screens = re.sub(r"\x1b\[[0-9;]*m", "", screen).split("\x1b[H")
    sinks = [line for line in screens[-2].splitlines() if "<- [" in line]
    assert len(sinks) == 24, screens[-2]
    assert all(line.endswith(" 0") for line in sinks), "\n".join(sinks)


def counters(one: Mapping[str, Any] | None) -> tuple[int, ...]:
    """The counters of a subscription, live or in a capture."""
    assert one is not None
    return tuple(
        one[name] for name in ("taken", "gaps", "missed", "repeated", "old", "restarted", "time_outs")
    )


def in_capture(capture: Path, time_out_ns: int) -> tuple[int, ...]:
    """The same counters of the only stream in a capture."""
    (stream,) = measure_trdp(capture, time_out_ns=time_out_ns)["streams"]
    return counters(stream["subscription"])


def test_lost_repeated_and_swapped_telegrams_of_tcnopen(relayed: Link, tmp_path: Path) -> None:
    """Of ten telegrams, one is lost, one is repeated, and one arrives after its successor."""
    tens = -(-TELEGRAMS // 10)
    subscription = {"com_id": 1000, "from": PEER, "time_out_ns": NS_PER_S, "count": 8 * tens}
    with captured(relayed, "trdp_faults", tmp_path) as capture:
        ours = be(relayed, tmp_path, {"subscribe": [subscription]})
        words = ["sendHello", "-o", PEER, "-t", OWN, "-c", "1000", "-s", "20000"]
        theirs = Theirs(relayed, tmp_path / "screen", *words)
        try:
            (found,) = results(ours, tmp_path, 20 + TELEGRAMS)["subscribe"]
        finally:
            theirs.end()
    # The subscription ends with number 9 of the last ten.
    assert counters(found) == (8 * tens, 2 * tens, 2 * tens, tens, tens, 0, 0)
    told = in_capture(capture, NS_PER_S)
    assert told[0] >= 8 * tens
    assert abs(told[0] - 4 * told[1]) < 8, told


def test_tcnopen_ignores_repeated_and_swapped_telegrams(relayed: Link, tmp_path: Path) -> None:
    """TCNopen shows the number of its last telegram, and its log has each telegram that it ignores."""
    tens = -(-TELEGRAMS // 10)
    theirs = Theirs(relayed, tmp_path / "screen", "receiveHello", "-o", PEER, "-c", "1000")
    try:
        time.sleep(0.7)
        sent = {"com_id": 1000, "to": PEER, "period_ns": 20 * 10**6, "octets": 24, "count": 10 * tens}
        (found,) = results(be(relayed, tmp_path, {"publish": [sent]}), tmp_path, 20 + TELEGRAMS)["publish"]
        time.sleep(0.5)
    finally:
        screen = theirs.end()
    assert found["sent"] == 10 * tens
    numbers = [int(number) for number in re.findall(r"Seq  = (\d+)", screen)]
    # It looks every 10 ms or later: of two telegrams that it reads together, it shows the second.
    shown = sorted(set(numbers))
    assert shown == list(dict.fromkeys(numbers))
    assert [number for number in shown if number % 10 in (LOST, HELD)] == []
    assert 0.9 * 8 * tens <= len(shown) <= 8 * tens
    assert screen.count("Old PD data ignored") == 2 * tens


def test_a_publisher_that_is_killed_and_begins_again(link: Link, tmp_path: Path) -> None:
    """TCNopen's ``sendHello`` is killed once: time-outs and a restart, but no gap."""
    subscription = {"com_id": 1000, "from": PEER, "time_out_ns": 200 * 10**6}
    with captured(link, "trdp_restart", tmp_path) as capture:
        ours = be(link, tmp_path, {"subscribe": [subscription], "for_ns": 6 * NS_PER_S})
        for _ in range(2):
            words = ["sendHello", "-o", PEER, "-t", OWN, "-c", "1000", "-s", "20000"]
            theirs = Theirs(link, tmp_path / "screen", *words)
            time.sleep(1.5)
            theirs.end()
            time.sleep(0.7)
        (found,) = results(ours, tmp_path, 20)["subscribe"]
    assert found["taken"] > 50
    assert (found["time_outs"], found["restarted"], found["missed"]) == (2, 1, 0)
    # A capture ends with its last frame, so the time-out after it is not in it.
    assert in_capture(capture, 200 * 10**6) == (*counters(found)[:-1], 1)


def test_tcnopen_accepts_a_publisher_that_is_killed_and_begins_again(link: Link, tmp_path: Path) -> None:
    """An end device of tsnbench is killed: TCNopen reports its time-out, and then accepts number 0 again."""
    theirs = Theirs(link, tmp_path / "screen", "receiveHello", "-o", PEER, "-c", "1000")
    try:
        time.sleep(0.7)
        received = []
        for _ in range(2):
            sent = {"com_id": 1000, "to": PEER, "period_ns": 20 * 10**6, "octets": 24}
            ours = be(link, tmp_path, {"publish": [sent]})
            time.sleep(1.5)
            ours.kill()
            ours.communicate(timeout=10)
            # Its own time-out is three of its cycles, 3 s.
            time.sleep(3.5)
            screen = (tmp_path / "screen").read_text(encoding="utf-8", errors="replace")
            received.append((screen.count("reveived"), screen.count("Packet timed out")))
    finally:
        screen = theirs.end()
    (first, timed_out), (both, timed_out_again) = received
    assert first > 50
    assert both - first > 50
    assert 0 < timed_out < timed_out_again
    assert "Old PD data ignored" not in screen


def test_a_subscriber_that_is_killed_and_begins_again(link: Link, tmp_path: Path) -> None:
    """A new start of TCNopen's subscriber accepts a sequence from its middle on."""
    sent = {"com_id": 1000, "to": PEER, "period_ns": 20 * 10**6, "octets": 24, "count": 300}
    ours = be(link, tmp_path, {"publish": [sent]})
    for _ in range(2):
        theirs = Theirs(link, tmp_path / "screen", "receiveHello", "-o", PEER, "-c", "1000")
        time.sleep(2)
        screen = theirs.end()
        assert screen.count("reveived") > 50
        assert "Old PD data ignored" not in screen
    (found,) = results(ours, tmp_path, 20)["publish"]
    assert (found["sent"], found["refused"]) == (300, 0)


def test_telegrams_of_another_train_are_ignored(link: Link, tmp_path: Path) -> None:
    """Telegrams with wrong topography counters do not reach TCNopen; counters of 0 match any train."""
    theirs = Theirs(link, tmp_path / "screen", "receiveHello", "-o", PEER, "-c", "1000")
    with captured(link, "trdp_topography", tmp_path) as capture:
        try:
            time.sleep(0.7)
            for topography in ([7, 8], [0, 0]):
                sent = {"com_id": 1000, "to": PEER, "period_ns": 20 * 10**6, "octets": 24, "count": 20}
                ours = be(link, tmp_path, {"publish": [{**sent, "topography": topography}]})
                results(ours, tmp_path, 20)
                time.sleep(0.2)
                taken = (tmp_path / "screen").read_text(encoding="utf-8", errors="replace").count("reveived")
                assert (taken > 0) == (topography == [0, 0]), topography
        finally:
            theirs.end()
    assert in_capture(capture, 0) == (40, 0, 0, 0, 0, 1, 0)


def test_a_subscription_of_another_train_ignores_telegrams(link: Link, tmp_path: Path) -> None:
    """TCNopen's sender has counters of 0, which match the subscription of any train."""
    subscription = {"com_id": 1000, "from": PEER, "time_out_ns": 0, "topography": [7, 8], "count": TELEGRAMS}
    ours = be(link, tmp_path, {"subscribe": [subscription]})
    theirs = Theirs(
        link, tmp_path / "screen", "sendHello", "-o", PEER, "-t", OWN, "-c", "1000", "-s", "20000"
    )
    try:
        (found,) = results(ours, tmp_path, 20 + TELEGRAMS)["subscribe"]
    finally:
        theirs.end()
    assert (found["taken"], found["topography"]) == (TELEGRAMS, 0)
