"""The findings on all hosts of a lab, compared with the needs of Plans; each finding has a remedy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tsnbench.backends.kernel.environment import ACTIONS, FILTERS, LINKS, QDISCS
from tsnbench.backends.kernel.forwarding import forwarding
from tsnbench.backends.kernel.port_traffic import port_traffic
from tsnbench.backends.kernel.unsupported import unsupported
from tsnbench.backends.kernel.veth import shaping
from tsnbench.doctor.findings import MISSING, NOTE, OK, Finding
from tsnbench.hosts import devices, doctor, map_plan, wiring
from tsnbench.hosts.clocks import synchronisation
from tsnbench.hosts.inventory.types import Clock
from tsnbench.hosts.job import queued
from tsnbench.hosts.returned import HostPorts
from tsnbench.linux import qdiscs, tuning
from tsnbench.linux.profile import Mode, Profile
from tsnbench.plan.frames import CAPTURED_OCTETS, sizes
from tsnbench.plan.load import flow_rate

if TYPE_CHECKING:
    from tsnbench.hosts import Inventory, Mapped
    from tsnbench.hosts.doctor import Card, Examined
    from tsnbench.hosts.inventory.types import Host
    from tsnbench.hosts.state.facts import Facts, Interface
    from tsnbench.plan.document import Plan
    from tsnbench.plan.types import PlanDocument

RECORD_OCTETS = 16
"""Octets of a capture for every frame in addition to the frame's own."""
_FCS = 4
_MODULES = {"qdisc": "sch_", "filter": "cls_", "action": "act_", "link": ""}
_SERVICES = {"chronyd": "chrony", "systemd-timesyn": "systemd-timesyncd", "openntpd": "openntpd"}


@dataclass(frozen=True)
class LabReport:
    """All findings of a lab."""

    findings: tuple[Finding, ...]
    """The findings; their subject is ``lab``, ``plan``, or the name of a host."""
    silent: tuple[str, ...]
    """Hosts that could not be examined."""

    @property
    def lacks(self) -> bool:
        """Whether any need is not met."""
        return any(one.state == MISSING for one in self.findings)


@dataclass(frozen=True)
class Use:
    """The use of one host in one Plan."""

    plan: PlanDocument
    node: int
    ports: Mapping[int, str]
    """Ports of the Plan with their interfaces."""


def examine_lab(
    inventory: Inventory, plans: Sequence[Plan] = (), given: Mapping[str, str] | None = None
) -> LabReport:
    """Examines all hosts at once: those that the Plans use, or all of the inventory if there is no Plan.

    Args:
        inventory: the lab.
        plans: the runs of a scenario.
        given: nodes mapped to machines; they come before the inventory's own ``map``.

    Raises:
        MappingErrors: a Plan does not fit the lab.
        BackendError: the live program is missing on this machine.
    """
    places = [(plan.document, map_plan(inventory, plan.document, given or {})) for plan in plans]
    used = {machine for _, mapped in places for machine in mapped.machines.values()}
    hosts = [name for name in inventory.hosts if name in used or not plans]
    return judge(inventory, places, doctor.ask(inventory, hosts))


def judge(
    inventory: Inventory,
    places: Sequence[tuple[PlanDocument, Mapped]],
    examined: Mapping[str, Examined],
) -> LabReport:
    """The consequences of the hosts' answers for Plans and their mapping to a lab."""
    findings = [*_plans(inventory, places)]
    answered = {name: one.facts for name, one in examined.items() if one.facts is not None}
    if places and (idle := [name for name in inventory.hosts if name not in examined]):
        findings.append(Finding("lab", "hosts", NOTE, f"not used, and not asked: {', '.join(idle)}"))
    findings += _tai(answered)
    synchronised = synchronisation.needed(inventory, answered)
    for name, one in examined.items():
        uses = [use for plan, mapped in places for use in _uses(plan, mapped, name)]
        findings += Judge(inventory.hosts[name], one, uses, name in synchronised, bool(places)).all()
    silent = tuple(name for name, one in examined.items() if one.error)
    return LabReport(tuple(dict.fromkeys(findings)), silent)


def _uses(plan: PlanDocument, mapped: Mapped, host: str) -> Iterator[Use]:
    numbers = {port["name"]: number for number, port in enumerate(plan["ports"])}
    own = mapped.node(host)
    for node, one in enumerate(plan["nodes"]):
        if one["name"] == own:
            ports = {numbers[port]: name for port, name in mapped.ports_of(host).items()}
            yield Use(plan, node, ports)


def _plans(inventory: Inventory, places: Sequence[tuple[PlanDocument, Mapped]]) -> Iterator[Finding]:
    for plan, mapped in places:
        yield from unsupported_of(plan)
        yield from _devices(inventory, plan, mapped)


def unsupported_of(plan: PlanDocument) -> Iterator[Finding]:
    """The parts of a Plan that no host supports."""
    for line in unsupported(plan, HostPorts(frozenset())):
        yield Finding(
            "plan", plan["name"], MISSING, f"not with --on hosts: {line}", "the simulator has everything"
        )


def _devices(inventory: Inventory, plan: PlanDocument, mapped: Mapped) -> Iterator[Finding]:
    for device in devices.by_netconf(inventory, mapped):
        where = device.netconf.rpartition("@")[2]
        remedy = f"tsnbench deploy --dry-run --node {mapped.node(device.name)}={where} says what would change"
        yield Finding(device.name, "configured", NOTE, f"by a run, at {device.netconf}; not asked", remedy)
    for one in devices.by_hand(inventory, plan, mapped):
        name = one.device.name
        if one.wanted.left_out:
            found = f"cannot be configured during a run: {'; '.join(one.wanted.left_out)}"
            yield Finding(name, "configured", MISSING, found, "the simulator has everything")
        elif one.confirmed:
            yield Finding(name, "configured", OK, f"by hand, and confirmed in {one.device.checklist}")
        else:
            remedy = f"tsnbench run writes {one.device.checklist}: configure {name} as it says, and confirm"
            yield Finding(
                name, "configured", MISSING, "by hand: this Plan's checklist is not confirmed", remedy
            )


def _tai(answered: Mapping[str, Facts]) -> Iterator[Finding]:
    """A mixture of 0 s and 37 s: gates and talkers would be 37 s apart."""
    offsets = {name: one.ready.tai_minus_utc_s for name, one in answered.items()}
    if not offsets:
        return
    if len(set(offsets.values())) == 1:
        yield Finding("lab", "TAI", OK, f"{next(iter(offsets.values()))} s ahead of UTC on every host")
        return
    listed = ", ".join(f"{name} {ahead} s" for name, ahead in offsets.items())
    remedy = "start ptp4l or chrony everywhere, or nowhere; the kernel learns it from them"
    yield Finding("lab", "TAI", MISSING, f"hosts differ in how far it is ahead of UTC: {listed}", remedy)


class Judge:
    """The checks of one host."""

    def __init__(
        self, host: Host, answer: Examined, uses: Sequence[Use], synchronised: bool, planned: bool
    ) -> None:
        self.host, self.answer, self.uses = host, answer, uses
        self.synchronised = synchronised
        """Whether its clocks must be synchronised with others."""
        self.planned = planned

    def all(self) -> Iterator[Finding]:
        if self.answer.error:
            yield self._refusal("reached", self.answer.error)
            return
        yield self._ok("reached", f"by ssh as root ({self.host.ssh})")
        if self.answer.lacks or self.answer.facts is None:
            yield self._refusal("iproute2", self.answer.lacks)
            return
        ready = self.answer.facts.ready
        yield self._ok("kernel", f"{ready.kernel} on {ready.machine}")
        for port, name in self._ports().items():
            yield from self._port(self.answer.facts, f"{port} ({name})", name)
        yield from self._abilities(self.answer.facts)
        yield from self._clocks()
        yield from self._space()
        yield from self._processors()

    def _ok(self, name: str, found: str) -> Finding:
        return Finding(self.host.name, name, OK, found)

    def _note(self, name: str, found: str, remedy: str = "") -> Finding:
        return Finding(self.host.name, name, NOTE, found, remedy)

    def _missing(self, name: str, found: str, remedy: str) -> Finding:
        return Finding(self.host.name, name, MISSING, found, remedy)

    def _refusal(self, name: str, error: str) -> Finding:
        """An error in words, whose last line may be a hint."""
        found, _, remedy = error.partition("\nhint: ")
        return self._missing(name, "; ".join(found.splitlines()), remedy)

    def _ports(self) -> dict[str, str]:
        """The relevant ports of the inventory, with their interfaces."""
        needed = {name for use in self.uses for name in use.ports.values()}
        return {port: name for port, name in self.host.ports.items() if name in needed or not self.planned}

    def _port(self, facts: Facts, name: str, interface: str) -> Iterator[Finding]:
        one = facts.interfaces.get(interface)
        if one is None:
            there = ", ".join(sorted(set(facts.interfaces) - {"lo"})) or "none"
            remedy = f"write one of its interfaces: {there}"
            yield self._missing(name, "there is no such interface", remedy)
            return
        if interface == facts.ssh_interface:
            remedy = f"leave {interface} out of `ports`: what carries ssh is never touched"
            yield self._missing(name, "carries our own ssh connection", remedy)
            return
        yield self._ok(
            name, f"driver {one.driver}" if one.driver else one.kind or "a driver that is not known"
        )
        if one.up and not one.carrier:
            remedy = "plug in its cable, and see whether the other end is up"
            yield self._missing(f"{name} link", "has no carrier", remedy)
        elif not one.up:
            yield self._note(f"{name} link", "is down, so its carrier is not known; a run sets it up")
        if one.root:
            remedy = f"on {self.host.name}: tc qdisc del dev {interface} root"
            found = f"has somebody's queueing discipline ({one.root}), which could not be given back"
            yield self._missing(f"{name} qdisc", found, remedy)
        if one.master:
            remedy = f"on {self.host.name}: ip link set dev {interface} nomaster"
            yield self._missing(f"{name} master", f"is a port of {one.master}", remedy)
        card = self.answer.cards[interface]
        if not one.virtual and "ethtool" not in self.answer.programs:
            remedy = f"on {self.host.name}: apt-get install ethtool"
            yield self._note(f"{name} settings", "stay as they are: there is no ethtool", remedy)
        yield from self._rate(name, one, card)
        yield from self._queues(name, one, card)
        yield from self._stamps(name, one, card)

    def _rate(self, name: str, one: Interface, card: Card) -> Iterator[Finding]:
        """The rate of its link, if the interface is up and a Plan has another one."""
        if one.virtual:
            return
        for use in self.uses:
            own = {port: interface for port, interface in use.ports.items() if interface == one.name}
            told = dict.fromkeys(own, card.speed)
            for line in wiring.other_rates(self.host.name, use.plan, own, told):
                remedy = (
                    f"write that rate in the scenario, or on {self.host.name}: ethtool -s {one.name} speed …"
                )
                yield self._missing(f"{name} rate", line.partition(": ")[2], remedy)

    def _queues(self, name: str, one: Interface, card: Card) -> Iterator[Finding]:
        """One queue per traffic class, for mqprio and taprio. A virtual port without gates needs none."""
        ports = [
            use.plan["ports"][number]
            for use in self.uses
            for number, interface in use.ports.items()
            if interface == one.name and number in queued(use.plan)
        ]
        classes = max(
            (len(port["classes"]) for port in ports if not one.virtual or port.get("gates")), default=1
        )
        most = "" if card.most_queues is None else f", at most {card.most_queues}"
        found = f"{card.queues} for transmission{most}"
        if card.queues >= classes:
            yield self._ok(f"{name} queues", found)
        elif (card.most_queues or 0) >= classes:
            yield self._ok(f"{name} queues", f"{found}; a run sets {classes}")
        else:
            remedy = "a network card with more queues, or a scenario with fewer classes"
            yield self._missing(f"{name} queues", f"{found}; the Plan has {classes} classes there", remedy)

    def _stamps(self, name: str, one: Interface, card: Card) -> Iterator[Finding]:
        if self.host.clock is not Clock.HARDWARE:
            return
        if one.phc and card.stamps.hardware:
            frames = ", ".join(card.stamps.filters) or "no frames"
            yield self._ok(f"{name} clock", f"{one.phc}; hardware stamps arriving frames: {frames}")
            return
        found = "no PTP hardware clock" if not one.phc else f"{one.phc}, but no hardware stamps both ways"
        if self.synchronised and self._ptp():
            remedy = "another interface, or `clock: software` in the inventory"
            yield self._missing(f"{name} clock", found, remedy)
        else:
            yield self._note(f"{name} clock", found)

    def _ptp(self) -> bool:
        """Whether a Plan has PTP."""
        return any("gptp" in use.plan.get("clocks", {}) for use in self.uses)

    def _abilities(self, facts: Facts) -> Iterator[Finding]:
        """The parts of the kernel that the Plans need."""
        can = facts.can
        has = {"qdisc": can.qdiscs, "filter": can.filters, "action": can.actions, "link": can.links}
        wanted = dict.fromkeys(one for use in self.uses for one in _kernel_needs(use, facts))
        gone = [(room, name) for room, name in wanted if name not in has[room]]
        for room, name in gone:
            remedy = f"on {self.host.name}: modprobe {_MODULES[room]}{name}, or another kernel"
            yield self._missing(f"{room} {name}", "the Plan needs it, and the kernel has none", remedy)
        if wanted and not gone:
            listed = ", ".join(name for _, name in wanted)
            yield self._ok("traffic control", f"all that the Plan needs: {listed}")

    def _clocks(self) -> Iterator[Finding]:
        running = self.answer.steering
        own = "ptp4l" in running
        if self.synchronised and self._ptp() and not own:
            programs = ("ptp4l", "phc2sys") if self.host.clock is Clock.HARDWARE else ("ptp4l",)
            for program in programs:
                if program in self.answer.programs:
                    yield self._ok(program, "there; a run starts it")
                else:
                    remedy = f"on {self.host.name}: apt-get install linuxptp"
                    yield self._missing(program, "not there, and the Plan has PTP", remedy)
        elif self.synchronised and self.uses and not own:
            remedy = "start ptp4l and phc2sys there, or write `clocks: {gptp: …}` in the scenario"
            found = "does not run, the host has a clock of its own, and the Plan has no PTP for it"
            yield self._missing("ptp4l", found, remedy)
        elif own:
            yield self._ok("ptp4l", "runs there already; a run reads it and leaves it alone")
        for program in running:
            if program in ("ptp4l", "phc2sys"):
                continue
            name = "systemd-timesyncd" if program == "systemd-timesyn" else program
            service = _SERVICES.get(program, program)
            remedy = f"on {self.host.name}: systemctl stop {service}"
            if self.synchronised and self._ptp() and self.host.clock is Clock.HARDWARE:
                yield self._missing(name, "steers the clock that phc2sys would steer", remedy)
            else:
                yield self._note(name, "runs and steers the system's clock: a step spoils a run", remedy)

    def _space(self) -> Iterator[Finding]:
        free, needed = self.answer.free_octets, max(map(capture_octets, self.uses), default=0)
        if free is None:
            yield self._note("space", "not known: df did not say")
        elif needed > free:
            found = f"{_mib(free)} MiB free, captures need up to {_mib(needed)} MiB"
            yield self._missing("space", found, "a larger folder for temporary files, or a shorter duration")
        else:
            most = f", captures need up to {_mib(needed)} MiB" if needed else ""
            yield self._ok("space", f"{_mib(free)} MiB free{most}")

    def _processors(self) -> Iterator[Finding]:
        asked = set(self.host.talkers)
        if not asked:
            yield self._note("processors", "none are named for talkers", "write `talkers: [2, 3]`")
            return
        listed = ", ".join(map(str, sorted(asked)))
        if gone := sorted(asked - self.answer.online):
            there = f"there is no processor {', '.join(map(str, gone))}"
            yield self._missing("processors", there, "name others as `talkers` in the inventory")
        elif asked <= self.answer.isolated:
            yield self._ok("processors", f"{listed} are isolated for talkers")
        else:
            remedy = f"takes a boot with {tuning.boot_parameters(sorted(asked))}"
            found = f"{listed} are not isolated: other programs delay talkers there"
            yield self._note("processors", found, remedy)


def _kernel_needs(use: Use, facts: Facts) -> Iterator[tuple[str, str]]:
    """Needed parts of a kernel by kind and name, as far as they were tested."""
    tried = {"qdisc": QDISCS, "filter": FILTERS, "action": ACTIONS, "link": LINKS}
    for room, name in _parts(use, facts):
        if name in tried[room]:
            yield room, name


def _parts(use: Use, facts: Facts) -> Iterator[tuple[str, str]]:
    """The needs of the configuration by :mod:`tsnbench.hosts.job`."""
    forwards = use.node in forwarding(use.plan)
    cards = any(not one.virtual for name in use.ports.values() if (one := facts.interfaces.get(name)))
    traffic = port_traffic(use.plan)
    if forwards:
        yield "link", "bridge"
    if forwards and cards:
        yield from (("qdisc", "clsact"), ("filter", "flower"), ("action", "skbedit"))
    for number in use.ports:
        port = use.plan["ports"][number]
        if cards and number not in queued(use.plan):
            continue
        if cards:
            profile = Profile(mode=Mode.FULL)
            yield "qdisc", qdiscs.root(port, profile).kind
            for child in qdiscs.children(port, profile):
                yield "qdisc", child.kind
        else:
            for element in shaping.shape(port, traffic[number], facts.can):
                if isinstance(element, qdiscs.Root | qdiscs.Qdisc):
                    yield "qdisc", element.kind


def capture_octets(use: Use) -> int:
    """An upper bound for the captures of a run at one host."""
    whole = Fraction(0)
    for tap in use.plan["taps"]:
        if tap["port"] not in use.ports or tap["stage"] not in ("tx", "rx"):
            continue
        port = use.plan["ports"][tap["port"]]
        sender = tap["port"] if tap["stage"] == "tx" else port["peer"]
        for stream in use.plan["streams"]:
            if all(hop["port"] != sender for hop in stream["route"]):
                continue
            own = sizes(stream["size"])
            # A saturating stream may use the whole link.
            rate = flow_rate(stream["pattern"], stream["size"]) or Fraction(port["rate_bps"])
            kept = min(Fraction(CAPTURED_OCTETS), own.frame_bits / own.frames / 8 - _FCS)
            whole += (
                rate * own.frames / own.phy_bits * (RECORD_OCTETS + kept) * use.plan["duration_ns"] / 10**9
            )
    return int(whole) + 1


def _mib(octets: int) -> int:
    """MiB, rounded up."""
    return -(-octets // 2**20)
