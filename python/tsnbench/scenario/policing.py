"""Filters, stream gates, meters, ATS and CQF as written -> those of the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tsnbench.scenario import model
from tsnbench.scenario.grammar.shapes import Fields
from tsnbench.scenario.network import Net
from tsnbench.scenario.reading import Bad, Reading
from tsnbench.scenario.selectors import selector
from tsnbench.scenario.units import DURATION

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
    at = selector(net, fields["at"])
    if "regenerate" in fields.places:
        others = [key for key in fields.places if key not in ("at", "regenerate")]
        if others:
            hint = "write two entries"
            key = others[0]
            reading.problem(fields.at(key), fields.path_of(key), "regenerate alone with at", key, hint)
            return None
        if at is None or fields.bad or any(isinstance(to, Bad) for to in fields["regenerate"].values()):
            return None
        return model.Regeneration(at=at, pcp={int(pcp): to for pcp, to in fields["regenerate"].items()})
    if not any(key in fields.places for key in _ACTS) and not fields.bad:
        hint = "write max-sdu: 1500 B, gate: {…}, meter: {…} or regenerate: {3: 5}"
        reading.problem(fields.place, fields.path, f"one of {', '.join(_ACTS)} or regenerate", "none", hint)
        return None
    if "block-oversize" in fields.places and "max-sdu" not in fields.places:
        where = fields.at("block-oversize"), fields.path_of("block-oversize")
        reading.problem(*where, "block-oversize only with max-sdu", "no max-sdu")
    names = []
    for name in fields.get("streams", []):
        if name in streams:
            names.append(str(name))
        else:
            reading.unknown_stream(name, streams)
    gate = _gate(reading, fields["gate"]) if "gate" in fields else None
    meter = _meter(fields["meter"]) if "meter" in fields else None
    if at is None or fields.bad:
        return None
    return model.Filter(
        at=at,
        streams=tuple(names),
        priority=fields.get("priority"),
        max_sdu=fields.get("max-sdu"),
        block_oversize=fields.get("block-oversize", False),
        gate=gate,
        meter=meter,
        per=fields.get("per", "node"),
    )


def _gate(reading: Reading, fields: Fields) -> model.StreamGate | None:
    if fields.bad or any(entry.bad for entry in fields["entries"]):
        return None
    entries = tuple(
        model.StreamGateEntry(
            open=entry.get("open", True),
            ipv=entry.get("ipv"),
            duration=entry["for"],
            octets=entry.get("octets"),
        )
        for entry in fields["entries"]
    )
    total = sum(entry.duration for entry in entries)
    if fields.get("cycle", total) != total:
        hint = f"write cycle: {DURATION.text(total)}, or leave it out"
        found = f"{DURATION.text(fields['cycle'])} for entries of {DURATION.text(total)} together"
        reading.problem(fields.at("cycle"), fields.path_of("cycle"), "the sum of the entries", found, hint)
    return model.StreamGate(
        entries=entries,
        base_time=fields.get("base-time", 0),
        close_on_invalid=fields.get("close-on-invalid", False),
        close_on_octets=fields.get("close-on-octets", False),
    )


def _meter(fields: Fields) -> model.Meter | None:
    if fields.bad:
        return None
    return model.Meter(**{key.replace("-", "_"): value for key, value in fields.items()})


def shapers(reading: Reading, fields: Fields) -> dict[str, Any]:
    """What a shaper says of ATS and CQF, as arguments of :class:`tsnbench.scenario.model.Shaper`."""
    found: dict[str, Any] = {}
    if "ats" in fields and not fields["ats"].bad:
        ats = fields["ats"]
        found["ats"] = model.Ats(
            pcps=tuple(dict.fromkeys(ats["pcp"])),
            **{key: ats[key] for key in ("rate", "burst", "residence") if key in ats},
        )
    if "cqf" in fields and not fields["cqf"].bad:
        cqf = fields["cqf"]
        classes = tuple(cqf["classes"])
        if len(set(classes)) != len(classes):
            where = cqf.at("classes"), cqf.path_of("classes")
            reading.problem(*where, "each class once", ", ".join(map(str, classes)))
        elif "gates" in fields.places:
            hint = "CQF makes the gates of its ports; leave gates out"
            where = fields.at("gates"), fields.path_of("gates")
            reading.problem(*where, "gates or cqf", "both", hint)
        else:
            pcps = tuple(dict.fromkeys(cqf["pcp"]))
            found["cqf"] = model.Cqf(
                cycle=cqf["cycle"] or 0, pcps=pcps, classes=classes, octets=cqf.get("octets")
            )
    return found
