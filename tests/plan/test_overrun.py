"""In which classes of a port a frame may begin that is longer than its window. IEEE 802.1Q-2022, 8.6.8.4."""

from __future__ import annotations

from typing import Any

import pytest

from tsnbench.plan.warnings.gates import may_overrun

HOLD: Any = {"open": 1, "interval_ns": 10, "mac": "hold"}
PLAIN: Any = {"open": 1, "interval_ns": 10}


def port(*entries: Any, **more: Any) -> Any:
    gates = {"base_time_ns": 0, "cycle_ns": 20, "entries": list(entries), **more.pop("gates", {})}
    return {"gates": gates, **more}


EXPRESS_7: Any = {"express": 1 << 7}


@pytest.mark.parametrize(
    ("made", "traffic_class", "may"),
    [
        (port(PLAIN, PLAIN), 0, False),
        (port(PLAIN, gates={"unguarded": True}), 0, True),
        (port(PLAIN, gates={"unguarded": True}, preemption=EXPRESS_7), 7, True),
        # A hold cuts frames that can be pre-empted, and no others.
        (port(PLAIN, HOLD, preemption=EXPRESS_7), 0, True),
        (port(PLAIN, HOLD, preemption=EXPRESS_7), 7, False),
        (port(PLAIN, PLAIN, preemption=EXPRESS_7), 0, False),
        (port(PLAIN, HOLD), 0, False),
        # So does one in a list that comes later.
        (port(PLAIN, gates={"changes": [{"at_ns": 9, "entries": [HOLD]}]}, preemption=EXPRESS_7), 0, True),
    ],
)
def test_frames_that_may_be_longer_than_their_window(made: Any, traffic_class: int, may: bool) -> None:
    assert may_overrun(made, traffic_class) is may
