"""The last pass: a finished draft as the Plan's document, with exactly the names of ``crates/plan``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from tsnbench import _native
from tsnbench.plan.document import FORMAT
from tsnbench.planning.draft import Draft, Flow, Gates, Policing, Port, Tap, plan_route
from tsnbench.planning.parts import without_none
from tsnbench.planning.shaping.cbs_given import differing
from tsnbench.planning.streams.requirements import requirements_document
from tsnbench.planning.streams.telegrams import Replies, trdp_document
from tsnbench.planning.topology.clocks import clocks_document
from tsnbench.planning.topology.stages import transmit_buffer
from tsnbench.scenario import model

_Part = TypeVar("_Part")

if TYPE_CHECKING:
    from tsnbench.plan import types as plan_types
    from tsnbench.plan.types import PlanDocument


def assemble(draft: Draft) -> PlanDocument:
    """The document, without its hash."""
    scenario = draft.scenario
    replies = Replies.of(scenario)
    return without_none(
        {
            "format": FORMAT,
            "name": scenario.name,
            "variant": dict(scenario.variant),
            "seed": scenario.seed,
            "duration_ns": scenario.duration,
            "drain_ns": scenario.drain,
            "measure_from": _measure_from(scenario),
            "nodes": [without_none(vars(node)) for node in draft.nodes],
            "ports": _ports(draft),
            "streams": _streams(draft, replies),
            "taps": [tap_document(tap) for tap in draft.taps],
            "faults": draft.faults or None,
            "policing": _policing(draft.policing) or None,
            "clocks": clocks_document(draft),
        }
    )


def _streams(draft: Draft, replies: Replies) -> list[plan_types.Stream]:
    """The flows; those of the earlier Plan as its objects."""
    earlier = {one["name"]: one for one in draft.earlier["streams"]} if draft.earlier else {}
    made = (stream_document(flow, replies) for flow in draft.flows)
    return [_earlier(earlier.get(own["name"]), own) for own in made]


def _ports(draft: Draft) -> list[plan_types.Port]:
    """The ports; gates of the earlier Plan as its objects."""
    ports = draft.earlier["ports"] if draft.earlier else ()
    earlier = {one["name"]: one["gates"] for one in ports if "gates" in one}
    found = []
    for port in draft.ports:
        own = port_document(port)
        if "gates" in own:
            own["gates"] = _earlier(earlier.get(port.name), own["gates"])
        found.append(own)
    return found


def _earlier(was: _Part | None, own: _Part) -> _Part:
    """A part of the earlier Plan in place of an equal one: those of ten thousand streams are large."""
    return was if was is not None and _native.canonical(was) == _native.canonical(own) else own


def tap_document(tap: Tap) -> plan_types.Tap:
    """A tap in the Plan's form."""
    return {
        "name": tap.name,
        "port": tap.port,
        "stage": tap.stage,
        "point": tap.point,
        "granularity_ns": tap.granularity_ns,
    }


def _measure_from(scenario: model.Scenario) -> plan_types.MeasureFrom | None:
    begin = scenario.measure_from
    if isinstance(begin, int):
        return {"kind": "at", "ns": begin}
    return None if begin is None else {"kind": "settled"}


def _policing(nodes: Mapping[int, Policing]) -> list[plan_types.Policing]:
    """The tables that are not empty, of the nodes that have any."""
    tables = {node: {name: one for name, one in vars(own).items() if one} for node, own in nodes.items()}
    return [without_none({"node": node, **own}) for node, own in sorted(tables.items()) if own]


def port_document(port: Port) -> plan_types.Port:
    """A finished port in the Plan's form."""
    preemption: plan_types.Preemption | None = None
    if port.express is not None:
        advances = {
            "hold_advance_ns": port.hold_advance_ns or None,
            "release_advance_ns": port.release_advance_ns or None,
        }
        preemption = without_none({"express": port.express, **advances})
    return without_none(
        {
            "name": port.name,
            "node": port.node,
            "peer": port.peer,
            "mac": port.mac,
            "rate_bps": port.rate_bps,
            "propagation_ps": port.propagation_ps,
            "pcp_to_class": list(port.pcp_to_class),
            "classes": _classes(port),
            "gates": gates_document(port),
            "preemption": preemption,
            "server": _server(port),
            "transmit_buffer": transmit_buffer(port) if transmit_buffer(port) > 1 else None,
            "qdisc": port.qdisc,
        }
    )


def _server(port: Port) -> plan_types.Server | None:
    own = port.shaper.server
    return None if own is None else {"rate_bps": own.rate, "latency_ns": own.latency}


def _classes(port: Port) -> list[plan_types.Class]:
    frames, octets = port.limits
    plain: plan_types.Class = without_none({"limit_frames": frames, "limit_octets": octets})
    if not port.cbs and not port.max_sdu and not port.longest_wait:
        return [plain.copy() for _ in range(port.classes)]
    return [
        without_none(
            {
                **plain,
                "cbs": _cbs(port, number),
                "max_sdu_octets": port.max_sdu.get(number),
                "longest_wait_ns": port.longest_wait.get(number),
            }
        )
        for number in range(port.classes)
    ]


def gates_document(port: Port) -> plan_types.Gates | None:
    """The gates of a port in the Plan's form; None if it has none."""
    first = port.gates
    if first is None:
        return None
    written = port.shaper.gates
    # A list that replaces another one has the default guard.
    unguarded = isinstance(written, model.Gates) and not written.guard
    changes: list[plan_types.GateChange] = [
        without_none({"at_ns": at, **_list(gates), "idle_slopes": _slopes(slopes) or None})
        for at, gates, slopes in port.gate_changes
    ]
    more = {"initial": port.gates_before, "unguarded": unguarded or None, "changes": changes or None}
    return without_none({**_list(first), **more})


def _slopes(slopes: Mapping[int, int]) -> list[plan_types.IdleSlope]:
    return [{"class": number, "bps": bps} for number, bps in sorted(slopes.items())]


def _list(gates: Gates) -> dict[str, object]:
    """The keys that a port's first list and each of its changes have."""
    plain = gates.plain()
    for entry, mac in zip(plain["entries"], gates.macs, strict=False):
        if mac is not None:
            entry["mac"] = mac
    return {**plain, "cycle_extension_ns": gates.extension_ns or None}


def _cbs(port: Port, traffic_class: int) -> plan_types.Cbs | None:
    shaper = port.cbs.get(traffic_class)
    if shaper is None:
        return None
    gates = port.shaper.gates
    runs = isinstance(gates, model.Gates) and gates.credit_runs
    # Linux's shaper ignores gates: its credit keeps changing while they are closed.
    gated = port.gated_cbs[traffic_class]
    standard = gated.standard()
    return without_none(
        {
            "idle_slope_bps": standard.idle_slope,
            "send_slope_bps": standard.send_slope,
            "hi_credit_bits": standard.hi_credit,
            "lo_credit_bits": standard.lo_credit,
            "linux": shaper.tc(),
            "runs_while_closed": runs or None,
            "follows": differing(gated),
        }
    )


def stream_document(flow: Flow, replies: Replies) -> plan_types.Stream:
    """A finished flow in the Plan's form."""
    stream, trdp = flow.stream, flow.stream.trdp
    made: plan_types.Stream = {
        "name": flow.name,
        "group": flow.group,
        "talker": flow.talker,
        "pcp": stream.pcp,
        "destination_mac": flow.destination_mac,
        "destination_ipv4": flow.destination_ipv4,
        "udp_port": flow.udp_port,
        "pattern": flow.pattern,
        "size": flow.size,
        "start_ns": flow.start_ns,
        "stop_ns": flow.stop_ns,
        "route": plan_route(flow.route),
        "listeners": [
            {"node": node, "route": end} for node, end in zip(flow.listeners, flow.ends, strict=True)
        ],
        "requirements": requirements_document(stream.requires, flow.survives),
    }
    # Of thousands of streams, almost all have no more than a VLAN.
    if stream.vid is not None:
        made["vid"] = stream.vid
    if flow.any_phase:
        made["any_phase"] = True
    more = (flow.answers, flow.socket, flow.scheduled, trdp, flow.flood, flow.redundancy, stream.tos)
    if any(more):
        made |= without_none(
            {
                "type_of_service": (trdp.qos << 5 if trdp else stream.tos) or None,
                "trdp": None if trdp is None else trdp_document(flow, trdp, replies),
                "answers": flow.answers,
                "redundancy": flow.redundancy or None,
                "flood": plan_route(flow.flood) or None,
                "socket": flow.socket,
                "scheduled": flow.scheduled,
            }
        )
    return made
