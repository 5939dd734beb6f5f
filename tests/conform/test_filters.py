"""Filters of devices with links of other rates, and what is told of a filter that blocks nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.device_defects import BLOCKS, CLOSES, GATE, METER, RED, SDU
from support.devices import bench, results, verdicts


@pytest.mark.parametrize("rate", ["10 Mbit/s", "1 Gbit/s"])
@pytest.mark.parametrize(
    ("expected", "passed"),
    [
        (METER, {"psfp.meter"}),
        (RED, {"psfp.meter", "psfp.block"}),
        (GATE, {"psfp.gate"}),
        (CLOSES, {"psfp.gate", "psfp.block"}),
        (SDU, {"psfp.sdu"}),
        (BLOCKS, {"psfp.sdu", "psfp.block"}),
    ],
)
def test_a_device_without_a_defect_passes(expected: str, passed: set[str], rate: str, tmp_path: Path) -> None:
    scenario = expected.replace("rate: 100 Mbit/s", f"rate: {rate}").replace("cir: 10", "cir: 2")
    found = verdicts(results(bench(scenario, only=["switch -> robot"]), tmp_path, ["psfp"]))
    assert {name for name, verdict in found.items() if verdict == "pass"} == passed
    assert {verdict for name, verdict in found.items() if name not in passed} == {"not-offered"}
