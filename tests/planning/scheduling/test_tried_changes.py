"""The changes that are tried for a hint: their words, and what each of them changes in the problem."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from math import inf
from typing import Any

import pytest

from support.planned import drafted
from tsnbench.planning.scheduling import hints as module
from tsnbench.planning.scheduling.exact.budget import Answer
from tsnbench.planning.scheduling.exact.engine import Outcome
from tsnbench.planning.scheduling.hints import Change, Hints, streams_of
from tsnbench.planning.scheduling.problem import Problem, Share
from tsnbench.planning.scheduling.queues import queues_of
from tsnbench.planning.scheduling.schedule import _problem

HEAD = """\
name: tried
duration: 10 ms
network:
  stations: [a, b, c]
  bridges: [s]
  links:
    - {rate: 100 Mbit/s, between: [a -- s, s -- c]}
    - {rate: 1 Gbit/s, between: [b -- s]}
  queues: {classes: {7: 3, 6: 3, 5: 2, 4: 1, 3: 0, 2: 0, 1: 0, 0: 0}}
"""
TEXT = f"""{HEAD}streams:
  x: {{from: a, to: c, pcp: 7, period: 1 ms, frame: 1000 B, count: 2, scheduled: true, offset: 300 us,
      start: 900 us}}
  y: {{from: b, to: c, pcp: 7, period: 1500 us, frame: 1000 B, scheduled: true,
      release: {{earliest: 400 us, latest: 1099999 ns}}}}
  z: {{from: a, to: c, pcp: 7, period: 2 ms, frame: 1000 B, scheduled: true, requires: {{delay: 1 ms}}}}
  rest: {{from: a, to: c, pcp: 5, frame: 1000 B, saturating: true}}
"""
PORTS = ["a -> s", "s -> a", "s -> c", "c -> s", "b -> s", "s -> b"]


def hints_of(text: str, left: int = 40) -> Hints:
    draft = drafted(text)
    flows = [flow for flow in draft.flows if flow.stream.scheduled]
    queues = queues_of(draft, flows)
    return Hints(draft, flows, queues, _problem(draft, flows, queues), left)


def differences(before: Any, after: Any, path: str = "") -> dict[str, Any]:
    """The values of a problem that have changed, each with its path: `streams.0.period_ns`."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = dict.fromkeys([*before, *after])
        pairs = [(key, before.get(key), after.get(key)) for key in keys]
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = [
            (str(place), one, other) for place, (one, other) in enumerate(zip(before, after, strict=True))
        ]
    else:
        return {} if before == after else {path: after}
    found: dict[str, Any] = {}
    for key, one, other in pairs:
        found |= differences(one, other, f"{path}.{key}" if path else key)
    return found


def tried(text: str, reason: Any) -> list[tuple[str, str, dict[str, Any]]]:
    """Each change that is tried for a reason: its words, its group and its effect."""
    hints = hints_of(text)
    before = deepcopy(hints.problem)
    found = []
    for change in hints._changes(reason, streams_of(reason)):
        after = deepcopy(hints.problem)
        change.make(after)
        found.append((change.words, change.more, differences(before, after)))
    assert hints.problem == before
    return found


def of_streams(values: Mapping[str, int | None], *numbers: int) -> dict[str, int | None]:
    return {f"streams.{number}.{key}": value for number in numbers for key, value in values.items()}


def rates(words: str, *links: int, above: int = 100) -> list[tuple[str, str, dict[str, int]]]:
    """All faster links: from 100 Mbit/s on, unless told otherwise."""
    named = [(1, "Gbit/s", 1_000), (2_500, "Mbit/s", 2_500), (5, "Gbit/s", 5_000), (10, "Gbit/s", 10_000)]
    named += [(25, "Gbit/s", 25_000), (40, "Gbit/s", 40_000), (100, "Gbit/s", 100_000)]
    return [
        (
            f"{number} {unit} on {words}",
            "rate",
            {f"links.{link}.rate_bps": mega * 10**6 for link in links},
        )
        for number, unit, mega in named
        if mega > above
    ]


SLOW = rates("a -- s, s -- c", 0, 1, 2, 3)
"""The slowest links of a path, both directions of each."""


def test_a_later_deadline_and_faster_links() -> None:
    """The deadline of the whole stream, with all of its flows; 80.001 ns are 81 whole ones."""
    reason = {"kind": "deadline", "stream": 1, "smallest_ps": 80_001}
    assert tried(TEXT, reason) == [
        ("streams.x.requires.delay: 81 ns", "", of_streams({"deadline_ns": 81}, 0, 1)),
        *SLOW,
    ]
    reason = {"kind": "deadline", "stream": 3, "smallest_ps": 5_000_000}
    assert tried(TEXT, reason)[0] == ("streams.z.requires.delay: 5 us", "", {"streams.3.deadline_ns": 5_000})


def test_a_higher_limit_of_jitter() -> None:
    """1001 ps of paths and 1 us of clocks are 1001.001 ns."""
    reason = {"kind": "jitter", "stream": 0, "spread_ps": 1_001, "margins_ps": 1_000_000}
    limit = of_streams({"jitter_ns": 1_002}, 0, 1)
    assert tried(TEXT, reason) == [("streams.x.requires.jitter: 1002 ns", "", limit)]


def test_a_period_for_all_frames() -> None:
    """121.6005 us, up to a multiple of 10 ns. A later release stays, as does a written limit of delay."""
    grid = TEXT.replace("streams:", "schedule: {granularity: 10 ns}\nstreams:").replace("1099999 ns", "1 ms")
    reason = {"kind": "period", "stream": 3, "link": 4, "needs_ps": 2_121_600_500}
    longer = {"streams.3.period_ns": 2_121_610, "streams.3.latest_ns": 2_121_609}
    on_link = rates("b -- s", 4, 5, above=1_000)
    assert tried(grid, reason) == [("streams.z.period: 2121610 ns", "", longer), *on_link]
    # Without a limit of delay, the period is the deadline; 900 us and 300 us are an offset of 1.2 ms now.
    moved = {"period_ns": 2_000_000, "deadline_ns": 2_000_000, "earliest_ns": 1_200_000}
    moved["latest_ns"] = 1_200_000
    (first, *_) = tried(grid, {**reason, "stream": 0, "needs_ps": 2_000_000_000})
    assert first == ("streams.x.period: 2 ms", "", of_streams(moved, 0, 1))
    # A window of releases stays as it is written.
    (first, *_) = tried(TEXT, {**reason, "stream": 2, "needs_ps": 2_000_000_000})
    own = {"period_ns": 2_000_000, "deadline_ns": 2_000_000}
    assert first == ("streams.y.period: 2 ms", "", of_streams(own, 2))


def ns(value: int) -> str:
    """As a hint writes a time."""
    return f"{value // 1_000_000} ms" if value % 1_000_000 == 0 else f"{value // 1_000} us"


def words_of(text: str, reason: Any) -> list[str]:
    return [words for words, more, _ in tried(text, reason) if more != "rate"]


@pytest.mark.parametrize("kind", ["pair", "together", "link", "gates"])
def test_periods_with_larger_common_divisors(kind: str) -> None:
    """First multiples of 1 ms, then of 1.5 ms; then the least common multiple with another period."""
    names = "x.period: 3 ms, x.period: 2 ms, y.period: 3 ms, y.period: 6 ms, z.period: 6 ms"
    expected = ["streams.y.period: 2 ms", "streams.z.period: 3 ms"]
    expected += [f"streams.{one}" for one in names.split(", ")]
    link = {"link": 0, "refusal": {"kind": "entries"}} if kind in ("link", "gates") else {}
    assert words_of(TEXT, {"kind": kind, "streams": [0, 2, 3], **link}) == expected
    # A faster link: that of the reason, or the slowest ones of the paths; none for too many entries of gates.
    (*_, last) = tried(TEXT, {"kind": kind, "streams": [0, 2, 3], **link})
    faster = {"gates": ("streams.z.period: 6 ms", ""), "link": ("100 Gbit/s on a -- s", "rate")}
    assert last[:2] == faster.get(kind, ("100 Gbit/s on a -- s, s -- c", "rate"))
    # Without names of streams, all are meant.
    assert words_of(TEXT, {"kind": kind, **link}) == expected
    # Shares of a link name streams, too.
    shares = [{"stream": number, "ppm": 1} for number in (3, 1)]
    assert words_of(TEXT, {"kind": kind, "streams": shares, **link}) == ["streams.x.period: 2 ms"]


def test_two_periods_at_once() -> None:
    text = TEXT.replace("period: 2 ms", "period: 2500 us")
    both = {
        "streams.2.period_ns": 2_000_000,
        "streams.2.deadline_ns": 2_000_000,
        "streams.3.period_ns": 3_000_000,
        "streams.3.latest_ns": 2_999_999,
    }
    found = tried(text, {"kind": "together", "streams": [0, 2, 3]})
    assert found[0] == ("streams.y.period: 2 ms and streams.z.period: 3 ms", "", both)
    # Too many entries of gates do not become fewer on a faster link.
    assert [more for _, more, _ in tried(text, {"kind": "gates"})] == [""] * 8


QUEUES = {f"links.{link}.queues": 2 for link in range(6)}


@pytest.mark.parametrize("kind", ["conflict", "impossible", "without"])
def test_another_queue_and_other_releases(kind: str) -> None:
    """PCP 6 has the class of 7, and PCP 5 is that of `rest`. `x` and `y` have their periods as deadlines."""
    queue = ("schedule.pcps: [7, 4]", "", {**QUEUES, **of_streams({"queue": None}, 0, 1, 2, 3)})
    free_x = of_streams({"earliest_ns": 0, "latest_ns": 999_999}, 0, 1)
    free_y = of_streams({"earliest_ns": 0, "latest_ns": 1_499_999}, 2)
    expected: list[Any] = [
        queue,
        ("streams.x.offset left out", "release", free_x),
        ("streams.y.release left out", "release", free_y),
        ("streams.x.offset and streams.y.release left out", "release", {**free_x, **free_y}),
    ]
    if kind != "without":
        expected += SLOW
    found = tried(TEXT, {"kind": kind, "stream": 2, "streams": [0, 1, 2]})
    assert found == expected
    # The one alone; its way begins with a faster link.
    found = tried(TEXT, {"kind": kind, "stream": 2, "streams": [2]})
    assert found[:2] == [queue, ("streams.y.release left out", "release", free_y)]
    assert found[2:] == ([] if kind == "without" else rates("s -- c", 2, 3))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        # The queues that are offered stay in their order, and the new one is the last one.
        (("streams:", "schedule: {pcps: [4, 7]}\nstreams:"), "schedule.pcps: [4, 7, 3]"),
        (("x: {from: a, to: c, pcp: 7", "x: {from: a, to: c, pcp: 4"), "schedule.pcps: [7, 4, 3]"),
        # A frame without a VLAN has no PCP.
        (("x: {from: a, to: c, pcp: 7", "x: {from: a, to: c, vlan: none"), None),
        # All classes but the lowest one are taken, and in it there is `rest`.
        (("{7: 3, 6: 3, 5: 2, 4: 1, 3: 0", "{7: 3, 6: 3, 5: 0, 4: 3, 3: 3"), None),
        (("pcp: 5, frame", "pcp: 0, frame"), "schedule.pcps: [7, 5]"),
        # A class of its own for PCP 1, and not for PCP 0.
        (("4: 1, 3: 0, 2: 0, 1: 0, 0: 0}", "4: 2, 3: 2, 2: 2, 1: 1, 0: 0}"), "schedule.pcps: [7, 1]"),
        (("4: 1, 3: 0, 2: 0, 1: 0, 0: 0}", "4: 2, 3: 2, 2: 2, 1: 2, 0: 0}"), None),
        (("4: 1, 3: 0, 2: 0, 1: 0, 0: 0}", "4: 2, 3: 2, 2: 1, 1: 0, 0: 0}"), "schedule.pcps: [7, 2]"),
    ],
)  # fmt: skip
def test_the_pcp_of_another_queue(change: tuple[str, str], words: str | None) -> None:
    found = words_of(TEXT.replace(*change), {"kind": "without", "streams": [3]})
    assert found == ([words] if words else [])


def periods(*us: int) -> str:
    """Streams `s1`, `s2` and so on with these periods."""
    lines = [
        f"  s{n}: {{from: a, to: c, pcp: 7, period: {period} us, frame: 100 B, scheduled: true}}\n"
        for n, period in enumerate(us, 1)
    ]
    return f"{HEAD}streams:\n{''.join(lines)}"


@pytest.mark.parametrize(
    ("us", "tried_us"),
    [
        # 10 and 11 have 110, ten times 11; 11 and 12 have 132, eleven times 12.
        ((1_000, 1_100), [(2, 2_000), (1, 11_000), (2, 11_000)]),
        ((1_200, 1_100), [(1, 2_200)]),
        # 700 us become 800 us as a multiple of 200 us, and as one of 400 us; 400 us stay what they are. No
        # period is tried twice.
        ((200, 400, 700), [(3, 800), (1, 400), (1, 1_400), (2, 2_800), (3, 1_400), (3, 2_800)]),
        # Up to twelve streams: of these only the last one has another period.
        ((1_000,) * 12 + (2_000,), []),
        ((1_000,) * 11 + (2_000,), [(number, 2_000) for number in range(1, 12)]),
    ],
)
def test_periods_that_are_tried(us: tuple[int, ...], tried_us: list[tuple[int, int]]) -> None:
    found = words_of(periods(*us), {"kind": "together"})
    assert found == [f"streams.s{number}.period: {ns(period * 1_000)}" for number, period in tried_us]


TWO = """\
name: two
duration: 10 ms
network: {stations: [a, b, c], bridges: [s], links: {rate: 100 Mbit/s, between: [a -- s, b -- s, s -- c]}}
streams:
  x: {from: a, to: c, pcp: 7, period: 1 ms, frame: 1000 B, scheduled: true, offset: 10 us}
  y: {from: b, to: c, pcp: 7, period: 1 ms, frame: 1000 B, scheduled: true, offset: 20 us,
      requires: {delay: 200 us}}
"""


def test_the_least_deadline_that_helps() -> None:
    """1000 B take 80.64 us on each link. `y` comes to the last one 10 us after `x`, and waits behind it.

    `x` is sent there from 90.64 us to 171.28 us; after the gap of 0.96 us follows `y`, until 252.88 us.
    """
    reason = {"kind": "without", "streams": [0, 1]}
    (*_, last) = tried(TWO, reason)
    assert last == ("streams.y.requires.delay: 232880 ns", "", {"streams.1.deadline_ns": 232_880})
    # Clocks that differ by 1 us.
    (*_, last) = tried(TWO.replace("streams:", "schedule: {margin: 1 us}\nstreams:"), reason)
    assert last == ("streams.y.requires.delay: 233880 ns", "", {"streams.1.deadline_ns": 233_880})
    # From one instant, no deadline helps.
    both = "streams.x.offset and streams.y.offset left out"
    (*_, last) = tried(TWO.replace("20 us", "10 us"), reason)
    assert last[0] == both
    # The whole period as the deadline needs no longer one.
    (*_, last) = tried(TWO.replace("200 us", "1 ms"), reason)
    assert last[0] == both


def answer(monkeypatch: pytest.MonkeyPatch, hints: Hints, *good: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Plans only these streams, and only with a change; returns the streams of each try."""
    problem = deepcopy(hints.problem)
    asked: list[tuple[int, ...]] = []

    def planned(text: str) -> bool:
        changed = json.loads(text)
        sizes = [stream["frames"] for stream in changed["streams"]]
        before = [stream for stream in problem["streams"] if stream["frames"] in sizes]
        asked.append(tuple(place for place, one in enumerate(problem["streams"]) if one["frames"] in sizes))
        unchanged = json.loads(module._text({**problem, "streams": before}))
        return asked[-1] in good and changed != unchanged

    monkeypatch.setattr(module, "_planned", planned)
    return asked


FOUR = f"""{HEAD}streams:
  x: {{from: a, to: c, pcp: 7, period: 1 ms, frame: 100 B, scheduled: true}}
  y: {{from: a, to: c, pcp: 7, period: 1500 us, frame: 200 B, scheduled: true}}
  z: {{from: a, to: c, pcp: 7, period: 2 ms, frame: 300 B, scheduled: true}}
  w: {{from: a, to: c, pcp: 7, period: 1 ms, frame: 400 B, scheduled: true}}
"""
EVERY = (0, 1, 2, 3)
SOME: Any = {"kind": "together", "streams": [0, 1]}
"""Three changes of periods, then faster links."""
PERIODS = "streams.y.period: 2 ms or with streams.x.period: 3 ms or with streams.y.period: 3 ms"
QUEUE: Any = {"kind": "conflict", "stream": 0, "streams": [1]}
"""Another queue, then faster links."""
OTHERS = "schedule.pcps: [7, 5] or with 1 Gbit/s on a -- s, s -- c"


ALONE = "these streams alone have a schedule with"
EACH = [EVERY, (0, 1)]
NAMED: Any = {"kind": "conflict", "streams": [0, 1, 2, 3]}
TRIES: dict[str, tuple[tuple[Any, ...], Any, str | None, list[Any] | None]] = {
    # Which streams can be planned with a change; the reason, the hint, and what is tried.
    # Once without a change, then three changes of periods.
    "three changes": ((EVERY,), SOME, f"there is a schedule with {PERIODS}", [(0, 1), EVERY, EVERY, EVERY]),
    "one faster link": ((EVERY,), QUEUE, f"there is a schedule with {OTHERS}", [(0, 1), EVERY, EVERY]),
    # Each change is tried with all streams, then with the ones that are named; the seven rates only with all.
    "only some streams": (((0, 1),), SOME, f"{ALONE} {PERIODS}", [(0, 1), *EACH * 3, *[EVERY] * 7]),
    "only some streams, with the first rate": (((0, 1),), QUEUE, f"{ALONE} {OTHERS}", [(0, 1), *EACH * 2]),
    "only one stream": (
        ((2,),),
        {"kind": "conflict", "stream": 2},
        f"this stream alone has a schedule with {OTHERS}",
        None,
    ),
    "what helps all is said alone": ((EVERY, (0, 1)), SOME, f"there is a schedule with {PERIODS}", None),
    # All streams are named, so no part of them is tried: with a queue, and with seven rates.
    "no change helps": ((), NAMED, None, [EVERY] * 8),
    # Nobody is named: changes of periods with each pair of different periods.
    "no change of all helps": ((), {"kind": "gates"}, None, [EVERY] * 9),
}


@pytest.mark.parametrize("case", TRIES)
def test_what_is_tried_and_said(monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    good, reason, said, tried = TRIES[case]
    hints = hints_of(FOUR)
    asked = answer(monkeypatch, hints, *good)
    assert hints.of(reason) == said
    assert tried is None or asked == tried


def test_what_is_known_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    hints = hints_of(FOUR)
    asked = answer(monkeypatch, hints, EVERY)
    assert hints.of(SOME) == hints.of(SOME) == f"there is a schedule with {PERIODS}"
    assert (len(asked), hints.left) == (4, 36)


def test_streams_that_have_a_schedule_without_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing needs to change for them, so no change is said to help them."""
    hints = hints_of(FOUR)
    monkeypatch.setattr(module, "_planned", lambda text: len(json.loads(text)["streams"]) < 4)
    assert hints.of(SOME) is None
    assert hints.of(QUEUE) is None


@pytest.mark.parametrize("left", [0, 1, 5])
def test_tries_are_counted(monkeypatch: pytest.MonkeyPatch, left: int) -> None:
    hints = hints_of(FOUR, left)
    asked = answer(monkeypatch, hints)
    assert hints.of(SOME) is None
    assert (len(asked), hints.left) == (left, 0)
    monkeypatch.setattr(module, "_schedule", lambda text: asked.append(()))
    assert hints._found(hints.problem) is None
    assert len(asked) == left


def test_the_last_try() -> None:
    hints = hints_of(FOUR, 1)
    assert hints._found(hints.problem) is not None
    assert hints.left == 0


def test_a_service_tries_for_a_time_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No try begins that would end late, if it took as long as the longest one before."""
    clock = [0.0]
    monkeypatch.setattr(module, "thread_time", lambda: clock[0])

    def slow(text: str) -> bool:
        clock[0] += 0.3
        return False

    for seconds, tries in ((0, 0), (0.2, 1), (1.0, 3)):
        with module.patience(seconds):
            hints = hints_of(FOUR)
        monkeypatch.setattr(module, "_planned", slow)
        assert hints.of(SOME) is None
        assert module.TRIES - hints.left == tries
        assert hints._found(hints.problem) is None
        assert not hints.works_without([0])
    assert hints_of(FOUR).end == inf


def test_large_problems_are_not_planned_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four streams are too many, and two are not."""
    monkeypatch.setattr(module, "LARGEST", 3)
    hints = hints_of(FOUR)
    asked = answer(monkeypatch, hints, EVERY, (0, 1))
    assert hints.of(SOME) == f"these streams alone have a schedule with {PERIODS}"
    assert EVERY not in asked
    assert hints._found(hints.problem) is None
    assert hints.left == 36
    monkeypatch.setattr(module, "LARGEST", 4)
    hints = hints_of(FOUR)
    answer(monkeypatch, hints, EVERY)
    assert hints.of(SOME) == f"there is a schedule with {PERIODS}"
    assert hints._found(hints.problem) is not None
    assert hints.left == 35


SENTENCES = {
    Answer.FOUND: "there is a schedule with schedule.time: 10 s",
    Answer.IMPOSSIBLE: "with schedule.time: 10 s it is proved that there is none",
    Answer.UNKNOWN: None,
}


@pytest.mark.parametrize("given", SENTENCES)
def test_more_time(monkeypatch: pytest.MonkeyPatch, given: Answer) -> None:
    """Ten seconds, with the paths and times of first fit: `x` at once, and `y` has no place beside it."""
    asked: list[Any] = []

    def solve(*arguments: Any) -> Outcome:
        asked.append(arguments)
        return Outcome(given, {})

    monkeypatch.setattr(module, "solve", solve)
    limited = TWO.replace("streams:", "schedule: {time: 9999999999 ns}\nstreams:")
    hints = hints_of(limited)
    assert hints.of({"kind": "unknown"}) == SENTENCES[given]
    ((problem, placed, seconds),) = asked
    assert (problem, seconds) == (hints.problem, 10)
    assert placed == [
        {
            "offset_ns": 10_000,
            "tree": [{"link": 0}, {"link": 4, "parent": 0}],
            "starts_ps": [0, 80_640_000],
            "queue": 0,
            "delay_ps": 161_280_000,
        },
        None,
    ]
    assert hints_of(limited.replace("9999999999 ns", "10 s")).of({"kind": "unknown"}) is None
    monkeypatch.setattr(module, "LARGEST", 2)
    assert hints_of(limited).of({"kind": "unknown"}) == SENTENCES[given]
    monkeypatch.setattr(module, "LARGEST", 1)
    assert hints_of(limited).of({"kind": "unknown"}) is None
    assert len(asked) == 2


def test_streams_that_a_reason_names() -> None:
    assert streams_of({"kind": "link"}) == []
    assert streams_of({"kind": "conflict", "stream": 3, "streams": [4, 1, 3]}) == [1, 3, 4]
    shares: list[Share] = [{"stream": 5, "ppm": 7}, {"stream": 2, "ppm": 9}]
    assert streams_of({"kind": "link", "streams": shares}) == [2, 5]


def test_a_problem_that_cannot_be_planned() -> None:
    """A period that is no multiple of the granularity has no schedule, and is no error."""
    hints = hints_of(FOUR.replace("streams:", "schedule: {granularity: 10 ns}\nstreams:"))

    def another_period(problem: Problem) -> None:
        problem["streams"][0]["period_ns"] = 1_000_001

    assert not hints._works(Change("", another_period), range(4))
    assert hints._works(Change("", lambda problem: None), range(4))
