"""Where member streams merge: a frame comes by the path that is first, or by another one if it is lost there.

So behind a merge it may be as early as by the fastest path and as late as by the slowest one. IEEE
802.1CB-2017, 7.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tsnbench.planning.draft import Flow
from tsnbench.planning.windows.demand import Unit


def merged(flow: Flow, parts: Sequence[list[Unit]], cycle: int) -> list[Unit]:
    """Data units behind a merge, from those of each path; ``cycle`` is in ps."""
    if len(parts) == 1:
        return parts[0]
    turns = {tuple(unit.turn for unit in part) for part in parts}
    if len(turns) > 1 or not all(unit.known for part in parts for unit in part):
        return [_at_any_time(parts, cycle)]
    both = [_either(units) for units in zip(*parts, strict=True)]
    if _forgets(flow, both):
        # Duplicates may pass.
        return [replace(unit, in_order=False) for part in parts for unit in part]
    return both


def _forgets(flow: Flow, both: Sequence[Unit]) -> bool:
    """Whether sequence recovery may forward a frame twice.

    Match recovery only knows the latest number. Vector recovery forgets all numbers at a reset, and discards
    numbers beyond its history.
    """
    recovery = flow.redundancy.get("recovery")
    if recovery is None:
        return False
    if recovery["algorithm"]["kind"] == "match":
        return True
    return any(unit.last - unit.first >= recovery["reset_ns"] * 1_000 for unit in both)


def _either(units: Sequence[Unit]) -> Unit:
    """One data unit of every cycle, which comes by any of the paths."""
    return replace(
        units[0],
        first=min(unit.first for unit in units),
        last=max(unit.last for unit in units),
        # Without a time of release, different data units may come by each of the paths.
        count=sum(unit.count for unit in units) if units[0].released is None else units[0].count,
        fastest=min(unit.fastest for unit in units),
        bounded=all(unit.bounded for unit in units),
        # One that was lost on the fast path may be behind the next one.
        in_order=False,
    )


def _at_any_time(parts: Sequence[list[Unit]], cycle: int) -> Unit:
    units = [unit for part in parts for unit in part]
    return replace(
        units[0],
        first=0,
        last=0,
        known=False,
        count=sum(unit.count * _in_a_cycle(unit, cycle) if unit.known else unit.count for unit in units),
        until=None,
        turn=0,
        released=None,
        fastest=min(unit.fastest for unit in units),
        bounded=all(unit.bounded for unit in units),
        in_order=False,
    )


def _in_a_cycle(unit: Unit, cycle: int) -> int:
    """Greatest number of arrivals of a known data unit within a cycle."""
    return 1 + -(-(unit.last - unit.first) // cycle)
