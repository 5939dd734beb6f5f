"""What a search for a schedule is asked, and what becomes of its answers: by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from support.planned import drafted, plan_of, problems_of
from tsnbench import _native
from tsnbench.planning.draft import Draft, Flow, Hop
from tsnbench.planning.scheduling import reserved_bandwidth
from tsnbench.planning.scheduling import schedule as module
from tsnbench.planning.scheduling.queues import queues_of
from tsnbench.planning.scheduling.reserved_bandwidth import HINT, Shortfall
from tsnbench.planning.scheduling.schedule import _obey, _problem, prove, schedule_flows

HEAD = """\
name: searched
duration: 10 ms
network:
  stations: [a, b]
  bridge s: {processing: 2 us}
  links: {rate: 100 Mbit/s, cable: 10 m, between: [a -- s, s -- b]}
"""
ONE = "{from: a, to: b, pcp: 7, period: 1 ms, frame: 100 B, scheduled: true}"
PAIR = ONE.replace("scheduled", "count: 2, scheduled")


def problem_of(text: str) -> Any:
    draft = drafted(text)
    return _problem(draft, draft.flows, queues_of(draft, draft.flows))


def test_a_problem_in_numbers() -> None:
    """A cable of 10 m takes 50 ns. `z` is released at 1450 us, and so 450 us after the start of a period."""
    text = f"""{HEAD}\
schedule: {{margin: 1 us, granularity: 2 us, shortest-interval: 4 us, most-entries: 16, longest-cycle: 8 ms,
    pcps: [7, 5, 3]}}
streams:
  x: {ONE}
  y: {ONE.replace("scheduled", "release: {earliest: 5 us}, start: 300 us, scheduled")}
  z: {ONE.replace("scheduled", "offset: 150 us, start: 1300 us, scheduled")[:-1]},
      requires: {{delay: 300 us, jitter: 20 us}}}}
"""
    limits = {
        "entries": 16,
        "shortest_interval_ns": 4_000,
        "granularity_ns": 2_000,
        "longest_cycle_ns": 8 * 10**6,
    }
    link = {"rate_bps": 10**8, "propagation_ps": 50_000, "margin_ps": 10**6, "queues": 3, "limits": limits}
    stream = {"talker": 0, "listeners": [1], "period_ns": 10**6, "frames": [100], "deadline_ns": 10**6}
    stream |= {"earliest_ns": 0, "latest_ns": 999_999, "tree": [0, 2]}
    limited = {"deadline_ns": 300_000, "jitter_ns": 20_000, "earliest_ns": 450_000, "latest_ns": 450_000}
    assert problem_of(text) == {
        "nodes": [{"processing_ps": own * 10**6, "forwards": own > 0} for own in (0, 0, 2)],
        "links": [{"from": a, "to": b, **link} for a, b in ((0, 2), (2, 0), (2, 1), (1, 2))],
        "streams": [stream, {**stream, "earliest_ns": 5_000}, {**stream, **limited}],
        "granularity_ns": 2_000,
    }


RING = """\
name: ring
duration: 10 ms
network:
  stations: [a, b]
  bridges: [s, t, u, v]
  links: {rate: 100 Mbit/s, between: [a -- s, s -- t, s -- u, t -- v, u -- v, v -- b]}
"""


@pytest.mark.parametrize(
    ("ways", "more", "kept"),
    [
        ("free", "", False),
        ("free", ", via: [s, t, v]", True),
        ("free", ", frer: {paths: [[s, t, v], [s, u, v]], at: v}", True),
        ("shortest", "", True),
    ],
)
def test_paths_that_the_search_may_not_choose(ways: str, more: str, kept: bool) -> None:
    text = f"{RING}schedule: {{ways: {ways}}}\nstreams:\n  x: {ONE[:-1]}{more}}}\n"
    (stream,) = problem_of(text)["streams"]
    assert ("tree" in stream) is kept


def placed(offset: int, **more: Any) -> Any:
    tree = [{"link": 0}, {"link": 2, "parent": 0}]
    return {"offset_ns": offset, "tree": tree, "starts_ps": [0, 10_690_000], "queue": 0, **more}


def answer(*places: Any, entries: Any = None, reasons: Any = (), sentences: Any = ()) -> Any:
    queues, others, intervals = zip(*(entries or [(1, False, 1_000_000)]), strict=True)
    columns = {"queues": list(queues), "others": list(others), "intervals_ns": list(intervals)}
    gates = [{"link": link, "base_ns": 0, "cycle_ns": 1_000_000, **columns} for link in (0, 2)]
    outcome = {"placed": list(places), "refused": []}
    return {"outcome": outcome, "gates": gates, "reasons": list(reasons), "sentences": list(sentences)}


def test_releases_margins_and_order() -> None:
    """The period of a stream that starts at 1300 us begins 300 us later than that of the others.

    Released at 100 us, its frames follow 800 us after the beginning of its period.
    """
    late = ONE.replace("scheduled", "start: 1300 us, scheduled")
    for margin, expected in (("1 us", {"margin_ps": 1_000_000}), ("0 ns", {})):
        streams = f"streams:\n  x: {ONE}\n  y: {late}\n  z: {ONE}\n"
        draft = drafted(f"{HEAD}schedule: {{margin: {margin}}}\n{streams}")
        places = (placed(100_000), placed(100_000, behind=[]), placed(200_000, behind=[1, 0]))
        _obey(draft, draft.flows, [7], answer(*places))
        offsets = [flow.pattern["offset_ns"] for flow in draft.flows if flow.pattern["kind"] == "periodic"]
        assert offsets == [100_000, 800_000, 200_000]
        starts = {"starts_ps": [[0], [10_690_000]], **expected}
        assert [flow.scheduled for flow in draft.flows] == [starts, starts, {**starts, "behind": [0, 1]}]


def test_each_queue_opens_its_own_class() -> None:
    """PCP 7 has queue 0 and class 7, and PCP 5 has queue 1 and class 5."""
    draft = drafted(f"{HEAD}streams:\n  x: {ONE}\n  y: {ONE.replace('pcp: 7', 'pcp: 5')}\n")
    states = ((1, False, 10), (2, False, 20), (3, False, 30), (0, False, 40), (0, True, 50), (2, True, 60))
    _obey(draft, draft.flows, [7, 5], answer(placed(0), placed(50_000, queue=1), entries=states))
    for port in draft.ports:
        if port.number not in (0, 2):
            assert port.gates is None
            continue
        assert port.gates is not None
        masks = (0b1000_0000, 0b0010_0000, 0b1010_0000, 0, 0b0101_1111, 0b0111_1111)
        assert port.gates.entries == tuple(zip(masks, range(10, 70, 10), strict=True))


def refused(monkeypatch: pytest.MonkeyPatch, *told: tuple[dict[str, Any], str]) -> list[tuple[Any, ...]]:
    """What is said of the reasons of a search: two streams `x` and two streams `y`, and no hint helps."""
    draft = drafted(f"{HEAD}streams:\n  x: {PAIR}\n  y: {PAIR}\n")
    found = answer(reasons=[reason for reason, _ in told], sentences=[words for _, words in told])
    monkeypatch.setattr(module, "search", lambda wanted, problem, earlier, links=None: found)
    hints = SimpleNamespace(of=lambda reason: None, works_without=lambda numbers: True, alone=[])
    monkeypatch.setattr(module, "Hints", lambda *about, alone: hints)
    return [(one.path, one.expected, one.found, one.hint) for one in problems_of(schedule_flows, draft)]


@pytest.mark.parametrize("kind", ["deadline", "jitter", "period", "frame"])
def test_the_limit_of_a_stream_is_said_once(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    told = [({"kind": kind, "stream": number}, f"stream {number} is late; so be it") for number in range(4)]
    assert refused(monkeypatch, *told) == [
        ("streams.x", "a schedule", "stream x.1 is late", "so be it"),
        ("streams.y", "a schedule", "stream y.1 is late", "so be it"),
    ]


@pytest.mark.parametrize("kind", ["pair", "together"])
def test_streams_that_meet_are_said_once(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """By the first of them, and by the scenario's streams: in whatever order, and on whatever link."""

    def told(streams: list[int], link: int) -> tuple[dict[str, Any], str]:
        words = f"streams {streams[0]} and {streams[1]} meet on link {link}"
        about = [{"stream": number, "ppm": 500_000} for number in streams] if kind == "together" else streams
        return {"kind": kind, "streams": about}, words

    assert refused(monkeypatch, told([2, 1], 0), told([1, 3], 2), told([3, 2], 2)) == [
        ("streams.x", "a schedule", "streams y.1 and x.2 meet on link a -> s", None),
        ("streams.y", "a schedule", "streams y.2 and y.1 meet on link s -> b", None),
    ]


def test_other_reasons_are_said_of_each_stream_or_of_the_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_off = [
        ({"kind": "cut-off", "stream": number}, f"stream {number} cannot reach node 1: no way; connect them")
        for number in (0, 1)
    ]
    full = ({"kind": "link", "link": 2}, "link 2 is full")
    assert refused(monkeypatch, *cut_off, full, full) == [
        ("streams.x", "a schedule", "stream x.1 cannot reach node b: no way", "connect them"),
        ("streams.x", "a schedule", "stream x.2 cannot reach node b: no way", "connect them"),
        ("schedule", "a schedule", "link s -> b is full", None),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{HEAD}schedule: {{margin: 2 s}}\n", "link a -> s: rate, propagation or margin are out of range"),
        (HEAD.replace("2 us", "2 s"), "node s: processing is not between 0 and 1 s"),
        (
            f"{HEAD}schedule: {{granularity: 300 us}}\n",
            "stream x: the period is no multiple of the granularity",
        ),
    ],
)
def test_times_that_no_engine_takes_are_refused_with_names(text: str, words: str) -> None:
    (problem,) = problems_of(f"{text}streams:\n  x: {ONE}\n")
    assert (problem.path, problem.found) == ("schedule", words)
    assert problem.expected == "periods, rates and times that can be scheduled"


LACKING = Shortfall("60 Mbit/s left to others at a -> s", "33 Mbit/s")


class Searches:
    """A search that has an answer for each question, and how much each result lacks of what is reserved."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        *answers: Any,
        lacking: Sequence[list[Shortfall]],
        earlier: Any = (),
        may_leave_more: bool = True,
    ) -> None:
        self.answers, self.lacking = list(answers), list(lacking)
        self.asked: list[tuple[Any, Any]] = []
        self.earlier = list(earlier)
        other = "{from: b, to: a, pcp: 0, period: 1 ms, frame: 100 B}"
        self.draft = drafted(f"{HEAD}schedule: {{time: 3 s}}\nstreams:\n  x: {ONE}\n  rest: {other}\n")
        monkeypatch.setattr(module, "search", self.search)
        monkeypatch.setattr(module, "placed_before", self.placed_before)
        monkeypatch.setattr(module, "may_leave_more", lambda wanted: may_leave_more)
        monkeypatch.setattr(reserved_bandwidth, "shortfalls", self.shortfalls)
        schedule_flows(self.draft)

    def search(self, wanted: Any, problem: Any, earlier: Any, links: Any = None) -> Any:
        assert wanted.time == 3_000_000_000
        assert problem == _problem(self.draft, self.draft.flows[:1], [7])
        self.asked.append((wanted.objective, earlier))
        return self.answers.pop(0)

    def placed_before(self, draft: Draft, flows: Sequence[Flow], queues: Sequence[int]) -> list[Any]:
        assert (draft, flows, queues) == (self.draft, self.draft.flows[:1], [7])
        return self.earlier

    def shortfalls(self, draft: Draft) -> list[Shortfall]:
        assert draft is self.draft
        return self.lacking.pop(0)

    @property
    def offset(self) -> int:
        flow = self.draft.flows[0]
        assert flow.pattern["kind"] == "periodic"
        return flow.pattern["offset_ns"]

    @property
    def said(self) -> list[tuple[Any, ...]]:
        return [(one.path, one.expected, one.found, one.hint) for one in self.draft.problems]


TOLD = [("schedule.keep", LACKING.expected, LACKING.found, HINT)]
MORE = "most-bandwidth-left"


FIRST, SECOND, THIRD = (answer(placed(offset)) for offset in (1_000, 2_000, 3_000))
NONE = answer(None, reasons=[{"kind": "unknown"}], sentences=["none"])
KEPT = [placed(500)]
SEARCHES: dict[str, tuple[list[Any], list[list[Shortfall]], list[Any], list[Any], int, list[Any]]] = {
    # Answers, what each of them lacks, earlier places; what is asked, and the release and problems then.
    "the first one leaves enough": ([FIRST], [[]], KEPT, [(None, KEPT)], 1_000, []),
    "a second one leaves more": ([FIRST, SECOND], [[LACKING], []], [], [(None, []), (MORE, [])], 2_000, []),
    # It is taken even if it does not leave enough either.
    "neither leaves enough": (
        [FIRST, SECOND],
        [[LACKING], [LACKING]],
        [],
        [(None, []), (MORE, [])],
        2_000,
        TOLD,
    ),
    "there is no second one": ([FIRST, NONE], [[LACKING]], [], [(None, []), (MORE, [])], 1_000, TOLD),
    "earlier streams stay": ([FIRST, SECOND], [[LACKING], []], KEPT, [(None, KEPT), (MORE, KEPT)], 2_000, []),
    "earlier streams move": (
        [FIRST, SECOND, THIRD],
        [[LACKING], [LACKING], []],
        KEPT,
        [(None, KEPT), (MORE, KEPT), (MORE, [])],
        3_000,
        [],
    ),
    # No earlier place is left to keep.
    "earlier streams are gone": (
        [FIRST, SECOND],
        [[LACKING], []],
        [None],
        [(None, [None]), (MORE, [])],
        2_000,
        [],
    ),
}


@pytest.mark.parametrize("case", SEARCHES)
def test_a_schedule_that_leaves_more_is_searched_once(monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    answers, lacking, earlier, asked, offset, said = SEARCHES[case]
    done = Searches(monkeypatch, *answers, lacking=lacking, earlier=earlier)
    assert (done.asked, done.offset, done.said) == (asked, offset, said)


def test_an_engine_that_may_not_leave_more_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    done = Searches(monkeypatch, FIRST, lacking=[[LACKING]], may_leave_more=False)
    assert (done.asked, done.offset, done.said) == ([(None, [])], 1_000, TOLD)


def test_a_proof_names_streams_ports_and_nodes() -> None:
    """108 octets take 8.64 us and the cable 50 ns: the frame is at the bridge at 8.69 us.

    2 us later, at 10.69 us, it leaves, and it is there at 19.38 us.
    """
    rest = "{from: a, to: b, pcp: 0, period: 1 ms, frame: 100 B}"
    made = plan_of(f"{HEAD}streams:\n  rest: {rest}\n  x: {ONE}\n")

    def proved(**changed: Any) -> list[str]:
        document: Any = json.loads(json.dumps(made.document))
        for number, fields in enumerate(changed.values()):
            document["streams"][number].update(fields)
        return prove(document, json.dumps(document))

    assert proved() == []
    assert proved(rest={}, x={"requirements": {"delay_ns": 19_380}}) == []
    late = proved(rest={}, x={"requirements": {"delay_ns": 19_379}})
    assert late == ["stream x is at node b after 19380 ns, not within 19379 ns"]
    assert proved(rest={"pcp": 7}) == [
        f"class 7 of port {port} has scheduled stream x and stream rest, which is not"
        for port in ("a -> s", "s -> b")
    ]


def test_each_of_streams_that_are_alike_needs_gates_with_a_guard() -> None:
    """They are read from one another, and only the second one passes the port with gates."""
    text = f"""\
name: alike
duration: 10 ms
network:
  stations: [a, b, c]
  bridge s: {{}}
  links: {{rate: 100 Mbit/s, between: [a -- s, s -- b, s -- c]}}
shapers: {{s -> c: {{gates: {{guard: none, entries: [{{open: all, for: 1 ms}}]}}}}}}
streams:
  x: {ONE}
  y: {ONE.replace("to: b", "to: c")}
"""
    draft = drafted(text)
    first, second = draft.scenario.streams.values()
    assert first.pattern is second.pattern
    assert [one.path for one in problems_of(schedule_flows, draft)] == ["streams.y.scheduled"]


def test_each_of_streams_that_are_alike_has_its_mistake_told() -> None:
    """Also where a stream has several flows: only its first flow is looked at."""
    shaky = PAIR.replace("scheduled", "jitter: 1 us, scheduled")
    draft = drafted(f"{HEAD}streams:\n  x: {shaky}\n  y: {shaky}\n")
    first, second = draft.scenario.streams.values()
    assert first.pattern is second.pattern
    assert [one.path for one in problems_of(schedule_flows, draft)] == [
        "streams.x.jitter",
        "streams.y.jitter",
    ]


def test_proven_delays_have_the_ticks_of_the_taps_at_their_ends() -> None:
    """A timestamp shows the last tick before the instant: a late one is early by a tick at most."""
    document = json.loads(plan_of(f"{HEAD}streams:\n  x: {ONE}\n").to_json())
    del document["hash"]
    ticks = {"tx": 200, "rx": 3_000}
    for tap in document["taps"]:
        tap["granularity_ns"] = ticks[tap["stage"]]
    assert {tap["stage"] for tap in document["taps"]} == set(ticks)
    (found,) = json.loads(_native.proven_delays(json.dumps(document)))["delays"]
    assert found["upper_ns"] == (found["upper_ps"] + 200_000 - 1) // 1_000
    assert found["lower_ns"] == max(0, (found["lower_ps"] - 3_000_000) // 1_000 + 1)
    assert found["lower_ns"] > 0


FREE = """\
name: free
duration: 10 ms
network:
  stations: [a, b]
  bridges: [s, u, v]
  links: {rate: 100 Mbit/s, between: [a -- s, s -- u, s -- v, u -- b, v -- b]}
schedule: {ways: free}
streams:
  x: {from: a, to: b, pcp: 7, period: 1 ms, frame: 100 B, scheduled: true}
"""
ACROSS_U, ACROSS_V = (0, 2, 6), (0, 4, 8)
"""Ports: two for each cable, in their order."""


def found_over(offset: int, *links: int) -> Any:
    """One window of 10 us at each link, and 990 us for others."""
    tree = [{"link": link, **({"parent": place - 1} if place else {})} for place, link in enumerate(links)]
    entries = {"queues": [1, 0], "others": [False, True], "intervals_ns": [10_000, 990_000]}
    gates = [{"link": link, "base_ns": offset, "cycle_ns": 1_000_000, **entries} for link in links]
    placed = {"offset_ns": offset, "tree": tree, "starts_ps": [0, 1, 2], "queue": 0}
    return {"outcome": {"placed": [placed], "refused": []}, "gates": gates, "reasons": [], "sentences": []}


def test_a_second_schedule_replaces_the_first_one() -> None:
    """Where no scheduled stream passes any more, the gates are those of the scenario: none."""
    draft = drafted(FREE)
    queues = queues_of(draft, draft.flows)
    for offset, links in ((5_000, ACROSS_U), (7_000, ACROSS_V)):
        _obey(draft, draft.flows, queues, found_over(offset, *links))
        (flow,) = draft.flows
        assert flow.route == (Hop(links[0], None), Hop(links[1], 0), Hop(links[2], 1))
        assert flow.ends == (2,)
        assert flow.scheduled == {"starts_ps": [[0], [1], [2]]}
        assert flow.pattern["kind"] == "periodic"
        assert flow.pattern["offset_ns"] == offset
        gates = {port.number: port.gates for port in draft.ports if port.gates is not None}
        assert sorted(gates) == sorted(links)
        for port in gates.values():
            assert (port.base_time_ns, port.entries) == (offset, ((128, 10_000), (127, 990_000)))
