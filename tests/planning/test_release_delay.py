"""Delay from the release on: required, planned, measured, judged; with the wait in the talker's own port."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.planned import plan_of, refusal_text, run_of
from tsnbench.plan.bounds import bounds
from tsnbench.planning.errors import PlanningErrors

# 1000 octets of one talker, twice at once: the second frame waits 81.6 us in its talker's port.
TEXT = """\
name: released
duration: 10 ms
network: {{stations: [a, c], bridges: [s], links: {{rate: 100 Mbit/s, between: [a-s, s-c]}}}}
streams:
  x: {{from: a, to: c, pcp: 7, period: 1 ms, frame: 1000 B}}
  y: {{from: a, to: c, pcp: 6, period: 1 ms, frame: 1000 B, requires: {{{requires}}}}}
"""
# Two wires with preamble; the stamp at the talker is behind its preamble.
FROM_RELEASE = 81_600 + 2 * 80_640
FROM_STAMP = 2 * 80_640 - 640


@pytest.mark.parametrize("limit", [FROM_RELEASE - 1, FROM_RELEASE])
def test_the_wait_in_the_talkers_port_counts(limit: int, tmp_path: Path) -> None:
    requires = f"delay: {FROM_STAMP} ns, delay from release: {limit} ns"
    made = plan_of(TEXT.format(requires=requires))
    assert made.document["streams"][1]["requirements"]["release_delay_ns"] == limit
    run = run_of(made, tmp_path)
    rows = {row["requirement"]: row for row in run.verdict()["rows"]}
    assert (rows["delay"]["found"], rows["delay"]["met"]) == (FROM_STAMP, "yes")
    row = rows["delay from release"]
    assert (row["limit"], row["found"], row["margin"]) == (limit, FROM_RELEASE, limit - FROM_RELEASE)
    assert row["met"] == ("yes" if limit == FROM_RELEASE else "no")
    # The worst case is from the release, too: it is not the one between the stamps.
    assert rows["delay"]["worst_case"] < FROM_RELEASE <= row["worst_case"]
    assert row["proof"] == ("proved" if row["worst_case"] <= limit else "beyond")


def test_a_limit_from_the_release_that_no_frame_can_keep() -> None:
    """A delay between the stamps would keep it: it is 640 ns less."""
    said = refusal_text(TEXT.format(requires=f"delay from release: {2 * 80_640 - 1} ns"))
    assert "expected a limit of at least 161280 ns, found 161279 ns; a frame to c takes that long" in said
    # A talker that sends as much as it can has no rate of its own.
    text = TEXT.format(requires="rate: 90 Mbit/s").replace("pcp: 6, period: 1 ms", "pcp: 6, saturating: true")
    assert plan_of(text).document["streams"][1]["requirements"] == {"rate_bps": 90_000_000}


def test_a_coarse_stamp_shows_no_more_than_its_bound(tmp_path: Path) -> None:
    text = TEXT.format(requires="delay from release: 1 ms") + "taps: {granularity: 8 ns}\n"
    run = run_of(plan_of(text), tmp_path)
    (row,) = run.verdict()["rows"]
    assert FROM_RELEASE - 8 < row["found"] < FROM_RELEASE + 8
    assert row["found"] <= row["worst_case"]


@pytest.mark.parametrize("schedule", ["scheduled: true, ", ""])
def test_planners_keep_it(schedule: str) -> None:
    shapers = "" if schedule else "shapers: {{all: {{gates: plan}}}}\n"
    text = TEXT.replace("period: 1 ms, ", f"period: 1 ms, {schedule}").replace("pcp: 6", "pcp: 7") + shapers

    def made(limit: int) -> int:
        found = plan_of(text.format(requires=f"delay from release: {limit} ns"))
        (flow,) = [flow for flow in bounds(found)["flows"] if flow["stream"] == "y"]
        most: int = flow["release_upper_ps"]
        return most

    # Scheduled streams are released one after the other; in windows both are there at once, at each hop.
    least = 2 * 80_640 if schedule else 4 * 81_600
    assert made(least) <= least * 1_000
    with pytest.raises(PlanningErrors):
        made(least - 1)
