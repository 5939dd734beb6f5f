"""The draft of a Plan: the input and output of the planning passes.

Finished parts have the Plan's own types (``plan_types``).

A pass is a function of a :class:`Draft`. It fills parts that earlier passes left empty; ``passes.REVISES``
lists the few filled values that a pass changes, and a test compares every pass with that list. Nodes, ports
and flows are in the order in which the scenario names them; that order breaks every tie.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from tsnbench.plan.streams.regeneration import priorities_along, rewriting
from tsnbench.plan.warnings.doubt import PlanWarning
from tsnbench.planning.errors import PlanningErrors, PlanningProblem
from tsnbench.planning.selectors import as_written
from tsnbench.planning.shaping.cbs import CreditBasedShaper
from tsnbench.scenario import model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

    from tsnbench._native import ScheduleNetwork
    from tsnbench.plan import types as plan_types
    from tsnbench.planning.scheduling.problem import Network


@dataclass
class Node:
    """A node; ``forwards``: whether routes may lead through it."""

    name: str
    kind: plan_types.NodeKind
    processing_ns: int
    cut_through_octets: int | None = None
    further: plan_types.Further | None = None
    buffer: plan_types.Buffer | None = None
    learning: plan_types.Learning | None = None
    ipv4: str = ""
    host: plan_types.Host | None = None
    """The latencies of its software; None if they are zero."""

    @property
    def forwards(self) -> bool:
        return self.kind in ("bridge", "host")

    @property
    def longest_processing_ns(self) -> int:
        """The greatest processing time; ``processing_ns`` is the least one."""
        if self.further is None:
            return self.processing_ns
        if self.further["kind"] == "uniform":
            return self.processing_ns + self.further["up_to_ns"]
        most = self.processing_ns + max(self.further["values_ns"], default=0)
        if self.further["kind"] == "list":
            return most
        return most + -(-self.further["per_octet_ps"] * self.further["most_octets"] // 1_000)


@dataclass
class Gates:
    """A gate control list: (bit mask of open classes, ns) per entry."""

    base_time_ns: int
    entries: tuple[tuple[int, int], ...]
    macs: tuple[plan_types.MacOperation | None, ...] = ()
    """The MAC operation of each entry."""
    extension_ns: int = 0

    @property
    def cycle_ns(self) -> int:
        return sum(interval for _, interval in self.entries)

    def plain(self) -> plan_types.GateCycle:
        """The list in the Plan's form, without MAC operations."""
        entries: list[plan_types.GateEntry] = [{"open": mask, "interval_ns": ns} for mask, ns in self.entries]
        return {"base_time_ns": self.base_time_ns, "cycle_ns": self.cycle_ns, "entries": entries}

    def open_ns(self, traffic_class: int) -> int:
        """The time for which the gate of a class is open in a cycle."""
        return sum(interval for mask, interval in self.entries if mask >> traffic_class & 1)

    def longest_ns(self, traffic_class: int) -> int:
        """The longest entry in which the gate of a class is open; 0 if there is none."""
        open_entries = (interval for mask, interval in self.entries if mask >> traffic_class & 1)
        return max(open_entries, default=0)


@dataclass
class Port:
    """The egress of ``node`` towards ``to`` and the ingress back; ``copy`` numbers parallel links from 1."""

    number: int
    name: str
    node: int
    to: int
    copy: int
    peer: int
    rate_bps: int
    propagation_ps: int
    shaper: model.Shaper = field(default_factory=model.Shaper)
    mac: str = ""
    pcp_to_class: tuple[int, ...] = ()
    limits: tuple[int | None, int | None] = (None, None)
    """Most frames and most octets of one class's queue."""
    max_sdu: dict[int, int] = field(default_factory=dict)
    """Traffic class to its largest service data unit in octets."""
    longest_wait: dict[int, int] = field(default_factory=dict)
    """Traffic class to the longest time in its queue, in ns."""
    cbs: dict[int, CreditBasedShaper] = field(default_factory=dict)
    """Traffic class to its shaper, with the reserved slope (``adminIdleSlope``)."""
    gated_cbs: dict[int, CreditBasedShaper] = field(default_factory=dict)
    """Traffic class to its shaper with the slope for its gates (``operIdleSlope``)."""
    gates: Gates | None = None
    gates_before: int | None = None
    """Gates that are open before the first list; None if cycles extend to before it."""
    gate_changes: list[tuple[int, Gates, dict[int, int]]] = field(default_factory=list)
    """When another list is requested, the list, and idle slopes (bit/s) that differ with it, by class."""
    hold_advance_ns: int = 0
    release_advance_ns: int = 0
    express: int | None = None
    """Bit n: class n is express; None without pre-emption."""
    qdisc: plan_types.Qdisc | None = None

    @property
    def planned_bps(self) -> int:
        """The rate from which credit-based shapers are computed."""
        return self.rate_bps if self.shaper.planned_rate is None else self.shaper.planned_rate

    @property
    def classes(self) -> int:
        return max(self.pcp_to_class) + 1


class Hop(NamedTuple):
    """One egress port of a flow's tree, and the index in the tree of the previous hop."""

    port: int
    parent: int | None


class Ways(NamedTuple):
    """The links of a network as paths use them."""

    links: dict[tuple[int, int], list[int]]
    """(node, next node) to the ports between them, in order."""
    neighbours: list[list[int]]
    """By node, the nodes behind its ports."""
    forwards: list[bool]
    """By node, whether it forwards."""
    single: bool
    """Whether no two nodes have several links."""
    trees: dict[int, Mapping[int, int]]
    """By node, its shortest paths to all others, as far as somebody asked for them."""


def plan_route(hops: Sequence[Hop]) -> list[plan_types.Route]:
    """Hops in the Plan's form."""
    return [{"port": port} if parent is None else {"port": port, "parent": parent} for port, parent in hops]


_UNSET: Any = None


def _no_redundancy() -> plan_types.Redundancy:
    return {}


@dataclass
class Flow:
    """One sequence of frames: a scenario stream, or one of its ``count``."""

    name: str
    group: str
    number: int
    """Index within its group, from 0."""
    stream: model.Stream
    talker: int
    listeners: tuple[int, ...]
    route: tuple[Hop, ...] = ()
    flood: tuple[Hop, ...] = ()
    """Entries after those of ``route``, for the ports to which bridges flood before they have learned."""
    ends: tuple[int, ...] = ()
    """Index in ``route`` of the last hop, per listener."""
    size: plan_types.Size = _UNSET
    """Set by the pass that fills it; so is ``pattern``. Without a first value, Python needs 1 kB more."""
    pattern: plan_types.Pattern = _UNSET
    any_phase: bool = False
    """Whether its talker begins anywhere in the period."""
    answers: plan_types.Answers | None = None
    redundancy: plan_types.Redundancy = field(default_factory=_no_redundancy)
    """Empty if the route is only a tree."""
    socket: plan_types.Socket | None = None
    scheduled: plan_types.Scheduled | None = None
    survives: list[plan_types.Survives] = field(default_factory=list)
    destination_mac: str = ""
    destination_ipv4: str = ""
    udp_port: int = 0
    start_ns: int = 0
    stop_ns: int = 0

    def copy(self, place: int) -> int:
        """The member stream of an entry of the route; 0 for the plain frame."""
        copies = self.redundancy.get("copies")
        return copies[place] if copies else 0

    @property
    def rewritten(self) -> plan_types.Rewritten | None:
        """The fields of member streams that replace their stream's address, VLAN and priority; None if there
        are none."""
        return rewriting(self.redundancy)


@dataclass
class Policing:
    """The policing of a node's received frames."""

    filters: list[plan_types.StreamFilter] = field(default_factory=list)
    gates: list[plan_types.StreamGate] = field(default_factory=list)
    meters: list[plan_types.FlowMeter] = field(default_factory=list)
    schedulers: list[plan_types.AtsScheduler] = field(default_factory=list)
    groups: list[plan_types.AtsGroup] = field(default_factory=list)
    regeneration: list[plan_types.Regeneration] = field(default_factory=list)


class Tap(NamedTuple):
    """A place where frames are observed."""

    name: str
    port: int
    stage: plan_types.Stage
    point: plan_types.Point
    granularity_ns: int


@dataclass
class Draft:
    """The state of planning."""

    scenario: model.Scenario
    nodes: list[Node] = field(default_factory=list)
    ports: list[Port] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    faults: list[plan_types.Fault] = field(default_factory=list)
    policing: dict[int, Policing] = field(default_factory=dict)
    """By node."""
    taps: list[Tap] = field(default_factory=list)
    problems: list[PlanningProblem] = field(default_factory=list)
    doubts: list[PlanWarning] = field(default_factory=list)
    """Parts of the scenario that are valid, but probably not intended."""
    earlier: plan_types.PlanDocument | None = None
    """The document of a Plan whose schedule is kept where possible."""
    reopened: Set[int] | None = None
    """The ports whose gates are needed; None: all."""
    ways: Ways | None = None
    """The links as paths use them; drafts of the same nodes and ports share them."""
    problems_by_queues: dict[int, Network] = field(default_factory=dict)
    """Nodes and links for the search of a schedule, by the number of queues; shared as ``ways`` are."""
    native_networks: dict[int, ScheduleNetwork] = field(default_factory=dict)
    """The same as the native module read them."""

    def alike(self, scenario: model.Scenario, ports: list[Port], flows: list[Flow]) -> Draft:
        """A draft of the same nodes and links with other flows, which shares what only depends on those."""
        made = Draft(
            scenario,
            self.nodes,
            ports,
            flows,
            ways=self.ways,
            problems_by_queues=self.problems_by_queues,
            native_networks=self.native_networks,
        )
        made.__dict__["node_numbers"] = self.node_numbers
        return made

    def problem(self, path: str, expected: str, found: str, hint: str | None = None) -> None:
        """Notes a problem; the same one of further flows or ports is noted once."""
        path = as_written(self.scenario, (port.name for port in self.ports), path)
        problem = PlanningProblem(path, expected, found, hint, self.scenario.where(path))
        if problem not in self.problems:  # the same at many ports of one selector
            self.problems.append(problem)

    def doubt(self, kind: str, path: str, text: str, hint: str) -> None:
        """Notes a warning about a part of the scenario."""
        self.doubts.append(PlanWarning(kind, path, text, path, self.scenario.where(path), hint))

    def raise_problems(self) -> None:
        """Ends planning if a pass has found problems.

        Raises:
            PlanningErrors: all problems.
        """
        if self.problems:
            raise PlanningErrors(self.problems)

    @cached_property
    def node_numbers(self) -> dict[str, int]:
        """The number of each node, once the nodes are known."""
        return {node.name: number for number, node in enumerate(self.nodes)}

    @cached_property
    def ports_of_nodes(self) -> Mapping[int, Sequence[Port]]:
        """The ports of each node, once the ports are known."""
        found: dict[int, list[Port]] = {}
        for port in self.ports:
            found.setdefault(port.node, []).append(port)
        return found

    def priorities(self, flow: Flow) -> list[int]:
        """The priority with which a flow's frames leave by each entry of its route."""
        if not self.policing and not flow.redundancy:
            return [flow.stream.pcp] * len(flow.route)
        tables = {table["port"]: table["pcp"] for own in self.policing.values() for table in own.regeneration}
        route = [(hop.parent, self.ports[hop.port].peer) for hop in flow.route]
        copies = [flow.copy(place) for place in range(len(route))]
        rewritten = flow.rewritten["pcp"] if flow.rewritten else None
        return priorities_along(route, flow.stream.pcp, tables, copies, rewritten)

    def priority(self, flow: Flow, port: Port) -> int:
        """The priority with which a flow's frames leave by a port; by the first entry of its route there."""
        places = [place for place, hop in enumerate(flow.route) if hop.port == port.number]
        return self.priorities(flow)[places[0]] if places else flow.stream.pcp

    def regenerated(self, port: int, pcp: int) -> int:
        """The priority of a frame after its reception at a port."""
        own = self.policing.get(self.ports[port].node)
        tables = own.regeneration if own else []
        return next((table["pcp"][pcp] for table in tables if table["port"] == port), pcp)

    def flows_through(self) -> list[list[tuple[Flow, bool]]]:
        """Per port the flows that cross it, and whether with an R-TAG."""
        crossing: list[list[tuple[Flow, bool]]] = [[] for _ in self.ports]
        for flow in self.flows:
            for place, hop in enumerate(flow.route):
                crossing[hop.port].append((flow, flow.copy(place) > 0))
        return crossing
