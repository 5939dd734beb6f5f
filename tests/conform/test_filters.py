"""Filters of devices with links of other rates, and what is told of a filter that blocks nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.device_defects import BLOCKS, CLOSES, GATE, METER, RED, SDU
from support.devices import bench, results, verdicts
from tsnbench.conform.judge import Error


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


@pytest.mark.parametrize(
    ("device", "verdict", "rehearsed"),
    [
        ("cir: 10460 kbit/s, cbs: 3138 B", "fail", "not-decidable"),
        ("cir: 20 Mbit/s, cbs: 6000 B", "fail", "fail"),
    ],
)
def test_a_meter_that_counts_as_a_kernel_does_is_named(
    device: str, verdict: str, rehearsed: str, tmp_path: Path
) -> None:
    """Of 500 octets act_police counts 478: so much more is let pass."""
    own = bench(METER, METER.replace("cir: 10 Mbit/s, cbs: 3000 B", device), ["switch -> robot"])
    for kernel, expected in ((False, verdict), (True, rehearsed)):
        error = Error(4, 0, 2, testers_ns=0, kernel=kernel)
        (found,) = [
            one for one in results(own, tmp_path / str(kernel), ["psfp"], error) if one.test == "psfp.meter"
        ]
        assert (found.verdict, "22 octets less" in found.sentence) == (expected, "10460" in device)
