"""The scenario of a drawn network: roles of nodes are proposed and told, and one stream is an example."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from tsnbench.errors import ContentError
from tsnbench.exports import scenario_text
from tsnbench.exports.lists.drawings.drawing import BRIDGES, STATIONS, Drawing, Node
from tsnbench.exports.scenario_text import Notes, flow, folded, one_line, rate, valid_name

RATE = "1 Gbit/s"
MOST_LOST = 1000
MOST_NAMED = 8
MOST_TRIED = 100
EXAMPLE = "pcp: 5, period: 1 ms, payload: 100 B"


def scenario(drawing: Drawing) -> str:
    """A scenario's YAML.

    Raises:
        ContentError: the drawing has no two nodes that a link joins.
    """
    count = drawing.linked()
    for key in [one for one in drawing.nodes if one not in count]:
        drawing.lost.append(f"a node without a link: {drawing.nodes.pop(key).label}")
    if not drawing.links:
        more = f"; not taken: {drawing.lost[0]}" if drawing.lost else ""
        raise ContentError(f"{drawing.file}: expected nodes with links between them, found none{more}")
    names = _names(drawing)
    roles, why = _roles(drawing, count)
    ends = _example(drawing, roles) or drawing.links[0].ends
    kinds = {
        kind: [names[key] for key in roles if roles[key] == kind] for kind in ("station", "bridge", "host")
    }
    network = [
        f"rate: {RATE}",
        *(line for kind, found in kinds.items() if found for line in folded(f"{kind}s: [", found)),
        "links:",
        *_links(drawing, names),
    ]
    decided = [*drawing.decided[:MOST_LOST], *why]
    source = [drawing.source, "Decided here:", *(f"  {one_line(one)}" for one in decided)]
    if len(drawing.decided) > MOST_LOST:
        source.append(f"  and {len(drawing.decided) - MOST_LOST} more")
    unrated = sum(one.rate_bps is None for one in drawing.links)
    if unrated:
        source.append(f"  {unrated} links have no rate; they have {RATE}")
    source.append("  the drawing has no streams; the stream `example` shows how one is written")
    if drawing.lost:
        source.append("Not taken:")
        lost = Counter(one_line(one) for one in drawing.lost)
        told = (f"{one} ({times} times)" if times > 1 else one for one, times in lost.items())
        source += [f"  {one}" for one in islice(told, MOST_LOST)]
        if len(lost) > MOST_LOST:
            source.append(f"  and {len(lost) - MOST_LOST} more")
    head = {"name": valid_name(Path(drawing.file).name.partition(".")[0], set(), "x"), "duration": "100 ms"}
    streams = [f"  example: {{from: {names[ends[0]]}, to: {names[ends[1]]}, {EXAMPLE}}}"]
    return scenario_text.text(source, head, network, ["streams:", *streams], Notes())


def _names(drawing: Drawing) -> dict[str, str]:
    taken: set[str] = set()
    seen: set[str] = set()
    names, numbered = {}, []
    for key, node in drawing.nodes.items():
        names[key] = valid_name(node.label, taken, "n")
        if node.label in seen:
            numbered.append(names[key])
        seen.add(node.label)
    if numbered:
        drawing.decided.append(f"nodes with equal labels have numbers: {_few(numbered)}")
    return names


def _roles(drawing: Drawing, count: dict[str, int]) -> tuple[dict[str, str], list[str]]:
    """What each node is, and the sentences that tell why."""
    roles: dict[str, str] = {}
    why: dict[str, list[str]] = {}
    for key, node in drawing.nodes.items():
        role, reason = _role(node, count[key])
        roles[key] = role
        why.setdefault(f"{role}s by their {reason}", []).append(one_line(node.label))
    if _example(drawing, roles) is None:
        roles = dict.fromkeys(roles, "host")
        why["no two end stations have a path between them; all nodes are hosts, which also forward"] = []
    return roles, [f"{what}: {_few(who)}" if who else what for what, who in why.items()]


def _role(node: Node, links: int) -> tuple[str, str]:
    """The role and what tells it: an attribute, the shape, the label, or the number of links."""
    for what, text in (("attributes", node.told), ("shape", node.shape), ("label", node.label)):
        words = text.lower().replace("_", " ").replace("-", " ")
        if BRIDGES.search(words):
            return "bridge", what
        if STATIONS.search(words):
            # An end station with several links may forward, as daisy-chained devices do.
            return ("station", what) if links == 1 else ("host", f"{what} and several links")
    return ("station" if links == 1 else "bridge"), "number of links"


def _example(drawing: Drawing, roles: dict[str, str]) -> tuple[str, str] | None:
    """The first node that can talk, and the one that is farthest from it; None if there are no such two."""
    beside: dict[str, list[str]] = {}
    for link in drawing.links:
        for one, other in (link.ends, link.ends[::-1]):
            beside.setdefault(one, []).append(other)
    talking = [key for key, role in roles.items() if role != "bridge"]
    for first in talking[:MOST_TRIED]:
        found = {first: None}
        waiting = deque([first])
        while waiting:
            node = waiting.popleft()
            for other in beside[node]:
                if other not in found and (roles[node] != "station" or node == first):
                    found[other] = None
                    waiting.append(other)
        reached = [key for key in found if roles[key] != "bridge" and key != first]
        if reached:
            return first, reached[-1]
    return None


def _links(drawing: Drawing, names: dict[str, str]) -> Iterator[str]:
    place = {key: number for number, key in enumerate(names)}
    groups: dict[tuple[int | None, int | None], Counter[str]] = {}
    for link in drawing.links:
        pair = " -- ".join(names[one] for one in sorted(link.ends, key=place.__getitem__))
        groups.setdefault((link.rate_bps, link.cable_mm), Counter())[pair] += 1
    for (bps, mm), pairs in groups.items():
        cable = None if mm is None else f"{mm // 1000} m" if mm % 1000 == 0 else f"{mm} mm"
        keys = {"rate": None if bps is None else rate(bps), "cable": cable}
        for pair, times in pairs.items():
            if times > 1:
                yield f"  - {flow({**keys, 'between': pair, 'parallel': times})}"
        single = [pair for pair, times in pairs.items() if times == 1]
        if single and bps is None and mm is None:
            yield from (f"  - {pair}" for pair in single)
        elif single:
            yield from folded(f"  - {flow(keys)[:-1]}, between: [", single, "}")


def _few(names: list[str]) -> str:
    more = f" and {len(names) - 2 * MOST_NAMED} more" if len(names) > 2 * MOST_NAMED else ""
    return ", ".join(names[: 2 * MOST_NAMED]) + more
