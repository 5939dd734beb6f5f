"""Histograms that cyclictest wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsnbench.scenario import ScenarioErrors, load
from tsnbench.scenario.recorded.cyclictest import CyclictestError, parse

WRITTEN = """\
# /dev/cpu_dma_latency set to 0us
policy: fifo: loadavg: 0.10 0.20 0.30 1/345 6789

T: 0 ( 1234) P:90 I:200 C: 300000 Min:      1 Act:    2 Avg:    2 Max:      7
# Histogram
000000 000000\t000000
000001 000010\t000000
000002 000600\t000500
000003 000380\t000499
000004 000000\t000000
000007 000010\t000001
# Total: 000001000 000001000
# Min Latencies: 00001 00002
# Avg Latencies: 00002 00002
# Max Latencies: 00007 00007
# Histogram Overflows: 00000 00000
# Histogram Overflow at cycle number:
# Thread 0:
# Thread 1:
"""


def test_bins_are_microseconds_and_threads_are_columns() -> None:
    assert parse(WRITTEN) == {1_000: 10, 2_000: 1_100, 3_000: 879, 7_000: 11}
    assert parse(WRITTEN, 1) == {2_000: 500, 3_000: 499, 7_000: 1}


@pytest.mark.parametrize(
    ("text", "thread", "problem"),
    [
        ("", None, "no samples"),
        ("1,2\nhello\n", None, "no samples"),
        (WRITTEN, 2, "2 threads"),
        (WRITTEN.replace("Overflows: 00000 00000", "Overflows: 00000 00003"), None, "3 samples are beyond"),
    ],
)
def test_what_is_no_histogram_is_refused(text: str, thread: int | None, problem: str) -> None:
    with pytest.raises(CyclictestError, match=problem):
        parse(text, thread)


SCENARIO = """\
name: measured
duration: 10 ms
network: {stations: [a, b], rate: 1 Gbit/s, links: [a -- b]}
hosts: {a: {profile: low-latency, wakeup: {cyclictest: host.txt, thread: 1}}}
streams: {s: {from: a, to: b, period: 1 ms, frame: 100 B}}
"""


def test_a_measured_histogram_takes_a_profiles_place(tmp_path: Path) -> None:
    (tmp_path / "host.txt").write_text(WRITTEN, encoding="utf-8")
    (tmp_path / "measured.yaml").write_text(SCENARIO, encoding="utf-8")
    document = load(tmp_path / "measured.yaml").plan().document
    host, other = (node.get("host") for node in document["nodes"])
    measured = {"kind": "histogram", "ns": [2_000, 3_000, 7_000], "counts": [500, 499, 1], "width_ns": 1_000}
    assert other is None
    assert host["wakeup"] == host["timer"] == measured
    assert host["send"] == {"kind": "constant", "ns": 1_000}


def test_a_file_that_is_missing_is_a_mistake_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "measured.yaml").write_text(SCENARIO, encoding="utf-8")
    with pytest.raises(ScenarioErrors, match=r"measured.yaml:4:\d+: hosts.a.wakeup"):
        load(tmp_path / "measured.yaml")
