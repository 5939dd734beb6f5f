"""Which engine is asked for a schedule, with what, and whose answer is taken: all answers are given."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from tsnbench.planning.scheduling import engines as module
from tsnbench.planning.scheduling.engines import MISSING, NOT_ASKED, may_leave_more, search
from tsnbench.planning.scheduling.exact.budget import Answer
from tsnbench.planning.scheduling.exact.conflict import Conflict
from tsnbench.planning.scheduling.exact.engine import Outcome
from tsnbench.scenario import model

TREE = [{"link": 0}, {"link": 1, "parent": 0}]
PROBLEM: Any = {
    "nodes": [],
    "links": [{"rate_bps": 100_000_000}, {"rate_bps": 1_000_000_000}],
    "streams": [{"tree": TREE}, {}],
    "granularity_ns": 1,
}


def place(offset: int, **more: Any) -> Any:
    return {"offset_ns": offset, "tree": [], "starts_ps": [0, 1], "queue": 0, "delay_ps": 2, **more}


def gates(link: int, cycle: int, *entries: tuple[bool, int]) -> Any:
    listed = {
        "queues": [1 for _ in entries],
        "others": [others for others, _ in entries],
        "intervals_ns": [ns for _, ns in entries],
    }
    return {"link": link, "base_ns": 0, "cycle_ns": cycle, "joined": 0, **listed}


def answer(placed: Any, *reasons: Any, refused: Any = (), lists: Any = ()) -> Any:
    """Of first fit. The sentence of a reason is its kind."""
    return {
        "outcome": {"placed": placed, "refused": list(refused)},
        "gates": list(lists),
        "reasons": list(reasons),
        "sentences": [reason["kind"] for reason in reasons],
    }


NO_ROOM: Any = [1, {"kind": "no-room"}]
CONFLICT = {"kind": "conflict", "stream": 1}
WITHOUT = {"kind": "without", "streams": [1]}
STUCK = answer([place(5), None], CONFLICT, WITHOUT, refused=(NO_ROOM,))
ALL = answer([place(5), place(6)])
BEHIND = answer([place(7), place(8, behind=[1])])
TAKEN: Any = {"refused": [], "gates": ["lists"], "reasons": ["some"], "sentences": ["words"]}
BEST = {0: place(1), 1: place(2)}
FOUND = Outcome(Answer.FOUND, BEST)
TOOK: Any = {**TAKEN, "outcome": {"placed": [BEST[0], BEST[1]], "refused": []}}
del TOOK["refused"]
IMPOSSIBLE = Outcome(Answer.IMPOSSIBLE, {}, Conflict([0, 1], minimal=True))
UNKNOWN = Outcome(Answer.UNKNOWN, {})


class Asked:
    """All engines, with given answers; what each of them is asked is kept."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        first: Any,
        shared: Any = STUCK,
        exact: Outcome | None = None,
        *,
        here: bool = True,
    ) -> None:
        self.efforts: list[tuple[str, Any]] = []
        self.exact: list[tuple[Any, ...]] = []
        self.checked: list[Any] = []

        def schedule(text: str, effort: str, earlier: str, links: object = None) -> str:
            assert text == "compact"
            self.efforts.append((effort, json.loads(earlier)))
            return json.dumps(shared if json.loads(effort) == {"share": True} else first)

        def schedule_placed(text: str, placed: str) -> str:
            assert text == "compact"
            self.checked.append(json.loads(placed))
            return json.dumps(TAKEN)

        def solve(*arguments: Any) -> Outcome:
            self.exact.append(arguments)
            assert exact is not None
            return exact

        native = SimpleNamespace(
            compact=lambda problem: "compact" if problem is PROBLEM else json.dumps(problem),
            schedule=schedule,
            schedule_placed=schedule_placed,
        )
        monkeypatch.setattr(module, "_native", native)
        monkeypatch.setattr(module, "solve", solve)
        monkeypatch.setattr(module, "find_spec", lambda name: name if here and name == "ortools" else None)


def wanted(**settings: Any) -> model.Schedule:
    return model.Schedule(**settings)


def test_first_fit_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(monkeypatch, ALL)
    assert search(wanted(), PROBLEM) == ALL
    assert search(wanted(engine="heuristic"), PROBLEM, [None, place(4)]) == ALL
    assert asked.efforts == [("{}", []), ("{}", [None, place(4)])]
    Asked(monkeypatch, ALL, here=False)
    assert search(wanted(), PROBLEM) == ALL


@pytest.mark.parametrize("settings", [{"engine": "exact"}, {"objective": "shortest-delay"}])
def test_without_ortools_there_is_no_exact_engine(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    Asked(monkeypatch, ALL, here=False)
    words = "the exact engine is not here: ortools is missing; install the extra: pip install"
    assert search(wanted(**settings), PROBLEM) == {
        **ALL,
        "reasons": [{"kind": "engine"}],
        "sentences": [f"{words} 'tsnbench[exact]'"],
    }
    assert not may_leave_more(wanted())


def test_who_may_leave_more(monkeypatch: pytest.MonkeyPatch) -> None:
    Asked(monkeypatch, ALL)
    assert may_leave_more(wanted())
    assert may_leave_more(wanted(engine="exact"))
    assert not may_leave_more(wanted(engine="heuristic"))
    assert not may_leave_more(wanted(objective="shortest-delay"))


@pytest.mark.parametrize(("engine", "here"), [("heuristic", True), ("both", False)])
def test_frames_behind_others_are_the_last_try_of_first_fit(
    monkeypatch: pytest.MonkeyPatch, engine: Any, here: bool
) -> None:
    earlier = [place(4), None]
    asked = Asked(monkeypatch, STUCK, BEHIND, here=here)
    assert search(wanted(engine=engine), PROBLEM, earlier) == BEHIND
    assert asked.efforts == [("{}", earlier), ('{"share": true}', earlier)]
    Asked(monkeypatch, STUCK, STUCK, here=here)
    found = search(wanted(engine=engine), PROBLEM)
    # Who wanted the exact engine as well is told that it was not here.
    missing = [] if engine == "heuristic" else [MISSING]
    assert found["reasons"] == [*STUCK["reasons"], *missing]
    assert found["sentences"] == [*STUCK["sentences"], *([NOT_ASKED] if missing else [])]


def reason(kind: str, refusal: str) -> Any:
    return {"kind": kind, "refusal": {"kind": refusal}}


CLOSED = {
    "pair": answer([None, None], {"kind": "pair"}, CONFLICT, refused=(NO_ROOM,)),
    "together": answer([None, None], CONFLICT, {"kind": "together"}, refused=(NO_ROOM,)),
    "link": answer([None, None], {"kind": "link"}, refused=(NO_ROOM,)),
    "another limit of gates": answer([place(5), place(6)], reason("gates", "cycle")),
}


@pytest.mark.parametrize("case", CLOSED)
@pytest.mark.parametrize("engine", ["both", "exact", "heuristic"])
def test_no_engine_is_asked_what_no_search_can_change(
    monkeypatch: pytest.MonkeyPatch, engine: Any, case: str
) -> None:
    asked = Asked(monkeypatch, CLOSED[case])
    assert search(wanted(engine=engine), PROBLEM) == CLOSED[case]
    assert asked.efforts == [("{}", [])]


@pytest.mark.parametrize("written", [TREE, [0, 1]])
def test_the_exact_engine_is_asked_where_first_fit_is_stuck(
    monkeypatch: pytest.MonkeyPatch, written: Any
) -> None:
    """With the paths of the problem; earlier places count only for those that wait behind nobody."""
    earlier = [place(4), place(3, behind=[1])]
    asked = Asked(monkeypatch, STUCK, exact=FOUND)
    monkeypatch.setitem(PROBLEM["streams"][0], "tree", written)
    assert search(wanted(time=2_500_000_000), PROBLEM, earlier) == TOOK
    assert asked.exact == [(PROBLEM, [place(5, tree=TREE), None], 2.5, None, {0: place(4)})]
    assert asked.checked == [[BEST[0], BEST[1]]]
    assert len(asked.efforts) == 1


def test_who_waits_behind_others_is_new_to_the_exact_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """If first fit has a schedule that keeps such waits, that is taken. If it is stuck, they are left out."""
    asked = Asked(monkeypatch, BEHIND, exact=FOUND)
    assert search(wanted(engine="exact"), PROBLEM)["outcome"]["placed"][1] == place(8, behind=[1])
    assert asked.exact == []
    stuck = answer([place(5, behind=[1]), None], CONFLICT, refused=(NO_ROOM,))
    asked = Asked(monkeypatch, stuck, exact=FOUND)
    assert search(wanted(), PROBLEM) == TOOK
    assert asked.exact[0][1] == [None, None]


@pytest.mark.parametrize("kind", ["entries", "early"])
def test_too_many_entries_are_an_objective(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    many = answer([place(5), place(6)], reason("gates", kind))
    asked = Asked(monkeypatch, many, exact=FOUND)
    assert search(wanted(), PROBLEM) == TOOK
    assert [arguments[3] for arguments in asked.exact] == ["fewest-entries"]
    asked = Asked(monkeypatch, many, exact=FOUND)
    search(wanted(objective="shortest-delay"), PROBLEM)
    assert [arguments[3] for arguments in asked.exact] == ["shortest-delay"]


def test_the_exact_engine_is_asked_for_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an objective, any schedule will do, and with `engine: exact` it is asked for that."""
    asked = Asked(monkeypatch, ALL, exact=FOUND)
    assert search(wanted(engine="exact"), PROBLEM) == TOOK
    assert [arguments[3] for arguments in asked.exact] == [None]
    # There is a reason against what it finds here, so the schedule of first fit stays.
    asked = Asked(monkeypatch, ALL, exact=FOUND)
    assert search(wanted(objective="shortest-delay"), PROBLEM)["outcome"]["placed"][1] == place(6)
    assert [arguments[3] for arguments in asked.exact] == ["shortest-delay"]


PROVED = (
    "proved: streams 0 and 1 have no schedule in which frames are forwarded at once, or wait alone in their"
)
PROVED += (
    " queue, and no schedule was found in which frames wait behind others in one queue; without any one of"
)
PROVED += " them the others have a schedule"
NOT_KNOWN = (
    "none within 2 s of the exact engine, and no proof that none exists; whether a schedule exists is not"
)


def test_no_engine_has_a_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a proof replaces what first fit says of single streams."""
    Asked(monkeypatch, STUCK, exact=IMPOSSIBLE)
    found = search(wanted(), PROBLEM)
    impossible = {"kind": "impossible", "stream": 1, "streams": [0, 1], "minimal": True}
    assert found["reasons"] == [impossible, WITHOUT]
    assert found["sentences"] == [PROVED, "without"]
    assert list(found["outcome"]["refused"]) == [NO_ROOM]
    Asked(monkeypatch, STUCK, exact=UNKNOWN)
    found = search(wanted(time=2_000_000_000), PROBLEM)
    assert found["reasons"] == [{"kind": "unknown"}, CONFLICT, WITHOUT]
    assert found["sentences"] == [f"{NOT_KNOWN} known", "conflict", "without"]
    # Frames that wait behind others are the last try, also after a proof.
    for outcome in (IMPOSSIBLE, UNKNOWN):
        asked = Asked(monkeypatch, STUCK, BEHIND, outcome)
        assert search(wanted(), PROBLEM, [place(3), None]) == BEHIND
        assert asked.efforts == [("{}", [place(3), None]), ('{"share": true}', [place(3), None])]


TWO_WINDOWS = (gates(0, 1_000_000, (False, 100_000), (True, 400_000), (False, 100_000), (True, 400_000)),)
ONE_WINDOW = (gates(0, 1_000_000, (False, 200_000), (True, 800_000)),)


def test_the_costs_of_a_schedule() -> None:
    """A frame of 1542 B takes 123.36 us at 100 Mbit/s, and 12.336 us at 1 Gbit/s."""
    placed = [place(0, delay_ps=7), None, place(0, delay_ps=30)]

    def cost(objective: str, *lists: Any) -> float:
        return module._cost(PROBLEM, placed, answer([], lists=lists), objective)

    assert cost("shortest-delay", *TWO_WINDOWS) == 37
    assert cost("fewest-entries", *TWO_WINDOWS) == 4
    assert cost("fewest-entries", *TWO_WINDOWS, *ONE_WINDOW) == 6
    assert cost("most-bandwidth-left", *ONE_WINDOW) == pytest.approx(1 - 0.67664, abs=1e-15)
    assert cost("most-bandwidth-left", *TWO_WINDOWS) == pytest.approx(1 - 0.55328, abs=1e-15)
    fast = gates(1, 100_000, (False, 50_000), (True, 30_000), (False, 8_000), (True, 12_000))
    # A gap of 12 us is lost.
    assert cost("most-bandwidth-left", fast) == pytest.approx(1 - 0.17664, abs=1e-15)
    assert cost("most-bandwidth-left", fast, *ONE_WINDOW) == pytest.approx(2 - 0.17664 - 0.67664, abs=1e-15)
    assert cost("most-bandwidth-left") == 0


def taken(monkeypatch: pytest.MonkeyPatch, before: Any, after: Any, objective: Any) -> Any:
    monkeypatch.setattr(
        module, "_native", SimpleNamespace(schedule_placed=lambda text, placed: json.dumps(after))
    )
    return module._taken(PROBLEM, "", FOUND, before, objective)["gates"]


def test_the_better_schedule_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    few = answer([place(5), place(6)], lists=ONE_WINDOW)
    many = answer([place(5), place(6)], lists=TWO_WINDOWS)
    few_after: Any = {"refused": [], "gates": list(ONE_WINDOW), "reasons": [], "sentences": []}
    many_after: Any = {**few_after, "gates": list(TWO_WINDOWS)}
    assert taken(monkeypatch, few, many_after, "fewest-entries") == list(ONE_WINDOW)
    assert taken(monkeypatch, many, few_after, "fewest-entries") == list(ONE_WINDOW)
    for before, after in ((few, many_after), (many, few_after)):
        assert taken(monkeypatch, before, after, "most-bandwidth-left") == list(ONE_WINDOW)
    # With a reason against it, it is none; nothing is compared without an objective.
    wrong = {**few_after, "reasons": [reason("gates", "cycle")], "sentences": ["cycle"]}
    assert taken(monkeypatch, many, wrong, "fewest-entries") == list(TWO_WINDOWS)
    assert taken(monkeypatch, few, many_after, None) == list(TWO_WINDOWS)
    # First fit has no schedule for all, or one with too many entries.
    part = answer([place(5), None], lists=ONE_WINDOW)
    assert taken(monkeypatch, part, many_after, "fewest-entries") == list(TWO_WINDOWS)
    refused = answer([place(5), place(6)], reason("gates", "entries"), lists=ONE_WINDOW)
    assert taken(monkeypatch, refused, many_after, "fewest-entries") == list(TWO_WINDOWS)
    # Two delays of 2 ps each.
    slow = answer([place(5, delay_ps=2), place(6, delay_ps=3)], lists=ONE_WINDOW)
    assert taken(monkeypatch, slow, many_after, "shortest-delay") == list(TWO_WINDOWS)
    quick = answer([place(5, delay_ps=2), place(6, delay_ps=1)], lists=ONE_WINDOW)
    assert taken(monkeypatch, quick, many_after, "shortest-delay") == list(ONE_WINDOW)


def test_an_engine_that_is_wrong_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {**TAKEN, "refused": [[1, {"kind": "no-room"}], [0, {"kind": "frame"}]]}
    with pytest.raises(AssertionError, match=r"^stream 1 cannot be where it was placed: no-room$"):
        taken(monkeypatch, STUCK, wrong, None)
    one = {**TAKEN, "refused": [[0, {"kind": "frame"}]]}
    with pytest.raises(AssertionError, match=r"^stream 0 cannot be where it was placed: frame$"):
        taken(monkeypatch, STUCK, one, None)
