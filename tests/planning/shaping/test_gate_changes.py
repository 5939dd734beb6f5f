"""Gate control lists that replace each other, hold preemptable frames back, and are limited by hardware."""

from __future__ import annotations

from typing import Any

import pytest

from support.planned import refusal_text
from tsnbench.planning import plan
from tsnbench.scenario import read_scenario

TEXT = """\
name: gated
duration: 10 ms
network: {line: {hops: 1, kind: host, rate: 1 Gbit/s}}
streams:
  x: {from: host1, to: host2, pcp: 5, period: 1 ms, frame: 1000 B}
shapers:
  host1 -> host2:
    cbs: {5: 100 Mbit/s}
    preemption: {express: [6]}
    gates:
"""
HALF = "entries: [{open: [6], for: 500 us}, {open: [5], for: 500 us}]"


def port(*lines: str) -> dict[str, Any]:
    text = TEXT + "".join(f"      {line}\n" for line in lines)
    document: Any = plan(read_scenario(text, "gated.yaml")[0]).document
    found: dict[str, Any] = document["ports"][0]
    return found


def refused(*lines: str) -> str:
    return refusal_text(port, *lines)


def test_every_list_has_its_slope_and_the_credits_are_those_of_the_steepest() -> None:
    """A half and three tenths of the time."""
    changes = "changes: [{at: 2 ms, entries: [{open: [6], for: 700 us}, {open: [5], for: 300 us}]}]"
    both, steep = port(HALF, changes), port("entries: [{open: [6], for: 700 us}, {open: [5], for: 300 us}]")
    cbs = both["classes"][5]["cbs"]
    assert cbs["idle_slope_bps"] == 200_000_000
    assert both["gates"]["changes"][0]["idle_slopes"] == [{"class": 5, "bps": 333_333_334}]
    assert cbs["hi_credit_bits"] == steep["classes"][5]["cbs"]["hi_credit_bits"]
    assert cbs["lo_credit_bits"] == port(HALF)["classes"][5]["cbs"]["lo_credit_bits"]


def test_a_later_list_with_a_flatter_slope_lets_credit_go_deeper() -> None:
    """(1020 + 15 * 24) * 8 bit, at two thirds of the rate and then at four fifths."""
    steep = "entries: [{open: [6], for: 700 us}, {open: [5], for: 300 us}]"
    assert port(steep)["classes"][5]["cbs"]["lo_credit_bits"] == -7_360
    both = port(steep, f"changes: [{{at: 2 ms, {HALF}}}]")
    assert both["classes"][5]["cbs"]["lo_credit_bits"] == -8_832
    assert both["gates"]["changes"][0]["idle_slopes"] == [{"class": 5, "bps": 200_000_000}]


def test_a_later_list_that_leaves_less_than_the_reservation_is_refused() -> None:
    """100 Mbit/s of 1 ms are 100 us of frames; 1020 octets that do not fit and 1542 in the way, 20.496 us."""
    short = "changes: [{at: 2 ms, entries: [{open: [6], for: 950 us}, {open: [5], for: 50 us}]}]"
    problem = refused(HALF, short).splitlines()[0]
    expected = "class 5 open for at least 120.496 us of 1 ms, for its reservation of 100 Mbit/s, "
    assert problem.endswith(f"{expected}found 50 us, which leave 50 Mbit/s")


def test_credit_that_runs_while_closed_keeps_the_reserved_slope() -> None:
    cbs = port(HALF, "credit: runs")["classes"][5]["cbs"]
    assert (cbs["idle_slope_bps"], cbs["runs_while_closed"]) == (100_000_000, True)
    assert "runs_while_closed" not in port(HALF)["classes"][5]["cbs"]


def test_a_hold_is_asked_for_as_long_before_as_what_cannot_be_cut_takes() -> None:
    """123 octets, preamble and gap: OCORA 3.2.2."""
    held = port("entries: [{open: [6], for: 500 us, mac: hold}, {open: [5], for: 500 us, mac: release}]")
    assert held["preemption"] == {"express": 1 << 6, "hold_advance_ns": 143 * 8}
    assert port(HALF)["preemption"] == {"express": 1 << 6}


def test_credit_of_a_preemptable_class_goes_as_deep_as_its_parts_cost() -> None:
    """1000 octets can be cut 15 times: (1020 + 15 * 24) * 8 bit at -0.8."""
    assert port(HALF)["classes"][5]["cbs"]["lo_credit_bits"] == -(1020 + 15 * 24) * 8 * 8 // 10


@pytest.mark.parametrize(
    ("cycle", "lengths"), [(800, [500, 300]), (600, [500, 100]), (1000, [500, 500]), (1200, [500, 700])]
)
def test_entries_are_cut_or_go_on_until_the_end_of_the_cycle(cycle: int, lengths: list[int]) -> None:
    gates = port(HALF, f"cycle: {cycle} us", "fit-entries: true")["gates"]
    assert [entry["interval_ns"] for entry in gates["entries"]] == [length * 1000 for length in lengths]
    assert gates["cycle_ns"] == cycle * 1000


def test_a_cycle_that_ends_before_the_class_opens_is_refused() -> None:
    words = refused(HALF, "cycle: 400 us", "fit-entries: true")
    assert words.startswith("gated.yaml:10:5: shapers.host1 -> host2.gates: expected class 5 (PCP 5) open in")
    assert "a longer cycle" in words


def test_states_before_the_base_time() -> None:
    assert "initial" not in port(HALF, "before: cycles")["gates"]
    states = [port(HALF, f"before: {word}")["gates"]["initial"] for word in ("open", "closed", "[6]")]
    assert states == [255, 0, 1 << 6]


def test_what_hardware_cannot_do_is_refused() -> None:
    assert "1 to 1 entries" in refused(HALF, "most-entries: 1")
    many = ", ".join(["{open: all, for: 1 us}"] * 1025)
    assert "1 to 1024 entries" in refused(f"entries: [{many}]")
    assert len(port(f"entries: [{many}]", "most-entries: 2000")["gates"]["entries"]) == 1025
    assert "a release after a hold" in refused("entries: [{open: [6], for: 1 ms, mac: hold}]")


def test_a_release_that_is_cut_off_leaves_a_hold_for_ever() -> None:
    """Of 500 us and 500 us, a cycle of 400 us keeps the hold and not the release."""
    held = "entries: [{open: [6, 5], for: 500 us, mac: hold}, {open: [5], for: 500 us, mac: release}]"
    assert refused(held, "cycle: 400 us", "fit-entries: true") == (
        "gated.yaml:11:7: shapers.host1 -> host2.gates.entries: expected a release after a hold, "
        "found a hold for ever\n  hint: write mac: release in the entry from which on preemptable frames may "
        "be sent again, or a longer cycle: fit-entries removes what does not fit"
    )
    assert port(held, "cycle: 501 us", "fit-entries: true")["gates"]["entries"] == [
        {"open": 0b0110_0000, "interval_ns": 500_000, "mac": "hold"},
        {"open": 0b0010_0000, "interval_ns": 1_000, "mac": "release"},
    ]
    # Of a hold that is cut off nothing is left.
    late = "entries: [{open: [5], for: 500 us}, {open: [6], for: 500 us, mac: hold}]"
    assert port(late, "cycle: 500 us", "fit-entries: true")["gates"]["entries"] == [
        {"open": 0b0010_0000, "interval_ns": 500_000}
    ]


@pytest.mark.parametrize(
    ("cycle", "lengths"),
    [
        (599_999, [300_000, 299_999]),
        (600_000, [300_000, 300_000]),
        (600_001, [300_000, 300_000, 1]),
        (1_000_000, [300_000, 300_000, 400_000]),
        (1_000_001, [300_000, 300_000, 400_001]),
        (1_500_000, [300_000, 300_000, 900_000]),
    ],
)
def test_entries_are_fitted_to_the_nanosecond(cycle: int, lengths: list[int]) -> None:
    three = "entries: [{open: [6], for: 300 us}, {open: [5], for: 300 us}, {open: [6, 5], for: 400 us}]"
    gates = port(three, f"cycle: {cycle} ns", "fit-entries: true")["gates"]
    assert [entry["interval_ns"] for entry in gates["entries"]] == lengths
    masks = [0b0100_0000, 0b0010_0000, 0b0110_0000]
    assert [entry["open"] for entry in gates["entries"]] == masks[: len(lengths)]


def test_a_port_supports_as_many_entries_in_each_of_its_lists() -> None:
    three = "entries: [{open: [6], for: 400 us}, {open: [5], for: 300 us}, {open: [6, 5], for: 300 us}]"
    assert len(port(HALF, "most-entries: 2")["gates"]["entries"]) == 2
    said = refused(HALF, "most-entries: 2", f"changes: [{{at: 2 ms, {three}}}]")
    assert ".gates.changes[0].entries: expected 1 to 2 entries, found 3" in said
    (change,) = port(three, "most-entries: 3", f"changes: [{{at: 2 ms, {three}}}]")["gates"]["changes"]
    assert len(change["entries"]) == 3


def test_an_entry_may_last_one_nanosecond() -> None:
    short = "entries: [{open: [6, 5], for: 499999 ns}, {open: [6], for: 1 ns}, {open: [5], for: 500 us}]"
    assert [entry["interval_ns"] for entry in port(short)["gates"]["entries"]] == [499_999, 1, 500_000]


@pytest.mark.parametrize(("by", "mask"), [("pcp", 0b0100_0010), ("class", 0b0100_0001)])
def test_open_gates_count_priorities_or_classes(by: str, mask: int) -> None:
    """PCP 0 is class 1, and PCP 1 is class 0."""
    gates = port("entries: [{open: [6, 0], for: 500 us}, {open: [5], for: 500 us}]", f"by: {by}")["gates"]
    assert [entry["open"] for entry in gates["entries"]] == [mask, 0b0010_0000]


def test_each_list_has_its_base_time_and_its_extension() -> None:
    change = f"changes: [{{at: 2 ms, {HALF}, base-time: 7 us, extension: 4 us}}]"
    gates = port(HALF, "base-time: 5 us", "extension: 3 us", change)["gates"]
    assert (gates["base_time_ns"], gates["cycle_extension_ns"]) == (5_000, 3_000)
    (second,) = gates["changes"]
    assert (second["base_time_ns"], second["cycle_extension_ns"]) == (7_000, 4_000)
