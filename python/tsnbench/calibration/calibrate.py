"""From runs to a description of one kind of device: which sections, the fit, and what stays unexplained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.calibration.clocks import Clocks, measured_since
from tsnbench.calibration.distribution import Draw, Histogram, draws_of, times_of
from tsnbench.calibration.errors import CalibrationError
from tsnbench.calibration.fit import Fit, fit
from tsnbench.calibration.sections import Left, Section, Sighted
from tsnbench.libraries import numpy as np
from tsnbench.libraries import polars as pl
from tsnbench.plan.load import class_loads, total
from tsnbench.quantities import exact, some
from tsnbench.runs import Run, file_names
from tsnbench.runs.errors import FolderError
from tsnbench.runs.tables import repeats

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument

MOST_PPM = 1_000_000


@dataclass(frozen=True)
class Measured:
    """The sections of one run, and where they are from."""

    source: str
    plan: PlanDocument
    sections: tuple[Section, ...]
    nodes: tuple[int, ...]


@dataclass(frozen=True)
class Group:
    """What the line leaves unexplained for frames of one size that cross a number of nodes."""

    octets: int
    crossed: int
    frames: int
    mean_ns: float
    """Mean distance from the line; 0 if the line explains this size."""
    unsure_ns: float
    """Three standard errors of this mean, and the error of stamps and clocks."""
    p1_ns: float
    p99_ns: float

    @property
    def explained(self) -> bool:
        """Whether the mean distance may be chance."""
        return abs(self.mean_ns) <= self.unsure_ns


@dataclass(frozen=True)
class Calibrated:
    """The result of a calibration."""

    names: tuple[str, ...]
    fit: Fit
    times: Histogram
    draws: tuple[Draw, ...]
    groups: tuple[Group, ...]
    left: Left
    source: str
    rates: tuple[int, ...]
    load_ppm: int

    @property
    def frames(self) -> int:
        """Frames of the fit."""
        return sum(len(one.section.octets) for one in self.fit.blocks)

    @property
    def sizes(self) -> list[int]:
        """Sizes of the measured frames, octets."""
        return sorted({group.octets for group in self.groups})

    @property
    def correlation(self) -> float:
        """The greatest correlation of neighbours among the sections."""
        return max((one.correlation for one in self.fit.blocks), default=0.0)

    @property
    def doubts(self) -> list[str]:
        """What the description does not contain although the measurement shows it."""
        said = [
            f"frames of {group.octets} B through {group.crossed} take {exact(round(abs(group.mean_ns), 1))} "
            f"{'longer' if group.mean_ns > 0 else 'shorter'} than the line: not explained"
            for group in self.groups
            if not group.explained
        ]
        spreads = [group.p99_ns - group.p1_ns for group in self.groups if group.crossed == 1]
        if spreads and max(spreads) > 1.5 * min(spreads) + 10:
            said.append(
                f"the spread differs from size to size, {exact(round(min(spreads)))} to "
                f"{exact(round(max(spreads)))}: the description has one for all"
            )
        if self.correlation > 0.2:
            said.append(
                f"times of frames that follow each other are alike (correlation {self.correlation:.2f}): a "
                "twin draws each on its own, so its longest series of late frames is shorter"
            )
        if self.fit.per_octet.low < 0 <= self.fit.per_octet.high:
            said.append("no dependence on the size was found")
        return said


def measured(run: Run, names: Sequence[str], left: Left, clocks_ns: float | None = None) -> Measured:
    """The sections of a run that cross nodes of these names.

    Raises:
        CalibrationError: the Plan has no such node, no frame passed one, or clocks are unknown.
        FolderError: the run has no observations, or is not complete.
    """
    plan = run.plan.document
    nodes = places_of(plan, names, str(run.folder))
    sections = sighted(run, clocks_ns).sections(nodes, left)
    return Measured(f"{run.folder.name} (Plan {run.plan.hash[:12]})", plan, tuple(sections), nodes)


def sighted(run: Run, clocks_ns: float | None, software: bool = False) -> Sighted:
    """The sightings of a run since its clocks are as promised.

    Raises:
        FolderError: the run has no observations, or is not complete.
    """
    if run.state.value != "complete":
        raise FolderError(run.folder, f"expected a complete run, found one that is {run.state.value}")
    path = run.folder / file_names.OBSERVATIONS
    if not path.exists():
        raise FolderError(run.folder, f"has no {file_names.OBSERVATIONS}")
    table = repeats.read(path).select("tap", "stream", "seq", "t_ns", "octets")
    seen = table.filter(pl.col("t_ns").is_not_null() & (pl.col("t_ns") >= measured_since(run)))
    return Sighted(run.plan.document, seen, Clocks.of(run, clocks_ns), software)


def places_of(plan: PlanDocument, names: Sequence[str], where: str) -> tuple[int, ...]:
    """The places of nodes that forward, by their names.

    Raises:
        CalibrationError: the Plan has no such node, or it forwards nothing.
    """
    there = [node["name"] for node in plan["nodes"]]
    if missing := [name for name in names if name not in there]:
        raise CalibrationError(
            f"--for: expected nodes of {where}, found {some(missing)}", f"it has {some(there, 12)}"
        )
    stations = [name for name in names if plan["nodes"][there.index(name)]["kind"] == "station"]
    if stations:
        raise CalibrationError(f"--for: expected nodes that forward, found {some(stations)}")
    return tuple(there.index(name) for name in names)


def calibrate(runs: Sequence[Run], names: Sequence[str], clocks_ns: float | None = None) -> Calibrated:
    """The description that explains what was measured best.

    Args:
        runs: complete runs. names: nodes of one kind of device. clocks_ns: how far the clocks of both ends
            may differ, where nothing else says it.

    Raises:
        CalibrationError: the measurement does not say enough; the hint has what to measure.
        FolderError: a folder is no complete run.
    """
    left = Left()
    return calibrated([measured(run, names, left, clocks_ns) for run in runs], names, left)


def calibrated(parts: Sequence[Measured], names: Sequence[str], left: Left) -> Calibrated:
    """The description from the sections of all runs."""
    sections = [one for part in parts for one in part.sections if len(one.octets)]
    if not sections:
        said = "; ".join(list(left.reasons)[:3]) or "no frame passed them with a tap before and behind"
        raise CalibrationError(
            f"expected frames that crossed {some(list(names))} alone, found none: {said}",
            "let no other stream meet the measured one, or make its period longer",
        )
    found = fit(sections)
    mean = _mean_residence(sections)
    worst = max(one.error_ns for one in sections)
    if worst > mean:
        raise CalibrationError(
            f"expected clocks that differ by less than the times in {some(list(names))}, found "
            f"times of {exact(round(mean))} and clocks that may differ by {exact(round(worst))}",
            "synchronise the clocks, or let one clock stamp both ends",
        )
    if found.per_octet.high < 0:
        raise CalibrationError(
            f"expected larger frames to take as long or longer, found {-found.per_octet.value:.3g} ns less "
            "for each octet: frames leave before they have arrived whole",
            "write forwarding: {mode: cut-through, after: …} for these nodes in the scenario",
        )
    return Calibrated(
        tuple(names),
        found,
        times_of(found),
        tuple(draws_of(found)),
        tuple(_groups(found)),
        left,
        f"calibrated from {some([part.source for part in parts])}, for {some(list(names))}",
        tuple(sorted({rate for one in sections for rate in one.rates})),
        max((load_ppm(part.plan, part.nodes) for part in parts), default=0),
    )


def _mean_residence(sections: Sequence[Section]) -> float:
    """In one node, over all frames, ns."""
    every = np.concatenate([one.residence / one.crossed for one in sections])
    return float(every.mean())


def load_ppm(plan: PlanDocument, nodes: Sequence[int]) -> int:
    """The greatest load of a port of some nodes; saturating flows load it wholly."""
    loads = class_loads(plan)
    found = [0]
    for number, port in enumerate(plan["ports"]):
        if port["node"] in nodes:
            whole = any(own.saturating for own in loads[number])
            found.append(MOST_PPM if whole else int(total(loads[number]) * MOST_PPM / port["rate_bps"]))
    return min(max(found), MOST_PPM)


def _groups(found: Fit) -> list[Group]:
    """By size and number of crossed nodes, what the line leaves."""
    rows: dict[tuple[int, int], list[tuple[np.ndarray, float]]] = {}
    for one in found.blocks:
        section, rest = one.section, found.rest(one.section)
        for size in np.unique(section.octets):
            own = rest[section.octets == size]
            rows.setdefault((int(size), section.crossed), []).append((own, section.error_ns))
    groups = []
    for (octets, crossed), parts in sorted(rows.items()):
        every = np.concatenate([own for own, _ in parts])
        means = [chunk.mean() for own, _ in parts for chunk in np.array_split(own, 20) if len(chunk)]
        standard = float(np.std(means) / np.sqrt(len(means))) if len(means) > 1 else float(np.std(every))
        low, high = np.quantile(every, [0.01, 0.99])
        error = max(error for _, error in parts)
        groups.append(
            Group(octets, crossed, len(every), float(every.mean()), 3 * standard + error, low, high)
        )
    return groups
