"""From an estimate and its error to a verdict: pure functions.

U is the greatest error of an estimate, and is computed from stamps and clocks. The tolerance T is 2 U, or a
wider one that a user asks for. A value v passes if abs(v) < T - U, and fails if abs(v) >= T + U; in between
it is not decided. A defect of T or more is then never passed, one of T / 2 never fails, and one of T + 2 U is
certainly found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

Verdict = Literal["pass", "fail", "not-decidable", "not-run", "not-offered"]
Reason = Literal[
    "clocks",
    "stamps",
    "plane",
    "no-stimulus",
    "too-few",
    "unsupported-tester",
    "unsupported-dut",
    "no-write",
    "depends",
    "no-limit",
    "changing-list",
    "kernel",
    "rejected",
    "ended",
]
REASONS: dict[Reason, str] = {
    "clocks": "the error of the clocks is too large, or not known",
    "stamps": "the error of the stamps is too large, or not known",
    "plane": "it is not known which point of a frame the stamps mean",
    "no-stimulus": "no tester can send the frames that the test needs",
    "too-few": "too few frames came out for an estimate",
    "unsupported-tester": "the testers cannot observe it",
    "unsupported-dut": "the place where it runs cannot do it",
    "no-write": "the test changes the device's configuration, which was not permitted",
    "depends": "an earlier test failed, and this one would show the same defect",
    "no-limit": "the scenario states no value to compare with; the found one is told",
    "changing-list": "the port's list is replaced by another one, which this test cannot follow",
    "kernel": "a kernel imitates the device here, and does this in its own way",
    "rejected": "no run of the stimulus was a valid measurement; the next command runs it again",
    "ended": "an error ended the command before; the next one goes on",
}
SIGMAS = 4
"""How many times the error of one stamp counts."""
FREE_PPM = 200
"""Two clocks without synchronisation differ in rate by at most twice the 100 ppm of IEEE 802.3."""
PREAMBLE = 8
"""Octets by which stamps differ if it is not known whether they mean the preamble or the frame."""


@dataclass(frozen=True)
class Error:
    """The greatest error of times, in ns."""

    stamps_ns: int
    clock_ns: int | None
    """Between the testers and the device; None: not known."""
    resolution_ns: int
    asked_ns: int = 0
    """A tolerance that the user asks for."""
    testers_ns: int | None = None
    """Between the testers that send and the one that receives; None: not known."""
    whole: bool = True
    """Whether it is known how much of a frame was on the wire when it was stamped."""
    kernel: bool = False
    """Whether a kernel imitates the device, with its own times and its own way to count octets."""
    planned_clocks: bool = True
    """Whether clocks are those of the Plan; hosts have their own."""
    behind_ns: int | None = None
    """Of the stamps behind the device alone; None: as of all stamps."""

    @property
    def behind(self) -> Error:
        """Of times behind the device, for tests that look at no others."""
        return self if self.behind_ns is None else replace(self, stamps_ns=self.behind_ns)

    @property
    def one_ns(self) -> int | None:
        """Of a time from one tester to another; None if it is not known."""
        return None if self.testers_ns is None else self.stamps_ns + self.testers_ns + self.resolution_ns

    @property
    def own_ns(self) -> int | None:
        """Of a time on the device's clock; None if it is not known."""
        return None if self.clock_ns is None else self.stamps_ns + self.clock_ns + self.resolution_ns

    @property
    def apart_ns(self) -> int:
        """Of a difference of two times at one port."""
        return 2 * self.stamps_ns + self.resolution_ns

    @property
    def larger(self) -> Reason:
        """Which error counts more."""
        return "clocks" if (self.clock_ns or 0) > self.stamps_ns else "stamps"

    def tolerance_ns(self, error_ns: float) -> float:
        """T for an estimate with this greatest error."""
        return max(self.asked_ns, 2 * error_ns)


@dataclass(frozen=True)
class Number:
    """A found value or a limit, with its interval."""

    value: float
    unit: str
    low: float
    high: float


@dataclass(frozen=True)
class Result:
    """The outcome of one test at one port."""

    test: str
    port: str
    verdict: Verdict
    sentence: str = ""
    reason: Reason | None = None
    traffic_class: int | None = None
    found: Number | None = None
    limit: Number | None = None
    shown: str = ""
    """The found value in words."""
    wanted: str = ""
    """The limit in words."""
    frames: int = 0
    """Frames of the stimulus that came out."""
    estimates: int = 0
    """Values that the estimate is made of."""
    stimulus: str = ""
    tolerance: dict[str, int] = field(default_factory=dict)


def verdict_of(low: float, high: float, tolerance: float, error: float) -> Verdict:
    """The verdict of a value that lies in [low, high], and should be 0.

    Args:
        low: the least value that the frames permit; equal to ``high`` where they show it exactly.
        high: the greatest.
        tolerance: T.
        error: U, less than T.
    """
    if low < tolerance - error and high > error - tolerance:
        return "pass"
    if low >= tolerance + error or high <= -tolerance - error:
        return "fail"
    return "not-decidable"


def undecided(test: str, port: str, reason: Reason, sentence: str = "") -> Result:
    """A result without a verdict."""
    return Result(test, port, "not-decidable", sentence or REASONS[reason], reason)


def heeded(results: Iterable[Result], after: Mapping[str, Sequence[str]]) -> list[Result]:
    """The results of one port, without those that would show the defect of an earlier test once more.

    Args:
        results: in the order in which tests depend on each other.
        after: by test, the tests that it depends on.
    """
    found: dict[str, Result] = {}
    for one in results:
        before = [found[name] for name in after[one.test] if name in found]
        failed = next((other.test for other in before if other.verdict in ("fail", "not-run")), None)
        blind = next((other.test for other in before if other.reason in ("too-few", "depends")), None)
        if failed:
            one = Result(one.test, one.port, "not-run", f"{failed} failed", "depends", stimulus=one.stimulus)
        elif blind:
            one = undecided(one.test, one.port, "depends", f"{blind} was not decided")
        found[one.test] = one
    return list(found.values())
