"""The findings on this machine, each with its meaning and a remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tsnbench.backends.netns import sandbox
from tsnbench.backends.vm import initramfs, machine
from tsnbench.doctor import remote
from tsnbench.doctor.host import Host
from tsnbench.errors import BackendError
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
    there = host or remote.here()
    rooms = (_rights, _kernel, _tools, _interfaces, _clocks, _processors)
    return [finding for room in rooms for finding in room(there)]


def _either(room: str, name: str, good: object, found: str, remedy: str = "", bad: str = NOTE) -> Finding:
    """A finding that is ``ok``, or in the state ``bad`` with a remedy."""
    return Finding(room, name, OK if good else bad, found, "" if good else remedy)


def _rights(host: Host) -> Iterator[Finding]:
    if host.privileged():
        yield Finding("rights", "namespaces", OK, "may be made (CAP_SYS_ADMIN)")
    else:
        yield Finding("rights", "namespaces", MISSING, "may not be made", "run as root for --on netns")


def _kernel(host: Host) -> Iterator[Finding]:
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


_OPTIONAL = {
    "lldpcli": ("lldpd", "discover finds wires by probes alone"),
    "prometheus": ("prometheus", "it stores the metrics of watch, here or on another machine"),
}
"""Programs that no run needs: the package, and what they are for."""


def _tools(host: Host) -> Iterator[Finding]:
    version = re.search(r"iproute2-\S+", host.said("ip", "-V"))
    words = version[0].rstrip(",") if version else "not there"
    yield _either("tools", "iproute2", version, words, bad=MISSING)
    wanted = sandbox.TOOLS | initramfs.TOOLS | {machine.QEMU: "qemu-system-x86", "ptp4l": "linuxptp"}
    for program, package in sorted(wanted.items()):
        if package != "iproute2":
            there = host.has(program)
            words = "there" if there else "not there"
            yield _either("tools", program, there, words, f"apt-get install {package}", MISSING)
    for program, (package, use) in _OPTIONAL.items():
        words = "there" if host.has(program) else f"not there ({use})"
        yield _either("tools", program, host.has(program), words, f"apt-get install {package}")


def _interfaces(host: Host) -> Iterator[Finding]:
    for name, queues in host.interfaces().items():
        if name != "lo":
            yield from _interface(host, name, queues)


def _interface(host: Host, name: str, queues: int) -> Iterator[Finding]:
    room = f"interface {name}"
    yield Finding(room, "driver", OK, reading.driver(host.said("ethtool", "-i", name)) or "not known")
    most = reading.most_queues(host.said("ethtool", "-l", name))
    words = f"{queues} for transmission" + (f", at most {most}" if most is not None else "")
    enough = max(queues, most or 0) >= 2
    yield _either(room, "queues", enough, words, "mqprio and taprio need one per traffic class")
    speed = host.file(f"/sys/class/net/{name}/speed")
    known = speed.isdigit()
    yield _either(room, "speed", known, f"{speed} Mbit/s" if known else "not known")
    on = reading.features(host.said("ethtool", "-k", name))
    if joined := [feature for feature in _OFFLOADS if on.get(feature)]:
        short = " ".join(
            f"{feature.split('-')[0][0]}{'ro' if 'receive' in feature else 'so'} off" for feature in joined
        )
        words = f"on: {', '.join(joined)}: they merge several frames into one"
        yield Finding(room, "offloads", NOTE, words, f"ethtool -K {name} {short}")
    else:
        yield Finding(room, "offloads", OK, "none that joins frames")
    if on.get("hw-tc-offload"):
        yield Finding(room, "traffic control in hardware", OK, "on")
    stamps = reading.stamping(host.said("ethtool", "-T", name))
    if stamps.hardware:
        words = f"by hardware, of {', '.join(stamps.filters) or 'no frames'} coming in"
        yield Finding(room, "timestamps", OK, words)
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
        remedy = "phc2sys or chrony sets it in the kernel; gates of several hosts need the same TAI"
        yield _either("clocks", "TAI", tai, f"{tai} s ahead of UTC according to this kernel", remedy)
    running = [path for path in host.files("/proc/[0-9]*/comm") if host.file(path) == "ptp4l"]
    if not running:
        yield Finding("clocks", "ptp4l", NOTE, "does not run", "only hosts with synchronised clocks need it")
        return
    states = reading.ports(host.said("pmc", "-u", "-b", "0", "GET PORT_DATA_SET"))
    offset = reading.offset_ns(host.said("pmc", "-u", "-b", "0", "GET CURRENT_DATA_SET"))
    if not states:
        remedy = "run as root; pmc needs its socket"
        yield Finding("clocks", "ptp4l", NOTE, "runs, and does not answer", remedy)
        return
    well = not set(states) & {"FAULTY", "DISABLED", "INITIALIZING"}
    far = "" if offset is None else f"; {offset:.0f} ns from its master"
    words = f"ports: {', '.join(states)}{far}"
    yield _either("clocks", "ptp4l", well, words, "see its log; the link may be down", MISSING)


def _processors(host: Host) -> Iterator[Finding]:
    room = "processors"
    count = host.processors()
    yield Finding(room, "count", OK, f"{count or 'not known how many'} that tsnbench may use")
    isolated = host.file(f"{_CPU}/isolated")
    remedy = "boot with isolcpus, nohz_full and rcu_nocbs"
    yield _either(room, "isolated", isolated, isolated or "none: other processes delay talkers", remedy)
    every = (host.file(path) for path in host.files(f"{_CPU}/cpu*/cpufreq/scaling_governor"))
    governors = sorted({*every} - {""})
    if governors:
        remedy = f"echo performance into {_CPU}/cpu*/cpufreq/scaling_governor"
        yield _either(room, "governor", governors == ["performance"], ", ".join(governors), remedy)
    else:
        remedy = "in a virtual machine, set it on the host of this machine"
        yield Finding(room, "governor", NOTE, "none: this system cannot set frequencies", remedy)
    if turbo := host.file(f"{_CPU}/intel_pstate/no_turbo"):
        remedy = f"EnGINE (V-C3) has shorter delays with it: echo 0 >{_CPU}/intel_pstate/no_turbo"
        yield _either(room, "turbo", turbo != "1", "off" if turbo == "1" else "on", remedy)
    if smt := host.file(f"{_CPU}/smt/active"):
        remedy = "EnGINE (V-C3) has smaller jitter without it, and longer delays"
        yield _either(room, "multithreading", smt == "1", "on" if smt == "1" else "off", remedy)
    if throttled := host.file("/proc/sys/kernel/sched_rt_runtime_us"):
        free = throttled == "-1"
        words = "off" if free else f"threads of a core get {throttled} us of each second at most"
        remedy = "matters only to talkers that keep a core busy: sysctl kernel.sched_rt_runtime_us=-1"
        yield _either(room, "real-time throttling", free, words, remedy)
