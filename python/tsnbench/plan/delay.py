"""The smallest possible delay of a frame: every queue is empty, and every gate is open.

IEEE 802.3-2022, 3.2.7 and 90.7 (which point of the frame a stamp means).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from tsnbench.plan.frames import sizes
from tsnbench.plan.sizes import PREAMBLE, START_DELIMITER
from tsnbench.plan.streams.paths import path_to, paths_to
from tsnbench.plan.streams.regeneration import priorities_of

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument, Port, Stream

BEFORE_STAMP = PREAMBLE + START_DELIMITER
"""Octets before the message timestamp point."""

RELEASE = "release"
"""Instead of a point of the frame: its release to the talker's port."""


@lru_cache(maxsize=1 << 16)
def transmission_ps(octets: int, rate_bps: int) -> int:
    """The transmission time of octets at a rate, in ps, rounded up."""
    return -(-octets * 8 * 10**12 // rate_bps)


def cut_octets(document: PlanDocument, ingress: Port, egress: Port, octets: int, pcp: int) -> int:
    """The octets of a frame from port ``ingress`` that may still be missing when the frame leaves by
    ``egress``.

    The number is 0 if the node stores frames whole: without cut-through, towards a faster link, or if
    pre-emption may interrupt the arriving frame.
    FlexTest, Section V-C.
    """
    after: int | None = document["nodes"][egress["node"]].get("cut_through_octets")
    if after is None or egress["rate_bps"] > ingress["rate_bps"]:
        return 0
    if "preemption" in ingress and not ingress["preemption"]["express"] >> ingress["pcp_to_class"][pcp] & 1:
        return 0
    return max(octets - after, 0)


def stamped_points(document: PlanDocument) -> dict[str, str]:
    """The point of the frame that timestamps refer to, by the name of the tap."""
    return {tap["name"]: tap["point"] for tap in document["taps"]}


def smallest_delay_ps(
    document: PlanDocument,
    stream: Stream,
    listener: int,
    octets: int | None = None,
    points: Mapping[str, str] | None = None,
) -> int:
    """The delay of a frame without other traffic, between the stamps at both ends, in ps.

    Each link adds the frame, its preamble (except on the first link, where the stamp follows it) and the
    cable. Each node on the path adds its processing time, less the octets that cut-through does not wait for
    (:func:`cut_octets`). If the Plan's taps stamp other points of the frame, these are used.

    Args:
        document: a Plan's document.
        stream: one of its ``streams``.
        listener: place in the stream's ``listeners``.
        octets: the frame, destination address to FCS; the stream's largest one by default.
        points: :func:`stamped_points`, for callers who ask often.
    """
    if points is None:
        points = stamped_points(document)
    if octets is None:
        octets = sizes(stream["size"]).largest
    paths = paths_to(stream, listener)
    return min([_smallest(document, stream, each, octets, points) for each in paths])


def _stored(stream: Stream) -> set[int]:
    """Ports behind which frames are stored whole, because elimination needs complete frames."""
    redundancy = stream.get("redundancy", {})
    if "recovery" not in redundancy:
        return set()
    return {stream["route"][end]["port"] for merge in redundancy["merges"] for end in merge["from"]}


def _smallest(
    document: PlanDocument,
    stream: Stream,
    passed: list[tuple[int, int]],
    octets: int,
    points: Mapping[str, str],
) -> int:
    ports, nodes = document["ports"], document["nodes"]
    delay, cuts = 0, False
    for number, tag in passed:
        port = ports[number]
        node = nodes[port["node"]]
        # The first node only creates the frames, so its processing time is subtracted below.
        delay += node["processing_ns"] * 1_000 + port["propagation_ps"]
        delay += transmission_ps(BEFORE_STAMP + octets + tag, port["rate_bps"])
        cuts = cuts or "cut_through_octets" in node
    first, last = ports[passed[0][0]], ports[passed[-1][0]]
    delay -= nodes[first["node"]]["processing_ns"] * 1_000
    if cuts:
        delay -= _not_waited_for(document, stream, passed, octets)
    sent = [BEFORE_STAMP + octets + tag for _, tag in (passed[0], passed[-1])]
    return delay - _outside_stamps(first, last, sent, points)


def _outside_stamps(first: Port, last: Port, sent: Sequence[int], points: Mapping[str, str]) -> int:
    """The times that the stamps of talker and listener exclude from a delay, in ps.

    ``sent``: octets of the frame with its preamble, as the first and as the last port send it.
    """
    before_point = {"start": BEFORE_STAMP, RELEASE: 0}
    stamped = before_point.get(points.get(f"{first['name']} tx", "start"), sent[0])
    outside = transmission_ps(stamped, first["rate_bps"])
    if points.get(f"{last['name']} rx") == "start":
        outside += transmission_ps(sent[-1], last["rate_bps"])
        outside -= transmission_ps(BEFORE_STAMP, last["rate_bps"])
    return outside


class SmallestDelays:
    """The smallest delays of many streams of one Plan; the times at each port are computed once.

    Args:
        document: the Plan's document, which does not change meanwhile.
    """

    def __init__(self, document: PlanDocument) -> None:
        self._document = document
        self._takes: dict[int, _Times] = {}
        self._outside: dict[tuple[int, int, int], int] = {}
        self._found: dict[tuple[int, int, int], int] = {}

    @cached_property
    def _points(self) -> dict[str, str]:
        return stamped_points(self._document)

    def ns(self, stream: Stream, listener: int, octets: int) -> int:
        """The result of :func:`smallest_delay_ns` for a frame of this size."""
        asked = id(stream), listener, octets
        found = self._found.get(asked)
        if found is None:
            found = self._found[asked] = self._ns(stream, listener, octets)
        return found

    def _ns(self, stream: Stream, listener: int, octets: int) -> int:
        takes, passed = self._each(octets), None
        if "redundancy" not in stream:
            passed = path_to(stream, listener)
            delay = sum([takes[number] for number in passed])
        if passed is None or not takes.cut_through.isdisjoint(passed):
            return smallest_delay_ns(self._document, stream, listener, octets, self._points)
        ends = passed[0], passed[-1], octets
        if ends not in self._outside:
            self._outside[ends] = self._not_counted(*ends)
        return (delay - self._outside[ends]) // 1_000

    def within(self, stream: Stream, octets: int, limit_ns: int) -> bool:
        """Whether no smallest delay of a stream can be above a limit; needs no paths.

        If False, :meth:`ns` decides.
        """
        if "redundancy" in stream:
            return False
        takes, passed = self._each(octets), [hop["port"] for hop in stream["route"]]
        delay = sum([takes[number] for number in passed])
        return takes.cut_through.isdisjoint(passed) and delay <= limit_ns * 1_000

    def _each(self, octets: int) -> _Times:
        takes = self._takes.get(octets)
        if takes is None:
            takes = self._takes[octets] = _Times(self._document, octets)
        return takes

    def _not_counted(self, first: int, last: int, octets: int) -> int:
        """The times at both ends that are no part of a delay, in ps."""
        ports = self._document["ports"]
        processing: int = self._document["nodes"][ports[first]["node"]]["processing_ns"] * 1_000
        sent = [BEFORE_STAMP + octets] * 2
        return processing + _outside_stamps(ports[first], ports[last], sent, self._points)

    def since_release_ns(self, stream: Stream, listener: int, octets: int) -> int:
        """The smallest delay of a frame of this size, counted from its release."""
        points = since_release(self._document, stream, self._points)
        return smallest_delay_ns(self._document, stream, listener, octets, points)


class _Times(dict[int, int]):
    """What a frame of one size takes at each port, in ps; of the ports that somebody asked for."""

    def __init__(self, document: PlanDocument, octets: int) -> None:
        self._nodes, self._ports, self._octets = document["nodes"], document["ports"], octets
        self.cut_through: set[int] = set()
        """Those of these ports whose nodes forward frames before they are complete."""

    def __missing__(self, number: int) -> int:
        port = self._ports[number]
        node = self._nodes[port["node"]]
        if "cut_through_octets" in node:
            self.cut_through.add(number)
        found = node["processing_ns"] * 1_000 + port["propagation_ps"]
        found += transmission_ps(BEFORE_STAMP + self._octets, port["rate_bps"])
        self[number] = found
        return found


def _not_waited_for(
    document: PlanDocument, stream: Stream, passed: list[tuple[int, int]], octets: int
) -> int:
    """The time that cut-through saves on the path, in ps."""
    stored = _stored(stream)
    priorities = priorities_of(document, stream)
    pcps = {hop["port"]: pcp for hop, pcp in zip(stream["route"], priorities, strict=True)}
    ports = [document["ports"][number] for number, _ in passed]
    earlier = 0
    for place, (before, after) in enumerate(pairwise(ports)):
        number, tag = passed[place]
        if number in stored:
            continue
        whole = transmission_ps(BEFORE_STAMP + octets + tag, before["rate_bps"])
        cut = cut_octets(document, before, after, octets + tag, pcps[number])
        earlier += whole - transmission_ps(BEFORE_STAMP + octets + tag - cut, before["rate_bps"])
    return earlier


def since_release(document: PlanDocument, stream: Stream, points: Mapping[str, str]) -> Mapping[str, str]:
    """Points of timestamps with the release instead of the timestamp at the talker."""
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
