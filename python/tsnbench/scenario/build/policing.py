"""Filters, stream gates, meters, ATS and CQF, from the file to the model."""

from __future__ import annotations

from collections.abc import Mapping

from tsnbench.scenario import model
from tsnbench.scenario.build.net import Net
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.text.reading import Bad, Reading

_ACTS = ("max-sdu", "gate", "meter")


def build(
    reading: Reading, net: Net, written: list[Fields], streams: Mapping[str, model.Stream]
) -> tuple[model.Filter | model.Regeneration, ...]:
    """Every entry; mistakes are noted."""
    found = (_entry(reading, net, fields, streams) for fields in written if isinstance(fields, Fields))
    return tuple(entry for entry in found if entry is not None)


def _entry(
    reading: Reading, net: Net, fields: Fields, streams: Mapping[str, model.Stream]
) -> model.Filter | model.Regeneration | None:
    if "at" not in fields:
        return None
    if "regenerate" in fields.places:
        others = [key for key in fields.places if key not in ("at", "regenerate")]
        if not fields.none_of(reading, others, "regenerate alone with at", hint="write two entries"):
            return None
        at = net.ports(fields["at"])
        if at is None or fields.bad or any(isinstance(to, Bad) for to in fields["regenerate"].values()):
            return None
        return model.Regeneration(at=at, pcp={int(pcp): to for pcp, to in fields["regenerate"].items()})
    if not fields.written_of(_ACTS) and not fields.bad:
        hint = "write max-sdu: 1500 B, gate: {…}, meter: {…} or regenerate: {3: 5}"
        reading.problem(fields.place, fields.path, f"one of {', '.join(_ACTS)} or regenerate", "none", hint)
        return None
    if "max-sdu" not in fields.places:
        fields.none_of(reading, ["block-oversize"], "block-oversize only with max-sdu", "no max-sdu")
    for name in fields.get("streams", []):
        if name not in streams:
            reading.unknown_stream(name, streams)
    made = fields.part(net)
    return None if isinstance(made, Bad) else made
