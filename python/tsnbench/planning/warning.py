"""What to look at before trusting a result: a Plan that can be obeyed, but hardly says what was meant.

Every check is a function of the Plan's document and yields (kind, where, text); the same text at several
ports becomes one warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tsnbench.planning import words
from tsnbench.planning.document import PlanWarning
from tsnbench.planning.gate_warnings import gate_doubts
from tsnbench.planning.load_warnings import load_doubts
from tsnbench.planning.ptp_warnings import ptp_doubts
from tsnbench.planning.stream_warnings import stream_doubts

Doubt = tuple[str, str, str]
CHECKS: tuple[Callable[[Mapping[str, Any]], Iterator[Doubt]], ...] = (
    load_doubts,
    gate_doubts,
    ptp_doubts,
    stream_doubts,
)


def warnings(document: Mapping[str, Any]) -> tuple[PlanWarning, ...]:
    """All warnings of a Plan, in the order of the checks and of the document."""
    found: dict[tuple[str, str], list[str]] = {}
    for check in CHECKS:
        for kind, where, text in check(document):
            places = found.setdefault((kind, text), [])
            if where not in places:
                places.append(where)
    return tuple(PlanWarning(kind, words.some(places, 3), text) for (kind, text), places in found.items())
