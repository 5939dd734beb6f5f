"""What nodes do with frames as they come in: filters with their gates and meters, regenerated priorities.

IEEE 802.1Q-2022, 6.9.4 and 8.6.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tsnbench.planning.draft import Draft, Flow, Policing
from tsnbench.planning.priorities import priorities_of
from tsnbench.planning.selectors import select
from tsnbench.scenario import model


def regenerate(draft: Draft) -> None:
    """Fills ``regeneration``: where two entries meet one port, the later one counts, PCP by PCP."""
    tables: dict[int, list[int]] = {}
    for place, entry in enumerate(draft.scenario.policing):
        if isinstance(entry, model.Regeneration):
            for port in select(draft, entry.at, f"policing[{place}].at"):
                table = tables.setdefault(port.peer, list(range(8)))
                for pcp, to in entry.pcp.items():
                    table[pcp] = to
    for number, table in sorted(tables.items()):
        own = draft.policing.setdefault(draft.ports[number].node, Policing())
        own.regeneration.append({"port": number, "pcp": table})


def place_filters(draft: Draft) -> None:
    """Fills ``filters``, ``gates`` and ``meters`` of every node, in the order of the scenario."""
    for place, entry in enumerate(draft.scenario.policing):
        if not isinstance(entry, model.Filter):
            continue
        nodes: dict[int, list[int]] = {}
        for port in select(draft, entry.at, f"policing[{place}].at"):
            nodes.setdefault(port.to, []).append(port.peer)
        meant = [number for number, flow in enumerate(draft.flows) if flow.group in entry.streams]
        for node, ports in sorted(nodes.items()):
            own = draft.policing.setdefault(node, Policing())
            if entry.per == "stream":
                crossing = [number for number, flow in enumerate(draft.flows) if _comes(draft, flow, ports)]
                for number in [number for number in crossing if not meant or number in meant]:
                    _add(own, entry, draft.flows[number].name, ports, [number])
            else:
                name = ", ".join(entry.streams) or "all"
                _add(own, entry, name, ports, meant)


def _comes(draft: Draft, flow: Flow, ports: list[int]) -> bool:
    """Whether a flow comes in by one of these ports."""
    return any(draft.ports[hop.port].peer in ports for hop in flow.route)


def _add(own: Policing, entry: model.Filter, name: str, ports: list[int], streams: list[int]) -> None:
    made: dict[str, Any] = {"name": name, "ports": ports}
    if streams:
        made["streams"] = streams
    if entry.priority is not None:
        made["priority"] = entry.priority
    if entry.max_sdu is not None:
        made["max_sdu_octets"] = entry.max_sdu
        if entry.block_oversize:
            made["block_oversize"] = True
    if entry.gate is not None:
        made["gate"] = len(own.gates)
        own.gates.append(gate_document(entry.gate))
    if entry.meter is not None:
        made["meter"] = len(own.meters)
        own.meters.append(_meter(entry.meter))
    own.filters.append(made)


def gate_document(gate: model.StreamGate) -> dict[str, Any]:
    """A stream gate as the Plan spells it."""
    entries = []
    for entry in gate.entries:
        made: dict[str, Any] = {"open": entry.open, "interval_ns": entry.duration}
        if entry.ipv is not None:
            made["ipv"] = entry.ipv
        if entry.octets is not None:
            made["octets_max"] = entry.octets
        entries.append(made)
    document: dict[str, Any] = {
        "base_time_ns": gate.base_time,
        "cycle_ns": sum(entry.duration for entry in gate.entries),
        "entries": entries,
    }
    if gate.close_on_invalid:
        document["close_on_invalid_rx"] = True
    if gate.close_on_octets:
        document["close_on_octets_exceeded"] = True
    return document


def _meter(meter: model.Meter) -> dict[str, Any]:
    flags = {
        "coupling": meter.coupling,
        "color_aware": meter.color_aware,
        "drop_on_yellow": meter.drop_yellow,
        "mark_all_frames_red": meter.mark_all_red,
    }
    return {
        "cir_bps": meter.cir,
        "cbs_octets": meter.cbs,
        "eir_bps": meter.eir,
        "ebs_octets": meter.ebs,
        **{name: True for name, value in flags.items() if value},
    }


def chosen_by_gates(document: Mapping[str, Any]) -> set[tuple[int, int]]:
    """(stream, entry of its route) whose queue a stream gate chooses, not the frame's priority."""
    found: set[tuple[int, int]] = set()
    for own in document.get("policing", ()):
        tables = Policing(filters=own.get("filters", []))
        gates = own.get("gates", [])
        for number, stream in enumerate(document["streams"]):
            pcps = priorities_of(document, stream)
            for place, hop in enumerate(stream["route"]):
                parent = hop.get("parent")
                if parent is None or document["ports"][hop["port"]]["node"] != own["node"]:
                    continue
                ingress = document["ports"][stream["route"][parent]["port"]]["peer"]
                meets = matching(tables, ingress, number, pcps[place])
                gate = None if meets is None else tables.filters[meets].get("gate")
                if gate is not None and any("ipv" in entry for entry in gates[gate]["entries"]):
                    found.add((number, place))
    return found


def matching(own: Policing, port: int, stream: int, priority: int) -> int | None:
    """The place of the filter that a flow's frames match, as the engine finds it."""
    for place, one in enumerate(own.filters):
        by_port = port in one.get("ports", [port])
        by_stream = stream in one.get("streams", [stream])
        if by_port and by_stream and one.get("priority", priority) == priority:
            return place
    return None


def overlay(own: Policing, port: int, stream: int, priority: int, name: str, **more: Any) -> str | None:
    """A filter for one flow at one port that does ``more`` than what its frames met before.

    Returns what it clashes with; None where all is well.
    """
    found = matching(own, port, stream, priority)
    before = {} if found is None else own.filters[found]
    for key in more:
        if key in before:
            return key
    made = {key: value for key, value in before.items() if key not in ("ports", "streams", "priority")}
    alone = found is not None and before.get("ports") == [port] and before.get("streams") == [stream]
    new = {**made, "name": before.get("name", name), "ports": [port], "streams": [stream], **more}
    if found is not None and alone and "priority" not in before:
        own.filters[found] = new
    else:
        own.filters.insert(len(own.filters) if found is None else found, new)
    return None
