"""A Plan's process data and message data as TRDP's XML device configurations, one of each device.

IEC 61375-2-3, Annex C.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes

if TYPE_CHECKING:
    from tsnbench.plan.types import Stream

FIRST_DATA_SET = 1001
"""Numbers below 1000 are reserved for the basic types and for TRDP itself."""
UINT8 = "UINT8"
NETWORK = "1"
MICROSECOND = 1_000
MESSAGE_HEADER = 116
_WAITS = {"message-request": "reply-timeout", "message-reply-query": "confirm-timeout"}
"""By kind of telegram: the attribute with the time that its sender waits."""


def files(network: Network, notes: Notes) -> dict[str, str]:
    """``trdp/<device>.xml`` of each node that sends or takes process data."""
    telegrams = [(number, stream) for number, stream in enumerate(network.streams) if _fits(stream, notes)]
    for _, stream in telegrams:
        _note_losses(stream, notes)
    if not telegrams:
        notes.lost("all devices", "no stream is message data, or process data of version 1 with a period")
        return {}
    notes.lost("links, bridges and their configuration", "the files describe end devices")
    made: dict[str, str] = {}
    names: set[str] = set()
    for node, device in enumerate(network.nodes):
        own = [
            (number, stream)
            for number, stream in telegrams
            if node in {stream["talker"], *(one["node"] for one in stream["listeners"])}
        ]
        if own:
            made[f"trdp/{_file(device['name'], names)}.xml"] = _device(network, node, own)
    return made


def _fits(stream: Stream, notes: Notes) -> bool:
    """Whether a file can describe a stream; notes the reason if not."""
    trdp, pattern = stream.get("trdp"), stream["pattern"]
    if trdp is None:
        notes.lost("streams", "they carry no TRDP", stream["name"])
    elif (kind := trdp.get("kind", "push")).startswith("message-"):
        return _message_fits(stream, kind, notes)
    elif trdp["header_octets"] != 40:
        notes.lost("TRDP-TSN (version 2)", "the files have process data of version 1", stream["name"])
    elif "answers" in stream or trdp.get("kind", "push") != "push":
        notes.lost("requests and their answers", "a telegram has a cycle", stream["name"])
    elif pattern["kind"] != "periodic":
        notes.lost("process data without a period", "a telegram has a cycle", stream["name"])
    elif pattern["period_ns"] % MICROSECOND or trdp["time_out_ns"] % MICROSECOND:
        notes.lost(
            "cycles and time-outs that are no whole microseconds", "the files count those", stream["name"]
        )
    else:
        return True
    return False


def _message_fits(stream: Stream, kind: str, notes: Notes) -> bool:
    """Whether a file can describe a stream of message data; notes what it leaves out."""
    if kind == "message-confirm":
        # The time-out of the reply says that it is confirmed.
        return False
    if kind == "message-error":
        notes.lost("errors of message data", "a telegram has no such entry", stream["name"])
        return False
    notes.lost("the release times of message data", "the application decides when it sends", stream["name"])
    return True


def _note_losses(stream: Stream, notes: Notes) -> None:
    """Notes what the file leaves out of a stream's process data."""
    trdp = stream.get("trdp", {})
    for what, has in (
        ("topography counters", trdp.get("etb_topo_count") or trdp.get("op_trn_topo_count")),
        ("service identifiers", trdp.get("service_id")),
        ("VLAN tags", stream.get("vid")),
        ("member streams and standby paths", stream.get("redundancy")),
        ("requirements", stream.get("requirements")),
    ):
        if has:
            notes.lost(what, "a telegram has no such entry", stream["name"])


def _device(network: Network, node: int, telegrams: list[tuple[int, Stream]]) -> str:
    device = network.nodes[node]
    root = ET.Element("device", {"host-name": device["name"], "type": "tsnbench"})
    bus = _add(
        _add(root, "bus-interface-list"),
        "bus-interface",
        network_id=NETWORK,
        name=network.interfaces.get(device["name"], "eth0"),
        host_ip=device["ipv4"],
    )
    for number, stream in telegrams:
        _telegram(network, bus, node, number, stream)
    parameters = _add(root, "com-parameter-list")
    for quality in sorted({_quality(stream) for _, stream in telegrams}):
        _add(parameters, "com-parameter", id=quality + 1, qos=quality, ttl=64)
    sets = _add(root, "data-set-list")
    for number, stream in telegrams:
        one = _add(sets, "data-set", name=stream["name"], id=FIRST_DATA_SET + number)
        _add(one, "element", name="octets", type=UINT8, array_size=stream["trdp"]["data_set_octets"])
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _add(parent: ET.Element, tag: str, **attributes: object) -> ET.Element:
    """A new element; ``com_id`` is its attribute ``com-id``, and None is left out."""
    given = {key.replace("_", "-"): str(value) for key, value in attributes.items() if value is not None}
    return ET.SubElement(parent, tag, given)


def _quality(stream: Stream) -> int:
    """The quality of service; its communication parameter has the next number."""
    return stream.get("type_of_service", 0) >> 5


def _telegram(network: Network, bus: ET.Element, node: int, number: int, stream: Stream) -> None:
    trdp, pattern = stream["trdp"], stream["pattern"]
    message = trdp["header_octets"] == MESSAGE_HEADER
    if pattern["kind"] != "periodic" and not message:
        return
    sends = node == stream["talker"]
    made = _add(
        bus,
        "telegram",
        name=stream["name"],
        com_id=trdp["com_id"],
        data_set_id=FIRST_DATA_SET + number,
        com_parameter_id=_quality(stream) + 1,
        type="source" if sends else "sink",
    )
    time_out = trdp["time_out_ns"] // MICROSECOND
    if message:
        waits = _WAITS.get(trdp.get("kind", "push")) if sends else None
        _add(made, "md-parameter", **({waits: time_out} if waits else {}), marshall="off")
    else:
        cycle = pattern["period_ns"] // MICROSECOND if sends and pattern["kind"] == "periodic" else None
        _add(made, "pd-parameter", cycle=cycle, timeout=time_out, marshall="off")
    if not sends:
        _add(made, "source", id=1, uri1=network.nodes[stream["talker"]]["ipv4"])
    if sends or int(stream["destination_mac"][:2], 16) & 1:
        _add(made, "destination", id=1, uri=stream["destination_ipv4"])


def _file(name: str, taken: set[str]) -> str:
    """A file's name that no other device has, also where capitals do not count."""
    found = re.sub(r"[^A-Za-z0-9_.+-]", "-", name)
    while found.casefold() in taken:
        found += "-"
    taken.add(found.casefold())
    return found
