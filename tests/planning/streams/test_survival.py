"""The failures that a stream has to survive: links and nodes of its paths, by name or by a word."""

from __future__ import annotations

from typing import Any

import pytest

from support.planned import document_of, refusal_text

LADDER = """\
name: ladder
duration: 10 ms
network:
  stations: [a, c]
  bridges: [b1, b2, b3, b4]
  links: {{rate: 1 Gbit/s, between: [a -- b1, b1 -- b2, b2 -- b3, b1 -- b4, b4 -- b3, b3 -- c, b2 -- b4]}}
streams:
  s: {{from: a, to: c, period: 1 ms, payload: 100 B, frer: {{}}, requires: {{survives: {required}}}}}
"""
LINKS = ["a -- b1", "b1 -- b2", "b1 -- b4", "b2 -- b3", "b3 -- c", "b4 -- b3"]
NODES = ["b1", "b2", "b3", "b4"]
BETWEEN = LINKS[1:4] + LINKS[5:]


@pytest.mark.parametrize(
    ("required", "failures", "links", "nodes"),
    [
        ("1", 1, LINKS, NODES),
        ("{any: 2}", 2, LINKS, NODES),
        ("{any: 2, of: [links]}", 2, LINKS, []),
        ("{of: [nodes]}", 1, [], NODES),
        ("{of: [bridge-links, b4]}", 1, BETWEEN, ["b4"]),
        # What no frame of the stream passes takes none, nor do its talker and its listener.
        ("{of: [b3 -- b2, b2 -- b4, b2 -> b1, a, b2]}", 1, ["b1 -- b2", "b2 -- b3"], ["b2"]),
        ("{of: [a -- b1, bridge-links]}", 1, LINKS[:1] + BETWEEN, []),
        ("{of: [b1 -> *]}", 1, ["a -- b1", "b1 -- b2", "b1 -- b4"], []),
    ],
)
def test_what_may_fail(required: str, failures: int, links: list[str], nodes: list[str]) -> None:
    document: Any = document_of(LADDER.format(required=required))
    (found,) = document["streams"][0]["requirements"]["survives"]
    ports, all_nodes = document["ports"], document["nodes"]
    assert found["failures"] == failures
    assert sorted(ports[port]["name"].replace("->", "--") for port in found.get("links", ())) == links
    assert [all_nodes[node]["name"] for node in found.get("nodes", ())] == nodes


def test_several_kinds_of_failures() -> None:
    """Each kind has parts of its own, and a number of failures that no other one has."""
    required = "[{any: 1, of: [nodes]}, {any: 2, of: [bridge-links]}]"
    document: Any = document_of(LADDER.format(required=required))
    one, two = document["streams"][0]["requirements"]["survives"]
    assert (one["failures"], len(one["nodes"]), "links" in one) == (1, len(NODES), False)
    assert (two["failures"], len(two["links"]), "nodes" in two) == (2, len(BETWEEN), False)
    said = refusal_text(LADDER.format(required="[2, 1, {of: [nodes]}]"))
    assert "expected each number of failures once, found any: 1 again" in said
    assert "streams.s.requires.survives.of: expected" in refusal_text(
        LADDER.format(required="{of: [b1 -> a9]}")
    )
