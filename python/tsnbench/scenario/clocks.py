"""Clocks as written -> clocks of the model."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from tsnbench.scenario import model, oscillator_trace, ptp
from tsnbench.scenario.grammar.shapes import Fields
from tsnbench.scenario.network import Net
from tsnbench.scenario.reading import Bad, Named, Reading

_RESERVED = ("default", "gptp", "ptp", "record")


def build(reading: Reading, net: Net, written: Fields) -> model.Clocks:
    """The default, each node's own clock over it, and gPTP."""
    own: dict[str, model.Clock] = {}
    default = _settings(reading, written["default"]) if "default" in written else {}
    for key, fields in written.items():
        if key in _RESERVED or isinstance(fields, Bad):
            continue
        name = net.node(Named.at(key, written.at(key), written.path_of(key)))
        settings = _settings(reading, fields)
        if name is not None:
            inherited = dict(default)
            for one, other in (("drift", "drift_within"), ("drift_within", "drift")):
                if one in settings:
                    inherited.pop(other, None)
            own[name] = model.Clock(**(inherited | settings))
    clocks = model.Clocks(default=model.Clock(**default), own=own)
    changes: dict[str, Any] = {}
    if "record" in written:
        changes["record"] = written["record"]
    changes["gptp"] = ptp.build(reading, net, written)
    return clocks.model_copy(update=changes)


def _settings(reading: Reading, fields: Fields) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in ("drift", "drift-within", "offset", "granularity", "jitter"):
        if key in fields:
            found[key.replace("-", "_")] = fields[key]
    if "drift" in found and "drift_within" in found:
        hint = "leave one out"
        path = fields.path_of("drift-within")
        reading.problem(fields.at("drift-within"), path, "drift or drift-within", "both", hint)
    if "wander" in fields and not fields["wander"].bad:
        wander = fields["wander"]
        found["wander"] = model.Wander(step=wander["step"], every=wander["every"])
    if "changes" in fields:
        changes = [entry for entry in fields["changes"] if not entry.bad]
        found["changes"] = tuple(model.DriftChange(at=entry["at"], drift=entry["drift"]) for entry in changes)
        times = [entry["at"] for entry in changes]
        if any(later <= earlier for earlier, later in pairwise(times)):
            hint = "write them in order, each time once"
            reading.problem(
                fields.at("changes"), fields.path_of("changes"), "changes in order of time", "others", hint
            )
    if "trace" in fields:
        if "changes" in fields:
            hint = "leave one out"
            reading.problem(fields.at("trace"), fields.path_of("trace"), "changes or trace", "both", hint)
        found |= oscillator_trace.read(reading, fields["trace"])
    return found
