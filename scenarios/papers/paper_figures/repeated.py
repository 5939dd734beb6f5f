"""The printed numbers of a paper beside a study of it: each quantity over its repetitions."""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from paper_figures.number import UNITS, PrintedNumber
from paper_figures.printed import PAPERS, Entry, Figure, Paper
from paper_figures.quantity import Quantity
from paper_figures.recording import Recorded
from paper_figures.taking import NoQuantityError, Taken, Value, two_stages
from paper_figures.verdicts import Compared as Judged
from paper_figures.verdicts import JudgedFigure, Verdict, compare
from tsnbench.report.parts.study import Compared, Estimate, PrintedCurve, PrintedPoint
from tsnbench.runs import Run
from tsnbench.runs.process import cores
from tsnbench.studies import statistics
from tsnbench.studies.design import Request
from tsnbench.studies.estimates import printed
from tsnbench.studies.rerun import again
from tsnbench.studies.store import Content, Row, Store
from tsnbench.studies.table import Tables, tables, values_of

OTHER_SEEDS = "the repetitions have other seeds and drawn values"
INPUTS = ("plan", "counter", "clock", "clocks")
"""What a study does not repeat: its scenario decides these."""


@dataclass(frozen=True)
class Part:
    """What of a paper a study repeats."""

    paper: Paper
    file: str
    """The scenario's path below the paper's folder, without ``.yaml``."""
    entries: tuple[Entry, ...]


def part_of(papers: Iterable[Paper], scenario: Path) -> Part:
    """The numbers and statements that are about runs of one scenario alone; a study repeats no twin of it."""
    folder, *below = scenario.resolve().relative_to(PAPERS.resolve()).with_suffix("").parts
    file = "/".join(below)
    paper = next(one for one in papers if one.folder == folder)
    entries = tuple(
        replace(entry, twin=None)
        for figure in paper.figures
        for entry in figure.entries
        if not entry.given and all(_repeated(one, file) for one in _quantities(entry))
    )
    return Part(paper, file, entries)


def _quantities(entry: Entry) -> list[Quantity]:
    return [one for own in entry.values.values() for one in own.members]


def _repeated(one: Quantity, file: str) -> bool:
    return one.file == file and one.path.partition(".")[0] not in INPUTS


class Repeated:
    """A study that is made: its quantities over their repetitions."""

    def __init__(self, store: Store, content: Content, found: Tables, wanted: Iterable[Quantity]) -> None:
        self.store = store
        self.found = found
        self.runs: dict[str, list[Request]] = {}
        for run in content.runs:
            self.runs.setdefault(" ".join(run.variant.values()), []).append(run)
        self.names = list(dict.fromkeys(name for run in content.runs for name in values_of(run)))
        self.rows: dict[tuple[str, str], list[Row]] = {}
        for row in found.results:
            self.rows.setdefault((row["run"], row["stream"]), []).append(row)
        self.taken = self._taken(set(wanted))

    def values(self, variant: str) -> tuple[str, ...]:
        """A value of each axis of the study."""
        there = values_of(self.runs[variant][0])
        return tuple(there[name] for name in self.names)

    def estimate(self, quantity: Quantity) -> Estimate:
        """A quantity over all repetitions: the greatest of greatest values, the least of least ones, the
        mean of all others with its interval.

        Raises:
            NoQuantityError: the study has no such run, or the run no such quantity.
        """
        runs = self._of(quantity)
        if (row := self._interval(quantity)) is not None:
            return Estimate(row["estimate"], row["low"], row["high"])
        each = [self._value(run, quantity) for run in runs]
        what = quantity.path.rpartition(".")[2]
        if what in ("max", "min"):
            return Estimate(max(each) if what == "max" else min(each))
        interval = statistics.mean([(value, 1) for value in each])
        return Estimate(each[0]) if interval is None else Estimate(*_ends(interval))

    def _of(self, quantity: Quantity) -> list[Request]:
        if quantity.variant not in self.runs:
            raise NoQuantityError(f"{quantity}: no such run; there are {', '.join(self.runs)}")
        return self.runs[quantity.variant]

    def _interval(self, quantity: Quantity) -> Row | None:
        """The row of the study's own table of intervals; None if the table has none."""
        values = dict(zip(self.names, self.values(quantity.variant), strict=True))
        wanted = values | {"stream": quantity.subject, "quantity": quantity.path.replace(".", " ")}
        there = [
            row
            for row in self.found.intervals
            if row["estimate"] is not None and all(row[key] == text for key, text in wanted.items())
        ]
        return there[0] if len(there) == 1 else None

    def _value(self, run: Request, quantity: Quantity) -> float:
        if (run.id, quantity) in self.taken:
            return self.taken[run.id, quantity]
        rows = self.rows.get((run.id, quantity.subject), [])
        if len(rows) != 1:
            raise NoQuantityError(f"{quantity}: expected one stream in run {run.id}, found {len(rows)}")
        found = rows[0][column(quantity.path)]
        if found is None:
            raise NoQuantityError(f"{quantity}: run {run.id} has none")
        return float(found)

    def _taken(self, wanted: set[Quantity]) -> dict[tuple[str, Quantity], Value]:
        """What the study's tables do not have: out of run folders that are made again, on all cores."""
        known = {name for row in self.found.results[:1] for name in row}
        missing: dict[str, list[Quantity]] = {}
        for one in sorted(wanted):
            if column(one.path) not in known:
                for run in self._of(one):
                    missing.setdefault(run.id, []).append(one)
        if not missing:
            return {}
        with ProcessPoolExecutor(cores()) as pool:
            made = pool.map(partial(_again, self.store.folder), missing, missing.values())
            return {
                (run, quantity): value
                for run, values in zip(missing, made, strict=True)
                for quantity, value in values.items()
            }


def _again(study: Path, run: str, wanted: Sequence[Quantity]) -> dict[Quantity, Value]:
    with tempfile.TemporaryDirectory(prefix="papers-") as folder:
        into = Path(folder) / "run"
        if not again(Store(study), run, into, report=False):
            raise NoQuantityError(f"run {run}: its sightings differ from those of the study")
        taken = Taken(Run.open(into))
        return {one: taken.value(one) for one in wanted}


def column(path: str) -> str:
    """The column of a study's table: ``delay.mean`` is ``delay mean``, ``jitter.p99`` that of the step from
    frame to frame, ``count.lost`` is ``lost``."""
    head, _, rest = path.partition(".")
    if head == "count":
        return rest
    if head == "jitter":
        return rest.replace(".", " ") if "." in rest else f"delay-step-abs {rest}"
    return path.replace(".", " ")


def beside(store: Store, part: Part, name: str) -> tuple[JudgedFigure, printed.Printed]:
    """Compares every printed number with the results of a study that is made: the verdicts, and the file
    for the study's page.

    Raises:
        NoQuantityError: a run has no such quantity.
    """
    content, found = tables(store, store.read())
    wanted = {one for entry in part.entries for one in _quantities(entry)}
    study = Repeated(store, content, found, wanted)
    estimates = {one: study.estimate(one) for one in sorted(wanted)}
    results = {f"{part.paper.folder}/{one}": estimate.value for one, estimate in estimates.items()}
    judged = tuple(explained(compare(entry, part.paper.folder, results), part) for entry in part.entries)
    return JudgedFigure(Figure(name, "", (part.file,), part.entries), judged), printed.Printed(
        printed.digest(found.runs),
        tuple(_in_words(one, estimates) for one in judged),
        _curves(part, study, estimates),
    )


def explained(one: Judged, part: Part) -> Judged:
    """A number that differs here alone has no reason in ``printed.yml``: the single run agrees."""
    if one.verdict is not Verdict.DIFFERS or one.entry.why:
        return one
    alone = compare(one.entry, part.paper.folder, Recorded.read().values)
    why = f"the single run of the scenario agrees, with {alone.ours or 'its own seed'}; {OTHER_SEEDS}"
    return replace(one, entry=replace(one.entry, why=why))


def _in_words(one: Judged, estimates: Mapping[Quantity, Estimate]) -> Compared:
    entry = one.entry
    alone = place_of(entry)
    interval = ""
    if alone is not None and entry.number is not None:
        ours = estimates[alone]
        if ours.low is not None and ours.high is not None and ours.low < ours.high:
            interval = f"{entry.number.written(ours.low)} to {entry.number.written(ours.high)}"
    why = entry.why if one.verdict is Verdict.DIFFERS else entry.tolerance
    return Compared(entry.what, entry.where, entry.printed, one.ours, interval, str(one.verdict), why)


def place_of(entry: Entry) -> Quantity | None:
    """The only quantity that a number is about; None for a statement, and for one that is computed of
    several."""
    if entry.number is None:
        return None
    match ast.parse(entry.expression, mode="eval").body:
        case ast.Name(id=name) if len(entry.values[name].members) == 1:
            return entry.values[name].members[0]
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int(place))):
            return entry.values[name].members[place]
    return None


def _curves(part: Part, study: Repeated, estimates: Mapping[Quantity, Estimate]) -> tuple[PrintedCurve, ...]:
    """The printed numbers with a place on the axes, and ours at all other places of their curves."""
    found: dict[tuple[str, str], dict[str, PrintedNumber]] = {}
    for entry in part.entries:
        one = place_of(entry)
        if one is not None and entry.number is not None and not entry.number.is_bound:
            found.setdefault((one.subject, one.path), {})[one.variant] = entry.number
    curves = []
    for (stream, path), numbers in found.items():
        unit = next(iter(numbers.values())).unit
        points = []
        for variant in study.runs:
            quantity = Quantity(part.file, variant, stream, path)
            ours = estimates.get(quantity) or _elsewhere(study, quantity)
            if ours is not None:
                points.append(PrintedPoint(study.values(variant), ours, _range(numbers.get(variant))))
        curves.append(PrintedCurve(stream, words(path), unit, float(UNITS[unit]), tuple(points)))
    return tuple(curves)


def _elsewhere(study: Repeated, quantity: Quantity) -> Estimate | None:
    """Ours where the paper prints nothing: only what the study's tables have."""
    try:
        return study.estimate(quantity)
    except (KeyError, NoQuantityError):
        return None


def _range(number: PrintedNumber | None) -> tuple[float, float] | None:
    if number is None or number.least is None or number.most is None:
        return None
    return float(number.least), float(number.most)


def words(path: str) -> str:
    """``delay mean``, or ``delay mean from driver to rx``."""
    stages, _, own = path.rpartition("/")
    return own.replace(".", " ") + (" from {} to {}".format(*two_stages(stages)) if stages else "")


def _ends(found: statistics.Interval) -> tuple[float, float, float]:
    return found.estimate, found.low, found.high
