"""The delay of a hop, and wires of several rates."""

from __future__ import annotations

from twin.arithmetic import alone_us
from twin.case import Case, Quantity
from twin.sightings import delay

HOPS = Case(
    "hops",
    tuple(
        Quantity(
            f"over {bridges} bridge{'s' if bridges > 1 else ''}: median",
            "us",
            lambda plan, name=f"over{bridges}": alone_us(plan, name),  # type: ignore[misc]
            delay(f"over{bridges}", "median"),
            above=1.5 * (bridges + 1),
            why=f"{bridges + 1} hops of a kernel, up to 1.5 us each in the Plan's time",
        )
        for bridges in range(1, 7)
    ),
    "A hop takes some us of the guest's one processor (reception, bridge, qdiscs), which is a tenth of "
    "this in the Plan's time. This time is the same for every hop: with each hop a delay grows by a "
    "constant and by the frame's time on the wire.",
    short=True,
)

RATES = Case(
    "link-rates",
    tuple(
        Quantity(
            f"{words}: median",
            "us",
            lambda plan, name=name: alone_us(plan, name),  # type: ignore[misc]
            delay(name, "median"),
            above=3.0,
            why="two hops of a kernel, up to 1.5 us each",
        )
        for name, words in (
            ("up", "10 Mbit/s to 1 Gbit/s, 200 m"),
            ("between", "100 Mbit/s to 1 Gbit/s"),
            ("down", "1 Gbit/s to 10 Mbit/s"),
        )
    ),
    "The guest's device serialises frames at the port's rate, with preamble, check sequence and gap, and "
    "adds the delay of the cable. On veth netem does this. This case showed that netem counted 4 octets "
    "too few for every tagged frame, because the kernel keeps the tag beside the frame. At 10 Mbit/s "
    "these are 3.2 us.",
    short=True,
)

CASES = (HOPS, RATES)
