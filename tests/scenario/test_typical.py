"""Mistakes that people make who know other tools: one message each, with a correction to copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsnbench.editing.problems import checked_scenarios

BASE = """\
name: example
duration: 10 ms
network:
  stations: [a, b, c]
  bridges: [sw1, sw2]
  links: {rate: 1 Gbit/s, between: [a - sw1, sw1 - sw2, sw2 - b, sw2 - c]}
streams:
  x: {from: a, to: b, payload: 100 B, period: 1 ms, pcp: 6, requires: {delay: 200 us}}
"""
WRITTEN = [
    ("10 ms", "10 msec", "a duration with a unit", "write 10ms"),
    ("duration: 10 ms", "runtime: 10 ms", "a key of a scenario", "did you mean duration?"),
    ("duration: 10 ms", "duration: 10 ms\nwarmup: 1 ms", "a key of a scenario", "did you mean measure-from?"),
    ("network:", "topology:", "a key of a scenario", "did you mean network?"),
    ("streams:", "flows:", "a key of a scenario", "did you mean streams?"),
    ("1 Gbit/s", "1Gb", "a rate with a unit", "write 1Gbit/s"),
    ("1 Gbit/s", "100M", "a rate with a unit", "write 100Mbit/s"),
    ("rate: 1 Gbit/s", "speed: 1 Gbit/s", "a key of links", "did you mean rate?"),
    ("rate: 1 Gbit/s", "rate: 1 Gbit/s, delay: 5 ns", "a key of links",
     "write cable: 100 m, which takes 5 ns per metre"),
    ("a - sw1", "a <-> sw1", "two nodes such as node1 -- node2", "a link goes both ways: write a -- sw1"),
    ("a - sw1", "[a, sw1]", "two nodes such as node1 -- node2", "write a -- sw1"),
    ("bridges: [sw1, sw2]", "bridges: sw1 sw2", "the name of a node, or a list of names", "write [sw1, sw2]"),
    ("bridges:", "switches:", "a key of the network", "did you mean bridges?"),
    ("100 B", "800 bit", "a size with a unit", "write 100 B"),
    ("100 B", "100 bytes", "a size with a unit", "write 100B"),
    ("period: 1 ms", "period: 1 kHz", "a duration with a unit", "write 1 ms"),
    ("period: 1 ms", "frequency: 1 kHz", "a key of a stream", "write the period: 1 ms for 1 kHz"),
    ("period: 1 ms", "interval: 1 ms", "a key of a stream", "did you mean period?"),
    ("period: 1 ms", "period: '{{p}}'", "a duration with a unit", "write it like 250us; units are "
     "ns, us, ms, s, min, h"),
    ("pcp: 6", "traffic-class: 6", "a key of a stream", "did you mean pcp?"),
    ("pcp: 6", "class: sr-a", "an SR class", "known: sr/A, sr/B, sr/C, sr/D, sr/BE"),
    ("from: a", "talker: a", "a key of a stream", "did you mean from?"),
    ("to: b", "to: b, c", "a key of a stream", "write to: [b, c]"),
    ("to: b", "to: b c", "a node of the network", "write [b, c]"),
    ("{delay: 200 us}", "200 us", "limits, or the name of an SR class", "write requires: {delay: 200 us}"),
    ("requires: {delay: 200 us}", "deadline: 200 us", "a key of a stream", "write requires: {delay: 200 us}"),
    ("requires: {delay: 200 us}", "loss: 1 %", "a key of a stream", "write requires: {loss: 1 %}"),
    ("{delay: 200 us}", "{latency: 200 us}", "a key of requirements", "did you mean delay?"),
]  # fmt: skip
"""What is replaced, by what, and the expected value and the hint of the message."""
PORT = "shapers: {sw1 -> sw2: "
ADDED = [
    (PORT + "{tas: {entries: [{open: 6, for: 1 ms}]}}}", "a key of a shaper", "did you mean gates?"),
    (PORT + "{gates: {entries: [[[6], 1 ms]]}}}", "a gate entry as keys and values",
     "write {open: …, for: …}"),
    (PORT + "{gates: {entries: [{open: 0x41, for: 1 ms}]}}}",
     "PCPs whose gates are open: [6, 5], all or none", "write [6, 0]"),
    (PORT + "{gates: {entries: [{open: 0b01000001, for: 1 ms}]}}}",
     "PCPs whose gates are open: [6, 5], all or none", "write [6, 0]"),
    (PORT + "{cbs: 10 Mbit/s}}",
     "from-streams, a list of SR classes, or a mapping of classes to bandwidth",
     "write {A: 100 Mbit/s, B: {idle-slope: 75 Mbit/s}}, highest class first"),
    ("policing: [{at: a -> sw1, streams: x, rate: 10 Mbit/s}]", "a key of a filter",
     "write meter: {cir: 10 Mbit/s, cbs: 2 kB}"),
    ("faults: [{on: a -> sw1, loss: 0.1}]", "a share with a unit", "write 10% or 0.1%"),
    ("clocks: {gptp: {master: a}}", "a key of gPTP", "did you mean grandmaster?"),
    ("shaper: {all: {cbs: {6: 10 Mbit/s}}}", "a key of a scenario", "did you mean shapers?"),
    ("schedule: true", "how scheduled streams are planned as keys and values",
     "write schedule: {margin: 500 ns}"),
    ("shapers: {all: {gates: [{open: [6], for: 1 ms}]}}", "one value per run",
     "write gates: {entries: [{open: …, for: …}]}"),
]  # fmt: skip
"""A section that is added, and the expected value and the hint of the message."""
TABLES = [
    ("stream,from,to,payload (B),period (us)\nq,a,b,100,100", "a key of a stream", "did you mean name?"),
    ("name,from,to,payload_b,period (us)\nq,a,b,100,100", "a key of a stream", "write payload (B)"),
    ("name,from,to,payload (B),period_us\nq,a,b,100,100", "a key of a stream", "write period (us)"),
    ("q,a,b,100,100\nr,a,b,100,100", "a header with names of columns",
     "write a first row with name and keys, such as: name, from, to"),
    ("name,from,to,payload (B),period (us)", "a row for each stream", "add rows below the header"),
    ("name,from,to,payload (B),period (us)\nq,a,b,100,0,5", "5 cells, as the header has", ""),
    ("name,from,to,payload (B),period (us)\nq,a,b,100", "5 cells, as the header has", ""),
    ("Name,From,To,Payload (B),Period (us)\nq,a,b,100,100", "headers in small letters",
     "write name, from, to, payload, period"),
]  # fmt: skip
"""The table of streams, and the expected value and the hint of the message."""


def the_one_message(text: str, file: Path) -> tuple[str, str]:
    answer, _ = checked_scenarios(text, str(file))
    (only,) = answer["problems"]
    assert only["code"].startswith("TSN")
    assert answer["warnings"] == []
    return only["expected"], only["hint"]


@pytest.mark.parametrize(("before", "after", "expected", "hint"), WRITTEN, ids=[one[1] for one in WRITTEN])
def test_a_wrong_word(before: str, after: str, expected: str, hint: str, tmp_path: Path) -> None:
    assert before in BASE
    assert the_one_message(BASE.replace(before, after, 1), tmp_path / "s.yaml") == (expected, hint)


@pytest.mark.parametrize(("added", "expected", "hint"), ADDED, ids=[one[0] for one in ADDED])
def test_a_wrong_section(added: str, expected: str, hint: str, tmp_path: Path) -> None:
    assert the_one_message(f"{BASE}{added}\n", tmp_path / "s.yaml") == (expected, hint)


@pytest.mark.parametrize(("table", "expected", "hint"), TABLES, ids=[one[0].split("\n")[0] for one in TABLES])
def test_a_wrong_table(table: str, expected: str, hint: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"{table}\n", encoding="utf-8")
    text = f"{BASE[: BASE.index('  x:')]}  table: t.csv\n"
    assert the_one_message(text, tmp_path / "s.yaml") == (expected, hint)


def test_there_are_enough() -> None:
    assert len(WRITTEN) + len(ADDED) + len(TABLES) >= 40
