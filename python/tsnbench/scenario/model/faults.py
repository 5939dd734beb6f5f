"""Faults of links, nodes, talkers and gates.

Values that have the names of the Plan become the Plan's fault of the same name as they are.
"""

from __future__ import annotations

from tsnbench.scenario.kinds.common import RUN_SPAN, RUN_TIME, SELECTOR, SPAN, STREAM, TIME
from tsnbench.scenario.kinds.values import Choice, Quantity
from tsnbench.scenario.model.gates import Gates
from tsnbench.scenario.model.names import Name, PortSelector
from tsnbench.scenario.part import Part, key
from tsnbench.scenario.units import SHARE, Duration

CHANCE = Quantity(SHARE, 0, 10**6, zero=True)


class Lasting(Part):
    """A fault with its time span; without an end it lasts until the end of the run."""

    at: Duration = key(RUN_TIME, "when it begins; 0 us by default", default=0)
    duration: Duration | None = key(RUN_SPAN, "how long; to the end by default", written="for", default=None)


class OfPort(Lasting):
    """A fault of the frames or of the gates of a port."""

    port: PortSelector = key(
        SELECTOR, "the port whose frames (or gates) have the fault: sw1 -> sw2", "sw1 -> sw2", written="on"
    )


class LinkDown(Lasting):
    """The link of a port, both directions."""

    port: PortSelector


class Loss(OfPort):
    """Frames lost by chance, in ppm; ``to_bad``: Gilbert-Elliott, ``per_petabit``: bit errors."""

    loss: int = 0
    to_bad: int | None = key(CHANCE, "chance per frame to go from good to bad", "1 %", default=None)
    to_good: int = key(CHANCE, "chance per frame to go from bad to good", "20 %", default=0)
    in_good: int = key(CHANCE, "share lost while good; 0 by default", default=0)
    in_bad: int = key(CHANCE, "share lost while bad; 100 % by default", default=1_000_000)
    per_petabit: int | None = None


class Babble(Lasting):
    """A stream's talkers periodically send one additional data unit."""

    stream: Name = key(STREAM, "a stream whose talkers send more than its pattern says", written="babble")
    every_ns: Duration = key(SPAN, "between the data units that babbling adds", "10 us", written="every")


class NodeDown(Lasting):
    """A node is down, with its links, its waiting frames and its talkers."""

    node: Name


class Delay(OfPort):
    """A share of the frames arrives later, uniformly from ``least_ns`` to ``most_ns``."""

    least_ns: Duration = key(TIME, "the shortest; 0 us by default", written="from", default=0, sample="10 us")
    most_ns: Duration = key(SPAN, "the longest; each in between is as likely", "100 us", written="to")
    share_ppm: int = key(
        CHANCE, "share of the frames that is held back; all by default", written="share", default=1_000_000
    )
    keeps_order: bool = key(
        Choice({"kept": True, "broken": False}, "an order"),
        "kept (default: frames behind also wait) or broken",
        written="order",
        default=True,
    )


class Duplicate(OfPort):
    """A share of the frames arrives twice."""

    share_ppm: int = key(CHANCE, "share of the frames that arrives twice: 1 %", written="duplicate")
    after_ns: Duration = key(
        TIME,
        "how long after the first one the second one arrives; 10 us by default",
        written="after",
        default=10_000,
    )


class WrongSchedule(OfPort):
    """Ports use another list, their own one shifted, or (neither) none."""

    gates: Gates | None = None
    shift: int | None = None


Fault = LinkDown | Loss | Babble | NodeDown | Delay | Duplicate | WrongSchedule

KINDS: dict[str, type[Babble | Duplicate]] = {"babble": Babble, "duplicate": Duplicate}
"""Kinds whose values are one key each, by the key that names the kind. Each other kind has a function in
:mod:`tsnbench.scenario.build.faults`."""
