"""Faults, from the file to the model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TypedDict

from tsnbench.scenario import model
from tsnbench.scenario.build import clock_faults
from tsnbench.scenario.build.net import Net
from tsnbench.scenario.build.network import splits
from tsnbench.scenario.build.shapers import gate_list
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.kinds.common import SPAN
from tsnbench.scenario.model import faults as kinds
from tsnbench.scenario.model.faults import KINDS, OfPort
from tsnbench.scenario.text.reading import BAD, Bad, Named, Reading
from tsnbench.scenario.text.tree import Scalar
from tsnbench.scenario.units import DURATION, Duration

_OF_PORTS = ("loss", "bit-errors", "delay", "reorder", "schedule")
_KINDS = ("down", *_OF_PORTS, *KINDS)
_RATE = re.compile(r"[0-9](\.[0-9]{1,12})?e-[0-9]{1,2}")
_PETABIT = 10**15


def faults(
    reading: Reading,
    net: Net,
    written: list[Fields],
    streams: Mapping[str, model.Stream],
    times: tuple[int, int] | None,
) -> tuple[kinds.Fault, ...]:
    """Every fault; mistakes are noted. ``times``: when talkers stop and when the last frame may arrive, in
    ns, if that is known."""
    for fields in written:
        if isinstance(fields, Fields) and times is not None:
            _begins_in_time(reading, fields, *times)
    # Faults of clocks are handled with the clocks.
    written = [fields for fields in written if not clock_faults.of_clocks(fields)]
    found = (_fault(reading, net, fields, streams) for fields in written)
    return tuple(fault for fault in found if fault is not None)


def _begins_in_time(reading: Reading, fields: Fields, stop: int, end: int) -> None:
    begin = fields.get("at", 0)
    if begin >= end:
        late = f"{DURATION.text(begin)}; the run ends at {DURATION.text(end)}"
        hint = "duration and drain set the end of the run"
        fields.wrong(reading, "at", "a time within the run", late, hint)
    elif begin >= stop:
        text = "begins when the talkers have stopped: only frames that are still on their way meet it"
        hint = f"write a time before {DURATION.text(stop)}, or a longer duration"
        reading.doubt("late-fault", *fields.where("at"), text, hint)


def _owners() -> dict[str, tuple[list[str], str]]:
    """Keys that belong to some kinds only: these kinds, and an example where they need the key."""
    found = {"on": ([*_OF_PORTS], OfPort._keys["port"].example), "by": (["reorder"], "250 us")}
    for kind, part in KINDS.items():
        for key in part._keys.values():
            if key.written not in (kind, "at", "for"):
                found.setdefault(key.written, ([], key.example))[0].append(kind)
    return found


_OWNERS = _owners()


class Span(TypedDict):
    """The time span of a fault."""

    at: Duration
    duration: Duration | None


class Where(Span):
    """The time span and the ports of a fault."""

    port: str


def _fault(
    reading: Reading, net: Net, fields: Fields, streams: Mapping[str, model.Stream]
) -> kinds.Fault | None:
    present = fields.written_of(_KINDS)
    if len(present) != 1:
        hint = "write down: a -> b; loss: 1 % with on: a -> b; or babble: stream"
        found = " and ".join(present) or "none"
        if not fields.bad:
            reading.problem(fields.place, fields.path, f"one of {', '.join(_KINDS)}", found, hint)
        return None
    kind = present[0]
    span: Span = {"at": fields.get("at", 0), "duration": fields.get("for")}
    for key, (owners, example) in _OWNERS.items():
        if key in fields.places and kind not in owners:
            fields.wrong(reading, key, f"{key} only with {owners[0]}", kind)
        if key not in fields.places and example and kind in owners and key not in fields.bad:
            hint = f"add {key}: {example}"
            reading.problem(fields.place, fields.path, f"the key {key} with {kind}", "none", hint)
            return None
    if fields.bad:
        return None
    if kind in KINDS:
        if kind == "babble" and not _babbles(reading, fields["babble"], streams):
            return None
        given = fields.given(net, KINDS[kind])
        return None if BAD in given.values() else KINDS[kind](**given)
    if kind == "down":
        return _down(net, fields["down"], span)
    port = net.ports(fields["on"])
    if port is None:
        return None
    if kind in _TIMED:
        return _TIMED[kind](net, fields, {"port": port, **span})
    if kind == "bit-errors":
        return _bit_errors(reading, fields, port, span)
    loss = fields["loss"]
    if not isinstance(loss, Fields):
        return kinds.Loss(port=port, loss=loss, **span)
    if loss.bad:
        return None
    return kinds.Loss(port=port, **loss.given(net, kinds.Loss), **span)


def _down(net: Net, text: Named, span: Span) -> kinds.LinkDown | kinds.NodeDown | None:
    ways = [] if text in net.nodes else splits(text, lambda name: name in net.nodes)
    if len(ways) == 1 and "--" not in text and all(end in net.nodes for end in ways[0]):
        text = Named.at(" -- ".join(ways[0]), text.place, text.path)
    if "->" not in text and "--" not in text and text not in ("all", "*"):
        node = net.node(text)
        return None if node is None else kinds.NodeDown(node=node, **span)
    # Both directions of a link are cut, so `a -- b` is the same as `a -> b` here.
    link = Named.at(text.replace("--", "->"), text.place, text.path)
    port = net.ports(link)
    return None if port is None else kinds.LinkDown(port=port, **span)


def _delay(net: Net, fields: Fields, where: Where) -> kinds.Delay | None:
    written = fields["delay"]
    if not isinstance(written, Fields):
        return kinds.Delay(least_ns=written, most_ns=written, **where)
    if written.bad:
        return None
    delay = kinds.Delay(**written.given(net, kinds.Delay), **where)
    if delay.least_ns > delay.most_ns:
        written.wrong(net.reading, "from", "a time that is not after to", "a longer one")
        return None
    return delay


def _reorder(net: Net, fields: Fields, where: Where) -> kinds.Delay | None:
    text = fields["by"]
    held = SPAN.read(net.reading, Scalar(text.place, str(text), True), text.path)
    if isinstance(held, Bad):
        return None
    return kinds.Delay(least_ns=held, most_ns=held, share_ppm=fields["reorder"], keeps_order=False, **where)


def _schedule(net: Net, fields: Fields, where: Where) -> kinds.WrongSchedule | None:
    written = fields["schedule"]
    if not isinstance(written, Fields):
        return kinds.WrongSchedule(**where)
    if written.bad:
        return None
    if "shift" not in written:
        gates = gate_list(net, written)
        return None if gates is None else kinds.WrongSchedule(gates=gates, **where)
    others = [key for key in written.places if key != "shift"]
    hint = "shift moves the list that the port has"
    if not written.none_of(net.reading, others, "shift or a list", "both", hint):
        return None
    return kinds.WrongSchedule(shift=written["shift"], **where)


_TIMED: dict[str, Callable[[Net, Fields, Where], kinds.Fault | None]] = {
    "delay": _delay,
    "reorder": _reorder,
    "schedule": _schedule,
}


def _bit_errors(reading: Reading, fields: Fields, port: str, span: Span) -> kinds.Loss | None:
    text = fields["bit-errors"]
    rate = Fraction(str(text)) * _PETABIT if _RATE.fullmatch(text) else None
    if rate is None or rate.denominator != 1 or not 0 <= rate <= _PETABIT:
        hint = "write 1e-9; the finest is 1e-15"
        reading.problem(text.place, text.path, "a bit error rate", text, hint)
        return None
    return kinds.Loss(port=port, per_petabit=int(rate), **span)


def _babbles(reading: Reading, name: Named, streams: Mapping[str, model.Stream]) -> bool:
    """Whether a stream can babble; a mistake is reported."""
    stream = streams.get(name)
    if stream is None:
        reading.unknown_stream(name, streams)
        return False
    if isinstance(stream.pattern, model.Saturating):
        reading.problem(name.place, name.path, "a stream that does not saturate already", name)
        return False
    return True
