"""What would lower a worst case: changes of a Plan that are tried before they are named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from time import perf_counter
from typing import TYPE_CHECKING, Literal

from tsnbench.errors import InputError
from tsnbench.plan.bounds import bounds_of
from tsnbench.plan.document import Plan

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument

LEAST = 64
"""Octets of the smallest frame."""
Change = Callable[["PlanDocument"], None]


class Trials:
    """Changes of a Plan, each judged by the worst case of one flow.

    Args:
        plan: the Plan; it is not changed.
        flow: the number of the flow among those of :func:`~tsnbench.plan.bounds.bounds_of`.
        released: whether the delay begins at the release.
        total_ps: the flow's worst case now, ps.
        within_s: seconds for all trials: what is not tried is not named.
    """

    def __init__(self, plan: Plan, flow: int, released: bool, total_ps: int, within_s: float) -> None:
        self._document, self._flow, self._total = plan.document, flow, total_ps
        self._key: Literal["release_upper_ps", "upper_ps"] = "release_upper_ps" if released else "upper_ps"
        self._known: dict[tuple[str, ...], bool] = {}
        self._left, self._longest = within_s, 0.0

    def lowers(self, cause: str, stream: int, port: str, traffic_class: int, others: list[str]) -> str | None:
        """The changes that lower the share of a cause at a port, in words; None if none of them does.

        ``stream``: the number of the stream; ``others``: the names of those that cause the share.
        """
        found = []
        for words, key, change in _changes(self._document, cause, stream, port, traffic_class, others):
            if key not in self._known:
                if self._left <= self._longest:
                    continue
                self._known[key] = self._try(change)
            if self._known[key]:
                found.append(words)
        return ", or ".join(found) or None

    def _try(self, change: Change) -> bool:
        began = perf_counter()
        document = deepcopy(self._document)
        change(document)
        try:
            upper = bounds_of(Plan(document).to_json(), hops=False)["flows"][self._flow][self._key]
        except InputError:
            upper = None
        took = perf_counter() - began
        self._left, self._longest = self._left - took, max(self._longest, took)
        return upper is not None and upper < self._total


def _changes(
    document: PlanDocument, cause: str, stream: int, port: str, traffic_class: int, others: list[str]
) -> Iterator[tuple[str, tuple[str, ...], Change]]:
    """What may lower a share: words, a name of the change, and the change itself."""
    own = document["streams"][stream]["name"]
    if cause in ("first-link", "transmission"):
        yield "less payload", ("smaller", own), lambda new: _smaller(new, [own])
    if cause in ("lower-classes", "higher-classes", "same-class"):
        yield "shorter frames there", ("smaller", *others), lambda new: _smaller(new, others)
    if cause == "higher-classes":
        yield "a higher pcp", ("pcp", own), lambda new: _raised(new, stream, port, traffic_class)
    if cause in ("shaper", "same-class"):
        number = next(n for n, one in enumerate(document["ports"]) if one["name"] == port)
        if "cbs" in document["ports"][number]["classes"][traffic_class]:
            words = f"a greater idle-slope of class {traffic_class}"
            yield words, ("slope", port), lambda new: _faster(new, number, traffic_class)


def _smaller(document: PlanDocument, names: list[str]) -> None:
    """Three quarters of the octets of some streams."""
    for one in document["streams"]:
        size = one["size"]
        if not {one["name"], one["group"]}.intersection(names):
            continue
        if size["kind"] == "frame":
            size["octets"] = _shorter(size["octets"])
        else:
            size["octets"] = [_shorter(octets) for octets in size["octets"]]


def _shorter(octets: int) -> int:
    # A data unit may have fewer octets than the smallest frame already.
    return min(octets, max(LEAST, octets * 3 // 4))


def _raised(document: PlanDocument, stream: int, port: str, traffic_class: int) -> None:
    """A priority of the highest class."""
    classes = next(one for one in document["ports"] if one["name"] == port)["pcp_to_class"]
    if max(classes) > traffic_class:
        document["streams"][stream]["pcp"] = classes.index(max(classes))


def _faster(document: PlanDocument, port: int, traffic_class: int) -> None:
    """A tenth more of the link for a shaper, as far as the link has it."""
    own = document["ports"][port]
    slope = own["classes"][traffic_class]["cbs"]
    more = min(slope["idle_slope_bps"] // 10, own["rate_bps"] - 1 - slope["idle_slope_bps"])
    slope["idle_slope_bps"] += more
    slope["send_slope_bps"] += more
