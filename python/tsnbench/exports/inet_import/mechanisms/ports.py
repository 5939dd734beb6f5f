"""The egress of ports: classes, limits of queues, credit-based shapers, gates, pre-emption."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm

from tsnbench.errors import ContentError
from tsnbench.exports.inet_import.language.expressions import Quantity, Value
from tsnbench.exports.inet_import.mechanisms.filters import matches
from tsnbench.exports.inet_import.model import Model, Stream
from tsnbench.exports.inet_import.parameters import Parameters
from tsnbench.exports.scenario_text import duration, flow, listed, rate

DEFAULT_CLASSES = (
    (0, 0, 0, 0, 0, 1, 1, 1), (0, 0, 0, 0, 0, 0, 0, 0), (0, 0, 0, 1, 1, 2, 2, 2), (0, 0, 0, 1, 1, 2, 3, 3),
    (0, 1, 1, 2, 2, 3, 4, 4), (0, 1, 1, 2, 2, 3, 4, 5), (0, 1, 2, 3, 3, 4, 5, 6), (0, 1, 2, 3, 4, 5, 6, 7),
)  # fmt: skip
"""INET's default, that of IEEE 802.1Q-2022, 8.6.6: the class of each PCP, by the number of classes."""
UNLIMITED = 16_777_216
"""Frames in a queue without a limit: the most that a scenario takes."""
MOST_ENTRIES = 1024
_SHAPED = "Ieee8021qTimeAwareShaper"


@dataclass
class Port:
    """The egress of an interface; ``kind`` says how frames get their class: pcp, filters, vlan or single."""

    node: str
    number: int
    name: str
    """As under ``shapers``."""
    kind: str = "single"
    classes: int = 1
    table: tuple[int, ...] = (0,) * 8
    filters: list[Value] = field(default_factory=list)
    is_reversed: bool = False
    """Whether INET's queue 0 goes first."""
    queue: str = ""
    gates: list[str] = field(default_factory=list)
    """The path of the gate of each class."""
    queues: list[str] = field(default_factory=list)
    algorithms: list[str] = field(default_factory=list)
    express: bool = False
    """Whether the highest class preempts the others."""
    ats: dict[str, object] = field(default_factory=dict)
    saturated: set[int] = field(default_factory=set)
    """Classes that a saturating talker fills: the limits of their queues are its backlog."""

    def class_of(self, stream: Stream) -> int:
        """The class of a stream's frames here."""
        if self.kind == "pcp":
            return self.table[stream.pcp] if stream.pcp is not None else 0
        if self.kind == "filters":
            found = next((n for n, one in enumerate(self.filters) if matches(one, stream)), 0)
        elif self.kind == "vlan":
            found = min(stream.request, self.classes - 1)
        else:
            return 0
        return self.classes - 1 - found if self.is_reversed else found


def ports(model: Model) -> list[Port]:
    """Every egress port of the network, in the order of nodes and interfaces."""
    found = []
    for node, one in model.topology.nodes.items():
        peers = [link.other(node)[0] for _, link in sorted(one.links.items())]
        for number, link in sorted(one.links.items()):
            peer = link.other(node)[0]
            name = f"{model.names[node]} -> {model.names[peer]}"
            if peers.count(peer) > 1:
                same = [other for other in model.topology.links if {node, peer} == _nodes(other.ends)]
                name += f"#{same.index(link) + 1}"
            port = Port(node, number, name)
            _queue(model, port)
            found.append(port)
    return found


def _nodes(ends: tuple[tuple[str, int], tuple[str, int]]) -> set[str]:
    return {ends[0][0], ends[1][0]}


def _queue(model: Model, port: Port) -> None:
    parameters = model.parameters
    layer = model.path(port.node, f"eth[{port.number}].macLayer")
    shapes = parameters.flag(model.path(port.node, "hasEgressTrafficShaping"))
    preempts = parameters.flag(model.path(port.node, "hasFramePreemption"))
    mac = parameters.text(f"{layer}.typename")
    if mac == "EthernetPreemptingMacLayer" or (preempts and not mac):
        _preempting(parameters, port, layer)
        return
    port.queue = f"{layer}.queue"
    kind = parameters.text(f"{port.queue}.typename", _SHAPED if shapes else "PacketQueue")
    if kind in (_SHAPED, "TimeAwareShaper"):
        _shaped(parameters, port)
    elif kind in ("GatingPriorityQueue", "PriorityQueue"):
        port.is_reversed = True
        port.classes = max(parameters.whole(f"{port.queue}.numQueues", 1), 1)
        setting = parameters.setting(f"{port.queue}.numQueues")
        if port.classes > 8 and setting is not None:
            raise ContentError(f"{setting.place}: numQueues: expected at most 8, found {port.classes}")
        _classifier(parameters, port, f"{port.queue}.classifier")
        gated = kind == "GatingPriorityQueue"
        _paths(port, "gate" if gated else "")
    else:
        port.queues = [port.queue]
        if kind not in ("PacketQueue", "DropTailQueue"):
            model.lose_setting(f"the queue {kind}", parameters.setting(f"{port.queue}.typename"))


def _shaped(parameters: Parameters, port: Port) -> None:
    port.classes = min(max(parameters.whole(f"{port.queue}.numTrafficClasses", 8), 1), 8)
    port.kind = "pcp"
    port.table = tuple(row[port.classes - 1] for row in DEFAULT_CLASSES)
    _classifier(parameters, port, f"{port.queue}.classifier")
    _paths(port, "transmissionGate")
    port.algorithms = [f"{port.queue}.transmissionSelectionAlgorithm[{n}]" for n in range(port.classes)]


def _paths(port: Port, gate: str) -> None:
    """Paths by tsnbench's class; INET's queue 0 is the highest class where it goes first."""
    order = range(port.classes)
    numbers = list(reversed(order)) if port.is_reversed else list(order)
    port.queues = [f"{port.queue}.queue[{number}]" for number in numbers]
    port.gates = [f"{port.queue}.{gate}[{number}]" for number in numbers] if gate else []


def _classifier(parameters: Parameters, port: Port, path: str) -> None:
    kind = parameters.text(f"{path}.typename")
    if kind == "ContentBasedClassifier":
        port.kind = "filters"
        given = parameters.get(f"{path}.packetFilters")
        port.filters = list(given) if isinstance(given, list) else []
    elif parameters.text(f"{path}.classifierClass").endswith("PacketVlanReqClassifier"):
        port.kind = "vlan"
    mapping = parameters.get(f"{path}.mapping")
    if port.kind == "pcp" and isinstance(mapping, list) and len(mapping) == 8:
        chosen = [
            row[min(port.classes, len(row)) - 1] if isinstance(row, list) and row else row for row in mapping
        ]
        if not all(isinstance(one, Quantity) and 0 <= one.value < 8 for one in chosen):
            setting = parameters.setting(f"{path}.mapping")
            assert setting is not None
            raise ContentError(f"{setting.place}: mapping: expected classes from 0 to 7, found another value")
        port.table = tuple(
            min(int(one.value), port.classes - 1) for one in chosen if isinstance(one, Quantity)
        )


def _preempting(parameters: Parameters, port: Port, layer: str) -> None:
    """Express frames are one class, and preemptable frames the other one."""
    port.express, port.classes, port.queue = True, 2, layer
    path = f"{layer}.outboundClassifier"
    if parameters.text(f"{path}.typename") == "PcpTrafficClassClassifier":
        port.kind = "pcp"
        port.table = tuple(row[1] for row in DEFAULT_CLASSES)
        if not parameters.flag(f"{path}.reverseOrder"):
            # INET's first output leads to the express MAC: here the lower class.
            port.table = tuple(1 - one for one in port.table)
        _classifier(parameters, port, path)
    else:
        # INET's default sorts by the VLAN that is requested: 0 is express.
        port.kind, port.is_reversed = "vlan", True
    express = f"{layer}.expressMacLayer"
    preemptable = f"{layer}.preemptableMacLayer"
    port.queues = [f"{preemptable}.queue", f"{express}.queue"]
    port.gates = [f"{preemptable}.gate", f"{express}.queue.gate"]


def carries(model: Model, port: Port) -> bool:
    """Whether frames of streams can leave here: from a bridge or a talker, to a bridge or a listener."""
    ends = {one.talker for one in model.streams}, {to for one in model.streams for to in one.listeners}
    nodes = model.topology.nodes
    peer = nodes[port.node].links[port.number].other(port.node)[0]
    return (nodes[port.node].kind == "bridge" or port.node in ends[0]) and (
        nodes[peer].kind == "bridge" or peer in ends[1]
    )


def prioritise(model: Model, found: list[Port]) -> None:
    """Gives streams PCPs where INET sorts them by something else."""
    for stream in model.streams:
        stream.written = stream.pcp
    _schedulable(model, found)
    special = [
        port
        for port in found
        if port.kind in ("filters", "vlan")
        and carries(model, port)
        and len({port.class_of(stream) for stream in model.streams}) > 1
    ]
    if not special:
        return
    by_class: dict[tuple[int, ...], list[Stream]] = {}
    for stream in model.streams:
        key = (*(port.class_of(stream) for port in special), stream.pcp or 0)
        by_class.setdefault(key, []).append(stream)
    pcp = -1
    for number, (key, streams) in enumerate(sorted(by_class.items())):
        # As high as the class, and no two groups alike.
        pcp = min(max(pcp + 1, key[0]), 7 - (len(by_class) - 1 - number))
        for stream in streams:
            stream.written = max(pcp, 0)
            if stream.pcp is None:
                model.decide(
                    "priorities without a tag; written: a tag, in a frame as long as INET's", stream.name
                )


def _schedulable(model: Model, found: list[Port]) -> None:
    """Talkers of scheduled streams get the classes of bridges: their ports have gates, too."""
    bridge = next((port for port in found if port.kind == "pcp"), None)
    if bridge is None or not any("scheduled" in one.keys for one in model.streams):
        return
    for port in found:
        if port.kind == "single" and any(one.talker == port.node for one in model.streams):
            port.kind, port.classes, port.table = "pcp", bridge.classes, bridge.table
            model.decide("talkers of scheduled streams; written: the classes of the bridges", port.name)


def table(port: Port, model: Model) -> dict[int, int]:
    """The class of each PCP that is not 0."""
    if port.kind == "pcp" and all(one.written == one.pcp for one in model.streams):
        found = dict(enumerate(port.table))
    else:
        found = {one.written: port.class_of(one) for one in model.streams if one.written is not None}
        free = [pcp for pcp in range(7, -1, -1) if pcp not in found]
        # The number of classes follows from the highest one: each class has a PCP, also without a stream.
        for number in reversed(range(port.classes)):
            if number not in found.values() and free:
                found[free.pop(0)] = number
    kept = {pcp: own for pcp, own in sorted(found.items(), reverse=True) if own}
    return kept or {0: 0}


def saturate(model: Model, found: list[Port]) -> None:
    """Sources whose period is the time of a frame on their link have always a frame to send."""
    of_node: dict[str, list[Port]] = {}
    for port in found:
        of_node.setdefault(port.node, []).append(port)
    for stream in model.streams:
        own = of_node.get(stream.talker, [])
        if not stream.period or len(own) != 1:
            continue
        number, link = next(iter(model.topology.nodes[stream.talker].links.items()))
        bps = next(bps for end, bps in zip(link.ends, link.rates, strict=True) if end[0] == stream.talker)
        # The period of a source has whole ps.
        needed = Fraction(8 * (stream.frame + 20), bps) if number == own[0].number else Fraction(0)
        if int(stream.period * 10**12) != int(needed * 10**12):
            if round(stream.period * 10**9) != stream.period * 10**9:
                model.decide("periods that are no whole ns; written: the nearest", stream.name)
            continue
        if stream.stop is not None:
            # INET's source looks at the time of the packet before.
            stream.stop -= stream.period
        del stream.keys["period"]
        stream.keys["saturating"] = "true"
        number = own[0].class_of(stream)
        path = own[0].queues[number]
        count, _ = _limit(model, path, model.parameters.text(f"{path}.typename", "PacketQueue"))
        if count < 1000:
            own[0].saturated.add(number)
            if count != 2:
                stream.keys["backlog"] = count
        model.decide("sources as fast as their link; written: saturating", stream.name)


def settings(model: Model, port: Port) -> dict[str, str]:
    """The keys of a port under ``shapers``, as text."""
    found: dict[str, str] = {}
    own = table(port, model)
    queues: dict[str, object] = {"classes": flow({str(pcp): one for pcp, one in own.items()})}
    queues |= _limits(model, port)
    found["queues"] = flow(queues)
    shares, gates = _gates(model, port)
    shapers = _shapers(model, port, own, shares)
    if shapers:
        found["cbs"] = flow(shapers)
    if port.ats:
        found["ats"] = flow(port.ats)
    if port.express:
        express = [pcp for pcp, one in own.items() if one]
        if express:
            found["preemption"] = flow({"express": listed(express)})
        else:
            model.decide("pre-emption without an express stream is left out", port.name)
    if gates:
        found["gates"] = gates
    return found


def _limits(model: Model, port: Port) -> dict[str, object]:
    frames: set[int] = set()
    octets: set[int] = set()
    for number, path in enumerate(port.queues):
        if number in port.saturated and len(port.queues) > len(port.saturated):
            continue
        kind = model.parameters.text(f"{path}.typename", "PacketQueue")
        count, size = _limit(model, path, kind)
        frames.add(count)
        if size:
            octets.add(size)
    if len(frames) > 1:
        setting = model.parameters.setting(f"{port.queues[0]}.packetCapacity")
        model.lose_setting(f"limits of queues that differ; written: {max(frames)}", setting)
    found: dict[str, object] = {"limit-frames": max(frames, default=UNLIMITED)}
    if octets:
        found["limit-octets"] = f"{max(octets)} B"
    return found


def _limit(model: Model, path: str, kind: str) -> tuple[int, int]:
    """Frames and octets; INET's default queue has no limit, and ignores the parameters of one."""
    if kind not in ("DropTailQueue", "GatingQueue"):
        return UNLIMITED, 0
    count = model.parameters.whole(f"{path}.packetCapacity", 100 if kind == "DropTailQueue" else -1)
    size = model.parameters.number(f"{path}.dataCapacity", "B")
    return (min(count, UNLIMITED) if count > 0 else UNLIMITED), int(size or 0) if (size or 0) > 0 else 0


def _shapers(model: Model, port: Port, own: dict[int, int], shares: list[Fraction]) -> dict[str, object]:
    """Credit-based shapers by the PCP of their class, highest first."""
    found: dict[str, object] = {}
    for number in reversed(range(len(port.algorithms))):
        path = port.algorithms[number]
        kind = model.parameters.text(f"{path}.typename")
        if kind not in ("Ieee8021qCreditBasedShaper", "Ieee8021qCreditBasedGate"):
            continue
        slope = model.parameters.number(f"{path}.idleSlope", "bps")
        if slope is None:
            model.lose_setting("a shaper without idleSlope", model.parameters.setting(f"{path}.typename"))
            continue
        used = [one.written for one in model.streams if one.written is not None]
        pcps = [pcp for pcp in range(8) if own.get(pcp, 0) == number]
        chosen = next((pcp for pcp in pcps if pcp in used), pcps[0] if pcps else None)
        if chosen is not None:
            # INET's slope is the one in force, and the scenario's that of the reservation.
            share = shares[number] if shares else Fraction(1)
            found[str(chosen)] = _shaper(model, path, slope, share)
    return found


def _shaper(model: Model, path: str, slope: Fraction, share: Fraction) -> str:
    keys: dict[str, object] = {"idle-slope": rate(slope * share)}
    send = model.parameters.number(f"{path}.sendSlope", "bps")
    if send is not None:
        keys["send-slope"] = f"{round(send * share)} bit/s"
    high = model.parameters.number(f"{path}.maxCredit", "")
    low = model.parameters.number(f"{path}.minCredit", "")
    if high is not None and low is not None:
        keys |= {"hi-credit": f"{round(high)} bit", "lo-credit": f"{round(low)} bit"}
    model.parameters.get(f"{path}.accumulateCreditInGuardBand")
    return flow(keys)


def _gates(model: Model, port: Port) -> tuple[list[Fraction], str]:
    """The open share of each class, and the gate control list; both empty without one."""
    states: list[tuple[bool, list[int], int]] = []
    guards: set[bool] = set()
    for path in port.gates:
        times = model.parameters.quantities(f"{path}.durations", "ns")
        offset = model.parameters.number(f"{path}.offset", "ns") or Fraction(0)
        is_open = model.parameters.flag(f"{path}.initiallyOpen", True)
        if any(one.denominator != 1 for one in (*times, offset)):
            model.decide("gates with parts of a ns; written: whole ns", port.name)
        whole = [round(one) for one in times]
        # An odd list has the other states in every second round.
        whole = whole * 2 if len(whole) % 2 else whole
        guard = model.parameters.flag(f"{path}.enableImplicitGuardBand", True)
        states.append((is_open, whole, round(offset)))
        if sum(whole):
            guards.add(guard)
    cycles = [sum(whole) for _, whole, _ in states if sum(whole)]
    if not cycles and all(is_open for is_open, _, _ in states):
        return [], ""
    cycle = lcm(*cycles) if cycles else 1_000_000
    entries = _entries(states, cycle)
    if entries is None:
        setting = model.parameters.setting(f"{port.gates[0]}.durations")
        model.lose_setting(f"gates with more than {MOST_ENTRIES} entries in their common cycle", setting)
        return [], ""
    shares = [
        Fraction(sum(length for opened, length in entries[1] if number in opened), cycle) or Fraction(1)
        for number in range(port.classes)
    ]
    keys: dict[str, object] = {"by": "class"}
    if entries[0]:
        keys["base-time"] = duration(Fraction(entries[0], 10**9))
    if guards == {False}:
        keys["guard"] = "none"
    elif len(guards) > 1:
        model.lose_setting(
            "gates of one port with and without a guard; written: with",
            model.parameters.setting(f"{port.gates[0]}.enableImplicitGuardBand"),
        )
    keys["entries"] = listed(
        flow({"open": listed(sorted(opened, reverse=True)) if opened else "none", "for": _ns(length)})
        for opened, length in entries[1]
    )
    return shares, flow(keys)


def _ns(length: int) -> str:
    return duration(Fraction(length, 10**9))


def _entries(
    states: list[tuple[bool, list[int], int]], cycle: int
) -> tuple[int, list[tuple[frozenset[int], int]]] | None:
    """When the list begins, and its entries: the open classes and a length in ns; None: too many."""
    changes = {0}
    for _, whole, offset in states:
        total = sum(whole)
        if not total:
            continue
        if cycle // total * len(whole) > 4 * MOST_ENTRIES:
            return None
        for again in range(0, cycle, total):
            at = again - offset % total
            for length in whole:
                changes.add(at % cycle)
                at += length
    times = sorted(changes)
    found: list[tuple[frozenset[int], int]] = []
    begin = 0
    ends = [*times[1:], cycle]
    for at, end in zip(times, ends, strict=True):
        opened = frozenset(number for number, one in enumerate(states) if _is_open(one, at))
        if found and found[-1][0] == opened:
            found[-1] = (opened, found[-1][1] + end - at)
        else:
            found.append((opened, end - at))
    if len(found) > 1 and found[0][0] == found[-1][0]:
        # The state at time 0 began before it: the list begins with the first change.
        begin = found[0][1]
        found = [*found[1:-1], (found[0][0], found[-1][1] + begin)]
    return None if len(found) > MOST_ENTRIES else (begin, found)


def _is_open(state: tuple[bool, list[int], int], at: int) -> bool:
    is_open, whole, offset = state
    if not sum(whole):
        return is_open
    at = (at + offset) % sum(whole)
    for length in whole:
        if at < length:
            break
        at -= length
        is_open = not is_open
    return is_open
