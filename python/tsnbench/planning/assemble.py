"""The last pass: a finished draft as the Plan's document, in exactly the words of ``crates/plan``."""

from __future__ import annotations

from typing import Any

from tsnbench.planning.clocks import clocks_document
from tsnbench.planning.draft import Draft, Flow, Gates, Port
from tsnbench.planning.requirements import requirements_document
from tsnbench.scenario import model

FORMAT = "tsnbench-plan/1"


def assemble(draft: Draft) -> dict[str, Any]:
    """The document, without its hash."""
    scenario = draft.scenario
    return {
        "format": FORMAT,
        "name": scenario.name,
        "variant": dict(scenario.variant),
        "seed": scenario.seed,
        "duration_ns": scenario.duration,
        "drain_ns": scenario.drain,
        "nodes": [
            {
                "name": node.name,
                "kind": node.kind,
                "processing_ns": node.processing_ns,
                "ipv4": node.ipv4,
                **_given(
                    cut_through_octets=node.cut_through_octets,
                    further=node.further,
                    buffer=node.buffer,
                    learning=node.learning,
                    host=node.host,
                ),
            }
            for node in draft.nodes
        ],
        "ports": [_port(port) for port in draft.ports],
        "streams": [_flow(flow) for flow in draft.flows],
        **({"faults": draft.faults} if draft.faults else {}),
        **_given(policing=_policing(draft)),
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
        **_given(clocks=clocks_document(draft)),
    }


def _given(**fields: Any) -> dict[str, Any]:
    """Absent is how the Plan spells none."""
    return {name: value for name, value in fields.items() if value is not None}


def _policing(draft: Draft) -> list[dict[str, Any]] | None:
    tables = [
        {"node": node, **{name: entries for name, entries in vars(own).items() if entries}}
        for node, own in sorted(draft.policing.items())
    ]
    return [table for table in tables if len(table) > 1] or None


def _port(port: Port) -> dict[str, Any]:
    frames, octets = port.limits
    classes = [
        _given(
            limit_frames=frames,
            limit_octets=octets,
            cbs=_cbs(port, number),
            max_sdu_octets=port.max_sdu.get(number),
        )
        for number in range(port.classes)
    ]
    return {
        "name": port.name,
        "node": port.node,
        "peer": port.peer,
        "mac": port.mac,
        "rate_bps": port.rate_bps,
        "propagation_ps": port.propagation_ps,
        "pcp_to_class": list(port.pcp_to_class),
        "classes": classes,
        **_given(gates=_gates(port), preemption=_preemption(port), qdisc=port.qdisc),
    }


def _preemption(port: Port) -> dict[str, Any] | None:
    if port.express is None:
        return None
    hold, release = port.hold_advance_ns or None, port.release_advance_ns or None
    return {"express": port.express, **_given(hold_advance_ns=hold, release_advance_ns=release)}


def _gates(port: Port) -> dict[str, Any] | None:
    written = port.shaper.gates
    if port.gates is None:
        return None
    changes = [
        {
            "at_ns": at,
            **_gate_list(gates),
            **_given(
                idle_slopes=[{"class": number, "bps": bps} for number, bps in sorted(slopes.items())] or None
            ),
        }
        for at, gates, slopes in port.gate_changes
    ]
    return {
        **_gate_list(port.gates),
        **_given(
            initial=port.gates_before,
            # A list that follows another one is as strict as lists are by default.
            unguarded=True if isinstance(written, model.Gates) and not written.guard else None,
            changes=changes or None,
        ),
    }


def _gate_list(gates: Gates) -> dict[str, Any]:
    macs = gates.macs or (None,) * len(gates.entries)
    return {
        "base_time_ns": gates.base_time_ns,
        "cycle_ns": gates.cycle_ns,
        "entries": [
            {"open": mask, "interval_ns": interval, **_given(mac=mac)}
            for (mask, interval), mac in zip(gates.entries, macs, strict=True)
        ],
        **_given(cycle_extension_ns=gates.extension_ns or None),
    }


def _cbs(port: Port, traffic_class: int) -> dict[str, Any] | None:
    shaper = port.cbs.get(traffic_class)
    if shaper is None:
        return None
    gates = port.shaper.gates
    runs = isinstance(gates, model.Gates) and gates.credit_runs
    # Linux's shaper knows nothing of gates: its credit runs on while they are closed.
    standard, linux = port.gated_cbs[traffic_class].standard(), shaper.linux()
    return {
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
        **_given(runs_while_closed=runs or None),
    }


def _flow(flow: Flow) -> dict[str, Any]:
    stream = flow.stream
    return {
        "name": flow.name,
        "group": flow.group,
        "talker": flow.talker,
        "pcp": stream.pcp,
        **_given(vid=stream.vid),
        "destination_mac": flow.destination_mac,
        "destination_ipv4": flow.destination_ipv4,
        "udp_port": flow.udp_port,
        "pattern": flow.pattern,
        "size": flow.size,
        "start_ns": flow.start_ns,
        "stop_ns": flow.stop_ns,
        "route": [{"port": hop.port, **_given(parent=hop.parent)} for hop in flow.route],
        **_given(
            redundancy=flow.redundancy or None,
            flood=[{"port": hop.port, "parent": hop.parent} for hop in flow.flood] or None,
            socket=flow.socket,
            scheduled=flow.scheduled,
        ),
        "listeners": [
            {"node": node, "route": end} for node, end in zip(flow.listeners, flow.ends, strict=True)
        ],
        "requirements": requirements_document(stream.requires),
    }
