"""What a hop takes, and wires of several rates."""

from __future__ import annotations

from twin_arithmetic import alone_us
from twin_case import Case, Quantity
from twin_sightings import delay

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
    "A hop costs the guest's one processor 10 to 15 us (captures, bridge, qdiscs, the wire's netem), a "
    "tenth of that in "
    "the Plan's time. It is the same for every hop, so a delay grows by a constant beside the frame's "
    "time on the wire.",
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
    "netem serialises each direction at the link's rate, preamble and check sequence included, and delays "
    "it by the cable.",
)

CASES = (HOPS, RATES)
