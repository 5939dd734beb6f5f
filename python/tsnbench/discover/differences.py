"""The running state of hosts against a Plan: each setting that differs, with the command that repairs it.

The names of settings, and the commands, are those of the export ``--as tc``.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench import quantities
from tsnbench.discover.gate_times import Span, difference, gate_times
from tsnbench.discover.running import Queue, RunningHost, RunningPort, Shaping
from tsnbench.exports.scenario_text import one_line
from tsnbench.hosts.job import layout_of, mode_of, queued
from tsnbench.hosts.state import tuning
from tsnbench.linux import ingress, qdiscs
from tsnbench.linux.profile import Layout, Mode, Profile
from tsnbench.linux.readback import compare_options
from tsnbench.plan.frames import sizes
from tsnbench.plan.network import Forwarding, Network
from tsnbench.plan.notes import Notes

if TYPE_CHECKING:
    from tsnbench.discover.asking import Asked
    from tsnbench.hosts import Inventory, Mapped
    from tsnbench.linux.ingress import Filter
    from tsnbench.linux.qdiscs import Child, Root
    from tsnbench.plan.types import PlanDocument, Port

TAI_AHEAD_NS = 37 * 10**9
"""TAI less UTC since 2017."""
_HEADER, _TAG = 18, 4
"""Octets of a frame that an MTU does not count: addresses, type and FCS; a VLAN tag."""
_STRAIGHT = Profile(layout=Layout.STRAIGHT)
"""Queues with the Plan's class numbers."""


@dataclass(frozen=True)
class Difference:
    """One setting that is not known to be as planned."""

    host: str
    port: str
    """The interface; empty: the host as a whole."""
    setting: str
    planned: str
    """Empty: all that the Plan says."""
    found: str | None
    """None: not known."""
    repair: str = ""
    """The command for that host; empty: no command does it."""
    reason: str = ""
    """Why it is not known."""

    def __str__(self) -> str:
        where = f"{self.host} {self.port}".strip()
        if self.found is None:
            planned = f"planned {self.planned}, " if self.planned else ""
            return one_line(f"{where}: {self.setting}: {planned}not known ({self.reason})")
        return one_line(f"{where}: {self.setting}: planned {self.planned}, found {self.found}")


def differences(
    plan: PlanDocument, inventory: Inventory, mapped: Mapped, asked: Mapping[str, Asked]
) -> list[Difference]:
    """Every setting of a Plan that the running state does not have, or about which nothing is known.

    Args:
        plan: the Plan, in the hosts' time.
        inventory: the lab.
        mapped: the mapping of the Plan to the lab.
        asked: the states of its hosts, or why there is none.
    """
    network = Network(plan)
    macs = {
        network.ports[number]["mac"]: "" if running is None else running.mac
        for number, (host, name) in _places(network, mapped).items()
        if (running := _port(asked, host, name)) is not None or host in inventory.hosts
    }
    found: list[Difference] = []
    for node, own in enumerate(network.nodes):
        machine = mapped.machines[own["name"]]
        if machine not in inventory.hosts:
            why = f"no host with a shell; tsnbench deploy --dry-run --node {own['name']}=… asks a device"
            found.append(Difference(machine, "", "all settings", "", None, reason=why))
            continue
        state, why = asked[machine]
        if state is None:
            found.append(
                Difference(machine, "", "all settings", "", None, reason="; ".join(why.splitlines()))
            )
            continue
        found += _node(network, node, state, mapped, macs)
    return found


def _places(network: Network, mapped: Mapped) -> dict[int, tuple[str, str]]:
    """Host and interface of each port of the Plan."""
    return {
        number: (mapped.ends[port["name"]].machine, mapped.interfaces[port["name"]])
        for number, port in enumerate(network.ports)
    }


def _port(asked: Mapping[str, Asked], host: str, name: str) -> RunningPort | None:
    state, _ = asked.get(host, (None, ""))
    return None if state is None else state.ports.get(name)


def _node(
    network: Network, node: int, state: RunningHost, mapped: Mapped, macs: Mapping[str, str]
) -> Iterator[Difference]:
    """The differences of one host."""
    for why in state.unread:
        yield Difference(state.name, "", "part of its state", "", None, reason=why)
    names = {number: mapped.interfaces[network.ports[number]["name"]] for number in network.ports_of(node)}
    if not state.ports:
        return
    wanted = queued(network.document)
    bridges = {one.master for name in names.values() if (one := state.ports.get(name)) is not None}
    bridge = min(bridges - {""}, default="") if network.forwards(node) else ""
    arriving = ingress.arrivals(network, node, Profile(), Notes("diff")) if network.forwards(node) else []
    planned = {each.port: each.filters for each in arriving}
    for number, name in names.items():
        one = state.ports.get(name)
        if one is None:
            there = ", ".join(sorted(state.ports)) or "none"
            yield Difference(state.name, name, "interface", name, f"none of that name; there: {there}")
            continue
        yield from _link(network, number, state, one)
        if network.forwards(node):
            yield from _bridge_port(network, number, state, one, bridge)
            yield from _arriving(planned.get(number, ()), state, one)
        yield from _devices(state, one)
        yield from _card(len(network.ports[number]["classes"]), state, one)
        profile = Profile(mode_of(one.driver or ""), layout_of(one.driver or "", state.kernel))
        yield from _queues(network.ports[number], number in wanted, state, one, profile)
    if network.forwards(node):
        yield from _tables(network, node, state, names, macs)


def _link(network: Network, port: int, state: RunningHost, one: RunningPort) -> Iterator[Difference]:
    planned = network.ports[port]
    if not one.up:
        yield Difference(state.name, one.name, "link", "up", "down", f"ip link set dev {one.name} up")
        return
    if not one.carrier:
        yield Difference(state.name, one.name, "carrier", "a link", "no link: see the cable and its peer")
    elif one.rate_bps is not None and one.rate_bps != planned["rate_bps"]:
        meant, found = quantities.rate(planned["rate_bps"]), quantities.rate(one.rate_bps)
        repair = f"ethtool -s {one.name} speed {planned['rate_bps'] // 10**6} duplex full autoneg on"
        yield Difference(state.name, one.name, "rate", meant, found, repair)
    elif one.rate_bps is None and one.kind != "veth":
        meant, why = quantities.rate(planned["rate_bps"]), "its driver does not say"
        yield Difference(state.name, one.name, "rate", meant, None, reason=why)
    need = _largest_mtu(network, port)
    if one.mtu < need:
        repair = f"ip link set dev {one.name} mtu {need}"
        yield Difference(state.name, one.name, "mtu", f"at least {need}", str(one.mtu), repair)


def _largest_mtu(network: Network, port: int) -> int:
    """The MTU that the largest frame over a link needs; 1500 octets at least, which every link has."""
    peer = network.ports[port]["peer"]
    needs = [
        sizes(stream["size"]).largest - _HEADER - (_TAG if "vid" in stream else 0)
        for stream in network.streams
        if any(hop["port"] in (port, peer) for hop in stream["route"])
    ]
    return max([1500, *needs])


def _bridge_port(
    network: Network, port: int, state: RunningHost, one: RunningPort, bridge: str
) -> Iterator[Difference]:
    name = one.name
    if not bridge or one.master != bridge:
        planned = f"a port of {bridge}" if bridge else "a port of a bridge"
        repair = f"ip link set dev {name} master {shlex.quote(bridge)}" if bridge else ""
        found = f"a port of {one.master}" if one.master else "no port of a bridge"
        yield Difference(state.name, name, "bridge", planned, found, repair)
        return
    learns = "learning" in network.nodes[network.ports[port]["node"]]
    for setting, is_on in (("learning", one.learning), ("flood", one.flood)):
        if is_on is not None and is_on != learns:
            meant, is_ = ("on" if one_of else "off" for one_of in (learns, is_on))
            repair = f"bridge link set dev {name} {setting} {meant}"
            yield Difference(state.name, name, setting, meant, is_, repair)
    if one.ingress is False:
        yield Difference(state.name, name, "ingress filtering", "on", "off")
    if one.vlans is None:
        return
    wanted = dict.fromkeys(network.vids(port), False) | ({1: True} if network.untagged(port) else {})
    for vid, is_untagged in wanted.items():
        found = "absent" if vid not in one.vlans else "untagged" if one.vlans[vid] else "tagged"
        planned = "untagged" if is_untagged else "tagged"
        if found != planned:
            more = " pvid untagged" if is_untagged else ""
            repair = f"bridge vlan add dev {name} vid {vid}{more}"
            yield Difference(state.name, name, f"vlan {vid}", planned, found, repair)


def _devices(state: RunningHost, one: RunningPort) -> Iterator[Difference]:
    """VLAN devices, through which a host's programs send: their frames have the PCP of their priority."""
    for (base, vid), map_ in state.devices.items():
        wrong = {
            priority: map_.get(priority, 0) for priority in range(8) if map_.get(priority, 0) != priority
        }
        if base == one.name and wrong:
            planned = ", ".join(f"{priority}:{priority}" for priority in wrong)
            found = ", ".join(f"{priority}:{pcp}" for priority, pcp in wrong.items())
            yield Difference(
                state.name,
                one.name,
                f"egress-qos-map of vlan {vid}",
                planned,
                found,
                f"ip link set dev {one.name}.{vid} type vlan egress-qos-map {planned.replace(', ', ' ')}",
            )


def _arriving(planned: Sequence[Filter], state: RunningHost, one: RunningPort) -> Iterator[Difference]:
    """Priorities of arriving frames, and the number of other filters: without a filter, a bridge of the
    kernel gives all frames the priority 0. Virtual interfaces are given theirs in another way."""
    found = one.filters
    if found is None or one.kind == "veth":
        return
    wrong = [
        each for each in planned if each.gives and found.priorities.get(each.gives[0], 0) != each.gives[1]
    ]
    lines = [each.line(one.name) for each in wrong]
    first = "" if found.priorities or found.others else f"tc qdisc replace dev {one.name} clsact && "
    if wrong:
        meant, is_ = (
            ", ".join(f"{pcp}:{priority}" for pcp, priority in pairs)
            for pairs in (
                [each.gives for each in wrong if each.gives],
                [(each.gives[0], found.priorities.get(each.gives[0], 0)) for each in wrong if each.gives],
            )
        )
        repair = first + " && ".join(f"tc {line}" for line in lines)
        yield Difference(state.name, one.name, "priority of arriving PCPs", meant, is_, repair)
    others = sum(each.gives is None for each in planned)
    if found.others != others:
        why = "filters of arriving frames"
        yield Difference(state.name, one.name, why, str(others), str(found.others))


def _card(classes: int, state: RunningHost, one: RunningPort) -> Iterator[Difference]:
    """Settings of a network card that delay or merge frames, as a run sets them."""
    if not one.driver or one.driver == IMITATED:
        return
    if one.card is None:
        why = "ethtool said nothing there"
        yield Difference(state.name, one.name, "settings of ethtool", "", None, reason=why)
        return
    for step in tuning.cards({one.name: classes}, tuning.Before({one.name: one.card})):
        (before,) = step.undo
        meant, found = (" ".join(argv[3:]) for argv in (step.argv, before))
        setting = _OF_CARDS[step.argv[1]]
        yield Difference(state.name, one.name, setting, meant, found, shlex.join(step.argv))


_OF_CARDS = {"-L": "queues", "--set-eee": "energy saving", "-C": "delay of interrupts", "-K": "offloads"}
IMITATED = "tsnport"
"""The driver of a guest's ports, which have no such settings."""


def _queues(
    port: Port, is_needed: bool, state: RunningHost, one: RunningPort, profile: Profile
) -> Iterator[Difference]:
    """The queueing disciplines of one port, by the Plan's traffic classes."""
    if one.root is None or (one.root == "" and not is_needed):
        return
    top, children = qdiscs.root(port, _STRAIGHT), qdiscs.children(port, _STRAIGHT)
    repairs = qdiscs.root(port, profile).line(one.name)
    found = one.shaping
    if found is None or found.kind != top.kind:
        kind = one.root or "the kernel's default"
        yield Difference(state.name, one.name, "queueing discipline", top.kind, kind, f"tc {repairs}")
        return
    place = _Classes(state.name, one.name, top, found)
    yield from place.classes(f"tc {repairs}")
    if len(found.queues) != top.num_tc:
        return
    lines = {child.traffic_class: child for child in qdiscs.children(port, profile)}
    for child in children:
        yield from place.queue(child, f"tc {lines[child.traffic_class].line(one.name)}")
    if top.kind == "taprio":
        lists = [top, *(later for _, later in qdiscs.changes(port, _STRAIGHT))]
        yield from place.gates(lists, profile.mode, f"tc {repairs}")


class _Classes:
    """The comparison of one port's traffic classes, in the Plan's numbers."""

    def __init__(self, host: str, port: str, top: Root, found: Shaping) -> None:
        self.host, self.port, self.top, self.found = host, port, top, found
        planned = top.map[:8]
        turned = tuple(top.num_tc - 1 - own for own in planned)
        self._is_renumbered = found.class_of == turned != planned
        """Whether the kernel's class 0 is the highest one: :attr:`Layout.RENUMBERED`."""

    def of(self, number: int) -> int:
        """The kernel's number of a class of the Plan, and the other way round."""
        return self.top.num_tc - 1 - number if self._is_renumbered else number

    def classes(self, repair: str) -> Iterator[Difference]:
        """Number of classes, and the class of each priority."""
        count, planned = len(self.found.queues), self.top.map[:8]
        if count != self.top.num_tc:
            yield self._differs("traffic classes", str(self.top.num_tc), str(count), repair)
            return
        found = tuple(map(self.of, self.found.class_of))
        if found != planned:
            yield self._differs("class of priorities 0 to 7", _listed(planned), _listed(found), repair)
        for setting, meant, are in (
            ("largest units", self.top.max_sdu, self.found.max_sdu),
            ("preemptable classes", self.top.preemptable, self.found.preemptable),
        ):
            if any(meant) and are is None:
                why = "this version of iproute2 does not print it"
                yield Difference(self.host, self.port, setting, _listed(meant), None, reason=why)
            elif are is not None and (own := tuple(are[self.of(n)] for n in range(count))) != (
                meant or (type(own[0])(0),) * count
            ):
                yield self._differs(setting, _listed(meant) or "none", _listed(own), repair)

    def queue(self, child: Child, repair: str) -> Iterator[Difference]:
        """The queueing discipline of one class."""
        number = child.traffic_class
        queue: Queue | None = self.found.queues[self.of(number)]
        if queue is None or queue.own.kind != child.kind:
            kind = "the kernel's default" if queue is None else queue.own.kind
            yield self._differs(f"class {number}", child.kind, kind, repair)
            return
        for one in compare_options("", child.options, queue.own):
            yield self._differs(f"class {number} {one.what}", one.meant, one.found, repair)
        if child.waiting is not None:
            behind = queue.behind
            limit = "the kernel's default" if behind is None else str(behind.options.get("limit"))
            if limit.removesuffix("p") != str(child.waiting):
                line = f"tc {child.qdiscs()[-1].line(self.port)}"
                yield self._differs(
                    f"class {number} limit behind the shaper", str(child.waiting), limit, line
                )

    def gates(self, lists: list[Root], mode: Mode, repair: str) -> Iterator[Difference]:
        """The gate control list as a function of time: one of the Plan's, which may change."""
        found, count = self.found, self.top.num_tc
        if found.pending:
            base = quantities.exact(found.base_ns)
            yield self._differs("gates in force", "yes", f"no: the list waits for its base time, {base} TAI")
        if found.gates is None:
            yield self._differs("gates", f"{len(self.top.entries)} entries", "no list", repair)
            return
        entries = [
            (length, frozenset(n for n in range(count) if mask >> self.of(n) & 1))
            for mask, length in found.entries
        ]
        own, *apart = (
            gate_times(found.base_ns + by, found.cycle_ns, entries) for by in (0, TAI_AHEAD_NS, -TAI_AHEAD_NS)
        )
        meant = [gate_times(one.base_time, one.cycle_time, _spans(one)) for one in lists]
        if own not in meant:
            planned, is_so = difference(meant[0], own)
            mixed = ", all gates 37 s apart: TAI and UTC mixed?" if any(one in meant for one in apart) else ""
            yield self._differs("gates", planned, is_so + mixed, repair)
        flags = int(qdiscs.FLAGS[mode] or "0", 16)
        if found.flags != flags:
            by, is_by = (_OPENED_BY.get(one, f"flags {one:#x}") for one in (flags, found.flags))
            yield self._differs("gates opened by", by, is_by, repair)
        if not found.flags and found.clock != "TAI":
            yield self._differs("clock of the gates", "TAI", found.clock or "none", repair)
        if found.extension_ns not in {one.cycle_time_extension for one in lists}:
            meant_ns = quantities.exact(self.top.cycle_time_extension)
            yield self._differs(
                "cycle-time-extension", meant_ns, quantities.exact(found.extension_ns), repair
            )

    def _differs(self, setting: str, planned: str, found: str, repair: str = "") -> Difference:
        return Difference(self.host, self.port, setting, planned, found, repair)


_OPENED_BY = {0: "the kernel's timer", 1: "launch times (txtime-assist)", 2: "the card (full offload)"}


def _spans(top: Root) -> list[Span]:
    return [
        (length, frozenset(number for number in range(top.num_tc) if mask >> number & 1))
        for _, mask, length in top.entries
    ]


def _listed(values: tuple[int, ...] | tuple[bool, ...]) -> str:
    if values and isinstance(values[0], bool):
        return ", ".join(str(number) for number, one in enumerate(values) if one) or "none"
    return " ".join(map(str, values))


def _tables(
    network: Network, node: int, state: RunningHost, names: Mapping[int, str], macs: Mapping[str, str]
) -> Iterator[Difference]:
    """Static addresses and groups of a bridge; one that learns needs none."""
    if "learning" in network.nodes[node]:
        return
    for row in network.forwarding(node)[0]:
        mac, vid = macs.get(row.destination_mac, row.destination_mac), row.vid or 1
        table = state.groups if row.group else state.addresses
        if table is None or not mac:
            # Not read, which is told of the host of the table or of that of the address.
            continue
        # A bridge of the kernel has one port per address.
        ports = [names[port] for port in (row.ports if row.group else row.ports[:1])]
        key = row.destination_ipv4 if row.group else mac
        found = table.get((key, vid), frozenset())
        if not found >= set(ports) or (not row.group and found != set(ports)):
            what = "group" if row.group else "address"
            yield Difference(
                state.name,
                "",
                f"{what} {key} in vlan {vid}",
                " and ".join(ports),
                " and ".join(sorted(found)) or "no port",
                _entry(row, key, vid, [port for port in ports if port not in found], state, ports),
            )


def _entry(
    row: Forwarding, key: str, vid: int, missing: list[str], state: RunningHost, ports: list[str]
) -> str:
    if not row.group:
        return f"bridge fdb replace {shlex.quote(key)} dev {ports[0]} master static vlan {vid}"
    bridge = state.ports[missing[0]].master if missing and missing[0] in state.ports else ""
    bridge = shlex.quote(bridge)
    lines = [f"bridge mdb add dev {bridge} port {one} grp {key} permanent vid {vid}" for one in missing]
    return " && ".join(lines)
