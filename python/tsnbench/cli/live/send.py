"""``tsnbench send``: live streams on an interface."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from tsnbench.cli.console.options import argument, option
from tsnbench.cli.console.output import Exit, fail, print_json, print_table, user_errors
from tsnbench.quantities import micros
from tsnbench.sheet import plain_table

if TYPE_CHECKING:
    from tsnbench.live.sending import Sending, Sent
    from tsnbench.live.trdp import Result


def send(
    file: Annotated[Path | None, argument("SCENARIO", "Scenario file with the node of --node.")] = None,
    to: Annotated[str, option("INTERFACE", "The interface; required.")] = "",
    node: Annotated[
        str | None, option("NODE", "Send the streams of this node of the scenario.", "--node")
    ] = None,
    period: Annotated[str | None, option("TIME", "Time from one frame to the next: 1ms.")] = None,
    offset: Annotated[
        str | None, option("TIME", "Offset in the period: 200us.", "--shift", "--offset")
    ] = None,
    jitter: Annotated[str | None, option("TIME", "Greatest random delay of each frame: 50us.")] = None,
    poisson: Annotated[str | None, option("RATE", "Random gaps at a mean rate: 10Mbit/s.")] = None,
    saturating: Annotated[
        bool, typer.Option("--saturating", help="Send as fast as the interface accepts.")
    ] = False,
    payload: Annotated[str | None, option("SIZE", "Octets in each frame's UDP datagram: 100B.")] = None,
    frame: Annotated[
        str | None, option("SIZE", "Octets of the whole frame, in place of --payload: 1500B.")
    ] = None,
    burst: Annotated[str | None, option("SIZE", "Data units cut into frames back to back: 12000B.")] = None,
    pcp: Annotated[int | None, option("0..7", "Priority code point.")] = None,
    vlan: Annotated[int | None, option("1..4094", "VLAN tag; none unless given.")] = None,
    by_device: Annotated[
        bool, typer.Option("--tag-by-device", help="The interface adds the tag (eth0.100).")
    ] = False,
    stream: Annotated[
        list[str] | None, option("'NAME: {…}'", "One more stream: 'loop: {period: 1 ms, payload: 100 B}'.")
    ] = None,
    trdp: Annotated[
        list[str] | None,
        option("'KEYS'", "A TRDP telegram: 'com-id: 1000, to: 239.1.1.3, period: 100 ms, data-set: 64 B'."),
    ] = None,
    replay: Annotated[Path | None, option("FILE", "A capture's frames, at their own pace.")] = None,
    slower: Annotated[
        int, typer.Option(metavar="TIMES", help="With --replay: slower than captured by this factor.")
    ] = 1,
    duration: Annotated[
        str | None, option("TIME", "Duration; default 10s, or as long as telegrams have a count.", "--for")
    ] = None,
    mac: Annotated[str, typer.Option(metavar="ADDRESS", help="Destination address.")] = "ff:ff:ff:ff:ff:ff",
    udp: Annotated[
        str | None, option("ADDRESS", "Send UDP to this IPv4 address in place of whole frames.")
    ] = None,
    txtime: Annotated[str | None, option("MODE", "Launch times (SO_TXTIME): strict or deadline.")] = None,
    advance: Annotated[
        str | None, option("TIME", "Time before the launch time at which a frame is made: 500us.")
    ] = None,
    hardware: Annotated[bool, typer.Option("--hardware", help="Request hardware timestamps.")] = False,
    cpu: Annotated[int | None, option("NUMBER", "Processor to run on.")] = None,
    priority: Annotated[int, typer.Option(metavar="0..99", help="Under SCHED_FIFO; 0: ordinary.")] = 50,
    into: Annotated[Path | None, option("DIR", "Folder for stage timestamps of every frame.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Counts as JSON on stdout.")] = False,
) -> None:
    """Send streams on an interface, on time; report lateness and refused frames. Needs root."""
    from tsnbench.live import sending

    if not to:
        _wrong("--to: expected an interface")
    if trdp:
        if file or stream or replay or period or payload or frame:
            _wrong("--trdp: telegrams are described by their own keys; leave out what describes frames")
        with user_errors():
            _trdp(to, trdp, duration, as_json)
        return
    duration = duration or "10s"
    if txtime not in (None, "strict", "deadline"):
        _wrong(f"--txtime: expected strict or deadline, found {txtime}")
    if not re.fullmatch(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}", mac):
        _wrong(f"--mac: expected an address as 02:00:00:00:00:01, found {mac}")
    given = {"period": period, "offset": offset, "jitter": jitter, "poisson": poisson}
    given |= {"payload": payload, "frame": frame}
    words = [f"{key}: {value}" for key, value in given.items() if value is not None]
    words += ["saturating: true"] if saturating else []
    words += [f"units: [{burst}]"] if burst else []
    if replay and (words or stream or file):
        _wrong("--replay: sends a capture as it is; leave out what describes streams")
    if file and (words or stream):
        _wrong("a scenario says what its streams are; leave out what describes them")
    with user_errors():
        if replay:
            found = sending.replay(replay, to, slower, cpu, priority)
        else:
            tag = [f"vlan: {vlan or 100}" if vlan or by_device else "vlan: none"]
            tag += [f"pcp: {pcp}"] if pcp is not None else []
            streams = {"stream": ", ".join(words + tag)} if words or not (stream or file) else {}
            asked = sending.Sending(
                to=to, streams=streams | _named(stream or []), duration=duration, mac=mac, udp=udp,
                by_device=by_device, txtime=txtime, advance=advance, hardware=hardware, cpu=cpu,
                priority=priority, into=into,
            )  # fmt: skip
            found = _scenario(file, node, asked) if file else sending.send(asked)
    if as_json:
        print_json(found)
    else:
        _table(found)


def _trdp(to: str, words: list[str], duration: str | None, as_json: bool) -> None:
    from tsnbench.live import trdp
    from tsnbench.live.receiving import read_duration

    duration_ns = None if duration is None else read_duration("--for", duration)
    asked = trdp.sender(to, words, duration_ns)
    endless = [one for one in asked.publish if one["count"] is None]
    if endless and duration_ns is None:
        asked = trdp.sender(to, words, 10_000_000_000)
    show_end_device(trdp.be(asked), as_json)


def show_end_device(found: Result, as_json: bool) -> None:
    """Prints the counters of a TRDP end device."""
    from tsnbench.live.trdp_tables import tables

    if as_json:
        print_json(found)
        return
    for table in tables(found):
        print_table(table)


def _scenario(file: Path, node: str | None, asked: Sending) -> Sent:
    from tsnbench.live import sending

    if node is None:
        _wrong("--node: expected whose streams of the scenario to send")
    made, number, ports = sending.planned(file, node, asked.to)
    return sending.obey(made, number, ports, asked)


def _named(streams: list[str]) -> dict[str, str]:
    """``name: {keys}`` for each stream."""
    found = {}
    for text in streams:
        parts = re.fullmatch(r"\s*([\w.-]+)\s*:\s*\{(.*)\}\s*", text)
        if parts is None:
            _wrong(f"--stream: expected 'name: {{period: 1 ms, payload: 100 B}}', found {text}")
        keys = parts[2] if "vlan" in parts[2] else f"{parts[2]}, vlan: none"
        found[parts[1]] = keys
    return found


def _wrong(text: str) -> NoReturn:
    fail(Exit.INPUT_WRONG, text)


def _table(found: Sent) -> None:
    heads = ("frames", "refused", "late: mean us", "most us", "launch times missed", "invalid")
    table = plain_table("sent", ("stream",), heads)
    for one in found["streams"]:
        table.add_row(
            one["stream"], str(one["frames"]), str(one["refused"]),
            micros(one["late_mean_ns"], 1), micros(one["late_most_ns"], 1),
            str(one["launch_times_missed"]), str(one["launch_times_invalid"]),
        )  # fmt: skip
    print_table(table)
