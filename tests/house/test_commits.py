"""Subjects of commits fit into a list of commits."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 72
SINCE = "f0f6b83a"
"""The last commit that is not judged."""


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_subjects_are_short() -> None:
    """A clone without the history has its last commit alone."""
    for commits in ([f"{SINCE}..HEAD"], ["-1"]):
        command = ["git", "-C", str(ROOT), "log", "--no-merges", "--format=%s", *commits]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            break
    assert [subject for subject in done.stdout.splitlines() if len(subject) > LONGEST] == []
