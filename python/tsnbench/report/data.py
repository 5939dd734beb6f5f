"""From a run folder to :mod:`tsnbench.report.facts`: the only file of the report that knows the folder's
layout."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from tsnbench import foreign
from tsnbench.libraries import polars as pl
from tsnbench.measure.headline import clock_notes
from tsnbench.measure.outcome import outcome
from tsnbench.measure.refuted import lines
from tsnbench.plan.document import Plan
from tsnbench.plan.streams.paths import path_to
from tsnbench.report.facts import (
    ClassCount,
    Counted,
    Judged,
    Measure,
    PortCount,
    RunFacts,
)
from tsnbench.report.parts.bounds import bound_of, members_of, read_bounds
from tsnbench.report.parts.faults import fault_spans
from tsnbench.report.parts.ingress import policed
from tsnbench.report.parts.planned import planned
from tsnbench.runs import documents, file_names
from tsnbench.runs.errors import FolderError
from tsnbench.runs.tables import repeats

if TYPE_CHECKING:
    from tsnbench.plan import types as plan_types
    from tsnbench.runs.measures import Measures, Verdict, VerdictRow

FILES = {
    file_names.MANIFEST: "the time, the machine and the versions of the run are not known",
    file_names.MEASURES: "nothing was measured yet",
    file_names.VERDICT: "no requirement was judged",
    file_names.COUNTERS: "ports and drops were not counted",
    file_names.FRAMES: "there is no table of single frames, so there are no distributions",
    file_names.OBSERVATIONS: "there are no sightings, so nothing is drawn over the gate schedule or over "
    "time per port",
}
"""Parts of a run folder, and the parts of a report that need them."""


FILES_OF_CLOCKS = "errors of clocks were not recorded"
"""Only runs whose nodes have clocks of their own have this file."""
FRAME_COLUMNS = {"path", "seq", "t_tx_ns", "delay_ns"}
CLOCK_COLUMNS = {"node", "t_true_ns", "error_ps", "offset_ps"}
OBSERVATION_COLUMNS = {"tap", "t_ns", "octets", "pcp"}


class HasFolder(Protocol):
    """The interface of a run that a report needs."""

    @property
    def folder(self) -> Path: ...


_AGAIN = "run the scenario again: a file of the folder was changed or is of another version"


def gather(run: HasFolder | Path | str) -> RunFacts:
    """Everything that a report shows of a run.

    Raises:
        InputError: the folder has no readable Plan, or one of its files is broken.
    """
    folder = Path(run) if isinstance(run, str | Path) else run.folder
    if not (folder / file_names.PLAN).is_file():
        raise FolderError(folder, "expected a run folder with a plan.json, found none")
    absent = [f"{name}: {lack}" for name, lack in FILES.items() if not (folder / name).is_file()]
    try:
        # If the file is not a Plan, one of the errors below is raised.
        plan = cast("plan_types.PlanDocument", _json(folder / file_names.PLAN))
        _check(plan)
        in_force, counters, faults = _of_counters(folder / file_names.COUNTERS, plan)
        measures, verdict = _json(folder / file_names.MEASURES), _json(folder / file_names.VERDICT)
        bounds, no_bounds = read_bounds(folder)
        flows = _told_apart(_flows(measures, plan))
        members = members_of(plan["streams"])
        return RunFacts(
            manifest=_json(folder / file_names.MANIFEST),
            plan=plan,
            in_force=in_force,
            flows=tuple(replace(m, bound=bound_of(bounds, members, m)) for m in flows),
            groups=tuple(
                replace(m, bound=bound_of(bounds, members, m)) for m in _told_apart(_groups(measures, flows))
            ),
            no_bounds=no_bounds,
            steady=_steady(folder),
            planned=planned(plan),
            offset=measures.get("offset"),
            judged=tuple(_judged(row) for row in verdict.get("rows", ())),
            refuted=tuple(verdict.get("refuted", ())),
            counters=counters,
            faults=faults,
            frames=_drawn(_table(folder / file_names.FRAMES, FRAME_COLUMNS, absent)),
            observations=_drawn(_table(folder / file_names.OBSERVATIONS, OBSERVATION_COLUMNS, absent)),
            clock_error=_clock_error(folder / file_names.CLOCK_ERROR, plan, absent),
            absent=tuple(absent),
            warnings=(
                *lines(verdict.get("refuted", ())),
                *_clocks(verdict, measures),
                *_warnings(measures.get("source") or {}),
            ),
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        Plan.read(folder / file_names.PLAN)  # If the file is no Plan, this error says why.
        raise FolderError(folder, f"a file of this run folder is damaged: {error!r}", _AGAIN) from error


def _steady(folder: Path) -> str:
    found = repeats.steady(folder)
    if found is None:
        return ""
    drawn = "; figures of single frames show the first part of the run" if "repeated" in found else ""
    return repeats.told(found) + drawn


def _of_counters(path: Path, plan: plan_types.PlanDocument) -> tuple[foreign.Json, Counted | None, Any]:
    """The gate lists in force, the counters and the faults that a run has counted.

    Raises:
        InputError: the file is broken.
    """
    counted = _json(path)
    try:
        in_force = {
            port["port"]: port["gates"]["in_force"]
            for port in counted.get("ports", ())
            if (port.get("gates") or {}).get("in_force")
        }
        return in_force, _counted(counted), fault_spans(plan, counted)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        problem = f"expected the counters of a run, found others: {error!r}"
        raise FolderError(path, problem, _AGAIN) from error


def _check(plan: plan_types.PlanDocument) -> None:
    """Fails like a broken file where a part of the Plan is missing that every page shows."""
    itemgetter("name", "seed", "duration_ns", "streams", "taps")(plan)
    plan.setdefault("variant", {})
    for node in plan["nodes"]:
        itemgetter("name", "kind")(node)
    for port in plan["ports"]:
        itemgetter("name", "node", "peer", "rate_bps", "propagation_ps", "pcp_to_class", "classes")(port)


NO_PLAN = cast(
    "plan_types.PlanDocument",
    {"name": "captures", "seed": 0, "duration_ns": 0, "variant": {}}
    | {part: [] for part in ("nodes", "ports", "streams", "taps")},
)
"""The Plan of captures that have none."""


def gather_captured(measures: Measures, frames: Path, like: RunFacts | None = None) -> RunFacts:
    """The results of captures, for streams of another run's Plan where there is one."""
    found: foreign.Json = {**measures}
    plan = NO_PLAN if like is None else like.plan | cast("plan_types.PlanDocument", {"hash": "", "taps": []})
    flows = _told_apart(_flows(found, plan))
    return RunFacts(
        manifest={"backend": "captures", "state": "complete", "title": like.title if like else ""},
        plan=plan,
        flows=flows,
        groups=_told_apart(_groups(found, flows)),
        offset=found.get("offset"),
        frames=frames,
        warnings=_warnings(found.get("source") or {}),
        absent=("captures have no Plan, counters or verdict of their own",),
    )


def _table(path: Path, columns: set[str], absent: list[str]) -> Path | None:
    """The file, if it is a table with these columns; a broken file counts as missing."""
    if not path.is_file():
        return None
    try:
        with foreign.table_errors(path):
            lacking = columns - set(pl.read_parquet_schema(path))
        problem = f"it has no column {', '.join(sorted(lacking))}" if lacking else ""
    except OSError:
        problem = "it is no readable Parquet file"
    if problem:
        absent.append(f"{path.name}: {problem}; {FILES.get(path.name, FILES_OF_CLOCKS)}")
        return None
    return path


def _drawn(table: Path | None) -> Path | None:
    """The table to draw: of a run that repeats, its first part, in a folder that goes with the process."""
    if table is None:
        return None
    name = hashlib.sha256(os.fsencode(table.parent.absolute())).hexdigest()[:16]
    return repeats.first_part(table, lambda: _scratch() / name)


@cache
def _scratch() -> Path:
    path = Path(tempfile.mkdtemp(prefix="tsnbench-report-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def _clock_error(path: Path, plan: plan_types.PlanDocument, absent: list[str]) -> Path | None:
    """The table, if the Plan has clocks."""
    if not plan.get("clocks"):
        return None
    if not path.is_file():
        absent.append(f"{path.name}: {FILES_OF_CLOCKS}")
        return None
    return _table(path, CLOCK_COLUMNS, absent)


def _json(path: Path) -> foreign.Json:
    if not path.is_file():
        return {}
    return documents.read(path)


def _measure(value: foreign.Json, **more: Any) -> Measure:
    tx, rx = (
        " on clock ".join(
            str(part) for part in (value.get(f"{side}_tap"), value.get(f"{side}_clock")) if part
        )
        for side in ("tx", "rx")
    )
    return Measure(
        stream=value["stream"],
        group=value.get("group") or value["stream"],
        listener=value["listener"],
        counts=value["count"],
        lost_where=tuple((str(at["after_tap"]), int(at["frames"])) for at in value.get("lost_where") or ()),
        delay=value.get("delay"),
        jitter=value.get("jitter") or {},
        send_to_tx=value.get("send_to_tx"),
        release_delay=value.get("release_delay"),
        uncertainty=value.get("uncertainty"),
        spread_ns=value.get("spread"),
        rates={key: number for key, number in (value.get("rate") or {}).items() if number is not None},
        flows=value.get("flows", 1),
        tx=tx,
        rx=rx,
        **more,
    )


def _flows(measures: foreign.Json, plan: plan_types.PlanDocument) -> tuple[Measure, ...]:
    planned = {flow["name"]: flow for flow in plan["streams"]}
    node_names = [node["name"] for node in plan["nodes"]]
    found = []
    for number, path in enumerate(measures.get("paths", ())):
        flow = planned.get(path["stream"])
        hops = None
        if flow is not None:
            at = [node_names[listener["node"]] for listener in flow["listeners"]]
            hops = len(path_to(flow, at.index(path["listener"]))) if path["listener"] in at else None
        found.append(_measure(path, paths=(number,), pcp=flow["pcp"] if flow else None, hops=hops))
    return tuple(found)


def _told_apart(measures: Sequence[Measure]) -> tuple[Measure, ...]:
    """Marks streams with several listeners, so that labels contain the listener only where it is needed."""
    times = Counter(measure.stream for measure in measures)
    return tuple(replace(measure, only_listener=times[measure.stream] == 1) for measure in measures)


def _groups(measures: foreign.Json, flows: Sequence[Measure]) -> tuple[Measure, ...]:
    """Streams, highest priority first, then in the Plan's order."""
    members: dict[tuple[str, str], list[Measure]] = defaultdict(list)
    for flow in flows:
        members[flow.group, flow.listener].append(flow)
    found = []
    for group in measures.get("groups", ()):
        own = members.get((group.get("group") or group["stream"], group["listener"]), [])
        pcps = {flow.pcp for flow in own}
        hops = {flow.hops for flow in own}
        found.append(
            _measure(
                group,
                paths=tuple(path for flow in own for path in flow.paths),
                pcp=pcps.pop() if len(pcps) == 1 else None,
                hops=hops.pop() if len(hops) == 1 else None,
            )
        )
    order = {key: place for place, key in enumerate(members)}
    found.sort(key=lambda g: (-1 if g.pcp is None else -g.pcp, order.get((g.group, g.listener), len(order))))
    return tuple(found)


def _clocks(verdict: foreign.Json, measures: foreign.Json) -> list[str]:
    """What is to know of the clocks before the measures are trusted, as sentences."""
    notes = clock_notes(cast("Verdict", verdict), cast("Measures", measures))
    return [f"{note[:1].upper()}{note[1:]}." for note in notes]


def _warnings(source: foreign.Json) -> tuple[str, ...]:
    """Frames that are in no table, and other warnings of the measures."""
    ignored = source.get("ignored") or {}
    found = [str(text) for text in source.get("warnings") or ()]
    if frames := ignored.get("unreadable_frames"):
        found.append(f"{frames} frames were unreadable and are in no table.")
    if frames := ignored.get("rx_only_frames"):
        streams = ignored.get("rx_only_streams")
        found.append(f"{frames} frames of {streams} streams were observed at the receiving side only.")
    return tuple(found)


def _counted(value: foreign.Json) -> Counted | None:
    if not value:
        return None
    names = ("sent_frames", "sent_octets", "dropped_frames", "dropped_octets", "most_frames", "most_octets")
    return Counted(
        simulated_ns=int(value["simulated_ns"]),
        events=int(value["events"]),
        frame_hops=int(value["frame_hops"]),
        under_way=int(value["in_network_at_end"]),
        ports=tuple(
            PortCount(
                str(port["port"]),
                int(port["dropped_faults"]),
                tuple(
                    ClassCount(
                        int(own["class"]),
                        *(int(own[name]) for name in names),
                        *(
                            int(own.get(name, 0))
                            for name in (
                                "over_max_sdu_frames",
                                "transmission_overruns",
                                "late_frames",
                                "delay_exceeded_frames",
                            )
                        ),
                    )
                    for own in port["classes"]
                ),
            )
            for port in value["ports"]
        ),
        streams=tuple(
            (str(one["name"]), int(one["dropped_at_talker"]), int(one["dropped_in_network"]))
            for one in value["streams"]
        ),
        policed=policed(value),
    )


def _judged(row: VerdictRow) -> Judged:
    return Judged(
        stream=row["stream"],
        group=row.get("group") or row["stream"],
        listener=row["listener"],
        requirement=row["requirement"],
        limit=row.get("limit"),
        unit=row.get("limit_unit") or "",
        found=row.get("found"),
        margin=row.get("margin"),
        worst_seq=row.get("worst_seq"),
        outcome=outcome(row),
        worst_case=row.get("worst_case"),
        worst_case_margin=row.get("worst_case_margin"),
        note=_note(row),
        uncertainty=row.get("uncertainty"),
    )


def _note(row: VerdictRow) -> str:
    """The note on a requirement's worst case, in addition to its number."""
    if row.get("proof") == "exceeded":
        return "a frame of this run exceeds the worst case, which therefore does not hold"
    if condition := row.get("proof_condition"):
        return f"if {condition}"
    return str(row.get("worst_case_reason") or "")
