"""Processing times and shared memory of nodes as written -> the model's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tsnbench.scenario import model
from tsnbench.scenario.grammar.shapes import Fields
from tsnbench.scenario.reading import Named, Reading
from tsnbench.scenario.replay import TABLES

_FACTOR = re.compile(r"([0-9]{1,6})(?:\.([0-9]{1,3}))?(?:/([0-9]{1,6}))?")


def processing(reading: Reading, written: Any) -> tuple[int, model.Spread | None]:
    """The least time, and what may come on top of it."""
    if not isinstance(written, Fields):
        return written, None
    if written.bad:
        return 0, None
    ways = [key for key in ("most", "values", "file") if key in written.places]
    if len(ways) != 1 or ("least" in written.places and ways != ["most"]):
        hint = "write {least: 1 us, most: 3 us}, {values: [1 us, 2 us]} or {file: bridge.csv}"
        found = " and ".join(key for key in ("least", *ways) if key in written.places) or "none"
        reading.problem(written.place, written.path, "most, values or file", found, hint)
        return 0, None
    if ways == ["values"]:
        least = min(written["values"])
        return least, model.Spread(values=tuple(value - least for value in written["values"]))
    if ways == ["file"]:
        name: Named = written["file"]
        if Path(name).suffix.lower() not in TABLES:
            expected = f"a file that ends in {' or '.join(TABLES)}"
            reading.problem(name.place, name.path, expected, str(name))
            return 0, None
        return 0, model.Spread(file=str(Path(reading.file).parent / name))
    least, most = written.get("least", 0), written["most"]
    if most < least:
        reading.problem(
            written.at("most"), written.path_of("most"), "a time of at least least", "a shorter one"
        )
        return 0, None
    return least, model.Spread(up_to=most - least)


def buffer(reading: Reading, written: Any) -> model.Buffer | None:
    if not isinstance(written, Fields):
        return model.Buffer(size=written)
    if written.bad:
        return None
    alpha = None
    if "alpha" in written:
        text: Named = written["alpha"]
        found = _FACTOR.fullmatch(text)
        whole, decimals, divisor = found.groups() if found else ("0", None, None)
        thousandths = int(whole + (decimals or "").ljust(3, "0"))
        below = int(divisor or 1)
        if not thousandths or not below or thousandths % below or thousandths // below > 1_000_000:
            hint = "it is kept in thousandths"
            reading.problem(text.place, text.path, "a factor such as 1, 0.5 or 1/4", str(text), hint)
            return None
        alpha = thousandths // below
    return model.Buffer(size=written["size"], alpha=alpha)


AGEING = 300 * 10**9
"""IEEE 802.1Q-2022, table 8-6: the default of ``ageingTime``."""


def learning(reading: Reading, kind: str, node: Fields) -> int | None:
    """How long a node remembers what it has learned; None where it learns nothing."""
    forwarding = node.get("forwarding")
    if not isinstance(forwarding, Fields) or not forwarding.get("learning"):
        return None
    if kind != "bridge":
        where = forwarding.at("learning"), forwarding.path_of("learning")
        reading.problem(*where, "a bridge", f"a {kind}", "only bridges learn")
        return None
    written = forwarding["learning"]
    ageing: int = written.get("ageing", AGEING) if isinstance(written, Fields) else AGEING
    return ageing
