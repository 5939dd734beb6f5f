"""Hosts that join a network: a real service, and frames on a link between two namespaces."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from cnc.cell import SCENARIO, SCHEDULED, Served, serving
from live.conftest import Link, until
from support.commands import tsnbench
from tsnbench.backends.kernel import traffic
from tsnbench.backends.kernel.environment import GUEST
from tsnbench.cnc.client import Connection
from tsnbench.cnc.joining import join as joining
from tsnbench.cnc.joining.join import Asked, Join, LeftError
from tsnbench.cnc.joining.station import JoinError, Station, fitted, streams_of
from tsnbench.hosts.remote.agent import Agent
from tsnbench.hosts.remote.answers import Step
from tsnbench.hosts.remote.reach import Here, Space
from tsnbench.plan.document import Plan
from tsnbench.scenario.loader import read_scenario

VIDEO: Mapping[str, Any] = {**SCHEDULED, "from": "cam", "payload": "400 B"}
ROUND_NS = 100_000_000
"""100 frames of it."""
WITHOUT_GATES = replace(GUEST, qdiscs=GUEST.qdiscs - {"taprio"})


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("cnc")) as found:
        yield found


@contextmanager
def stays(served: Served, link: Link, side: int, node: str, streams: Mapping[str, Any]) -> Iterator[Join]:
    """A host that has joined; it leaves at the end."""
    asked = Asked(node, f"v{side}", streams_of(node, streams))
    found = Join(Connection(served.address), asked, Space(link.spaces[side]), ROUND_NS)
    try:
        found.open()
        assert found.ask().status == 200
        found.start()
        yield found
    finally:
        assert found.leave().left_behind == []


def planned(text: str) -> Plan:
    (scenario,) = read_scenario(text, "cell")
    return scenario.plan()


def root(link: Link, side: int = 0) -> str:
    return link.do(side, f"tc qdisc show dev v{side} root").stdout


def requested(served: Served) -> set[str]:
    return {one["stream"] for one in served.ask("GET", "/api/streams")[1]["streams"] if one["client"]}


def test_a_talker_and_a_listener_join(served: Served, link: Link, monkeypatch: pytest.MonkeyPatch) -> None:
    before = root(link)
    with stays(served, link, 1, "ctl", {}) as listener:
        with stays(served, link, 0, "cam", {"video": VIDEO}) as talker:
            assert "htb" in root(link)
            assert requested(served) == {"video"}
            monkeypatch.setattr(joining, "WATCH_S", 0)
            # After the Plan's time the talker begins again; the listener learns the stream's number.
            talker.agent.wait_for_end("talker-0", time.monotonic() + 60)
            listener.stay(1)
            talker.stay(1)
            talker.agent.wait_for_end("talker-0", time.monotonic() + 60)
            left = talker.leave()
        assert left.sent is not None
        assert [(one["stream"], one["frames"]) for one in left.sent["streams"]] == [("video", 100)]
        assert requested(served) == set()
        assert root(link) == before
        heard = listener.leave()
    assert heard.received is not None
    (stream,) = heard.received["streams"]
    assert (stream["stream"], stream["frames"], stream["lost"]) == ("video", 200, 0)
    assert stream["delay_ns"] is not None


def test_a_stay_ends_when_somebody_removes_the_stream(
    served: Served, link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joining, "WATCH_S", 0)
    with stays(served, link, 0, "cam", {"video": VIDEO}) as talker:
        assert served.ask("DELETE", "/api/streams/video")[0] == 200
        with pytest.raises(LeftError, match=r"streams\.video: somebody removed it"):
            talker.stay(None)


def test_a_killed_host_is_as_before_and_joins_again(served: Served, link: Link) -> None:
    before = root(link)
    words = ["join", "--node", "cam", "--interface", "v0", "--host", f"netns://{link.spaces[0]}"]
    words += ["--at", served.address, "--stream"]
    words += [
        "video: {to: ctl, period: 1 ms, payload: 400 B, pcp: 7, scheduled: true, requires: {delay: 1 ms}}"
    ]
    for sent in (signal.SIGKILL, signal.SIGTERM):
        command = [sys.executable, "-m", "tsnbench", *words]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            said = ""
            while not said.endswith("cam: joined\n"):
                line = process.stderr.readline()
                assert line, said
                said += line
            assert "video to ctl: at most" in said
            assert requested(served) == {"video"}
            process.send_signal(sent)
            out, err = process.communicate(timeout=60)
        if sent is signal.SIGKILL:
            # The agent undoes everything when nobody talks to it any more; the network keeps the stream.
            until(lambda: root(link) == before)
            assert requested(served) == {"video"}
    assert process.returncode == 0, err
    assert out.startswith("sent")
    assert requested(served) == set()
    assert root(link) == before


def test_this_machine_is_reached_without_ssh(link: Link) -> None:
    agent = Agent("here", Here(f"-join-test-{os.getpid()}"), program=traffic.program())
    try:
        agent.open()
        (done,) = agent.steps([Step(("readlink", "/proc/self/ns/net"))])
    finally:
        assert agent.restore() == []
    assert done.out.strip() == os.readlink("/proc/self/ns/net")


def test_refusals_change_nothing(served: Served, link: Link) -> None:
    before = root(link)
    common = ("--at", served.address, "--host", f"netns://{link.spaces[0]}")
    tight = "video: {to: ctl, period: 1 ms, payload: 400 B, pcp: 7, scheduled: true, requires: {delay: 9 us}}"
    done = tsnbench("join", "--node", "cam", "--interface", "v0", "--stream", tight, *common)
    assert done.returncode == 1
    assert "hint: there is a schedule with streams.video.requires.delay" in done.stderr
    done = tsnbench("join", "--node", "cam", "--interface", "none", "--stream", tight, *common)
    assert (done.returncode, "expected the interface none there" in done.stderr) == (3, True)
    assert requested(served) == set()
    assert root(link) == before


def test_a_dry_run_says_what_would_be_asked_and_set(served: Served) -> None:
    words = ("--node", "cam", "--interface", "eth0", "--at", served.address, "--dry-run")
    done = tsnbench("join", *words, "--stream", "v: {to: ctl, period: 1 ms, payload: 100 B}")
    assert done.returncode == 0
    assert '# asks for v: {"from": "cam", "to": "ctl", "period": "1 ms", "payload": "100 B"}' in done.stdout
    assert "tc qdisc replace dev eth0 parent root handle 100: taprio" in done.stdout
    assert "undo: tc qdisc del dev eth0 root" in done.stdout
    assert requested(served) == set()


def test_streams_without_an_end_begin_or_end_at_the_host() -> None:
    assert streams_of("cam", {"v": {"to": "ctl"}}) == {"v": {"from": "cam", "to": "ctl"}}
    assert streams_of("ctl", {"v": {"from": "cam"}}) == {"v": {"from": "cam", "to": "ctl"}}
    assert streams_of("ctl", {"v": {"from": "cam", "to": ["x", "ctl"]}})["v"]["to"] == ["x", "ctl"]
    for wrong in ({"from": "cam", "to": "x"}, "cam", None):
        with pytest.raises(JoinError, match=r"streams\.v: expected a stream"):
            streams_of("ctl", {"v": wrong})


def test_only_stations_with_one_port_join() -> None:
    plan = planned(SCENARIO).document
    for wrong in ("sw1", "nobody"):
        with pytest.raises(JoinError, match="expected one of cam, cam2, ctl, found"):
            Station(plan, wrong)


def test_without_gates_only_scheduled_streams_may_leave_the_port() -> None:
    """Frames of others could be in the windows of scheduled ones."""
    alone = Station(planned(SCENARIO).document, "cam")
    whole = alone.own_plan(["loop"], 10**9)
    assert fitted(alone, whole, GUEST) == (whole, [])
    without, notes = fitted(alone, whole, WITHOUT_GATES)
    assert "gates" in whole["ports"][alone.port]
    assert "gates" not in without["ports"][alone.port]
    assert len(notes) == 1
    assert "nothing else may send on this interface" in notes[0]
    both = Station(planned(SCENARIO.replace("from: cam2", "from: cam")).document, "cam")
    with pytest.raises(JoinError, match="so frames of log could be in the windows of scheduled streams"):
        fitted(both, both.own_plan(["loop"], 10**9), WITHOUT_GATES)


def test_a_plan_of_one_host_has_the_numbers_of_all_and_sends_its_own() -> None:
    station = Station(planned(SCENARIO.replace("from: cam2", "from: cam")).document, "cam")
    own = station.own_plan(["log"], 10**12)
    assert [(one["name"], one["stop_ns"]) for one in own["streams"]] == [("loop", 0), ("log", 10**12)]
    assert station.cycle_ns(["loop"]) == station.settle_ns() == 1_000_000
