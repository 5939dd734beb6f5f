"""One run, or a sweep, in one line: the verdict, its certainty, and the requirement closest to its limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tsnbench.measure import refuted
from tsnbench.measure.outcome import Outcome, badge, outcome, urgency, worst
from tsnbench.measure.tables import plus_minus, verdict_rows, worst_of_flows
from tsnbench.plan.bounds.promise import broken as broken_promise
from tsnbench.quantities import quantity, time

if TYPE_CHECKING:
    from tsnbench.runs.measures import Measures, Verdict, VerdictRow, WorstCaseRow

NO_REQUIREMENT = "write requires: {delay: 1 ms, loss: 0}"


def overall(verdict: Verdict) -> Outcome | None:
    """The worst outcome of all requirements and proofs; None if there are no requirements."""
    if verdict.get("refuted"):
        return Outcome.EXCEEDED
    return worst(outcome(row) for row in verdict["rows"])


def headline(verdict: Verdict) -> str:
    """``NOT ALL MET: 2 of 19 requirements, worst video at computer: delay 1.204 ms of 1 ms``; where frames
    refute a proof, this comes first."""
    rows = verdict_rows(verdict)
    found = overall(verdict)
    parts = [f"{_counted(found, rows)}, {closest(rows[0])}" if rows else NO_REQUIREMENT]
    said = badge(found)
    if broken := verdict.get("refuted"):
        failed = sum(outcome(row) is not Outcome.EXCEEDED and not outcome(row).met for row in rows)
        parts = [refuted.line(broken), *([f"{failed:,} of {_requirements(rows)} not met"] if failed else [])]
        said = refuted.badge_of(broken)
    late = f"{verdict['dropped_late']:,} dropped late" if "dropped_late" in verdict else ""
    parts += [text for text in (lost(verdict), late, broken_promise(verdict.get("clocks"))) if text]
    return f"{said}: {'; '.join(parts)}"


def _requirements(rows: Sequence[VerdictRow]) -> str:
    return f"{len(rows):,} requirement{'s' if len(rows) != 1 else ''}"


def _counted(found: Outcome | None, rows: Sequence[VerdictRow]) -> str:
    own = [outcome(row) for row in rows]
    requirements = _requirements(rows)
    if found is None or not found.met:
        return f"{sum(not one.met for one in own):,} of {requirements}"
    proved, beyond = own.count(Outcome.PROVED), own.count(Outcome.BEYOND)
    if found is Outcome.BEYOND:
        return f"{beyond:,} of {requirements}"
    if found is Outcome.IN_RUN:
        return f"{requirements}, {proved:,} of them proved" if proved else f"{requirements}, none proved"
    return requirements


def closest(row: VerdictRow) -> str:
    """The requirement that exceeds its limit most, or has the smallest margin."""
    found = outcome(row)
    own = quantity(row["limit"], row["limit_unit"])
    met = found in (Outcome.IN_RUN, Outcome.PROVED)
    by_bound = found in (Outcome.BEYOND, Outcome.NOT_PROVED, Outcome.PROVED)
    value = row.get("worst_case") if by_bound else row["found"]
    who = f"{'closest' if met else 'worst'} {row['stream']} at {row['listener']}: {row['requirement']}"
    if value is None and by_bound and row.get("worst_case_reason"):
        return f"{who}, no bound is known: {row['worst_case_reason']}"
    if value is None:
        return f"{who}, {'no bound is known' if by_bound else 'no data'}, limit {own}"
    said = f"{quantity(value, row['limit_unit'])}{'' if by_bound else plus_minus(row)} of {own}"
    return f"{who} {said}{' in the worst case' if by_bound else ''}"


def clock_notes(verdict: Verdict, measures: Measures) -> list[str]:
    """From when on frames counted, and clocks that differed by more than the schedule allows.

    A broken promise of clocks is in the headline.
    """
    apart = verdict.get("clocks_apart")
    told = broken_promise(verdict.get("clocks"))
    found = [] if apart is None or told else [refuted.clocks_in_words(apart)]
    begin = measures.get("measured_from")
    if begin is None:
        return found
    if begin["ns"] is None:
        return [*found, "no frame counts: until the end the clocks did not stay within the margin"]
    since = ", from when on clocks stay within the margin" if begin["settled"] else ""
    return [*found, f"frames count that leave at {time(begin['ns'])} or later{since}"]


def worst_case_line(rows: Sequence[WorstCaseRow]) -> str:
    """The headline of a Plan before a run: ``WORST CASE BEYOND A LIMIT: 2 of 19 requirements, worst …``."""
    found = worst_of_flows(rows)
    if not found:
        return f"{badge(None)}: {NO_REQUIREMENT}"
    many = f"{len(found):,} requirement{'s' if len(found) != 1 else ''}"
    row = found[0]
    unit = row["limit_unit"]
    who = f"{row['stream']} at {row['listener']}: {row['requirement']}"
    if row["proof"] == "none":
        open_ones = sum(one["proof"] == "none" for one in found)
        return (
            f"WORST CASE NOT KNOWN: {open_ones:,} of {many}, such as {who} of {quantity(row['limit'], unit)}"
        )
    said = f"{who} {quantity(row['worst_case'], unit)} of {quantity(row['limit'], unit)}"
    if row["proof"] == "beyond":
        beyond = sum(one["proof"] == "beyond" for one in found)
        return f"WORST CASE BEYOND A LIMIT: {beyond:,} of {many}, worst {said}"
    return f"WORST CASE KEEPS EVERY LIMIT: {many}, closest {said}"


def lost(verdict: Verdict) -> str:
    """The lost frames in words, also without a requirement; empty if no frame is known to be lost."""
    found = verdict.get("lost") or ()
    if not found:
        return ""
    frames, sent = sum(one["lost"] for one in found), sum(one["sent"] for one in found)
    many = len({one["stream"] for one in found})
    of = f"of {found[0]['stream']}" if many == 1 else f"of {many} streams"
    return f"{frames:,} of {sent:,} frames lost {of}"


def sweep_headline(labels: Sequence[str], verdicts: Sequence[Verdict], reused: int = 0) -> str:
    """``NOT ALL MET in 3 of 36 runs: worst hops 7, video at computer: delay 1.204 ms of 1 ms``."""
    many = len(verdicts)
    own = [overall(verdict) for verdict in verdicts]
    found = worst(one for one in own if one is not None)
    rows = [(label, row) for label, one in zip(labels, verdicts, strict=True) for row in verdict_rows(one)]
    if found is None:
        where = f"in {many} runs"
    elif not found.met:
        where = f"in {sum(one is not None and not one.met for one in own)} of {many} runs"
    elif found is Outcome.BEYOND:
        where = f"in {own.count(Outcome.BEYOND)} of {many} runs"
    else:
        where = f"in {sum(one is not None for one in own)} of {many} runs"
    parts = []
    if rows:
        label, row = min(rows, key=lambda one: urgency(one[1]))
        kind, _, rest = closest(row).partition(" ")
        parts.append(f"{kind} {label}, {rest}")
    said = badge(found)
    if broken := [one.get("refuted") or [] for one in verdicts if one.get("refuted")]:
        first = next(label for label, one in zip(labels, verdicts, strict=True) if one.get("refuted"))
        parts = [f"{first}: {refuted.line(broken[0])}"]
        said = refuted.badge_of([one for own in broken for one in own])
    if losing := sum(bool(one.get("lost")) for one in verdicts):
        parts.append(f"frames lost in {losing} run{'s' if losing != 1 else ''}")
    if reused:
        parts.append(f"{reused} run{'s' if reused != 1 else ''} used again")
    return f"{said} {where}" + (f": {'; '.join(parts)}" if parts else "")
