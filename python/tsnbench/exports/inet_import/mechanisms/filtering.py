"""Per-stream filtering at bridges: flow meters, and the schedulers of asynchronous shaping."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from tsnbench.exports.inet_import.language.expressions import Quantity, Value
from tsnbench.exports.inet_import.mechanisms.filters import matches
from tsnbench.exports.inet_import.mechanisms.ports import Port
from tsnbench.exports.inet_import.model import Model, Stream
from tsnbench.exports.inet_import.parameters import of_row
from tsnbench.exports.scenario_text import duration, flow, listed, rate

_PHY = 20
"""Octets of preamble, delimiter and gap."""
MOST_METERS = 4096


@dataclass
class _Meter:
    """A meter of INET with the streams that it measures."""

    path: str
    node: str
    kind: str
    streams: list[Stream] = field(default_factory=list)


def policing(model: Model, ports: list[Port]) -> list[str]:
    """The lines under ``policing``; schedulers go to the ports."""
    lines = []
    for node in model.topology.nodes:
        for one in _meters(model, node):
            if one.kind in ("EligibilityTimeMeter", "GroupEligibilityTimeMeter"):
                _schedule(model, one, ports)
            else:
                lines += _meter(model, one)
    return lines


def _meters(model: Model, node: str) -> list[_Meter]:
    parameters = model.parameters
    if not parameters.flag(model.path(node, "hasIngressTrafficFiltering")):
        return []
    bridging = model.path(node, "bridging")
    ingress = f"{bridging}.streamFilter.ingress"
    setting = parameters.setting(f"{ingress}.classifier.mapping")
    mapping = parameters.get(f"{ingress}.classifier.mapping")
    if not isinstance(mapping, dict):
        return []
    count = parameters.whole(f"{ingress}.numStreams", len(mapping))
    parameters.setting(f"{ingress}.hasDefaultPath")
    numbers = {
        name: int(value.value)
        for name, value in mapping.items()
        if isinstance(value, Quantity) and value.value < min(count, MOST_METERS)
    }
    arriving = arriving_at(model, node)
    found: dict[int, _Meter] = {}
    for name, number in numbers.items():
        path = f"{ingress}.meter[{number}]"
        kind = parameters.text(f"{path}.typename")
        parameters.text(f"{ingress}.filter[{number}].typename")
        meter = found.setdefault(number, _Meter(path, node, kind))
        meter.streams += arriving.get(name, [])
    unmatched = [name for name, number in numbers.items() if not found[number].streams]
    if unmatched:
        model.lose_setting(f"filters of streams that do not arrive: {', '.join(unmatched)}", setting)
    return [one for _, one in sorted(found.items()) if one.streams and one.kind]


def arriving_at(model: Model, node: str) -> dict[str, list[Stream]]:
    """Streams by the name that the bridge's decoder gives them."""
    found: dict[str, list[Stream]] = {}
    rows = model.parameters.rows(f"{model.path(node, 'bridging')}.streamCoder.decoder.mapping")
    for stream in model.streams:
        if not _passes(model, node, stream):
            continue
        for row in rows:
            if _decodes(model, node, row, stream):
                found.setdefault(str(row.get("stream")), []).append(stream)
                break
    return found


def _passes(model: Model, node: str, stream: Stream) -> bool:
    """Whether a stream can reach a bridge; certain where its shortest paths are the only ones."""
    found = [model.topology.shortest(stream.talker, to) for to in stream.listeners]
    return not all(only for _, only in found) or any(node in path for path, _ in found)


def _decodes(model: Model, node: str, row: dict[str, Value], stream: Stream) -> bool:
    pcp, vlan = of_row(row, "pcp"), of_row(row, "vlan")
    if stream.pcp is None or (pcp is not None and pcp != stream.pcp):
        return False
    # A VLAN of 0 is a tag that has only a priority.
    if vlan is not None and vlan != (stream.vlan or 0):
        return False
    if row.get("source") not in (None, stream.talker):
        return False
    if "destination" in row and row["destination"] not in stream.listeners:
        return False
    if matches(row.get("packetFilter"), stream) is False:
        return False
    interface = row.get("interface")
    return not isinstance(interface, str) or interface in _interfaces(model, node, stream)


def _interfaces(model: Model, node: str, stream: Stream) -> list[str]:
    """Interfaces over which a stream reaches a node on its shortest path."""
    path, _ = model.topology.shortest(stream.talker, node)
    if len(path) < 2:
        return []
    links = model.topology.nodes[node].links
    return [f"eth{number}" for number, link in links.items() if link.other(node)[0] == path[-2]]


def _share(model: Model, meter: _Meter, counted: Fraction, ours: int, decision: str) -> Fraction:
    """How many octets a scenario counts for each that INET's meter counts; the decision says so."""
    sizes = {one.payload for one in meter.streams}
    if len(sizes) > 1 or any(one.rows and len({row[1] for row in one.rows}) > 1 for one in meter.streams):
        model.decide("rates of meters with frames of several sizes; exact for the largest", meter.path)
    share = Fraction(ours) / counted if counted > 0 else Fraction(1)
    if share != 1:
        model.decide(decision, meter.path.partition(".")[2])
    return share


def _meter(model: Model, meter: _Meter) -> list[str]:
    """A flow meter: INET's measures packets without the header of Ethernet, a scenario's measures frames."""
    parameters, path = model.parameters, meter.path
    largest = max(meter.streams, key=lambda one: one.payload)
    counted = Fraction(largest.counted)
    if meter.kind == "SlidingWindowRateMeter":
        number = path.rpartition("[")[2].rstrip("]")
        limit = parameters.number(f"{path.rpartition('.')[0]}.filter[{number}].maxDatarate", "bps")
        window = parameters.number(f"{path}.timeWindow", "s")
        if limit is None or window is None:
            model.lose_setting("a meter without a rate", parameters.setting(f"{path}.typename"))
            return []
        model.decide(
            "meters with a sliding window, whose filters drop at random; written: a token bucket "
            "with their rate and window",
            meter.path.partition(".")[2],
        )
        cir, cbs = limit, limit * window / 8
    elif meter.kind == "TokenBucketMeter":
        per_bit = parameters.number(f"{path}.tokenConsumptionPerBit", "") or Fraction(1)
        per_packet = parameters.number(f"{path}.tokenConsumptionPerPacket", "") or Fraction(0)
        production = parameters.number(f"{path}.tokenProductionRate", "") or Fraction(0)
        most = parameters.number(f"{path}.maxNumTokens", "") or Fraction(0)
        for key in ("initialNumTokens", "label", "defaultLabel"):
            parameters.setting(f"{path}.{key}")
        counted += per_packet / per_bit / 8
        cir, cbs = production / per_bit, most / per_bit / 8
    else:
        given = parameters.number(f"{path}.committedInformationRate", "bps")
        burst = parameters.number(f"{path}.committedBurstSize", "B")
        if given is None or burst is None or meter.kind != "SingleRateTwoColorMeter":
            model.lose_setting(f"the meter {meter.kind}", parameters.setting(f"{path}.typename"))
            return []
        cir, cbs = given, burst
    share = _share(
        model, meter, counted, _tagged(largest),
        "rates and bursts of meters count frames here, and packets without Ethernet's header in INET; "
        "written: both times frame / packet",
    )  # fmt: skip
    keys = {
        "at": f"all -> {model.names[meter.node]}",
        "streams": listed(one.name for one in meter.streams),
        "meter": flow({"cir": rate(cir * share), "cbs": f"{max(round(cbs * share), 1)} B"}),
    }
    return [f"  - {flow(keys)}"]


def _tagged(stream: Stream) -> int:
    """Octets of a stream's largest frame with a tag."""
    return max(stream.counted + 18 + 4, 64)


def _schedule(model: Model, meter: _Meter, ports: list[Port]) -> None:
    """A scheduler of asynchronous shaping, at every port whose queue waits for the eligibility time."""
    parameters, path = model.parameters, meter.path
    cir = parameters.number(f"{path}.committedInformationRate", "bps")
    burst = parameters.number(f"{path}.committedBurstSize", "B")
    extra = parameters.number(f"{path}.packetOverheadLength", "B") or Fraction(0)
    residence = parameters.number(f"{path}.maxResidenceTime", "s")
    if cir is None or burst is None:
        model.lose_setting("a scheduler without a rate", parameters.setting(f"{path}.typename"))
        return
    largest = max(meter.streams, key=lambda one: one.payload)
    share = _share(
        model, meter, largest.counted + extra, _tagged(largest) + _PHY,
        "rates and bursts of asynchronous shapers count the whole wire here; written: those of INET "
        "times wire / packet with packetOverheadLength",
    )  # fmt: skip
    own = {
        "rate": rate(cir * share),
        "burst": f"{max(round(burst * share), _tagged(largest) + _PHY)} B",
    }
    for port in ports:
        if port.node != meter.node:
            continue
        waits = {
            number
            for number, one in enumerate(port.queues)
            if parameters.text(f"{one}.typename") == "EligibilityTimeQueue"
        }
        for algorithm in port.algorithms:
            parameters.text(f"{algorithm}.typename")
        pcps = sorted(
            {one.written for one in meter.streams if one.written is not None and port.class_of(one) in waits}
        )
        if not pcps:
            continue
        if residence is not None and residence > 0:
            own["residence"] = duration(residence)
        if port.ats and {key: port.ats[key] for key in own} != own:
            model.lose_setting(
                "a second rate of asynchronous shaping at one port",
                parameters.setting(f"{path}.committedInformationRate"),
            )
            continue
        before = str(port.ats.get("pcp", "[]")).strip("[]")
        known = {int(one) for one in before.split(",") if one.strip()}
        port.ats = {"pcp": listed(sorted(known | set(pcps), reverse=True)), **own}
