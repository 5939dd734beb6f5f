"""TRDP against TCNopen's own test programs, in namespaces: both directions, every pattern of its lists.

TCNopen is another project's program: ``TSNBENCH_TCNOPEN`` names the folder of its programs (``trdp-pd-test``,
``test_mdSingle``), and this repository has no part of it. ``TSNBENCH_TCNOPEN_TELEGRAMS`` is the smallest
number of telegrams of each kind that are exchanged, and ``TSNBENCH_TCNOPEN_PULL_S`` the time for each.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from tests.live.conftest import Link

FOLDER = os.environ.get("TSNBENCH_TCNOPEN")
TELEGRAMS = int(os.environ.get("TSNBENCH_TCNOPEN_TELEGRAMS", "20"))
PULL_S = float(os.environ.get("TSNBENCH_TCNOPEN_PULL_S", "0.55"))
"""TCNopen's test program requests slightly slower than every 500 ms, and pushes faster; on a loaded machine
it requests every second."""
ROOM_S = 3
OWN, PEER, GROUP = "10.97.0.1", "10.97.0.2", "239.2.24.1"
pytestmark = pytest.mark.skipif(FOLDER is None, reason="needs TCNopen's programs (TSNBENCH_TCNOPEN)")


class Theirs:
    """A program of TCNopen at the other end of the link; its screen goes to a file, which never blocks it."""

    def __init__(self, link: Link, screen: Path, program: str, *words: str) -> None:
        self._screen = screen
        with screen.open("wb") as file:
            self._process = subprocess.Popen(
                ["ip", "netns", "exec", link.spaces[1], str(Path(FOLDER or "") / program), *words],
                stdout=file, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def end(self) -> str:
        """End the program, and return its output."""
        self._process.kill()
        self._process.wait(timeout=10)
        return self._screen.read_text(encoding="utf-8", errors="replace")


def be(link: Link, tmp_path: Path, device: dict[str, Any]) -> subprocess.Popen[str]:
    """An end device of tsnbench at this end of the link."""
    file = tmp_path / "device.json"
    file.write_text(json.dumps({"interface": "v0", "address": OWN, **device}), encoding="utf-8")
    return link.raw(0, "trdp", str(file), "--log", str(tmp_path / "log.json"))


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
    ours = be(link, tmp_path, {**peer_of_the_test_program(), "for_ns": int((seconds + 2) * 10**9)})
    time.sleep(0.5)
    theirs = Theirs(link, tmp_path / "screen", "trdp-pd-test", PEER, OWN, GROUP)
    try:
        time.sleep(seconds)
    finally:
        screen = theirs.end()
    _, said = ours.communicate(timeout=20)
    assert ours.returncode == 0, said
    found = json.loads((tmp_path / "log.json").read_text(encoding="utf-8"))
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


@pytest.mark.parametrize("transport", ["udp", "tcp"])
@pytest.mark.parametrize("confirm", [False, True])
def test_tcnopen_answers_message_data(link: Link, tmp_path: Path, transport: str, confirm: bool) -> None:
    theirs = Theirs(
        link,
        tmp_path / "screen",
        "test_mdSingle",
        "-o",
        PEER,
        "-r",
        "-p",
        transport.upper(),
        *(["-c"] if confirm else []),
    )
    try:
        time.sleep(0.7)
        call = {"com_id": 1001, "to": PEER, "octets": 64, "count": TELEGRAMS, "transport": transport}
        call |= {"period_ns": 10**7, "time_out_ns": 2 * 10**9, "destination_uri": "test"}
        ours = be(link, tmp_path, {"call": [call]})
        _, said = ours.communicate(timeout=30 + TELEGRAMS)
    finally:
        theirs.end()
    assert ours.returncode == 0, said
    (found,) = json.loads((tmp_path / "log.json").read_text(encoding="utf-8"))["call"]
    counts = (found["sent"], found["replies"], found["confirmed"], found["time_outs"])
    assert counts == (TELEGRAMS, TELEGRAMS, TELEGRAMS if confirm else 0, 0)


@pytest.mark.parametrize("transport", ["udp", "tcp"])
@pytest.mark.parametrize("confirm", [False, True])
def test_tcnopen_accepts_answers_of_tsnbench(
    link: Link, tmp_path: Path, transport: str, confirm: bool
) -> None:
    answer = {"com_id": 1001, "octets": 64, "confirm": confirm}
    ours = be(link, tmp_path, {"answer": [answer], "for_ns": 4 * 10**9})
    time.sleep(0.5)
    theirs = Theirs(
        link, tmp_path / "screen", "test_mdSingle", "-o", PEER, "-t", OWN, "-p", transport.upper()
    )
    try:
        _, said = ours.communicate(timeout=20)
    finally:
        screen = theirs.end()
    assert ours.returncode == 0, said
    found = json.loads((tmp_path / "log.json").read_text(encoding="utf-8"))["answer"]
    assert found["requests"] == found["replies"] >= 1
    assert (found["confirmations"], found["unconfirmed"]) == (found["requests"] if confirm else 0, 0)
    assert "MR Reply with confirmation received" in screen if confirm else "MR Reply received" in screen


MD_TESTS = {
    1: ("notify", "tcp", PEER), 2: ("notify", "udp", PEER), 3: ("notify", "udp", GROUP),
    4: ("reply", "tcp", PEER), 5: ("reply", "udp", PEER), 6: ("reply", "udp", GROUP),
    7: ("reply", "udp", GROUP),
    8: ("confirm", "tcp", PEER), 9: ("confirm", "udp", PEER), 10: ("confirm", "udp", GROUP),
    11: ("confirm", "udp", GROUP),
}  # fmt: skip
"""The tests of ``trdp-md-test`` by number; their communication identifiers are thousands."""


def groups(link: Link) -> None:
    """Routes to multicast groups on both sides."""
    for side, device in enumerate(("v0", "v1")):
        link.do(side, f"ip route add 224.0.0.0/4 dev {device}")


def test_the_replier_of_the_message_data_test(link: Link, tmp_path: Path) -> None:
    """Notifications, requests, confirmations over UDP and one TCP connection; replies of 65,336 octets."""
    groups(link)
    theirs = Theirs(link, tmp_path / "screen", "trdp-md-test", "replier", PEER, OWN, GROUP)
    calls = [
        {
            "com_id": 1000 * number, "to": to, "octets": 64, "count": TELEGRAMS, "transport": transport,
            "period_ns": 10**7, "time_out_ns": 2 * 10**9, "notify": pattern == "notify",
            "source_uri": "message.test", "destination_uri": "message.test",
        }
        for number, (pattern, transport, to) in MD_TESTS.items()
    ]  # fmt: skip
    try:
        time.sleep(0.7)
        ours = be(link, tmp_path, {"call": calls})
        _, said = ours.communicate(timeout=60 + 3 * TELEGRAMS)
        # Its screen shows the last confirmation a turn of its loop (10 ms) after it has arrived.
        time.sleep(0.5)
    finally:
        screen = theirs.end()
    assert ours.returncode == 0, said
    for found in json.loads((tmp_path / "log.json").read_text(encoding="utf-8"))["call"]:
        pattern, _, _ = MD_TESTS[found["com_id"] // 1000]
        replies = TELEGRAMS if pattern != "notify" else 0
        counts = (found["sent"], found["replies"], found["confirmed"], found["time_outs"], found["errors"])
        confirmed = replies if pattern == "confirm" else 0
        assert counts == (TELEGRAMS, replies, confirmed, 0, 0), found
        assert found["reply_octets"] == replies * 65_336
    assert screen.count("incoming request") == 8 * TELEGRAMS
    assert screen.count("incoming confirm") == 4 * TELEGRAMS
    assert screen.count("Accepting new TCP connection") == 1


def test_the_caller_of_the_message_data_test(link: Link, tmp_path: Path) -> None:
    """TCNopen runs its eleven tests against an end device of tsnbench, again and again."""
    groups(link)
    answer = [
        {"com_id": 1000 * number, "octets": 64, "confirm": pattern == "confirm", "time_out_ns": 3 * 10**9}
        for number, (pattern, _, _) in MD_TESTS.items()
    ]
    joined = {"com_id": 1, "group": GROUP}
    ours = be(link, tmp_path, {"answer": answer, "subscribe": [joined], "for_ns": 25 * 10**9})
    time.sleep(0.5)
    theirs = Theirs(link, tmp_path / "screen", "trdp-md-test", "caller", PEER, OWN, GROUP)
    try:
        _, said = ours.communicate(timeout=60)
    finally:
        screen = theirs.end()
    assert ours.returncode == 0, said
    found = json.loads((tmp_path / "log.json").read_text(encoding="utf-8"))["answer"]
    assert found["requests"] == found["replies"] >= 8, found
    assert found["notifications"] >= 3
    assert found["unconfirmed"] == found["no_listener"] == found["errors"] == 0
    assert screen.count("incoming reply") >= found["replies"] - 1
    # One round was completed: its table of results has no error.
    assert "TEST 1 --" in screen.partition("TEST 11 --")[2]
    assert "call error" not in screen


def test_a_publisher_that_is_killed_and_begins_again(link: Link, tmp_path: Path) -> None:
    """TCNopen's ``sendHello`` is killed once: time-outs and a restart, but no gap."""
    subscription = {"com_id": 1000, "from": PEER, "time_out_ns": 200 * 10**6}
    ours = be(link, tmp_path, {"subscribe": [subscription], "for_ns": 6 * 10**9})
    time.sleep(0.5)
    for _ in range(2):
        theirs = Theirs(
            link, tmp_path / "screen", "sendHello", "-o", PEER, "-t", OWN, "-c", "1000", "-s", "20000"
        )
        time.sleep(1.5)
        theirs.end()
        time.sleep(0.7)
    _, said = ours.communicate(timeout=20)
    assert ours.returncode == 0, said
    (found,) = json.loads((tmp_path / "log.json").read_text(encoding="utf-8"))["subscribe"]
    assert found["taken"] > 50
    assert (found["time_outs"], found["restarted"], found["missed"]) == (2, 1, 0)


def test_telegrams_of_another_train_are_ignored(link: Link, tmp_path: Path) -> None:
    """Telegrams with wrong topography counters do not reach TCNopen; counters of 0 match any train."""
    theirs = Theirs(link, tmp_path / "screen", "receiveHello", "-o", PEER, "-c", "1000")
    try:
        time.sleep(0.7)
        for topography in ([7, 8], [0, 0]):
            sent = {"com_id": 1000, "to": PEER, "period_ns": 20 * 10**6, "octets": 24, "count": 20}
            ours = be(link, tmp_path, {"publish": [{**sent, "topography": topography}]})
            _, said = ours.communicate(timeout=20)
            assert ours.returncode == 0, said
            time.sleep(0.2)
            taken = (tmp_path / "screen").read_text(encoding="utf-8", errors="replace").count("reveived")
            assert (taken > 0) == (topography == [0, 0]), topography
    finally:
        theirs.end()
