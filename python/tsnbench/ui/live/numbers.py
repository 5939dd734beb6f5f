"""What the page shows while a scenario is typed: worst cases against limits, and the load of every link.

The numbers are those of ``tsnbench plan --bounds``, by the same functions.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, TypedDict

from tsnbench.errors import InputError
from tsnbench.measure.headline import worst_case_line
from tsnbench.measure.tables import worst_of_flows
from tsnbench.measure.verdict import worst_cases
from tsnbench.plan.bounds import bounds_of
from tsnbench.plan.load import class_loads, total
from tsnbench.planning import PlanningErrors
from tsnbench.planning import plan as make_plan
from tsnbench.report.parts.bars import bar
from tsnbench.runs.measures import WorstCaseRow
from tsnbench.scenario import ScenarioErrors
from tsnbench.scenario.loader import read_scenario
from tsnbench.ui.live.strip import Strip, strip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tsnbench.plan.bounds.types import Bounds
    from tsnbench.plan.document import Plan
    from tsnbench.plan.types import PlanDocument


class LiveRow(WorstCaseRow):
    """A requirement against its worst case."""

    bar: dict[str, object]
    """Its places on a line: a :class:`~tsnbench.report.parts.bars.Bar`."""


class LiveStream(TypedDict):
    """All flows of one stream of the text."""

    name: str
    upper_ns: int | None
    """The greatest delay of any of its flows, between stamps; None if one has no bound."""
    reason: str
    """Why there is no bound."""
    requirements: list[LiveRow]
    """For each limit and listener the flow with the smallest margin; broken limits first."""


class LivePort(TypedDict):
    """One direction of a link; nodes by their number in the drawing, shares of the port's rate."""

    name: str
    node: int
    peer: int
    load: float
    """Without saturating talkers, which use what is left."""
    reserved: float | None
    """The idle slopes; None without shapers."""
    saturating: bool
    queues: int
    """Traffic classes."""
    gates: bool
    """Whether it has a gate control list or scheduled frames."""


class Live(TypedDict):
    """The answer for one text."""

    reason: str
    """Why there is no Plan; the other values are then empty."""
    line: str
    """The last line of ``tsnbench plan --bounds``."""
    streams: list[LiveStream]
    ports: list[LivePort]
    strip: Strip | None
    """The cycle of the port that was asked for; None if there is no such port."""


def live(text: str, file: str, port: str = "") -> Live:
    """The worst cases and loads of the first run of a text.

    Args:
        text: the scenario, which may not be saved.
        file: its path: tables beside it are read.
        port: the name of the port whose cycle is wanted.
    """
    try:
        plan = make_plan(read_scenario(text, file)[0])
        streams, rows = streams_of(plan)
    except InputError as error:
        return without_plan(first_problem(error))
    return {
        "reason": "",
        "line": worst_case_line(rows),
        "streams": streams,
        "ports": list(port_loads(plan.document)),
        "strip": strip(plan.document, port),
    }


def streams_of(plan: Plan) -> tuple[list[LiveStream], list[WorstCaseRow]]:
    """The worst cases of a Plan by stream of the text, and the requirements of all flows."""
    found = bounds_of(plan.to_json(), hops=False)
    rows = worst_cases(plan.document, found)
    return _streams(plan.document, found, rows), rows


def first_problem(error: InputError) -> str:
    """Why a text has no Plan, in one line without the name of its file."""
    if not isinstance(error, ScenarioErrors | PlanningErrors):
        return str(error).splitlines()[0]
    first = error.problems[0].as_dict()
    return f"{first['line']}:{first['column']}: expected {first['expected']}, found {first['found']}"


def without_plan(reason: str) -> Live:
    """The answer for a text that has no Plan."""
    return {"reason": reason, "line": "", "streams": [], "ports": [], "strip": None}


def _streams(document: PlanDocument, found: Bounds, rows: list[WorstCaseRow]) -> list[LiveStream]:
    streams: dict[str, LiveStream] = {
        one["group"]: {"name": one["group"], "upper_ns": 0, "reason": "", "requirements": []}
        for one in document["streams"]
    }
    for flow in found["flows"]:
        own = streams[flow["group"]]
        upper, before = flow["upper_ns"], own["upper_ns"]
        own["upper_ns"] = None if upper is None or before is None else max(upper, before)
        own["reason"] = own["reason"] or (flow["reason"] or "" if upper is None else "")
    for row in worst_of_flows(rows):
        places = asdict(bar(row["requirement"], row["limit"], None, row["worst_case"]))
        streams[row["group"]]["requirements"].append({**row, "bar": places})
    return list(streams.values())


def port_loads(document: PlanDocument) -> Iterator[LivePort]:
    """Each direction of each link: its load, and what shapers reserve."""
    scheduled = {
        hop["port"] for stream in document["streams"] if "scheduled" in stream for hop in stream["route"]
    }
    for number, (port, loads) in enumerate(zip(document["ports"], class_loads(document), strict=True)):
        slopes = [one["cbs"]["idle_slope_bps"] for one in port["classes"] if "cbs" in one]
        yield {
            "name": port["name"],
            "node": port["node"],
            "peer": document["ports"][port["peer"]]["node"],
            "load": float(total(loads) / port["rate_bps"]),
            "reserved": sum(slopes) / port["rate_bps"] if slopes else None,
            "saturating": any(load.saturating for load in loads),
            "queues": len(port["classes"]),
            "gates": "gates" in port or number in scheduled,
        }
