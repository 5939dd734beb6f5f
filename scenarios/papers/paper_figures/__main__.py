"""``make papers``: every shipped scenario at its own duration, with its report, and the tables.

python -m paper_figures                       all of it
python -m paper_figures --only flextest/spq   some scenarios; the others' results are kept
python -m paper_figures --tables              the tables alone, from recorded results
python -m paper_figures --fit engine/ex-mq1   fits a twin to the rows that printed.yml names
python -m paper_figures --names               names of figures
python -m paper_figures --figure engine/fig22 the scenarios of one figure; nothing is recorded
python -m paper_figures --figure engine/hops-cm1  a study of a paper
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

from paper_figures.campaigns import campaigns, run_campaign, tell, told
from paper_figures.fitting import fit
from paper_figures.fitting import write as write_twin
from paper_figures.gallery import drawing, page
from paper_figures.names import find, slug
from paper_figures.names import known as figure_names
from paper_figures.page import FRONT, OVERVIEW, details, front, overview, shown, supports, verdict_of
from paper_figures.printed import PAPERS, Paper, papers
from paper_figures.quantity import Quantity
from paper_figures.recording import SCENARIOS, Recorded, run, shipped
from paper_figures.taking import NoQuantityError, Value
from paper_figures.verdicts import NotRecordedError, Verdict, judge
from tsnbench.errors import BackendError, InputError
from tsnbench.report.files import write_figures, write_text

GALLERY = SCENARIOS.parent / "target/papers.html"
"""The page over all figures of all papers."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="paper_figures", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="such as flextest/*")
    parser.add_argument(
        "--compared", action="store_true", help="leave out what no printed number is compared with"
    )
    parser.add_argument("--no-report", action="store_true", help="write no reports")
    parser.add_argument("--record-only", action="store_true", help="write no tables")
    parser.add_argument("--tables", action="store_true", help="run nothing")
    parser.add_argument("--fit", action="append", default=[], metavar="NAME", help="such as engine/*")
    parser.add_argument("--names", action="store_true", help="list the figures")
    parser.add_argument("--figure", metavar="NAME", help="such as engine/fig22, or a study: engine/hops-cm1")
    parser.add_argument("--into", type=Path, default=Path("runs"), help="folder of a figure's runs and page")
    parser.add_argument("--figures", default="csv", metavar="KINDS", help="svg,pdf,png,pgf,csv")
    parser.add_argument("--duration", help="of a figure's runs, in place of the scenarios' own")
    options = parser.parse_args()
    known = papers()
    if options.names:
        for name, (_, figure) in figure_names(known).items():
            print(f"{name}: {figure.what}")
        for name, file in campaigns().items():
            print(f"{name}: study. {told(file)}")
        return 0
    if options.fit:
        try:
            return fit_twins(known, options.fit)
        except (InputError, NoQuantityError) as error:
            print(error, file=sys.stderr)
            return 2
    if options.figure:
        kinds = [kind for kind in options.figures.split(",") if kind]
        try:
            if options.figure not in campaigns():
                return reproduce(known, options.figure, options.into, options.duration, kinds)
            if options.duration:
                print("--duration: not for a study; its scenario has the duration", file=sys.stderr)
                return 2
            return run_campaign(options.figure, options.into, kinds)
        except LookupError as error:
            print(error, file=sys.stderr)
            return 2
        except (InputError, BackendError) as error:
            print(error, file=sys.stderr)
            return 2 if isinstance(error, InputError) else 3
    failed = [] if options.tables else record(known, options)
    if not options.record_only:
        try:
            write(known)
        except NotRecordedError as error:
            print(error, file=sys.stderr)
            return 1
    return 1 if failed else 0


def fit_twins(known: list[Paper], names: Sequence[str]) -> int:
    """Fits the twins of these names, and writes their scenarios."""
    every = [(f"{paper.folder}/{own.name}", paper, own) for paper in known for own in paper.twins]
    wanted = [one for one in every if any(fnmatch(one[0], name) for name in names)]
    if not wanted:
        print(f"no such twin; there are {', '.join(one[0] for one in every)}", file=sys.stderr)
        return 2
    for name, paper, own in wanted:
        print(f"{name} ...", file=sys.stderr, flush=True)
        for file in write_twin(paper, own, fit(paper, own)):
            print(file.relative_to(SCENARIOS.parent))
    return 0


def reproduce(
    known: list[Paper], name: str, into: Path, duration: str | None, kinds: Sequence[str] = ()
) -> int:
    """Runs the scenarios of one figure, prints every number beside ours, writes a page, and the figure in
    every kind.

    Raises:
        LookupError: there is no such figure, or a run has no such quantity.
    """
    paper, figure = find(name, known)
    alone = replace(paper, figures=(figure,), experiments=())
    values: dict[str, Value] = {}
    options = [] if duration is None else ["--duration", duration]
    for file, wanted in alone.quantities().items():
        scenario = PAPERS / paper.folder / f"{file}.yaml"
        print(f"{scenario.relative_to(SCENARIOS.parent)} ...", file=sys.stderr, flush=True)
        ended = run(scenario, wanted, options, into / file.replace("/", "-"))
        if ended.words:
            print(f"{ended.scenario}: {ended.words}", file=sys.stderr)
            return ended.exit_code
        values |= ended.values
    (judged,) = judge(alone, values)
    tell(judged)
    for count, one in shown(paper, [judged], Recorded.read().values):
        print(f"{count} differ: {one.entry.why}\n  {supports(one)}: {one.entry.what}")
    whole = f"{paper.folder}/{slug(figure)}"
    target = into / "printed.html"
    write_text(target, page(f"{paper.heading}, {figure.name}", [(whole, paper, judged)]))
    drawn = drawing(judged, whole)
    files = write_figures(into / "figures", [] if drawn is None else [drawn], kinds)
    print(f"{whole}: {verdict_of(judged)}")
    for file in (target, *files):
        print(f"{'page' if file is target else 'figure'}: {file}", file=sys.stderr)
    return 1 if judged.of(Verdict.DIFFERS) else 0


def record(known: list[Paper], options: argparse.Namespace) -> list[str]:
    """Runs scenarios one at a time; the names of those that failed."""
    wanted: dict[str, list[Quantity]] = {
        f"papers/{paper.folder}/{file}": quantities
        for paper in known
        for file, quantities in paper.quantities().items()
    }
    failed = []
    for scenario in shipped():
        name = str(scenario.relative_to(SCENARIOS).with_suffix(""))
        if options.only and not any(fnmatch(name.removeprefix("papers/"), one) for one in options.only):
            continue
        if options.compared and name not in wanted:
            continue
        try:
            ended = run(scenario, wanted.get(name, ()), ["--no-report"] if options.no_report else [])
        except NoQuantityError as error:
            print(f"{name}: {error}", flush=True)
            failed.append(name)
            continue
        print(f"{name}: {ended.seconds:.0f} s, exit {ended.exit_code} {ended.words}".rstrip(), flush=True)
        if ended.words:
            failed.append(name)
            continue
        if ended.values:
            recorded = Recorded.read()
            recorded.values |= ended.values
            recorded.durations_ns[name.removeprefix("papers/")] = ended.duration_ns
            recorded.write()
    for name in failed:
        print(f"failed: {name}", file=sys.stderr)
    return failed


def write(known: list[Paper]) -> None:
    recorded = Recorded.read()
    recorded.forget(known)
    recorded.write()
    judged = {paper.folder: (paper, judge(paper, recorded.values)) for paper in known}
    OVERVIEW.write_text(overview(OVERVIEW.read_text(encoding="utf-8"), judged), encoding="utf-8")
    every_figure = [one for _, figures in judged.values() for one in figures]
    FRONT.write_text(front(FRONT.read_text(encoding="utf-8"), every_figure), encoding="utf-8")
    for folder, (paper, figures) in judged.items():
        (PAPERS / folder / "figures.md").write_text(
            details(paper, figures, recorded.values), encoding="utf-8"
        )
    every = [
        (f"{paper.folder}/{slug(one.figure)}", paper, one)
        for paper, figures in judged.values()
        for one in figures
        if any(not entry.given for entry in one.figure.entries)
    ]
    GALLERY.unlink(missing_ok=True)
    write_text(GALLERY, page("Figures of papers", every))


if __name__ == "__main__":
    sys.exit(main())
