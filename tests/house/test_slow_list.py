"""The list of tests that ``make quick`` leaves out names tests that exist."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def test_every_slow_test_exists() -> None:
    """``make slow`` measures the tests and writes the list."""
    listed = (TESTS / "slow.txt").read_text(encoding="utf-8").splitlines()
    assert listed == sorted(set(listed))
    for line in listed:
        file, _, function = line.partition("::")
        assert f"def {function}(" in (TESTS / file).read_text(encoding="utf-8"), line
