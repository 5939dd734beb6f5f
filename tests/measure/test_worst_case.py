"""Worst cases against requirements: limits that they prove, limits that they do not, and messages."""

from __future__ import annotations

from typing import Any

import pytest

from tsnbench.measure import headline, judge, sweep_headline, verdict_table
from tsnbench.measure.guarantee import BY_THE_PLAN, NOT_BOUNDED, Guarantee, guarantee, round_trip
from tsnbench.measure.headline import worst_case_line
from tsnbench.measure.outcome import WORST_FIRST, Outcome, outcome, tightness, urgency
from tsnbench.measure.refuted import Seen
from tsnbench.measure.verdict import counting, worst_cases

DRAIN = 1_000_000


def bound(**parts: Any) -> dict[str, Any]:
    """A flow whose delay is between 100 and 900 ns, and that loses no frame."""
    return {
        "stream": "s",
        "listener": "sink",
        "upper_ns": 900,
        "lower_ns": 100,
        "jitter_ns": 800,
        "reason": None,
        "release_upper_ps": 950_000,
        "release_reason": None,
        "loss_reason": None,
    } | parts


LOSSY = bound(loss_reason="a fault may drop frames")


def measured(worst: int = 500, lost: int = 0) -> dict[str, Any]:
    path = {
        "stream": "s",
        "listener": "sink",
        "delay": {"min": 100, "mean": 300.0, "median": 300, "max": worst, "max_seq": 7},
        "delay_percentiles": [{"share_ppm": 990_000, "delay_ns": 480}],
        "jitter": {"delay-step-abs": {"max": 80, "max_seq": 3, "mean": 10.0, "median": 5}, "interval": None},
        "spread": 30.5,
        "count": {"sent": 1000, "received": 1000 - lost, "lost": lost},
        "rate": {"received_bps": 2e6},
    }
    return {"paths": [path], "groups": [path]}


def plan(required: dict[str, Any]) -> dict[str, Any]:
    stream = {"name": "s", "group": "s", "listeners": [{"node": 0}], "requirements": required}
    return {"nodes": [{"name": "sink"}], "streams": [stream], "drain_ns": DRAIN}


def verdict(required: dict[str, Any], own: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    backend = more.pop("backend", "simulation")
    return judge(plan(required), measured(**more), {"flows": [own or bound()]}, Seen(backend))


def jitter(kind: str, limit: int) -> dict[str, Any]:
    return {"jitter": [{"kind": kind, "limit_ns": limit}]}


@pytest.mark.parametrize(
    ("required", "worst_case", "proof"),
    [
        ({"delay_ns": 900}, 900, "proved"),
        ({"delay_ns": 899}, 900, "beyond"),
        ({"delay_percentiles": [{"share_ppm": 990_000, "delay_ns": 900}]}, 900, "proved"),
        ({"delay_percentiles": [{"share_ppm": 990_000, "delay_ns": 899}]}, 900, "beyond"),
        (jitter("delay-step-abs", 800), 800, "proved"),
        (jitter("delay-step-abs", 799), 800, "beyond"),
        (jitter("deviation", 800), 800, None),
        # A standard deviation is at most half the range.
        (jitter("spread", 400), 400, "proved"),
        (jitter("spread", 399), 400, "beyond"),
        # A gap between arrivals depends on the times of releases, which these bounds do not contain.
        (jitter("interval", 1_000_000), None, "none"),
        ({"loss_ppm": 0}, 0, "proved"),
        ({"rate_bps": 1}, None, "none"),
    ],
)
def test_what_a_bound_proves(required: dict[str, Any], worst_case: float | None, proof: str | None) -> None:
    (row,) = verdict(required)["rows"]
    assert row["worst_case"] == worst_case
    if proof is not None:
        assert row["proof"] == proof
    # The verdict on the run itself does not change.
    assert row["met"] in ("yes", "no-data")


@pytest.mark.parametrize(
    ("own", "why"),
    [
        ({"loss_reason": "at b -> c: more frames may arrive"}, "more frames may arrive"),
        ({"release_upper_ps": None, "release_reason": "no window"}, "no window"),
        ({"release_upper_ps": DRAIN * 1_000 + 1}, "after the run's end"),
    ],
)
def test_loss_is_proved_only_where_every_frame_arrives_in_time(own: dict[str, Any], why: str) -> None:
    (row,) = verdict({"loss_ppm": 0}, bound(**own))["rows"]
    assert (row["met"], row["proof"], row["worst_case"]) == ("yes", "none", None)
    assert why in row["worst_case_reason"]
    (row,) = verdict({"loss_ppm": 0}, bound(release_upper_ps=DRAIN * 1_000))["rows"]
    assert row["proof"] == "proved"


CARRIES = "the link b1 -- b2 carries every member stream"


@pytest.mark.parametrize(
    ("reason", "outages", "lost", "met", "proof"),
    [
        # Without failures a run says nothing.
        (None, 0, 0, "yes", "proved"),
        (CARRIES, 0, 0, "not-proved", "none"),
        (CARRIES, 0, 3, "not-proved", "none"),
        # With one it may break the promise, and keeps it for this failure alone.
        (None, 1, 0, "yes", "proved"),
        (CARRIES, 1, 0, "not-proved", "none"),
        (CARRIES, 1, 3, "no", "none"),
        (None, 1, 3, "no", "exceeded"),
        # Two failures are more than was promised.
        (None, 2, 3, "yes", "proved"),
        (CARRIES, 2, 3, "not-proved", "none"),
        # The promise is not about another link, nor about a node.
        (None, "link-down", 3, "yes", "proved"),
        (CARRIES, "link-down", 3, "not-proved", "none"),
        (None, "node-down", 3, "yes", "proved"),
    ],
)
def test_failures_are_survived_by_proof_alone(
    reason: str | None, outages: int | str, lost: int, met: str, proof: str
) -> None:
    required = {"survives": [{"failures": 1, "links": [0]}]}
    down = (
        [{"kind": "link-down", "port": 1}] * outages
        if isinstance(outages, int)
        else [{"kind": outages, "port": 2, "node": 0}]
    )
    own = bound(survives=[{"failures": 1, "reason": reason}], loss_reason="a fault takes frames")
    # Port 1 is the other end of link 0.
    ports = [{"peer": 1}, {"peer": 0}, {"peer": 3}, {"peer": 2}]
    document = plan(required) | {"ports": ports, "faults": [*down, {"kind": "babble"}]}
    found = judge(document, measured(lost=lost), {"flows": [own]})
    (row,) = found["rows"]
    assert (row["requirement"], row["limit"], row["met"], row["proof"]) == ("survives 1", 0, met, proof)
    assert [one["unit"] for one in found["refuted"]] == ["ppm"] * (proof == "exceeded")
    assert row["worst_case_reason"] == (reason and f"frames may be lost: {reason}")
    assert len(counting(document, worst_cases(document, {"flows": [own]}))) == 1


@pytest.mark.parametrize(("node", "met"), [(0, "no"), (1, "not-proved")])
def test_a_node_that_fails_is_a_promised_one_or_not(node: int, met: str) -> None:
    document = plan({"survives": [{"failures": 1, "nodes": [0]}]})
    document |= {"ports": [], "faults": [{"kind": "node-down", "node": node}]}
    (row,) = judge(document, measured(lost=3), {"flows": [LOSSY]})["rows"]
    assert row["met"] == met


@pytest.mark.parametrize(("key", "worst_case"), [("age_ns", 1_000 + 950), ("time_out_ns", 1_000 + 950 - 100)])
def test_a_period_is_in_the_worst_case_of_news(key: str, worst_case: int) -> None:
    document = plan({key: 5_000})
    document["streams"][0]["pattern"] = {"kind": "periodic", "period_ns": 1_000, "jitter_ns": 0}
    (row,) = worst_cases(document, {"flows": [bound(release_lower_ps=100_000)]})
    assert (row["worst_case"], row["proof"]) == (worst_case, "proved")


def test_a_worst_case_beyond_the_limit_is_never_all_met() -> None:
    found = verdict({"delay_ns": 600})
    assert found["met"]
    (row,) = found["rows"]
    assert (row["worst_case"], row["worst_case_margin"]) == (900, -300)
    assert outcome(row) is Outcome.BEYOND
    line = headline(found)
    assert line == (
        "MET IN THIS RUN, WORST CASE BEYOND A LIMIT: 1 of 1 requirement, "
        "worst s at sink: delay 900 ns of 600 ns in the worst case"
    )
    assert "ALL MET" not in line
    assert headline(verdict({"delay_ns": 900})).startswith(
        "ALL MET (PROVED): 1 requirement, closest s at sink"
    )


def test_a_required_worst_case_counts() -> None:
    beyond = verdict({"delay_ns": 600, "worst_case": True})
    assert not beyond["met"]
    assert [row["met"] for row in beyond["rows"]] == ["not-proved"]
    assert headline(beyond) == (
        "NOT ALL MET: 1 of 1 requirement, worst s at sink: delay 900 ns of 600 ns in the worst case"
    )
    unknown = verdict({"delay_ns": 600, "worst_case": True}, bound(upper_ns=None, reason="Poisson"))
    assert not unknown["met"]
    assert "no bound is known" in headline(unknown)
    assert headline(unknown).endswith(": Poisson")
    assert verdict({"delay_ns": 900, "loss_ppm": 0, "worst_case": True})["met"]
    # A rate has no bound, so its worst case is not required.
    assert verdict({"rate_bps": 1, "worst_case": True})["met"]


def test_a_worst_case_that_a_measurement_exceeds_proves_nothing() -> None:
    found = verdict({"delay_ns": 2_000}, worst=901)
    (row,) = found["rows"]
    assert (found["met"], row["met"], row["proof"]) == (False, "exceeded", "exceeded")
    assert outcome(row) is Outcome.EXCEEDED


@pytest.mark.parametrize("backend", ["vm", "netns"])
def test_a_proof_of_a_plan_is_conditional_for_a_kernel(backend: str) -> None:
    found = verdict({"delay_ns": 900, "worst_case": True}, backend=backend)
    (row,) = found["rows"]
    assert (row["met"], row["proof"], outcome(row)) == ("yes", "proved", Outcome.IN_RUN)
    assert row["proof_condition"] == "the kernel does as the Plan says"
    table = verdict_table(found)
    assert table.rows[0][-1].endswith("proved if \u2020")
    assert "the kernel does as the Plan says" in table.captions[-1]


def test_the_condition_of_a_proof_is_shown() -> None:
    source = "schedule's proof, if clocks differ by no more than its margin"
    (row,) = verdict({"delay_ns": 900}, bound(source=source))["rows"]
    assert outcome(row) is Outcome.IN_RUN
    assert row["proof_condition"] == "clocks differ by no more than its margin"
    assert row["worst_case_source"] == "schedule's proof"


def test_lost_frames_are_in_the_headline_without_a_requirement_of_loss() -> None:
    assert headline(verdict({"delay_ns": 900}, LOSSY, lost=100)).endswith("; 100 of 1,000 frames lost of s")
    free = judge(plan({}), measured(lost=3))
    assert free["met"]
    assert headline(free).startswith("NO REQUIREMENT: ")
    assert headline(free).endswith("; 3 of 1,000 frames lost of s")


def test_without_a_measurement_a_proof_meets_no_requirement() -> None:
    found = judge(plan({"delay_ns": 900}), {}, {"flows": [bound()]})
    assert [outcome(row) for row in found["rows"]] == [Outcome.NO_DATA]
    assert headline(found) == "NOT ALL MET: 1 of 1 requirement, worst s at sink: delay, no data, limit 900 ns"


def test_a_sweep_is_one_line() -> None:
    good, bad = verdict({"delay_ns": 900}), verdict({"delay_ns": 400}, LOSSY, lost=2)
    labels = ["hops 1", "hops 2", "hops 3"]
    assert sweep_headline(labels, [good, bad, good], reused=2) == (
        "NOT ALL MET in 1 of 3 runs: worst hops 2, s at sink: delay 500 ns of 400 ns; "
        "frames lost in 1 run; 2 runs used again"
    )
    beyond = verdict({"delay_ns": 600})
    assert sweep_headline(labels, [good, beyond, good]).startswith(
        "MET IN THIS RUN, WORST CASE BEYOND A LIMIT in 1 of 3 runs: worst hops 2, s at sink: "
    )


def test_a_sweep_counts_runs_with_requirements() -> None:
    good, free = verdict({"delay_ns": 900}), judge(plan({}), measured(lost=3))
    assert sweep_headline(["a", "b"], [free, free], reused=1) == (
        "NO REQUIREMENT in 2 runs: frames lost in 2 runs; 1 run used again"
    )
    assert sweep_headline(["a", "b"], [judge(plan({}), measured())] * 2) == "NO REQUIREMENT in 2 runs"
    assert sweep_headline(["a", "b", "c"], [good, free, good]) == (
        "ALL MET (PROVED) in 2 of 3 runs: closest a, s at sink: delay 900 ns of 900 ns in the worst case; "
        "frames lost in 1 run"
    )


RATE = "closest s at sink: rate 2 Mbit/s of 1 bit/s"


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (verdict({"rate_bps": 1}), f"ALL MET IN THIS RUN: 1 requirement, none proved, {RATE}"),
        (
            verdict({"delay_ns": 9_000, "rate_bps": 2_000_000}),
            "ALL MET IN THIS RUN: 2 requirements, 1 of them proved, "
            "closest s at sink: rate 2 Mbit/s of 2 Mbit/s",
        ),
        (
            verdict(jitter("delay-step-abs", 900) | {"worst_case": True}, bound(jitter_ns=None)),
            "NOT ALL MET: 1 of 1 requirement, "
            "worst s at sink: jitter delay-step-abs, no bound is known, limit 900 ns",
        ),
        (
            {"rows": [{**verdict({"delay_ns": 900})["rows"][0], "uncertainty": 5}], "dropped_late": 1_234},
            "ALL MET (PROVED): 1 requirement, "
            "closest s at sink: delay 900 ns of 900 ns in the worst case; 1,234 dropped late",
        ),
        (
            {"rows": [], "lost": [{"stream": name, "lost": 600, "sent": 1_000} for name in "sst"]},
            "NO REQUIREMENT: write requires: {delay: 1 ms, loss: 0}; 1,800 of 3,000 frames lost of 2 streams",
        ),
    ],
)
def test_the_last_line(found: Any, line: str) -> None:
    assert headline(found) == line


def test_a_plan_is_judged_before_anything_runs() -> None:
    found = {"flows": [bound()]}
    rows = worst_cases(plan({"delay_ns": 600, "loss_ppm": 0, "rate_bps": 1}), found)
    assert [(row["requirement"], row["proof"]) for row in rows] == [
        ("delay", "beyond"),
        ("loss", "proved"),
        ("rate", "none"),
    ]
    assert worst_case_line(rows) == (
        "WORST CASE BEYOND A LIMIT: 1 of 3 requirements, worst s at sink: delay 900 ns of 600 ns"
    )
    assert worst_case_line(rows[:1]).startswith("WORST CASE BEYOND A LIMIT: 1 of 1 requirement, ")
    assert worst_case_line(rows[2:]) == (
        "WORST CASE NOT KNOWN: 1 of 1 requirement, such as s at sink: rate of 1 bit/s"
    )
    assert worst_case_line(rows[1:]).startswith("WORST CASE NOT KNOWN: 1 of 2 requirements, ")
    assert counting(plan({"delay_ns": 600}), rows) == []
    assert [row["requirement"] for row in counting(plan({}), rows, every=True)] == ["delay", "loss"]
    assert len(counting(plan({"delay_ns": 600, "worst_case": True}), rows)) == 2


NO_WINDOW = {"release_upper_ps": None, "release_reason": "no window"}


@pytest.mark.parametrize(
    ("requirement", "own", "worst", "reason"),
    [
        # A timestamp is rounded down, by less than one tick: 950,001 ps show as 951 ns at most.
        ("delay from release", {"release_upper_ps": 950_001}, 951, ""),
        ("delay from release", {"release_tick_ns": 8}, 957, ""),
        ("delay from release", NO_WINDOW, None, "no window"),
        ("jitter interval", {}, None, NOT_BOUNDED),
        ("jitter deviation", {"jitter_ns": None}, None, ""),
        ("jitter deviation", {"jitter_ns": None, "reason": "Poisson"}, None, "Poisson"),
        # What was proved of one failure says nothing of two.
        ("survives 2", {"survives": [{"failures": 1, "reason": None}]}, None, NOT_BOUNDED),
        (
            "survives 2",
            {"survives": [{"failures": 1, "reason": CARRIES}, {"failures": 2, "reason": None}]},
            0,
            "",
        ),
        ("survives 2", {}, None, NOT_BOUNDED),
        ("age", NO_WINDOW, None, "no window"),
        ("age", {}, 1_200 + 950, ""),
        # The least delay is rounded down.
        ("time-out", {"release_lower_ps": 100_999}, 1_200 + 950 - 100, ""),
        ("time-out", {"loss_reason": "a full queue"}, None, "a full queue"),
    ],
)
def test_the_worst_case_and_its_reason(
    requirement: str, own: dict[str, Any], worst: float | None, reason: str
) -> None:
    """1,200 ns pass from one release to the next."""
    found = guarantee(requirement, bound(**own), DRAIN, releases_ns=1_200)  # type: ignore[arg-type]
    lost = "frames may be lost: " if requirement[:4] in ("surv", "time") and reason else ""
    assert found == Guarantee(worst, lost + reason)


POISSON = {"kind": "poisson"}
ASK, REPLY = {"release_upper_ps": 1_000_500, "program_ps": 2_001}, {"program_ps": 9_000}


@pytest.mark.parametrize(
    ("pattern", "ask", "reply", "more", "worst", "reason"),
    [
        # The reply 950, the request 1,001, 2.001 ns of software as 3, and 50 and up to 7 at the talker.
        ({"kind": "periodic", "jitter_ns": 7}, {}, {}, {}, 950 + 1_001 + 3 + 50 + 7, ""),
        (POISSON, {}, {}, {}, 950 + 1_001 + 3 + 50, ""),
        (POISSON, NO_WINDOW, {}, {}, None, "no window"),
        (POISSON, {}, NO_WINDOW, {}, None, "no window"),
        (POISSON, {"loss_reason": "full"}, {}, {}, None, "frames of ask may be lost: full"),
        (POISSON, {}, {}, {"clocks": {}}, None, "delays after requests count on clocks that may be slow"),
    ],
)
def test_a_round_trip_by_hand(
    pattern: Any, ask: Any, reply: Any, more: Any, worst: float | None, reason: str
) -> None:
    times = {"start_ns": 0, "stop_ns": 10_000}
    answers = {"name": "reply", "talker": 1, "answers": {"stream": 0, "after_ns": 50}, "pattern": pattern}
    document: Any = {
        "nodes": [{"name": "a"}, {"name": "b"}],
        "duration_ns": 10_000,
        "streams": [
            {"name": "ask", "talker": 0, "pattern": POISSON, **times},
            {**answers, **times},
        ],
        **more,
    }
    bounds: Any = {("ask", "b"): bound(**ASK | ask), ("reply", "a"): bound(**REPLY | reply)}
    assert round_trip(document, document["streams"][1], "a", bounds) == Guarantee(worst, reason)
    elsewhere = round_trip(document, document["streams"][1], "b", bounds)
    assert elsewhere.reason == (reason if more else "no bounds were computed")
    on_kernel = round_trip(document, document["streams"][1], "a", bounds, "vm")
    assert on_kernel.condition == ("" if worst is None else BY_THE_PLAN)


@pytest.mark.parametrize(
    ("limit", "margins", "share"),
    [
        (1_000, (250,), 0.25),
        (1_000, (250, -100), -0.1),
        (1_000, (None, 250), 0.25),
        (1_000, (None,), 1.0),
        # Where nothing may be lost, a loss is worse than any other margin.
        (0, (0,), 1.0),
        (None, (0.5,), 1.0),
        (0, (-1,), float("-inf")),
    ],
)
def test_requirements_are_in_the_order_of_their_least_margin(limit: Any, margins: Any, share: float) -> None:
    place = WORST_FIRST.index(Outcome.BEYOND)
    assert tightness(Outcome.BEYOND, limit, *margins) == (place, share)
    margin, worst_case = (*margins, None)[:2]
    row: Any = {"met": "yes", "proof": "beyond", "limit": limit, "margin": margin}
    assert urgency({**row, "worst_case_margin": worst_case}) == (place, share)


def test_without_a_flow_among_the_bounds_nothing_is_guaranteed() -> None:
    assert guarantee("delay", None, DRAIN).worst_case is None
    assert guarantee("delay", None, DRAIN).reason
