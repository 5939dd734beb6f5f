"""The hardware of nodes, and address learning of bridges, from the file to the model."""

from __future__ import annotations

from pathlib import Path

from tsnbench.scenario import catalogue, model
from tsnbench.scenario.catalogue.devices import ENDINGS, described
from tsnbench.scenario.errors import ScenarioErrors
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.part import Values
from tsnbench.scenario.text.reading import Reading, meant


def device(reading: Reading, node: Fields) -> model.Device | None:
    """The node's hardware, from the catalogue or from a file beside the scenario."""
    name = node.get("device")
    if name is None:
        return None
    if name.endswith(ENDINGS):
        try:
            return described(str(Path(reading.file).parent / name))
        except ScenarioErrors as error:
            reading.problems += error.problems
            return None
    known = catalogue.devices()
    if name not in known:
        hint = meant(name, known) or "tsnbench catalogue lists them; a description of your own ends in .yaml"
        reading.problem(name.place, name.path, "the name of a device", name, hint)
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
