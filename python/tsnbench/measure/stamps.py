"""The known errors of the clocks that stamped a run's frames; without them, delays have no uncertainty.

Two sources: ``stamps.json`` of a run on hosts, and the errors of a Plan's clocks, which the simulator and the
guest's network device report exactly at moments that the Plan names. ``crates/measure/src/stamps.rs`` derives
a bound for every frame; decision 0027.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tsnbench import foreign
from tsnbench.libraries import polars as pl
from tsnbench.plan.streams.settling import margin_ps
from tsnbench.runs import file_names
from tsnbench.runs import stamps as own
from tsnbench.runs.run import NODES_KEY

if TYPE_CHECKING:
    from tsnbench.plan.types import Clocks, PlanDocument
    from tsnbench.runs import Run
    from tsnbench.runs.measures import ClocksApart, MeasuredFrom
    from tsnbench.runs.stamps import NodeStamps

PPT_IN_PPB = 1_000


def stamps(folder: Path) -> Mapping[str, NodeStamps] | None:
    """The native engine's input by node; None if one perfect clock stamped all frames, or no clock was read.

    Raises:
        OSError: a file cannot be read.
        ValueError: likewise.
    """
    if (told := own.read(folder)) is not None:
        return told
    errors = folder / file_names.CLOCK_ERROR
    if not errors.is_file():
        return None
    try:
        plan = foreign.read_json(folder / file_names.PLAN)
        clocks = plan.get("clocks")
        return _planned(errors, clocks, [node["name"] for node in plan["nodes"]]) if clocks else None
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(f"{errors}: it is not that of the run's Plan: {error!r}") from error


def _planned(errors: Path, clocks: Clocks, names: list[str]) -> dict[str, NodeStamps]:
    """The clocks of a Plan, with exact errors and with the drift of their oscillators in the Plan."""
    gptp = clocks.get("gptp")
    table, noted = foreign.read_parquet(errors), foreign.parquet_note(errors, NODES_KEY)
    with foreign.table_errors(errors):
        # A timestamp shows the clock at that moment.
        shown = (pl.col("t_true_ns") + pl.col("error_ps").floordiv(1_000)).alias("shown_ns")
        # Clocks that follow one grandmaster are compared with it, because they share its drift.
        followed = gptp is not None and "bmca" not in gptp and not table["offset_ps"].has_nulls()
        against = "offset_ps" if followed else "error_ps"
        table = table.select("node", shown, against, pl.lit(0).alias("unsure_ps")).sort("shown_ns")
        split = table.partition_by("node", as_dict=True)
        rows = {noted[int(key[0])]: part.drop("node").rows() for key, part in split.items()}
    # At time 0 of the Plan every clock shows its offset.
    zero = clocks["nodes"][gptp["grandmaster"]]["offset_ns"] if gptp and followed else 0
    first = [(own["offset_ns"], (own["offset_ns"] - zero) * 1_000, 0) for own in clocks["nodes"]]
    # A synchronised clock also has the drift of its leader, so the greatest drift of all nodes is added.
    leader = max(_drift_ppb(clocks, node) for node in range(len(names))) if gptp else 0
    return {
        name: {
            "clock": name,
            "drift_ppb": _drift_ppb(clocks, number) + leader,
            "granularity_ns": clocks["nodes"][number]["granularity_ns"],
            "readings": sorted([first[number], *rows.get(name, ())]),
        }
        for number, name in enumerate(names)
    }


def _drift_ppb(clocks: Clocks, node: int) -> int:
    """Greatest deviation of an oscillator from its nominal frequency."""
    clock = clocks["nodes"][node]
    most = abs(clock["deviation_ppt"])
    most = max([most, *(abs(one["deviation_ppt"]) for one in clock.get("changes", ()))])
    jumps = (one for one in clocks.get("faults", ()) if one["kind"] == "frequency-jump")
    most += sum(abs(one["by_ppt"]) for one in jumps if one["node"] == node)
    if wander := clock.get("wander"):
        most += wander["most_ppt"]
    ppb = -(-most // PPT_IN_PPB)
    # The rate is relative to the clock's own time, which is rounded: for a slow clock it is a little higher.
    return ppb + ppb * ppb // 10**9 + 2


def clocks_apart(run: Run) -> ClocksApart | None:
    """The greatest difference between the clocks of two nodes at one recorded moment, and the first such
    moment; None if no clock was recorded.

    Raises:
        FolderError: the table of clock errors cannot be read.
    """
    if not (run.folder / file_names.CLOCK_ERROR).is_file():
        return None
    apart = _apart(run.folder)
    if apart.is_empty():
        return None
    at, most = apart.sort(["apart", "t_true_ns"], descending=[True, False]).row(0)
    found: ClocksApart = {"most_ps": most, "at_ns": at}
    allowed = margin_ps(run.plan.document)
    return found if allowed is None else {**found, "allowed_ps": allowed}


def _apart(folder: Path) -> pl.DataFrame:
    """By recorded moment, the greatest difference between the clocks of two nodes (``apart``, ps)."""
    path, error = folder / file_names.CLOCK_ERROR, pl.col("error_ps")
    table = foreign.read_parquet(path)
    with foreign.table_errors(path):
        return table.group_by("t_true_ns").agg(apart=error.max() - error.min())


def measured_from(folder: Path) -> MeasuredFrom | None:
    """From when on the frames of a run count, as its Plan says; None if all do.

    Raises:
        OSError: a file cannot be read.
        ValueError: clocks were to settle, and the run recorded none.
    """
    if not (folder / file_names.PLAN).is_file():
        return None
    plan = foreign.read_json(folder / file_names.PLAN)
    begin = plan.get("measure_from")
    if begin is None:
        return None
    if begin["kind"] == "at":
        return {"ns": begin["ns"], "settled": False}
    path = folder / file_names.CLOCK_ERROR
    if not path.is_file():
        raise ValueError(f"{path}: expected the errors of the run's clocks, which were to settle, found none")
    apart, allowed = _apart(folder).sort("t_true_ns"), margin_ps(cast("PlanDocument", plan)) or 0
    late = apart.filter(pl.col("apart") > allowed)
    if not late.is_empty():
        apart = apart.filter(pl.col("t_true_ns") > late["t_true_ns"].max())
    first: int | None = None if apart.is_empty() else apart["t_true_ns"].to_list()[0]
    return {"ns": first, "settled": True}


NEVER = 1 << 62
"""A time after every frame."""


def option(folder: Path, begin: MeasuredFrom | None) -> dict[str, object]:
    """The options of the native engine: the clocks that are known, and from when on frames count."""
    found = stamps(folder)
    clocks: dict[str, object] = {} if found is None else {"stamps": {"nodes": found}}
    if begin is None:
        return clocks
    return clocks | {"from_ns": NEVER if begin["ns"] is None else begin["ns"]}
