"""TRDP's XML device configurations as a scenario: devices, networks, process data, message data.

IEC 61375-2-3, Annex C.

Parts without an equivalent in a scenario are listed in comments at its top.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tsnbench.errors import ContentError
from tsnbench.exports import scenario_text
from tsnbench.exports.scenario_text import Notes, flow, listed
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
    message: bool = False
    """Whether it is message data."""


@dataclass
class Interface:
    """A device on one network."""

    device: str
    network: str
    address: str
    telegrams: list[Telegram] = field(default_factory=list)

    def of(self, message: bool) -> list[Telegram]:
        """The telegrams of message data, or those of process data."""
        return [one for one in self.telegrams if one.message == message]


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
        raise ContentError(
            "no process data or message data goes from one device of these files to another\n"
            "hint: give the files of all devices that send and take it"
        )
    devices = list(dict.fromkeys(one.device for one in interfaces))
    networks = dict.fromkeys(f"network{one.network}" for one in interfaces)
    several = {name for name in devices if len({one.network for one in interfaces if one.device == name}) > 1}
    stations = [name for name in devices if name not in several]
    links = dict.fromkeys(f"{one.device} -- network{one.network}" for one in interfaces)
    return scenario_text.text(
        [
            f"From TRDP device configurations: {', '.join(name for name, _ in files)}.",
            "They do not say the network; here each is one bridge with links of 100 Mbit/s.",
        ],
        {"name": "trdp", "duration": "10 s"},
        [
            *([f"hosts: {listed(sorted(several))}"] if several else []),
            *([f"stations: {listed(stations)}"] if stations else []),
            f"bridges: {listed(networks)}",
            *("links:", "  rate: 100 Mbit/s", "  between:", *(f"    - {link}" for link in links)),
        ],
        ["streams:", *streams],
        notes,
    )


def _device(file: str, text: str, notes: Notes) -> Iterator[Interface]:
    """A device's interfaces with their telegrams."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ContentError(f"{file}: expected a TRDP device configuration, found a document type definition")
    try:
        root = ET.fromstring(text)
    except (ET.ParseError, ValueError) as error:
        raise ContentError(f"{file}: expected XML, found {error}") from None
    if root.tag != "device":
        raise ContentError(f"{file}: expected <device> of a TRDP device configuration, found <{root.tag}>")
    name = _name(root.get("host-name") or file.partition(".")[0])
    if root.find("mapped-device-list/mapped-device") is not None:
        notes.add("mapped devices", name)
    reader = _Reader(
        file,
        {one.get("id", ""): one for one in root.iter("data-set")},
        {one.get("id", ""): one for one in root.iter("com-parameter")},
        notes,
    )
    for bus in root.iterfind("bus-interface-list/bus-interface"):
        common = bus.find("pd-com-parameter")
        found = [
            reader.telegram(written, common, f"{name} comId {written.get('com-id')}")
            for written in bus.iterfind("telegram")
        ]
        address, network = bus.get("host-ip") or "", _name(bus.get("network-id") or "1")
        yield Interface(name, network, address, [one for one in found if one is not None])


@dataclass(frozen=True)
class _Reader:
    """A device's file, with the parts that its telegrams name."""

    file: str
    data_sets: dict[str, ET.Element]
    parameters: dict[str, ET.Element]
    notes: Notes

    def telegram(self, written: ET.Element, common: ET.Element | None, who: str) -> Telegram | None:
        """A telegram; None if it cannot be in a scenario. ``common``: parameters of all telegrams."""
        message = written.find("md-parameter")
        if message is None or written.find("pd-parameter") is not None:
            return self._any(written, common, who)
        if written.find("destination") is None and written.find("source") is None:
            self.notes.add("message data", who)
            return None
        return self._message(written, message, who)

    def _any(self, written: ET.Element, common: ET.Element | None, who: str) -> Telegram | None:
        own = written.find("pd-parameter")
        given = {} if own is None else own.attrib
        for key, what in (
            ("redundant", "redundancy groups"),
            ("offset-address", "offsets in a traffic store"),
        ):
            if given.get(key) not in (None, "0"):
                self.notes.add(what, who)
        if next(written.iter("sdt-parameter"), None) is not None:
            self.notes.add("safe data transmission (SDT)", who)
        octets = self._octets(written.get("data-set-id") or "", 0)
        if octets is None:
            self.notes.add("data sets that are missing, of variable length or longer than 1432 B", who)
            return None
        if octets < SMALLEST:
            self.notes.add(f"data sets of less than {SMALLEST} B, which have {SMALLEST} B here", who)
        quality = self.parameters.get(written.get("com-parameter-id") or "")

        def number(element: ET.Element | None, key: str, otherwise: int) -> int:
            said = None if element is None else element.get(key)
            if said is not None and not said.strip().isdecimal():
                raise self._wrong(written, key, "a number", said)
            return otherwise if said is None else int(said)

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

    def _message(self, written: ET.Element, parameter: ET.Element, who: str) -> Telegram | None:
        """A telegram of message data; None if its size is unknown or too large for a frame."""
        found = self._any(written, None, who)
        if found is None:
            return None
        if found.octets > LARGEST_MESSAGE:
            self.notes.add(f"message data of more than {LARGEST_MESSAGE} B, which is fragmented", who)
            return None
        if (parameter.get("protocol") or "UDP").upper() == "TCP":
            self.notes.add("message data over TCP, which goes over UDP here", who)
        waits = []
        for key in ("reply-timeout", "confirm-timeout"):
            said = parameter.get(key)
            if said is not None and not (said.strip().isdecimal() and int(said) < 1 << 32):
                raise self._wrong(written, key, "a number of us", said)
            waits.append(int(said or 0) or None)
        quality = self.parameters.get(written.get("com-parameter-id") or "")
        qos = found.qos if quality is not None and quality.get("qos") else DEFAULT_MESSAGE_QOS
        return replace(found, qos=qos, reply_us=waits[0], confirm_us=waits[1], message=True)

    def _octets(self, number: str, depth: int) -> int | None:
        """Octets of a data set on the wire; None if they are unknown."""
        if number in ("", "0"):
            return 0
        if number not in self.data_sets or depth > MOST_NESTED:
            return None
        octets = 0
        for element in self.data_sets[number].iterfind("element"):
            kind, many = element.get("type") or "", element.get("array-size") or "1"
            if not many.isdecimal() or many == "0":
                return None
            code = _NUMBERS.get(kind.upper(), int(kind) if kind.isdecimal() else 0)
            one = _OCTETS.get(code)
            if one is None:
                one = self._octets(kind, depth + 1)
            if one is None:
                return None
            octets += one * int(many)
            if octets > LARGEST:
                return None
        return octets

    def _wrong(self, written: ET.Element, key: str, expected: str, found: str) -> ContentError:
        place = f"{self.file}: comId {written.get('com-id')}: {key}"
        return ContentError(f"{place}: expected {expected}, found {found}")


def _streams(interfaces: Sequence[Interface], notes: Notes) -> Iterator[str]:
    """One line for each telegram with a receiver."""
    taken: set[str] = set()
    for own in interfaces:
        for telegram in own.of(message=False):
            for to in telegram.destinations:
                who = f"{own.device} comId {telegram.com_id}"
                listeners = _takers(interfaces, own, telegram, to)
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
                waiting = [
                    found.time_out_us
                    for one in listeners
                    for found in one.telegrams
                    if _subscribes(found, telegram, own)
                ]
                time_out = {"time-out": exact(min(waiting or [telegram.time_out_us]) * 1_000)}
                period = exact(telegram.cycle_us * 1_000)
                trdp = _trdp(telegram, None, time_out)
                yield _sent(name, own, listeners, to, period, trdp, flow(time_out))


def _messages(interfaces: Sequence[Interface], notes: Notes) -> Iterator[str]:
    """The lines of all message data: requests with their replies and confirmations, then notifications.

    The files do not say which telegram replies to a request. It is one without a reply time-out from the
    receiver to the caller: with the next communication identifier, or the only one.
    """
    replies: set[tuple[str, int]] = set()
    every = [(own, said) for own in interfaces for said in own.of(message=True)]
    told = False
    for own, said in every:
        if said.reply_us is None:
            continue
        takers = [one for to in said.destinations for one in _takers(interfaces, own, said, to)]
        found = [(one, reply) for one in takers if (reply := _reply(own, said, one, replies))]
        if len(found) < len(takers) or not takers:
            what = "whose reply is not clear" if takers else "that no device of these files takes"
            notes.add(f"requests of message data {what}", f"{own.device} comId {said.com_id}")
        if not found:
            continue
        told = True
        name = f"{own.device}.{said.name}"
        wait = {"reply-time-out": exact(said.reply_us * 1_000)}
        trdp = _trdp(said, "request", wait)
        yield _sent(name, own, [one for one, _ in found], said.destinations[0], "1 s", trdp)
        for one, reply in found:
            answer = f"{one.device}.{reply.name}"
            yield _answer(answer, name, one if len(found) > 1 else None, reply, said.reply_us)
            if reply.confirm_us is not None:
                confirm = flow({"answers": answer, "vlan": "none", "trdp": "{pattern: confirm}"})
                yield f"  {answer}.confirmed: {confirm}"
    for own, said in every:
        if said.reply_us is not None or (own.device, said.com_id) in replies:
            continue
        for to in said.destinations:
            takers = _takers(interfaces, own, said, to)
            if not takers:
                who = f"{own.device} comId {said.com_id}"
                notes.add("message data that no device of these files takes", who)
                continue
            told = True
            name = f"{own.device}.{said.name}"
            yield _sent(name, own, takers, said.destinations[0], "1 s", _trdp(said, "notify"))
    if told:
        notes.add("when message data is sent, here once a second", "all devices")


def _reply(
    own: Interface, said: Telegram, taker: Interface, replies: set[tuple[str, int]]
) -> Telegram | None:
    """The reply of a receiver to a request, if it is clear; it is added to ``replies``."""
    back = [
        reply
        for reply in taker.of(message=True)
        if reply.reply_us is None
        and (taker.device, reply.com_id) not in replies
        and any(to in (own.address, own.device) for to in reply.destinations)
    ]
    chosen = [reply for reply in back if reply.com_id == said.com_id + 1] or back
    if len(chosen) != 1:
        return None
    replies.add((taker.device, chosen[0].com_id))
    return chosen[0]


def _trdp(said: Telegram, pattern: str | None, wait: Mapping[str, str] | None = None) -> str:
    """The key ``trdp`` of a stream."""
    own = {"com-id": said.com_id, "pattern": pattern, "data-set": f"{said.octets} B", "qos": said.qos}
    return flow({**own, **(wait or {})})


def _sent(
    name: str,
    own: Interface,
    takers: Sequence[Interface],
    to: str,
    period: str,
    trdp: str,
    requires: str | None = None,
) -> str:
    """The line of a stream that its talker begins."""
    listeners = listed(dict.fromkeys(one.device for one in takers))
    group = to if _is_group(to) else None
    keys = {"from": own.device, "to": listeners, "period": period, "address": group, "vlan": "none"}
    return f"  {name}: {flow({**keys, 'trdp': trdp, 'requires': requires})}"


def _answer(name: str, request: str, own: Interface | None, said: Telegram, reply_us: int) -> str:
    """The line of a reply; ``own``: its talker, where the request has several listeners."""
    wait = {} if said.confirm_us is None else {"confirm-time-out": exact(said.confirm_us * 1_000)}
    keys = {"answers": request, "from": own.device if own else None, "vlan": "none"}
    limit = flow({"round-trip": exact(reply_us * 1_000)})
    return f"  {name}: {flow({**keys, 'trdp': _trdp(said, 'reply', wait), 'requires': limit})}"


def _takers(interfaces: Sequence[Interface], own: Interface, said: Telegram, to: str) -> list[Interface]:
    """The receivers of a telegram: the host of that address, or those that take it from a group."""
    others = [one for one in interfaces if one.device != own.device and one.network == own.network]
    if not _is_group(to):
        return [one for one in others if to in (one.address, one.device)]
    return [
        one
        for one in others
        if any(taken.sources and _subscribes(taken, said, own) for taken in one.telegrams)
    ]


def _subscribes(found: Telegram, telegram: Telegram, own: Interface) -> bool:
    """Whether a subscription is of this telegram; its sources name the publishers that it takes."""
    return (found.message, found.com_id) == (telegram.message, telegram.com_id) and (
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
