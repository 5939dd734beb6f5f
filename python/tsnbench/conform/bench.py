"""The device under test in its network: its ports, and the neighbours that test it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tsnbench.errors import InputError
from tsnbench.plan.document import Plan, check
from tsnbench.plan.gates import open_ns
from tsnbench.plan.network import Network
from tsnbench.plan.streams.settling import settling_ns
from tsnbench.planning import plan as make_plan
from tsnbench.scenario.model import Filter, FixedSize, Regeneration, Stream, Taps
from tsnbench.scenario.model.clocks import Clock, Clocks
from tsnbench.scenario.model.ptp import Servo

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tsnbench.conform.judge import Reason
    from tsnbench.plan.types import Fault, PlanDocument, Policing, Port
    from tsnbench.plan.types import Stream as PlannedStream
    from tsnbench.scenario.model import Periodic, Poisson, Saturating, Scenario


NEAR_NS, SETTLED_TIMES = 100, 2
"""Testers begin when servos have had twice the time that they need for this difference of clocks."""
STILL_PPT = 1_000
"""By how much clocks are steered at most that should follow nobody."""


class BenchError(InputError):
    """A device that the scenario does not have, or another network than that of the scenario."""


@dataclass(frozen=True)
class Testers:
    """Who sends to whom through one egress port of the device."""

    talker: str
    rate_bps: int
    """Of the slowest link between the talker and the device."""
    listener: str

    def stream(
        self,
        pcp: int,
        vid: int | None,
        pattern: Periodic | Poisson | Saturating,
        octets: int,
        *,
        start: int = 0,
        stop: int | None = None,
    ) -> Stream:
        """Frames of one size from the talker to the listener."""
        return Stream(
            talker=self.talker,
            listeners=(self.listener,),
            pcp=pcp,
            vid=vid,
            pattern=pattern,
            size=FixedSize(octets=octets),
            start=start,
            stop=stop,
        )


@dataclass(frozen=True)
class Stimulus:
    """One run: what testers send through one port, and the Plan of it."""

    name: str
    port: str
    plan: Plan
    streams: Mapping[str, Stream]
    about: str = ""


@dataclass(frozen=True)
class Unsent:
    """A stimulus that testers cannot send through one port, and why."""

    port: str
    why: str
    reason: Reason = "no-stimulus"


ALONE = "no other node can send frames through this port to a node behind it"


@dataclass(frozen=True)
class Bench:
    """A device and its neighbours.

    ``expected`` is what the device should do, by the scenario ``lab``. ``device`` is what runs in its place
    on the simulator and on a kernel, by ``scenario``: the same, or a device with a defect.
    """

    lab: Scenario
    scenario: Scenario
    expected: Plan
    device: Plan
    node: int
    name: str
    only: Sequence[str] = ()
    """The ports that are tested; empty: all."""

    @classmethod
    def of(
        cls, scenario: Scenario, dut: str, device: Scenario | None = None, only: Sequence[str] = ()
    ) -> Bench:
        """The bench of a device.

        Args:
            scenario: its network, with the configuration that the device should have.
            dut: the name of the device.
            device: the same network with the configuration that the device has, on backends that imitate it.
            only: the names of the ports that are tested; empty for all.

        Raises:
            BenchError: there is no such node, or the other scenario has another network.
            InputError: a scenario cannot be planned.
        """
        expected = make_plan(scenario)
        names = [node["name"] for node in expected.document["nodes"]]
        if dut not in names:
            raise BenchError(f"--dut: expected a node of the network, found {dut}\nhint: {', '.join(names)}")
        other = expected if device is None else make_plan(device)
        for part in ("nodes", "ports"):
            own, its = ([one["name"] for one in plan.document[part]] for plan in (expected, other))
            if own != its:
                raise BenchError(f"--device: expected the {part} of {scenario.name}, found others")
        made = cls(scenario, device or scenario, expected, other, names.index(dut), dut)
        there = [port["name"] for port in made.ports]
        if wrong := [name for name in only if name not in there]:
            hint = f"hint: {', '.join(there)}"
            raise BenchError(f"--port: expected a port of {dut}, found {wrong[0]}\n{hint}")
        return replace(made, only=tuple(only))

    @cached_property
    def network(self) -> Network:
        return Network(self.expected.document)

    @cached_property
    def imitated(self) -> Network:
        """The network of the device that runs in its place."""
        return Network(self.device.document)

    @property
    def ports(self) -> list[Port]:
        """The device's egress ports that are tested, as they should be."""
        ports = [self.expected.document["ports"][number] for number in self.network.ports_of(self.node)]
        return [port for port in ports if not self.only or port["name"] in self.only]

    def number(self, port: str) -> int:
        """The place of a port in the Plan."""
        return next(n for n, one in enumerate(self.expected.document["ports"]) if one["name"] == port)

    def testers(self, port: str) -> Testers | None:
        """The nearest nodes that can send and receive through a port; None if there are none."""
        egress = self.number(port)
        near = self.behind(egress)
        if not near:
            return None
        if self.network.talks(self.node) and not self.network.forwards(self.node):
            return Testers(self.name, self.expected.document["ports"][egress]["rate_bps"], near[0])
        sources = self.sources(egress)
        return Testers(*sources[0], near[0]) if sources else None

    def two_testers(self, port: str) -> tuple[Testers, Testers] | None:
        """Two testers behind different ports of the device that send through a port, the faster one first;
        None if there are not two."""
        first = self.testers(port)
        if first is None or first.talker == self.name:
            return None
        others = [one for one in self.sources(self.number(port)) if one[0] != first.talker]
        return (first, Testers(*others[0], first.listener)) if others else None

    def sources(self, egress: int) -> list[tuple[str, int]]:
        """Of every other port of the device the talker behind it, with the rate of the slowest link on the
        way, that loads an egress port most: the fastest, then the nearest ones first."""
        ports = self.network.ports
        near = set(self.behind(egress))

        def load(one: tuple[str, int]) -> int:
            return min(one[1], ports[egress]["rate_bps"])

        found: list[tuple[str, int]] = []
        for other in self.network.ports_of(self.node):
            taken = near | {name for name, _ in found}
            behind = [] if other == egress else [one for one in self._behind(other) if one[0] not in taken]
            if behind:
                found.append(max(behind, key=load))
        return sorted(found, key=load, reverse=True)

    def behind(self, port: int) -> list[str]:
        """Nodes behind a port that send and receive, nearest first."""
        return [name for name, _ in self._behind(port)]

    def usual_pcp(self, port: Port) -> int:
        """The PCP of frames whose priority does not matter: of the class that is open the longest."""
        gates = port.get("gates")
        classes = port["pcp_to_class"]
        if gates is None:
            return 0
        return max(range(8), key=lambda pcp: (open_ns(gates, classes[pcp]), -pcp))

    def regenerated(self, port: int, pcp: int) -> int:
        """The PCP of frames that entered by a neighbour's port, as it should be behind the device."""
        for node in self.expected.document.get("policing", ()):
            for one in node.get("regeneration", ()):
                if node["node"] == self.node and one["port"] in (port, self.network.ports[port]["peer"]):
                    return one["pcp"][pcp]
        return pcp

    def _behind(self, port: int) -> list[tuple[str, int]]:
        """Nodes behind a port that send and receive, nearest first, and the slowest rate on the way from them
        to the device."""
        ports, found = self.network.ports, []
        peer = ports[port]["peer"]
        todo, seen = deque([(ports[peer]["node"], ports[peer]["rate_bps"])]), {self.node}
        while todo:
            node, rate = todo.popleft()
            if node in seen:
                continue
            seen.add(node)
            if self.network.talks(node):
                found.append((self.network.nodes[node]["name"], rate))
            if not self.network.forwards(node):
                continue
            for further in self.network.ports_of(node):
                back = ports[ports[further]["peer"]]
                todo.append((back["node"], min(rate, back["rate_bps"])))
        return found

    def vid(self, port: str) -> int:
        """The VLAN of frames through a port: that of the first tagged stream of the scenario there, or 100.
        Frames without a tag have no PCP."""
        number = self.number(port)
        for stream in self.expected.document["streams"]:
            vid = stream.get("vid")
            if vid is not None and any(hop["port"] == number for hop in stream["route"]):
                return vid
        return 100

    def stimulus(
        self,
        name: str,
        port: str,
        streams: Mapping[str, Stream],
        duration_ns: int,
        drain_ns: int,
        about: str,
        filters: bool = False,
        on_links: Sequence[Fault] = (),
        messages_at: Sequence[str] = (),
        follows: bool = False,
        steered: bool = False,
        kept_out: Collection[str] = (),
        beside: Collection[str] = (),
    ) -> Stimulus | Unsent:
        """The Plan of a stimulus, unless its frames do not leave the device by this port.

        Its name is that of the kind of stimulus and the number of the device's port.

        Testers have no gates and shapers. The device has those of :attr:`device`, with its faults, and its
        ``filters`` of these streams. Faults ``on_links`` are those that testers make on purpose.
        PTP's messages are captured on the links of the ports ``messages_at``, in both directions;
        ``follows``: the device's own clock follows the grandmaster meanwhile, ``steered``: also in gPTP, and
        no station does. Frames of the streams ``kept_out`` end at the device; those of the streams
        ``beside`` may leave it by other ports.
        """
        later = 0 if messages_at else self.settled_ns
        streams = {
            own: one.model_copy(update={"start": one.start + later, "stop": one.stop and one.stop + later})
            for own, one in streams.items()
        }
        name = f"{name}-{self.network.place(self.number(port)) + 1}"
        bare = self.scenario.model_copy(
            update={
                "name": f"{self.scenario.name}.{name}",
                "title": about,
                "duration": duration_ns + later,
                "drain": drain_ns,
                "measure_from": None,
                "streams": dict(streams),
                "shapers": {},
                "faults": (),
                "policing": self._filters(streams) if filters else (),
                "clocks": self._clocks(follows, steered) if messages_at else self.scenario.clocks,
                "taps": self._taps(port, messages_at),
            }
        )
        document = make_plan(bare).document
        number = self.number(port)
        through = [one["route"] for one in document["streams"] if one["name"] not in beside]
        if not all(any(hop["port"] == number for hop in route) for route in through):
            return Unsent(port, "frames between the testers take a path without this port")
        made = self._with_device(document, [_later(fault, later) for fault in on_links])
        if kept_out:
            made["streams"] = self._ending_here(made["streams"], kept_out)
        if steered:
            self._free_stations(made)
        check(Plan(made).to_json(), made)
        return Stimulus(name, port, Plan(made), streams, about)

    def _taps(self, port: str, messages_at: Sequence[str]) -> Taps:
        taps = self.scenario.taps
        return Taps(
            ports=tuple(dict.fromkeys((port, *self._from_bridges(), *messages_at))),
            granularity=taps.granularity,
            tx_point=taps.tx_point,
            # Times of messages at both ends are compared as captures have them.
            rx_point=taps.tx_point if messages_at else taps.rx_point,
        )

    def _ending_here(self, streams: Sequence[PlannedStream], names: Collection[str]) -> list[PlannedStream]:
        """Streams of which some, with one listener each, reach the device and are not forwarded there."""
        found = []
        for stream in streams:
            made, ports = stream.copy(), [hop["port"] for hop in stream["route"]]
            if stream["name"] in names:
                last = next(place for place, port in enumerate(ports) if self.network.far(port) == self.node)
                made["route"] = stream["route"][: last + 1]
                made["listeners"] = [{"node": self.node, "route": last}]
                made.pop("flood", None)
            found.append(made)
        return found

    def _free_stations(self, document: PlanDocument) -> None:
        """Leaves out the slave ports of nodes that do not forward: their clocks follow nobody."""
        gptp, ports = document["clocks"]["gptp"], self.network.ports
        gptp["slaves"] = [one for one in gptp["slaves"] if self.network.forwards(ports[one]["node"])]

    def _clocks(self, follows: bool, steered: bool) -> Clocks | None:
        """Those of the device's scenario with PTP's messages at taps and in captures, and one clock for all
        testers, which follows nobody: a clock that follows hides what it was told.

        ``follows``: of IEEE 1588, the device does. A bridge of gPTP tells the grandmaster's time whatever
        its own clock shows.
        """
        clocks = self.scenario.clocks
        if clocks is None or clocks.gptp is None:
            return clocks
        own = {self.name: clocks.own.get(self.name, clocks.default)}
        still = Servo(first_step_threshold=0, max_frequency=STILL_PPT)
        free: dict[str, object] = {} if steered else {"servo": still}
        if follows and clocks.gptp.ieee_1588 is not None:
            # Transparent clocks run free.
            names = [node["name"] for node in self.network.nodes]
            testers = tuple(one for one in names if one not in (self.name, clocks.gptp.grandmaster))
            free = {"ieee_1588": clocks.gptp.ieee_1588.model_copy(update={"transparent": testers})}
        gptp = clocks.gptp.model_copy(update={"visible": True, **free})
        return clocks.model_copy(update={"default": Clock(), "own": own, "gptp": gptp})

    def _from_bridges(self) -> list[str]:
        """The ports towards the device of bridges, which have a tap only on request."""
        ports = self.network.ports
        towards = [ports[ports[own]["peer"]] for own in self.network.ports_of(self.node)]
        return [one["name"] for one in towards if self.network.forwards(one["node"])]

    def _with_device(self, document: PlanDocument, on_links: Sequence[Fault]) -> PlanDocument:
        ports: list[Port] = []
        for bare, real in zip(document["ports"], self.device.document["ports"], strict=True):
            own = real if real["node"] == self.node else bare.copy()
            if own is not real:
                for part in ("gates", "preemption", "server", "transmit_buffer", "qdisc"):
                    own.pop(part, None)  # type: ignore[misc]
            ports.append(own)
        made = document.copy()
        made["ports"] = ports
        if not made.get("policing") and (policing := self._policing()):
            made["policing"] = policing
        if faults := [*self._faults(document), *on_links]:
            made["faults"] = faults
        return made

    def _filters(self, streams: Mapping[str, Stream]) -> tuple[Filter | Regeneration, ...]:
        """What the device's scenario says of these streams alone, or of all."""
        own = self.scenario.policing
        return tuple(one for one in own if isinstance(one, Regeneration) or set(one.streams) <= set(streams))

    def _policing(self) -> list[Policing]:
        """The priority regeneration of the device; its filters are of streams that stimuli do not have."""
        return [
            {"node": self.node, "regeneration": one["regeneration"]}
            for one in self.device.document.get("policing", ())
            if one["node"] == self.node and "regeneration" in one
        ]

    @cached_property
    def settled_ns(self) -> int:
        """When testers begin: at once, or when servos have brought clocks near each other."""
        clocks = self.device.document.get("clocks")
        if clocks is None or "gptp" not in clocks:
            return 0
        near = self.device.document.copy()
        near["clocks"] = clocks.copy()
        near["clocks"]["within_ns"] = NEAR_NS
        return (settling_ns(near) or 0) * SETTLED_TIMES

    def _faults(self, document: PlanDocument) -> list[Fault]:
        """The faults of the device's Plan; those that last until its end last until the end of the run."""
        whole = self.device.document
        end, now = (one["duration_ns"] + one["drain_ns"] for one in (whole, document))
        found: list[Fault] = []
        for fault in whole.get("faults", ()):
            if fault["kind"] == "babble" or fault["from_ns"] >= now:
                continue
            made = fault.copy()
            made["until_ns"] = now if fault["until_ns"] >= end else min(now, fault["until_ns"])
            found.append(made)
        return found


def _later(fault: Fault, by_ns: int) -> Fault:
    """The fault with another begin and end."""
    made = fault.copy()
    made["from_ns"] += by_ns
    made["until_ns"] += by_ns
    return made
