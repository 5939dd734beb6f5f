"""The network, its streams' routes, and the load of each link in each direction."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tsnbench.quantities import share
from tsnbench.report.figures.style import (
    COLOURS,
    DASHES,
    GRID,
    INK,
    PAPER,
    AnyFigure,
    Drawing,
    Size,
    arrow,
    whole_of,
)
from tsnbench.report.formatting import shortened
from tsnbench.report.layout import place
from tsnbench.report.parts.ports import Load

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tsnbench.plan.types import PlanDocument

NAME = "topology"
MOST_ROUTES = 6
MOST_NAMED = 30
"""With more nodes the names would overlap."""
SHAPES = {
    "station": "round,pad=0.45,rounding_size=0.9",
    "bridge": "square,pad=0.45",
    "host": "round,pad=0.45",
}
LANE = 0.045
"""Inches between routes that share a link."""

Point = tuple[float, float]


def topology(plan: PlanDocument, loads: Sequence[Load]) -> Drawing:
    """Nodes at distances that resemble their hops; parallel links are one line with a number."""
    links = _links(plan)
    routes = _routes(plan)
    drawn = list(routes.items())[:MOST_ROUTES] if len(routes) <= MOST_ROUTES else []
    share = {load.number: load.total for load in loads}

    plain = len(plan["nodes"]) > MOST_NAMED

    def draw(size: Size) -> AnyFigure:
        below = 0.04 + 0.024 * size.letters * len(drawn)
        at, _, height = _inches(place(len(plan["nodes"]), list(links)), size, below)
        figure, axes = whole_of(size, height)
        for (a, b), ports in links.items():
            ends = tuple(zip(at[a], at[b], strict=True))
            axes.plot(*ends, color=GRID, linewidth=3 if plain else 7, solid_capstyle="round", zorder=1)
            if plain:
                load = max(share.get(port, 0.0) for port in ports)
                axes.plot(*ends, color=COLOURS[0], linewidth=6 * load, solid_capstyle="butt", zorder=2)
            elif len(ports) > 2:
                count = f"{len(ports) // 2} links"
                box = {"boxstyle": "round,pad=0.15", "facecolor": PAPER, "edgecolor": GRID}
                axes.text(*_between(at[a], at[b], 0.5), count, ha="center", va="center", zorder=6, bbox=box)
        lanes = _lanes(plan, [ports_of for ports_of, _ in drawn])
        for (number, link), lane in lanes.items():
            _route(axes, at, link, drawn[number][0], plan, number, lane)
        if plain:
            _dots(axes, plan, at)
        else:
            for (a, b), values in _by_direction(plan, share).items():
                _load(axes, at[a], at[b], values, sum(link == _link(a, b) for _, link in lanes))
            _names(axes, plan, at)
        _key(axes, [label for _, label in drawn], below, size)
        return figure

    return Drawing(
        NAME,
        "Network, routes and loads",
        _caption(plan, len(routes), bool(drawn), bool(share), plain),
        "; ".join(f"{label}: " + ", ".join(plan["ports"][p]["name"] for p in ports) for ports, label in drawn)
        + ". Loads: "
        + ", ".join(f"{plan['ports'][n]['name']} {load:.1%}" for n, load in share.items()),
        draw,
        lambda: (
            {
                "from": plan["nodes"][port["node"]]["name"],
                "to": plan["nodes"][plan["ports"][port["peer"]]["node"]]["name"],
                "load_share": share.get(number),
            }
            for number, port in enumerate(plan["ports"])
        ),
        wide=True,
        light=True,
    )


def _caption(plan: PlanDocument, routes: int, drawn: bool, loads: bool, plain: bool) -> str:
    kinds = {node["kind"] for node in plan["nodes"]}
    words = []
    if {"bridge", "station"} <= kinds:
        words.append("Squares: bridges; round: stations.")
    if drawn:
        words.append("Coloured lines: routes, arrows point to the listener.")
    elif routes:
        words.append(f"{routes} different routes are too many to draw.")
    if loads and plain:
        words.append("The wider a blue line, the higher the load of its link (of the direction with more).")
    elif loads:
        words.append("Numbers: load of the link in the direction away from the node beside it.")
    return " ".join(words)


def _by_direction(plan: PlanDocument, share: Mapping[int, float]) -> dict[tuple[int, int], list[float]]:
    """(from node, to node) -> the loads of the links that lead there."""
    found: dict[tuple[int, int], list[float]] = {}
    for number, load in share.items():
        found.setdefault(_ends(plan, number), []).append(load)
    return found


def _names(axes: Axes, plan: PlanDocument, at: Sequence[Point]) -> None:
    for node, where in zip(plan["nodes"], at, strict=True):
        box = {"boxstyle": SHAPES.get(node["kind"], SHAPES["host"]), "facecolor": PAPER, "edgecolor": INK}
        axes.text(*where, shortened(node["name"], 16), ha="center", va="center", zorder=5, bbox=box)


def _dots(axes: Axes, plan: PlanDocument, at: Sequence[Point]) -> None:
    for node, where in zip(plan["nodes"], at, strict=True):
        shape = "s" if node["kind"] == "bridge" else "o"
        axes.plot(*where, shape, color=PAPER, markeredgecolor=INK, markersize=6, zorder=5)


def _links(plan: PlanDocument) -> dict[tuple[int, int], list[int]]:
    """Pairs of nodes, each with the ports of all links between them."""
    found: dict[tuple[int, int], list[int]] = {}
    for number in range(len(plan["ports"])):
        found.setdefault(_link(*_ends(plan, number)), []).append(number)
    return found


def _ends(plan: PlanDocument, number: int) -> tuple[int, int]:
    """The nodes from which and to which a port sends."""
    port = plan["ports"][number]
    return port["node"], plan["ports"][port["peer"]]["node"]


def _link(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def _lanes(plan: PlanDocument, routes: Sequence[Sequence[int]]) -> dict[tuple[int, tuple[int, int]], float]:
    """(route, link) -> how far from the link's middle the route is drawn, in inches to the right of low
    to high."""
    users: dict[tuple[int, int], list[int]] = {}
    for number, ports in enumerate(routes):
        for own in ports:
            link = _link(*_ends(plan, own))
            if number not in users.setdefault(link, []):
                users[link].append(number)
    return {
        (number, link): (place - (len(numbers) - 1) / 2) * LANE
        for link, numbers in users.items()
        for place, number in enumerate(numbers)
    }


def _routes(plan: PlanDocument) -> dict[tuple[int, ...], str]:
    """Different paths through the network, each with the streams that take it."""
    paths = {flow["name"]: tuple(hop["port"] for hop in flow["route"]) for flow in plan["streams"]}
    of_group: dict[str, set[tuple[int, ...]]] = {}
    for flow in plan["streams"]:
        of_group.setdefault(flow["group"], set()).add(paths[flow["name"]])
    names: dict[tuple[int, ...], list[str]] = {}
    for flow in plan["streams"]:
        own = names.setdefault(paths[flow["name"]], [])
        name = flow["group"] if len(of_group[flow["group"]]) == 1 else flow["name"]
        if name not in own:
            own.append(name)
    return {ports: shortened(", ".join(found), 60) for ports, found in names.items()}


def _inches(at: Sequence[Point], size: Size, key: float) -> tuple[list[Point], float, float]:
    """Coordinates in inches, and the figure that contains them above a key of height ``key``."""
    margin_x, margin_y = 0.55, 0.32
    xs, ys = [x for x, _ in at], [y for _, y in at]
    wide, tall = max(xs) - min(xs) or 1.0, max(ys) - min(ys)
    scale = min((size.width - 2 * margin_x) / wide, (0.62 * size.width - 2 * margin_y) / max(tall, 1e-6), 2.2)
    height = max(tall * scale + 2 * margin_y, 1.0)
    shift_x = (size.width - wide * scale) / 2
    placed = [
        (shift_x + (x - min(xs)) * scale, key + height / 2 + (y - (max(ys) + min(ys)) / 2) * scale)
        for x, y in at
    ]
    return placed, size.width, height + key


def _between(a: Point, b: Point, share: float, aside: float = 0.0) -> Point:
    """A point on the way from a to b, ``aside`` inches to the right of it."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    length = math.hypot(dx, dy) or 1.0
    return a[0] + dx * share + dy / length * aside, a[1] + dy * share - dx / length * aside


def _route(
    axes: Axes,
    at: Sequence[Point],
    link: tuple[int, int],
    ports: Sequence[int],
    plan: PlanDocument,
    number: int,
    lane: float,
) -> None:
    """One route on one link, with an arrow for each direction in which it uses the link."""
    colour, dashes = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
    for own in ports:
        a, b = _ends(plan, own)
        if _link(a, b) != link:
            continue
        aside = lane if a < b else -lane
        start, end = _between(at[a], at[b], 0.0, aside), _between(at[a], at[b], 1.0, aside)
        axes.plot(*zip(start, end, strict=True), color=colour, linestyle=dashes, linewidth=1.5, zorder=2)
        share = 0.5 + 0.03 * (number % 5)
        arrow(axes, _between(start, end, share), _between(start, end, share + 0.03), colour)


def _load(axes: Axes, a: Point, b: Point, loads: Sequence[float], routes: int) -> None:
    length = math.hypot(b[0] - a[0], b[1] - a[1]) or 1.0
    where = _between(a, b, min(0.42, 0.52 / length), 0.16 + routes * LANE / 2)
    axes.text(
        *where,
        ", ".join(share(load) for load in loads),
        ha="center",
        va="center",
        fontsize="small",
        fontweight="bold" if max(loads) > 0.9 else "normal",
        zorder=4,
        bbox={"boxstyle": "round,pad=0.1", "facecolor": PAPER, "edgecolor": "none", "alpha": 0.85},
    )


def _key(axes: Axes, labels: Sequence[str], height: float, size: Size) -> None:
    """The key of routes, under the drawing."""
    for n, label in enumerate(labels):
        y = height - (n + 0.6) * 0.024 * size.letters
        style = {"color": COLOURS[n % len(COLOURS)], "linestyle": DASHES[n % len(DASHES)], "linewidth": 1.5}
        axes.plot([0.1, 0.1 + 0.033 * size.letters], [y, y], **style)
        axes.text(0.1 + 0.043 * size.letters, y, label, va="center", fontsize=size.letters - 0.5)
