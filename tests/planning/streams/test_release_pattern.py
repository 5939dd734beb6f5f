"""When talkers release, by hand: answers, Poisson sources, saturating talkers, begins and ends."""

from __future__ import annotations

from typing import Any

import pytest

from support.networks import line, periodic
from support.planned import document_of
from tsnbench.planning import plan
from tsnbench.scenario import model

ANSWERS = """\
name: answers
duration: 10 ms
network: {stations: [a, b], links: {rate: 1 Gbit/s, between: [a -- b]}}
streams:
  other: {from: a, to: b, period: 2 ms, offset: 300 us, frame: 100 B}
  ask: {from: a, to: b, count: 2, period: 1 ms, offset: 100 us, jitter: 7 us, frame: 100 B}
  tell: {answers: ask, after: 50 us, frame: 200 B}
  last: {from: a, to: b, period: 4 ms, frame: 100 B}
"""


def planned(**streams: model.Stream) -> list[Any]:
    document: Any = plan(line().model_copy(update={"streams": streams})).document
    return list(document["streams"])


def stream(**changes: Any) -> model.Stream:
    return periodic("talker", "listener", **changes)


def test_each_answer_has_the_flow_of_its_number_as_request() -> None:
    """The flows are other, ask.1, ask.2, tell.1, tell.2 and last: 0 to 5. An answer has no offset."""
    made: Any = document_of(ANSWERS)["streams"]
    assert [one["name"] for one in made] == ["other", "ask.1", "ask.2", "tell.1", "tell.2", "last"]
    assert [one.get("answers") for one in made] == [
        None, None, None,
        {"stream": 1, "after_ns": 50_000}, {"stream": 2, "after_ns": 50_000},
        None,
    ]  # fmt: skip
    own = {"kind": "periodic", "period_ns": 1_000_000}
    assert made[2]["pattern"] == {**own, "offset_ns": 100_000, "jitter_ns": 7_000}
    assert made[4]["pattern"] == {**own, "offset_ns": 0, "jitter_ns": 0}


def answer(request: str, **changes: Any) -> model.Stream:
    pattern = model.Answer(answers=request, after=0, period=changes.pop("period", 100_000), jitter=9)
    return periodic("listener", "talker", pattern=pattern, **changes)


def test_an_answer_may_be_late_by_its_own_jitter() -> None:
    (_, told) = planned(ask=stream(), tell=answer("ask"))
    assert told["pattern"] == {"kind": "periodic", "period_ns": 100_000, "offset_ns": 0, "jitter_ns": 9}
    assert told["answers"] == {"stream": 0, "after_ns": 0}


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        # 9840 bit at 9840 Gbit/s, and at 2 Gbit/s.
        (model.Poisson(rate=9_840 * 10**9), {"kind": "poisson", "mean_interval_ps": 1_000}),
        (model.Poisson(rate=2 * 10**9), {"kind": "poisson", "mean_interval_ps": 4_920_000}),
        # 9840 bit at 7 bit/s: 1405.714285714285714… s, rounded to whole ps.
        (model.Poisson(rate=7), {"kind": "poisson", "mean_interval_ps": 1_405_714_285_714_286}),
        (model.Poisson(mean_interval=1), {"kind": "poisson", "mean_interval_ps": 1_000}),
        (model.Saturating(backlog=1), {"kind": "saturating", "backlog": 1}),
        (
            model.TokenBucket(burst=1_250, rate=1),
            {"kind": "token-bucket", "burst_octets": 1_250, "rate_bps": 1},
        ),
        (
            model.Periodic(period=1, offset=0),
            {"kind": "periodic", "period_ns": 1, "offset_ns": 0, "jitter_ns": 0},
        ),
    ],
)
def test_the_smallest_numbers_that_talkers_keep(pattern: Any, found: dict[str, Any]) -> None:
    (one,) = planned(s=stream(pattern=pattern, stop=2))
    assert one["pattern"] == found


def test_streams_end_with_the_run_or_before() -> None:
    """The run lasts 10 ms; each stream has its own begin and end."""
    made = planned(plain=stream(), later=stream(start=3_000, stop=20_000_000), short=stream(stop=9_999_999))
    assert [(one["start_ns"], one["stop_ns"]) for one in made] == [
        (0, 10_000_000), (3_000, 10_000_000), (0, 9_999_999),
    ]  # fmt: skip
