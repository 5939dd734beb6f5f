"""One station of the network's Plan: what it sends and when, and what its kernel has to do for that."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, cast

from tsnbench.backends.kernel.unsupported import listed
from tsnbench.backends.netns.capabilities import missing
from tsnbench.errors import InputError
from tsnbench.hosts.attempt import LONGEST_CYCLE_NS
from tsnbench.hosts.inventory.types import End, Host, Inventory
from tsnbench.hosts.mapping import Mapped
from tsnbench.plan.gates import gate_lists
from tsnbench.plan.streams import periodic

if TYPE_CHECKING:
    from tsnbench.backends.kernel.environment import Capabilities
    from tsnbench.foreign import Json, Part
    from tsnbench.plan.types import PlanDocument, Stream

NOT_OURS = ("hash", "faults", "clocks", "measure_from")
"""Parts of a Plan that are about runs of the whole network."""


class JoinError(InputError):
    """A host, a station or streams with which nobody can join a network.

    Example:
        >>> from tsnbench.cnc.joining.station import JoinError, streams_of
        >>> try:
        ...     streams_of("cam", {"video": {"from": "cam2", "to": "ctl"}})
        ... except JoinError as error:
        ...     print(error)
        streams.video: expected a stream from or to cam, found another one
    """


def streams_of(node: str, written: Part) -> dict[str, Json]:
    """The streams that a node asks for: one without ``from`` begins at it, and one without ``to`` ends at it.

    Raises:
        JoinError: a stream neither begins nor ends at the node.
    """
    found: dict[str, Json] = {}
    for name, stream in written.items():
        if not isinstance(stream, dict):
            raise JoinError(f"streams.{name}: expected a stream such as {{to: ctl, period: 1 ms}}")
        ends = [stream.get("from"), *_listed(stream.get("to"))]
        own = {**({} if "from" in stream else {"from": node}), **stream}
        if "to" not in stream and "from" in stream:
            own["to"] = node
        elif "from" in stream and node not in ends:
            raise JoinError(f"streams.{name}: expected a stream from or to {node}, found another one")
        found[str(name)] = own
    return found


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


class Station:
    """One node of the network's Plan.

    Args:
        document: the Plan in force. name: of the node.

    Raises:
        JoinError: there is no such end station, or it has several ports.
    """

    def __init__(self, document: PlanDocument, name: str) -> None:
        self.document, self.name = document, name
        names = [node["name"] for node in document["nodes"]]
        stations = [node["name"] for node in document["nodes"] if node["kind"] == "station"]
        if name not in stations:
            raise JoinError(f"--node: expected one of {', '.join(stations[:12])}, found {name}")
        self.node = names.index(name)
        ports = [number for number, port in enumerate(document["ports"]) if port["node"] == self.node]
        if len(ports) != 1:
            raise JoinError(f"--node: expected a node with one port, found {name} with {len(ports)}")
        self.port = ports[0]

    def talks(self) -> list[Stream]:
        """The flows that leave the node."""
        return [one for one in self.document["streams"] if one["talker"] == self.node]

    def listens(self) -> list[Stream]:
        """The flows that arrive at the node."""
        return [
            one
            for one in self.document["streams"]
            if any(listener["node"] == self.node for listener in one["listeners"])
        ]

    def own_plan(self, names: Collection[str], duration_ns: int) -> PlanDocument:
        """The Plan with the node's streams of these names alone, for this time.

        The other streams keep their numbers, which frames carry, and send nothing from this node.
        """
        kept = {key: value for key, value in self.document.items() if key not in NOT_OURS}
        streams = []
        for one in self.document["streams"]:
            if one["talker"] == self.node:
                stop_ns = duration_ns if one["group"] in names else 0
                one = {**one, "start_ns": 0, "stop_ns": stop_ns}
            streams.append(one)
        own = {"streams": streams, "taps": [], "duration_ns": duration_ns, "drain_ns": 0}
        return cast("PlanDocument", {**kept, **own})

    def cycle_ns(self, names: Collection[str]) -> int:
        """The time after which gates and releases of the node are at the same phase again; 1 without any.

        Raises:
            JoinError: it is too long to wait for.
        """
        gates = self.document["ports"][self.port].get("gates")
        cycles = [one["cycle_ns"] for one in gate_lists(gates)] if gates else []
        cycles += [
            one["pattern"]["period_ns"]
            for one in self.talks()
            if one["group"] in names and one["pattern"]["kind"] == "periodic" and "any_phase" not in one
        ]
        found = math.lcm(1, *cycles)
        if found > LONGEST_CYCLE_NS:
            raise JoinError(
                f"{self.name}: its streams together repeat after {found / 1e9:.0f} s\n"
                "hint: let their periods be multiples of each other"
            )
        return found

    def settle_ns(self) -> int:
        """How long after a change the windows of all streams are there: the longest cycle of any port."""
        lists = [
            one
            for port in self.document["ports"]
            if (gates := port.get("gates"))
            for one in gate_lists(gates)
        ]
        return max((one["cycle_ns"] for one in lists), default=0)

    def leave_ns(self, names: Collection[str], facts: Collection[Part]) -> int:
        """How long after its last frame the windows of a stream may go: its period and its worst case."""
        periods = [
            periodic(one)["period_ns"]
            for one in self.talks()
            if one["group"] in names and one["pattern"]["kind"] == "periodic"
        ]
        worst = [
            listener["release_upper_ns"] or listener["upper_ns"] or 0
            for flow in facts
            for listener in flow["listeners"]
        ]
        return max(periods, default=0) + max(worst, default=0)

    def margin_ns(self, flow: Stream) -> int | None:
        """How late frames of a scheduled flow may be; None of other flows."""
        return flow["scheduled"].get("margin_ps", 0) // 1_000 if "scheduled" in flow else None


def lab_of(station: Station, interface: str) -> tuple[Inventory, Mapped]:
    """A lab with one host, which is the station."""
    name, port = station.name, station.document["ports"][station.port]["name"]
    inventory = Inventory("join", {name: Host(name, "", {interface: interface})})
    machines = {node["name"]: node["name"] for node in station.document["nodes"]}
    return inventory, Mapped(machines, {port: End(name, interface)}, {port: interface})


def fitted(station: Station, document: PlanDocument, can: Capabilities) -> tuple[PlanDocument, list[str]]:
    """The Plan for a kernel, and in words what it cannot do, if the frames keep what was promised without it.

    Gates at a talker keep its other frames out of the windows of scheduled ones. If all frames of the port
    are scheduled, each at a time of its own, the program that sends them on time needs no gates.

    Raises:
        JoinError: frames would not keep what was promised.
    """
    port = document["ports"][station.port]
    alone = {**document, "ports": [one if one is port else _bare(one) for one in document["ports"]]}
    lacks = [
        one
        for one in missing(cast("PlanDocument", alone), can)
        if one.startswith(("every port", f"port {port['name']}:"))
    ]
    gates = [one for one in lacks if "no qdisc taprio" in one]
    other = [one for one in lacks if one not in gates]
    free = [one["name"] for one in station.talks() if "scheduled" not in one]
    if gates and free:
        other.append(
            f"{gates[0]}, so frames of {', '.join(free[:5])} could be in the windows of scheduled streams"
        )
    if other:
        raise JoinError(
            f"{station.name}: this host cannot keep what the network promises:\n{listed(other)}\n"
            "hint: load the modules (sch_taprio, sch_cbs, …), or join on a host with another kernel"
        )
    if not gates:
        return document, []
    ports = [_without_gates(one) if one is port else one for one in document["ports"]]
    note = (
        f"{gates[0]}: nothing else may send on this interface; all its streams are scheduled, and sent at "
        "their times"
    )
    return cast("PlanDocument", {**document, "ports": ports}), [note]


def _bare(port: Mapping[str, object]) -> Json:
    """A port of which nothing is asked."""
    return {**_without_gates(port), "classes": []}


def _without_gates(port: Mapping[str, object]) -> Json:
    return {key: value for key, value in port.items() if key != "gates"}
