"""Faults and changing gates on the guest's own device: every frame is treated as in the simulator.

The device draws the same random numbers as the simulator. A wrong configuration must be found.
"""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from support.guest_runs import Guest, wanted
from support.kernel_text import script_of
from support.planned import document_of, plan_of
from tsnbench.backends.kernel.tsnport import TSNPORT, faults, gate_changes
from tsnbench.backends.kernel.unsupported import unsupported
from tsnbench.errors import BackendError
from tsnbench.runs import Run

FAULTS = """
name: faulty
duration: 250 ms
network:
  stations: [talker, other, noisy, one, two, three]
  bridges: [left, right]
  links:
    rate: 100 Mbit/s
    cable: 5 m
    between:
      [talker -- left, other -- left, noisy -- left, left -- right, right -- one, right -- two, left -- three]
streams:
  group: {from: talker, to: [one, two], pcp: 6, period: 1 ms, offset: 500 us, payload: 100 B}
  plain: {from: other, to: three, pcp: 0, period: 1 ms, offset: 700 us, payload: 1400 B}
  second: {from: noisy, to: two, pcp: 3, period: 1 ms, offset: 200 us, payload: 400 B}
faults:
  - {down: left -> right, at: 20 ms, for: 20 ms}
  - {down: noisy, at: 50 ms, for: 25 ms}
  - {down: right, at: 80 ms, for: 10 ms}
  - {loss: 20 %, on: talker -> left, at: 100 ms, for: 100 ms}
  - {loss: {to-bad: 10 %, to-good: 30 %}, on: noisy -> left, at: 100 ms, for: 140 ms}
  - {bit-errors: 1e-5, on: other -> left, at: 30 ms, for: 120 ms}
  - {delay: {from: 10 us, to: 1500 us}, on: other -> left, at: 160 ms, for: 50 ms}
  - {delay: 300 us, on: left -> three, at: 215 ms, for: 25 ms}
  - {duplicate: 40 %, after: 30 us, on: right -> one, at: 150 ms, for: 80 ms}
taps: [left -> right, left -> three, right -> two]
"""
GATES = """
name: changing
duration: 60 ms
network:
  stations: [a, b]
  bridges: [switch]
  links: {rate: 1 Gbit/s, cable: 5 m, between: [a -- switch, switch -- b]}
streams:
  early: {from: a, to: b, pcp: 6, period: 250 us, payload: 100 B}
  late: {from: a, to: b, pcp: 0, period: 130 us, payload: 600 B}
shapers:
  switch -> b:
    queues: {classes: {6: 1, 0: 0}}
    gates:
      before: [6]
      base-time: 5 ms
      extension: 600 us
      entries: [{open: [6], for: 300 us}, {open: [0], for: 700 us}]
      changes:
        - {at: 12 ms, base-time: 20500 us, entries: [{open: [6], for: 200 us}, {open: [0], for: 300 us}]}
        - {at: 33100 us, base-time: 20000 us, entries: [{open: [0], for: 3 ms}, {open: [6], for: 1 ms}]}
faults: [{down: switch, at: 45100 us, for: 1800 us}]
taps: [switch -> b]
"""
LOST, CHANGING = wanted("faults", FAULTS), wanted("changing-gates", GATES)


def _seen(run: Run, tap: str) -> list[tuple[str, int]]:
    frames = run.observations().filter(pl.col("tap") == tap)
    return sorted(zip(frames["stream"].to_list(), frames["seq"].to_list(), strict=True))


def test_the_same_frames_are_lost_and_doubled(guest: Guest):
    simulated, real = guest.both(LOST)
    for tap in simulated.observations()["tap"].unique().to_list():
        assert _seen(simulated, tap) == _seen(real, tap), tap
    assert real.counters["faults"] == simulated.counters["faults"]
    # A fault that silences a talker loses no frame.
    assert [one["frames"] > 5 for one in real.counters["faults"]].index(False) == 1
    ports = [
        {port["port"]: port["dropped_faults"] for port in run.counters["ports"]} for run in (simulated, real)
    ]
    assert ports[0] == ports[1]


def test_frames_are_as_late_as_the_simulator_draws(guest: Guest):
    simulated, real = guest.both(LOST)
    delays = [
        run.delay("plain").frames.select("seq", "delay_ns").drop_nulls().sort("seq")
        for run in (simulated, real)
    ]
    both = delays[0].join(delays[1], on="seq", suffix="_real")
    apart = (both["delay_ns_real"] - both["delay_ns"]).to_list()
    usual = sorted(apart)[len(apart) // 2]
    assert len(both) > 150
    near = sum(abs(one - usual) < 5_000 for one in apart)
    assert near > 0.9 * len(apart)


def test_gates_change_when_the_plan_says(guest: Guest):
    simulated, real = guest.both(CHANGING)
    seen = [run.counters["ports"] for run in (simulated, real)]
    told = [next(port["gates"] for port in ports if "gates" in port) for ports in seen]
    extended = [one for one in told[0]["in_force"] if one["schedule"] == "extended"]
    assert len(extended) == 1
    told[0]["in_force"].remove(extended[0])
    assert told[0] == told[1]
    assert told[0]["config_change_errors"] == 1
    left = real.observations().filter(pl.col("tap") == "switch -> b tx")
    assert len(left) > 500
    plan = real.plan.document
    gates = next(port["gates"] for port in plan["ports"] if port.get("gates"))
    outside = 0
    for stream, at in zip(left["stream"].to_list(), left["t_ns"].to_list(), strict=True):
        outside += (
            not _open(gates, told[0]["in_force"], extended[0], at) >> (1 if stream == "early" else 0) & 1
        )
    assert outside == 0
    # The extended cycle does not start anew: from 20.0 to 20.3 ms its first entry would hold these frames
    # back.
    late = left.filter((pl.col("stream") == "late") & pl.col("t_ns").is_between(20_000_000, 20_280_000))
    assert len(late) >= 2


def test_a_node_that_goes_down_loses_what_waits_in_it(guest: Guest):
    simulated, real = guest.both(CHANGING)
    assert real.counters["faults"] == simulated.counters["faults"]
    assert real.counters["faults"][0]["frames"] > 20
    assert _seen(simulated, "switch -> b rx") == _seen(real, "switch -> b rx")


def test_a_list_at_another_moment_is_an_error():
    plan = document_of(GATES)
    number = next(gate_changes.changing(plan))
    rows = [(0, 5_000_000, 0), (12_100_000, 20_500_000, 0), (33_300_000, 36_000_000, 1)]

    def said(rows: list[tuple[int, int, int]]) -> str:
        return "".join(f"{asked} {start + 7} {late}\n" for asked, start, late in rows)

    found = gate_changes.counted(plan, number, said(rows), 7, 1)
    assert [one["from_ns"] for one in found["in_force"]] == [None, 5_000_000, 20_500_000, 36_000_000]
    assert found["config_change_errors"] == 1
    for wrong in (rows[:2], [*rows[:2], (33_300_000, 40_000_000, 1)], [(0, 5_001_000, 0), *rows[1:]]):
        with pytest.raises(BackendError, match="a gate control list came into force"):
            gate_changes.counted(plan, number, said(wrong), 7, 1)


def test_draws_are_named_as_the_simulator_names_them():
    # The published test vectors of FNV-1a.
    assert [faults.fnv1a(name) for name in ("", "a", "foobar")] == [
        0xCBF29CE484222325,
        0xAF63DC4C8601EC8C,
        0x85944171F73967E8,
    ]


def test_the_device_is_configured_before_the_run():
    script = script_of(plan_of(FAULTS), TSNPORT, 10)
    told = [line for line in script.splitlines() if line.startswith("tell ") and "/faults " in line]
    # A fault of a link is at both ends, a fault of a node at both ends of each of its cables.
    assert [sum(line.startswith(f'tell "{number} ') for line in told) for number in range(9)] == [
        *(2, 2, 6),
        *[1] * 6,
    ]
    assert '"0 cut $((STAMPED+200000000)) $((STAMPED+400000000)) 1 0"' in told[0]
    assert any(' 10000 1490000 1000000 1 10"' in line for line in told)
    steps = script_of(plan_of(GATES), TSNPORT, 10).partition("cat >/tmp/steps-n2 <<END\n")[2]
    assert steps.startswith("12000000\tqdisc replace dev p2 parent root handle 100: taprio ")
    assert "base-time $((EPOCH+205000000)) sched-entry S 02 2000000 " in steps


def test_what_the_device_does_not_support_is_named():
    babble = FAULTS.replace("{down: noisy, at", "{babble: second, every: 50 us, at")
    assert len(unsupported(document_of(babble), TSNPORT)) == 1
    many = [f"{{loss: 1 %, on: talker -> left, at: {n} ms, for: 1 ms}}" for n in range(65)]
    head, _, tail = FAULTS.partition("faults:")
    text = f"{head}faults: [{', '.join(many)}]\ntaps:{tail.partition('taps:')[2]}"
    assert "65 faults" in unsupported(document_of(text), TSNPORT)[0]
    wrong = GATES.replace("{down: switch, at", "{schedule: open, on: switch -> b, at")
    assert len(unsupported(document_of(wrong), TSNPORT)) == 1


def _open(gates: dict[str, Any], in_force: list[dict[str, Any]], extended: dict[str, Any], at: int) -> int:
    """The gates that are open at an instant, one bit per class, by the standard's rules."""
    now = max(
        (one for one in [*in_force, extended] if (one["from_ns"] or -1) <= at),
        key=lambda one: one["from_ns"] or -1,
    )
    if now["schedule"] == "initial":
        return int(gates["initial"])
    one = [gates, *gates["changes"]][now["list"]]
    if now["schedule"] == "extended":
        return int(one["entries"][-1]["open"])
    rest = (at - one["base_time_ns"]) % one["cycle_ns"]
    for entry in one["entries"]:
        if rest < entry["interval_ns"]:
            return int(entry["open"])
        rest -= entry["interval_ns"]
    raise AssertionError
