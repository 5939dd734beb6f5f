"""Selectors of ports: ``a -> b``, ``a -> all``, ``all -> b``, ``all``, ``a -> b#2``.

``*`` means the same as ``all`` but needs quotes in YAML; ``#`` must touch its node, otherwise YAML reads a
comment.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tsnbench.scenario.text.reading import Named

if TYPE_CHECKING:
    from tsnbench.scenario.build.network import Net

_EVERY = ("all", "*")
_NUMBERED = re.compile(r"(.*?)\s*#\s*([0-9]{1,5})")


def selector(net: Net, text: Named) -> str | None:
    """The selector in the model's form; reports a mistake if it selects no port, or is ambiguous."""
    problem = net.reading.problem
    if text in _EVERY:
        return "*"
    sides = [side.strip() for side in text.split("->")]
    if len(sides) != 2 or not all(sides):
        expected = "a port: node1 -> node2, node1 -> all, all -> node2 or all"
        hint = "write node1 -> node2"
        if text in net.nodes:
            hint = f"write {text} -> all for every port of {text}"
        elif "--" in text:
            hint = f"write {text.replace('--', '->')}: a port is one end of a link"
        problem(text.place, text.path, expected, text, hint)
        return None
    (a, first), (b, second) = (numbered(side) for side in sides)
    ends: list[str] = []
    for end in (a, b):
        if end in _EVERY:
            ends.append("*")
        else:
            found = net.node(Named.at(end, text.place, text.path))
            if found is None:
                return None
            ends.append(found)
    left, right = ends
    number = first if second is None else second
    if "*" in ends:
        if number is not None:
            problem(text.place, text.path, "a number only between two named nodes", text)
            return None
        return "*" if left == right else f"{left} -> {right}"
    if not net.whole:
        return None
    parallel = net.parallel(left, right)
    if parallel == 0 and not net.alone.isdisjoint(ends):
        return None  # a node without a link is a mistake that is already reported
    if parallel == 0:
        near = ", ".join(net.neighbours[left][:8]) or "nothing"
        problem(text.place, text.path, "a port of the network", text, f"{left} is linked to {near}")
        return None
    if number is None and parallel > 1:
        choices = " or ".join(f"{left} -> {right}#{n}" for n in range(1, min(parallel, 3) + 1))
        hint = f"write {choices} (no space before #: it would begin a comment)"
        problem(text.place, text.path, f"the number of one of {parallel} parallel links", text, hint)
        return None
    if number is not None and not 1 <= number <= parallel:
        expected = f"a link number from 1 to {parallel}" if parallel > 1 else "no number, there is one link"
        problem(text.place, text.path, expected, text)
        return None
    return f"{left} -> {right} #{number}" if parallel > 1 else f"{left} -> {right}"


def numbered(text: str) -> tuple[str, int | None]:
    """``dut#2`` -> (``dut``, 2); ``dut`` -> (``dut``, None)."""
    found = _NUMBERED.fullmatch(text)
    return (found[1], int(found[2])) if found else (text, None)
