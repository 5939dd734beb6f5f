"""Queueing disciplines of one port as lines of ``tc -batch``: a root, and a child per queue.

tc-mqprio(8), tc-taprio(8), tc-cbs(8), tc-etf(8).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tsnbench.linux.profile import Mode, Profile

HANDLE = 100
"""Of the root; the child of queue q is at 100:(q + 1)."""
PFIFO_LIMIT = 1000
"""Frames, where the Plan names no limit: the kernel's default txqueuelen."""
FLAGS = {Mode.SOFTWARE: None, Mode.TXTIME_ASSIST: "0x1", Mode.FULL: "0x2"}


@dataclass(frozen=True)
class Child:
    """The queueing discipline of one queue."""

    queue: int
    kind: str
    options: tuple[tuple[str, str], ...]
    traffic_class: int
    """Of the Plan."""

    @property
    def parent(self) -> str:
        return f"{HANDLE}:{self.queue + 1:x}"

    def line(self, device: str) -> str:
        words = " ".join(f"{name} {value}".rstrip() for name, value in self.options)
        return f"qdisc replace dev {device} parent {self.parent} {self.kind} {words}".rstrip()


@dataclass(frozen=True)
class Root:
    """The root: ``mqprio``, or ``taprio`` with its schedule."""

    kind: str
    num_tc: int
    map: tuple[int, ...]
    """Priority of a socket buffer (0 to 15) to the kernel's traffic class."""
    queues: tuple[tuple[int, int], ...]
    """Count and offset per traffic class of the kernel."""
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
    """Whether mqprio asks the driver for its mapping."""

    def line(self, device: str) -> str:
        """Everything on one line, as a batch file needs it."""
        words = [f"qdisc replace dev {device} parent root handle {HANDLE}: {self.kind} num_tc {self.num_tc}"]
        words.append("map " + " ".join(map(str, self.map)))
        words.append("queues " + " ".join(f"{count}@{offset}" for count, offset in self.queues))
        if any(self.max_sdu):
            words.append("max-sdu " + " ".join(map(str, self.max_sdu)))
        if any(self.preemptable):
            words.append("fp " + " ".join("P" if one else "E" for one in self.preemptable))
        if self.kind == "mqprio":
            return " ".join([*words, f"hw {int(self.hardware)}"])
        words.append(f"base-time {self.base_time}")
        words += [f"sched-entry {command} {mask:02x} {interval}" for command, mask, interval in self.entries]
        words.append(f"cycle-time {self.cycle_time}")
        if self.cycle_time_extension:
            words.append(f"cycle-time-extension {self.cycle_time_extension}")
        if self.flags is not None:
            words.append(f"flags {self.flags}")
        if self.txtime_delay is not None:
            words.append(f"txtime-delay {self.txtime_delay}")
        if self.flags != FLAGS[Mode.FULL]:
            words.append("clockid CLOCK_TAI")
        return " ".join(words)


def root(port: dict[str, Any], profile: Profile, schedule: dict[str, Any] | None = None) -> Root:
    """The root of a port; ``schedule``: a gate control list in place of the port's first one."""
    classes = len(port["classes"])
    numbers = [profile.traffic_class(own, classes) for own in port["pcp_to_class"]]
    by_class = sorted((profile.traffic_class(own, classes), own) for own in range(classes))
    common: dict[str, Any] = {
        "num_tc": classes,
        # Priorities above 7 come from no VLAN tag; they go where untagged frames go.
        "map": (*numbers, *[numbers[0]] * 8),
        "queues": tuple((1, profile.queue(own, classes)) for _, own in by_class),
    }
    if "preemption" in port and profile.mode is Mode.FULL:
        # In software both refuse it.
        common["hardware"] = True
        common["preemptable"] = tuple(not port["preemption"]["express"] >> own & 1 for _, own in by_class)
    taprio = port.get("qdisc", {}).get("taprio")
    gates = schedule or port.get("gates") or taprio
    if gates is None:
        return Root(kind="mqprio", **common)
    mode = Mode(taprio["mode"]) if taprio else profile.mode
    delay = taprio.get("txtime_delay_ns", 0) if taprio else profile.txtime_delay_ns
    letters = {"hold": "H", "release": "R", None: "S"}
    return Root(
        kind="taprio",
        base_time=gates["base_time_ns"] + profile.epoch_ns,
        cycle_time=gates["cycle_ns"],
        cycle_time_extension=gates.get("cycle_extension_ns", 0),
        entries=tuple(
            (letters[entry.get("mac")], profile.mask(entry["open"], classes), entry["interval_ns"])
            for entry in gates["entries"]
        ),
        flags=FLAGS[mode],
        txtime_delay=delay if mode is Mode.TXTIME_ASSIST else None,
        max_sdu=tuple(port["classes"][own].get("max_sdu_octets", 0) for _, own in by_class),
        **common,
    )


def children(port: dict[str, Any], profile: Profile) -> list[Child]:
    """What waits in each queue, by queue."""
    classes = len(port["classes"])
    own = port.get("qdisc", {}).get("children")
    found = []
    for number, one in enumerate(port["classes"]):
        queue = profile.queue(number, classes)
        kind, options = _host_child(own[number]) if own else _child(one)
        found.append(Child(queue, kind, options, number))
    return sorted(found, key=lambda child: child.queue)


def _child(one: dict[str, Any]) -> tuple[str, tuple[tuple[str, str], ...]]:
    if "cbs" in one:
        return "cbs", _slopes(one["cbs"]["linux"])
    if "limit_frames" not in one and "limit_octets" in one:
        return "bfifo", (("limit", str(one["limit_octets"])),)
    return "pfifo", (("limit", str(one.get("limit_frames", PFIFO_LIMIT))),)


def _slopes(numbers: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    names = ("idleslope", "sendslope", "hicredit", "locredit")
    return (*((name, str(numbers[name])) for name in names), ("offload", "0"))


def _host_child(child: dict[str, Any]) -> tuple[str, tuple[tuple[str, str], ...]]:
    if child["kind"] == "etf":
        flags = [
            ("deadline_mode", "deadline"),
            ("offload", "offload"),
            ("skip_sock_check", "skip_sock_check"),
        ]
        return "etf", (
            ("clockid", "CLOCK_TAI"),
            ("delta", str(child["delta_ns"])),
            *((word, "") for word, name in flags if child.get(name)),
        )
    if child["kind"] == "cbs":
        return "cbs", _slopes(child)
    return "pfifo", (("limit", str(child["limit_frames"])),)


def batch(port: dict[str, Any], device: str, profile: Profile) -> list[str]:
    """All lines of one port: the root, then the children with the queues behind shapers; gates last."""
    top = root(port, profile)
    lines = [top.line(device)]
    own = port.get("qdisc", {}).get("children")
    for child in children(port, profile):
        lines.append(child.line(device))
        if child.kind != "cbs":
            continue
        limits = own[child.traffic_class] if own else port["classes"][child.traffic_class]
        if "limit_frames" in limits:
            # cbs waits in a pfifo of its own, whose limit is the device's txqueuelen unless it is replaced.
            handle = f"{HANDLE + child.queue + 1}:"
            at = lines[-1].index(" cbs ")
            lines[-1] = f"{lines[-1][:at]} handle {handle}{lines[-1][at:]}"
            lines.append(f"qdisc replace dev {device} parent {handle}1 pfifo limit {limits['limit_frames']}")
    if top.kind == "taprio" and top.flags is FLAGS[Mode.SOFTWARE]:
        # A qdisc that is put below resets it, and its timer stops for ever (Linux 6.12): tell it again.
        schedule = lines[0][lines[0].index("base-time ") :]
        lines.append(f"qdisc change dev {device} root handle {HANDLE}: taprio {schedule}")
    return lines


def changes(port: dict[str, Any], device: str, profile: Profile) -> list[tuple[int, str]]:
    """Later gate control lists: when each is asked for, ns, and the line that asks for it."""
    later = port.get("gates", {}).get("changes", [])
    return [(one["at_ns"], root(port, profile, one).line(device)) for one in later]
