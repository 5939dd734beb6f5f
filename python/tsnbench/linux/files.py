"""One folder per node with all files that configure a Linux host as the Plan requests."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from tsnbench.linux import ethtool, faults, ingress, links, ptp, qdiscs, tuning
from tsnbench.linux.limits import problems
from tsnbench.linux.profile import Profile
from tsnbench.plan.network import Network, file_name
from tsnbench.plan.notes import Notes

if TYPE_CHECKING:
    from tsnbench.plan.types import Port


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def traffic_control(network: Network, profile: Profile, notes: Notes) -> dict[str, str]:
    """Files of `tc`, `ip`, `bridge` and `ethtool` of every node, and the namespaces of all."""
    files = {
        "netns/up.batch": _text(links.namespaces(network, profile)),
        "netns/down.batch": _text(links.no_namespaces(network)),
    }
    _tell(network, profile, notes)
    steps = faults.steps(network, profile, notes)
    if steps:
        files["netns/faults.tsv"] = _text(["at_ns\tnode\tcommand", *map(str, steps)])
    for node, _ in enumerate(network.nodes):
        files |= {
            f"{file_name(network.nodes[node]['name'])}/{name}": text
            for name, text in _node(network, node, profile, notes).items()
        }
    return files


def _node(network: Network, node: int, profile: Profile, notes: Notes) -> dict[str, str]:
    names = [profile.interface(network, port) for port in network.ports_of(node)]
    words = [shlex.quote(name) for name in names]
    ifbs, redirects = faults.devices(network, node, profile)
    # Ingress filters come first: any qdisc that is added to an interface resets its taprio, whose timer then
    # stops.
    tc = ingress.batch(network, node, profile, notes)
    later: list[str] = []
    tools: list[tuple[str, str]] = []
    tc += [line for line in redirects if line not in tc]
    for port, device in zip(network.ports_of(node), names, strict=True):
        tc += qdiscs.batch(network.ports[port], device, profile)
        later += [f"{at}\t{top.line(device)}" for at, top in qdiscs.changes(network.ports[port], profile)]
        tools += ethtool.commands(network.ports[port], shlex.quote(device))
    made, undone = tuning.scripts(words, profile.cpus)
    table = links.address_table(network, node, profile)
    files = {
        "ip.batch": _text([*links.interfaces(network, node, profile), *ifbs]),
        "tc.batch": _text(tc),
        "ethtool.sh": _text(["#!/bin/sh", *(do for do, _ in tools)]),
        "ethtool-undo.sh": _text(["#!/bin/sh", *(undo for _, undo in reversed(tools) if undo)]),
        "tuning.sh": made,
        "tuning-undo.sh": undone,
        "up.sh": _text(
            [
                "#!/bin/sh",
                "set -e",
                "ip -batch ip.batch",
                *(["bridge -batch bridge.batch"] if table else []),
                "tc -batch tc.batch",
            ]
        ),
        "down.sh": _text(
            [
                "#!/bin/sh",
                *(
                    f"tc qdisc del dev {word} {what}"
                    for name, word in zip(names, words, strict=True)
                    for what in ("root", "clsact")
                    if what == "root" or f"qdisc replace dev {name} clsact" in tc
                ),
                *(f"ip {line}" for line in links.no_interfaces(network, node, profile)),
                *(f"ip link del dev {line.split()[3]}" for line in ifbs if line.startswith("link add")),
            ]
        ),
    }
    if table:
        files["bridge.batch"] = _text(table)
    if later:
        files["tc-changes.tsv"] = _text(["at_ns\tline of tc -batch", *later])
    return files


def linuxptp(network: Network, profile: Profile, notes: Notes) -> dict[str, str]:
    """Files of ptp4l and phc2sys of every node that takes part."""
    files: dict[str, str] = {}
    for node, one in enumerate(network.nodes):
        config = ptp.ptp4l(network, node, profile, notes)
        follow, start = ptp.phc2sys(network, node), ptp.script(network, node, profile)
        if config is None or follow is None or start is None:
            continue
        folder = file_name(one["name"])
        files |= {f"{folder}/ptp4l.conf": config, f"{folder}/phc2sys.conf": follow, f"{folder}/ptp.sh": start}
    ptp.beside_gates(network, notes)
    if not files:
        notes.lost("configuration of ptp4l", "the Plan has no PTP: all nodes have the same exact time")
    return files


def _tell(network: Network, profile: Profile, notes: Notes) -> None:
    """The parts of the Plan that Linux cannot express."""
    notes.parts(network, "talkers and captures are programs, not configuration", "streams", "taps")
    if network.document.get("clocks"):
        notes.lost(
            "clocks' drift and faults", "a real clock has its own drift; --as ptp4l writes the files of ptp4l"
        )
    if any("host" in one for one in network.nodes):
        notes.lost("latencies of hosts' software", "a real host has latencies of its own")
    if any("socket" in one for one in network.streams):
        notes.lost("options of talkers' sockets (SO_TXTIME, advance)", "the talker's program sets them")
    for stream in network.redundant():
        notes.lost(
            "several paths of a stream, with sequence numbers, copies and their elimination",
            "Linux has no 802.1CB; its hsr module is another protocol",
            stream["name"],
        )
    for node, one in enumerate(network.nodes):
        if not network.forwards(node):
            continue
        for clash in network.forwarding(node)[1]:
            notes.lost(
                "paths that an address table cannot distinguish",
                "destination and VLAN are those of a stream with another path there",
                f"{clash.stream} at {one['name']}, where {clash.other} has them",
            )
        if "cut_through_octets" in one:
            notes.lost("cut-through", "the kernel stores frames and forwards them", one["name"])
        if "buffer" in one:
            notes.lost("shared memory", "the kernel's queues have limits of their own", one["name"])
        if "learning" in one:
            notes.lost(
                "learning",
                "addresses are static; delete `learning off flood off` to let it learn",
                one["name"],
            )
    notes.stages(
        network,
        "a network card has the one that it has; ethtool -G changes the size of its ring",
        "a kernel's queue has the rate of its link",
        "no queueing discipline with classes drops frames for their age",
    )
    for port in network.ports:
        _tell_port(port, notes)
    planned = {hop["port"] for stream in network.streams if "scheduled" in stream for hop in stream["route"]}
    for number, port in enumerate(network.ports):
        for problem in problems(port, profile, scheduled=number in planned):
            place = f"{problem.where}: {problem.found}" if problem.found else problem.where
            notes.warn(problem.kind, problem.text, place, problem.hint)
        if len(port["classes"]) > 1 and "gates" not in port and "taprio" not in port.get("qdisc", {}):
            notes.warn(
                "ports with mqprio",
                "the hardware decides the order of its queues; on veth there is no order",
                port["name"],
            )
    if any(one["processing_ns"] or "further" in one for one in network.nodes):
        notes.lost("processing times of nodes", "a host has latencies of its own")
    if any(port["propagation_ps"] for port in network.ports):
        notes.lost("the length of cables", "a real cable has its own delay; veth has none")


def _tell_port(port: Port, notes: Notes) -> None:
    name = port["name"]
    gates = port.get("gates")
    if gates is not None:
        if gates.get("initial") is not None and gates["initial"] != 2 ** len(port["classes"]) - 1:
            notes.lost("gates before the base time", "taprio leaves them all open until then", name)
        if gates.get("unguarded"):
            notes.lost("frames that overrun their window", "taprio holds back frames that do not fit", name)
        if any(one.get("idle_slopes") for one in gates.get("changes", [])):
            notes.lost("idle slopes that change with the schedule", "cbs is not tied to a schedule", name)
    classes = port["classes"]
    for number, one in enumerate(classes):
        if "limit_octets" in one and ("limit_frames" in one or "cbs" in one):
            notes.lost("limits in octets", "a queue of the kernel has one limit", f"class {number} of {name}")
        if one.get("cbs", {}).get("runs_while_closed"):
            notes.lost(
                "credit that runs while the gate is closed", "cbs knows no gates", f"class {number} of {name}"
            )
        if gates is None and "max_sdu_octets" in one:
            notes.lost("largest units", "mqprio has none; taprio has", f"class {number} of {name}")
