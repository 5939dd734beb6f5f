"""Times of frames in the nodes that are calibrated, from the sightings of a run at both ends and between.

A *section* is the part of a stream's path between two taps that follow each other. The time of a frame in it,
less its transmission times and the cables, is its residence in the nodes between the taps. Only frames that
cannot have waited there for other frames are used: their residence is the processing of these nodes alone.
IEEE 802.3-2022, 3.2.7 and 90.7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from tsnbench.calibration.clocks import Clocks
from tsnbench.libraries import numpy as np
from tsnbench.libraries import polars as pl
from tsnbench.plan.delay import BEFORE_STAMP, cut_octets
from tsnbench.plan.sizes import INTER_FRAME_GAP
from tsnbench.plan.streams.paths import path_to
from tsnbench.plan.streams.regeneration import priorities_of

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument, Port, Stream, Tap

PS_PER_OCTET = 8 * 10**12


@dataclass(frozen=True)
class Section:
    """The frames of one stream between two taps.

    ``crossed``: how many of the calibrated nodes are between. Arrays have one entry for each frame, in the
    order of the talker's numbers.
    """

    label: str
    crossed: int
    octets: np.ndarray
    """Of the frame, destination address to FCS."""
    residence: np.ndarray
    """In all crossed nodes together, ns."""
    error_ns: float
    """Greatest error that all times of the section may share: of the stamps and of the clocks."""
    rates: tuple[int, ...]
    """Of the links into and out of the calibrated nodes, bit/s."""


@dataclass
class Left:
    """Frames and sections that are not used, with the reasons."""

    reasons: dict[str, int] = field(default_factory=dict)
    """Sentence to a number of frames."""

    def note(self, reason: str, frames: int) -> None:
        """Counts frames for a reason."""
        if frames:
            self.reasons[reason] = self.reasons.get(reason, 0) + frames


@dataclass(frozen=True)
class _Ends:
    """A section of a path: places of its first and last link in ``ports``, and their taps."""

    stream: Stream
    ports: tuple[int, ...]
    first: int
    last: int
    taps: tuple[Tap, Tap]


class Sighted:
    """The sightings of one run, by port.

    Args:
        plan: the Plan's document of the run.
        table: ``tap`` (place in the Plan's taps), ``stream`` (place in its streams), ``seq``, ``t_ns``,
            ``octets``: numbers, one row for each sighting with a stamp.
        clocks: the errors of the clocks of its stamps. software: the time of nodes with software is wanted.
    """

    def __init__(
        self, plan: PlanDocument, table: pl.DataFrame, clocks: Clocks, software: bool = False
    ) -> None:
        self.plan, self.clocks, self._software = plan, clocks, software
        self._traffic_at: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._by_tap = {
            (int(tap), int(stream)): part
            for (tap, stream), part in table.partition_by("tap", "stream", as_dict=True).items()
        }

    @cached_property
    def _taps(self) -> dict[tuple[str, int], int]:
        """Places of taps by stage and port."""
        return {(tap["stage"], tap["port"]): place for place, tap in enumerate(self.plan["taps"])}

    def sections(self, nodes: Sequence[int], left: Left) -> Iterator[Section]:
        """The sections that cross any of these nodes."""
        wanted = set(nodes)
        for number, stream in enumerate(self.plan["streams"]):
            if "redundancy" in stream:
                left.note(f"{stream['name']}, which has several paths", self._frames(number))
                continue
            for listener in range(len(stream["listeners"])):
                for ends in self._ends(stream, path_to(stream, listener)):
                    made = self._section(ends, wanted, left)
                    if made is not None:
                        yield made

    def _frames(self, stream: int) -> int:
        """The greatest number of sightings of a stream at one tap."""
        return max((len(part) for (_, own), part in self._by_tap.items() if own == stream), default=0)

    @staticmethod
    def _out(ends: _Ends) -> tuple[int, ...]:
        """The ports by which frames leave the nodes of a section."""
        return ends.ports[ends.first + 1 : ends.last + 1]

    def _ends(self, stream: Stream, ports: tuple[int, ...]) -> Iterator[_Ends]:
        """The sections of a path, in its order."""
        seen: list[tuple[int, int, int]] = []
        for place, port in enumerate(ports):
            leaving = self._taps.get(("tx", port))
            arriving = self._taps.get(("rx", self.plan["ports"][port]["peer"]))
            there = [tap for tap in (leaving, arriving) if tap is not None]
            if there:
                seen.append((place, there[0], there[-1]))
        for (first, _, begin), (last, end, _) in pairwise(seen):
            yield _Ends(stream, ports, first, last, (self.plan["taps"][begin], self.plan["taps"][end]))

    def _section(self, ends: _Ends, wanted: set[int], left: Left) -> Section | None:
        out = [self.plan["ports"][port] for port in self._out(ends)]
        if not any(port["node"] in wanted for port in out):
            return None
        where = f"{ends.stream['name']} between {ends.taps[0]['name']} and {ends.taps[1]['name']}"
        number = self.plan["streams"].index(ends.stream)
        frames = self._joined(ends, number)
        if frames is None:
            return None
        if reason := self._unfit(ends, out, wanted):
            left.note(f"{where}: {reason}", len(frames))
            return None
        octets = frames["octets"].to_numpy().astype(np.int64)
        residence = frames["end"].to_numpy() - frames["begin"].to_numpy() - self._known(ends, octets, wanted)
        alone = self._alone(ends, frames, residence)
        left.note(f"{where}: other frames were near", int((~alone).sum()))
        crossed = sum(port["node"] in wanted for port in out)
        ports = [self.plan["ports"][port] for port in ends.ports[ends.first : ends.last + 1]]
        pairs = [pair for pair in pairwise(ports) if pair[1]["node"] in wanted]
        rates = {port["rate_bps"] for pair in pairs for port in pair}
        return Section(
            where,
            crossed,
            octets[alone],
            residence[alone],
            self.clocks.error_ns(*(self.plan["nodes"][self._node(tap)]["name"] for tap in ends.taps)),
            tuple(sorted(rates)),
        )

    def _node(self, tap: Tap) -> int:
        """The node whose clock stamps at a tap."""
        return self.plan["ports"][tap["port"]]["node"]

    def _unfit(self, ends: _Ends, out: Sequence[Port], wanted: set[int]) -> str:
        """Why residence is not the processing of these nodes; empty if it is."""
        pcps = {
            hop["port"]: pcp
            for hop, pcp in zip(ends.stream["route"], priorities_of(self.plan, ends.stream), strict=True)
        }
        policed = {one["node"] for one in self.plan.get("policing", ())}
        for number, port in zip(self._out(ends), out, strict=True):
            node = self.plan["nodes"][port["node"]]
            own = port["classes"][port["pcp_to_class"][pcps[number]]]
            for applies, reason in (
                ("gates" in port, f"frames wait for gates at {port['name']}"),
                ("cbs" in own, f"a shaper delays frames at {port['name']}"),
                (
                    "server" in port or self._more(port, pcps[number]),
                    f"more than a queue is at {port['name']}",
                ),
                ("host" in node and not self._software, f"the software of {node['name']} takes time"),
                (port["node"] in policed, f"filters or schedulers are at {node['name']}"),
                (
                    port["node"] not in wanted and "further" in node,
                    f"the time of {node['name']} varies, too: name both, or put a tap between",
                ),
                (
                    number != ends.ports[ends.last] and self._shared(number, ends.stream),
                    f"others use {port['name']}, which has no tap: write taps: [{port['name']}]",
                ),
            ):
                if applies:
                    return reason
        return ""

    def _more(self, port: Port, pcp: int) -> bool:
        """Whether a queueing discipline is at a port; for software, more than a plain one."""
        if "qdisc" not in port or not self._software:
            return "qdisc" in port
        return port["qdisc"]["children"][port["pcp_to_class"][pcp]]["kind"] != "pfifo"

    def _shared(self, port: int, stream: Stream) -> bool:
        """Whether other streams leave by a port."""
        return any(
            hop["port"] == port
            for other in self.plan["streams"]
            if other is not stream
            for hop in other["route"]
        )

    def first(self, stream: int) -> pl.DataFrame | None:
        """When frames of a stream began to leave its talker: ``seq``, ``t`` (ns), ``octets``."""
        port = self.plan["streams"][stream]["route"][0]["port"]
        for end in (("tx", port), ("rx", self.plan["ports"][port]["peer"])):
            if end in self._taps:
                return self._begins(self.plan["taps"][self._taps[end]], stream)
        return None

    def _begins(self, tap: Tap, stream: int) -> pl.DataFrame | None:
        """When frames began to leave the sender at a tap's link: ``seq``, ``t`` (ns), ``octets``."""
        table = self._by_tap.get((self.plan["taps"].index(tap), stream))
        if table is None:
            return None
        link = self.plan["ports"][tap["port"]]
        link = self.plan["ports"][link["peer"]] if tap["stage"] == "rx" else link
        octet_ns = 8e9 / link["rate_bps"]
        before = BEFORE_STAMP * octet_ns + (link["propagation_ps"] / 1e3 if tap["stage"] == "rx" else 0.0)
        whole = pl.col("octets").cast(pl.Float64) * octet_ns if tap["point"] == "end" else pl.lit(0.0)
        return table.select("seq", (pl.col("t_ns") - before - whole).alias("t"), "octets")

    def _joined(self, ends: _Ends, stream: int) -> pl.DataFrame | None:
        """``seq``, ``begin`` and ``end`` (ns), ``octets`` of the frames that both taps saw once."""
        both = [self._begins(tap, stream) for tap in ends.taps]
        if both[0] is None or both[1] is None:
            return None
        once = [table.unique("seq", keep="none") for table in both if table is not None]
        return once[0].rename({"t": "begin"}).join(once[1].select("seq", end="t"), on="seq").sort("seq")

    def _known(self, ends: _Ends, octets: np.ndarray, wanted: set[int]) -> np.ndarray:
        """Transmission times, cables and the processing of other nodes, from the begin of the frame on the
        first link to its begin on the last one, in ns."""
        ports = [self.plan["ports"][port] for port in ends.ports[ends.first : ends.last + 1]]
        pcps = {
            hop["port"]: pcp
            for hop, pcp in zip(ends.stream["route"], priorities_of(self.plan, ends.stream), strict=True)
        }
        sizes, which = np.unique(octets, return_inverse=True)
        known = np.zeros(len(sizes))
        for place, (before, after) in enumerate(pairwise(ports)):
            pcp = pcps[ends.ports[ends.first + place]]
            waited = np.array([size - cut_octets(self.plan, before, after, int(size), pcp) for size in sizes])
            known += (BEFORE_STAMP + waited.astype(np.float64)) * (PS_PER_OCTET / before["rate_bps"] / 1e3)
            known += before["propagation_ps"] / 1e3
            if after["node"] not in wanted:
                known += self.plan["nodes"][after["node"]]["processing_ns"]
        every: np.ndarray = known[which]
        return every

    def _alone(self, ends: _Ends, frames: pl.DataFrame, residence: np.ndarray) -> np.ndarray:
        """Whether no other frame can have met a frame at the last port of the section.

        The decision must not depend on the frame's own residence: else frames would be chosen by it. So any
        other frame counts that left the port between the frame's earliest and its latest possible time.
        """
        port = ends.ports[ends.last]
        octet_ns = 8e9 / self.plan["ports"][port]["rate_bps"]
        gap = INTER_FRAME_GAP * octet_ns
        begins, ends_of = self._traffic(ends.taps[1], octet_ns)
        end = frames["end"].to_numpy()
        wire = (frames["octets"].to_numpy().astype(np.float64) + BEFORE_STAMP) * octet_ns
        place = np.searchsorted(begins, end, side="left")
        before = np.where(place > 0, ends_of[np.maximum(place - 1, 0)], -np.inf)
        after = np.where(place + 1 < len(begins), begins[np.minimum(place + 1, len(begins) - 1)], np.inf)
        free = before + gap + 1 < end
        if not free.any():
            return free
        least, most = residence[free].min(), residence[free].max()
        ready = end - residence
        mine: np.ndarray = (before + gap <= ready + least) & (after >= ready + most + wire + gap)
        return mine

    def _traffic(self, tap: Tap, octet_ns: float) -> tuple[np.ndarray, np.ndarray]:
        """When each frame of any stream began and ended at a tap's link, in the order of time, ns."""
        if tap["name"] in self._traffic_at:
            return self._traffic_at[tap["name"]]
        tables = [self._begins(tap, stream) for stream in range(len(self.plan["streams"]))]
        whole = pl.concat([table for table in tables if table is not None]).sort("t")
        begins = whole["t"].to_numpy()
        ends = begins + (whole["octets"].to_numpy().astype(np.float64) + BEFORE_STAMP) * octet_ns
        return self._traffic_at.setdefault(tap["name"], (begins, ends))
