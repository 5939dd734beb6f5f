"""How scheduled streams are planned, as written -> as the model has it."""

from __future__ import annotations

from typing import Any

from tsnbench.scenario import model
from tsnbench.scenario.grammar.shapes import Fields
from tsnbench.scenario.reading import Reading


def build(reading: Reading, written: Fields) -> model.Schedule:
    keys: dict[str, Any] = {key.replace("-", "_"): written[key] for key in written.places if key in written}
    keep = keys.pop("keep", None)
    if isinstance(keep, dict):
        keys["keep_rates"] = {int(pcp): rate for pcp, rate in keep.items()}
    elif keep is not None:
        keys["keep_ppm"] = keep
    pcps = keys.get("pcps", ())
    if len(set(pcps)) < len(pcps):
        again = next(str(pcp) for place, pcp in enumerate(pcps) if pcp in pcps[:place])
        path, place = written.path_of("pcps"), written.at("pcps")
        reading.problem(place, path, "each priority code point once", f"{again} again")
    for key in ("objective", "time"):
        if key in keys and keys.get("engine") == "heuristic":
            hint = "leave engine: heuristic out"
            path, place = written.path_of(key), written.at(key)
            reading.problem(place, path, f"the exact engine beside {key}", "the heuristic alone", hint)
    return model.Schedule(**keys)


def release(reading: Reading, fields: Fields) -> model.Release | None:
    """The window of a scheduled stream."""
    written = fields.get("release")
    if written is None or written.bad:
        return None
    window = model.Release(**{key: written[key] for key in ("earliest", "latest") if key in written})
    path, place = fields.path_of("release"), fields.at("release")
    if not fields.get("scheduled", False):
        hint = "write scheduled: true, or an offset in place of the window"
        reading.problem(place, path, "a scheduled stream", "one that is not", hint)
    elif "offset" in fields.places:
        hint = "an offset is a window of one instant: leave one of them out"
        reading.problem(place, path, "a window or an offset", "both", hint)
    if window.latest is not None and window.latest < window.earliest:
        hint = "what lies behind the end of the period is counted on: {earliest: 900 us, latest: 1100 us}"
        reading.problem(place, path, "a latest release not before the earliest", "one that is", hint)
    period = fields.get("period")
    if period is not None and (window.earliest >= period or (window.latest or 0) >= window.earliest + period):
        found = f"{window.earliest} ns to {'its end' if window.latest is None else f'{window.latest} ns'}"
        reading.problem(
            place, path, f"a window that begins within the period, {period} ns, and is shorter", found
        )
    return window
