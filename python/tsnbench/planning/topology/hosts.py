"""Software of hosts: latencies, sockets and queueing disciplines, in the form of ``crates/plan``.

Functions of the kernel are removed from the hardware: gates under ``taprio`` without full offload, shapers
under ``cbs`` in software. tc-taprio(8), tc-etf(8), tc-cbs(8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsnbench.planning.draft import Draft, Flow, Gates, Port
from tsnbench.planning.parts import without_none
from tsnbench.planning.shaping.cbs_given import differing
from tsnbench.planning.topology.host_delays import planned_qdisc
from tsnbench.scenario import model
from tsnbench.scenario.units import DURATION

if TYPE_CHECKING:
    from tsnbench.plan.types import ChildQdisc, Distribution, EtfChildQdisc, Host


def set_hosts(draft: Draft) -> None:
    """Fills ``host`` of nodes, ``qdisc`` of ports and ``socket`` of flows."""
    processors = list(dict.fromkeys(one.processor for one in draft.scenario.hosts.values() if one.processor))
    for node in draft.nodes:
        host = draft.scenario.hosts.get(node.name)
        if host is not None:
            node.host = _software(host)
            if host.processor:
                node.host["processor"] = processors.index(host.processor)
            elif alone := next((key for key in ("turn", "finish") if key in host.latencies), None):
                hint = "write processor: guest, which hosts share"
                draft.problem(f"hosts.{node.name}.{alone}", "a processor that hosts share", "none", hint)
            if node.cut_through_octets is not None:
                draft.problem(f"hosts.{node.name}", "a node that stores frames", "one that cuts through")
    for port in draft.ports:
        if port.shaper.qdisc is not None:
            _set_qdisc(draft, port, port.shaper.qdisc)
    for flow in draft.flows:
        if flow.stream.send is not None:
            _set_socket(draft, flow, flow.stream.send)


def _software(host: model.Host) -> Host:
    """The written latencies; all other stages take no time."""
    return without_none({stage.replace("-", "_"): _latency(one) for stage, one in host.latencies.items()})


def _latency(latency: model.Latency) -> Distribution:
    if isinstance(latency, model.Constant):
        return {"kind": "constant", "ns": latency.ns}
    if isinstance(latency, model.Uniform):
        return {"kind": "uniform", "from_ns": latency.low, "to_ns": latency.high}
    bins = {"ns": list(latency.values), "counts": list(latency.counts), "width_ns": latency.width or None}
    return without_none({"kind": "histogram", **bins})


def _set_qdisc(draft: Draft, port: Port, qdisc: model.Qdisc) -> None:
    path = f"shapers.{port.name}.qdisc"
    qdisc = planned_qdisc(draft, port, qdisc)
    if draft.nodes[port.node].host is None:
        if _named_alone(draft, port):
            hint = "give it software: hosts: {default: low-latency}"
            draft.problem(path, "a port of a host with software", draft.nodes[port.node].name, hint)
        return
    children: list[ChildQdisc] = [
        {"kind": "pfifo", "limit_frames": qdisc.limit_frames} for _ in range(port.classes)
    ]
    if qdisc.cbs == "software":
        for number, shaper in port.cbs.items():
            children[number] = without_none(
                {
                    "kind": "cbs",
                    **shaper.tc(),
                    "limit_frames": qdisc.limit_frames,
                    "overhead_octets": qdisc.overhead or None,
                    "follows": differing(shaper),
                }
            )
        port.cbs, port.gated_cbs = {}, {}
    for pcp, etf in qdisc.etf.items():
        number = port.pcp_to_class[pcp]
        if children[number]["kind"] != "pfifo":
            draft.problem(f"{path}.etf", "one child for each class", f"etf and another one for PCP {pcp}")
        children[number] = _etf(etf)
    port.qdisc = {"children": children}
    if qdisc.taprio in ("software", "txtime-assist"):
        if port.gates is None:
            draft.problem(f"{path}.taprio", "gates for taprio to keep", "none", "write gates: {entries: […]}")
            return
        if qdisc.taprio == "software" and any(child["kind"] != "pfifo" for child in children):
            draft.problem(f"{path}.taprio", "plain queues under taprio in software", "etf or cbs")
        _refuse_more(draft, port, port.gates, path)
        plain = port.gates.plain()
        port.qdisc["taprio"] = without_none(
            {"mode": qdisc.taprio, "txtime_delay_ns": qdisc.txtime_delay or None, **plain}
        )
        # To the hardware, every gate is open.
        port.gates, port.gated_cbs = None, port.cbs
    elif qdisc.taprio == "full-offload" and port.gates is None:
        draft.problem(f"{path}.taprio", "gates of the hardware", "none", "write gates: {entries: […]}")


def _etf(etf: model.Etf) -> EtfChildQdisc:
    assert etf.delta is not None  # planned_qdisc has chosen it
    return without_none(
        {
            "kind": "etf",
            "delta_ns": etf.delta,
            "deadline": etf.deadline or None,
            "offload": etf.offload or None,
            "skip_sock_check": etf.skip_sock_check or None,
        }
    )


def _refuse_more(draft: Draft, port: Port, gates: Gates, path: str) -> None:
    """The kernel supports one list, from its base time on, and none of the functions that only hardware
    has."""
    written = port.shaper.gates
    more = {
        "changes": bool(port.gate_changes),
        "before": port.gates_before is not None,
        "extension": gates.extension_ns > 0,
        "guard": isinstance(written, model.Gates) and not written.guard,
        "mac": any(gates.macs),
        "a fault of its schedule": any(
            fault["kind"] == "schedule" and fault["port"] == port.number for fault in draft.faults
        ),
    }
    for name in (name for name, given in more.items() if given):
        hint = "write taprio: full-offload, or leave it out"
        draft.problem(f"{path}.taprio", "one plain gate control list, because the kernel has it", name, hint)


def _named_alone(draft: Draft, port: Port) -> bool:
    """Whether a selector for the port's node alone gives it queueing disciplines."""
    name = draft.nodes[port.node].name
    return any(
        shaper.qdisc is not None and text.split("->")[0].strip() == name
        for text, shaper in draft.scenario.shapers.items()
    )


def _set_socket(draft: Draft, flow: Flow, send: model.Send) -> None:
    path = f"streams.{flow.group}.send"
    if draft.nodes[flow.talker].host is None:
        hint = "give it software: hosts: {default: low-latency}"
        draft.problem(path, "a talker that is a host with software", draft.nodes[flow.talker].name, hint)
        return
    if flow.pattern["kind"] == "saturating":
        draft.problem(path, "a talker with a timer", "a saturating one")
        return
    flow.socket = without_none(
        {
            "advance_ns": send.advance,
            "txtime": send.txtime or None,
            "deadline": send.deadline or None,
            "other_clock": send.clock != "tai" or None,
        }
    )
    if flow.pattern["kind"] != "periodic":
        return
    offset, period = flow.pattern["offset_ns"], flow.pattern["period_ns"]
    if send.window is not None and send.advance + send.window > period:
        most = DURATION.text(max(period - send.window, 0))
        draft.problem(
            f"{path}.advance", f"at most {most}, a period without the window", DURATION.text(send.advance)
        )
    # alpha of Farzaneh: the first cycle whose timer is not before the start.
    alpha = max(0, -((offset - send.advance) // period))
    flow.pattern["offset_ns"] = offset + alpha * period - send.advance
