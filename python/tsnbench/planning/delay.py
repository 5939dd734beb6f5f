"""The smallest delay that a frame can have on its way: every queue empty, every gate open.

IEEE 802.3-2022, 3.2.7 and 90.7 (which point of the frame a stamp means).
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from itertools import pairwise
from typing import Any

from tsnbench.planning.priorities import priorities_of
from tsnbench.planning.redundancy import tag_octets
from tsnbench.planning.sizes import sizes
from tsnbench.scenario.sizes import PREAMBLE, START_DELIMITER

BEFORE_STAMP = PREAMBLE + START_DELIMITER
"""Octets before the message timestamp point."""

RELEASE = "release"
"""In place of a point of the frame: when it is handed over to its talker's port."""
Document = Mapping[str, Any]


def transmission_ps(octets: int, rate_bps: int) -> int:
    """How long octets take at a rate, in ps, rounded up."""
    return -(-octets * 8 * 10**12 // rate_bps)


def way(stream: Document, listener: int) -> tuple[int, ...]:
    """The ports from the talker to the listener with this place in the stream's ``listeners``."""
    ports: list[int] = []
    place: int | None = stream["listeners"][listener]["route"]
    while place is not None:
        hop = stream["route"][place]
        ports.append(hop["port"])
        place = hop.get("parent")
    return tuple(reversed(ports))


def ways(stream: Document, listener: int) -> list[list[tuple[int, int]]]:
    """Every way to the listener: (port, octets that an R-TAG adds there)."""
    return ways_to(stream, stream["listeners"][listener]["route"])


def ways_to(stream: Document, place: int) -> list[list[tuple[int, int]]]:
    """Every way that ends with this entry of the stream's ``route``."""
    merges = [merge["from"] for merge in stream.get("redundancy", {}).get("merges", ())]

    def back(place: int | None, passed: frozenset[int]) -> list[list[tuple[int, int]]]:
        if place is None:
            return [[]]
        together = next((ends for ends in merges if place in ends), [place])
        found: list[list[tuple[int, int]]] = []
        # Ways that meet can go in a circle: nothing that goes around comes first.
        for end in together if not passed & set(together) else ():
            hop = stream["route"][end]
            here = (hop["port"], tag_octets(stream, end))
            found += [[*before, here] for before in back(hop.get("parent"), passed | set(together))]
        return found

    return back(place, frozenset())


def cut_octets(document: Document, ingress: Document, egress: Document, octets: int, pcp: int) -> int:
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


def stamped_points(document: Document) -> dict[str, str]:
    """Tap name to the point of the frame that it stamps."""
    return {tap["name"]: tap["point"] for tap in document["taps"]}


def smallest_delay_ps(
    document: Document,
    stream: Document,
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
    return min(_smallest(document, each, octets, pcps, points, stored) for each in ways(stream, listener))


def _stored(stream: Document) -> set[int]:
    """Ports behind which frames are stored whole: who eliminates copies has to know that one is."""
    redundancy = stream.get("redundancy", {})
    if "recovery" not in redundancy:
        return set()
    return {stream["route"][end]["port"] for merge in redundancy["merges"] for end in merge["from"]}


def _smallest(
    document: Document,
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
    if points.get(f"{last['name']} rx", "end") == "start":
        delay -= transmission_ps(sent[-1], last["rate_bps"])
        delay += transmission_ps(BEFORE_STAMP, last["rate_bps"])
    return delay


def since_release(document: Document, stream: Document, points: Mapping[str, str]) -> Mapping[str, str]:
    """Points of stamps with the release in place of the stamp at the talker."""
    ports = [document["ports"][hop["port"]]["name"] for hop in stream["route"] if "parent" not in hop]
    return {**points, **{f"{name} tx": RELEASE for name in ports}}


def smallest_delay_ns(
    document: Document,
    stream: Document,
    listener: int,
    octets: int | None = None,
    points: Mapping[str, str] | None = None,
) -> int:
    """The same in whole ns, rounded down: no measured delay may be below it."""
    return smallest_delay_ps(document, stream, listener, octets, points) // 1_000
