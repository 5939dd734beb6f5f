"""The errors of the clocks between which residence is measured.

Where one clock stamps both ends, only its ticks count. Where two clocks do, so do their errors, as far as the
run's readings bound them ([decision 0027](../decisions/0027-a-delay-has-an-error-bar.md)). Clocks without
readings have no bound, and are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from tsnbench.calibration.errors import CalibrationError
from tsnbench.measure.stamps import stamps

if TYPE_CHECKING:
    from tsnbench.runs import Run
    from tsnbench.runs.stamps import NodeStamps

ONE_CLOCK = ("simulation", "vm", "netns")
"""Backends that stamp all frames with one clock, if the Plan gives nodes none of their own."""


def measured_since(run: Run) -> int:
    """From when on the frames of a run count, ns."""
    begin = run.measures().get("measured_from")
    return 0 if begin is None else begin["ns"] or 0


@dataclass(frozen=True)
class Clocks:
    """What is known of the clocks of one run.

    ``read`` has the readings by node, and is None if one perfect clock stamped all frames. ``given_ns``, if
    not None, is the greatest error that a user states.
    """

    read: Mapping[str, NodeStamps] | None
    tick_ns: float
    given_ns: float | None = None
    """Greatest difference of the clocks at both ends, in ns."""
    known: bool = True
    begin_ns: int = 0
    """Readings before this time do not count: no frame was measured then."""

    @classmethod
    def of(cls, run: Run, given_ns: float | None) -> Clocks:
        """The clocks of a run."""
        ticks = [tap["granularity_ns"] for tap in run.plan.document["taps"]]
        read = stamps(run.folder)
        known = read is not None or str(run.manifest.get("backend")) in ONE_CLOCK
        return cls(read, float(max(ticks, default=1)), given_ns, known, measured_since(run))

    def error_ns(self, first: str, last: str) -> float:
        """Greatest error of a time from a stamp at one node to a stamp at another one.

        Raises:
            CalibrationError: it is not known.
        """
        if self.given_ns is not None:
            return self.tick_ns + self.given_ns
        if not self.known:
            raise CalibrationError(
                f"expected clocks of {first} and {last} whose difference is known, found no reading of them",
                "state their greatest difference: --clocks 100ns; or let one clock stamp both ends",
            )
        if self.read is None:
            return self.tick_ns
        own = [self.read[name] for name in (first, last) if name in self.read]
        ticks = float(sum(one.get("granularity_ns", 0) + one.get("unseen_ns", 0) for one in own))
        ticks = max(ticks, self.tick_ns)
        if len({one["clock"] for one in own}) < 2:
            return ticks
        return ticks + sum(map(self._greatest_ns, own))

    def _greatest_ns(self, clock: NodeStamps) -> float:
        """Greatest error of one clock at its readings and between them."""
        late = [row for row in clock["readings"] if row[0] >= self.begin_ns] or list(clock["readings"])[-1:]
        if not late:
            raise CalibrationError("expected readings of all clocks, found a clock without any")
        at_readings = max(abs(offset) + unsure for _, offset, unsure in late) / 1e3
        longest = max((after[0] - before[0] for before, after in pairwise(late)), default=0)
        return at_readings + longest / 2 * clock["drift_ppb"] / 1e9
