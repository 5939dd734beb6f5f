"""Given slopes and credits of shapers that differ from those that follow from the idle slope.

IEEE 802.1Q-2022, 8.6.8.2 and annex L.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from tsnbench import quantities
from tsnbench.plan.streams.facts import Facts
from tsnbench.plan.streams.policing import chosen_by_gates
from tsnbench.plan.warnings.doubt import Doubt

if TYPE_CHECKING:
    from tsnbench.plan.types import Cbs, CbsChildQdisc, CbsFollows, Port


class _Shaper(NamedTuple):
    """A shaper of hardware or of a host's kernel; slopes in bit/s, credits in bit."""

    idle: int
    send: int
    high: int
    low: int
    reserved: int
    """``adminIdleSlope``; gates make the idle slope larger."""
    follows: CbsFollows
    kernel: bool


def shaper_doubts(facts: Facts) -> Iterator[Doubt]:
    """Kinds: given-send-slope, given-hi-credit and given-lo-credit, of classes with frames;
    unused-reservation."""
    chosen = chosen_by_gates(facts.document)
    if not chosen:
        yield from _unused(facts)
    for number, port in enumerate(facts.document["ports"]):
        for traffic_class, shaper in _shapers(port):
            if facts.loads[number][traffic_class].idle and not chosen:
                continue
            for kind, text, hint in _differences(shaper, traffic_class, port["rate_bps"]):
                yield Doubt(f"given-{kind}", port["name"], text, "cbs", port["name"], hint)


def _unused(facts: Facts) -> Iterator[Doubt]:
    """Classes that have a shaper at some ports, and frames at none of these."""
    shaped: dict[int, list[int]] = {}
    for number, port in enumerate(facts.document["ports"]):
        for traffic_class, one in enumerate(port["classes"]):
            if "cbs" in one:
                shaped.setdefault(traffic_class, []).append(number)
    for traffic_class, numbers in shaped.items():
        if all(facts.loads[number][traffic_class].idle for number in numbers):
            port = facts.document["ports"][numbers[0]]
            pcps = [pcp for pcp, own in enumerate(port["pcp_to_class"]) if own == traffic_class]
            text = f"cbs reserves for class {traffic_class}, which no stream uses there"
            hint = f"give a stream pcp: {quantities.ranges(pcps)}, or leave this class out"
            yield Doubt("unused-reservation", port["name"], text, "cbs", port["name"], hint)


def _shapers(port: Port) -> Iterator[tuple[int, _Shaper]]:
    for number, one in enumerate(port["classes"]):
        if "follows" in one.get("cbs", {}):
            yield number, _of_hardware(one["cbs"])
    for number, child in enumerate(port.get("qdisc", {}).get("children", ())):
        if child["kind"] == "cbs" and "follows" in child:
            yield number, _of_kernel(child)


def _of_hardware(cbs: Cbs) -> _Shaper:
    slopes = cbs["idle_slope_bps"], cbs["send_slope_bps"]
    credits_ = cbs["hi_credit_bits"], cbs["lo_credit_bits"]
    return _Shaper(*slopes, *credits_, cbs["linux"]["idleslope"] * 1_000, cbs["follows"], False)


def _of_kernel(child: CbsChildQdisc) -> _Shaper:
    idle, send = child["idleslope"] * 1_000, child["sendslope"] * 1_000
    return _Shaper(idle, send, child["hicredit"] * 8, child["locredit"] * 8, idle, child["follows"], True)


def _differences(own: _Shaper, traffic_class: int, rate: int) -> Iterator[tuple[str, str, str]]:
    """Kind, text and hint."""
    send = own.follows.get("send_slope_bps")
    high, low = own.follows.get("hi_credit_bits"), own.follows.get("lo_credit_bits")
    hint = "write {}, or leave it out: it follows from the idle slope"
    begin = f"class {traffic_class} has a"
    # Gates raise both slopes, and the class passes less in the long run than while its gate is open.
    raised, is_open = max(own.idle - own.reserved, 0), min(Fraction(own.reserved, own.idle), Fraction(1))
    if send is not None:
        passes = quantities.rate(Fraction(own.idle * rate, own.idle - own.send) * is_open)
        text = f"{begin} send slope of {quantities.rate(own.send - raised)}, idle slope less rate is "
        text += f"{quantities.rate(send - raised)}: in the long run it passes {passes}, "
        text += f"not {quantities.rate(own.idle * is_open)}"
        slope = own.reserved - (own.idle - send)
        yield "send-slope", text, hint.format(f"send-slope: {slope // 1_000} kbit/s")
    if high is not None:
        text = f"{begin} highest credit of {_bits(own.high)}, up to {_bits(high)} can gather: "
        if own.high < high:
            text += "the rest is lost, and the class passes less"
        else:
            # Linux's shaper also gains credit while no frame waits.
            text += "after a pause the class sends more at once" if own.kernel else "it is never reached"
        yield "hi-credit", text, hint.format(f"hi-credit: {high} bit")
    if low is not None:
        text = f"{begin} lowest credit of {_bits(own.low)}, the debt of its largest frame is {_bits(-low)}: "
        if own.low > low:
            kept = own.idle - own.send * Fraction(own.low, low)
            passes = quantities.rate(own.idle * rate / kept * is_open)
            text += f"the rest of the debt is cancelled, and the class may pass {passes}"
        else:
            text += "it is never reached"
        yield "lo-credit", text, hint.format(f"lo-credit: {low} bit")


def _bits(credit: int) -> str:
    """Credit in bit, and in octets as ``tc`` has it."""
    return f"{credit} bit ({quantities.trimmed(f'{credit / 8:.1f}')} octets)"
