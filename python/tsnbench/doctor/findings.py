"""The findings on this machine, each with its meaning and a remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tsnbench.backends.netns import sandbox
from tsnbench.doctor.host import Here, Host
from tsnbench.linux import reading

OK, NOTE, MISSING = "ok", "note", "missing"
_CPU = "/sys/devices/system/cpu"
_OFFLOADS = ("tcp-segmentation-offload", "generic-segmentation-offload", "generic-receive-offload")


_USES = {
    "link veth": "links between nodes",
    "link ifb": "faults of a cable on real hosts",
    "link bridge": "bridges",
    "link vlan": "tagged frames of ordinary programs",
    "qdisc pfifo": "queues with a limit",
    "qdisc prio": "strict priority",
    "qdisc htb": "rates of links",
    "qdisc netem": "cables: their length, and loss, delay, duplicates",
    "qdisc cbs": "credit-based shapers",
    "qdisc etf": "launch times",
    "qdisc mqprio": "traffic classes",
    "qdisc taprio": "gates",
    "qdisc clsact": "filters",
    "filter matchall": "wires",
    "filter flower": "priorities of tags, filters per stream",
    "filter u32": "wires, where matchall is missing",
    "filter bpf": "priorities of tags, where flower is missing",
    "action mirred": "wires",
    "action skbedit": "priorities of tags",
    "action gact": "filters that drop",
    "action police": "meters",
    "action gate": "stream gates",
    "bridge vlan_filtering": "VLANs",
}
"""The kernel's parts that scenarios need, with their purposes."""


@dataclass(frozen=True)
class Finding:
    """One finding: its state in a word, its text, and a remedy if there is one."""

    room: str
    """The subject: kernel, tools, interface NAME, clocks, processors, rights."""
    name: str
    state: str
    found: str
    remedy: str = ""


def examine(host: Host | None = None) -> list[Finding]:
    """All findings, of this machine or another one; nothing is changed except for a scratch namespace, which
    is removed afterwards."""
    there = host or Here()
    rooms = (_rights, _kernel, _tools, _interfaces, _clocks, _processors)
    return [finding for room in rooms for finding in room(there)]


def _rights(host: Host) -> Iterator[Finding]:
    if host.privileged():
        yield Finding("rights", "namespaces", OK, "may be made (CAP_SYS_ADMIN)")
    else:
        yield Finding("rights", "namespaces", MISSING, "may not be made", "run as root for --on netns")


def _kernel(host: Host) -> Iterator[Finding]:
    from tsnbench.errors import BackendError

    yield Finding("kernel", "release", OK, host.release())
    if not host.privileged() or not all(map(host.has, sandbox.TOOLS)):
        yield Finding("kernel", "abilities", NOTE, "not tried: that takes root and iproute2")
        return
    try:
        trials = host.trials()
    except BackendError as error:
        yield Finding("kernel", "abilities", MISSING, str(error))
        return
    for one in trials:
        name = f"{one.room} {one.name}"
        use = _USES.get(name, "")
        if one.taken:
            yield Finding("kernel", name, OK, f"taken{f' ({use})' if use else ''}")
        elif use:
            yield Finding("kernel", name, MISSING, f"{one.said} ({use})", _module(one.room, one.name))
        else:
            yield Finding("kernel", name, NOTE, f"{one.said} (no scenario needs it)")


def _module(room: str, name: str) -> str:
    """The remedy for a missing part that is a module of its own."""
    known = {
        "qdisc": f"modprobe sch_{name}",
        "filter": f"modprobe cls_{name}",
        "action": f"modprobe act_{name}",
        "link": f"modprobe {'8021q' if name == 'vlan' else name}",
        "bridge": "a kernel with CONFIG_BRIDGE_VLAN_FILTERING",
    }
    what = known[room]
    return f"{what}, or --on vm" if what.startswith("modprobe") else f"{what}, as --on vm has"


def _tools(host: Host) -> Iterator[Finding]:
    from tsnbench.backends.vm import initramfs, machine

    version = re.search(r"iproute2-\S+", host.said("ip", "-V"))
    yield Finding(
        "tools", "iproute2", OK if version else MISSING, version[0].rstrip(",") if version else "not there"
    )
    wanted = sandbox.TOOLS | initramfs.TOOLS | {machine.QEMU: "qemu-system-x86", "ptp4l": "linuxptp"}
    for program, package in sorted(wanted.items()):
        if package == "iproute2":
            continue
        there = host.has(program)
        yield Finding(
            "tools",
            program,
            OK if there else MISSING,
            "there" if there else "not there",
            "" if there else f"apt-get install {package}",
        )


def _interfaces(host: Host) -> Iterator[Finding]:
    for name, queues in host.interfaces().items():
        if name != "lo":
            yield from _interface(host, name, queues)


def _interface(host: Host, name: str, queues: int) -> Iterator[Finding]:
    room = f"interface {name}"
    yield Finding(room, "driver", OK, reading.driver(host.said("ethtool", "-i", name)) or "not known")
    most = reading.most_queues(host.said("ethtool", "-l", name))
    words = f"{queues} for transmission" + (f", at most {most}" if most is not None else "")
    if max(queues, most or 0) >= 2:
        yield Finding(room, "queues", OK, words)
    else:
        yield Finding(room, "queues", NOTE, words, "mqprio and taprio need one per traffic class")
    speed = host.file(f"/sys/class/net/{name}/speed")
    yield Finding(
        room, "speed", OK if speed.isdigit() else NOTE, f"{speed} Mbit/s" if speed.isdigit() else "not known"
    )
    on = reading.features(host.said("ethtool", "-k", name))
    joined = [feature for feature in _OFFLOADS if on.get(feature)]
    if joined:
        short = " ".join(
            f"{feature.split('-')[0][0]}{'ro' if 'receive' in feature else 'so'} off" for feature in joined
        )
        yield Finding(
            room,
            "offloads",
            NOTE,
            f"on: {', '.join(joined)}: they merge several frames into one",
            f"ethtool -K {name} {short}",
        )
    else:
        yield Finding(room, "offloads", OK, "none that joins frames")
    if on.get("hw-tc-offload"):
        yield Finding(room, "traffic control in hardware", OK, "on")
    stamps = reading.stamping(host.said("ethtool", "-T", name))
    if stamps.hardware:
        yield Finding(
            room, "timestamps", OK, f"by hardware, of {', '.join(stamps.filters) or 'no frames'} coming in"
        )
    elif stamps.software:
        yield Finding(room, "timestamps", NOTE, "by software alone", "an interface with a PTP hardware clock")
    else:
        yield Finding(room, "timestamps", MISSING, "none both ways", "another driver or interface")
    if stamps.clock is not None:
        label = host.file(f"/sys/class/ptp/ptp{stamps.clock}/clock_name")
        yield Finding(room, "PTP hardware clock", OK, f"/dev/ptp{stamps.clock} {label}".strip())


def _clocks(host: Host) -> Iterator[Finding]:
    tai = host.tai_s()
    if tai is None:
        yield Finding("clocks", "TAI", NOTE, "not known: no program there reports it (python3 would)")
    else:
        yield Finding(
            "clocks",
            "TAI",
            OK if tai else NOTE,
            f"{tai} s ahead of UTC according to this kernel",
            ""
            if tai
            else "phc2sys or chrony sets it in the kernel; gates of several hosts need the same TAI",
        )
    running = [path for path in host.files("/proc/[0-9]*/comm") if host.file(path) == "ptp4l"]
    if not running:
        yield Finding("clocks", "ptp4l", NOTE, "does not run", "only hosts with synchronised clocks need it")
        return
    states = reading.ports(host.said("pmc", "-u", "-b", "0", "GET PORT_DATA_SET"))
    offset = reading.offset_ns(host.said("pmc", "-u", "-b", "0", "GET CURRENT_DATA_SET"))
    if not states:
        yield Finding(
            "clocks", "ptp4l", NOTE, "runs, and does not answer", "run as root; pmc needs its socket"
        )
        return
    well = not set(states) & {"FAULTY", "DISABLED", "INITIALIZING"}
    words = f"ports: {', '.join(states)}" + (
        f"; {offset:.0f} ns from its master" if offset is not None else ""
    )
    yield Finding(
        "clocks", "ptp4l", OK if well else MISSING, words, "" if well else "see its log; the link may be down"
    )


def _processors(host: Host) -> Iterator[Finding]:
    count = host.processors()
    yield Finding("processors", "count", OK, f"{count or 'not known how many'} that tsnbench may use")
    isolated = host.file(f"{_CPU}/isolated")
    yield Finding(
        "processors",
        "isolated",
        OK if isolated else NOTE,
        isolated or "none: other processes delay talkers",
        "" if isolated else "boot with isolcpus, nohz_full and rcu_nocbs",
    )
    governors = sorted(
        {host.file(path) for path in host.files(f"{_CPU}/cpu*/cpufreq/scaling_governor")} - {""}
    )
    if governors:
        good = governors == ["performance"]
        yield Finding(
            "processors",
            "governor",
            OK if good else NOTE,
            ", ".join(governors),
            "" if good else f"echo performance into {_CPU}/cpu*/cpufreq/scaling_governor",
        )
    else:
        yield Finding(
            "processors",
            "governor",
            NOTE,
            "none: this system cannot set frequencies",
            "in a virtual machine, set it on the host of this machine",
        )
    turbo = host.file(f"{_CPU}/intel_pstate/no_turbo")
    if turbo:
        off = turbo == "1"
        yield Finding(
            "processors", "turbo", NOTE if off else OK, "off" if off else "on",
            f"EnGINE (V-C3) has shorter delays with it: echo 0 >{_CPU}/intel_pstate/no_turbo" if off else "",
        )  # fmt: skip
    smt = host.file(f"{_CPU}/smt/active")
    if smt:
        yield Finding(
            "processors", "multithreading", OK if smt == "1" else NOTE, "on" if smt == "1" else "off",
            "" if smt == "1" else "EnGINE (V-C3) has smaller jitter without it, and longer delays",
        )  # fmt: skip
    throttled = host.file("/proc/sys/kernel/sched_rt_runtime_us")
    if throttled:
        free = throttled == "-1"
        yield Finding(
            "processors",
            "real-time throttling",
            OK if free else NOTE,
            "off" if free else f"threads of a core get {throttled} us of each second at most",
            ""
            if free
            else "matters only to talkers that keep a core busy: sysctl kernel.sched_rt_runtime_us=-1",
        )
