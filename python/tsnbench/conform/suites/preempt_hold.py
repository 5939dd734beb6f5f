"""Hold and release: whether preemptable frames make room before an express window opens.

Express frames wait for their window while a preemptable class loads the port. With a hold, the link is free
when the window opens; without one, an express frame waits for the part of a frame that cannot be cut.
IEEE 802.1Q-2022, 8.6.8.4; IEEE 802.3-2022, 99.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.conform.bench import Unsent
from tsnbench.conform.judge import Number, Result, undecided, verdict_of
from tsnbench.conform.suites.priority import LOAD_OCTETS, LOADS, PHY, PROBE_OCTETS, overload
from tsnbench.libraries import numpy as np
from tsnbench.quantities import exact
from tsnbench.scenario.model import FixedSize, Periodic, Poisson

if TYPE_CHECKING:
    from tsnbench.conform.bench import Bench, Stimulus, Testers
    from tsnbench.conform.judge import Error
    from tsnbench.conform.seen import Seen
    from tsnbench.plan.types import Port

PROBES = 60
WARM_CYCLES = 4


@dataclass(frozen=True)
class Held:
    """The first entry of a port's list that holds preemptable frames and opens an express class."""

    pcp: int
    low: int
    """A PCP whose frames can be interrupted."""
    opens_ns: int
    """From the cycle's begin."""


def ports(bench: Bench) -> list[Port]:
    """Ports that pre-empt and whose list holds preemptable frames."""
    return [port for port in bench.ports if "preemption" in port and _held(port) is not None]


def _held(port: Port) -> Held | None:
    if "gates" not in port or "changes" in port["gates"]:
        return None
    express, classes = port["preemption"]["express"], port["pcp_to_class"]
    entries, at = port["gates"]["entries"], 0
    for before, entry in zip([entries[-1], *entries[:-1]], entries, strict=True):
        opened = entry["open"] & ~before["open"] & express
        fast = [pcp for pcp in range(8) if opened >> classes[pcp] & 1]
        # A preemptable frame can only be on the wire if its gate was open before.
        slow = [pcp for pcp in range(8) if before["open"] & ~express & 1 << classes[pcp]]
        if entry.get("mac") == "hold" and fast and slow:
            return Held(max(fast, key=lambda pcp: classes[pcp]), slow[0], at)
        at += entry["interval_ns"]
    return None


def stimuli(bench: Bench) -> Iterator[Stimulus | Unsent]:
    """Two testers load a preemptable class, and one small express frame waits for each window."""
    for port in ports(bench):
        both, held = overload(bench, port), _held(port)
        if isinstance(both, Unsent):
            yield both
        elif held is not None:
            yield _stimulus(bench, port, both, held)


def _stimulus(bench: Bench, port: Port, both: tuple[Testers, Testers], held: Held) -> Stimulus | Unsent:
    gates = port["gates"]
    cycle = gates["cycle_ns"]
    end = (WARM_CYCLES + PROBES) * cycle
    streams = {}
    for place, (testers, part) in enumerate(zip(both, LOADS, strict=True)):
        bits = int(part * port["rate_bps"] * LOAD_OCTETS / (LOAD_OCTETS + PHY))
        streams[f"load-{place + 1}"] = testers.stream(
            held.low, bench.vid(port["name"]), Poisson(rate=bits), LOAD_OCTETS, stop=end
        )
    # Half of a cycle before the window opens, so that the frame is there.
    offset = (gates["base_time_ns"] + held.opens_ns - cycle // 2 - bench.settled_ns) % cycle
    streams["express"] = streams["load-2"].model_copy(
        update={
            "pcp": held.pcp,
            "pattern": Periodic(period=cycle, offset=offset),
            "size": FixedSize(octets=PROBE_OCTETS),
            "start": WARM_CYCLES * cycle,
        }
    )
    about = "an express frame waits for each window while a preemptable class loads the port"
    return bench.stimulus("preempt-hold", port["name"], streams, end, end, about)


def judged(bench: Bench, stimulus: Stimulus, seen: Seen, error: Error) -> Iterator[Result]:
    """How much later than the quickest one an express frame begins in its window."""
    number = bench.number(stimulus.port)
    port = bench.expected.document["ports"][number]
    begin = seen.left(number, "express")["begin"].to_numpy()
    if len(begin) < PROBES // 2:
        yield undecided("preempt.hold", stimulus.port, "too-few")
        return
    # On an unknown clock, the quickest frame stands for the opening.
    phase = (begin - begin[0] + port["gates"]["cycle_ns"] // 2) % port["gates"]["cycle_ns"]
    most, own = float(np.ptp(phase)), float(error.apart_ns)
    verdict = verdict_of(most, most, error.tolerance_ns(own), own)
    yield Result(
        "preempt.hold",
        stimulus.port,
        verdict,
        "" if verdict == "pass" else f"express frames wait {exact(round(most))} in their window: no hold",
        "stamps" if verdict == "not-decidable" else None,
        found=Number(most, "ns", most - own, most + own),
        limit=Number(0, "ns", 0, error.tolerance_ns(own)),
        shown=exact(round(most)),
        wanted=f"<= {exact(round(error.tolerance_ns(own)))}",
        frames=len(begin),
        estimates=len(begin),
    )
