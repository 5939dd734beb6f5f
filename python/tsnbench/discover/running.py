"""The running state of one host: output of ``ip``, ``bridge``, ``tc`` and ``ethtool`` as settings of ports.

tc-mqprio(8), tc-taprio(8), tc-cbs(8), bridge(8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tsnbench.discover.gate_times import GateTimes, Span, gate_times
from tsnbench.errors import ContentError, InputError
from tsnbench.foreign import Json
from tsnbench.hosts.remote.answers import Done, Step
from tsnbench.hosts.state.facts import DEFAULT_ROOTS
from tsnbench.hosts.state.tuning import ASK_ALL, Card, read_cards
from tsnbench.linux.qdiscs import HANDLE
from tsnbench.linux.readback import ReportedQdisc, read_json, read_qdiscs

_OWN = """\
for one in /sys/class/net/*; do
  printf "%s\\t%s\\t%s\\n" "${one##*/}" "$(cat "$one/speed" 2>/dev/null)" \
"$(basename "$(readlink -f "$one/device/driver" 2>/dev/null)" 2>/dev/null)"
done
"""
_FILTERS = """\
for one in /sys/class/net/*; do
  echo "${one##*/}"
  tc -j filter show dev "${one##*/}" ingress || exit
done
"""
LOOK = {
    "link": ("ip", "-j", "-d", "link", "show"),
    "vlan": ("bridge", "-j", "vlan", "show"),
    "fdb": ("bridge", "-j", "fdb", "show"),
    "mdb": ("bridge", "-j", "mdb", "show"),
    "qdisc": ("tc", "-j", "-s", "qdisc", "show"),
    "own": ("sh", "-c", _OWN),
    "cards": ("sh", "-c", ASK_ALL),
    "filters": ("sh", "-c", _FILTERS),
}
"""The commands by the name of what they read. None of them changes anything."""
_SCRIPTS = {"own": "the files of /sys/class/net", "cards": "ethtool", "filters": "tc filter"}
"""What a script is called in a message."""


@dataclass(frozen=True)
class Queue:
    """The queueing discipline of one traffic class, and the queue behind it if it is a shaper."""

    own: ReportedQdisc
    behind: ReportedQdisc | None = None


@dataclass(frozen=True)
class Shaping:
    """The root queueing discipline of a port with traffic classes: mqprio or taprio."""

    kind: str
    class_of: tuple[int, ...]
    """The kernel's traffic class of each priority from 0 to 7."""
    queues: tuple[Queue | None, ...]
    """Of each traffic class of the kernel, that of its first queue; None: the kernel's default."""
    gates: GateTimes | None = None
    pending: bool = False
    """Whether the list of gates waits for its base time."""
    flags: int = 0
    """taprio's: 0 for gates in software, 2 for those of the card."""
    clock: str = ""
    """taprio's, of gates in software: ``TAI``."""
    extension_ns: int = 0
    max_sdu: tuple[int, ...] | None = None
    """Of each class of the kernel, 0: none; None: this iproute2 does not print it."""
    preemptable: tuple[bool, ...] | None = None
    """Of each class of the kernel; None: this iproute2 does not print it."""
    entries: tuple[tuple[int, int], ...] = ()
    """Mask and ns of each entry of the list as it is written."""
    last_queue: int = 0
    """The highest transmission queue of a class."""
    base_ns: int = 0
    cycle_ns: int = 0
    bandwidths: Mapping[int, int] = field(default_factory=dict)
    """By class, the idle slope in bit/s that a device with YANG is given; it computes the credits itself."""

    def etfs(self) -> list[tuple[int, ReportedQdisc]]:
        """Each etf with the number of its class."""
        every = [(place, queue) for place, queue in enumerate(self.queues) if queue]
        both = [(place, one) for place, queue in every for one in (queue.own, queue.behind) if one]
        return [(place, one) for place, one in both if one.kind == "etf"]


@dataclass(frozen=True)
class Filters:
    """The filters of arriving frames (``flower``)."""

    priorities: Mapping[int, int] = field(default_factory=dict)
    """By PCP of a tag, the priority that a filter of it alone gives the frame."""
    others: int = 0
    """How many other filters there are."""


@dataclass(frozen=True)
class RunningPort:
    """One interface as found. None: the host did not say."""

    name: str
    mac: str
    up: bool
    carrier: bool
    mtu: int
    kind: str
    """The kernel's kind: ``veth``; empty for network cards."""
    driver: str | None
    rate_bps: int | None
    """None also for interfaces without a rate, and while the link is down."""
    master: str
    """The bridge whose port it is; empty: none."""
    learning: bool | None = None
    flood: bool | None = None
    """None: it is no port of a bridge."""
    vlans: Mapping[int, bool] | None = None
    """VLANs of a port of a bridge; whether frames leave without a tag."""
    ingress: bool | None = None
    """Whether frames of VLANs that a port does not have are dropped where they arrive; None: not said."""
    root: str | None = ""
    """The kind of the root queueing discipline; empty: the kernel's default."""
    shaping: Shaping | None = None
    card: Card | None = None
    """What ``ethtool`` says of a network card; None where it says nothing."""
    filters: Filters | None = None
    """Of arriving frames."""


@dataclass(frozen=True)
class RunningHost:
    """One host as found."""

    name: str
    ports: Mapping[str, RunningPort]
    """By interface, without the loopback."""
    kernel: str = ""
    """Its release."""
    addresses: Mapping[tuple[str, int], frozenset[str]] | None = None
    """Ports of each static address of bridges, by address and VLAN (0: none)."""
    groups: Mapping[tuple[str, int], frozenset[str]] | None = None
    """Ports of each static group of bridges, by group and VLAN (0: none)."""
    devices: Mapping[tuple[str, int], Mapping[int, int]] = field(default_factory=dict)
    """VLAN devices by their interface and VLAN: the PCP of each priority."""
    unread: tuple[str, ...] = ()
    """What could not be read, with the reason."""


def steps() -> list[Step]:
    """The commands for a host."""
    return [Step(argv, may_fail=True) for argv in LOOK.values()]


def read(host: str, kernel: str, done: Iterable[Done]) -> RunningHost:
    """The state of a host from the output of :func:`steps`; ``kernel`` is its release."""
    unread: list[str] = []
    said: Json = {}
    for name, one in zip(LOOK, done, strict=False):
        command = _SCRIPTS.get(name) or " ".join(one.step.argv)
        if one.code:
            unread.append(f"{command}: {(one.err.strip() or f'exit code {one.code}').splitlines()[-1]}")
            continue
        try:
            said[name] = _PARSED[name](one.out)
        except (ValueError, InputError, KeyError, TypeError, AttributeError, RecursionError) as error:
            unread.append(f"{command}: cannot be read ({error})")
    return replace(_host(host, said, unread), kernel=kernel)


def _host(host: str, said: Json, unread: list[str]) -> RunningHost:
    qdiscs: list[ReportedQdisc] | None = said.get("qdisc")
    own: dict[str, tuple[str, str]] = said.get("own", {})
    vlans: dict[str, dict[int, bool]] | None = said.get("vlan")
    ports = {}
    devices: dict[tuple[str, int], dict[int, int]] = {}
    for one in said.get("link", ()):
        name, info = str(one.get("ifname", "")), one.get("linkinfo") or {}
        if "LOOPBACK" in one.get("flags", ()) or not name:
            continue
        if info.get("info_kind") == "vlan":
            data = info.get("info_data") or {}
            rows = {int(row["from"]): int(row["to"]) for row in data.get("egress_qos") or []}
            devices[str(one.get("link", "")), int(data.get("id", 0))] = rows
            continue
        slave = info.get("info_slave_data") or {}
        bridged = info.get("info_slave_kind") == "bridge"
        speed, driver = own.get(name, ("", None))
        mine = None if qdiscs is None else [qdisc for qdisc in qdiscs if qdisc.device == name]
        ports[name] = RunningPort(
            name=name,
            mac=str(one.get("address", "")),
            up="UP" in one.get("flags", ()),
            carrier="LOWER_UP" in one.get("flags", ()),
            mtu=int(one.get("mtu", 0)),
            kind=str(info.get("info_kind", "")),
            driver=driver,
            rate_bps=int(speed) * 10**6 if speed.isdecimal() and info.get("info_kind") != "veth" else None,
            master=str(one.get("master", "")),
            learning=slave.get("learning") if bridged else None,
            flood=slave.get("flood") if bridged else None,
            vlans=None if vlans is None else vlans.get(name, {}),
            root=None if mine is None else _root(mine),
            shaping=None if mine is None else _shaping(name, mine, unread),
            card=said.get("cards", {}).get(name),
            filters=said["filters"].get(name, Filters()) if "filters" in said else None,
        )
    return RunningHost(
        host,
        ports,
        addresses=said.get("fdb"),
        groups=said.get("mdb"),
        devices=devices,
        unread=tuple(unread),
    )


def _root(mine: Sequence[ReportedQdisc]) -> str:
    """The kind of a root that the kernel has not put there by itself; empty: there is none."""
    for one in mine:
        if one.parent is None and one.kind not in ("clsact", "ingress"):
            return "" if one.kind in DEFAULT_ROOTS and one.handle in ("0:", "8001:") else one.kind
    return ""


def _shaping(name: str, mine: Sequence[ReportedQdisc], unread: list[str]) -> Shaping | None:
    top = next((one for one in mine if one.parent is None and one.kind in ("mqprio", "taprio")), None)
    if top is None:
        return None
    try:
        return _classes(top, mine)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        unread.append(f"{name}: the {top.kind} there cannot be read ({error})")
        return None


def _classes(top: ReportedQdisc, mine: Sequence[ReportedQdisc]) -> Shaping:
    count = int(top.options["tc"])
    queues = []
    for first in _first_queues(top.options.get("queues") or [], count):
        own = next((one for one in mine if _is_below(one, top, first)), None)
        queues.append(None if own is None else Queue(own, _behind(own, mine)))
    class_of = tuple(int(one) for one in top.options["map"])[:8]
    sdus, frames = top.options.get("max-sdu"), top.options.get("fp")
    whole = Shaping(
        top.kind,
        class_of,
        tuple(queues),
        max_sdu=None if sdus is None else tuple(map(int, sdus))[:count],
        preemptable=None if frames is None else tuple(one == "P" for one in frames)[:count],
        last_queue=max(_last_queues(top.options.get("queues") or [], count)),
    )
    return whole if top.kind == "mqprio" else _gates(whole, top, count)


def _behind(own: ReportedQdisc, mine: Sequence[ReportedQdisc]) -> ReportedQdisc | None:
    major = own.handle.partition(":")[0]
    return next((one for one in mine if major != "0" and (one.parent or "").split(":")[0] == major), None)


def _gates(whole: Shaping, top: ReportedQdisc, count: int) -> Shaping:
    running = top.running
    entries = tuple((mask, length) for _, mask, length in top.schedule)
    base, cycle = int(running.get("base_time", 0)), int(running.get("cycle_time", 0))
    spans: list[Span] = [
        (length, frozenset(number for number in range(count) if mask >> number & 1))
        for mask, length in entries
    ]
    flags = top.options.get("flags", 0)
    return replace(
        whole,
        gates=gate_times(base, cycle, spans) if spans else None,
        pending=bool(entries) and not top.options.get("schedule"),
        flags=int(flags, 0) if isinstance(flags, str) else int(flags),
        clock=str(top.options.get("clockid", "")),
        extension_ns=int(running.get("cycle_time_extension", 0)),
        entries=entries,
        base_ns=base,
        cycle_ns=cycle,
    )


def _is_below(one: ReportedQdisc, top: ReportedQdisc, queue: int) -> bool:
    major, _, minor = (one.parent or "").partition(":")
    return (
        bool(minor)
        and major in ("", top.handle.partition(":")[0], str(HANDLE))
        and (int(minor, 16) == queue + 1)
    )


def _first_queues(rows: Sequence[Any], count: int) -> list[int]:
    """The first queue of each class; mqprio prints first and last queue, taprio offset and count."""
    if len(rows) < count:
        raise ValueError(f"{len(rows)} ranges of queues for {count} classes")
    return [int(row["offset"]) if isinstance(row, dict) else int(row[0]) for row in rows[:count]]


def _last_queues(rows: Sequence[Any], count: int) -> list[int]:
    return [
        int(row["offset"]) + int(row["count"]) - 1 if isinstance(row, dict) else int(row[1])
        for row in rows[:count]
    ]


def _documents(text: str) -> list[Json]:
    found = read_json(text)
    if not isinstance(found, list):
        raise ContentError(f"expected a list, found {type(found).__name__}")
    return [one for one in found if isinstance(one, dict) and one]


def _vlans(text: str) -> dict[str, dict[int, bool]]:
    return {
        str(one["ifname"]): {
            vid: "Egress Untagged" in row.get("flags", ())
            for row in one.get("vlans", ())
            for vid in range(int(row["vlan"]), int(row.get("vlanEnd", row["vlan"])) + 1)
        }
        for one in _documents(text)
    }


def _addresses(text: str) -> dict[tuple[str, int], frozenset[str]]:
    found: dict[tuple[str, int], set[str]] = {}
    for one in _documents(text):
        # Those of the interfaces themselves are permanent, and not in the table of a bridge.
        if one.get("state") == "static" and one.get("master"):
            found.setdefault((str(one["mac"]), int(one.get("vlan", 0))), set()).add(str(one["ifname"]))
    return {key: frozenset(ports) for key, ports in found.items()}


def _groups(text: str) -> dict[tuple[str, int], frozenset[str]]:
    found: dict[tuple[str, int], set[str]] = {}
    for one in _documents(text):
        for row in one.get("mdb", ()):
            if row.get("state") == "permanent":
                found.setdefault((str(row["grp"]), int(row.get("vid", 0))), set()).add(str(row["port"]))
    return {key: frozenset(ports) for key, ports in found.items()}


def _filters(text: str) -> dict[str, Filters]:
    """By interface; the name of each comes before its list."""
    found, name = {}, ""
    for line in text.splitlines():
        if line.startswith("["):
            found[name] = _filters_of([one for one in _documents(line) if "options" in one])
        elif line.strip():
            name = line.strip()
    return found


def _filters_of(rows: Sequence[Json]) -> Filters:
    priorities: dict[int, int] = {}
    others = 0
    for one in rows:
        keys, actions = one["options"].get("keys", {}), one["options"].get("actions", [])
        given = [row["priority"] for row in actions if row.get("kind") == "skbedit" and "priority" in row]
        if list(keys) == ["vlan_prio"] and given:
            # As the number of a class: ":3", and "none" for 0.
            number = str(given[-1]).rpartition(":")[2]
            priorities.setdefault(int(keys["vlan_prio"]), 0 if number == "none" else int(number, 16))
        else:
            others += 1
    return Filters(priorities, others)


def _own(text: str) -> dict[str, tuple[str, str]]:
    rows = (line.split("\t") for line in text.splitlines())
    return {row[0]: (row[1], row[2]) for row in rows if len(row) == 3}


_PARSED: Mapping[str, Callable[[str], Any]] = {
    "link": _documents,
    "vlan": _vlans,
    "fdb": _addresses,
    "mdb": _groups,
    "qdisc": read_qdiscs,
    "own": _own,
    "cards": read_cards,
    "filters": _filters,
}
assert _PARSED.keys() == LOOK.keys()
__all__ = ["LOOK", "Filters", "Queue", "RunningHost", "RunningPort", "Shaping", "read", "steps"]
