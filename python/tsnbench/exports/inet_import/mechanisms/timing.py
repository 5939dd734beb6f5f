"""When a packet source of INET makes packets: a period, random intervals, or a sampled recording."""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

from tsnbench.errors import ContentError
from tsnbench.exports.inet_import.language.expressions import Node, VaryingError, evaluate, quantity
from tsnbench.exports.inet_import.model import Model
from tsnbench.exports.inet_import.parameters import Setting

DRAIN = Fraction(1, 10)
"""A scenario's default, in s."""
MOST_PACKETS = 1_048_576
"""Packets of a recording; the scenario takes no more."""
MOST_IN_ALL = 8 * MOST_PACKETS
"""Packets of all recordings."""


@dataclass(frozen=True)
class Timing:
    """``kind``: periodic, poisson, jitter or sampled; all times in s."""

    kind: str
    period: Fraction
    offset: Fraction = Fraction(0)
    stop: Fraction | None = None
    jitter: Fraction = Fraction(0)


@dataclass(frozen=True)
class _Least(random.Random):
    """Draws the least value of each distribution."""

    def uniform(self, a: float, b: float) -> float:
        return a


def timing(model: Model, source: str, interval: str, offset: str) -> Timing | None:
    """The pattern of a source; None if nothing sets its interval.

    Args:
        model: the model.
        source: the path of the source.
        interval: the name of its parameter for the interval.
        offset: the name of its parameter for the first packet.
    """
    setting = model.parameters.setting(f"{source}.{interval}")
    if setting is None:
        return None
    begin = _begin(model, source, interval, offset)
    node, until = _bounded(model, setting)
    start = _constant(model, begin, begin.node) if begin is not None else Fraction(0)
    constant = _constant(model, setting, node)
    if constant is not None and start is not None:
        if constant <= 0:
            raise model.parameters.wrong(setting, ValueError("expected more than 0"))
        stop = None if until is None else _ns(until) + constant
        return Timing("periodic", constant, max(start, Fraction(0)), stop)
    if node.kind == "call" and node.text == "exponential" and node.parts:
        mean = _constant(model, setting, node.parts[0])
        if mean is not None and mean > 0:
            first = start if start is not None else _first(model, begin)
            return Timing("poisson", mean, max(first, Fraction(0)), None if until is None else _ns(until))
    if begin is not None and start is None and begin.node.kind == "sign":
        found = _jittered(model, setting, node, begin)
        if found is not None:
            stop = None if until is None else _ns(until) + found.period
            # Every instant between the last release and the next one says the same: here a drain of 100 ms.
            if stop is not None and _ns(until or stop) < model.limit - DRAIN <= stop:
                stop = model.limit - DRAIN
            return Timing("jitter", found.period, found.offset, stop, found.jitter)
    return Timing("sampled", Fraction(0), start or Fraction(0))


def _begin(model: Model, source: str, interval: str, offset: str) -> Setting | None:
    """What sets the time of the first packet; a UdpBasicApp waits for one interval where nothing does."""
    found = model.parameters.setting(f"{source}.{offset}")
    return (
        model.parameters.setting(f"{source}.{interval}") if found is None and offset == "startTime" else found
    )


def _ns(seconds: Fraction) -> Fraction:
    """The next whole nanosecond."""
    return Fraction(-(-seconds * 10**9 // 1), 10**9)


def _constant(model: Model, setting: Setting, node: Node) -> Fraction | None:
    try:
        return quantity(evaluate(node, model.parameters.scope(setting))).to("s")
    except VaryingError:
        return None
    except ValueError as error:
        raise model.parameters.wrong(setting, error) from None


def _bounded(model: Model, setting: Setting) -> tuple[Node, Fraction | None]:
    """An interval that lasts until a time, after which no packet follows: `simTime() < 1s ? … : 100s`."""
    node = setting.node
    if node.kind != "if":
        return node, None
    condition, inner, after = node.parts
    if condition.kind == "sign" and condition.text == "<" and condition.parts[0].text == "simTime":
        until = _constant(model, setting, condition.parts[1])
        behind = _constant(model, setting, after)
        if until is not None and behind is not None and until + behind >= model.limit:
            return inner, until
    return node, None


def _first(model: Model, begin: Setting | None) -> Fraction:
    """The constant part of the time of the first packet."""
    if begin is None or begin.node.kind != "sign" or begin.node.text != "+":
        return Fraction(0)
    return _constant(model, begin, begin.node.parts[0]) or Fraction(0)


def _jittered(model: Model, setting: Setting, node: Node, begin: Setting) -> Timing | None:
    """Releases at multiples of a period, each late by a random time: the form of tsnbench's export."""
    first, late = begin.node.parts
    if begin.node.text != "+" or late.kind != "call" or late.text != "uniform" or len(late.parts) < 2:
        return None
    offset = _constant(model, begin, first)
    most = _constant(model, begin, late.parts[1])
    if offset is None or most is None:
        return None
    scopes = [model.parameters.scope(setting, offset + late, _Least()) for late in (Fraction(0), most / 2)]
    try:
        values = [quantity(evaluate(node, scope)).to("s") for scope in scopes]
    except ValueError:
        return None
    period = values[0]
    # The later a release is, the shorter is the interval to the next multiple.
    if abs(values[1] + most / 2 - period) > Fraction(1, 10**9) or period <= most:
        return None
    return Timing("jitter", round(period * 10**9) * Fraction(1, 10**9), offset, None, most)


def sampled(model: Model, source: str, interval: str, offset: str, length: str) -> list[tuple[int, int]]:
    """Time in ns and length in octets of each packet, until the simulation ends.

    Raises:
        ContentError: there are more than :data:`MOST_PACKETS`, or an interval is not above 0.
    """
    setting = model.parameters.setting(f"{source}.{interval}")
    size = model.parameters.setting(f"{source}.{length}")
    assert setting is not None
    assert size is not None
    draw = model.draw(source)
    begin = _begin(model, source, interval, offset)
    # OMNeT++ keeps times as whole ps, and evaluates expressions in doubles.
    now = 0 if begin is None else max(round(_at(model, begin, 0.0, draw) * 1e12), 0)
    limit = int(model.limit * 10**12)
    found: list[tuple[int, int]] = []
    while now < limit:
        octets = _at(model, size, now * 1e-12, draw, "B")
        found.append((round(now, -3) // 1000, max(int(octets), 1)))
        model.packets += 1
        if len(found) > MOST_PACKETS or model.packets > MOST_IN_ALL:
            most = MOST_PACKETS if len(found) > MOST_PACKETS else MOST_IN_ALL
            raise ContentError(f"{setting.place}: expected at most {most} packets, found more")
        step = _at(model, setting, now * 1e-12, draw)
        now += max(round(step * 1e12), 0)
        if step <= 0 and len(found) > 1000 and found[-1000][0] == found[-1][0]:
            raise ContentError(f"{setting.place}: expected intervals above 0, found {setting.text[:60]}")
    return found


def _at(model: Model, setting: Setting, now: float, draw: random.Random, unit: str = "s") -> float:
    """The value of a parameter at a time in s."""
    try:
        found = quantity(evaluate(setting.node, model.parameters.scope(setting, now, draw))).real(unit)
    except ValueError as error:
        raise model.parameters.wrong(setting, error) from None
    if not isfinite(found):
        raise model.parameters.wrong(setting, ValueError(f"{found}"))
    return found


def is_random(node: Node) -> bool:
    """Whether an expression has random values."""
    if node.kind == "call" and node.text in (
        "uniform", "exponential", "normal", "truncnormal", "intuniform", "triang",
    ):  # fmt: skip
        return True
    return any(is_random(part) for part in node.parts)
