"""Warnings to read before trusting a result: a valid Plan that is probably not the intended one.

Every check is a function of the Plan's document and yields doubts; the same text at several ports becomes
one warning, with the place of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tsnbench import quantities
from tsnbench.plan.warnings.addresses import address_doubts
from tsnbench.plan.warnings.doubt import Doubt, Places, PlanWarning
from tsnbench.plan.warnings.gates import gate_doubts
from tsnbench.plan.warnings.load import load_doubts
from tsnbench.plan.warnings.ptp import ptp_doubts
from tsnbench.plan.warnings.streams import stream_doubts

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument

CHECKS: tuple[Callable[[PlanDocument], Iterator[Doubt]], ...] = (
    load_doubts,
    gate_doubts,
    ptp_doubts,
    stream_doubts,
    address_doubts,
)


def doubts(document: PlanDocument) -> list[tuple[Doubt, list[str]]]:
    """Every distinct finding, with its ports or streams."""
    found: dict[tuple[str, str], tuple[Doubt, list[str]]] = {}
    for check in CHECKS:
        for doubt in check(document):
            _, places = found.setdefault((doubt.kind, doubt.text), (doubt, []))
            if doubt.where not in places:
                places.append(doubt.where)
    return list(found.values())


def warnings(document: PlanDocument, places: Places | None = None) -> tuple[PlanWarning, ...]:
    """All warnings of a Plan, in the order of the checks and of the document, each with its place."""
    found = list(places.cautions) if places else []
    for doubt, wheres in doubts(document):
        where = quantities.some(wheres, 3)
        path = places.path_of(doubt) if places else ""
        place = places.where(path) if places else ""
        found.append(PlanWarning(doubt.kind, where, doubt.text, path, place, doubt.hint))
    return tuple(found)
