"""Requirements that no run can meet: mistakes in the scenario, with their place and a correction.

A gate that no entry opens for a class with frames, a frame that fits no window, a limit that no frame keeps.
Overload may be intended, and is a warning, unless streams must not lose a frame and lose some for certain.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil

from tsnbench import quantities
from tsnbench.plan.streams.crossing import Crossing
from tsnbench.plan.streams.facts import Facts
from tsnbench.plan.streams.limits import Broken, broken_delays, broken_rate
from tsnbench.plan.streams.settling import margin_ps
from tsnbench.plan.streams.surplus import surplus_bits
from tsnbench.plan.warnings.gates import may_overrun, needs_ps
from tsnbench.planning.draft import Draft
from tsnbench.planning.errors import PlanningProblem
from tsnbench.planning.shaping.gate_remedies import Cure, longer, opened
from tsnbench.scenario.model.scenario import SETTLED
from tsnbench.scenario.units import DURATION, RATE

Impossible = PlanningProblem
"""One part of the scenario that cannot work."""


def refuse_impossible(draft: Draft, facts: Facts) -> None:
    """Reports every part of a finished Plan that cannot work."""
    variant = ", ".join(f"{name} {value}" for name, value in draft.scenario.variant.items())
    for one in [*_gates(draft, facts), *broken_limits(facts), *_overload(facts), *_measuring(draft, facts)]:
        hint = f"{one.hint}; or leave {variant} out of the sweep" if variant else one.hint
        draft.problem(one.path, one.expected, one.found, hint)


def _gates(draft: Draft, facts: Facts) -> Iterator[Impossible]:
    document = facts.document
    for number, traffic_class in facts.crossed:
        port = document["ports"][number]
        if "gates" not in port:
            continue
        windows = facts.windows(number, traffic_class)
        if not any(one is None or one for one in windows):
            streams = facts.crossing[number, traffic_class]
            names = quantities.some(list(dict.fromkeys(stream["group"] for stream, _ in streams)))
            pcps = sorted({pcp for pcp, own in enumerate(port["pcp_to_class"]) if own == traffic_class})
            cure = opened(draft.ports[number], traffic_class, _pcps(draft, number, streams) or pcps)
            expected = (
                f"class {traffic_class} (PCP {quantities.ranges(pcps)}) open in some entry, for {names}"
            )
            yield Impossible(cure.path, expected, "no entry that opens it", cure.hint)
        elif all(one is not None for one in windows) and not may_overrun(port, traffic_class):
            longest = max(max(one) for one in windows if one)
            # Most Plans need no look at the streams of each port.
            if needs_ps(facts.most, port["rate_bps"]) > longest * 1_000:
                octets = facts.greatest(number, traffic_class)
                yield from _too_short(draft, facts, number, traffic_class, octets, longest)


def _overload(facts: Facts) -> Iterator[Impossible]:
    """Classes of which every stream must arrive complete, and more arrives than the port sends and all queues
    before it hold.

    A part that draws, delays or discards frames makes this unknown; the warning about the load remains.
    """
    document = facts.document
    unknown = any(part in document for part in ("faults", "policing", "clocks"))
    if unknown or any("host" in node or "further" in node for node in document["nodes"]):
        return
    streams = {stream["name"]: stream for stream in document["streams"]}
    for number, loads in enumerate(facts.loads):
        port = document["ports"][number]
        for traffic_class, load in enumerate(loads):
            if not load.flows or load.rate_bps <= port["rate_bps"]:
                continue
            own = [streams[name] for name, _ in load.flows]
            complete = all(one["requirements"].get("loss_ppm") == 0 for one in own)
            if complete and not load.saturating and surplus_bits(facts, number, own) > 0:
                group = own[0]["group"]
                most, sent = quantities.rate(port["rate_bps"]), quantities.rate(load.rate_bps)
                expected = f"{most} or less in class {traffic_class} of {port['name']}"
                hint = "send less, use a faster link, or leave loss: 0 out"
                found = f"{sent}: frames are lost when the queues are full"
                yield Impossible(f"streams.{group}.requires.loss", expected, found, hint)
                return


def _measuring(draft: Draft, facts: Facts) -> Iterator[Impossible]:
    """A part of the run to measure that is empty, or of which nobody can know when it begins."""
    scenario = draft.scenario
    begin = scenario.measure_from
    hint = f"write measure-from: {DURATION.text(max(1, scenario.duration // 2))}"
    if isinstance(begin, int) and begin >= scenario.duration:
        expected = f"less than the duration, {DURATION.text(scenario.duration)}"
        yield Impossible("measure-from", expected, DURATION.text(begin), f"{hint}, or a longer duration")
    if begin == SETTLED and not margin_ps(facts.document):
        expected = "a time, as no schedule with a margin says how far clocks may differ"
        yield Impossible("measure-from", expected, SETTLED, hint)


def _pcps(draft: Draft, number: int, streams: list[Crossing]) -> list[int]:
    """The priorities with which streams cross a port."""
    groups = {stream["group"] for stream, _ in streams}
    port = draft.ports[number]
    found = {
        draft.priority(flow, port)
        for flow in draft.flows
        if flow.group in groups and any(hop.port == number for hop in flow.route)
    }
    return sorted(found)


def _too_short(
    draft: Draft,
    facts: Facts,
    number: int,
    traffic_class: int,
    octets: int,
    longest: int,
) -> Iterator[Impossible]:
    port = draft.ports[number]
    needs = ceil(Fraction(needs_ps(octets, port.rate_bps), 1_000))
    if needs > longest:
        # Only the first of the streams with the largest frames is named: naming all of them would take long.
        streams = facts.crossing[number, traffic_class]
        group = next(one["group"] for one, tag in streams if facts.largest[one["name"]] + tag == octets)
        cure: Cure = longer(port, traffic_class, needs)
        expected = f"a window of at least {DURATION.text(needs)} for class {traffic_class}, "
        expected += f"for a frame of {group} ({octets} B)"
        yield Impossible(cure.path, expected, f"{DURATION.text(longest)} at most", cure.hint)


def broken_limits(facts: Facts) -> Iterator[Impossible]:
    """Limits that no frame can keep; with the least possible value over all flows and listeners of a
    stream."""
    least: dict[tuple[str, str], Broken] = {}
    rates: dict[str, tuple[int, Fraction]] = {}
    for stream in facts.document["streams"]:
        if not stream["requirements"]:
            continue
        group = stream["group"]
        for broken in broken_delays(facts.document, stream, facts.delays):
            before = least.get((group, broken.name))
            if before is None or broken.takes > before.takes:
                least[group, broken.name] = broken
        rate = broken_rate(stream)
        if rate is not None:
            rates[group] = rate
    for (group, _), (name, limit, takes, to) in least.items():
        found = f"{DURATION.text(limit)}; a frame to {to} takes that long in an empty network"
        hint = f"write {name}: {DURATION.text(takes)} or more"
        expected = f"a limit of at least {DURATION.text(takes)}"
        yield Impossible(f"streams.{group}.requires.{name}", expected, found, hint)
    for group, (limit_bps, offered) in rates.items():
        sent = int(offered)
        expected = f"at most the {quantities.rate(offered)} that it sends"
        hint = f"write rate: {RATE.text(sent)}, or send more"
        yield Impossible(f"streams.{group}.requires.rate", expected, quantities.rate(limit_bps), hint)
