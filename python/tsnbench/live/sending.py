"""``tsnbench send``: streams on an interface, from options or from a scenario.

Options become a scenario with two stations, so that they are checked as scenarios are and have the same
meaning. The live program executes the Plan of this scenario.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from tsnbench import foreign
from tsnbench.errors import InputError
from tsnbench.live import device, folder, program
from tsnbench.plan.document import Plan
from tsnbench.planning import plan
from tsnbench.scenario import load
from tsnbench.scenario.loader import read_scenario

STAGES = ("interval-start", "wakeup", "send", "qdisc", "driver")
LEAD_NS = 300_000_000
"""From now to the Plan's zero."""
BROADCAST = "ff:ff:ff:ff:ff:ff"


@dataclass(frozen=True)
class Sending:
    """The options of a talker."""

    to: str
    """The interface."""
    streams: dict[str, str]
    """Name and keys of each stream, as under ``streams`` in a scenario, without ``from`` and ``to``:
    ``period: 1 ms, payload: 100 B``."""
    duration: str = "10 s"
    mac: str = BROADCAST
    """Destination MAC address."""
    udp: str | None = None
    """Send UDP datagrams to this IPv4 address instead of Ethernet frames."""
    by_device: bool = False
    """The interface puts the VLAN tag on."""
    txtime: str | None = None
    """``strict`` or ``deadline``: frames carry launch times."""
    advance: str | None = None
    """The time between making a frame and its intended transmission."""
    hardware: bool = False
    """Request hardware timestamps."""
    cpu: int | None = None
    priority: int | None = None
    into: Path | None = None
    """Folder for the times at which frames passed each stage."""


def scenario(asked: Sending) -> str:
    """The options as the text of a scenario."""
    software = asked.into is not None or asked.txtime is not None or asked.advance is not None
    own = f", send: {{advance: {asked.advance or '0 us'}{_launch(asked.txtime)}}}" if software else ""
    lines = [
        "name: send",
        f"duration: {asked.duration}",
        "network:",
        "  stations: [talker, listener]",
        f"  links: {{rate: {device.rate_bps(asked.to)} bit/s, cable: 1 m, between: [talker -- listener]}}",
        *(["hosts: {talker: {send: 0 us}}"] if software else []),
        "streams:",
        # A saturating talker has no timer, so it gets no `send` key.
        *(
            f"  {name}: {{from: talker, to: listener, {keys}{'' if 'saturating' in keys else own}}}"
            for name, keys in asked.streams.items()
        ),
    ]
    if asked.into is not None:
        lines.append(f"taps: {{stages: [{', '.join(STAGES)}]}}")
    return "\n".join(lines) + "\n"


def _launch(mode: str | None) -> str:
    return "" if mode is None else ", txtime: true" + (", deadline: true" if mode == "deadline" else "")


def plan_of(asked: Sending) -> Plan:
    """The Plan, with the addresses of this machine.

    Raises:
        InputError: the options make no sense, or there is no such interface.
    """
    source = device.mac(asked.to)
    if asked.txtime is not None:
        device.heeds_launch_times(asked.to, asked.txtime == "deadline")
    (read,) = read_scenario(scenario(asked), "send")
    document = plan(read).document
    ports = [port | {"mac": source} if port["node"] == 0 else port for port in document["ports"]]
    streams = [stream | {"destination_mac": asked.mac.lower()} for stream in document["streams"]]
    return Plan(document | {"ports": ports, "streams": streams, "drain_ns": 0})


def planned(path: Path, node: str, to: str) -> tuple[Plan, int, list[tuple[int, str]]]:
    """The Plan of a scenario, a node whose streams are sent, and the node's ports with their interfaces.

    Raises:
        InputError: there is no such node, or it sends nothing, or by several ports on one interface.
    """
    made = load(path).plan()
    document = made.document
    names = [own["name"] for own in document["nodes"]]
    if node not in names:
        raise InputError(f"--node: expected a node of {path}, found {node}")
    number = names.index(node)
    ports = sorted({one["route"][0]["port"] for one in document["streams"] if one["talker"] == number})
    if not ports:
        raise InputError(f"--node: {node} sends nothing")
    if len(ports) > 1:
        used = ", ".join(document["ports"][port]["name"] for port in ports)
        raise InputError(f"--node: {node} sends from several ports ({used}), and there is one interface")
    device.mac(to)
    return made, number, [(ports[0], to)]


class SentStream(TypedDict):
    """The counts of one stream's frames."""

    stream: str
    frames: int
    refused: int
    late_mean_ns: int
    late_most_ns: int
    launch_times_missed: int
    launch_times_invalid: int


class Sent(TypedDict):
    """The results of sending."""

    streams: list[SentStream]


def send(asked: Sending) -> Sent:
    """Sends, and returns for each stream the frames that were sent, refused and late.

    Raises:
        InputError: the options make no sense.
        BackendError: it cannot be sent.
    """
    made = plan_of(asked)
    return obey(made, 0, [(0, asked.to)], asked)


def obey(made: Plan, node: int, ports: Sequence[tuple[int, str]], asked: Sending) -> Sent:
    """Sends the streams of one node of a Plan.

    Raises:
        BackendError: it cannot be sent.
    """
    epoch = time.clock_gettime_ns(time.CLOCK_TAI) + LEAD_NS
    with tempfile.TemporaryDirectory(prefix="tsnbench-send-") as place:
        path, log = Path(place) / "plan.json", Path(place) / "log"
        path.write_text(made.to_json(), encoding="utf-8")
        if asked.into is not None:
            folder.make(asked.into)
        program.run(
            ["talk", str(path), "--absolute"]
            + [word for port, interface in ports for word in ("--port", f"{port}={interface}")],
            node=node,
            epoch=epoch,
            log=log,
            sights=None if asked.into is None else folder.log_of(asked.into, "send"),
            udp=asked.udp or None,
            untagged=asked.by_device,
            hardware=asked.hardware,
            cpu=asked.cpu,
            priority=asked.priority,
        )
        told = said(log.read_text(encoding="utf-8"), [one["name"] for one in made.document["streams"]])
    if asked.into is not None:
        folder.merge(asked.into)
    return told


def replay(
    capture: Path, to: str, slower: int = 1, cpu: int | None = None, priority: int | None = None
) -> Sent:
    """Replays a capture's frames unchanged, at the recorded pace or slower by a factor.

    Raises:
        InputError: there is no such interface.
        BackendError: the capture cannot be sent.
    """
    device.mac(to)
    foreign.regular(capture)
    with tempfile.TemporaryDirectory(prefix="tsnbench-send-") as place:
        log = Path(place) / "log"
        program.run(
            ["replay", str(capture)], port=f"0={to}", log=log, dilate=slower, cpu=cpu, priority=priority
        )
        return said(log.read_text(encoding="utf-8"), [capture.name])


def said(log: str, names: Sequence[str]) -> Sent:
    """The counts of each stream, from the live program's log."""
    streams: list[SentStream] = []
    for line in log.splitlines():
        number, frames, refused, most, mean, missed, invalid = map(int, line.split())
        streams.append(
            {
                "stream": names[number],
                "frames": frames,
                "refused": refused,
                "late_mean_ns": mean,
                "late_most_ns": most,
                "launch_times_missed": missed,
                "launch_times_invalid": invalid,
            }
        )
    return {"streams": streams}
