"""TRDP's XML device configurations as a scenario: devices, networks, process data, message data.

IEC 61375-2-3, Annex C.

Parts without an equivalent in a scenario are listed in comments at its top.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from tsnbench.errors import InputError
from tsnbench.exports.import_notes import Notes
from tsnbench.quantities import exact

LARGEST_FILE = 1 << 24
MOST_NESTED = 5
"""Data sets inside of data sets, as TRDP allows them."""
SMALLEST, LARGEST = 14, 1432
LARGEST_MESSAGE = 1356
"""Octets of the longest data set of message data that one frame carries."""
DEFAULT_MESSAGE_QOS = 3
DEFAULT_CYCLE_US, DEFAULT_TIME_OUT_US, DEFAULT_QOS = 100_000, 100_000, 5
_OCTETS = dict(enumerate((1, 1, 2, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 4, 6, 8), 1))
_NAMES = (
    "BOOL8", "CHAR8", "UTF16", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64",
    "REAL32", "REAL64", "TIMEDATE32", "TIMEDATE48", "TIMEDATE64",
)  # fmt: skip
_NUMBERS = {name: number for number, name in enumerate(_NAMES, 1)} | {"BITSET8": 1, "UTF8": 2}


@dataclass(frozen=True)
class Telegram:
    """Process data that a device publishes or subscribes, or message data that it sends or takes."""

    com_id: int
    name: str
    octets: int
    cycle_us: int
    time_out_us: int
    qos: int
    sources: tuple[str, ...]
    destinations: tuple[str, ...]
    reply_us: int | None = None
    """Of message data: how long the sender waits for a reply; None if it expects none."""
    confirm_us: int | None = None
    """Of message data: how long the sender waits for a confirmation; None if it expects none."""


@dataclass
class Interface:
    """A device on one network."""

    device: str
    network: str
    address: str
    telegrams: list[Telegram] = field(default_factory=list)
    messages: list[Telegram] = field(default_factory=list)


def scenario(files: Sequence[tuple[str, str]]) -> str:
    """The scenario of several devices; ``files``: name and text of each.

    Raises:
        InputError: a file is no device configuration, or no telegram goes from one device to another.
    """
    notes = Notes()
    interfaces = [one for name, text in files for one in _device(name, text, notes)]
    streams = list(_streams(interfaces, notes))
    streams += _messages(interfaces, notes)
    if not streams:
        raise InputError(
            "no process data or message data goes from one device of these files to another\n"
            "hint: give the files of all devices that send and take it"
        )
    devices = list(dict.fromkeys(one.device for one in interfaces))
    networks = list(dict.fromkeys(one.network for one in interfaces))
    several = {name for name in devices if len({one.network for one in interfaces if one.device == name}) > 1}
    lines = [f"# From TRDP device configurations: {', '.join(name for name, _ in files)}."]
    lines += ["# They do not say the network; here each is one bridge with links of 100 Mbit/s."]
    if notes.found:
        lines += ["# Not said here:", *notes.lines()]
    lines += ["name: trdp", "duration: 10 s", "", "network:"]
    if several:
        lines.append(f"  hosts: [{', '.join(sorted(several))}]")
    if stations := [name for name in devices if name not in several]:
        lines.append(f"  stations: [{', '.join(stations)}]")
    lines.append(f"  bridges: [{', '.join(f'network{each}' for each in networks)}]")
    links = dict.fromkeys(f"{one.device} -- network{one.network}" for one in interfaces)
    lines += ["  links:", "    rate: 100 Mbit/s", "    between:", *(f"      - {link}" for link in links)]
    return "\n".join([*lines, "", "streams:", *streams, ""])


def _device(file: str, text: str, notes: Notes) -> Iterator[Interface]:
    """A device's interfaces with their telegrams."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InputError(f"{file}: expected a TRDP device configuration, found a document type definition")
    try:
        root = ET.fromstring(text)
    except (ET.ParseError, ValueError) as error:
        raise InputError(f"{file}: expected XML, found {error}") from None
    if root.tag != "device":
        raise InputError(f"{file}: expected <device> of a TRDP device configuration, found <{root.tag}>")
    name = _name(root.get("host-name") or file.partition(".")[0])
    data_sets = {one.get("id", ""): one for one in root.iter("data-set")}
    parameters = {one.get("id", ""): one for one in root.iter("com-parameter")}
    if root.find("mapped-device-list/mapped-device") is not None:
        notes.add("mapped devices", name)
    for bus in root.iterfind("bus-interface-list/bus-interface"):
        own = Interface(name, _name(bus.get("network-id") or "1"), bus.get("host-ip") or "")
        common = bus.find("pd-com-parameter")
        for written in bus.iterfind("telegram"):
            who = f"{name} comId {written.get('com-id')}"
            if written.find("md-parameter") is not None and written.find("pd-parameter") is None:
                if written.find("destination") is None and written.find("source") is None:
                    notes.add("message data", who)
                elif (said := _message(file, written, data_sets, parameters, notes, who)) is not None:
                    own.messages.append(said)
                continue
            found = _telegram(file, written, common, data_sets, parameters, notes, who)
            if found is not None:
                own.telegrams.append(found)
        yield own


def _telegram(
    file: str,
    written: ET.Element,
    common: ET.Element | None,
    data_sets: dict[str, ET.Element],
    parameters: dict[str, ET.Element],
    notes: Notes,
    who: str,
) -> Telegram | None:
    own = written.find("pd-parameter")
    for key, what in (("redundant", "redundancy groups"), ("offset-address", "offsets in a traffic store")):
        if own is not None and own.get(key) not in (None, "0"):
            notes.add(what, who)
    if next(written.iter("sdt-parameter"), None) is not None:
        notes.add("safe data transmission (SDT)", who)
    octets = _octets(file, written.get("data-set-id") or "", data_sets, 0)
    if octets is None:
        notes.add("data sets that are missing, of variable length or longer than 1432 B", who)
        return None
    if octets < SMALLEST:
        notes.add(f"data sets of less than {SMALLEST} B, which have {SMALLEST} B here", who)
    quality = parameters.get(written.get("com-parameter-id") or "")

    def number(element: ET.Element | None, key: str, otherwise: int) -> int:
        said = None if element is None else element.get(key)
        if said is None:
            return otherwise
        if not said.strip().isdecimal():
            raise InputError(f"{file}: comId {written.get('com-id')}: {key}: expected a number, found {said}")
        return int(said)

    return Telegram(
        com_id=number(written, "com-id", 0),
        name=_name(written.get("name") or f"com{written.get('com-id')}"),
        octets=max(SMALLEST, octets),
        cycle_us=number(own, "cycle", DEFAULT_CYCLE_US),
        time_out_us=number(own, "timeout", number(common, "timeout-value", DEFAULT_TIME_OUT_US)),
        qos=number(quality, "qos", number(common, "qos", DEFAULT_QOS)),
        sources=tuple(_address(one.get("uri1") or "") for one in written.iterfind("source")),
        destinations=tuple(_address(one.get("uri") or "") for one in written.iterfind("destination")),
    )


def _message(
    file: str,
    written: ET.Element,
    data_sets: dict[str, ET.Element],
    parameters: dict[str, ET.Element],
    notes: Notes,
    who: str,
) -> Telegram | None:
    """A telegram of message data; None if its size is unknown or too large for a frame."""
    found = _telegram(file, written, None, data_sets, parameters, notes, who)
    if found is None or found.octets > LARGEST_MESSAGE:
        if found is not None:
            notes.add(f"message data of more than {LARGEST_MESSAGE} B, which is fragmented", who)
        return None
    parameter = written.find("md-parameter")
    assert parameter is not None
    if (parameter.get("protocol") or "UDP").upper() == "TCP":
        notes.add("message data over TCP, which goes over UDP here", who)
    waits = []
    for key in ("reply-timeout", "confirm-timeout"):
        said = parameter.get(key)
        if said is not None and not (said.strip().isdecimal() and int(said) < 1 << 32):
            raise InputError(
                f"{file}: comId {written.get('com-id')}: {key}: expected a number of us, found {said}"
            )
        waits.append(int(said) if said is not None and int(said) > 0 else None)
    quality = parameters.get(written.get("com-parameter-id") or "")
    qos = found.qos if quality is not None and quality.get("qos") else DEFAULT_MESSAGE_QOS
    return replace(found, qos=qos, reply_us=waits[0], confirm_us=waits[1])


def _octets(file: str, number: str, data_sets: dict[str, ET.Element], depth: int) -> int | None:
    """Octets of a data set on the wire; None if they are unknown."""
    if number in ("", "0"):
        return 0
    if number not in data_sets or depth > MOST_NESTED:
        return None
    octets = 0
    for element in data_sets[number].iterfind("element"):
        kind, many = element.get("type") or "", element.get("array-size") or "1"
        if not many.isdecimal() or many == "0":
            return None
        code = _NUMBERS.get(kind.upper(), int(kind) if kind.isdecimal() else 0)
        one = _OCTETS.get(code) if code else None
        if one is None:
            one = _octets(file, kind, data_sets, depth + 1)
        if one is None:
            return None
        octets += one * int(many)
        if octets > LARGEST:
            return None
    return octets


def _streams(interfaces: Sequence[Interface], notes: Notes) -> Iterator[str]:
    """One line for each telegram with a receiver."""
    taken: set[str] = set()
    for own in interfaces:
        for telegram in own.telegrams:
            for to in telegram.destinations:
                who = f"{own.device} comId {telegram.com_id}"
                listeners = _listeners(interfaces, own, telegram, to)
                if not listeners:
                    notes.add("process data that no device of these files takes", who)
                    continue
                if telegram.cycle_us == 0:
                    notes.add("process data without a cycle (pulled)", who)
                    continue
                name = f"{own.device}.{telegram.name}"
                while name in taken:
                    name += "-"
                taken.add(name)
                yield _line(name, own, telegram, to, listeners)


def _messages(interfaces: Sequence[Interface], notes: Notes) -> Iterator[str]:
    """The lines of all message data: requests with their replies and confirmations, then notifications.

    The files do not say which telegram replies to a request. It is one without a reply time-out from the
    receiver to the caller: with the next communication identifier, or the only one.
    """
    replies: set[tuple[str, int]] = set()
    requests = [(own, said) for own in interfaces for said in own.messages if said.reply_us is not None]
    told = False
    for own, said in requests:
        who = f"{own.device} comId {said.com_id}"
        takers = [one for to in said.destinations for one in _takers(interfaces, own, said, to)]
        found = []
        for one in takers:
            back = [
                reply
                for reply in one.messages
                if reply.reply_us is None
                and (one.device, reply.com_id) not in replies
                and any(to in (own.address, own.device) for to in reply.destinations)
            ]
            chosen = [reply for reply in back if reply.com_id == said.com_id + 1] or back
            if len(chosen) == 1:
                replies.add((one.device, chosen[0].com_id))
                found.append((one, chosen[0]))
        if len(found) < len(takers) or not takers:
            what = "whose reply is not clear" if takers else "that no device of these files takes"
            notes.add(f"requests of message data {what}", who)
        if not found:
            continue
        told = True
        name = f"{own.device}.{said.name}"
        yield _message_line(name, own, said, [one for one, _ in found], "request")
        for one, reply in found:
            answer = f"{one.device}.{reply.name}"
            yield _reply_line(answer, name, one, reply, said.reply_us, len(found) > 1)
            if reply.confirm_us is not None:
                yield f"  {answer}.confirmed: {{answers: {answer}, vlan: none, trdp: {{pattern: confirm}}}}"
    for own in interfaces:
        for said in own.messages:
            if said.reply_us is not None or (own.device, said.com_id) in replies:
                continue
            for to in said.destinations:
                takers = _takers(interfaces, own, said, to)
                if not takers:
                    notes.add(
                        "message data that no device of these files takes",
                        f"{own.device} comId {said.com_id}",
                    )
                    continue
                told = True
                yield _message_line(f"{own.device}.{said.name}", own, said, takers, "notify")
    if told:
        notes.add("when message data is sent, here once a second", "all devices")


def _takers(interfaces: Sequence[Interface], own: Interface, said: Telegram, to: str) -> list[Interface]:
    """The receivers of message data: the host of that address, or those that take it from a group."""
    others = [one for one in interfaces if one.device != own.device and one.network == own.network]
    if not _is_group(to):
        return [one for one in others if to in (one.address, one.device)]
    return [
        one
        for one in others
        if any(taken.sources and _subscribes(taken, said, own) for taken in one.messages)
    ]


def _message_line(
    name: str, own: Interface, said: Telegram, takers: Sequence[Interface], pattern: str
) -> str:
    names = ", ".join(dict.fromkeys(one.device for one in takers))
    group = f"address: {said.destinations[0]}, " if _is_group(said.destinations[0]) else ""
    wait = "" if said.reply_us is None else f", reply-time-out: {exact(said.reply_us * 1_000)}"
    trdp = f"com-id: {said.com_id}, pattern: {pattern}, data-set: {said.octets} B, qos: {said.qos}{wait}"
    return (
        f"  {name}: {{from: {own.device}, to: [{names}], period: 1 s, {group}vlan: none, trdp: {{{trdp}}}}}"
    )


def _reply_line(
    name: str,
    request: str,
    own: Interface,
    said: Telegram,
    reply_us: int | None,
    several: bool,
) -> str:
    wait = "" if said.confirm_us is None else f", confirm-time-out: {exact(said.confirm_us * 1_000)}"
    trdp = f"com-id: {said.com_id}, pattern: reply, data-set: {said.octets} B, qos: {said.qos}{wait}"
    limit = "" if reply_us is None else f", requires: {{round-trip: {exact(reply_us * 1_000)}}}"
    origin = f"from: {own.device}, " if several else ""
    return f"  {name}: {{answers: {request}, {origin}vlan: none, trdp: {{{trdp}}}{limit}}}"


def _line(name: str, own: Interface, telegram: Telegram, to: str, listeners: Sequence[Interface]) -> str:
    waiting = [
        found.time_out_us for one in listeners for found in one.telegrams if _subscribes(found, telegram, own)
    ]
    time_out = exact(min(waiting or [telegram.time_out_us]) * 1_000)
    size = f"com-id: {telegram.com_id}, data-set: {telegram.octets} B"
    trdp = f"{{{size}, qos: {telegram.qos}, time-out: {time_out}}}"
    names = ", ".join(dict.fromkeys(one.device for one in listeners))
    group = f"address: {to}, " if _is_group(to) else ""
    period = exact(telegram.cycle_us * 1_000)
    return (
        f"  {name}: {{from: {own.device}, to: [{names}], period: {period}, {group}vlan: none, "
        f"trdp: {trdp}, requires: {{time-out: {time_out}}}}}"
    )


def _listeners(
    interfaces: Sequence[Interface], own: Interface, telegram: Telegram, to: str
) -> list[Interface]:
    """The receivers of a telegram: the host of that address, or the subscribers of a group."""
    others = [one for one in interfaces if one.device != own.device and one.network == own.network]
    if not _is_group(to):
        return [one for one in others if to in (one.address, one.device)]
    return [
        one
        for one in others
        for found in one.telegrams
        if found.sources and _subscribes(found, telegram, own)
    ]


def _subscribes(found: Telegram, telegram: Telegram, own: Interface) -> bool:
    """Whether a subscription is of this telegram; its sources name the publishers that it takes."""
    return found.com_id == telegram.com_id and (
        not any(found.sources) or own.address in found.sources or own.device in found.sources
    )


def _address(uri: str) -> str:
    """The host part of a URI: ``user@host``."""
    return uri.rpartition("@")[2].strip()


def _is_group(address: str) -> bool:
    first = address.partition(".")[0]
    return first.isdecimal() and 224 <= int(first) <= 239


def _name(text: str) -> str:
    """A name that is valid in a scenario."""
    cleaned = re.sub(r"[^A-Za-z0-9_.+-]", "-", text.strip())
    return cleaned if re.match("[A-Za-z0-9]", cleaned) else f"x{cleaned}"
