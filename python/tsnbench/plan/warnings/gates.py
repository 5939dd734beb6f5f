"""Classes whose gates never open, open too shortly for a frame, or pass less than the load.

IEEE 802.1Q-2022, 8.6.8.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from tsnbench import quantities
from tsnbench.plan.delay import BEFORE_STAMP, transmission_ps
from tsnbench.plan.frames import sizes
from tsnbench.plan.gates import gate_lists
from tsnbench.plan.load import sum_of
from tsnbench.plan.sizes import INTER_FRAME_GAP, PHY_OVERHEAD
from tsnbench.plan.streams.crossing import Crossing
from tsnbench.plan.streams.facts import Facts, InForce
from tsnbench.plan.warnings.doubt import Doubt

if TYPE_CHECKING:
    from tsnbench.plan.types import GateList, Port


def gate_doubts(facts: Facts) -> Iterator[Doubt]:
    """Kinds: gate-never-open, gate-too-short, gate-overload, gate-reservation, gate-buffer.

    Each list is compared with the streams that send while it is in force.
    """
    for (number, traffic_class), streams in facts.crossing.items():
        lists = facts.lists(number)
        for one in lists:
            own = streams
            if len(lists) > 1:
                names = set(facts.active((stream["name"] for stream, _ in streams), one.span))
                own = [crossing for crossing in streams if crossing[0]["name"] in names]
            if own:
                yield from _class(facts, number, traffic_class, own, one)


def behind(one: InForce, facts: Facts) -> str:
    """The list that a text refers to, if a port has several: words to add at the end of the text."""
    if "at_ns" in one.gates:
        return f" in the list requested at {quantities.time(one.gates['at_ns'])}"
    return "" if one.span[1] >= facts.run[1] else f" before {quantities.time(one.span[1])}"


def _reservation(
    port: Port, traffic_class: int, gates: GateList, windows: list[int], streams: list[Crossing]
) -> Iterator[Doubt]:
    """A reservation that exceeds the guaranteed capacity of the windows, each without its last frame."""
    cbs = port["classes"][traffic_class].get("cbs")
    if cbs is None or "runs_while_closed" in cbs:
        return
    octets = max(_largest(streams).values())
    changed = gates.get("idle_slopes", []) if "at_ns" in gates else []
    slopes = {one["class"]: one["bps"] for one in changed}
    rate, cycle = port["rate_bps"], gates["cycle_ns"]
    # The inter-frame gap after a frame that ends just before the window also takes time of the window.
    lost = Fraction(needs_ps(octets + INTER_FRAME_GAP, rate), 1_000)
    room = sum((max(Fraction(0), length - lost) for length in windows), Fraction(0))
    own, above, beside = Fraction(0), Fraction(0), []
    for number in range(traffic_class, len(port["classes"])):
        shaper = port["classes"][number].get("cbs")
        both = 1 << number | 1 << traffic_class
        together = sum(entry["interval_ns"] for entry in gates["entries"] if entry["open"] & both == both)
        if shaper is None or not together:
            continue
        part = Fraction(slopes.get(number, shaper["idle_slope_bps"]) * together, rate)
        if number == traffic_class:
            own = part
        else:
            above += part
            beside.append(number)
    missing = own + above - room
    if missing > 0:
        left = max(Fraction(0), room - above)
        also = f" after class {', '.join(map(str, beside))}" if beside else ""
        reserved, sure = quantities.rate(rate * own / cycle), quantities.rate(rate * left / cycle)
        text = (
            f"class {traffic_class} reserves {reserved}, {sure} are guaranteed to fit into its windows{also}"
        )
        text += ", each without its last frame: frames may wait without end"
        share = 1 - above / sum(windows)
        more = -(-missing / share // 1_000) * 1_000 if share > 0 else None
        hint = (
            f"open it for {quantities.time(Fraction(more))} more in every cycle" if more else "reserve less"
        )
        if left and more:
            hint += f", or reserve at most {sure}"
        yield Doubt("gate-reservation", port["name"], text, "gates", port["name"], hint)


def _class(
    facts: Facts, number: int, traffic_class: int, streams: list[Crossing], one: InForce
) -> Iterator[Doubt]:
    """Doubts of one class of a port about one list; ``streams``: those that send while it is in force."""
    port = facts.document["ports"][number]
    where, told = port["name"], behind(one, facts)
    windows = facts.windows(number, traffic_class)[one.place]
    if windows is None:
        return
    if not windows:
        names = quantities.some(list(dict.fromkeys(stream["group"] for stream, _ in streams)))
        text = f"the gate of class {traffic_class} never opens{told}: {names} cannot pass"
        yield Doubt("gate-never-open", where, text, "gates", where)
        return
    if "transmit_buffer" in port and sum(windows) < one.gates["cycle_ns"]:
        yield _buffered(facts, number, traffic_class)
    longest = max(windows)
    too_long = needs_ps(facts.greatest(number, traffic_class), port["rate_bps"]) > longest * 1_000
    for group, octets in sorted(_largest(streams).items()) if too_long else ():
        needs = needs_ps(octets, port["rate_bps"])
        if needs > longest * 1_000 and not may_overrun(port, traffic_class):
            text = f"a frame of {group} ({octets} B, {quantities.time(-(-needs // 1_000))}) fits no window "
            text += f"of class {traffic_class}{told}, the longest is {quantities.time(longest)}"
            yield Doubt("gate-too-short", where, text, "gates", where)
    open_rate = port["rate_bps"] * sum(windows) // one.gates["cycle_ns"]
    flows = facts.busiest(facts.loads[number][traffic_class].flows, one.span, open_rate)
    if (load := sum_of([rate for _, rate in flows])) > open_rate:
        asked = f"class {traffic_class} has a load of {quantities.rate(load)}"
        text = f"{asked}, its gate is open for {quantities.rate(open_rate)}{told}"
        yield Doubt("gate-overload", where, text, "gates", where)
    yield from _reservation(port, traffic_class, one.gates, windows, streams)


def _buffered(facts: Facts, number: int, traffic_class: int) -> Doubt:
    """Frames that their gate let pass wait behind others in the transmit buffer, while the gate closes."""
    port = facts.document["ports"][number]
    frames = port["transmit_buffer"]
    greatest = max(facts.greatest(number, own) for at, own in facts.crossing if at == number)
    late = (frames - 1) * transmission_ps(greatest + PHY_OVERHEAD, port["rate_bps"])
    if port["gates"].get("unguarded", False):
        late += needs_ps(facts.greatest(number, traffic_class), port["rate_bps"])
    after = quantities.time(Fraction(late, 1_000))
    text = f"frames of class {traffic_class} may leave up to {after} after their gate closed"
    text = f"{text}: a transmit buffer of {frames} frames is behind it"
    return Doubt("gate-buffer", port["name"], text, "gates", port["name"])


def needs_ps(octets: int, rate_bps: int) -> int:
    """The time that a gate has to be open for a frame, in ps."""
    return transmission_ps(BEFORE_STAMP + octets, rate_bps)


def may_overrun(port: Port, traffic_class: int) -> bool:
    """Whether frames longer than a window may begin in it: there is no guard, or a hold cuts them."""
    if port["gates"].get("unguarded", False):
        return True
    preemption = port.get("preemption")
    if preemption is None or preemption["express"] >> traffic_class & 1:
        return False
    return any(
        entry.get("mac") == "hold" for gates in gate_lists(port["gates"]) for entry in gates["entries"]
    )


def _largest(streams: list[Crossing]) -> dict[str, int]:
    """Stream to its largest frame."""
    largest: dict[str, int] = {}
    for stream, tag in streams:
        if stream["group"] not in largest:
            largest[stream["group"]] = sizes(stream["size"]).largest + tag
    return largest
