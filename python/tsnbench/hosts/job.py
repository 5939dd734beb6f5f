"""The job of each host: commands with their undo, and programs, from the Plan and its mapping to a lab."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tsnbench.backends.kernel import multicast, stages
from tsnbench.backends.kernel.environment import Capabilities
from tsnbench.backends.kernel.forwarding import bridge, forwarding
from tsnbench.backends.kernel.port_traffic import port_traffic, with_one_limit
from tsnbench.backends.kernel.veth import shaping
from tsnbench.backends.kernel.veth.vlan_priority import priorities, tag_filters
from tsnbench.errors import InterfaceError
from tsnbench.hosts.inventory.types import Clock
from tsnbench.hosts.remote.answers import Step
from tsnbench.hosts.state import tuning
from tsnbench.linux import ingress, qdiscs
from tsnbench.linux.profile import Layout, Mode, Profile
from tsnbench.plan.frames import CAPTURED_OCTETS
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes

if TYPE_CHECKING:
    from tsnbench.hosts.inventory import Inventory
    from tsnbench.hosts.inventory.types import Host
    from tsnbench.hosts.mapping import Mapped
    from tsnbench.hosts.state.facts import Facts, Interface
    from tsnbench.plan.types import PlanDocument

BRIDGE = "tsnbench0"
"""The name of the bridge on a host that forwards; no bridge of a user has this name."""
LAB_CARD = "tsnport"
"""The driver of cards in a guest of a lab."""
GATED = frozenset(
    {"igc", "fsl_enetc", "tsnep", "am65-cpsw-nuss", "lan966x", "st_gmac", "stmmaceth", "dwmac-intel"}
    | {LAB_CARD}
)
"""Drivers with full offload of taprio (``flags 0x2``); igb, of the I210, does not have it."""
STAMPING = frozenset({LAB_CARD})
"""Drivers whose cards make timestamps of all arriving frames and of each frame of a talker; others have not
been tried."""
HIGHEST_FIRST = frozenset({"st_gmac", "stmmaceth", "dwmac-intel", LAB_CARD})
"""Drivers of hardware whose highest queue is served first."""
PROGRAM = "PROGRAM"
"""Placeholder in a command for the live program on the host, whose folder is known only once it is there."""
OTHER = "other-"
"""The prefix of the names of additional programs."""
_OF_ITS_OWN = 'rm -rf "$0" && mkdir "$0" && cd "$0" && exec "$@"'
"""An additional program has a working folder of its own, so that its files do not mix with ours."""
DRAIN_NS = 300_000_000
"""How long captures and listeners continue after the Plan's end."""


@dataclass(frozen=True)
class Program:
    """A program that runs during the run, and the word with which it reports that it is ready."""

    name: str
    argv: tuple[str, ...]
    ready: str


@dataclass
class HostJob:
    """The job of one host."""

    host: str
    node: int
    names: dict[int, str]
    """Ports of the Plan with their interfaces."""
    setup: list[Step] = field(default_factory=list)
    beside: list[Program] = field(default_factory=list)
    """Programs that must run during a run and are no part of it."""
    captures: list[Program] = field(default_factory=list)
    armed: list[Program] = field(default_factory=list)
    """Talkers and listeners, which wait for the start."""
    others: list[Program] = field(default_factory=list)
    """Additional programs, which do not know the start."""
    read: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """Commands whose output is kept, with the names of their files."""

    def lines(self) -> list[str]:
        """Every command in its order, for people."""
        found = []
        for step in self.setup:
            told = shlex.join(step.argv)
            found += [f"{told} <<END", *step.stdin.splitlines(), "END"] if step.stdin else [told]
        found += [shlex.join(one.argv) for one in (*self.beside, *self.captures, *self.armed, *self.others)]
        found += [shlex.join(argv) for _, argv in self.read]
        undo = [shlex.join(words) for step in self.setup for words in step.undo]
        return [*found, *(f"undo: {line}" for line in reversed(undo))]


def jobs(
    plan: PlanDocument,
    inventory: Inventory,
    mapped: Mapped,
    facts: Mapping[str, Facts],
    phase_ns: int,
    dilate: int = 1,
) -> dict[str, HostJob]:
    """The jobs by host, in the order of the Plan's nodes.

    Args:
        plan: the Plan in the hosts' time.
        inventory: the lab.
        mapped: the mapping of the Plan.
        facts: the facts by host. A missing host is assumed to have network cards and a kernel that supports
            everything (``--dry-run`` without asking).
        phase_ns: an instant of TAI with the phase of the Plan's zero, to which gate cycles are aligned.
        dilate: how many times slower the hosts' time is than the Plan's.

    Raises:
        InputError: a host's interface is used for something else.
    """
    numbers = {port["name"]: number for number, port in enumerate(plan["ports"])}
    found: dict[str, HostJob] = {}
    for node, own in enumerate(plan["nodes"]):
        machine = mapped.machines[own["name"]]
        if (host := inventory.hosts.get(machine)) is not None:
            names = {numbers[port]: name for port, name in mapped.ports_of(machine).items()}
            job = found[machine] = HostJob(machine, node, names)
            known = facts.get(machine)
            job.setup += _setup(plan, job, host, known, phase_ns)
            _programs(plan, job, host, known.interfaces if known is not None else {}, dilate)
            job.read = [
                (f"qdisc-{node}", ("tc", "-j", "-s", "qdisc", "show")),
                (f"link-{node}", ("ip", "-j", "-s", "link", "show")),
            ]
    _awake(found, facts)
    return found


def _setup(plan: PlanDocument, job: HostJob, host: Host, known: Facts | None, phase_ns: int) -> list[Step]:
    """The steps that configure a host, in their order."""
    names = job.names
    interfaces = known.interfaces if known is not None else {}
    can = known.can if known is not None else Capabilities()
    before = known.before if known is not None else None
    _refuse_in_use(job.host, names, interfaces)
    ports = [one for name, one in interfaces.items() if name in names.values()]
    virtual = bool(interfaces) and all(one.virtual for one in ports)
    steps = [*tuning.settings(host, tuned(host, known), before)]
    if not virtual:
        wanted = queued(plan)
        classes = {
            name: len(plan["ports"][port]["classes"]) if port in wanted else 1 for port, name in names.items()
        }
        steps += tuning.cards(classes, before)
    steps += _interfaces(plan, names, interfaces)
    if job.node in forwarding(plan):
        steps += _forwarding(plan, job.node, names, can)
    if virtual:
        return steps + _virtual(plan, job.node, names, can, phase_ns)
    steps += _hardware(plan, job.node, names, known, phase_ns)
    return [*steps, tuning.carriers(list(names.values()))]


def _refuse_in_use(host: str, names: Mapping[int, str], interfaces: Mapping[str, Interface]) -> None:
    for name in names.values():
        one = interfaces.get(name)
        if one is None:
            continue
        if one.root:
            raise InterfaceError(
                f"{host}: {name} has a queueing discipline of somebody ({one.root}), which could not be "
                f"given back\nhint: on {host}: tc qdisc del dev {name} root"
            )
        if one.master:
            raise InterfaceError(
                f"{host}: {name} is a port of {one.master}\nhint: on {host}: ip link set dev {name} nomaster"
            )


def _interfaces(
    plan: PlanDocument, names: Mapping[int, str], interfaces: Mapping[str, Interface]
) -> list[Step]:
    """Sets the Plan's addresses, stops the host's own frames, and sets the interfaces up; the undo restores
    the earlier values."""
    steps = []
    for port, name in names.items():
        was = interfaces.get(name)
        mac = plan["ports"][port]["mac"]
        if was is None or was.mac != mac:
            back = ("ip", "link", "set", "dev", name, "address", was.mac if was else "MAC-BEFORE")
            steps.append(Step(("ip", "link", "set", "dev", name, "address", mac), undo=(back,)))
        if was is None or was.ipv6:
            key = f"net.ipv6.conf.{name.replace('.', '/')}.disable_ipv6"
            steps.append(Step(("sysctl", "-q", "-w", f"{key}=1"), undo=(("sysctl", "-q", "-w", f"{key}=0"),)))
        down: tuple[tuple[str, ...], ...] = ()
        if was is not None and not was.up:
            down = (("ip", "link", "set", "dev", name, "down"),)
        steps.append(Step(("ip", "link", "set", "dev", name, "up"), undo=down))
    return steps


def _forwarding(plan: PlanDocument, node: int, names: Mapping[int, str], can: Capabilities) -> list[Step]:
    links, table = bridge(plan, node, can, names.__getitem__, BRIDGE)
    first, *rest = links
    steps = [Step(("ip", *first.split()), undo=(("ip", "link", "del", "dev", BRIDGE),))]
    steps += [Step(("ip", *line.split())) for line in rest]
    if table:
        steps.append(Step(("bridge", "-batch", "-"), stdin="".join(f"{line}\n" for line in table)))
    return steps


def _virtual(
    plan: PlanDocument, node: int, names: Mapping[int, str], can: Capabilities, phase_ns: int
) -> list[Step]:
    """Virtual interfaces accept frames at any rate: a discipline limits each of them as a MAC does."""
    seen = priorities(plan, node) if can.reads_tags and node in forwarding(plan) else {}
    lines = [line for port, own in sorted(seen.items()) for line in tag_filters(names[port], own)]
    if node in forwarding(plan):
        lines += multicast.filters(plan, node, can, set(seen), names.__getitem__)
    traffic = port_traffic(plan)
    for port, name in names.items():
        elements = shaping.shape(plan["ports"][port], traffic[port], can)
        lines += shaping.lines(name, elements, lambda at_ns: str(phase_ns + at_ns))
    return _tc(lines)


def _hardware(
    plan: PlanDocument, node: int, names: Mapping[int, str], facts: Facts | None, phase_ns: int
) -> list[Step]:
    """Network cards get the commands of the export ``--as tc``."""
    network = Network(plan)
    own = {network.ports[port]["name"]: name for port, name in names.items()}
    lines = []
    if node in forwarding(plan):
        lines += ingress.batch(network, node, Profile(interfaces=own, epoch_ns=phase_ns), Notes("hosts"))
    wanted = queued(plan)
    for port, name in names.items():
        if port not in wanted:
            continue
        driver = facts.interfaces[name].driver if facts is not None else ""
        kernel = facts.ready.kernel if facts is not None else ""
        profile = Profile(mode_of(driver), layout_of(driver, kernel), epoch_ns=phase_ns, interfaces=own)
        classes = [with_one_limit(one) for one in plan["ports"][port]["classes"]]
        lines += qdiscs.batch({**plan["ports"][port], "classes": classes}, name, profile)
    return _tc(lines)


def queued(plan: PlanDocument) -> frozenset[int]:
    """Ports whose cards need a queue per traffic class: one with gates, a shaper, a queueing discipline, or
    frames of several classes. All others send frames in the order in which they get them, as any card does.
    """
    used: dict[int, set[int]] = {}
    for stream in plan["streams"]:
        for hop in stream["route"]:
            place = plan["ports"][hop["port"]]["pcp_to_class"][stream["pcp"]]
            used.setdefault(hop["port"], set()).add(place)
    return frozenset(
        number
        for number, port in enumerate(plan["ports"])
        if "gates" in port
        or "qdisc" in port
        or len(used.get(number, ())) > 1
        or any("cbs" in own and place in used.get(number, ()) for place, own in enumerate(port["classes"]))
    )


def mode_of(driver: str) -> Mode:
    """Hardware gates for cards that have them; for all others, and unknown ones, the kernel's gates."""
    return Mode.FULL if driver in GATED else Mode.SOFTWARE


def layout_of(driver: str, kernel: str) -> Layout:
    """The order in which queues are served, and the mappings that the kernel supports."""
    if driver in HIGHEST_FIRST:
        return Layout.STRAIGHT
    found = re.match(r"(\d+)\.(\d+)", kernel)
    old = found is not None and (int(found[1]), int(found[2])) < (6, 3)
    return Layout.RENUMBERED if old else Layout.REVERSED


def tuned(host: Host, facts: Facts | None) -> list[str]:
    """The network cards of a host in the inventory; all its interfaces if their kinds are unknown."""
    names = list(host.ports.values())
    if facts is None:
        return names
    return [name for name in names if (one := facts.interfaces.get(name)) and not one.virtual]


def _tc(lines: list[str]) -> list[Step]:
    """The first line of each place that has to be removed becomes a step of its own, with its undo."""
    steps: list[Step] = []
    waiting: list[str] = []
    undone: set[tuple[str, str]] = set()
    for line in lines:
        words = line.split()
        place = "clsact" if "clsact" in words else "root" if "root" in words else ""
        device = words[words.index("dev") + 1]
        if words[0] == "qdisc" and place and (device, place) not in undone:
            undone.add((device, place))
            steps += _batch(waiting)
            waiting = []
            steps.append(Step(("tc", *words), undo=(("tc", "qdisc", "del", "dev", device, place),)))
        else:
            waiting.append(line)
    return steps + _batch(waiting)


def _batch(lines: list[str]) -> list[Step]:
    return [Step(("tc", "-batch", "-"), stdin="".join(f"{line}\n" for line in lines))] if lines else []


def _awake(found: Mapping[str, HostJob], facts: Mapping[str, Facts]) -> None:
    """A guest of a lab must not be idle during a run: when it is idle, its time is that of its emulator."""
    guests = set()
    for machine, job in found.items():
        known = facts.get(machine)
        if known is None or known.ready.boot in guests:
            continue
        if any(known.interfaces[name].driver == LAB_CARD for name in job.names.values()):
            guests.add(known.ready.boot)
            words = ("chrt", "-i", "0", "sh", "-c", "echo awake; while :; do :; done")
            job.beside.append(Program("awake", words, "awake"))


def _stamped_at_talker(plan: PlanDocument, port: int) -> bool:
    """Whether all frames of a port belong to a talker that can request a timestamp for each."""
    node = plan["ports"][port]["node"]
    own = [stream for stream in plan["streams"] if stream["talker"] == node]
    fills = any(stream["pattern"]["kind"] == "saturating" for stream in own)
    return bool(own) and not fills and node not in forwarding(plan)


def _programs(
    plan: PlanDocument, job: HostJob, host: Host, interfaces: Mapping[str, Interface], dilate: int
) -> None:
    slower = ("--dilate", str(dilate)) if dilate != 1 else ()
    argv: tuple[str, ...]
    stamping = {
        port
        for port, name in job.names.items()
        if (one := interfaces.get(name))
        and one.driver in STAMPING
        and one.phc
        and host.clock is Clock.HARDWARE
    }
    by_talker = {port for port in stamping if _stamped_at_talker(plan, port)}
    for name, words in host.programs.items():
        argv = ("sh", "-c", _OF_ITS_OWN, f"{OTHER}{name}", *words)
        job.others.append(Program(f"{OTHER}{name}", argv, ""))
    cpu = ("--cpu", str(host.talkers[0])) if host.talkers else ()
    other = ("--cpu", str(host.talkers[-1])) if host.talkers else ()
    taps = {(tap["port"], tap["stage"]) for tap in plan["taps"]}
    for number, tap in enumerate(plan["taps"]):
        if tap["port"] in job.names and tap["stage"] in ("tx", "rx"):
            if tap["stage"] == "tx" and tap["port"] in by_talker:
                continue
            direction = "in" if tap["stage"] == "rx" else "out"
            argv = (PROGRAM, "capture", job.names[tap["port"]], "--direction", direction)
            argv += ("--file", f"tap-{number}.pcap", "--snap", str(CAPTURED_OCTETS))
            argv += ("--hardware",) if direction == "in" and tap["port"] in stamping else ()
            job.captures.append(Program(f"tap-{number}", argv, "capturing"))
    whole_ns = plan["duration_ns"] + plan["drain_ns"] + DRAIN_NS
    for heard in stages.listeners(plan):
        if heard.port in job.names:
            argv = (PROGRAM, "listen", "plan.json", "--wake", "--epoch-from", "-", "--for", str(whole_ns))
            argv += ("--port", f"{heard.port}={job.names[heard.port]}")
            argv += ("--priority", str(stages.LISTENING), "--log", f"heard-{heard.port}.json")
            argv += ("--sights", f"sights-port-{heard.port}", *other)
            argv += slower
            job.armed.append(Program(f"listener-{heard.port}", argv, "armed"))
    for talker in stages.talkers(plan):
        if talker.node == job.node:
            argv = (PROGRAM, "talk", "plan.json", "--node", str(talker.node), "--epoch-from", "-")
            argv += tuple(word for port in talker.ports for word in ("--port", f"{port}={job.names[port]}"))
            argv += ("--log", f"talk-{talker.node}", *cpu)
            by_card = [port for port in talker.ports if port in by_talker and (port, "tx") in taps]
            argv += ("--sights", f"sights-{talker.node}") if talker.notes or by_card else ()
            argv += ("--hardware",) if by_card else ()
            argv += slower
            job.armed.append(Program(f"talker-{talker.node}", argv, "armed"))
