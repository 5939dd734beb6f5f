"""Policing of received frames: filters with their gates and meters, regenerated priorities.

IEEE 802.1Q-2022, 6.9.4 and 8.6.5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tsnbench.plan.streams.policing import matching
from tsnbench.planning.draft import Draft, Flow, Policing
from tsnbench.planning.parts import without_none
from tsnbench.planning.select import select
from tsnbench.planning.shaping.unused_filters import Placed, warn_of_unused_filters
from tsnbench.scenario import model

if TYPE_CHECKING:
    from tsnbench.plan.types import FlowMeter, StreamFilter, StreamGate, StreamGateEntry


def regenerate(draft: Draft) -> None:
    """Fills ``regeneration``: if two entries name one port, the later one applies, PCP by PCP."""
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
    placed: list[Placed] = []
    for place, entry in enumerate(draft.scenario.policing):
        if not isinstance(entry, model.Filter):
            continue
        nodes: dict[int, list[int]] = {}
        for port in select(draft, entry.at, f"policing[{place}].at"):
            nodes.setdefault(port.to, []).append(port.peer)
        meant = [number for number, flow in enumerate(draft.flows) if flow.group in entry.streams]
        for node, ports in sorted(nodes.items()):
            own = draft.policing.setdefault(node, Policing())
            before = len(own.filters)
            if entry.per == "stream":
                crossing = [number for number, flow in enumerate(draft.flows) if _comes(draft, flow, ports)]
                for number in [number for number in crossing if not meant or number in meant]:
                    _add(own, entry, draft.flows[number].name, ports, [number])
            else:
                name = ", ".join(entry.streams) or "all"
                _add(own, entry, name, ports, meant)
            placed.append(Placed(place, node, ports, range(before, len(own.filters))))
    warn_of_unused_filters(draft, placed)


def _comes(draft: Draft, flow: Flow, ports: list[int]) -> bool:
    """Whether a flow arrives at one of these ports."""
    return any(draft.ports[hop.port].peer in ports for hop in flow.route)


def _add(own: Policing, entry: model.Filter, name: str, ports: list[int], streams: list[int]) -> None:
    made: StreamFilter = without_none(
        {
            "name": name,
            "ports": ports,
            "streams": streams or None,
            "priority": entry.priority,
            "max_sdu_octets": entry.max_sdu,
            "block_oversize": (entry.max_sdu is not None and entry.block_oversize) or None,
        }
    )
    if entry.gate is not None:
        made["gate"] = len(own.gates)
        own.gates.append(gate_document(entry.gate))
    if entry.meter is not None:
        made["meter"] = len(own.meters)
        own.meters.append(_meter(entry.meter))
    own.filters.append(made)


def gate_document(gate: model.StreamGate) -> StreamGate:
    """A stream gate in the Plan's form."""
    entries: list[StreamGateEntry] = [
        without_none(
            {"open": one.open, "interval_ns": one.duration, "ipv": one.ipv, "octets_max": one.octets}
        )
        for one in gate.entries
    ]
    return without_none(
        {
            "base_time_ns": gate.base_time,
            "cycle_ns": sum(entry.duration for entry in gate.entries),
            "entries": entries,
            "close_on_invalid_rx": gate.close_on_invalid or None,
            "close_on_octets_exceeded": gate.close_on_octets or None,
        }
    )


def _meter(meter: model.Meter) -> FlowMeter:
    return without_none(
        {
            "cir_bps": meter.cir,
            "cbs_octets": meter.cbs,
            "eir_bps": meter.eir,
            "ebs_octets": meter.ebs,
            "coupling": meter.coupling or None,
            "color_aware": meter.color_aware or None,
            "drop_on_yellow": meter.drop_yellow or None,
            "mark_all_frames_red": meter.mark_all_red or None,
        }
    )


def overlay(
    own: Policing,
    port: int,
    stream: int,
    priority: int,
    name: str,
    key: Literal["gate", "scheduler"],
    place: int,
) -> str | None:
    """Adds a function to the frames of one flow at one port, in addition to those that they already have.

    Args:
        own: the tables of the node.
        port: the port of arrival.
        stream: the number of the flow.
        priority: the priority of its frames.
        name: the name of the filter, if it is new.
        key: the kind of the additional function.
        place: its index in the node's list of that kind.

    Returns a conflict; None without one.
    """
    found = matching(own.filters, port, stream, priority)
    if found is None:
        made: StreamFilter = {"name": name, "ports": [port], "streams": [stream]}
        made[key] = place
        own.filters.append(made)
        return None
    before = own.filters[found]
    if key in before:
        return key
    new = before.copy()
    new["ports"], new["streams"] = [port], [stream]
    new.pop("priority", None)
    new[key] = place
    if before.get("ports") == [port] and before.get("streams") == [stream] and "priority" not in before:
        own.filters[found] = new
    else:
        own.filters.insert(found, new)
    return None
