"""Requirements in the Plan: each that is given, and no other one."""

from __future__ import annotations

from typing import Any

import pytest

from tsnbench.planning.streams.requirements import requirements_document
from tsnbench.scenario import model

JITTER = (model.JitterLimit(kind="spread", limit=5), model.JitterLimit(kind="interval", limit=7))
LIMITS: list[tuple[str, Any, str, Any]] = [
    # As they are given: name and value, and the member of the Plan.
    ("delay", 1_000, "delay_ns", 1_000),
    ("release_delay", 2_000, "release_delay_ns", 2_000),
    (
        "percentiles",
        {999_000: 70, 500_000: 50},
        "delay_percentiles",
        [{"share_ppm": 500_000, "delay_ns": 50}, {"share_ppm": 999_000, "delay_ns": 70}],
    ),
    ("jitter", JITTER, "jitter", [{"kind": "spread", "limit_ns": 5}, {"kind": "interval", "limit_ns": 7}]),
    ("loss_ppm", 0, "loss_ppm", 0),
    ("rate", 10**6, "rate_bps", 10**6),
    ("age", 3_000, "age_ns", 3_000),
    ("time_out", 4_000, "time_out_ns", 4_000),
    ("round_trip", 5_000, "round_trip_ns", 5_000),
]


@pytest.mark.parametrize("limits", [[], LIMITS, *([one] for one in LIMITS)], ids=len)
def test_each_limit_is_a_member_of_its_own(limits: list[tuple[str, Any, str, Any]]) -> None:
    """The worst case counts beside a limit, and is nothing without one."""
    given = {name: value for name, value, _, _ in limits}
    found = {member: value for _, _, member, value in limits}
    assert requirements_document(model.Requirements(**given)) == found
    worst = requirements_document(model.Requirements(**given, worst_case=True))
    assert worst == (found | {"worst_case": True} if found else {})
