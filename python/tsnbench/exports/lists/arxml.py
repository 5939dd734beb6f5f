"""Ethernet messages of an AUTOSAR system description (ARXML, release 4): PDUs with a cycle.

A physical channel of Ethernet is a VLAN. Its PDU triggerings name a PDU, with length and cycle, and ports of
ECUs, each of which sends (OUT) or receives (IN). No more of the model is read.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from tsnbench import foreign
from tsnbench.errors import ContentError
from tsnbench.exports import scenario_text
from tsnbench.exports.lists import streams
from tsnbench.exports.lists.messages import Message, Read
from tsnbench.foreign import local, parse_xml

LARGEST_FILE = 1 << 26
MOST_ELEMENTS = 2_000_000
PDU_HEADER = 8
"""Octets before each PDU whose connection gives it a header: identifier and length."""
LARGEST_PDU = 65_000
LONGEST_NAME = 128
"""Characters of a name in AUTOSAR."""
MOST_LEVELS = 30
MOST_PARTS = 200_000
"""PDUs, ports and networks."""
_NUMBER = re.compile(r"\d{1,10}(?:\.\d{0,10})?(?:[eE][+-]?\d{1,2})?")
_RATE = re.compile(r"[1-9]\d{6,11}")
"""A rate that a scenario can have, in bit/s."""
_IDENTIFIERS = ("SOCKET-CONNECTION-IPDU-IDENTIFIER", "SO-CON-I-PDU-IDENTIFIER")
"""How PDUs are told apart in a connection, in older and in newer releases."""
_KINDS = ("I-PDU-PORT", "-PDU", "ETHERNET-PHYSICAL-CHANNEL", "-CLUSTER")
"""Ends of the kinds of elements that are needed."""
_WHOLE = re.compile(r"\d{1,9}")
_Ends = tuple[dict[str, None], dict[str, None]]
"""The ECUs that send, and those that receive."""


@dataclass
class _Model:
    """The parts of all files that are needed, by their paths."""

    ports: dict[str, tuple[str, str]] = field(default_factory=dict)
    """ECU and direction of each port of PDUs."""
    pdus: dict[str, ET.Element] = field(default_factory=dict)
    channels: dict[str, list[ET.Element]] = field(default_factory=dict)
    """Each file may have a part of a channel."""
    clusters: set[str] = field(default_factory=set)
    """Of Ethernet."""
    headed: set[str] = field(default_factory=set)
    """Triggerings whose PDUs have a header in their datagrams."""
    rates: set[int] = field(default_factory=set)
    """Of Ethernet clusters, in bit/s."""
    other_buses: set[str] = field(default_factory=set)


def scenario(paths: Sequence[Path], network: streams.Network | None = None) -> str:
    """A scenario's YAML.

    Args:
        paths: the files of one system description.
        network: the network; without one, all ECUs are at one bridge.

    Raises:
        InputError: a file is no ARXML, or no PDU of Ethernet has a cycle, a sender and a receiver.
        OSError: a file cannot be read.
    """
    model = _Model()
    for path in paths:
        _read(path, model)
    names = ", ".join(scenario_text.one_line(path.name) for path in paths)
    read = Read(names, rows=False)
    for where, parts in model.channels.items():
        _channel(where, parts, model, read)
    read.lost += sorted(f"a network of another bus: {one}" for one in model.other_buses)
    if not read.messages:
        more = f"; not taken: {read.lost[0]}" if read.lost else ""
        raise ContentError(f"{names}: expected PDUs of Ethernet with a cycle, found none{more}")
    source = f"From the AUTOSAR system description {names}."
    decided = ["each PDU is a datagram of its own; a connection may collect several PDUs in one"]
    if len(model.clusters) > 1 and network is None:
        few = ", ".join(sorted(model.clusters)[: streams.MOST_NAMED])
        decided.append(f"{len(model.clusters)} Ethernet clusters are one network: {few}")
    rate = scenario_text.rate(min(model.rates)) if len(model.rates) == 1 else streams.RATE
    return streams.scenario(paths[0].name, source, decided, read, network, rate)


def _read(path: Path, model: _Model) -> None:
    root = parse_xml(path.name, foreign.read_bytes(path, LARGEST_FILE), MOST_ELEMENTS)
    if local(root.tag) == "FIBEX":
        raise ContentError(
            f"{path.name}: expected <AUTOSAR> of ARXML, found <FIBEX>, which is not read\n"
            "hint: export the system description as ARXML, or write its frames with their cycles into a "
            "table for `tsnbench import matrix`"
        )
    if local(root.tag) != "AUTOSAR":
        raise ContentError(f"{path.name}: expected <AUTOSAR> of ARXML, found <{local(root.tag)[:40]}>")
    for one in root.iter():
        if local(one.tag) in _IDENTIFIERS and _text(one, "HEADER-ID"):
            model.headed.add(_text(one, "PDU-TRIGGERING-REF"))
    for element, names in _named(root):
        kind = local(element.tag)
        if kind.endswith(_KINDS):
            _keep(path.name, kind, element, names, model)


def _keep(file: str, kind: str, element: ET.Element, names: tuple[str, ...], model: _Model) -> None:
    where = "/".join(["", *names])
    if kind == "I-PDU-PORT" and len(names) > 2:
        model.ports[where] = (names[-3], _text(element, "COMMUNICATION-DIRECTION"))
    elif kind.endswith("-PDU"):
        model.pdus.setdefault(where, element)
    elif kind == "ETHERNET-PHYSICAL-CHANNEL":
        model.channels.setdefault(where, []).append(element)
    elif kind == "ETHERNET-CLUSTER":
        model.clusters.add(where)
        written = [(one.text or "").strip() for one in _all(element, "BAUDRATE")]
        model.rates |= {int(one) for one in written if _RATE.fullmatch(one)}
    elif kind.endswith("-CLUSTER"):
        model.other_buses.add(f"{where} ({kind.removesuffix('-CLUSTER')})")
    if len(model.ports) + len(model.pdus) + len(model.channels) + len(model.other_buses) > MOST_PARTS:
        raise ContentError(f"{file}: expected at most {MOST_PARTS} PDUs, ports and networks, found more")


def _named(root: ET.Element) -> Iterator[tuple[ET.Element, tuple[str, ...]]]:
    """Every element with a name, and the names of its path."""
    waiting: list[tuple[ET.Element, tuple[str, ...]]] = [(root, ())]
    while waiting:
        element, names = waiting.pop()
        own = _text(element, "SHORT-NAME")
        if own:
            names = (*names, own[:LONGEST_NAME])[-MOST_LEVELS:]
            yield element, names
        waiting += [(one, names) for one in reversed(element)]


def _text(element: ET.Element, kind: str) -> str:
    """The text of a child."""
    return next(((one.text or "").strip() for one in element if local(one.tag) == kind), "")


def _all(element: ET.Element, kind: str) -> Iterator[ET.Element]:
    return (one for one in element.iter() if local(one.tag) == kind)


def _channel(where: str, parts: Sequence[ET.Element], model: _Model, read: Read) -> None:
    """Takes the triggerings of a channel; those of one PDU with one sender are one message."""
    ids = [_text(one, "VLAN-IDENTIFIER") for part in parts for one in _all(part, "VLAN")]
    vlan = next((int(one) for one in ids if _WHOLE.fullmatch(one) and 0 < int(one) < 4095), None)
    pdus: dict[str, dict[str, dict[str, None]]] = {}
    """The receivers of each sender of each PDU."""
    single: dict[str, _Ends] = {}
    headed: set[str] = set()
    for one in (one for part in parts for one in _all(part, "PDU-TRIGGERING")):
        pdu = _text(one, "I-PDU-REF")
        ends: _Ends = ({}, {})
        for ref in _all(one, "I-PDU-PORT-REF"):
            ecu, direction = model.ports.get((ref.text or "").strip(), ("", ""))
            if ecu:
                ends[direction != "OUT"][ecu] = None
        if not all(ends):
            # Senders and receivers that have triggerings of their own belong together.
            alone = single.setdefault(pdu, ({}, {}))
            for kept, found in zip(alone, ends, strict=True):
                kept.update(found)
            ends = alone
        of_pdu = pdus.setdefault(pdu, {})
        for sender in ends[0]:
            of_pdu.setdefault(sender, {}).update(ends[1])
        if f"{where}/{_text(one, 'SHORT-NAME')}" in model.headed:
            headed.add(pdu)
    for pdu, of_pdu in pdus.items():
        _messages(pdu, model, of_pdu, PDU_HEADER * (pdu in headed), vlan, read)


def _messages(
    path: str, model: _Model, ends: dict[str, dict[str, None]], header: int, vlan: int | None, read: Read
) -> None:
    """The messages of a PDU: one for each sender, with its receivers."""
    pdu = model.pdus.get(path)
    place = path if vlan is None else f"{path} of VLAN {vlan}"
    if pdu is None:
        read.lost.append(f"{place}: a PDU that is not in these files")
        return
    kind = local(pdu.tag)
    periods = sorted({ns for one in _all(pdu, "CYCLIC-TIMING") if (ns := _period_ns(one))})
    length = _text(pdu, "LENGTH")
    if not periods:
        read.lost.append(f"{place}: {kind} without a cycle")
        return
    if not _WHOLE.fullmatch(length) or int(length) > LARGEST_PDU:
        read.lost.append(f"{place}: {kind} with the length {length[:20] or 'nothing'}")
        return
    if not ends:
        read.lost.append(f"{place}: no sender in these files")
    if len(periods) > 1:
        read.lost.append(f"{place}: further cycles; the shortest one is taken")
    for talker, receivers in ends.items():
        listeners = dict.fromkeys(one for one in receivers if one != talker)
        if listeners:
            name, octets = path.rpartition("/")[2], int(length) + header
            read.add(Message(name, talker, listeners, place, periods[0], octets, False, None, vlan, None))
        else:
            read.lost.append(f"{place}: no receiver of {talker} in these files")


def _period_ns(timing: ET.Element) -> int | None:
    """The period of a cyclic timing in whole ns; the file has seconds."""
    for period in (one for one in timing if local(one.tag) == "TIME-PERIOD"):
        text = _text(period, "VALUE")
        if _NUMBER.fullmatch(text):
            ns = Fraction(text) * 10**9
            return int(ns) if ns.denominator == 1 and 0 < ns <= 10**15 else None
    return None
