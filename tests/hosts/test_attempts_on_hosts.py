"""Attempts on hosts: which are rejected, why, and how they are repeated; clocks before and during a run."""

from __future__ import annotations

import json
import re
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from support.planned import plan_of
from tsnbench.errors import BackendError, UnmeasuredError
from tsnbench.hosts import attempt, job
from tsnbench.hosts.backend import Hosts
from tsnbench.hosts.inventory import read_inventory
from tsnbench.hosts.remote.agent import Agent

from .conftest import SCENARIO, Rig, attempts, bounded, in_first_attempts, lasting


def test_a_rejected_attempt_is_repeated_and_its_reason_kept(
    rig: Rig, tmp_path: Path, unchanged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A talker that stops for a while is late, so the attempt is invalid; after two there is no result."""

    def stop(agents: dict[str, Agent], epoch_ns: int) -> None:
        while time.clock_gettime_ns(time.CLOCK_TAI) < epoch_ns + 200_000_000:
            time.sleep(0.01)
        agents["a"].signal("talker-0", signal.SIGSTOP)
        time.sleep(0.2)
        agents["a"].signal("talker-0", signal.SIGCONT)

    def stopped(agents: dict[str, Agent], epoch_ns: int) -> None:
        threading.Thread(target=stop, args=(agents, epoch_ns), daemon=True).start()

    longer = lasting("600 ms")
    in_first_attempts(monkeypatch, 1, stopped)
    own = read_inventory(bounded(rig.made.inventory.read_text(), "attempts: 2, pause: 100 ms"), "lab.yaml")
    longer.run(on=Hosts(own), into=tmp_path / "again")
    tried = attempts(tmp_path / "again")
    assert [one["valid"] for one in tried] == [False, True]
    assert (tried[0]["host"], "talker of x was up to" in tried[0]["reason"]) == ("a", True)
    in_first_attempts(monkeypatch, 2, stopped)
    with pytest.raises(UnmeasuredError, match="2 attempts were rejected, and none is a measurement") as error:
        longer.run(on=Hosts(own), into=tmp_path / "never")
    assert error.value.host == "a"
    assert re.match(
        r"the talker of x was up to \S+ ms late \(2 attempts were rejected\)$", error.value.reason
    )
    told = json.loads((tmp_path / "never/manifest.json").read_text())
    assert told["state"] == "failed"
    assert len(attempts(tmp_path / "never")) == 2


def test_a_host_that_gets_the_instant_too_late_rejects_the_attempt(
    rig: Rig, tmp_path: Path, unchanged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message with the instant takes longer than the time until the instant; no host starts late."""
    tells = Agent.tell

    def slow(agent: Agent, name: str, line: str) -> None:
        if times and agent.name == "c":
            times.pop()
            time.sleep(attempt.LEAD_NS / 1e9)
        tells(agent, name, line)

    monkeypatch.setattr(Agent, "tell", slow)
    times = [1]
    run = rig.plan.run(on=Hosts(rig.inventory), into=tmp_path / "run")
    first, *_, last = attempts(tmp_path / "run")
    assert (first["host"], first["valid"], last["valid"]) == ("c", False, True)
    assert re.search(r"got the start -?\d+\.\d ms before its instant: too late", first["reason"])
    assert run.manifest["host"]["least_ahead_ns"] >= attempt.LEAST_AHEAD_NS


def test_a_capture_that_lost_frames_rejects_the_attempt(
    rig: Rig, tmp_path: Path, unchanged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ring of 1 MiB is not emptied for 1 s, during which 2,000 frames of 1,000 octets arrive."""
    faster = SCENARIO.replace("200 ms", "1 s", 1).replace("period: 1 ms", "period: 500 us", 1)
    longer = plan_of(faster)
    begins, runs = attempt.begin, attempt._wait
    monkeypatch.setattr(job, "CAPTURED_OCTETS", 2000)
    times = [1]

    def small(agent, own, text):
        own.captures = [replace(one, argv=(*one.argv, "--ring", "1")) for one in own.captures]
        begins(agent, own, text)
        if times and agent.name == "b":
            for one in own.captures:
                agent.signal(one.name, signal.SIGSTOP)

    def woken(agents, jobs, *rest):
        runs(agents, jobs, *rest)
        if times:
            times.pop()
            for one in jobs["b"].captures:
                agents["b"].signal(one.name, signal.SIGCONT)

    monkeypatch.setattr(attempt, "begin", small)
    monkeypatch.setattr(attempt, "_wait", woken)
    longer.run(on=Hosts(rig.inventory), into=tmp_path / "run")
    first, last = attempts(tmp_path / "run")
    assert (first["host"], first["valid"], last["valid"]) == ("b", False, True)
    assert re.search(r"the capture at eth1 lost \d+ frames", first["reason"])


PTP = SCENARIO.replace("200 ms", "1500 ms", 1)
PTP += "clocks: {gptp: {grandmaster: a, sync-interval: 125 ms}}\n"


def synchronised(rig: Rig, sync: str) -> Hosts:
    """The lab with ptp4l between its hosts, which steers nothing: they share one clock."""
    text = rig.made.inventory.read_text().replace("ports: {", "clock: software, ports: {")
    return Hosts(read_inventory(bounded(text, sync), "lab.yaml"))


def test_a_run_waits_for_clocks_and_keeps_their_readings(
    rig: Rig, tmp_path: Path, unchanged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ptp4l dies in the first attempt, which is no measurement; the second one is."""
    plan = plan_of(PTP)
    in_first_attempts(monkeypatch, 1, lambda agents, _: agents["b"].signal("ptp4l", signal.SIGKILL))
    hosts = synchronised(rig, "below: 50 ms, steady: 1 s, within: 60 s, attempts: 3, pause: 100 ms")
    run = plan.run(on=hosts, into=tmp_path / "run")
    tried = attempts(tmp_path / "run")
    assert (tried[0]["valid"], tried[-1]["valid"]) == (False, True)
    assert (tried[0]["host"], "ptp4l does not answer" in tried[0]["reason"]) == ("b", True)
    readings = pl.read_parquet(tmp_path / "run/sync.parquet")
    assert set(readings["host"]) == {"a", "b", "c", "s"}
    assert readings.filter(pl.col("host") == "b")["offset_ns"].null_count() == 0
    assert len(set(readings["grandmaster"])) == 1
    assert len(run.delay("x")) == 1500


def test_no_frame_is_sent_where_clocks_differ_by_more_than_is_allowed(
    rig: Rig, tmp_path: Path, unchanged: None
) -> None:
    plan = plan_of(PTP)
    before = rig.says("a", "cat /sys/class/net/eth1/statistics/tx_packets")
    hosts = synchronised(rig, "below: 1 ns, steady: 2 s, within: 4 s, attempts: 2, pause: 100 ms")
    with pytest.raises(BackendError, match="2 attempts were rejected") as error:
        plan.run(on=hosts, into=tmp_path / "run")
    assert "clocks were not synchronised within 4 s" in str(error.value)
    assert not isinstance(error.value, UnmeasuredError), "another run would wait as long"
    assert re.search(r"it is [+-][\d,]+ ns from its master, more than 1 ns", str(error.value))
    # ptp4l's own messages, and the probes; the talker has 1,500 frames.
    assert int(rig.says("a", "cat /sys/class/net/eth1/statistics/tx_packets")) - int(before) < 1000


def test_a_lost_connection_rejects_the_attempt_and_the_next_one_connects_anew(
    rig: Rig, tmp_path: Path, unchanged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """sshd's process of the connection is killed; the host undoes everything by itself meanwhile."""
    in_first_attempts(monkeypatch, 1, lambda *_: rig.ssh("a", "pkill -9 -f 'sshd: root@nott[y]'"))
    longer = lasting("1 s")
    run = longer.run(on=Hosts(rig.inventory), into=tmp_path / "run")
    tried = attempts(tmp_path / "run")
    assert [one["valid"] for one in tried] == [False, True]
    assert (tried[0]["host"], tried[0]["reason"]) == ("a", "the connection is gone")
    assert len(run.delay("x")) == 1000
