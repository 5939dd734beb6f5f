"""Worst-case bounds of a Plan: what no frame exceeds, from the Plan alone.

Network calculus in integers, done by ``crates/bounds``; ``docs/concepts/bounds.md`` derives it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tsnbench.errors import InputError
from tsnbench.planning import words

if TYPE_CHECKING:
    from rich.table import Table

    from tsnbench.planning.document import Plan


class BoundsError(InputError):
    """The Plan cannot be used."""


def bounds(plan: Plan) -> dict[str, Any]:
    """The bounds of a Plan, ready for JSON.

    ``flows`` has one entry per flow and listener: ``upper_ns`` (null without a bound, then ``reason`` says
    why) and ``lower_ns`` hold between the stamps of the Plan's taps, as these show them;
    ``release_upper_ps`` and ``release_lower_ps`` from the release, with the wait in the talker's own port.
    ``hops`` has each port's part, from its queue to the last bit at the other end. ``ports`` has
    ``backlog_octets`` and ``backlog_frames`` of every queue that flows use.

    Raises:
        BoundsError: the Plan contradicts itself.
    """
    from tsnbench import _native

    try:
        found: dict[str, Any] = json.loads(_native.bounds(plan.to_json()))
    except ValueError as error:
        raise BoundsError(str(error)) from error
    return found


def bounds_table(found: dict[str, Any]) -> Table:
    """A table for people: per stream and listener the bounds, from the talker's stamp and from the release.

    Flows of one stream with equal bounds share a row.

    Args:
        found: what :func:`bounds` gave.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("stream", overflow="fold")
    table.add_column("to", overflow="fold")
    for column in ("at least", "at most", "from release"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("no bound because", overflow="fold")
    for row, flows in _rows(found).items():
        group, listener, *cells = row
        table.add_row(group if flows == 1 else f"{group} x{flows}", listener, *cells)
    return table


def _rows(found: dict[str, Any]) -> dict[tuple[str, ...], int]:
    """The cells of every row, and how many flows share it."""
    rows: dict[tuple[str, ...], int] = {}
    for flow in found["flows"]:
        released = flow["release_upper_ps"]
        reasons = dict.fromkeys(reason for reason in (flow["reason"], flow["release_reason"]) if reason)
        row = (
            flow["group"],
            flow["listener"],
            words.time(flow["lower_ns"]),
            "none" if flow["upper_ns"] is None else words.time(flow["upper_ns"]),
            "none" if released is None else words.time(-(-released // 1_000)),
            "; ".join(reasons),
        )
        rows[row] = rows.get(row, 0) + 1
    return rows
