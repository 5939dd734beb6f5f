"""The keys of an inventory."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from tsnbench.hosts.inventory.types import Clock
from tsnbench.linux import tuning
from tsnbench.linux.profile import INTERFACE
from tsnbench.scenario.kinds.combinators import Either, Field, ListOf, MapOf, Record
from tsnbench.scenario.kinds.values import Choice, Count, Kind, Parsed, Quantity, Text
from tsnbench.scenario.text.reading import meant
from tsnbench.scenario.units import DRIFT, DURATION

PORT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+-]{0,31}")
"""The inventory's own name of a port. It has no dot, so that the last dot of ``zgw6.left`` parts both."""
_USER = r"(?:[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}@)?"
_HOST = r"(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252}[A-Za-z0-9_])?)"
_ADDRESS = r"[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f.]{0,15}){2,8}(?:%[A-Za-z0-9_.-]{1,15})?"
_NUMBER = r"(?::([0-9]{1,5}))?"
_SPACE = re.compile(r"netns://[A-Za-z0-9_][\w.-]{0,80}")
_SSH = re.compile(rf"{_USER}(?:{_HOST}|{_ADDRESS})")
_SSH_URI = re.compile(rf"ssh://{_USER}(?:{_HOST}|\[{_ADDRESS}\]){_NUMBER}/?")
_NETCONF = re.compile(rf"{_USER}(?:{_HOST}|\[{_ADDRESS}\]){_NUMBER}")
_SECONDS = 10**9
_DAY = 86_400 * _SECONDS


def _ssh(text: str) -> str:
    """A destination that ssh does not interpret as an option or a command."""
    if text.startswith("-"):
        raise ValueError("ssh would take it for an option; write USER@HOST")
    uri = _SSH_URI.fullmatch(text)
    if uri is not None and _is_port(uri[1]):
        return text
    if _SSH.fullmatch(text) or _SPACE.fullmatch(text):
        return text
    host, colon, port = text.rpartition(":")
    if colon and port.isdecimal() and _SSH_URI.fullmatch(f"ssh://{host}") and _is_port(port):
        raise ValueError(f"write ssh://{text}")
    raise ValueError("write USER@HOST, ssh://USER@HOST:PORT, or a Host of ~/.ssh/config")


def _netconf(text: str) -> str:
    found = _NETCONF.fullmatch(text)
    if found is None or not _is_port(found[1]):
        raise ValueError("write USER@HOST or USER@HOST:PORT; the port is 830 by default")
    return text


def _is_port(text: str | None) -> bool:
    return text is None or 1 <= int(text) <= 65_535


def _interface(text: str) -> str:
    if not INTERFACE.fullmatch(text):
        raise ValueError("up to 15 letters, digits and _ . @ + -, the first a letter, a digit or _: enp3s0")
    return text


def _own_name(text: str) -> str:
    if not re.fullmatch(r"[!-~](?:[ -~]{0,62}[!-~])?", text):
        raise ValueError("up to 64 letters, digits and signs of ASCII: 1/1")
    return text


def _checklist(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_.][A-Za-z0-9_./+-]{0,254}", text) or text.endswith("/"):
        raise ValueError("letters, digits and _ . / + -: falcon-gates.txt")
    return text


def _word(text: str) -> str:
    if not re.fullmatch(r"[ -~]{1,1000}", text):
        raise ValueError("one word of a command, in ASCII")
    return text


def _folder(text: str) -> str:
    if not re.fullmatch(r"/[A-Za-z0-9_./+-]{1,254}", text) or ".." in text.split("/"):
        raise ValueError("an absolute path of letters, digits and _ . / + -: /var/tmp")
    return text


def _named(what: str, kind: Kind) -> MapOf:
    """Things by the names that the inventory gives them."""
    return MapOf(
        f"{what}s by name", kind, PORT_NAME, f"a name of a {what}", "letters, digits and _ + -, 32 at most"
    )


_SETTINGS = {one.name: one for one in tuning.settings(["eth0"], [0])}
"""Settings of ``tuning.sh``, by name."""


def setting(name: str, value: str) -> str:
    """A word for ``tuning.sh``.

    Raises:
        ValueError: the setting does not support the value.
    """
    one = _SETTINGS[name]
    fits = any(fnmatchcase(value, pattern) for pattern in one.values.split("|"))
    if not fits or not re.fullmatch(r"[a-z0-9_,-]{1,64}", value):
        known = one.values.replace("|", " or ")
        raise ValueError(f"write {name}: {known if '*' not in known else one.value}")
    return f"{name}={value}"


_TUNING = Either(
    "none, engine, a list of settings, or a mapping of settings to values",
    text=Choice({"none": (), "engine": tuple(_SETTINGS)}, "a tuning"),
    listing=ListOf(Choice({name: name for name in _SETTINGS}, "a setting"), "settings", once=True),
    mapping=Record(
        "tuning",
        {name: Field(Text("a value"), f"{one.why}; {one.value}") for name, one in _SETTINGS.items()},
    ),
)
_ARCHITECTURES = ("x86_64", "aarch64", "armv7l", "armv6l", "i686", "riscv64", "ppc64le", "s390x")
_PROGRAM = Choice(
    {name: name for name in _ARCHITECTURES},
    "an architecture as uname -m prints it",
    {"amd64": "x86_64", "x86-64": "x86_64", "arm64": "aarch64", "armhf": "armv7l", "arm": "armv7l"},
)
HOST = Record(
    "a host",
    {
        "ssh": Field(
            Parsed("a destination of ssh", swept=False, parse=_ssh),
            "root@zgw6, ssh://pi@192.0.2.7:2222, or a Host of ~/.ssh/config",
            "root@zgw6",
        ),
        "ports": Field(
            _named("port", Parsed("the name of an interface", swept=False, parse=_interface)),
            "names of ports to interfaces, without the one that carries ssh: {left: enp3s0}",
            "{left: enp3s0}",
        ),
        "talkers": Field(
            ListOf(Count(0, 4095, "a processor"), "processors", once=True),
            "processors for talkers, listeners and interrupts: [2, 3]",
        ),
        "tuning": Field(_TUNING, "none by default, engine, or settings: [governor], {smt: off}"),
        "program": Field(_PROGRAM, "aarch64, …; the host is asked by default"),
        "clock": Field(
            Choice({one.value: one for one in Clock}, "a clock"),
            "hardware (default), software, or none: background traffic only",
        ),
        "folder": Field(
            Parsed("an absolute path", swept=False, parse=_folder),
            "where captures are kept until they are fetched: /var/tmp",
        ),
        "programs": Field(
            _named(
                "program",
                ListOf(Parsed("a word of a command", swept=False, parse=_word, number=True), "words"),
            ),
            "others' talkers, while a run lasts: {load: [iperf3, -c, 192.0.2.9, -u]}",
        ),
        "unseen": Field(
            Quantity(DURATION, 0, _SECONDS), "what passes between wire and stamp at most: 20 us; counts in ±"
        ),
    },
    common_mistakes={
        "host": "write ssh: USER@HOST",
        "address": "write ssh: USER@HOST",
        "user": "write ssh: USER@HOST",
        "interfaces": "write ports: {left: enp3s0}",
        "nics": "write ports: {left: enp3s0}",
        "arch": "write program: aarch64",
        "cpus": "write talkers: [2, 3]",
        "by-hand": "write it under devices:, beside hosts:",
        "netconf": "write it under devices:, beside hosts:",
    },
    example="{ssh: root@zgw6, ports: {left: enp3s0}}",
)
DEVICE = Record(
    "a device",
    {
        "netconf": Field(
            Parsed("a device as USER@HOST", swept=False, parse=_netconf), "USER@HOST[:PORT]: by NETCONF"
        ),
        "by-hand": Field(
            Parsed("the name of a file", swept=False, parse=_checklist),
            "the file of its checklist: configured by hand, and confirmed in that file",
        ),
        "ports": Field(
            _named("port", Parsed("the device's name of a port", swept=False, parse=_own_name, number=True)),
            'names of ports to the device\'s own: {p1: "1/1"}',
            '{p1: "1/1"}',
        ),
    },
    common_mistakes={
        "ssh": "write it under hosts:, or netconf: USER@HOST",
        "byhand": "write by-hand: FILE",
        "by_hand": "write by-hand: FILE",
        "hand": "write by-hand: FILE",
    },
    example="{netconf: admin@sw1, ports: {p1: swp0}}",
)
SYNC = Record(
    "bounds of synchronisation",
    {
        "below": Field(
            Quantity(DURATION, 1, _SECONDS, usual="ns"), "largest offset of a PTP hardware clock; 100 ns"
        ),
        "system": Field(
            Quantity(DURATION, 1, _SECONDS), "largest offset of a system clock from that clock; 1 us"
        ),
        "steady": Field(
            Quantity(DURATION, 0, _DAY, usual="s"), "so long in succession, before a run may start; 10 s"
        ),
        "within": Field(Quantity(DURATION, 1, _DAY, usual="min"), "else the attempt has failed; 5 min"),
        "attempts": Field(Count(1, 1000, "a number of attempts"), "how often a run is tried; 10"),
        "drift": Field(
            Quantity(DRIFT, 0, 10**9), "how fast the error of a synchronised clock changes; 1 ppm"
        ),
        "asymmetry": Field(
            Quantity(DURATION, 0, _SECONDS), "what ptp4l's readings may be wrong by; 0 ns. It counts in ±"
        ),
        "pause": Field(Quantity(DURATION, 0, _DAY, usual="s"), "between two attempts; 60 s"),
    },
    example="{below: 100 ns, system: 1 us}",
)
INVENTORY = Record(
    "an inventory",
    {
        "hosts": Field(
            MapOf("hosts by name", HOST),
            "Linux machines: {zgw6: {ssh: root@zgw6, ports: {left: enp3s0}}}",
            "{zgw6: {ssh: root@zgw6, ports: {left: enp3s0}}}",
        ),
        "devices": Field(
            MapOf("devices by name", DEVICE), "bridges: {sw1: {netconf: admin@sw1, ports: {p1: swp0}}}"
        ),
        "wires": Field(
            ListOf(Text("a wire such as zgw6.left - zgw7.right", swept=False), "wires", partial=True),
            "cables: [zgw6.left - zgw7.right]",
        ),
        "map": Field(
            MapOf(
                "nodes and ports of scenarios by name",
                Text("a machine such as zgw6, or a port such as zgw6.left", swept=False),
                re.compile(r"[!-~](?:[ -~]{0,198}[!-~])?"),
                "a node or port of a scenario",
                "write {camera: zgw6} or {camera -> s1: zgw6.left}",
            ),
            "nodes and ports of scenarios: {camera: zgw6, camera -> s1: zgw6.left}",
        ),
        "sync": Field(SYNC, "when clocks count as synchronised: {below: 100 ns, attempts: 10}"),
    },
    common_mistakes={
        "links": "write wires: [zgw6.left - zgw7.right]",
        "cables": "write wires: [zgw6.left - zgw7.right]",
        "nodes": "write hosts: for Linux machines, devices: for bridges",
        "switches": "write devices: {sw1: {netconf: admin@sw1, ports: {p1: swp0}}}",
        "mapping": "write map: {camera: zgw6}",
        "ptp": "write sync: {below: 100 ns}",
        "streams": "that belongs into a scenario; an inventory has hosts, devices, wires, map and sync",
        "network": "that belongs into a scenario; an inventory has hosts, devices, wires, map and sync",
    },
)


def near_port(port: str, ports: dict[str, str]) -> str:
    """A hint for a port that a machine does not have: its own name of one, a near name, or all names."""
    own = next((name for name, interface in ports.items() if interface == port), None)
    return f"did you mean {own}?" if own else meant(port, ports)


def json_schema() -> dict[str, object]:
    """A JSON Schema (2020-12) of inventories."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "tsnbench inventory",
        "description": "The hosts and devices of a lab, and the wires between them.",
        **INVENTORY.schema(),
        "type": "object",
    }
