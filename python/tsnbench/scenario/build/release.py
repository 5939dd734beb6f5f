"""The times of a stream against each other: start, stop, and the window in which it is released."""

from __future__ import annotations

from tsnbench.scenario import model
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.text.reading import Bad, Reading


def times_in_order(reading: Reading, fields: Fields, window: model.Release | Bad | None) -> bool:
    """Whether a stream stops after its start; reports contradictions between its keys and its window."""
    if isinstance(window, model.Release):
        _check_release(reading, fields, window)
    stop = fields.get("stop")
    if stop is not None and stop <= fields.get("start", 0):
        hint = "a stream stops after it starts"
        fields.wrong(reading, "stop", "a stop after the start", "an earlier one", hint)
        return False
    return True


def _check_release(reading: Reading, fields: Fields, window: model.Release) -> None:
    def wrong(expected: str, found: str, hint: str = "") -> None:
        fields.wrong(reading, "release", expected, found, hint)

    if not fields.get("scheduled", False):
        hint = "write scheduled: true, or an offset in place of the window"
        wrong("a scheduled stream", "one that is not", hint)
    elif "offset" in fields.places:
        wrong("a window or an offset", "both", "an offset is a window of one instant: leave one of them out")
    if window.latest is not None and window.latest < window.earliest:
        hint = "times after the end of the period continue to count: {earliest: 900 us, latest: 1100 us}"
        wrong("a latest release at or after the earliest", "an earlier one", hint)
    period = fields.get("period")
    if period is not None and (window.earliest >= period or (window.latest or 0) >= window.earliest + period):
        found = f"{window.earliest} ns to {'its end' if window.latest is None else f'{window.latest} ns'}"
        wrong(f"a window that begins within the period, {period} ns, and is shorter", found)
