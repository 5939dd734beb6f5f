"""Fitting a twin: least squares over the rows that are fitted; rows that are held out are not seen.

The residual of a number is the logarithm of what is printed by what the twin gives, and 0 where the print or
the paper's timestamps leave it open. Each fitted row is also predicted by a fit to the other rows alone: the
residuals of these predictions say how far off the twin is in rows that it has not seen (``prediction``).
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from paper_figures.number import PrintedNumber
from paper_figures.printed import PAPERS, Paper
from paper_figures.quantity import Quantity
from paper_figures.taking import Taken
from paper_figures.twins import FOLDER, Twin, hosts, scenario
from tsnbench.backends.simulation import Simulation
from tsnbench.planning import plan
from tsnbench.scenario import load_variants, model

GRANULARITY_NS = 238.4
"""Every jitter that EnGINE prints is a multiple: their delays are floating-point seconds since 1970."""
STEP = 0.05
"""Of a logarithm, for slopes."""
FARTHEST = 3.0
"""A residual counts no more than this, so that one number does not decide."""
WIDEST = 0.4
"""Of a logarithm: the first step of one parameter alone."""
LEAST_GAIN = 1e-3
"""Of the sum of squares, in one round."""
Number = tuple[str, Quantity]
"""A printed number by its row and what is compared with it: two tables may be of one run."""
Printed = Mapping[Number, PrintedNumber]


def printed(paper: Paper, own: Twin, rows: Iterable[str]) -> dict[Number, PrintedNumber]:
    """The printed numbers of these rows, and of no others."""
    wanted = set(rows)
    return {
        (row, entry.quantity): entry.number
        for figure in paper.figures
        for entry in figure.entries
        if entry.table and entry.number is not None and not entry.given and not entry.statement
        if (row := own.row(entry.table, entry.quantity)) in wanted and row is not None
    }


def residual(number: PrintedNumber, simulated: float) -> float:
    """ln(printed / simulated); 0 within half a printed digit, or half a step of the paper's timestamps."""
    assert number.least is not None
    assert number.most is not None
    open_ns = max(float(number.slack), GRANULARITY_NS / 2)
    least, most = max(float(number.least) - open_ns, 1.0), float(number.most) + open_ns
    return math.log(min(max(simulated, least), most) / max(simulated, 1.0))


@dataclass
class Simulated:
    """What a twin gives for printed numbers, at its duration of a fit."""

    own: Twin
    texts: Mapping[str, str]
    """By file of the twin, the original scenario."""

    def values(self, logarithms: Sequence[float], numbers: Iterable[Quantity]) -> dict[Quantity, float]:
        wanted = {one: self.own.quantity(one) for one in numbers}
        software = hosts(self.own, [math.exp(one) for one in logarithms])
        found: dict[Quantity, float] = {}
        with tempfile.TemporaryDirectory(prefix="papers-fit-") as folder:
            for name, run in self.runs:
                variant = " ".join(run.variant.values())
                here = {
                    one: twins
                    for one, twins in wanted.items()
                    if one.variant == variant and twins.file == f"{FOLDER}/{name}"
                }
                if here:
                    made = plan(with_hosts(run, software))
                    taken = Taken(Simulation().execute(made, Path(folder) / f"run-{len(found)}"))
                    found |= {one: taken.value(twins) for one, twins in here.items()}
        return found

    @cached_property
    def runs(self) -> list[tuple[str, model.Scenario]]:
        """Every run of the twin by its file, with the hosts of the beginning: files are read once."""
        with tempfile.TemporaryDirectory(prefix="papers-fit-") as folder:
            found = []
            for name, text in self.texts.items():
                file = Path(folder) / f"{name}.yaml"
                text = scenario(text, self.own, name, self.own.start, duration=self.own.duration)
                file.write_text(text, encoding="utf-8")
                found += [(name, run) for run in load_variants(file)]
        return found

    def residuals(self, logarithms: Sequence[float], numbers: Printed) -> dict[Number, float]:
        values = self.values(logarithms, [quantity for _, quantity in numbers])
        return {one: residual(number, values[one[1]]) for one, number in numbers.items()}


def with_hosts(run: model.Scenario, software: Mapping[str, Mapping[str, Any]]) -> model.Scenario:
    """A run whose hosts take something else; ``software`` as of :func:`hosts`."""
    found = {}
    for node in run.hosts:
        latencies = {
            stage: model.Histogram(
                values=tuple(int(one.split()[0]) for one in histogram["values"]),
                counts=tuple(histogram["counts"]),
            )
            for stage, histogram in software.get(node, software.get("default", {})).items()
        }
        if "wakeup" in latencies:
            latencies.setdefault("timer", latencies["wakeup"])
        found[node] = model.Host(latencies=latencies)
    return run.model_copy(update={"hosts": found})


def minimum(simulated: Simulated, numbers: Printed, start: Sequence[float], rounds: int) -> list[float]:
    """Levenberg and Marquardt's least squares over the parameters' logarithms.

    Where they find nothing, because gates make steps of what is fitted, each parameter is tried alone.
    Every simulation has the same random numbers, so that slopes are not lost in noise.
    """

    def far(at: np.ndarray) -> np.ndarray:
        return -np.clip(list(simulated.residuals(at, numbers).values()), -FARTHEST, FARTHEST)

    best, damping, width = np.array(start, dtype=float), 1.0, WIDEST
    now = far(best)
    for _ in range(rounds):
        before = float(now @ now)
        found = _slope_step(far, best, now, damping)
        if found is not None:
            best, now, damping = found[0], found[1], max(found[2] / 4, 0.01)
        if before - float(now @ now) < LEAST_GAIN * before:
            best, now = _single_steps(far, best, now, width)
            width = width if before - float(now @ now) >= LEAST_GAIN * before else width / 2
        if width < STEP:
            break
    return [float(one) for one in best]


Far = Callable[[np.ndarray], np.ndarray]


def _slope_step(
    far: Far, best: np.ndarray, now: np.ndarray, damping: float
) -> tuple[np.ndarray, np.ndarray, float] | None:
    """The next place, its residuals, and the damping that led there; none if nothing near is better."""
    slopes = np.array([(far(best + STEP * one) - now) / STEP for one in np.eye(len(best))]).T
    for _ in range(6):
        matrix = slopes.T @ slopes + damping * np.eye(len(best))
        step = np.clip(-np.linalg.solve(matrix, slopes.T @ now), -1, 1)
        there = far(best + step)
        if float(there @ there) < float(now @ now):
            return best + step, there, damping
        damping *= 4
    return None


def _single_steps(far: Far, best: np.ndarray, now: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
    for step in (sign * width * one for one in np.eye(len(best)) for sign in (1, -1)):
        there = far(best + step)
        if float(there @ there) < float(now @ now):
            best, now = best + step, there
    return best, now


@dataclass(frozen=True)
class Fit:
    """What a fit found; ``twins/<name>.json``."""

    parameters: list[float]
    """As ``Twin.start``."""
    without: dict[str, list[float]]
    """The same of the fits that leave out one row, by this row."""
    residuals: dict[str, dict[str, list[float]]]
    """By path of the quantity and row: of predictions by the fit that leaves out the row."""

    @classmethod
    def read(cls, folder: str, own: Twin) -> Fit:
        """
        Raises:
            OSError: it has not been fitted.
        """
        file = PAPERS / folder / FOLDER / f"{own.name}.json"
        return cls(**json.loads(file.read_text(encoding="utf-8")))

    def text(self) -> str:
        return json.dumps(self.__dict__, indent=1, sort_keys=True) + "\n"


def fit(paper: Paper, own: Twin, rounds: int = 12) -> Fit:
    """Fits one twin. Only the rows that its ``fit`` names are read."""
    simulated = Simulated(own, _originals(paper, own))
    best = minimum(simulated, printed(paper, own, own.fit), [math.log(one) for one in own.start], rounds)
    without: dict[str, list[float]] = {}
    residuals: dict[str, dict[str, list[float]]] = {}
    for row in own.fit:
        others = printed(paper, own, [one for one in own.fit if one != row])
        alone = minimum(simulated, others, best, (rounds + 2) // 3)
        without[row] = [_rounded(math.exp(one)) for one in alone]
        for (_, quantity), found in simulated.residuals(alone, printed(paper, own, [row])).items():
            path = own.quantity(quantity).path
            residuals.setdefault(path, {}).setdefault(row, []).append(_rounded(found))
    return Fit([_rounded(math.exp(one)) for one in best], without, residuals)


def _originals(paper: Paper, own: Twin) -> dict[str, str]:
    return {
        file: (PAPERS / paper.folder / f"{original}.yaml").read_text(encoding="utf-8")
        for file, original in own.scenarios.items()
    }


def write(paper: Paper, own: Twin, found: Fit) -> list[Path]:
    """The twin's scenarios, and what the fit found."""
    files = {f"{own.name}.json": found.text()}
    for file, original in _originals(paper, own).items():
        head = (
            f"# The twin of {own.scenarios[file]}.yaml: its hosts were fitted to the paper's rows\n"
            f"# {', '.join(own.fit)}, and to no others (printed.yml, twins).\n"
            f"# `python -m paper_figures --fit {paper.folder}/{own.name}` writes this file.\n"
        )
        files[f"{file}.yaml"] = scenario(original, own, file, found.parameters, head)
    folder = PAPERS / paper.folder / FOLDER
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    return [folder / name for name in files]


def _rounded(number: float) -> float:
    return float(f"{number:.4g}")
