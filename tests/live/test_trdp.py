"""TRDP end devices on a link between two namespaces: process data of both versions, and message data."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from tests.live.conftest import Link

from tsnbench.errors import InputError
from tsnbench.live import trdp

A, B, GROUP = "10.97.0.1", "10.97.0.2", "239.1.1.3"


def both(link: Link, sender: list[str], receiver: list[str]) -> tuple[Any, Any]:
    """Send on ``v0`` and receive on ``v1``; the results of both sides."""
    for side, device in enumerate(("v0", "v1")):
        link.do(side, f"ip route add 224.0.0.0/4 dev {device}")
    words = [word for keys in receiver for word in ("--trdp", keys)]
    listening = link.start(1, "receive", "v1", *words, "--for", "4s", "--json")
    time.sleep(1.5)
    words = [word for keys in sender for word in ("--trdp", keys)]
    sending = link.start(0, "send", "--to", "v0", *words, "--json")
    told, heard = sending.communicate(timeout=20), listening.communicate(timeout=20)
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
        ["com-id: 1, time-out: 1 s", f"com-id: 2, group: {GROUP}", "com-id: 3", "com-id: 4"],
    )
    assert [one["sent"] for one in sent["publish"]] == [100, 100, 100, 10]
    counts = [(one["taken"], one["missed"], one["repeated"]) for one in heard["subscribe"]]
    assert counts == [(100, 0, 0), (100, 0, 0), (100, 0, 0), (0, 0, 0)]
    assert heard["check_errors"] == 10, "a header of 16 octets, as TCNopen's receiver counts it"
    assert [one["data_set_octets"] for one in heard["subscribe"]] == [[256] * 2, [1432] * 2, [24] * 2, None]
    assert [one["time_outs"] for one in heard["subscribe"]][:3] == [1, 1, 1], "nothing comes in the end"
    assert all(0 < one["delay_ns"]["least"] < 10**8 for one in heard["subscribe"][:3])


def test_requested_telegrams_arrive(link: Link) -> None:
    """The publisher sends only on request; the requester subscribes to the replies."""
    publisher = {"com_id": 40, "to": A, "pattern": "pull", "octets": 64}
    device = {"interface": "v1", "address": B, "for_ns": 4 * 10**9, "publish": [publisher]}
    listening = link.raw(1, "trdp", *written(link, device))
    time.sleep(0.5)
    asking = link.start(
        0, "receive", "v0", "--for", "2s", "--json",
        "--trdp", f"com-id: 40, pull-from: {B}, request-com-id: 30, period: 100 ms, time-out: 1 s",
    )  # fmt: skip
    out, said = asking.communicate(timeout=20)
    listening.communicate(timeout=20)
    assert asking.returncode == 0, said
    found = json.loads(out)
    assert found["request"][0]["sent"] >= 15
    assert abs(found["subscribe"][0]["taken"] - found["request"][0]["sent"]) <= 1
    assert found["subscribe"][0]["missed"] == 0


def written(link: Link, device: dict[str, Any]) -> list[str]:
    """Write the device's file; the arguments with this file and a log."""
    file = Path(f"/tmp/{link.spaces[0]}.json")
    file.write_text(json.dumps(device), encoding="utf-8")
    return [str(file), "--log", "/dev/null"]


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_requests_are_answered_and_replies_confirmed(link: Link, transport: str) -> None:
    sent, heard = both(
        link,
        [
            f"message: request, com-id: 7, to: {B}, transport: {transport}, data-set: 32000 B, count: 20",
            f"message: request, com-id: 8, to: {B}, transport: {transport}, count: 5",
            f"message: notify, com-id: 7, to: {B}, transport: {transport}, data-set: 64 B, count: 3",
            f"message: request, com-id: 9, to: {B}, transport: {transport}, time-out: 100 ms",
        ],
        ["message: confirm, com-id: 7, data-set: 1000 B", "message: reply, com-id: 8"],
    )
    calls = [(one["replies"], one["confirmed"], one["time_outs"]) for one in sent["call"]]
    assert calls == [(20, 20, 0), (5, 0, 0), (0, 0, 0), (0, 0, 1)]
    assert sent["call"][0]["reply_octets"] == 20_000
    answer = heard["answer"]
    assert (answer["requests"], answer["notifications"], answer["no_listener"]) == (25, 3, 1)
    assert (answer["replies"], answer["confirmations"], answer["unconfirmed"]) == (25, 20, 0)
    assert answer["octets"] == 20 * 32_000 + 3 * 64
    # All calls to one replier share one connection.
    names, values = (
        line.split() for line in link.do(0, "cat /proc/net/snmp").stdout.splitlines() if line[:4] == "Tcp:"
    )
    assert int(values[names.index("ActiveOpens")]) == (1 if transport == "tcp" else 0)


def test_a_connection_that_the_replier_ended_is_made_again(link: Link) -> None:
    """The replier ends after three answers, and another one begins before the next call."""
    answer = {"interface": "v1", "address": B, "answer": [{"com_id": 7, "count": 3}]}
    call = {"com_id": 7, "to": B, "transport": "tcp", "count": 6, "period_ns": 700 * 10**6}
    repliers = [link.raw(1, "trdp", *written(link, answer))]
    time.sleep(0.5)
    log = Path(f"/tmp/{link.spaces[0]}-calls.json")
    device = log.with_suffix(".device")
    device.write_text(json.dumps({"interface": "v0", "address": A, "call": [call]}), encoding="utf-8")
    try:
        calling = link.raw(0, "trdp", str(device), "--log", str(log))
        assert repliers[0].wait(timeout=10) == 0
        repliers.append(link.raw(1, "trdp", *written(link, answer)))
        assert calling.wait(timeout=20) == 0
        assert repliers[1].wait(timeout=10) == 0
        (found,) = json.loads(log.read_text(encoding="utf-8"))["call"]
    finally:
        log.unlink(missing_ok=True)
        device.unlink()
        for process in repliers:
            process.kill()
            process.communicate()
    assert (found["sent"], found["replies"], found["time_outs"], found["refused"]) == (6, 6, 0, 0)


def calls_of(link: Link, device: dict[str, Any], name: str = "calls") -> tuple[subprocess.Popen[str], Path]:
    """Start an end device that calls; its process and its log."""
    file = Path(f"/tmp/{link.spaces[0]}-{name}.device")
    file.write_text(json.dumps({"interface": "v0", "address": A, **device}), encoding="utf-8")
    log = file.with_suffix(".json")
    return link.raw(0, "trdp", str(file), "--log", str(log)), log


def called(calling: subprocess.Popen[str], log: Path) -> list[dict[str, Any]]:
    """The counters of the calls, when they have ended."""
    try:
        _, said = calling.communicate(timeout=30)
        assert calling.returncode == 0, said
        found: list[dict[str, Any]] = json.loads(log.read_text(encoding="utf-8"))["call"]
        return found
    finally:
        calling.kill()
        log.unlink(missing_ok=True)
        log.with_suffix(".device").unlink()


def test_a_replier_that_disappears_costs_one_call(link: Link) -> None:
    """Its host loses its power and starts again: the end of the connection never arrives."""
    answer = {"interface": "v1", "address": B, "answer": [{"com_id": 7}]}
    call = {"com_id": 7, "to": B, "transport": "tcp", "count": 4, "period_ns": 1500 * 10**6}
    replier = link.raw(1, "trdp", *written(link, answer))
    time.sleep(0.5)
    calling, log = calls_of(link, {"call": [{**call, "time_out_ns": 700 * 10**6}]})
    try:
        time.sleep(0.5)
        link.cut()
        replier.kill()
        replier.communicate()
        link.begin_again()
        replier = link.raw(1, "trdp", *written(link, answer))
        (found,) = called(calling, log)
    finally:
        replier.kill()
        replier.communicate()
    counts = (found["sent"], found["replies"], found["time_outs"], found["refused"])
    assert counts == (4, 3, 1, 0)


def test_open_connections_do_not_delay_datagrams(link: Link) -> None:
    """A burst of long notifications arrives whole at a replier with four open and silent connections."""
    answer = {"interface": "v1", "address": B, "answer": [{"com_id": 7}], "for_ns": 5 * 10**9}
    words = written(link, answer)
    log = Path(f"/tmp/{link.spaces[0]}-answers.json")
    replier = link.raw(1, "trdp", words[0], "--log", str(log))
    callers = []
    try:
        time.sleep(0.5)
        call = {"com_id": 7, "to": B, "transport": "tcp", "count": 2, "period_ns": 2 * 10**9}
        callers = [calls_of(link, {"call": [call]}, f"calls-{number}") for number in range(4)]
        time.sleep(1)
        burst = {"com_id": 7, "to": B, "notify": True, "octets": 60_000, "count": 30}
        callers.append(calls_of(link, {"call": [burst]}, "burst"))
        found = [one for caller in callers for one in called(*caller)]
        _, said = replier.communicate(timeout=20)
        assert replier.returncode == 0, said
        answered = json.loads(log.read_text(encoding="utf-8"))["answer"]
    finally:
        log.unlink(missing_ok=True)
        replier.kill()
        replier.communicate()
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
