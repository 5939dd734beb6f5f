"""What the guest does: set up the network, capture, talk, and say how it went."""

from __future__ import annotations

import json
from typing import Any

from tsnbench.backends.kernel import ports
from tsnbench.backends.kernel.topology import Namespace, build, name
from tsnbench.backends.kernel.wire import Wire, dilated

LEAD_S = 2
"""From the end of the set-up to the Plan's zero."""
SNAP_OCTETS = 80
"""Of each frame: all headers, and the test payload with its number."""

_HEAD = """set -u
# The shell would take its own ones.
ip() { /tools/ip "$@"; }
tc() { /tools/tc "$@"; }
say() { echo "$(cut -d" " -f1 /proc/uptime) $*" >/dev/console; }
fail() { echo "failed: $*"; exit 1; }
run() { # namespace, program, file of lines
    sed "s/EPOCH\\([+-][0-9]*\\)/\\$((EPOCH\\1))/g" "$3" >/tmp/lines
    if grep -q EPOCH /tmp/lines; then eval "cat <<END
$(cat /tmp/lines)
END" >/tmp/told; else cp /tmp/lines /tmp/told; fi
    $2 -n $1 -batch /tmp/told 2>/tmp/error || { echo "refused in $1 by $2:"; cat /tmp/error; exit 1; }
}
EPOCH=$(( ($(date +%s) + LEAD) * 1000000000 ))
"""


def files(plan: dict[str, Any], text: str, dilate: int, wire: Wire = Wire.VETH) -> dict[str, bytes]:
    """Everything under ``/job``; ``text`` is the Plan as it is hashed."""
    spaces = build(plan, dilate, wire)
    found = {"plan.json": text.encode(), "job.sh": _script(plan, spaces, dilate, wire).encode()}
    for space, own in spaces.items():
        for program, lines in (("ip", own.ip), ("bridge", own.bridge), ("tc", own.tc)):
            if lines:
                found[f"{space}.{program}"] = ("\n".join(lines) + "\n").encode()
    return found


def _script(plan: dict[str, Any], spaces: dict[str, Namespace], dilate: int, wire: Wire) -> str:
    # Setting up takes the guest some 10 ms a port.
    lead = LEAD_S + len(plan["ports"]) // 20
    lines = [_HEAD.replace("LEAD", str(lead))]
    lines += [f"ip netns add {space} || fail namespace {space}" for space in spaces]
    if wire is Wire.TSNPORT:
        lines += _ports(dilated(plan, dilate))
    for space, own in spaces.items():
        for program, told in (("ip", own.ip), ("bridge", own.bridge), ("tc", own.tc)):
            if told:
                lines.append(f"run {space} {program} /job/{space}.{program}")
    lines += _captures(plan, wire)
    lines += ["say talkers begin", "talkers="]
    for node in sorted({stream["talker"] for stream in plan["streams"]}):
        there = [number for number, port in enumerate(plan["ports"]) if port["node"] == node]
        ports = " ".join(f"--port {number}=p{number}" for number in there)
        lines.append(
            f"/tools/ip netns exec {name(node)} tsnbench-traffic talk /job/plan.json --node {node}"
            f' --epoch $EPOCH --dilate {dilate} {ports} --log /results/talk-{node} & talkers="$talkers $!"'
        )
    whole_us = (plan["duration_ns"] + plan["drain_ns"]) * dilate // 1000 + 10_000
    lines += [
        "now=$(date +%s); [ $((EPOCH / 1000000000)) -gt $now ] || fail the set-up took too long",
        "sleep $((EPOCH / 1000000000 - now - 1))",
        "say measuring",
        "cat /proc/net/softnet_stat >/results/softnet-before; cat /proc/uptime >/results/cpu-before",
        # `date +%s` is up to a second behind.
        f"usleep {whole_us + 1_000_000}",
        "cat /proc/uptime >/results/cpu-after; cat /proc/net/softnet_stat >/results/softnet-after",
        "for talker in $talkers; do wait $talker || fail a talker; done",
        "say captures end",
        *_captured(plan, wire),
    ]
    for space in spaces:
        lines.append(f"tc -n {space} -j -s qdisc show >/results/qdisc-{space}.json")
        lines.append(f"ip -n {space} -j -s link show >/results/link-{space}.json")
    facts = {"dilate": dilate}
    lines += ["uname -r >/results/kernel", f"echo '{json.dumps(facts)}' >/results/facts.json"]
    lines.append("echo $EPOCH >/results/epoch")
    return "\n".join(lines) + "\n"


def _ports(plan: dict[str, Any]) -> list[str]:
    """The guest's own device: each port in its namespace, told what tc has no word for."""
    lines = [
        f'echo "{link}" >/sys/module/tsnport/parameters/link || fail link {link}'
        for link in ports.links(plan)
    ]
    lines += [
        f"ip link set p{number} netns {name(port['node'])} || fail port {number}"
        for number, port in enumerate(plan["ports"])
    ]
    # Before any qdisc: a link that comes up late resets taprio, whose timer then stops (Linux 6.12).
    lines += [
        f"ip -n {name(port['node'])} link set p{number} up" for number, port in enumerate(plan["ports"])
    ]
    lines += [f"echo {value} >{ports.CONTROL}/{file} || fail {file}" for file, value in ports.control(plan)]
    return lines


def _captures(plan: dict[str, Any], wire: Wire) -> list[str]:
    """The device captures by itself; on other interfaces a program does."""
    if wire is Wire.TSNPORT:
        return []
    lines = ["say captures begin", "dumps="]
    for number, tap in _taps(plan):
        node = plan["ports"][tap["port"]]["node"]
        direction = "in" if tap["stage"] == "rx" else "out"
        lines.append(
            f"/tools/ip netns exec {name(node)} tcpdump -Z root -n -i p{tap['port']} -Q {direction}"
            f" -s {SNAP_OCTETS} -B 8192 --time-stamp-precision=nano"
            f" -w /results/tap-{number}.pcap 2>/results/tap-{number}.log &"
            ' dumps="$dumps $!"'
        )
    return lines


def _captured(plan: dict[str, Any], wire: Wire) -> list[str]:
    if wire is Wire.VETH:
        return ["kill -TERM $dumps; wait $dumps"]
    lines = []
    for number, tap in _taps(plan):
        there = f"{ports.CONTROL}/p{tap['port']}/{tap['stage']}"
        lines += [
            f"cat {there}/pcap >/results/tap-{number}.pcap || fail capture {number}",
            # As tcpdump says it.
            f'echo "$(cat {there}/frames) packets captured, $(cat {there}/lost) packets dropped by kernel"'
            f" >/results/tap-{number}.log",
        ]
    return lines


def _taps(plan: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    return [(number, tap) for number, tap in enumerate(plan["taps"]) if tap["stage"] in ("tx", "rx")]
