"""Message data of TRDP in runs: telegrams and sessions, time-outs, round trips and their worst cases."""

from __future__ import annotations

import itertools
import random
import struct
from pathlib import Path
from typing import Any

import pytest

from tsnbench import Run, Simulation
from tsnbench.measure import measure_trdp
from tsnbench.measure.answers import answered
from tsnbench.plan.bounds import bounds
from tsnbench.planning import plan
from tsnbench.scenario import read_scenario

DOORS = """\
name: doors
duration: 1 s
network:
  stations: [tcms, door]
  bridges: {car: {processing: 1 us}}
  links: {rate: 100 Mbit/s, between: [tcms -- car, door -- car]}
streams:
  order: {from: tcms, to: door, period: 100 ms, vlan: none,
    trdp: {com-id: 2000, pattern: request, data-set: 64 B, reply-time-out: 20 ms}}
  state: {answers: order, after: 2 ms, vlan: none,
    trdp: {com-id: 2001, pattern: reply, data-set: 126 B, qos: 2, confirm-time-out: 5 ms},
    requires: {round-trip: 3 ms}}
  done: {answers: state, after: 100 us, vlan: none, trdp: {pattern: confirm}}
  event: {from: door, to: tcms, period: 250 ms, offset: 50 ms, vlan: none,
    trdp: {com-id: 3000, pattern: notify, data-set: 32 B}}
"""
# A frame has 46 octets of headers and FCS, 116 of TRDP, the data set, and a preamble on each of two links.
ORDER, STATE = ((46 + 116 + octets + 8) * 160 + 1_000 for octets in (64, 128))
PREAMBLE = 640


def run_of(text: str, folder: Path, captures: bool = True) -> Run:
    (scenario,) = read_scenario(text, "doors.yaml")
    return Simulation().execute(plan(scenario), folder / "run", pcap=captures)


def telegrams(run: Run, *taps: str) -> list[tuple[int, bytes]]:
    """Times in ns and UDP payloads of the untagged frames of captures, in the order of time."""
    found = []
    for tap in taps:
        octets, at = (run.folder / "captures" / f"{tap}.pcapng").read_bytes(), 0
        while at < len(octets):
            kind, length = struct.unpack_from("<II", octets, at)
            if kind == 6:
                high, low, captured = struct.unpack_from("<III", octets, at + 12)
                found.append((high << 32 | low, octets[at + 28 : at + 28 + captured][42:]))
            at += length
    return sorted(found)


def header(telegram: bytes) -> tuple[Any, ...]:
    """Type, communication identifier, data set, status, session, time-out in us."""
    _, _, kind, com_id, _, _, octets, status, session, wait = struct.unpack_from(">IH2sIIIIi16sI", telegram)
    return kind.decode(), com_id, octets, status, session, wait


def session(stream: int, number: int) -> bytes:
    return struct.pack(">IHBB", stream, 0, 0x80, 0) + b"\x80" + number.to_bytes(7, "big")


CALLER = ("tcms-car-tx", "car-tcms-rx")


def test_each_telegram_has_the_session_of_its_request(tmp_path: Path) -> None:
    run = run_of(DOORS, tmp_path)
    found = telegrams(run, *CALLER)
    assert len(found) == 3 * 10 + 4
    requests = [(at, header(one)) for at, one in found if header(one)[0] == "Mr"]
    assert [one for _, one in requests] == [("Mr", 2000, 64, 0, session(0, n), 20_000) for n in range(10)]
    replies = [(at, header(one)) for at, one in found if header(one)[0] == "Mq"]
    assert [one for _, one in replies] == [("Mq", 2001, 126, 0, session(0, n), 5_000) for n in range(10)]
    assert {got - sent for (sent, _), (got, _) in zip(requests, replies, strict=True)} == {
        ORDER + 2_000_000 + STATE - PREAMBLE
    }
    confirmations = [header(one) for _, one in found if header(one)[0] == "Mc"]
    assert confirmations == [("Mc", 0, 0, 0, session(0, n), 0) for n in range(10)]
    events = [header(one) for _, one in found if header(one)[0] == "Mn"]
    assert events == [("Mn", 3000, 32, 0, session(3, n), 0) for n in range(4)]
    assert {len(one) for _, one in found} == {116 + 64, 116 + 128, 116, 116 + 32}
    # Quality of service 3 is the default of message data.
    assert [stream.get("type_of_service") for stream in run.plan.document["streams"]] == [96, 64, 96, 96]
    assert {stream["udp_port"] for stream in run.plan.document["streams"]} == {17225}


def test_sessions_are_right_where_replies_change_their_order(tmp_path: Path) -> None:
    late = DOORS.replace("period: 100 ms", "period: 1 ms").replace("after: 2 ms", "after: 2 ms, jitter: 9 ms")
    run = run_of(late.replace("requires: {round-trip: 3 ms}", "requires: {loss: 0}"), tmp_path)
    sent, replied, confirmed = {}, [], []
    for at, one in telegrams(run, *CALLER):
        kind, _, _, _, number, _ = header(one)
        if kind == "Mr":
            sent[number] = at
        elif kind == "Mq":
            replied.append((number, at))
        elif kind == "Mc":
            confirmed.append(number)
    assert len(replied) == len({number for number, _ in replied}) > 900
    waits = [at - sent[number] for number, at in replied]
    shortest = ORDER + 2_000_000 + STATE - PREAMBLE
    assert shortest <= min(waits) < shortest + 200_000
    assert 8_500_000 < max(waits) - shortest <= 9_500_000
    order = [number for number, _ in replied]
    assert sum(one > other for one, other in itertools.pairwise(order)) > 100
    assert confirmed == order[: len(confirmed)]


def test_time_outs_are_counted_as_caller_and_replier_count(tmp_path: Path) -> None:
    """The run's pairs and the sessions of a capture at the caller give the same counts."""
    lossy = DOORS.replace("duration: 1 s", "duration: 20 s\ndrain: 100 ms").replace(
        "after: 2 ms", "after: 2 ms, jitter: 20 ms"
    )
    lossy += "faults:\n  - {loss: 20 %, on: door -> car}\n  - {loss: 10 %, on: car -> door}\n"
    run = run_of(lossy, tmp_path)
    by_chain = {(one.chain[-1], one.listener): one for one in answered(run.folder)}
    reply, confirmation = by_chain["state", "tcms"], by_chain["done", "door"]
    captured = [run.folder / "captures" / f"{name}.pcapng" for name in CALLER]
    (exchange,) = measure_trdp(captured)["exchanges"]
    assert (exchange["requests"], exchange["open"], exchange["errors"]) == (200, 0, 0)
    assert exchange["replies"] + exchange["late"] == len(reply.times)
    assert exchange["time_outs"] == reply.time_outs == 200 - exchange["replies"]
    assert exchange["late"] > 0
    assert 20 < exchange["time_outs"] < 120
    stat, own = exchange["round_trip"], sorted(reply.times)
    assert stat is not None
    assert (stat["min"], stat["max"]) == (own[0], max(ns for ns in own if ns <= 20_000_000))
    # A replier's time-out counts from its own reply, which the caller may not have received.
    sent = len(telegrams(run, "door-car-tx")) - 80
    assert confirmation.time_outs == sent - len(confirmation.times)
    # In the run each reply that was lost breaks the limit of the round trip.
    (row,) = [row for row in run.verdict()["rows"] if row["requirement"] == "round-trip"]
    assert (row["met"], row["found"] > 1_000_000_000) == ("no", True)


def test_a_round_trip_and_its_worst_case(tmp_path: Path) -> None:
    run = run_of(DOORS, tmp_path)
    (row,) = run.verdict()["rows"]
    assert (row["requirement"], row["listener"], row["met"], row["proof"]) == (
        *("round-trip", "tcms", "yes", "proved"),
    )
    assert row["found"] == ORDER + 2_000_000 + STATE - PREAMBLE
    # The worst case begins at the release. A notification may be in front of the reply, and a confirmation in
    # front of the request.
    event, confirmation = ((46 + 116 + octets + 20) * 80 for octets in (32, 0))
    assert row["worst_case"] == ORDER + 2_000_000 + STATE + event + confirmation


def test_a_reply_that_is_lost_breaks_the_round_trip(tmp_path: Path) -> None:
    down = DOORS + "faults:\n  - {down: door -- car, at: 501 ms, for: 2 ms}\n"
    (row,) = run_of(down, tmp_path).verdict()["rows"]
    # The request of 500 ms waits until the end: 1 s, and the drain.
    drain = run_of(down, tmp_path / "again").plan.document["drain_ns"]
    assert (row["found"], row["worst_seq"], row["met"]) == (500_000_000 + drain - PREAMBLE, 5, "no")
    assert row["proof"] == "none"


@pytest.mark.parametrize(("wait", "time_outs"), [("20 ms", 1), ("2 s", 0)])
def test_a_wait_that_ends_after_the_run_is_no_time_out(tmp_path: Path, wait: str, time_outs: int) -> None:
    down = DOORS.replace("20 ms", wait) + "faults:\n  - {down: door -- car, at: 501 ms, for: 2 ms}\n"
    run = run_of(down, tmp_path, captures=False)
    (reply,) = [one for one in answered(run.folder) if one.listener == "tcms"]
    assert (reply.time_outs, [number for number, _ in reply.unanswered]) == (time_outs, [5])


def test_no_round_trip_exceeds_its_worst_case(tmp_path: Path) -> None:
    draws = random.Random(17)
    proved = 0
    for number in range(12):
        between = draws.choice([200, 800, 1500])
        text = DOORS.replace("100 ms", f"{draws.choice([3, 7, 10])} ms").replace("1 s", "100 ms")
        text = text.replace("round-trip: 3 ms", "round-trip: 90 ms").replace(
            "after: 2 ms", f"after: {draws.randint(0, 900)} us, jitter: {draws.randint(0, 90)} us"
        )
        text += f"  load: {{from: door, to: tcms, period: {draws.choice([1, 2])} ms, frame: {between} B}}\n"
        rows = run_of(text, tmp_path / str(number), captures=False).verdict()["rows"]
        (row,) = [row for row in rows if row["requirement"] == "round-trip"]
        assert row["found"] <= row["worst_case"], text
        proved += row["proof"] == "proved"
    assert proved == 12


def test_an_error_answers_and_two_repliers_reply(tmp_path: Path) -> None:
    text = DOORS.replace("stations: [tcms, door]", "stations: [tcms, door, hvac]").replace(
        "door -- car]", "door -- car, hvac -- car]"
    )
    text = text.replace("to: door, period", "to: [door, hvac], address: 239.1.1.2, period")
    text = text.replace("{answers: order,", "{answers: order, from: door,", 1)
    text += "  broken: {answers: order, from: hvac, vlan: none, trdp: {pattern: error}}\n"
    run = run_of(text, tmp_path)
    found = [header(one) for _, one in telegrams(run, "car-tcms-rx")]
    assert [one for one in found if one[0] == "Me"] == [("Me", 0, 0, -3, session(0, n), 0) for n in range(10)]
    captured = [run.folder / "captures" / f"{name}.pcapng" for name in CALLER]
    (exchange,) = measure_trdp(captured)["exchanges"]
    assert (exchange["destination"], exchange["replies"], exchange["errors"]) == ("239.1.1.2", 10, 10)


def test_the_frames_of_a_notification_carry_test_payload(tmp_path: Path) -> None:
    """Two captures are paired by it, as those of other streams."""
    from tsnbench.measure import measure_captures

    run = run_of(DOORS, tmp_path)
    there, here = (run.folder / "captures" / f"{name}.pcapng" for name in ("door-car-tx", "car-tcms-rx"))
    found = {path["stream"]: path["count"]["received"] for path in measure_captures(there, here)["paths"]}
    assert sorted(found.values()) == [4, 10]


def test_flows_of_a_request_have_sessions_of_their_own(tmp_path: Path) -> None:
    text = DOORS.replace("period: 100 ms,", "period: 100 ms, count: 2,")
    run = run_of(text, tmp_path)
    replies = [header(one)[4] for _, one in telegrams(run, "car-tcms-rx") if header(one)[0] == "Mq"]
    assert sorted(replies) == sorted(session(flow, n) for flow in (0, 1) for n in range(10))


@pytest.mark.parametrize("kind", ["Mr", "Mq", "Mc", "Mn"])
def test_tapped_bridges_have_the_same_telegrams(tmp_path: Path, kind: str) -> None:
    run = run_of(DOORS, tmp_path)
    own = {tap: {one for _, one in telegrams(run, tap) if header(one)[0] == kind} for tap in (
        *CALLER, "door-car-tx", "car-door-rx",
    )}  # fmt: skip
    away = kind in ("Mr", "Mc")
    assert own["tcms-car-tx" if away else "door-car-tx"] == own["car-door-rx" if away else "car-tcms-rx"]


def test_the_software_of_a_host_that_answers_counts_in_a_round_trip() -> None:
    """Reception of the request 7 + 20 us, the program's wakeup and call for the reply 3 + 2 us."""
    from tsnbench.measure.verdict import worst_cases

    hosts = DOORS.replace("stations: [tcms, door]", "stations: [tcms]\n  hosts: [door]")
    hosts += "hosts:\n  door: {kernel-rx: 7 us, app-rx: 20 us, wakeup: 3 us, send: 2 us}\n"
    found = []
    for text in (DOORS, hosts):
        (scenario,) = read_scenario(text, "doors.yaml")
        made = plan(scenario)
        (row,) = worst_cases(made.document, bounds(made))
        found.append(row["worst_case"])
    assert found[1] - found[0] == 32_000
