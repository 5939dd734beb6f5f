"""The configuration that a Plan requires of one bridge, section by section."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsnbench.hosts.by_hand.checklist import Checklist
from tsnbench.hosts.by_hand.descriptions import classes_of, gates, listed, numbers, quantity, spelt
from tsnbench.plan.network import Network

if TYPE_CHECKING:
    from tsnbench.hosts.inventory.types import Device
    from tsnbench.hosts.mapping.map import Mapped
    from tsnbench.plan.types import PlanDocument, Port


def checklist(document: PlanDocument, mapped: Mapped, device: Device) -> Checklist | None:
    """The configuration that a Plan requires of a device, in words and exact numbers.

    Args:
        document: ``plan.document``.
        mapped: where the Plan's nodes and ports are.
        device: a device of the inventory.

    Returns:
        The checklist; None where the Plan does not use the device.
    """
    name = mapped.node(device.name)
    if name is None:
        return None
    network = Network(document, mapped.interfaces)
    node = next(place for place, one in enumerate(network.nodes) if one["name"] == name)
    one = _Device(network, mapped, node, device.name)
    lines = [
        f"Checklist of {device.name}, which is {name} in the Plan.",
        "All numbers are exact. Times count from 1970-01-01 00:00 TAI, the epoch of PTP.",
        *one.all(),
    ]
    return Checklist(device.name, "".join(f"{line}\n" for line in lines), tuple(one.left_out))


class _Device:
    """One node of the Plan, described section by section."""

    def __init__(self, network: Network, mapped: Mapped, node: int, name: str) -> None:
        self.network = network
        self.mapped = mapped
        self.node = node
        self.name = name
        self.left_out: list[str] = []

    def own(self, port: int) -> str:
        """The device's own name of a port."""
        return self.mapped.interfaces[self.network.ports[port]["name"]]

    def all(self) -> Iterator[str]:
        yield from self._whole()
        for port in self.network.ports_of(self.node):
            yield from self._port(port)
        yield from self._addresses()
        yield from self._arrivals()
        yield from self._redundancy()

    def _whole(self) -> Iterator[str]:
        one = self.network.nodes[self.node]
        yield ""
        yield "The whole device"
        after = one.get("cut_through_octets")
        how = "store-and-forward" if after is None else f"cut-through of frames above {after} octets"
        yield f"  [ ] forwarding: {how}"
        yield "  [ ] spanning tree: off; all ports below forward"
        if "buffer" in one:
            yield f"  [ ] shared memory: {numbers(one['buffer'])}"
        gptp = self.network.document.get("clocks", {}).get("gptp")
        if gptp is not None:
            profile = "IEEE 1588" if "ieee_1588" in gptp else "gPTP (IEEE 802.1AS)"
            interval = quantity("sync_interval_ns", gptp["sync_interval_ns"])
            best = self.network.nodes[gptp["grandmaster"]]["name"]
            role = "is the grandmaster" if gptp["grandmaster"] == self.node else f"follows {best}"
            yield f"  [ ] time: {profile}, Sync every {interval}; the device {role}"

    def _port(self, port: int) -> Iterator[str]:
        one = self.network.ports[port]
        end = self.mapped.ends[one["name"]]
        far = self.mapped.ends[self.network.ports[one["peer"]]["name"]]
        yield ""
        yield f"Port {self.own(port)} ({end}), wire to {far}"
        rate = quantity("rate_bps", one["rate_bps"])
        yield f"  [ ] link: {rate}, full duplex; pause frames off; Energy Efficient Ethernet off"
        vids = self.network.vids(port)
        if vids:
            yield f"  [ ] VLANs, with tag: {listed(vids)}"
        if self.network.untagged(port) or not vids:
            yield "  [ ] frames without a tag: accepted, in the port's default VLAN; left without a tag"
        pairs = ", ".join(f"{pcp} to {one_class}" for pcp, one_class in enumerate(one["pcp_to_class"]))
        yield f"  [ ] PCP to traffic class: {pairs}"
        yield from self._classes(one)
        for part, words in (("transmit_buffer", "a transmit buffer"), ("server", "a server")):
            if part in one:
                self.left_out.append(f"{one['name']}: {words}, which a device has or has not")
        if "preemption" in one:
            yield from self._preemption(one)
        if "gates" in one:
            yield f"  [ ] gates: {gates(one['gates'], len(one['classes']))}"
            for number, entry in enumerate(one["gates"]["entries"], start=1):
                mac = f", {entry['mac']}" if "mac" in entry else ""
                opened = classes_of(entry["open"], len(one["classes"]))
                mask = f"0x{entry['open']:02x}"
                yield f"        entry {number}: {entry['interval_ns']} ns, open: {opened} ({mask}){mac}"
            for change in one["gates"].get("changes", ()):
                self.left_out.append(
                    f"{one['name']}: another gate control list from {change['at_ns']} ns of the run on"
                )
        else:
            yield "  [ ] gates: off, all open"

    def _classes(self, port: Port) -> Iterator[str]:
        plain = [number for number, one in enumerate(port["classes"]) if "cbs" not in one]
        if plain:
            yield f"  [ ] strict priority, no shaper: class {listed(plain)}"
        for number, one in enumerate(port["classes"]):
            if "cbs" in one:
                cbs = one["cbs"]
                yield (
                    f"  [ ] class {number}: credit-based shaper, idleSlope {cbs['idle_slope_bps']} bit/s, "
                    f"sendSlope {cbs['send_slope_bps']} bit/s, hiCredit {cbs['hi_credit_bits']} bit, "
                    f"loCredit {cbs['lo_credit_bits']} bit"
                )
            if "max_sdu_octets" in one:
                yield f"  [ ] class {number}: queueMaxSDU {one['max_sdu_octets']} octets"
            if "longest_wait_ns" in one:
                wait = one["longest_wait_ns"]
                yield f"  [ ] class {number}: a frame is dropped after {wait} ns in the queue"
        limits: dict[str, list[int]] = {}
        for number, one in enumerate(port["classes"]):
            waiting = [
                f"{one[key]} {unit}"  # type: ignore[literal-required]
                for key, unit in (("limit_frames", "frames"), ("limit_octets", "octets"))
                if key in one
            ]
            if waiting:
                limits.setdefault(" and ".join(waiting), []).append(number)
        for limit, numbers_of in limits.items():
            yield f"  [ ] class {listed(numbers_of)}: at most {limit} wait in each queue"

    @staticmethod
    def _preemption(port: Port) -> Iterator[str]:
        preemption, count = port["preemption"], len(port["classes"])
        express = preemption["express"]
        preemptable = (1 << count) - 1 & ~express
        yield (
            f"  [ ] frame preemption: on; express: {classes_of(express, count)}; "
            f"preemptable: {classes_of(preemptable, count)}"
        )
        for key, word in (("hold_advance_ns", "holdAdvance"), ("release_advance_ns", "releaseAdvance")):
            if key in preemption:
                yield f"  [ ] frame preemption: {word} {preemption[key]} ns"  # type: ignore[literal-required]

    def _addresses(self) -> Iterator[str]:
        yield ""
        yield "Addresses"
        learning = self.network.nodes[self.node].get("learning")
        if learning is not None:
            yield f"  [ ] learning: on, ageing time {quantity('ageing_ns', learning['ageing_ns'])}"
            return
        yield "  [ ] learning: off; frames to other addresses are dropped, not flooded"
        rows, clashes = self.network.forwarding(self.node)
        for row in rows:
            vlan = "without a tag" if row.vid is None else f"VLAN {row.vid}"
            ports = ", ".join(self.own(port) for port in row.ports)
            yield f"  [ ] static: {row.destination_mac}, {vlan}, to {ports}: {spelt(row.streams)}"
        for clash in clashes:
            self.left_out.append(
                f"{clash.stream} goes another way than {clash.other}, which has the same address and VLAN"
            )

    def _arrivals(self) -> Iterator[str]:
        """Filters, gates, meters and schedulers of arriving frames. IEEE 802.1Q-2022, 8.6.5."""
        policing = self.network.policing(self.node)
        if policing is None:
            return
        yield ""
        yield "Arriving frames (per-stream filtering and policing)"
        for table in policing.get("regeneration", ()):
            pairs = ", ".join(f"{pcp} as {new}" for pcp, new in enumerate(table["pcp"]))
            yield f"  [ ] port {self.own(table['port'])}: PCP {pairs}"
        for number, gate in enumerate(policing.get("gates", ())):
            yield f"  [ ] stream gate {number}: {numbers(gate)}"
            for place, entry in enumerate(gate["entries"], start=1):
                yield f"        entry {place}: {numbers(entry)}"
        for number, meter in enumerate(policing.get("meters", ())):
            yield f"  [ ] flow meter {number}: {numbers(meter)}"
        for number, group in enumerate(policing.get("groups", ())):
            yield f"  [ ] ATS group {number}: {numbers(group)}"
        for number, scheduler in enumerate(policing.get("schedulers", ())):
            yield f"  [ ] ATS scheduler {number}: {numbers(scheduler)}"
        for number, one in enumerate(policing.get("filters", ()), start=1):
            ports = ", ".join(map(self.own, one["ports"])) if "ports" in one else "any"
            names = [self.network.streams[stream]["name"] for stream in one.get("streams", ())]
            streams = spelt(names) if "streams" in one else "any"
            yield f"  [ ] stream filter {number}: at {ports}; streams {streams}; {numbers(one)}"

    def _redundancy(self) -> Iterator[str]:
        """Streams whose member streams split or merge here. IEEE 802.1CB-2017."""
        lines = []
        for stream in self.network.redundant():
            route, redundancy = stream["route"], stream["redundancy"]
            own = [
                hop["port"]
                for hop in route
                if hop.get("parent") is not None and self.network.ports[hop["port"]]["node"] == self.node
            ]
            if not own:
                continue
            ports = ", ".join(map(self.own, own))
            lines.append(
                f"  [ ] {stream['name']}: to {ports}{'; standby paths' if 'active' in redundancy else ''}"
            )
            ends = {
                self.network.far(route[place]["port"])
                for merge in redundancy.get("merges", ())
                for place in merge["from"]
            }
            if self.node in ends and "recovery" in redundancy:
                lines.append(
                    f"  [ ] {stream['name']}: sequence recovery here: {numbers(redundancy['recovery'])}"
                )
        if lines:
            yield ""
            yield "Streams with several paths (IEEE 802.1CB)"
            yield from lines
