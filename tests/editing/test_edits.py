"""Edits of the drawing: small changes of the text that keep everything else as it is."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

import pytest

from tsnbench.editing.edits import Edit, add_link, add_node, add_stream, move_edge, remove, rename
from tsnbench.editing.fixes import fixes, words_at
from tsnbench.editing.problems import checked
from tsnbench.editing.requests import made
from tsnbench.editing.spans import EditError, Span, characters_of, spans, units_of
from tsnbench.scenario.loader import read_scenario

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
SMALL = sorted(path for folder in ("tutorial", "twin") for path in (SCENARIOS / folder).glob("*.yaml"))
ALL = sorted(path for path in SCENARIOS.rglob("*.yaml") if path.name != "lab.yaml")
IN_A_PARAMETER = "the text has no mapping of streams"


def tree(value: Span) -> object:
    """Keys and values without places."""
    if value.kind == "scalar":
        return value.text
    if value.kind == "mapping":
        return {key.text: tree(one) for key, one in value.items if key}
    return [tree(one) for _, one in value.items]


def unless(reason: str, wanted: Callable[[], Edit]) -> Edit | None:
    """The edit; None if it is refused for this reason."""
    try:
        return wanted()
    except EditError as error:
        if reason in str(error):
            return None
        raise


def changed_lines(before: str, after: str) -> int:
    found = difflib.SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
    return sum(max(b - a, d - c) for tag, a, b, c, d in found.get_opcodes() if tag != "equal")


def comments(text: str) -> list[str]:
    return [line[line.index("#") :] for line in text.split("\n") if "#" in line]


def flat(value: object, path: tuple[str, ...] = ()) -> set[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict) and value:
        return {one for key, own in value.items() for one in flat(own, (*path, key))}
    if isinstance(value, list):
        return {one for own in value for one in flat(own, (*path, "[]"))}
    return {(path, str(value))}


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_an_added_entry_is_one_line_and_nothing_else_changes(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    edits = [
        lambda: add_node(text, "station", "newcomer"),
        lambda: add_link(text, "newcomer", "other"),
        lambda: add_stream(text, "fresh", "newcomer", "other"),
    ]
    for wanted in edits:
        # The streams of some papers are parameters of a sweep: the message says so.
        edit = unless(IN_A_PARAMETER, wanted)
        if edit is None:
            continue
        after = edit.applied(text)
        assert changed_lines(text, after) == 1
        assert comments(text) == comments(after)
        was, now = flat(tree(spans(text))), flat(tree(spans(after)))
        # A scalar such as `between: n2 -- n3` becomes a list.
        assert all(entry in now or (entry[0] + ("[]",), entry[1]) in now for entry in was)
        assert 0 < len(now) - len(was) <= 5


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_a_new_station_with_a_link_and_a_stream_has_no_problems(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    nodes = read_scenario(text, str(path))[0].network.nodes
    bridge = next(str(name) for name, node in nodes.items() if node.kind != "station")
    end = next(str(name) for name, node in nodes.items() if node.kind != "bridge")
    text = add_node(text, "station", "newcomer").applied(text)
    # In prp.yaml two networks are separate, so the newcomer is linked with the node that it sends to.
    text = add_link(text, "newcomer", bridge if path.stem != "prp" else "lan-a").applied(text)
    text = add_stream(text, "fresh", "newcomer", end).applied(text)
    assert checked(text, str(path))["problems"] == []


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_a_renamed_node_is_the_same_scenario_but_for_its_name(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    nodes = [str(name) for name in read_scenario(text, str(path))[0].network.nodes]
    for name in (nodes[0], nodes[-1]):
        edit = unless("a generator makes", lambda name=name: rename(text, str(path), name, "renamed"))
        if edit is None:
            continue
        after = edit.applied(text)
        made_nodes = [str(one) for one in read_scenario(after, str(path))[0].network.nodes]
        assert made_nodes == ["renamed" if one == name else one for one in nodes]
        # The names of streams, comments and everything else stay.
        streams = [list(read_scenario(one, str(path))[0].streams) for one in (text, after)]
        assert streams[0] == streams[1]
        assert comments(text) == comments(after)
        back = rename(after, str(path), "renamed", name).applied(after)
        assert back == text


BLOCK = """\
name: block
duration: 10 ms
network:
  stations:
    - one   # the first
    - two
  bridges: {b: {}}
  links:
    - {rate: 1 Gbit/s, between: [one -- b]}   # left
    - {rate: 1 Gbit/s, between: two -- b}
streams:
  cam: {from: one, to: two, pcp: 5, period: 1 ms, payload: 100 B}   # stays

  one: {from: two, to: one, pcp: 5, period: 1 ms, payload: 100 B}
"""


def test_block_style_stays_block_style() -> None:
    assert "    - two\n    - three\n" in add_node(BLOCK, "station", "three").applied(BLOCK)
    assert "bridges: {b: {}, c: {}}" in add_node(BLOCK, "bridge", "c").applied(BLOCK)
    assert "  host h: {}\n" not in BLOCK
    assert "payload: 100 B}\n" in add_stream(BLOCK, "new", "one", "two").applied(BLOCK)
    assert "between: [two -- b, one -- two]}" in add_link(BLOCK, "one", "two").applied(BLOCK)
    hosts = add_node(BLOCK, "host", "h").applied(BLOCK)
    assert "\n  host h: {}\nstreams:" in hosts


def test_a_stream_with_the_name_of_a_node_keeps_it() -> None:
    after = rename(BLOCK, "x.yaml", "one", "first-node").applied(BLOCK)
    assert "  one: {from: two, to: first-node," in after
    assert "- first-node   # the first" in after


def test_entries_are_removed_with_their_lines_or_commas() -> None:
    after = remove(BLOCK, BLOCK.index("cam:")).applied(BLOCK)
    assert after == BLOCK.replace(
        "  cam: {from: one, to: two, pcp: 5, period: 1 ms, payload: 100 B}   # stays\n", ""
    )
    after = remove(BLOCK, BLOCK.index("one   #")).applied(BLOCK)
    assert after == BLOCK.replace("    - one   # the first\n", "")
    flow = BLOCK.replace("between: two -- b", "between: [two -- b, one -- two, b -- c]")
    for pair, rest in (
        ("two -- b", "one -- two, b -- c"),
        ("one -- two", "two -- b, b -- c"),
        ("b -- c", "two -- b, one -- two"),
    ):
        after = remove(flow, flow.index(pair)).applied(flow)
        assert f"between: [{rest}]" in after
    with pytest.raises(EditError, match="only entry"):
        remove("streams:\n  a: {}\nx: 1\n", len("streams:\n  "))
    with pytest.raises(EditError, match="generator"):
        remove(BLOCK, 3)


GATES = """\
shapers:
  a -> b: {gates: {cycle: 250 us, entries: [{open: [6], for: 40 us}, {open: [0], for: 0.21ms}]}}
"""


@pytest.mark.parametrize(
    ("by_ns", "words"),
    [
        (5_000, "for: 45 us}, {open: [0], for: 0.205ms}"),
        (-39_999, "for: 0.001 us}, {open: [0], for: 249999 ns}"),
        (500, "for: 40.5 us}, {open: [0], for: 209500 ns}"),
    ],
)
def test_an_edge_moves_and_the_cycle_stays(by_ns: int, words: str) -> None:
    edit = move_edge(GATES, GATES.index("40 us"), by_ns)
    assert words in edit.applied(GATES)


@pytest.mark.parametrize("by_ns", [-40_000, 210_000, 10**9])
def test_an_entry_keeps_a_length(by_ns: int) -> None:
    with pytest.raises(EditError, match="length"):
        move_edge(GATES, GATES.index("40 us"), by_ns)


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"edit": "add-node", "kind": "router", "name": "x"},
        {"edit": "add-node", "kind": "host", "name": "a b"},
        {"edit": "add-link", "a": "one", "b": "one"},
        {"edit": "rename", "from": "nobody", "to": "x"},
        {"edit": "rename", "from": "one", "to": "two"},
        {"edit": "rename", "from": "one"},
        {"edit": "add-stream", "name": "cam", "from": "one", "to": "two"},
        {"edit": "remove", "at": True},
        {"edit": "move-edge", "at": 0, "by_ns": "5"},
    ],
)
def test_what_cannot_be_edited_is_refused(wanted: dict[str, object]) -> None:
    with pytest.raises(EditError):
        made(BLOCK, "x.yaml", wanted)


def test_offsets_of_a_page_count_utf16_units() -> None:
    text = "# 🚗 ä\nname: x\n"
    at = text.index("name")
    assert units_of(text)(at) == at + 1
    assert characters_of(text, at + 1) == at
    assert Edit(at, at + 4, "NAME").applied(text) == "# 🚗 ä\nNAME: x\n"


SHORT = """\
name: short
duration: 10 ms
network:
  stations: [one, two]
  links: {rate: 1 Gbit/s, between: [one -- two]}
streams:
  cam: {from: one, to: tow, pcp: 5, period: 500, payload: 100 B}
"""


@pytest.mark.parametrize(
    ("word", "hint", "offers"),
    [
        ("tow", "did you mean two?", ["two"]),
        ("500", "write 500us", ["500us"]),
        ("500", "write 500 or nothing", []),
        # A hint that does not mend the mistake is not offered.
        ("tow", "did you mean three?", []),
        ("500", "write 5B or 5us", ["5us"]),
    ],
)
def test_only_hints_that_mend_a_mistake_are_offered(word: str, hint: str, offers: list[str]) -> None:
    line = SHORT.split("\n").index(next(one for one in SHORT.split("\n") if word in one))
    column = SHORT.split("\n")[line].index(word)
    words = words_at(SHORT.split("\n"), line, column)
    assert (words.column, words.end) == (column, column + len(word))
    assert fixes(SHORT, "x.yaml", words, hint) == offers
