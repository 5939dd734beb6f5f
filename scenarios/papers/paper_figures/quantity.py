"""A quantity of one run, by name: ``spq[alone] theta-high delay.mean``.

Scenario file, values of its parameters in brackets, whose quantity, and a path into what was measured.
``a|b`` stands for several: ``ex-mq1[1|2|3] flow4 delay.mean`` are three quantities, in this order.

==========================  ================================================================================
path                        what
==========================  ================================================================================
``delay.mean``              a stream's measures, all its flows together; any path in ``measures.json``
``driver-rx/delay.mean``    the same between other stages (``interval-start-app-rx/delay.mean``)
``jitter.max``              of the step from frame to frame, absolute
``frames.at=12240``         share of frames with this delay in ns; subject ``*``: of all streams
``frames.above=100000``     how many frames have a greater delay
``frames.last100``          mean delay of the last 100 frames
``frames.outliers``         how many frames a box plot would draw as outliers
``latency.max``             from the beginning of a frame's period to its arrival (OCORA)
``latency.above=60000``     how many are greater; ``latency.least-above=…``: the least of these
``latency.outside=1000``    share of frames that far from the mean
``clock.max``               distance of a node's clock from the grandmaster's in the second half of the run
``clocks.max``              the greatest of all nodes' (subject ``*``)
``counter.qdisc.dropped``   a port's counters; any path in ``counters.json``
``plan.cbs.3.hicredit``     a port's shaper of a class, in the numbers of ``tc``
``plan.gate.opens``         when a port's first window opens; ``closes``: when it closes
``plan.open-rate.3``        what the gate of a class lets through, in bit/s
==========================  ================================================================================

Times are ns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product

_FORM = re.compile(r"(?P<file>[\w/-]+)(?:\[(?P<variant>[^]]*)\])? (?P<subject>.+) (?P<path>\S+)")


@dataclass(frozen=True, order=True)
class Quantity:
    """One number that a run gives."""

    file: str
    """The scenario's path below its paper's folder, without ``.yaml``."""
    variant: str
    """Values of its parameters, one space between; empty where it has none."""
    subject: str
    path: str

    def __str__(self) -> str:
        variant = f"[{self.variant}]" if self.variant else ""
        return f"{self.file}{variant} {self.subject} {self.path}"


@dataclass(frozen=True)
class Quantities:
    """What a name stands for: one quantity, or several in their order."""

    members: tuple[Quantity, ...]
    several: bool


def parse(text: str) -> Quantities:
    """The quantities that a text names.

    Raises:
        ValueError: it is no name of a quantity.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"expected <scenario>[<variant>] <whose> <path>, found {text}")
    parts = [(found[key] or "").split("|") for key in ("file", "variant", "subject", "path")]
    members = tuple(Quantity(*choice) for choice in product(*parts))
    return Quantities(members, several=len(members) > 1)
