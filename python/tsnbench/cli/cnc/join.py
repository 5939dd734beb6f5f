"""``tsnbench join``: a host that asks a CNC for its streams, sends and receives them, and leaves."""

from __future__ import annotations

import os
import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from tsnbench import foreign
from tsnbench.cli.cnc.asking import At, Authority, read_streams, service_at, tell_decision
from tsnbench.cli.console.options import argument, flag, given_ns, json_of, option
from tsnbench.cli.console.output import Exit, print_json, print_line, print_message, user_errors
from tsnbench.cli.console.signals import heed_interrupts
from tsnbench.cli.live.receive import print_received
from tsnbench.cli.live.send import print_sent
from tsnbench.cnc.joining.join import Asked, Ended, Join
from tsnbench.cnc.joining.station import streams_of
from tsnbench.errors import InputError, InterfaceError
from tsnbench.hosts.remote.reach import Here, Reach, reach
from tsnbench.scenario.units import LENGTH_OF_RUN

File = Annotated[
    Path | None, argument("FILE", "Streams by name, as in a scenario (YAML or JSON); - is stdin.")
]
Node = Annotated[str, option("NODE", "The end station that this host is; required.", "--node")]
Interface = Annotated[str, option("INTERFACE", "Its interface; required.", "--interface")]
More = Annotated[
    list[str] | None,
    option("'NAME: {…}'", "One more stream: 'video: {to: ctl, period: 1 ms, payload: 100 B}'."),
]
Target = Annotated[
    str | None, option("HOST", "Another host: user@host for ssh, or netns://NAME of this machine.", "--host")
]
Time = Annotated[str | None, option("TIME", "Leave after this time: 10s; default: at Ctrl-C.", "--for")]


def join(
    file: File = None,
    node: Node = "",
    interface: Interface = "",
    stream: More = None,
    duration: Time = None,
    dry_run: Annotated[bool, flag("--dry-run", "Print what would be asked and set; change nothing.")] = False,
    host: Target = None,
    at: At = None,
    authority: Authority = None,
    as_json: Annotated[bool, json_of("Counts")] = False,
) -> None:
    """Ask a CNC for this host's streams, and send or receive them.

    This goes on until Ctrl-C, and needs root. The streams are asked for all at once. When they are admitted,
    the interface gets the queueing disciplines of its port, and the talkers begin at their times. A host that
    is a listener of streams counts their frames. At the end the streams are removed, and the host is as it
    was.
    """
    with user_errors():
        if not node or not interface:
            raise InputError(f"--{'interface' if node else 'node'}: expected one, found none")
        for_ns = given_ns("--for", duration, LENGTH_OF_RUN)
        written = dict(read_streams(file)) if file is not None else {}
        for text in stream or ():
            written |= foreign.parse_yaml("--stream", text)
        asked = Asked(node, interface, streams_of(node, written))
        joined = Join(service_at(at, authority), asked, reach(host) if host else _here(interface))
        if dry_run:
            for line in joined.preview():
                print_line(line)
            return
        heed_interrupts()
        ended = Ended()
        try:
            _stay(joined, for_ns)
        finally:
            ended = joined.leave()
            _tell(ended, as_json)
        if ended.left_behind:
            raise typer.Exit(Exit.BACKEND_FAILED)


def _here(interface: str) -> Reach:
    """This machine; an interface is taken by one process at a time, in each network namespace."""
    if not re.fullmatch(r"[\w.-]{1,15}", interface):
        raise InterfaceError(f"--interface: expected an interface, found {foreign.shown(interface)}")
    return Here(f"-join-{interface}-{os.stat('/proc/self/ns/net').st_ino}")


def _stay(joined: Join, for_ns: int | None) -> None:
    joined.open()
    answer = joined.ask()
    if joined.asked.streams:
        tell_decision(answer, as_json=False, tell=print_message)
    for note in joined.start():
        print_message(f"note: {note}")
    print_message(f"{joined.asked.node}: joined")
    joined.stay(for_ns)


def _tell(ended: Ended, as_json: bool) -> None:
    for line in ended.late:
        print_message(f"warning: {line}")
    for line in ended.left_behind:
        print_message(f"not as before: {line}")
    if as_json:
        print_json("joined", asdict(ended))
        return
    if ended.sent:
        print_sent(ended.sent)
    if ended.received:
        print_received(ended.received)
