"""Message data against TCNopen's own programs, in namespaces: as caller and as replier, over UDP and TCP.

``tests/live/tcnopen.py`` names the environment variables. The programs are started so often, or so many at
once, that every kind of message reaches its number.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.live.conftest import Link
from tests.live.tcnopen import (
    FOLDER,
    GROUP,
    NS_PER_S,
    OWN,
    PEER,
    TELEGRAMS,
    Theirs,
    be,
    captured,
    groups,
    results,
)

from tsnbench.measure import measure_trdp

pytestmark = pytest.mark.skipif(FOLDER is None, reason="needs TCNopen's programs (TSNBENCH_TCNOPEN)")

MD_TESTS = {
    1: ("notify", "tcp", PEER), 2: ("notify", "udp", PEER), 3: ("notify", "udp", GROUP),
    4: ("reply", "tcp", PEER), 5: ("reply", "udp", PEER), 6: ("reply", "udp", GROUP),
    7: ("reply", "udp", GROUP),
    8: ("confirm", "tcp", PEER), 9: ("confirm", "udp", PEER), 10: ("confirm", "udp", GROUP),
    11: ("confirm", "udp", GROUP),
}  # fmt: skip
"""The tests of ``trdp-md-test`` by number; their communication identifiers are thousands."""
ROUND_S = 16
"""The longest time of a round: each of the eleven tests waits a second, and TCNopen reads every 10 ms."""
CALLERS = min(12, TELEGRAMS // 3)
"""Callers at one time, each with an address of its own."""


def caller_of_single_requests(link: Link, screen: Path, transport: str, count: int) -> Theirs:
    """``test_mdSingle`` makes one request and ends; a shell starts it again and again."""
    program = Path(FOLDER or "") / "test_mdSingle"
    line = f"timeout 10 {program} -o {PEER} -t {OWN} -p {transport.upper()}"
    return Theirs(link, screen, "sh", "-c", f"for i in $(seq {count}); do {line}; done", folder="/bin")


@pytest.mark.parametrize("transport", ["udp", "tcp"])
@pytest.mark.parametrize("confirm", [False, True])
def test_tcnopen_answers_message_data(link: Link, tmp_path: Path, transport: str, confirm: bool) -> None:
    words = ["-o", PEER, "-r", "-p", transport.upper(), *(["-c"] if confirm else [])]
    theirs = Theirs(link, tmp_path / "screen", "test_mdSingle", *words)
    try:
        time.sleep(0.7)
        call = {"com_id": 1001, "to": PEER, "octets": 64, "count": TELEGRAMS, "transport": transport}
        call |= {"period_ns": 10**7, "time_out_ns": 2 * NS_PER_S, "destination_uri": "test"}
        (found,) = results(be(link, tmp_path, {"call": [call]}), tmp_path, 30 + TELEGRAMS)["call"]
    finally:
        theirs.end()
    counts = (found["sent"], found["replies"], found["confirmed"], found["time_outs"])
    assert counts == (TELEGRAMS, TELEGRAMS, TELEGRAMS if confirm else 0, 0)


@pytest.mark.parametrize("transport", ["udp", "tcp"])
@pytest.mark.parametrize("confirm", [False, True])
def test_tcnopen_accepts_answers_of_tsnbench(
    link: Link, tmp_path: Path, transport: str, confirm: bool
) -> None:
    """Each request comes from a new start of the program: over TCP, from a new connection."""
    answer = {"com_id": 1001, "octets": 64, "confirm": confirm, "count": TELEGRAMS}
    ours = be(link, tmp_path, {"answer": [answer]})
    theirs = caller_of_single_requests(link, tmp_path / "screen", transport, TELEGRAMS)
    try:
        theirs.wait(60 + TELEGRAMS)
        found = results(ours, tmp_path, 20)["answer"]
    finally:
        screen = theirs.end()
    counts = (found["requests"], found["replies"], found["confirmations"], found["unconfirmed"])
    assert counts == (TELEGRAMS, TELEGRAMS, TELEGRAMS if confirm else 0, 0)
    assert (found["octets"], found["no_listener"], found["errors"]) == (13 * TELEGRAMS, 0, 0)
    with_confirmation = screen.count("MR Reply with confirmation received")
    assert with_confirmation == (TELEGRAMS if confirm else 0)
    assert screen.count("MR Reply received") == TELEGRAMS - with_confirmation
    assert "No Reply within time out" not in screen


def test_the_replier_of_the_message_data_test(link: Link, tmp_path: Path) -> None:
    """Notifications, requests, confirmations over UDP and one TCP connection; replies of 65,336 octets."""
    groups(link)
    theirs = Theirs(link, tmp_path / "screen", "trdp-md-test", "replier", PEER, OWN, GROUP)
    calls = [
        {
            "com_id": 1000 * number, "to": to, "octets": 64, "count": TELEGRAMS, "transport": transport,
            "period_ns": 10**7, "time_out_ns": 2 * NS_PER_S, "notify": pattern == "notify",
            "source_uri": "message.test", "destination_uri": "message.test",
        }
        for number, (pattern, transport, to) in MD_TESTS.items()
    ]  # fmt: skip
    try:
        time.sleep(0.7)
        found = results(be(link, tmp_path, {"call": calls}), tmp_path, 60 + 3 * TELEGRAMS)["call"]
        # Its screen shows the last confirmation a turn of its loop (10 ms) after it has arrived.
        time.sleep(0.5)
    finally:
        screen = theirs.end()
    for one in found:
        pattern, _, _ = MD_TESTS[one["com_id"] // 1000]
        replies = TELEGRAMS if pattern != "notify" else 0
        counts = (one["sent"], one["replies"], one["confirmed"], one["time_outs"], one["errors"])
        confirmed = replies if pattern == "confirm" else 0
        assert counts == (TELEGRAMS, replies, confirmed, 0, 0), one
        assert one["reply_octets"] == replies * 65_336
    assert screen.count("incoming request") == 8 * TELEGRAMS
    assert screen.count("incoming confirm") == 4 * TELEGRAMS
    assert screen.count("Accepting new TCP connection") == 1


def test_the_callers_of_the_message_data_test(link: Link, tmp_path: Path) -> None:
    """TCNopen runs its eleven tests against an end device of tsnbench, from several addresses.

    Together the callers send at least the number of messages over UDP, and over TCP.
    """
    groups(link)
    # Each round has three messages over TCP and eight over UDP.
    rounds = -(-TELEGRAMS // (3 * CALLERS))
    seconds = (rounds + 1) * ROUND_S
    answer = [
        {"com_id": 1000 * number, "octets": 64, "confirm": pattern == "confirm", "time_out_ns": 3 * NS_PER_S}
        for number, (pattern, _, _) in MD_TESTS.items()
    ]
    joined = {"com_id": 1, "group": GROUP}
    ours = be(link, tmp_path, {"answer": answer, "subscribe": [joined], "for_ns": (seconds + 4) * NS_PER_S})
    callers = []
    for number in range(CALLERS):
        address = f"10.97.0.{100 + number}"
        link.do(1, f"ip addr add {address}/24 dev v1")
        words = ["trdp-md-test", "caller", address, OWN, GROUP]
        callers.append(Theirs(link, tmp_path / f"screen-{number}", *words))
    try:
        time.sleep(seconds)
    finally:
        screens = [caller.end() for caller in callers]
    found = results(ours, tmp_path, 60)["answer"]
    begun = {number: sum(screen.count(f"TEST {number} --") for screen in screens) for number in MD_TESTS}
    sent = {
        transport: sum(begun[number] for number, one in MD_TESTS.items() if one[1] == transport)
        for transport in ("udp", "tcp")
    }
    assert min(sent.values()) >= TELEGRAMS, begun
    # The last message of a caller may be under way when the caller is killed.
    notified = sum(begun[number] for number, one in MD_TESTS.items() if one[0] == "notify")
    confirmed = sum(begun[number] for number, one in MD_TESTS.items() if one[0] == "confirm")
    assert 0 <= sum(begun.values()) - notified - found["requests"] <= CALLERS, (begun, found)
    assert 0 <= notified - found["notifications"] <= CALLERS, (begun, found)
    assert 0 <= confirmed - found["confirmations"] <= CALLERS, (begun, found)
    assert found["replies"] == found["requests"]
    assert found["unconfirmed"] <= CALLERS
    assert found["no_listener"] == found["errors"] == 0
    replies = sum(screen.count("incoming reply") for screen in screens)
    assert 0 <= found["replies"] - replies <= CALLERS
    for screen in screens:
        assert " call error " not in screen
        assert "error TRDP_" not in screen
        # Its table of results after each round.
        assert "TEST 1 --" in screen.partition("TEST 11 --")[2]
        assert screen.count(" : 0 errors") == 11 * screen.count("finished :")


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_a_request_without_a_listener_times_out(link: Link, tmp_path: Path, transport: str) -> None:
    """In both directions: neither side replies to a communication identifier that it does not know."""
    ours = be(link, tmp_path, {"answer": [{"com_id": 7}], "for_ns": 4 * NS_PER_S})
    theirs = caller_of_single_requests(link, tmp_path / "screen", transport, 1)
    try:
        theirs.wait(20)
        answered = results(ours, tmp_path, 20)["answer"]
    finally:
        screen = theirs.end()
    assert (answered["requests"], answered["replies"]) == (0, 0)
    assert answered["no_listener"] >= 1
    assert screen.count("No Reply within time out") == 1
    theirs = Theirs(link, tmp_path / "screen", "test_mdSingle", "-o", PEER, "-r")
    try:
        time.sleep(0.7)
        call = {"com_id": 7, "to": PEER, "transport": transport, "time_out_ns": NS_PER_S}
        (found,) = results(be(link, tmp_path, {"call": [call]}), tmp_path, 20)["call"]
    finally:
        theirs.end()
    assert (found["sent"], found["replies"]) == (1, 0)
    # TCNopen answers with an error (Me) or not at all.
    assert found["errors"] + found["time_outs"] == 1


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_a_replier_that_is_killed_and_begins_again(link: Link, tmp_path: Path, transport: str) -> None:
    """TCNopen's replier is killed between two calls; while it is away, no call is answered."""
    call = {"com_id": 1001, "to": PEER, "transport": transport, "count": 12, "period_ns": 500 * 10**6}
    call |= {"octets": 64, "time_out_ns": 400 * 10**6, "destination_uri": "test"}
    theirs = Theirs(link, tmp_path / "screen", "test_mdSingle", "-o", PEER, "-r")
    with captured(link, f"trdp_replier_restart_{transport}", tmp_path) as capture:
        try:
            time.sleep(0.7)
            ours = be(link, tmp_path, {"call": [call]})
            time.sleep(1.25)
            theirs.end()
            time.sleep(1.5)
            theirs = Theirs(link, tmp_path / "screen", "test_mdSingle", "-o", PEER, "-r")
            (found,) = results(ours, tmp_path, 30)["call"]
        finally:
            theirs.end()
    assert found["sent"] + found["refused"] == 12
    assert found["replies"] + found["time_outs"] == found["sent"]
    assert 2 <= found["time_outs"] + found["refused"] <= 5, found
    (told,) = measure_trdp(capture)["exchanges"]
    assert (told["requests"], told["replies"]) == (found["sent"], found["replies"])
    assert told["time_outs"] + told["open"] == found["time_outs"]


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_an_end_device_that_is_killed_and_begins_again(link: Link, tmp_path: Path, transport: str) -> None:
    """A replier of tsnbench is killed after replies: TCNopen times out, and the next replier answers it."""
    screens = []
    for listening in (True, False, True):
        ours = be(link, tmp_path, {"answer": [{"com_id": 1001, "octets": 64}]}) if listening else None
        theirs = caller_of_single_requests(link, tmp_path / "screen", transport, 3)
        try:
            theirs.wait(40)
        finally:
            screens.append(theirs.end())
        if ours is not None:
            ours.kill()
            ours.communicate(timeout=10)
    assert [screen.count("MR Reply received") for screen in screens] == [3, 0, 3]
