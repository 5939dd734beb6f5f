"""Why a test cannot be decided: the true cause, for each kind of stimulus that testers cannot send."""

from __future__ import annotations

import pytest

from support.device_defects import BRIDGE, CHANGES, CUT, METER, RING
from support.devices import bench, lab
from tsnbench.conform.catalogue import chosen
from tsnbench.conform.run import prepare


@pytest.mark.parametrize(
    ("text", "test", "reason", "why"),
    [
        (CHANGES, "gates.edge", "changing-list", "replaced by another one: gates.change tests it"),
        (lab().replace("[6]", "[7, 6, 5, 4, 3, 2, 1, 0]")
         .replace("[0]", "[7, 6, 5, 4, 3, 2, 1, 0]"),
         "gates.edge", "no-stimulus", "no class that frames can be in has a gate that opens and closes"),
        (BRIDGE.replace("frames: 50", "frames: 5000"), "queue.depth", "no-limit",
         "the class of PCP 0 has no limit in frames of at most 2,000"),
        (BRIDGE.replace("t1, t2, robot", "t1, robot").replace("t2 -- switch, ", ""), "priority.map",
         "no-stimulus", "testers behind two other ports"),
        (CUT.replace("[7]", "[0, 1, 2, 3, 4, 5, 6, 7]"), "preempt.express", "no-stimulus",
         "all priorities are express"),
        (METER.replace("cir: 10", "cir: 90"), "psfp.meter", "no-stimulus", "too slow for 2 times"),
        (RING.replace("reset: 50 ms", "reset: 1 ms"), "frer.gap", "no-stimulus", "a vector recovery"),
    ],
)  # fmt: skip
def test_a_stimulus_that_cannot_be_sent_has_its_cause(text: str, test: str, reason: str, why: str) -> None:
    prepared = prepare(bench(text), chosen([test]))
    found = {(one.verdict, one.reason, one.sentence) for one in prepared.missing()}
    assert any(
        (verdict, code) == ("not-decidable", reason) and why in words for verdict, code, words in found
    ), found
