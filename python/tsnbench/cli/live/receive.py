"""``tsnbench receive``: what arrives at an interface of talkers' frames."""

from __future__ import annotations

from typing import Annotated

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
    size_octets,
)
from tsnbench.cli.console.output import print_json, print_message, print_table, user_errors
from tsnbench.cli.live.end_device import print_end_device
from tsnbench.live.receiving import Received, Receiving
from tsnbench.live.receiving import receive as listen
from tsnbench.live.trdp import be, receiver
from tsnbench.quantities import micros
from tsnbench.scenario.units import LENGTH_OF_RUN
from tsnbench.sheet import plain_table


def receive(
    interface: Annotated[str, argument("INTERFACE", "The interface.")],
    duration: Annotated[str | None, option("TIME", "Duration: 10s; default: until Ctrl-C.")] = None,
    frames: Annotated[int | None, option("NUMBER", "End after this number of frames.")] = None,
    ring: Annotated[str, setting("SIZE", "Memory for frames not yet read: 8MB.")] = "64MB",
    wake: Annotated[bool, flag("--wake", "Wake up for each frame, as an ordinary program; no ring.")] = False,
    hardware: Hardware = False,
    cpu: Processor = None,
    priority: Priority = 40,
    into: StageFolder = None,
    trdp: Annotated[
        list[str] | None,
        option("'KEYS'", "A TRDP subscription: 'com-id: 1000, group: 239.1.1.3, time-out: 100 ms'."),
    ] = None,
    as_json: Annotated[bool, json_of("Counts")] = False,
) -> None:
    """Count received frames per stream. Needs root.

    Lost, duplicate and reordered frames are counted, and delays measured.
    """

    def ready() -> None:
        print_message(f"{interface}: listening")

    if trdp:
        with user_errors():
            device = receiver(interface, trdp, given_ns("--duration", duration, LENGTH_OF_RUN))
            print_end_device(be(device, ready), as_json)
        return
    with user_errors():
        asked = Receiving(
            on=interface,
            duration_ns=given_ns("--duration", duration, LENGTH_OF_RUN),
            frames=frames,
            ring_octets=size_octets("--ring", ring),
            wake=wake,
            hardware=hardware,
            cpu=cpu,
            priority=priority,
            into=into,
        )
        found = listen(asked, ready)
    missing = sum(one["lost"] for one in found["streams"])
    for one in found["interfaces"]:
        if own := one["dropped_by_listener"]:
            least = max(0, missing - own)
            print_message(
                f"warning: {one['name']}: the listener itself lost {own} frames, which had no room in its "
                f"ring; of {missing} lost frames, the network lost at least {least}"
            )
    if as_json:
        print_json("received", found)
    else:
        print_received(found)


def print_received(found: Received) -> None:
    """Prints the counts of a listener."""
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
        if one["restarts"]:
            again = "once" if one["restarts"] == 1 else f"{one['restarts']} times"
            print_message(f"stream {one['stream']}: its talker began again {again}")
        if one.get("delay_missing"):
            print_message(f"stream {one['stream']}: no delay: {one['delay_missing']}")
