"""The nodes and links that a text writes itself, with their places; the others are made by generators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsnbench.editing.edits import KINDS
from tsnbench.scenario.build.network import splits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsnbench.editing.spans import Span


def written_nodes(network: Span | None) -> dict[str, Span]:
    """Every written node, with the place of its name; ``network``: the mapping of this key."""
    found: dict[str, Span] = {}
    if network is None or network.kind != "mapping":
        return found
    for key, value in network.items:
        assert key is not None
        kind, _, name = key.text.partition(" ")
        if kind in KINDS and name:
            found[name.strip()] = key
        elif key.text in KINDS.values():
            if value.kind == "scalar":
                found[value.text] = value
            for own, item in value.items:
                one = own or item
                found[one.text] = one
    return found


def written_links(network: Span | None, nodes: Sequence[str]) -> dict[frozenset[str], Span]:
    """Every written link by its two nodes, with its place; ``nodes``: all nodes of the network.

    A name may have hyphens: a pair is split as a scenario is read, where both sides are known names.
    """
    ends = ends_of_line(network, nodes)
    known = {*nodes, *ends}
    links = network.get("links") if network else None
    found: dict[frozenset[str], Span] = {}
    for path, one, is_key in links.walk() if links else ():
        if is_key or (path and path[-1] != "between"):
            continue
        for a, b in splits(one.text, known.__contains__):
            if a in known and b in known:
                found.setdefault(frozenset((ends.get(a, a), ends.get(b, b))), one)
    return found


def ends_of_line(network: Span | None, nodes: Sequence[str]) -> dict[str, str]:
    """The nodes that ``first`` and ``last`` name: those of a generated line."""
    line = network.get("line") if network else None
    if line is None:
        return {}
    # The generator names its nodes so: prefix and number, and without a prefix, kind and number.
    named = line.get("prefix") or line.get("kind")
    prefix = named.text if named else "bridge"
    own = [name for name in nodes if name.startswith(prefix) and name[len(prefix) :].isdecimal()]
    ends = {"first": own[0], "last": own[-1]} if own else {}
    return {alias: node for alias, node in ends.items() if alias not in nodes}
