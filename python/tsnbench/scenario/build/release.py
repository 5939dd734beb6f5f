"""The window in which a scheduled stream is released, against the stream's other keys."""

from __future__ import annotations

from tsnbench.scenario import model
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.text.reading import Reading


def check_release(reading: Reading, fields: Fields, window: model.Release) -> None:
    """Reports contradictions between the keys of a stream and its window."""
    path, place = fields.path_of("release"), fields.at("release")
    if not fields.get("scheduled", False):
        hint = "write scheduled: true, or an offset in place of the window"
        reading.problem(place, path, "a scheduled stream", "one that is not", hint)
    elif "offset" in fields.places:
        hint = "an offset is a window of one instant: leave one of them out"
        reading.problem(place, path, "a window or an offset", "both", hint)
    if window.latest is not None and window.latest < window.earliest:
        hint = "times after the end of the period continue to count: {earliest: 900 us, latest: 1100 us}"
        reading.problem(place, path, "a latest release at or after the earliest", "an earlier one", hint)
    period = fields.get("period")
    if period is not None and (window.earliest >= period or (window.latest or 0) >= window.earliest + period):
        found = f"{window.earliest} ns to {'its end' if window.latest is None else f'{window.latest} ns'}"
        reading.problem(
            place, path, f"a window that begins within the period, {period} ns, and is shorter", found
        )
