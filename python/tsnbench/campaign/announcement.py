"""The expected frames, octets and time of long runs, in words before they begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tsnbench import quantities
from tsnbench.runs.room import Need

SLOWEST, FASTEST = 3e6, 15e6
"""Frame-hops per second of the simulator on one core: docs/performance.md."""
LONG_S = 60
"""Runs that take less, at the slowest speed, are not announced, unless they write much."""
MUCH = 1_000_000_000
"""Octets."""


@dataclass(frozen=True)
class Expected:
    """The sums over several runs."""

    runs: int
    frame_hops: float
    octets: float
    """In run folders."""

    @classmethod
    def of(cls, needs: Sequence[Need]) -> Expected:
        return cls(len(needs), sum(one.frame_hops for one in needs), sum(one.folder for one in needs))

    def said(self, jobs: int) -> str | None:
        """One sentence about simulated runs, ``jobs`` of them at the same time; None for short ones."""
        slow, fast = (self.frame_hops / speed / min(jobs, self.runs) for speed in (SLOWEST, FASTEST))
        if slow < LONG_S and self.octets < MUCH:
            return None
        what, verb = ("this run", "sends") if self.runs == 1 else (f"these {self.runs} runs", "send")
        written = quantities.size(self.octets)
        return (
            f"note: {what} {verb} about {_rounded(self.frame_hops)} frames over links, {_write(verb)} up to "
            f"{written}, and {_take(verb)} about {_between(fast, slow)}"
        )

    def said_of_kernels(self, seconds: float) -> str | None:
        """One sentence about runs on kernels, which last ``seconds`` together; None for short ones."""
        if seconds < LONG_S and self.octets < MUCH:
            return None
        what, verb = ("this run", "sends") if self.runs == 1 else (f"these {self.runs} runs", "send")
        return (
            f"note: {what} {_write(verb)} up to {quantities.size(self.octets)}, and {_take(verb)} more than "
            f"{_long(seconds)}"
        )


def _write(verb: str) -> str:
    return "writes" if verb == "sends" else "write"


def _take(verb: str) -> str:
    return "takes" if verb == "sends" else "take"


def _rounded(number: float) -> str:
    """``24 million``: two digits."""
    if number < 1e6:
        return f"{float(f'{number:.2g}'):,.0f}"
    return f"{float(f'{number / 1e6:.2g}'):,g} million"


def _between(least: float, most: float) -> str:
    """``2 to 8 min``."""
    short, long = _long(least), _long(most)
    if short == long:
        return long
    if short.partition(" ")[2] == long.partition(" ")[2]:
        short = short.partition(" ")[0]
    return f"{short} to {long}"


def _long(seconds: float) -> str:
    """``40 s``, ``12 min`` or ``3 h``: whole units, rounded up."""
    for unit, worth in (("h", 3600), ("min", 60)):
        if seconds >= 1.5 * worth:
            return f"{-(-seconds // worth):.0f} {unit}"
    return f"{-(-seconds // 1):.0f} s"
