"""What a kernel does: set up the network, capture, talk, and say how it went."""

from __future__ import annotations

import json
import re
from typing import Any

from tsnbench.backends.kernel import clocks, faults, harm, lists, ports, stages
from tsnbench.backends.kernel.site import Site
from tsnbench.backends.kernel.topology import Namespace, build, name
from tsnbench.backends.kernel.wire import Wire, dilated

SNAP_OCTETS = 80
"""Of each frame: all headers, and the test payload with its number."""

_NO_IPV6 = "/proc/sys/net/ipv6/conf/default/disable_ipv6"
_HEAD = """set -u
# The shell would take its own ones.
ip() { IP "$@"; }
tc() { TC "$@"; }
say() { echo "$(cut -d" " -f1 /proc/uptime) $*" >CONSOLE; }
fail() { echo "failed: $*"; exit 1; }
pause() { PAUSE; }
run() { # namespace, program, file of lines
    sed "s/EPOCH\\([+-][0-9]*\\)/\\$((EPOCH\\1))/g" "$3" >SCRATCH/lines
    if grep -q EPOCH SCRATCH/lines; then eval "cat <<END
$(cat SCRATCH/lines)
END" >SCRATCH/told; else cp SCRATCH/lines SCRATCH/told; fi
    $2 -n $1 -batch SCRATCH/told 2>SCRATCH/error && return
    echo "refused in $1 by $2:"; cat SCRATCH/error
    sed -n "$(sed -n 's/^Command failed.*:\\([0-9]*\\)$/\\1p/p' SCRATCH/error)" SCRATCH/told
    exit 1
}
STAMPED=$(( ($(date +%s) + LEAD) * 1000000000 ))
EPOCH=$(( STAMPED + TAI * 1000000000 ))
"""


def files(
    plan: dict[str, Any], text: str, dilate: int, wire: Wire = Wire.VETH, site: Site | None = None
) -> dict[str, bytes]:
    """Everything in the job's folder; ``text`` is the Plan as it is hashed."""
    site = site or Site()
    spaces = build(plan, dilate, wire, site.can)
    found = {"plan.json": text.encode(), "job.sh": _script(plan, spaces, dilate, wire, site).encode()}
    if wire is Wire.TSNPORT:
        found |= {f"steps-n{node}": told.encode() for node, told in _changes(plan, dilate).items()}
    elif steps := faults.steps(plan, dilate, site.can):
        found["steps"] = faults.text(steps).encode()
    found |= clocks.files(plan)
    for space, own in spaces.items():
        for program, lines in (("ip", own.ip), ("bridge", own.bridge), ("tc", own.tc)):
            if lines:
                found[f"{space}.{program}"] = ("\n".join(lines) + "\n").encode()
    return found


def _head(site: Site, lead: int) -> str:
    words = {
        "SCRATCH": site.scratch,
        "CONSOLE": site.console,
        "PAUSE": site.pause,
        "LEAD": str(lead),
        "TAI": str(site.tai_s),
        "IP ": f"{site.ip} ",
        "TC ": f"{site.tc} ",
    }
    head = _HEAD
    for word, value in words.items():
        head = head.replace(word, value)
    return head


def _script(plan: dict[str, Any], spaces: dict[str, Namespace], dilate: int, wire: Wire, site: Site) -> str:
    job, results = site.job, site.results
    # Setting up takes the guest some 10 ms a port, and programs that capture have to begin, too.
    lead = site.lead_s + len(plan["ports"]) // 20 + (wire is Wire.VETH)
    lines = [_head(site, lead)]
    for space in spaces:
        lines += [
            f"ip netns add {space} || fail namespace {space}",
            # Interfaces of a namespace do not talk by themselves.
            f"[ ! -e {_NO_IPV6} ] || {site.ip} netns exec {space} sh -c 'echo 1 >{_NO_IPV6}'",
        ]
    if wire is Wire.TSNPORT:
        lines += [*_ports(dilated(plan, dilate)), *_faults(plan, dilate)]
    for space, own in spaces.items():
        for program, told in (("ip", own.ip), ("bridge", own.bridge), ("tc", own.tc)):
            if told:
                lines.append(f"run {space} {program} {job}/{space}.{program}")
    lines += _captures(plan, wire, site)
    whole_us = (plan["duration_ns"] + plan["drain_ns"]) * dilate // 1000 + 10_000
    lines += ["say talkers begin", "talkers="]
    lines += stages.listeners(plan, dilate, whole_us, site)
    for node in sorted({stream["talker"] for stream in plan["streams"]}):
        there = [number for number, port in enumerate(plan["ports"]) if port["node"] == node]
        named = " ".join(f"--port {number}=p{number}" for number in there)
        lines.append(
            f"{site.ip} netns exec {name(node)} {site.talker} talk {job}/plan.json --node {node}"
            f" --epoch $EPOCH --dilate {dilate} {named} --log {results}/talk-{node}"
            f'{stages.sights(plan, node, site)}{clocks.talker(plan, node)} & talkers="$talkers $!"'
        )
    if wire is Wire.TSNPORT:
        for node in _changes(plan, dilate):
            steps = f"{site.scratch}/steps-n{node}"
            lines += [
                'eval "cat <<END',
                f"$(sed 's/EPOCH\\([+-][0-9]*\\)/$((EPOCH\\1))/g' {job}/steps-n{node})",
                f'END" >{steps}',
                f"{site.talker} steps {steps} --epoch $EPOCH --dilate {dilate}"
                f" --log {results}/steps-n{node} -- {site.tc} -n {name(node)} -batch -"
                ' & talkers="$talkers $!"',
            ]
    elif faults.present(plan):
        lines.append(
            f"{site.talker} steps {job}/steps --epoch $EPOCH --dilate {dilate}"
            f' --log {results}/steps -- {site.tc} -n wires -batch - & talkers="$talkers $!"'
        )
    lines += [
        *clocks.begin(plan, site),
        "now=$(date +%s); [ $((STAMPED / 1000000000)) -gt $now ] || fail the set-up took too long",
        "sleep $((STAMPED / 1000000000 - now - 1))",
        "say measuring",
        f"cat /proc/net/softnet_stat >{results}/softnet-before; cat /proc/uptime >{results}/cpu-before",
        # `date +%s` is up to a second behind, and a capture has its last frames for up to a second.
        f"pause {whole_us + 2_200_000}",
        f"cat /proc/uptime >{results}/cpu-after; cat /proc/net/softnet_stat >{results}/softnet-after",
        "for talker in $talkers; do wait $talker || fail a talker; done",
        "say captures end",
        *clocks.end(plan, site),
        *_captured(plan, wire, site),
    ]
    for space in spaces:
        lines.append(f"tc -n {space} -j -s qdisc show >{results}/qdisc-{space}.json")
        lines.append(f"ip -n {space} -j -s link show >{results}/link-{space}.json")
    facts = {"dilate": dilate}
    lines += [f"uname -r >{results}/kernel", f"echo '{json.dumps(facts)}' >{results}/facts.json"]
    lines.append(f"echo $STAMPED >{results}/epoch")
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
    lines += clocks.prepare(plan)
    lines += [f"echo {value} >{ports.CONTROL}/{file} || fail {file}" for file, value in ports.control(plan)]
    return lines


def _faults(plan: dict[str, Any], dilate: int) -> list[str]:
    return [
        'echo "'
        + re.sub(r"WALL\+(\d+)", r"$((STAMPED + \1))", told)
        + f'" >{ports.CONTROL}/p{port}/faults || fail faults of port {port}'
        for port, told in harm.lines(plan, dilate)
    ]


def _changes(plan: dict[str, Any], dilate: int) -> dict[int, str]:
    """By node: moments, and what ``tc`` is told then."""
    found: dict[int, list[tuple[int, str]]] = {}
    slower = dilated(plan, dilate)
    for number in lists.changing(plan):
        told = zip(lists.asked(plan, number), ports.changes(slower, number), strict=False)
        steps = [(change["at_ns"], line) for change, line in told]
        if steps:
            found.setdefault(plan["ports"][number]["node"], []).extend(steps)
    return {
        node: "".join(f"{at}\t{line}\n" for at, line in sorted(steps, key=lambda step: step[0]))
        for node, steps in sorted(found.items())
    }


def _captures(plan: dict[str, Any], wire: Wire, site: Site) -> list[str]:
    """The device captures by itself; on other interfaces a program does."""
    if wire is Wire.TSNPORT:
        return []
    lines = ["say captures begin", "dumps="]
    for number, tap in _taps(plan):
        node = plan["ports"][tap["port"]]["node"]
        direction = "in" if tap["stage"] == "rx" else "out"
        lines.append(
            f"{site.ip} netns exec {name(node)} tcpdump -Z root -n -i p{tap['port']} -Q {direction}"
            f" -s {SNAP_OCTETS} -B 8192 --time-stamp-precision=nano"
            f" -w {site.results}/tap-{number}.pcap 2>{site.results}/tap-{number}.log &"
            ' dumps="$dumps $!"'
        )
    ready = "[ $(date +%s) -lt $((STAMPED / 1000000000 - 1)) ] || fail the captures took too long to begin"
    return [
        *lines,
        f"for said in {site.results}/tap-*.log; do [ -e $said ] || continue",
        f'until grep -q "listening on" $said; do {ready}; pause 20000; done; done',
    ]


def _captured(plan: dict[str, Any], wire: Wire, site: Site) -> list[str]:
    if wire is Wire.VETH:
        return ["kill -TERM $dumps; wait $dumps"]
    lines = []
    for number, tap in _taps(plan):
        there = f"{ports.CONTROL}/p{tap['port']}/{tap['stage']}"
        lines += [
            f"cat {there}/pcap >{site.results}/tap-{number}.pcap || fail capture {number}",
            # As tcpdump says it.
            f'echo "$(cat {there}/frames) packets captured, $(cat {there}/lost) packets dropped by kernel"'
            f" >{site.results}/tap-{number}.log",
        ]
    for number in range(len(plan["ports"])) if plan.get("faults") else ():
        lines.append(f"cat {ports.CONTROL}/p{number}/faults >{site.results}/faults-{number}")
    for number in lists.changing(plan):
        lines.append(f"cat {ports.CONTROL}/p{number}/lists >{site.results}/lists-{number}")
    return lines


def _taps(plan: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    return [(number, tap) for number, tap in enumerate(plan["taps"]) if tap["stage"] in ("tx", "rx")]
