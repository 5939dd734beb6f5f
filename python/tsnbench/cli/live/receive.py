"""``tsnbench receive``: what arrives at an interface of talkers' frames."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tsnbench.cli.console.options import argument, option
from tsnbench.cli.console.output import print_json, print_message, print_table, user_errors
from tsnbench.quantities import micros
from tsnbench.sheet import plain_table

if TYPE_CHECKING:
    from tsnbench.live.receiving import Received


def receive(
    interface: Annotated[str, argument("INTERFACE", "The interface.")],
    duration: Annotated[str | None, option("TIME", "Duration: 10s; default: until Ctrl-C.", "--for")] = None,
    frames: Annotated[int | None, option("NUMBER", "End after this number of frames.")] = None,
    ring: Annotated[str, typer.Option(metavar="SIZE", help="Memory for frames not yet read: 8MB.")] = "64MB",
    wake: Annotated[
        bool, typer.Option("--wake", help="Wake up for each frame, as an ordinary program; no ring.")
    ] = False,
    hardware: Annotated[bool, typer.Option("--hardware", help="Request hardware timestamps.")] = False,
    cpu: Annotated[int | None, option("NUMBER", "Processor to run on.")] = None,
    priority: Annotated[int, typer.Option(metavar="0..99", help="Under SCHED_FIFO; 0: ordinary.")] = 40,
    into: Annotated[Path | None, option("DIR", "Folder for stage timestamps of every frame.")] = None,
    trdp: Annotated[
        list[str] | None,
        option("'KEYS'", "A TRDP subscription: 'com-id: 1000, group: 239.1.1.3, time-out: 100 ms'."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Counts as JSON on stdout.")] = False,
) -> None:
    """Count received frames per stream: lost, duplicate, out of order, delay. Needs root."""
    from tsnbench.live.receiving import Receiving, read_duration, read_size
    from tsnbench.live.receiving import receive as listen

    if trdp:
        from tsnbench.cli.live.send import show_end_device
        from tsnbench.live.trdp import be, receiver

        with user_errors():
            duration_ns = None if duration is None else read_duration("--for", duration)
            show_end_device(be(receiver(interface, trdp, duration_ns)), as_json)
        return
    with user_errors():
        asked = Receiving(
            on=interface,
            duration_ns=None if duration is None else read_duration("--for", duration),
            frames=frames,
            ring_octets=read_size("--ring", ring),
            wake=wake,
            hardware=hardware,
            cpu=cpu,
            priority=priority,
            into=into,
        )
        found = listen(asked)
    for one in found["interfaces"]:
        if one["dropped_by_listener"]:
            print_message(
                f"warning: {one['name']}: the listener itself lost {one['dropped_by_listener']} frames, "
                "which had no room; lost frames below are not the network's alone"
            )
    if as_json:
        print_json(found)
    else:
        _table(found)


def _table(found: Received) -> None:
    others = f"; {found['foreign']} frames of others" if found["foreign"] else ""
    counts = ("frames", "lost", "duplicate", "reordered")
    table = plain_table(f"received{others}", ("stream",), (*counts, "delay: min us", "mean us", "max us"))
    for one in found["streams"]:
        delay = one["delay_ns"]
        shown = ["-"] * 3 if delay is None else [micros(delay[key], 1) for key in ("least", "mean", "most")]
        numbers = [str(one[key]) for key in ("frames", "lost", "duplicates", "reordered")]
        table.add_row(str(one["stream"]), *numbers, *shown)
    print_table(table)
    for one in found["streams"]:
        if one.get("delay_missing"):
            print_message(f"stream {one['stream']}: no delay: {one['delay_missing']}")
