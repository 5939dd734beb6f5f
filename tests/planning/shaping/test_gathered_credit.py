"""The highest credit beside gates, by hand: what gathers before a window's first frame and behind its last.

While its gate is open, credit of the class rises for 12.336 us, in which a frame of 1542 octets is in the
way, and for 10 us, in which no frame of 1250 octets fits any more. Without gates (EnGINE eq. 5) the highest
credit is what gathers in 12.336 us.
"""

from __future__ import annotations

from typing import Any

import pytest

from tsnbench.planning import PlanningErrors, plan
from tsnbench.scenario import read_scenario

TEXT = """\
name: gathered
duration: 100 ms
network:
  stations: [a, b, c]
  bridges: [s]
  links: {rate: 1 Gbit/s, between: [a-s, c-s, s-b]}
  queues: {classes: {6: 2, 3: 1, 0: 0}}
streams:
  x: {from: a, to: b, class: sr/A, phy: 1250 B, period: 100 us}
  rest: {from: c, to: b, phy: 1542 B, saturating: true}
shapers:
  s -> b:
    cbs: from-streams
    gates: {GATES}
"""


def entries(closed: int) -> str:
    """A cycle of 500 us in which the class is closed for so many us: the slope is 100 Mbit/s * 500 / open."""
    return f"entries: [{{open: [6], for: {closed} us}}, {{open: [3, 0], for: {500 - closed} us}}]"


def credits(gates: str, more: str = "", text: str = TEXT) -> dict[str, int]:
    """Port -> the highest credit of its class 1, in bit."""
    document: Any = plan(read_scenario(text.replace("GATES", gates) + more, "gathered.yaml")[0]).document
    return {
        port["name"]: port["classes"][1]["cbs"]["hi_credit_bits"]
        for port in document["ports"]
        if "cbs" in port["classes"][1]
    }


HIGHER = TEXT.replace("{6: 2, 3: 1, 0: 0}", "{7: 3, 6: 2, 3: 1, 0: 0}").replace(
    "shapers:",
    "  one: {from: c, to: b, pcp: 7, phy: 1250 B, period: 500 us, offset: 190 us, jitter: 5 us}\n"
    "  two: {from: c, to: b, pcp: 7, phy: 500 B, period: 500 us, offset: 480 us}\n"
    "shapers:\n  c -> s: {gates: {HIGHER}}",
)


@pytest.mark.parametrize(
    ("opens", "bits"),
    [
        # `one` of 190 us and `two` of 480 us both wait for 230 us, and come together.
        (230, 14_009),
        # `one` leaves at 190 us, or waits until 500 us as `two` does: more of it may come together.
        (0, 15_215),
    ],
)
def test_a_list_with_a_base_time_is_the_list_turned_by_it(opens: int, bits: int) -> None:
    """What frames above take away follows from when they come: a gate before opens for 200 of 500 us."""
    own = "entries: [{open: [6], for: 200 us}, {open: [7, 3, 0], for: 300 us}]"
    at_0 = "entries: [{open: [7], for: 200 us}, {open: [6, 3, 0], for: 300 us}]"
    at_230 = (
        "entries: [{open: [6, 3, 0], for: 230 us}, {open: [7], for: 200 us}, {open: [6, 3, 0], for: 70 us}]"
    )
    for gates, begins in ((at_0, 0), (at_230, 230)):
        based = f"base-time: {(opens - begins) % 500} us, {gates}"
        assert credits(own, text=HIGHER.replace("HIGHER", based)) == {"s -> b": bits}


AT_A = f"  a -> s: {{cbs: from-streams, gates: {{{entries(100)}}}}}\n"
LOW = TEXT.replace("shapers:", "  low: {from: a, to: b, phy: 1542 B, period: 1 ms}\nshapers:")
HOST = TEXT.replace("stations: [a, b, c]", "stations: [b, c]\n  hosts: [a]")
LATER = {
    # The first list alone has 125 Mbit/s and 2792 bit.
    50: 2_792,
    250: 4_468,
    400: 11_168,
    # 100 Mbit/s * 500 / 70 = 714,285,715 bit/s for 22.336 us: 15,954.3 bit.
    430: 15_955,
    # 909,090,910 bit/s. The window of 55 us is too short for the reservation: credit rises from cycle to
    # cycle, and only what EnGINE gives is known, 11,214.5 bit in 12.336 us.
    445: 11_215,
}
"""By the time for which a second list closes the class, the highest credit of both lists."""
AGAIN = f"{{at: 4 ms, {entries(100)}}}"


@pytest.mark.parametrize(
    ("gates", "more", "text", "found"),
    [
        # 500/480, 5/4, 2 and 5 times 100 Mbit/s, each for 22.336 us: 2326.7 bit, 2792 bit, and so on.
        *(
            (entries(ns), "", TEXT, [bits])
            for ns, bits in ((20, 2_327), (100, 2_792), (250, 4_468), (400, 11_168))
        ),
        # When the cycle begins, faults and the software of hosts are of no account.
        (f"base-time: 7 us, {entries(100)}", "", TEXT, [2_792]),
        (f"base-time: 499999 ns, {entries(100)}", "", TEXT, [2_792]),
        # On a clock the window of 400 us may be longer by 20 ppm, and 40 ppm less of it are certain: 24 ns.
        (entries(100), "clocks: {default: {drift: 20 ppm}}\n", TEXT, [2_795]),
        (entries(100), "clocks: {s: {drift: 20 ppm, offset: 3 us}}\n", TEXT, [2_795]),
        (entries(100), "faults: [{delay: 10 us, on: a -> s, at: 1 ms, for: 1 ms}]\n", TEXT, [2_792]),
        (entries(100), "faults: [{down: s -> b, at: 1 ms, for: 1 ms}]\n", TEXT, [2_792]),
        (entries(100), "hosts: {a: {qdisc: {from: 3 us, to: 100 us}, driver: 1 us}}\n", HOST, [2_792]),
        # Of several lists that with the most credit counts.
        *(
            (f"{entries(100)}, changes: [{{at: 2 ms, {entries(ns)}}}{again}]", "", TEXT, [bits])
            for ns, bits in LATER.items()
            for again in ("", f", {AGAIN}")
        ),
        # Ports have different numbers of lists.
        (f"{entries(100)}, changes: [{{at: 2 ms, {entries(250)}}}]", AT_A, LOW, [2_792, 4_468]),
        # At the talker only 10 us count, in which 1250 bit gather: EnGINE's 1542 bit in 12.336 us are more.
        (entries(250), AT_A, TEXT, [1_542, 4_468]),
        # Credit that runs keeps the slope of 100 Mbit/s: 1233.6 bit in 12.336 us; so does an open class.
        (f"{entries(100)}, credit: runs", "", TEXT, [1_234]),
        ("entries: [{open: [3], for: 100 us}, {open: [3, 0], for: 400 us}]", "", TEXT, [1_234]),
    ],
)
def test_the_highest_credit_beside_gates(gates: str, more: str, text: str, found: list[int]) -> None:
    ports = ["s -> b"] if len(found) == 1 else ["a -> s", "s -> b"]
    assert credits(gates, more, text) == dict(zip(ports, found, strict=True))


ABOVE = TEXT.replace("{6: 2, 3: 1, 0: 0}", "{7: 3, 6: 2, 3: 1, 0: 0}").replace("    gates: {GATES}\n", "")
ONE = "streams:\n  above: {from: c, to: b, pcp: 7, phy: 1250 B, period: 500 us}"


@pytest.mark.parametrize(
    ("text", "more", "bits"),
    [
        # 100 Mbit/s for one lower frame of 1542 octets, 12.336 us; and for one of 1250 octets above, 10 us.
        (ABOVE, "", 1_234),
        (ABOVE.replace("streams:", ONE), "", 2_234),
        # It has another port, or a shaper: 100 Mbit/s * (12.336 us + 10 us + 246.72 bit / 980 Mbit/s).
        (ABOVE.replace("streams:", ONE.replace("to: b", "to: a")), "", 1_234),
        (ABOVE.replace("streams:", ONE).replace("from-streams", "{7: 20 Mbit/s, 3: 100 Mbit/s}"), "", 2_259),
        # A given credit stays.
        (
            ABOVE.replace("streams:", ONE).replace(
                "from-streams", "{3: {idle-slope: 100 Mbit/s, hi-credit: 1300 bit}}"
            ),
            "",
            1_300,
        ),
        # Sync of 84 octets, Follow_Up of 114, three messages of 92 for the delay: 379.2 bit in 37.92 us.
        (ABOVE, "clocks: {within: 1 us, gptp: {grandmaster: s, pcp: 7}}\n", 1_613),
    ],
)
def test_the_highest_credit_below_a_class_without_a_shaper(text: str, more: str, bits: int) -> None:
    assert credits("", more, text)["s -> b"] == bits


def test_the_kernels_shaper_keeps_as_much_credit() -> None:
    """2234 bit are 280 octets, rounded up; gates are of no account to it."""
    (scenario,) = read_scenario(ABOVE.replace("streams:", ONE), "gathered.yaml")
    (port,) = (port for port in plan(scenario).document["ports"] if port["name"] == "s -> b")
    assert port["classes"][1]["cbs"]["linux"]["hicredit"] == 280


def test_a_plan_that_contradicts_itself_is_refused_at_its_own_place() -> None:
    (scenario,) = read_scenario(TEXT.replace("GATES", entries(100)), "gathered.yaml")
    with pytest.raises(PlanningErrors, match="a plan that can be obeyed, found 9223372036854775808 ns"):
        plan(scenario.model_copy(update={"duration": 1 << 63}))
