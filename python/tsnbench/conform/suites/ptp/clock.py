"""The device's own clock: how wrong its servo leaves it, and from when on it is right.

The clock itself is not seen, but gates open by it (IEEE 802.1Q-2022, 8.6.9). A small frame waits for each
opening of one gate, and the grandmaster and the testers have one clock, which follows nobody. No standard
says how a servo works.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tsnbench.conform.bench import ALONE, Unsent
from tsnbench.conform.judge import undecided
from tsnbench.conform.suites import gates
from tsnbench.conform.suites.ptp.told import LONGEST_NS, SYNCS, first_ns, locked, within
from tsnbench.libraries import numpy as np
from tsnbench.plan.sizes import PHY_OVERHEAD
from tsnbench.quantities import exact
from tsnbench.scenario.model import Periodic

if TYPE_CHECKING:
    from tsnbench.conform.bench import Bench, Stimulus
    from tsnbench.conform.judge import Error, Result
    from tsnbench.conform.seen import Seen
    from tsnbench.plan.types import Port

OCTETS = 64
MOST_FRAMES = 20_000
BESIDE = 5
"""Of so many frames in turn, the middle one counts: PTP's own messages delay single ones."""
TESTS = ("ptp.servo", "ptp.settle")


@dataclass(frozen=True)
class Opening:
    """The opening of a gate with the longest closed time before it."""

    pcp: int
    at_ns: int
    """From the cycle's begin."""
    closed_ns: int
    """How long the gate was closed before."""


def ports(bench: Bench) -> list[Port]:
    """Ports with one list whose gates close, of a device that forwards and whose clock is steered."""
    gptp = bench.expected.document.get("clocks", {}).get("gptp")
    followers = () if gptp is None else [bench.network.ports[one]["node"] for one in gptp["slaves"]]
    if bench.node not in followers or not bench.network.forwards(bench.node):
        return []
    return [port for port in gates.ports(bench) if "changes" not in port["gates"] and _opening(port)]


def _opening(port: Port) -> Opening | None:
    """Where a frame can wait, and leave as soon as its gate opens."""
    cycle, found = port["gates"]["cycle_ns"], []
    least = (OCTETS + PHY_OVERHEAD) * 8 * 10**9 // port["rate_bps"]
    for own, spans in gates.windows(port).items():
        for (_, before), (begin, end) in zip([spans[-1], *spans[:-1]], spans, strict=True):
            if end - begin > least:
                found.append(Opening(port["pcp_to_class"].index(own), begin, (begin - before) % cycle))
    best = max(found, key=lambda one: one.closed_ns, default=None)
    return best if best is not None and best.closed_ns > 2 * least else None


def stimuli(bench: Bench) -> Iterator[Stimulus | Unsent]:
    """A small frame for each opening, from the begin of the run on."""
    for port in ports(bench):
        testers, opening = bench.testers(port["name"]), _opening(port)
        gptp, cycle = bench.expected.document["clocks"]["gptp"], port["gates"]["cycle_ns"]
        duration = first_ns(bench) + SYNCS * gptp["sync_interval_ns"]
        if testers is None or duration > LONGEST_NS:
            long = f"{SYNCS} intervals and the first release take longer than {exact(LONGEST_NS)}"
            yield Unsent(port["name"], ALONE if testers is None else long)
        elif opening is not None:
            period = -(-duration // (MOST_FRAMES * cycle)) * cycle
            waits = port["gates"]["base_time_ns"] + opening.at_ns - opening.closed_ns // 2
            waiting = testers.stream(
                opening.pcp,
                bench.vid(port["name"]),
                Periodic(period=period, offset=waits % period),
                OCTETS,
                stop=duration,
            )
            about = (
                f"a small frame waits for openings of a gate, until {SYNCS} intervals after the first release"
            )
            yield bench.stimulus(
                "ptp-clock", port["name"], {"waiting": waiting}, duration, 2 * cycle, about,
                messages_at=[port["name"]], follows=True, steered=True,
            )  # fmt: skip


def judged(bench: Bench, stimulus: Stimulus, seen: Seen, error: Error) -> Iterator[Result]:
    """How late gates open by the testers' clock at the end, and when they were wrong for the last time."""
    number = bench.number(stimulus.port)
    port = bench.expected.document["ports"][number]
    opening, first = _opening(port), first_ns(bench)
    if not error.planned_clocks:
        words = "the clocks of testers follow the grandmaster here, and are not free of error"
        yield from (undecided(test, stimulus.port, "unsupported-tester", words) for test in TESTS)
        return
    begin = seen.left(number, "waiting")["begin"].to_numpy()
    if opening is None or len(begin) < BESIDE:
        yield from (undecided(test, stimulus.port, "too-few") for test in TESTS)
        return
    cycle = port["gates"]["cycle_ns"]
    every = (begin - port["gates"]["base_time_ns"] - opening.at_ns + cycle // 2) % cycle - cycle // 2
    off = np.median(np.lib.stride_tricks.sliding_window_view(every, BESIDE), axis=1)
    at_ns = begin[BESIDE // 2 : len(begin) - BESIDE // 2]
    interval = seen.plan["clocks"]["gptp"]["sync_interval_ns"]
    late = off[at_ns >= first + SYNCS // 2 * interval]
    if not len(late):
        yield from (undecided(test, stimulus.port, "too-few") for test in TESTS)
        return
    promised = bench.expected.document["clocks"].get("within_ns")
    own = float(error.stamps_ns + error.resolution_ns)
    most = -float(late[np.abs(late).argmax()])
    what = "the clock by which gates open"
    yield replace(
        within("ptp.servo", stimulus.port, most, promised, own, what), frames=len(begin), estimates=len(late)
    )
    words = "the clock by which gates open was still"
    lock = locked("ptp.settle", stimulus.port, (at_ns, off), promised, own, first, words)
    yield replace(lock, frames=len(begin), estimates=len(off))
