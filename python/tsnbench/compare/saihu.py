"""The worst-case bounds of a Plan beside those that the tools of Saihu found for the same network.

Both count from the release of a frame to its last bit at the listener. The tools analyse token buckets and
servers alone; without a packetizer they pass bits on before a frame is complete.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from tsnbench import foreign
from tsnbench.compare.tidy import COLUMNS
from tsnbench.errors import ContentError
from tsnbench.foreign import Json
from tsnbench.measure.errors import MeasureError
from tsnbench.measure.tidy import Row
from tsnbench.plan.bounds import bounds
from tsnbench.plan.document import Plan
from tsnbench.quantities import UNKNOWN, micros, some
from tsnbench.sheet import Column, Sheet, csv_text

FORMAT = "tsnbench-compare-bounds/1"
LARGEST = 1 << 26
_MULTIPLIERS = {letter: 1000.0**power for power, letter in enumerate("afpnum", -6)} | {"": 1.0}
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_MOST_TOOLS = 64


@dataclass(frozen=True)
class Results:
    """Bounds of a file."""

    tools: list[str]
    """Tools with their methods, in the order of the file: ``xTFA_TFA``, ``Panco_PLP``."""
    flows: dict[str, dict[str, float]]
    """ns by flow and tool."""


def results(file: str) -> Results:
    """The bounds of a file.

    Raises:
        ContentError: the file has no bounds, or one that is no time.
        InputError: it is no JSON.
    """
    found = foreign.read_json(file, LARGEST)
    flows = found.get("flow_e2e_delay") if isinstance(found, dict) else None
    if not isinstance(flows, dict) or not flows:
        raise ContentError(
            f"{file}: flow_e2e_delay: expected bounds by flow and tool, as Saihu's NAME_data.json has them, "
            "found none"
        )
    worth = _unit_ns(file, found.get("units"))
    bounds = {name: _bounds(f"{file}: flow_e2e_delay: {name}", own, worth) for name, own in flows.items()}
    tools = list(dict.fromkeys(tool for own in bounds.values() for tool in own))
    if not 1 <= len(tools) <= _MOST_TOOLS:
        raise ContentError(f"{file}: flow_e2e_delay: expected 1 to {_MOST_TOOLS} tools, found {len(tools)}")
    return Results(tools, bounds)


def _unit_ns(file: str, units: Any) -> float:
    """The nanoseconds of a delay of 1."""
    unit = units.get("flow_delay") if isinstance(units, dict) else None
    if isinstance(unit, str) and unit[-1:] in _SECONDS and unit[:-1] in _MULTIPLIERS:
        return _MULTIPLIERS[unit[:-1]] * _SECONDS[unit[-1:]] * 1e9
    raise ContentError(f"{file}: units: flow_delay: expected a unit such as us, found {unit}")


def _bounds(where: str, written: Any, worth: float) -> dict[str, float]:
    """ns by tool; tools without a bound (infinite, or none) are left out."""
    if not isinstance(written, dict):
        raise ContentError(f"{where}: expected bounds by tool, found {written}")
    found = {}
    for tool, value in written.items():
        if value is None or value == math.inf:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e30:
            raise ContentError(f"{where}: {tool}: expected a time of 0 or more, found {str(value)[:40]}")
        found[tool] = value * worth
    return found


@dataclass(frozen=True)
class Bounded:
    """The bounds of one flow; times in ns."""

    flow: str
    upper_ns: float | None
    """The greatest of the Plan's bounds to all listeners; None: some listener has none, or no stream."""
    reason: str | None
    theirs_ns: dict[str, float]
    """By tool and method, of those with a bound."""

    @property
    def ratio(self) -> float | None:
        """The Plan's bound over the least of the others."""
        least = min(self.theirs_ns.values(), default=0.0)
        return None if self.upper_ns is None or least <= 0 else self.upper_ns / least


def beside(plan: Plan, file: Path) -> tuple[list[str], list[Bounded]]:
    """The tools, and every flow of the file and of the Plan.

    Args:
        plan: the Plan of the same network, as ``tsnbench import saihu`` and ``plan`` make it.
        file: the results of Saihu (``NAME_data.json``).

    Raises:
        InputError: the file has no bounds, or no flow of the Plan.
    """
    theirs = results(str(file))
    # An import writes the flow `f 0` as f-0.
    spelled = Counter(map(_spelled, theirs.flows))
    imported = {one: name for name in theirs.flows if spelled[one := _spelled(name)] == 1}
    ours: dict[str, list[tuple[int | None, str | None]]] = {}
    for flow in bounds(plan)["flows"]:
        # A stream for each of several paths has a number behind its name.
        stream = flow["stream"]
        names = (stream, stream.partition("+")[0])
        name = next((one for one in names if one in theirs.flows), None)
        name = name or next((imported[_spelled(one)] for one in names if _spelled(one) in imported), names[1])
        ours.setdefault(name, []).append((flow["release_upper_ps"], flow["release_reason"] or flow["reason"]))
    if not ours.keys() & theirs.flows.keys():
        raise MeasureError(
            f"{file}: expected a flow of the Plan ({some(list(ours))}), found {some(list(theirs.flows))}\n"
            "hint: tsnbench import saihu NETWORK makes the scenario whose streams have the names of the flows"
        )
    found = []
    for name in dict.fromkeys([*theirs.flows, *ours]):
        own = ours.get(name, [(None, "no stream of the Plan has this name")])
        reasons = [reason for upper, reason in own if upper is None]
        upper = None if reasons else max(upper or 0 for upper, _ in own) / 1000
        found.append(Bounded(name, upper, reasons[0] if reasons else None, theirs.flows.get(name, {})))
    return theirs.tools, found


def _spelled(name: str) -> str:
    """A name with one dash for all signs between its letters and digits."""
    return re.sub(r"[\W_]+", "-", name).strip("-")


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
    others = len(found) - len(ratios)
    return (
        f"tsnbench's bound is at most each other one in {least} of {len(ratios)} flows; "
        f"in the median it is {median(ratios):.3f} times the least of them"
        + (f"; flows without a bound on both sides: {others}" if others else "")
        + "\nIt holds for frames of the Plan's sizes; other tools may allow smaller packets, "
        "which can take longer"
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
