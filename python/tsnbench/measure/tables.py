"""Measures and verdicts as tables for a terminal, and as plain rows for everything else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tsnbench.libraries import rich
from tsnbench.measure.outcome import LEGEND, WORDS, WORST_CASES, Outcome, outcome, urgency
from tsnbench.quantities import UNKNOWN, count, micros, quantity
from tsnbench.runs.measures import KINDS, STATS, kinds
from tsnbench.runs.measures import figures as figures_of
from tsnbench.sheet import Column, Sheet

if TYPE_CHECKING:
    from rich.console import Group

    from tsnbench.runs.measures import GroupedRow, Measures, Verdict, VerdictRow, WorstCaseRow

COUNTS = {
    "never_sent": "never sent",
    "sent": "sent",
    "received": "received",
    "lost": "lost",
    "late": "late",
    "duplicate": "duplicate",
    "reordered": "reordered",
    "unmatched_rx": "only at rx",
    "missing_timestamp": "no stamp",
}
EXPLAINED = (
    Outcome.EXCEEDED,
    Outcome.MEAN_AND_MEDIAN,
    Outcome.UNCERTAIN,
    Outcome.NOT_PROVED,
    Outcome.NO_DATA,
    Outcome.BEYOND,
)
"""Outcomes whose words need a sentence under a table."""
MeasureRow = dict[str, Any]
"""A flat row for tables and data frames: column to text or number, columns as :func:`measures_rows` says."""
MOST_ROWS = 12
"""Rows of a table that people see unless they ask for all."""


def measures_rows(measures: Measures, flows: bool = False) -> list[MeasureRow]:
    """One flat row per stream and listener, or per flow: counts, delay and every jitter, in ns.

    EnGINE's result columns are ``delay mean``, ``delay median``, ``delay p99`` and ``delay-step-abs mean``,
    ``… median``, ``… p99``.
    """
    rows = []
    for path in measures["paths" if flows else "groups"]:
        row: MeasureRow = {"stream": path["stream"], "listener": path["listener"]}
        row |= {name: path["count"].get(name) for name in COUNTS}
        for kind, stat in {"delay": path["delay"], **kinds(path["jitter"])}.items():
            named = figures_of(stat) if stat else {}
            row |= {f"{kind} {name}": named.get(name) for name in STATS}
            row[f"{kind} min_seq"] = stat["min_seq"] if stat else None
            row[f"{kind} max_seq"] = stat["max_seq"] if stat else None
        row["spread"] = path["spread"]
        if unsure := path.get("uncertainty"):
            row["delay uncertainty"] = unsure["delay_ns"]
            row |= {f"{kind} uncertainty": unsure["difference_ns"] for kind in KINDS}
            row["interval uncertainty"] = unsure["arrivals_ns"]
        rows.append(row)
    return rows


def measures_table(
    measures: Measures,
    flows: bool = False,
    most: int | None = None,
    first: Sequence[tuple[str, str]] = (),
) -> Group:
    """Tables of the frames' fates, delays and jitters; all times in us.

    Args:
        measures: ``tsnbench-measures/1``.
        flows: one row per flow instead of one per stream.
        most: greatest number of rows of each table; None: all rows.
        first: (stream, listener) of the rows that come first; the others follow, ordered by lost frames and
        by greatest delay.
    """
    rows = measures_rows(measures, flows)
    _sort(rows, most, first)
    return rich.console.Group(_frames(rows, most), _delays(rows, most), _jitters(rows, most))


def streams_table(measures: Measures, most: int | None, first: Sequence[tuple[str, str]]) -> Sheet:
    """One row per stream: frames, lost frames, and the delay; times in us."""
    rows = measures_rows(measures)
    _sort(rows, most, first)
    more = ("never_sent", "late", "duplicate", "reordered", "missing_timestamp")
    counts = ("sent", "lost", *(name for name in more if any(row[name] for row in rows)))
    figures = ("min", "median", "p99", "max")
    spare = {
        "never_sent": 3,
        "late": 4,
        "duplicate": 5,
        "reordered": 6,
        "missing_timestamp": 7,
        "p99": 3,
        "min": 2,
    }
    unsure = _unsure(rows)
    sheet = Sheet(
        "streams: frames, and delay in us",
        [
            Column("stream", name=True),
            Column("listener", name=True, spare=1),
            *(Column(COUNTS[name], spare=spare.get(name, 0)) for name in counts),
            *(Column(name, spare=spare.get(name, 0)) for name in figures),
            *unsure,
        ],
        most=most,
    )
    for row in rows:
        counted = [count(row[name]) for name in counts]
        delays = [micros(row[f"delay {name}"]) for name in figures]
        delays += [micros(row.get("delay uncertainty")) for _ in unsure]
        sheet.rows.append([row["stream"], row["listener"], *counted, *delays])
    return sheet


def _sort(rows: list[MeasureRow], most: int | None, first: Sequence[tuple[str, str]]) -> None:
    """The order of rows if not all are shown: ``first``, then by lost frames and by greatest delay."""
    if most is None or len(rows) <= most:
        return
    order = {key: place for place, key in enumerate(first)}
    rows.sort(
        key=lambda row: (
            order.get((row["stream"], row["listener"]), len(order)),
            -(row["lost"] or 0),
            -(row["delay max"] or 0),
        )
    )


def _frames(rows: Sequence[MeasureRow], most: int | None) -> Sheet:
    shown = [
        name for name in COUNTS if name in ("sent", "received", "lost") or any(row[name] for row in rows)
    ]
    spare = {"received": 2, "reordered": 3, "duplicate": 4}
    sheet = _sheet("frames", [Column(COUNTS[name], spare=spare.get(name, 0)) for name in shown], most)
    for row in rows:
        sheet.rows.append([row["stream"], row["listener"], *(count(row[name]) for name in shown)])
    return sheet


SPARE = {"min": 3, "mean": 4, "median": 0, "p90": 7, "p99": 2, "p99_9": 5, "max": 0}
"""The figures that are left out first on a narrow terminal."""


def _delays(rows: Sequence[MeasureRow], most: int | None) -> Sheet:
    figures = [Column(name.replace("_", "."), spare=SPARE[name]) for name in STATS]
    frames = [Column("frame of min", spare=9), Column("frame of max", spare=6)]
    unsure = _unsure(rows)
    sheet = _sheet("delay, us", [*figures, *unsure, Column("spread", spare=8), *frames], most)
    for row in rows:
        stats = [micros(row[f"delay {name}"]) for name in STATS]
        stats += [micros(row.get("delay uncertainty")) for _ in unsure]
        ends = [count(row["delay min_seq"]), count(row["delay max_seq"])]
        sheet.rows.append([row["stream"], row["listener"], *stats, micros(row["spread"]), *ends])
    return sheet


def _jitters(rows: Sequence[MeasureRow], most: int | None) -> Sheet:
    figures = [Column(name.replace("_", "."), spare=SPARE[name]) for name in STATS]
    columns = [Column("stream", name=True), Column("kind", left=True), *figures]
    unsure = _unsure(rows)
    sheet = Sheet("jitter, us", [*columns, *unsure, Column("frame of max", spare=6)], most=most)
    heard = Counter(row["stream"] for row in rows)
    for row in rows:
        stream = f"{row['stream']} to {row['listener']}" if heard[row["stream"]] > 1 else row["stream"]
        for kind in KINDS:
            stats = [micros(row[f"{kind} {name}"]) for name in STATS]
            stats += [micros(row.get(f"{kind} uncertainty")) for _ in unsure]
            sheet.rows.append([stream, kind, *stats, count(row[f"{kind} max_seq"])])
    return sheet


def _unsure(rows: Sequence[MeasureRow]) -> list[Column]:
    """The column of uncertainties, if the clocks of any row were read."""
    return [Column("\u00b1")] if any("delay uncertainty" in row for row in rows) else []


def plus_minus(row: VerdictRow) -> str:
    """The uncertainty, such as `` ± 1.2 us``; empty if the run's clocks were not read."""
    unsure = row.get("uncertainty")
    return "" if unsure is None else f" \u00b1 {quantity(unsure, row['limit_unit'])}"


def _sheet(title: str, columns: Sequence[Column], most: int | None) -> Sheet:
    names = [Column("stream", name=True), Column("listener", name=True, spare=1)]
    return Sheet(title, [*names, *columns], most=most)


def verdict_rows(verdict: Verdict) -> list[GroupedRow]:
    """One row per stream, listener and requirement, for the flow with the smallest margin.

    Failed rows come first, then rows in order of their margin.
    """
    worst: dict[tuple[str, str, str, float], GroupedRow] = {}
    for row in verdict["rows"]:
        key = (row["group"], row["listener"], row["requirement"], row["limit"])
        held = worst.get(key)
        flows = held["flows"] if held else 0
        if held is None or urgency(row) < urgency(held):
            worst[key] = {**row, "flows": flows}
        worst[key]["flows"] = flows + 1
    return sorted(worst.values(), key=urgency)


def verdict_table(verdict: Verdict, most: int | None = None) -> Sheet:
    """A table of requirements; failed ones come first, then those with the smallest margin."""
    rows = verdict_rows(verdict)
    sheet = Sheet(
        "verdict",
        [
            Column("stream", name=True),
            Column("listener", name=True, spare=2),
            Column("requirement", name=True),
            Column("limit"),
            Column("found"),
            Column("margin", spare=4),
            Column("worst case", spare=1),
            Column("worst frame", name=True, spare=3),
            Column("verdict", left=True),
        ],
        most=most,
        rest="requirements more, with more left of their limits: --all",
    )
    for row in rows:
        figures = [
            quantity(value, row["limit_unit"]) for value in (row["limit"], row["found"], row["margin"])
        ]
        figures[1] += plus_minus(row)
        seq = row["worst_seq"]
        frame = "" if seq is None else f"{seq:,}" + (f" of {row['stream']}" if row["flows"] > 1 else "")
        bound = quantity(row.get("worst_case"), row["limit_unit"])
        sheet.rows.append(
            [row["group"], row["listener"], row["requirement"], *figures, bound, frame, said(row)]
        )
    there = {outcome(row) for row in rows}
    sheet.captions += [f"{WORDS[one]}: {LEGEND[one]}" for one in EXPLAINED if one in there]
    sheet.captions += _conditions(rows)
    if not rows:
        sheet.captions.append("no stream requires anything; write requires: {delay: 1 ms, loss: 0}")
    return sheet


def said(row: VerdictRow) -> str:
    """The verdict on one requirement in words that fit a column."""
    found = outcome(row)
    if row.get("proof") == "proved" and row.get("proof_condition") and found is Outcome.IN_RUN:
        return f"{WORDS[found]}, proved if \u2020"
    return WORDS[found]


def worst_cases_table(rows: Sequence[WorstCaseRow], most: int | None = None) -> Sheet:
    """The worst case against every requirement; broken ones come first.

    Args:
        rows: the result of :func:`tsnbench.measure.verdict.worst_cases`. most: greatest number of rows; None:
        all rows.
    """
    sheet = Sheet(
        "requirements against the worst case",
        [
            Column("stream", name=True),
            Column("listener", name=True, spare=1),
            Column("requirement", name=True),
            Column("limit"),
            Column("worst case"),
            Column("margin", spare=2),
            Column("", left=True),
        ],
        most=most,
        rest="requirements more, with more left of their limits: --all",
    )
    for row in worst_of_flows(rows):
        values = (row["limit"], row["worst_case"], row["worst_case_margin"])
        figures = [quantity(value, row["limit_unit"]) for value in values]
        names = (row["group"], row["listener"], row["requirement"])
        sheet.rows.append([*names, *figures, WORST_CASES[row["proof"]]])
    reasons = dict.fromkeys(row["worst_case_reason"] for row in rows if row["worst_case_reason"])
    sheet.captions += [f"no bound: {reason}" for reason in reasons]
    return sheet


def worst_of_flows(rows: Sequence[WorstCaseRow]) -> list[WorstCaseRow]:
    """The flow of each stream with the smallest margin in the worst case; broken limits first."""

    def urgent(row: WorstCaseRow) -> tuple[int, float]:
        margin = row["worst_case_margin"]
        left = 1.0 if margin is None or not row["limit"] else margin / row["limit"]
        return ("beyond", "none", "proved").index(row["proof"]), left

    worst: dict[tuple[str, str, str, float], WorstCaseRow] = {}
    for row in rows:
        key = (row["group"], row["listener"], row["requirement"], row["limit"])
        if key not in worst or urgent(row) < urgent(worst[key]):
            worst[key] = row
    return sorted(worst.values(), key=urgent)


def runs_table(labels: Sequence[str], runs: Sequence[tuple[Verdict, bool]]) -> Sheet:
    """One row per run of a sweep: the number of met requirements, and the one with the smallest margin.

    Args:
        labels: the names of the runs. runs: the verdict of each, and whether an earlier run was used again.
    """
    reused = any(again for _, again in runs)
    sheet = Sheet(
        "runs",
        [
            Column("run", name=True),
            Column("met", spare=4),
            Column("lost"),
            Column("closest", name=True),
            Column("to", name=True),
            Column("limit", spare=3),
            Column("found"),
            Column("worst case", spare=1),
            *([Column("reused", left=True, spare=2)] if reused else []),
            Column("verdict", left=True),
        ],
    )
    for label, (verdict, again) in zip(labels, runs, strict=True):
        rows = verdict_rows(verdict)
        met = f"{sum(outcome(row).met for row in rows)} of {len(rows)}" if rows else UNKNOWN
        lost = count(sum(one["lost"] for one in verdict.get("lost") or ()))
        cells = [UNKNOWN] * 5
        word = "no requirement"
        if rows:
            row = rows[0]
            values = (row["limit"], row["found"], row.get("worst_case"))
            figures = [quantity(value, row["limit_unit"]) for value in values]
            figures[1] += plus_minus(row)
            cells = [f"{row['group']} at {row['listener']}", row["requirement"], *figures]
            word = said(row)
        if verdict.get("refuted"):
            word = WORDS[Outcome.EXCEEDED]
        sheet.rows.append([label, met, lost, *cells, *(["yes" if again else "no"] if reused else []), word])
    explained = {outcome(row) for verdict, _ in runs for row in verdict["rows"]}
    sheet.captions += [f"{WORDS[one]}: {LEGEND[one]}" for one in EXPLAINED if one in explained]
    return sheet


def _conditions(rows: Sequence[VerdictRow]) -> list[str]:
    """The conditions under which a worst case holds, if it is not a proof."""
    held = [row["proof_condition"] for row in rows if row.get("proof_condition") and row["met"] == "yes"]
    return [f"† if {condition}" for condition in dict.fromkeys(held)]
