"""Faults, from the file to the model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TypedDict

from tsnbench.scenario import model
from tsnbench.scenario.build import clock_faults
from tsnbench.scenario.build.network import Net
from tsnbench.scenario.build.selectors import selector
from tsnbench.scenario.build.shapers import gate_list
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.kinds.common import SPAN
from tsnbench.scenario.text.reading import Bad, Named, Reading
from tsnbench.scenario.text.source import Scalar
from tsnbench.scenario.units import DURATION, Duration

_KINDS = ("down", "loss", "bit-errors", "babble", "delay", "reorder", "duplicate", "schedule")
_OWNERS = (
    ("on", ("loss", "bit-errors", "delay", "reorder", "duplicate", "schedule"), "sw1 -> sw2"),
    ("every", ("babble",), "10 us"),
    ("by", ("reorder",), "250 us"),
    ("after", ("duplicate",), ""),
)
"""Keys that belong to some kinds only, and an example for kinds that need them."""
_AFTER = 10_000
"""Until a duplicate follows, ns."""
_RATE = re.compile(r"[0-9](\.[0-9]{1,12})?e-[0-9]{1,2}")
_PETABIT = 10**15


def faults(
    reading: Reading, net: Net, written: list[Fields], streams: Mapping[str, model.Stream], ends: int | None
) -> tuple[model.Fault, ...]:
    """Every fault; mistakes are noted. ``ends``: when the last frame may arrive, if that is known."""
    for fields in written:
        if isinstance(fields, Fields) and ends is not None and fields.get("at", 0) >= ends:
            at = fields.at("at"), fields.path_of("at")
            late = f"{DURATION.text(fields['at'])}; the run ends at {DURATION.text(ends)}"
            reading.problem(*at, "a time within the run", late, "duration and drain set the end of the run")
    # Faults of clocks are handled with the clocks.
    written = [fields for fields in written if not clock_faults.of_clocks(fields)]
    found = (_fault(reading, net, fields, streams) for fields in written)
    return tuple(fault for fault in found if fault is not None)


class Span(TypedDict):
    """The time span of a fault."""

    at: Duration
    duration: Duration | None


class Where(Span):
    """The time span and the ports of a fault."""

    port: str


def _fault(
    reading: Reading, net: Net, fields: Fields, streams: Mapping[str, model.Stream]
) -> model.Fault | None:
    kinds = [key for key in _KINDS if key in fields.places]
    if len(kinds) != 1:
        hint = "write down: a -> b; loss: 1 % with on: a -> b; or babble: stream"
        found = " and ".join(kinds) or "none"
        if not fields.bad:
            reading.problem(fields.place, fields.path, f"one of {', '.join(_KINDS)}", found, hint)
        return None
    kind = kinds[0]
    span: Span = {"at": fields.get("at", 0), "duration": fields.get("for")}
    for key, owners, example in _OWNERS:
        if key in fields.places and kind not in owners:
            reading.problem(fields.at(key), fields.path_of(key), f"{key} only with {owners[0]}", kind)
        if key not in fields.places and example and kind in owners and key not in fields.bad:
            hint = f"add {key}: {example}"
            reading.problem(fields.place, fields.path, f"the key {key} with {kind}", "none", hint)
            return None
    if fields.bad:
        return None
    if kind == "babble":
        return _babble(reading, fields, streams, span)
    if kind == "down":
        return _down(net, fields["down"], span)
    port = selector(net, fields["on"])
    if port is None:
        return None
    if kind in _TIMED:
        return _TIMED[kind](net, fields, {"port": port, **span})
    if kind == "bit-errors":
        return _bit_errors(reading, fields, port, span)
    loss = fields["loss"]
    if not isinstance(loss, Fields):
        return model.Loss(port=port, loss=loss, **span)
    if loss.bad:
        return None
    return model.Loss(port=port, **loss.given(net, model.Loss), **span)


def _down(net: Net, text: Named, span: Span) -> model.LinkDown | model.NodeDown | None:
    if "->" not in text and "--" not in text and text not in ("all", "*"):
        node = net.node(text)
        return None if node is None else model.NodeDown(node=node, **span)
    # Both directions of a link are cut, so `a -- b` is the same as `a -> b` here.
    link = Named.at(text.replace("--", "->"), text.place, text.path)
    port = selector(net, link)
    return None if port is None else model.LinkDown(port=port, **span)


def _delay(net: Net, fields: Fields, where: Where) -> model.Delay | None:
    written = fields["delay"]
    if not isinstance(written, Fields):
        return model.Delay(least=written, most=written, **where)
    if written.bad:
        return None
    delay = model.Delay(**written.given(net, model.Delay), **where)
    if delay.least > delay.most:
        at = written.at("from"), written.path_of("from")
        net.reading.problem(*at, "a time that is not after to", "a longer one")
        return None
    return delay


def _reorder(net: Net, fields: Fields, where: Where) -> model.Delay | None:
    text = fields["by"]
    held = SPAN.read(net.reading, Scalar(text.place, str(text), True), text.path)
    if isinstance(held, Bad):
        return None
    return model.Delay(least=held, most=held, share=fields["reorder"], keeps_order=False, **where)


def _duplicate(_: Net, fields: Fields, where: Where) -> model.Duplicate:
    return model.Duplicate(share=fields["duplicate"], after=fields.get("after", _AFTER), **where)


def _schedule(net: Net, fields: Fields, where: Where) -> model.WrongSchedule | None:
    written = fields["schedule"]
    if not isinstance(written, Fields):
        return model.WrongSchedule(**where)
    if written.bad:
        return None
    if "shift" not in written:
        gates = gate_list(net, written)
        return None if gates is None else model.WrongSchedule(gates=gates, **where)
    for key in written.places:
        if key != "shift":
            hint = "shift moves the list that the port has"
            net.reading.problem(written.at(key), written.path_of(key), "shift or a list", "both", hint)
            return None
    return model.WrongSchedule(shift=written["shift"], **where)


_TIMED: dict[str, Callable[[Net, Fields, Where], model.Fault | None]] = {
    "delay": _delay,
    "reorder": _reorder,
    "duplicate": _duplicate,
    "schedule": _schedule,
}


def _bit_errors(reading: Reading, fields: Fields, port: str, span: Span) -> model.Loss | None:
    text = fields["bit-errors"]
    rate = Fraction(str(text)) * _PETABIT if _RATE.fullmatch(text) else None
    if rate is None or rate.denominator != 1 or not 0 <= rate <= _PETABIT:
        hint = "write 1e-9; the finest is 1e-15"
        reading.problem(text.place, text.path, "a bit error rate", text, hint)
        return None
    return model.Loss(port=port, per_petabit=int(rate), **span)


def _babble(
    reading: Reading, fields: Fields, streams: Mapping[str, model.Stream], span: Span
) -> model.Babble | None:
    name = fields["babble"]
    stream = streams.get(name)
    if stream is None:
        reading.unknown_stream(name, streams)
        return None
    if isinstance(stream.pattern, model.Saturating):
        reading.problem(name.place, name.path, "a stream that does not saturate already", name)
        return None
    return model.Babble(stream=str(name), every=fields["every"], **span)
