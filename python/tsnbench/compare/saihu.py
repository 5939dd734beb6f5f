"""The worst-case bounds of a Plan beside those that the tools of Saihu found for the same network.

Both count from the release of a frame to its last bit at the listener. The tools analyse token buckets and
servers alone; without a packetizer they pass bits on before a frame is complete.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from tsnbench.compare.tidy import COLUMNS
from tsnbench.foreign import Json
from tsnbench.foreign_files import saihu
from tsnbench.measure.errors import MeasureError
from tsnbench.measure.tidy import Row
from tsnbench.plan.bounds import bounds
from tsnbench.plan.document import Plan
from tsnbench.quantities import UNKNOWN, micros, some
from tsnbench.sheet import Column, Sheet, csv_text

FORMAT = "tsnbench-compare-bounds/1"


@dataclass(frozen=True)
class Bounded:
    """The bounds of one flow; times in ns."""

    flow: str
    upper_ns: float | None
    """The greatest of the Plan's bounds to all listeners; None: some listener has none."""
    reason: str | None
    theirs_ns: dict[str, float]
    """By tool and method, of those with a bound."""

    @property
    def ratio(self) -> float | None:
        """The Plan's bound over the least of the others."""
        least = min(self.theirs_ns.values(), default=0.0)
        return None if self.upper_ns is None or least <= 0 else self.upper_ns / least


def beside(plan: Plan, file: Path) -> tuple[list[str], list[Bounded]]:
    """The tools, and every flow that both have.

    Args:
        plan: the Plan of the same network, as ``tsnbench import saihu`` and ``plan`` make it.
        file: the results of Saihu (``NAME_data.json``).

    Raises:
        InputError: the file has no bounds, or no flow of the Plan.
    """
    theirs = saihu.results(str(file))
    ours: dict[str, list[tuple[int | None, str | None]]] = {}
    for flow in bounds(plan)["flows"]:
        # A stream for each of several paths has a number behind its name.
        name = flow["stream"] if flow["stream"] in theirs.flows else flow["stream"].partition("+")[0]
        ours.setdefault(name, []).append((flow["release_upper_ps"], flow["release_reason"] or flow["reason"]))
    found = []
    for name in (name for name in theirs.flows if name in ours):
        reasons = [reason for upper, reason in ours[name] if upper is None]
        upper = None if reasons else max(upper or 0 for upper, _ in ours[name]) / 1000
        found.append(Bounded(name, upper, reasons[0] if reasons else None, theirs.flows[name]))
    if not found:
        raise MeasureError(
            f"{file}: expected a flow of the Plan ({some(list(ours))}), found {some(list(theirs.flows))}\n"
            "hint: tsnbench import saihu NETWORK makes the scenario whose streams have the names of the flows"
        )
    return theirs.tools, found


def table_of(tools: list[str], found: list[Bounded]) -> Sheet:
    """One row per flow; times in us."""
    columns = [
        Column("flow", name=True),
        Column("tsnbench"),
        *(Column(tool, spare=place) for place, tool in enumerate(tools, 1)),
        Column("over the least"),
        *([Column("why no bound", wraps=True)] if any(one.reason for one in found) else []),
    ]
    sheet = Sheet("worst case from the release, us", columns)
    for one in found:
        ratio = UNKNOWN if one.ratio is None else f"{one.ratio:.3f}"
        cells = (micros(one.theirs_ns.get(tool)) for tool in tools)
        row = [one.flow, micros(one.upper_ns), *cells, ratio, one.reason or ""]
        sheet.rows.append(row[: len(columns)])
    return sheet


def summary(found: list[Bounded]) -> str:
    """How many flows have no greater bound here than in each of the tools."""
    ratios = [one.ratio for one in found if one.ratio is not None]
    if not ratios:
        return f"no flow of {len(found)} has a bound on both sides"
    least = sum(ratio <= 1 for ratio in ratios)
    return (
        f"tsnbench's bound is at most each other one in {least} of {len(found)} flows; "
        f"in the median it is {median(ratios):.3f} times the least of them"
    )


def document_of(tools: list[str], found: list[Bounded]) -> Json:
    """The comparison, ready for JSON."""
    flows = [{**asdict(one), "ratio": one.ratio} for one in found]
    return {"format": FORMAT, "tools": tools, "flows": flows}


def csv_of(found: list[Bounded]) -> str:
    """One row per bound, with the columns of ``tsnbench compare --csv``."""
    rows: list[Row] = []
    for one in found:
        sides = {"tsnbench": one.upper_ns, **one.theirs_ns}
        rows += [
            (one.flow, "", tool, "worst-case bound", "max", value, "ns") for tool, value in sides.items()
        ]
    return csv_text(COLUMNS, rows)
