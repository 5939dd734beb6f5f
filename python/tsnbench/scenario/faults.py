"""Faults as written -> the model's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tsnbench.scenario import clock_faults, model
from tsnbench.scenario.grammar.shapes import Fields
from tsnbench.scenario.network import Net
from tsnbench.scenario.reading import Reading, meant
from tsnbench.scenario.selectors import selector

_KINDS = ("down", "loss", "bit-errors", "babble")
_RATE = re.compile(r"[0-9](\.[0-9]{1,12})?e-[0-9]{1,2}")
_PETABIT = 10**15


def faults(
    reading: Reading, net: Net, written: list[Fields], streams: Mapping[str, model.Stream], ends: int | None
) -> tuple[model.LinkDown | model.Loss | model.Babble, ...]:
    """Every fault; mistakes are noted. ``ends``: when the last frame may arrive, where that is known."""
    for fields in written:
        if isinstance(fields, Fields) and ends is not None and fields.get("at", 0) >= ends:
            at = fields.at("at"), fields.path_of("at")
            reading.problem(*at, "a time within the run", "a later one", "see duration and drain")
    # Those of clocks are the clocks' own.
    written = [fields for fields in written if not clock_faults.of_clocks(fields)]
    found = (_fault(reading, net, fields, streams) for fields in written)
    return tuple(fault for fault in found if fault is not None)


def _fault(
    reading: Reading, net: Net, fields: Fields, streams: Mapping[str, model.Stream]
) -> model.LinkDown | model.Loss | model.Babble | None:
    kinds = [key for key in _KINDS if key in fields.places]
    if len(kinds) != 1:
        hint = "write down: a -> b; loss: 1 % with on: a -> b; or babble: stream"
        found = " and ".join(kinds) or "none"
        if not fields.bad:
            reading.problem(fields.place, fields.path, f"one of {', '.join(_KINDS)}", found, hint)
        return None
    kind = kinds[0]
    span = {"at": fields.get("at", 0), "duration": fields.get("for")}
    for key, owners in (("on", ("loss", "bit-errors")), ("every", ("babble",))):
        if key in fields.places and kind not in owners:
            reading.problem(fields.at(key), fields.path_of(key), f"{key} only with {owners[0]}", kind)
        if key not in fields.places and kind in owners and key not in fields.bad:
            reading.problem(fields.place, fields.path, f"the key {key} with {kind}", "none")
            return None
    if fields.bad:
        return None
    if kind == "babble":
        return _babble(reading, fields, streams, span)
    port = selector(net, fields["down" if kind == "down" else "on"])
    if port is None:
        return None
    if kind == "down":
        return model.LinkDown(port=port, **span)
    if kind == "bit-errors":
        return _bit_errors(reading, fields, port, span)
    loss = fields["loss"]
    if not isinstance(loss, Fields):
        return model.Loss(port=port, loss=loss, **span)
    if loss.bad:
        return None
    return model.Loss(port=port, **{key.replace("-", "_"): share for key, share in loss.items()}, **span)


def _bit_errors(reading: Reading, fields: Fields, port: str, span: dict[str, Any]) -> model.Loss | None:
    text = fields["bit-errors"]
    rate = Fraction(str(text)) * _PETABIT if _RATE.fullmatch(text) else None
    if rate is None or rate.denominator != 1 or not 0 <= rate <= _PETABIT:
        hint = "write 1e-9; the finest is 1e-15"
        reading.problem(text.place, text.path, "a bit error rate", text, hint)
        return None
    return model.Loss(port=port, per_petabit=int(rate), **span)


def _babble(
    reading: Reading, fields: Fields, streams: Mapping[str, model.Stream], span: dict[str, Any]
) -> model.Babble | None:
    name = fields["babble"]
    stream = streams.get(name)
    if stream is None:
        hint = meant(name, streams)
        reading.problem(name.place, name.path, "the name of a stream", name, hint)
        return None
    if isinstance(stream.pattern, model.Saturating):
        reading.problem(name.place, name.path, "a stream that does not saturate already", name)
        return None
    return model.Babble(stream=str(name), every=fields["every"], **span)
