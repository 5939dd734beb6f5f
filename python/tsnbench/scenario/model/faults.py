"""Faults of links, nodes, talkers and gates."""

from __future__ import annotations

from tsnbench.scenario.kinds.common import SPAN, TIME
from tsnbench.scenario.kinds.values import Choice, Quantity
from tsnbench.scenario.model.gates import Gates
from tsnbench.scenario.model.names import Name, PortSelector
from tsnbench.scenario.part import Part, key
from tsnbench.scenario.units import SHARE, Duration

CHANCE = Quantity(SHARE, 0, 10**6, zero=True)


class LinkDown(Part):
    """The link of a port, both directions."""

    port: PortSelector
    at: Duration = 0
    duration: Duration | None = None


class Loss(Part):
    """Frames lost by chance, in ppm; ``to_bad``: Gilbert-Elliott, ``per_petabit``: bit errors."""

    port: PortSelector
    loss: int = 0
    to_bad: int | None = key(CHANCE, "chance per frame to go from good to bad", "1 %", default=None)
    to_good: int = key(CHANCE, "chance per frame to go from bad to good", "20 %", default=0)
    in_good: int = key(CHANCE, "share lost while good; 0 unless given", default=0)
    in_bad: int = key(CHANCE, "share lost while bad; 100 % unless given", default=1_000_000)
    per_petabit: int | None = None
    at: Duration = 0
    duration: Duration | None = None


class Babble(Part):
    """A stream's talkers periodically send one additional data unit."""

    stream: Name
    every: Duration
    at: Duration = 0
    duration: Duration | None = None


class NodeDown(Part):
    """A node is down, with its links, its waiting frames and its talkers."""

    node: Name
    at: Duration = 0
    duration: Duration | None = None


class Delay(Part):
    """A share (in ppm) of the frames arrives later, uniformly from ``least`` to ``most``."""

    port: PortSelector
    least: Duration = key(TIME, "the shortest; 0 us unless given", written="from", default=0)
    most: Duration = key(SPAN, "the longest; each in between is as likely", "100 us", written="to")
    share: int = key(CHANCE, "share of the frames that is held back; all unless given", default=1_000_000)
    keeps_order: bool = key(
        Choice({"kept": True, "broken": False}, "an order"),
        "kept (default: frames behind also wait) or broken",
        written="order",
        default=True,
    )
    at: Duration = 0
    duration: Duration | None = None


class Duplicate(Part):
    """A share (in ppm) of the frames arrives twice."""

    port: PortSelector
    share: int
    after: Duration
    at: Duration = 0
    duration: Duration | None = None


class WrongSchedule(Part):
    """Ports use another list, their own one shifted, or (neither) none."""

    port: PortSelector
    gates: Gates | None = None
    shift: int | None = None
    at: Duration = 0
    duration: Duration | None = None


Fault = LinkDown | Loss | Babble | NodeDown | Delay | Duplicate | WrongSchedule
