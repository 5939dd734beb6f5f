"""What several checks and tables ask about one Plan; each answer is computed once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from tsnbench.plan.delay import SmallestDelays
from tsnbench.plan.frames import R_TAG, sizes
from tsnbench.plan.gates import gate_lists, open_windows
from tsnbench.plan.load import ClassLoad, class_loads
from tsnbench.plan.streams.crossing import Crossing, crossed_classes, crossing_classes

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument


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

    def windows(self, port: int, traffic_class: int) -> list[list[int] | None]:
        """The windows of a class in each gate control list of a port with gates (:func:`open_windows`)."""
        found = self._windows.get((port, traffic_class))
        if found is None:
            lists = gate_lists(self.document["ports"][port]["gates"])
            found = [open_windows(gates, traffic_class) for gates in lists]
            self._windows[port, traffic_class] = found
        return found
