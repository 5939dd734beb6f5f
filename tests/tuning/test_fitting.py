"""How many flows of a stream fit, and what runs out first: by hand, and by judging every number."""

from __future__ import annotations

import pytest

from tsnbench.errors import InputError
from tsnbench.planning import plan
from tsnbench.scenario import read_scenario
from tsnbench.scenario.model import Scenario
from tsnbench.tuning.question import JUDGES, Evaluation, Fitting, Judge, fitting
from tsnbench.tuning.tightest import Kind, tightest

EXACT = (Judge.BOUNDS, Judge.SIMULATION)
"""Judges that give the same answer each time; runs on kernels vary."""


def scenario(stream: str, *, more: str = "", shapers: str = "", rate: str = "100 Mbit/s") -> Scenario:
    text = f"""name: fit
duration: 5 ms
network:
  stations: [one, two, three]
  bridges: [b]
  links: {{rate: {rate}, between: [one-b, two-b, three-b]}}
streams:
  cam: {{from: one, to: two, {stream}}}
{more}{shapers}"""
    (found,) = read_scenario(text)
    return found


# 128 octets with header, tag and FCS; 148 with preamble and gap: 11.84 us on the wire.
FRAME = "pcp: 5, frame: 128 B, period: 500 us"


def with_count(base: Scenario, count: int) -> Scenario:
    streams = {**base.streams, "cam": base.streams["cam"].model_copy(update={"count": count})}
    return base.model_copy(update={"streams": streams})


def after(found: Fitting) -> Evaluation:
    """What is said of one flow more than fit."""
    assert found.count is not None
    return next(one for one in found.evaluations if one.value == str(found.count + 1))


@pytest.mark.parametrize("begin", [1, 4, 30, 400])
def test_a_link_is_full_with_as_many_frames_as_its_period_has_time_for(begin: int) -> None:
    """Flows over one link wait only at their talker: 42 x 11.84 us <= 500 us < 43 x 11.84 us."""
    base = scenario(f"{FRAME}, count: {begin}, requires: {{delay: 400 us}}")
    found = fitting(base, "cam", Judge.BOUNDS)
    assert (found.now, found.count, found.certain) == (begin, 42, False)
    judged = {one.value: one for one in found.evaluations}
    assert (judged["42"].met, judged["43"].met) == (True, False)
    assert judged["43"].reason == (
        "cam.1: the queue of class 5 at one -> b grows without end: "
        "load of 101.824 Mbit/s, 100 Mbit/s can be sent"
    )
    assert found.tightest is not None
    first = found.tightest.uses[0]
    assert (first.kind, first.share) == (Kind.LINK, pytest.approx(42 * 11.84 / 500))


@pytest.mark.parametrize("judge", EXACT)
@pytest.mark.parametrize(
    ("shaper", "sent", "right"),
    [
        # 20 Mbit/s for flows of 2.368 Mbit/s.
        ("cbs: {5: 20 Mbit/s}", "20 Mbit/s", 8),
        # 50 us of 500 us, 10 Mbit/s: four frames.
        (
            "gates: {cycle: 500 us, entries: [{open: [5], for: 50 us}, {open: [0], for: 450 us}]}",
            "10 Mbit/s",
            4,
        ),
    ],
)
def test_a_queue_of_the_talker_may_not_grow_without_end(
    judge: Judge, shaper: str, sent: str, right: int
) -> None:
    """The delay from the send timestamp excludes this wait, so no requirement would find the growth."""
    found = fitting(
        scenario(f"{FRAME}, requires: {{delay: 10 ms}}", shapers=f"shapers:\n  one -> b: {{{shaper}}}\n"),
        "cam",
        judge,
    )
    assert found.count == right
    assert after(found).reason.endswith(f"{sent} can be sent")


def test_higher_classes_leave_less() -> None:
    """Higher classes use 80 Mbit/s: 8 flows of 2.368 Mbit/s fit into the remaining 20, 9 do not."""
    more = "  high: {from: one, to: three, pcp: 7, frame: 980 B, period: 100 us}\n"
    found = fitting(scenario(f"{FRAME}, requires: {{delay: 10 ms}}", more=more), "cam", Judge.SIMULATION)
    assert found.count == 8
    assert after(found).reason.endswith("grows without end: load of 21.312 Mbit/s, 20 Mbit/s can be sent")


@pytest.mark.parametrize("judge", EXACT)
def test_the_answer_agrees_with_judging_every_number(judge: Judge) -> None:
    """Frames of another talker and frames of the stream itself delay a frame up to the limit."""
    base = scenario(
        f"{FRAME}, requires: {{delay from release: 260 us}}",
        more="  rest: {from: three, to: two, pcp: 0, saturating: true, frame: 1522 B}\n",
    )
    met = [JUDGES[judge](plan(with_count(base, count)))[0] for count in range(1, 20)]
    right = met.index(False)
    assert 1 < right < 19
    assert not any(met[right:])
    assert fitting(base, "cam", judge).count == right


def test_the_added_flows_keep_their_requirements_and_so_do_all_other_streams() -> None:
    loose = f"{FRAME}, requires: {{delay: 10 ms}}"
    other = "  other: {from: three, to: two, pcp: 3, frame: 128 B, period: 1 ms, requires: {delay: 150 us}}\n"
    alone, beside = fitting(scenario(loose), "cam", Judge.BOUNDS), scenario(loose, more=other)
    found = fitting(beside, "cam", Judge.BOUNDS)
    assert alone.count is not None
    assert found.count is not None
    assert found.count < alone.count
    assert after(found).reason.startswith("other to two: delay")


def test_a_number_without_a_plan_does_not_fit_and_says_why() -> None:
    """A reservation must be less than the rate of its port: 9 x 100 Mbit/s of 1 Gbit/s."""
    base = scenario(
        "class: sr/A, frame: 1230 B, period: 100 us, requires: {delay: 2 ms}",
        shapers="shapers:\n  all: {cbs: from-streams}\n",
        rate="1 Gbit/s",
    )
    found = fitting(base, "cam", Judge.BOUNDS)
    assert not after(found).met
    assert "reservation" in after(found).reason


def test_no_flow_fits_where_one_is_too_many() -> None:
    base = scenario(
        f"{FRAME}, count: 5, requires: {{delay: 30 us}}",
        more="  rest: {from: three, to: two, pcp: 0, saturating: true, frame: 1522 B}\n",
    )
    found = fitting(base, "cam", Judge.BOUNDS)
    assert (found.count, found.tightest) == (None, None)
    assert [one.value for one in found.evaluations] == ["1", "5"]


def test_no_number_above_the_greatest_is_evaluated() -> None:
    base = scenario(f"{FRAME}, requires: {{delay: 400 us}}")
    found = fitting(base, "cam", Judge.BOUNDS, most=7)
    assert (found.count, found.certain) == (7, True)
    assert max(int(one.value) for one in found.evaluations) == 7


@pytest.mark.parametrize(("stream", "most"), [("cma", 10), ("cam", 0), ("cam", 10_001)])
def test_mistakes(stream: str, most: int) -> None:
    with pytest.raises(InputError, match="expected a"):
        fitting(scenario(f"{FRAME}, requires: {{delay: 400 us}}"), stream, Judge.BOUNDS, most)


def test_what_runs_out_first_is_in_order_and_by_hand() -> None:
    """A gate open for a fifth of the cycle has 20 Mbit/s; twice 11.84 us in 500 us are 4.736 Mbit/s."""
    base = scenario(
        f"{FRAME}, count: 2, requires: {{delay: 1 ms, loss: 0}}",
        shapers="shapers:\n  b -> two: {gates: {cycle: 500 us, entries: "
        "[{open: [5], for: 100 us}, {open: [0], for: 400 us}]}}\n",
    )
    found = tightest(plan(base))
    assert found.unknown == []
    by_kind = {one.kind: one for one in found.uses}
    assert by_kind[Kind.GATE].share == pytest.approx(4.736 / 20)
    assert (by_kind[Kind.GATE].where, by_kind[Kind.GATE].limit) == ("b -> two, class 5", "20 Mbit/s")
    assert by_kind[Kind.LINK].share == pytest.approx(0.04736)
    shares = [one.share for one in found.uses]
    assert shares == sorted(shares, key=lambda share: -(share or 0))
    # One requirement covers both flows; the limit of zero loss is met, and cannot run out.
    assert sum(one.kind is Kind.REQUIREMENT for one in found.uses) == 1


def test_a_requirement_without_a_bound_is_named() -> None:
    base = scenario(
        f"{FRAME}, requires: {{delay: 1 ms}}",
        more="  rest: {from: three, to: two, pcp: 7, saturating: true, frame: 1522 B}\n",
    )
    (said,) = tightest(plan(base)).unknown
    assert said.startswith("cam at two: delay: ")


def test_windows_of_a_schedule_do_not_run_out() -> None:
    base = scenario(f"{FRAME}, scheduled: true, requires: {{delay: 400 us}}")
    assert {one.kind for one in tightest(plan(base)).uses} == {Kind.REQUIREMENT, Kind.LINK}


def test_answers_grow_with_their_requests() -> None:
    """Each flow has an answer of 276 octets on the wire: 22 x 22.08 us <= 500 us fit in that direction."""
    more = "  back: {answers: cam, pcp: 5, frame: 256 B, requires: {delay: 5 ms}}\n"
    more += "  again: {answers: back, pcp: 1, frame: 64 B}\n"
    base = scenario(f"{FRAME}, requires: {{delay: 900 us}}", more=more)
    assert fitting(base, "cam", Judge.BOUNDS).count == 22
    with pytest.raises(InputError, match="expected a stream that releases frames itself, found again"):
        fitting(base, "again", Judge.BOUNDS)
