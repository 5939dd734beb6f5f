"""A host's ports and processors at one moment of a run: links, settings, and counters of what went wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tsnbench import quantities
from tsnbench.hosts.remote.answers import Step

if TYPE_CHECKING:
    from tsnbench.hosts.remote.agent import Agent

TICK_MS = 10
"""The unit of times in ``/proc/stat``."""
FREQUENCY_SHARE = 0.1
"""The least change of a processor's frequency that is told, as a share of the earlier one."""
LOSSES = {
    "rx_dropped": "the kernel dropped {} arriving frames",
    "tx_dropped": "the kernel dropped {} frames that were to leave",
    "rx_errors": "{} frames arrived with errors",
    "tx_errors": "{} frames could not be sent",
    "rx_missed_errors": "the card's ring had no room for {} arriving frames",
}
"""Counters of the kernel (``/sys/class/net/NAME/statistics``), in words."""
SETTINGS = ("address", "mtu", "speed", "duplex")
_HEAD = "@"
_LOOK = f"""\
LC_ALL=C; PATH=$PATH:/usr/sbin:/sbin; export LC_ALL PATH
for one in "$@"; do
  echo "{_HEAD}port $one"
  (cd "/sys/class/net/$one" 2>/dev/null && grep -s "" ifindex carrier carrier_changes \
{" ".join(SETTINGS)} {" ".join(f"statistics/{name}" for name in LOSSES)})
  ethtool -k "$one" 2>/dev/null | sed -n "s/^[[:space:]]*\\([a-z0-9-]*\\): \\(o[nf]*\\).*/feature \\1:\\2/p"
done
echo "{_HEAD}processors"
grep "^cpu[0-9]" /proc/stat
cd /sys/devices/system/cpu && grep -s "" cpu[0-9]*/cpufreq/scaling_cur_freq \
cpu[0-9]*/thermal_throttle/core_throttle_count
:
"""


@dataclass(frozen=True)
class PortState:
    """One interface."""

    index: str = ""
    """The kernel's number of the interface, which stays when its name changes; empty if there is none."""
    linked: bool = False
    """Whether there is a link (carrier)."""
    changes: int = 0
    """How often the link came or went since the interface exists."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """:data:`SETTINGS`, and the features of ``ethtool -k``: offloads and checksums."""
    counters: Mapping[str, int] = field(default_factory=dict)
    """By the names of :data:`LOSSES`."""


@dataclass(frozen=True)
class HostState:
    """All watched interfaces of a host, and its processors."""

    ports: Mapping[str, PortState]
    stolen_ms: int = 0
    """How long its processors worked for other guests of the same machine (``steal``)."""
    khz: Mapping[str, int] = field(default_factory=dict)
    """The frequency of each processor."""
    throttled: int = 0
    """How often heat slowed a processor down."""


def look(agent: Agent, interfaces: Sequence[str]) -> HostState:
    """Reads the state of a host; nothing is changed.

    Raises:
        BackendError: the host does not answer.
    """
    (done,) = agent.steps([step(interfaces)])
    return read(done.out)


def step(interfaces: Sequence[str]) -> Step:
    """The question for :func:`read`."""
    return Step(("sh", "-c", _LOOK, "sh", *interfaces), may_fail=True)


def read(said: str) -> HostState:
    """The state, from the output of the question."""
    head, *parts = said.split(f"\n{_HEAD}processors\n", 1)
    processors = parts[0] if parts else ""
    ports = {}
    for text in f"\n{head}".split(f"\n{_HEAD}port ")[1:]:
        name, _, rest = text.partition("\n")
        ports[name] = _port(_pairs(rest))
    found = _pairs(processors)
    stolen = [
        line.split()[8] for line in processors.splitlines() if line.startswith("cpu") and ":" not in line
    ]
    return HostState(
        ports,
        sum(map(_number, stolen)) * TICK_MS,
        {key.partition("/")[0]: _number(value) for key, value in found.items() if "cpufreq" in key},
        sum(_number(value) for key, value in found.items() if "throttle" in key),
    )


def _pairs(text: str) -> dict[str, str]:
    """Lines of the form ``KEY:VALUE``."""
    return {key: value for key, colon, value in (line.partition(":") for line in text.splitlines()) if colon}


def _port(told: Mapping[str, str]) -> PortState:
    settings = {name: told[name] for name in SETTINGS if name in told}
    settings |= {key.removeprefix("feature "): one for key, one in told.items() if key.startswith("feature ")}
    return PortState(
        told.get("ifindex", ""),
        told.get("carrier") == "1",
        _number(told.get("carrier_changes", "")),
        settings,
        {name: _number(told.get(f"statistics/{name}", "")) for name in LOSSES},
    )


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def changed(before: HostState, after: HostState) -> Iterator[tuple[str, str]]:
    """The interfaces whose link or settings changed, each with the change in words."""
    for name, was in before.ports.items():
        now = after.ports.get(name, PortState())
        if was.index != now.index:
            yield name, "is gone" if not now.index else "is another interface than before"
            continue
        if (times := now.changes - was.changes) or was.linked != now.linked:
            yield name, f"its link came or went {_times(max(times, 1))}"
        for key in sorted({*was.settings, *now.settings}):
            if was.settings.get(key) != now.settings.get(key):
                yield (
                    name,
                    f"{key} was {was.settings.get(key, 'unknown')}, is {now.settings.get(key, 'unknown')}",
                )


def losses(before: HostState, after: HostState) -> Iterator[tuple[str, str]]:
    """The interfaces whose counters of losses grew, each with the loss in words."""
    for name, was in before.ports.items():
        now = after.ports.get(name, PortState())
        for key, words in LOSSES.items():
            if (more := now.counters.get(key, 0) - was.counters.get(key, 0)) > 0:
                yield name, words.format(quantities.count(more))


def disturbances(before: HostState, after: HostState) -> Iterator[str]:
    """What slowed the processors down, in words."""
    if (stolen := after.stolen_ms - before.stolen_ms) > 0:
        took = quantities.time(stolen * 10**6)
        yield f"its processors worked for other guests of its machine for {took}"
    if (times := after.throttled - before.throttled) > 0:
        yield f"heat slowed its processors down {_times(times)}"
    for cpu, was in before.khz.items():
        now = after.khz.get(cpu, was)
        if was and abs(now - was) > FREQUENCY_SHARE * was:
            yield f"the frequency of {cpu} changed from {was / 1e6:.2f} to {now / 1e6:.2f} GHz"


def _times(number: int) -> str:
    return "1 time" if number == 1 else f"{quantities.count(number)} times"
