"""The text of the scenario: head, network, streams, shapers, and what was decided and not taken."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

from tsnbench.exports import scenario_text
from tsnbench.exports.inet_import.mechanisms.ports import Port, carries, settings
from tsnbench.exports.inet_import.model import Model, Stream
from tsnbench.exports.scenario_text import Notes, duration, flow, listed, rate
from tsnbench.sheet import csv_text

MOST_NAMED = 4
MOST_LOST = 200
"""Lines in the list of what is not taken."""


def comments(model: Model, source: Iterable[str]) -> list[str]:
    """Where the scenario is from, what was decided, and every line that is not taken."""
    found = list(source)
    if model.decided:
        found.append("Decided here:")
        for what, who in model.decided.items():
            more = f" and {len(who) - MOST_NAMED} more" if len(who) > MOST_NAMED else ""
            found.append(f"  {what}: {', '.join(who[:MOST_NAMED])}{more}")
    if model.lost:
        found.append("Not taken:")
        found += [f"  {place}: {what}" for what, place in model.lost[:MOST_LOST]]
        if len(model.lost) > MOST_LOST:
            found.append(f"  and {len(model.lost) - MOST_LOST} more lines")
    return found


def network(model: Model, options: dict[str, dict[str, object]], queues: str) -> list[str]:
    """The lines of the network.

    Args:
        model: with nodes and links.
        options: of nodes, by their names in INET.
        queues: of all ports.
    """
    talking = {one.talker for one in model.streams} | {to for one in model.streams for to in one.listeners}
    kinds: dict[str, list[str]] = {"stations": [], "bridges": [], "hosts": []}
    for name, node in model.topology.nodes.items():
        kind = "stations" if node.kind == "station" else "hosts" if name in talking else "bridges"
        if node.apps and model.passed and name not in model.passed:
            kind = "stations"
        kinds[kind].append(name)
    lines = []
    for kind, names in kinds.items():
        if any(options.get(name) for name in names):
            lines.append(f"{kind}:")
            lines += [f"  {model.names[name]}: {flow(options.get(name, {}))}" for name in names]
        elif names:
            lines.append(f"{kind}: {listed(model.names[name] for name in names)}")
    if queues:
        lines.append(f"queues: {queues}")
    return [*lines, "links:", *_links(model)]


def _links(model: Model) -> list[str]:
    groups: dict[tuple[tuple[int, int], int], list[str]] = {}
    for link in model.topology.links:
        names = [model.names[node] for node, _ in link.ends]
        if link.delay_ps % 5:
            model.decide("delays of links that are no whole mm of cable; written: the nearest", link.place)
        groups.setdefault((link.rates, link.delay_ps), []).append(" -- ".join(names))
    lines = []
    for (rates, delay), pairs in groups.items():
        cable = _length(round(Fraction(delay, 5))) if delay else None
        back = None if rates[0] == rates[1] else flow({"rate": rate(rates[1]), "cable": cable})
        keys = {"rate": rate(rates[0]), "cable": cable, "back": back}
        count = Counter(pairs)
        for pair in [one for one in count if count[one] > 1]:
            lines.append(f"  - {flow({**keys, 'between': pair, 'parallel': count.pop(pair)})}")
        pairs = list(count)
        if len(pairs) < 2:
            lines += [f"  - {flow({**keys, 'between': one})}" for one in pairs]
            continue
        head = flow(keys)[:-1]
        lines.append(f"  - {head}, between: [")
        lines += [f"      {', '.join(pairs[at : at + 4])}," for at in range(0, len(pairs), 4)]
        lines[-1] = lines[-1].rstrip(",") + "]}"
    return lines


def _length(mm: int) -> str:
    return f"{mm // 1000} m" if mm % 1000 == 0 else f"{mm} mm"


def stops(model: Model) -> tuple[Fraction, Fraction | None]:
    """The duration and the drain in s: talkers may all stop before the simulation ends."""
    given = [one.stop for one in model.streams if one.stop is not None]
    if not given or any(one.stop is None and not one.rows for one in model.streams):
        return model.limit, None
    exact = [one.stop for one in model.streams if one.stop is not None and "jitter" not in one.keys]
    last = max(exact or given)
    return (last, model.limit - last) if last < model.limit else (model.limit, None)


def streams(model: Model, until: Fraction) -> list[str]:
    """The lines of the streams; recordings go into the files."""
    lines = ["streams:"] if model.streams else ["streams: {}"]
    addresses = Counter(one.address for one in model.streams)
    for one in model.streams:
        to = [model.names[node] for node in one.listeners]
        keys: dict[str, object] = {
            "from": model.names[one.talker],
            "to": to[0] if len(to) == 1 else listed(to),
        }
        if one.written is None:
            keys["vlan"] = "none"
        else:
            keys["pcp"] = one.written
            if one.vlan:
                keys["vlan"] = one.vlan
        if one.port > 0:
            keys["udp-port"] = one.port
        if one.address and addresses[one.address] > 1:
            model.decide("a group address of several streams; written: one for each", one.address)
        elif "." in one.address:
            keys["address"] = one.address
        lines.append(f"  {one.name}: {flow(keys | _releases(model, one, until))}")
    return lines


def _releases(model: Model, one: Stream, until: Fraction) -> dict[str, object]:
    keys = dict(one.keys)
    in_frames = one.headers == 0 or (one.pcp is None and one.written is not None)
    if one.stop is not None and one.stop < until:
        keys["stop"] = duration(one.stop)
    if one.rows:
        rows = one.rows
        if in_frames:
            rows = [(at, one.framed(octets)) for at, octets in rows]
        name = f"{one.name}.csv"
        model.files[name] = csv_text(("time_ns", "frame" if in_frames else "payload"), rows)
        keys = {"replay": name, **keys}
    elif in_frames and "payload" in keys:
        del keys["payload"]
        keys = {"frame": f"{one.frame} B", **keys}
    return keys


def shapers(model: Model, ports: list[Port]) -> tuple[str, list[str]]:
    """The queues of all ports, and the lines of those that differ."""
    kept = [port for port in ports if carries(model, port)]
    found = {port.name: settings(model, port) for port in kept}
    _ask(model, [port for port in ports if port not in kept])
    common = Counter(
        own["queues"] for own in found.values() if "limit-octets" not in own["queues"]
    ).most_common(1)
    queues = common[0][0] if common else ""
    for own in found.values():
        if own["queues"] == queues:
            del own["queues"]
    lines: list[str] = []
    nodes: dict[str, list[Port]] = {}
    for port in kept:
        nodes.setdefault(port.node, []).append(port)
    for node, own_ports in nodes.items():
        texts = [flow(found[port.name]) for port in own_ports]
        if len(texts) > 1 and len(set(texts)) == 1 and texts[0] != "{}":
            lines.append(f"  {model.names[node]} -> all: {texts[0]}")
            continue
        lines += [f"  {port.name}: {one}" for port, one in zip(own_ports, texts, strict=True) if one != "{}"]
    return queues, ["shapers:", *lines] if lines else []


def _ask(model: Model, ports: list[Port]) -> None:
    """Asks for the parameters of ports that no frame leaves; nothing about them is written down."""
    decided, lost = {what: list(who) for what, who in model.decided.items()}, list(model.lost)
    for port in ports:
        settings(model, port)
    model.decided, model.lost = decided, lost


def whole(source: list[str], head: dict[str, str], network_lines: list[str], rest: list[str]) -> str:
    """The text of the scenario."""
    return scenario_text.text(source, head, network_lines, rest, Notes())


def titled(text: str) -> str:
    """A description as one line."""
    return json.dumps(" ".join(text.split())[:200], ensure_ascii=False)
