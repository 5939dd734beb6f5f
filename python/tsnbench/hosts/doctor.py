"""Questions to all hosts of a lab at once: the properties that a Plan may need. Nothing is changed on the
hosts.

An agent asks the questions, so a host is reached exactly as in a run. The agent leaves nothing behind.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tsnbench.backends.kernel import traffic
from tsnbench.errors import BackendError
from tsnbench.hosts.remote.agent import Agent, run_all
from tsnbench.hosts.remote.answers import Step
from tsnbench.hosts.remote.reach import reach
from tsnbench.hosts.state import facts
from tsnbench.linux import reading

if TYPE_CHECKING:
    from tsnbench.hosts.inventory import Inventory
    from tsnbench.hosts.state.facts import Facts

PROGRAMS = ("ptp4l", "phc2sys", "ethtool")
"""Additional programs that a run may start."""
STEERING = ("chronyd", "ntpd", "openntpd", "systemd-timesyn", "ptp4l", "phc2sys", "timemaster")
"""Programs that adjust clocks, by the names of processes in the kernel (15 characters)."""
# The first word of each line names its subject, so that other output of a login is ignored.
_ASK = r"""LC_ALL=C; PATH=$PATH:/usr/sbin:/sbin:/usr/bin:/bin; export LC_ALL PATH
tell() { sed "s/^/$1 /"; }
for one in PROGRAMS; do command -v $one >/dev/null && echo "has $one"; done
cat /proc/[0-9]*/comm 2>/dev/null | sort -u | tell runs
tell isolated </sys/devices/system/cpu/isolated
tell online </sys/devices/system/cpu/online
df -P -k . | sed 1d | tell space
for one in "$@"; do
    set -- /sys/class/net/"$one"/queues/tx-*; [ -e "$1" ] || shift
    echo "queues $one $#"
    echo "speed $one $(cat "/sys/class/net/$one/speed" 2>/dev/null)"
    ethtool -l "$one" 2>/dev/null | tell "channels $one"
    ethtool -T "$one" 2>/dev/null | tell "stamps $one"
done
"""


@dataclass(frozen=True)
class Card:
    """Properties of an interface in addition to :class:`tsnbench.hosts.state.facts.Interface`."""

    queues: int
    """Number of transmission queues at present."""
    most_queues: int | None
    """Greatest number for ``ethtool -L``; None if the driver does not report it."""
    stamps: reading.Stamping
    speed: str = ""
    """Rate in Mbit/s as the kernel reports it; empty or -1 while the link is down."""


@dataclass(frozen=True)
class Examined:
    """The answers of one host."""

    host: str
    error: str = ""
    """Why the host did not answer; then all other fields are unknown."""
    facts: Facts | None = None
    lacks: str = ""
    """What a reachable host lacks for the examination."""
    cards: Mapping[str, Card] = field(default_factory=dict)
    """The cards by interface."""
    programs: frozenset[str] = frozenset()
    steering: tuple[str, ...] = ()
    """Running programs that adjust clocks."""
    isolated: frozenset[int] = frozenset()
    """Isolated processors, which the scheduler does not use by itself."""
    online: frozenset[int] = frozenset()
    free_octets: int | None = None
    """Free octets of the folder that keeps captures until they are fetched."""


def ask(inventory: Inventory, hosts: Collection[str]) -> dict[str, Examined]:
    """Examines hosts of an inventory at once, by name.

    Raises:
        BackendError: the live program is missing on this machine.
    """
    program = traffic.program()

    def one_host(agent: Agent) -> Examined:
        name, host = agent.name, inventory.hosts[agent.name]
        try:
            ready = agent.open()
            try:
                seen = facts.survey(agent, ready, list(host.ports.values()) or _interfaces(agent))
            except BackendError as error:
                if agent.lost:
                    raise
                return Examined(name, lacks=_own(name, error))
            words = _ASK.replace("PROGRAMS", " ".join(PROGRAMS))
            done = agent.steps([Step(("sh", "-c", words, "sh", *seen.ports), may_fail=True)])[0]
            return read(name, seen, done.out)
        except BackendError as error:
            return Examined(name, error=_own(name, error))
        finally:
            agent.restore()

    chosen = [inventory.hosts[name] for name in hosts]
    agents = [Agent(one.name, reach(one.ssh), program=program, folder=one.folder) for one in chosen]
    return {one.host: one for one in run_all(agents, one_host)}


def _interfaces(agent: Agent) -> list[str]:
    """All interfaces except for the loopback, of a host without interfaces in the inventory."""
    done = agent.steps([Step(("ls", "/sys/class/net"), may_fail=True)])[0]
    return [name for name in done.out.split() if name not in ("lo", "bonding_masters")]


def read(host: str, seen: Facts, said: str) -> Examined:
    """The answers of one host.

    Args:
        host: its name.
        seen: the facts from other sources.
        said: output of the questions' script.
    """
    told: dict[str, list[str]] = {}
    for line in said.splitlines():
        key, _, rest = line.partition(" ")
        if key in ("queues", "channels", "stamps", "speed"):
            name, _, rest = rest.partition(" ")
            key = f"{key} {name}"
        told.setdefault(key, []).append(rest)

    def text(key: str) -> str:
        return "\n".join(told.get(key, ()))

    cards = {
        name: Card(
            int(text(f"queues {name}") or 0),
            reading.most_queues(text(f"channels {name}")),
            reading.stamping(text(f"stamps {name}")),
            text(f"speed {name}").strip(),
        )
        for name in seen.ports
    }
    running = told.get("runs", ())
    space = re.search(r"\s(\d+)\s+\d+%\s", text("space"))
    return Examined(
        host,
        facts=seen,
        cards=cards,
        programs=frozenset(told.get("has", ())),
        steering=tuple(name for name in STEERING if name in running),
        isolated=frozenset(processors(text("isolated"))),
        online=frozenset(processors(text("online"))),
        free_octets=int(space[1]) * 1024 if space else None,
    )


def processors(text: str) -> list[int]:
    """Parses the kernel's lists of processors, such as ``0,2-3``."""
    found: list[int] = []
    for part in text.strip().split(","):
        if match := re.fullmatch(r"(\d+)(?:-(\d+))?", part):
            found += range(int(match[1]), int(match[2] or match[1]) + 1)
    return found


def _own(host: str, error: BackendError) -> str:
    return str(error).removeprefix(f"{host}: ")
