"""The tables of a study: one row for each run, stream and listener, and one row for each run.

``results`` depends on the study alone, so it is the same byte for byte for any number of workers, also if
some were killed. How runs were made (wall time, worker, earlier results) is in ``runs``.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tsnbench.libraries import polars as pl
from tsnbench.measure.outcome import Outcome
from tsnbench.quantities import UNKNOWN, count, micros
from tsnbench.runs import lock
from tsnbench.runs.errors import writing
from tsnbench.scenario.text import source
from tsnbench.sheet import Column, Sheet, csv_text
from tsnbench.studies import provenance, study_file
from tsnbench.studies.design import Design, Request
from tsnbench.studies.estimates import differences, printed, warm_up
from tsnbench.studies.estimates.intervals import COLUMNS, intervals, mean_delay
from tsnbench.studies.exploring import outcome
from tsnbench.studies.sequence import Look, Progress, Repetitions
from tsnbench.studies.statistics import State, WarmUp
from tsnbench.studies.store import STUDY, Content, Row, Store
from tsnbench.studies.study_file import Study

RESULTS, RESULTS_CSV, RUNS_CSV = "results.parquet", "results.csv", "runs.csv"
INTERVALS_CSV, UNTIL_CSV, DIFFERENCES_CSV = "intervals.csv", "until.csv", "differences.csv"
MOST_ROWS = 40
_TAKEN = {
    "run",
    "seed",
    "stream",
    "listener",
    "met",
    "state",
    "worst_case_beyond",
    "reused",
    "worker",
    "plan",
    "digest",
    "problem",
    "reason",
    "asked",
    "reached",
    warm_up.COLUMN,
    *COLUMNS,
    *differences.COLUMNS,
}
"""Columns that a parameter of the same name must not replace."""
NO_LOOK = Look("", "", "", 0.0, None, 0.0)
"""Stands in tables for a combination without any frame."""


def values_of(run: Request) -> dict[str, str]:
    """The values that distinguish a run from others, without its seed."""
    every = run.values | run.variant
    return {_column(name): text for name, text in every.items()}


def label(run: Request) -> str:
    """The values of a run in words; empty for a study that varies nothing."""
    return ", ".join(f"{key} {value}" for key, value in values_of(run).items())


@dataclass
class Tables:
    """The results of a study so far."""

    results: list[Row] = field(default_factory=list)
    runs: list[Row] = field(default_factory=list)
    intervals: list[Row] = field(default_factory=list)
    differences: list[Row] = field(default_factory=list)
    """Of every combination of values from the first one."""
    progress: list[Progress] = field(default_factory=list)
    search: list[Row] = field(default_factory=list)
    """Combinations that a search tried."""
    sensitivity: list[Row] = field(default_factory=list)
    study: Study | None = None
    """The study, if it is a search or a sensitivity analysis."""
    warm_ups: list[WarmUp] = field(default_factory=list)
    """Of each finished run, if the study has a warm-up."""
    missing: int = 0
    """Runs that are not made yet."""
    printed: printed.Printed | None = None
    """Numbers of a paper beside the results; None for a study of no paper."""


def tables(store: Store, listed: Content) -> tuple[Content, Tables]:
    """The list of the runs that count, and the tables of the finished ones, in the order of the list."""
    repetitions = Repetitions(store, listed)
    content = repetitions.counted()
    found = Tables(progress=repetitions.progress())
    named = list(dict.fromkeys(name for run in content.runs for name in values_of(run)))
    for run in content.runs:
        made = store.result(run)
        if made is None:
            found.missing += 1
            continue
        own = {"run": run.id, **{name: values_of(run).get(name) for name in named}, "seed": run.seed}
        deleted = made.get(warm_up.COLUMN)
        if deleted:
            found.warm_ups.append(WarmUp(**deleted))
        begin = {warm_up.COLUMN: deleted["duration_ns"]} if deleted else {}
        found.results += [own | row | begin for row in made.get("rows", [])]
        state = "no plan" if made.get("problem") else "met" if made["met"] else "failed"
        state = "refuted" if made.get("outcome") == Outcome.EXCEEDED else state
        beyond = made.get("outcome") == Outcome.BEYOND
        about = {
            key: made.get(key) for key in ("reused", "wall_seconds", "worker", "plan", "digest", "problem")
        }
        found.runs.append({**own, "state": state, "worst_case_beyond": beyond, **about})
    by_id = _by_run(found.results)
    met = {row["run"]: row["state"] == "met" for row in found.runs}
    against: str | None = None
    first: list[Row] = []
    for words, runs in _points(content).items():
        point = {name: values_of(runs[0]).get(name) for name in named}
        rows = [row for run in runs for row in by_id.get(run.id, [])]
        found.intervals += intervals(point, rows, [met[run.id] for run in runs if run.id in met])
        if against is None:
            against, first = words, rows
        elif len(runs) > 1:
            found.differences += differences.differences(point, against, rows, first)
    if content.explores:
        _explore(store, content, found)
    found.printed = printed.read(store)
    return content, found


def _explore(store: Store, content: Content, found: Tables) -> None:
    """The table of a search or of a sensitivity analysis."""
    text = source.read_file(store.folder / STUDY, study_file.SUBJECT)
    study = study_file.of_text(text, store.folder / content.file)
    found.study = study
    wanted = Design(content.runs, content.once)
    if study.search is not None:
        found.search = outcome.search_rows(study, study.search, wanted, store, _column)
    if study.sensitivity is not None:
        found.sensitivity = outcome.sensitivity_rows(study, study.sensitivity, wanted, store)


def _column(name: str) -> str:
    """The column of a parameter."""
    return f"parameters.{name}" if name in _TAKEN else name


def looks(content: Content, progress: Iterable[Progress]) -> list[Row]:
    """One row for each interval with a required width: the required and the reached width."""
    named = list(dict.fromkeys(name for run in content.runs for name in values_of(run)))
    rows = []
    for one in progress:
        if one.state is None:
            continue
        point = {name: values_of(one.runs[0]).get(name) for name in named}
        about = {"repetitions": len(one.runs), "state": one.state.value, "reason": one.reason}
        rows += [point | about | look.as_dict() for look in one.looks or (NO_LOOK,)]
    return rows


def how_far(content: Content, progress: Iterable[Progress]) -> Iterator[str]:
    """The progress of the repetitions of each combination, in words."""
    for one in progress:
        if one.state is None:
            continue
        said = f"  {label(one.runs[0]) or content.name}: "
        if one.state == State.CONTINUE:
            said += f"the next look is at {len(one.runs)} repetitions"
        else:
            word = "narrow enough" if one.state == State.REACHED else "NOT narrow enough"
            said += f"{len(one.runs)} repetitions, {word}"
        wide = [look for look in one.looks if look.reached is not None]
        if wide:
            worst = max(wide, key=lambda look: (look.reached or 0) / look.asked)
            who = f"{worst.quantity} of {worst.stream} at {worst.listener}"
            said += f"; widest: {who} ± {worst.reached or 0:.3%}, asked {worst.asked:.3%}"
        yield said + (f" ({one.reason})" if one.reason else "")


def _by_run(results: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in results:
        found.setdefault(row["run"], []).append(row)
    return found


def _points(content: Content) -> dict[str, list[Request]]:
    """The repetitions of each combination of values, by its words."""
    found: dict[str, list[Request]] = {}
    for run in content.runs:
        found.setdefault(label(run) or content.name, []).append(run)
    return found


def write(store: Store, content: Content, found: Tables) -> None:
    """Writes the tables into the study's folder.

    Raises:
        BackendError: the disk is full, or another process writes for long.
    """
    with writing(store.folder), lock.held(store.folder, patience_s=10):
        out = io.BytesIO()
        columns = _columns(found.results)
        frame = pl.DataFrame(
            {name: [row.get(name) for row in found.results] for name in columns}, strict=False
        )
        frame.write_parquet(out, compression="zstd")
        store.write(RESULTS, out.getvalue())
        for name, rows in _csv_tables(content, found).items():
            header = _columns(rows)
            store.write(name, csv_text(header, ([row.get(key) for key in header] for row in rows)))
        store.write(provenance.NAME, provenance.crate(store.folder, content, written(content, found)))


def written(content: Content, found: Tables) -> list[str]:
    """The names of the tables that :func:`write` writes."""
    return [RESULTS, *_csv_tables(content, found)]


def _csv_tables(content: Content, found: Tables) -> dict[str, list[Row]]:
    made = {
        RESULTS_CSV: found.results,
        INTERVALS_CSV: found.intervals,
        DIFFERENCES_CSV: found.differences,
        RUNS_CSV: found.runs,
    }
    if content.until:
        made[UNTIL_CSV] = looks(content, found.progress)
    if content.explores:
        made[f"{content.explores}.csv"] = found.search or found.sensitivity
    return made


def _columns(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def summary(content: Content, found: Tables, most: int | None = MOST_ROWS) -> Sheet:
    """One row for each combination of values: how many runs met all, losses, and the greatest delay."""
    study = found.study
    if study and study.search:
        return outcome.search_sheet(study, study.search, found.search, _column, most)
    if study and study.sensitivity:
        return outcome.sensitivity_sheet(study, study.sensitivity, found.sensitivity, most)
    by_id = _by_run(found.results)
    states = {row["run"]: row["state"] for row in found.runs}
    columns = [
        Column("values", name=True),
        Column("runs"),
        Column("met"),
        Column("lost"),
        Column("mean delay", spare=1),
        Column("greatest delay"),
        Column("of", name=True, spare=2),
    ]
    sheet = Sheet(f"{content.name}: delays in us, over all streams", columns, most=most)
    for words, runs in _points(content).items():
        rows = [row for run in runs for row in by_id.get(run.id, [])]
        made = [states[run.id] for run in runs if run.id in states]
        delays = [row for row in rows if row["delay max"] is not None]
        worst = max(delays, key=lambda row: row["delay max"], default=None)
        who = (worst["stream"], worst["listener"]) if worst else ()
        mean = mean_delay([row for row in delays if (row["stream"], row["listener"]) == who])
        sheet.rows.append(
            [
                words,
                f"{len(made)}" if len(made) == len(runs) else f"{len(made)} of {len(runs)}",
                f"{made.count('met')} of {len(made)}" if made else UNKNOWN,
                count(sum(row["lost"] or 0 for row in rows)) if rows else UNKNOWN,
                _mean_words(mean, delays, who),
                micros(worst["delay max"]) if worst else UNKNOWN,
                str(worst["stream"]) if worst else UNKNOWN,
            ]
        )
    if any("±" in row[4] for row in sheet.rows):
        sheet.captions.append("±: the 95 % confidence interval of the mean over repetitions; intervals.csv.")
    if any(row["differs"] == "yes" for row in found.differences):
        sheet.captions.append("differences.csv: how far combinations differ from the first, seed by seed.")
    sheet.captions += warm_up.sentences(found.warm_ups)
    if content.until:
        sheet.captions.append(narrowness(found.progress))
    if any(row["state"] == "no plan" for row in found.runs):
        sheet.captions.append("Runs without a plan have not met their requirements; runs.csv says why.")
    return sheet


def narrowness(progress: Sequence[Progress]) -> str:
    """Whether the intervals that the study asks for are narrow enough, over all combinations."""
    states = [one.state for one in progress if one.state is not None]
    narrow, wide = states.count(State.REACHED), states.count(State.NOT_REACHED)
    if narrow == len(states):
        return "Repetitions were added until all intervals in until.csv were narrow enough."
    said = [f"narrow enough in {narrow} of {len(states)} combinations"]
    if wide:
        said.append(f"NOT narrow enough in {wide} after all repetitions that the study allows")
    if going := len(states) - narrow - wide:
        said.append(f"{going} combination{'s need' if going > 1 else ' needs'} more repetitions")
    return f"Intervals in until.csv: {'; '.join(said)}."


def answered(found: Tables) -> bool:
    """Whether the study has its answer: all runs made and met, or the answer of a search or an analysis
    found."""
    if found.missing:
        return False
    if found.study and found.study.search:
        return any(row[outcome.ON_FRONT] == "yes" for row in found.search)
    if found.study and found.study.sensitivity:
        return all(not row["reason"] for row in found.sensitivity)
    return all(row["state"] == "met" for row in found.runs)


def _mean_words(mean: Row, delays: list[Row], who: tuple[str, ...]) -> str:
    """``4.812 ± 0.031``; without an interval the mean of the only repetition."""
    if mean["estimate"] is not None:
        return f"{micros(mean['estimate'])} ± {micros((mean['high'] - mean['low']) / 2)}"
    alone = [row["delay mean"] for row in delays if (row["stream"], row["listener"]) == who]
    return micros(alone[0]) if len(alone) == 1 else UNKNOWN


def headline(content: Content, found: Tables) -> str:
    """The last line: the number of runs, and the number of runs that met all requirements."""
    study = found.study
    if study and study.search:
        return outcome.search_headline(study, study.search, found.search)
    if study and study.sensitivity:
        return outcome.sensitivity_headline(study, found.sensitivity)
    total, made = len(content.runs), len(found.runs)
    met = sum(row["state"] == "met" for row in found.runs)
    reused = sum(bool(row["reused"]) for row in found.runs)
    beyond = sum(row["worst_case_beyond"] for row in found.runs)
    said = f"{content.name}: {met} of {made} runs met all requirements"
    said += f"; the worst case of {beyond} of them breaks a limit" if beyond else ""
    refuted = sum(row["state"] == "refuted" for row in found.runs)
    said += f"; {refuted} have frames beyond the proved worst case" if refuted else ""
    said += f"; {reused} of them used an earlier result" if reused else ""
    lost = sum(row["lost"] or 0 for row in found.results)
    said += f"; {count(lost)} frames lost" if lost else ""
    wide = sum(one.state == State.NOT_REACHED for one in found.progress)
    said += f"; {wide} of {len(found.progress)} combinations are less exact than asked" if wide else ""
    return said + (f"; {total - made} of {total} runs are not made yet" if made < total else "")
