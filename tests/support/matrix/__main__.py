"""Tries the matrix and prints its tables: ``PYTHONPATH=tests python -m support.matrix``."""

from __future__ import annotations

import argparse
import json
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from support.matrix.known import unexplained
from support.matrix.summary import summary
from support.matrix.table import THIRDS, combined, pairs, rows, triples
from support.matrix.trial import Trial, tried


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m support.matrix", description=__doc__)
    parser.add_argument("rows", nargs="*", help="one scenario of these rows; all pairs by default")
    parser.add_argument("--phases", type=int, default=4, help="runs of each scenario")
    parser.add_argument("--triples", action="store_true", help=f"with each of {', '.join(THIRDS)}")
    parser.add_argument("--of", action="append", default=[], help="only scenarios with this row")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a file for the trials")
    parser.add_argument("--scenario", action="store_true", help="print the scenario of the rows")
    options = parser.parse_args()
    unknown = set(options.rows) - set(rows())
    if unknown:
        parser.error(f"no rows: {', '.join(sorted(unknown))}")
    if options.scenario:
        print(json.dumps(combined(options.rows), indent=2))
        return
    every = [tuple(options.rows)] if options.rows else triples(THIRDS) if options.triples else pairs()
    every = [names for names in every if all(one in names for one in options.of)]
    trial = partial(tried, phases=range(options.phases))
    with ProcessPoolExecutor(options.jobs) as pool:
        done: list[Trial] = []
        for one in pool.map(trial, every, chunksize=4):
            done.append(one)
            print(f"\r{len(done)} of {len(every)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    if options.keep:
        options.keep.write_bytes(pickle.dumps(done))
    print(summary(done), end="")
    for one in done:
        for found in unexplained(one):
            print(f"not in known.yaml: {' + '.join(one.names) or 'base'}: {found}")


if __name__ == "__main__":
    main()
