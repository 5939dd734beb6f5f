"""Talkers that replay a recording: the times and sizes of the recording become lists in the Plan."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.plan.sizes import SMALLEST_FRAME, largest
from tsnbench.planning.draft import Draft, Flow
from tsnbench.planning.streams import recording
from tsnbench.scenario import model

if TYPE_CHECKING:
    from tsnbench.plan.types import Size, TracePattern

MOST_IN_ALL = 1 << 22
"""Releases that one Plan lists, over all flows."""


def replay_flows(draft: Draft) -> None:
    """Fills ``pattern`` of every flow with a recording, and ``size`` if the recording contains sizes."""
    listed = 0
    known: dict[str, tuple[TracePattern, Size | None]] = {}
    for flow in draft.flows:
        replay = flow.stream.pattern
        if not isinstance(replay, model.Replay):
            continue
        if flow.group not in known:
            found = _read(draft, flow, replay)
            if found is None:
                continue
            known[flow.group] = found
        pattern, size = known[flow.group]
        flow.pattern = pattern
        if size is not None:
            flow.size = size
        listed += len(pattern["gaps_ns"])
        if listed > MOST_IN_ALL:
            path = f"streams.{flow.group}.replay"
            draft.problem(path, f"at most {MOST_IN_ALL} releases in all replayed flows", "more")
            return


def _read(draft: Draft, flow: Flow, replay: model.Replay) -> tuple[TracePattern, Size | None] | None:
    path = f"streams.{flow.group}.replay"
    name = Path(replay.file).name
    recorded = isinstance(flow.stream.size, model.RecordedSizes)
    try:
        found = recording.read(replay, flow.stream.vid is not None)
    except recording.RecordingError as error:
        draft.problem(path, "a recording that can be replayed", f"{name}, which {error}")
        return None
    size: Size | None = None
    if recorded:
        if found.octets is None:
            hint = "add a column frame, phy or payload; or write the stream's own size"
            draft.problem(path, "sizes in the recording", f"{name}, which has none", hint)
            return None
        most = largest(flow.stream.vid is not None)
        for place, octets in enumerate(found.octets, 1):
            if not SMALLEST_FRAME <= octets <= most:
                hint = "capture without segmentation offload: ethtool -K … gro off gso off tso off"
                what = f"{name}, whose replayed frame number {place} has {octets}"
                draft.problem(path, f"frames of {SMALLEST_FRAME} to {most} octets", what, hint)
                return None
        same = min(found.octets) == max(found.octets)
        size = (
            {"kind": "frame", "octets": found.octets[0]}
            if same
            else {"kind": "list", "octets": list(found.octets)}
        )
    pattern = _pattern(replay, list(found.times_ns), flow, draft)
    if pattern is None:
        hint = "write until: the end of one pass"
        draft.problem(
            path, "a part with a duration, to repeat it", f"{name}, with all frames at one instant", hint
        )
        return None
    return pattern, size


def _pattern(replay: model.Replay, times: list[int], flow: Flow, draft: Draft) -> TracePattern | None:
    """Gaps at the replayed speed. Each time is rounded down on its own, so that rounding does not add up."""
    above, below = replay.speed

    def scaled(time: int) -> int:
        return time * below // above

    at = [scaled(time) for time in times]
    gaps = [at[0], *(after - before for before, after in pairwise(at))]
    stop = draft.scenario.duration if flow.stream.stop is None else flow.stream.stop
    lasts = max(1, min(stop, draft.scenario.duration) - flow.stream.start)
    if replay.until is not None:
        cycle = scaled(replay.until - replay.begin)
    elif len(at) > 1:
        # The first frame of the next pass follows the last frame after the mean gap.
        cycle = at[-1] + (at[-1] - at[0]) // (len(at) - 1)
    else:
        cycle = at[0] if replay.passes != 1 else max(at[0], lasts)
    passes = replay.passes
    if passes != 1 and cycle == 0:
        return None
    if passes is None:
        passes = min(-(-lasts // cycle), (1 << 32) - 1)
    return {"kind": "trace", "gaps_ns": gaps, "cycle_ns": max(cycle, 1), "passes": passes}
