"""The nodes' clocks, and their faults."""

from __future__ import annotations

from tsnbench.scenario.kinds.combinators import ListOf, record_of
from tsnbench.scenario.kinds.common import LONGEST, RUN_TIME, SPAN
from tsnbench.scenario.kinds.values import Quantity, Signed
from tsnbench.scenario.model.names import Name
from tsnbench.scenario.model.ptp import Gptp
from tsnbench.scenario.part import Part, key
from tsnbench.scenario.units import DRIFT, DURATION, Duration

_MOST_DRIFT = 10**9
"""1000 ppm, in parts of 10^12."""
_DRIFT = Signed(DRIFT, _MOST_DRIFT)
_STAMP = 10**6


class Wander(Part):
    """A random walk of the drift: every ``every`` a step of at most ``step`` parts of 10^12."""

    step: int = key(Quantity(DRIFT, 1, _MOST_DRIFT), "most that the drift changes", "1 ppb")
    every: Duration = key(Quantity(DURATION, 100_000, LONGEST), "time between steps", "10 ms")


class DriftChange(Part):
    """Another drift from a time on, in parts of 10^12."""

    at: Duration = key(RUN_TIME, "when", "10 s")
    drift: int = key(_DRIFT, "drift from then on", "21 ppm")


class Clock(Part):
    """A node's clock; drifts in parts of 10^12. ``drift_within``: a draw per node instead of ``drift``."""

    drift: int = key(_DRIFT, "how much faster than nominal its oscillator runs: 20 ppm, -3 ppb", default=0)
    drift_within: int | None = key(
        Quantity(DRIFT, 1, _MOST_DRIFT),
        "instead: a draw between minus and plus this for each node",
        default=None,
    )
    offset: int = key(Signed(DURATION, LONGEST), "what it shows when the run begins", default=0)
    changes: tuple[DriftChange, ...] = key(
        ListOf(record_of(DriftChange, "a change of drift"), "changes of drift"),
        "later drifts, a temperature step or a measured trace: [{at: 10 s, drift: 21 ppm}]",
        default=(),
    )
    wander: Wander | None = key(
        record_of(Wander, "wander"), "a random walk of the drift: {step: 1 ppb, every: 10 ms}", default=None
    )
    granularity: Duration = key(
        Quantity(DURATION, 1, _STAMP),
        "ticks of PTP's timestamps: 8 ns for an I210; 1 ns by default",
        default=1,
    )
    jitter: Duration = key(
        Quantity(DURATION, 0, _STAMP),
        "a PTP timestamp is late by a uniform draw up to this: its PHY",
        default=0,
    )


class ClockStep(Part):
    """A step of a node's clock, forward or back."""

    node: Name
    by: int
    at: Duration = 0


class FrequencyJump(Part):
    """A node's oscillator runs faster, or slower; ``by`` in parts of 10^12."""

    node: Name
    by: int
    at: Duration = 0
    duration: Duration | None = None


class PtpDown(Part):
    """A node neither sends nor accepts PTP messages: as grandmaster it is lost."""

    node: Name
    at: Duration = 0
    duration: Duration | None = None


class Clocks(Part):
    """``own``: the nodes whose clock is not the default one."""

    default: Clock = Clock()
    own: dict[Name, Clock] = {}
    record: Duration = key(
        SPAN, "how often every clock's error is noted; 10 ms by default", default=10_000_000
    )
    within: Duration | None = key(
        SPAN, "a promise, which a run checks: no two clocks differ by more", default=None
    )
    gptp: Gptp | None = None
    faults: tuple[ClockStep | FrequencyJump | PtpDown, ...] = ()
