"""The context of a place in an incomplete text, and the completions for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsnbench.editing.completion import Names, complete, meaning
from tsnbench.editing.context import Context, context
from tsnbench.scenario import read_scenario

TEXT = """\
# A comment: {not: this}
name: two
duration: 5 ms
network:
  bridges: {sw: {processing: 2 us}}
  stations: [one, two]
  links: {rate: 1 Gbit/s, between: [one-sw, two-sw]}
streams:
  cam: {from: one, to: two, pcp: 5, payload: 100 B, period: 500 us}
  log:
    from: one
    to: two
    pcp: 0
    saturating: true
    frame: 1522 B
shapers:
  sw -> two: {gates: {cycle: 500 us, entries: [{open: all, for: 500 us}]}}
faults:
  - down: one -- sw
    at: 1 ms
  - {loss: 1 %, on: sw -> two}
"""
NAMES = Names.of(read_scenario(TEXT))


def at(text: str) -> tuple[str, int, int]:
    """The text without its mark ``|``, and the line and column of the mark."""
    before, _, after = text.partition("|")
    line = before.count("\n")
    return before + after, line, len(before) - (before.rfind("\n") + 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("na|", Context((), False, "na")),
        ("network:\n  |", Context(("network",), False, "")),
        ("network:\n  st|", Context(("network",), False, "st")),
        ("network:\n  stations: [one, tw|", Context(("network", "stations"), True, "tw")),
        ("network: {stations: [one], li|", Context(("network",), False, "li")),
        ("network: {links: {rate: 1|", Context(("network", "links", "rate"), True, "1")),
        ("network: {links: {rate: 1 Gbit/s}, |", Context(("network",), False, "")),
        ("streams:\n  cam: {from: one, to: |", Context(("streams", "cam", "to"), True, "")),
        ("streams:\n  cam: {from: one,\n    to: [a, |", Context(("streams", "cam", "to"), True, "")),
        ("streams:\n  cam:\n    from: o|", Context(("streams", "cam", "from"), True, "o")),
        ("streams:\n  cam:\n    from: o\n  |", Context(("streams",), False, "")),
        ("streams:\n  cam:\n    from: o\n|", Context((), False, "")),
        ("streams:\n  cam: {from: a}\n  log: {fr|", Context(("streams", "log"), False, "fr")),
        ("shapers:\n  sw -> two: {c|", Context(("shapers", "sw -> two"), False, "c")),
        ("faults:\n  - down: |", Context(("faults", "down"), True, "")),
        ("faults:\n  - down: a\n    |", Context(("faults",), False, "")),
        ("faults:\n  - {loss: 1 %, on: s|", Context(("faults", "on"), True, "s")),
        ("faults: [{loss: 1 %}, {on: |", Context(("faults", "on"), True, "")),
        ("a: '{ # no'\nb: |", Context(("b",), True, "")),
        ('a: "x: {"\nb|', Context((), False, "b")),
        ("a: 1 # {\nb|", Context((), False, "b")),
        ("streams: {s: {poisson: ${load}, |", Context(("streams", "s"), False, "")),
        ("# {\n\nstreams:\n\n  # }\n  s: {|", Context(("streams", "s"), False, "")),
    ],
)
def test_the_context_of_a_place(text: str, expected: Context) -> None:
    assert context(*at(text)) == expected


def offered(text: str) -> dict[str, str]:
    return {one.text: one.kind for one in complete(*at(text), NAMES)}


def test_names_of_nodes_and_ports_are_offered_where_the_grammar_has_them() -> None:
    nodes = {"one": "name", "two": "name", "sw": "name"}
    assert offered("streams:\n  s: {from: |").items() >= nodes.items()
    assert offered("streams:\n  s: {from: one, to: [|").items() >= nodes.items()
    ports = {"one -> sw", "sw -> one", "two -> sw", "sw -> two"}
    assert set(offered("faults:\n  - loss: 1 %\n    on: |")) == ports
    assert set(offered("shapers:\n  |")) >= ports
    assert set(offered("faults: [{babble: |")) >= {"cam", "log"}
    assert set(offered("streams:\n  back: {answers: |")) >= {"cam", "log"}
    assert not {"one", "sw -> two"} & set(offered("streams:\n  s: {period: |"))


def test_keys_are_those_of_the_place() -> None:
    top = offered("|")
    assert {"network", "streams", "shapers", "faults", "duration"} <= set(top)
    assert set(top.values()) == {"key"}
    stream = offered("streams:\n  s: {|")
    assert {"from", "to", "pcp", "period", "requires", "scheduled"} <= set(stream)
    assert "network" not in stream
    assert offered("streams:\n  s: {requires: {|").keys() >= {"delay", "loss", "jitter"}
    assert "true" in offered("streams:\n  s: {saturating: |")


def test_a_key_is_explained_and_an_unknown_one_is_not() -> None:
    lines = TEXT.split("\n")
    line = next(number for number, own in enumerate(lines) if "cam:" in own)
    assert "traffic" in meaning(TEXT, line, lines[line].index("pcp")).lower() or meaning(
        TEXT, line, lines[line].index("pcp")
    )
    assert "one data unit every period" in meaning(TEXT, line, lines[line].index("period") + 2)
    assert "one data unit every period" in meaning(TEXT, line, lines[line].index("500") + 1)
    assert meaning("network: {}\nnonsense: 1\n", 1, 3) == ""


def test_no_place_of_the_first_tutorial_scenarios_raises() -> None:
    """Completion and explanation give an answer at any place of an incomplete text."""
    root = Path(__file__).parents[2] / "scenarios"
    files = [root / "tutorial/1-first-bridge.yaml", *sorted((root / "tutorial").glob("*.yaml"))[:6]]
    for file in (one for one in files if one.exists()):
        text = file.read_text(encoding="utf-8")
        for number, own in enumerate(text.split("\n")):
            for column in range(0, len(own) + 1, 7):
                complete(text, number, column, NAMES)
                meaning(text, number, column)
