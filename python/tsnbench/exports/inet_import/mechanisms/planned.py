"""Configurators that plan when INET starts: their tasks become requirements, and tsnbench's planner plans."""

from __future__ import annotations

from itertools import pairwise

from tsnbench.errors import ContentError
from tsnbench.exports.inet_import.language.expressions import Value
from tsnbench.exports.inet_import.language.patterns import pattern
from tsnbench.exports.inet_import.model import Model, Stream
from tsnbench.exports.inet_import.parameters import Setting, of_row
from tsnbench.exports.scenario_text import duration, flow, listed

SCHEDULING = (
    "EagerGateScheduleConfigurator",
    "Z3GateScheduleConfigurator",
    "TSNschedGateScheduleConfigurator",
)
MOST_ROWS = 10_000


def tasks(model: Model) -> None:
    """Adds ``scheduled``, ``frer`` and ``requires`` to the streams of all configurators."""
    schedules = False
    for name in ("gateScheduleConfigurator", "failureProtectionConfigurator", "streamRedundancyConfigurator"):
        path = f"{model.topology.network}.{name}"
        kind = model.parameters.text(f"{path}.typename")
        if name == "gateScheduleConfigurator":
            schedules = kind in SCHEDULING
        elif model.parameters.text(f"{path}.gateScheduleConfiguratorModule", "given") == "":
            schedules = False
        setting = model.parameters.setting(f"{path}.configuration")
        model.parameters.setting(f"{path}.gateCycleDuration")
        if not kind or setting is None:
            continue
        for row in model.parameters.rows(f"{path}.configuration")[:MOST_ROWS]:
            for stream in _streams(model, row, setting):
                _row(model, row, stream, (kind, schedules), setting)


def _streams(model: Model, row: dict[str, Value], setting: Setting) -> list[Stream]:
    """The streams that a row of a configuration is about."""
    source = _nodes(model, row.get("source"), setting)
    to = _nodes(model, row.get("destination"), setting)
    app = row.get("application")
    found = [
        one
        for one in model.streams
        if one.talker in source
        and (not isinstance(app, str) or one.app.endswith(f".{app}"))
        and (not one.listeners or set(one.listeners) & set(to))
    ]
    for one in found:
        if not one.listeners:
            # An address of the link layer says nothing about listeners: the configuration does.
            one.listeners = [node for node in to if node != one.talker]
    if not found:
        model.lose(f"the row {row.get('name') or row.get('application')}, which has no stream", setting.place)
    return found


def _nodes(model: Model, given: Value, setting: Setting) -> list[str]:
    """The nodes that an expression matches: `a or b`, `not a`, `switch*`."""
    if not isinstance(given, str):
        return []
    return [name for name in model.topology.nodes if _matches(given, name, setting)]


def _matches(text: str, name: str, setting: Setting) -> bool:
    """Whether a match expression holds for a name: patterns with and, or, not and brackets."""
    words = text.replace("(", " ( ").replace(")", " ) ").split()
    found, rest = _joined(words, name, setting, 0)
    if rest:
        raise ContentError(f"{setting.place}: expected `and` or `or`, found {rest[0]}")
    return found


def _joined(
    words: list[str], name: str, setting: Setting, depth: int, by: str = "or"
) -> tuple[bool, list[str]]:
    """Parts with `or` between them, which are parts with `and` between them."""
    found: list[bool] = []
    while not found or (words and words[0].lower() == by):
        rest = words[1:] if found else words
        one, words = (
            _joined(rest, name, setting, depth, "and") if by == "or" else _one(rest, name, setting, depth)
        )
        found.append(one)
    return (any(found) if by == "or" else all(found)), words


def _one(words: list[str], name: str, setting: Setting, depth: int) -> tuple[bool, list[str]]:
    if not words or depth > 20:
        raise ContentError(f"{setting.place}: expected the name of a node or a link, found the end")
    if words[0].lower() == "not":
        found, words = _one(words[1:], name, setting, depth + 1)
        return not found, words
    if words[0] == "(":
        found, words = _joined(words[1:], name, setting, depth + 1)
        return found, words[1:]
    try:
        return pattern(words[0]).matches(name), words[1:]
    except ContentError as error:
        raise ContentError(f"{setting.place}: {error}") from None


def _row(model: Model, row: dict[str, Value], stream: Stream, by: tuple[str, bool], setting: Setting) -> None:
    """``by``: the configurator, and whether gates are scheduled."""
    kind, schedules = by
    requires: dict[str, object] = {}
    latency, jitter = of_row(row, "maxLatency", "s"), of_row(row, "maxJitter", "s")
    if schedules and latency:
        requires["delay"] = duration(latency)
    if schedules and jitter:
        requires["jitter"] = duration(jitter)
    if schedules:
        stream.keys["scheduled"] = "true"
        stream.keys.pop("offset", None)
        if "period" not in stream.keys or stream.rows:
            raise ContentError(
                f"{stream.place}: productionInterval: expected a period, found another pattern"
            )
        model.decide("gates that INET plans when it starts; planned by tsnbench", kind)
    if kind == "StreamRedundancyConfigurator" and "trees" in row:
        _trees(model, row["trees"], stream, setting)
    protections = _survives(model, row, stream, setting)
    if protections:
        requires["survives"] = protections[0] if len(protections) == 1 else listed(protections)
        stream.keys["frer"] = "{paths: from-failures}"
        model.decide("paths that INET plans when it starts; planned by tsnbench", kind)
    if stream.pcp is None and (row.get("pcp") is not None or "frer" in stream.keys):
        # The configurators also configure the tags.
        stream.pcp = int(of_row(row, "pcp") or 0)
    if requires:
        before = stream.keys.get("requires")
        text = flow(requires)
        stream.keys["requires"] = text if before is None else f"{str(before)[:-1]}, {text[1:]}"


def _trees(model: Model, given: Value, stream: Stream, setting: Setting) -> None:
    """The paths of member streams: lists of trees, which are lists of paths."""
    paths: list[list[str]] = []
    for tree in given if isinstance(given, list) else []:
        for path in tree if isinstance(tree, list) else []:
            if isinstance(path, list) and all(isinstance(one, str) for one in path):
                paths.append([str(one) for one in path])
    unknown = [node for path in paths for node in path if node not in model.topology.nodes]
    if unknown or not paths:
        found = unknown[0] if unknown else "no path"
        raise ContentError(f"{setting.place}: trees: expected nodes of the network, found {found}")
    before: dict[str, set[str]] = {}
    for nodes in paths:
        for hop, node in pairwise(nodes):
            before.setdefault(node, set()).add(hop)
    merges = [model.names[node] for node, hops in before.items() if len(hops) > 1]
    several = len(stream.listeners) > 1
    keys: dict[str, object] = {
        "paths": listed(
            listed(model.names[node] for node in (path[1:] if several else path[1:-1])) for path in paths
        )
    }
    if merges:
        keys["at"] = merges[0] if len(merges) == 1 else listed(merges)
    if len(paths) > 1:
        stream.keys["frer"] = flow({**keys, "history": 10})
    else:
        stream.keys["via"] = listed(model.names[node] for node in paths[0][1:-1])


def _survives(model: Model, row: dict[str, Value], stream: Stream, setting: Setting) -> list[str]:
    """Kinds of failures that a stream survives: how many at once, of which nodes and links."""
    found: dict[int, dict[str, None]] = {}
    for key in ("nodeFailureProtection", "linkFailureProtection"):
        rows = row.get(key)
        for one in rows if isinstance(rows, list) else []:
            if not isinstance(one, dict) or not isinstance(one.get("of"), str):
                continue
            most, of = int(of_row(one, "any") or 1), str(one["of"])
            parts = (
                _node_parts(model, of, setting)
                if key.startswith("node")
                else _link_parts(model, of, stream, setting)
            )
            if most > 1 and most in found:
                # Any one of two lists is any one of both together; any two of each is not.
                model.lose(f"a second list of which any {most} fail", setting.place)
            elif parts:
                found.setdefault(most, {}).update(dict.fromkeys(parts))
    return [flow({"any": most, "of": listed(parts)}) for most, parts in sorted(found.items())]


def _node_parts(model: Model, of: str, setting: Setting) -> list[str]:
    return [model.names[node] for node in model.topology.nodes if _matches(of, node, setting)]


def _link_parts(model: Model, of: str, stream: Stream, setting: Setting) -> list[str]:
    """Links that the stream may use in a direction that is matched; both directions fail in a scenario."""
    found: dict[str, None] = {}
    for link in model.topology.links:
        (left, _), (right, _) = link.ends
        useful = [
            (begin, end)
            for begin, end in ((left, right), (right, left))
            if end != stream.talker and [begin] != stream.listeners
        ]
        if any(_matches(of, f"{begin}->{end}", setting) for begin, end in useful):
            found[f"{model.names[left]} -- {model.names[right]}"] = None
    return list(found)
