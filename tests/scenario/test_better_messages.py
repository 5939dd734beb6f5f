"""Slips of people who come from other tools: one message each, and its hint says what to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsnbench.editing.problems import checked_scenarios
from tsnbench.scenario import ScenarioErrors, load_variants

TEXT = """\
name: cell
duration: 10 ms
network:
  stations: [a, b]
  bridges: [sw1, sw2]
  links: {rate: 1 Gbit/s, between: [a - sw1, sw1 - sw2, sw2 - b]}
streams:
  x: {from: a, to: b, payload: 100 B, period: 1 ms, pcp: 6}
"""
GATES = "shapers: {sw1 -> sw2: {gates: {entries: [{ENTRY}]}}}\n"
SLIPS = {
    # Written, in place of this or at the end: the message without its place.
    ("1 Gbit/s", "125 MB/s"): (
        "network.links.rate: expected a rate with a unit, found 125 MB/s\n  hint: write 1 Gbit/s"
    ),
    ("1 Gbit/s", "1000 Mb/s"): (
        "network.links.rate: expected a rate with a unit, found 1000 Mb/s\n  hint: write 1000Mbit/s"
    ),
    ("period: 1 ms", "period: 1e3 us"): (
        "streams.x.period: expected a duration with a unit, found 1e3 us\n  hint: write 1000 us"
    ),
    ("period: 1 ms", "period: 1.5e-3 s"): (
        "streams.x.period: expected a duration with a unit, found 1.5e-3 s\n  hint: write 0.0015 s"
    ),
    ("period: 1 ms", "period: 1000 microseconds"): (
        "streams.x.period: expected a duration with a unit, found 1000 microseconds\n  hint: write 1000us"
    ),
    ("period: 1 ms", "period: 1 millisecond"): (
        "streams.x.period: expected a duration with a unit, found 1 millisecond\n  hint: write 1ms"
    ),
    ("duration: 10 ms", "duration: 1"): (
        "duration: expected a duration with a unit, found 1\n  hint: write 1ms or 1s"
    ),
    ("duration: 10 ms", "duration: 1e1"): (
        "duration: expected a duration with a unit, found 1e1\n  hint: write 10 ms"
    ),
    ("", "faults: [{down: sw1 -- sw2, at: 2, for: 5 ms}]\n"): (
        "faults[0].at: expected a duration with a unit, found 2\n  hint: write 2ms or 2s"
    ),
    ("period: 1 ms", "period: [1 ms, 2]"): (
        "streams.x.period: expected a duration with a unit, found 2\n  hint: write 2 ms"
    ),
    ("period: 1 ms", "period: $p"): (
        "streams.x.period: expected a duration with a unit, found $p\n"
        "  hint: write ${p}, and p under parameters:"
    ),
    ("period: 1 ms", "period: []"): (
        "streams.x.period: expected at least one value, found an empty list\n"
        "  hint: write a value, or leave the key out"
    ),
    ("pcp: 6", "pcp: 010"): (
        "streams.x.pcp: expected a priority code point from 0 to 7, found 010\n"
        "  hint: write 2, if these digits are bits"
    ),
    ("pcp: 6", "pcp:6"): (
        "streams.x.pcp:6: expected a key of a stream, found pcp:6\n"
        "  hint: write pcp: 6, with a space after the colon"
    ),
    ("pcp: 6", "pcp: 6, requires: [delay: 200 us]"): (
        "streams.x.requires: expected one value per run, found a list or mapping\n"
        "  hint: for one value, leave the square brackets out: {delay: …}; for several, name the "
        "alternatives under parameters: and write ${name} here"
    ),
    ("pcp: 6", "pcp: 6, requires: {loss: 0.1}"): (
        "streams.x.requires.loss: expected a share with a unit, found 0.1\n  hint: write 10% or 0.1%"
    ),
    ("pcp: 6", "pcp: 6, requires: sr/E"): (
        "streams.x.requires: expected an SR class, found sr/E\n"
        "  hint: known: sr/A, sr/B, sr/C, sr/D, sr/BE"
    ),
    ("pcp: 6", "pcp: 6, via: [sw2, sw1]"): (
        "streams.x.via[0]: expected hops in the order from a to b, found sw2, sw1\n  hint: write [sw1, sw2]"
    ),
    ("to: b", "to: []"): (
        "streams.x.to: expected the names of nodes, found an empty list\n"
        "  hint: write at least one, or leave the key out"
    ),
    ("payload: 100 B", "frame: 60 B"): (
        "streams.x.frame: expected a size of at least 64 B, found 60 B\n"
        "  hint: write 64 B: a frame with its FCS has at least 64 octets"
    ),
    ("bridges:", "switches:"): (
        "network.switches: expected a key of the network, found switches\n  hint: did you mean bridges?"
    ),
    ("stations:", "endpoints:"): (
        "network.endpoints: expected a key of the network, found endpoints\n  hint: did you mean stations?"
    ),
    ("", "shapers: {sw1 -> sw2: {idleSlope: 10 Mbit/s}}\n"): (
        "shapers.sw1 -> sw2.idleSlope: expected a key of a shaper, found idleSlope\n"
        "  hint: write it under its class: cbs: {6: {idle-slope: 10 Mbit/s}}"
    ),
    ("", "shapers: {sw1 - sw2: {cbs: {6: 10 Mbit/s}}}\n"): (
        "shapers.sw1 - sw2: expected a port: node1 -> node2, node1 -> all, all -> node2, all or bridges, "
        "found sw1 - sw2\n  hint: write sw1 -> sw2: a port is one end of a link"
    ),
    ("", "faults: [{on: sw1 - sw2, loss: 1 %}]\n"): (
        "faults[0].on: expected a port: node1 -> node2, node1 -> all, all -> node2 or all, found sw1 - sw2\n"
        "  hint: write sw1 -> sw2: a port is one end of a link"
    ),
    ("", GATES.replace("ENTRY", 'open: "6,3", for: 1 ms')): (
        "shapers.sw1 -> sw2.gates.entries[0].open: expected PCPs whose gates are open: [6, 5], all or none, "
        "found 6,3\n  hint: write [6, 3]"
    ),
    ("", GATES.replace("ENTRY", "open: [6], duration: 1 ms")): (
        "shapers.sw1 -> sw2.gates.entries[0].duration: expected a key of a gate entry, found duration\n"
        "  hint: did you mean for?"
    ),
    ("", "clocks: {protocol: gptp, domain: 0, grandmaster: a}\n"): (
        "clocks.protocol: expected a key of clocks, found protocol\n"
        "  hint: write gptp: {grandmaster: node1}, or ptp: for IEEE 1588"
    ),
    ("", "clocks: {drift: 10 ppm}\n"): (
        "clocks.drift: expected a key of clocks, found drift\n"
        "  hint: write default: {drift: 20 ppm} for every node's clock"
    ),
    (
        "payload: 100 B, period: 1 ms, pcp: 6}",
        "class: sr/A, payload: 1400 B, period: 10 us}\nshapers: {all: {cbs: from-streams}}",
    ): (
        "shapers.all.cbs: expected a reservation below the port's 1 Gbit/s, "
        "found 1.176 Gbit/s for class 3, the rate of x\n"
        "  hint: a class cannot reserve the whole link rate: send less"
    ),
}  # fmt: skip


def messages(text: str) -> list[str]:
    """The messages about a text, without their places."""
    found, _ = checked_scenarios(text, "cell.yaml")
    return [
        f"{one['path']}: expected {one['expected']}, found {one['found']}"
        + (f"\n  hint: {one['hint']}" if one["hint"] else "")
        for one in found["problems"]
    ]


def test_the_text_is_correct() -> None:
    assert messages(TEXT) == []


@pytest.mark.parametrize(("change", "said"), SLIPS.items(), ids=lambda one: str(one[1])[:30] if one else "")
def test_a_slip_has_one_message(change: tuple[str, str], said: str) -> None:
    wrong, right = change
    assert wrong in TEXT
    assert messages(TEXT.replace(wrong, right, 1) if wrong else TEXT + right) == [said]


def test_a_node_may_have_the_name_of_a_key_of_other_tools() -> None:
    text = TEXT.replace("[a, b]", "[a, b, domain]")
    text = text.replace("[a - sw1,", "[a - sw1, domain - sw1,")
    assert messages(f"{text}clocks: {{domain: {{drift: 10 ppm}}}}\n") == []


def test_preemption_without_a_preemptable_frame_is_a_warning() -> None:
    def warned(pcps: str) -> list[tuple[str, str]]:
        text = f"{TEXT}shapers: {{sw1 -> sw2: {{preemption: {{express: {pcps}}}}}}}\n"
        answer, _ = checked_scenarios(text, "cell.yaml")
        assert answer["ok"]
        return [(one["kind"], one["text"]) for one in answer["warnings"]]

    assert warned("all") == [("all-express", "all PCPs are express, so no frame is interrupted")]
    assert warned("[7, 6, 5, 4, 3, 2, 1]") == []


def test_a_fault_behind_the_last_release_is_a_warning() -> None:
    def warned(at: str) -> list[tuple[str, str, str]]:
        answer, _ = checked_scenarios(f"{TEXT}faults: [{{down: sw1 -- sw2, at: {at}}}]\n", "cell.yaml")
        return [(one["kind"], one["place"], one["hint"]) for one in answer["warnings"]]

    assert warned("9999 us") == []
    assert warned("10 ms") == [
        ("late-fault", "cell.yaml:9:33", "write a time before 10 ms, or a longer duration")
    ]


def test_numbers_without_a_unit_are_valid_beside_words_and_zero() -> None:
    assert messages(TEXT.replace("pcp: 6", "pcp: 6, offset: [0 us, 1 us]")) == []
    assert messages(TEXT.replace("pcp: 6", "pcp: [5, 6]")) == []


TABLES = {
    # Header and rows: each message.
    "name,from,to,payload,period,pcp\nx,a,b,100,1 ms,6\ny,a,b,200,1 ms,6\nz,a,b,300,1 ms,6\n": [
        "s.csv:1:4: payload: expected a unit in the header, found 3 numbers without one, such as 100\n"
        "  hint: write payload (B)"
    ],
    "Name,From,To,Payload (B),Period (us),PCP\nx,a,b,100,500,6\n": [
        "s.csv:1:1: expected headers in small letters, found Name, From, To, Payload, Period\n"
        "  hint: write name, from, to, payload, period, …"
    ],
    "name,from,to,payload (B),period (us),pcp\nx,a,b,100,500,6\ny,a,b,100,500,6\nx,a,b,100,500,5\n": [
        "s.csv:4:1: streams.x: expected each key once, found x again\n  hint: x is already in row 2 of s.csv"
    ],
}


@pytest.mark.parametrize(("rows", "said"), TABLES.items(), ids=["units", "capitals", "twice"])
def test_a_slip_of_a_table_has_one_message(rows: str, said: list[str], tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(rows)
    scenario = tmp_path / "cell.yaml"
    scenario.write_text(TEXT.partition("streams:")[0] + "streams: {table: s.csv}\n")
    with pytest.raises(ScenarioErrors) as raised:
        load_variants(scenario)
    assert [str(one).replace(f"{tmp_path}/", "") for one in raised.value.problems] == said
