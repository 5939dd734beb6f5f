"""What a hop takes, and wires of several rates."""

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
    "A hop costs the guest's one processor some us (reception, bridge, qdiscs), a tenth of that in the "
    "Plan's time. It is the same for every hop, so a delay grows by a constant beside the frame's time on "
    "the wire.",
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
    "The guest's device serialises at the port's rate, preamble, check sequence and gap included, and "
    "delays by the cable; on veth netem does. It took this case to see that netem counted 4 octets too "
    "few of every tagged frame, because the kernel carries the tag beside it: at 10 Mbit/s that is 3.2 us.",
    short=True,
)

CASES = (HOPS, RATES)
