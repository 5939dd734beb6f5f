"""Every pair of mechanisms: planned, bounded, run in adversarial phases, judged and replayed.

``mechanisms.yaml`` has the rows; ``known.yaml`` has what is refused, and defects that are not repaired yet.
``PYTHONPATH=tests python -m support.matrix`` prints what all pairs show.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import mechanisms
from support.matrix.known import Known, known, unexplained
from support.matrix.table import THIRDS, combined, document, pairs, rows, triples
from support.matrix.trial import planned, tried
from support.profile import PROFILE

ONE_OF = {"quick": 60, "test": 5, "nightly": 1}[PROFILE]
"""One of so many pairs is tried."""
PHASES = range({"quick": 1, "test": 3, "nightly": 20}[PROFILE])
FLOWS_WITH_A_BOUND = 0.96
"""The share in all pairs; it may become greater."""
MECHANISMS = {row.name: row for row in mechanisms.mechanisms()}


def test_every_mechanism_is_in_the_matrix() -> None:
    """Who adds a mechanism adds a row."""
    inside = {one for row in rows().values() for one in row.mechanisms} | set(document()["everywhere"])
    assert inside == set(MECHANISMS)


@pytest.mark.parametrize("name", rows())
def test_the_plan_of_a_row_has_its_mechanisms(name: str, tmp_path: Path) -> None:
    (tmp_path / "times.csv").write_text("time_ms\n0\n1\n", encoding="utf-8")
    plan = planned(combined([name]), tmp_path).document
    for one in rows()[name].mechanisms:
        assert any(has(plan, part.split(".")) for part in MECHANISMS[one].values["plan"])


def has(value: Any, words: list[str]) -> bool:
    """Whether a document has a part, such as ``streams.pattern.poisson``."""
    if isinstance(value, list):
        return any(has(one, words) for one in value)
    if not words:
        return value is not None
    if not isinstance(value, dict):
        return False
    # A kind is a part, too: its values stand beside it.
    return value.get("kind") == words[0] or has(value.get(words[0]), words[1:])


@pytest.mark.parametrize("names", pairs()[::ONE_OF], ids="+".join)
def test_a_pair_keeps_what_is_told_of_it(names: tuple[str, ...]) -> None:
    assert unexplained(tried(names, PHASES)) == []


@pytest.mark.nightly
@pytest.mark.parametrize("names", triples(THIRDS) if PROFILE == "nightly" else [], ids="+".join)
def test_a_triple_keeps_what_is_told_of_it(names: tuple[str, ...]) -> None:
    assert unexplained(tried(names, PHASES[:4])) == []


@pytest.mark.parametrize("entry", known(), ids=lambda entry: f"{entry.kind}: {entry.words}")
def test_what_is_known_is_still_so(entry: Known) -> None:
    """A defect that is repaired is no longer listed."""
    for names in entry.examples():
        trial = tried(names, range(4))
        assert any(entry.explains(names, one) for one in trial.findings), names


@pytest.mark.nightly
def test_the_share_of_flows_with_a_bound() -> None:
    trials = [tried(names, ()) for names in pairs()]
    assert sum(one.bounded for one in trials) >= FLOWS_WITH_A_BOUND * sum(one.flows for one in trials)
