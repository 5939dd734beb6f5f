"""Compares a host's state with the requested one: output of ``tc -j -s qdisc`` and ``ip -j -d link``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tsnbench.errors import ContentError
from tsnbench.linux.qdiscs import HANDLE, Child, Options, Root

if TYPE_CHECKING:
    from tsnbench.foreign import Json


@dataclass(frozen=True)
class ReportedQdisc:
    """One queueing discipline as the kernel reports it."""

    device: str
    kind: str
    handle: str
    parent: str | None
    """None at the root."""
    options: Json
    counters: dict[str, int]

    def below(self, handle: int) -> str:
        """The minor number of the parent class if that class belongs to the discipline ``handle``; else
        empty.
        """
        major, _, minor = (self.parent or "").partition(":")
        return minor if major in ("", str(handle)) else ""

    @property
    def running(self) -> Json:
        """For taprio, the options of the operational list, or of the pending list if none is in force yet."""
        return self.options if self.options.get("schedule") else (self.options.get("admin") or self.options)

    @property
    def schedule(self) -> list[tuple[str | None, int, int]]:
        """For taprio, command, gate mask and duration (ns) of each entry of :attr:`running`."""
        return [
            (entry.get("cmd"), _number(entry.get("gatemask", 0)), _number(entry.get("interval", 0)))
            for entry in self.running.get("schedule") or []
        ]


@dataclass(frozen=True)
class Link:
    """One interface as the kernel reports it."""

    name: str
    kind: str
    up: bool
    vid: int | None
    egress: dict[int, int]
    """Priority code point of each priority; empty unless it is a VLAN device."""
    ingress: dict[int, int]
    tx_queues: int | None


@dataclass(frozen=True)
class Difference:
    """A difference between the requested and the reported state."""

    where: str
    what: str
    meant: str
    found: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}: requested {self.meant}, found {self.found}"


_COUNTERS = ("bytes", "packets", "drops", "overlimits", "requeues", "backlog", "qlen")


def read_json(text: str) -> Any:
    """Parses output of ``tc -j`` or ``ip -j``; repairs iproute2 6.1's JSON, in which a pending taprio list
    has no key.

    Raises:
        ValueError: it is no JSON.
    """
    return json.loads(re.sub(r'((?:":-?\d+|\]),)\{"base_time"', r'\1"admin":{"base_time"', text) or "[]")


def _documents(text: str, tool: str) -> list[Json]:
    try:
        found = read_json(text)
    except ValueError as error:
        raise ContentError(f"{tool}: expected JSON, found {text[:40]!r}: {error}") from error
    if not isinstance(found, list):
        raise ContentError(f"{tool}: expected a list, found {type(found).__name__}")
    # ip prints an empty object for interfaces that were not requested.
    return [one for one in found if isinstance(one, dict) and one]


def read_qdiscs(text: str) -> list[ReportedQdisc]:
    """Output of ``tc -j -s qdisc show``.

    Raises:
        InputError: it is not that.
    """
    return [
        ReportedQdisc(
            device=str(one.get("dev", "")),
            kind=str(one.get("kind", "")),
            handle=str(one.get("handle", "")),
            parent=None if one.get("root") else one.get("parent"),
            options=one.get("options") or {},
            counters={name: int(one[name]) for name in _COUNTERS if isinstance(one.get(name), int)},
        )
        for one in _documents(text, "tc -j -s qdisc")
    ]


def read_links(text: str) -> list[Link]:
    """Output of ``ip -j -d link``.

    Raises:
        InputError: it is not that.
    """
    links = []
    for one in _documents(text, "ip -j -d link"):
        info = one.get("linkinfo") or {}
        data = info.get("info_data") or {}
        links.append(
            Link(
                name=str(one.get("ifname", "")),
                kind=str(info.get("info_kind", "")),
                up="UP" in one.get("flags", []),
                vid=data.get("id") if info.get("info_kind") == "vlan" else None,
                egress=_qos(data.get("egress_qos")),
                ingress=_qos(data.get("ingress_qos")),
                tx_queues=one.get("num_tx_queues"),
            )
        )
    return links


def _qos(rows: Any) -> dict[int, int]:
    return {int(row["from"]): int(row["to"]) for row in rows or []}


def _number(value: Any) -> int:
    """A number that some versions print as a decimal number and others as a hexadecimal string."""
    return int(value, 0) if isinstance(value, str) else int(value)


def compare(
    device: str, root: Root, children: Iterable[Child], found: Iterable[ReportedQdisc]
) -> list[Difference]:
    """The differences between an interface's reported and requested state."""
    mine = [one for one in found if one.device == device]
    top = next((one for one in mine if one.parent is None and one.kind == root.kind), None)
    if top is None:
        kinds = ", ".join(one.kind for one in mine if one.parent is None) or "nothing"
        return [Difference(device, "the root", root.kind, kinds)]
    differences = list(_root(device, root, top))
    for child in children:
        # tc omits the root's number from a parent where it can.
        own = next((one for one in mine if one.below(HANDLE) == f"{child.queue + 1:x}"), None)
        where = f"{device} {child.parent}"
        if own is None or own.kind != child.kind:
            differences.append(Difference(where, "its kind", child.kind, own.kind if own else "nothing"))
            continue
        differences += compare_options(where, child.options, own)
    return differences


def _root(where: str, root: Root, top: ReportedQdisc) -> Iterable[Difference]:
    options = top.options
    pairs: list[tuple[str, Any, Any]] = [
        ("num_tc", root.num_tc, options.get("tc")),
        ("map", list(root.map), options.get("map")),
        ("queues", [list(one) for one in root.queues], _queues(options.get("queues"))),
    ]
    if root.kind == "taprio":
        running = top.running
        pairs += [
            ("base-time", root.base_time, running.get("base_time")),
            ("cycle-time", root.cycle_time, running.get("cycle_time")),
            ("cycle-time-extension", root.cycle_time_extension, running.get("cycle_time_extension", 0)),
            ("sched-entry", list(root.entries), top.schedule),
            ("flags", int(root.flags or "0", 16), _number(options.get("flags", 0))),
            ("txtime-delay", root.txtime_delay or 0, options.get("txtime_delay", 0)),
        ]
    for what, meant, found in pairs:
        if meant != found:
            yield Difference(where, what, str(meant), "nothing" if found is None else str(found))


def _queues(rows: Any) -> list[list[int]] | None:
    """Count and offset of each class; mqprio prints the first and last queue, taprio offset and count."""
    if rows is None:
        return None
    found = []
    for row in rows:
        if isinstance(row, dict):
            found.append([int(row["count"]), int(row["offset"])])
        else:
            first, last = row
            found.append([int(last) - int(first) + 1, int(first)])
    return found


def compare_options(where: str, options: Options, own: ReportedQdisc) -> Iterable[Difference]:
    """The differences between one discipline's reported and requested options."""
    for name, meant in options:
        found = own.options.get(name)
        if name == "clockid":
            meant = meant.removeprefix("CLOCK_")
        if meant == "":
            # A flag: printed as a switch or as a boolean.
            if found not in (True, "on", 1):
                yield Difference(where, name, "on", "off")
        elif name == "offload" and meant == "0":
            if found not in (None, False, 0, "0", "off"):
                yield Difference(where, name, "0", str(found))
        elif found is None or str(found).removesuffix("p").removesuffix("b") != meant:
            yield Difference(where, name, meant, "nothing" if found is None else str(found))
