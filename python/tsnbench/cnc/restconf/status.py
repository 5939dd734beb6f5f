"""The status of a stream for its CUC: latency, configuration of interfaces, failure code.

IEEE 802.1Q-2022, 46.2.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tsnbench.cnc.facts import stream_facts
from tsnbench.cnc.network import Network
from tsnbench.cnc.restconf.mapping import interfaces, name_of
from tsnbench.cnc.restconf.model import IN_FORCE, REASON
from tsnbench.cnc.restconf.stations import Interface, Stations, canonical

if TYPE_CHECKING:
    from tsnbench.foreign import Json, Part

MOST_NS = 2**32 - 1
"""Of ``accumulated-latency`` and ``time-aware-offset``."""
NO_FAILURE, BANDWIDTH, RESOURCES, CLASS_BANDWIDTH, STREAM_ID, FRAME_SIZE, MAX_LATENCY = 0, 1, 2, 3, 4, 14, 21
"""IEEE 802.1Q-2022, Table 46-15."""
LOSS = "no frame of"
_WORDS = (
    (FRAME_SIZE, ("a payload of at most", "a frame of at most", "frame size")),
    (MAX_LATENCY, ("deadline", "a worst case within", "a limit of at least", "max-latency", "keeps its")),
    (CLASS_BANDWIDTH, ("a bounded delay", LOSS, "a reservation below")),
    (BANDWIDTH, ("more than the link", "a rate below", "utilisation", "of the time of")),
    (STREAM_ID, ("a name that no other stream has",)),
)
"""Words of reasons and their failure codes; any other reason is a lack of resources."""


def failure_code(reasons: Sequence[Part]) -> int:
    """The failure code of a refusal, from its main reason."""
    if not reasons:
        return NO_FAILURE
    text = _text(_main(reasons))
    return next((code for code, words in _WORDS if any(word in text for word in words)), RESOURCES)


def _main(reasons: Sequence[Part]) -> Part:
    """The first reason, but loss before others: where frames are lost, they are late, too."""
    return next((one for one in reasons if LOSS in one["expected"]), reasons[0])


def _text(reason: Part) -> str:
    return f"{reason['path']} {reason['expected']} {reason['found']}"


def latency_ns(network: Network, stream: Json) -> dict[str, int] | None:
    """The worst case at each listening node, from the talker's transmission, or, of a time-aware talker, from
    the start of its interval (46.2.5.2); None if the stream is not in the network."""
    facts = stream_facts(network, [name_of(stream["stream-id"])])
    if not facts:
        return None
    offset = facts[0]["offset_ns"] or 0
    return {
        one["node"]: offset + one["release_upper_ns"]
        for one in facts[0]["listeners"]
        if one["release_upper_ns"] is not None
    }


def status_of(
    network: Network,
    stream: Json,
    status: str,
    failure: int,
    stations: Stations,
    in_force_ns: int | None = None,
    reasons: Sequence[Part] = (),
) -> Json:
    """The stream with its status: data of the module with configuration and state.

    ``status``: planned, configured or modified (46.2.3.8). ``failure``: the code of the last refusal.
    ``in_force_ns``: the instant (TAI) from which on all devices have the network's lists; None without
    devices. ``reasons``: why the last computation failed, and what would work.
    """
    facts = stream_facts(network, [name_of(stream["stream-id"])])
    talker, listeners = dict(stream["talker"]), [dict(one) for one in stream["listener"]]
    if facts and (delays := latency_ns(network, stream)):
        own, ends = interfaces(stream, stations)
        talker["accumulated-latency"] = max(delays.values())
        talker["interface-configuration"] = _configuration(own.document(), stream["talker"], facts[0], True)
        for one in listeners:
            end = ends[int(one["index"])]
            if end.node in delays:
                one["accumulated-latency"] = delays[end.node]
            one["interface-configuration"] = _configuration(end.document(), one, facts[0], False)
    failed = _failed(reasons, failure, stream, stations)
    ready = "ready" if facts else "failed" if failure else "none"
    return {
        "stream-id": stream["stream-id"],
        "stream-status": status,
        "talker": talker,
        "listener": listeners,
        "status-info": {"talker-status": ready, "listener-status": ready, "failure-code": failure},
        **({"failed-interfaces": [one.document() for one in failed]} if failed else {}),
        # A number of 64 bits is a string in JSON (RFC 7951, 6.1).
        **({IN_FORCE: str(in_force_ns)} if facts and in_force_ns is not None else {}),
        **({REASON: [{key: one[key] for key in one if one[key]} for one in reasons]} if reasons else {}),
    }


def _failed(reasons: Sequence[Part], failure: int, stream: Json, stations: Stations) -> Sequence[Interface]:
    """The interfaces that the main reason names, or else the first one which names any (46.2.5.4).

    A latency that no port or station stands beside fails at the listeners.
    """
    for one in (_main(reasons), *reasons) if reasons else ():
        if found := stations.named(_text(one)):
            return found
    return [*interfaces(stream, stations)[1].values()] if failure == MAX_LATENCY else ()


def _configuration(interface: Json, end: Json, facts: Json, talker: bool) -> Json:
    """What an end station has to set: each value only if the station said that it can (46.2.5.3)."""
    can = end.get("interface-capabilities", {})
    values: list[Json] = []
    if ACTIVE_IDENTIFICATION in can.get("cb-stream-iden-type-list", ()):
        addresses = {"destination-mac-address": canonical(facts["destination_mac"])}
        values.append({"ieee802-mac-addresses": addresses})
    if can.get("vlan-tag-capable"):
        tag = {"priority-code-point": facts["pcp"], "vlan-id": facts["vid"] or 0}
        values.append({"ieee802-vlan-tag": tag})
    if talker and facts["offset_ns"] is not None:
        values.append({"time-aware-offset": facts["offset_ns"]})
    numbered = [{"index": number, **value} for number, value in enumerate(values)]
    return {"interface-list": [{**interface, "config-list": numbered}]}


ACTIVE_IDENTIFICATION = 0x0080C203
"""Active Destination MAC and VLAN Stream identification: OUI 00-80-C2, type 3. IEEE 802.1CB-2017, 9.1.1.6."""
