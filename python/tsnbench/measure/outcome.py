"""Outcomes of a requirement and of a whole run: the only place that orders and names them.

A requirement is *met (proved)* if the worst case keeps its limit. It is *met in this run* if only the
measured frames keep it, and *failed* if they do not. It is *uncertain* if the margin is smaller than the
uncertainty of the measurement. Only requirements that are certainly met count as met.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsnbench.runs.measures import VerdictRow


class Outcome(StrEnum):
    """The outcome of one requirement, or the worst of several; members are ordered from worst to best."""

    EXCEEDED = "exceeded"
    """A frame refutes the worst case that was proved."""
    FAILED = "no"
    NO_DATA = "no-data"
    MEAN_AND_MEDIAN = "mean-and-median"
    UNCERTAIN = "uncertain"
    """The margin, of either sign, is smaller than the uncertainty of the measurement."""
    NOT_PROVED = "not-proved"
    """Met in this run; the worst case is required to keep the limit, and does not, or is not known."""
    BEYOND = "beyond"
    """Met in this run; the worst case breaks the limit."""
    IN_RUN = "in-run"
    """Met in this run; the worst case is not known, or does not hold for this run."""
    PROVED = "proved"
    """Met, and the worst case keeps the limit."""

    @property
    def met(self) -> bool:
        """Whether the requirement counts as met."""
        return self in (Outcome.BEYOND, Outcome.IN_RUN, Outcome.PROVED)


WORST_FIRST = tuple(Outcome)
WORDS = {
    Outcome.EXCEEDED: "BEYOND PROOF",
    Outcome.FAILED: "FAILED",
    Outcome.NO_DATA: "NO DATA",
    Outcome.MEAN_AND_MEDIAN: "FAILED*",
    Outcome.UNCERTAIN: "UNCERTAIN",
    Outcome.NOT_PROVED: "NOT PROVED",
    Outcome.BEYOND: "met, worst case beyond",
    Outcome.IN_RUN: "met in this run",
    Outcome.PROVED: "met (proved)",
}
LEGEND = {
    Outcome.EXCEEDED: "the limit was kept, but a frame is beyond the proved worst case: in a "
    "simulation this is a defect of tsnbench; elsewhere the Plan does not describe the network. It does not "
    "count as met.",
    Outcome.FAILED: "the limit was broken.",
    Outcome.NO_DATA: "there was nothing to judge; it does not count as met.",
    Outcome.MEAN_AND_MEDIAN: "the largest sample breaks the limit, mean and median keep it (YES* in EnGINE's "
    "Table 14); it does not count as met.",
    Outcome.UNCERTAIN: "the margin is smaller than the measurement error (\u00b1), so it is unknown "
    "whether the limit was kept; it does not count as met.",
    Outcome.NOT_PROVED: "the scenario requires a proof that the limit is always kept, and there is none; "
    "a run that keeps the limit is not enough.",
    Outcome.BEYOND: "every frame of this run kept the limit; the worst case does not.",
    Outcome.IN_RUN: "every frame of this run kept the limit; the worst case is not known.",
    Outcome.PROVED: "every frame kept the limit, and the worst case also keeps it.",
}
_OF_A_RUN = {
    None: "NO REQUIREMENT",
    Outcome.EXCEEDED: "FRAMES BEYOND THE PROVED WORST CASE",
    Outcome.UNCERTAIN: "UNCERTAIN",
    Outcome.BEYOND: "MET IN THIS RUN, WORST CASE BEYOND A LIMIT",
    Outcome.IN_RUN: "ALL MET IN THIS RUN",
    Outcome.PROVED: "ALL MET (PROVED)",
}
WORST_CASES = {"proved": "kept", "beyond": "BEYOND", "none": "no bound"}
"""The worst case of a limit: the words for ``proof`` in a verdict."""


def badge(found: Outcome | None) -> str:
    """The words for a whole run, by the worst of its requirements."""
    return _OF_A_RUN.get(found, "NOT ALL MET")


def outcome(row: VerdictRow) -> Outcome:
    """The outcome of one row of a verdict; rows of earlier versions contain no worst case."""
    if row["met"] != "yes":
        return Outcome(row["met"])
    proof = row.get("proof")
    if proof == "proved" and not row.get("proof_condition"):
        return Outcome.PROVED
    return Outcome.BEYOND if proof == "beyond" else Outcome.IN_RUN


def worst(outcomes: Iterable[Outcome]) -> Outcome | None:
    """The worst of several outcomes; None if there are none."""
    there = set(outcomes)
    return next((one for one in WORST_FIRST if one in there), None)


def urgency(row: VerdictRow) -> tuple[int, float]:
    """The sort key of rows: failed ones first, then by margin relative to the limit."""
    return tightness(outcome(row), row["limit"], row.get("margin"), row.get("worst_case_margin"))


def tightness(own: Outcome, limit: float | None, *margins: float | None) -> tuple[int, float]:
    """The sort key of one requirement: failed ones first, then by the smallest margin relative to the
    limit."""
    return WORST_FIRST.index(own), min(_share(limit or 0.0, margin) for margin in margins)


def _share(limit: float, margin: float | None) -> float:
    """The margin relative to the limit."""
    if margin is None:
        return 1.0
    if not limit:
        return 1.0 if margin >= 0 else float("-inf")
    return margin / limit
