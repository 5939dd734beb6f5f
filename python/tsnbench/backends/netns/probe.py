"""The capabilities that this kernel really has: each is tried in a scratch namespace, which is removed
afterwards."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tsnbench.backends.kernel.environment import Capabilities
from tsnbench.backends.netns import sandbox, state
from tsnbench.errors import BackendError

LIMIT_S = 60
_MAPS = "num_tc 2 map 0 1 queues 1@0 1@1"
QDISCS = {
    "pfifo": "root pfifo limit 10",
    "prio": "root prio",
    "htb": "root htb default 1",
    "tbf": "root tbf rate 1mbit burst 10k latency 10ms",
    "netem": "root netem delay 1ms rate 1mbit 12",
    "cbs": "root cbs idleslope 1000 sendslope -1000 hicredit 10 locredit -10",
    "etf": "root etf clockid CLOCK_TAI delta 1000",
    "mqprio": f"root mqprio {_MAPS} hw 0",
    "taprio": f"root taprio {_MAPS} base-time 0 sched-entry S 01 1000000 clockid CLOCK_TAI",
    "fq": "root fq",
    "clsact": "clsact",
}
LINKS = {
    "ifb": "link add tt0 type ifb",
    "bridge": "link add tt0 type bridge",
    "vlan": "link add link ta name tt0 type vlan id 5",
    "hsr": "link add tt0 type hsr slave1 ta slave2 tb",
    "macvlan": "link add link ta name tt0 type macvlan",
    "dummy": "link add tt0 type dummy",
}
_ALL = "protocol all"
FILTERS = {
    "matchall": f"{_ALL} matchall",
    "flower": "protocol 802.1Q flower vlan_prio 6",
    "u32": f"{_ALL} u32 match u32 0 0",
    "bpf": f"{_ALL} bpf bytecode '1,6 0 0 0'",
}
ACTIONS = {
    "mirred": "action mirred egress redirect dev tb",
    "skbedit": "action skbedit priority 3",
    "gact": "action drop",
    "police": "action police rate 1mbit burst 10k drop",
    "vlan": "action vlan push id 5",
    "gate": "action gate clockid CLOCK_TAI sched-entry open 1000000 -1 -1",
}


@dataclass(frozen=True)
class Trial:
    """The result of one test."""

    room: str
    """Kind of the tested thing: qdisc, link, filter, action, bridge."""
    name: str
    taken: bool
    said: str
    """Message of ip or tc, if the test failed."""


@cache
def probe() -> tuple[Trial, ...]:
    """Tests all capabilities; takes some 0.3 s.

    Raises:
        BackendError: no scratch namespace can be made here.
    """
    # The probe records its state as a run does, so that tsnbench restore cleans up after a killed probe.
    own = state.begin(None)
    try:
        scratch = Path(own.scratch)
        (scratch / "probe.sh").write_text(script(), encoding="ascii")
        process = sandbox.start(scratch, "probe.sh", own.mark, subprocess.PIPE)
        try:
            said, _ = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired as error:
            raise BackendError(f"the kernel has not answered after {LIMIT_S} s") from error
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    finally:
        state.undo(own)
    return read(said.decode(errors="replace"))


def read(said: str) -> tuple[Trial, ...]:
    """Reads the output of :func:`script`.

    Raises:
        BackendError: the script could not begin.
    """
    lines = [line.split("\t") for line in said.splitlines() if "\t" in line]
    if not lines:
        raise BackendError(f"no namespace can be made: {said.strip()[-200:]}")
    found: dict[tuple[str, str], Trial] = {}
    for room, name, code, words in (line[:4] for line in lines):
        # An action is tested with two filters: one success is enough.
        if (room, name) not in found or code == "0":
            found[room, name] = Trial(room, name, code == "0", words.strip() if code != "0" else "")
    return tuple(found.values())


def script() -> str:
    """The script for a shell in a scratch namespace, with few programs: emulated ones start slowly."""
    lines = [
        "set -f",
        'try() { room=$1; name=$2; shift 2; words=$(eval "exec $*" 2>&1); code=$?; set -- $words',
        ' printf "%s\\t%s\\t%s\\t%s\\n" $room $name $code "$*"; return $code; }',
        'try link veth "ip link add ta numtxqueues 8 numrxqueues 8 type veth peer name tb'
        ' numtxqueues 8 numrxqueues 8"',
        "ip link set ta up; ip link set tb up",
    ]
    lines += [f'try link {name} "ip {words}" && ip link del tt0' for name, words in LINKS.items()]
    for name, words in QDISCS.items():
        place = "clsact" if name == "clsact" else "root"
        lines.append(f'try qdisc {name} "tc qdisc add dev ta {words}" && tc qdisc del dev ta {place}')
    add = "tc filter add dev ta ingress"
    lines.append("tc qdisc add dev ta clsact")
    lines += [f'try filter {name} "{add} {words}"' for name, words in FILTERS.items()]
    # An action needs a filter that this kernel has.
    lines += [
        " || ".join(f'try action {name} "{add} {FILTERS[base]} {words}"' for base in ("u32", "matchall"))
        for name, words in ACTIONS.items()
    ]
    lines += ['try bridge vlan_filtering "ip link add tt0 type bridge vlan_filtering 1"', "exit 0"]
    return "\n".join(lines) + "\n"


def abilities(trials: tuple[Trial, ...] | None = None) -> Capabilities:
    """The capabilities for the job's writers."""
    there = trials if trials is not None else probe()

    def taken(room: str) -> frozenset[str]:
        return frozenset(one.name for one in there if one.room == room and one.taken)

    return Capabilities(
        qdiscs=taken("qdisc"),
        filters=taken("filter"),
        actions=taken("action"),
        links=taken("link"),
        bridge_vlans="vlan_filtering" in taken("bridge"),
    )
