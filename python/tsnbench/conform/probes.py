"""Probes of all priorities through a port with gates: in which windows the frames of each PCP leave.

Frames are released at random times, so that a port without gates lets them leave at all times of the cycle.
With gates, none leaves in the times in which the gate of its class is closed. Where the cycle begins on the
clock of the capture is not known: the shift with which most frames fit their windows is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.libraries import numpy as np
from tsnbench.plan.document import Plan
from tsnbench.plan.gates import open_spans
from tsnbench.planning import plan as make_plan
from tsnbench.quantities import exact, share
from tsnbench.scenario.loader import read_scenario

if TYPE_CHECKING:
    from tsnbench.discover.running import Shaping
    from tsnbench.plan.gates import Span

OCTETS, VID = 100, 1
NEAREST = "01:80:c2:00:00:0e"
"""A group address that no bridge forwards. IEEE 802.1Q-2022, 8.6.3."""
A_CYCLE = 4
"""Mean number of frames of each PCP in one cycle."""
CYCLES, LEAST_NS, MOST_NS = 200, 1_000_000_000, 10_000_000_000
MOST_LOAD = 0.1
"""Of the link, all PCPs together."""
SHIFTS, FINER = 400, 40
LEAST_FRAMES = 50
OUTSIDE = 0.25
"""The share of frames outside of the windows that still counts as obeying, in shares that a port without
gates would have there."""
PCPS = 8


def plan_of(shaping: Shaping, rate_bps: int, source: str) -> Plan:
    """What the talker sends: random frames of each PCP, for at least 200 cycles and 1 s.

    Args:
        shaping: of the port.
        rate_bps: of its link.
        source: the address of the port.
    """
    frame_ns = (OCTETS + 20) * 8e9 / rate_bps
    gap = round(max(shaping.cycle_ns / A_CYCLE, PCPS * frame_ns / MOST_LOAD))
    lasts = min(max(CYCLES * shaping.cycle_ns, LEAST_NS), MOST_NS)
    streams = "\n".join(
        f"  pcp-{pcp}: {{from: talker, to: listener, pcp: {pcp}, vlan: {VID}, frame: {OCTETS} B, "
        f"poisson: {round((OCTETS * 8e9) / gap)} bit/s}}"
        for pcp in range(PCPS)
    )
    text = (
        f"name: probes\nduration: {lasts} ns\nnetwork:\n  stations: [talker, listener]\n"
        f"  links: {{rate: {rate_bps} bit/s, cable: 1 m, between: [talker -- listener]}}\n"
        f"streams:\n{streams}\n"
    )
    (read,) = read_scenario(text, "probes")
    document = make_plan(read).document
    ports = [port | {"mac": source} if port["node"] == 0 else port for port in document["ports"]]
    sent = [stream | {"destination_mac": NEAREST} for stream in document["streams"]]
    return Plan(document | {"ports": ports, "streams": sent, "drain_ns": 0})


@dataclass(frozen=True)
class OfPcp:
    """The frames of one PCP."""

    pcp: int
    own: int
    """The class of the priority, by the kernel's map."""
    frames: int
    outside: float
    """Share outside of the windows of this class."""
    closed: float
    """Share of the cycle in which its gate is closed."""
    like: int | None = None
    """Another class, in whose windows they left."""

    @property
    def obeys(self) -> bool:
        return self.outside <= OUTSIDE * self.closed


@dataclass(frozen=True)
class Answer:
    """What all probes showed."""

    pcps: Sequence[OfPcp]
    """Those whose gate opens and closes."""
    spread_ns: float = 0.0
    """How far apart the first frames in windows are, counted from the opening, in three of four windows: in
    others, no frame waited."""

    @property
    def active(self) -> bool | None:
        """Whether frames obey the list; None: too few frames came."""
        if not self.pcps or all(one.frames < LEAST_FRAMES for one in self.pcps):
            return None
        return all(one.obeys for one in self.pcps if one.frames >= LEAST_FRAMES)

    def sentences(self) -> Iterator[str]:
        """What is wrong, or how good it is."""
        missing = [one for one in self.pcps if one.frames < LEAST_FRAMES]
        for one in missing:
            yield f"only {one.frames} frames of PCP {one.pcp} arrived"
        wrong = [one for one in self.pcps if not one.obeys and one not in missing]
        for one in wrong:
            if one.like is not None:
                words = f"leave in the windows of class {one.like}, and the map sends them to class {one.own}"
            else:
                words = (
                    f"leave at all times: {share(one.outside)} while the gate of class {one.own} is closed"
                )
            yield f"frames of PCP {one.pcp} {words}"
        if not wrong and self.pcps:
            least = min(one.frames for one in self.pcps)
            worst = max(self.pcps, key=lambda one: one.outside)
            yield (
                f"of {least} or more probes of each PCP at most {share(worst.outside)} left at a closed gate "
                f"(without gates {share(worst.closed)}), edges within {exact(round(self.spread_ns))}"
            )


def answer(times: Mapping[int, np.ndarray], shaping: Shaping, late_ns: int) -> Answer:
    """Whether frames left in the windows of their classes.

    Args:
        times: by PCP, when its frames arrived, in ns, ascending.
        shaping: of the port, with its list.
        late_ns: frames may leave so much later than their gate closes: the error of stamps and of gates.
    """
    cycle = shaping.cycle_ns
    windows = {
        own: spans
        for own in sorted(set(shaping.class_of))
        if (spans := open_spans(shaping.entries, own)) is not None
    }
    pcps = [pcp for pcp in range(PCPS) if shaping.class_of[pcp] in windows and len(times.get(pcp, ()))]
    if not pcps:
        return Answer([])
    phases = {pcp: times[pcp] % cycle for pcp in pcps}
    shift = _shift(phases, shaping, windows, late_ns)
    found = [_of_pcp(pcp, (phases[pcp] - shift) % cycle, shaping, windows, late_ns) for pcp in pcps]
    good = [one.pcp for one in found if one.obeys]
    spread = max(
        (_spread(times[pcp], shift, windows[shaping.class_of[pcp]], cycle) for pcp in good), default=0.0
    )
    return Answer(found, spread)


def _shift(
    phases: Mapping[int, np.ndarray], shaping: Shaping, windows: Mapping[int, Sequence[Span]], late_ns: int
) -> float:
    """The begin of the cycle with which most frames are in the windows of their classes."""
    cycle = shaping.cycle_ns

    def fits(shift: float) -> int:
        return sum(
            int(_inside((own - shift) % cycle, windows[shaping.class_of[pcp]], cycle, late_ns).sum())
            for pcp, own in phases.items()
        )

    def best(tried: Sequence[float]) -> float:
        counts = [fits(shift) for shift in tried]
        equal = [shift for shift, found in zip(tried, counts, strict=True) if found == max(counts)]
        return equal[len(equal) // 2]

    step = cycle / SHIFTS
    near = best([number * step for number in range(SHIFTS)])
    return best([near + (number - FINER) * step / FINER for number in range(2 * FINER + 1)])


def _inside(phases: np.ndarray, spans: Sequence[Span], cycle: int, late_ns: int) -> np.ndarray:
    found = np.zeros(len(phases), dtype=bool)
    for begin, end in spans:
        found |= (phases - begin) % cycle < min(end - begin + late_ns, cycle)
    return found


def _of_pcp(
    pcp: int, phases: np.ndarray, shaping: Shaping, windows: Mapping[int, Sequence[Span]], late_ns: int
) -> OfPcp:
    cycle, own = shaping.cycle_ns, shaping.class_of[pcp]
    outside = {
        other: 1 - float(_inside(phases, spans, cycle, late_ns).mean()) for other, spans in windows.items()
    }
    closed = {other: 1 - sum(end - begin for begin, end in spans) / cycle for other, spans in windows.items()}
    like = [other for other in windows if other != own and outside[other] <= OUTSIDE * closed[other]]
    wrong = outside[own] > OUTSIDE * closed[own]
    return OfPcp(pcp, own, len(phases), outside[own], closed[own], like[0] if wrong and like else None)


def _spread(times: np.ndarray, shift: float, spans: Sequence[Span], cycle: int) -> float:
    """As :attr:`Answer.spread_ns`, of one PCP."""
    firsts = []
    for begin, end in spans:
        offset = (times - shift - begin) % cycle
        number = (times - shift - begin) // cycle
        inside = offset < end - begin
        _, first = np.unique(number[inside], return_index=True)
        firsts.append(offset[inside][first])
    every = np.concatenate(firsts)
    return float(np.quantile(every, 0.75) - every.min()) if len(every) else 0.0
