"""Queueing disciplines of one port as lines of ``tc -batch``: a root, and a child per queue.

tc-mqprio(8), tc-taprio(8), tc-cbs(8), tc-etf(8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tsnbench.linux.profile import Mode, Profile

if TYPE_CHECKING:
    from tsnbench.plan.types import CbsChildQdisc, CbsLinux, ChildQdisc, Class, GateChange, GateCycle, Port

HANDLE = 100
"""Of the root; the child of queue q is at 100:(q + 1)."""
PFIFO_LIMIT = 1000
"""Frames, where the Plan names no limit: the kernel's default txqueuelen."""
FLAGS = {Mode.SOFTWARE: None, Mode.TXTIME_ASSIST: "0x1", Mode.FULL: "0x2"}


Moment = Callable[[int], str]
"""Writes an instant of CLOCK_TAI, in ns: as a number, or as what a script knows only when it runs."""
Options = tuple[tuple[str, str], ...]
"""Names and values as ``tc`` has them; the value of a flag is empty."""


@dataclass(frozen=True)
class Qdisc:
    """A queueing discipline, its handle and its parent."""

    place: str
    """``root``, or ``parent 100:1``."""
    kind: str
    options: Options = ()
    handle: str = ""
    """The handle, such as ``101:``; empty: the kernel chooses one."""
    overhead: int = 0
    """Octets of each frame that it counts besides those that it sees. tc-stab(8)."""

    def line(self, device: str, verb: str = "replace") -> str:
        """Everything on one line, as a batch file needs it."""
        words = [f"qdisc {verb} dev {device} {self.place}"]
        if self.handle:
            words.append(f"handle {self.handle}")
        if self.overhead:
            words.append(f"stab overhead {self.overhead} linklayer ethernet")
        words.append(self.kind)
        words += [f"{name} {value}".rstrip() for name, value in self.options]
        return " ".join(words)


@dataclass(frozen=True)
class Child:
    """The queueing discipline of one queue."""

    queue: int
    kind: str
    options: Options
    traffic_class: int
    """Of the Plan."""
    waiting: int | None = None
    """Limit, in frames, of the queue behind a shaper; None: the kernel's default."""
    overhead: int = 0
    """Octets of each frame that it counts besides those that it sees."""

    @property
    def parent(self) -> str:
        return f"{HANDLE}:{self.queue + 1:x}"

    def line(self, device: str) -> str:
        """The line of the discipline alone, without the queue behind it."""
        return self.qdiscs()[0].line(device)

    def qdiscs(self) -> list[Qdisc]:
        """The lines of the discipline and, for a shaper with a limit, of the queue behind it."""
        if self.waiting is None:
            return [Qdisc(f"parent {self.parent}", self.kind, self.options, overhead=self.overhead)]
        # Frames of cbs wait in a pfifo, whose limit is the device's txqueuelen unless the pfifo is replaced.
        handle = f"{HANDLE + self.queue + 1}:"
        return [
            Qdisc(f"parent {self.parent}", self.kind, self.options, handle, self.overhead),
            Qdisc(f"parent {handle}1", "pfifo", (("limit", str(self.waiting)),)),
        ]


@dataclass(frozen=True)
class Root:
    """The root: ``mqprio``, or ``taprio`` with its schedule."""

    kind: str
    num_tc: int
    map: tuple[int, ...]
    """The kernel's traffic class of each priority of a socket buffer (0 to 15)."""
    queues: tuple[tuple[int, int], ...]
    """Number of queues and first queue of each traffic class of the kernel."""
    base_time: int = 0
    cycle_time: int = 0
    cycle_time_extension: int = 0
    entries: tuple[tuple[str, int, int], ...] = ()
    """Command (S, H or R), gate mask, ns."""
    flags: str | None = None
    txtime_delay: int | None = None
    max_sdu: tuple[int, ...] = ()
    preemptable: tuple[bool, ...] = ()
    """Per traffic class of the kernel."""
    hardware: bool = False
    """Whether the driver applies the mapping (mqprio's ``hw``)."""
    overhead: int = 0
    """Octets of each frame that it counts besides those that it sees."""

    def line(self, device: str, moment: Moment = str, verb: str = "replace") -> str:
        """Everything on one line, as a batch file needs it."""
        options = self._mapping()
        options += self._schedule(moment) if self.kind == "taprio" else [("hw", str(int(self.hardware)))]
        whole = Qdisc("parent root", self.kind, tuple(options), f"{HANDLE}:", self.overhead)
        return whole.line(device, verb)

    def schedule_line(self, device: str, moment: Moment = str) -> str:
        """The line that sends an existing taprio its schedule again."""
        return Qdisc("root", self.kind, tuple(self._schedule(moment)), f"{HANDLE}:").line(device, "change")

    @property
    def in_software(self) -> bool:
        """Whether a software timer of taprio opens the gates."""
        return self.kind == "taprio" and self.flags is FLAGS[Mode.SOFTWARE]

    def _mapping(self) -> list[tuple[str, str]]:
        options = [
            ("num_tc", str(self.num_tc)),
            ("map", " ".join(map(str, self.map))),
            ("queues", " ".join(f"{count}@{offset}" for count, offset in self.queues)),
        ]
        if any(self.max_sdu):
            options.append(("max-sdu", " ".join(map(str, self.max_sdu))))
        if any(self.preemptable):
            options.append(("fp", " ".join("P" if one else "E" for one in self.preemptable)))
        return options

    def _schedule(self, moment: Moment) -> list[tuple[str, str]]:
        options = [("base-time", moment(self.base_time))]
        options += [
            ("sched-entry", f"{command} {mask:02x} {interval}") for command, mask, interval in self.entries
        ]
        options.append(("cycle-time", str(self.cycle_time)))
        if self.cycle_time_extension:
            options.append(("cycle-time-extension", str(self.cycle_time_extension)))
        if self.flags is not None:
            options.append(("flags", self.flags))
        if self.txtime_delay is not None:
            options.append(("txtime-delay", str(self.txtime_delay)))
        if self.flags != FLAGS[Mode.FULL]:
            options.append(("clockid", "CLOCK_TAI"))
        return options


def root(port: Port, profile: Profile, schedule: GateChange | None = None) -> Root:
    """The root of a port; ``schedule``: a gate control list that replaces the port's first one."""
    classes = len(port["classes"])
    numbers = [profile.traffic_class(own, classes) for own in port["pcp_to_class"]]
    by_class = sorted((profile.traffic_class(own, classes), own) for own in range(classes))
    # Software taprio and mqprio refuse pre-emption.
    cut = port.get("preemption") if profile.mode is Mode.FULL else None
    made = partial(
        Root,
        num_tc=classes,
        # A VLAN tag has no priority above 7. The priorities 8 to 15 use the class of untagged frames.
        map=(*numbers, *[numbers[0]] * 8),
        queues=tuple((1, profile.queue(own, classes)) for _, own in by_class),
        hardware=cut is not None,
        preemptable=tuple(not cut["express"] >> own & 1 for _, own in by_class) if cut else (),
    )
    taprio = port.get("qdisc", {}).get("taprio")
    listed = schedule or port.get("gates")
    gates: GateCycle | None = listed or taprio
    if gates is None:
        return made("mqprio")
    mode = Mode(taprio["mode"]) if taprio else profile.mode
    delay = taprio.get("txtime_delay_ns", 0) if taprio else profile.txtime_delay_ns
    letters = {"hold": "H", "release": "R", None: "S"}
    return made(
        "taprio",
        base_time=gates["base_time_ns"] + profile.epoch_ns,
        cycle_time=gates["cycle_ns"],
        cycle_time_extension=listed.get("cycle_extension_ns", 0) if listed else 0,
        entries=tuple(
            (letters[entry.get("mac")], profile.mask(entry["open"], classes), entry["interval_ns"])
            for entry in gates["entries"]
        ),
        flags=FLAGS[mode],
        txtime_delay=delay if mode is Mode.TXTIME_ASSIST else None,
        max_sdu=tuple(port["classes"][own].get("max_sdu_octets", 0) for _, own in by_class),
    )


def children(port: Port, profile: Profile) -> list[Child]:
    """The queueing discipline of each queue, by queue number."""
    classes = len(port["classes"])
    own = port.get("qdisc", {}).get("children")
    found = []
    for number, one in enumerate(port["classes"]):
        queue = profile.queue(number, classes)
        kind, options = _host_child(own[number]) if own else _child(one)
        waiting = None
        if kind == "cbs":
            waiting = _limit(own[number]) if own else one.get("limit_frames")
        counted = overhead(own[number]) if own else 0
        found.append(Child(queue, kind, options, number, waiting, counted))
    return sorted(found, key=lambda child: child.queue)


def _limit(child: ChildQdisc) -> int | None:
    return None if child["kind"] == "etf" else child["limit_frames"]


def overhead(child: ChildQdisc) -> int:
    """Octets of each frame that a host's queueing discipline counts in addition to the frame's own."""
    return child.get("overhead_octets", 0) if child["kind"] == "cbs" else 0


def _child(one: Class) -> tuple[str, Options]:
    if "cbs" in one:
        return "cbs", _slopes(one["cbs"]["linux"])
    if "limit_frames" not in one and "limit_octets" in one:
        return "bfifo", (("limit", str(one["limit_octets"])),)
    return "pfifo", (("limit", str(one.get("limit_frames", PFIFO_LIMIT))),)


def _slopes(numbers: CbsLinux | CbsChildQdisc) -> Options:
    return (
        ("idleslope", str(numbers["idleslope"])),
        ("sendslope", str(numbers["sendslope"])),
        ("hicredit", str(numbers["hicredit"])),
        ("locredit", str(numbers["locredit"])),
        ("offload", "0"),
    )


def _host_child(child: ChildQdisc) -> tuple[str, Options]:
    if child["kind"] == "etf":
        flags = (
            ("deadline_mode", child.get("deadline")),
            ("offload", child.get("offload")),
            ("skip_sock_check", child.get("skip_sock_check")),
        )
        return "etf", (
            ("clockid", "CLOCK_TAI"),
            ("delta", str(child["delta_ns"])),
            *((word, "") for word, is_set in flags if is_set),
        )
    if child["kind"] == "cbs":
        return "cbs", _slopes(child)
    return "pfifo", (("limit", str(child["limit_frames"])),)


def batch(port: Port, device: str, profile: Profile) -> list[str]:
    """All lines of one port, for a host whose clock is known."""
    return lines(root(port, profile), children(port, profile), device)


def lines(top: Root, queues: Iterable[Child], device: str, moment: Moment = str) -> list[str]:
    """The lines of the root, then of its children and the queues behind shapers; the schedule last."""
    found = [top.line(device, moment)]
    found += [qdisc.line(device) for child in queues for qdisc in child.qdiscs()]
    if top.in_software:
        # Adding a child resets taprio, and its timer stops for ever (Linux 6.12): send the schedule again.
        found.append(top.schedule_line(device, moment))
    return found


def changes(port: Port, profile: Profile) -> list[tuple[int, Root]]:
    """Later gate control lists: the time of each request in ns, and the root with the new list."""
    later = port.get("gates", {}).get("changes", [])
    return [(one["at_ns"], root(port, profile, one)) for one in later]
