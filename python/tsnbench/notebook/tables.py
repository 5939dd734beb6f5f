"""What a notebook shows of an object in place of its ``repr``: a function for each class."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from tsnbench.errors import BackendError, InputError
from tsnbench.measure.headline import headline, overall
from tsnbench.measure.outcome import Outcome, badge, outcome
from tsnbench.measure.tables import streams_table, verdict_rows, verdict_table
from tsnbench.notebook.html import MOST_ROWS, facts, table
from tsnbench.plan.summary import stream_rows
from tsnbench.quantities import count, micros, rate, some, time
from tsnbench.runs.manifest import State
from tsnbench.scenario.model.traffic import Periodic, Poisson, TokenBucket
from tsnbench.sheet import Column, Sheet
from tsnbench.studies.study_file import Drawn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tsnbench.compare.comparison import Comparison, Row
    from tsnbench.plan.document import Plan
    from tsnbench.runs import Run
    from tsnbench.scenario import Scenario
    from tsnbench.scenario.model.streams import Stream
    from tsnbench.studies.study_file import Study

Cell = TypeVar("Cell")


def scenario(shown: Scenario) -> str:
    """The streams of a scenario with their traffic and limits."""
    sheet = _sheet("stream", "from", "to", "*PCP", "traffic", "*delay at most")
    for name, stream in shown.streams.items():
        limit = stream.requires.least_delay
        flows = name if stream.count == 1 else f"{name} x{stream.count}"
        cells = (stream.talker, some(stream.listeners), str(stream.pcp), _traffic(stream))
        sheet.rows.append([flows, *cells, "" if limit is None else time(limit)])
    network = shown.network
    size = f"{count(len(network.nodes))} nodes, {count(len(network.links))} links"
    about = facts([time(shown.duration), size, _variant(shown.variant)])
    return table(f"Scenario {shown.name}", about, sheet)


def plan(shown: Plan) -> str:
    """The streams of a Plan with their paths, and the number of warnings."""
    sheet = _sheet("stream", "*PCP", "frame", "traffic", "path", "*least delay", "*delay at most")
    rows, there = stream_rows(shown.document, MOST_ROWS)
    for row in rows:
        name = row.stream if row.flows == 1 else f"{row.stream} x{row.flows}"
        limit = "" if row.limit_ns is None else time(row.limit_ns)
        cells = (str(row.pcp), row.frame, row.pattern, " \u2192 ".join(row.path), time(row.least_ns), limit)
        sheet.rows.append([name, *cells])
    if left := there - len(rows):
        sheet.captions.append(f"\u2026 and {left:,} more rows")
    sheet.captions += [f"warning: {one.text}" for one in shown.warnings[:3]]
    if (left := len(shown.warnings) - 3) > 0:
        sheet.captions.append(f"\u2026 and {left:,} more warnings")
    document = shown.document
    about = facts([time(document["duration_ns"]), f"hash {shown.hash[:12]}", _variant(document["variant"])])
    return table(f"Plan {shown.name}", about, sheet)


def run(shown: Run) -> str:
    """The verdict of a run, requirement by requirement; without requirements its streams.

    A complete run is measured and judged if this was not done before.
    """
    manifest = shown.manifest
    title = f"Run {manifest.get('name')}"
    about = [str(manifest.get("backend")), _variant(manifest.get("variant") or {}), str(shown.folder)]
    if shown.state is not State.COMPLETE:
        return table(title, facts([shown.state.value, *about]), Sheet("", []))
    try:
        verdict = shown.verdict()
        rows = verdict_rows(verdict)
        sheet = verdict_table(verdict, MOST_ROWS) if rows else streams_table(shown.measures(), MOST_ROWS, ())
    except (InputError, BackendError) as error:
        return table(title, facts(about), Sheet("", [], captions=[f"no verdict: {error}"]))
    whole = overall(verdict)
    if whole is None:
        return table(f"{title}: {badge(whole)}", facts(about), sheet)
    # A narrow page shows the first columns.
    sheet.columns = _last_second(sheet.columns)
    sheet.rows = [_last_second(cells) for cells in sheet.rows]
    return table(f"{title}: {headline(verdict)}", facts(about), sheet, [outcome(row) for row in rows], whole)


def comparison(shown: Comparison) -> str:
    """Each stream in each run, and whether the run agrees with the first one there."""
    sheet = _sheet("stream", "agrees", "to", "run", "*lost", "*median (us)", "*greatest (us)")
    marks = []
    for row in shown.rows:
        delay = row.delay
        figures = [micros(None if delay is None else delay[name]) for name in ("median", "max")]
        apart, words = _agreement(shown, row)
        marks.append(apart)
        label = shown.sides[row.side].label
        sheet.rows.append([row.stream, words, row.listener, label, count(row.lost), *figures])
    whole = _good(shown.agrees)
    words = "runs agree" if shown.agrees else "RUNS DIFFER"
    return table(f"Comparison: {words}", some([side.label for side in shown.sides]), sheet, marks, whole)


def study(shown: Study) -> str:
    """What a study varies, and how often it repeats each combination."""
    sheet = _sheet("varied path", "values")
    for one in shown.vary:
        if isinstance(one, Drawn):
            values = f"drawn for each repetition: {one.distribution}"
        else:
            values = some(one.texts, 6)
        sheet.rows.append([one.path, values])
    most = "at most " if shown.until else ""
    times = f"{most}{shown.repeat} repetition{'s' if shown.repeat != 1 else ''}"
    goals = shown.search.goals if shown.search else shown.sensitivity.of if shown.sensitivity else ()
    kind = "search" if shown.search else "sensitivity" if shown.sensitivity else "all combinations"
    about = facts([shown.scenario.name, kind, times, some([goal.words for goal in goals])])
    return table(f"Study {shown.name}", about, sheet)


def _sheet(*headers: str) -> Sheet:
    """Columns of texts; of figures where the header begins with a star."""
    columns = [Column(header.removeprefix("*"), left=not header.startswith("*")) for header in headers]
    return Sheet("", columns, most=MOST_ROWS)


def _last_second(cells: Sequence[Cell]) -> list[Cell]:
    return [cells[0], cells[-1], *cells[1:-1]]


def _traffic(stream: Stream) -> str:
    """When a stream sends, in few words."""
    traffic = stream.pattern
    if isinstance(traffic, Periodic):
        jitter = f", jitter {time(traffic.jitter)}" if traffic.jitter else ""
        return f"every {time(traffic.period)}{jitter}"
    if isinstance(traffic, Poisson | TokenBucket) and traffic.rate is not None:
        return f"{traffic.kind}, {rate(traffic.rate)}"
    return str(traffic.kind)


def _variant(variant: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in variant.items())


def _good(agrees: bool) -> Outcome:
    return Outcome.PROVED if agrees else Outcome.FAILED


def _agreement(shown: Comparison, row: Row) -> tuple[Outcome | None, str]:
    """Whether a run agrees with the first one in a stream; the quantities that do not."""
    if row.side == 0:
        return None, "first run"
    own = [
        one
        for one in shown.agreements
        if (one.stream, one.listener, one.second) == (row.stream, row.listener, row.side)
    ]
    if not own:
        return None, "nothing to compare"
    wrong = [one.quantity for one in own if not one.agrees]
    return _good(not wrong), f"not in {some(wrong, 2)}" if wrong else "yes"
