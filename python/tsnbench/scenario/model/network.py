"""Nodes, links and queues of a network, generators already expanded."""

from __future__ import annotations

import re
from typing import Literal

from tsnbench.scenario.kinds.by_pcp import CLASSES, LARGEST_SDU, LONGEST_WAIT
from tsnbench.scenario.kinds.combinators import record_of
from tsnbench.scenario.kinds.values import Count, Parsed, Quantity
from tsnbench.scenario.model.devices import Device, ProcessingJitter
from tsnbench.scenario.model.names import Name
from tsnbench.scenario.part import Part, key
from tsnbench.scenario.units import SIZE, BitRate, Duration, Length, Size


def _thousandths(text: str) -> int:
    found = re.fullmatch(r"([0-9]{1,6})(?:\.([0-9]{1,3}))?(?:/([0-9]{1,6}))?", text)
    whole, decimals, divisor = found.groups() if found else ("0", None, None)
    thousandths = int(whole + (decimals or "").ljust(3, "0"))
    below = int(divisor or 1)
    if not thousandths or not below or thousandths % below or thousandths // below > 1_000_000:
        raise ValueError("it is kept in thousandths")
    return thousandths // below


class Buffer(Part):
    """Memory that the ports of a node share; ``alpha`` in thousandths."""

    size: Size = key(Quantity(SIZE, 64, 1 << 40), "memory of all ports together", "512 KiB")
    alpha: int | None = key(
        Parsed("a factor such as 1, 0.5 or 1/4", number=True, parse=_thousandths),
        "each class holds at most so much of what is free",
        range="0.001 to 1000",
        default=None,
    )


class Node(Part):
    """A node; ``processing`` is the time from a frame's last bit in to its place in the egress queue.

    Under cut-through it counts from the octet that decides.
    """

    kind: Literal["station", "bridge", "host"]
    processing: Duration = 0
    cut_through: Size | None = None
    """Longer frames are forwarded after this number of octets; None: every frame is stored whole."""
    processing_jitter: ProcessingJitter | None = None
    """The processing time beyond ``processing``, if it differs from frame to frame."""
    buffer: Buffer | None = None
    learning: Duration | None = None
    """The ageing time of addresses in a learning bridge; None: it knows every address from the begin."""
    device: Device | None = None


class Link(Part):
    """A full-duplex link. ``rate`` and ``cable`` are for both directions; ``back_…``, if given, for b -> a.

    Cables are in mm; :func:`tsnbench.scenario.units.propagation_ps` says how long a signal takes.
    """

    a: Name
    b: Name
    rate: BitRate
    cable: Length = 0
    back_rate: BitRate | None = None
    back_cable: Length | None = None


class Queues(Part):
    """The queues of a port's traffic classes: ``classes`` maps PCP to class; limits are per class."""

    classes: dict[int, int] | None = key(
        CLASSES,
        "PCP to traffic class, higher classes first: {6: 3, 5: 2, 0: 0} or 802.1Q/4",
        default=None,
        sample="{6: 3, 5: 2, 0: 0}",
        clause="IEEE 802.1Q-2022, 8.6.6",
    )
    limit_frames: int | None = key(
        Count(1, 1 << 24, "a number of frames"),
        "most frames that wait in one class",
        default=1000,
        clause="IEEE 802.1Q-2022, 8.6.7",
    )
    max_sdu: tuple[tuple[int, Size], ...] | None = key(
        LARGEST_SDU,
        "queueMaxSDU: largest service data unit of a frame; larger ones are dropped: {6: 200 B}",
        default=None,
        clause="IEEE 802.1Q-2022, 8.6.8.4",
    )
    """(PCP, largest service data unit); PCPs that are not named have no limit."""
    limit_octets: Size | None = key(
        Quantity(SIZE, 1, 1 << 40),
        "most octets that wait in one class",
        default=None,
        clause="IEEE 802.1Q-2022, 8.6.7",
    )
    longest_wait: tuple[tuple[int, Duration], ...] | None = key(
        LONGEST_WAIT,
        "longest time in the queue; a frame that has not begun to leave by then is dropped: {6: 1 ms}",
        clause="IEEE 802.1Q-2022, 6.5.6",
        since="0.1",
        default=None,
    )
    """(PCP, longest time); frames of PCPs that are not named wait for as long as necessary."""

    transmit_buffer: int = key(
        Count(1, 1000, "a number of frames"),
        "frames of the transmit buffer, with the one in transmission; 1 by default",
        default=1,
    )


QUEUES = record_of(
    Queues,
    "queue settings",
    example="{classes: {6: 1, 0: 0}}",
    common_mistakes={
        **dict.fromkeys(
            ("map", "prio-map", "mapping", "num-tc", "number", "count", "traffic-classes", *"01234567"),
            "write classes: {6: 1, 0: 0}, the traffic class of each PCP",
        ),
        **dict.fromkeys(
            ("lifetime", "max-age", "transit-delay", "longest-time"), "did you mean longest-wait?"
        ),
        **dict.fromkeys(("fifo", "tx-buffer", "tx-fifo", "ring"), "did you mean transmit-buffer?"),
    },
)


class Network(Part):
    """All nodes and links, generators already expanded."""

    nodes: dict[Name, Node]
    links: tuple[Link, ...]
    queues: Queues = Queues()
