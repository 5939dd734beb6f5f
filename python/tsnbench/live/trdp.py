"""TRDP end devices: they publish, request and subscribe to process data, and call and answer with message
data.

The end devices use this host's own UDP and TCP, so that the peer can be any other implementation.
"""

from __future__ import annotations

import fcntl
import ipaddress
import json
import socket
import struct
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypedDict, TypeVar

from tsnbench.errors import InputError, InterfaceError
from tsnbench.live import device, program
from tsnbench.scenario.units import DURATION, SIZE, UnitError

_SIOCGIFADDR = 0x8915
LARGEST = {"push": 1432, "pull": 1432, "tsn": 1458, "message": 65_388}
"""Octets of the longest data set."""
_Value = TypeVar("_Value")
Entry = dict[str, Any]
"""One publication, subscription, request, call or answer, with the keys of the live program."""


@dataclass(frozen=True)
class EndDevice:
    """The work of an end device. ``crates/traffic/src/trdp/device.rs`` names the keys of the entries."""

    interface: str
    publish: Sequence[Entry] = ()
    """Process data that is sent: ``com_id``, ``to``, ``pattern``, ``period_ns``, ``octets``, ``count``, …"""
    request: Sequence[Entry] = ()
    """Process data that is requested: ``com_id``, ``to``, ``period_ns``, ``reply_com_id``, …"""
    subscribe: Sequence[Entry] = ()
    """Process data that is subscribed: ``com_id``, ``from``, ``group``, ``time_out_ns``, ``count``, …"""
    call: Sequence[Entry] = ()
    """Message data that is sent: ``com_id``, ``to``, ``notify``, ``transport``, ``time_out_ns``, …"""
    answer: Sequence[Entry] = ()
    """Message data that is answered: ``com_id``, ``octets``, ``confirm``, ``count``, …"""
    duration_ns: int | None = None
    """The end device's duration; by default it ends when all entries with a count are done, or at Ctrl-C."""
    address: str | None = None
    """The own IPv4 address; by default the interface's first one."""
    short_headers: bool = False
    """Accepts telegrams of version 2 with a header of 16 octets, too."""


class Spread(TypedDict):
    """Times in ns."""

    least: int
    mean: int
    most: int


class Published(TypedDict):
    """The counts of a publication or of requests."""

    com_id: int
    to: str
    sent: int
    refused: int
    late_ns: Spread | None
    launch_times_missed: int
    launch_times_invalid: int


class Subscribed(TypedDict):
    """The counts of a subscription."""

    com_id: int
    taken: int
    gaps: int
    missed: int
    repeated: int
    old: int
    restarted: int
    time_outs: int
    topography: int
    data_set_octets: list[int] | None
    interval_ns: Spread | None
    delay_ns: Spread | None
    age_ns: int | None


class Called(TypedDict):
    """The counts of calls with message data."""

    com_id: int
    to: str
    sent: int
    refused: int
    replies: int
    confirmed: int
    errors: int
    time_outs: int
    reply_octets: int
    round_trip_ns: Spread | None


class Answered(TypedDict):
    """The counts of answered message data."""

    requests: int
    notifications: int
    octets: int
    replies: int
    confirmations: int
    unconfirmed: int
    no_listener: int
    errors: int


class Result(TypedDict):
    """The results of an end device."""

    publish: list[Published]
    request: list[Published]
    subscribe: list[Subscribed]
    check_errors: int
    protocol_errors: int
    not_subscribed: int
    call: list[Called]
    answer: Answered


def be(asked: EndDevice, ready: Callable[[], None] | None = None) -> Result:
    """Runs an end device until its work is done. ``ready`` is called once its ports are open.

    Raises:
        InputError: there is no such interface, or the interface has no IPv4 address.
        BackendError: the end device cannot work there.
    """
    device.mac(asked.interface)
    told: dict[str, Any] = {
        "interface": asked.interface,
        "address": asked.address or _address(asked.interface),
        "for_ns": asked.duration_ns,
        "short_headers": asked.short_headers,
    }
    for name in ("publish", "request", "subscribe", "call", "answer"):
        told[name] = list(getattr(asked, name))
    with tempfile.TemporaryDirectory(prefix="tsnbench-trdp-") as place:
        file, log = Path(place) / "device.json", Path(place) / "log.json"
        file.write_text(json.dumps(told), encoding="utf-8")
        program.run(["trdp", str(file), "--log", str(log)], ready)
        found: Result = json.loads(log.read_text(encoding="utf-8"))
    return found


def _address(interface: str) -> str:
    """The first IPv4 address of an interface. netdevice(7)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            said = fcntl.ioctl(asking, _SIOCGIFADDR, struct.pack("256s", interface.encode()[:15]))
        except OSError:
            raise InterfaceError(
                f"{interface}: expected an interface with an IPv4 address, found none\n"
                f"hint: ip address add 10.0.0.1/24 dev {interface}"
            ) from None
    return socket.inet_ntoa(said[20:24])


def sender(interface: str, words: Sequence[str], duration_ns: int | None) -> EndDevice:
    """The end device of ``tsnbench send --trdp``.

    Raises:
        InputError: a key is missing, unknown, or has a value that it cannot have.
    """
    publish, call = [], []
    for text in words:
        keys = _Keys(text)
        if keys.has("message"):
            call.append(_call(keys))
        else:
            publish.append(_publication(keys))
        keys.finish()
    return EndDevice(interface, publish=publish, call=call, duration_ns=duration_ns)


def receiver(interface: str, words: Sequence[str], duration_ns: int | None) -> EndDevice:
    """The end device of ``tsnbench receive --trdp``.

    Raises:
        InputError: a key is missing, unknown, or has a value that it cannot have.
    """
    subscribe, request, answer = [], [], []
    for text in words:
        keys = _Keys(text)
        if keys.has("message"):
            answer.append(_answer(keys))
        else:
            if keys.has("pull-from"):
                request.append(_request(keys))
            subscribe.append(_subscription(keys))
        keys.finish()
    short = any("header: 16" in " ".join(text.split()) for text in words)
    return EndDevice(
        interface, subscribe=subscribe, request=request, answer=answer, duration_ns=duration_ns,
        short_headers=short,
    )  # fmt: skip


def _publication(keys: _Keys) -> Entry:
    pattern = keys.one_of("pattern", ("push", "pull", "tsn"), "push")
    found: Entry = {"com_id": keys.number("com-id"), "pattern": pattern, "to": keys.address("to")}
    if pattern != "pull":
        found["period_ns"] = keys.time("period")
        found["offset_ns"] = keys.time("offset", 0)
    found["octets"] = keys.size("data-set", 0, LARGEST[pattern])
    found["qos"] = keys.number("qos", 5, 7)
    found["ttl"] = keys.number("ttl", 64, 255)
    found["count"] = keys.optional("count", keys.number)
    found["topography"] = _topography(keys)
    found["service_id"] = keys.number("service-id", 0)
    found["launch_ahead_ns"] = keys.optional("launch-ahead", keys.time)
    if pattern == "tsn":
        found["short_header"] = keys.one_of("header", ("20", "16"), "20") == "16"
    return found


def _topography(keys: _Keys) -> list[int]:
    return [keys.number("etb-topo-count", 0), keys.number("op-trn-topo-count", 0)]


def _subscription(keys: _Keys) -> Entry:
    found: Entry = {"com_id": keys.number("com-id")}
    found["from"] = keys.optional("from", keys.address)
    found["group"] = keys.optional("group", keys.address)
    found["time_out_ns"] = keys.time("time-out", 100_000_000)
    found["count"] = keys.optional("count", keys.number)
    found["topography"] = _topography(keys)
    keys.one_of("header", ("20", "16"), "20")
    return found


def _request(keys: _Keys) -> Entry:
    com_id = keys.number("com-id")
    return {
        "com_id": keys.number("request-com-id", com_id),
        "to": keys.address("pull-from"),
        "period_ns": keys.time("period"),
        "reply_com_id": com_id,
        "reply_to": keys.optional("group", keys.address),
        "octets": keys.size("data-set", 0, LARGEST["push"]),
        "qos": keys.number("qos", 5, 7),
    }


def _call(keys: _Keys) -> Entry:
    return {
        "com_id": keys.number("com-id"),
        "notify": keys.one_of("message", ("request", "notify"), "request") == "notify",
        "to": keys.address("to"),
        "transport": keys.one_of("transport", ("udp", "tcp"), "udp"),
        "octets": keys.size("data-set", 0, LARGEST["message"]),
        "time_out_ns": keys.time("time-out", 1_000_000_000),
        "count": keys.number("count", 1),
        "period_ns": keys.time("period", 0),
        "source_uri": keys.text("source-uri"),
        "destination_uri": keys.text("destination-uri"),
    }


def _answer(keys: _Keys) -> Entry:
    return {
        "com_id": keys.number("com-id"),
        "confirm": keys.one_of("message", ("reply", "confirm"), "reply") == "confirm",
        "octets": keys.size("data-set", 0, LARGEST["message"]),
        "time_out_ns": keys.time("time-out", 1_000_000_000),
        "count": keys.optional("count", keys.number),
    }


@dataclass
class _Keys:
    """Keys and values such as ``com-id: 1000, period: 100 ms``; each key is read once."""

    words: str
    known: dict[str, str] = field(init=False)
    read: set[str] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self.known = {}
        for part in self.words.strip().removeprefix("{").removesuffix("}").split(","):
            key, colon, value = part.partition(":")
            if not colon or not value.strip():
                self.wrong(f"expected keys with values (com-id: 1000, period: 100 ms), found {part.strip()}")
            self.known[key.strip()] = value.strip()

    def wrong(self, said: str) -> NoReturn:
        raise InputError(f"--trdp '{self.words.strip()}': {said}")

    def has(self, key: str) -> bool:
        return key in self.known

    def text_of(self, key: str) -> str:
        self.read.add(key)
        if key not in self.known:
            self.wrong(f"{key} is missing")
        return self.known[key]

    def text(self, key: str) -> str:
        return self.text_of(key) if self.has(key) else ""

    def optional(self, key: str, kind: Callable[[str], _Value]) -> _Value | None:
        return kind(key) if self.has(key) else None

    def number(self, key: str, otherwise: int | None = None, most: int = 2**32 - 1) -> int:
        if otherwise is not None and not self.has(key):
            return otherwise
        said = self.text_of(key)
        if not said.isdecimal() or int(said) > most:
            self.wrong(f"{key}: expected a number from 0 to {most}, found {said}")
        return int(said)

    def time(self, key: str, otherwise: int | None = None) -> int:
        if otherwise is not None and not self.has(key):
            return otherwise
        return self._unit(key, DURATION.parse)

    def size(self, key: str, otherwise: int, most: int) -> int:
        octets = self._unit(key, SIZE.parse) if self.has(key) else otherwise
        if octets > most:
            self.wrong(f"{key}: expected at most {most} B, found {octets} B")
        return octets

    def _unit(self, key: str, parse: Callable[[str], int]) -> int:
        said = self.text_of(key)
        try:
            return parse(said)
        except UnitError as error:
            self.wrong(f"{key}: expected {error.expected}, found {said}\nhint: {error.hint}")

    def address(self, key: str) -> str:
        said = self.text_of(key)
        try:
            return str(ipaddress.IPv4Address(said))
        except ValueError:
            self.wrong(f"{key}: expected an IPv4 address, found {said}")

    def one_of(self, key: str, words: Sequence[str], otherwise: str) -> str:
        said = self.text_of(key) if self.has(key) else otherwise
        if said not in words:
            self.wrong(f"{key}: expected {' or '.join(words)}, found {said}")
        return said

    def finish(self) -> None:
        """Refuses keys that were not read."""
        left = sorted(set(self.known) - self.read)
        if left:
            self.wrong(f"unknown here: {', '.join(left)}")
