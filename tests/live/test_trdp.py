"""TRDP end devices on a link between two namespaces: process data of both versions, and message data."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from tests.live.conftest import Link, until

from tsnbench.errors import InputError
from tsnbench.live import trdp

A, B, GROUP = "10.97.0.1", "10.97.0.2", "239.1.1.3"
REPLY = 20_000
"""Octets of a reply that is longer than all other traffic."""


def both(link: Link, sender: list[str], receiver: list[str], more_s: float = 0) -> tuple[Any, Any]:
    """Send on ``v0`` and receive on ``v1``; the results of both sides.

    The receiver is told to end ``more_s`` after the sender, or by itself if its words have counts.
    """
    for side, device in enumerate(("v0", "v1")):
        link.do(side, f"ip route add 224.0.0.0/4 dev {device}")
    words = [word for keys in receiver for word in ("--trdp", keys)]
    listening = link.start(1, "receive", "v1", *words, "--json")
    assert listening.stderr is not None
    assert listening.stderr.readline() == "v1: listening\n", listening.communicate()
    words = [word for keys in sender for word in ("--trdp", keys)]
    sending = link.start(0, "send", "--interface", "v0", *words, "--json")
    told = sending.communicate(timeout=60)
    if more_s:
        time.sleep(more_s)
        listening.terminate()
    heard = listening.communicate(timeout=60)
    assert (sending.returncode, listening.returncode) == (0, 0), told[1] + heard[1]
    return json.loads(told[0]), json.loads(heard[0])


def test_pushed_telegrams_of_both_versions_arrive(link: Link) -> None:
    sent, heard = both(
        link,
        [
            f"com-id: 1, to: {B}, period: 10 ms, data-set: 256 B, count: 100",
            f"com-id: 2, to: {GROUP}, period: 10 ms, data-set: 1432 B, count: 100, qos: 3",
            f"com-id: 3, to: {GROUP}, pattern: tsn, period: 10 ms, data-set: 24 B, count: 100",
            f"com-id: 4, to: {B}, pattern: tsn, header: 16, period: 100 ms, data-set: 24 B, count: 10",
        ],
        [
            "com-id: 1, time-out: 2 s",
            f"com-id: 2, group: {GROUP}, time-out: 2 s",
            "com-id: 3, time-out: 2 s",
            "com-id: 4",
        ],
        more_s=2,
    )
    assert [one["sent"] for one in sent["publish"]] == [100, 100, 100, 10]
    counts = [(one["taken"], one["missed"], one["repeated"]) for one in heard["subscribe"]]
    assert counts == [(100, 0, 0), (100, 0, 0), (100, 0, 0), (0, 0, 0)]
    assert heard["check_errors"] == 10, "a header of 16 octets, as TCNopen's receiver counts it"
    assert [one["data_set_octets"] for one in heard["subscribe"]] == [[256] * 2, [1432] * 2, [24] * 2, None]
    assert [one["time_outs"] for one in heard["subscribe"]][:3] == [1, 1, 1], "nothing comes in the end"
    assert all(0 < one["delay_ns"]["least"] < 10**8 for one in heard["subscribe"][:3])


def device_of(link: Link, side: int, log: Path, **work: Any) -> subprocess.Popen[str]:
    """An end device whose ports are open; it writes its counters into the log in the end."""
    file = log.with_suffix(".device")
    own = {"interface": f"v{side}", "address": (A, B)[side]}
    file.write_text(json.dumps(own | work), encoding="utf-8")
    device = link.raw(side, "trdp", str(file), "--log", str(log))
    assert device.stdout is not None
    assert device.stdout.readline() == "ready\n", device.communicate()
    return device


def counters_of(device: subprocess.Popen[str], log: Path) -> dict[str, Any]:
    """The counters of an end device, which ends by itself."""
    try:
        _, said = device.communicate(timeout=60)
        assert device.returncode == 0, said
        found: dict[str, Any] = json.loads(log.read_text(encoding="utf-8"))
        return found
    finally:
        device.kill()


def test_requested_telegrams_arrive(link: Link, tmp_path: Path) -> None:
    """The publisher sends only on request; the requester subscribes to the replies."""
    publisher = {"com_id": 40, "to": A, "pattern": "pull", "octets": 64}
    listening = device_of(link, 1, tmp_path / "replier.json", publish=[publisher])
    keys = f"com-id: 40, pull-from: {B}, request-com-id: 30, period: 100 ms, time-out: 20 s, count: 15"
    asked = trdp.receiver("v0", [keys], None)
    log = tmp_path / "requester.json"
    requests = [{**asked.request[0], "count": 15}]
    try:
        found = counters_of(device_of(link, 0, log, request=requests, subscribe=list(asked.subscribe)), log)
    finally:
        listening.kill()
        listening.communicate()
    assert found["request"][0]["sent"] == 15
    (heard,) = found["subscribe"]
    assert (heard["taken"], heard["missed"], heard["repeated"]) == (15, 0, 0)
    assert 50 * 10**6 < heard["interval_ns"]["mean"] < 200 * 10**6


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_requests_are_answered_and_replies_confirmed(link: Link, transport: str) -> None:
    to = f"to: {B}, transport: {transport}"
    sent, heard = both(
        link,
        [
            f"message: request, com-id: 7, {to}, data-set: 32000 B, count: 20, time-out: 20 s",
            f"message: request, com-id: 8, {to}, count: 5, time-out: 20 s",
            f"message: request, com-id: 9, {to}, time-out: 100 ms",
            f"message: notify, com-id: 7, {to}, data-set: 64 B, count: 3",
        ],
        [
            "message: confirm, com-id: 7, data-set: 1000 B, count: 23, time-out: 20 s",
            "message: reply, com-id: 8, count: 5",
        ],
    )
    calls = [(one["replies"], one["confirmed"], one["time_outs"]) for one in sent["call"]]
    assert calls == [(20, 20, 0), (5, 0, 0), (0, 0, 1), (0, 0, 0)]
    assert sent["call"][0]["reply_octets"] == 20_000
    answer = heard["answer"]
    assert (answer["requests"], answer["notifications"], answer["no_listener"]) == (25, 3, 1)
    assert (answer["replies"], answer["confirmations"], answer["unconfirmed"]) == (25, 20, 0)
    assert answer["octets"] == 20 * 32_000 + 3 * 64
    # All calls to one replier share one connection, up to a call without a reply in time.
    names, values = (
        line.split() for line in link.do(0, "cat /proc/net/snmp").stdout.splitlines() if line[:4] == "Tcp:"
    )
    assert int(values[names.index("ActiveOpens")]) == (2 if transport == "tcp" else 0)


def test_a_connection_that_the_replier_ended_is_made_again(link: Link, tmp_path: Path) -> None:
    """The replier ends after two answers, and another one begins before the next call."""
    call = {"com_id": 7, "to": B, "transport": "tcp", "count": 4, "period_ns": 10**9}
    answer = [{"com_id": 7, "count": 2}]
    repliers = [device_of(link, 1, tmp_path / "first.json", answer=answer)]
    log = tmp_path / "calls.json"
    calling = device_of(link, 0, log, call=[{**call, "time_out_ns": 20 * 10**9}])
    try:
        assert repliers[0].wait(timeout=20) == 0
        calling.send_signal(signal.SIGSTOP)
        repliers.append(device_of(link, 1, tmp_path / "second.json", answer=answer))
        calling.send_signal(signal.SIGCONT)
        (found,) = counters_of(calling, log)["call"]
        assert repliers[1].wait(timeout=20) == 0
    finally:
        for process in (calling, *repliers):
            process.kill()
            process.communicate()
    assert (found["sent"], found["replies"], found["time_outs"], found["refused"]) == (4, 4, 0, 0)


def test_a_replier_that_disappears_costs_one_call(link: Link, tmp_path: Path) -> None:
    """Its host loses its power and starts again: the end of the connection never arrives."""
    answer = [{"com_id": 7, "octets": REPLY}]
    call = {"com_id": 7, "to": B, "transport": "tcp", "count": 3, "period_ns": 2 * 10**9}
    replier = device_of(link, 1, tmp_path / "first.json", answer=answer)
    log = tmp_path / "calls.json"
    calling = device_of(link, 0, log, call=[{**call, "time_out_ns": 20 * 10**9}])
    try:
        until(lambda: int(link.do(0, "cat /sys/class/net/v0/statistics/rx_bytes").stdout) > REPLY)
        # The next call waits until the host is there again.
        calling.send_signal(signal.SIGSTOP)
        link.cut()
        replier.kill()
        replier.communicate()
        link.begin_again()
        replier = device_of(link, 1, tmp_path / "second.json", answer=answer)
        calling.send_signal(signal.SIGCONT)
        (found,) = counters_of(calling, log)["call"]
    finally:
        for process in (calling, replier):
            process.kill()
            process.communicate()
    counts = (found["sent"], found["replies"], found["time_outs"], found["refused"])
    assert counts == (3, 2, 1, 0)


def test_open_connections_do_not_delay_datagrams(link: Link, tmp_path: Path) -> None:
    """A burst of long notifications arrives whole at a replier with four open and silent connections."""
    heard = tmp_path / "answers.json"
    replier = device_of(link, 1, heard, answer=[{"com_id": 7, "count": 38}])
    call = {"com_id": 7, "to": B, "transport": "tcp", "count": 2, "period_ns": 2 * 10**9}
    logs = [tmp_path / f"calls-{number}.json" for number in range(4)]
    callers = [device_of(link, 0, log, call=[{**call, "time_out_ns": 20 * 10**9}]) for log in logs]
    try:
        until(lambda: link.do(1, "cat /proc/net/tcp").stdout.count(" 01 ") == 4)
        burst = {"com_id": 7, "to": B, "notify": True, "octets": 60_000, "count": 30}
        logs.append(tmp_path / "burst.json")
        callers.append(device_of(link, 0, logs[-1], call=[burst]))
        found = [counters_of(*caller)["call"][0] for caller in zip(callers, logs, strict=True)]
        answered = counters_of(replier, heard)["answer"]
    finally:
        for process in (replier, *callers):
            process.kill()
            process.communicate()
    assert [one["replies"] for one in found] == [2, 2, 2, 2, 0]
    assert (answered["requests"], answered["notifications"]) == (8, 30)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("com-id: 1", "to is missing"),
        ("com-id: x, to: 10.0.0.1, period: 1 ms", "com-id: expected a number"),
        ("com-id: 1, to: nowhere, period: 1 ms", "expected an IPv4 address"),
        ("com-id: 1, to: 10.0.0.1, period: 1", "period: expected"),
        ("com-id: 1, to: 10.0.0.1, period: 1 ms, data-set: 1433 B", "at most 1432 B"),
        ("com-id: 1, to: 10.0.0.1, period: 1 ms, colour: red", "unknown here: colour"),
        ("com-id: 1, to: 10.0.0.1, period: 1 ms, qos: 8", "from 0 to 7"),
        ("com-id: 1, to: 10.0.0.1, pattern: pushed", "push or pull or tsn"),
        ("com-id", "expected keys with values"),
    ],
)
def test_wrong_keys_are_refused(words: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        trdp.sender("v0", [words], None)
