"""The longest time between releases: a period on the Plan's time, and no limit where others decide."""

from __future__ import annotations

from typing import Any

from tsnbench.measure.guarantee import between_releases
from tsnbench.scenario import read_scenario

TEXT = """\
name: slow
duration: 10 ms
network: {stations: [a, b], links: {rate: 1 Gbit/s, between: [a-b]}}
streams: {s: {from: a, to: b, period: 1 ms, frame: 200 B}}
"""


def test_a_period_has_no_limit_on_a_slow_clock_nor_after_requests() -> None:
    found = []
    for more in ("", "clocks: {default: {drift-within: 10 ppm}}\n"):
        (scenario,) = read_scenario(TEXT + more, "slow.yaml")
        document = scenario.plan().document
        found.append(between_releases(document, document["streams"][0]))
        answers: Any = {**document["streams"][0], "answers": {"stream": 1, "after_ns": 0}}
        assert between_releases(document, answers) is None
    assert found == [1_000_000, None]
