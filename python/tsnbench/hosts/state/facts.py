"""The state of a host before a change: interfaces, addresses, queueing disciplines, kernel."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from tsnbench.backends.kernel.environment import Capabilities
from tsnbench.backends.netns import probe
from tsnbench.errors import BackendError
from tsnbench.foreign import Json
from tsnbench.hosts.remote.agent import Agent
from tsnbench.hosts.remote.answers import Done, Ready, Step
from tsnbench.hosts.state.tuning import Before

_OWN = """\
for one in "$@"; do
  no6=/proc/sys/net/ipv6/conf/$one/disable_ipv6
  printf "%s\\t%s\\t%s\\t%s\\n" "$one" "$(cat "$no6" 2>/dev/null)" \
"$(basename "$(readlink -f "/sys/class/net/$one/device/driver" 2>/dev/null)" 2>/dev/null)" \
"$(ls "/sys/class/net/$one/device/ptp" 2>/dev/null | head -n 1)"
done
"""
_UNSHARED = ("unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c")
TOOK_TOO_LONG, NO_PROGRAM = 124, 127
"""Exit codes of the agent, as those of ``timeout`` and of a shell."""
DEFAULT_ROOTS = {"noqueue", "pfifo_fast", "mq", "fq_codel", "fq", "pfifo"}
"""Queueing disciplines that a kernel puts on an interface by itself, with handle 0."""


@dataclass(frozen=True)
class Interface:
    """One interface of a host, as found."""

    name: str
    mac: str
    up: bool
    carrier: bool
    mtu: int
    master: str
    driver: str
    """Empty for interfaces without a device, such as veth."""
    ipv6: bool
    """Whether it sends frames of its own for IPv6."""
    root: str
    """The root queueing discipline, if it is not the default; otherwise empty."""
    clsact: bool
    addresses: tuple[str, ...]
    phc: str = ""
    """Device of its PTP hardware clock: ``/dev/ptp0``."""
    kind: str = ""
    """The kernel's kind of the interface: ``veth``; empty for network cards."""

    @property
    def virtual(self) -> bool:
        """Whether it accepts frames at any rate, so that a queueing discipline must limit the rate as a MAC
        does."""
        return self.kind == "veth"


@dataclass(frozen=True)
class Facts:
    """The facts of one host."""

    ready: Ready
    interfaces: Mapping[str, Interface]
    can: Capabilities
    ssh_interface: str = ""
    """The interface of our own connection."""
    ports: tuple[str, ...] = ()
    """The interfaces in the inventory."""
    state: Json = field(default_factory=dict)
    """The state that must be restored at the end: see :func:`state_of`."""
    before: Before | None = None
    """The settings of its cards and processors."""

    @property
    def phcs(self) -> list[str]:
        """PTP hardware clocks of its ports, each once."""
        return list(dict.fromkeys(one.phc for name in self.ports if (one := self.interfaces[name]).phc))


_LOOK = (
    Step(("ip", "-j", "-d", "link", "show")),
    Step(("ip", "-j", "addr", "show")),
    Step(("tc", "-j", "qdisc", "show")),
)


def look(agent: Agent, ready: Ready, ports: Collection[str]) -> Facts:
    """Reads all facts; nothing is changed outside of a scratch namespace.

    Args:
        agent: the host.
        ready: the agent's first answer.
        ports: its interfaces in the inventory.

    Raises:
        BackendError: a tool or an interface is missing there.
    """
    found = survey(agent, ready, ports)
    if missing := [name for name in ports if name not in found.interfaces]:
        there = ", ".join(sorted(found.interfaces))
        raise BackendError(f"{agent.name}: expected the interface {missing[0]} there, found {there}")
    return found


def _why(done: Done) -> str:
    """Why a command that reads facts failed, with a remedy if the program is missing."""
    if done.code == TOOK_TOO_LONG:
        return f"not finished after {done.step.limit_ms / 1e3:g} s"
    said = done.err.strip() or f"exit code {done.code}"
    return f"{said}\nhint: apt-get install iproute2, there" if done.code == NO_PROGRAM else said


def survey(agent: Agent, ready: Ready, ports: Collection[str]) -> Facts:
    """Reads the facts as :func:`look` does, of the interfaces that exist.

    Raises:
        BackendError: a tool is missing there.
    """
    own = Step(("sh", "-c", _OWN, "sh", *ports), may_fail=True)
    trials = Step((*_UNSHARED, probe.script()), may_fail=True, limit_ms=60_000)
    done = agent.steps([*_LOOK, own, trials])
    for one in done[:3]:
        if one.code:
            raise BackendError(f"{agent.name}: {' '.join(one.step.argv)}: {_why(one)}")
    links, addresses, qdiscs = (_json(agent, one) for one in done[:3])
    by_address: dict[str, list[str]] = {
        one["ifname"]: [f"{own['local']}/{own['prefixlen']}" for own in one.get("addr_info", ())]
        for one in addresses
    }
    rows = {row[0]: row[1:] for row in (line.split("\t") for line in done[3].out.splitlines())}
    found = {
        one["ifname"]: Interface(
            name=one["ifname"],
            mac=one.get("address", ""),
            up="UP" in one["flags"],
            carrier="LOWER_UP" in one["flags"],
            mtu=one.get("mtu", 0),
            master=one.get("master", ""),
            driver=rows.get(one["ifname"], [""] * 3)[1],
            kind=one.get("linkinfo", {}).get("info_kind", ""),
            ipv6=rows.get(one["ifname"], ["1"])[0] == "0",
            root=_chosen_root(qdiscs, one["ifname"]),
            clsact=any(
                own["dev"] == one["ifname"] and own["kind"] in ("clsact", "ingress") for own in qdiscs
            ),
            addresses=tuple(by_address.get(one["ifname"], ())),
            phc=f"/dev/{phc}" if (phc := rows.get(one["ifname"], [""] * 3)[2]) else "",
        )
        for one in links
    }
    can = probe.abilities(probe.read(done[4].out)) if done[4].code == 0 else Capabilities()
    words = ready.ssh.split()
    server = words[2] if len(words) > 2 else ""
    carries = next(
        (name for name, one in found.items() if any(own.split("/")[0] == server for own in one.addresses)),
        "",
    )
    there = tuple(name for name in ports if name in found)
    return Facts(ready, found, can, carries, there, _state(links, addresses, qdiscs))


def state_of(agent: Agent) -> Json:
    """The state that must be equal before and after a run: links, addresses, queueing disciplines.

    Raises:
        BackendError: the host does not report it.
    """
    links, addresses, qdiscs = (_json(agent, one) for one in agent.steps(_LOOK))
    return _state(links, addresses, qdiscs)


def differences(before: Json, after: Json) -> list[str]:
    """The differences between two states, in words."""
    found = []
    for name in sorted({*before, *after}):
        was, now = before.get(name, "nothing"), after.get(name, "nothing")
        if was != now:
            found.append(f"{name}: was {_short(was)}, is {_short(now)}")
    return found


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return text if len(text) <= 200 else text[:199] + "…"


def _state(links: list[Json], addresses: list[Json], qdiscs: list[Json]) -> Json:
    state: Json = {}
    for one in links:
        kept = {key: one.get(key) for key in ("address", "mtu", "master", "txqlen", "link_type")}
        kept["flags"] = sorted(set(one["flags"]) & {"UP", "PROMISC", "ALLMULTI", "NOARP"})
        state[f"link {one['ifname']}"] = kept
    for one in addresses:
        # The kernel makes a link-local address itself, after a short time.
        own = [a for a in one.get("addr_info", ()) if not (a["family"] == "inet6" and a["scope"] == "link")]
        state[f"addresses {one['ifname']}"] = sorted(f"{a['local']}/{a['prefixlen']}" for a in own)
    for one in qdiscs:
        # The kernel chooses this discipline itself when an interface is up for the first time.
        if one["kind"] in DEFAULT_ROOTS and one["handle"] == "0:":
            continue
        key = f"qdisc {one['dev']} {one.get('parent', 'root')}"
        state[key] = {"kind": one["kind"], "handle": one["handle"], "options": one.get("options", {})}
    return state


def _chosen_root(qdiscs: list[Json], name: str) -> str:
    for one in qdiscs:
        if one["dev"] == name and one.get("root") and one["kind"] not in ("clsact", "ingress"):
            by_kernel = one["kind"] in DEFAULT_ROOTS and one["handle"] in ("0:", "8001:")
            return "" if by_kernel else f"{one['kind']} {one['handle']}"
    return ""


def _json(agent: Agent, done: Done) -> list[Json]:
    try:
        return list(json.loads(done.out or "[]"))
    except ValueError as error:
        raise BackendError(
            f"{agent.name}: {' '.join(done.step.argv)} says what is no JSON: {done.out[:100]}"
        ) from error
