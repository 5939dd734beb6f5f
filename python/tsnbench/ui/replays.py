"""Windows of replays: the frames at all ports of a run, which is simulated again to be looked at."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from tsnbench.libraries import numpy as np
from tsnbench.libraries import polars as pl
from tsnbench.replay.page import page
from tsnbench.replay.passages import ReplayError
from tsnbench.replay.waiting import History
from tsnbench.replay.window import (
    MOST_JOURNEYS,
    Journey,
    around,
    as_document,
    journey_named,
    refuse_large,
    slowest,
    window,
)
from tsnbench.report.parts.planned import planned
from tsnbench.runs import Run, file_names

if TYPE_CHECKING:
    from tsnbench.foreign import Json

MOST_SINGLE = 5_000
"""Frames that are drawn one by one; above, each lane has its occupancy by column."""
MOST_COLUMNS = 1_200
KEPT = 2


@dataclass(frozen=True)
class Replay:
    """A run with every frame at every port."""

    run: Run
    history: History
    table: pl.DataFrame
    journeys: Sequence[Journey]

    @classmethod
    def of(cls, run: Run) -> Replay:
        """Simulates the run once more.

        Raises:
            ReplayError: the run cannot be replayed, or no frame arrived.
        """
        document = run.plan.document
        refuse_large(document)
        history = History.of(run)
        journeys = slowest(history, MOST_JOURNEYS)
        if not journeys:
            raise ReplayError(f"{run.folder}: no frame arrived at its listener")
        return cls(run, history, history.table, journeys)

    def page(self, lesson: str = "") -> str:
        """The page of its own; its window contains the frame that is nearest to the limit of its delay.

        Args:
            lesson: the HTML of a lesson that stands beside the replay.
        """
        return page(window(self.history, self.table, *around(self.journeys[0]), self.journeys), lesson)

    def window(self, begin: int | None, end: int | None, frame: str, columns: int) -> Json:
        """The frames in a window, or the occupancy of each port and class; and the parts of one frame's path.

        Args:
            begin: in ns; None: before the frame.
            end: in ns; None: behind the frame.
            frame: ``stream/seq``; empty: the slowest one.
            columns: columns of the drawing.
        """
        document = self.history.document
        chosen = journey_named(self.history, frame) if frame else list(self.journeys[:1])
        margin = max(1000, chosen[0].total_ns // 3)
        first = int(self.table["start_ns"].min() or 0)  # type: ignore[arg-type]
        last = int(self.table["end_ns"].max() or 1)  # type: ignore[arg-type]
        begin = max(0, chosen[0].handed_ns - margin) if begin is None else begin
        end = chosen[0].arrived_ns + margin if end is None else end
        end = max(end, begin + 10)
        within = self.table.filter(
            (pl.max_horizontal("end_ns", "arrived_ns") >= begin) & (pl.col("queued_ns") <= end)
        )
        answer: Json = {
            "first_ns": first,
            "last_ns": last,
            "offered": [
                {
                    "frame": f"{document['streams'][one.stream]['name']}/{one.seq}",
                    "listener": document["nodes"][one.listener]["name"],
                    "total_ns": one.total_ns,
                }
                for one in self.journeys
            ],
            "frame": f"{document['streams'][chosen[0].stream]['name']}/{chosen[0].seq}",
            "planned": _planned(document, begin, end),
            "path": [as_document(self.history, one) | {"handed_ns": one.handed_ns} for one in chosen],
        }
        if len(within) <= MOST_SINGLE and len(within):
            return {**answer, **window(self.history, within, begin, end, [])}
        # Network, ports and gates are those of a window with one frame.
        own = self.table.filter((pl.col("stream") == chosen[0].stream) & (pl.col("seq") == chosen[0].seq))
        shown = window(self.history, own, chosen[0].handed_ns, chosen[0].arrived_ns, [])
        shown["frames"] = {key: [] for key in shown["frames"]}
        lanes = _occupancy(within, begin, end, min(columns, MOST_COLUMNS))
        return {**answer, **shown, "begin_ns": begin, "length_ns": end - begin, "lanes": lanes}


def _occupancy(within: pl.DataFrame, begin: int, end: int, columns: int) -> list[Json]:
    """Of each port and class, the share of each column in which it sends, and the most frames that wait."""
    edges = np.linspace(begin, end, columns + 1)
    width = (end - begin) / columns
    lanes = []
    for (port, traffic_class), own in (
        within.sort("start_ns").partition_by(["port", "class"], as_dict=True).items()
    ):
        starts, ends = own["start_ns"].to_numpy(), own["end_ns"].to_numpy()
        # Time on the wire before each edge: frames of one class do not overlap.
        done = np.concatenate([[0], np.cumsum(ends - starts)])
        number = np.searchsorted(starts, edges, side="right")
        under_way = np.clip(edges - np.append(ends, 0)[number - 1], None, 0) * (number > 0)
        busy = np.diff(done[number] + under_way)
        queued = np.sort(own["queued_ns"].to_numpy())
        waiting = np.searchsorted(queued, edges, side="right") - number
        lanes.append(
            {
                "port": port,
                "class": traffic_class,
                "busy": np.round(np.clip(busy / width, 0, 1), 3).tolist(),
                "waiting": np.maximum(waiting[:-1], waiting[1:]).tolist(),
            }
        )
    return sorted(lanes, key=lambda lane: (lane["port"], lane["class"]))


def _planned(document: Any, begin: int, end: int) -> list[Json]:
    """The planned frames of the schedule in a window: port, begin and length, relative to the window."""
    found: list[Json] = []
    schedule = planned(document)
    numbers = {port["name"]: number for number, port in enumerate(document["ports"])}
    for port in schedule.ports if schedule else ():
        turn = begin // port.cycle * port.cycle
        while turn < end and len(found) < MOST_SINGLE:
            found += [
                {"port": numbers[port.name], "begin": turn + slot.begin - begin, "length": slot.length}
                for slot in port.slots
                if begin <= turn + slot.begin + slot.length and turn + slot.begin <= end
            ]
            turn += port.cycle
    return found


class Replays:
    """The replays that were looked at last; each run is simulated once at a time."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, int], Replay] = OrderedDict()
        self._lock = Lock()

    def of(self, run: Run) -> Replay:
        """The replay of a run.

        Raises:
            ReplayError: the run cannot be replayed.
        """
        key = (str(run.folder), (run.folder / file_names.MANIFEST).stat().st_mtime_ns)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = Replay.of(run)
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return self._kept[key]
