"""Queues that grow without end: in the long term, more arrives for a traffic class than it can send.

A delay is counted from the talker's send timestamp, so it leaves out the wait in the talker's own queue;
and a short run is over before a queue has grown. Both judges of a tuning question ask here first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from tsnbench import quantities
from tsnbench.plan.gates import gate_lists, open_ns
from tsnbench.plan.load import ClassLoad, class_loads, passed
from tsnbench.plan.streams.regeneration import priorities_of
from tsnbench.plan.types import PlanDocument, Port, Stream


@dataclass(frozen=True)
class Overload:
    """A queue that grows without end, on the path of a stream with a requirement."""

    stream: str
    port: str
    traffic_class: int
    load_bps: Fraction
    """What arrives for the queue, in PHY bit/s."""
    sent_bps: Fraction
    """The most that can be sent of it in the long term."""

    def __str__(self) -> str:
        load, sent = quantities.rate(self.load_bps), quantities.rate(self.sent_bps)
        return (
            f"{self.stream}: the queue of class {self.traffic_class} at {self.port} grows without end: "
            f"load of {load}, {sent} can be sent"
        )


def overloads(document: PlanDocument) -> Iterator[Overload]:
    """The first queue that grows without end on the path of each stream with a requirement.

    Where nodes filter or police, only what enters the network is known: hops behind the talker are left out.
    """
    growing = _growing(document)
    if not growing:
        return
    for stream in document["streams"]:
        if not stream.get("requirements"):
            continue
        for place, number in _queues(document, stream):
            if (place, number) in growing:
                load, sent = growing[place, number]
                yield Overload(stream["name"], document["ports"][place]["name"], number, load, sent)
                break


def _queues(document: PlanDocument, stream: Stream) -> Iterator[tuple[int, int]]:
    """Port and class of every queue of a stream."""
    pcps = priorities_of(document, stream)
    for hop, pcp in zip(stream["route"], pcps, strict=True):
        if "policing" in document and "parent" in hop:
            continue
        yield hop["port"], document["ports"][hop["port"]]["pcp_to_class"][pcp]


def _growing(document: PlanDocument) -> dict[tuple[int, int], tuple[Fraction, Fraction]]:
    """The load and the greatest rate of each class to which more arrives than it can send."""
    return {
        (place, number): (load.rate_bps, sent)
        for place, (port, loads) in enumerate(zip(document["ports"], class_loads(document), strict=True))
        for number, load in enumerate(loads)
        if load.flows and load.rate_bps > (sent := _sent(port, loads, number))
    }


def _sent(port: Port, loads: list[ClassLoad], number: int) -> Fraction:
    """The greatest rate of a class in the long term.

    Strict priority leaves it what higher classes do not send; a gate its share of the cycle; a credit-based
    shaper its idle slope, in the time in which the gate is open. IEEE 802.1Q-2022, 8.6.8.
    """
    above = sum((_certain(port, loads, higher) for higher in range(number + 1, len(loads))), Fraction(0))
    return min(max(Fraction(0), port["rate_bps"] - above), _limit(port, number))


def _certain(port: Port, loads: list[ClassLoad], number: int) -> Fraction:
    """The rate that a class certainly sends, if the classes above it leave the time."""
    return min(loads[number].rate_bps, _limit(port, number))


def _limit(port: Port, number: int) -> Fraction:
    cbs = port["classes"][number].get("cbs")
    rate = port["rate_bps"]
    slope = Fraction(rate) if cbs is None else min(passed(cbs, rate), Fraction(rate))
    return slope * _open(port, number)


def _open(port: Port, number: int) -> Fraction:
    """The share of time in which a class may send, in the port's list with the greatest share."""
    lists = gate_lists(port["gates"]) if "gates" in port else []
    return max((Fraction(open_ns(one, number), one["cycle_ns"]) for one in lists), default=Fraction(1))
