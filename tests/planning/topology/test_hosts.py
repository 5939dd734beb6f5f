"""Hosts in the Plan: whose software, which queueing disciplines, whose timers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.planned import plan_of, run_of
from tsnbench.measure import MeasureError, measure_run
from tsnbench.scenario import catalogue

SCENARIO = """\
name: hosts
duration: 20 ms
network:
  {stations: [a, b], hosts: [m], bridges: [s], rate: 1 Gbit/s, links: [a -- s, s -- m, m -- b],
   queues: {classes: {3: 2, 2: 1, 0: 0}}}
hosts: HOSTS
streams: {x: {from: a, to: b, pcp: 3, period: 1 ms, offset: 100 us, frame: 500 B, send: {SEND}}}
shapers: {SHAPERS}
taps: {stages: [interval-start, wakeup, qdisc, driver, kernel-rx, app-rx], ports: [m -> b]}
"""


def document(hosts: str = "{default: preempt-rt}", send: str = "advance: 250 us", shapers: str = "") -> Any:
    text = (
        SCENARIO.replace("HOSTS", hosts)
        .replace("{SEND}", f"{{{send}}}")
        .replace("{SHAPERS}", f"{{{shapers}}}")
    )
    return plan_of(text)


def test_the_default_is_for_stations_and_hosts_and_none_for_none() -> None:
    nodes = document("{default: preempt-rt, m: none}").document["nodes"]
    assert [node["name"] for node in nodes if "host" in node] == ["a", "b"]


@pytest.mark.parametrize(
    ("send", "etf", "why"),
    [
        ("advance: 500 us", "delta: 50 us", "carry no transmission time"),
        ("advance: 500 us, txtime: true, clock: monotonic", "delta: 50 us", "another clock"),
        ("advance: 500 us, txtime: true", "delta: 50 us, deadline: true", "uses a deadline"),
        ("advance: 500 us, txtime: true, deadline: true", "delta: 50 us, deadline: true", ""),
        ("advance: 500 us", "delta: 50 us, skip-sock-check: true", "carry no transmission time"),
        ("advance: 500 us, txtime: true, clock: monotonic", "delta: 50 us, skip-sock-check: true", ""),
        ("advance: 500 us, txtime: true", "delta: 50 us", ""),
    ],
)
def test_an_etf_that_drops_all_is_a_warning_and_drops_all(
    send: str, etf: str, why: str, tmp_path: Path
) -> None:
    plan = document("{default: low-latency}", send, f"a -> s: {{qdisc: {{etf: {{3: {{{etf}}}}}}}}}")
    warned = [warning.text for warning in plan.warnings if warning.kind == "etf-drops"]
    assert len(warned) == bool(why)
    assert all(why in text for text in warned)
    (stream,) = run_of(plan, tmp_path).counters["streams"]
    assert (sum(stream["delivered"].values()) == 0) == bool(why)


def test_load_makes_every_latency_of_every_profile_longer() -> None:
    for name, profile in catalogue.host_profiles().items():
        idle, busy = profile.loads["none"], profile.loads["same-cpu"]
        assert idle.keys() == busy.keys(), name
        for stage in idle:
            assert longest(busy[stage]) > longest(idle[stage]), (name, stage)


def longest(latency: Any) -> int:
    return int({"constant": lambda: latency.ns, "uniform": lambda: latency.high,
                "histogram": lambda: latency.values[-1] + latency.width}[latency.kind]())  # fmt: skip


def test_gates_and_shapers_of_the_kernel_leave_the_hardware() -> None:
    gates = "gates: {entries: [{open: [3], for: 300 us}, {open: [2, 0], for: 700 us}]}"
    for mode in ("software", "txtime-assist", "full-offload"):
        shapers = f"a -> s: {{{gates}, cbs: {{2: 10 Mbit/s}}, qdisc: {{taprio: {mode}}}}}"
        (port,) = (one for one in document(shapers=shapers).document["ports"] if one["name"] == "a -> s")
        assert ("gates" in port) == (mode == "full-offload")
        assert ("taprio" in port["qdisc"]) == (mode != "full-offload")
        assert "cbs" in port["classes"][1]
    (port,) = (
        one
        for one in document(shapers="a -> s: {cbs: {2: 10 Mbit/s}, qdisc: {cbs: software}}").document["ports"]
        if one["name"] == "a -> s"
    )
    assert "cbs" not in port["classes"][1]
    assert port["qdisc"]["children"][1]["idleslope"] == 10_000


def test_delays_are_measured_between_any_two_stages(tmp_path: Path) -> None:
    run = run_of(document(), tmp_path)
    between = [("interval-start", "wakeup"), ("wakeup", "qdisc"), ("qdisc", "driver"), ("driver", "rx"),
               ("rx", "kernel-rx"), ("kernel-rx", "app-rx"), ("interval-start", "app-rx")]  # fmt: skip
    means = []
    for start, end in between:
        (path,) = measure_run(run.folder, start, end)["paths"]
        assert path["count"]["received"] == 20
        means.append(path["delay"]["mean"])
        assert (run.folder / f"measures-{start}-{end}.json").is_file()
    assert sum(means[:-1]) == pytest.approx(means[-1], abs=1)
    assert means[0] == pytest.approx(3_000, abs=500)
    with pytest.raises(MeasureError):
        measure_run(run.folder, "lunch")
