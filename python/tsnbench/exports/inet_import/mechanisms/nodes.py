"""Options of nodes: processing, cut-through switching; and tags that bridges take off."""

from __future__ import annotations

from fractions import Fraction

from tsnbench.exports.inet_import.mechanisms.filtering import arriving_at
from tsnbench.exports.inet_import.model import Model
from tsnbench.exports.inet_import.parameters import of_row
from tsnbench.exports.scenario_text import duration

DECIDES_AFTER = 18
"""Octets of a tagged frame's headers: then INET's switches begin to forward."""


def options(model: Model) -> dict[str, dict[str, object]]:
    """The options of each node, by its name in INET."""
    found: dict[str, dict[str, object]] = {}
    for node, one in model.topology.nodes.items():
        keys: dict[str, object] = {}
        parameters = model.parameters
        delayer = model.path(node, "bridging.directionReverser.delayer")
        taken = parameters.number(f"{delayer}.delay", "s")
        if parameters.text(f"{delayer}.typename") == "PacketDelayer" and taken:
            keys["processing"] = duration(taken)
        taken = taken if "processing" in keys else _layers(model, node)
        if taken:
            keys["processing"] = duration(taken)
        cuts = parameters.flag(model.path(node, "hasCutthroughSwitching"))
        if cuts and one.kind == "bridge" and any("scheduled" in own.keys for own in model.streams):
            setting = parameters.setting(model.path(node, "hasCutthroughSwitching"))
            model.lose_setting("cut-through switching of bridges with scheduled streams", setting)
        elif cuts and one.kind == "bridge":
            keys["forwarding"] = f"{{mode: cut-through, after: {DECIDES_AFTER} B}}"
        if keys:
            found[node] = keys
        _tags(model, node)
        _asked(model, node)
    return found


def _layers(model: Model, node: str) -> Fraction | None:
    """The processing of a node that delays frames at its interfaces."""
    found: dict[Fraction, str] = {}
    for number in model.topology.nodes[node].links:
        layer = model.path(node, f"eth[{number}].processingDelayLayer")
        model.parameters.text(f"{layer}.egress.typename")
        if model.parameters.text(f"{layer}.typename") == "ProcessingDelayLayer":
            found[model.parameters.number(f"{layer}.ingress.delay", "s") or Fraction(0)] = layer
    if len(found) > 1:
        setting = model.parameters.setting(f"{next(iter(found.values()))}.ingress.delay")
        model.lose_setting("processing that differs by interface; written: the longest", setting)
    return max(found, default=None)


def _asked(model: Model, node: str) -> None:
    """Asks for what a scenario has without a key: addresses, coding of streams, the inside of pairs."""
    for number in model.topology.nodes[node].links:
        model.parameters.setting(model.path(node, f"eth[{number}].address"))
        model.parameters.setting(model.path(node, f"eth[{number}].bitrate"))
    for key in ("hasOutgoingStreams", "hasStreamRedundancy", "hasCutthroughSwitching"):
        model.parameters.setting(model.path(node, key))
        model.parameters.setting(model.talks(node, key))
    _recoded(model, node)
    if model.topology.nodes[node].apps:
        for key in ("address", "macLayer.queue.numTrafficClasses", "macLayer.queue.classifier.mapping"):
            model.parameters.setting(model.talks(node, f"eth[0].{key}"))
        model.parameters.setting(model.talks(node, "hasEgressTrafficShaping"))


def _recoded(model: Model, node: str) -> None:
    """Lists an encoder of a bridge that gives frames another PCP: a scenario's frames keep theirs."""
    path = model.path(node, "bridging.streamCoder.encoder.mapping")
    setting = model.parameters.setting(path)
    if setting is None or model.topology.nodes[node].kind != "bridge":
        return
    arriving = arriving_at(model, node)
    for row in model.parameters.rows(path):
        pcp, streams = of_row(row, "pcp"), arriving.get(str(row.get("stream")), [])
        others = [one.name for one in streams if pcp is not None and pcp != one.pcp]
        if others:
            model.lose_setting(
                f"PCP {int(pcp or 0)} from {model.names[node]} on for {', '.join(others)}", setting
            )


def _tags(model: Model, node: str) -> None:
    """A bridge that takes the tag off: its frames are shorter from there on in INET."""
    path = model.path(node, "bridging.directionReverser.reverser.excludeEncapsulationProtocols")
    setting = model.parameters.setting(path)
    value = model.parameters.get(path)
    if isinstance(value, list) and "ieee8021qctag" in value:
        tagged = any(one.pcp is not None for one in model.streams)
        if tagged and setting is not None:
            model.decide("bridges that take the VLAN tag off; written: it stays, 4 octets more", node)
