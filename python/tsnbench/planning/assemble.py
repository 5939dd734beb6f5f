"""The last pass: a finished draft as the Plan's document, with exactly the names of ``crates/plan``."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TYPE_CHECKING

from tsnbench.plan.document import FORMAT
from tsnbench.planning.draft import Draft, Flow, Gates, Node, Policing, Port, plan_route
from tsnbench.planning.streams.requirements import requirements_document
from tsnbench.planning.topology.clocks import clocks_document
from tsnbench.scenario import model

if TYPE_CHECKING:
    from tsnbench.plan import types as plan_types
    from tsnbench.plan.types import PlanDocument


def assemble(draft: Draft) -> PlanDocument:
    """The document, without its hash."""
    scenario = draft.scenario
    # The first stream that replies names the identifier of the reply.
    replies: dict[str, int] = {}
    confirmed: set[str] = set()
    for stream in scenario.streams.values():
        if stream.trdp is not None and stream.replies_to is not None:
            replies.setdefault(stream.replies_to, stream.trdp.com_id)
            if stream.trdp.pattern == "confirm":
                confirmed.add(stream.replies_to)
    document: PlanDocument = {
        "format": FORMAT,
        "name": scenario.name,
        "variant": dict(scenario.variant),
        "seed": scenario.seed,
        "duration_ns": scenario.duration,
        "drain_ns": scenario.drain,
        "nodes": [_node(node) for node in draft.nodes],
        "ports": [_port(port) for port in draft.ports],
        "streams": _streams(draft, replies, confirmed),
        "taps": [
            {
                "name": tap.name,
                "port": tap.port,
                "stage": tap.stage,
                "point": tap.point,
                "granularity_ns": tap.granularity_ns,
            }
            for tap in draft.taps
        ],
    }
    if draft.faults:
        document["faults"] = draft.faults
    policing = [table for node, own in sorted(draft.policing.items()) if (table := _policing(node, own))]
    if policing:
        document["policing"] = policing
    clocks = clocks_document(draft)
    if clocks is not None:
        document["clocks"] = clocks
    return document


def _node(node: Node) -> plan_types.Node:
    made: plan_types.Node = {
        "name": node.name,
        "kind": node.kind,
        "processing_ns": node.processing_ns,
        "ipv4": node.ipv4,
    }
    if node.cut_through_octets is not None:
        made["cut_through_octets"] = node.cut_through_octets
    if node.further is not None:
        made["further"] = node.further
    if node.buffer is not None:
        made["buffer"] = node.buffer
    if node.learning is not None:
        made["learning"] = node.learning
    if node.host is not None:
        made["host"] = node.host
    return made


def _policing(node: int, own: Policing) -> plan_types.Policing | None:
    made: plan_types.Policing = {"node": node}
    if own.filters:
        made["filters"] = own.filters
    if own.gates:
        made["gates"] = own.gates
    if own.meters:
        made["meters"] = own.meters
    if own.schedulers:
        made["schedulers"] = own.schedulers
    if own.groups:
        made["groups"] = own.groups
    if own.regeneration:
        made["regeneration"] = own.regeneration
    return made if len(made) > 1 else None


def _port(port: Port) -> plan_types.Port:
    made: plan_types.Port = {
        "name": port.name,
        "node": port.node,
        "peer": port.peer,
        "mac": port.mac,
        "rate_bps": port.rate_bps,
        "propagation_ps": port.propagation_ps,
        "pcp_to_class": list(port.pcp_to_class),
        "classes": [_class(port, number) for number in range(port.classes)],
    }
    if port.gates is not None:
        made["gates"] = _gates(port, port.gates)
    if port.express is not None:
        made["preemption"] = {"express": port.express}
        if port.hold_advance_ns:
            made["preemption"]["hold_advance_ns"] = port.hold_advance_ns
        if port.release_advance_ns:
            made["preemption"]["release_advance_ns"] = port.release_advance_ns
    if port.qdisc is not None:
        made["qdisc"] = port.qdisc
    return made


def _class(port: Port, number: int) -> plan_types.Class:
    made: plan_types.Class = {}
    frames, octets = port.limits
    if frames is not None:
        made["limit_frames"] = frames
    if octets is not None:
        made["limit_octets"] = octets
    cbs = _cbs(port, number)
    if cbs is not None:
        made["cbs"] = cbs
    if number in port.max_sdu:
        made["max_sdu_octets"] = port.max_sdu[number]
    return made


def _gates(port: Port, first: Gates) -> plan_types.Gates:
    made: plan_types.Gates = {
        "base_time_ns": first.base_time_ns,
        "cycle_ns": first.cycle_ns,
        "entries": _entries(first),
    }
    if first.extension_ns:
        made["cycle_extension_ns"] = first.extension_ns
    if port.gates_before is not None:
        made["initial"] = port.gates_before
    # A list that replaces another one has the default guard.
    if isinstance(port.shaper.gates, model.Gates) and not port.shaper.gates.guard:
        made["unguarded"] = True
    changes = [_change(at, gates, slopes) for at, gates, slopes in port.gate_changes]
    if changes:
        made["changes"] = changes
    return made


def _change(at_ns: int, gates: Gates, slopes: Mapping[int, int]) -> plan_types.GateChange:
    made: plan_types.GateChange = {
        "at_ns": at_ns,
        "base_time_ns": gates.base_time_ns,
        "cycle_ns": gates.cycle_ns,
        "entries": _entries(gates),
    }
    if gates.extension_ns:
        made["cycle_extension_ns"] = gates.extension_ns
    if slopes:
        made["idle_slopes"] = [{"class": number, "bps": bps} for number, bps in sorted(slopes.items())]
    return made


def _entries(gates: Gates) -> list[plan_types.GateEntry]:
    made: list[plan_types.GateEntry] = [
        {"open": mask, "interval_ns": interval} for mask, interval in gates.entries
    ]
    for entry, mac in zip(made, gates.macs, strict=True) if gates.macs else ():
        if mac is not None:
            entry["mac"] = mac
    return made


def _cbs(port: Port, traffic_class: int) -> plan_types.Cbs | None:
    shaper = port.cbs.get(traffic_class)
    if shaper is None:
        return None
    gates = port.shaper.gates
    runs = isinstance(gates, model.Gates) and gates.credit_runs
    # Linux's shaper ignores gates: its credit keeps changing while they are closed.
    standard, linux = port.gated_cbs[traffic_class].standard(), shaper.linux()
    made: plan_types.Cbs = {
        "idle_slope_bps": standard.idle_slope,
        "send_slope_bps": standard.send_slope,
        "hi_credit_bits": standard.hi_credit,
        "lo_credit_bits": standard.lo_credit,
        "linux": {
            "idleslope": linux.idle_slope,
            "sendslope": linux.send_slope,
            "hicredit": linux.hi_credit,
            "locredit": linux.lo_credit,
        },
    }
    if runs:
        made["runs_while_closed"] = True
    return made


def _trdp(flow: Flow, trdp: model.Trdp, replies: Mapping[str, int], confirmed: Set[str]) -> plan_types.Trdp:
    made: plan_types.Trdp = {
        "com_id": trdp.com_id,
        "header_octets": trdp.header_octets,
        "data_set_octets": trdp.data_set,
        "time_out_ns": trdp.time_out,
    }
    if trdp.is_message:
        made["kind"], made["time_out_ns"] = _message(trdp, flow.group in confirmed)
        if trdp.reply_status:
            made["reply_status"] = trdp.reply_status
    if trdp.pattern == "pull":
        made["kind"] = "request" if flow.answers is None else "reply"
    if trdp.pattern == "pull" and flow.answers is None:
        made["reply_com_id"] = replies.get(flow.group, 0)
    if trdp.etb_topo_count:
        made["etb_topo_count"] = trdp.etb_topo_count
    if trdp.op_trn_topo_count:
        made["op_trn_topo_count"] = trdp.op_trn_topo_count
    if trdp.service_id:
        made["service_id"] = trdp.service_id
    return made


def _message(trdp: model.Trdp, is_confirmed: bool) -> tuple[plan_types.TelegramKind, int]:
    """Kind of a telegram of message data, and how long its sender waits; whole microseconds, rounded up."""
    kinds: dict[str, plan_types.TelegramKind] = {
        "notify": "message-notify",
        "request": "message-request",
        "reply": "message-reply-query" if is_confirmed else "message-reply",
        "confirm": "message-confirm",
        "error": "message-error",
    }
    waits = {"request": trdp.reply_time_out, "reply": trdp.confirm_time_out if is_confirmed else 0}
    return kinds[trdp.pattern], -(-waits.get(trdp.pattern, 0) // 1_000) * 1_000


def _streams(draft: Draft, replies: Mapping[str, int], confirmed: Set[str]) -> list[plan_types.Stream]:
    """All streams; each has hops of its own."""
    return [_stream(flow, replies, confirmed, plan_route(flow.route)) for flow in draft.flows]


def _stream(
    flow: Flow, replies: Mapping[str, int], confirmed: Set[str], route: list[plan_types.Route]
) -> plan_types.Stream:
    stream = flow.stream
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
        "route": route,
        "listeners": [
            {"node": node, "route": end} for node, end in zip(flow.listeners, flow.ends, strict=True)
        ],
        "requirements": requirements_document(stream.requires),
    }
    if stream.vid is not None:
        made["vid"] = stream.vid
    tos = stream.trdp.qos << 5 if stream.trdp else stream.tos
    if tos:
        made["type_of_service"] = tos
    if stream.trdp is not None:
        made["trdp"] = _trdp(flow, stream.trdp, replies, confirmed)
    if flow.answers is not None:
        made["answers"] = flow.answers
    if flow.redundancy:
        made["redundancy"] = flow.redundancy
    if flow.flood:
        made["flood"] = plan_route(flow.flood)
    if flow.socket is not None:
        made["socket"] = flow.socket
    if flow.scheduled is not None:
        made["scheduled"] = flow.scheduled
    return made
