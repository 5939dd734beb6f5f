"""``tsnbench plan`` omits rows of large plans, and counts them in the same unit as the rows it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.commands import tsnbench

HEAD = """
name: multicast
duration: 10 ms
network: {stations: [a, b, c, d], bridges: [sw], rate: 1 Gbit/s, links: [a -- sw, b -- sw, c -- sw, d -- sw]}
streams:
"""


@pytest.mark.parametrize(("streams", "left"), [(16, 0), (17, 1), (60, 130)])
def test_rows_that_are_left_out_are_counted_by_listener(streams: int, left: int, tmp_path: Path) -> None:
    """Each stream has three rows, one per listener; 50 rows are shown."""
    one = "  s{}: {{from: a, to: [b, c, d], period: 1 ms, frame: 100 B}}\n"
    file = tmp_path / "multicast.yaml"
    file.write_text(HEAD + "".join(one.format(number) for number in range(streams)), encoding="utf-8")
    told = tsnbench("plan", file).stdout
    assert (f"… {left} more" in told) == (left > 0)
    assert ("--all shows them" in told) == (left > 0)
    everything = tsnbench("plan", file, "--all").stdout
    assert "more" not in everything
    assert everything.count("100 B") == 3 * streams
