"""Running the shipped scenarios, and what came out: ``results.json``."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from paper_figures.printed import PAPERS, Paper
from paper_figures.quantity import Quantity
from paper_figures.taking import NoQuantityError, Taken, Value
from tsnbench.runs import Run
from tsnbench.scenario import load_variants

SCENARIOS = PAPERS.parent
RESULTS = PAPERS / "results.json"
FINISHED = (0, 1)
"""Exit codes of a run that is complete: all met, or a requirement failed."""


@dataclass
class Recorded:
    """Quantities by ``<paper>/<name>``, and for how long each scenario ran."""

    values: dict[str, Value] = field(default_factory=dict)
    durations_ns: dict[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls) -> Recorded:
        if not RESULTS.exists():
            return cls()
        content = json.loads(RESULTS.read_text(encoding="utf-8"))
        return cls(content["values"], content["durations_ns"])

    def write(self) -> None:
        content = {"durations_ns": self.durations_ns, "values": self.values}
        RESULTS.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")

    def forget(self, papers: Iterable[Paper]) -> None:
        """Drops what no printed number is compared with any more."""
        asked = {
            f"{paper.folder}/{one}"
            for paper in papers
            for many in paper.quantities().values()
            for one in many
        }
        self.values = {name: value for name, value in self.values.items() if name in asked}
        files = {name.partition(" ")[0].partition("[")[0] for name in self.values}
        self.durations_ns = {name: ns for name, ns in self.durations_ns.items() if name in files}


@dataclass(frozen=True)
class Ended:
    """One scenario that was run: how, and what was taken."""

    scenario: str
    seconds: float
    exit_code: int
    words: str
    """The last line of what the run said, where it failed."""
    values: dict[str, Value] = field(default_factory=dict)
    duration_ns: int = 0


def shipped() -> list[Path]:
    """Every scenario below ``scenarios/``, without the inventories of labs."""
    return sorted(path for path in SCENARIOS.glob("**/*.yaml") if path.name != "lab.yaml")


def run(
    scenario: Path, wanted: Sequence[Quantity], options: Sequence[str] = (), keep: Path | None = None
) -> Ended:
    """Runs one file with the command line that people use, report and all, and takes what is wanted.

    ``keep``: where the run folders stay.

    Raises:
        NoQuantityError: a quantity that none of its runs has.
    """
    name = str(scenario.relative_to(SCENARIOS).with_suffix(""))
    with tempfile.TemporaryDirectory(prefix="papers-") as folder:
        into = keep or Path(folder) / "run"
        command = [
            str(Path(sys.executable).with_name("tsnbench")),
            "run",
            str(scenario),
            "--into",
            str(into),
            *options,
        ]
        started = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, cwd=SCENARIOS.parent)
        seconds = time.monotonic() - started
        if done.returncode not in FINISHED:
            words = done.stderr.strip().splitlines()
            return Ended(name, seconds, done.returncode, words[-1] if words else "")
        runs = [Run.open(path.parent) for path in sorted(into.glob("**/manifest.json"))]
        values = take(runs, wanted, scenario)
        return Ended(name, seconds, done.returncode, "", values, int(runs[0].manifest["duration_ns"]))


def take(runs: Sequence[Run], wanted: Sequence[Quantity], scenario: Path) -> dict[str, Value]:
    """
    Raises:
        NoQuantityError: a quantity that none of the runs has.
    """
    taken = {one.variant: one for one in map(Taken, runs)}
    by_name = {
        " ".join(run.variant.values()): taken.get(frozenset(run.variant.items()))
        for run in load_variants(scenario)
    }
    folder = scenario.relative_to(PAPERS).parts[0] if wanted else ""
    values: dict[str, Value] = {}
    for quantity in wanted:
        if (one := by_name.get(quantity.variant)) is None:
            raise NoQuantityError(
                f"{folder}/{quantity}: no such run; there are {', '.join(map(repr, by_name))}"
            )
        try:
            values[f"{folder}/{quantity}"] = one.value(quantity)
        except NoQuantityError as error:
            raise NoQuantityError(f"{folder}/{quantity}: {error}") from error
    return values
