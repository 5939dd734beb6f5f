"""Warnings to read before trusting a result: a valid Plan that is probably not the intended one.

Every check is a function of a Plan's facts and yields doubts; the same text at several ports becomes
one warning, with the place of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tsnbench import quantities
from tsnbench.plan.streams.facts import Facts
from tsnbench.plan.warnings.addresses import address_doubts
from tsnbench.plan.warnings.doubt import Doubt, Places, PlanWarning
from tsnbench.plan.warnings.gates import gate_doubts
from tsnbench.plan.warnings.load import load_doubts
from tsnbench.plan.warnings.ptp import ptp_doubts
from tsnbench.plan.warnings.shapers import shaper_doubts
from tsnbench.plan.warnings.streams import stream_doubts

CHECKS: tuple[Callable[[Facts], Iterator[Doubt]], ...] = (
    load_doubts,
    shaper_doubts,
    gate_doubts,
    ptp_doubts,
    stream_doubts,
    address_doubts,
)


def doubts(facts: Facts) -> list[tuple[Doubt, list[str]]]:
    """Every distinct finding, with its ports or streams."""
    found: dict[tuple[str, str], tuple[Doubt, list[str]]] = {}
    for check in CHECKS:
        for doubt in check(facts):
            _, places = found.setdefault((doubt.kind, doubt.text), (doubt, []))
            if doubt.where not in places:
                places.append(doubt.where)
    return list(found.values())


def warnings(facts: Facts, places: Places | None = None) -> tuple[PlanWarning, ...]:
    """All warnings of a Plan, in the order of the checks and of the document, each with its place."""
    found = list(places.cautions) if places else []
    for doubt, wheres in doubts(facts):
        where = quantities.some(wheres, 3)
        path = places.path_of(doubt) if places else ""
        place = places.where(path) if places else ""
        found.append(PlanWarning(doubt.kind, where, doubt.text, path, place, doubt.hint))
    return tuple(found)
