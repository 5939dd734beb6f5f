"""The bandwidth that planned gates leave to others, worked out by hand.

At 100 Mbit/s the largest frame of others, 125 octets on the wire, takes 10 us, the loss before a window.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from support.planned import document_of, plan_of, problems_of
from tsnbench.planning.draft import Gates, Port
from tsnbench.planning.scheduling import reserved_bandwidth
from tsnbench.planning.scheduling.reserved_bandwidth import left_to_others
from tsnbench.scenario import read_scenario

OPEN, REST, SHUT = 0b1000_0000, 0b0111_1111, 0
LISTS: dict[str, tuple[list[tuple[int, int]], Fraction | int, int]] = {
    # 90 us of each 100 us.
    "one window": ([(OPEN, 100), (REST, 100)], 45_000_000, 1),
    # 390 us and 190 us of 1 ms.
    "two windows": ([(OPEN, 100), (REST, 400), (OPEN, 300), (REST, 200)], 58_000_000, 2),
    # 790 us of 1 ms: a guard and its window are one, at the end and the beginning of the list, too.
    "a guard": ([(REST, 800), (SHUT, 50), (OPEN, 150)], 79_000_000, 1),
    "a guard at the end": ([(OPEN, 150), (REST, 800), (SHUT, 50)], 79_000_000, 1),
    "a window over the end": ([(OPEN, 50), (REST, 800), (OPEN, 150)], 79_000_000, 1),
    "two guards": ([(SHUT, 5), (OPEN, 95), (REST, 400), (SHUT, 5), (OPEN, 95), (REST, 400)], 78_000_000, 2),
    # In a gap of 8 us no largest frame is sent, and in one of 10 us neither.
    "small gaps": ([(OPEN, 100), (REST, 8), (OPEN, 82), (REST, 10), (OPEN, 100), (REST, 700)], 69_000_000, 3),
    "a gap of less than a frame": ([(OPEN, 92), (REST, 8)], 0, 1),
    "no gap": ([(OPEN, 100), (SHUT, 100)], 0, 1),
    "a third": ([(OPEN, 190), (REST, 110)], Fraction(100_000_000, 3), 1),
}


@pytest.mark.parametrize("case", LISTS)
def test_the_gaps_of_a_list(case: str) -> None:
    entries, left, windows = LISTS[case]
    port = Port(0, "a -> b", 0, 1, 1, 1, 100_000_000, 0)
    gates = Gates(0, tuple((mask, us * 1_000) for mask, us in entries))
    assert left_to_others(port, gates, {7}, 125) == (left, windows)
    # The window of one class, or of two together.
    two = Gates(0, tuple((mask >> 1 if mask == REST else mask, us * 1_000) for mask, us in entries))
    assert left_to_others(port, two, {7, 6}, 125) == (left, windows)


TEXT = """\
name: keep
duration: 10 ms
network:
  bridges: [s]
  stations: [a, b, c]
  links: {rate: 100 Mbit/s, between: [c-s, a-s, s-b]}
schedule: {keep: KEEP, engine: heuristic}
streams:
  loop: {from: a, to: b, pcp: 7, period: 500 us, frame: 500 B, scheduled: true, offset: 10 us}
  more: {from: a, to: b, pcp: 7, period: 500 us, frame: 500 B, scheduled: true, offset: 210 us}
  rest: {from: c, to: b, pcp: 0, saturating: true, frame: 1000 B}
"""


def refused(keep: str, text: str = TEXT) -> list[tuple[str, str]]:
    """What is expected and found for each port."""
    scenario = read_scenario(text.replace("KEEP", keep))[0]
    problems = problems_of(scenario)
    assert {problem.path for problem in problems} == {"schedule.keep"}
    assert {problem.hint for problem in problems} == {reserved_bandwidth.HINT}
    return [(problem.expected, problem.found) for problem in problems]


def kept(keep: str, text: str = TEXT) -> bool:
    return bool(document_of(text.replace("KEEP", keep)))


AT_A = "33.632 Mbit/s (33.6 %) beside 2 windows a cycle"
AT_S = "50.336 Mbit/s (50.3 %) beside 2 windows a cycle"


def test_a_share_of_every_link_with_windows() -> None:
    """Each window is open for one frame with its gap, and the gap before it: 42.56 us.

    Of 500 us, `a -> s` and `s -> b` have 414.88 us left, in two gaps. At `s -> b`, 81.6 us are lost before
    each window, for a frame of 1000 B, 8 B ahead of it and the gap: 251.68 us are left. At `a -> s` there is
    no other frame, so the largest one that there may be counts, 1542 B: 168.16 us. `c -> s` has no windows.
    """
    at_a, at_s = "60 Mbit/s left to others at a -> s", "60 Mbit/s left to others at s -> b"
    assert refused("60 %") == [(at_a, AT_A), (at_s, AT_S)]
    assert refused("50.336 %") == [("50.336 Mbit/s left to others at a -> s", AT_A)]
    assert kept("33.632 %")
    assert refused("33.633 %") == [("33.633 Mbit/s left to others at a -> s", AT_A)]


def test_rates_count_where_their_streams_pass() -> None:
    """Nobody has PCP 3, and nobody has PCP 0 at `a -> s`."""
    assert refused("{0: 60 Mbit/s, 3: 90 Mbit/s}") == [("60 Mbit/s left to others at s -> b", AT_S)]
    assert kept("{0: 50336 kbit/s}")
    assert kept("{3: 90 Mbit/s}")
    # Windows every 100 us leave gaps of 57.44 us. At `a -> s` no frame of 1542 B fits into them; nobody asks.
    small = TEXT.replace("500 us", "100 us").replace("  more", "  # more").replace("1000 B", "500 B")
    assert kept("{3: 90 Mbit/s}", small)
    more = TEXT + "  slow: {from: c, to: b, pcp: 3, period: 1 ms, frame: 500 B}\n"
    both = [("60 Mbit/s left to others at s -> b", AT_S)]
    assert refused("{0: 40 Mbit/s, 3: 20 Mbit/s}", more) == both
    # A larger frame than that of `rest`: 1200 B and 20 B are 97.6 us, twice.
    larger = more.replace("frame: 500 B}\n", "frame: 1200 B}\n").replace(
        "frame: 1200 B, sch", "frame: 500 B, sch"
    )
    found = "43.936 Mbit/s (43.9 %) beside 2 windows a cycle"
    assert refused("{3: 45 Mbit/s}", larger) == [("45 Mbit/s left to others at s -> b", found)]


def test_one_window() -> None:
    """One frame in 500 us: 457.44 us are left, less 81.6 us at `s -> b` and 123.36 us at `a -> s`."""
    one = "".join(line for line in TEXT.splitlines(keepends=True) if "more:" not in line)
    assert refused("80 %", one) == [
        ("80 Mbit/s left to others at a -> s", "66.816 Mbit/s (66.8 %) beside 1 window a cycle"),
        ("80 Mbit/s left to others at s -> b", "75.168 Mbit/s (75.2 %) beside 1 window a cycle"),
    ]


def test_nothing_is_kept_without_being_asked_for() -> None:
    assert kept("0 %")
    plan_of(TEXT.replace("keep: KEEP, ", ""))
