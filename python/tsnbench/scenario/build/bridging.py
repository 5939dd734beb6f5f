"""Processing times of nodes, and address learning of bridges, from the file to the model."""

from __future__ import annotations

from typing import Any

from tsnbench.scenario import catalogue, model
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.part import Values
from tsnbench.scenario.text.reading import Reading, meant


def processing(reading: Reading, written: Any) -> tuple[int, model.ProcessingJitter | None]:
    """The least time, and the possible additional time."""
    if not isinstance(written, Fields):
        return written, None
    if written.bad:
        return 0, None
    ways = written.written_of(("most", "values", "file"))
    if len(ways) != 1 or ("least" in written.places and ways != ["most"]):
        hint = "write {least: 1 us, most: 3 us}, {values: [1 us, 2 us]} or {file: bridge.csv}"
        found = " and ".join(written.written_of(("least", *ways))) or "none"
        reading.problem(written.place, written.path, "most, values or file", found, hint)
        return 0, None
    if ways == ["values"]:
        least = min(written["values"])
        return least, model.ProcessingJitter(values=tuple(value - least for value in written["values"]))
    if ways == ["file"]:
        return 0, model.ProcessingJitter(file=written["file"])
    least, most = written.get("least", 0), written["most"]
    if most < least:
        written.wrong(reading, "most", "a time of at least least", "a shorter one")
        return 0, None
    return least, model.ProcessingJitter(up_to=most - least)


def device(reading: Reading, node: Fields) -> model.Device | None:
    """The node's hardware, from the catalogue."""
    name = node.get("device")
    if name is None:
        return None
    known = catalogue.devices()
    if name not in known:
        reading.problem(name.place, name.path, "the name of a device", name, meant(name, known))
        return None
    return known[name]


def classes(device: model.Device) -> Values:
    """The map from PCP to the classes of a device that has fewer than eight."""
    table = catalogue.pcp_to_class().get(f"802.1Q/{device.classes}")
    return {} if table is None or device.classes == MOST_CLASSES else {"classes": dict(enumerate(table))}


MOST_CLASSES = 8
AGEING = 300 * 10**9
"""IEEE 802.1Q-2022, table 8-6: the default of ``ageingTime``."""


def learning(reading: Reading, kind: str, node: Fields) -> int | None:
    """The ageing time of learned addresses; None if the node does not learn."""
    forwarding = node.get("forwarding")
    if not isinstance(forwarding, Fields) or not forwarding.get("learning"):
        return None
    if kind != "bridge":
        forwarding.wrong(reading, "learning", "a bridge", f"a {kind}", "only bridges learn")
        return None
    written = forwarding["learning"]
    ageing: int = written.get("ageing", AGEING) if isinstance(written, Fields) else AGEING
    return ageing
