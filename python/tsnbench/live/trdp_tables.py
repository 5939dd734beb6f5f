"""The results of a TRDP end device as tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsnbench.quantities import micros
from tsnbench.sheet import Column, Sheet

if TYPE_CHECKING:
    from tsnbench.live.trdp import Result, Spread


def tables(found: Result) -> Iterator[Sheet]:
    """One table for each kind of work of the end device; all times in us."""
    published = [
        *(("publish", one) for one in found["publish"]),
        *(("request", one) for one in found["request"]),
    ]
    if published:
        yield _sheet(
            "sent",
            ("telegram", "to"),
            ("telegrams", "refused", *_times("late"), "launch times missed", "invalid"),
            [
                (
                    f"{what} {one['com_id']}", one["to"], one["sent"], one["refused"],
                    *_spread(one["late_ns"]), one["launch_times_missed"], one["launch_times_invalid"],
                )
                for what, one in published
            ],
        )  # fmt: skip
    if found["subscribe"]:
        heard = _sheet(
            "taken",
            ("telegram",),
            ("telegrams", "gaps", "missed", "repeated", "restarted", "time-outs", *_times("delay")),
            [
                (
                    f"subscribe {one['com_id']}", one["taken"], one["gaps"], one["missed"],
                    one["repeated"] + one["old"], one["restarted"], one["time_outs"],
                    *_spread(one["delay_ns"]),
                )
                for one in found["subscribe"]
            ],
        )  # fmt: skip
        heard.captions.append(
            f"{found['check_errors']} wrong check sequences, {found['protocol_errors']} other errors, "
            f"{found['not_subscribed']} telegrams of others"
        )
        yield heard
    if found["call"]:
        yield _sheet(
            "called",
            ("telegram", "to"),
            ("sent", "replies", "confirmed", "errors", "time-outs", *_times("round trip")),
            [
                (
                    f"call {one['com_id']}", one["to"], one["sent"], one["replies"], one["confirmed"],
                    one["errors"], one["time_outs"], *_spread(one["round_trip_ns"]),
                )
                for one in found["call"]
            ],
        )  # fmt: skip
    answer = found["answer"]
    if answer["requests"] or answer["notifications"] or answer["no_listener"]:
        counts = {name.replace("_", " "): str(value) for name, value in answer.items()}
        yield _sheet("answered", (), tuple(counts), [tuple(counts.values())])


def _times(what: str) -> tuple[str, str, str]:
    return f"{what}: min us", "mean us", "max us"


def _spread(spread: Spread | None) -> tuple[str, str, str]:
    if spread is None:
        return "-", "-", "-"
    return micros(spread["least"], 1), micros(spread["mean"], 1), micros(spread["most"], 1)


def _sheet(
    title: str, names: tuple[str, ...], heads: tuple[str, ...], rows: list[tuple[str | int, ...]]
) -> Sheet:
    columns = [*(Column(name, name=True) for name in names), *(Column(head) for head in heads)]
    sheet = Sheet(title, columns)
    sheet.rows.extend([str(cell) for cell in row] for row in rows)
    return sheet
