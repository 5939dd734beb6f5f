"""Member streams with faults of the testers: one path alone, a gap, disorder, numbers beyond the history.

Testers lose and delay frames of a merging stream on the links into the device, in phases one after the other.
All bounds are in numbers of the stream, and in its recovery's reset time. IEEE 802.1CB-2017, 7.4.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tsnbench.conform.bench import Unsent
from tsnbench.conform.judge import Number, Result, undecided
from tsnbench.conform.suites import frer
from tsnbench.libraries import numpy as np
from tsnbench.libraries import polars as pl
from tsnbench.quantities import exact
from tsnbench.scenario.model import Periodic

if TYPE_CHECKING:
    from tsnbench.conform.bench import Bench, Stimulus
    from tsnbench.conform.judge import Error
    from tsnbench.conform.seen import Seen
    from tsnbench.plan.types import DelayFault, LossFault
    from tsnbench.plan.types import Stream as Planned

ports = frer.ports
SINGLE, AROUND, DISORDER = 50, 40, 200
"""Numbers on one path alone, between two phases, and while frames overtake each other."""
LEAST_HISTORY = 8
LATE = 8
"""Frames overtake each other by up to this share of the history."""
BEYOND = 2
"""The long gap, in histories."""
EARLY = 2
"""Frames in the first half of the reset time are rogue; when the reset is, is a test of its own."""
MOST_FRAMES = 200_000
NEEDED = (
    f"a vector recovery with a history of at least {LEAST_HISTORY} numbers, "
    f"and a reset time of {EARLY * BEYOND} histories to {MOST_FRAMES:,} periods"
)
WHOLE = 1_000_000
"""ppm."""


@dataclass(frozen=True)
class Member:
    """A stream that merges in the device."""

    name: str
    period_ns: int
    links: Sequence[int]
    """The neighbours' ports by which its member streams reach the device."""
    history: int
    reset_ns: int

    @cached_property
    def phases(self) -> Mapping[str, tuple[int, int]]:
        """Begin and end of each phase, in ns from the stream's begin."""
        found, at = {}, AROUND
        gap = self.history - LEAST_HISTORY // 2
        back = round(self.reset_ns / self.period_ns) + AROUND
        parts = [
            *((f"single-{place}", SINGLE) for place in range(len(self.links))),
            ("gap", gap),
            ("behind-gap", AROUND),
            ("disorder", DISORDER),
            ("beyond", BEYOND * self.history),
            ("back", back),
        ]
        for name, numbers in parts:
            found[name] = (at * self.period_ns, (at + numbers) * self.period_ns)
            at += numbers + (0 if name in ("gap", "beyond") else AROUND)
        return found

    @property
    def end_ns(self) -> int:
        return self.phases["back"][1]


def _member(bench: Bench, port: str) -> Member | None:
    """The first stream of a port whose recovery these phases can show."""
    names = frer.merging(bench)[port]
    for stream in bench.expected.document["streams"]:
        own = bench.lab.streams.get(stream["name"])
        if stream["name"] not in names or own is None or not isinstance(own.pattern, Periodic):
            continue
        made = Member(stream["name"], own.pattern.period, _links(bench, stream), *_recovery(stream))
        in_time = EARLY * BEYOND * made.history * made.period_ns < made.reset_ns
        if made.history >= LEAST_HISTORY and in_time and made.end_ns < MOST_FRAMES * made.period_ns:
            return made
    return None


def _links(bench: Bench, stream: Planned) -> list[int]:
    every, route = bench.expected.document["ports"], stream["route"]
    merges = stream.get("redundancy", {}).get("merges", ())
    own = [route[number]["port"] for merge in merges for number in merge["from"]]
    return [port for port in dict.fromkeys(own) if every[every[port]["peer"]]["node"] == bench.node]


def _recovery(stream: Planned) -> tuple[int, int]:
    """History and reset time; match recovery has no history."""
    found = stream.get("redundancy", {}).get("recovery")
    if found is None:
        return 0, 0
    return (found["algorithm"]["history"] if found["algorithm"]["kind"] == "vector" else 0), found["reset_ns"]


def stimuli(bench: Bench) -> Iterator[Stimulus | Unsent]:
    """One merging stream of each port, with all phases."""
    for port in ports(bench):
        one = _member(bench, port["name"])
        if one is None:
            yield Unsent(port["name"], f"the phases need {NEEDED}")
            continue
        if one.name not in bench.scenario.streams:
            yield Unsent(port["name"], frer.NOT_THERE)
            continue
        stream = bench.scenario.streams[one.name].model_copy(update={"start": 0, "stop": one.end_ns})
        about = "a merging stream on one path, with gaps, disorder, and numbers beyond the history"
        yield bench.stimulus(
            "frer-gaps", port["name"], {one.name: stream}, one.end_ns, 100_000_000, about,
            filters=True, on_links=list(_faults(one)),
        )  # fmt: skip


def _faults(one: Member) -> Iterator[LossFault | DelayFault]:
    for phase, (begin, end) in one.phases.items():
        for place, port in enumerate(one.links):
            if phase in ("gap", "beyond") or (phase.startswith("single-") and phase != f"single-{place}"):
                yield {
                    "kind": "loss",
                    "port": port,
                    "from_ns": begin,
                    "until_ns": end,
                    "model": {"kind": "bernoulli", "loss_ppm": WHOLE},
                }
            elif phase == "disorder":
                yield {
                    "kind": "delay",
                    "port": port,
                    "from_ns": begin,
                    "until_ns": end,
                    "least_ns": 0,
                    "most_ns": one.history * one.period_ns // LATE,
                    "share_ppm": WHOLE // 2,
                    "keeps_order": False,
                }


def judged(bench: Bench, stimulus: Stimulus, seen: Seen, error: Error) -> Iterator[Result]:
    """What passed in each phase."""
    one = _member(bench, stimulus.port)
    number = bench.number(stimulus.port)
    if one is None or not len(left := seen.left(number, one.name)):
        tests = ("single", "gap", "order", "rogue", "reset")
        yield from (undecided(f"frer.{name}", stimulus.port, "too-few") for name in tests)
        return
    shown = Shown(one, seen, left, bench.settled_ns)
    yield _once("frer.single", stimulus, shown, [f"single-{n}" for n in range(len(one.links))], "of one path")
    yield _once("frer.gap", stimulus, shown, ["behind-gap"], "behind a gap within the history")
    yield _once("frer.order", stimulus, shown, ["disorder"], "that overtake others within the history")
    yield from _beyond(stimulus, shown, error)


@dataclass(frozen=True)
class Shown:
    """The frames of a stream on its links into the device, and behind it."""

    one: Member
    seen: Seen
    left: pl.DataFrame
    begin_ns: int

    def span(self, phase: str) -> tuple[int, int]:
        """On the testers' clock."""
        begin, end = self.one.phases[phase]
        return self.begin_ns + begin, self.begin_ns + end

    @cached_property
    def entered(self) -> Sequence[pl.DataFrame]:
        """By link: frames before the testers' faults."""
        return [self.seen.entered(port, self.one.name) for port in self.one.links]

    def sent(self, phase: str) -> set[int]:
        """The numbers of which each copy was sent in a phase."""
        begin, end = self.span(phase)
        found = [
            set(table.filter((pl.col("begin") >= begin) & (pl.col("begin") < end))["seq"].to_list())
            for table in self.entered
        ]
        return set.intersection(*found)


def _once(test: str, stimulus: Stimulus, shown: Shown, phases: Sequence[str], words: str) -> Result:
    """Whether each number that was sent in these phases left once."""
    sent = set().union(*(shown.sent(phase) for phase in phases))
    counts = dict(shown.left["seq"].value_counts().iter_rows())
    wrong = sum(counts.get(number, 0) != 1 for number in sent)
    if not sent:
        return undecided(test, stimulus.port, "too-few")
    return Result(
        test,
        stimulus.port,
        "fail" if wrong else "pass",
        f"{wrong} of {len(sent)} frames {words} did not leave once" if wrong else "",
        found=Number(wrong, "frames", wrong, wrong),
        limit=Number(0, "frames", 0, 0),
        shown=f"{wrong} of {len(sent)}",
        wanted="0",
        frames=len(shown.left),
        estimates=len(sent),
    )


def _beyond(stimulus: Stimulus, shown: Shown, error: Error) -> Iterator[Result]:
    """Frames beyond the history are rogue until the reset, and the first one behind it passes."""
    one, begin = shown.one, shown.left["begin"].to_numpy()
    lost_from, _ = shown.span("beyond")
    slowest = max(int(table["begin"].to_numpy().max()) for table in shown.entered)
    fastest = min(int(table["begin"].to_numpy().max()) for table in shown.entered)
    # Copies of frames that were sent before the gap leave until the slowest path has lost its first one.
    before = begin[begin < lost_from + (slowest - fastest) + one.period_ns]
    behind = begin[len(before) :]
    missing = len(shown.sent("beyond"))
    if not len(before) or missing <= one.history:
        yield from (undecided(f"frer.{name}", stimulus.port, "too-few") for name in ("rogue", "reset"))
        return
    rogue = int((behind < int(before[-1]) + one.reset_ns // EARLY).sum())
    yield Result(
        "frer.rogue",
        stimulus.port,
        "fail" if rogue else "pass",
        f"{rogue} frames beyond the history of {one.history} numbers passed before the reset"
        if rogue
        else "",
        found=Number(rogue, "frames", rogue, rogue),
        limit=Number(0, "frames", 0, 0),
        shown=f"{rogue} frames",
        wanted="0",
        frames=len(shown.left),
        estimates=missing,
    )
    yield _reset(stimulus, one, behind, int(before[-1]), error)


def _reset(stimulus: Stimulus, one: Member, behind: np.ndarray, last_ns: int, error: Error) -> Result:
    """How long after the last accepted frame the first one passes again: the reset time, and one period."""
    least, most = one.reset_ns, one.reset_ns + one.period_ns
    slack = error.tolerance_ns(error.apart_ns) + one.period_ns
    found = int(behind[0]) - last_ns if len(behind) else None
    good = found is not None and least - slack < found < most + slack
    words = "no frame passed again" if found is None else f"frames pass again after {exact(found)}"
    return Result(
        "frer.reset",
        stimulus.port,
        "pass" if good else "fail",
        "" if good else f"{words}, and the recovery is reset after {exact(least)}",
        found=None if found is None else Number(found, "ns", found - error.apart_ns, found + error.apart_ns),
        limit=Number(least, "ns", least - slack, most + slack),
        shown="never" if found is None else exact(found),
        wanted=f"{exact(least)} to {exact(round(most + slack))}",
        frames=len(behind),
        estimates=1,
    )
