"""What is found on this machine, each with what it means and what to do."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tsnbench.backends.netns import cell
from tsnbench.doctor import reading

OK, NOTE, MISSING = "ok", "note", "missing"
_CPU = Path("/sys/devices/system/cpu")
_OFFLOADS = ("tcp-segmentation-offload", "generic-segmentation-offload", "generic-receive-offload")


@dataclass(frozen=True)
class Finding:
    """One thing: its state in a word, what was found, and a remedy where there is one."""

    room: str
    """kernel, tools, interface NAME, clocks, processors, rights."""
    name: str
    state: str
    found: str
    remedy: str = ""


def examine() -> list[Finding]:
    """Everything; nothing is changed but a scratch namespace, which is gone afterwards."""
    return [*_rights(), *_kernel(), *_tools(), *_interfaces(), *_clocks(), *_processors()]


def _said(*words: str) -> str:
    """What a program prints; nothing where it is not there or has nothing to say."""
    found = shutil.which(words[0], path=cell.PATH)
    if found is None:
        return ""
    try:
        done = subprocess.run(
            [found, *words[1:]], capture_output=True, text=True, errors="replace", timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _file(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _rights() -> Iterator[Finding]:
    if cell.privileged():
        yield Finding("rights", "namespaces", OK, "may be made (CAP_SYS_ADMIN)")
    else:
        yield Finding("rights", "namespaces", MISSING, "may not be made", "run as root for --on netns")


def _kernel() -> Iterator[Finding]:
    from tsnbench.backends.netns import probe
    from tsnbench.errors import BackendError

    yield Finding("kernel", "release", OK, os.uname().release)
    if not cell.privileged() or cell.missing_tools():
        yield Finding("kernel", "abilities", NOTE, "not tried: that takes root and iproute2")
        return
    try:
        trials = probe.probe()
    except BackendError as error:
        yield Finding("kernel", "abilities", MISSING, str(error))
        return
    for one in trials:
        if one.taken:
            yield Finding("kernel", f"{one.room} {one.name}", OK, "taken")
        else:
            yield Finding("kernel", f"{one.room} {one.name}", MISSING, one.said, _module(one.room, one.name))


def _module(room: str, name: str) -> str:
    """What would bring it, where it is a module of its own."""
    known = {
        "qdisc": f"modprobe sch_{name}",
        "filter": f"modprobe cls_{name}",
        "action": f"modprobe act_{name}",
        "link": f"modprobe {'8021q' if name == 'vlan' else name}",
        "bridge": "a kernel with CONFIG_BRIDGE_VLAN_FILTERING",
    }
    what = known[room]
    return f"{what}, or --on vm" if what.startswith("modprobe") else f"{what}, as --on vm has"


def _tools() -> Iterator[Finding]:
    from tsnbench.backends.vm import initramfs, machine

    version = re.search(r"iproute2-\S+", _said("ip", "-V"))
    yield Finding(
        "tools", "iproute2", OK if version else MISSING, version[0].rstrip(",") if version else "not there"
    )
    wanted = cell.TOOLS | initramfs.TOOLS | {machine.QEMU: "qemu-system-x86", "ptp4l": "linuxptp"}
    for program, package in sorted(wanted.items()):
        if package == "iproute2":
            continue
        there = shutil.which(program, path=cell.PATH) is not None
        yield Finding(
            "tools",
            program,
            OK if there else MISSING,
            "there" if there else "not there",
            "" if there else f"apt-get install {package}",
        )


def _interfaces() -> Iterator[Finding]:
    for path in sorted(Path("/sys/class/net").iterdir()):
        if path.name == "lo" or not path.is_dir():
            continue
        yield from _interface(path)


def _interface(path: Path) -> Iterator[Finding]:
    name = path.name
    room = f"interface {name}"
    yield Finding(room, "driver", OK, reading.driver(_said("ethtool", "-i", name)) or "not known")
    queues = len(list((path / "queues").glob("tx-*")))
    most = reading.most_queues(_said("ethtool", "-l", name))
    words = f"{queues} for transmission" + (f", at most {most}" if most is not None else "")
    if max(queues, most or 0) >= 2:
        yield Finding(room, "queues", OK, words)
    else:
        yield Finding(room, "queues", NOTE, words, "mqprio and taprio need one per traffic class")
    speed = _file(path / "speed")
    yield Finding(
        room, "speed", OK if speed.isdigit() else NOTE, f"{speed} Mbit/s" if speed.isdigit() else "not known"
    )
    on = reading.features(_said("ethtool", "-k", name))
    joined = [feature for feature in _OFFLOADS if on.get(feature)]
    if joined:
        short = " ".join(
            f"{feature.split('-')[0][0]}{'ro' if 'receive' in feature else 'so'} off" for feature in joined
        )
        yield Finding(
            room,
            "offloads",
            NOTE,
            f"on: {', '.join(joined)}: they make one frame of many",
            f"ethtool -K {name} {short}",
        )
    else:
        yield Finding(room, "offloads", OK, "none that joins frames")
    if on.get("hw-tc-offload"):
        yield Finding(room, "traffic control in hardware", OK, "on")
    stamps = reading.stamping(_said("ethtool", "-T", name))
    if stamps.hardware:
        yield Finding(
            room, "timestamps", OK, f"by hardware, of {', '.join(stamps.filters) or 'no frames'} coming in"
        )
    elif stamps.software:
        yield Finding(room, "timestamps", NOTE, "by software alone", "an interface with a PTP hardware clock")
    else:
        yield Finding(room, "timestamps", MISSING, "none both ways", "another driver or interface")
    if stamps.clock is not None:
        label = _file(Path(f"/sys/class/ptp/ptp{stamps.clock}/clock_name"))
        yield Finding(room, "PTP hardware clock", OK, f"/dev/ptp{stamps.clock} {label}".strip())


def _clocks() -> Iterator[Finding]:
    import time

    tai = round(time.clock_gettime(time.CLOCK_TAI) - time.clock_gettime(time.CLOCK_REALTIME))
    yield Finding("clocks", "TAI", OK if tai else NOTE, f"{tai} s ahead of UTC as this kernel knows it")
    running = [path for path in Path("/proc").glob("[0-9]*/comm") if _file(path) == "ptp4l"]
    if not running:
        yield Finding("clocks", "ptp4l", NOTE, "does not run", "only what is to be synchronised needs it")
        return
    states = reading.ports(_said("pmc", "-u", "-b", "0", "GET PORT_DATA_SET"))
    offset = reading.offset_ns(_said("pmc", "-u", "-b", "0", "GET CURRENT_DATA_SET"))
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


def _processors() -> Iterator[Finding]:
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    yield Finding("processors", "count", OK, f"{count} that we may use")
    isolated = _file(_CPU / "isolated")
    yield Finding(
        "processors",
        "isolated",
        OK if isolated else NOTE,
        isolated or "none: others' work delays talkers",
        "" if isolated else "boot with isolcpus, nohz_full and rcu_nocbs",
    )
    governors = sorted({_file(path) for path in _CPU.glob("cpu*/cpufreq/scaling_governor")} - {""})
    if governors:
        good = governors == ["performance"]
        yield Finding(
            "processors",
            "governor",
            OK if good else NOTE,
            ", ".join(governors),
            "" if good else "performance",
        )
    else:
        yield Finding("processors", "governor", NOTE, "none here: frequencies are not this system's to set")
    turbo = _file(_CPU / "intel_pstate/no_turbo")
    if turbo:
        yield Finding("processors", "turbo", OK if turbo == "1" else NOTE, "off" if turbo == "1" else "on")
    smt = _file(_CPU / "smt/active")
    if smt:
        yield Finding(
            "processors", "multithreading", NOTE if smt == "1" else OK, "on" if smt == "1" else "off",
            "two threads of a core delay each other" if smt == "1" else "",
        )  # fmt: skip
    throttled = _file(Path("/proc/sys/kernel/sched_rt_runtime_us"))
    if throttled:
        free = throttled == "-1"
        yield Finding(
            "processors",
            "real-time throttling",
            OK if free else NOTE,
            "off" if free else f"threads of a core get {throttled} us of each second at most",
        )
