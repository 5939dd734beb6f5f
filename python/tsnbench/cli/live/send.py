"""``tsnbench send``: live streams on an interface."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from tsnbench.cli.console.completing import nodes, scenario_files
from tsnbench.cli.console.options import (
    Hardware,
    Priority,
    Processor,
    StageFolder,
    argument,
    flag,
    given_ns,
    json_of,
    option,
    setting,
)
from tsnbench.cli.console.output import Exit, fail, print_json, print_table, user_errors
from tsnbench.cli.live.end_device import print_end_device
from tsnbench.live import sending, trdp
from tsnbench.live.sending import Sending, Sent
from tsnbench.quantities import micros
from tsnbench.scenario.units import LENGTH_OF_RUN
from tsnbench.sheet import plain_table

DEFAULT_S = 10
"""How long streams and telegrams without a count are sent unless it is given."""
Scenario = Annotated[
    Path | None, argument("SCENARIO", "Scenario file with the node of --node.", autocompletion=scenario_files)
]
Node = Annotated[
    str | None,
    option("NODE", "Send the streams of this node of the scenario.", "--node", autocompletion=nodes),
]
Offset = Annotated[str | None, option("TIME", "Offset in the period: 200us.", "--shift")]
Jitter = Annotated[str | None, option("TIME", "Greatest random delay of each frame: 50us.")]
Payload = Annotated[str | None, option("SIZE", "Octets in each frame's UDP datagram: 100B.")]
FrameSize = Annotated[str | None, option("SIZE", "Octets of the whole frame, in place of --payload: 1500B.")]
Burst = Annotated[str | None, option("SIZE", "Data units cut into frames back to back: 12000B.")]
TagByDevice = Annotated[bool, flag("--tag-by-device", "The interface adds the tag (eth0.100).")]
More = Annotated[
    list[str] | None, option("'NAME: {…}'", "One more stream: 'loop: {period: 1 ms, payload: 100 B}'.")
]
Telegrams = Annotated[
    list[str] | None,
    option(
        "'KEYS'",
        "A TRDP telegram: 'com-id: 1000, to: 239.1.1.3, period: 100 ms, data-set: 64 B'.",
        "--trdp",
    ),
]
Dilate = Annotated[int, setting("TIMES", "With --replay: slower than captured by this factor.")]
Duration = Annotated[
    str | None, option("TIME", "Duration; default 10s, or as long as telegrams have a count.")
]
Udp = Annotated[str | None, option("ADDRESS", "Send UDP to this IPv4 address in place of whole frames.")]
LaunchTimes = Annotated[str | None, option("MODE", "Launch times (SO_TXTIME): strict or deadline.")]
Advance = Annotated[
    str | None, option("TIME", "Time before the launch time at which a frame is made: 500us.")
]


def send(
    file: Scenario = None,
    interface: Annotated[str, option("INTERFACE", "The interface; required.", "--interface")] = "",
    node: Node = None,
    period: Annotated[str | None, option("TIME", "Time from one frame to the next: 1ms.")] = None,
    offset: Offset = None,
    jitter: Jitter = None,
    poisson: Annotated[str | None, option("RATE", "Random gaps at a mean rate: 10Mbit/s.")] = None,
    saturating: Annotated[bool, flag("--saturating", "Send as fast as the interface accepts.")] = False,
    payload: Payload = None,
    frame: FrameSize = None,
    burst: Burst = None,
    pcp: Annotated[int | None, option("0..7", "Priority code point.")] = None,
    vlan: Annotated[int | None, option("1..4094", "VLAN tag; none by default.")] = None,
    by_device: TagByDevice = False,
    stream: More = None,
    telegram: Telegrams = None,
    replay: Annotated[Path | None, option("FILE", "A capture's frames, at their own pace.")] = None,
    dilate: Dilate = 1,
    duration: Duration = None,
    mac: Annotated[str, setting("ADDRESS", "Destination address.")] = sending.BROADCAST,
    udp: Udp = None,
    txtime: LaunchTimes = None,
    advance: Advance = None,
    hardware: Hardware = False,
    cpu: Processor = None,
    priority: Priority = 50,
    into: StageFolder = None,
    as_json: Annotated[bool, json_of("Counts")] = False,
) -> None:
    """Send streams on an interface, on time. Needs root.

    Lateness and refused frames are reported.
    """
    if not interface:
        fail(Exit.INPUT_WRONG, "--interface: expected one")
    if telegram:
        described = bool(file or stream or replay or period or payload or frame)
        _telegrams(interface, telegram, duration, as_json, described)
        return
    words = _words(
        period=period, offset=offset, jitter=jitter, poisson=poisson, payload=payload, frame=frame,
        saturating="true" if saturating else None, units=f"[{burst}]" if burst else None,
    )  # fmt: skip
    _check(txtime, mac, replay, file, bool(words or stream))
    with user_errors():
        asked = Sending(
            to=interface, streams={}, duration=duration or f"{DEFAULT_S}s", mac=mac, udp=udp,
            by_device=by_device, txtime=txtime, advance=advance, hardware=hardware, cpu=cpu,
            priority=priority, into=into,
        )  # fmt: skip
        if replay:
            found = sending.replay(replay, interface, dilate, cpu, priority)
        elif file:
            found = _scenario(file, node, asked)
        else:
            streams = _streams(words, vlan or (100 if by_device else None), pcp, stream or [])
            found = sending.send(replace(asked, streams=streams))
    _tell(found, as_json)


def _tell(found: Sent, as_json: bool) -> None:
    if as_json:
        print_json("sent", found)
    else:
        print_sent(found)


def _check(txtime: str | None, mac: str, replay: Path | None, file: Path | None, described: bool) -> None:
    if txtime not in (None, "strict", "deadline"):
        fail(Exit.INPUT_WRONG, f"--txtime: expected strict or deadline, found {txtime}")
    if not re.fullmatch(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}", mac):
        fail(Exit.INPUT_WRONG, f"--mac: expected an address as 02:00:00:00:00:01, found {mac}")
    if replay and (described or file):
        fail(Exit.INPUT_WRONG, "--replay: sends a capture as it is; leave out what describes streams")
    if file and described:
        fail(Exit.INPUT_WRONG, "--stream: leave it out beside a scenario, which has its own streams")


def _words(**keys: str | None) -> list[str]:
    """The keys of a stream that are given."""
    return [f"{key}: {value}" for key, value in keys.items() if value is not None]


def _streams(words: list[str], vlan: int | None, pcp: int | None, more: list[str]) -> dict[str, str]:
    """The keys of each stream by its name: the one that options describe, and those of ``--stream``."""
    tag = ["vlan: none" if vlan is None else f"vlan: {vlan}"]
    tag += [] if pcp is None else [f"pcp: {pcp}"]
    own = {"stream": ", ".join(words + tag)} if words or not more else {}
    return own | _named(more)


def _telegrams(
    interface: str, words: list[str], duration: str | None, as_json: bool, described: bool
) -> None:
    if described:
        fail(Exit.INPUT_WRONG, "--trdp: leave out what describes frames: telegrams have keys of their own")
    with user_errors():
        duration_ns = given_ns("--duration", duration, LENGTH_OF_RUN)
        asked = trdp.sender(interface, words, duration_ns)
        endless = [one for one in asked.publish if one["count"] is None]
        if endless and duration_ns is None:
            asked = trdp.sender(interface, words, DEFAULT_S * 10**9)
        print_end_device(trdp.be(asked), as_json)


def _scenario(file: Path, node: str | None, asked: Sending) -> Sent:
    if node is None:
        fail(Exit.INPUT_WRONG, "--node: expected whose streams of the scenario to send")
    made, number, ports = sending.planned(file, node, asked.to)
    return sending.obey(made, number, ports, asked)


def _named(streams: list[str]) -> dict[str, str]:
    """``name: {keys}`` for each stream."""
    found = {}
    for text in streams:
        parts = re.fullmatch(r"\s*([\w.-]+)\s*:\s*\{(.*)\}\s*", text)
        if parts is None:
            form = "'name: {period: 1 ms, payload: 100 B}'"
            fail(Exit.INPUT_WRONG, f"--stream: expected {form}, found {text}")
        keys = parts[2] if "vlan" in parts[2] else f"{parts[2]}, vlan: none"
        found[parts[1]] = keys
    return found


def print_sent(found: Sent) -> None:
    """Prints the counts of a talker."""
    heads = ("frames", "refused", "late: mean us", "most us", "launch times missed", "invalid")
    table = plain_table("sent", ("stream",), heads)
    for one in found["streams"]:
        table.add_row(
            one["stream"], str(one["frames"]), str(one["refused"]),
            micros(one["late_mean_ns"], 1), micros(one["late_most_ns"], 1),
            str(one["launch_times_missed"]), str(one["launch_times_invalid"]),
        )  # fmt: skip
    print_table(table)
