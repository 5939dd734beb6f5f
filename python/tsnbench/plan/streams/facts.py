"""What several checks and tables ask about one Plan; each answer is computed once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from tsnbench import _native
from tsnbench.plan.delay import SmallestDelays
from tsnbench.plan.frames import R_TAG, sizes
from tsnbench.plan.gates import gate_lists, open_windows
from tsnbench.plan.load import ClassLoad, class_loads, sum_of
from tsnbench.plan.streams.crossing import Crossing, crossed_classes, crossing_classes
from tsnbench.plan.streams.sending import Span, overlap, run_of, sending, together

if TYPE_CHECKING:
    from tsnbench.plan.types import GateList, PlanDocument

Rate = tuple[str, Fraction]
"""A flow, and its load in bit/s."""


@dataclass(frozen=True)
class InForce:
    """A gate control list of a port, its place among the port's lists, and the span of its force in ns."""

    gates: GateList
    place: int
    span: Span


class Facts:
    """Loads, crossing streams, windows and smallest delays of one Plan.

    Args:
        document: the Plan's document, which does not change meanwhile.
    """

    def __init__(self, document: PlanDocument) -> None:
        self.document = document
        self._windows: dict[tuple[int, int], list[list[int] | None]] = {}

    @cached_property
    def loads(self) -> list[list[ClassLoad]]:
        """The loads by port and traffic class."""
        return class_loads(self.document)

    @cached_property
    def crossing(self) -> dict[tuple[int, int], list[Crossing]]:
        """The streams by port and class; empty if no port has gates."""
        return crossing_classes(self.document)

    @cached_property
    def crossed(self) -> list[tuple[int, int]]:
        """The ports and classes of :attr:`crossing`, which takes longer."""
        found = crossed_classes(self.document)
        return list(self.crossing) if found is None else found

    @cached_property
    def delays(self) -> SmallestDelays:
        """The smallest delays of its streams."""
        return SmallestDelays(self.document)

    @cached_property
    def release_tick(self) -> int:
        """The tick of stamps at the release, ns; 1 without such taps."""
        taps = self.document["taps"]
        return max([tap["granularity_ns"] for tap in taps if tap["stage"] == "send"], default=1)

    @cached_property
    def largest(self) -> dict[str, int]:
        """The octets of each stream's largest frame."""
        return {stream["name"]: sizes(stream["size"]).largest for stream in self.document["streams"]}

    @cached_property
    def most(self) -> int:
        """Octets that no frame of the Plan exceeds, with an R-TAG."""
        return max(self.largest.values(), default=0) + R_TAG

    def greatest(self, port: int, traffic_class: int) -> int:
        """The octets of the largest frame that crosses a class of a port with gates."""
        largest = self.largest
        return max([largest[stream["name"]] + tag for stream, tag in self.crossing[port, traffic_class]])

    @cached_property
    def run(self) -> Span:
        """The span in which frames may be on their way."""
        return run_of(self.document)

    @cached_property
    def spans(self) -> dict[str, Span]:
        """By stream, the span of its releases."""
        return sending(self.document)

    def lists(self, port: int) -> list[InForce]:
        """The gate control lists of a port that are in force during the run, in order of time; none without
        gates. An extended cycle belongs to its list; the states before the first list are none."""
        gates = self.document["ports"][port].get("gates")
        if gates is None:
            return []
        every = gate_lists(gates)
        begin, end = self.run
        told = json.loads(_native.lists_in_force(json.dumps(gates), end)) if len(every) > 1 else []
        spans: dict[int, Span] = {} if told else {0: self.run}
        for one, after in zip(told, [*told[1:], {"from_ns": end}], strict=False):
            if one["list"] is not None:
                first = spans.get(one["list"], (max(begin, one["from_ns"] or begin), end))[0]
                spans[one["list"]] = (first, after["from_ns"])
        return [InForce(every[place], place, span) for place, span in spans.items()]

    def active(self, names: Iterable[str], within: Span) -> list[str]:
        """Those streams that send at some instant of a span."""
        return [name for name in names if overlap(self.spans[name], within)]

    def busiest(self, flows: Sequence[Rate], within: Span, most: Fraction | int) -> list[Rate]:
        """The flows that send at the instant of a span with the greatest load, if that is above ``most``;
        otherwise any of them."""
        if sum_of([rate for _, rate in flows]) <= most:
            return list(flows)
        spans = {name: self.spans[name] for name, _ in flows}
        sets = together(spans, within) or [set()]
        chosen = [[flow for flow in flows if flow[0] in names] for names in sets]
        return max(chosen, key=lambda own: sum_of([rate for _, rate in own]))

    def windows(self, port: int, traffic_class: int) -> list[list[int] | None]:
        """The windows of a class in each gate control list of a port with gates (:func:`open_windows`)."""
        found = self._windows.get((port, traffic_class))
        if found is None:
            lists = gate_lists(self.document["ports"][port]["gates"])
            found = [open_windows(gates, traffic_class) for gates in lists]
            self._windows[port, traffic_class] = found
        return found
