"""Networks by shape: line, ring, mesh, star, grid, tree. Only names and links are generated; one rule
attaches stations.

Nodes count from 1: ``zgw1``, ``zgw2``; in a grid by row and column: ``b1.1``, ``b1.2``. Attached stations
carry the number of their node: ``station3`` at ``bridge3``; ``station3.1``, ``station3.2`` where several are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from tsnbench.scenario.kinds.combinators import Fields

MOST_NODES = 20_000


@dataclass
class Shape:
    """The result of a generator: (name, kind) of every node, and the pairs that are linked."""

    nodes: list[tuple[str, str]] = field(default_factory=list)
    pairs: list[tuple[str, str]] = field(default_factory=list)
    ends: tuple[str, str] | None = None
    """First and last node of a line."""
    problem: tuple[str, str, str, str] | None = None
    """Key, expected, found, hint."""


def line(fields: Fields) -> Shape:
    if ("nodes" in fields) == ("hops" in fields):
        found = "both" if "nodes" in fields else "neither"
        return Shape(problem=("nodes", "nodes or hops in a line", found, "write line: {hops: 7}"))
    count = fields["nodes"] if "nodes" in fields else fields["hops"] + 1
    kind, ends = fields.get("kind", "bridge"), fields.get("ends")
    prefix = fields.get("prefix", kind)
    names = [f"{prefix}{n}" for n in range(1, count + 1)]
    kinds = [ends or kind if n in (1, count) else kind for n in range(1, count + 1)]
    shape = Shape(list(zip(names, kinds, strict=True)), list(pairwise(names)))
    shape.ends = (names[0], names[-1])
    return shape


def ring(fields: Fields) -> Shape:
    names = _names(fields, fields["nodes"])
    return Shape(names, [(a[0], b[0]) for a, b in zip(names, [*names[1:], names[0]], strict=True)])


def mesh(fields: Fields) -> Shape:
    names = _names(fields, fields["nodes"])
    pairs = [(a[0], b[0]) for n, a in enumerate(names) for b in names[n + 1 :]]
    return Shape(names, pairs)


def star(fields: Fields) -> Shape:
    kind = fields.get("kind", "station")
    prefix = fields.get("prefix", kind)
    centre = fields.get("centre", "bridge")
    names = [(f"{prefix}{n}", kind) for n in range(1, fields["nodes"] + 1)]
    return Shape([(centre, "bridge"), *names], [(name, centre) for name, _ in names])


def grid(fields: Fields) -> Shape:
    rows, columns = fields["rows"], fields["columns"]
    kind = fields.get("kind", "bridge")
    prefix = fields.get("prefix", kind)
    if rows * columns > MOST_NODES:
        found = f"{rows * columns}"
        return Shape(problem=("rows", f"at most {MOST_NODES} nodes", found, "make the grid smaller"))
    shape = Shape([(f"{prefix}{r}.{c}", kind) for r in range(1, rows + 1) for c in range(1, columns + 1)])
    for r in range(1, rows + 1):
        for c in range(1, columns + 1):
            if c < columns:
                shape.pairs.append((f"{prefix}{r}.{c}", f"{prefix}{r}.{c + 1}"))
            if r < rows:
                shape.pairs.append((f"{prefix}{r}.{c}", f"{prefix}{r + 1}.{c}"))
    return shape


def tree(fields: Fields) -> Shape:
    """A tree, numbered level by level from the root, 1."""
    depth, fanout = fields["depth"], fields["fanout"]
    kind = fields.get("kind", "bridge")
    prefix = fields.get("prefix", kind)
    count = sum(fanout**level for level in range(depth + 1))
    if count > MOST_NODES:
        found = f"{count}" if count < 10**9 else "a billion or more"
        return Shape(problem=("depth", f"at most {MOST_NODES} nodes", found, "make the tree smaller"))
    inner = count - fanout**depth
    leaves = fields.get("leaves", kind)
    shape = Shape([(f"{prefix}{n}", kind if n <= inner else leaves) for n in range(1, count + 1)])
    shape.pairs = [(f"{prefix}{(n - 2) // fanout + 1}", f"{prefix}{n}") for n in range(2, count + 1)]
    return shape


def _names(fields: Fields, count: int) -> list[tuple[str, str]]:
    kind = fields.get("kind", "bridge")
    prefix = fields.get("prefix", kind)
    return [(f"{prefix}{n}", kind) for n in range(1, count + 1)]


def attach(shape: Shape, fields: Fields) -> None:
    """Attaches stations at every node that forwards."""
    each = fields.get("stations", 0)
    own = fields.get("prefix", fields.get("kind", "bridge"))
    prefix = fields.get("station-prefix", "station")
    if each * len(shape.nodes) > MOST_NODES:
        found = f"{each * len(shape.nodes)}"
        shape.problem = ("stations", f"at most {MOST_NODES} stations", found, "attach fewer stations")
        return
    for name, kind in list(shape.nodes):
        if kind == "station":
            continue
        number = name.removeprefix(own)
        for station in range(1, each + 1):
            attached = f"{prefix}{number}" if each == 1 else f"{prefix}{number}.{station}"
            shape.nodes.append((attached, "station"))
            shape.pairs.append((attached, name))


SHAPES: dict[str, Callable[[Fields], Shape]] = {
    "line": line,
    "ring": ring,
    "mesh": mesh,
    "star": star,
    "grid": grid,
    "tree": tree,
}
