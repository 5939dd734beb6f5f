"""Streams that answer others: releases of answers, their number, and their worst case."""

from __future__ import annotations

import random
import re
import struct
from pathlib import Path

import polars as pl
import pytest

from support.planned import document_of, plan_of, run_of
from tsnbench.backends.simulation import Simulation
from tsnbench.plan.bounds import bounds
from tsnbench.planning.errors import PlanningErrors
from tsnbench.scenario import read_scenario
from tsnbench.scenario.errors import ScenarioErrors

LOOP = """\
name: loop
duration: 20 ms
network:
  stations: [sensor, controller, actuator]
  bridges: {sw: {processing: 1 us}}
  links: {rate: 100 Mbit/s, between: [sensor -- sw, controller -- sw, actuator -- sw]}
streams:
  measured: {from: sensor, to: controller, pcp: 6, period: 1 ms, frame: 200 B}
  command: {answers: measured, to: actuator, after: 50 us, pcp: 6, frame: 100 B}
  done: {answers: command, pcp: 6, frame: 64 B}
"""


def simulated(text: str, folder: Path) -> pl.DataFrame:
    """Numbers and times in ns of all frames at each stage."""
    run = run_of(plan_of(text), folder)
    return run.observations()


def stamps(rows: pl.DataFrame, stream: str, stage: str) -> list[int]:
    own = rows.filter((pl.col("stream") == stream) & (pl.col("stage") == stage))
    return own.sort("t_ns")["t_ns"].to_list()


def test_an_answer_leaves_after_its_request(tmp_path: Path) -> None:
    """At 100 Mbit/s an octet takes 80 ns; a stamp of a begin is 640 ns of preamble after the release."""
    rows = simulated(LOOP, tmp_path)
    received = stamps(rows, "measured", "rx")
    # 208 octets on two links, and 1 us.
    assert received == [1_000_000 * n + 2 * 16_640 + 1_000 for n in range(20)]
    assert stamps(rows, "command", "tx") == [at + 50_000 + 640 for at in received]
    commanded = stamps(rows, "command", "rx")
    assert commanded == [at + 50_000 + 2 * 8_640 + 1_000 for at in received]
    assert stamps(rows, "done", "tx") == [at + 640 for at in commanded]
    # The answer goes from the actuator to the controller, which sent the command.
    assert stamps(rows, "done", "rx") == [at + 2 * 5_760 + 1_000 for at in commanded]


def test_a_lost_request_has_no_answer(tmp_path: Path) -> None:
    lossy = LOOP + "faults:\n  - {loss: 40 %, on: sensor -> sw}\n"
    rows = simulated(lossy.replace("20 ms", "200 ms"), tmp_path)
    received = stamps(rows, "measured", "rx")
    assert 60 < len(received) < 180
    assert len(stamps(rows, "measured", "tx")) == 200
    assert stamps(rows, "command", "tx") == [at + 50_640 for at in received]


def test_a_talker_that_is_down_does_not_answer(tmp_path: Path) -> None:
    down = LOOP + "faults:\n  - {down: controller, at: 4900 us, for: 5100 us}\n"
    answered = stamps(simulated(down, tmp_path), "command", "tx")
    assert len(answered) == 15
    assert not [at for at in answered if 4_900_000 < at < 10_000_000]


def test_nothing_is_answered_after_the_end_of_a_stream(tmp_path: Path) -> None:
    rows = simulated(LOOP.replace("after: 50 us", "after: 50 us, stop: 10 ms"), tmp_path)
    assert (len(stamps(rows, "measured", "rx")), len(stamps(rows, "command", "tx"))) == (20, 10)


def test_jitter_delays_answers_uniformly(tmp_path: Path) -> None:
    late = LOOP.replace("after: 50 us", "after: 50 us, jitter: 100 us").replace("20 ms", "2 s")
    rows = simulated(late, tmp_path)
    waits = [
        sent - received - 50_640
        for received, sent in zip(stamps(rows, "measured", "rx"), stamps(rows, "command", "tx"), strict=True)
    ]
    assert min(waits) >= 0
    assert max(waits) <= 100_000
    # The mean of 2000 uniform values is 50 us with a standard error of 645 ns.
    assert abs(sum(waits) / len(waits) - 50_000) < 3_000


def test_a_host_answers_when_its_program_has_the_request(tmp_path: Path) -> None:
    hosts = LOOP.replace("[sensor, controller, actuator]", "[sensor, actuator]\n  hosts: [controller]")
    hosts += "hosts:\n  controller: {kernel-rx: 7 us, app-rx: 20 us, wakeup: 3 us, send: 2 us}\n"
    rows = simulated(hosts, tmp_path)
    received = stamps(rows, "measured", "rx")
    assert stamps(rows, "command", "tx") == [at + 27_000 + 50_000 + 5_000 + 640 for at in received]


def test_member_streams_are_answered_once(tmp_path: Path) -> None:
    ring = LOOP.replace("bridges: {sw:", "bridges: {up: {}, low: {}, sw:").replace(
        "sensor -- sw,", "sensor -- up, sensor -- low, up -- sw, low -- sw,"
    )
    ring = ring.replace("frame: 200 B", "frame: 200 B, frer: {paths: [[up, sw], [low, sw]], at: sw}")
    rows = simulated(ring, tmp_path)
    assert len(stamps(rows, "measured", "tx")) == 40
    assert len(stamps(rows, "command", "tx")) == 20
    # Recovery passes one copy of each request, so that answers have bounds, which the run keeps.
    (_, command, done) = bounds(plan_of(ring))["flows"]
    for flow in (command, done):
        ends = zip(*(stamps(rows, flow["stream"], stage) for stage in ("tx", "rx")), strict=True)
        assert max(rx - tx for tx, rx in ends) <= flow["upper_ns"] < 100_000


def test_each_of_several_flows_has_its_own_answer(tmp_path: Path) -> None:
    rows = simulated(LOOP.replace("period: 1 ms", "period: 1 ms, count: 3"), tmp_path)
    for number in (1, 2, 3):
        received = stamps(rows, f"measured.{number}", "rx")
        assert len(received) == 20
        assert len(stamps(rows, f"command.{number}", "tx")) == 20
        assert stamps(rows, f"command.{number}", "tx")[0] >= received[0] + 50_640


def test_one_listener_of_several_answers() -> None:
    several = LOOP.replace("to: controller", "to: [controller, actuator]").replace(
        "{answers: measured, to: actuator,", "{answers: measured, from: actuator,"
    )
    document = document_of(several.replace("  done: {answers: command, pcp: 6, frame: 64 B}\n", ""))
    names = [node["name"] for node in document["nodes"]]
    _, command = document["streams"]
    assert names[command["talker"]] == "actuator"
    assert [names[one["node"]] for one in command["listeners"]] == ["sensor"]
    assert command["answers"] == {"stream": 0, "after_ns": 50_000}
    assert command["pattern"] == {"kind": "periodic", "period_ns": 1_000_000, "offset_ns": 0, "jitter_ns": 0}


def test_the_worst_case_by_hand() -> None:
    """The request waits for one lower frame at sw, so the answer is late by up to the same time."""
    text = LOOP.replace(
        "  done: {answers: command, pcp: 6, frame: 64 B}\n",
        "  low: {from: actuator, to: controller, pcp: 0, period: 1 ms, frame: 1000 B}\n",
    )
    flows = {flow["stream"]: flow for flow in bounds(plan_of(text))["flows"]}
    # 208 octets on two links, 1 us, and 1020 octets of the lower frame with its gap.
    assert flows["measured"]["release_lower_ps"] == (2 * 16_640 + 1_000) * 1_000
    assert flows["measured"]["release_upper_ps"] == (2 * 16_640 + 1_000 + 81_600) * 1_000
    # No other stream uses the ports of the answer.
    assert flows["command"]["release_upper_ps"] == (2 * 8_640 + 1_000) * 1_000


@pytest.mark.parametrize(("jitter", "waits"), [("900 us", 1), ("1 ms", 2), ("2 ms", 3)])
def test_requests_that_come_together_are_answered_together(jitter: str, waits: int) -> None:
    """A frame of the answering talker waits for all these answers: 120 octets each, with preamble and gap."""
    text = LOOP.replace("period: 1 ms,", f"period: 1 ms, jitter: {jitter},").replace(
        "  done: {answers: command, pcp: 6, frame: 64 B}\n",
        "  beside: {from: controller, to: sensor, pcp: 6, period: 1 ms, frame: 64 B}\n",
    )
    flows = {flow["stream"]: flow for flow in bounds(plan_of(text))["flows"]}
    assert flows["beside"]["release_upper_ps"] == (2 * 5_760 + 1_000 + waits * 9_600) * 1_000


def _random(seed: int) -> str:
    """A line of bridges with chains of answers, in one class or several, and streams beside them."""
    draw = random.Random(seed)
    bridges, stations = draw.randint(1, 3), draw.randint(3, 5)
    lines = [f"name: answers-{seed}", "duration: 40 ms", f"seed: {seed}", "network:"]
    lines.append(
        "  bridges: {"
        + ", ".join(f"b{n}: {{processing: {draw.randint(0, 5)} us}}" for n in range(bridges))
        + "}"
    )
    lines.append(f"  stations: [{', '.join(f's{n}' for n in range(stations))}]")
    wires = [f"b{n} -- b{n + 1}" for n in range(bridges - 1)]
    wires += [f"s{n} -- b{draw.randrange(bridges)}" for n in range(stations)]
    lines.append(f"  links: {{rate: {draw.choice([10, 100])} Mbit/s, between: [{', '.join(wires)}]}}")
    lines.append("streams:")
    for number in range(draw.randint(1, 3)):
        at, to = draw.sample(range(stations), 2)
        period = draw.choice([5_000, 7_001, 10_000])
        jitter = draw.choice([0, 0, 300, 3 * period])
        lines.append(
            f"  q{number}: {{from: s{at}, to: s{to}, pcp: {draw.choice([0, 5, 6])}, period: {period} us, "
            f"jitter: {jitter} us, frame: {draw.randint(64, 900)} B}}"
        )
        for step in range(draw.randint(1, 3)):
            request = f"q{number}" if step == 0 else f"q{number}a{step}"
            at, to = to, draw.choice([one for one in range(stations) if one != to])
            lines.append(
                f"  q{number}a{step + 1}: {{answers: {request}, to: s{to}, pcp: {draw.choice([0, 5, 6])}, "
                f"after: {draw.choice([0, 40, 9_000])} us, jitter: {draw.choice([0, 200])} us, "
                f"frame: {draw.randint(64, 900)} B}}"
            )
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", range(60))
def test_no_answer_exceeds_its_bound(seed: int, tmp_path: Path) -> None:
    made = plan_of(_random(seed))
    rows = run_of(made, tmp_path).observations()
    sent = rows.filter(pl.col("stage") == "tx").select("stream", "seq", sent="t_ns")
    arrived = rows.filter(pl.col("stage") == "rx").select("stream", "seq", arrived="t_ns")
    longest = (
        sent.join(arrived, on=["stream", "seq"])
        .group_by("stream")
        .agg(longest=(pl.col("arrived") - pl.col("sent")).max())
    )
    found = dict(longest.iter_rows())
    bounded = 0
    for flow in bounds(made)["flows"]:
        if flow["upper_ns"] is not None:
            bounded += 1
            assert found.get(flow["stream"], 0) <= flow["upper_ns"], flow["stream"]
    assert bounded or seed


def test_a_window_cannot_be_planned_for_an_answer() -> None:
    text = LOOP.replace("frame: 100 B", "frame: 100 B, requires: {delay: 500 us}")
    text += "shapers:\n  sw -> all: {gates: plan}\n"
    with pytest.raises(PlanningErrors, match="a request-driven one"):
        plan_of(text)


PULL = """\
name: pull
duration: 1 s
network:
  stations: [tcms, hvac]
  bridges: {sw: {}}
  links: {rate: 100 Mbit/s, between: [tcms -- sw, hvac -- sw]}
streams:
  ask: {from: tcms, to: hvac, period: 100 ms, trdp: {com-id: 2000, pattern: pull, data-set: 14 B}}
  climate: {answers: ask, after: 2 ms, trdp: {com-id: 2001, pattern: pull, data-set: 400 B}}
"""


def test_a_pull_of_trdp_has_requests_and_replies(tmp_path: Path) -> None:
    """IEC 61375-2-3, A.6: type `Pr` with the identifier of the reply at octet 28, and `Pp`."""
    Simulation().execute(plan_of(PULL), tmp_path / "run", pcap=True)
    captures = b"".join(path.read_bytes() for path in (tmp_path / "run" / "captures").iterdir())
    requests = [captures[at.start() - 4 :][:40] for at in re.finditer(rb"\x01[\0\1]Pr", captures)]
    replies = [captures[at.start() - 4 :][:40] for at in re.finditer(rb"\x01[\0\1]Pp", captures)]
    # Ten requests and ten replies, each captured at the talker and at the listener.
    assert (len(requests), len(replies)) == (20, 20)
    # The communication identifier, the reply's identifier, and the length of the data set.
    assert {struct.unpack_from(">I", one, 8)[0] for one in requests} == {2000}
    assert {struct.unpack_from(">I", one, 28)[0] for one in requests} == {2001}
    assert {struct.unpack_from(">I", one, 8)[0] for one in replies} == {2001}
    assert {struct.unpack_from(">I", one, 28)[0] for one in replies} == {0}
    assert {struct.unpack_from(">I", one, 20)[0] for one in replies} == {400}
    assert sorted(struct.unpack_from(">I", one)[0] for one in replies) == sorted([*range(10)] * 2)


def test_a_pull_needs_both_sides() -> None:
    for text, words in (
        (PULL.replace("2000, pattern: pull,", "2000,"), "an answer to a request of TRDP, found one to ask"),
        (PULL.replace("2001, pattern: pull,", "2001,"), "a request with a reply, found one that no stream"),
    ):
        with pytest.raises(ScenarioErrors, match=words):
            read_scenario(text)
