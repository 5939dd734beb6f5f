"""Skipped tests are listed with their reasons, and are failures if the environment requires all tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]

CASE = """
import pytest

@pytest.mark.skip(reason={reason!r})
def test_left_out(): ...

def test_done(): ...
"""


def run(folder: Path, reason: str, **variables: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text((TESTS / "conftest.py").read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "test_case.py").write_text(CASE.format(reason=reason), encoding="utf-8")
    kept = {key: value for key, value in os.environ.items() if key != "TSNBENCH_ALL_TESTS"}
    options = ("-q", "-rs", "-p", "no:cacheprovider", "-c", os.devnull)
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(folder)],
        capture_output=True,
        text=True,
        check=False,
        env=kept | variables | {"PYTHONPATH": str(TESTS)},
    )


def test_a_skipped_test_is_listed_and_no_failure_by_itself(tmp_path: Path) -> None:
    done = run(tmp_path, "tshark is not installed")
    assert done.returncode == 0, done.stdout
    assert "tshark is not installed" in done.stdout


def test_where_all_tests_are_wanted_a_skipped_one_is_a_failure(tmp_path: Path) -> None:
    done = run(tmp_path, "tshark is not installed", TSNBENCH_ALL_TESTS="1")
    assert done.returncode == 1, done.stdout
    assert "tests were skipped because:\n  tshark is not installed" in done.stdout


def test_what_belongs_to_others_may_be_missing(tmp_path: Path) -> None:
    done = run(tmp_path, "needs IEEE's modules (TSNBENCH_YANG)", TSNBENCH_ALL_TESTS="1")
    assert done.returncode == 0, done.stdout
