"""The changes that give a device the requested configuration, and their reversal.

RFC 6241, 7.2 (operations of `edit-config`).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from tsnbench.deploy.tree import Node, Path
from tsnbench.exports.scenario_text import one_line
from tsnbench.yang import xml

OWNED = {
    "traffic-class",
    "transmission-selection-algorithm-table",
    "priority-regeneration",
    "gate-parameter-table",
    "frame-preemption-parameters",
    "cbsa",
    "filtering-database",
    "bridge-vlan",
    "stream-gates",
    "stream-filters",
    "flow-meters",
    "stream-identity",
    "frer",
}
"""Tables that are the Plan's as a whole: what else a device has in them goes."""
PARENTS = {"bridge-port", "component", "config"}
"""Tables that are removed if the Plan has none."""
ACTIONS = {"config-change"}
"""Leaves that make a device act: their later values depend on the device."""
BASE_TIME, CYCLE_TIME = "admin-base-time", "admin-cycle-time"
"""Of a list of gates. Base times that differ by whole cycles are those of one schedule."""
LIMITS = {"supported-list-max", "supported-cycle-max", "supported-interval-max"}
"""Capabilities of a device. They are raised where the Plan needs more, and never lowered."""


@dataclass(frozen=True)
class Change:
    """One place of a device's configuration with its present and its requested content; None: no content."""

    path: Path
    before: Node | None
    after: Node | None

    def back(self) -> Change:
        return Change(self.path, self.after, self.before)

    def __str__(self) -> str:
        where = words(self.path)
        if self.after is None:
            return f"remove {where}"
        if not self.after.children and self.after.text:
            was = f" (was {one_line(self.before.value)})" if self.before else ""
            return f"set {where} to {one_line(self.after.value)}{was}"
        return f"{'replace' if self.before else 'create'} {where}"


def words(path: Path) -> str:
    """The path in a short form for messages."""
    return "/".join(
        name + "".join(f"[{one_line(value)}]" for _, value in keys)
        for _, name, keys in path
        if name != "config"
    )


@dataclass(frozen=True)
class Has:
    """A device's configuration, as reported and with the defaults that the device fills in."""

    told: Node
    full: Node
    explicit: bool = True
    """Whether the reported configuration leaves defaults out."""


def changes(meant: Node, has: Has) -> list[Change]:
    """The necessary changes; none if the device has the requested configuration."""
    found: list[Change] = []
    _walk(meant, has.told, has.full, has.explicit, (), found)
    return found


def same(path: Path, wanted: Node | None, has: Has) -> bool:
    """Whether a device has this content at a place."""
    told, full = has.told.at(path), has.full.at(path)
    if wanted is None:
        return told is None or not _content(told)
    return _equal(wanted, told, full, has.explicit)


def edit(wanted: Iterable[Change], remove: str = "remove") -> str:
    """The element `config` of an `edit-config` that makes the changes.

    It declares the prefixes of identities. libxml2 drops a declaration further down if its namespace is the
    default one there, although an identity in a text needs it.
    """
    root = Node(xml.BASE, "config")
    operations: dict[int, str] = {}
    for change in wanted:
        here = root
        for step in change.path[:-1]:
            below = here.find(step)
            if below is None:
                below = _bare(step)
                here.children.append(below)
            here = below
        last = copy.deepcopy(change.after) or _bare(change.path[-1])
        operations[id(last)] = "replace" if change.after else remove
        here.children.append(last)
    lines: list[str] = []
    _write(root, "", operations, lines)
    used = {prefix: space for space, prefix in xml.PREFIXES.items() if space in root.namespaces()}
    declared = "".join(f' xmlns:{prefix}="{space}"' for prefix, space in used.items())
    lines[0] = lines[0].replace(f"<{root.name}", f"<{root.name}{declared}", 1)
    return "\n".join(lines)


def _write(node: Node, outer: str, operations: dict[int, str], lines: list[str]) -> None:
    if id(node) in operations:
        lines += node.lines(outer, operations[id(node)])
        return
    if not node.children:
        lines += node.lines(outer)
        return
    own = "" if node.namespace == outer else f' xmlns="{node.namespace}"'
    lines.append(f"<{node.name}{own}>")
    for child in node.children:
        _write(child, node.namespace, operations, lines)
    lines.append(f"</{node.name}>")


def _bare(step: tuple[str, str, tuple[tuple[str, str], ...]]) -> Node:
    namespace, name, keys = step
    if keys and keys[0][0] == ".":
        return Node(namespace, name, keys[0][1])
    return Node(namespace, name, children=[Node(namespace, key, value) for key, value in keys])


def _walk(
    meant: Node, told: Node | None, full: Node | None, explicit: bool, path: Path, found: list[Change]
) -> None:
    keys = dict(meant.step[2])
    if keys and told is None and full is None:
        found.append(Change(path, None, meant))
        return
    for child in meant.children:
        if child.name in keys and not child.children:
            continue
        step = child.step
        below = told.find(step) if told else None
        filled = full.find(step) if full else None
        if child.name in OWNED:
            child = _raised(child, filled or below)
            # Of a container with nothing in it, devices tell their defaults, or leave it out.
            nothing = not _content(child) and (below is None or not _content(below))
            if not nothing and not _equal(child, below, filled, explicit):
                found.append(Change((*path, step), below, child))
        elif child.children:
            _walk(child, below, filled, explicit, (*path, step), found)
        elif not _equal(child, below, filled, explicit):
            found.append(Change((*path, step), below, child))
    if meant.name in PARENTS and told is not None:
        for child in told.children:
            if child.name in OWNED and meant.find(child.step) is None and _content(child):
                found.append(Change((*path, child.step), child, None))


def _content(node: Node) -> bool:
    return bool(node.text) or any(map(_content, node.children))


def _raised(meant: Node, has: Node | None) -> Node:
    """The requested configuration with the device's own limits, where these are large enough."""
    if has is None or meant.name != "gate-parameter-table":
        return meant
    own = copy.deepcopy(meant)
    for place, one in enumerate(own.children):
        other = has.find(one.step) if one.name in LIMITS else None
        if other is not None and _limit(other) >= _limit(one):
            own.children[place] = other
    return own


def _limit(node: Node) -> Fraction:
    try:
        if not node.children:
            return Fraction(node.text)
        parts = {one.name: int(one.text) for one in node.children}
        return Fraction(parts["numerator"], parts["denominator"])
    except (ValueError, KeyError, ZeroDivisionError):
        return Fraction(-1)


def _equal(meant: Node, told: Node | None, full: Node | None, explicit: bool) -> bool:
    has = full or told
    if not meant.children:
        return has is not None and not has.children and meant.same(has)
    if has is None:
        return False
    for one in meant.children:
        if one.name in ACTIONS:
            continue
        step = one.step
        below, filled = told.find(step) if told else None, full.find(step) if full else None
        if one.name == BASE_TIME and _same_phase(meant, one, filled or below):
            continue
        if not _equal(one, below, filled, explicit):
            return False
    if told is None:
        return True
    for one in told.children:
        if one.name in ACTIONS or not _content(one) or meant.find(one.step) is not None:
            continue
        if one.children or explicit:
            return False
    return True


def _same_phase(gates: Node, meant: Node, has: Node | None) -> bool:
    """Whether two base times of a list are whole cycles apart."""
    cycle = next((one for one in gates.children if one.name == CYCLE_TIME), None)
    found = base_ns(has) if has else None
    wanted = base_ns(meant)
    if cycle is None or found is None or wanted is None:
        return False
    length = _limit(cycle) * 10**9
    return length > 0 and (found - wanted) % length == 0


def base_ns(node: Node) -> int | None:
    """The time of a container with seconds and nanoseconds; None if it has none."""
    parts = {one.name: one.text for one in node.children}
    try:
        return int(parts["seconds"]) * 10**9 + int(parts["nanoseconds"])
    except (KeyError, ValueError):
        return None
