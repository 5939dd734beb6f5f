"""Every kind of fault: what the Plan says of it, what a run of it counts, and what a slip is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from support.planned import plan_of, refusal_text, run_of
from tsnbench.cli.console.plan_tables import print_plan
from tsnbench.plan.delay import smallest_delay_ns
from tsnbench.planning import Plan, plan
from tsnbench.scenario import read_scenario

LINE = """
name: faults
duration: 20 ms
network:
  rate: 1 Gbit/s
  bridges: %s
  stations: [t, l]
  links: [t -- b1, b1 -- b2, b2 -- l]
streams: {s: {from: t, to: l, pcp: 5, period: 100 us, frame: 1000 B}}
"""
RING = """
name: ring
duration: 20 ms
network:
  rate: 1 Gbit/s
  bridges: {b1: &own {forwarding: {mode: cut-through, after: 337 B}}, b2: *own, b3: *own, b4: *own}
  stations: [t, l, e]
  links: [t -- b1, e -- b1, b1 -- b2, b2 -- b3, b1 -- b4, b4 -- b3, b3 -- l]
streams: {s: {from: t, to: l, pcp: 5, period: 100 us, frame: 1000 B, frer: {}}%s}
"""


def planned(faults: str, bridges: str = "[b1, b2]", rest: str = "") -> Plan:
    return plan_of(LINE % bridges + rest + f"faults: [{faults}]\n")


def test_a_link_is_cut_as_links_are_written() -> None:
    by_port, by_link = (planned(f"{{down: {text}, at: 2 ms}}") for text in ("b1 -> b2", "b1 -- b2"))
    assert by_link.document["faults"] == by_port.document["faults"]
    assert by_link.hash == by_port.hash


def ran(made: Plan, folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Counters, and the first path's measures."""
    run = run_of(made, folder)
    counters: dict[str, Any] = json.loads((folder / "run" / "counters.json").read_text())
    return counters, run.measures()["paths"][0]


def late(least: int, most: int, share: int, *, keeps_order: bool) -> dict[str, Any]:
    return {
        "kind": "delay",
        "least_ns": least,
        "most_ns": most,
        "share_ppm": share,
        "keeps_order": keeps_order,
    }


def lost(kind: str, **numbers: int) -> dict[str, Any]:
    return {"kind": "loss", "model": {"kind": kind, **numbers}}


ENTRIES = [{"open": 32, "interval_ns": 10_000}, {"open": 0, "interval_ns": 30_000}]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("delay: 100 us", late(100_000, 100_000, 10**6, keeps_order=True)),
        (
            "delay: {from: 1 us, to: 9 us, share: 10 %, order: broken}",
            late(1_000, 9_000, 100_000, keeps_order=False),
        ),
        ("reorder: 1 %, by: 250 us", late(250_000, 250_000, 10_000, keeps_order=False)),
        ("duplicate: 2 %", {"kind": "duplicate", "share_ppm": 20_000, "after_ns": 10_000}),
        ("loss: 2 %", lost("bernoulli", loss_ppm=20_000)),
        # One of 10^12 bits is a thousand of 10^15.
        ("bit-errors: 1e-12", lost("bit-errors", per_petabit=1_000)),
        (
            "loss: {to-bad: 1 %, to-good: 20 %, in-good: 3 ppm, in-bad: 50 %}",
            lost(
                "gilbert-elliott",
                to_bad_ppm=10**4,
                to_good_ppm=200_000,
                loss_good_ppm=3,
                loss_bad_ppm=500_000,
            ),
        ),
        ("schedule: open", {"kind": "schedule"}),
        (
            "schedule: {base-time: 5 us, entries: [{open: [5], for: 10 us}, {open: none, for: 30 us}]}",
            {"kind": "schedule", "gates": {"base_time_ns": 5_000, "cycle_ns": 40_000, "entries": ENTRIES}},
        ),
    ],
)
def test_what_the_plan_says(fault: str, expected: dict[str, Any]) -> None:
    queues = "shapers: {all: {queues: {classes: {5: 5, 0: 0}}}}\n"
    made = planned(f"{{{fault}, on: b1 -> b2, at: 2 ms, for: 1 ms}}", rest=queues)
    port = [port["name"] for port in made.document["ports"]].index("b1 -> b2")
    assert made.document["faults"] == [
        {**expected, "port": port, "from_ns": 2_000_000, "until_ns": 3_000_000}
    ]
    console = Console(record=True, width=200)
    print_plan(made, console)
    assert "Faults" in console.export_text()


def test_a_shifted_schedule_is_the_ports_own_one_later() -> None:
    gates = "shapers: {b1 -> b2: {gates: {entries: [{open: [5], for: 1 ms}, {open: [0], for: 1 ms}]}}}\n"
    made = planned("{schedule: {shift: 100 us}, on: b1 -> b2, at: 2 ms}", rest=gates)
    (fault,) = made.document["faults"]
    own = next(port for port in made.document["ports"] if port["name"] == "b1 -> b2")["gates"]
    assert fault["gates"] == own | {"base_time_ns": 100_000}
    twice = "{schedule: open, on: b1 -> b2}, {schedule: {shift: 1 us}, on: b1 -> b2}"
    assert "another wrong schedule lasts at the same port" in refusal_text(planned, twice, rest=gates)


def test_the_run_folder_counts_what_each_fault_did(tmp_path: Path) -> None:
    faults = (
        "{down: b2, at: 2 ms, for: 1 ms}, {delay: 10 us, on: t -> b1, at: 5 ms, for: 1 ms}, "
        "{duplicate: 100 %, on: b1 -> b2, at: 8 ms, for: 1 ms}, "
        "{babble: s, every: 50 us, at: 10 ms, for: 1 ms}"
    )
    made = planned(faults)
    counters, path = ran(made, tmp_path)
    frames = [(fault["kind"], fault["frames"]) for fault in counters["faults"]]
    # Babbling repeats what the talker itself releases at its begin, and once more every 50 us.
    assert frames == [("node-down", 10), ("delay", 10), ("duplicate", 10), ("babble", 20)]
    assert path["count"]["lost"] == 10
    assert path["count"]["duplicate"] == 10
    assert (path["count"]["sent"], path["count"]["received"]) == (220, 210)


def test_cut_through_copies_and_pre_emption_beside_faults(tmp_path: Path) -> None:
    """A whole path is enough; its smallest delay is what a run gives."""
    faults = "faults: [{down: b2, at: 5 ms, for: 5 ms}, {bit-errors: 1e-5, on: b1 -> b2, at: 10 ms}]\n"
    express = "shapers: {all: {queues: {classes: 802.1Q/8}, preemption: {express: [7]}}}\n"
    other = ", o: {from: e, to: l, pcp: 7, period: 70 us, frame: 64 B, via: [b1, b2, b3]}"
    for number, text in enumerate([RING % "", RING % "" + faults, RING % other + faults + express]):
        made = plan_of(text)
        folder = tmp_path / str(number)
        folder.mkdir()
        counters, path = ran(made, folder)
        assert (path["count"]["sent"], path["count"]["received"], path["count"]["duplicate"]) == (200, 200, 0)
        assert path["delay"]["min"] == smallest_delay_ns(made.document, made.document["streams"][0], 0)
        assert number == 0 or counters["faults"][0]["frames"] >= 50


def test_a_bridge_that_is_down_is_gone_around(tmp_path: Path) -> None:
    """A path that stands by is taken when a bridge of the first one fails."""
    text = (RING % "").replace("frer: {}", "failover: {after: 1 ms}")
    made = plan_of(text + "faults: [{down: b2, at: 5 ms, for: 5 ms}]\n")
    _, path = ran(made, tmp_path)
    # Frames from 5 to 6 ms and, at the return, from 10 to 11 ms.
    assert path["count"]["lost"] == 20


def shorter(faults: str, duration_ms: int, rest: str = "") -> list[dict[str, Any]]:
    """The faults of a run that is shorter than its scenario; its frames may arrive for 100 ms more."""
    (scenario,) = read_scenario(LINE.replace("20 ms", "2 s") % "[b1, b2]" + rest + f"faults: [{faults}]\n")
    found: Any = plan(scenario.model_copy(update={"duration": duration_ms * 1_000_000})).document
    return list(found.get("faults", []))


def test_a_fault_that_begins_when_the_run_is_over_is_left_out() -> None:
    assert shorter("{down: b1 -> b2, at: 120 ms}", 20) == []
    (fault,) = shorter("{down: b1 -> b2, at: 119 ms, for: 1 s}", 20)
    assert (fault["from_ns"], fault["until_ns"]) == (119_000_000, 120_000_000)


def test_a_wrong_schedule_stands_after_one_that_is_left_out() -> None:
    gates = "shapers: {b1 -> b2: {gates: {entries: [{open: all, for: 1 ms}]}}}\n"
    late = "{schedule: {shift: 1 us}, on: b1 -> b2, at: 1 s}, {down: b1 -> b2, at: 2 s}"
    (fault,) = shorter(f"{late}, {{schedule: {{shift: 5 us}}, on: b1 -> b2, at: 1 ms}}", 20, gates)
    entries = [{"open": 255, "interval_ns": 1_000_000}]
    assert fault == {
        "kind": "schedule", "port": 2, "from_ns": 1_000_000, "until_ns": 120_000_000,
        "gates": {"base_time_ns": 5_000, "cycle_ns": 1_000_000, "entries": entries},
    }  # fmt: skip


def test_every_kind_of_fault_in_its_place() -> None:
    """Link n has the ports 2n and 2n + 1; b1, b2, t and l are the nodes 0 to 3. Schedules come last."""
    found = shorter(
        "{down: b1 -> b2, at: 1 s}, {schedule: open, on: b2 -> l, at: 2 ms, for: 1 ms}, "
        "{down: b2, at: 3 ms, for: 1 ms}, {babble: s, every: 50 us, at: 1 ms, for: 2 ms}, "
        "{duplicate: 3 %, after: 4 us, on: all -> b1, at: 4 ms, for: 1 ms}, "
        "{delay: 7 us, on: b1 -> all, at: 5 ms, for: 1 ms}, {down: b1 -> b2, at: 6 ms, for: 1 ms}, "
        "{loss: 1 %, on: b1 -> all, at: 7 ms, for: 1 ms}, {loss: 5 ppm, on: l -> b2, at: 8 ms}",
        20,
    )

    def span(begin: int, end: int) -> dict[str, int]:
        return {"from_ns": begin * 1_000_000, "until_ns": end * 1_000_000}

    again = {"kind": "duplicate", "share_ppm": 30_000, "after_ns": 4_000, **span(4, 5)}
    late = {"kind": "delay", "least_ns": 7_000, "most_ns": 7_000, "share_ppm": 10**6, "keeps_order": True}
    lost = {"kind": "loss", "model": {"kind": "bernoulli", "loss_ppm": 10_000}, **span(7, 8)}
    assert found == [
        {"kind": "node-down", "node": 1, **span(3, 4)},
        {"kind": "babble", "stream": 0, "every_ns": 50_000, **span(1, 3)},
        {**again, "port": 0}, {**again, "port": 3},
        {**late, "port": 1, **span(5, 6)}, {**late, "port": 2, **span(5, 6)},
        {"kind": "link-down", "port": 2, **span(6, 7)},
        {**lost, "port": 1}, {**lost, "port": 2},
        {"kind": "loss", "model": {"kind": "bernoulli", "loss_ppm": 5}, "port": 5, **span(8, 120)},
        {"kind": "schedule", "port": 4, **span(2, 3)},
    ]  # fmt: skip
