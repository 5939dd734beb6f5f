"""``make papers``: every shipped scenario at its own duration, with its report, and the tables.

python -m paper_figures                       all of it
python -m paper_figures --only flextest/spq   some scenarios; the others' results are kept
python -m paper_figures --tables              the tables alone, from recorded results
"""

from __future__ import annotations

import argparse
import sys
from fnmatch import fnmatch

from paper_figures.page import OVERVIEW, details, overview
from paper_figures.printed import PAPERS, Paper, papers
from paper_figures.quantity import Quantity
from paper_figures.recording import SCENARIOS, Recorded, run, shipped
from paper_figures.taking import NoQuantityError
from paper_figures.verdicts import NotRecordedError, judge


def main() -> int:
    parser = argparse.ArgumentParser(prog="paper_figures", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="such as flextest/*")
    parser.add_argument(
        "--compared", action="store_true", help="leave out what no printed number is compared with"
    )
    parser.add_argument("--no-report", action="store_true", help="write no reports")
    parser.add_argument("--record-only", action="store_true", help="write no tables")
    parser.add_argument("--tables", action="store_true", help="run nothing")
    options = parser.parse_args()
    known = papers()
    failed = [] if options.tables else record(known, options)
    if not options.record_only:
        try:
            write(known)
        except NotRecordedError as error:
            print(error, file=sys.stderr)
            return 1
    return 1 if failed else 0


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
    for folder, (paper, figures) in judged.items():
        (PAPERS / folder / "figures.md").write_text(details(paper, figures), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
