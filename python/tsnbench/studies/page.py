"""The facts of a study's page: its axes with their positions on paper, and all estimates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tsnbench.quantities import UNKNOWN, micros, some
from tsnbench.report.parts.study import (
    Answers,
    Combination,
    EndFacts,
    Estimate,
    StudyAxis,
    StudyFacts,
    Tried,
)
from tsnbench.studies.estimates import printed
from tsnbench.studies.estimates.warm_up import sentences
from tsnbench.studies.exploring.numbers import numbers
from tsnbench.studies.exploring.outcome import ON_FRONT, heading, in_words
from tsnbench.studies.store import Content, Row
from tsnbench.studies.table import Tables, headline, summary, values_of
from tsnbench.version import __version__

MOST_DIFFERENCES = 40
MOST_WORST = 10


def facts(content: Content, found: Tables) -> StudyFacts:
    """The content of a study's page; runs that are not made yet are left out."""
    points: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for run in content.runs:
        points.setdefault(tuple(values_of(run).items()), []).append(run.id)
    names = list(dict.fromkeys(name for point in points for name, _ in point))
    axes = tuple(
        _axis(name, list(dict.fromkeys(dict(point).get(name, UNKNOWN) for point in points))) for name in names
    )
    states = {row["run"]: row["state"] for row in found.runs}
    end_of = _ends(found.results, names)
    results: dict[str, list[Row]] = {}
    for row in found.results:
        results.setdefault(row["run"], []).append(row)
    estimates: dict[tuple[str, ...], list[Row]] = {}
    for row in found.intervals:
        estimates.setdefault(tuple(str(row.get(name) or UNKNOWN) for name in names), []).append(row)
    combinations = []
    for point, runs in points.items():
        values = tuple(dict(point).get(name, UNKNOWN) for name in names)
        made = [states[run] for run in runs if run in states]
        own = [row for run in runs for row in results.get(run, [])]
        combinations.append(_combination(values, made, own, estimates.get(values, []), end_of))
    differing = [row for row in found.differences if row["differs"] == "yes"]
    beside = found.printed if _of_these_results(found) else None
    return StudyFacts(
        name=content.name,
        headline=headline(content, found) + ".",
        axes=axes,
        combinations=tuple(combinations),
        differences=[
            _difference(row, names, end_of) for row in _greatest_first(differing)[:MOST_DIFFERENCES]
        ],
        differ=len(differing),
        worst=_worst(found.results, names, end_of),
        provenance=(
            ("program", f"tsnbench {__version__}"),
            ("engine", content.engine),
            ("study", content.file),
            ("scenario", content.scenario),
        ),
        notes=_notes(content, found),
        answers=_answers(content, found),
        compared=beside.compared if beside else (),
        curves=beside.curves if beside else (),
    )


def _of_these_results(found: Tables) -> bool:
    return found.printed is not None and found.printed.results == printed.digest(found.runs)


def _answers(content: Content, found: Tables) -> Answers | None:
    """The table of a search or of a sensitivity analysis, and its combinations by the first two goals."""
    if found.study is None:
        return None
    sheet = summary(content, found, None)
    columns = tuple(column.header for column in sheet.columns)
    said = sheet.title.removeprefix(f"{content.name}: ")
    goals = found.study.search.goals if found.study.search else ()
    answers = Answers(said[:1].upper() + said[1:], columns, sheet.rows, sheet.captions)
    if len(goals) < 2:
        return answers
    x, y = goals[:2]
    scale = [1e-3 if goal.quantity.startswith("delay") else 1.0 for goal in (x, y)]
    tried = [
        Tried(
            row[x.words] * scale[0],
            row[y.words] * scale[1],
            row[ON_FRONT] == "yes",
            f"{heading(x)} {in_words(x, row[x.words])}, {heading(y)} {in_words(y, row[y.words])}",
        )
        for row in found.search
        if row[x.words] is not None and row[y.words] is not None
    ]
    return replace(answers, goals=(heading(x), heading(y)), tried=tried)


def _notes(content: Content, found: Tables) -> list[str]:
    notes = []
    if found.missing:
        notes.append(f"{found.missing} runs are not made yet.")
    if content.once:
        which = some([words or content.name for words in content.once], 5)
        notes.append(f"Nothing is random in these combinations, so they ran once: {which}.")
    if without := sum(row["state"] == "no plan" for row in found.runs):
        notes.append(f"{without} runs have no plan; runs.csv says why.")
    if found.printed is not None and not _of_these_results(found):
        notes.append(
            "The paper's numbers were compared with earlier results; tsnbench reproduce does it anew."
        )
    notes += sentences(found.warm_ups)
    return notes


def _axis(name: str, values: list[str]) -> StudyAxis:
    at = numbers(values)
    if at is None or len(set(at)) < len(values):
        return StudyAxis(name, tuple(values), tuple(map(float, range(len(values)))), numeric=False)
    order = sorted(range(len(values)), key=lambda place: at[place])
    return StudyAxis(
        name, tuple(values[n] for n in order), tuple(at[n] for n in order), numeric=len(values) > 1
    )


def _ends(results: Iterable[Row], names: Sequence[str]) -> dict[tuple[str, str], str]:
    """The name of each stream and listener: the listener is named where a stream has several in one
    combination of values. A listener that is another one with each number of hops is not."""
    listeners: dict[str, dict[tuple[object, ...], set[str]]] = {}
    every: dict[tuple[str, str], None] = {}
    for row in results:
        stream, listener = row["stream"], row["listener"]
        values = tuple(row.get(name) for name in names)
        listeners.setdefault(stream, {}).setdefault(values, set()).add(listener)
        every[stream, listener] = None
    several = {stream for stream, there in listeners.items() if max(map(len, there.values())) > 1}
    return {
        (stream, listener): f"{stream} to {listener}" if stream in several else stream
        for stream, listener in every
    }


def _combination(
    values: tuple[str, ...],
    made: Sequence[str],
    rows: Sequence[Row],
    estimates: Sequence[Row],
    end_of: dict[tuple[str, str], str],
) -> Combination:
    by_end = {
        (row["stream"], row["listener"], row["quantity"]): row
        for row in estimates
        if row["estimate"] is not None
    }
    ends: dict[str, EndFacts] = {}
    for key in dict.fromkeys((row["stream"], row["listener"]) for row in rows):
        own = [row for row in rows if (row["stream"], row["listener"]) == key]
        delays = [row["delay max"] for row in own if row["delay max"] is not None]
        ends[end_of[key]] = EndFacts(
            mean=_estimate(by_end.get((*key, "delay mean")), own, "delay mean"),
            p99=_estimate(by_end.get((*key, "delay p99")), own, "delay p99"),
            greatest=max(delays, default=None),
            lost=sum(row["lost"] or 0 for row in own),
        )
    share = by_end.get((None, None, "runs that met"))
    met = list(made).count("met")
    alone = Estimate(met / len(made)) if made else None
    whole = alone if share is None else Estimate(share["estimate"], share["low"], share["high"])
    return Combination(values, len(made), met, whole, ends)


def _estimate(row: Row | None, own: Sequence[Row], name: str) -> Estimate | None:
    """The estimate over repetitions; of a single one, its own value."""
    if row is not None:
        return Estimate(row["estimate"], row["low"], row["high"])
    there = [one[name] for one in own if one[name] is not None]
    return Estimate(there[0]) if len(there) == 1 else None


def _greatest_first(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row["quantity"] == "lost", -abs(row["difference"])))


def _difference(row: Row, names: Sequence[str], end_of: dict[tuple[str, str], str]) -> dict[str, str]:
    frames = row["quantity"] == "lost"
    unit = "frames" if frames else "µs"

    def signed(value: float) -> str:
        return f"{value:+,.2f}" if frames else ("+" if value > 0 else "") + micros(value)

    return {
        "values": ", ".join(f"{name} {row[name]}" for name in names),
        "end": end_of.get((row["stream"], row["listener"]), row["stream"]),
        "quantity": row["quantity"],
        "difference": f"{signed(row['difference'])} {unit}",
        "interval": f"{signed(row['low'])} to {signed(row['high'])}",
    }


def _worst(
    results: Iterable[Row], names: Sequence[str], end_of: dict[tuple[str, str], str]
) -> list[dict[str, str]]:
    """The runs with the greatest delays, each with the stream that has it."""
    best: dict[str, Row] = {}
    for row in results:
        kept = best.get(row["run"])
        if row["delay max"] is not None and (kept is None or row["delay max"] > kept["delay max"]):
            best[row["run"]] = row
    rows = sorted(best.values(), key=lambda row: -row["delay max"])[:MOST_WORST]
    return [
        {
            "run": row["run"],
            "values": ", ".join(f"{name} {row[name]}" for name in names),
            "seed": str(row["seed"]),
            "end": end_of[(row["stream"], row["listener"])],
            "delay": f"{micros(row['delay max'])} µs",
        }
        for row in rows
    ]
