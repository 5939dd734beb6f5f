"""The smallest delay that a frame can have on its way: every queue empty, every gate open.

IEEE 802.3-2022, 3.2.7 and 90.7 (which point of the frame a stamp means).
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from tsnbench.plan.frames import sizes
from tsnbench.plan.paths import paths_to
from tsnbench.plan.regeneration import priorities_of
from tsnbench.scenario.sizes import PREAMBLE, START_DELIMITER

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument, Port, Stream

BEFORE_STAMP = PREAMBLE + START_DELIMITER
"""Octets before the message timestamp point."""

RELEASE = "release"
"""In place of a point of the frame: when it is handed over to its talker's port."""


@lru_cache(maxsize=1 << 16)
def transmission_ps(octets: int, rate_bps: int) -> int:
    """How long octets take at a rate, in ps, rounded up."""
    return -(-octets * 8 * 10**12 // rate_bps)


def cut_octets(document: PlanDocument, ingress: Port, egress: Port, octets: int, pcp: int) -> int:
    """How much of a frame that comes from port ``ingress`` need not be in when it leaves through ``egress``.

    Nothing where the node stores frames whole: without cut-through, towards a faster link, which would run
    dry, and where the frame may be interrupted on its way in.
    FlexTest, Section V-C.
    """
    after: int | None = document["nodes"][egress["node"]].get("cut_through_octets")
    if after is None or egress["rate_bps"] > ingress["rate_bps"]:
        return 0
    if "preemption" in ingress and not ingress["preemption"]["express"] >> ingress["pcp_to_class"][pcp] & 1:
        return 0
    return max(octets - after, 0)


def stamped_points(document: PlanDocument) -> dict[str, str]:
    """Tap name to the point of the frame that it stamps."""
    return {tap["name"]: tap["point"] for tap in document["taps"]}


def smallest_delay_ps(
    document: PlanDocument,
    stream: Stream,
    listener: int,
    octets: int | None = None,
    points: Mapping[str, str] | None = None,
) -> int:
    """Delay of a lone frame between the stamps at both ends, in ps.

    Per link: the frame, its preamble on every link but the first (the stamp at the talker is behind it), and
    the cable; per node on the way: its processing, less what cut-through does not wait for
    (:func:`cut_octets`). Where the Plan's taps stamp other points, these count.

    Args:
        document: a Plan's document.
        stream: one of its ``streams``.
        listener: place in the stream's ``listeners``.
        octets: the frame, destination address to FCS; the stream's largest one unless given.
        points: :func:`stamped_points`, for callers who ask often.
    """
    if points is None:
        points = stamped_points(document)
    if octets is None:
        octets = sizes(stream["size"]).largest
    priorities = priorities_of(document, stream)
    pcps = {hop["port"]: pcp for hop, pcp in zip(stream["route"], priorities, strict=True)}
    stored = _stored(stream)
    return min(_smallest(document, each, octets, pcps, points, stored) for each in paths_to(stream, listener))


def _stored(stream: Stream) -> set[int]:
    """Ports behind which frames are stored whole: who eliminates copies has to know that one is."""
    redundancy = stream.get("redundancy", {})
    if "recovery" not in redundancy:
        return set()
    return {stream["route"][end]["port"] for merge in redundancy["merges"] for end in merge["from"]}


def _smallest(
    document: PlanDocument,
    passed: list[tuple[int, int]],
    octets: int,
    pcps: Mapping[int, int],
    points: Mapping[str, str],
    stored: Set[int],
) -> int:
    ports = [document["ports"][number] for number, _ in passed]
    sent = [BEFORE_STAMP + octets + tag for _, tag in passed]
    first, last = ports[0], ports[-1]
    delay: int = sum(port["propagation_ps"] for port in ports)
    delay += sum(transmission_ps(size, port["rate_bps"]) for size, port in zip(sent, ports, strict=True))
    delay += sum(document["nodes"][port["node"]]["processing_ns"] * 1_000 for port in ports[1:])
    for place, (before, after) in enumerate(pairwise(ports)):
        number, tag = passed[place]
        if number in stored:
            continue
        whole = transmission_ps(BEFORE_STAMP + octets + tag, before["rate_bps"])
        in_time = (
            BEFORE_STAMP + octets + tag - cut_octets(document, before, after, octets + tag, pcps[number])
        )
        delay -= whole - transmission_ps(in_time, before["rate_bps"])
    before_point = {"start": BEFORE_STAMP, RELEASE: 0}
    stamped = before_point.get(points.get(f"{first['name']} tx", "start"), sent[0])
    delay -= transmission_ps(stamped, first["rate_bps"])
    if points.get(f"{last['name']} rx") == "start":
        delay -= transmission_ps(sent[-1], last["rate_bps"])
        delay += transmission_ps(BEFORE_STAMP, last["rate_bps"])
    return delay


def since_release(document: PlanDocument, stream: Stream, points: Mapping[str, str]) -> Mapping[str, str]:
    """Points of stamps with the release in place of the stamp at the talker."""
    ports = [document["ports"][hop["port"]]["name"] for hop in stream["route"] if "parent" not in hop]
    return {**points, **{f"{name} tx": RELEASE for name in ports}}


def smallest_delay_ns(
    document: PlanDocument,
    stream: Stream,
    listener: int,
    octets: int | None = None,
    points: Mapping[str, str] | None = None,
) -> int:
    """The smallest delay in whole ns, rounded down: no measured delay may be below it."""
    return smallest_delay_ps(document, stream, listener, octets, points) // 1_000
