"""What to look at before trusting a result: a Plan that can be obeyed, but hardly says what was meant.

Every check is a function of the Plan's document and yields doubts; the same text at several ports becomes
one warning, with the place of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tsnbench.planning import words
from tsnbench.planning.address_warnings import address_doubts
from tsnbench.planning.document import PlanWarning
from tsnbench.planning.doubt import Doubt
from tsnbench.planning.gate_warnings import gate_doubts
from tsnbench.planning.load_warnings import load_doubts
from tsnbench.planning.places import Places
from tsnbench.planning.ptp_warnings import ptp_doubts
from tsnbench.planning.stream_warnings import stream_doubts

CHECKS: tuple[Callable[[Mapping[str, Any]], Iterator[Doubt]], ...] = (
    load_doubts,
    gate_doubts,
    ptp_doubts,
    stream_doubts,
    address_doubts,
)


def doubts(document: Mapping[str, Any]) -> list[tuple[Doubt, list[str]]]:
    """Every different doubt, and the ports or streams that it is about."""
    found: dict[tuple[str, str], tuple[Doubt, list[str]]] = {}
    for check in CHECKS:
        for doubt in check(document):
            _, places = found.setdefault((doubt.kind, doubt.text), (doubt, []))
            if doubt.where not in places:
                places.append(doubt.where)
    return list(found.values())


def warnings(document: Mapping[str, Any], places: Places | None = None) -> tuple[PlanWarning, ...]:
    """All warnings of a Plan, in the order of the checks and of the document, each with its place."""
    found = list(places.cautions) if places else []
    for doubt, wheres in doubts(document):
        where = words.some(wheres, 3)
        path = places.path_of(doubt) if places else ""
        place = places.where(path) if places else ""
        found.append(PlanWarning(doubt.kind, where, doubt.text, path, place, doubt.hint))
    return tuple(found)
