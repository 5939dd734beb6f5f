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
            if node == stream["talker"] or node in {one["node"] for one in stream["listeners"]}
        ]
        if own:
            name = _file(device["name"], names)
            made[f"trdp/{name}.xml"] = _device(network, node, own)
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
    notes.lost("the rhythm of message data", "the application decides when it sends", stream["name"])
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
    buses = ET.SubElement(root, "bus-interface-list")
    bus = ET.SubElement(
        buses,
        "bus-interface",
        {
            "network-id": NETWORK,
            "name": network.interfaces.get(device["name"], "eth0"),
            "host-ip": device["ipv4"],
        },
    )
    qualities = sorted({stream.get("type_of_service", 0) >> 5 for _, stream in telegrams})
    for number, stream in telegrams:
        _telegram(network, bus, node, number, stream)
    parameters = ET.SubElement(root, "com-parameter-list")
    for quality in qualities:
        ET.SubElement(
            parameters, "com-parameter", {"id": _parameter(quality), "qos": str(quality), "ttl": "64"}
        )
    sets = ET.SubElement(root, "data-set-list")
    for number, stream in telegrams:
        octets = str(stream["trdp"]["data_set_octets"])
        one = ET.SubElement(sets, "data-set", {"name": stream["name"], "id": str(FIRST_DATA_SET + number)})
        ET.SubElement(one, "element", {"name": "octets", "type": UINT8, "array-size": octets})
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _telegram(network: Network, bus: ET.Element, node: int, number: int, stream: Stream) -> None:
    trdp, pattern = stream["trdp"], stream["pattern"]
    message = trdp["header_octets"] == MESSAGE_HEADER
    if pattern["kind"] != "periodic" and not message:
        return
    sends = node == stream["talker"]
    made = ET.SubElement(
        bus,
        "telegram",
        {
            "name": stream["name"],
            "com-id": str(trdp["com_id"]),
            "data-set-id": str(FIRST_DATA_SET + number),
            "com-parameter-id": _parameter(stream.get("type_of_service", 0) >> 5),
            "type": "source" if sends else "sink",
        },
    )
    time_out = str(trdp["time_out_ns"] // MICROSECOND)
    if message:
        waits = _WAITS.get(trdp.get("kind", "push")) if sends else None
        ET.SubElement(made, "md-parameter", {**({waits: time_out} if waits else {}), "marshall": "off"})
    elif sends and pattern["kind"] == "periodic":
        cycle = str(pattern["period_ns"] // MICROSECOND)
        ET.SubElement(made, "pd-parameter", {"cycle": cycle, "timeout": time_out, "marshall": "off"})
    else:
        ET.SubElement(made, "pd-parameter", {"timeout": time_out, "marshall": "off"})
    if sends:
        ET.SubElement(made, "destination", {"id": "1", "uri": stream["destination_ipv4"]})
    else:
        ET.SubElement(made, "source", {"id": "1", "uri1": network.nodes[stream["talker"]]["ipv4"]})
        if int(stream["destination_mac"][:2], 16) & 1:
            ET.SubElement(made, "destination", {"id": "1", "uri": stream["destination_ipv4"]})


def _parameter(quality: int) -> str:
    """The number of the communication parameter with this quality of service."""
    return str(quality + 1)


def _file(name: str, taken: set[str]) -> str:
    """A file's name that no other device has, also where capitals do not count."""
    found = re.sub(r"[^A-Za-z0-9_.+-]", "-", name)
    while found.casefold() in taken:
        found += "-"
    taken.add(found.casefold())
    return found
