"""Cyclic queuing and forwarding: stream gates choose queues in turn, and gates let them send in turn.

IEEE 802.1Q-2022, annex T. Cycles of all nodes begin at multiples of the cycle, on their clocks. With two
queues, frames received in one cycle are sent in the next one. Frames sent in a cycle arrive after the delay
of link and bridge; if that ends in a later cycle, additional queues (multi-cycle) or a pause at the end of
each cycle keep cycles apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench import quantities
from tsnbench.planning.draft import Draft, Flow, Gates, Hop, Policing, Port
from tsnbench.planning.shaping.cqf_cycle import choose_cycle, delay_ns, pause_ns, whole_cycles
from tsnbench.planning.shaping.policing import gate_document, overlay
from tsnbench.scenario import model

if TYPE_CHECKING:
    from tsnbench.plan.types import StreamGate

FASTEST = 100_000_000_000
"""bit/s: a frame then still takes longer than the nanosecond that times are rounded to."""


@dataclass(frozen=True)
class Shift:
    """The relation of cycles at the two ends of a link between cyclic ports."""

    delay_ns: int
    """Delay from the last bit out to the queue after the link, rounded up."""
    cycles: int
    """Whole cycles that a queue waits in addition to the first one."""
    pause_ns: int
    """The pause at the end of a cycle, in which no frame is sent."""


def queue_cyclically(draft: Draft) -> None:
    """Fills ``gates`` of cyclic ports, and adds stream gates to the filters of their nodes."""
    cyclic = [port for port in draft.ports if port.shaper.cqf is not None]
    choose_cycle(draft, cyclic)
    draft.raise_problems()
    if not cyclic or not _possible(draft, cyclic):
        return
    shifts = {port.number: _shift(draft, port) for port in cyclic}
    made: dict[tuple[int, int, model.Cqf, tuple[int, ...], Shift | None], int] = {}
    for number, flow in enumerate(draft.flows):
        priorities = draft.priorities(flow)
        done: dict[tuple[int, int], tuple[int, ...]] = {}
        for place, hop in enumerate(flow.route):
            port, pcp = draft.ports[hop.port], priorities[place]
            cqf = port.shaper.cqf
            if cqf is None or not _takes_turns(draft, flow, port, cqf, pcp) or _at_talker(draft, flow, hop):
                continue
            assert hop.parent is not None
            before = draft.ports[flow.route[hop.parent].port]
            own = draft.policing.setdefault(port.node, Policing())
            ipvs = _ipvs(draft, port, cqf)
            if ipvs is None:
                continue
            key = (port.node, before.peer)
            if key in done:
                if done[key] != ipvs:
                    expected = (
                        f"the same cyclic queues at all ports of {draft.nodes[port.node].name} for one stream"
                    )
                    found = f"{_list(cqf.classes)} at {port.name}, others before"
                    hint = f"write classes: [{_list(done[key])}] at {port.name}"
                    draft.problem(f"streams.{flow.group}", expected, found, hint)
                continue
            done[key] = ipvs
            upstream = before.shaper.cqf
            follows = upstream is not None and priorities[hop.parent] in upstream.pcps
            shift = shifts[before.number] if follows else None
            gate_key = (port.node, before.peer, cqf, ipvs, shift)
            if gate_key not in made:
                made[gate_key] = len(own.gates)
                # Also a frame that is processed longest is in its queue when the queue's turn begins.
                processing = draft.nodes[port.node].longest_processing_ns
                own.gates.append(_stream_gate(cqf, ipvs, shift, processing))
            clash = overlay(own, before.peer, number, pcp, flow.name, "gate", made[gate_key])
            if clash is not None:
                expected = f"one stream gate at {draft.nodes[port.node].name}: cqf has one"
                hint = "leave this stream out of the gates of policing there"
                draft.problem(f"streams.{flow.group}", expected, "another one", hint)
    for port in cyclic:
        _open(draft, port, shifts[port.number])


def _takes_turns(draft: Draft, flow: Flow, port: Port, cqf: model.Cqf, pcp: int) -> bool:
    """Whether frames of a priority are queued cyclically; reports others in the cyclic queues."""
    if pcp not in cqf.pcps and port.pcp_to_class[pcp] in cqf.classes:
        expected = f"no other stream in the cyclic queues {_list(cqf.classes)} of {port.name}"
        hint = "give it another PCP, or write this PCP in cqf, too"
        draft.problem(f"streams.{flow.group}", expected, f"PCP {pcp}", hint)
    return pcp in cqf.pcps


def _at_talker(draft: Draft, flow: Flow, hop: Hop) -> bool:
    """Whether a cyclic port is the talker's own, which is reported."""
    port = draft.ports[hop.port]
    if hop.parent is None:
        draft.problem(
            f"streams.{flow.group}.from",
            f"a talker whose own port has no cqf: {port.name} has",
            draft.nodes[port.node].name,
            "only what comes over a link is put into a cycle: write bridges: {cqf: …}, for ports of bridges",
        )
    return hop.parent is None


def _possible(draft: Draft, cyclic: list[Port]) -> bool:
    before = len(draft.problems)
    cycles = {port.shaper.cqf.cycle for port in cyclic if port.shaper.cqf}
    if len(cycles) > 1:
        draft.problem(
            "shapers", "one cqf cycle for all ports", ", ".join(map(quantities.time, sorted(cycles)))
        )
    for port in cyclic:
        cqf = port.shaper.cqf
        assert cqf is not None
        path = f"shapers.{port.name}.cqf"
        if port.shaper.gates is not None:
            hint = "cqf makes the gates of its ports: leave gates out"
            draft.problem(path, "gates or cqf at one port", "both", hint)
        high = [number for number in cqf.classes if number >= port.classes]
        if high:
            draft.problem(f"{path}.classes", f"classes below {port.classes}", str(high[0]))
        if port.rate_bps > FASTEST:
            draft.problem(path, "a port of at most 100 Gbit/s", quantities.rate(port.rate_bps))
        clocks = draft.scenario.clocks
        gptp = clocks.gptp if clocks is not None else None
        if gptp is not None and not high and port.pcp_to_class[gptp.pcp] in cqf.classes:
            draft.problem(f"{path}.classes", "cyclic queues without PTP messages", f"gPTP has PCP {gptp.pcp}")
    return len(draft.problems) == before


def _shift(draft: Draft, port: Port) -> Shift:
    cqf = port.shaper.cqf
    assert cqf is not None
    delay, cycles = delay_ns(draft, port), whole_cycles(draft, port, cqf.cycle)
    return Shift(delay, cycles, pause_ns(draft, port, cqf.cycle))


def _ipvs(draft: Draft, port: Port, cqf: model.Cqf) -> tuple[int, ...] | None:
    """A priority for each cyclic queue that leads to it."""
    found = []
    for traffic_class in cqf.classes:
        pcps = [pcp for pcp in range(8) if port.pcp_to_class[pcp] == traffic_class]
        if not pcps:
            path = f"shapers.{port.name}.cqf.classes"
            hint = f"classes with a priority at {port.name}: {_list(tuple(sorted(set(port.pcp_to_class))))}"
            draft.problem(path, "classes that a priority leads to", str(traffic_class), hint)
            return None
        found.append(traffic_class if traffic_class in pcps else pcps[0])
    return tuple(found)


def _stream_gate(cqf: model.Cqf, ipvs: tuple[int, ...], shift: Shift | None, processing: int) -> StreamGate:
    """The queue for the frames of each cycle; from another cyclic port, of the cycle in which they were
    sent."""
    count = len(ipvs)
    later = 1 if shift is None else 1 + shift.cycles
    entries = tuple(
        model.StreamGateEntry(ipv=ipvs[(turn + later) % count], duration=cqf.cycle, octets=cqf.octets)
        for turn in range(count)
    )
    document = gate_document(model.StreamGate(entries=entries))
    document["base_time_ns"] = (0 if shift is None else shift.delay_ns) - processing
    return document


def _open(draft: Draft, port: Port, shift: Shift) -> None:
    cqf = port.shaper.cqf
    assert cqf is not None
    pause = shift.pause_ns
    if pause >= cqf.cycle:
        draft.problem(
            f"shapers.{port.name}.cqf",
            f"a cycle longer than {quantities.time(shift.delay_ns)}, the delay of link and bridge, "
            "or more classes",
            f"{quantities.time(cqf.cycle)} and {len(cqf.classes)} classes",
            "write a longer cycle, or three classes: each further one gives frames a cycle more to arrive",
        )
        return
    others = sum(1 << number for number in range(port.classes) if number not in cqf.classes)
    entries: list[tuple[int, int]] = []
    for traffic_class in cqf.classes:
        entries.append((others | 1 << traffic_class, cqf.cycle - pause))
        if pause:
            entries.append((others, pause))
    port.gates = Gates(0, tuple(entries))


def _list(classes: tuple[int, ...]) -> str:
    return ", ".join(map(str, classes))
