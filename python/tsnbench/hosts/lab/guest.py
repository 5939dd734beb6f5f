"""Hosts as namespaces of one guest, on the project's own network device: an ssh server in each.

Each host has network cards with a PTP hardware clock of its own, whose oscillator differs from the others',
gates, launch times and timestamps. All share the guest's kernel, its one processor and its system clock. The
guest needs no root. Only this machine can reach its servers, with keys of this lab only, and nothing outside
can be reached from there.

There is one more host, ``lab``, for the interventions of tests in the hosts' kernel (debugfs).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.backends.kernel import traffic
from tsnbench.backends.kernel.tsnport.config import wire
from tsnbench.backends.vm import device
from tsnbench.backends.vm.cpio import Archive
from tsnbench.backends.vm.initramfs import bake
from tsnbench.backends.vm.kernel import find
from tsnbench.hosts.lab import access, boot, image
from tsnbench.hosts.lab.boot import Started
from tsnbench.hosts.lab.inventory import port_name
from tsnbench.hosts.lab.record import Made

if TYPE_CHECKING:
    from tsnbench.plan.network import Network
    from tsnbench.plan.types import PlanDocument

DEVIATIONS_PPB = (20_000, -20_000)
"""The frequency deviations of the hosts' oscillators in turn, if the scenario has no clocks; the first host's
is exact."""
TIME_BPS, TIME_PS = 1_000_000_000, 250_000
"""Rate and propagation delay of wires that only PTP uses."""
BESIDE = "lab"
_WORDS = """\
A lab in a guest: each host has network cards with a clock of its own; all share the guest's processor.
{time}"""
_OWN_WIRES = "Clocks are kept together by ptp4l on wires of their own (time), which are no ports for data."
_BY_PLAN = "Clocks are kept together by ptp4l as the scenario has it, once a run begins."
_SYNC = "{attempts: 5, pause: 1 s, steady: 2 s, within: 10 min}"
_ADDRESS = "10.0.2"
"""The network of QEMU; hosts begin at 21, and the additional host is 15."""

_HOST = """\
mount --make-rprivate / 2>/dev/null
mount -t proc proc /proc
for folder in /root /tmp /run; do mount -t tmpfs tmpfs $folder; done
mkdir -p /run/sshd /run/etc /run/lab
cp -a /etc/. /run/etc; mount --bind /run/etc /etc
hostname "$1"
export PATH=/tools:/usr/sbin:/bin HOME=/root
[ -z "${2:-}" ] || chrt -f 45 ptp4l -f "$2" -m >/run/lab/ptp4l.log 2>&1 &
exec /usr/sbin/sshd -D -e -f /lab/sshd.conf
"""
_PTP4L = """\
[global]
network_transport L2
delay_mechanism P2P
logSyncInterval -3
logAnnounceInterval -1
logMinPdelayReqInterval -1
step_threshold 0.00002
first_step_threshold 0.00002
tx_timestamp_timeout 100
summary_interval 3
priority1 {priority}
uds_address /run/ptp4l
{ports}
"""


def missing(sshd: Path | None = None) -> str:
    """Why a lab is not possible here; empty if it is."""
    return boot.missing(sshd, device.missing_tools())


def make(plan: PlanDocument, network: Network, folder: Path, sshd: Path | None, lasts_s: int) -> Made:
    """Makes the guest, with the network and the clocks of the Plan.

    Raises:
        BackendError: the guest does not start.
    """
    hosts = [node["name"] for node in network.nodes]
    beside = BESIDE
    while beside in hosts:
        beside += "-"
    kernel = find()
    baked, _ = bake(kernel, traffic.program(), device.module(kernel), image.CONTENTS)

    def begin(ports: list[int]) -> Iterator[Started]:
        yield boot.start(
            folder, "", kernel, baked, _archive(plan, network, folder, sshd), _options(ports), lasts_s
        )

    boot.try_ports(folder, [beside, *hosts], hosts, begin)
    words = _WORDS.format(time=_BY_PLAN if _has_ptp(plan) else _OWN_WIRES)
    return Made(access.client(folder), words, _SYNC)


def _has_ptp(plan: PlanDocument) -> bool:
    return "gptp" in plan.get("clocks", {})


def _options(ports: list[int]) -> list[str]:
    """The options of QEMU for time and for ssh to the hosts."""
    addresses = [15, *(21 + number for number in range(len(ports) - 1))]
    forward = ",".join(
        f"hostfwd=tcp:127.0.0.1:{port}-{_ADDRESS}.{last}:22"
        for port, last in zip(ports, addresses, strict=True)
    )
    return [
        # sleep=on: while the guest is idle, its time runs as fast as this machine's, as ssh needs it.
        *("-icount", "shift=0,sleep=on", "-seed", "1"),
        *("-rtc", f"{boot.now()},clock=vm"),
        *boot.reached(f"net={_ADDRESS}.0/24,{forward}"),
    ]


def _archive(plan: PlanDocument, network: Network, folder: Path, sshd: Path | None) -> Archive:
    """The files of this lab alone: keys, the ssh server, the script that makes the hosts."""
    archive = image.with_server(folder, sshd)
    archive.file("lab/host.sh", _HOST.encode(), 0o755)
    if not _has_ptp(plan):
        count = len(network.nodes)
        for number in range(count):
            own = [f"[time{other}]" for other in range(1, count)] if number == 0 else ["[time]"]
            text = _PTP4L.format(priority=128 if number else 100, ports="\n".join(own))
            archive.file(f"lab/ptp4l-{number}.conf", text.encode(), 0o644)
    archive.file("lab/init.sh", ("\n".join(_script(plan, network)) + "\n").encode(), 0o755)
    return archive


def _script(plan: PlanDocument, network: Network) -> list[str]:
    """The script that makes the hosts; they do not see the guest's other parts."""
    names = [node["name"] for node in network.nodes]
    lines = [
        "ip link set lo up",
        # Frames that arrive while a talker wakes up are handled by this thread, which must not wait until the
        # talker has sent.
        "chrt -f -p 90 $(pidof ksoftirqd/0) >/dev/null",
        # Otherwise each login is a scheduling group of its own, and an endless loop in one login gets as much
        # of the processor as any other group.
        "echo 0 >/proc/sys/kernel/sched_autogroup_enabled",
        "ip link add br0 type bridge",
        f"ip link set eth0 master br0 up; ip addr add {_ADDRESS}.15/24 dev br0; ip link set br0 up",
    ]
    for number in range(len(names)):
        lines += [
            f"ip netns add h{number}; ip -n h{number} link set lo up",
            f"ip link add m{number} type veth peer name mgmt netns h{number}",
            f"ip link set m{number} master br0 up",
            f"ip -n h{number} addr add {_ADDRESS}.{21 + number}/24 dev mgmt",
            f"ip -n h{number} link set mgmt up",
        ]
    made: list[tuple[str, int, str]] = []
    """Interface, host, and the interface's name there."""
    for port, other in network.links():
        lines.append(_make(wire(plan, port, other)))
        for one in (port, other):
            made.append((f"p{one}", network.ports[one]["node"], port_name(network, one)))
    for number in range(1, len(names)) if not _has_ptp(plan) else ():
        lines.append(_make(f"t{number}@0 u{number}@{number} {TIME_BPS} {TIME_PS}"))
        made += [(f"t{number}", 0, f"time{number}"), (f"u{number}", number, "time")]
    for name, number, inside in made:
        lines.append(f"ip link set {name} netns h{number} name {inside}")
        if inside.startswith("time"):
            lines.append(f"ip -n h{number} link set {inside} up")
    lines += _clocks(plan, len(names))
    for number, name in enumerate(names):
        config = "" if _has_ptp(plan) else f"/lab/ptp4l-{number}.conf"
        lines.append(
            f"ip netns exec h{number} unshare --mount --pid --uts --fork sh /lab/host.sh "
            f"{shlex.quote(name)} {config} >/tmp/sshd-{number} 2>&1 &"
        )
    logs = " ".join(f"/tmp/sshd-{number}" for number in range(len(names)))
    lines += [
        "hostname lab; HOME=/root /usr/sbin/sshd -D -e -f /lab/sshd.conf >/tmp/sshd-lab 2>&1 &",
        f"for log in /tmp/sshd-lab {logs}; do until grep -q listening $log; do sleep 0.1; done; done",
        f'echo "{image.UP}"',
        "while :; do sleep 1000000; done",
    ]
    return lines


def _make(link: str) -> str:
    return f'echo "{link}" >/sys/module/tsnport/parameters/link || echo "no link {link}"'


def _clocks(plan: PlanDocument, count: int) -> list[str]:
    """The frequencies and resolutions of the clocks, as in the scenario."""
    control = "/sys/kernel/debug/tsnport"
    own = plan.get("clocks", {}).get("nodes")
    lines = []
    for number in range(count):
        if own is not None:
            values = {
                "error_ppb": own[number]["deviation_ppt"] // 1000,
                "granularity_ns": own[number]["granularity_ns"],
                "jitter_ns": own[number]["jitter_ns"],
            }
        else:
            values = {"error_ppb": DEVIATIONS_PPB[number % 2] if number else 0}
        lines += [f"echo {value} >{control}/clock-{number}/{name}" for name, value in values.items()]
    return lines


__all__ = ["BESIDE", "make", "missing"]
