"""Streams with several paths, and faults: what a run of the Plan gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from planning.routing.test_redundancy import DUAL, RING, planned
from support.planned import run_of
from tsnbench.plan.delay import smallest_delay_ns
from tsnbench.planning import Plan


def measured(made: Plan, folder: Path) -> dict[str, Any]:
    run = run_of(made, folder)
    path: dict[str, Any] = run.measures()["paths"][0]
    return path


def test_the_smallest_delay_is_what_a_run_gives(tmp_path: Path) -> None:
    for number, (network, stream) in enumerate(
        [(RING, "frer: {}"), (DUAL, "frer: {}"), (RING, "failover: {after: 1 ms}")]
    ):
        made = planned(network, stream)
        folder = tmp_path / str(number)
        folder.mkdir()
        found = measured(made, folder)
        assert found["delay"]["min"] == smallest_delay_ns(made.document, made.document["streams"][0], 0)
        assert (found["count"]["sent"], found["count"]["received"]) == (200, 200)
        assert found["count"]["duplicate"] == found["count"]["duplicate_tx"] == found["count"]["lost"] == 0


def test_a_dual_homed_listener_gets_each_frame_once(tmp_path: Path) -> None:
    """Talker and listener hang on two bridges: copies leave by two ports and meet in the listener."""
    faults = "faults: [{down: t -> b1, at: 5 ms, for: 5 ms}, {down: b2 -> l, at: 12 ms, for: 4 ms}]\n"
    made = planned(DUAL, "frer: {}", faults)
    assert [tap["name"] for tap in made.document["taps"]] == [
        "t -> b1 tx",
        "t -> b2 tx",
        "b1 -> l rx",
        "b2 -> l rx",
    ]
    count = measured(made, tmp_path)["count"]
    assert (count["sent"], count["received"], count["duplicate"], count["lost"]) == (200, 200, 0, 0)


def test_where_frames_are_lost_is_told(tmp_path: Path) -> None:
    rest = "faults: [{loss: 100 %, on: b2 -> b3, at: 5 ms, for: 5 ms}]\ntaps: [b1 -> b2]\n"
    found = measured(planned(RING, "via: [b1, b2, b3]", rest), tmp_path)
    assert found["lost_where"] == [{"after_tap": "b1 -> b2 rx", "frames": 50}]
    assert (found["count"]["lost"], found["count"]["in_network_at_end"]) == (50, 0)
