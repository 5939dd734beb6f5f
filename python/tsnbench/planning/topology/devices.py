"""Hardware of nodes: planned gate control lists keep to its limits, and other settings have to fit.

A limit that a device's description does not state is unknown, and then only the scenario's own limits count.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from math import lcm
from typing import TYPE_CHECKING, TypeVar

from tsnbench import quantities
from tsnbench.plan.frames import sizes
from tsnbench.plan.load import flow_rate
from tsnbench.planning.topology.bridging import key_of
from tsnbench.planning.topology.unsupported import lists_of, unsupported
from tsnbench.scenario import model
from tsnbench.scenario.part import Values

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tsnbench.planning.draft import Draft, Flow, Gates, Port

Written = TypeVar("Written", model.Schedule, model.Windows)


def device_of(draft: Draft, port: Port) -> model.Device | None:
    """The hardware of a port's node."""
    return draft.scenario.network.nodes[draft.nodes[port.node].name].device


def limited(draft: Draft, port: Port, written: Written) -> Written:
    """The options with the limits of a port's hardware."""
    device = device_of(draft, port)
    return written if device is None else _within(written, device.gates)


def strictest(draft: Draft, written: Written) -> Written:
    """The options with the limits of all hardware."""
    devices = {node.device.name: node.device for node in draft.scenario.network.nodes.values() if node.device}
    return reduce(_within, (device.gates for device in devices.values()), written)


def _within(written: Written, limits: model.GateLimits) -> Written:
    own = written.most_entries
    values: Values = {
        "granularity": lcm(written.granularity, limits.granularity or 1),
        "shortest_interval": max(written.shortest_interval, limits.shortest_interval or 1),
        "most_entries": min(own, limits.most_entries or own, limits.most_entries_together or own),
        "longest_cycle": min(written.longest_cycle, limits.longest_cycle or written.longest_cycle),
    }
    return written.model_copy(update=values)


def long_enough(draft: Draft, port: Port, gates: Gates) -> Gates:
    """A planned list, repeated until its cycle is as long as the hardware needs it."""
    device = device_of(draft, port)
    least = None if device is None else device.gates.shortest_cycle
    return gates if least is None else replace(gates, entries=gates.entries * -(-least // gates.cycle_ns))


def fit_devices(draft: Draft) -> None:
    """Fills nothing; reports traffic classes and lists that the hardware of a node does not hold."""
    unknown: dict[str, list[str]] = {}
    measured: list[str] = []
    for number, node in enumerate(draft.nodes):
        device = draft.scenario.network.nodes[node.name].device
        if device is None:
            continue
        path = key_of(draft.scenario, node.name, "device")
        for expected, found in _beyond(device, node.name, draft.ports_of_nodes.get(number, ())):
            draft.problem(path, f"{expected}, as {device.name} has", found)
        for expected, found in unsupported(draft, number, device):
            draft.problem(path, expected, found)
        for text in (*beyond_stated(draft, number, device), *beyond_calibration(draft, number, device)):
            draft.doubt("extrapolated", path, text, "calibrate it with these conditions, too")
        if node.forwards and _has_its_times(draft, node.name, device):
            measured.append(node.name)
        if node.forwards and not node.longest_processing_ns and device.processing is None:
            unknown.setdefault(device.name, []).append(node.name)
    for name, nodes in unknown.items():
        forward = f"{quantities.some(nodes)} {'forwards' if len(nodes) == 1 else 'forward'}"
        text = f"no source states the processing time of {name}: {forward} in no time"
        hint = "write processing: {least: 1 us, most: 2 us} with times that you measured"
        draft.doubt("unknown-processing", key_of(draft.scenario, nodes[0], "device"), text, hint)
    if measured:
        text = f"worst cases count the longest time that was measured: {quantities.some(measured)}"
        hint = "it may take longer once: write processing: {least: …, most: …} where its maker states it"
        draft.doubt("measured-worst-case", key_of(draft.scenario, measured[0], "device"), text, hint)


def _has_its_times(draft: Draft, node: str, device: model.Device) -> bool:
    """Whether a node takes the measured times of its device, and not times of the scenario."""
    own = draft.scenario.network.nodes[node].processing_jitter
    return device.calibration is not None and own is device.processing_jitter


def beyond_stated(draft: Draft, number: int, device: model.Device) -> Iterator[str]:
    """Rates of a node's links for which the processing of its device is not stated."""
    node = draft.nodes[number]
    if node.forwards and node.processing_ns == device.processing and device.processing_rates:
        yield from _other_rates(draft, number, device, device.processing_rates, "is stated")


def _other_rates(
    draft: Draft, number: int, device: model.Device, known: Sequence[int], how: str
) -> Iterator[str]:
    if rates := {port.rate_bps for port in draft.ports_of_nodes.get(number, ())} - set(known):
        found, stated = (
            quantities.some([quantities.rate(one) for one in sorted(own)]) for own in (rates, known)
        )
        yield f"{draft.nodes[number].name} has links of {found}; {device.name} {how} at {stated}"


def beyond_calibration(draft: Draft, number: int, device: model.Device) -> Iterator[str]:
    """Conditions of a node at which its calibrated device was not measured: one sentence each."""
    measured, node = device.calibration, draft.nodes[number].name
    if measured is None or not _has_its_times(draft, node, device):
        return
    ports = draft.ports_of_nodes.get(number, ())
    through = [
        flow for flow in draft.flows if any(draft.ports[hop.port].node == number for hop in flow.route[1:])
    ]
    octets = [size for flow in through for size in (sizes(flow.size).smallest, sizes(flow.size).largest)]
    least, most = min(measured.sizes), max(measured.sizes)
    if octets and (min(octets) < least or max(octets) > most):
        found = " to ".join(f"{size} B" for size in sorted({min(octets), max(octets)}))
        yield f"{node} forwards frames of {found}; {device.name} was measured at {least} B to {most} B"
    yield from _other_rates(draft, number, device, measured.rates, "was measured")
    loads = [_load_ppm(draft, port, through) for port in ports]
    if loads and max(loads) > measured.load:
        found, known = (quantities.share(ppm, WHOLE_PPM) for ppm in (max(loads), measured.load))
        yield f"a port of {node} has a load of {found}; {device.name} was measured up to {known}"


WHOLE_PPM = 1_000_000


def _load_ppm(draft: Draft, port: Port, flows: Sequence[Flow]) -> int:
    """The load of a port in ppm; a saturating flow loads it wholly."""
    here = [flow for flow in flows if any(hop.port == port.number for hop in flow.route)]
    rates = [flow_rate(flow.pattern, flow.size) for flow in here]
    known = [rate for rate in rates if rate is not None]
    whole = len(known) < len(rates)
    return WHOLE_PPM if whole else int(sum(known) * WHOLE_PPM / port.rate_bps)


def _beyond(device: model.Device, node: str, ports: Sequence[Port]) -> Iterator[tuple[str, str]]:
    """What the hardware of a node permits, and what is planned instead."""
    for port in ports:
        if device.classes is not None and port.classes > device.classes:
            yield f"at most {device.classes} traffic classes", f"{port.classes} at {port.name}"
        for gates in lists_of(port):
            yield from ((one, f"{found} at {port.name}") for one, found in _unfit(device.gates, gates))
    most = device.gates.most_entries_together
    together = sum(max(map(_length, lists_of(port)), default=0) for port in ports)
    if most is not None and together > most:
        yield f"lists of at most {most} entries together", f"{together} at {node}"


def _length(gates: Gates) -> int:
    return len(gates.entries)


def _unfit(limits: model.GateLimits, gates: Gates) -> Iterator[tuple[str, str]]:
    """What a list may have, and what this one has."""
    time = quantities.time
    if limits.most_entries is not None and _length(gates) > limits.most_entries:
        yield f"lists of at most {limits.most_entries} entries", f"{_length(gates)}"
    for _, interval in gates.entries:
        if limits.shortest_interval is not None and interval < limits.shortest_interval:
            yield f"entries of at least {time(limits.shortest_interval)}", f"one of {time(interval)}"
        elif limits.granularity is not None and interval % limits.granularity:
            yield f"entries in multiples of {time(limits.granularity)}", f"one of {time(interval)}"
    if limits.shortest_cycle is not None and gates.cycle_ns < limits.shortest_cycle:
        yield f"cycles of at least {time(limits.shortest_cycle)}", f"one of {time(gates.cycle_ns)}"
    if limits.longest_cycle is not None and gates.cycle_ns > limits.longest_cycle:
        yield f"cycles of at most {time(limits.longest_cycle)}", f"one of {time(gates.cycle_ns)}"
