"""Processing times of nodes and devices, from the file to the model."""

from __future__ import annotations

from typing import Any

from tsnbench.scenario import model
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.text.reading import Reading


def processing(reading: Reading, written: Any) -> tuple[int, model.ProcessingJitter | None]:
    """The least time, and the possible additional time."""
    if not isinstance(written, Fields):
        return written, None
    if written.bad:
        return 0, None
    per_octet: int = written.get("per-octet", 0)
    ways = written.written_of(("most", "values", "file"))
    alone = not ways and "per-octet" in written.places
    if not alone and (len(ways) != 1 or ("least" in written.places and ways != ["most"])):
        hint = "write {least: 1 us, most: 3 us}, {values: [1 us, 2 us]} or {file: bridge.csv}"
        found = " and ".join(written.written_of(("least", *ways))) or "none"
        reading.problem(written.place, written.path, "most, values or file", found, hint)
        return 0, None
    if alone:
        return written.get("least", 0), model.ProcessingJitter(values=(0,), per_octet=per_octet)
    if ways == ["values"]:
        least = min(written["values"])
        values = tuple(value - least for value in written["values"])
        return least, model.ProcessingJitter(values=values, per_octet=per_octet)
    if ways == ["file"]:
        return 0, model.ProcessingJitter(file=written["file"], per_octet=per_octet)
    least, most = written.get("least", 0), written["most"]
    if most < least:
        written.wrong(reading, "most", "a time of at least least", "a shorter one")
        return 0, None
    if per_octet:
        hint = "write {values: [1 us, 2 us], per-octet: 0.8 ns} or {file: bridge.csv, per-octet: 0.8 ns}"
        written.wrong(reading, "per-octet", "values or a file beside it", "most", hint)
        return 0, None
    return least, model.ProcessingJitter(up_to=most - least)
